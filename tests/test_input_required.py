"""Requests that turn out to need input: asked again in 2026-07-28, questions of the server's before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_sansio import (
    AnswerInvalid,
    CapabilityError,
    ClientConnection,
    ConnectionClosed,
    Dropped,
    DroppedReason,
    ErrorCode,
    ErrorReceived,
    Event,
    Handle,
    InputRequired,
    Limits,
    LocalProtocolError,
    Pending,
    Reason,
    RequestAnswered,
    RequestCancelled,
    RequestReceived,
    RequestTimedOut,
    ResponseIgnored,
    ResultReceived,
    Sent,
    ServerConnection,
    UnexpectedReason,
)
from mcp_sansio import types as t
from mcp_sansio.jsonrpc import Error, JSONRPCErrorResponse
from mcp_sansio.testing import json_objects

from .pair import (
    CAPABILITIES_KEY,
    CLIENT,
    INITIALIZED,
    JSON,
    LEGACY,
    MODERN,
    A,
    B,
    C,
    D,
    Pair,
    drawn,
    error,
    every_legacy,
    every_revision,
    feed,
    initialize,
    modern,
    open_client,
    open_server,
    pair,
    request,
    result,
    sent,
    server,
    state_of,
)

TEXT = t.TextContent("hi")
ROOTS = t.ListRootsRequest()
SAMPLE = t.CreateMessageRequest([t.SamplingMessage("user", TEXT)], 10)
FORM = t.ElicitRequestFormParams("name?", t.RequestedSchema({"name": t.StringSchema()}))
LINK = t.ElicitRequestURLParams("sign in", "https://example.com/", "e1")
NEW_LINK = t.ElicitRequestURLParams("sign in", "https://example.com/")
SAMPLE_WITH_TOOLS = t.CreateMessageRequest([t.SamplingMessage("user", TEXT)], 10, tools=[])
ANSWERS: Mapping[str, Any] = {
    "roots/list": t.ListRootsResult([t.Root("file:///a")]),
    "sampling/createMessage": t.CreateMessageResult("assistant", TEXT, "m"),
    "elicitation/create": t.ElicitResult("accept", {"name": "Ann"}),
}
CALLS: tuple[t.Request[Any], ...] = (
    t.CallToolRequest("x", {"a": [1, {"b": None}]}),
    t.GetPromptRequest("greet", {"who": "Ann"}),
    t.ReadResourceRequest("users/me"),
)
RESULTS: Mapping[str, t.Result] = {
    "tools/call": t.CallToolResult([TEXT]),
    "prompts/get": t.GetPromptResult([]),
    "resources/read": t.ReadResourceResult([]),
}
every_call = pytest.mark.parametrize("call", CALLS, ids=lambda call: call.method)


def answers_to(asked: Mapping[str, t.InputRequest]) -> dict[str, Any]:
    return {key: ANSWERS[each.method] for key, each in asked.items()}


def asks(request_id: JSON, state: JSON = None, **asked: str) -> JSON:
    """An answer that asks for input."""
    members: JSON = {"resultType": "input_required"}
    if asked:
        members["inputRequests"] = {
            key: {"method": method, **({"params": PARAMS[method]} if method in PARAMS else {})}
            for key, method in asked.items()
        }
    return result(request_id, members if state is None else {**members, "requestState": state})


PARAMS = {
    "elicitation/create": {"message": "name?", "requestedSchema": {"type": "object", "properties": {}}},
    "sampling/createMessage": {"messages": [], "maxTokens": 10},
}


def called(p: Pair, call: t.Request[Any] = CALLS[0], **options: Any) -> Handle[Any]:
    """A request of the client's that has reached the server's application."""
    handle = p.client.request(call, **options)
    events = p.server.receive_data(p.client.data_to_send(), now=options.get("now"))
    assert [type(event) for event in events] == [RequestReceived]
    return handle


def moved(conn: Any, now: float | None = None) -> Any:
    """The same connection in another process."""
    return type(conn).restore(json.loads(json.dumps(conn.snapshot(now))), now)


def put(p: Pair, asked: Mapping[str, t.InputRequest], state: str | None = None, **options: Any) -> list[Any]:
    """Let the server ask a legacy client for a request that is in progress: its questions."""
    (owed,) = p.server.owed
    assert p.server.request_input(owed, asked, state, **options) == Sent()
    return p.server.messages_to_send()


# One server for every client ------------------------------------------------------------------------------------------


class Greeter:
    """A server's application, the same for both eras: it asks where, then for a poem, then answers with both."""

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection

    def serve(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, RequestReceived) and isinstance(event.request, t.CallToolRequest):
                self.call(event.id, event.request)

    def call(self, request_id: Any, call: t.CallToolRequest) -> None:
        match call.request_state, call.input_responses or {}:
            case None, {}:
                self.connection.request_input(request_id, {"where": ROOTS}, "1")
            case "1", {"where": t.ListRootsResult(roots=[root])}:
                self.connection.request_input(request_id, {"poem": SAMPLE}, f"2 {root.uri}")
            case str(state), {"poem": t.CreateMessageResult(content=t.TextContent(text=text))}:
                said = t.TextContent(f"{call.name}: {text} ({state})")
                self.connection.respond(request_id, t.CallToolResult([said]))
            case other:
                raise AssertionError(other)


