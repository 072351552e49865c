"""JSON-RPC batches of 2025-03-26: received always and answered as one array, sent if asked."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_sansio import (
    CapabilityError,
    Dropped,
    DroppedReason,
    Limits,
    LocalProtocolError,
    MessageInvalid,
    NotificationReceived,
    ProgressReceived,
    Reason,
    RequestAnswered,
    RequestReceived,
    ResultReceived,
    Sent,
    Side,
)
from mcp_sansio import types as t

from .pair import (
    CLIENT,
    EVERY,
    INITIALIZED,
    JSON,
    LEGACY,
    MODERN,
    SERVER,
    both_sides,
    case,
    client,
    drawn,
    encode,
    feed,
    initialize,
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
from .timing import assert_linear

B = "2025-03-26"


def moved(conn: Any) -> Any:
    return type(conn).restore(json.loads(json.dumps(conn.snapshot())))


# Received -------------------------------------------------------------------------------------------------------------

KEYS = st.integers(0, 5) | st.sampled_from(["0", "a"])
PARTS = st.one_of(
    st.tuples(st.sampled_from(["request", "ping", "unknown", "bad params"]), KEYS),
    st.tuples(st.sampled_from(["notification", "junk", "junk with an id", "cancel"]), st.integers(0, 5)),
)


def written(kind: str, key: JSON, side: Side) -> JSON:
    """A part of a batch, as the peer of *side* writes it."""
    serve = "tools/list" if side is SERVER else "roots/list"
    with_params = "tools/call" if side is SERVER else "sampling/createMessage"
    return {
        "request": request(key, serve),
        "ping": request(key, "ping"),
        "unknown": request(key, "no/such"),
        "bad params": request(key, with_params, {"name": 5}),
        "notification": notification("vendor/a"),
        "cancel": notification("notifications/cancelled", {"requestId": key}),
        "junk": key,
        "junk with an id": {"jsonrpc": "2.0", "id": key},
    }[kind]


@case("batch-146")
@settings(deadline=None)
@given(
    st.sampled_from(Side),
    st.lists(PARTS, min_size=1, max_size=8),
    st.lists(st.tuples(st.sampled_from(["answer", "refuse", "cancel", "move"]), st.integers(0, 5)), max_size=8),
)
@example(SERVER, [("request", 1), ("cancel", 1)], [])
@example(SERVER, [("request", 1), ("request", 1), ("junk", 1)], [("answer", 0)])
def test_a_batch_is_answered_by_one_array_when_its_last_request_has_ended(
    _case: str, side: Side, parts: list[Any], steps: list[Any]
) -> None:
    conn = pair(B).of(side)
    waiting: list[Any] = []
    expected: Counter[Any] = Counter()
    for kind, key in parts:
        in_use = any(key == other and type(key) is type(other) for other in waiting)
        if kind == "request" and not in_use:
            waiting.append(key)
        elif kind in ("request", "ping", "unknown", "bad params"):
            expected[repr(key)] += 1
        elif kind == "junk with an id":
            expected[repr(key)] += side is SERVER
        elif kind == "junk":
            expected["None"] += side is SERVER
        elif kind == "cancel" and in_use:
            waiting.remove(key)
    feed(conn, [written(kind, key, side) for kind, key in parts])
    assert conn.owed == tuple(waiting)
    answers = sent(conn) if not waiting else []
    assert sent(conn) == []
    for step, which in steps:
        key = waiting[which % len(waiting)] if waiting else None
        match step:
            case "answer" if waiting:
                conn.respond(key, t.ListToolsResult([]) if side is SERVER else t.ListRootsResult([]))
                expected[repr(key)] += 1
                waiting.remove(key)
            case "refuse" if waiting:
                conn.respond_error(key, 1, "no")
                expected[repr(key)] += 1
                waiting.remove(key)
            case "cancel" if waiting:
                feed(conn, notification("notifications/cancelled", {"requestId": key}))
                waiting.remove(key)
            case "move":
                conn = moved(conn)
            case _:
                continue
        if waiting:
            assert sent(conn) == []
        else:
            answers += sent(conn)
    if waiting:
        return
    if not +expected:
        assert answers == []
        return
    (array,) = answers
    assert Counter(repr(answer.get("id")) for answer in array) == +expected


@both_sides
def test_answers_in_a_batch_end_their_requests(side: Side) -> None:
    p = pair(B)
    conn = p.of(side)
    asked: t.Request[Any] = t.ListToolsRequest() if side is CLIENT else t.ListRootsRequest()
    handles = [conn.request(asked, progress=True) for _ in range(3)]
    sent(conn)
    value = {"tools": []} if side is CLIENT else {"roots": []}
    progress = notification("notifications/progress", {"progressToken": handles[0].id, "progress": 1})
    events = feed(conn, [progress, *(result(handle.id, value) for handle in handles[:2]), request("p", "ping")])
    assert [type(event) for event in events] == [ProgressReceived, ResultReceived, ResultReceived, RequestAnswered]
    assert conn.in_flight == (handles[2].id,)
    assert sent(conn) == [[result("p")]]
    assert drawn(events) == []


def test_several_batches_wait_each_for_its_own() -> None:
    conn = open_server(B)
    one, two, three, four = (request(i, "tools/list") for i in range(1, 5))
    feed(conn, [one, two], [three], four)
    for request_id in (4, 1, 3, 2):
        conn.respond(request_id, t.ListToolsResult([]))
    messages = conn.messages_to_send()
    alone, *arrays = (json.loads(each.data) for each in messages)
    assert alone["id"] == 4
    assert [[answer["id"] for answer in array] for array in arrays] == [[3], [1, 2]]
    assert [isinstance(each.message, tuple) for each in messages] == [False, True, True]


def test_an_id_of_a_batch_that_is_used_again_is_answered_by_itself() -> None:
    conn = open_server(B)
    feed(conn, [request(1, "tools/list"), request(2, "tools/list")])
    conn.respond(1, t.ListToolsResult([]))
    feed(conn, request(1, "tools/list"))
    conn.respond(1, t.ListToolsResult([]))
    (alone,) = sent(conn)
    assert alone["id"] == 1
    conn.respond(2, t.ListToolsResult([]))
    (array,) = sent(conn)
    assert [answer["id"] for answer in array] == [1, 2]


@pytest.mark.parametrize("end", ["eof", "close"])
def test_a_batch_that_is_not_answered_when_the_end_comes(end: str) -> None:
    conn = open_server(B)
    feed(conn, [request(1, "tools/list"), request(2, "ping")])
    if end == "eof":
        conn.receive_eof()
        assert conn.respond(1, t.ListToolsResult([])) == Sent()
        ((ping, listed),) = sent(conn)
        assert (ping["id"], listed["id"]) == (2, 1)
    else:
        conn.close()
        assert conn.respond(1, t.ListToolsResult([])) == Dropped(DroppedReason.CLOSED)
        assert sent(conn) == []


@both_sides
@pytest.mark.parametrize("length", [3, 4])
def test_a_batch_over_the_limit_is_refused_whole(length: int, side: Side) -> None:
    p = pair(B, **{f"{side.value}_settings": {"limits": Limits(batch_length=3)}})
    conn = p.of(side)
    before = state_of(conn)
    events = feed(conn, [request(i, "ping") for i in range(length)])
    if length == 3:
        assert [type(event) for event in events] == [RequestAnswered] * 3
        return
    (event,) = events
    assert isinstance(event, MessageInvalid)
    assert drawn([event]) == ["LIB-011"]
    answers = sent(conn)
    assert [answer["error"]["code"] for answer in answers] == ([-32600] if side is SERVER else [])
    assert state_of(conn) == before


@case("batch-147")
@both_sides
@pytest.mark.parametrize("revision", [revision for revision in EVERY if revision != B])
def test_where_there_are_no_batches_nothing_in_one_is_taken(_case: str, revision: str, side: Side) -> None:
    p = pair(revision)
    conn = p.of(side)
    if side is CLIENT:
        request_id = conn.request(t.ListToolsRequest()).id
        sent(conn)
        (event,) = feed(conn, [tools_result(request_id, revision)])
        assert conn.in_flight == (request_id,)
    else:
        (event,) = feed(conn, [p.says(CLIENT, 1, "tools/list")])
        assert [answer["error"]["code"] for answer in sent(conn)] == [-32600]
        assert conn.owed == ()
    assert isinstance(event, MessageInvalid)
    assert drawn([event]) == ["FRAME-004"]


def test_a_batch_costs_what_its_messages_cost() -> None:
    def run(size: int) -> None:
        conn = open_server(B, limits=Limits(batch_length=10**6, peer_requests=10**6))
        conn.receive_data(encode([request(i, "tools/list") for i in range(size)]))
        for i in range(size):
            conn.respond(i, t.ListToolsResult([]))
        assert len(sent(conn)) == 1

    assert_linear(run, 200)


# Sent -----------------------------------------------------------------------------------------------------------------

TO_SERVER = st.sampled_from(
    [t.PingRequest(), t.ListToolsRequest(), t.CallToolRequest("x"), t.RootsListChangedNotification()]
)
TO_CLIENT = st.sampled_from([t.PingRequest(), t.ListRootsRequest(), t.ToolListChangedNotification()])


@settings(deadline=None)
@given(st.data(), st.sampled_from(Side))
def test_what_is_sent_as_one_arrives_in_order_and_ends_one_by_one(data: Any, side: Side) -> None:
    messages = data.draw(st.lists(TO_SERVER if side is CLIENT else TO_CLIENT, min_size=1, max_size=6))
    p = pair(B)
    us, them = p.of(side), p.of(side.other)
    handles = us.send_batch(messages)
    assert [handle.method for handle in handles] == [m.method for m in messages if isinstance(m, t.Request)]
    assert len({handle.id for handle in handles}) == len(handles)
    (outgoing,) = us.messages_to_send()
    assert [part["method"] for part in json.loads(outgoing.data)] == [message.method for message in messages]
    assert isinstance(outgoing.message, tuple)
    assert len(outgoing.message) == len(messages)
    assert (outgoing.related, outgoing.closes_stream) == (None, None)
    events: list[Any] = them.receive_message(outgoing.data)
    assert [event.method for event in events] == [message.method for message in messages]
    assert drawn(events) == []
    for event in events:
        if isinstance(event, RequestReceived):
            them.respond(event.id, RESULTS[event.method])
    answers: list[Any] = us.receive_data(them.data_to_send())
    assert drawn(answers) == []
    assert Counter(event.id for event in answers) == Counter(handle.id for handle in handles)
    assert all(any(handle.answered_by(event) for event in answers) for handle in handles)
    assert p.client.conversation.shared() == p.server.conversation.shared()


RESULTS: dict[str, t.Result] = {
    "tools/list": t.ListToolsResult([]),
    "tools/call": t.CallToolResult([]),
    "roots/list": t.ListRootsResult([]),
}


def test_the_requests_of_a_batch_are_requests_like_others() -> None:
    conn = open_client(B)
    one, two = conn.send_batch([t.ListToolsRequest(meta={"progressToken": "t"}), t.ListToolsRequest()])
    three = conn.request(t.ListToolsRequest())
    assert len({one.id, two.id, three.id}) == 3
    conn.cancel(two.id)
    (progress,) = feed(conn, notification("notifications/progress", {"progressToken": "t", "progress": 1}))
    assert isinstance(progress, ProgressReceived)
    assert progress.id == one.id
    batch, alone, cancel = sent(conn)
    assert [part["id"] for part in batch] == [one.id, two.id]
    assert (alone["id"], cancel["params"]["requestId"]) == (three.id, two.id)


@both_sides
@pytest.mark.parametrize("revision", [*(r for r in LEGACY if r != B), MODERN])
def test_other_revisions_have_none_to_send(revision: str, side: Side) -> None:
    conn = pair(revision).of(side)
    before = state_of(conn)
    with pytest.raises(LocalProtocolError) as caught:
        conn.send_batch([t.PingRequest()])
    assert caught.value.reason is Reason.NOT_IN_REVISION
    assert state_of(conn) == before


def test_before_the_handshake_there_is_no_batch() -> None:
    for conn in (client("legacy", revisions=[B]), client(), server(revisions=[B]), server()):
        before = state_of(conn)
        with pytest.raises(LocalProtocolError):
            conn.send_batch([t.PingRequest(), t.ListRootsRequest()])
        assert state_of(conn) == before
    conn = server(revisions=[B])
    feed(conn, initialize("i", B, capabilities={"roots": {}}))
    sent(conn)
    with pytest.raises(LocalProtocolError) as caught:  # a request by itself waits, a batch does not
        conn.send_batch([t.ListRootsRequest()])
    assert caught.value.reason is Reason.NOT_CONNECTED
    conn.send_batch([t.PingRequest()])
    feed(conn, INITIALIZED)
    assert len(conn.send_batch([t.ListRootsRequest()])) == 1


BAD: dict[str, tuple[Any, Reason]] = {
    "no message": ("tools/list", Reason.INVALID_PAYLOAD),
    "a result": (t.EmptyResult(), Reason.INVALID_PAYLOAD),
    "a second handshake": (t.InitializeRequest(B, t.ClientCapabilities(), t.Implementation("a", "1")), Reason.RULE),
    "the other side's": (t.ListRootsRequest(), Reason.WRONG_DIRECTION),
    "of another revision": (t.DiscoverRequest(), Reason.NOT_IN_REVISION),
    "undeclared": (t.ListPromptsRequest(), Reason.CAPABILITY),
    "wrong params": (t.CallToolRequest(5), Reason.INVALID_PAYLOAD),  # type: ignore[arg-type]
    "no JSON": (t.CallToolRequest("x", {"a": {1}}), Reason.INVALID_PAYLOAD),
    "a class by name": (t.CustomRequest("tools/list"), Reason.INVALID_PAYLOAD),
    "token in use": (t.PingRequest(meta={"progressToken": "used"}), Reason.ID_IN_USE),
    "cancel of nothing": (t.CancelledNotification(999), Reason.UNKNOWN_REQUEST),
    "progress of nothing": (t.ProgressNotification("x", 1), Reason.RULE),
}


@pytest.mark.parametrize("where", [0, 1, 2])
@pytest.mark.parametrize("what", BAD)
def test_one_bad_message_and_none_is_sent(what: str, where: int) -> None:
    conn = open_client(B, {"tools": {}})
    conn.request(t.ListToolsRequest(meta={"progressToken": "used"}))
    bad, reason = BAD[what]
    messages: list[Any] = [t.PingRequest(), t.ListToolsRequest()]
    messages.insert(where, bad)
    before = state_of(conn)
    with pytest.raises(LocalProtocolError) as caught:
        conn.send_batch(messages)
    assert caught.value.reason is reason
    assert isinstance(caught.value, CapabilityError) == (reason is Reason.CAPABILITY)
    assert state_of(conn) == before


def test_two_messages_about_one_request_are_refused() -> None:
    """Each is judged as if it were alone."""
    p = pair(B)
    owed = p.open(SERVER, progress=True)
    request_id = p.client.request(t.ListToolsRequest()).id
    before = state_of(p.client)
    for twins in (
        [t.CancelledNotification(request_id), t.CancelledNotification(request_id, "again")],
        [t.ProgressNotification(owed, 1), t.ProgressNotification(owed, 1)],
        [t.ListToolsRequest(meta={"progressToken": "x"}), t.PingRequest(meta={"progressToken": "x"})],
    ):
        with pytest.raises(LocalProtocolError) as caught:
            p.client.send_batch(twins)
        assert caught.value.reason is Reason.ID_IN_USE
        assert state_of(p.client) == before
    p.client.send_batch(
        [
            t.CancelledNotification(request_id),
            t.ProgressNotification(owed, 1),
            *(t.PingRequest(meta={"progressToken": token}) for token in (1, "1")),
        ]
    )
    assert drawn(p.pump()) == []


@pytest.mark.parametrize("length", [0, 1, 3, 4])
def test_a_batch_has_a_length(length: int) -> None:
    conn = open_client(B, limits=Limits(batch_length=3))
    before = state_of(conn)
    if length in (1, 3):
        assert len(conn.send_batch([t.PingRequest()] * length)) == length
        return
    with pytest.raises(LocalProtocolError) as caught:
        conn.send_batch([t.PingRequest()] * length)
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    assert state_of(conn) == before


def test_notifications_alone_have_no_handles() -> None:
    p = pair(B)
    assert p.client.send_batch([t.RootsListChangedNotification(), t.RootsListChangedNotification()]) == ()
    assert [type(event) for event in p.pump()] == [NotificationReceived] * 2
