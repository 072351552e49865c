"""Cancels from either side: who is told what, what crosses on the way, and what is remembered of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_sansio import (
    Dropped,
    DroppedReason,
    ErrorReceived,
    Event,
    Limits,
    LocalProtocolError,
    NotificationReceived,
    Reason,
    RequestCancelled,
    RequestReceived,
    ResponseIgnored,
    ResultReceived,
    Sent,
    Side,
    UnexpectedReason,
)
from mcp_sansio import types as t

from .pair import (
    CLIENT,
    EVERY,
    INITIALIZED,
    JSON,
    LOG_LEVEL_KEY,
    MODERN,
    SERVER,
    Connection,
    D,
    Pair,
    case,
    client,
    drawn,
    encode,
    error,
    every_legacy,
    every_requestor,
    every_revision,
    feed,
    initialize,
    notification,
    open_client,
    open_server,
    pair,
    request,
    sent,
    server,
    state_of,
    tools_result,
)


def cancelled(request_id: JSON, **params: JSON) -> JSON:
    return notification("notifications/cancelled", {"requestId": request_id, **params})


def answer_of(side: Side) -> Any:
    """What the other side answers to this side's usual request."""
    return t.ListToolsResult([]) if side is CLIENT else t.ListRootsResult([])


# Who is told what -----------------------------------------------------------------------------------------------------


@every_requestor
@pytest.mark.parametrize("reason", [None, "", "the user pressed \u2028 Esc"])
def test_the_other_side_is_told_so_that_it_can_stop(reason: str | None, side: Side, revision: str) -> None:
    p = pair(revision)
    request_id = p.open(side)
    assert p.of(side).cancel(request_id, reason) == Sent()
    assert p.of(side).in_flight == ()
    method = "tools/list" if side is CLIENT else "roots/list"
    assert p.pump() == [RequestCancelled(id=request_id, method=method, reason=reason)]
    assert p.of(side.other).owed == ()
    assert p.client.conversation.shared() == p.server.conversation.shared()


@every_revision
def test_a_transport_with_a_stream_for_each_request_learns_which_to_close(revision: str) -> None:
    conn = open_client(revision)
    request_id = conn.request(t.ListToolsRequest(), id="a").id
    conn.cancel(request_id)
    asked, told = conn.messages_to_send()
    assert asked.closes_stream is None
    assert told.closes_stream == ("a" if revision == MODERN else None)


@every_revision
def test_after_a_cancel_nothing_is_sent_for_the_request(revision: str) -> None:
    """2026-07-28, basic/transports/stdio: no further message for it."""
    p = pair(revision)
    meta = {LOG_LEVEL_KEY: "debug"} if revision == MODERN else {}
    request_id = p.open(CLIENT, t.CallToolRequest("x", meta=meta), progress=True)
    p.client.cancel(request_id)
    p.pump()
    us = p.server
    for attempt in (
        lambda: us.respond(request_id, t.CallToolResult([])),
        lambda: us.respond_error(request_id, 1, "no"),
        lambda: us.respond_missing_capability(request_id, t.ClientCapabilities(roots=t.RootsCapability())),
        lambda: us.request_input(request_id, {"a": t.ListRootsRequest()}),
        lambda: us.progress(request_id, 1),
        lambda: us.log("emergency", "fire", related=request_id),
        lambda: us.end_subscription(request_id),
    ):
        assert attempt() == Dropped(DroppedReason.CANCELLED)
    with pytest.raises(LocalProtocolError):
        us.notify(t.ProgressNotification(request_id, 1))
    assert sent(us) == []


@every_legacy
def test_each_side_cancels_its_own_request_of_the_same_id(revision: str) -> None:
    p = pair(revision)
    theirs, ours = p.open(CLIENT, id="same"), p.open(SERVER, id="same")
    p.client.cancel(theirs)
    assert [type(event) for event in p.pump()] == [RequestCancelled]
    assert (p.server.owed, p.server.in_flight) == ((), (ours,))
    p.client.respond(ours, t.ListRootsResult([]))
    assert [type(event) for event in p.pump()] == [ResultReceived]