def client_serves(conn: ClientConnection, handle: Any, events: list[Event]) -> Any:
    """A client's application: it gives what it is asked for, and says which handle to wait for."""
    for event in events:
        if isinstance(event, RequestReceived):
            conn.respond(event.id, ANSWERS[event.method])
        elif isinstance(event, InputRequired):
            handle = conn.retry(handle, answers_to(event.result.input_requests or {}))
        elif isinstance(event, ResultReceived):
            assert handle.answered_by(event)
            return event.result
    return handle


@every_revision
def test_the_same_server_code_asks_clients_of_both_eras(revision: str) -> None:
    p = pair(revision)
    greeter = Greeter(p.server)
    waits: Any = p.client.request(t.CallToolRequest("ode"), progress=True)
    for _ in range(10):
        greeter.serve(p.server.receive_data(p.client.data_to_send()))
        waits = client_serves(p.client, waits, p.client.receive_data(p.server.data_to_send()))
    assert waits.content == [t.TextContent("ode: hi (2 file:///a)")]
    assert p.client.conversation.shared() == p.server.conversation.shared()


@every_call
@every_revision
def test_whatever_may_need_input_comes_with_it_in_the_end(revision: str, call: t.Request[Any]) -> None:
    p = pair(revision)
    handle = called(p, call)
    asked = {"a": ROOTS, "": SAMPLE}
    assert p.server.request_input(handle.id, asked, "s") == Sent()
    events = p.client.receive_data(p.server.data_to_send())
    if revision == MODERN:
        (event,) = events
        assert isinstance(event, InputRequired)
        assert (event.id, event.method, event.result.input_requests) == (handle.id, call.method, asked)
        assert (handle.ended_by(event), handle.answered_by(event)) == (True, False)
        handle = p.client.retry(handle, answers_to(asked))
    else:
        for event in events:
            assert isinstance(event, RequestReceived)
            p.client.respond(event.id, ANSWERS[event.method])
    (again,) = p.server.receive_data(p.client.data_to_send())
    assert isinstance(again, RequestReceived)
    assert (again.id, again.method, again.violations) == (handle.id, call.method, ())
    received: Any = again.request
    assert (received.input_responses, received.request_state) == (answers_to(asked), "s")
    p.server.respond(handle.id, RESULTS[call.method])
    (done,) = p.pump()
    assert handle.answered_by(done)
    assert p.client.conversation.shared() == p.server.conversation.shared()


@every_revision
def test_other_requests_cannot_ask(revision: str) -> None:
    p = pair(revision)
    p.open(CLIENT)
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.request_input(p.server.owed[0], {"a": ROOTS})
    assert caught.value.reason is Reason.WRONG_RESULT
    assert state_of(p.server) == before


@every_revision
@pytest.mark.parametrize(
    "asked",
    [
        {"a": t.PingRequest()},
        {"a": CALLS[0]},
        {"a": "roots/list"},
        {1: ROOTS},
        [ROOTS],
        "a",
        {"a": t.ElicitRequest("?")},
    ],
    ids=lambda value: repr(value)[:20],
)
def test_only_questions_of_the_specification_are_asked(asked: Any, revision: str) -> None:
    p = pair(revision)
    called(p)
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.request_input(p.server.owed[0], asked, "s")
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    assert state_of(p.server) == before


@every_revision
@pytest.mark.parametrize("asked", [None, {}], ids=repr)
def test_something_must_be_asked_for(asked: Any, revision: str) -> None:
    """2026-07-28: at least one of inputRequests and requestState. A legacy client has no state to come back with."""
    p = pair(revision)
    called(p)
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.request_input(p.server.owed[0], asked)
    assert caught.value.reason is (Reason.RULE if revision == MODERN else Reason.INVALID_PAYLOAD)
    assert state_of(p.server) == before


@every_revision
def test_a_state_is_text(revision: str) -> None:
    p = pair(revision)
    called(p)
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError):
        p.server.request_input(p.server.owed[0], {"a": ROOTS}, 5)  # type: ignore[arg-type]
    assert state_of(p.server) == before


# What the client declared ---------------------------------------------------------------------------------------------

FORMS_ONLY = t.ClientCapabilities(
    elicitation=t.ElicitationCapability(), sampling=t.SamplingCapability(), roots=t.RootsCapability()
)
NOTHING = t.ClientCapabilities()
TOOLS = t.ClientCapabilities(sampling=t.SamplingCapability(tools={}))
URLS = t.ClientCapabilities(elicitation=t.ElicitationCapability(url={}))
undeclared = pytest.mark.parametrize(
    ("question", "declared", "needed", "written", "rules"),
    [
        pytest.param(ROOTS, NOTHING, FORMS_ONLY, "roots", ("CAP-001", "CAP-006"), id="roots"),
        pytest.param(SAMPLE, NOTHING, FORMS_ONLY, "sampling", ("CAP-001", "CAP-006"), id="sampling"),
        pytest.param(FORM, NOTHING, FORMS_ONLY, "elicitation", ("CAP-001", "CAP-006"), id="elicitation"),
        pytest.param(LINK, FORMS_ONLY, URLS, "elicitation", ("CAP-007", "CAP-007"), id="url mode"),
        pytest.param(SAMPLE_WITH_TOOLS, FORMS_ONLY, TOOLS, "sampling", ("CAP-008", "CAP-008"), id="tools"),
    ],
)


