"""The client over HTTP, with a server played by hand: what it sends, and what it makes of whatever comes back."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_sansio import (
    LEGACY_REVISIONS,
    AnswerInvalid,
    ConnectionClosed,
    ConnectionState,
    ErrorReceived,
    FailureReason,
    LocalProtocolError,
    Negotiated,
    NegotiationFailed,
    NotificationReceived,
    Reason,
    RequestLost,
    ResultReceived,
)
from mcp_sansio import types as t
from mcp_sansio.http import (
    Headers,
    MessageRefused,
    SessionLost,
)
from mcp_sansio.jsonrpc import JSONRPCNotification

from .http_wire import SESSION, URL, Sent, Wire, call, connected, done, kinds, opened, sse
from .pair import JSON, MODERN, case, discover_result, error, every_legacy, initialize_result, notification, result

SESSIONS = LEGACY_REVISIONS[1:]  # revisions of Streamable HTTP that have them
D = "2025-11-25"
both_eras = pytest.mark.parametrize("revision", [D, MODERN])

LOG = notification("vendor/said", {"x": 1})


# What is sent ---------------------------------------------------------------------------------------------------------


def test_a_modern_request_is_a_post_of_its_own() -> None:
    wire = opened(headers={"Authorization": "Bearer x"})
    _, sent = call(wire, "get weather", {})
    assert sent.request.method == "POST"
    assert sent.request.target == URL
    assert list(sent.request.headers) == [
        ("Authorization", "Bearer x"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "get weather"),
    ]
    assert sent.message["params"]["name"] == "get weather"


@every_legacy
def test_a_legacy_request_names_session_and_version(revision: str) -> None:
    wire = opened(revision)
    _, sent = call(wire)
    assert list(sent.request.headers) == [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Mcp-Session-Id", SESSION),
        ("MCP-Protocol-Version", revision),
    ]


def test_initialize_is_sent_with_neither() -> None:
    sent = connected(era="legacy").one()
    assert sent.message["method"] == "initialize"
    assert list(sent.request.headers) == [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ]


@case("version-073")
@every_legacy
def test_the_handshake_of_a_session(_case: str, revision: str) -> None:
    wire = connected(era="legacy")
    first = wire.one()
    (event,) = wire.answer(first, initialize_result(first.id, revision), headers={"mcp-session-id": " s "})
    assert isinstance(event, Negotiated)
    initialized = wire.one()
    assert initialized.message == notification("notifications/initialized")
    assert initialized.header("Mcp-Session-Id") == "s"
    assert initialized.header("MCP-Protocol-Version") == revision
    handle = wire.connection.request(t.PingRequest())
    assert wire.sent() == []  # some servers refuse what overtakes it
    assert not wire.client.listening
    wire.accept(initialized)
    get, ping = sorted(wire.sent(), key=str)
    assert str(get) == "GET"
    assert get.request.body == b""
    assert list(get.request.headers) == [
        ("Accept", "text/event-stream"),
        ("Mcp-Session-Id", "s"),
        ("MCP-Protocol-Version", revision),
    ]
    wire.begin(get, kind="text/event-stream; charset=utf-8")
    assert wire.client.listening
    (event,) = wire.answer(ping, result(ping.id))
    assert handle.answered_by(event)


def test_messages_go_on_when_initialized_was_refused() -> None:
    wire = connected(era="legacy", listen=False)
    first = wire.one()
    wire.answer(first, initialize_result(first.id))
    message = JSONRPCNotification("notifications/initialized")
    refused = MessageRefused(message=message, detail="HTTP 500", status=500)
    assert wire.answer(wire.one(), status=500) == [refused]
    wire.connection.request(t.PingRequest())
    assert wire.one().header("Mcp-Session-Id") is None


def test_a_session_is_given_up_when_nobody_knows_whether_initialized_has_arrived() -> None:
    wire = connected(era="legacy")
    first = wire.one()
    wire.answer(first, initialize_result(first.id), headers={"Mcp-Session-Id": SESSION})
    handle = wire.connection.request(t.PingRequest())
    lost, ended = wire.fail(wire.one())
    assert isinstance(lost, SessionLost)
    assert "notifications/initialized" in lost.detail
    assert handle.ended_by(ended)
    delete, initialize = wire.sent()
    assert initialize.id > handle.id  # though that was never sent
    assert str(delete) == "DELETE"
    assert delete.header("Mcp-Session-Id") == SESSION
    assert delete.header("MCP-Protocol-Version") == D
    reopened(wire, initialize)


def test_headers_can_change() -> None:
    wire = opened()
    wire.client.headers = Headers({"Authorization": "Bearer 2"})
    _, sent = call(wire)
    assert sent.header("authorization") == "Bearer 2"
    assert wire.client.headers == Headers({"Authorization": "Bearer 2"})


def test_secrets_are_not_shown() -> None:
    wire = opened(D, url=URL + "?key=hidden", headers={"Authorization": "hidden"}, session="hidden")
    _, sent = call(wire)
    shown = repr((wire.client, sent, wire.events))
    assert "hidden" not in shown
    assert "https://example.com/mcp" in shown


def test_batches_are_one_post() -> None:
    wire = opened("2025-03-26")
    first, second = wire.connection.send_batch([t.PingRequest(), t.PingRequest()])
    sent = wire.one()
    assert [message["id"] for message in sent.message] == [first.id, second.id]
    events = wire.answer(sent, [result(second.id), result(first.id)])
    assert second.answered_by(events[0])
    assert first.answered_by(events[1])
    handles = wire.connection.send_batch([t.PingRequest(), t.PingRequest()])
    events = wire.answer(wire.one(), status=400, kind=None)
    assert [event.id for event in events] == [handle.id for handle in handles]
    assert kinds(events) == [AnswerInvalid, AnswerInvalid]


# Era ------------------------------------------------------------------------------------------------------------------

UNSUPPORTED = {"code": -32022, "message": "no", "data": {"supported": [MODERN], "requested": "x"}}
UNSUPPORTED_LEGACY = {**UNSUPPORTED, "data": {"supported": [D], "requested": MODERN}}
UNSUPPORTED_NONE = {**UNSUPPORTED, "data": {"supported": ["2030-01-01"], "requested": MODERN}}


def body_of(code_or_error: Any, request_id: Any) -> JSON:
    """An error as the body of a response."""
    given = {"code": code_or_error, "message": "no"} if isinstance(code_or_error, int) else code_or_error
    return {"jsonrpc": "2.0", **({} if request_id is ... else {"id": request_id}), "error": given}


PROBE: list[tuple[str, int, Any, str]] = [
    # what comes, status, error or body, what follows
    ("a legacy server without a session", 400, -32000, "initialize"),
    ("a legacy server that wants other params", 400, -32602, "initialize"),
    ("nothing to read", 400, b"", "initialize"),
    ("a page", 400, b"<html>", "initialize"),
    ("not found", 404, b"Not Found", "initialize"),
    ("not found, as JSON", 404, -32000, "initialize"),
    ("not allowed", 405, b"", "initialize"),
    ("not acceptable", 406, b"", "initialize"),
    ("teapot", 418, b"", "initialize"),
    ("method not found, status 200", 200, -32601, "initialize"),
    ("method not found, status 400", 400, -32601, "initialize"),
    ("method not found, status 404", 404, -32601, "fail"),
    ("headers", 400, -32020, "fail"),
    ("capabilities", 400, -32021, "fail"),
    ("another modern version", 400, UNSUPPORTED, "probe again"),
    ("another modern version, status 200", 200, UNSUPPORTED, "probe again"),
    ("legacy versions", 400, UNSUPPORTED_LEGACY, "initialize"),
    ("versions of the future", 400, UNSUPPORTED_NONE, "fail"),
    ("no token", 401, b"", "fail"),
    ("no token, as JSON", 401, -32000, "fail"),
    ("forbidden", 403, b"", "fail"),
    ("moved", 307, b"", "fail"),
    ("broken", 500, b"", "fail"),
    ("broken, as JSON", 500, -32603, "fail"),
    ("gateway", 502, b"", "fail"),
    ("unavailable", 503, UNSUPPORTED, "fail"),
    ("empty", 200, b"", "initialize"),
    ("not JSON", 200, b"{", "initialize"),
    ("JSON, but no message", 200, b"7", "initialize"),
]


@pytest.mark.parametrize("id_given", ["ours", "null", "none"])
@pytest.mark.parametrize(("_name", "status", "body", "follows"), PROBE, ids=[row[0] for row in PROBE])
def test_what_the_answer_to_the_probe_says(_name: str, status: int, body: Any, follows: str, id_given: str) -> None:
    wire = connected()
    probe = wire.one()
    assert probe.message["method"] == "server/discover"
    assert probe.header("Mcp-Method") == "server/discover"
    if not isinstance(body, bytes):
        body = body_of(body, {"ours": probe.id, "null": None, "none": ...}[id_given])
    events = wire.answer(probe, body, status)
    failed = [event for event in events if isinstance(event, NegotiationFailed)]
    assert bool(failed) == (follows == "fail")
    if follows == "fail":
        assert wire.sent() == []
        assert wire.connection.state is ConnectionState.FAILED
        assert f"HTTP {status}" in failed[0].detail or "2030" in failed[0].detail
    else:
        method = "initialize" if follows == "initialize" else "server/discover"
        assert wire.one().message["method"] == method


@pytest.mark.parametrize("status", [300, 301, 307, 308, 399])
def test_a_redirect_says_where_to_connect(status: int) -> None:
    wire = connected()
    location = {"Location": "https://example.com/mcp/"}
    (event,) = wire.answer(wire.one(), status=status, headers=location)
    detail = f"HTTP {status} to 'https://example.com/mcp/'; redirects are not followed: connect to that URL instead"
    assert event == NegotiationFailed(reason=FailureReason.LOST, detail=detail)
    with pytest.raises(LocalProtocolError, match=r"an HTTPClient does so in connect\(\)"):
        wire.connection.request(t.ListToolsRequest())


@pytest.mark.parametrize("status", [201, 400, 500])
def test_a_location_is_only_told_of_a_redirect(status: int) -> None:
    wire = opened()
    _, sent = call(wire)
    location = {"Location": "https://example.com/mcp/"}
    (event,) = wire.answer(sent, status=status, headers=location)
    assert isinstance(event, AnswerInvalid | RequestLost)
    assert event.detail.startswith(f"HTTP {status}")
    assert "example.com" not in event.detail


def test_the_redirect_of_a_get_says_where_to_connect() -> None:
    wire = connected(known="sse")
    (event,) = wire.answer(wire.one(), status=308, headers={"Location": "/sse/" + "x" * 300})
    assert isinstance(event, NegotiationFailed)
    assert event.detail.startswith("GET was answered HTTP 308 to '/sse/xx")
    assert event.detail.endswith("x'; redirects are not followed: connect to that URL instead")
    assert len(event.detail) < 320


@pytest.mark.parametrize("where", ["before", "within"])
def test_a_probe_that_broke_says_nothing(where: str) -> None:
    wire = connected()
    probe = wire.one()
    if where == "within":
        wire.begin(probe, kind="application/json")
        wire.data(probe, b'{"jsonrpc": "2.0"')
    (event,) = wire.fail(probe)
    assert event == NegotiationFailed(reason=FailureReason.LOST, detail="connection reset")


def test_a_stream_that_ends_without_the_answer_to_the_probe_says_nothing() -> None:
    wire = connected()
    (event,) = wire.stream(wire.one())
    assert isinstance(event, NegotiationFailed)
    assert event.reason is FailureReason.LOST


def test_a_probe_answered_on_a_stream() -> None:
    wire = connected()
    probe = wire.one()
    (event,) = wire.stream(probe, discover_result(probe.id))
    assert isinstance(event, Negotiated)
    assert wire.client.known == "modern"


def test_a_probe_that_takes_too_long() -> None:
    wire = connected(timeout=10, probe_timeout=3)
    probe = wire.one()
    assert wire.wait() == []
    assert wire.now == 3
    initialize = wire.one()
    assert initialize.message["method"] == "initialize"
    assert wire.aborted() == [probe.key]
    assert wire.answer(probe, discover_result(probe.id)) == []
    wire.answer(initialize, body_of(UNSUPPORTED, initialize.id), 400)
    again = wire.one()
    assert again.message["method"] == "server/discover"
    (event,) = wire.answer(again, discover_result(again.id))
    assert isinstance(event, Negotiated)


INITIALIZE: list[tuple[str, int, Any, str]] = [
    ("refused", 200, -32603, "fail"),
    ("refused, status 400", 400, -32602, "endpoint"),
    ("not found", 404, b"", "endpoint"),
    ("not allowed", 405, b"", "endpoint"),
    ("other refusals", 406, b"", "fail"),
    ("a modern server without initialize", 404, -32601, "fail"),
    ("a modern server that misses headers", 400, -32020, "fail"),
    ("a modern server with other versions", 400, UNSUPPORTED, "fail"),
    ("no token", 401, b"", "fail"),
    ("broken", 500, b"", "fail"),
]


@pytest.mark.parametrize(("_name", "status", "body", "follows"), INITIALIZE, ids=[row[0] for row in INITIALIZE])
def test_what_the_answer_to_initialize_says(_name: str, status: int, body: Any, follows: str) -> None:
    wire = connected(era="legacy")
    first = wire.one()
    events = wire.answer(first, body if isinstance(body, bytes) else body_of(body, first.id), status)
    failed = [event for event in events if isinstance(event, NegotiationFailed)]
    assert bool(failed) == (follows == "fail")
    if follows == "endpoint":
        get = wire.one()
        assert str(get) == "GET"
        assert list(get.request.headers) == [("Accept", "text/event-stream")]


def test_a_session_is_ended_that_agreed_on_nothing() -> None:
    wire = connected(era="legacy")
    first = wire.one()
    answer = initialize_result(first.id, "1999-01-01")
    (event,) = wire.answer(first, answer, headers={"Mcp-Session-Id": SESSION})
    assert isinstance(event, NegotiationFailed)
    delete = wire.one()
    assert str(delete) == "DELETE"
    assert delete.header("Mcp-Session-Id") == SESSION


@pytest.mark.parametrize("again", [True, False])
def test_connecting_again_after_a_failure(again: bool) -> None:
    wire = connected(timeout=5)
    wire.answer(wire.one(), status=401)
    wire.client.headers = Headers({"Authorization": "Bearer x"})
    if again:
        with pytest.raises(LocalProtocolError):
            wire.client.connect(timeout=float("nan"), now=1)
    wire.client.connect(timeout=5, now=1)
    with pytest.raises(LocalProtocolError) as caught:
        wire.client.connect(now=1)
    assert caught.value.reason is Reason.ALREADY_CONNECTED
    probe = wire.one()
    assert probe.header("Authorization") == "Bearer x"
    (event,) = wire.answer(probe, discover_result(probe.id))
    assert isinstance(event, Negotiated)


def test_a_modern_client_may_ask_without_a_handshake() -> None:
    wire = Wire(era="modern")
    handle, sent = call(wire)
    assert sent.header("MCP-Protocol-Version") == MODERN
    (event,) = wire.answer(sent, done(sent.id))
    assert handle.answered_by(event)


@pytest.mark.parametrize(
    ("status", "kind", "named"),
    [
        (200, "text/html", "Content-Type 'text/html'"),
        (200, None, "no Content-Type"),
        (202, None, "no Content-Type"),
        (204, None, "no Content-Type"),
        (200, "text/event-stream; charset=latin-1", "latin-1"),
    ],
)
@both_eras
def test_a_success_of_another_type_is_no_answer(revision: str, status: int, kind: str | None, named: str) -> None:
    wire = opened(revision)
    _, sent = call(wire)
    (event,) = wire.begin(sent, status, kind)
    assert isinstance(event, AnswerInvalid)
    assert named in event.detail
    assert wire.aborted() == [sent.key]


# HTTP+SSE of 2024-11-05 -----------------------------------------------------------------------------------------------


def endpoint(reference: str = "/messages/?session_id=abc") -> bytes:
    return f"event: endpoint\ndata: {reference}\n\n".encode()


def to_endpoint(**settings: Any) -> tuple[Wire, Sent]:
    """A client that waits for the first event of HTTP+SSE."""
    wire = connected(**settings)
    probe = wire.one()
    wire.answer(probe, status=404)
    wire.answer(wire.one(), status=404)
    get = wire.one()
    assert wire.begin(get, kind="text/event-stream") == []
    return wire, get


def opened_endpoint() -> tuple[Wire, Sent]:
    """A client in operation on HTTP+SSE, and its stream."""
    wire, get = to_endpoint()
    wire.data(get, endpoint())
    first = wire.one()
    wire.accept(first)
    wire.data(get, sse(initialize_result(first.id, "2024-11-05", capabilities={"tools": {}})))
    wire.accept(wire.one())
    assert wire.client.known == "sse"
    assert wire.client.listening
    return wire, get


def test_the_old_transport() -> None:
    wire, get = to_endpoint()
    assert wire.sent() == []
    assert wire.data(get, endpoint()) == []
    first = wire.one()
    assert first.message["method"] == "initialize"
    assert first.request.target == "https://example.com/messages/?session_id=abc"
    assert wire.accept(first) == []
    (event,) = wire.data(get, sse(initialize_result(first.id, "2024-11-05", capabilities={"tools": {}})))
    assert isinstance(event, Negotiated)
    initialized = wire.one()
    assert initialized.request.target == first.request.target
    wire.accept(initialized)
    handle, sent = call(wire)  # and no GET, as there is a stream
    wire.answer(sent, b"Accepted", 202, "text/plain")
    events = wire.data(get, sse(LOG, done(sent.id)))
    assert kinds(events) == [NotificationReceived, ResultReceived]
    assert handle.answered_by(events[1])
    assert kinds(wire.data(get, endpoint("/elsewhere"))) == []
    _, sent = call(wire)
    assert sent.request.target == first.request.target


@case("sse-123")
@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("/messages/?session_id=abc", "https://h/messages/?session_id=abc"),
        ("message?x=1", "https://h/p/message?x=1"),
        ("?x=1", "https://h/p/sse?x=1"),
        ("../m", "https://h/m"),
        ("https://H:443/m#here", "https://H:443/m"),
        ("//h/m", "https://h/m"),
        ("https://evil/x", None),
        ("//evil/x", None),
        ("http://h/x", None),
        ("https://h:8443/x", None),
        ("https://h:x/", None),
        ("https://[/", None),
        ("javascript:alert(1)", None),
        ("https://h@evil/", None),
        ("https://user@h/", None),
        ("https://h\\@evil/", None),
        ("/a b", None),
        ("/\u00e9", None),
        ("", None),
    ],
)
def test_where_the_endpoint_event_points(_case: str, reference: str, target: str | None) -> None:
    wire, get = to_endpoint(url="https://h/p/sse?q=1")
    events = wire.data(get, endpoint(reference))
    if target is not None:
        assert events == []
        assert wire.one().request.target == target
    else:
        (event,) = events
        assert isinstance(event, NegotiationFailed)
        assert event.reason is FailureReason.INVALID
        assert "endpoint event" in event.detail
        assert wire.sent() == []
        assert wire.aborted() == [get.key]


NO_ENDPOINT: list[tuple[int, str | None]] = [(405, None), (404, None), (200, "text/html"), (200, None), (500, None)]


@pytest.mark.parametrize(("status", "kind"), NO_ENDPOINT)
def test_neither_transport(status: int, kind: str | None) -> None:
    wire = connected(era="legacy")
    first = wire.one()
    wire.answer(first, status=404)
    (event,) = wire.answer(wire.one(), b"<html>", status, kind)
    assert isinstance(event, NegotiationFailed)
    assert event.reason is FailureReason.INVALID
    assert event.detail.startswith(f"HTTP 404 to initialize; GET was answered HTTP {status}")


def test_neither_transport_but_an_error_to_tell() -> None:
    wire = connected(era="legacy")
    first = wire.one()
    wire.answer(first, error(first.id, -32000, "Bad Request: no session"), 400)
    (event,) = wire.answer(wire.one(), status=405)
    assert isinstance(event, NegotiationFailed)
    assert event.reason is FailureReason.REFUSED
    assert event.error is not None
    assert event.error.message == "Bad Request: no session"


@pytest.mark.parametrize("how", ["no response", "ends", "breaks"])
def test_a_stream_without_an_endpoint(how: str) -> None:
    wire = connected(known="sse")
    get = wire.one()
    if how != "no response":
        wire.begin(get, kind="text/event-stream")
        assert kinds(wire.data(get, sse(LOG) + b"event: other\ndata: x\n\n")) == [NotificationReceived]
    (event,) = wire.end(get) if how == "ends" else wire.fail(get)
    assert isinstance(event, NegotiationFailed)
    assert event.reason is FailureReason.LOST


def test_an_endpoint_that_refuses_initialize() -> None:
    wire, get = to_endpoint()
    wire.data(get, endpoint())
    (event,) = wire.answer(wire.one(), status=404)
    assert isinstance(event, NegotiationFailed)
    assert wire.aborted() == [get.key]
    assert wire.sent() == []


def test_the_stream_of_the_old_transport_is_its_session() -> None:
    wire, get = opened_endpoint()
    handle, sent = call(wire)
    wire.accept(sent)
    lost, request_lost = wire.end(get)
    assert isinstance(lost, SessionLost)
    assert isinstance(request_lost, RequestLost)
    assert handle.ended_by(request_lost)
    get = wire.one()
    assert str(get) == "GET"
    assert get.header("Last-Event-ID") is None
    wire.begin(get, kind="text/event-stream")
    wire.data(get, endpoint("/new"))
    first = wire.one()
    assert first.request.target == "https://example.com/new"
    assert first.id > handle.id
    wire.accept(first)
    (event,) = wire.data(get, sse(initialize_result(first.id, "2024-11-05")))
    assert isinstance(event, Negotiated)


def test_the_stream_ends_in_the_handshake() -> None:
    wire, get = to_endpoint()
    wire.data(get, endpoint())
    first = wire.one()
    wire.accept(first)
    (event,) = wire.fail(get)
    assert isinstance(event, NegotiationFailed)
    assert event.reason is FailureReason.LOST


def test_a_refused_post_of_the_old_transport() -> None:
    wire, _ = opened_endpoint()
    handle, sent = call(wire)
    (event,) = wire.answer(sent, b"no", 400, "text/plain")
    assert isinstance(event, AnswerInvalid)
    assert handle.ended_by(event)


# What is known already ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("known", ["modern", "streamable", "sse"])
def test_what_is_known_saves_the_detours(known: Any) -> None:
    wire = connected(known=known)
    sent = wire.one()
    assert str(sent) == {"modern": "POST server/discover", "streamable": "POST initialize", "sse": "GET"}[known]
    assert wire.client.known is None


WRONG = [
    ("modern", 404, b"", "server/discover"),
    ("streamable", 404, -32601, "server/discover"),
    ("sse", 405, b"", "server/discover"),
]


@pytest.mark.parametrize(("known", "status", "body", "then"), WRONG)
def test_what_was_known_may_be_wrong_by_now(known: Any, status: int, body: Any, then: str) -> None:
    wire = connected(known=known, timeout=7)
    sent = wire.one()
    body = body if isinstance(body, bytes) else body_of(body, sent.id)
    assert wire.answer(sent, body, status) == []
    probe = wire.one()
    assert probe.message["method"] == then
    assert wire.client.next_deadline() == wire.now + 7
    (event,) = wire.answer(probe, discover_result(probe.id))
    assert isinstance(event, Negotiated)
    assert wire.client.known == "modern"


@pytest.mark.parametrize("known", ["modern", "streamable", "sse"])
def test_a_server_that_is_away_says_nothing_about_what_was_known(known: Any) -> None:
    wire = connected(known=known)
    (event,) = wire.fail(wire.one())
    assert isinstance(event, NegotiationFailed)
    assert wire.sent() == []


# Sessions -------------------------------------------------------------------------------------------------------------


def reopened(wire: Wire, initialize: Sent, session: str = "session-2") -> Any:
    """The handshake of a session that follows another."""
    assert initialize.message["method"] == "initialize"
    assert initialize.header("Mcp-Session-Id") is None
    assert initialize.header("MCP-Protocol-Version") is None
    answer = initialize_result(initialize.id, capabilities={"tools": {}})
    (event,) = wire.answer(initialize, answer, headers={"Mcp-Session-Id": session})
    assert isinstance(event, Negotiated)
    return event


@case("session-140")
@pytest.mark.parametrize("body", [b"", body_of(-32001, None), body_of(-32600, ...), "ours"], ids=str)
@pytest.mark.parametrize("revision", SESSIONS)
def test_a_lost_session_is_followed_by_a_new_one(_case: str, revision: str, body: Any) -> None:
    wire = opened(revision, timeout=9)
    before = wire.connection
    first, sent = call(wire)
    second, other = call(wire)
    wire.begin(other, kind="text/event-stream")
    body = body if body != "ours" else error(sent.id, -32001, "Session not found")
    lost, *ended = wire.answer(sent, body, 404)
    assert isinstance(lost, SessionLost)
    assert [event.id for event in ended] == [first.id, second.id]
    assert kinds(ended) == [RequestLost, RequestLost]
    assert first.ended_by(ended[0])
    assert wire.aborted() == [other.key]
    assert wire.connection is not before
    assert wire.client.next_deadline() == wire.now + 9
    assert wire.stream(other, done(other.id)) == []
    initialize = wire.one()
    assert initialize.id > second.id
    reopened(wire, initialize)
    assert str(wire.one()) == "POST notifications/initialized"  # nothing is sent once more


@case("http-131")
def test_an_unknown_method_is_no_lost_session(_case: str) -> None:
    wire = opened(D)
    handle = wire.connection.request(t.CustomRequest("vendor/none"))
    sent = wire.one()
    (event,) = wire.answer(sent, error(sent.id, -32601), 404)
    assert isinstance(event, ErrorReceived)
    assert handle.ended_by(event)
    assert wire.sent() == []


def test_not_found_without_a_session_is_an_error() -> None:
    wire = opened(D, session=None)
    _, sent = call(wire)
    (event,) = wire.answer(sent, status=404, kind=None)
    assert isinstance(event, AnswerInvalid)
    assert wire.sent() == []


@case("session-140")
def test_sessions_that_get_lost_at_once_come_to_an_end(_case: str) -> None:
    wire = opened(D, session="s")
    _, sent = call(wire)
    events = wire.answer(sent, status=404)
    for _ in range(2):
        reopened(wire, wire.one())
        events = wire.answer(wire.one(), status=404)
    assert kinds(events) == [SessionLost, NegotiationFailed]
    assert wire.sent() == []
    assert wire.client.next_deadline() is None
    assert not wire.connection.can_send("tools/list")
    wire.client.connect(now=wire.now)
    assert str(wire.one()) == "POST initialize"


def test_sessions_that_were_of_use_may_get_lost_again_and_again() -> None:
    wire = opened(D, listen=False)
    for _ in range(10):
        _, sent = call(wire)
        wire.answer(sent, done(sent.id))
        _, sent = call(wire)
        assert kinds(wire.answer(sent, status=404)) == [SessionLost, RequestLost]
        reopened(wire, wire.one())
        wire.accept(wire.one())


@pytest.mark.parametrize("ids", [["a b"], ["\u00e9"], ["a", "b"], ["a\x7f"]])
def test_a_session_id_that_is_none(ids: list[str]) -> None:
    wire = connected(era="legacy")
    first = wire.one()
    (event,) = wire.begin(first, 200, "application/json", [("Mcp-Session-Id", each) for each in ids])
    assert isinstance(event, NegotiationFailed)
    assert "Mcp-Session-Id" in event.detail


@pytest.mark.parametrize("ids", [[], [""], ["a", "a"]])
def test_a_session_id_that_is_absent_or_repeated(ids: list[str]) -> None:
    wire = connected(era="legacy")
    first = wire.one()
    headers = [("Mcp-Session-Id", each) for each in ids]
    (event,) = wire.answer(first, initialize_result(first.id), headers=headers)
    assert isinstance(event, Negotiated)
    assert wire.one().header("Mcp-Session-Id") == ("a" if ids == ["a", "a"] else None)


def test_a_session_id_of_any_other_response_is_ignored() -> None:
    wire = opened(D)
    _, sent = call(wire)
    wire.answer(sent, done(sent.id), headers={"Mcp-Session-Id": "other"})
    _, sent = call(wire)
    assert sent.header("Mcp-Session-Id") == SESSION
    wire = opened(MODERN)
    _, sent = call(wire)
    wire.answer(sent, done(sent.id), headers={"Mcp-Session-Id": "stray"})
    _, sent = call(wire)
    assert sent.header("Mcp-Session-Id") is None


@pytest.mark.parametrize("status", [200, 202, 204, 404, 405, 500])
def test_closing_ends_the_session(status: int) -> None:
    wire = opened(D, listening=True)
    handle, sent = call(wire)
    wire.begin(sent, kind="text/event-stream")
    (event,) = wire.client.close()
    assert isinstance(event, ConnectionClosed)
    assert handle.ended_by(event)
    delete = wire.one()
    assert str(delete) == "DELETE"
    assert list(delete.request.headers) == [("Mcp-Session-Id", SESSION), ("MCP-Protocol-Version", D)]
    assert sorted(wire.aborted()) == sorted([wire.listening.key, sent.key])
    assert wire.answer(delete, status=status) == []
    assert wire.client.close() == []
    assert wire.client.next_deadline() is None
    with pytest.raises(LocalProtocolError) as caught:
        wire.client.connect(now=1)
    assert caught.value.reason is Reason.CLOSED


def test_the_end_of_a_session_may_fail() -> None:
    wire = opened(D)
    wire.client.close()
    assert wire.fail(wire.one()) == []


@pytest.mark.parametrize("session", [None, SESSION])
@both_eras
def test_what_was_said_before_closing_is_sent(revision: str, session: str | None) -> None:
    wire = opened(revision, session=session)
    running = wire.connection.request(t.ListToolsRequest())
    (sent,) = wire.sent()
    wire.connection.notify(t.CustomNotification("vendor/bye"))
    unstarted = wire.connection.request(t.ListToolsRequest())
    (event,) = wire.client.close()
    assert [pending.id for pending in event.pending] == [running.id, unstarted.id]
    assert wire.aborted() == [sent.key]
    bye, *rest = wire.sent()
    assert bye.message["method"] == "vendor/bye"
    assert [str(each) for each in rest] == (["DELETE"] if revision == D and session else [])
    assert kinds(wire.answer(bye, status=404)) in ([], [MessageRefused])
    assert wire.sent() == []


def test_a_session_is_ended_though_the_client_tries_again_at_once() -> None:
    wire = connected(era="legacy")
    for _ in range(2):
        first = wire.one()
        wire.answer(first, initialize_result(first.id, "1999-01-01"), headers={"Mcp-Session-Id": SESSION})
        wire.client.connect(now=wire.now)
        delete, initialize = wire.sent()
        assert [str(delete), str(initialize)] == ["DELETE", "POST initialize"]
        wire.fail(initialize)
        wire.client.connect(now=wire.now)
    assert wire.aborted() == []


def test_what_follows_a_bad_endpoint_event_is_not_read() -> None:
    wire, get = to_endpoint()
    assert kinds(wire.data(get, endpoint("//evil/") + sse(LOG))) == [NegotiationFailed]


@pytest.mark.parametrize("known", [None, "streamable"])
def test_a_ping_in_the_handshake_ends_with_it(known: Any) -> None:
    wire = connected(era="legacy", known=known)
    first = wire.one()
    handle = wire.connection.request(t.PingRequest())
    sent = wire.one()
    events = wire.answer(first, error(first.id), 200)
    (ended,) = [event for event in events if isinstance(event, RequestLost)]
    assert handle.ended_by(ended)
    assert kinds(events) == [RequestLost] if known else [NegotiationFailed, RequestLost]
    assert wire.aborted() == [sent.key]
