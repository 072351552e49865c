"""What one side makes the other hold is bounded: a clear error for the peer, an event or an exception here."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_sansio import (
    ClientConnection,
    ConnectionState,
    Dropped,
    ErrorReceived,
    Limits,
    LocalProtocolError,
    Reason,
    RequestAnswered,
    RequestReceived,
    ResponseIgnored,
    Sent,
    Side,
    UnexpectedReason,
)
from mcp_sansio import types as t
from mcp_sansio.jsonrpc import JSONRPCNotification

from .pair import (
    CLIENT,
    EVERY,
    INITIALIZED,
    JSON,
    LEGACY,
    MODERN,
    SERVER,
    B,
    Connection,
    D,
    Pair,
    client,
    drawn,
    encode,
    error,
    every_legacy,
    every_requestor,
    every_revision,
    feed,
    initialize,
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


def question(side: Side) -> t.Request[Any]:
    return t.ListToolsRequest() if side is CLIENT else t.ListRootsRequest()


def refused(conn: Connection, call: Callable[[], object]) -> None:
    """The call is over a limit, and changes nothing."""
    before = state_of(conn)
    with pytest.raises(LocalProtocolError) as caught:
        call()
    assert caught.value.reason is Reason.LIMIT
    assert "Limits." in caught.value.hint
    assert state_of(conn) == before


# Requests of ours -----------------------------------------------------------------------------------------------------


@every_requestor
@pytest.mark.parametrize("most", [0, 1, 3])
def test_no_more_requests_than_this_are_in_flight(most: int, side: Side, revision: str) -> None:
    p = pair(revision, **{f"{side.value}_settings": {"limits": Limits(requests=most)}})
    conn = p.of(side)
    ids = [conn.request(question(side), timeout=5, now=0).id for _ in range(most)]
    refused(conn, lambda: conn.request(question(side)))
    if revision == B:
        refused(conn, lambda: conn.send_batch([question(side)]))
    if ids:
        feed(conn, error(ids[0]), now=0)
        conn.request(question(side))
        refused(conn, lambda: conn.request(question(side)))
        conn.cancel(ids[-1] if most > 1 else conn.in_flight[0])
        conn.request(question(side))
        conn.handle_timeout(5)
    assert len(conn.in_flight) <= most


def test_a_batch_is_counted_as_its_requests() -> None:
    conn = open_client(B, limits=Limits(requests=2))
    refused(conn, lambda: conn.send_batch([t.PingRequest()] * 3))
    conn.send_batch([t.RootsListChangedNotification(), t.PingRequest(), t.PingRequest()])
    conn.send_batch([t.RootsListChangedNotification()])
    refused(conn, lambda: conn.send_batch([t.PingRequest()]))


# Requests of the peer's -----------------------------------------------------------------------------------------------


@every_requestor
def test_one_request_too_many_is_answered_with_an_error(side: Side, revision: str) -> None:
    p = pair(revision, **{f"{side.other.value}_settings": {"limits": Limits(peer_requests=2)}})
    us, them = p.of(side.other), p.of(side)
    first, second = p.open(side), p.open(side)
    third = them.request(question(side))
    (answered, failed) = p.pump()
    assert isinstance(answered, RequestAnswered)
    assert (answered.id, answered.error) == (third.id, failed.error)  # type: ignore[union-attr]
    assert drawn([answered]) == ["LIB-013"]
    assert isinstance(failed, ErrorReceived)
    assert failed.error.code == -32603
    assert "2 requests are in flight" in failed.error.message
    assert us.owed == (first, second)
    us.respond_error(first, 1, "no")
    p.pump()
    p.open(side)
    them.cancel(second)
    p.pump()
    p.open(side)
    assert p.client.conversation.shared() == p.server.conversation.shared()


@every_requestor
def test_what_was_refused_is_over(side: Side, revision: str) -> None:
    """Its progress token is free, a cancel that crosses the refusal breaks no rule, and it was answered once."""
    p = pair(revision, **{f"{side.other.value}_settings": {"limits": Limits(peer_requests=1)}})
    us = p.of(side.other)
    held = p.open(side)
    first, second, third = (
        p.says(side, request_id, "tools/list" if side is CLIENT else "roots/list", progressToken="same")
        for request_id in ("first", "second", "third")
    )
    events = feed(us, first, second, notification("notifications/cancelled", {"requestId": "first"}))
    assert drawn(events) == ["LIB-013"] * 2
    assert [answer["id"] for answer in sent(us)] == ["first", "second"]
    us.respond_error(held, 1, "no")
    (event,) = feed(us, third)
    assert isinstance(event, RequestReceived)
    assert event.violations == ()
    assert us.progress("third", 1) == Sent()


@every_revision
def test_what_is_answered_at_once_takes_no_room(revision: str) -> None:
    conn = server(revisions=[revision], limits=Limits(peer_requests=0))
    says = Pair(revision, client(), conn).says
    events = []
    if revision in LEGACY:
        events += feed(conn, initialize("i", revision), INITIALIZED, request("p", "ping"))
    else:
        events += feed(conn, modern("d", "server/discover"))
    events += feed(conn, says(CLIENT, "n", "no/such"), says(CLIENT, "c", "tools/call", {"name": 5}))
    assert drawn(events[:-1]) == []
    assert "LIB-013" not in drawn(events)
    codes = [answer.get("error", {}).get("code") for answer in sent(conn)]
    assert codes == ([None, None] if revision in LEGACY else [None]) + [-32601, -32602]
    assert drawn(feed(conn, says(CLIENT, "t", "tools/list"))) == ["LIB-013"]


def test_what_the_application_answers_takes_room() -> None:
    conn = server(revisions=[D], manual={"ping"}, limits=Limits(peer_requests=1))
    feed(conn, initialize("i", D), INITIALIZED)
    events = feed(conn, request("a", "ping"), request("b", "ping"))
    assert [type(event) for event in events] == [RequestReceived, RequestAnswered]
    assert drawn(events) == ["LIB-013"]


def test_a_subscription_is_a_request_in_flight() -> None:
    conn = open_server(MODERN, limits=Limits(peer_requests=2))
    listens = [modern(i, "subscriptions/listen", {"notifications": {"toolsListChanged": True}}) for i in range(3)]
    assert drawn(feed(conn, *listens)) == ["LIB-013"]
    assert conn.owed == (0, 1)
    *_, last = sent(conn)
    assert (last["id"], last["error"]["code"]) == (2, -32603)
    assert conn.publish(t.ToolListChangedNotification()) == 2
    conn.end_subscription(0)
    assert drawn(feed(conn, listens[2])) == []


def test_a_request_too_many_in_a_batch_is_answered_in_its_array() -> None:
    conn = open_server(B, limits=Limits(peer_requests=1))
    events = feed(conn, [request(1, "tools/list"), request(2, "tools/list"), request(3, "ping")])
    assert [drawn([event]) for event in events] == [[], ["LIB-013"], []]
    conn.respond(1, t.ListToolsResult([]))
    (array,) = sent(conn)
    assert [(answer["id"], "error" in answer) for answer in array] == [(2, True), (3, False), (1, False)]


# Resources that are subscribed to -------------------------------------------------------------------------------------


@every_legacy
def test_one_resource_too_many_is_refused(revision: str) -> None:
    conn = open_server(revision, limits=Limits(subscribed_uris=2))
    session = conn.conversation.session

    ids = count()

    def subscribe(uri: str, method: str = "resources/subscribe") -> list[str]:
        """Ask for it, and have it served; the rules that are broken."""
        events = feed(conn, request(next(ids), method, {"uri": uri}))
        for event in events:
            if isinstance(event, RequestReceived):
                conn.respond(event.id, t.EmptyResult())
        return drawn(events)

    assert (subscribe("a"), subscribe("b")) == ([], [])
    assert subscribe("c") == ["LIB-013"]
    (*_, last) = sent(conn)
    assert "2 resources are subscribed to" in last["error"]["message"]
    assert session.subscribed == {"a", "b"}
    assert subscribe("b") == []  # it is subscribed to already
    assert subscribe("a", "resources/unsubscribe") == []
    assert subscribe("c") == []
    assert session.subscribed == {"b", "c"}


@every_legacy
def test_what_is_asked_for_counts_before_it_is_served(revision: str) -> None:
    """Else one that was served would not be told."""
    conn = open_server(revision, limits=Limits(subscribed_uris=2))
    asked = [request(i, "resources/subscribe", {"uri": uri}) for i, uri in enumerate("aabcb")]
    events = feed(conn, *asked)
    assert [drawn([event]) for event in events] == [[], [], [], ["LIB-013"], []]
    for request_id in conn.owed:
        conn.respond(request_id, t.EmptyResult())
    assert conn.conversation.session.subscribed == {"a", "b"}
    assert conn.publish(t.ResourceUpdatedNotification("b")) == 1


# Output that waits ----------------------------------------------------------------------------------------------------


Call: TypeAlias = Callable[[], object]
Prepared: TypeAlias = Callable[[Pair, Side], Call]
"""Lets something be said that an application may say, and gives the call that says it."""

ROOTS = t.ClientCapabilities(roots=t.RootsCapability())
LISTENS = t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True))
CALL = t.CallToolRequest("x")


def owed(p: Pair, side: Side) -> JSON:
    """A request that *side* has to answer."""
    return p.open(side.other, CALL if side is SERVER else None, progress=True)


def saying_request(p: Pair, side: Side) -> Call:
    return lambda: p.of(side).request(question(side))


def saying_cancel(p: Pair, side: Side) -> Call:
    request_id = p.open(side)
    return lambda: p.of(side).cancel(request_id)


def saying_notify(p: Pair, side: Side) -> Call:
    request_id = p.open(side)
    return lambda: p.of(side).notify(t.CancelledNotification(request_id))


def saying_raw(p: Pair, side: Side) -> Call:
    return lambda: p.of(side).send_raw(JSONRPCNotification("vendor/a"))


def saying_result(p: Pair, side: Side) -> Call:
    request_id = owed(p, side)
    return lambda: p.of(side).respond(request_id, t.CallToolResult([]) if side is SERVER else t.ListRootsResult([]))


def saying_error(p: Pair, side: Side) -> Call:
    request_id = owed(p, side)
    return lambda: p.of(side).respond_error(request_id, 1, "no")


def saying_progress(p: Pair, side: Side) -> Call:
    request_id = owed(p, side)
    return lambda: p.of(side).progress(request_id, 1)


def saying_batch(p: Pair, side: Side) -> Call:
    return lambda: p.of(side).send_batch([t.PingRequest()])


def saying_retry(p: Pair, side: Side) -> Call:
    handle = p.client.request(CALL)
    p.pump()
    p.server.request_input(handle.id, state="s")
    p.pump()
    return lambda: p.client.retry(handle)


def saying_input(p: Pair, side: Side) -> Call:
    request_id = owed(p, side)
    return lambda: p.server.request_input(request_id, {"a": t.ListRootsRequest()})


def saying_missing(p: Pair, side: Side) -> Call:
    request_id = owed(p, side)
    return lambda: p.server.respond_missing_capability(request_id, ROOTS)


def saying_change(p: Pair, side: Side) -> Call:
    if p.revision == MODERN:
        p.client.request(LISTENS)
        p.pump()
    return lambda: p.server.publish(t.ToolListChangedNotification())


def saying_end(p: Pair, side: Side) -> Call:
    request_id = p.client.request(LISTENS).id
    p.pump()
    return lambda: p.server.end_subscription(request_id)


def saying_log(p: Pair, side: Side) -> Call:
    level: Any = {"log_level": "debug"} if p.revision == MODERN else {}
    request_id = p.open(CLIENT, CALL, **level)
    return lambda: p.server.log("error", 1, related=request_id)


REQUESTORS = [*((CLIENT, revision) for revision in EVERY), *((SERVER, revision) for revision in LEGACY)]
RESPONDERS = [(side.other, revision) for side, revision in REQUESTORS]
SERVERS = [(SERVER, revision) for revision in EVERY]
SAYING: dict[Prepared, list[tuple[Side, str]]] = {
    saying_request: REQUESTORS,
    saying_cancel: REQUESTORS,
    saying_notify: REQUESTORS,
    saying_raw: REQUESTORS,
    saying_result: RESPONDERS,
    saying_error: RESPONDERS,
    saying_progress: RESPONDERS,
    saying_batch: [(CLIENT, B), (SERVER, B)],
    saying_retry: [(CLIENT, MODERN)],
    saying_input: SERVERS,
    saying_missing: SERVERS,
    saying_change: SERVERS,
    saying_end: [(SERVER, MODERN)],
    saying_log: SERVERS,
}
"""What an application may say: every public call that queues something."""


@pytest.mark.parametrize(
    ("prepare", "side", "revision"),
    [(prepare, side, revision) for prepare, where in SAYING.items() for side, revision in where],
    ids=lambda value: getattr(value, "__name__", None) or getattr(value, "value", value),
)
def test_while_too_much_waits_nothing_is_said_and_nothing_is_taken(
    prepare: Prepared, side: Side, revision: str
) -> None:
    p = pair(revision, **{f"{side.value}_settings": {"limits": Limits(queued_bytes=10)}})
    call = prepare(p, side)
    conn = p.of(side)
    if side is SERVER:
        feed(conn, p.says(CLIENT, "flood", "no/such"))  # which the library answers
    else:
        conn.request(t.ListToolsRequest())
    refused(conn, call)
    line = encode(notification("vendor/a"))
    for receive in (
        lambda: conn.receive_data(line),
        lambda: conn.receive_data(b""),
        lambda: conn.receive_message(line),
    ):
        refused(conn, receive)
    assert conn.data_to_send().count(b"\n") == 1
    assert len(conn.receive_data(line)) == 1  # not a byte was lost
    assert call() is not None or prepare is saying_notify
    assert conn.messages_to_send() != []


@every_legacy
def test_time_and_the_end_go_on_whatever_waits(revision: str) -> None:
    conn = open_client(revision, limits=Limits(queued_bytes=10))
    handle = conn.request(t.ListToolsRequest(), timeout=5, now=0)
    assert conn.next_deadline() == 5
    again = ClientConnection.restore(json.loads(json.dumps(conn.snapshot(0))), 0, limits=Limits(queued_bytes=10))
    for each in (conn, again):
        refused(each, lambda each=each: each.request(t.PingRequest()))  # type: ignore[misc]
        assert [handle.ended_by(event) for event in each.handle_timeout(5)] == [True]
        assert len(each.receive_eof()) == 1
        each.close()
        assert each.state is ConnectionState.CLOSED
        assert [message["method"] for message in sent(each)] == ["tools/list", "notifications/cancelled"]


def test_a_client_that_has_too_much_to_say_does_not_connect() -> None:
    conn = client("modern", limits=Limits(queued_bytes=10))
    conn.request(t.ListToolsRequest())
    refused(conn, lambda: conn.connect())
    sent(conn)
    conn.connect()


@pytest.mark.parametrize("spare", [-1, 0])
def test_as_much_as_the_limit_may_wait(spare: int) -> None:
    probe = open_client(D)
    probe.request(t.PingRequest())
    (outgoing,) = probe.messages_to_send()
    conn = open_client(D, limits=Limits(queued_bytes=len(outgoing.data) + spare))
    conn.request(t.PingRequest())
    if spare < 0:
        refused(conn, lambda: conn.request(t.PingRequest()))
    else:
        conn.request(t.PingRequest())
        refused(conn, lambda: conn.request(t.PingRequest()))


@every_revision
def test_a_flood_of_requests_stops_at_the_limit_and_goes_on(revision: str) -> None:
    """Backpressure: a driver that stops reading while its peer does not read."""
    limits = Limits(queued_bytes=2000)
    conn = open_server(revision, limits=limits)
    says = Pair(revision, client(), conn).says
    lines = [encode(says(CLIENT, i, "no/such")) for i in range(100)]
    answered = most = 0
    for line in lines:
        while True:
            try:
                conn.receive_data(line)
                break
            except LocalProtocolError as mistake:
                assert mistake.reason is Reason.LIMIT
                out = conn.data_to_send()
                most = max(most, len(out))
                answered += out.count(b"\n")
    answered += conn.data_to_send().count(b"\n")
    assert answered == 100
    assert 2000 < most < 3000


# Ids that are remembered ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("remembered", [0, 1, 8])
@every_revision
def test_what_is_remembered_of_the_past_is_bounded(revision: str, remembered: int) -> None:
    limits = Limits(remembered_ids=remembered)
    p = pair(revision, client_settings={"limits": limits}, server_settings={"limits": limits})
    sizes = []
    for turn in range(60):
        request_id = p.open(CLIENT, t.CallToolRequest("x"), id=1000 + turn, progress=True)
        match turn % 3:
            case 0:
                p.server.respond(request_id, t.CallToolResult([]))
            case 1:
                p.client.cancel(request_id)
            case _:
                p.server.respond_error(request_id, 1, "no")
        p.pump()
        sizes.append(len(state_of(p.client)) + len(state_of(p.server)))
    assert max(sizes[20:]) <= max(sizes[:20]) + 20
    assert p.client.in_flight == p.server.owed == ()


@pytest.mark.parametrize("how", ["request", "batch", "retry", "question"])
def test_ids_of_ours_never_come_again_whatever_is_forgotten(how: str) -> None:
    revision = MODERN if how == "retry" else B
    p = pair(revision, **{f"{side}_settings": {"limits": Limits(remembered_ids=1)} for side in ("client", "server")})
    handle = p.client.request(CALL)
    p.pump()
    used: list[JSON] = []
    for _ in range(4):
        match how:
            case "request":
                used.append(p.open(CLIENT))
            case "batch":
                used += [each.id for each in p.client.send_batch([t.PingRequest(), t.PingRequest()])]
                used.append(p.client.request(t.PingRequest()).id)
            case "retry":
                p.server.request_input(handle.id, state="s")
                p.pump()
                handle = p.client.retry(handle)
                used.append(handle.id)
            case _:
                p.server.request_input(handle.id, {"a": t.ListRootsRequest(), "b": t.ListRootsRequest()})
                used += p.server.in_flight
                for request_id in p.server.in_flight:
                    feed(p.server, result(request_id, {"roots": []}))
        p.pump()
        for request_id in p.server.owed:
            if how == "request" and request_id != handle.id:
                p.server.respond_error(request_id, 1, "no")
        p.pump()
    assert len(set(used)) == len(used) >= 4


@settings(deadline=None)
@given(st.integers(0, 4), st.lists(st.sampled_from(["answer", "cancel"]), max_size=10))
def test_the_latest_ends_are_told_apart(remembered: int, ends: list[str]) -> None:
    conn = open_client(D, limits=Limits(remembered_ids=remembered))
    ids = []
    for end in ends:
        ids.append(conn.request(t.ListToolsRequest()).id)
        if end == "answer":
            feed(conn, tools_result(ids[-1], D))
        else:
            conn.cancel(ids[-1])
    reasons = {"answer": UnexpectedReason.DUPLICATE, "cancel": UnexpectedReason.LATE}
    for i, (request_id, end) in enumerate(zip(ids, ends, strict=True)):
        (event,) = feed(conn, error(request_id))
        assert isinstance(event, ResponseIgnored)
        known = i >= len(ids) - remembered
        assert event.reason is (reasons[end] if known else UnexpectedReason.UNKNOWN)
        assert drawn([event]) == (["RPC-005"] if known and end == "answer" else [])
        assert isinstance(conn.cancel(request_id), Dropped)