@undeclared
@pytest.mark.parametrize("revision", [D, MODERN])
def test_what_the_client_did_not_declare_is_not_asked_for(
    question: t.InputRequest, declared: Any, needed: Any, written: str, rules: tuple[str, str], revision: str
) -> None:
    p = pair(revision, client_can=declared)
    handle = called(p)
    before = state_of(p.server)
    with pytest.raises(CapabilityError) as caught:
        p.server.request_input(handle.id, {"where": ROOTS, "a": question}, "s")
    assert rules[revision == MODERN] in [violation.rule for violation in caught.value.violations]
    assert state_of(p.server) == before
    assert p.server.respond_missing_capability(handle.id, needed) == Sent()
    (event,) = p.pump()
    assert isinstance(event, ErrorReceived)
    assert event.violations == ()
    code = ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY if revision == MODERN else ErrorCode.INTERNAL_ERROR
    assert event.error.code == code
    assert written in event.error.data["requiredCapabilities"]
    assert written in event.error.message


@undeclared
@pytest.mark.parametrize("revision", [D, MODERN])
def test_an_application_may_know_better_than_the_declaration(
    question: t.InputRequest, declared: Any, needed: Any, written: str, rules: tuple[str, str], revision: str
) -> None:
    p = pair(revision, client_can=declared, server_settings={"strict_capabilities": False})
    handle = called(p)
    assert p.server.request_input(handle.id, {"a": question}) == Sent()
    (event,) = p.client.receive_data(p.server.data_to_send())
    assert rules[revision == MODERN] in drawn([event])


def test_each_modern_request_says_what_its_client_can() -> None:
    conn = open_server(MODERN)
    able, unable = (modern(i, "tools/call", {"name": "x"}) for i in ("able", "unable"))
    able["params"]["_meta"][CAPABILITIES_KEY] = {"roots": {}}
    events = feed(conn, able, unable)
    assert [event.client_capabilities for event in events] == [  # type: ignore[union-attr]
        t.ClientCapabilities(roots=t.RootsCapability()), NOTHING
    ]  # fmt: skip
    with pytest.raises(CapabilityError):
        conn.request_input("unable", {"a": ROOTS})
    assert conn.request_input("able", {"a": ROOTS}) == Sent()


@every_revision
@pytest.mark.parametrize("bad", [None, {"roots": {}}, t.ClientCapabilities(roots=5)], ids=repr)  # type: ignore[arg-type]
def test_what_is_missing_is_said_as_capabilities(bad: Any, revision: str) -> None:
    p = pair(revision)
    handle = called(p)
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.respond_missing_capability(handle.id, bad)
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    assert state_of(p.server) == before
    with pytest.raises(LocalProtocolError):
        p.server.respond_missing_capability("never", NOTHING)


# 2026-07-28: asked once more ------------------------------------------------------------------------------------------

ODD = ["", "\0", "\u2028", '"\\', "0", "null", "\ud7ff\U0010ffff"]
STATES = st.none() | st.sampled_from(ODD) | st.text(max_size=20)
QUESTIONS = st.dictionaries(st.text(max_size=5), st.sampled_from([ROOTS, SAMPLE, FORM, NEW_LINK]), max_size=3)


@settings(deadline=None)
@given(
    arguments=st.none() | json_objects(),
    meta=st.none() | json_objects().map(lambda value: {f"x/{name}": item for name, item in value.items()}),
    rounds=st.lists(st.tuples(QUESTIONS, STATES, st.booleans()).filter(lambda r: r[0] or r[1] is not None), max_size=4),
    progress=st.booleans(),
    log_level=st.none() | st.sampled_from(t.LOGGING_LEVELS),
)
@example(arguments={}, meta=None, rounds=[({}, "", True), ({"": ROOTS}, None, True)], progress=True, log_level="info")
def test_the_retry_is_the_same_request_with_the_answers(
    arguments: Any, meta: Any, rounds: list[Any], progress: bool, log_level: Any
) -> None:
    """2026-07-28, basic/patterns/mrtr: client requirements 1 to 3."""
    p = pair(MODERN)
    call = t.CallToolRequest("x", arguments, meta=meta)
    handle = p.client.request(call, progress=progress, log_level=log_level)
    (first,) = sent(p.client)
    used = {first["id"]}
    feed(p.server, first)
    for asked, state, move in rounds:
        assert p.server.request_input(handle.id, asked, state) == Sent()
        (event,) = p.client.receive_data(p.server.data_to_send())
        assert isinstance(event, InputRequired)
        assert event.violations == ()
        assert (event.result.input_requests or {}, event.result.request_state) == (asked, state)
        if move:
            p.client, p.server = moved(p.client), moved(p.server)
        handle = p.client.retry(handle, answers_to(asked))
        (again,) = sent(p.client)
        assert (again["id"], again["method"]) == (handle.id, "tools/call")
        assert again["id"] not in used
        used.add(again["id"])
        params = again["params"]
        assert params.get("requestState") == state
        assert ("requestState" in params, "inputResponses" in params) == (state is not None, bool(asked))
        assert {k: v for k, v in params.items() if k not in ("_meta", "requestState", "inputResponses")} == {
            k: v for k, v in first["params"].items() if k != "_meta"
        }
        token = {"progressToken": handle.id} if progress else {}
        assert params["_meta"] == {**first["params"]["_meta"], **token}
        (received,) = feed(p.server, again)
        assert isinstance(received, RequestReceived)
        assert isinstance(received.request, t.CallToolRequest)
        assert received.violations == ()
        assert (received.request.input_responses or {}, received.request.request_state) == (answers_to(asked), state)
        assert received.request.arguments == arguments
    p.server.respond(handle.id, t.CallToolResult([]))
    (done,) = p.pump()
    assert handle.answered_by(done)


