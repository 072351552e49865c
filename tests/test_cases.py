"""Inputs that broke other implementations of the protocol: a test for the kind of each, not only for the one."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from mcp_sansio import (
    AnswerInvalid,
    CapabilityError,
    ConnectionClosed,
    ConnectionState,
    Dropped,
    ErrorReceived,
    FailureReason,
    InputRequired,
    Limits,
    LocalProtocolError,
    MessageInvalid,
    Negotiated,
    NegotiationFailed,
    NotificationReceived,
    ProgressIgnored,
    ProgressIgnoredReason,
    ProgressReceived,
    Reason,
    RequestAnswered,
    RequestCancelled,
    RequestReceived,
    ResponseIgnored,
    ResultReceived,
    Side,
    UnexpectedReason,
)
from mcp_sansio import types as t
from mcp_sansio.codec import ORJSON, STDLIB
from mcp_sansio.jsonrpc import JSONRPCNotification, JSONRPCRequest

from .pair import (
    CAPABILITIES_KEY,
    CLIENT,
    EVERY,
    INFO,
    INFO_KEY,
    INITIALIZED,
    JSON,
    LEGACY,
    LOG_LEVEL_KEY,
    MODERN,
    SERVER,
    SIDES,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
    A,
    B,
    C,
    Connection,
    D,
    E,
    both_sides,
    case,
    client,
    discover_result,
    drawn,
    encode,
    error,
    every_legacy,
    every_revision,
    feed,
    initialize,
    initialize_result,
    modern,
    notification,
    open_client,
    open_server,
    pair,
    request,
    result,
    sent,
    server,
    state_of,
    tools_result,
)
from .timing import least_time

CODECS = pytest.mark.parametrize("codec", [STDLIB, ORJSON], ids=lambda c: c.name)
some_revisions = pytest.mark.parametrize("revision", [B, D, MODERN])  # with batches, the last legacy one, modern


def opened(side: Side, revision: str, **settings: Any) -> Connection:
    """One of the two sides, in operation."""
    return open_client(revision, **settings) if side is CLIENT else open_server(revision, **settings)


def call(revision: str, request_id: JSON, arguments: JSON = None, **params: JSON) -> JSON:
    """A tools/call as a client of the revision writes it."""
    given = {"name": "t", "arguments": {} if arguments is None else arguments, **params}
    make = modern if revision == MODERN else request
    return make(request_id, "tools/call", given)


def listing(revision: str, request_id: JSON) -> JSON:
    return modern(request_id, "tools/list") if revision == MODERN else request(request_id, "tools/list")


# Framing and text -----------------------------------------------------------------------------------------------------

TEXTS = {
    "em dash": "a\u2014b",
    "CJK": "\u8bfb",
    "emoji": "\U0001f600",
    "separators": "a\u2028b\u2029c\u0085d\x0b\x0c",
    "combining": "e\u0301",
    "BOM inside": "a\ufeffb",
    "escapes": '"\\\n\r\t\u0000',
}


@case("unicode-001", "unicode-002", "framing-004")
@CODECS
@both_sides
@pytest.mark.parametrize("what", TEXTS)
def test_text_comes_whole_however_it_is_cut(_case: str, what: str, side: Side, codec: Any) -> None:
    text = TEXTS[what]
    data = encode(notification("vendor/a", {"t": text}), notification("vendor/b"))
    for cut in range(len(data) + 1):
        conn = opened(side, D, codec=codec)
        events = conn.receive_data(data[:cut]) + conn.receive_data(data[cut:])
        assert [e.notification.params for e in events if isinstance(e, NotificationReceived)] == [{"t": text}, None]
    conn = opened(side, D, codec=codec)
    events = [event for i in range(len(data)) for event in conn.receive_data(data[i : i + 1])]
    assert [type(e) for e in events] == [NotificationReceived] * 2
    assert not drawn(events)


@case("unicode-006", "unicode-007")
@CODECS
@both_sides
@some_revisions
def test_surrogates_are_whole_pairs_or_refused(_case: str, revision: str, side: Side, codec: Any) -> None:
    conn = opened(side, revision, codec=codec)
    pairs = b'{"jsonrpc":"2.0","method":"vendor/a","params":{"t":"\\ud83d\\ude00"}}\n'
    (event,) = feed(conn, pairs)
    assert isinstance(event, NotificationReceived)
    assert event.notification.params == {"t": "\U0001f600"}
    for lone in (rb"\ud83d", rb"\udc80", rb"\ude00\ud83d", rb"\ud83dx\ude00", rb"\ud83d\ud83d\ude00"):
        for line in (b'"params":{"t":"%s"}', b'"params":{"%s":1}'):
            (event,) = feed(conn, b'{"jsonrpc":"2.0","method":"vendor/a",' + line % lone + b"}\n")
            assert isinstance(event, MessageInvalid)
            assert drawn([event]) == ["FRAME-001"]
    sent(conn)
    with pytest.raises(LocalProtocolError) as caught:
        conn.notify(t.CustomNotification("vendor/a", {"t": "\ud83d"}))
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    assert conn.data_to_send() == b""


@case("framing-008")
@both_sides
@some_revisions
def test_one_lf_is_written_and_a_cr_before_it_is_read(_case: str, revision: str, side: Side) -> None:
    conn = opened(side, revision)
    conn.notify(t.CustomNotification("vendor/a", {"t": "line\r\nline\u2028"}))
    written = conn.data_to_send()
    assert written.endswith(b"}\n")
    assert written.count(b"\n") == 1
    assert b"\r" not in written
    events = feed(conn, b'{"jsonrpc":"2.0","method":"vendor/a"}\r\n', b'{"jsonrpc":\r"2.0","method":"vendor/b"} \r\r\n')
    assert [e.method for e in events if isinstance(e, NotificationReceived)] == ["vendor/a", "vendor/b"]
    assert not drawn(events)


@case("framing-010", "framing-011")
@both_sides
@some_revisions
def test_blank_lines_are_nothing_and_noise_is_one_event_a_line(_case: str, revision: str, side: Side) -> None:
    conn = opened(side, revision)
    blank = b"\n  \r\n\t\n\r\n\xef\xbb\xbf\n"
    assert feed(conn, blank) == []
    noise = [b"> pkg@1.0 start", b"Example Server version : 1.2.3", b"}", b"null x", b"\x00\x01", b"[ERROR] no"]
    for line in noise:
        events = feed(conn, line + b"\n", notification("vendor/a"))
        assert [type(e) for e in events] == [MessageInvalid, NotificationReceived]
        assert drawn(events) == ["FRAME-001"]
    answers = sent(conn)
    assert len(answers) == (len(noise) if side is SERVER else 0)


@case("framing-013")
@both_sides
@some_revisions
@pytest.mark.parametrize("indent", [0, 2, "\t"], ids=repr)
def test_pretty_printed_json_costs_an_event_a_line(_case: str, indent: Any, revision: str, side: Side) -> None:
    conn = opened(side, revision)
    text = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"a": {}}}, indent=indent)
    events = feed(conn, text.encode() + b"\n", notification("vendor/a"))
    assert [type(e) for e in events] == [MessageInvalid] * len(text.splitlines()) + [NotificationReceived]
    assert "FRAME-002" in drawn(events)
    assert conn.in_flight == ()


@case("framing-014")
@both_sides
@some_revisions
@pytest.mark.parametrize("value", [{"status": 200, "results": []}, {"jsonrpc": "2.0"}, "text", 0, True, None, 1.5, []])
def test_json_that_is_no_message(_case: str, value: JSON, revision: str, side: Side) -> None:
    conn = opened(side, revision)
    events = feed(conn, value, notification("vendor/a"))
    assert [type(e) for e in events] == [MessageInvalid, NotificationReceived]
    assert drawn(events)
    answers = sent(conn)
    if side is CLIENT:
        assert answers == []
    else:
        (answer,) = answers
        assert answer["error"]["code"] == -32600


@case("framing-016")
@both_sides
@some_revisions
def test_lsp_framing_is_named_and_does_not_hang(_case: str, revision: str, side: Side) -> None:
    conn = opened(side, revision)
    head = feed(conn, b"Content-Length: 36\r\n\r\n")
    assert [type(e) for e in head] == [MessageInvalid]
    assert "Content-Length" in head[0].detail
    assert feed(conn, b'{"jsonrpc":"2.0","id":1,"result":{}}') == []
    events = conn.receive_eof()
    assert isinstance(events[-1], ConnectionClosed)
    assert "LIB-004" in drawn(events)


@case("framing-017")
@every_legacy
@pytest.mark.parametrize("bad", [b"{this is not json\n", b"\xff\n", b"{\n", b'"\n', b"[\n", b'{"a":1e400}\n'])
def test_a_malformed_line_is_answered_and_the_next_served(_case: str, bad: bytes, revision: str) -> None:
    conn = open_server(revision)
    feed(conn, bad, request(2, "ping"))
    parse_error, pong = sent(conn)
    assert parse_error["error"]["code"] == -32700
    assert parse_error.get("id", "absent") == (None if revision <= C else "absent")
    assert pong == result(2)


@case("framing-017")
@pytest.mark.parametrize(
    ("revisions", "null"), [([MODERN], False), ([D], False), ([D, MODERN], False), ([C, D], True), (EVERY, True)]
)
def test_an_error_without_an_id_before_negotiation(_case: str, revisions: list[str], null: bool) -> None:
    conn = server(revisions=revisions)
    feed(conn, b"{\n")
    (answer,) = sent(conn)
    assert ("id" in answer) is null
    assert answer.get("id") is None


# Limits and floods ----------------------------------------------------------------------------------------------------


@case("limits-019")
@both_sides
@some_revisions
def test_large_messages_come_whole_by_default(_case: str, revision: str, side: Side) -> None:
    conn = opened(side, revision)
    (event,) = feed(conn, notification("vendor/a", {"t": "a" * 1_000_000}))
    assert isinstance(event, NotificationReceived)


@case("limits-020", "limits-022")
@both_sides
@pytest.mark.parametrize("step", [1, 7, 64, 1000])
def test_a_line_over_the_limit_is_one_event_and_smuggles_nothing(_case: str, step: int, side: Side) -> None:
    conn = opened(side, D, limits=Limits(frame_bytes=300))
    smuggled = encode(request(9, "ping"))
    data = (
        encode(notification("vendor/first"))
        + b'{"a":"'
        + b"A" * 500
        + smuggled  # its newline ends the long line
        + encode(notification("vendor/last"))
        + b"x" * 301
    )
    events = [event for i in range(0, len(data), step) for event in conn.receive_data(data[i : i + step])]
    kinds = [NotificationReceived, MessageInvalid, NotificationReceived, MessageInvalid]
    assert [type(e) for e in events] == kinds
    assert drawn(events) == ["LIB-001", "LIB-001"]
    assert not any(answer.get("id") == 9 for answer in sent(conn))
    assert conn.receive_eof() == [ConnectionClosed()]


@case("limits-020", "eof-110")
@both_sides
def test_an_answer_over_the_limit_ends_its_request_if_its_id_can_be_read(_case: str, side: Side) -> None:
    short = {"limits": Limits(frame_bytes=2000)}
    p = pair(D, client_settings=short, server_settings=short)
    request_id = p.open(side)
    us = p.of(side)
    long = result(request_id, {"x": "a" * 2000})
    (event,) = feed(us, long)
    assert isinstance(event, AnswerInvalid)
    assert event.id == request_id
    assert drawn([event]) == ["LIB-001"]
    assert us.in_flight == ()
    other = p.open(side)
    unreadable = b'{"jsonrpc":"2.0","result":{"x":"' + b"a" * 2000 + b'"},"id":%d}\n' % other
    (event,) = feed(us, unreadable)
    assert isinstance(event, MessageInvalid)
    assert us.in_flight == (other,)


@case("dos-023")
@both_sides
def test_a_stream_without_newlines_is_linear_and_bounded(_case: str, side: Side) -> None:
    def seconds(pieces: int) -> float:
        conn = opened(side, D, limits=Limits(frame_bytes=1 << 16))
        started = time.perf_counter()
        for _ in range(pieces):
            conn.receive_data(b"aaaaaaaaaa")
        assert len(json.dumps(conn.snapshot())) < 200_000
        return time.perf_counter() - started

    small, large = min(seconds(2000) for _ in range(3)), seconds(20000)
    assert large < 10 * small * 5


@case("dos-024")
@CODECS
@both_sides
@pytest.mark.parametrize("depth", [200, 900, 990, 2000, 100_000])
@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_nesting_never_raises_and_the_connection_lives(
    _case: str, opening: str, depth: int, side: Side, codec: Any
) -> None:
    conn = opened(side, D, codec=codec, limits=Limits(depth=500))
    closing = "}" if opening.startswith("{") else "]"
    deep = opening * depth + "1" + closing * depth
    (event,) = feed(conn, ('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":' + deep + "}}\n").encode())
    if depth > 500:
        assert isinstance(event, MessageInvalid)
        assert drawn([event]) == ["LIB-007"]
        (answer,) = sent(conn)
        assert (answer["id"], answer["error"]["code"]) == (7, -32600)
    assert [type(e) for e in feed(conn, notification("vendor/a"))] == [NotificationReceived]


@case("dos-026")
@some_revisions
@pytest.mark.parametrize("bad", [[[[[["x"]]]]], {"a": 1}, "A" * 5_000, 2**64, -(2**63) - 1, 10**400])
def test_an_unusable_id_is_never_echoed(_case: str, bad: JSON, revision: str) -> None:
    conn = open_server(revision)
    feed(conn, request(bad, "ping"), modern(bad, "tools/list"), {"id": bad}, {"id": bad, "method": 5})
    answers = sent(conn)
    assert [a["error"]["code"] for a in answers] == [-32600] * 4
    assert [a.get("id") for a in answers] == [None] * 4
    assert all(len(json.dumps(a)) < 500 for a in answers)


NAME = "\u00e9" * 20_000
AMPLIFIERS = {
    "method": request(1, NAME),
    "member of a map": initialize(1, capabilities={"experimental": {NAME: 5}}),
    "value": request(1, "tools/call", {"name": [NAME]}),
    "level": request(1, "logging/setLevel", {"level": NAME}),
    "jsonrpc": {"jsonrpc": NAME, "id": 1, "method": "ping"},
    "meta": modern(1, "tools/call", {"name": "x", "inputResponses": {NAME: 5}}),
}


@case("dos-026")
@pytest.mark.parametrize("what", AMPLIFIERS)
def test_what_is_wrong_is_said_in_few_words(_case: str, what: str) -> None:
    conn = server() if what == "member of a map" else open_server(D)
    events = feed(conn, AMPLIFIERS[what])
    assert len(conn.data_to_send()) < 1000
    for event in events:
        assert all(len(v.detail) < 1000 for v in event.violations)


@case("dos-023")
@pytest.mark.parametrize("revision", [A, C, D, E])
def test_an_array_costs_little_where_there_are_no_batches(_case: str, revision: str) -> None:
    line = b"[" + b"0," * 20_000 + b"0]\n"
    baseline = b'{"jsonrpc":"2.0","method":"vendor/a","params":{"x":' + line.strip() + b"}}\n"

    def seconds(data: bytes) -> float:
        conn = open_server(revision)
        return least_time(lambda: conn.receive_data(data))

    assert min(seconds(line) for _ in range(3)) < 100 * min(seconds(baseline) for _ in range(3)) + 0.005


# The envelope ---------------------------------------------------------------------------------------------------------

INVALID_REQUESTS: dict[str, JSON] = {
    "no jsonrpc": {"id": 99, "method": "tools/list", "params": {}},
    "jsonrpc 1.0": {"jsonrpc": "1.0", "id": 99, "method": "tools/list"},
    "jsonrpc is a number": {"jsonrpc": 2.0, "id": 99, "method": "ping"},
    "jsonrpc is null": {"jsonrpc": None, "id": 99, "method": "ping"},
    "method misspelt": {"jsonrpc": "2.0", "id": 99, "method_": "tools/list", "params": {}},
    "method in capitals": {"jsonrpc": "2.0", "id": 99, "METHOD": "tools/list"},
    "method is a number": {"jsonrpc": "2.0", "id": 99, "method": 12345},
    "method is null": {"jsonrpc": "2.0", "id": 99, "method": None},
    "params is an array": {"jsonrpc": "2.0", "id": 99, "method": "ping", "params": ["a", "b"]},
    "params is a string": {"jsonrpc": "2.0", "id": 99, "method": "ping", "params": "a"},
    "params is null": {"jsonrpc": "2.0", "id": 99, "method": "ping", "params": None},
}


@case("jsonrpc-028", "jsonrpc-029", "jsonrpc-032", "jsonrpc-035")
@some_revisions
@pytest.mark.parametrize("connected", [True, False])
@pytest.mark.parametrize("what", INVALID_REQUESTS)
def test_an_invalid_request_with_an_id_is_answered_by_it(_case: str, what: str, connected: bool, revision: str) -> None:
    conn = open_server(revision) if connected else server(revisions=[revision])
    (event,) = feed(conn, INVALID_REQUESTS[what])
    assert isinstance(event, MessageInvalid)
    (answer,) = sent(conn)
    assert answer["id"] == 99
    assert answer["error"]["code"] == -32600
    assert conn.owed == ()


@case("jsonrpc-028", "batch-147")
@pytest.mark.parametrize("revision", [A, C, D, E])
@both_sides
@pytest.mark.parametrize("array", [[], [request(1, "ping"), 5], [result(1)], [[request(1, "ping")]]], ids=repr)
def test_an_array_is_one_invalid_request_where_there_are_no_batches(
    _case: str, array: JSON, side: Side, revision: str
) -> None:
    conn = opened(side, revision)
    (event,) = feed(conn, array)
    assert isinstance(event, MessageInvalid)
    answers = sent(conn)
    assert [a["error"]["code"] for a in answers] == ([-32600] if side is SERVER else [])
    assert all(a.get("id") is None for a in answers)


@case("batch-146")
@both_sides
def test_batches_of_2025_03_26(_case: str, side: Side) -> None:
    conn = opened(side, B)
    array = [request(1, "ping"), notification("vendor/a"), 5, request("1", "no/such"), {"id": 8}]
    feed(conn, array)
    (answers,) = sent(conn)
    assert answers[0] == result(1)
    assert [a["error"]["code"] for a in answers if "error" in a] == (
        [-32600, -32601, -32600] if side is SERVER else [-32601]
    )
    feed(conn, [notification("vendor/a"), notification("vendor/b")])
    assert sent(conn) == []
    feed(conn, [])
    assert [a["error"]["code"] for a in sent(conn)] == ([-32600] if side is SERVER else [])


@case("batch-146")
def test_a_batch_is_answered_when_its_last_request_has_ended(_case: str) -> None:
    conn = open_server(B)
    cancelled = notification("notifications/cancelled", {"requestId": "b"})
    events = feed(conn, [listing(B, "a"), listing(B, "b"), listing(B, "c"), listing(B, "a"), cancelled])
    assert [e.id for e in events if isinstance(e, RequestReceived)] == ["a", "b", "c"]
    assert sent(conn) == []
    conn.respond("c", t.ListToolsResult([]))
    again = type(conn).restore(json.loads(json.dumps(conn.snapshot())))
    for each in (conn, again):
        assert sent(each) == []
        assert isinstance(each.respond("b", t.ListToolsResult([])), Dropped)
        each.respond_error("a", -32603, "no")
        (answers,) = sent(each)
        assert [(a["id"], "result" in a) for a in answers] == [("a", False), ("c", True), ("a", False)]


@case("batch-146")
@pytest.mark.parametrize("revisions", [[B], [B, D], EVERY], ids=len)
def test_before_negotiation_there_is_no_batch(_case: str, revisions: list[str]) -> None:
    for array in ([request(1, "ping")], [initialize(1, B)], [notification("vendor/a")]):
        conn = server(revisions=revisions)
        (event,) = feed(conn, array)
        assert isinstance(event, MessageInvalid)
        (answer,) = sent(conn)
        assert answer["error"]["code"] == -32600
        assert conn.revision is None


@case("jsonrpc-031")
@some_revisions
@pytest.mark.parametrize("method", ["x/unknown", "", "tools", "Tools/List", "tools/list ", "__init__", "rpc.discover"])
def test_an_unknown_method_is_not_found(_case: str, method: str, revision: str) -> None:
    conn = open_server(revision)
    make = modern if revision == MODERN else request
    for params in (None, {}, {"name": 5}):
        (event,) = feed(conn, make(f"{params}", method, params))
        assert isinstance(event, RequestAnswered)
        (answer,) = sent(conn)
        assert (answer["id"], answer["error"]["code"]) == (f"{params}", -32601)


@case("jsonrpc-031")
@every_legacy
def test_a_legacy_client_answers_too(_case: str, revision: str) -> None:
    conn = open_client(revision, capabilities=t.ClientCapabilities())
    feed(conn, request(1, "no/such"), request(2, "roots/list"), request(3, "ping"), {"id": 4, "method": "ping"})
    answers = sent(conn)
    assert [a["id"] for a in answers] == [1, 2, 3, 4]
    assert [a["error"]["code"] if "error" in a else None for a in answers] == [-32601, -32601, None, -32600]


@case("jsonrpc-034")
@both_sides
@every_revision
@pytest.mark.parametrize("has_id", [True, False])
def test_an_error_without_an_id_is_an_event_and_ends_nothing(
    _case: str, has_id: bool, revision: str, side: Side
) -> None:
    conn = opened(side, revision)
    if side is CLIENT:
        conn.request(t.ListToolsRequest())
    before = conn.in_flight
    value = error(None, -32700, "Parse error")
    if not has_id:
        del value["id"]
    (event,) = feed(conn, value)
    assert isinstance(event, ErrorReceived)
    assert (event.id, event.error.code, event.violations) == (None, -32700, ())
    assert conn.in_flight == before
    sent(conn)
    assert sent(conn) == []


@case("jsonrpc-037")
@both_sides
@some_revisions
@pytest.mark.parametrize("request_id", [None, True, 1.5, [], {}], ids=repr)
def test_an_id_alone_is_invalid(_case: str, request_id: JSON, revision: str, side: Side) -> None:
    conn = opened(side, revision)
    (event,) = feed(conn, {"jsonrpc": "2.0", "id": request_id})
    assert isinstance(event, MessageInvalid)
    for answer in sent(conn):
        assert side is SERVER
        assert answer.get("id") is None


NOTIFICATIONS = [
    notification("no/such"),
    notification("ping"),
    notification("tools/list"),
    notification("notifications/cancelled"),
    notification("notifications/cancelled", {"requestId": None}),
    notification("notifications/progress", {"progressToken": True, "progress": "x"}),
    notification("notifications/initialized"),
    notification("notifications/subscriptions/acknowledged", {"notifications": 5}),
    {"jsonrpc": "2.0", "method": "vendor/a", "params": [1]},
]


@case("jsonrpc-037", "cancel-090", "schema-156", "schema-157")
@both_sides
@some_revisions
@pytest.mark.parametrize("value", NOTIFICATIONS, ids=repr)
def test_a_notification_is_never_answered(_case: str, value: JSON, revision: str, side: Side) -> None:
    conn = opened(side, revision)
    assert len(feed(conn, value)) == 1
    assert sent(conn) == []


UNCLEAR: dict[str, JSON] = {
    "result and null error": {"result": {}, "error": None},
    "result and error": {"result": {}, "error": {"code": 1, "message": "x"}},
    "null result and null error": {"result": None, "error": None},
    "neither": {},
    "result is null": {"result": None},
    "result is an array": {"result": []},
    "error is a string": {"error": "no"},
    "error is null": {"error": None},
    "error without a code": {"error": {"message": "x"}},
    "code is a float": {"error": {"code": 1.0, "message": "x"}},
    "a method too": {"result": {}, "method": "ping"},
    "no jsonrpc": {"jsonrpc": "1.0", "result": {}},
}


@case("jsonrpc-038")
@both_sides
@some_revisions
@pytest.mark.parametrize("what", UNCLEAR)
def test_an_unclear_answer_ends_its_request_as_invalid(_case: str, what: str, revision: str, side: Side) -> None:
    if side is SERVER and revision == MODERN:
        pytest.skip("servers of this revision send no requests")
    p = pair(revision)
    request_id = p.open(side)
    us = p.of(side)
    (event,) = feed(us, {"jsonrpc": "2.0", "id": request_id, **UNCLEAR[what]})
    assert isinstance(event, AnswerInvalid)
    assert event.id == request_id
    assert drawn([event])
    assert us.in_flight == ()
    assert sent(us) == []


@case("jsonrpc-040")
@every_legacy
def test_ids_are_each_sides_own(_case: str, revision: str) -> None:
    conn = open_client(revision)
    handle = conn.request(t.ListToolsRequest())
    sent(conn)
    (event,) = feed(conn, request(handle.id, "ping"))
    assert isinstance(event, RequestAnswered)
    assert sent(conn) == [result(handle.id)]
    assert conn.in_flight == (handle.id,)
    (event,) = feed(conn, tools_result(handle.id, revision))
    assert handle.answered_by(event)


@case("jsonrpc-041")
@CODECS
@some_revisions
def test_names_are_exact(_case: str, revision: str, codec: Any) -> None:
    conn = open_server(revision, codec=codec)
    value = call(revision, 1)
    value["params"] |= {"Name": "secret", "NAME": "secret", "n\u0430me": "secret"}
    value |= {"METHOD": "ping", "param\u017f": {"name": "secret"}, "Id": 7}
    (event,) = feed(conn, value)
    assert isinstance(event, RequestReceived)
    assert event.id == 1
    assert isinstance(event.request, t.CallToolRequest)
    assert event.request.name == "t"


@case("jsonrpc-041")
@pytest.mark.parametrize("forbid", [True, False])
def test_duplicate_names_are_refused_or_the_last_wins(_case: str, forbid: bool) -> None:
    conn = open_server(D, limits=Limits(forbid_duplicate_names=forbid))
    raw = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","name":"other"}}\n'
    (event,) = feed(conn, raw)
    if forbid:
        assert isinstance(event, MessageInvalid)
        assert drawn([event]) == ["LIB-002"]
        assert sent(conn)[0]["error"]["code"] in (-32600, -32700)
    else:
        assert isinstance(event, RequestReceived)
        assert event.request == t.CallToolRequest("other")


@case("jsonrpc-043")
@CODECS
@both_sides
@some_revisions
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1E400", "-1e999", "01", "+1", ".5", "0x1"])
def test_numbers_that_are_no_json_are_parse_errors(
    _case: str, number: str, revision: str, side: Side, codec: Any
) -> None:
    conn = opened(side, revision, codec=codec)
    line = json.dumps(call(revision, 1, {"s": "@"})).replace('"@"', number).encode() + b"\n"
    events = feed(conn, line, notification("vendor/a"))
    assert [type(e) for e in events] == [MessageInvalid, NotificationReceived]
    assert [a["error"]["code"] for a in sent(conn)] == ([-32700] if side is SERVER else [])


@case("schema-044")
@CODECS
@some_revisions
@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {1: 2}, {"a": {2}}, b"x", object()], ids=repr)
def test_what_json_cannot_hold_is_refused_before_a_byte_is_written(
    _case: str, value: Any, revision: str, codec: Any
) -> None:
    conn = open_server(revision, codec=codec)
    feed(conn, call(revision, 1))
    before = state_of(conn)
    with pytest.raises(LocalProtocolError) as caught:
        conn.respond(1, t.CallToolResult([], extra={"mean": value}))
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    with pytest.raises(LocalProtocolError):
        conn.respond_error(1, -32603, "no", {"mean": value})
    assert state_of(conn) == before
    assert conn.owed == (1,)


@case("jsonrpc-167")
@every_revision
def test_an_error_needs_a_code_and_the_handlers_words_stay_home(_case: str, revision: str) -> None:
    conn = open_server(revision)
    feed(conn, call(revision, 1))
    before = state_of(conn)
    for code in ("5", "x", 1.7, True, None, [1]):
        with pytest.raises((LocalProtocolError, TypeError)):
            conn.respond_error(1, code, "m")
        assert state_of(conn) == before
    for text in (None, 5, b"m", ValueError("secret path /x")):
        with pytest.raises((LocalProtocolError, TypeError)):
            conn.respond_error(1, -32603, text)
        assert state_of(conn) == before
    conn.respond_error(1, -32603, "Internal error")
    assert sent(conn) == [error(1, -32603, "Internal error")]


# Ids ------------------------------------------------------------------------------------------------------------------

STRANGE_IDS = [
    "1",
    1,
    "007",
    "1.0",
    "",
    "null",
    "true",
    0,
    -1,
    2**53,
    2**53 + 1,
    2**63,
    2**64 - 1,
    -(2**63),
    "a" * 1024,
]


@case("ids-045", "ids-049", "progress-101")
@CODECS
@every_revision
def test_ids_are_echoed_with_type_and_value(_case: str, revision: str, codec: Any) -> None:
    conn = open_server(revision, codec=codec)
    feed(conn, *(listing(revision, request_id) for request_id in STRANGE_IDS))
    assert [(type(i), i) for i in conn.owed] == [(type(i), i) for i in STRANGE_IDS]
    for request_id in reversed(STRANGE_IDS):
        conn.respond(request_id, t.ListToolsResult([]))
    assert [(type(a["id"]), a["id"]) for a in sent(conn)] == [(type(i), i) for i in reversed(STRANGE_IDS)]


@case("ids-046", "ids-055", "ids-057")
@some_revisions
@pytest.mark.parametrize("mine", [0, 1, "0", "1", "", 2**53 + 1], ids=repr)
@pytest.mark.parametrize("theirs", [0, 1, "0", "1", "", "2", 2**53, 2**53 + 1, "null"], ids=repr)
def test_an_answer_matches_by_type_and_value(_case: str, theirs: JSON, mine: Any, revision: str) -> None:
    conn = open_client(revision)
    if mine == 1 and type(mine) is int:
        mine = 2  # 1 was the handshake's
        theirs = 2 if theirs == 1 else theirs
    conn.request(t.ListToolsRequest(), id=mine)
    sent(conn)
    (event,) = feed(conn, tools_result(theirs, revision))
    if type(theirs) is type(mine) and theirs == mine:
        assert isinstance(event, ResultReceived)
    else:
        assert isinstance(event, ResponseIgnored)
        assert event.violations
        assert conn.in_flight == (mine,)
        if str(theirs) == str(mine) and event.reason is UnexpectedReason.UNKNOWN:
            assert "type" in event.violations[0].detail


@case("ids-048", "ids-051")
@both_sides
@some_revisions
@pytest.mark.parametrize("raw", ["1.9", "1.0", "1e0", "9.3e18", "true", "false", "null", "{}", "[1]", "-0.0"])
def test_no_id_but_a_string_or_an_integer_token(_case: str, raw: str, revision: str, side: Side) -> None:
    conn = opened(side, revision)
    line = json.dumps(listing(revision, "@") if side is SERVER else request("@", "ping")).replace('"@"', raw)
    (event,) = feed(conn, line.encode() + b"\n")
    assert isinstance(event, MessageInvalid)
    assert drawn([event]) == ["RPC-008"]
    answers = sent(conn)
    assert [a["error"]["code"] for a in answers] == ([-32600] if side is SERVER or revision != MODERN else [])
    assert all(a.get("id") is None for a in answers)
    assert conn.owed == ()


@case("ids-049")
@CODECS
@every_revision
def test_neighbouring_large_ids_are_two_requests(_case: str, revision: str, codec: Any) -> None:
    conn = open_server(revision, codec=codec)
    low, high = 9007199254740992, 9007199254740993
    feed(conn, listing(revision, low), listing(revision, high))
    (event,) = feed(conn, notification("notifications/cancelled", {"requestId": high}))
    assert isinstance(event, RequestCancelled)
    assert event.id == high
    assert conn.owed == (low,)


@case("ids-052")
@every_revision
def test_an_id_in_flight_is_refused_and_the_first_request_stays(_case: str, revision: str) -> None:
    conn = open_server(revision)
    first, second = feed(conn, call(revision, 1, {"which": "first"}), call(revision, 1, {"which": "second"}))
    assert isinstance(first, RequestReceived)
    assert isinstance(second, RequestAnswered)
    assert second.error is not None
    assert second.error.code == -32600
    assert drawn([second]) == ["RPC-010" if revision == MODERN else "RPC-009"]
    (answer,) = sent(conn)
    assert (answer["id"], answer["error"]["code"]) == (1, -32600)
    assert conn.owed == (1,)
    conn.respond(1, t.CallToolResult([]))
    assert "result" in sent(conn)[0]
    (again,) = feed(conn, call(revision, 1))
    assert isinstance(again, RequestReceived)
    assert drawn([again]) == ([] if revision == MODERN else ["RPC-009"])


@case("ids-054")
@every_revision
def test_ids_of_ours_never_meet(_case: str, revision: str) -> None:
    conn = open_client(revision)
    taken = [conn.request(t.ListToolsRequest(), id=i).id for i in (3, 4, "5", 7)]
    given = [conn.request(t.ListToolsRequest()).id for _ in range(5)]
    assert given == [2, 5, 6, 8, 9]
    before = state_of(conn)
    for request_id in [*taken, *given]:
        with pytest.raises(LocalProtocolError) as caught:
            conn.request(t.ListToolsRequest(), id=request_id)
        assert caught.value.reason is Reason.ID_IN_USE
    assert state_of(conn) == before


UNUSABLE_IDS = [True, False, 1.0, 2.5, [], {}, b"x", 2**64, -(2**63) - 1, "x" * 1025, "\ud800"]


@case("ids-054", "ids-051")
@some_revisions
@pytest.mark.parametrize("bad", UNUSABLE_IDS, ids=lambda v: repr(v)[:20])
def test_the_local_caller_gets_no_id_either_that_the_peer_could_not_use(_case: str, bad: Any, revision: str) -> None:
    conn = open_client(revision)
    before = state_of(conn)
    with pytest.raises((LocalProtocolError, TypeError)):
        conn.request(t.ListToolsRequest(), id=bad)
    assert state_of(conn) == before


@case("ids-045")
@some_revisions
@pytest.mark.parametrize("like", [2.0, "2", 2 + 0j], ids=repr)
def test_the_local_caller_answers_by_the_exact_id(_case: str, like: Any, revision: str) -> None:
    conn = open_server(revision)
    feed(conn, listing(revision, 2), listing(revision, 1))
    before = state_of(conn)
    for attempt in (
        lambda: conn.respond(like, t.ListToolsResult([])),
        lambda: conn.respond_error(like, -32603, "no"),
        lambda: conn.respond(True, t.ListToolsResult([])),
    ):
        with pytest.raises((LocalProtocolError, TypeError)):
            attempt()
        assert state_of(conn) == before


@case("ids-057")
@every_revision
def test_unknown_duplicate_and_late_answers_are_told_apart(_case: str, revision: str) -> None:
    conn = open_client(revision)
    duplicate, late, pending = (conn.request(t.ListToolsRequest()).id for _ in range(3))
    feed(conn, tools_result(duplicate, revision))
    conn.cancel(late)
    sent(conn)
    events = feed(conn, *(tools_result(i, revision) for i in (99, duplicate, late, late)), error(late, 0))
    assert [e.reason for e in events if isinstance(e, ResponseIgnored)] == [
        UnexpectedReason.UNKNOWN,
        UnexpectedReason.DUPLICATE,
        *[UnexpectedReason.LATE] * 3,
    ]
    assert [drawn([e]) for e in events] == [["RPC-002"], ["RPC-005"], [], [], []]
    assert conn.in_flight == (pending,)
    assert conn.state is ConnectionState.OPEN
    assert sent(conn) == []


# The handshake --------------------------------------------------------------------------------------------------------


@case("handshake-058", "handshake-059")
@pytest.mark.parametrize("revisions", [[r] for r in LEGACY] + [list(EVERY)], ids=lambda r: r[0] + f"+{len(r) - 1}")
def test_a_peer_may_ping_first(_case: str, revisions: list[str]) -> None:
    conn = server(revisions=revisions)
    assert drawn(feed(conn, request(0, "ping"))) == []
    assert sent(conn) == [result(0)]
    events = feed(conn, initialize(1, revisions[0]), request("p", "ping"), INITIALIZED, listing(D, 2))
    assert drawn(events) == []
    assert any(isinstance(e, Negotiated) and e.revision == revisions[0] for e in events)
    assert conn.owed == (2,)


@case("handshake-058")
def test_modern_servers_have_no_ping(_case: str) -> None:
    conn = open_server(MODERN, revisions=[MODERN])
    feed(conn, request(1, "ping"), modern(2, "ping"))
    assert [a["error"]["code"] for a in sent(conn)] == [-32602, -32601]


@case("handshake-059")
@pytest.mark.parametrize("revisions", [[D], [MODERN], EVERY], ids=len)
@pytest.mark.parametrize("method", ["tools/list", "logging/setLevel", "no/such", "server/discover"])
def test_a_request_before_initialize(_case: str, method: str, revisions: list[str]) -> None:
    conn = server(revisions=revisions)
    (event,) = feed(conn, request(1, method))
    assert isinstance(event, RequestAnswered)
    (answer,) = sent(conn)
    if MODERN in revisions:
        assert answer["error"]["code"] == -32602
        assert VERSION_KEY in answer["error"]["message"]
        assert CAPABILITIES_KEY in answer["error"]["message"]
    else:
        assert answer["error"]["code"] == -32600
    assert conn.owed == ()
    if revisions != [MODERN]:
        assert drawn(feed(conn, initialize(2, D), INITIALIZED, request(3, "tools/list"))) == []
        assert conn.owed == (3,)


@case("handshake-061", "handshake-062")
@every_legacy
@pytest.mark.parametrize("when", ["initialized", "operation"])
@pytest.mark.parametrize("params", [{}, {"capabilities": {"sampling": {}}}, {"protocolVersion": A}, {"clientInfo": 5}])
def test_a_second_initialize_changes_nothing(_case: str, params: JSON, when: str, revision: str) -> None:
    conn = server()
    feed(conn, initialize(1, revision, capabilities={"roots": {}}))
    if when == "operation":
        feed(conn, INITIALIZED)
    sent(conn)
    before = (conn.phase, conn.revision, conn.peer_info, conn.peer_capabilities, conn.state)
    feed(conn, initialize(2, D, **params))
    (answer,) = sent(conn)
    assert (answer["id"], answer["error"]["code"]) == (2, -32600)
    assert (conn.phase, conn.revision, conn.peer_info, conn.peer_capabilities, conn.state) == before
    feed(conn, request(3, "tools/list"))
    assert conn.owed == (3,)


@case("handshake-061")
@every_legacy
def test_a_second_initialize_while_the_first_waits_for_the_application(_case: str, revision: str) -> None:
    conn = server(manual={"initialize"})
    feed(conn, initialize(1, revision))
    phase = conn.phase
    feed(conn, initialize(2, revision))
    (answer,) = sent(conn)
    assert (answer["id"], answer["error"]["code"]) == (2, -32600)
    assert conn.phase is phase
    conn.respond(1, t.InitializeResult(revision, t.ServerCapabilities(tools=t.ToolsCapability()), INFO))
    assert conn.revision == revision
    feed(conn, INITIALIZED, request(3, "tools/list"))
    assert conn.owed == (3,)


@case("handshake-064")
@every_legacy
@pytest.mark.parametrize("method", ["initialized", "notifications/Initialized", "notification/initialized"])
def test_a_misspelt_initialized_is_an_unknown_notification(_case: str, method: str, revision: str) -> None:
    conn = server()
    feed(conn, initialize(1, revision))
    phase = conn.phase
    (event,) = feed(conn, notification(method))
    assert isinstance(event, NotificationReceived)
    assert conn.phase is phase
    feed(conn, INITIALIZED)
    assert conn.phase is not phase


@case("handshake-065")
@every_legacy
def test_our_client_says_initialized_by_itself_and_a_server_serves_without(_case: str, revision: str) -> None:
    conn = client("legacy", revisions=[revision])
    conn.connect()
    with pytest.raises(LocalProtocolError) as caught:
        conn.request(t.ListToolsRequest())
    assert caught.value.reason is Reason.NOT_CONNECTED
    sent(conn)
    feed(conn, initialize_result(1, revision, capabilities={"tools": {}}))
    conn.request(t.ListToolsRequest())
    assert [m["method"] for m in sent(conn)] == ["notifications/initialized", "tools/list"]
    strict = server()
    feed(strict, initialize(1, revision))
    (event,) = feed(strict, request(2, "tools/list"))
    assert isinstance(event, RequestReceived)
    assert drawn([event]) == ["LIFE-003"]


@case("handshake-065")
@every_legacy
def test_a_server_holds_its_requests_back_until_initialized(_case: str, revision: str) -> None:
    conn = server()
    feed(conn, initialize(1, revision, capabilities={"roots": {}}))
    sent(conn)
    held = conn.request(t.ListRootsRequest())
    ping = conn.request(t.PingRequest())
    assert [m["id"] for m in sent(conn)] == [ping.id]
    assert set(conn.in_flight) == {held.id, ping.id}
    feed(conn, INITIALIZED)
    assert [m["id"] for m in sent(conn)] == [held.id]


@case("handshake-065", "ids-054")
@pytest.mark.parametrize("how", ["ping by the same id", "ping by the next id", "same token", "held by the same id"])
def test_what_is_held_back_keeps_its_id_and_token(_case: str, how: str) -> None:
    conn = server()
    feed(conn, initialize("i", D, capabilities={"roots": {}}))
    sent(conn)
    conn.request(t.ListRootsRequest(meta={"progressToken": "t"}), id=1)
    try:
        match how:
            case "ping by the same id":
                conn.request(t.PingRequest(), id=1)
            case "ping by the next id":
                conn.request(t.PingRequest())
            case "same token":
                conn.request(t.ListRootsRequest(meta={"progressToken": "t"}))
            case _:
                conn.request(t.ListRootsRequest(), id=1)
        reason = None
    except LocalProtocolError as mistake:
        reason = mistake.reason
    assert reason in (None, Reason.ID_IN_USE)
    expected = len(conn.in_flight)
    assert len(set(conn.in_flight)) == expected
    feed(conn, INITIALIZED)
    assert len(sent(conn)) == expected


# Versions -------------------------------------------------------------------------------------------------------------


@case("version-067")
@every_legacy
@pytest.mark.parametrize("others", [[], [A], [D], [A, B, C, D], [MODERN], list(EVERY)], ids=repr)
def test_a_version_that_the_server_has_is_agreed(_case: str, others: list[str], revision: str) -> None:
    conn = server(revisions={revision, *others})
    events = feed(conn, initialize(1, revision))
    assert sent(conn)[0]["result"]["protocolVersion"] == revision == conn.revision
    assert any(isinstance(e, Negotiated) and e.revision == revision for e in events)


@case("version-068")
@pytest.mark.parametrize(
    ("asked", "ours", "answered"),
    [
        ("1900-01-01", EVERY, D),
        ("2025-01-01", EVERY, A),
        ("2025-05-05", [A, C, D], A),
        ("2025-12-31", EVERY, D),
        ("9999-99-99", [A, B], B),
        ("2024-01-01", [B, C], C),
        (MODERN, EVERY, D),
        (MODERN, [A, B], B),
        ("", EVERY, D),
        ("latest", EVERY, D),
        ("2025-11-25 ", EVERY, D),
        ("2025-11-5", [A, D], D),
        ("\u0662025-01-01", EVERY, D),
        (C, [A, D], A),
        (A, [C, D], D),
    ],
)
@pytest.mark.parametrize("newest", [True, False])
def test_a_version_that_the_server_lacks(_case: str, newest: bool, asked: str, ours: list[str], answered: str) -> None:
    conn = server(revisions=ours, newest_version=newest)
    assert drawn(feed(conn, initialize(1, asked))) == []
    expected = max(r for r in ours if r in LEGACY) if newest else answered
    assert sent(conn)[0]["result"]["protocolVersion"] == expected == conn.revision


@case("version-068")
@pytest.mark.parametrize("revisions", [[r] for r in EVERY] + [list(EVERY)], ids=lambda r: r[0] + f"+{len(r) - 1}")
@pytest.mark.parametrize("bad", [5, None, True, [D], {"a": D}, "missing", "no params"], ids=repr)
def test_initialize_without_a_version(_case: str, bad: JSON, revisions: list[str]) -> None:
    conn = server(revisions=revisions)
    value = initialize(1, bad)
    if bad == "missing":
        del value["params"]["protocolVersion"]
    elif bad == "no params":
        del value["params"]
    feed(conn, value)
    (answer,) = sent(conn)
    code = answer["error"]["code"]
    assert code in (-32022, -32602) if revisions == [MODERN] else code == -32602
    assert conn.revision is None
    if revisions != [MODERN]:
        feed(conn, initialize(2, revisions[0]))
        assert conn.revision == revisions[0]


@case("version-068")
@pytest.mark.parametrize("asked", [D, MODERN, "1900-01-01", ""])
def test_a_modern_only_server_names_its_versions_to_initialize(_case: str, asked: str) -> None:
    conn = server(revisions=[MODERN])
    feed(conn, initialize(1, asked))
    (answer,) = sent(conn)
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"] == {"supported": [MODERN], "requested": asked}


@case("version-070")
@pytest.mark.parametrize("ours", [[D], [A, B], list(LEGACY)], ids=repr)
@pytest.mark.parametrize("named", ["1999-01-01", "", 20251125, None, "missing", MODERN, A, D])
def test_a_client_takes_no_version_that_it_lacks(_case: str, named: JSON, ours: list[str]) -> None:
    conn = client("legacy", revisions=ours)
    conn.connect()
    sent(conn)
    value = initialize_result(1, named)
    if named == "missing":
        del value["result"]["protocolVersion"]
    (event,) = feed(conn, value)
    if named in ours:
        assert isinstance(event, Negotiated)
        assert event.revision == named
        return
    assert isinstance(event, NegotiationFailed)
    readable = isinstance(named, str) and named != "missing"
    assert event.reason is (FailureReason.NO_COMMON_VERSION if readable else FailureReason.INVALID)
    assert conn.state is ConnectionState.FAILED
    assert sent(conn) == []
    assert conn.revision is None
    for attempt in (lambda: conn.request(t.PingRequest()), lambda: conn.notify(t.InitializedNotification())):
        with pytest.raises(LocalProtocolError):
            attempt()


REJECTED = [
    modern(1, "server/discover", **{VERSION_KEY: "1900-01-01"}),
    modern(1, "server/discover", **{VERSION_KEY: D}),
    modern(1, "tools/list", **{CAPABILITIES_KEY: 5}),
    modern(1, "no/such"),
    request(1, "server/discover"),
    request(1, "tools/list", {"_meta": {VERSION_KEY: MODERN}}),
]


@case("version-076")
@pytest.mark.parametrize("probe", REJECTED, ids=range(len(REJECTED)))
@pytest.mark.parametrize("next_id", [1, 2])
@every_legacy
def test_a_rejected_modern_request_leaves_nothing_behind(_case: str, revision: str, next_id: int, probe: JSON) -> None:
    conn = server()
    feed(conn, probe)
    (answer,) = sent(conn)
    assert "error" in answer
    events = feed(conn, initialize(next_id, revision), INITIALIZED, listing(revision, 3))
    assert drawn(events) == []
    assert conn.revision == revision
    assert conn.owed == (3,)


@case("version-076")
@every_legacy
def test_one_server_serves_both_eras_interleaved(_case: str, revision: str) -> None:
    conn = server()
    events = feed(
        conn,
        listing(MODERN, "m1"),
        initialize("i", revision),
        listing(MODERN, "m2"),
        INITIALIZED,
        listing(revision, "l1"),
        listing(MODERN, "m3"),
        modern("d", "server/discover"),
        request("p", "ping"),
    )
    assert drawn(events) == []
    served = {e.id: e.revision for e in events if isinstance(e, RequestReceived)}
    assert served == {"m1": MODERN, "m2": MODERN, "l1": revision, "m3": MODERN}
    for request_id in served:
        conn.respond(request_id, t.ListToolsResult([]))
    answers = {a["id"]: a for a in sent(conn)}
    for request_id, spoken in served.items():
        assert ("resultType" in answers[request_id]["result"]) is (spoken == MODERN)
    assert answers["d"]["result"]["supportedVersions"] == [MODERN]
    assert answers["p"] == result("p")


PROBE_ANSWERS: list[tuple[str, JSON, str]] = [
    ("modern", discover_result(), "modern"),
    ("modern and more", discover_result(versions=["2030-01-01", MODERN, D]), "modern"),
    ("legacy only", discover_result(versions=[D]), "initialize"),
    ("nothing in common", discover_result(versions=["2030-01-01"]), "failed"),
    ("no versions", discover_result(versions=[]), "failed"),
    ("unparsable", result(1, {"supportedVersions": 5}), "initialize"),
    ("empty", result(1), "initialize"),
    ("both", {**result(1), "error": {"code": 1, "message": "x"}}, "initialize"),
    ("input required", result(1, {"resultType": "input_required", "requestState": "s"}), "initialize"),
    *((str(code), error(1, code), "initialize") for code in (-32601, -32602, -32600, -32000, -32700, 0, 404)),
    ("-32022 without data", error(1, -32022), "initialize"),
    ("-32022 modern", error(1, -32022, data={"supported": [MODERN], "requested": MODERN}), "probe"),
    ("-32022 both", error(1, -32022, data={"supported": [D, MODERN], "requested": MODERN}), "probe"),
    ("-32022 legacy", error(1, -32022, data={"supported": [A, D], "requested": MODERN}), "initialize"),
    ("-32022 nothing", error(1, -32022, data={"supported": ["2030-01-01"], "requested": MODERN}), "failed"),
]


@case("version-076", "timeouts-093")
@pytest.mark.parametrize(("answer", "then"), [pytest.param(a, x, id=n) for n, a, x in PROBE_ANSWERS])
@pytest.mark.parametrize("era", ["auto", "modern"])
def test_what_a_client_makes_of_the_answer_to_its_probe(_case: str, era: str, answer: JSON, then: str) -> None:
    conn = client(era)
    conn.connect()
    assert [m["method"] for m in sent(conn)] == ["server/discover"]
    events = feed(conn, answer)
    if then == "modern":
        assert [type(e) for e in events] == [Negotiated]
        assert conn.revision == MODERN
        assert sent(conn) == []
    elif then == "failed" or (then == "initialize" and era == "modern"):
        assert [type(e) for e in events] == [NegotiationFailed]
        assert conn.state is ConnectionState.FAILED
        assert sent(conn) == []
    else:
        (message,) = sent(conn)
        assert message["method"] == ("initialize" if then == "initialize" else "server/discover")
        assert message["id"] != 1
        if then == "probe":
            (last,) = feed(conn, {**answer, "id": message["id"]})
            assert isinstance(last, NegotiationFailed)
        else:
            assert message["params"]["protocolVersion"] == D
            assert isinstance(feed(conn, initialize_result(message["id"], A))[-1], Negotiated)
            assert conn.revision == A


@case("timeouts-093", "cancel-089")
def test_the_handshake_is_bounded_and_never_cancelled(_case: str) -> None:
    conn = client()
    conn.connect(timeout=5, now=100.0)
    assert conn.next_deadline() == 105.0
    assert conn.handle_timeout(104.9) == []
    sent(conn)
    assert conn.handle_timeout(105.0) == []
    (message,) = sent(conn)
    assert message["method"] == "initialize"
    with pytest.raises(LocalProtocolError):
        conn.cancel(message["id"])
    assert conn.next_deadline() == 110.0
    (late,) = feed(conn, discover_result(), now=106.0)
    assert isinstance(late, ResponseIgnored)
    assert late.reason is UnexpectedReason.LATE
    with pytest.raises(LocalProtocolError) as caught:
        conn.receive_data(b"")
    assert caught.value.reason is Reason.NOW_REQUIRED
    (failed,) = conn.handle_timeout(110.0)
    assert isinstance(failed, NegotiationFailed)
    assert failed.reason is FailureReason.TIMED_OUT
    assert sent(conn) == []
    assert conn.next_deadline() is None


@case("timeouts-093")
def test_initialize_refused_with_modern_versions_after_a_timed_out_probe(_case: str) -> None:
    conn = client()
    conn.connect(timeout=5, now=0.0)
    conn.handle_timeout(5.0)
    message = sent(conn)[-1]
    supported = error(message["id"], -32022, data={"supported": [MODERN], "requested": D})
    assert feed(conn, supported, now=6.0) == []
    (again,) = sent(conn)
    assert again["method"] == "server/discover"
    assert isinstance(feed(conn, discover_result(again["id"]), now=7.0)[-1], Negotiated)
    assert conn.revision == MODERN
    assert conn.next_deadline() is None


@case("timeouts-093", "ids-054")
@pytest.mark.parametrize("taken", [1, 2, 3])
@pytest.mark.parametrize("answer", [error(None), discover_result(None, versions=[D])], ids=["error", "result"])
def test_ids_of_the_callers_choice_do_not_disturb_the_handshake(_case: str, answer: JSON, taken: int) -> None:
    conn = client()
    conn.send_raw(JSONRPCRequest(taken, "server/discover", modern(taken, "server/discover")["params"]))
    sent(conn)
    conn.connect()
    (probe,) = sent(conn)
    feed(conn, {**answer, "id": probe["id"]})
    (message,) = sent(conn)
    assert message["method"] == "initialize"
    assert isinstance(feed(conn, initialize_result(message["id"]))[-1], Negotiated)


@case("schema-082")
@every_legacy
@pytest.mark.parametrize(
    "capabilities",
    [
        {"elicitation": {"form": {"applyDefaults": True}, "url": {}}, "future": {"x": 1}},
        {"roots": {"listChanged": True, "new": 5}},
        {"experimental": {"a": {"b": 1}}, "extensions": {"x": {}}},
    ],
)
def test_unknown_members_are_kept_and_ignored(_case: str, capabilities: JSON, revision: str) -> None:
    conn = server()
    value = initialize(1, revision, capabilities=capabilities, future=1)
    value["params"]["clientInfo"]["future"] = 1
    value["future"] = 1
    events = feed(conn, value)
    assert drawn(events) == []
    assert conn.revision == revision


# Capabilities ---------------------------------------------------------------------------------------------------------


@case("capabilities-078")
@every_revision
def test_what_the_server_did_not_declare_is_not_sent(_case: str, revision: str) -> None:
    asked: list[t.Request[Any]] = [t.ListPromptsRequest(), t.ListResourcesRequest(), t.GetPromptRequest("x")]
    if revision != MODERN:
        asked += [t.SubscribeRequest("a"), t.SetLevelRequest("error")]
    if revision != A:
        asked.append(t.CompleteRequest(t.PromptReference("p"), t.CompletionArgument("a", "b")))
    for strict in (True, False):
        conn = open_client(revision, {"tools": {}}, strict_capabilities=strict)
        for payload in asked:
            assert conn.can_send(payload.method) is not strict
            if not strict:
                conn.request(payload)
                continue
            before = state_of(conn)
            with pytest.raises(CapabilityError):
                conn.request(payload)
            assert state_of(conn) == before
        assert len(sent(conn)) == (0 if strict else len(asked))


@case("capabilities-078")
def test_unknown_is_not_undeclared(_case: str) -> None:
    conn = client("modern")
    conn.request(t.ListPromptsRequest())
    assert [m["method"] for m in sent(conn)] == ["prompts/list"]


@case("capabilities-079", "capabilities-081")
@every_revision
@pytest.mark.parametrize(
    "method", ["prompts/list", "resources/list", "resources/templates/list", "completion/complete"]
)
def test_an_undeclared_method_is_not_found_and_no_failure_of_the_connection(
    _case: str, method: str, revision: str
) -> None:
    if method == "completion/complete" and revision == A:
        pytest.skip("no capability for it in this revision")
    conn = open_server(revision, capabilities=t.ServerCapabilities(tools=t.ToolsCapability()))
    params = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "b"}}
    make = modern if revision == MODERN else request
    (event,) = feed(conn, make(1, method, params if method == "completion/complete" else None))
    assert isinstance(event, RequestAnswered)
    assert drawn([event]) == ["LIB-009" if revision == MODERN else "CAP-001"]
    assert sent(conn)[0]["error"]["code"] == -32601
    asking = open_client(revision, {"prompts": {}})
    handle = asking.request(t.ListPromptsRequest())
    (refused,) = feed(asking, error(handle.id, -32601))
    assert isinstance(refused, ErrorReceived)
    assert asking.state is ConnectionState.OPEN
    assert drawn([refused]) == (["CAP-003"] if revision == MODERN else [])


@case("capabilities-083", "schema-159")
@pytest.mark.parametrize(
    ("key", "bad"),
    [
        *((CAPABILITIES_KEY, bad) for bad in (5, None, [], {"roots": 1}, {"sampling": True}, {"elicitation": "x"})),
        *((CAPABILITIES_KEY, {"experimental": bad}) for bad in (5, {"a": 1})),
        *((INFO_KEY, bad) for bad in ({}, 5, {"name": "c"}, {"name": 1, "version": "1"}, None)),
        *((VERSION_KEY, bad) for bad in (5, None, [], {})),
        *((LOG_LEVEL_KEY, bad) for bad in (5, "loud", None, "ERROR")),
    ],
)
def test_reserved_keys_of_a_modern_request_have_their_shape(_case: str, key: str, bad: JSON) -> None:
    conn = server()
    (event,) = feed(conn, modern(1, "tools/list", **{key: bad}))
    assert isinstance(event, RequestAnswered)
    assert drawn([event]) == ["LIB-003"]
    assert sent(conn)[0]["error"]["code"] == -32602


@case("capabilities-083")
@every_legacy
@pytest.mark.parametrize("bad", [5, None, [], {"roots": 1}, {"sampling": True}, {"experimental": {"a": 1}}], ids=repr)
def test_a_known_capability_of_the_wrong_shape(_case: str, bad: JSON, revision: str) -> None:
    conn = server()
    (event,) = feed(conn, initialize(1, revision, capabilities=bad))
    assert drawn([event]) == ["LIFE-002"]
    assert sent(conn)[0]["error"]["code"] == -32602
    assert conn.revision is None
    asking = client("legacy", revisions=[revision])
    asking.connect()
    wrong = bad if not isinstance(bad, dict) else {"tools": 1}
    (failed,) = feed(asking, initialize_result(1, revision, capabilities=wrong))
    assert isinstance(failed, NegotiationFailed)
    assert failed.reason is FailureReason.INVALID


@case("capabilities-085")
@pytest.mark.parametrize(
    ("declared", "mode", "code"),
    [
        ({}, None, None),
        ({}, "form", None),
        ({}, "url", -32602),
        ({"url": {}}, None, -32602),
        ({"url": {}}, "url", None),
        ({"form": {}, "url": {}}, "form", None),
        ({"form": {}}, "voice", -32602),
        ({}, 5, -32602),
        (None, None, -32601),
    ],
)
def test_elicitation_modes(_case: str, declared: JSON, mode: JSON, code: int | None) -> None:
    can = t.ElicitationCapability(**declared) if declared is not None else None
    conn = open_client(D, capabilities=t.ClientCapabilities(elicitation=can))
    params: JSON = {"message": "m"}
    if mode == "url":
        params |= {"url": "https://h/", "elicitationId": "e"}
    else:
        params |= {"requestedSchema": {"type": "object", "properties": {}}}
    if mode is not None:
        params["mode"] = mode
    (event,) = feed(conn, request(1, "elicitation/create", params))
    answers = sent(conn)
    if code is None:
        assert isinstance(event, RequestReceived)
        assert answers == []
        assert drawn([event]) == []
    else:
        assert answers[0]["error"]["code"] == code
        assert drawn([event])


# Cancellation and progress --------------------------------------------------------------------------------------------


@case("cancel-086")
@both_sides
@every_revision
@pytest.mark.parametrize("answer", ["result", "error"])
def test_an_answer_to_a_cancelled_request_is_dropped_and_says_so(
    _case: str, answer: str, revision: str, side: Side
) -> None:
    if side is CLIENT and revision == MODERN:
        pytest.skip("servers of this revision send no requests")
    p = pair(revision)
    request_id = p.open(side.other)
    p.of(side.other).cancel(request_id, "changed my mind")
    (event,) = p.pump()
    assert isinstance(event, RequestCancelled)
    assert (event.id, event.reason) == (request_id, "changed my mind")
    us = p.of(side)
    for _ in range(2):
        if answer == "error":
            done = us.respond_error(request_id, 1, "no")
        else:
            done = us.respond(request_id, t.ListToolsResult([]) if side is SERVER else t.ListRootsResult([]))
        assert isinstance(done, Dropped)
    assert sent(us) == []
    with pytest.raises(LocalProtocolError):
        us.respond_error("never", 1, "no")


@case("cancel-086")
def test_a_cancelled_request_is_remembered_however_many_others_end(_case: str) -> None:
    conn = open_server(D, limits=Limits(remembered_ids=16))
    feed(conn, listing(D, "slow"))
    feed(conn, notification("notifications/cancelled", {"requestId": "slow"}))
    feed(conn, *(request(i, "ping") for i in range(100)))
    sent(conn)
    assert isinstance(conn.respond("slow", t.ListToolsResult([])), Dropped)


@case("cancel-087")
@every_revision
def test_an_answer_to_what_we_cancelled_is_ignored(_case: str, revision: str) -> None:
    conn = open_client(revision)
    request_id = conn.request(t.ListToolsRequest()).id
    conn.cancel(request_id)
    assert [m["method"] for m in sent(conn)] == ["tools/list", "notifications/cancelled"]
    (event,) = feed(conn, error(request_id, 0, "Request cancelled"))
    assert isinstance(event, ResponseIgnored)
    assert event.reason is UnexpectedReason.LATE
    assert conn.state is ConnectionState.OPEN


@case("cancel-089")
@every_legacy
def test_initialize_is_never_cancelled(_case: str, revision: str) -> None:
    conn = client("legacy", revisions=[revision])
    conn.connect()
    sent(conn)
    before = state_of(conn)
    for attempt in (
        lambda: conn.cancel(1),
        lambda: conn.notify(t.CancelledNotification(1)),
        lambda: conn.send_raw(JSONRPCNotification("notifications/cancelled", {"requestId": 1})),
    ):
        with pytest.raises(LocalProtocolError) as caught:
            attempt()
        assert caught.value.reason is Reason.NOT_CANCELLABLE
    assert state_of(conn) == before
    p = pair(revision, connect=False, server_settings={"manual": {"initialize"}})
    p.client.connect()
    p.pump()
    (event,) = feed(p.server, notification("notifications/cancelled", {"requestId": 1}))
    assert isinstance(event, NotificationReceived)
    assert p.server.owed == (1,)


@case("cancel-090")
@both_sides
@some_revisions
@pytest.mark.parametrize(
    "params", [{"requestId": 999}, {}, None, {"requestId": None}, {"requestId": [1]}, {"requestId": 1.0}]
)
def test_a_cancel_of_nothing_changes_nothing(_case: str, params: JSON, revision: str, side: Side) -> None:
    p = pair(revision)
    us = p.of(side)
    if side is SERVER:
        p.open(CLIENT)
    before = state_of(us)
    (event,) = feed(us, notification("notifications/cancelled", params))
    assert isinstance(event, NotificationReceived | MessageInvalid)
    assert state_of(us) == before


@case("cancel-090")
@every_revision
@pytest.mark.parametrize("bad", [999, "2", None, 2.0, True, [2]], ids=repr)
def test_the_local_caller_cancels_only_what_is_in_flight(_case: str, bad: Any, revision: str) -> None:
    conn = open_client(revision)
    assert conn.request(t.ListToolsRequest()).id == 2
    before = state_of(conn)
    with pytest.raises((LocalProtocolError, TypeError)):
        conn.cancel(bad)
    assert state_of(conn) == before


@case("cancel-090")
def test_the_local_caller_cancels_held_requests_by_their_exact_id(_case: str) -> None:
    conn = server()
    feed(conn, initialize("i", D, capabilities={"roots": {}}))
    conn.request(t.ListRootsRequest(), id=1)
    before = state_of(conn)
    for bad in (True, 1.0, "1"):
        with pytest.raises((LocalProtocolError, TypeError)):
            conn.cancel(bad)
        assert state_of(conn) == before
    conn.cancel(1)
    assert conn.in_flight == ()


@case("progress-098", "progress-099")
@every_revision
def test_progress_that_nobody_asked_for_is_an_event_with_a_violation(_case: str, revision: str) -> None:
    conn = open_client(revision)
    token = conn.request(t.ListToolsRequest(), progress=True).id
    value = {"progressToken": token, "progress": 1, "total": 1}
    events = feed(
        conn,
        notification("notifications/progress", {**value, "progressToken": "x-1"}),
        notification("notifications/progress", value),
        tools_result(token, revision),
        notification("notifications/progress", {**value, "progress": 2}),
    )
    assert [type(e) for e in events] == [ProgressIgnored, ProgressReceived, ResultReceived, ProgressIgnored]
    assert [drawn([e]) for e in events] == [["PROG-001"], [], [], ["PROG-003"]]
    reasons = [e.reason for e in events if isinstance(e, ProgressIgnored)]
    assert reasons == [ProgressIgnoredReason.UNKNOWN, ProgressIgnoredReason.LATE]


@case("progress-098")
@every_revision
def test_progress_after_our_cancel_breaks_nothing(_case: str, revision: str) -> None:
    conn = open_client(revision)
    token = conn.request(t.ListToolsRequest(), progress=True).id
    conn.cancel(token)
    (event,) = feed(conn, notification("notifications/progress", {"progressToken": token, "progress": 1}))
    late = t.ProgressNotification(token, 1)
    assert event == ProgressIgnored(reason=ProgressIgnoredReason.LATE, notification=late)


@case("progress-099", "ordering-104")
@every_revision
def test_progress_of_ours_needs_a_live_request_with_a_token(_case: str, revision: str) -> None:
    p = pair(revision)
    without = p.open(CLIENT)
    token = p.open(CLIENT, progress=True)
    for bad in (without, str(token), "x-1", True, 1.5, None):
        with pytest.raises((LocalProtocolError, TypeError)):
            p.server.notify(t.ProgressNotification(bad, 1))
    p.server.notify(t.ProgressNotification(token, 1))
    with pytest.raises(LocalProtocolError):
        p.server.notify(t.ProgressNotification(token, 1))
    p.server.notify(t.ProgressNotification(token, 2))
    p.server.respond(token, t.ListToolsResult([]))
    with pytest.raises(LocalProtocolError):
        p.server.notify(t.ProgressNotification(token, 3))
    assert [m.get("method", "answer") for m in sent(p.server)] == ["notifications/progress"] * 2 + ["answer"]


@case("progress-101")
@some_revisions
@pytest.mark.parametrize(
    "token", [0, "", "0", -1, 2**64 - 1, None, 1.5, True, [], {}, 2**64, "x" * 2000], ids=lambda v: repr(v)[:9]
)
def test_tokens_are_strings_or_integers(_case: str, token: JSON, revision: str) -> None:
    conn = open_server(revision)
    value = listing(revision, 1)
    value.setdefault("params", {}).setdefault("_meta", {})["progressToken"] = token
    (event,) = feed(conn, value)
    if (type(token) is int and token < 2**64) or (type(token) is str and len(token) < 2000):
        assert isinstance(event, RequestReceived)
        conn.notify(t.ProgressNotification(token, 0))
        written = sent(conn)[0]["params"]["progressToken"]
        assert (type(written), written) == (type(token), token)
    else:
        assert isinstance(event, RequestAnswered)
        assert sent(conn)[0]["error"]["code"] == -32602
        assert drawn([event]) == ["PROG-005"]


@case("progress-102")
@every_revision
def test_tokens_match_by_type_and_no_two_are_alike(_case: str, revision: str) -> None:
    conn = open_client(revision)
    conn.request(t.ListToolsRequest(meta={"progressToken": 1}))
    conn.request(t.ListToolsRequest(meta={"progressToken": "2"}))
    events = feed(
        conn,
        *(notification("notifications/progress", {"progressToken": i, "progress": 1}) for i in ("1", 2, 1, "2")),
    )
    assert [drawn([e]) for e in events] == [["PROG-004"], ["PROG-004"], [], []]
    before = state_of(conn)
    for token in (1, "2"):
        with pytest.raises(LocalProtocolError) as caught:
            conn.request(t.ListToolsRequest(meta={"progressToken": token}))
        assert caught.value.reason is Reason.ID_IN_USE
    assert state_of(conn) == before


# Order ----------------------------------------------------------------------------------------------------------------


@case("ordering-105", "jsonrpc-040")
@some_revisions
@pytest.mark.parametrize("step", [1, 50, 10_000])
def test_events_come_in_the_order_of_the_bytes(_case: str, step: int, revision: str) -> None:
    conn = open_client(revision)
    token = conn.request(t.ListToolsRequest(), progress=True).id
    values = [notification("notifications/progress", {"progressToken": token, "progress": i}) for i in range(6)]
    data = encode(*values[:3], b"noise\n", *values[3:], tools_result(token, revision), notification("vendor/a"))
    events = [event for i in range(0, len(data), step) for event in conn.receive_data(data[i : i + step])]
    kinds = [ProgressReceived] * 3 + [MessageInvalid] + [ProgressReceived] * 3
    assert [type(e) for e in events] == [*kinds, ResultReceived, NotificationReceived]
    seen = [e.notification.progress for e in events if isinstance(e, ProgressReceived)]
    assert seen == [0, 1, 2, 3, 4, 5]


@case("ordering-104")
@every_revision
def test_output_keeps_the_order_of_the_calls(_case: str, revision: str) -> None:
    conn = open_server(revision)
    feed(conn, *(listing(revision, i) for i in range(5)))
    for i in (3, 1, 4, 0, 2):
        conn.respond(i, t.ListToolsResult([]))
    assert [m["id"] for m in sent(conn)] == [3, 1, 4, 0, 2]


# The end --------------------------------------------------------------------------------------------------------------


@case("eof-107")
@every_revision
def test_what_was_asked_before_the_end_can_be_answered(_case: str, revision: str) -> None:
    conn = open_server(revision)
    feed(conn, *(listing(revision, i) for i in (1, 2, 3)))
    assert conn.receive_eof() == [ConnectionClosed()]
    assert conn.state is ConnectionState.CLOSING
    for i in (1, 2):
        conn.respond(i, t.ListToolsResult([]))
    again = type(conn).restore(json.loads(json.dumps(conn.snapshot())))
    for each in (conn, again):
        each.respond(3, t.ListToolsResult([]))
        assert [m["id"] for m in sent(each)] == [1, 2, 3]
        with pytest.raises(LocalProtocolError) as caught:
            each.receive_data(b"")
        assert caught.value.reason is Reason.CLOSED
        assert each.close() == []
        assert isinstance(each.respond(1, t.ListToolsResult([])), Dropped)


@case("eof-108")
@both_sides
@every_revision
def test_the_end_comes_once(_case: str, revision: str, side: Side) -> None:
    conn = opened(side, revision)
    assert conn.receive_data(b"") == []
    assert conn.receive_eof() == [ConnectionClosed()]
    assert conn.receive_eof() == []
    assert conn.close() == []
    assert conn.close() == []
    assert conn.receive_eof() == []
    assert conn.state is ConnectionState.CLOSED


@case("eof-110")
@every_revision
@pytest.mark.parametrize("how", ["eof", "close"])
def test_every_pending_request_ends_with_its_cause(_case: str, how: str, revision: str) -> None:
    conn = open_client(revision)
    ids = [conn.request(t.ListToolsRequest()).id for _ in range(3)]
    feed(conn, tools_result(ids[1], revision))
    (event,) = conn.receive_eof() if how == "eof" else conn.close()
    assert isinstance(event, ConnectionClosed)
    assert [(p.id, p.method) for p in event.pending] == [(ids[0], "tools/list"), (ids[2], "tools/list")]
    assert conn.in_flight == ()


@case("eof-110")
@every_revision
def test_no_request_begins_after_the_end(_case: str, revision: str) -> None:
    from mcp_sansio.jsonrpc import parse_message

    conn = open_client(revision)
    conn.receive_eof()
    before = state_of(conn)
    message = parse_message(listing(revision, 50))
    for attempt in (lambda: conn.request(t.ListToolsRequest()), lambda: conn.send_raw(message)):
        with pytest.raises(LocalProtocolError) as caught:
            attempt()
        assert caught.value.reason is Reason.CLOSED
    assert state_of(conn) == before


@case("eof-107", "eof-110")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("cut", ["whole", "cut", "blank", "long"])
def test_an_unterminated_last_line(_case: str, cut: str, side: Side) -> None:
    conn = opened(side, D, limits=Limits(frame_bytes=300))
    last = {
        "whole": encode(notification("vendor/a")).rstrip(),
        "cut": b'{"jsonrpc":"2.0","method":"ven',
        "blank": b" \r\t",
        "long": b"x" * 400,
    }[cut]
    events = feed(conn, last) + conn.receive_eof()
    kinds = {"whole": [NotificationReceived], "cut": [MessageInvalid], "blank": [], "long": [MessageInvalid]}[cut]
    assert [type(e) for e in events] == [*kinds, ConnectionClosed]
    rules = {"whole": ["LIB-004"], "cut": ["LIB-004"], "blank": [], "long": ["LIB-001"]}[cut]
    assert drawn(events) == rules


# Payloads -------------------------------------------------------------------------------------------------------------


@case("schema-150", "schema-151")
@some_revisions
@pytest.mark.parametrize("cursor", [None, "", "8", "\x00", "x" * 100_000], ids=lambda v: repr(v)[:9])
def test_cursors_are_opaque(_case: str, cursor: str | None, revision: str) -> None:
    conn = open_client(revision)
    handle = conn.request(t.ListToolsRequest())
    (event,) = feed(conn, tools_result(handle.id, revision, nextCursor=cursor))
    assert handle.answered_by(event)
    assert drawn([event]) == []
    assert event.result.next_cursor == cursor
    sent(conn)
    if cursor is not None:
        conn.request(t.ListToolsRequest(cursor=cursor))
        assert sent(conn)[0]["params"]["cursor"] == cursor


@case("schema-154")
@every_revision
def test_result_type_is_stamped_in_one_era_and_in_no_other(_case: str, revision: str) -> None:
    conn = open_server(revision)
    feed(conn, listing(revision, 1), call(revision, 2))
    conn.respond(1, t.ListToolsResult([]))
    conn.respond(2, t.CustomResult(extra={"content": []}))
    for answer in sent(conn):
        assert answer["result"].get("resultType") == ("complete" if revision == MODERN else None)


@case("schema-156")
@both_sides
@every_revision
def test_known_notifications_with_bad_params_are_no_unknown_ones(_case: str, revision: str, side: Side) -> None:
    conn = opened(side, revision)
    known = "notifications/cancelled" if side is SERVER else "notifications/progress"
    events = feed(conn, notification(known, {"requestId": {}, "progressToken": {}}), notification("vendor/x", {"a": 1}))
    assert [type(e) for e in events] == [MessageInvalid, NotificationReceived]
    assert drawn(events) == ["LIB-003"]


@case("schema-160")
@every_revision
def test_error_codes_by_era(_case: str, revision: str) -> None:
    conn = open_client(revision)
    first = conn.request(t.ReadResourceRequest("a")).id
    (event,) = feed(conn, error(first, -32002, data={"uri": "a"}))
    assert isinstance(event, ErrorReceived)
    assert event.error.code == -32002
    assert drawn([event]) == (["ERR-002"] if revision == MODERN else [])
    ours = open_server(revision)
    make = modern if revision == MODERN else request
    feed(ours, make(1, "resources/read", {"uri": "a"}))
    if revision == MODERN:
        for code in (-32002, -32042, -32050, -32001):
            with pytest.raises(LocalProtocolError):
                ours.respond_error(1, code, "no")
    else:
        ours.respond_error(1, -32002, "no")


@case("schema-162", "schema-163")
@some_revisions
@pytest.mark.parametrize("uri", ["users/me", "HTTP://H/", "", "a b", "file:///\u00e9", "x:%zz"])
def test_uris_and_mime_types_are_opaque(_case: str, uri: str, revision: str) -> None:
    conn = open_server(revision)
    make = modern if revision == MODERN else request
    (event,) = feed(conn, make(1, "resources/read", {"uri": uri}))
    assert isinstance(event, RequestReceived)
    assert isinstance(event.request, t.ReadResourceRequest)
    assert event.request.uri == uri
    mime = "text/html;profile=mcp-app"
    conn.respond(1, t.ReadResourceResult([t.TextResourceContents(uri, "x", mime_type=mime)]))
    (content,) = sent(conn)[0]["result"]["contents"]
    assert (content["uri"], content["mimeType"]) == (uri, mime)


@case("schema-165")
def test_two_subscriptions_that_differ_in_the_type_of_their_id(_case: str) -> None:
    conn = open_client(MODERN, {"tools": {"listChanged": True}, "prompts": {"listChanged": True}})
    wanted = t.SubscriptionFilter(tools_list_changed=True, prompts_list_changed=True)
    for request_id in (7, "7"):
        conn.request(t.SubscriptionsListenRequest(wanted), id=request_id)

    def of(request_id: JSON, method: str, **params: JSON) -> JSON:
        return notification(f"notifications/{method}", {**params, "_meta": {SUBSCRIPTION_KEY: request_id}})

    def acknowledged(request_id: JSON, **granted: bool) -> JSON:
        return of(request_id, "subscriptions/acknowledged", notifications=granted)

    events = feed(
        conn,
        of(7, "tools/list_changed"),
        acknowledged(7, toolsListChanged=True),
        of(7, "tools/list_changed"),
        of("7", "tools/list_changed"),
        acknowledged("7", promptsListChanged=True),
        of("7", "prompts/list_changed"),
        of("7", "tools/list_changed"),
        of(7, "prompts/list_changed"),
        acknowledged(7),
    )
    assert [drawn([e]) for e in events] == [
        ["SUB-001"], [], [], ["SUB-001"], [], [], ["SUB-003"], ["SUB-003"], ["SUB-004"]
    ]  # fmt: skip


@case("schema-165")
def test_input_required_ends_the_request(_case: str) -> None:
    conn = open_client(MODERN)
    request_id = conn.request(t.CallToolRequest("x")).id
    (event,) = feed(conn, result(request_id, {"resultType": "input_required", "requestState": "s"}))
    assert isinstance(event, InputRequired)
    assert conn.in_flight == ()


# What the era is ------------------------------------------------------------------------------------------------------


@case("version-076")
def test_a_legacy_server_that_talks_before_its_answer_breaks_no_modern_rule(_case: str) -> None:
    conn = client()
    conn.connect()
    events = feed(
        conn,
        notification("notifications/message", {"level": "info", "data": "starting"}),
        notification("notifications/tools/list_changed"),
    )
    assert drawn(events) == []


@case("jsonrpc-038", "limits-020")
def test_a_request_over_the_limit_ends_none_of_ours(_case: str) -> None:
    p = pair(D, server_settings={"limits": Limits(frame_bytes=2000)})
    request_id = p.open(SERVER)
    params = {"name": "x", "arguments": {"a": "x" * 2000}}
    p.server.receive_data(encode({"jsonrpc": "2.0", "id": request_id, "params": params, "method": "tools/call"}))
    assert p.server.in_flight == (request_id,)
