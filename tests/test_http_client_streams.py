"""The client over HTTP: bodies and streams, how they end or break, and how they are taken up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_sansio import (
    ALL,
    LEGACY_REVISIONS,
    AnswerInvalid,
    ErrorReceived,
    Limits,
    LocalProtocolError,
    MessageInvalid,
    NegotiationFailed,
    NotificationReceived,
    ProgressReceived,
    Reason,
    RequestLost,
    RequestReceived,
    RequestTimedOut,
    ResponseIgnored,
    ResultReceived,
    SubscriptionAcknowledged,
    SubscriptionEnded,
)
from mcp_sansio import types as t
from mcp_sansio.codec import ORJSON
from mcp_sansio.http import (
    AuthorizationRequired,
    Headers,
    HTTPClient,
    MessageRefused,
    Reconnection,
    SessionLost,
    StreamLost,
)
from mcp_sansio.jsonrpc import Error, JSONRPCNotification, JSONRPCResultResponse

from .http_wire import SESSION, URL, Sent, Wire, call, connected, done, kinds, opened, sse
from .pair import (
    INFO,
    JSON,
    MODERN,
    SUBSCRIPTION_KEY,
    case,
    drawn,
    error,
    initialize_result,
    notification,
    request,
    result,
)

SESSIONS = LEGACY_REVISIONS[1:]
D = "2025-11-25"
EVENTS = "text/event-stream"
every_session = pytest.mark.parametrize("revision", SESSIONS)
both_eras = pytest.mark.parametrize("revision", [D, MODERN])
SAID = notification("vendor/said", {"x": 1})
PRIMED = b"id: e1\ndata:\n\n"


def progress(token: JSON, value: float) -> JSON:
    return notification("notifications/progress", {"progressToken": token, "progress": value})


# Responses to requests ------------------------------------------------------------------------------------------------


@case("http-125")
@both_eras
@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", 'application/json;charset="UTF-8"']
)
def test_an_answer_as_json(_case: str, revision: str, kind: str) -> None:
    wire = opened(revision)
    handle, sent = call(wire)
    body = json.dumps(done(sent.id)).encode()
    assert wire.begin(sent, 200, kind) == []
    assert wire.data(sent, body[:9]) == []
    assert wire.data(sent, memoryview(body)[9:]) == []
    (event,) = wire.end(sent)
    assert handle.answered_by(event)
    assert wire.data(sent, b"more") == wire.end(sent) == wire.fail(sent) == []


@both_eras
@pytest.mark.parametrize("kind", [EVENTS, "Text/Event-Stream;charset=utf-8"])
def test_an_answer_on_a_stream(revision: str, kind: str) -> None:
    wire = opened(revision)
    handle, sent = call(wire, progress=True)
    wire.begin(sent, 200, kind)
    data = b": hello\n\n" + sse(progress(sent.id, 1), SAID, done(sent.id)) + b"event: ping\ndata: x\n\n"
    events = [event for byte in data for event in wire.data(sent, bytes([byte]))]
    assert kinds(events) == [ProgressReceived, NotificationReceived, ResultReceived]
    assert handle.answered_by(events[2])
    assert wire.end(sent) == []
    assert wire.client.next_deadline() is None


@case("sse-005", "sse-112", "sse-114")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@both_eras
def test_only_line_ends_end_lines(_case: str, revision: str, end: str) -> None:
    wire = opened(revision)
    handle, sent = call(wire)
    wire.begin(sent, 200, EVENTS)
    text = "a\u0085b\u2028c\u000bd"
    answer = result(sent.id, {"content": [{"type": "text", "text": text}], "resultType": "complete"})
    head, _, tail = json.dumps(answer, ensure_ascii=False).partition("{")
    data = f"data: {head}{{{end}data:{tail}{end}{end}".encode()
    (event,) = [event for byte in data for event in wire.data(sent, bytes([byte]))]
    assert handle.answered_by(event)
    assert event.result.content == [t.TextContent(text)]


@both_eras
def test_a_stream_that_does_not_end_after_its_answer_is_closed(revision: str) -> None:
    wire = opened(revision)
    _, sent = call(wire)
    wire.stream(sent, done(sent.id), end=False)
    wire.now = 4.9
    assert wire.data(sent, b": keep-alive\n\n") == []
    assert wire.aborted() == []
    assert wire.wait() == []
    assert wire.now == 5
    assert wire.aborted() == [sent.key]
    assert wire.end(sent) == []
    assert wire.client.next_deadline() is None


@case("sse-118")
@both_eras
def test_an_event_that_is_no_message_is_told(_case: str, revision: str) -> None:
    wire = opened(revision)
    _, sent = call(wire)
    events = wire.stream(sent, b'data: {"type":"heartbeat"}\n\n', b"data: \xff\n\n", done(sent.id))
    assert kinds(events) == [MessageInvalid, MessageInvalid, ResultReceived]
    assert drawn(events)


@case("eof-111", "sse-120")
@both_eras
@pytest.mark.parametrize("how", ["ends", "breaks", "is cut"])
def test_a_stream_without_the_answer_and_without_event_ids_is_lost(_case: str, revision: str, how: str) -> None:
    wire = opened(revision)
    handle, sent = call(wire)
    wire.begin(sent, 200, EVENTS)
    wire.data(sent, sse(SAID))
    if how == "is cut":
        wire.data(sent, b"data: " + json.dumps(done(sent.id)).encode() + b"\n")
    (event,) = wire.fail(sent) if how == "breaks" else wire.end(sent)
    assert isinstance(event, RequestLost)
    assert handle.ended_by(event)
    assert event.detail.startswith("connection reset" if how == "breaks" else "the stream ended")
    assert ("cut an event" in event.detail) == (how == "is cut")
    assert wire.sent() == []


def test_modern_streams_are_not_taken_up() -> None:
    wire = opened(MODERN)
    _, sent = call(wire)
    assert kinds(wire.stream(sent, PRIMED)) == [RequestLost]
    assert wire.client.next_deadline() is None


@both_eras
def test_a_body_that_breaks_off_is_lost(revision: str) -> None:
    wire = opened(revision)
    _, sent = call(wire)
    wire.begin(sent, 200, "application/json")
    wire.data(sent, json.dumps(done(sent.id)).encode())  # complete, but nobody can know that
    assert kinds(wire.fail(sent)) == [RequestLost]


BODIES: list[tuple[Any, list[type]]] = [
    (b"", [AnswerInvalid]),
    (b" \n", [AnswerInvalid]),
    (b"{", [MessageInvalid, AnswerInvalid]),
    (b"null", [MessageInvalid, AnswerInvalid]),
    (SAID, [NotificationReceived, AnswerInvalid]),
    (result(99), [ResponseIgnored, AnswerInvalid]),
    (error(None, -32000), [ErrorReceived]),
    ({"jsonrpc": "2.0", "error": {"code": 1, "message": "m"}}, [ErrorReceived]),
]


@both_eras
@pytest.mark.parametrize(("body", "told"), BODIES, ids=[str(body) for body, _ in BODIES])
def test_a_body_that_is_no_answer(revision: str, body: Any, told: list[type]) -> None:
    wire = opened(revision)
    handle, sent = call(wire)
    events = wire.answer(sent, body)
    assert kinds(events) == told
    assert handle.ended_by(events[-1])


REFUSALS: list[tuple[int, Any, type]] = [
    (400, b"", AnswerInvalid),
    (400, -32602, ErrorReceived),
    (403, -32000, ErrorReceived),
    (404, -32601, ErrorReceived),
    (405, b"", AnswerInvalid),
    (406, b"<html>", AnswerInvalid),
    (409, [], AnswerInvalid),
    (413, 99, AnswerInvalid),
    (429, b"", AnswerInvalid),
    (500, -32603, ErrorReceived),
    (500, b"", RequestLost),
    (503, b"<html>", RequestLost),
    (302, b"", RequestLost),
]


@both_eras
@pytest.mark.parametrize("of", ["ours", "null", "none"])
@pytest.mark.parametrize(("status", "body", "told"), REFUSALS)
def test_the_body_of_a_refusal_is_read_before_it_is_judged(
    revision: str, status: int, body: Any, told: type, of: str
) -> None:
    wire = opened(revision, session=None)
    handle, sent = call(wire)
    if isinstance(body, int):
        body = error({"ours": sent.id, "null": None, "none": None}[of], body) if body < 0 else error(body, -32000)
        if of == "none":
            body.pop("id")
            told = ErrorReceived
    (event,) = wire.answer(sent, body, status)
    assert isinstance(event, told)
    assert handle.ended_by(event)
    if not isinstance(event, ErrorReceived):
        assert event.detail == f"HTTP {status}"


def test_a_refusal_that_breaks_off_is_one_all_the_same() -> None:
    wire = opened()
    _, sent = call(wire)
    wire.begin(sent, 400, "application/json")
    wire.data(sent, json.dumps(error(sent.id, -32602, "no such tool")).encode())
    (event,) = wire.fail(sent)
    assert isinstance(event, ErrorReceived)


@both_eras
def test_no_response_at_all(revision: str) -> None:
    wire = opened(revision)
    handle, sent = call(wire)
    (event,) = wire.fail(sent, "connection refused")
    assert event == RequestLost(id=handle.id, method="tools/call", detail="connection refused")


@pytest.mark.parametrize("codec", [None, ORJSON])
def test_a_body_over_the_limit(codec: Any) -> None:
    settings = {} if codec is None else {"codec": codec}
    wire = opened(D, limits=Limits(frame_bytes=500), **settings)
    handle, sent = call(wire)
    wire.begin(sent, 200, "application/json")
    assert wire.data(sent, b" " * 500) == []
    (event,) = wire.data(sent, b" ")
    assert isinstance(event, AnswerInvalid)
    assert handle.ended_by(event)
    assert "500 bytes" in event.detail
    assert wire.aborted() == [sent.key]
    _, sent = call(wire)
    wire.begin(sent, 400, "text/html")
    assert kinds(wire.data(sent, b"<" * 501)) == [AnswerInvalid]
    assert wire.aborted() == [sent.key]


def test_an_event_over_the_limit_ends_what_it_was_meant_to_answer() -> None:
    wire = opened(D, limits=Limits(frame_bytes=500))
    handle, sent = call(wire)
    wire.begin(sent, 200, EVENTS)
    long = "x" * 600
    (event,) = wire.data(sent, sse(notification("vendor/x", {"x": long})))
    assert isinstance(event, MessageInvalid)
    assert drawn([event]) == ["LIB-001"]
    (event,) = wire.data(sent, sse(result(99, {"x": long})))
    assert isinstance(event, MessageInvalid)
    (event,) = wire.data(sent, sse(result(sent.id, {"x": long})))
    assert isinstance(event, AnswerInvalid)
    assert handle.ended_by(event)
    assert wire.end(sent) == []


@case("http-127", "http-128")
@pytest.mark.parametrize(
    ("status", "kind"), [(200, None), (202, None), (202, "text/plain"), (204, None), (200, "application/json")]
)
@both_eras
def test_a_notification_is_accepted_with_any_success(_case: str, revision: str, status: int, kind: str | None) -> None:
    wire = opened(revision)
    wire.connection.notify(t.CustomNotification("vendor/x"))
    assert wire.answer(wire.one(), b"null", status, kind) == []
    assert wire.aborted() == []


def test_a_stream_that_answers_a_notification_is_closed() -> None:
    wire = opened(D)
    wire.connection.notify(t.CustomNotification("vendor/x"))
    sent = wire.one()
    wire.begin(sent, 200, EVENTS)
    assert wire.aborted() == [sent.key]
    assert wire.data(sent, sse(SAID)) == []


def test_a_modern_notification_names_its_version() -> None:
    wire = opened(MODERN)
    wire.connection.notify(t.CustomNotification("vendor/x"))
    sent = wire.one()
    assert sent.header("MCP-Protocol-Version") == MODERN
    assert sent.header("Mcp-Method") is None


def test_a_message_that_is_refused_is_told() -> None:
    wire = opened(D, listening=True)
    wire.data(wire.listening, sse(request("s1", "roots/list")))
    wire.connection.respond("s1", t.ListRootsResult([]))
    (event,) = wire.answer(wire.one(), error(None, -32600, "what?"), 400)
    message = JSONRPCResultResponse("s1", {"roots": []})
    wanted = Error(-32600, "what?")
    assert event == MessageRefused(message=message, detail="HTTP 400: what? (-32600)", status=400, error=wanted)


# Requests that are given up -------------------------------------------------------------------------------------------


@both_eras
@pytest.mark.parametrize("when", ["before it starts", "before the response", "in the stream"])
def test_a_cancel(revision: str, when: str) -> None:
    wire = opened(revision)
    handle = wire.connection.request(t.CallToolRequest("t"))
    sent = None if when == "before it starts" else wire.one()
    if when == "in the stream" and sent is not None:
        wire.stream(sent, SAID, end=False)
    wire.connection.cancel(handle.id, "enough")
    messages = [each.message for each in wire.sent()]
    if when == "before it starts" or revision == MODERN:
        assert messages == []  # in 2026-07-28 the end of the stream says it
    else:
        assert [message["method"] for message in messages] == ["notifications/cancelled"]
    assert wire.aborted() == ([] if sent is None else [sent.key])
    if sent is not None:
        assert wire.answer(sent, done(sent.id)) == []
        assert wire.fail(sent) == []


@both_eras
def test_a_time_out(revision: str) -> None:
    wire = opened(revision)
    handle, sent = call(wire, timeout=5, now=wire.now)
    (event,) = wire.wait()
    assert isinstance(event, RequestTimedOut)
    assert handle.ended_by(event)
    assert wire.now == 5
    assert wire.aborted() == [sent.key]
    assert len(wire.sent()) == (0 if revision == MODERN else 1)
    assert wire.client.next_deadline() is None


def test_a_raw_cancel_of_nothing_is_sent() -> None:
    wire = opened(D, strict_capabilities=False)
    for request_id in ([], None, 77):
        params = {} if request_id is None else {"requestId": request_id}
        wire.connection.send_raw(JSONRPCNotification("notifications/cancelled", params), allow=ALL)
        assert wire.one().message["params"] == params


# Subscriptions of 2026-07-28 ------------------------------------------------------------------------------------------


def listening() -> tuple[Wire, Any, Sent]:
    wire = opened(MODERN, serves={"tools": {"listChanged": True}})
    handle = wire.connection.request(t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True)))
    sent = wire.one()
    meta = {"_meta": {SUBSCRIPTION_KEY: handle.id}}
    acknowledged = notification(
        "notifications/subscriptions/acknowledged", {"notifications": {"toolsListChanged": True}, **meta}
    )
    changed = notification("notifications/tools/list_changed", meta)
    events = wire.stream(sent, acknowledged, b":\n\n", changed, end=False)
    assert kinds(events) == [SubscriptionAcknowledged, NotificationReceived]
    return wire, handle, sent


def test_a_subscription_ends_with_its_stream() -> None:
    wire, handle, sent = listening()
    (event,) = wire.end(sent)
    assert isinstance(event, RequestLost)
    assert handle.ended_by(event)


def test_a_subscription_ends_with_its_result() -> None:
    wire, handle, sent = listening()
    over = {"resultType": "complete", "_meta": {SUBSCRIPTION_KEY: handle.id}}
    (event,) = wire.data(sent, sse(result(handle.id, over)))
    assert isinstance(event, SubscriptionEnded)
    assert wire.end(sent) == []


def test_a_subscription_is_given_up() -> None:
    wire, handle, sent = listening()
    wire.connection.cancel(handle.id)
    assert wire.sent() == []
    assert wire.aborted() == [sent.key]


# Streams of requests that are taken up --------------------------------------------------------------------------------


@case("sse-115", "eof-111")
@every_session
def test_a_stream_of_a_request_is_taken_up_where_it_broke(_case: str, revision: str) -> None:
    wire = opened(revision)
    handle, sent = call(wire)
    assert wire.stream(sent, b"id: e7\nretry: 500\ndata:\n\n") == []
    assert wire.client.next_deadline() == 0.5
    assert wire.client.handle_timeout(0.4) == []
    assert wire.sent() == []
    wire.wait()
    get = wire.one()
    assert get.key != sent.key
    assert str(get) == "GET"
    assert get.request.body == b""
    assert list(get.request.headers) == [
        ("Accept", EVENTS),
        ("Last-Event-ID", "e7"),
        ("Mcp-Session-Id", SESSION),
        ("MCP-Protocol-Version", revision),
    ]
    (event,) = wire.stream(get, done(sent.id))
    assert handle.answered_by(event)
    assert wire.client.next_deadline() is None


def test_the_last_event_id_outlives_streams_that_bring_none() -> None:
    wire = opened(D)
    _, sent = call(wire)
    wire.stream(sent, b"id: e1\ndata:\n\n", b"id: a\0b\ndata:\n\n")
    for _ in range(3):
        wire.wait()
        get = wire.one()
        assert get.header("Last-Event-ID") == "e1"
        wire.stream(get, SAID)
    wire.wait()
    wire.stream(wire.one(), b"id: e2\n\n")
    wire.wait()
    get = wire.one()
    assert get.header("Last-Event-ID") == "e2"
    assert kinds(wire.stream(get, b"id\ndata:\n\n")) == [RequestLost]  # forgotten, as the server wished


def test_streams_that_bring_nothing_are_taken_up_more_and_more_slowly() -> None:
    wire = opened(D, reconnection=Reconnection(delay=2, longest=10, attempts=5))
    handle, sent = call(wire)
    wire.stream(sent, PRIMED)
    waited = []
    events: Any = []
    while not events:
        before = wire.now
        wire.wait()
        waited.append(wire.now - before)
        get = wire.one()
        match len(waited) % 3:
            case 0:
                events = wire.answer(get, status=503)
            case 1:
                events = wire.stream(get)
            case _:
                events = wire.fail(get)
    assert waited == [2, 4, 8, 10, 10, 10]
    (event,) = events
    assert isinstance(event, RequestLost)
    assert handle.ended_by(event)


@case("sse-121")
def test_the_server_s_time_is_kept_however_long(_case: str) -> None:
    wire = opened(D)
    _, sent = call(wire)
    wire.stream(sent, b"retry: 600000\n" + PRIMED)
    wire.wait()
    assert wire.now == 600
    wire.stream(wire.one(), b"retry: abc\nretry: -1\nretry: 1e3\n\n")
    wire.wait()
    assert wire.now == 1200
    wire.stream(wire.one(), b"retry: " + b"9" * 5000 + b"\ndata:\n\n")
    deadline = wire.client.next_deadline()
    assert deadline is not None
    assert deadline > 2**20


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (405, None, [RequestLost]),
        (400, None, [RequestLost]),
        (200, "text/plain", [RequestLost]),
        (401, None, [AuthorizationRequired, RequestLost]),
        (307, None, [RequestLost]),
        (404, None, [SessionLost, RequestLost]),
    ],
)
def test_a_stream_that_cannot_be_taken_up(status: int, kind: str | None, told: list[type]) -> None:
    wire = opened(D)
    handle, sent = call(wire)
    wire.stream(sent, PRIMED)
    wire.wait()
    events = wire.answer(wire.one(), b"", status, kind)
    assert kinds(events) == told
    assert handle.ended_by(events[-1])


def test_an_answer_that_comes_elsewhere_meanwhile() -> None:
    wire = opened(D, listening=True)
    handle, sent = call(wire)
    wire.stream(sent, PRIMED)
    (event,) = wire.data(wire.listening, sse(done(sent.id)))
    assert handle.answered_by(event)
    assert wire.wait() == []
    assert wire.sent() == []
    _, sent = call(wire)
    wire.begin(sent, 200, EVENTS)
    wire.data(wire.listening, sse(done(sent.id)))
    assert wire.end(sent) == []
    _, sent = call(wire)
    wire.data(wire.listening, sse(done(sent.id)))
    assert wire.answer(sent, status=500) == []
    _, sent = call(wire)
    wire.data(wire.listening, sse(done(sent.id)))
    assert wire.accept(sent) == []
    _, sent = call(wire)
    wire.data(wire.listening, sse(done(sent.id)))
    assert wire.fail(sent) == []


def test_a_cancel_while_a_stream_waits_to_be_taken_up() -> None:
    wire = opened(D)
    handle, sent = call(wire)
    wire.stream(sent, PRIMED)
    wire.connection.cancel(handle.id)
    assert wire.one().message["method"] == "notifications/cancelled"
    assert wire.client.next_deadline() is None
    assert wire.aborted() == []


def test_initialize_on_a_stream_that_is_taken_up() -> None:
    wire = connected(era="legacy")
    first = wire.one()
    wire.stream(first, PRIMED, headers={"Mcp-Session-Id": SESSION})
    wire.wait()
    get = wire.one()
    assert get.header("Mcp-Session-Id") == SESSION
    assert get.header("MCP-Protocol-Version") is None
    (event,) = wire.answer(get, status=404)
    assert isinstance(event, NegotiationFailed)


# The stream of what belongs to no request -----------------------------------------------------------------------------


@every_session
def test_the_stream_of_no_request(revision: str) -> None:
    wire = opened(revision, listening=True)
    events = wire.data(wire.listening, sse(SAID, request("s1", "roots/list"), request("s2", "ping"), id="a1"))
    assert kinds(events)[:2] == [NotificationReceived, RequestReceived]
    wire.connection.respond("s1", t.ListRootsResult([]))
    pong, answer = wire.sent()
    assert (pong.message["id"], answer.message["id"]) == ("s2", "s1")
    assert answer.header("Mcp-Session-Id") == SESSION
    assert wire.accept(answer) == []
    assert wire.end(wire.listening) == []
    assert not wire.client.listening
    wire.wait()
    assert wire.now == 1
    get = wire.one()
    assert get.header("Last-Event-ID") == "a1"
    wire.begin(get, 200, EVENTS)
    assert wire.client.listening
    assert kinds(wire.data(get, sse(SAID))) == [NotificationReceived]


@case("http-130")
def test_a_stream_without_events_is_not_opened_every_second(_case: str) -> None:
    wire = opened(D, listening=True)
    get = wire.listening
    for wait in (2, 4, 8, 16, 32, 60, 60, 60):
        assert wire.end(get) == []
        before = wire.now
        wire.wait()
        assert wire.now - before == wait
        get = wire.one()
        wire.begin(get, 200, EVENTS)
        wire.data(get, b": keep-alive\n\n")
    (event,) = wire.end(get)
    assert isinstance(event, StreamLost)
    assert wire.client.next_deadline() is None
    wire.client.listen()
    get = wire.one()
    assert str(get) == "GET"
    wire.client.listen()
    assert wire.sent() == []
    wire.begin(get, 200, EVENTS)
    wire.data(get, sse(SAID))
    wire.end(get)
    before = wire.now
    wire.wait()
    assert wire.now - before == 1


@case("http-130")
@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (405, None, []),
        (404, None, [StreamLost]),
        (400, None, [StreamLost]),
        (501, None, [StreamLost]),
        (200, "text/plain", [StreamLost]),
        (200, "application/json", [StreamLost]),
        (204, None, [StreamLost]),
        (401, None, [AuthorizationRequired, StreamLost]),
        (403, None, [StreamLost]),
    ],
)
def test_a_server_without_that_stream(_case: str, status: int, kind: str | None, told: list[type]) -> None:
    wire = connected(era="legacy")
    first = wire.one()
    wire.answer(first, initialize_result(first.id), headers={"Mcp-Session-Id": SESSION})
    wire.accept(wire.one())
    get = wire.one()
    assert kinds(wire.answer(get, b"x", status, kind)) == told
    assert wire.client.next_deadline() is None
    assert wire.sent() == []
    assert wire.aborted() == ([get.key] if status in (200, 204) else [])


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_stream_that_cannot_be_had_for_the_moment(status: int) -> None:
    wire = opened(D, listening=True)
    wire.data(wire.listening, sse(SAID, id="a1"))
    wire.fail(wire.listening)
    wire.wait()
    assert wire.answer(wire.one(), status=status) == []
    wire.wait()
    assert wire.now == 3
    assert wire.one().header("Last-Event-ID") == "a1"


def test_a_session_whose_stream_is_not_found_any_more_is_lost() -> None:
    wire = opened(D, listening=True)
    wire.end(wire.listening)
    wire.wait()
    assert kinds(wire.answer(wire.one(), status=404)) == [SessionLost]
    assert wire.one().message["method"] == "initialize"


def test_no_stream_is_opened_where_none_is_wanted() -> None:
    wire = opened(D, listen=False)
    assert wire.sent() == []
    assert not wire.client.listening
    wire.client.listen()
    assert str(wire.one()) == "GET"


def test_where_there_is_no_such_stream() -> None:
    with pytest.raises(LocalProtocolError) as caught:
        connected().client.listen()
    assert caught.value.reason is Reason.NOT_CONNECTED
    with pytest.raises(LocalProtocolError) as caught:
        opened(MODERN).client.listen()
    assert caught.value.reason is Reason.NOT_IN_REVISION


# Authorization --------------------------------------------------------------------------------------------------------

CHALLENGE = (
    'Bearer error="insufficient_scope", scope="a b", resource_metadata="https://h/meta", error_description="more"'
)


@both_eras
@pytest.mark.parametrize("status", [401, 403])
def test_what_a_challenge_says(revision: str, status: int) -> None:
    wire = opened(revision)
    handle, sent = call(wire)
    wanted, ended = wire.answer(sent, status=status, headers={"www-authenticate": CHALLENGE})
    assert wanted == AuthorizationRequired(
        status=status,
        request_id=handle.id,
        resource_metadata="https://h/meta",
        scope="a b",
        error="insufficient_scope",
        error_description="more",
    )
    assert isinstance(ended, RequestLost)
    assert handle.ended_by(ended)


def test_a_401_that_says_nothing_and_a_403_that_is_about_something_else() -> None:
    wire = opened()
    handle, sent = call(wire)
    wanted, _ = wire.answer(sent, status=401)
    assert wanted == AuthorizationRequired(status=401, request_id=handle.id)
    _, sent = call(wire)
    assert kinds(wire.answer(sent, status=403)) == [RequestLost]


def test_a_notification_may_need_a_token_too() -> None:
    wire = opened(D)
    wire.connection.notify(t.CustomNotification("vendor/x"))
    wanted, refused = wire.answer(wire.one(), status=401)
    assert wanted == AuthorizationRequired(status=401)
    assert isinstance(refused, MessageRefused)


# The caller's mistakes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com/mcp",
        "ftp://h/x",
        "http://",
        "http://h:port/",
        "http://u:p@h/",
        "http://h/\u00e9",
        "http://h/a b",
    ],
)
def test_urls_that_are_none(url: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        HTTPClient(url, INFO)
    assert caught.value.reason is Reason.CONFIGURATION


def test_a_url_without_its_fragment() -> None:
    wire = connected(url="http://[::1]:8000/mcp?x=1#part")
    assert wire.one().request.target == wire.client.url == "http://[::1]:8000/mcp?x=1"


@pytest.mark.parametrize(
    "headers",
    [
        {"accept": "x"},
        {"Content-Type": "x"},
        {"Mcp-Session-Id": "x"},
        {"MCP-Protocol-Version": "x"},
        {"Mcp-Param-X": "x"},
        {"Last-Event-ID": "x"},
        {"A b": "x"},
        {"": "x"},
        {"A": "x\r\nB: y"},
        {"A": "\u20ac"},
    ],
)
def test_headers_that_are_not_the_caller_s(headers: dict[str, str]) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        HTTPClient(URL, INFO, headers=headers)
    assert caught.value.reason is Reason.CONFIGURATION
    client = HTTPClient(URL, INFO)
    with pytest.raises(LocalProtocolError):
        client.headers = Headers(headers)
    assert client.headers == Headers()


def test_headers_are_set_as_the_constructor_takes_them() -> None:
    client = HTTPClient(URL, INFO)
    for given in ({"A": "b"}, [("A", "b")], [(b"A", b"b")], iter([("A", "b")]), Headers({"A": "b"})):
        client.headers = ()
        client.headers = given
        assert list(client.headers) == [("A", "b")]


NO_HEADERS: list[Any] = [7, None, ["abc"], [("A", 1)], {1: "x"}]


@pytest.mark.parametrize("headers", NO_HEADERS)
def test_headers_that_are_none(headers: Any) -> None:
    client = HTTPClient(URL, INFO, headers={"A": "b"})
    with pytest.raises(LocalProtocolError, match="pairs of name and value, all of them str or bytes") as caught:
        HTTPClient(URL, INFO, headers=headers)
    assert caught.value.reason is Reason.CONFIGURATION
    with pytest.raises(LocalProtocolError):
        client.headers = headers
    assert client.headers == Headers({"A": "b"})


@pytest.mark.parametrize("url", [INFO, URL.encode(), None])
def test_a_url_of_another_type(url: Any) -> None:
    info: Any = URL
    with pytest.raises(LocalProtocolError, match="url is a str such as https://") as caught:
        HTTPClient(url, info)
    assert caught.value.reason is Reason.CONFIGURATION
    with pytest.raises(LocalProtocolError, match="Implementation") as caught:
        HTTPClient(URL, info)
    assert caught.value.reason is Reason.CONFIGURATION


@pytest.mark.parametrize(("known", "era"), [("http", "auto"), ("sse", "modern"), ("modern", "legacy")])
def test_what_cannot_be_known(known: Any, era: Any) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        HTTPClient(URL, INFO, known=known, era=era)
    assert caught.value.reason is Reason.CONFIGURATION


@pytest.mark.parametrize(
    "settings", [{"delay": -1}, {"longest": float("inf")}, {"attempts": float("nan")}, {"delay": "1"}]
)
def test_times_that_are_none(settings: Any) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        Reconnection(**settings)
    assert caught.value.reason is Reason.CONFIGURATION


def test_inputs_in_the_wrong_order() -> None:
    wire = opened()
    wire.connection.request(t.ListToolsRequest())
    client = wire.client
    for key in (0, -1, 99, True, "1"):
        with pytest.raises(LocalProtocolError) as caught:
            client.receive_response(key, 200, now=0)
        assert caught.value.reason is Reason.UNKNOWN_REQUEST
    sent = wire.one()
    wire.connection.request(t.ListToolsRequest())
    assert client.next_deadline() is None  # which has made an exchange of it, that nobody knows of yet
    with pytest.raises(LocalProtocolError):
        client.receive_response(sent.key + 1, 200, now=0)
    for early in (lambda: client.receive_data(sent.key, b"x", now=0), lambda: client.receive_end(sent.key, now=0)):
        with pytest.raises(LocalProtocolError) as caught:
            early()
        assert "receive_response" in caught.value.hint
    for now in (float("nan"), None, "0"):
        with pytest.raises(LocalProtocolError) as caught:
            client.receive_response(sent.key, 200, now=now)
        assert caught.value.reason is Reason.INVALID_TIME
        with pytest.raises(LocalProtocolError):
            client.handle_timeout(now)
    wire.begin(sent, 200, EVENTS)
    with pytest.raises(LocalProtocolError) as caught:
        client.receive_response(sent.key, 200, now=0)
    assert "before" in caught.value.hint


@pytest.mark.parametrize("status", ["200", 200.0, None, True, -1, 100, 103, 199, 1000])
def test_a_status_that_is_none_changes_nothing(status: Any) -> None:
    wire = opened()
    handle, sent = call(wire)
    with pytest.raises(LocalProtocolError, match=f"200 to 999, not {status!r}") as caught:
        wire.begin(sent, status, "application/json")
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    (event,) = wire.answer(sent, done(sent.id))
    assert handle.answered_by(event)


@pytest.mark.parametrize("headers", NO_HEADERS)
def test_a_response_whose_headers_are_none_changes_nothing(headers: Any) -> None:
    wire = opened()
    handle, sent = call(wire)
    with pytest.raises(LocalProtocolError, match="pairs of name and value, all of them str or bytes") as caught:
        wire.client.receive_response(sent.key, 200, headers, now=0)
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    (event,) = wire.answer(sent, done(sent.id))
    assert handle.answered_by(event)


@pytest.mark.parametrize("kind", ["application/json", EVENTS])
@pytest.mark.parametrize("data", ["text", 7, None, [1]])
def test_data_that_are_no_bytes_change_nothing(kind: str, data: Any) -> None:
    wire = opened()
    handle, sent = call(wire)
    wire.begin(sent, 200, kind)
    with pytest.raises(LocalProtocolError, match=f"bytes, as they came, not {type(data).__name__}") as caught:
        wire.data(sent, data)
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    answer = done(sent.id)
    (event,) = [*wire.data(sent, sse(answer) if kind == EVENTS else json.dumps(answer).encode()), *wire.end(sent)]
    assert handle.answered_by(event)


@pytest.mark.parametrize(
    ("failure", "detail"), [(OSError("unplugged"), "unplugged"), (TimeoutError(), "TimeoutError()"), ("cut", "cut")]
)
def test_an_exception_says_what_failed(failure: Any, detail: str) -> None:
    wire = opened()
    _, sent = call(wire)
    (event,) = wire.client.receive_failure(sent.key, failure, now=0)
    assert isinstance(event, RequestLost)
    assert event.detail == detail


def test_a_key_that_waits_is_nobody_s_yet() -> None:
    wire = opened(D)
    _, sent = call(wire)
    wire.stream(sent, PRIMED)
    with pytest.raises(LocalProtocolError):
        wire.client.receive_response(sent.key + 1, 200, now=0)


def test_time_never_goes_back() -> None:
    wire = opened(D)
    _, sent = call(wire, timeout=5, now=100)
    wire.client.receive_response(sent.key, 200, {"Content-Type": EVENTS}, now=100)
    wire.client.receive_data(sent.key, PRIMED, now=50)
    wire.client.receive_end(sent.key, now=50)
    assert wire.client.next_deadline() is not None


def test_ids_of_the_caller_s_own() -> None:
    wire = opened(D, listen=False)
    wire.connection.request(t.ListToolsRequest(), id="mine")
    wire.connection.request(t.ListToolsRequest(), id=1000)
    first, second = wire.sent()
    assert (first.id, second.id) == ("mine", 1000)
    wire.answer(first, status=404)
    assert wire.one().id == 1001