def test_requests_in_parallel_do_not_mix() -> None:
    """2026-07-28: inputRequests and requestState affect only the retry of their own request."""
    conn = open_client(MODERN)
    one, two, three = (conn.request(t.CallToolRequest(name)) for name in ("one", "two", "three"))
    feed(conn, asks(one.id, "state of one", a="roots/list"), asks(two.id, None, b="roots/list"))
    sent(conn)
    conn.request(t.CallToolRequest("four"))
    conn.retry(two, {"b": ANSWERS["roots/list"]})
    conn.retry(one, {"a": ANSWERS["roots/list"]})
    four, again_two, again_one = sent(conn)
    assert four["params"].keys() == {"name", "_meta"}
    assert again_two["params"]["name"] == "two"
    assert (again_two["params"]["inputResponses"].keys(), "requestState" in again_two["params"]) == ({"b"}, False)
    assert again_one["params"]["name"] == "one"
    assert again_one["params"]["requestState"] == "state of one"
    with pytest.raises(LocalProtocolError):
        conn.retry(three)


def test_what_the_application_does_with_its_arguments_changes_nothing() -> None:
    conn = open_client(MODERN)
    arguments = {"a": {"b": [1]}}
    handle = conn.request(t.CallToolRequest("x", arguments))
    (first,) = sent(conn)
    arguments["a"]["b"].append(2)
    arguments.clear()
    feed(conn, asks(handle.id, "s"))
    conn.retry(handle)
    (again,) = sent(conn)
    assert again["params"]["arguments"] == first["params"]["arguments"] == {"a": {"b": [1]}}


def test_a_retry_by_hand_is_a_request_like_any_other() -> None:
    conn = open_client(MODERN)
    handle = conn.request(t.CallToolRequest("x", input_responses={"a": ANSWERS["roots/list"]}, request_state="old"))
    feed(conn, asks(handle.id, None, b="roots/list"))
    sent(conn)
    conn.retry(handle, {"b": ANSWERS["roots/list"]})
    (again,) = sent(conn)
    assert (again["params"]["inputResponses"].keys(), "requestState" in again["params"]) == ({"b"}, False)


@pytest.mark.parametrize(
    "responses",
    [
        None,
        {},
        {"a": ANSWERS["roots/list"]},
        {"a": ANSWERS["roots/list"], "b": ANSWERS["elicitation/create"], "c": ANSWERS["roots/list"]},
        {"a": ANSWERS["elicitation/create"], "b": ANSWERS["elicitation/create"]},
        {"a": {"roots": []}, "b": {"action": "accept"}},
        {"a": ANSWERS["roots/list"], "b": None},
        {"a": ANSWERS["roots/list"], "b": t.ElicitResult(5)},  # type: ignore[arg-type]
        {"a": ANSWERS["roots/list"], "b": t.ElicitResult("accept", {"x": {1}})},  # type: ignore[dict-item]
        [("a", 1), ("b", 2)],
        "ab",
    ],
    ids=lambda value: repr(value)[:40],
)
def test_answers_that_do_not_fit_are_refused_and_can_be_mended(responses: Any) -> None:
    conn = open_client(MODERN)
    handle = conn.request(t.CallToolRequest("x"))
    feed(conn, asks(handle.id, "s", a="roots/list", b="elicitation/create"))
    before = state_of(conn)
    with pytest.raises(LocalProtocolError) as caught:
        conn.retry(handle, responses)
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    assert state_of(conn) == before
    conn.retry(handle, {"a": ANSWERS["roots/list"], "b": ANSWERS["elicitation/create"]})


def test_only_what_asked_is_sent_once_more_and_only_once() -> None:
    conn = open_client(MODERN)
    quiet, asking, failed = (conn.request(t.CallToolRequest(name), id=name) for name in ("quiet", "asking", "failed"))
    feed(conn, asks("asking", "s"), error("failed"))
    again = conn.retry(asking)
    before = state_of(conn)
    for bad in (quiet, asking, failed, again, "asking", None):
        with pytest.raises(LocalProtocolError):
            conn.retry(bad)  # type: ignore[arg-type]
        assert state_of(conn) == before


def test_an_id_that_asked_and_is_used_again_is_another_request() -> None:
    conn = open_client(MODERN)
    conn.request(t.CallToolRequest("first"), id="a")
    feed(conn, asks("a", "s"))
    second = conn.request(t.CallToolRequest("second"), id="a")
    before = state_of(conn)
    with pytest.raises(LocalProtocolError) as caught:
        conn.retry(second)
    assert caught.value.reason is Reason.UNKNOWN_REQUEST
    assert state_of(conn) == before


@pytest.mark.parametrize("most", [0, 1, 3])
@pytest.mark.parametrize("move", [False, True])
def test_rounds_are_bounded(move: bool, most: int) -> None:
    limits = Limits(input_rounds=most)
    conn = open_client(MODERN, limits=limits)
    handle = conn.request(t.CallToolRequest("x"))
    for _ in range(most):
        feed(conn, asks(handle.id, "s"))
        handle = conn.retry(handle)
        if move:
            conn = ClientConnection.restore(json.loads(json.dumps(conn.snapshot())), limits=limits)
    feed(conn, asks(handle.id, "s"))
    before = state_of(conn)
    with pytest.raises(LocalProtocolError) as caught:
        conn.retry(handle)
    assert caught.value.reason is Reason.LIMIT
    assert state_of(conn) == before


