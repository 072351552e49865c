"""Invariants under fire: whatever the peer sends, however it is cut, and whatever mistakes the local caller makes."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from mcp_sansio import (
    ALL,
    ClientConnection,
    ConnectionState,
    Event,
    Handle,
    Limits,
    LocalProtocolError,
    ServerConnection,
    Side,
)
from mcp_sansio import types as t
from mcp_sansio.codec import ORJSON, STDLIB
from mcp_sansio.jsonrpc import InvalidMessage, parse_message

from .pair import (
    CLIENT_CAN,
    EVERY,
    INFO,
    INITIALIZED,
    JSON,
    LEGACY,
    MODERN,
    SERVER_CAN,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
    A,
    B,
    Connection,
    D,
    client,
    discover_result,
    encode,
    error,
    feed,
    initialize,
    initialize_result,
    modern,
    modern_meta,
    notification,
    open_client,
    open_server,
    request,
    result,
    sent,
    server,
    state_of,
    tools_result,
)

SCALE = int(os.environ.get("FUZZ_SCALE", "1"))
"""Set it to 100 for a soak."""


def quick(examples: int) -> settings:
    return settings(deadline=None, max_examples=SCALE * examples, suppress_health_check=list(HealthCheck))


TINY = Limits(frame_bytes=400, depth=8, id_length=4, remembered_ids=2)
LIMITS = st.sampled_from([Limits(), TINY, Limits(frame_bytes=60), Limits(remembered_ids=0)])
CODECS = st.sampled_from([STDLIB, ORJSON])

# Connections in every state -------------------------------------------------------------------------------------------

Make = Callable[..., Connection]


def _connecting(era: str, **given: Any) -> Connection:
    conn = client(era, **given)
    conn.connect()
    return conn


def _initializing(**given: Any) -> Connection:
    conn = _connecting("auto", **given)
    feed(conn, error(1, -32601))
    return conn


def _asking(revision: str, **given: Any) -> Connection:
    conn = open_client(revision, SERVER_ALL, **given)
    if conn.state is ConnectionState.OPEN:
        conn.request(t.ListToolsRequest(), progress=True)
        conn.request(t.CallToolRequest("x", meta={"progressToken": "t"}), id="2")
        conn.cancel(conn.request(t.ListPromptsRequest()).id)
        feed(conn, tools_result(conn.request(t.ListToolsRequest()).id, revision))
        if revision == MODERN:
            listening = conn.request(t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True)))
            conn.request(t.ReadResourceRequest("a", meta={"io.modelcontextprotocol/logLevel": "info"}))
            meta = {SUBSCRIPTION_KEY: listening.id}
            feed(conn, notification("notifications/subscriptions/acknowledged", {"notifications": {}, "_meta": meta}))
        else:
            feed(
                conn, request(1, "roots/list", {"_meta": {"progressToken": 1}}), request("s", "sampling/createMessage")
            )
    return conn


SERVER_ALL: JSON = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {},
    "logging": {},
}


def _serving(revision: str, **given: Any) -> Connection:
    conn = server(**given)
    can = {"roots": {"listChanged": True}, "sampling": {}}
    feed(conn, initialize("i", revision, capabilities=can), INITIALIZED)
    if conn.revision is not None:
        conn.request(t.ListRootsRequest(), progress=True)
        conn.cancel(conn.request(t.ListRootsRequest()).id)
        conn.request(t.PingRequest(), id="x")
    feed(
        conn,
        request(1, "tools/list", {"_meta": {"progressToken": 1}}),
        modern("1", "tools/call", {"name": "x"}, progressToken="1"),
        modern(2, "subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
        request(3, "tools/list"),
        notification("notifications/cancelled", {"requestId": 3}),
    )
    return conn


def _holding(**given: Any) -> Connection:
    conn = server(**given)
    feed(conn, initialize("i", D, capabilities={"roots": {}}))
    if conn.revision is not None:
        conn.request(t.ListRootsRequest())
        conn.request(t.ListRootsRequest(), id="held")
        conn.request(t.PingRequest())
    return conn


def _manual(**given: Any) -> Connection:
    conn = server(manual={"initialize", "ping", "server/discover"}, **given)
    feed(conn, initialize(1, D), request(2, "ping"), modern(3, "server/discover"))
    return conn


def _batching(**given: Any) -> Connection:
    conn = server(**given)
    feed(conn, initialize("i", B), INITIALIZED)
    feed(conn, [request(1, "tools/list"), request("1", "tools/list"), 5, request(1, "ping")])
    return conn


def _questioning(**given: Any) -> Connection:
    """A server that waits for one of two answers, on behalf of a request of a legacy client."""
    conn = server(**given)
    feed(conn, initialize("i", D, capabilities={"roots": {}, "elicitation": {}}), INITIALIZED)
    feed(conn, request("s", "tools/call", {"name": "x"}), request(2, "tools/call", {"name": "y"}))
    if isinstance(conn, ServerConnection) and "s" in conn.owed:
        conn.request_input("s", {"where": t.ListRootsRequest(), "who": ELICIT}, "state")
        feed(conn, result(1, {"roots": []}))
    return conn


def _asked(**given: Any) -> Connection:
    """A client that was asked for input."""
    conn = open_client(MODERN, SERVER_ALL, **given)
    if conn.state is ConnectionState.OPEN:
        handle = conn.request(t.CallToolRequest("x"), progress=True)
        feed(conn, result(handle.id, {"resultType": "input_required", "requestState": "s", "inputRequests": ASKED}))
    return conn


ASKED: JSON = {"where": {"method": "roots/list"}}
ELICIT = t.ElicitRequestFormParams("name?", t.RequestedSchema({}))


def _cut(make: Make, **given: Any) -> Connection:
    conn = make(**given)
    feed(conn, b'{"jsonrpc":"2.0","id":1,"result":{}}\n{\n "a": ')
    return conn


def _ended(make: Make, **given: Any) -> Connection:
    conn = make(**given)
    conn.receive_eof()
    return conn


def _closed(make: Make, **given: Any) -> Connection:
    conn = make(**given)
    conn.close()
    return conn


def _failed(**given: Any) -> Connection:
    conn = _connecting("legacy", **given)
    feed(conn, error(1))
    return conn


STATES: dict[str, Make] = {
    "idle client": lambda **g: client(**g),
    "idle modern client": lambda **g: client("modern", **g),
    "probing client": lambda **g: _connecting("auto", **g),
    "probing modern client": lambda **g: _connecting("modern", **g),
    "initializing client": _initializing,
    "initializing legacy client": lambda **g: _connecting("legacy", **g),
    "failed client": _failed,
    **{f"client {r}": lambda r=r, **g: _asking(r, **g) for r in EVERY},
    "new server": lambda **g: server(**g),
    "new modern server": lambda **g: server(revisions=[MODERN], **g),
    "new legacy server": lambda **g: server(revisions=LEGACY, **g),
    "manual server": _manual,
    "holding server": _holding,
    "batching server": _batching,
    "questioning server": _questioning,
    "asked client": _asked,
    **{f"server {r}": lambda r=r, **g: _serving(r, **g) for r in EVERY},
    "client within a line": lambda **g: _cut(lambda **h: _asking(D, **h), **g),
    "server within a line": lambda **g: _cut(lambda **h: _serving(D, **h), **g),
    "ended client": lambda **g: _ended(lambda **h: _asking(D, **h), **g),
    "ended server": lambda **g: _ended(lambda **h: _serving(D, **h), **g),
    "closed client": lambda **g: _closed(lambda **h: _asking(D, **h), **g),
    "closed server": lambda **g: _closed(lambda **h: _serving(D, **h), **g),
}
OPEN_STATES = [name for name in STATES if not name.startswith(("ended", "closed"))]
each_state = pytest.mark.parametrize("state", STATES)
each_open_state = pytest.mark.parametrize("state", OPEN_STATES)
states = st.sampled_from(OPEN_STATES)

# What a peer may come up with -----------------------------------------------------------------------------------------

METHODS = sorted(
    {
        "initialize", "ping", "server/discover", "tools/list", "tools/call", "prompts/get", "resources/read",
        "resources/subscribe", "subscriptions/listen", "completion/complete", "logging/setLevel", "tasks/get",
        "tasks/list", "roots/list", "sampling/createMessage", "elicitation/create", "no/such", "",
        "notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/message",
        "notifications/tools/list_changed", "notifications/resources/updated", "notifications/roots/list_changed",
        "notifications/subscriptions/acknowledged", "notifications/elicitation/complete", "notifications/tasks/status",
    }
)  # fmt: skip
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
ids = st.sampled_from(
    [0, 1, 2, 3, "1", "2", "", "x", "held", 1.0, True, None, 2**53, 2**63, 2**64, -1, [], {}, "long" * 9]
)
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False) | texts
KEYS = st.sampled_from(
    ["name", "arguments", "uri", "protocolVersion", "capabilities", "clientInfo", "serverInfo", "requestId", "reason",
     "progressToken", "progress", "level", "data", "notifications", "supportedVersions", "resultType", "inputRequests",
     "requestState", "tools", "contents", "task", "mode", "message", "_meta", "blob", "ttlMs", "cacheScope", "roots",
     "toolsListChanged", "taskId", "cursor", VERSION_KEY, SUBSCRIPTION_KEY]
)  # fmt: skip
values = st.recursive(
    scalars | ids | st.sampled_from([*EVERY, "1900-01-01", "complete", "input_required", "info", "private"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | texts, inner, max_size=4),
    max_leaves=8,
)
metas = (
    st.just({})
    | st.builds(lambda token: {"progressToken": token}, ids)
    | st.just(modern_meta())
    | st.builds(lambda rid: {SUBSCRIPTION_KEY: rid}, ids)
)
GOOD: dict[str, JSON] = {
    "initialize": initialize()["params"],
    "tools/call": {"name": "x", "arguments": {}},
    "notifications/cancelled": {"requestId": 1},
    "notifications/progress": {"progressToken": 1, "progress": 1},
    "notifications/message": {"level": "error", "data": 1},
    "subscriptions/listen": {"notifications": {"toolsListChanged": True}},
    "notifications/subscriptions/acknowledged": {"notifications": {"toolsListChanged": True}},
    "sampling/createMessage": {"messages": [], "maxTokens": 1},
    "elicitation/create": {"message": "m", "requestedSchema": {"type": "object", "properties": {}}},
    "resources/read": {"uri": "a"},
}


@st.composite
def calls(draw: Any) -> JSON:
    method = draw(st.sampled_from(METHODS))
    params = draw(st.just(GOOD.get(method, {})) | st.dictionaries(KEYS, values, max_size=4))
    value = {"jsonrpc": "2.0", "method": method, "params": {**params, "_meta": draw(metas)}}
    if draw(st.booleans()):
        value["id"] = draw(ids)
    return value


RESULTS = [
    {},
    {"tools": []},
    {"roots": []},
    tools_result(1, MODERN)["result"],
    initialize_result()["result"],
    discover_result()["result"],
    discover_result(versions=[D])["result"],
    {"resultType": "input_required", "requestState": "s"},
    {"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}},
    {"contents": [{"uri": "a", "blob": "!"}]},
]
results = st.builds(result, ids, st.sampled_from(RESULTS) | st.dictionaries(KEYS, values, max_size=4))
errors = st.builds(
    lambda i, code, data: error(i, code, data=data),
    ids,
    st.sampled_from([-32601, -32022, -32021, -32002, -32042, -32050, 1, "x", None, 10**30]),
    st.sampled_from([None, {}, {"supported": [MODERN]}, {"supported": [D], "requested": "x"}, {"supported": 5}]),
)
messages = calls() | results | errors
mutilated = st.builds(
    lambda value, key, new: {**value, key: new},
    messages,
    st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]),
    values,
)
anything = messages | mutilated | values | st.lists(messages | values, max_size=4)


@st.composite
def bent(draw: Any) -> bytes:
    """Lines with bytes changed, dropped or put in."""
    data = bytearray(encode(*draw(st.lists(anything, min_size=1, max_size=3))))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 2))] = draw(
            st.sampled_from([b"", b"\n", b'"', b"\\", b"{", b"]", b"\xff", b"0"])
        )
    return bytes(data)


pieces = st.one_of(anything.map(encode), anything.map(encode), bent(), st.binary(max_size=20))
streams = st.lists(pieces, max_size=8).map(b"".join)


def receive(conn: Connection, data: bytes, cuts: list[int]) -> list[Event]:
    events: list[Event] = []
    bounds = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(bounds):
        events += conn.receive_data(data[start:end])
    return events


# Properties -----------------------------------------------------------------------------------------------------------


@each_open_state
@quick(12)
@given(data=streams, limits=LIMITS, codec=CODECS)
@example(data=b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n', limits=Limits(), codec=STDLIB)
def test_the_peer_cannot_make_us_raise(state: str, data: bytes, limits: Limits, codec: Any) -> None:
    conn = STATES[state](limits=limits, codec=codec)
    conn.receive_data(data)
    json.dumps(conn.snapshot(), allow_nan=False)
    conn.data_to_send()
    conn.receive_eof()
    conn.data_to_send()
    assert conn.in_flight == ()


@quick(60)
@given(states, streams, LIMITS, CODECS)
def test_one_message_at_a_time_cannot_either(state: str, data: bytes, limits: Limits, codec: Any) -> None:
    conn = STATES[state](limits=limits, codec=codec)
    for line in data.split(b"\n"):
        conn.receive_message(line)
    conn.receive_message(data.decode("utf-8", "surrogateescape"))
    assert conn.close()


@quick(60)
@given(states, streams, st.lists(st.integers(0, 4000), max_size=12), LIMITS, CODECS)
def test_any_chunking_gives_the_same_events_and_output(
    state: str, data: bytes, cuts: list[int], limits: Limits, codec: Any
) -> None:
    whole, cut = (STATES[state](limits=limits, codec=codec) for _ in range(2))
    assert receive(whole, data, []) == receive(cut, data, cuts)
    assert whole.snapshot() == cut.snapshot()
    assert whole.receive_eof() == cut.receive_eof()
    assert whole.data_to_send() == cut.data_to_send()


@quick(60)
@given(states, streams, CODECS)
def test_after_anything_a_good_message_is_handled(state: str, data: bytes, codec: Any) -> None:
    conn = STATES[state](codec=codec)
    conn.receive_data(data + b"\n")
    (last,) = feed(conn, notification("vendor/last"))
    assert getattr(last, "method", None) == "vendor/last"


@quick(60)
@given(states, streams)
def test_no_response_is_answered_and_every_answer_is_one_of_its_request(state: str, data: bytes) -> None:
    conn = STATES[state]()
    sent(conn)
    conn.receive_data(data)
    for answer in sent(conn):
        for one in answer if isinstance(answer, list) else [answer]:
            assert not isinstance(parse_message(one), InvalidMessage)
    again = STATES[state]()
    feed(again, b"\n")
    sent(again)
    responses = encode(*(error(i, -32600) for i in ("1", 1, 77)), error(None), result(1), result("x"))
    feed(again, responses)
    assert not [m for m in sent(again) if "method" not in m]


@each_state
@quick(6)
@given(data=streams, later=streams, codec=CODECS)
def test_a_snapshot_is_json_and_goes_on_as_if_nothing_had_happened(
    state: str, data: bytes, later: bytes, codec: Any
) -> None:
    conn = STATES[state](codec=codec)
    if conn.state is not ConnectionState.CLOSING:
        conn.receive_data(data)
    taken = conn.snapshot()
    kept = json.dumps(taken, allow_nan=False)
    again = type(conn).restore(json.loads(kept), codec=codec)
    assert again.snapshot() == taken
    for name in ("state", "phase", "revision", "in_flight", "owed", "peer_info", "peer_capabilities"):
        assert getattr(again, name) == getattr(conn, name)
    assert again.conversation.shared() == conn.conversation.shared()
    if conn.state is not ConnectionState.CLOSING:
        assert again.receive_data(later) == conn.receive_data(later)
    for request_id in conn.owed:
        assert again.respond_error(request_id, 1, "no") == conn.respond_error(request_id, 1, "no")
    assert again.messages_to_send() == conn.messages_to_send()
    assert again.receive_eof() == conn.receive_eof()
    assert json.dumps(taken, allow_nan=False) == kept, "the snapshot changed with the connection"


BAD_IDS: list[Any] = [True, 1.0, 2.5, None, [], {}, b"1", 2**64, "x" * 2000, "\ud800"]
BAD_TEXT: list[Any] = [None, 5, b"x", [], "\ud800"]
BAD_PAYLOADS: list[Any] = [
    None, "ping", 5, {}, t.PingRequest, t.EmptyResult(), INFO, t.CustomRequest(5), t.CustomNotification(None),
    t.CustomRequest("x", params=[1]), t.CustomRequest("x", meta=5), t.CustomRequest("x", {"a": object()}),
    t.CustomNotification("x", {"a": float("nan")}), t.CustomNotification("x", {1: 2}),
    t.CallToolRequest(5), t.CallToolRequest("x", {"a": {1}}), t.ListToolsRequest(cursor=5),
    t.ListToolsRequest(meta={"progressToken": True}), t.ProgressNotification(True, 1), t.ProgressNotification(1, "x"),
    t.CancelledNotification(True), t.CancelledNotification(1.0),
]  # fmt: skip
BAD_RESULTS: list[Any] = [
    None, {}, {"tools": []}, t.PingRequest(), t.EmptyResult, t.ListToolsResult(5), t.CustomResult(extra={"_meta": 5}),
    t.CustomResult(extra={"a": object()}), t.CustomResult(meta=5), t.EmptyResult(meta={"a": float("inf")}),
]  # fmt: skip
BAD_TIMES: list[Any] = ["1", b"1", [], float("nan")]
BAD_TIMEOUTS: list[dict[str, Any]] = [
    {"timeout": 1}, {"max_timeout": 1}, {"timeout": -1, "now": 9}, {"max_timeout": -1, "now": 9},
    {"timeout": True, "now": 9}, {"timeout": float("inf"), "now": 9}, {"reset_on_progress": True, "now": 9},
    {"timeout": 1, "now": "9"}, {"now": float("nan")}, {"timeout": 1, "max_timeout": "1", "now": 9},
    {"log_level": "loud"}, {"log_level": 5}, {"id": "1", "progress": True, "log_level": []},
]  # fmt: skip
BAD_CHANGES: list[Any] = [
    None, "tools", t.ToolListChangedNotification, t.CancelledNotification(1), t.ToolListChangedNotification(meta=5),
    t.ResourceUpdatedNotification(5),
]  # fmt: skip
BAD_QUESTIONS: list[Any] = [
    None, 5, [], {}, {"a": None}, {"a": t.PingRequest()}, {"a": t.ListToolsRequest()}, {"a": t.EmptyResult()},
    {"a": t.ListRootsRequest, "b": t.ListRootsRequest()}, {5: t.ListRootsRequest()},
    {"a": t.ListRootsRequest(), "b": t.ElicitRequestFormParams(5, t.RequestedSchema({}))},
    {"a": t.ListRootsRequest(), "b": t.ListRootsRequest(meta={"a": object()})},
]  # fmt: skip
BAD_BATCHES: list[Any] = [
    [], [None], [t.PingRequest], [t.PingRequest(), "ping"], [t.PingRequest(), t.CallToolRequest(5)],
    [t.PingRequest()] * 999, [t.PingRequest(), t.CancelledNotification(True)], [t.PingRequest(), t.EmptyResult()],
    [t.ListToolsRequest(), t.ListRootsRequest(), t.ListRootsRequest(meta={"a": object()})],
]  # fmt: skip


def mistakes() -> dict[str, Callable[[Connection], object]]:
    """Calls that no state allows."""
    found: dict[str, Callable[[Connection], object]] = {}
    for i, payload in enumerate(BAD_PAYLOADS):
        found[f"request {i}"] = lambda c, p=payload: c.request(p)
        found[f"notify {i}"] = lambda c, p=payload: c.notify(p)
    for i, answer in enumerate(BAD_RESULTS):
        found[f"respond {i}"] = lambda c, r=answer: [c.respond(owed, r) for owed in c.owed or [_nothing()]]
    for i, rid in enumerate(BAD_IDS):
        if rid is not None:
            found[f"request by id {i}"] = lambda c, r=rid: c.request(t.ListToolsRequest(), id=r)
        found[f"respond to {i}"] = lambda c, r=rid: c.respond_error(r, 1, "no")
        found[f"cancel {i}"] = lambda c, r=rid: c.cancel(r)
    for i, text in enumerate(BAD_TEXT):
        found[f"error message {i}"] = lambda c, m=text: [c.respond_error(o, 1, m) for o in c.owed or [_nothing()]]
        if text is not None:
            found[f"cancel reason {i}"] = lambda c, m=text: [c.cancel(o, m) for o in c.in_flight or [_nothing()]]
    for i, code in enumerate([None, "5", "x", 1.5, True, [], float("nan")]):
        found[f"error code {i}"] = lambda c, e=code: [c.respond_error(o, e, "m") for o in c.owed or [_nothing()]]
    for i, now in enumerate(BAD_TIMES):
        found[f"receive_data now {i}"] = lambda c, n=now: c.receive_data(b"", now=n)
        found[f"receive_eof now {i}"] = lambda c, n=now: c.receive_eof(now=n)
        found[f"handle_timeout now {i}"] = lambda c, n=now: c.handle_timeout(n)
        found[f"snapshot now {i}"] = lambda c, n=now: c.snapshot(n)
    for i, options in enumerate(BAD_TIMEOUTS):
        found[f"request timing {i}"] = lambda c, o=options: c.request(_askable(c), **o)
    for i, change in enumerate(BAD_CHANGES):
        found[f"publish {i}"] = lambda c, p=change: _server(c).publish(p)
    for i, asked in enumerate(BAD_QUESTIONS):
        found[f"request_input {i}"] = lambda c, a=asked: [
            _server(c).request_input(o, a) for o in c.owed or [_nothing()]
        ]
        found[f"retry {i}"] = lambda c, a=asked: _client(c).retry(Handle(2, "tools/call", t.CallToolResult), a or {})
    for i, batch in enumerate(BAD_BATCHES):
        found[f"send_batch {i}"] = lambda c, b=batch: c.send_batch(b)
    for i, level in enumerate(["loud", 5, None, []]):
        found[f"log level {i}"] = lambda c, v=level: _server(c).log(v, "data")
    for i, rid in enumerate(BAD_IDS):
        found[f"progress of {i}"] = lambda c, r=rid: c.progress(r, 1)
        found[f"request_input of {i}"] = lambda c, r=rid: _server(c).request_input(r, {"a": t.ListRootsRequest()})
        found[f"missing capability of {i}"] = lambda c, r=rid: _server(c).respond_missing_capability(
            r, t.ClientCapabilities()
        )
        found[f"end_subscription {i}"] = lambda c, r=rid: _server(c).end_subscription(r)
        if rid is not None:
            found[f"log about {i}"] = lambda c, r=rid: _server(c).log("error", 1, related=r)
    for i, amount in enumerate([None, "1", True, float("nan"), []]):
        found[f"progress {i}"] = lambda c, a=amount: [c.progress(o, a) for o in _reporting(c)]
    for i, needs in enumerate([None, {}, t.ServerCapabilities(), t.ClientCapabilities(roots=5)]):
        found[f"missing capability {i}"] = lambda c, n=needs: [
            _server(c).respond_missing_capability(o, n) for o in c.owed or [_nothing()]
        ]
    for i, bad in enumerate(["text", 5, None, [1]]):
        found[f"receive_data {i}"] = lambda c, d=bad: c.receive_data(d)
    for i, bad in enumerate([5, None, [1]]):
        found[f"receive_message {i}"] = lambda c, d=bad: c.receive_message(d)
    return found


def _nothing() -> Any:
    raise TypeError("nothing to answer in this state")


def _server(conn: Connection) -> ServerConnection:
    if isinstance(conn, ServerConnection):
        return conn
    raise TypeError("a client has not got this")


def _client(conn: Connection) -> ClientConnection:
    if isinstance(conn, ClientConnection):
        return conn
    raise TypeError("a server has not got this")


def _askable(conn: Connection) -> t.Request[Any]:
    return t.ListToolsRequest() if isinstance(conn, ClientConnection) else t.PingRequest()


def _reporting(conn: Connection) -> list[Any]:
    """The requests of the peer that asked for progress."""
    requests = conn.conversation.open_requests(conn.side.other).values()
    return [each.id for each in requests if each.token is not None] or _nothing()


MISTAKES = mistakes()


@pytest.mark.parametrize("what", MISTAKES)
@pytest.mark.parametrize(
    "state",
    [
        *("client 2025-11-25", f"client {MODERN}", "server 2025-03-26", "server 2025-11-25", f"server {MODERN}"),
        *("holding server", "questioning server", "asked client", "idle client"),
    ],
)
def test_a_call_that_raised_changed_nothing_and_raised_the_right_thing(state: str, what: str) -> None:
    conn = STATES[state]()
    before, clock = state_of(conn), conn._now
    with pytest.raises((LocalProtocolError, TypeError)):
        MISTAKES[what](conn)
    assert conn._now is clock
    assert state_of(conn) == before


RIGHT: dict[str, Callable[[Connection], object]] = {
    "request": lambda c: c.request(t.ListToolsRequest()),
    "server request": lambda c: c.request(t.ListRootsRequest()),
    "ping": lambda c: c.request(t.PingRequest()),
    "call": lambda c: c.request(t.CallToolRequest("x"), progress=True),
    "discover": lambda c: c.request(t.DiscoverRequest()),
    "initialize": lambda c: c.request(t.InitializeRequest(D, CLIENT_CAN, INFO)),
    "initialized": lambda c: c.notify(t.InitializedNotification()),
    "reused id": lambda c: c.request(t.ListToolsRequest(), id=1),
    "cancel": lambda c: c.cancel(1),
    "cancel a string": lambda c: c.cancel("2"),
    "progress": lambda c: c.notify(t.ProgressNotification(1, 1)),
    "change": lambda c: c.notify(t.ToolListChangedNotification()),
    "log": lambda c: c.notify(t.LoggingMessageNotification("error", 1)),
    "respond": lambda c: c.respond(1, t.ListToolsResult([])),
    "respond with another result": lambda c: c.respond(1, t.EmptyResult()),
    "respond by another type": lambda c: c.respond("1", t.ListToolsResult([])),
    "respond with an error": lambda c: c.respond_error(1, -32603, "no"),
    "reserved code": lambda c: c.respond_error("1", -32002, "no"),
    "report progress": lambda c: c.progress(1, 1),
    "report progress again": lambda c: c.progress("1", 0.5),
    "cancel what is over": lambda c: c.cancel(3),
    "ask for input": lambda c: _server(c).request_input(2, {"where": t.ListRootsRequest(), "who": ELICIT}, "state"),
    "ask by another type": lambda c: _server(c).request_input("1", {"where": t.ListRootsRequest()}),
    "ask with a state only": lambda c: _server(c).request_input("1", None, "state"),
    "cancel a question": lambda c: _server(c).cancel(2),
    "answer the request of a question": lambda c: c.respond("s", t.CallToolResult([])),
    "miss a capability": lambda c: _server(c).respond_missing_capability(1, CLIENT_CAN),
    "log about a request": lambda c: _server(c).log("error", 1, related="1"),
    "log a detail": lambda c: _server(c).log("debug", 1),
    "publish a list": lambda c: _server(c).publish(t.ToolListChangedNotification()),
    "publish a resource": lambda c: _server(c).publish(t.ResourceUpdatedNotification("a")),
    "end a subscription": lambda c: _server(c).end_subscription(2),
    "batch": lambda c: c.send_batch([t.PingRequest(), t.ListToolsRequest(), t.CancelledNotification(1)]),
    "batch of one": lambda c: c.send_batch([t.PingRequest()]),
    "batch that cancels twice": lambda c: c.send_batch([t.CancelledNotification(1), t.CancelledNotification(1)]),
    "batch with one token for two": lambda c: c.send_batch([t.PingRequest(meta={"progressToken": "b"})] * 2),
    "retry": lambda c: _client(c).retry(Handle(2, "tools/call", t.CallToolResult), {"where": t.ListRootsResult([])}),
    "listen": lambda c: c.request(t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True))),
    "subscribe": lambda c: c.request(t.SubscribeRequest("a")),
    "set a level": lambda c: c.request(t.SetLevelRequest("error")),
    "connect": lambda c: c.connect() if isinstance(c, type(client())) else _nothing(),
    "connect with a time-out": lambda c: c.connect(timeout=5) if isinstance(c, type(client())) else _nothing(),
    "end": lambda c: c.receive_eof(),
    "data": lambda c: c.receive_data(b"x\n"),
    **{
        f"raw {v.get('method', 'answer')}": lambda c, v=v: c.send_raw(parse_message(v))
        for v in (initialize(), request(9, "ping"), modern(9, "tools/list"), result(1), error(None), INITIALIZED)
    },
}


@each_state
@quick(8)
@given(what=st.lists(st.sampled_from(sorted(RIGHT)), max_size=8), data=streams)
def test_a_call_that_raised_changed_nothing_in_any_state(state: str, what: list[str], data: bytes) -> None:
    conn = STATES[state]()
    for name in what:
        before = conn.snapshot()
        try:
            RIGHT[name](conn)
            raised = None
        except (LocalProtocolError, TypeError) as mistake:
            raised = mistake
        if raised is not None:
            event(type(raised).__name__)
            assert conn.snapshot() == before, f"{name} raised {raised!r}, yet changed something"
    if conn.state is not ConnectionState.CLOSING:
        conn.receive_data(data)
    json.dumps(conn.snapshot(), allow_nan=False)


@each_state
@quick(6)
@given(what=st.lists(st.sampled_from(sorted(RIGHT)), max_size=4), data=streams)
def test_every_request_of_ours_ends_once(state: str, what: list[str], data: bytes) -> None:
    conn = STATES[state]()
    pending = list(conn.in_flight)
    events: list[Event] = []
    for name in what:
        before = conn.in_flight
        try:
            done = RIGHT[name](conn)
        except (LocalProtocolError, TypeError):
            continue
        events += done if isinstance(done, list) and name in ("end", "data") else []
        pending += [i for i in conn.in_flight if i not in before]
    if conn.state is not ConnectionState.CLOSING:
        events += conn.receive_data(data)
        pending += [i for i in conn.in_flight if i not in pending]  # of the handshake
    events += conn.receive_eof() + conn.close()
    assert conn.in_flight == ()
    assert len(set(map(repr, pending))) == len(pending)


CAN_SEND = ["ping", "tools/list", "roots/list", "server/discover", "initialize", "notifications/initialized"]
SAMPLES: dict[str, Any] = {
    "ping": t.PingRequest(),
    "tools/list": t.ListToolsRequest(),
    "roots/list": t.ListRootsRequest(),
    "server/discover": t.DiscoverRequest(),
    "initialize": t.InitializeRequest(D, CLIENT_CAN, INFO),
    "notifications/initialized": t.InitializedNotification(),
}


@each_state
@pytest.mark.parametrize("method", CAN_SEND)
def test_can_send_says_what_sending_does(state: str, method: str) -> None:
    conn = STATES[state]()
    can = conn.can_send(method)
    try:
        (conn.notify if method.startswith("notifications/") else conn.request)(SAMPLES[method])
        refused = None
    except LocalProtocolError as mistake:
        refused = mistake
    assert can is (refused is None), refused


@each_open_state
def test_memory_is_bounded_in_every_state(state: str) -> None:
    conn = STATES[state](limits=Limits(remembered_ids=64))

    def flood(first: int, last: int) -> None:
        for start in range(first, last, 50):
            values: list[JSON] = []
            for i in range(start, start + 50, 5):
                values += [
                    request(f"f{i}", "no/such"),
                    modern(f"f{i + 1}", "no/such", progressToken=f"f{i}"),
                    result(f"f{i + 2}"),
                    notification("notifications/progress", {"progressToken": f"f{i}", "progress": 1}),
                    notification("notifications/cancelled", {"requestId": f"f{i + 3}"}),
                ]
            feed(conn, *values, b"{noise\n")
            conn.data_to_send()

    flood(0, 500)
    size = len(json.dumps(conn.snapshot()))
    flood(500, 1500)
    assert len(json.dumps(conn.snapshot())) < size + 2000


@pytest.mark.parametrize("revision", [D, MODERN])
def test_memory_is_bounded_over_thousands_of_messages(revision: str) -> None:
    limits = Limits(remembered_ids=64)
    ours, theirs = open_client(revision, limits=limits), open_server(revision, limits=limits)
    sizes = []
    last = 5_000 * SCALE - 1
    for i in range(last + 1):
        handle = ours.request(t.ListToolsRequest(), progress=True)
        theirs.receive_data(ours.data_to_send())
        if i % 3 == 0:
            ours.cancel(handle.id)
            theirs.receive_data(ours.data_to_send())
        theirs.respond(handle.id, t.ListToolsResult([]))
        ours.receive_data(theirs.data_to_send())
        if i in (1000, last):
            sizes.append(len(json.dumps(ours.snapshot())) + len(json.dumps(theirs.snapshot())))
    assert sizes[1] < sizes[0] + 1000
    for conn in (ours, theirs):
        memory = conn.conversation._state
        assert not any(side.requests or side.tokens for side in memory.sides.values())
        kept = [known for side in memory.sides.values() for known in (side.ended, side.ended_tokens, side.statuses)]
        assert all(len(known.items()) <= 64 for known in kept)


# Found by hand --------------------------------------------------------------------------------------------------------


UNWRITABLE: list[Any] = [
    t.ServerCapabilities(experimental={"x": {"y": float("nan")}}),
    t.ServerCapabilities(experimental={"x": {"y": object()}}),
    t.ServerCapabilities(extra={"x": "\ud800"}),
]


@pytest.mark.parametrize("what", ["nan", "object", "surrogate", "instructions", "name"])
@pytest.mark.parametrize("first", [initialize(), modern(1, "server/discover")], ids=["initialize", "discover"])
def test_what_a_server_says_of_itself_is_checked_before_the_peer_asks(what: str, first: JSON) -> None:
    given: dict[str, Any] = {}
    info = INFO
    match what:
        case "instructions":
            given["instructions"] = 5
        case "name":
            info = t.Implementation("\ud800", "1")
        case _:
            given["capabilities"] = UNWRITABLE[["nan", "object", "surrogate"].index(what)]
    try:
        conn = ServerConnection(info, **given)
    except LocalProtocolError:
        return
    feed(conn, first)


@pytest.mark.parametrize("era", ["auto", "legacy", "modern"])
@pytest.mark.parametrize("value", [float("nan"), object(), "\ud800"], ids=["nan", "object", "surrogate"])
def test_what_a_client_says_of_itself_is_checked_before_it_connects(value: Any, era: Any) -> None:
    try:
        conn = client(era, t.ClientCapabilities(experimental={"x": {"y": value}}))
    except LocalProtocolError:
        return
    before = conn.snapshot()
    with pytest.raises(LocalProtocolError):
        conn.connect()
    assert conn.state is ConnectionState.IDLE
    assert conn.snapshot() == before


BAD_CONNECTS: dict[str, dict[str, Any]] = {
    "text": {"timeout": "5", "now": 0.0},
    "list": {"timeout": [], "now": 0.0},
    "nan": {"timeout": float("nan"), "now": 0.0},
    "infinite": {"timeout": float("inf"), "now": 0.0},
    "no now": {"timeout": 5},
    "now is text": {"timeout": 5, "now": "0"},
    "now is nan": {"timeout": 5, "now": float("nan")},
}


@pytest.mark.parametrize("what", BAD_CONNECTS)
def test_connect_with_bad_times_changes_nothing(what: str) -> None:
    conn = client()
    before = state_of(conn)
    with pytest.raises((LocalProtocolError, TypeError)):
        conn.connect(**BAD_CONNECTS[what])
    assert conn.state is ConnectionState.IDLE
    assert state_of(conn) == before
    conn.connect(timeout=5, now=1.0)
    assert conn.next_deadline() == 6.0


@pytest.mark.parametrize("raw", [request(1, "ping"), initialize(1)], ids=["ping", "initialize"])
@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_connect_after_send_raw_works_or_changes_nothing(era: Any, answered: bool, raw: JSON) -> None:
    conn = client(era)
    conn.send_raw(parse_message(raw), allow=ALL)
    if answered:
        feed(conn, initialize_result(1) if raw["method"] == "initialize" else result(1))
    before = state_of(conn)
    try:
        conn.connect()
    except LocalProtocolError:
        assert state_of(conn) == before
        assert conn.state is ConnectionState.IDLE


@pytest.mark.parametrize("side", [Side.CLIENT, Side.SERVER])
def test_restored_long_ids_are_what_they_were(side: Side) -> None:
    limits = Limits(id_length=5000)
    conn: Connection = open_client(D, limits=limits) if side is Side.CLIENT else open_server(D, limits=limits)
    feed(conn, request("x" * 2000, "ping"))
    again = type(conn).restore(conn.snapshot(), limits=limits)
    assert again.messages_to_send() == conn.messages_to_send()


def test_a_manual_answer_of_another_revision_does_not_make_later_input_raise() -> None:
    conn = server(manual={"initialize"})
    feed(conn, initialize(1, A, capabilities={"elicitation": 5}))  # unknown, so of any shape, in this revision
    try:
        conn.respond(1, t.InitializeResult(D, SERVER_CAN, INFO))
    except LocalProtocolError:
        return
    feed(conn, INITIALIZED, request(2, "tools/list"))
    assert conn.owed == (2,)


STRANGE_MODERN = [
    modern(1, "initialize"),
    modern(1, "initialize", {"protocolVersion": 5}),
    modern(1, "notifications/initialized"),
    request(1, "initialize", {"_meta": {VERSION_KEY: MODERN}}),
]


@pytest.mark.parametrize("value", STRANGE_MODERN, ids=range(len(STRANGE_MODERN)))
@pytest.mark.parametrize("state", ["new server", "new modern server", "server 2025-11-25"])
def test_the_handshake_in_modern_clothes_is_answered(state: str, value: JSON) -> None:
    conn = STATES[state]()
    sent(conn)
    events = feed(conn, value, notification("vendor/a"))
    assert len(events) == 2
    (answer,) = sent(conn)
    assert "error" in answer


def test_restore_says_what_is_wrong_with_a_snapshot() -> None:
    conn = open_server(D)
    for bad in ({}, {**conn.snapshot(), "format": 99}, {**conn.snapshot(), "side": "client"}):
        with pytest.raises(LocalProtocolError):
            type(conn).restore(bad)


def test_repr_shows_nothing_private() -> None:
    conn = open_server(D)
    feed(conn, request("secret-id", "tools/call", {"name": "secret", "_meta": {"progressToken": "secret"}}))
    assert "secret" not in repr(conn)