def test_a_modern_server_cancels_no_request_but_a_subscription() -> None:
    p = pair(MODERN)
    request_id = p.open(CLIENT)
    before = state_of(p.server)
    for attempt in (
        lambda: p.server.cancel(request_id),
        lambda: p.server.notify(t.CancelledNotification(request_id)),
    ):
        with pytest.raises(LocalProtocolError):
            attempt()
        assert state_of(p.server) == before


def test_a_task_is_not_cancelled_by_this_notification() -> None:
    """2025-11-25, basic/utilities/cancellation: tasks/cancel must be used instead."""
    p = pair(D)
    request_id = p.open(CLIENT, t.CallToolRequest("slow", task=t.TaskMetadata()))
    before = state_of(p.client)
    with pytest.raises(LocalProtocolError) as caught:
        p.client.cancel(request_id)
    assert caught.value.reason is Reason.NOT_CANCELLABLE
    assert state_of(p.client) == before
    (event,) = feed(p.server, cancelled(request_id))
    assert isinstance(event, NotificationReceived)
    assert drawn([event]) == ["CANC-008"]
    assert p.server.owed == (request_id,)


# What the local caller may cancel -------------------------------------------------------------------------------------


@every_revision
@pytest.mark.parametrize("how", ["result", "cancel", "time-out", "eof", "close"])
def test_what_is_over_is_not_cancelled_again(how: str, revision: str) -> None:
    conn = open_client(revision)
    request_id = conn.request(t.ListToolsRequest(), timeout=5, now=0).id
    match how:
        case "result":
            feed(conn, tools_result(request_id, revision), now=0)
        case "cancel":
            conn.cancel(request_id)
        case "time-out":
            conn.handle_timeout(5)
        case "eof":
            conn.receive_eof(now=0)
        case _:
            conn.close()
    sent(conn)
    assert conn.cancel(request_id) == Dropped(DroppedReason.OVER)
    with pytest.raises(LocalProtocolError) as caught:
        conn.cancel("never")
    assert caught.value.reason is Reason.UNKNOWN_REQUEST
    assert sent(conn) == []


@every_revision
def test_what_is_over_for_long_is_forgotten(revision: str) -> None:
    conn = open_client(revision, limits=Limits(remembered_ids=2))
    ids = [conn.request(t.ListToolsRequest()).id for _ in range(4)]
    for request_id in ids:
        conn.cancel(request_id)
    reasons = [DroppedReason.FORGOTTEN] * 2 + [DroppedReason.OVER] * 2
    assert [conn.cancel(request_id) for request_id in ids] == [Dropped(reason) for reason in reasons]


@every_revision
@pytest.mark.parametrize("reason", [5, b"", "\ud800"], ids=repr)
def test_a_reason_is_text(reason: Any, revision: str) -> None:
    conn = open_client(revision)
    request_id = conn.request(t.ListToolsRequest(), timeout=5, now=0).id
    before = state_of(conn)
    with pytest.raises(LocalProtocolError) as caught:
        conn.cancel(request_id, reason)
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    assert state_of(conn) == before


@pytest.mark.parametrize("era", ["auto", "legacy", "modern"])
def test_the_handshake_is_not_cancelled(era: str) -> None:
    conn = client(era)
    conn.connect()
    sent(conn)
    before = state_of(conn)
    with pytest.raises(LocalProtocolError):
        conn.cancel(1)
    assert state_of(conn) == before


# Ids that are used again ----------------------------------------------------------------------------------------------


@every_revision
@pytest.mark.parametrize("how", ["answered", "cancelled"])
def test_an_id_used_again_is_served_and_named(how: str, revision: str) -> None:
    conn = open_server(revision)
    asked = Pair(revision, client(), conn).says(CLIENT, 7, "tools/list")
    feed(conn, asked)
    if how == "answered":
        conn.respond(7, t.ListToolsResult([]))
    else:
        feed(conn, cancelled(7))
    sent(conn)
    (event,) = feed(conn, asked)
    assert isinstance(event, RequestReceived)
    assert drawn([event]) == ([] if revision == MODERN else ["RPC-009"])
    assert isinstance(conn.respond(7, t.ListToolsResult([])), Sent)
    assert [message["id"] for message in sent(conn)] == [7]