def test_what_asked_is_remembered_as_long_as_ids_are() -> None:
    conn = open_client(MODERN, limits=Limits(remembered_ids=2))
    handles = [conn.request(t.CallToolRequest("x")) for _ in range(3)]
    feed(conn, *(asks(handle.id, "s") for handle in handles))
    with pytest.raises(LocalProtocolError) as caught:
        conn.retry(handles[0])
    assert "Limits.remembered_ids" in caught.value.hint
    conn.retry(handles[1])
    conn.retry(handles[2])


@pytest.mark.parametrize("how", ["closed", "eof", "no time", "bad time", "no room"])
def test_a_retry_is_checked_like_a_request(how: str) -> None:
    conn = open_client(MODERN, limits=Limits(requests=1))
    handle = conn.request(t.CallToolRequest("x"))
    feed(conn, asks(handle.id, "s"))
    options: dict[str, Any] = {}
    match how:
        case "closed":
            conn.close()
        case "eof":
            conn.receive_eof()
        case "no time":
            options = {"timeout": 5}
        case "bad time":
            options = {"reset_on_progress": True, "now": 1}
        case _:
            conn.request(t.CallToolRequest("y"))
    before = state_of(conn)
    with pytest.raises(LocalProtocolError) as caught:
        conn.retry(handle, **options)
    expected = {
        "closed": Reason.CLOSED,
        "eof": Reason.CLOSED,
        "no time": Reason.NOW_REQUIRED,
        "bad time": Reason.INVALID_TIME,
        "no room": Reason.LIMIT,
    }
    assert caught.value.reason is expected[how]
    assert state_of(conn) == before


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"requestState": None}, "RPC-018"),
        ({"requestState": 5}, "RPC-018"),
        ({"inputRequests": []}, "MRTR-003"),
        ({"inputRequests": {"a": {"method": "ping"}}}, "MRTR-003"),
        ({"inputRequests": {"a": {"method": "elicitation/create"}}}, "MRTR-003"),
        ({"inputRequests": {"a": None}, "requestState": "s"}, "MRTR-003"),
    ],
    ids=repr,
)
def test_a_question_that_cannot_be_read_ends_the_request(members: JSON, rule: str) -> None:
    conn = open_client(MODERN)
    handle = conn.request(t.CallToolRequest("x"))
    (event,) = feed(conn, result(handle.id, {"resultType": "input_required", **members}))
    assert isinstance(event, AnswerInvalid)
    assert drawn([event]) == [rule]
    assert conn.in_flight == ()
    with pytest.raises(LocalProtocolError):
        conn.retry(handle)


def test_a_result_that_asks_for_nothing_is_named_and_can_be_retried() -> None:
    conn = open_client(MODERN)
    handle = conn.request(t.CallToolRequest("x"))
    (event,) = feed(conn, result(handle.id, {"resultType": "input_required"}))
    assert isinstance(event, InputRequired)
    assert drawn([event]) == ["MRTR-002"]
    conn.retry(handle)


def test_a_late_question_is_ignored() -> None:
    conn = open_client(MODERN)
    handle = conn.request(t.CallToolRequest("x"))
    conn.cancel(handle.id)
    (event,) = feed(conn, asks(handle.id, "s"))
    assert isinstance(event, ResponseIgnored)
    assert event.reason is UnexpectedReason.LATE
    with pytest.raises(LocalProtocolError):
        conn.retry(handle)


def test_a_modern_client_is_not_waited_for() -> None:
    p = pair(MODERN)
    handle = called(p)
    assert p.server.request_input(handle.id, {"a": ROOTS}, timeout=5, now=0) == Sent()
    assert (p.server.next_deadline(), p.server.owed, p.server.in_flight) == (None, (), ())


def test_a_gateway_passes_questions_on_as_they_came() -> None:
    p = pair(MODERN, client_settings={"forwarding": True}, server_settings={"forwarding": True})
    handle = p.client.request(t.CustomRequest("tools/call", {"name": "x"}))
    p.pump()
    asked = {"resultType": "input_required", "requestState": "", "more": 1}
    p.server.respond(handle.id, t.CustomResult(extra=asked))
    (event,) = p.pump()
    assert isinstance(event, ResultReceived)
    assert event.result.extra["requestState"] == ""
    assert event.result.extra["more"] == 1
    with pytest.raises(LocalProtocolError):
        p.client.retry(handle)


@pytest.mark.parametrize("extra", [{"b": {"roots": []}}, {"b": {"roots": [], "more": 1}}])
def test_a_server_gets_answers_that_it_did_not_ask_for(extra: JSON) -> None:
    """2026-07-28, basic/patterns/mrtr#error-handling: it should ignore them, which is the application's to do."""
    conn = open_server(MODERN)
    responses = {"a": {"action": "decline"}, **extra}
    (event,) = feed(conn, modern(1, "tools/call", {"name": "x", "inputResponses": responses, "requestState": "s"}))
    assert isinstance(event, RequestReceived)
    assert isinstance(event.request, t.CallToolRequest)
    assert list(event.request.input_responses or ()) == ["a", "b"]
    assert event.violations == ()


@pytest.mark.parametrize(
    "params", [{"inputResponses": {"a": {}}}, {"inputResponses": []}, {"requestState": 5}], ids=repr
)
def test_answers_that_cannot_be_read_are_invalid_params(params: JSON) -> None:
    conn = open_server(MODERN)
    (event,) = feed(conn, modern(1, "tools/call", {"name": "x", **params}))
    assert isinstance(event, RequestAnswered)
    assert [answer["error"]["code"] for answer in sent(conn)] == [ErrorCode.INVALID_PARAMS]


# Before: questions of the server's ------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.sampled_from(LEGACY),
    st.lists(
        st.dictionaries(st.text(max_size=3), st.sampled_from([ROOTS, SAMPLE, FORM]), min_size=1, max_size=4), max_size=3
    ),
    STATES,
    st.randoms(use_true_random=False),
)
def test_the_answers_come_back_with_the_request_in_any_order(
    revision: str, rounds: list[dict[str, Any]], state: str | None, random: Any
) -> None:
    p = pair(revision)
    handle = called(p)
    for asked in rounds:
        if revision < C:
            asked = {key: SAMPLE if each is FORM else each for key, each in asked.items()}
        questions = put(p, asked, state)
        assert [question.related for question in questions] == [handle.id] * len(asked)
        assert p.server.progress(handle.id, 1) == Dropped(DroppedReason.NOT_ASKED)  # it is still in progress
        random.shuffle(questions)
        for question in questions:
            (event,) = p.client.receive_message(question.data)
            assert isinstance(event, RequestReceived)
            p.client.respond(event.id, ANSWERS[event.method])
        answers = p.client.messages_to_send()
        random.shuffle(answers)
        for i, answer in enumerate(answers):
            if random.random() < 0.5:
                p.server = moved(p.server)
            events = p.server.receive_message(answer.data)
            assert len(events) == (i == len(answers) - 1)
        (event,) = events
        assert isinstance(event, RequestReceived)
        assert (event.id, event.method, event.violations) == (handle.id, "tools/call", ())
        assert isinstance(event.request, t.CallToolRequest)
        assert (event.request.name, event.request.arguments) == ("x", {"a": [1, {"b": None}]})
        assert event.request.input_responses == answers_to(asked)
        assert event.request.request_state == state
    p.server.respond(handle.id, t.CallToolResult([]))
    (done,) = p.pump()
    assert handle.answered_by(done)
    assert p.client.conversation.shared() == p.server.conversation.shared()


@every_legacy
def test_what_the_application_does_with_a_request_changes_nothing(revision: str) -> None:
    p = pair(revision)
    handle = p.client.request(CALLS[0])
    (event,) = p.server.receive_data(p.client.data_to_send())
    for _ in range(3):
        assert isinstance(event, RequestReceived)
        assert isinstance(event.request, t.CallToolRequest)
        assert event.request.arguments == {"a": [1, {"b": None}]}
        event.request.arguments["a"].clear()
        event.request.arguments.pop("a")
        put(p, {"a": ROOTS})
        (event,) = feed(p.server, result(p.server.in_flight[0], {"roots": []}))
    p.server.respond(handle.id, t.CallToolResult([]))


def asked_twice(p: Pair) -> tuple[Handle[Any], list[Any]]:
    """A call for which the server asks two questions; their ids."""
    handle = called(p)
    put(p, {"one": ROOTS, "two": SAMPLE}, "s")
    return handle, list(p.server.in_flight)