@every_revision
def test_a_cancel_is_about_the_request_that_has_the_id_now(revision: str) -> None:
    conn = open_server(revision)
    asked = Pair(revision, client(), conn).says(CLIENT, 7, "tools/list")
    events = feed(conn, asked, cancelled(7), asked, cancelled(7), cancelled(7))
    assert [type(event) for event in events] == [
        RequestReceived, RequestCancelled, RequestReceived, RequestCancelled, NotificationReceived
    ]  # fmt: skip
    assert conn.respond(7, t.ListToolsResult([])) == Dropped(DroppedReason.CANCELLED)


@every_revision
def test_the_local_caller_uses_an_id_again_only_where_that_is_allowed(revision: str) -> None:
    conn = open_client(revision)
    conn.cancel(conn.request(t.ListToolsRequest(), id="a").id)
    if revision == MODERN:
        assert conn.request(t.ListToolsRequest(), id="a").id == "a"
        assert conn.cancel("a") == Sent()
        return
    with pytest.raises(LocalProtocolError) as caught:
        conn.request(t.ListToolsRequest(), id="a")
    assert caught.value.reason is Reason.ID_IN_USE


# Late answers, in bounded memory --------------------------------------------------------------------------------------


@case("cancel-087")
@every_requestor
def test_a_late_answer_breaks_no_rule_even_when_it_is_forgotten(_case: str, side: Side, revision: str) -> None:
    p = pair(revision, **{f"{side.value}_settings": {"limits": Limits(remembered_ids=3)}})
    conn = p.of(side)
    asked: t.Request[Any] = t.ListToolsRequest() if side is CLIENT else t.ListRootsRequest()
    (unknown,) = feed(conn, error("unknown"))
    ids = [conn.request(asked).id for _ in range(5)]
    for request_id in ids:
        conn.cancel(request_id)
    late = feed(conn, *(error(request_id) for request_id in ids))
    assert [event.reason for event in late] == [UnexpectedReason.UNKNOWN] * 2 + [UnexpectedReason.LATE] * 3  # type: ignore[union-attr]
    assert (drawn([unknown]), drawn(late)) == (["RPC-002"], [])
    open_now = conn.request(asked).id
    assert drawn(feed(conn, error(str(open_now)))) == ["RPC-002"]  # another type than the one in flight: plainly wrong


@every_revision
def test_a_cancel_of_what_is_forgotten_breaks_no_rule(revision: str) -> None:
    conn = open_server(revision, limits=Limits(remembered_ids=2))
    assert drawn(feed(conn, cancelled("never"))) == ["CANC-001"]
    asks = Pair(revision, client(), conn).says
    for request_id in range(3):
        feed(conn, asks(CLIENT, request_id, "tools/list"))
        conn.respond(request_id, t.ListToolsResult([]))
    events = feed(conn, cancelled(0), cancelled(2))
    assert [type(event) for event in events] == [NotificationReceived] * 2
    assert drawn(events) == []


def test_what_a_modern_server_may_not_cancel_is_named_however_much_is_forgotten() -> None:
    conn = open_client(MODERN, limits=Limits(remembered_ids=1))
    for _ in range(2):
        conn.cancel(conn.request(t.ListToolsRequest()).id)
    request_id = conn.request(t.ListToolsRequest()).id
    assert drawn(feed(conn, cancelled(request_id))) == ["CANC-005"]
    assert drawn(feed(conn, cancelled(2))) == []
    assert conn.in_flight == (request_id,)


# Races ----------------------------------------------------------------------------------------------------------------

KINDS = ["ask", "cancel", "answer", "refuse", "progress", "carry"]
MOVES = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.sampled_from(Side),
        st.integers(0, 3),
    ),
    max_size=40,
)