@every_legacy
@pytest.mark.parametrize("how", ["error", "invalid", "broken", "time-out"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_question_that_is_not_answered_ends_the_request_with_an_error(which: int, how: str, revision: str) -> None:
    p = pair(revision)
    handle = called(p)
    put(p, {"one": ROOTS, "two": SAMPLE}, "s", timeout=5, now=0)
    asked, other = p.server.in_flight[which], p.server.in_flight[1 - which]
    match how:
        case "error":
            events = feed(p.server, error(asked, -1, "the user said no"), now=1)
        case "invalid":
            events = feed(p.server, result(asked, {"roots": 5, "model": 5}), now=1)
        case "broken":
            events = feed(p.server, {"jsonrpc": "2.0", "id": asked, "result": 5}, now=1)
        case _:
            if which == 1:  # else both are due
                feed(p.server, result(other, {"roots": []}), now=1)
            events = p.server.handle_timeout(5)[:1]
    (event,) = events
    assert isinstance(event, RequestAnswered)
    assert (event.id, event.method) == (handle.id, "tools/call")
    assert event.error is not None
    assert event.error.code == ErrorCode.INTERNAL_ERROR
    assert bool(event.violations) == (how in ("invalid", "broken"))
    assert (p.server.owed, p.server.in_flight, p.server.next_deadline()) == ((), (), None)
    answer, *cancels = sent(p.server)
    assert answer["id"] == handle.id
    withdrawn = {"error": {other}, "invalid": {other}, "broken": {other}}.get(how, {asked} if which else {asked, other})
    assert {cancel["params"]["requestId"] for cancel in cancels} == withdrawn
    (failed,) = feed(p.client, answer)
    assert isinstance(failed, ErrorReceived)
    (late,) = feed(p.server, error(other))
    assert isinstance(late, ResponseIgnored)


@every_legacy
def test_a_client_that_cancels_the_request_is_asked_no_more(revision: str) -> None:
    p = pair(revision)
    handle, questions = asked_twice(p)
    feed(p.server, result(questions[0], {"roots": []}))
    p.client.cancel(handle.id)
    (event,) = p.server.receive_data(p.client.data_to_send())
    assert isinstance(event, RequestCancelled)
    (cancel,) = sent(p.server)
    assert cancel["params"]["requestId"] == questions[1]
    assert (p.server.owed, p.server.in_flight) == ((), ())
    (late,) = feed(p.server, error(questions[1]))
    assert isinstance(late, ResponseIgnored)
    assert (late.reason, late.violations) == (UnexpectedReason.LATE, ())
    assert p.server.request_input(handle.id, {"a": ROOTS}) == Dropped(DroppedReason.CANCELLED)


@every_legacy
@pytest.mark.parametrize("how", ["result", "error", "raw"])
def test_a_server_that_answers_meanwhile_withdraws_its_questions(how: str, revision: str) -> None:
    p = pair(revision)
    handle, questions = asked_twice(p)
    match how:
        case "result":
            p.server.respond(handle.id, t.CallToolResult([]))
        case "error":
            p.server.respond_error(handle.id, 1, "no")
        case _:
            p.server.send_raw(JSONRPCErrorResponse(handle.id, Error(1, "no")))
    answer, *cancels = sent(p.server)
    assert answer["id"] == handle.id
    assert [cancel["params"]["requestId"] for cancel in cancels] == questions
    assert (p.server.owed, p.server.in_flight) == ((), ())
    assert [type(event) for event in feed(p.server, *map(error, questions))] == [ResponseIgnored] * 2


@every_legacy
@pytest.mark.parametrize("how", ["cancel", "notify"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_question_that_the_application_takes_back_takes_the_others_back(which: int, how: str, revision: str) -> None:
    p = pair(revision)
    handle, questions = asked_twice(p)
    if how == "cancel":
        p.server.cancel(questions[which])
    else:
        p.server.notify(t.CancelledNotification(questions[which]))
    assert {cancel["params"]["requestId"] for cancel in sent(p.server)} == set(questions)
    assert (p.server.owed, p.server.in_flight) == ((handle.id,), ())
    put(p, {"a": ROOTS})
    (event,) = feed(p.server, result(p.server.in_flight[0], {"roots": []}))
    assert isinstance(event, RequestReceived)


@every_legacy
@pytest.mark.parametrize("how", ["eof", "close"])
def test_the_end_of_the_connection_ends_the_questions(how: str, revision: str) -> None:
    p = pair(revision)
    handle, questions = asked_twice(p)
    events = p.server.receive_eof() if how == "eof" else p.server.close()
    pending = (Pending(questions[0], "roots/list"), Pending(questions[1], "sampling/createMessage"))
    assert events == [ConnectionClosed(pending=pending)]
    moved(p.server)
    assert p.server.next_deadline() is None
    if how == "close":
        assert p.server.respond(handle.id, t.CallToolResult([])) == Dropped(DroppedReason.CLOSED)
        assert p.server.request_input(handle.id, {"a": ROOTS}) == Dropped(DroppedReason.CLOSED)
        return
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError) as caught:  # nobody can answer it
        p.server.request_input(handle.id, {"a": ROOTS})
    assert caught.value.reason is Reason.CLOSED
    assert state_of(p.server) == before
    assert p.server.respond(handle.id, t.CallToolResult([])) == Sent()
    assert [message["id"] for message in sent(p.server)] == [handle.id]


def test_the_violations_of_the_answers_come_with_the_request() -> None:
    p = pair(D)
    _, (one, two) = asked_twice(p)
    assert feed(p.server, result(one, {"roots": []})) == []
    last = json.dumps(result(two, {"role": "user", "content": {"type": "text", "text": ""}, "model": "m"}))
    assert p.server.receive_data(last.encode()) == []
    again, closed = p.server.receive_eof()  # the newline of the last line is missing
    assert isinstance(again, RequestReceived)
    assert isinstance(closed, ConnectionClosed)
    assert (drawn([again]), drawn([closed])) == (["LIB-004"], [])


@every_legacy
def test_questions_wait_for_initialized(revision: str) -> None:
    conn = server(revisions=[revision])
    feed(conn, initialize("i", revision, capabilities={"roots": {}, "sampling": {}}))
    feed(conn, request("early", "tools/call", {"name": "x"}))
    sent(conn)
    assert conn.request_input("early", {"one": ROOTS, "two": SAMPLE}, timeout=5, now=0) == Sent()
    assert sent(conn) == []
    conn = moved(conn, 0)
    assert conn.next_deadline() == 5
    feed(conn, INITIALIZED, now=1)
    one, two = sent(conn)
    assert (one["method"], two["method"]) == ("roots/list", "sampling/createMessage")
    feed(conn, result(two["id"], {"role": "user", "content": {"type": "text", "text": ""}, "model": "m"}), now=2)
    (event,) = feed(conn, result(one["id"], {"roots": []}), now=2)
    assert isinstance(event, RequestReceived)
    assert conn.next_deadline() is None


@every_legacy
def test_questions_that_were_held_back_are_taken_back_unseen(revision: str) -> None:
    conn = server(revisions=[revision])
    feed(conn, initialize("i", revision, capabilities={"roots": {}, "sampling": {}}))
    feed(conn, request("early", "tools/call", {"name": "x"}))
    sent(conn)
    conn.request_input("early", {"one": ROOTS, "two": SAMPLE})
    conn.respond("early", t.CallToolResult([]))
    feed(conn, INITIALIZED)
    assert [message["id"] for message in sent(conn)] == ["early"]
    assert conn.in_flight == ()


@pytest.mark.parametrize("revision", [A, B])
def test_what_the_revision_cannot_ask_is_refused_whole(revision: str) -> None:
    p = pair(revision)
    handle = called(p)
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.request_input(handle.id, {"where": ROOTS, "who": FORM})
    assert caught.value.reason is Reason.NOT_IN_REVISION
    assert state_of(p.server) == before
    assert sent(p.server) == []


@every_legacy
def test_a_request_asks_one_round_at_a_time_and_not_for_ever(revision: str) -> None:
    p = pair(revision, server_settings={"limits": Limits(input_rounds=2)})
    handle = called(p)
    for _ in range(2):
        put(p, {"a": ROOTS})
        before = state_of(p.server)
        with pytest.raises(LocalProtocolError) as caught:
            p.server.request_input(handle.id, {"b": ROOTS})
        assert caught.value.reason is Reason.ID_IN_USE
        assert state_of(p.server) == before
        (event,) = feed(p.server, result(p.server.in_flight[0], {"roots": []}))
        assert isinstance(event, RequestReceived)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.request_input(handle.id, {"a": ROOTS})
    assert caught.value.reason is Reason.LIMIT
    p.server.respond(handle.id, t.CallToolResult([]))


@every_legacy
def test_more_questions_than_may_be_in_flight_are_refused_whole(revision: str) -> None:
    p = pair(revision, server_settings={"limits": Limits(requests=2)})
    handle = called(p)
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.request_input(handle.id, {"a": ROOTS, "b": ROOTS, "c": ROOTS})
    assert caught.value.reason is Reason.LIMIT
    assert state_of(p.server) == before
    put(p, {"a": ROOTS, "b": ROOTS})


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"a": t.CreateMessageRequest([], 10, task=t.TaskMetadata())}, Reason.INVALID_PAYLOAD),
        ({"a": t.CreateMessageRequest([], 10, metadata={"a": {1}})}, Reason.INVALID_PAYLOAD),
        ({"a": t.CreateMessageRequest([], "10")}, Reason.INVALID_PAYLOAD),  # type: ignore[arg-type]
        ({key: t.ListRootsRequest(meta={"progressToken": "same"}) for key in "ab"}, Reason.ID_IN_USE),
    ],
    ids=["task", "no JSON", "wrong shape", "one token"],
)
def test_a_question_that_cannot_be_sent_is_refused_with_all_others(asked: Any, reason: Reason) -> None:
    p = pair(D)
    handle = called(p)
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.request_input(handle.id, {"first": ROOTS, **asked})
    assert caught.value.reason is reason
    assert state_of(p.server) == before


@every_legacy
def test_a_gateway_does_not_ask(revision: str) -> None:
    p = pair(revision, server_settings={"forwarding": True})
    handle = called(p)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.request_input(handle.id, {"a": ROOTS})
    assert caught.value.reason is Reason.WRONG_RESULT


def test_a_request_of_a_batch_asks_outside_of_it() -> None:
    conn = server(revisions=[B])
    feed(conn, initialize("i", B, capabilities={"roots": {}}), INITIALIZED)
    sent(conn)
    feed(conn, [request("a", "tools/call", {"name": "x"}), request("b", "tools/list")])
    conn.request_input("a", {"where": ROOTS})
    (question,) = sent(conn)
    conn.respond("b", t.ListToolsResult([]))
    conn = moved(conn)
    (event,) = feed(conn, result(question["id"], {"roots": []}))
    assert isinstance(event, RequestReceived)
    assert sent(conn) == []
    conn.respond("a", t.CallToolResult([]))
    (answers,) = sent(conn)
    assert sorted(answer["id"] for answer in answers) == ["a", "b"]


def test_both_eras_on_one_pipe_do_not_mix() -> None:
    conn = open_server(D)
    conn = server()
    feed(conn, initialize("i", D, capabilities={"roots": {}}), INITIALIZED)
    modern_call = modern("new", "tools/call", {"name": "x"})
    modern_call["params"]["_meta"][CAPABILITIES_KEY] = {"sampling": {}}
    feed(conn, request("old", "tools/call", {"name": "x"}), modern_call)
    sent(conn)
    with pytest.raises(CapabilityError):
        conn.request_input("old", {"a": SAMPLE})
    with pytest.raises(CapabilityError):
        conn.request_input("new", {"a": ROOTS})
    conn.request_input("new", {"a": SAMPLE})
    conn.request_input("old", {"a": ROOTS})
    answer, question = sent(conn)
    assert (answer["id"], answer["result"]["resultType"]) == ("new", "input_required")
    assert question["method"] == "roots/list"


def test_a_time_out_of_the_questions_needs_a_clock() -> None:
    p = pair(D)
    handle = called(p)
    before = state_of(p.server)
    for options in ({"timeout": 5}, {"timeout": -1, "now": 0}, {"timeout": "5", "now": 0}):
        with pytest.raises(LocalProtocolError):
            p.server.request_input(handle.id, {"a": ROOTS}, **options)  # type: ignore[arg-type]
        assert state_of(p.server) == before


def test_requests_of_the_servers_own_are_answered_to_itself() -> None:
    """Those that the application sends by itself end with events of their own, those of request_input do not."""
    p = pair(D)
    handle = called(p)
    put(p, {"a": ROOTS})
    own = p.server.request(ROOTS, timeout=5, now=0)
    question, _ = p.server.in_flight
    (event,) = feed(p.server, result(own.id, {"roots": []}), now=1)
    assert own.answered_by(event)
    late = p.server.request(ROOTS, timeout=5, now=1)
    assert p.server.handle_timeout(6) == [RequestTimedOut(id=late.id, method="roots/list")]
    (again,) = feed(p.server, result(question, {"roots": []}))
    assert isinstance(again, RequestReceived)
    assert again.id == handle.id