class Race:
    """Two sides with slow pipes between them; messages arrive one at a time."""

    def __init__(self, revision: str) -> None:
        self.pair = pair(revision)
        self.pipes: dict[Side, list[bytes]] = {side: [] for side in Side}
        self.asked: dict[Side, list[Any]] = {side: [] for side in Side}
        self.gave_up: set[tuple[Side, Any]] = set()
        self.ended: Counter[tuple[Side, Any]] = Counter()
        self.stopped: Counter[tuple[Side, Any]] = Counter()

    def move(self, what: str, side: Side, which: int) -> None:
        conn = self.pair.of(side)
        mine, theirs = self.asked[side], conn.owed
        match what:
            case "ask":
                if side is CLIENT or self.pair.revision != MODERN:
                    asked: t.Request[Any] = t.ListToolsRequest() if side is CLIENT else t.ListRootsRequest()
                    mine.append(conn.request(asked, progress=True).id)
            case "cancel" if mine:
                request_id = mine[which % len(mine)]
                open_before = request_id in conn.in_flight
                assert conn.cancel(request_id) == (Sent() if open_before else Dropped(DroppedReason.OVER))
                if open_before:
                    self.gave_up.add((side, request_id))
            case "answer" if theirs:
                conn.respond(theirs[which % len(theirs)], answer_of(side.other))
            case "refuse" if theirs:
                conn.respond_error(theirs[which % len(theirs)], 1, "no")
            case "progress" if theirs:
                request_id = theirs[which % len(theirs)]
                before = conn.conversation.open_requests(side.other)[request_id].progress or 0
                assert conn.progress(request_id, before + 1) == Sent()
            case "carry":
                self.carry(side)
            case _:
                pass
        self.pipes[side] += [outgoing.data for outgoing in conn.messages_to_send()]

    def carry(self, side: Side) -> None:
        """Let the oldest message of *side* arrive."""
        if self.pipes[side]:
            self.note(side.other, self.pair.of(side.other).receive_message(self.pipes[side].pop(0)))

    def note(self, side: Side, events: list[Event]) -> None:
        for event in events:
            assert event.violations == ()
            if isinstance(event, ResultReceived | ErrorReceived):
                self.ended[side, event.id] += 1
            elif isinstance(event, RequestCancelled):
                self.stopped[side, event.id] += 1
            elif isinstance(event, ResponseIgnored):
                assert (event.reason, (side, event.id) in self.gave_up) == (UnexpectedReason.LATE, True)


@settings(deadline=None)
@given(st.sampled_from(EVERY), MOVES)
@example(
    D,
    [
        ("ask", CLIENT, 0), ("ask", SERVER, 0), ("carry", CLIENT, 0), ("carry", SERVER, 0), ("answer", SERVER, 0),
        ("answer", CLIENT, 0), ("cancel", CLIENT, 0), ("cancel", SERVER, 0), ("carry", CLIENT, 0), ("carry", SERVER, 0),
    ],
)  # fmt: skip
def test_however_cancels_and_answers_cross_every_request_ends_once(revision: str, moves: list[Any]) -> None:
    race = Race(revision)
    for what, side, which in moves:
        race.move(what, side, which)
    for side in (*Side, *Side):
        while race.pipes[side]:
            race.carry(side)
    for side in Side:
        for request_id in race.asked[side]:
            over = (side, request_id) in race.gave_up
            in_flight = request_id in race.pair.of(side).in_flight
            assert over + in_flight + race.ended[side, request_id] == 1
            assert race.stopped[side.other, request_id] <= over
    assert race.pair.client.conversation.shared() == race.pair.server.conversation.shared()


@every_revision
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_a_request_and_its_cancel_in_one_write(step: int, revision: str) -> None:
    conn: Connection = open_server(revision)
    asks = Pair(revision, client(), conn).says  # type: ignore[arg-type]
    lines = [asks(CLIENT, 1, "tools/list"), cancelled(1, reason="oops"), asks(CLIENT, 2, "tools/list")]
    data = encode(*lines)
    events = [event for i in range(0, len(data), step) for event in conn.receive_data(data[i : i + step])]
    assert [type(event) for event in events] == [RequestReceived, RequestCancelled, RequestReceived]
    assert (conn.owed, sent(conn)) == ((2,), [])


@every_legacy
def test_a_cancel_before_initialized_is_taken(revision: str) -> None:
    conn = server(revisions=[revision])
    feed(conn, initialize(1, revision))
    events = feed(conn, request("early", "tools/list"), cancelled("early"), INITIALIZED)
    assert [type(event) for event in events] == [RequestReceived, RequestCancelled, NotificationReceived]
