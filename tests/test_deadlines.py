"""Time-outs on a clock that the caller owns: when a request ends by itself, and what moves that."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_sansio import (
    ClientConnection,
    Dropped,
    Event,
    LocalProtocolError,
    ProgressIgnored,
    ProgressReceived,
    Reason,
    RequestTimedOut,
    ResponseIgnored,
    ServerConnection,
    Side,
    SubscriptionAcknowledged,
    UnexpectedReason,
)
from mcp_sansio import types as t
from mcp_sansio.connection.deadlines import Deadlines
from mcp_sansio.jsonrpc import JSONRPCNotification

from .pair import (
    CLIENT,
    EVERY,
    INITIALIZED,
    JSON,
    LEGACY,
    MODERN,
    SUBSCRIPTION_KEY,
    A,
    B,
    Connection,
    D,
    case,
    client,
    drawn,
    error,
    every_requestor,
    every_revision,
    feed,
    initialize,
    notification,
    open_client,
    pair,
    result,
    sent,
    server,
    state_of,
    tools_result,
)
from .timing import assert_linear, least_time


def asking(side: Side, revision: str) -> tuple[Connection, t.Request[Any]]:
    """A side that may send a request, and one that it may send."""
    return pair(revision).of(side), t.ListToolsRequest() if side is CLIENT else t.ListRootsRequest()


def progress(token: JSON, value: float) -> JSON:
    return notification("notifications/progress", {"progressToken": token, "progress": value})


# The end --------------------------------------------------------------------------------------------------------------


@case("timeouts-092")
@every_requestor
@pytest.mark.parametrize("times", [{"timeout": 5}, {"max_timeout": 5}, {"timeout": 5, "max_timeout": 7}], ids=repr)
def test_a_request_without_an_answer_ends_and_the_peer_is_told(
    _case: str, times: dict[str, float], side: Side, revision: str
) -> None:
    conn, request = asking(side, revision)
    handle = conn.request(request, now=100, **times)  # type: ignore[arg-type]
    conn.messages_to_send()
    assert conn.next_deadline() == 105
    before = conn.snapshot(104.5)
    assert conn.handle_timeout(104.5) == []
    assert conn.snapshot(104.5) == before
    (event,) = conn.handle_timeout(105)
    assert event == RequestTimedOut(id=handle.id, method=request.method)
    assert handle.ended_by(event)
    (told,) = conn.messages_to_send()
    assert json.loads(told.data) == notification(
        "notifications/cancelled", {"requestId": handle.id, "reason": "timed out"}
    )
    assert told.closes_stream == (handle.id if revision == MODERN else None)
    assert (conn.in_flight, conn.next_deadline(), conn.handle_timeout(1000)) == ((), None, [])
    (late,) = feed(conn, error(handle.id))  # no deadline is armed, so no time is needed
    assert isinstance(late, ResponseIgnored)
    assert (late.reason, late.violations) == (UnexpectedReason.LATE, ())


@every_requestor
def test_the_peer_learns_of_it_and_its_answer_is_dropped(side: Side, revision: str) -> None:
    p = pair(revision)
    request_id = p.open(side, timeout=5, now=0)
    p.of(side).handle_timeout(5)
    (event,) = p.pump()
    assert (type(event).__name__, event.violations) == ("RequestCancelled", ())
    assert isinstance(p.of(side.other).respond_error(request_id, 1, "too late"), Dropped)
    assert p.client.conversation.shared() == p.server.conversation.shared()


def test_time_out_zero_is_due_at_once() -> None:
    conn = open_client(D)
    handle = conn.request(t.ListToolsRequest(), timeout=0, now=3)
    assert [handle.ended_by(event) for event in conn.handle_timeout(3)] == [True]


@every_revision
def test_several_end_in_the_order_of_their_deadlines(revision: str) -> None:
    conn = open_client(revision)
    ids = [conn.request(t.ListToolsRequest(), timeout=timeout, now=0).id for timeout in (3, 1, 2, 1, 9)]
    assert [event.id for event in conn.handle_timeout(4)] == [ids[1], ids[3], ids[2], ids[0]]  # type: ignore[union-attr]
    assert [m["params"]["requestId"] for m in sent(conn)[5:]] == [ids[1], ids[3], ids[2], ids[0]]
    assert (conn.in_flight, conn.next_deadline()) == ((ids[4],), 9)


ENDINGS: dict[str, Callable[[Connection, JSON, str], object]] = {
    "result": lambda conn, rid, revision: feed(conn, tools_result(rid, revision), now=0),
    "error": lambda conn, rid, _: feed(conn, error(rid), now=0),
    "invalid result": lambda conn, rid, _: feed(conn, result(rid, {"tools": 5}), now=0),
    "broken answer": lambda conn, rid, _: feed(conn, {"jsonrpc": "2.0", "id": rid, "result": 5}, now=0),
    "cancel": lambda conn, rid, _: conn.cancel(rid),
    "notify": lambda conn, rid, _: conn.notify(t.CancelledNotification(rid)),
    "send_raw": lambda conn, rid, _: conn.send_raw(JSONRPCNotification("notifications/cancelled", {"requestId": rid})),
    "eof": lambda conn, *_: conn.receive_eof(now=0),
    "close": lambda conn, *_: conn.close(),
}


@every_revision
@pytest.mark.parametrize("how", ENDINGS)
def test_whatever_ends_a_request_takes_its_deadline_away(how: str, revision: str) -> None:
    conn = open_client(revision)
    request_id = conn.request(t.ListToolsRequest(), timeout=5, now=0).id
    ENDINGS[how](conn, request_id, revision)
    assert (conn.in_flight, conn.next_deadline(), conn.handle_timeout(10)) == ((), None, [])


def test_a_cancel_in_a_batch_takes_the_deadline_away() -> None:
    conn = open_client(B)
    request_id = conn.request(t.ListToolsRequest(), timeout=5, now=0).id
    conn.send_batch([t.PingRequest(), t.CancelledNotification(request_id)])
    assert (conn.next_deadline(), conn.handle_timeout(10)) == (None, [])


def test_input_required_ends_the_wait_and_the_retry_has_a_time_out_of_its_own() -> None:
    conn = open_client(MODERN)
    handle = conn.request(t.CallToolRequest("x"), timeout=5, now=0)
    feed(conn, result(handle.id, {"resultType": "input_required", "requestState": "s"}), now=4)
    assert conn.next_deadline() is None
    again = conn.retry(handle, timeout=5, max_timeout=20, reset_on_progress=True, now=10)
    assert conn.next_deadline() == 15
    feed(conn, progress(again.id, 1), now=14)
    assert conn.next_deadline() == 19
    assert [again.ended_by(event) for event in conn.handle_timeout(19)] == [True]


# Progress -------------------------------------------------------------------------------------------------------------


@case("timeouts-095")
@every_requestor
def test_reset_on_progress_asks_for_progress_by_itself_and_begins_anew(_case: str, side: Side, revision: str) -> None:
    conn, request = asking(side, revision)
    handle = conn.request(request, timeout=5, reset_on_progress=True, now=0)
    (written,) = sent(conn)
    assert written["params"]["_meta"]["progressToken"] == handle.id
    (event,) = feed(conn, progress(handle.id, 1), now=4)
    assert event == ProgressReceived(
        id=handle.id, method=request.method, notification=t.ProgressNotification(handle.id, 1)
    )
    assert conn.next_deadline() == 9
    assert conn.handle_timeout(5) == []
    assert [handle.ended_by(event) for event in conn.handle_timeout(9)] == [True]


@case("timeouts-095")
@every_revision
def test_without_it_progress_moves_nothing(_case: str, revision: str) -> None:
    conn = open_client(revision)
    request_id = conn.request(t.ListToolsRequest(), timeout=5, progress=True, now=0).id
    feed(conn, progress(request_id, 1), now=4)
    assert conn.next_deadline() == 5


@case("timeouts-095")
@every_revision
def test_progress_that_does_not_fit_moves_no_deadline(_case: str, revision: str) -> None:
    conn = open_client(revision)
    over = conn.request(t.ListToolsRequest(), progress=True).id
    request_id = conn.request(t.ListToolsRequest(), timeout=5, reset_on_progress=True, now=0).id
    feed(conn, progress(request_id, 3), tools_result(over, revision), now=1)
    assert conn.next_deadline() == 6
    for token, value in (("x", 1), (str(request_id), 9), (over, 9), (request_id, 3), (request_id, 2.5)):
        (event,) = feed(conn, progress(token, value), now=4)
        assert isinstance(event, ProgressIgnored)
    assert conn.next_deadline() == 6


@case("timeouts-096")
@every_requestor
def test_the_cap_holds_whatever_progress_comes(_case: str, side: Side, revision: str) -> None:
    conn, request = asking(side, revision)
    handle = conn.request(request, timeout=2, max_timeout=10, reset_on_progress=True, now=0)
    for second in range(1, 10):
        assert conn.handle_timeout(second) == []
        feed(conn, progress(handle.id, second), now=second)
        assert conn.next_deadline() == min(second + 2, 10)
    assert [handle.ended_by(event) for event in conn.handle_timeout(10)] == [True]


def test_a_cap_below_the_time_out_is_the_time_out() -> None:
    conn = open_client(D)
    request_id = conn.request(t.ListToolsRequest(), timeout=9, max_timeout=3, reset_on_progress=True, now=0).id
    feed(conn, progress(request_id, 1), now=2)
    assert conn.next_deadline() == 3


# What is not cancelled ------------------------------------------------------------------------------------------------


def test_a_task_is_given_up_without_a_cancel() -> None:
    """tasks/cancel ends it, if the application wants that (2025-11-25, basic/utilities/tasks)."""
    p = pair(D)
    handle = p.client.request(t.CallToolRequest("slow", task=t.TaskMetadata()), timeout=5, now=0)
    p.pump(now=0)
    assert [handle.ended_by(event) for event in p.client.handle_timeout(5)] == [True]
    assert sent(p.client) == []
    p.server.respond(handle.id, t.CallToolResult([]))
    (late,) = p.pump()
    assert isinstance(late, ResponseIgnored)
    assert (late.reason, late.violations) == (UnexpectedReason.LATE, ())


@pytest.mark.parametrize("revision", LEGACY)
def test_a_request_that_is_held_back_times_out_unseen(revision: str) -> None:
    conn = server(revisions=[revision])
    feed(conn, initialize("i", revision, capabilities={"roots": {}}))
    sent(conn)
    gone = conn.request(t.ListRootsRequest(), timeout=5, now=0)
    kept = conn.request(t.ListRootsRequest(), timeout=9, now=0)
    assert [gone.ended_by(event) for event in conn.handle_timeout(5)] == [True]
    feed(conn, INITIALIZED, now=5)
    assert [message["id"] for message in sent(conn)] == [kept.id]
    assert [kept.ended_by(event) for event in conn.handle_timeout(9)] == [True]
    assert [message["params"]["requestId"] for message in sent(conn)] == [kept.id]


def test_a_task_that_is_held_back_times_out_unseen() -> None:
    conn = server(revisions=[D])
    can = {"sampling": {}, "tasks": {"requests": {"sampling": {"createMessage": {}}}}}
    feed(conn, initialize("i", D, capabilities=can))
    sent(conn)
    handle = conn.request(t.CreateMessageRequest([], 10, task=t.TaskMetadata()), timeout=5, now=0)
    assert [handle.ended_by(event) for event in conn.handle_timeout(5)] == [True]
    feed(conn, INITIALIZED)
    assert (sent(conn), conn.in_flight) == ([], ())


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("move", [False, True])
def test_nobody_answers_what_is_held_back(move: bool, revision: str) -> None:
    """Not a peer either that guesses its id."""
    conn = server(revisions=[revision])
    feed(conn, initialize("i", revision, capabilities={"roots": {}}))
    sent(conn)
    handle = conn.request(t.ListRootsRequest(), progress=True)
    if move:
        conn = ServerConnection.restore(json.loads(json.dumps(conn.snapshot())))
    guesses = [
        result(handle.id, {"roots": []}),
        error(handle.id),
        {"jsonrpc": "2.0", "id": handle.id, "result": 5},
        progress(handle.id, 1),
    ]
    events = feed(conn, *guesses)
    assert [drawn([event]) for event in events] == [["RPC-002"], ["RPC-002"], ["RPC-018"], ["PROG-001"]]
    assert not any(handle.ended_by(event) for event in events)
    feed(conn, INITIALIZED)
    assert [message["id"] for message in sent(conn)] == [handle.id]
    taken = feed(conn, progress(handle.id, 1), result(handle.id, {"roots": []}))
    assert drawn(taken) == []
    assert handle.answered_by(taken[1])


@pytest.mark.parametrize("how", ["cancel", "notify", "batch"])
def test_a_request_that_is_held_back_is_taken_back_unseen(how: str) -> None:
    conn = server(revisions=[B])
    feed(conn, initialize("i", B, capabilities={"roots": {}}))
    sent(conn)
    request_id = conn.request(t.ListRootsRequest(), timeout=5, now=0).id
    match how:
        case "cancel":
            conn.cancel(request_id)
        case "notify":
            conn.notify(t.CancelledNotification(request_id))
        case _:
            conn.send_batch([t.CancelledNotification(request_id)])
    feed(conn, INITIALIZED)
    assert (sent(conn), conn.in_flight, conn.next_deadline()) == ([], (), None)


def test_a_subscription_is_waited_for_until_it_is_acknowledged() -> None:
    conn = open_client(MODERN)
    listens = t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True))
    quiet, heard = (conn.request(listens, timeout=5, max_timeout=6, now=0) for _ in range(2))
    params = {"notifications": {}, "_meta": {SUBSCRIPTION_KEY: heard.id}}
    (event,) = feed(conn, notification("notifications/subscriptions/acknowledged", params), now=1)
    assert isinstance(event, SubscriptionAcknowledged)
    assert [event.id for event in conn.handle_timeout(1000)] == [quiet.id]  # type: ignore[union-attr]
    assert conn.in_flight == (heard.id,)


# The clock ------------------------------------------------------------------------------------------------------------


@every_revision
def test_time_does_not_run_backwards(revision: str) -> None:
    conn = open_client(revision)
    first = conn.request(t.ListToolsRequest(), timeout=10, reset_on_progress=True, now=100)
    second = conn.request(t.ListToolsRequest(), timeout=1, now=50)  # it is 100 still
    assert conn.next_deadline() == 101
    feed(conn, progress(first.id, 1), now=0)
    assert conn.next_deadline() == 101
    assert conn.handle_timeout(0) == []
    feed(conn, notification("vendor/a"), now=102)
    assert [second.ended_by(event) for event in conn.handle_timeout(60)] == [True]
    assert conn.next_deadline() == 110


@every_revision
def test_while_a_deadline_is_armed_the_time_is_needed_before_any_byte_is_taken(revision: str) -> None:
    conn = open_client(revision)
    request_id = conn.request(t.ListToolsRequest(), timeout=5, now=0).id
    sent(conn)
    before = state_of(conn)
    answer = json.dumps(tools_result(request_id, revision)).encode()
    for call in (
        lambda: conn.receive_data(answer + b"\n"),
        lambda: conn.receive_message(answer),
        lambda: conn.receive_eof(),
        lambda: conn.snapshot(),
    ):
        with pytest.raises(LocalProtocolError) as caught:
            call()
        assert caught.value.reason is Reason.NOW_REQUIRED
        assert state_of(conn) == before
    conn.receive_data(answer + b"\n", now=1)
    conn.receive_eof()  # nothing is armed any more


NO_TIMES = [float("nan"), float("inf"), -float("inf"), 10**400, 1e300, "5", True, b"", [5]]
NEGATIVE = [-1, -0.001]
BAD_TIMES = [
    *((name, bad) for name in ("timeout", "max_timeout", "now") for bad in NO_TIMES),
    *((name, bad) for name in ("timeout", "max_timeout") for bad in NEGATIVE),
]


@every_revision
@pytest.mark.parametrize(("name", "bad"), BAD_TIMES, ids=lambda value: repr(value)[:9])
def test_what_is_no_time_is_refused_and_changes_nothing(name: str, bad: Any, revision: str) -> None:
    conn = open_client(revision)
    before = state_of(conn)
    options = {"timeout": 5, "now": 7, name: bad}
    with pytest.raises(LocalProtocolError) as caught:
        conn.request(t.ListToolsRequest(), **options)
    assert caught.value.reason is Reason.INVALID_TIME
    assert state_of(conn) == before
    if name == "timeout":
        for option in ("timeout", "probe_timeout"):
            idle = client()
            with pytest.raises(LocalProtocolError):
                idle.connect(now=7, **{option: bad})
            assert state_of(idle) == state_of(client())


@pytest.mark.parametrize("bad", [None, *NO_TIMES], ids=lambda value: repr(value)[:9])
def test_a_snapshot_with_a_deadline_goes_on_only_on_a_clock(bad: Any) -> None:
    conn = open_client(D)
    conn.request(t.ListToolsRequest(), timeout=5, now=0)
    for call in (lambda: ClientConnection.restore(conn.snapshot(1), bad), lambda: conn.snapshot(bad)):
        with pytest.raises(LocalProtocolError) as caught:
            call()
        assert caught.value.reason is (Reason.NOW_REQUIRED if bad is None else Reason.INVALID_TIME)


def test_a_clock_may_start_below_zero() -> None:
    conn = open_client(D)
    conn.request(t.ListToolsRequest(), timeout=5, now=-100)
    assert conn.next_deadline() == -95


@every_revision
def test_a_request_that_is_refused_does_not_move_the_clock(revision: str) -> None:
    conn = open_client(revision)
    conn.request(t.ListToolsRequest(), timeout=5, now=10)
    for attempt in (
        lambda: conn.request(t.CallToolRequest(5), timeout=1, now=1000),  # type: ignore[arg-type]
        lambda: conn.request(t.ListToolsRequest(), timeout=-1, now=1000),
        lambda: conn.request(t.ListToolsRequest(), id=2, timeout=1, now=1000),
    ):
        with pytest.raises(LocalProtocolError):
            attempt()
    conn.request(t.ListToolsRequest(), timeout=3, now=11)
    assert conn.next_deadline() == 14


@every_revision
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"timeout": 5}, Reason.NOW_REQUIRED),
        ({"max_timeout": 5}, Reason.NOW_REQUIRED),
        ({"reset_on_progress": True, "now": 1}, Reason.INVALID_TIME),
        ({"reset_on_progress": True, "max_timeout": 5, "now": 1}, Reason.INVALID_TIME),
    ],
    ids=repr,
)
def test_a_time_out_needs_a_clock_and_a_reset_needs_a_time_out(
    options: dict[str, Any], reason: Reason, revision: str
) -> None:
    conn = open_client(revision)
    before = state_of(conn)
    with pytest.raises(LocalProtocolError) as caught:
        conn.request(t.ListToolsRequest(), **options)
    assert caught.value.reason is reason
    assert state_of(conn) == before


# The whole, against a model -------------------------------------------------------------------------------------------

whole = st.integers(0, 20).map(float)
OPERATIONS = st.one_of(
    st.tuples(st.just("request"), st.none() | whole, st.none() | whole, st.booleans()),
    st.tuples(st.just("progress"), st.integers(0, 5), st.integers(0, 9)),
    st.tuples(st.just("answer"), st.integers(0, 5)),
    st.tuples(st.just("cancel"), st.integers(0, 5)),
    st.tuples(st.just("wait"), st.integers(-5, 15).map(float)),
    st.tuples(st.just("move"), st.integers(-1000, 1000).map(float)),
)


class Model:
    """When each request of one side must end, reckoned as plainly as can be."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: dict[Any, float] = {}
        self.resets: dict[Any, tuple[float, float]] = {}
        self.told: dict[Any, float] = {}

    def request(self, key: Any, timeout: float | None, most: float | None, resets: bool) -> None:
        times = [seconds for seconds in (timeout, most) if seconds is not None]
        if times:
            self.due[key] = self.now + min(times)
        if resets and timeout is not None:
            self.resets[key] = (timeout, self.now + most if most is not None else float("inf"))

    def progress(self, key: Any, value: float) -> None:
        if value <= self.told.get(key, -1):
            return
        self.told[key] = value
        if key in self.due and key in self.resets:
            timeout, cap = self.resets[key]
            self.due[key] = min(self.now + timeout, cap)

    def pop_due(self) -> list[Any]:
        due = sorted((when, key) for key, when in self.due.items() if when <= self.now)
        for _, key in due:
            del self.due[key]
        return [key for _, key in due]


@settings(deadline=None)
@given(st.sampled_from([A, D, MODERN]), st.lists(OPERATIONS, max_size=30))
@example(D, [("request", 5.0, None, True), ("progress", 0, 1), ("move", 100.0), ("wait", 5.0)])
@example(D, [("request", 5.0, 6.0, True), ("wait", 4.0), ("progress", 0, 1), ("wait", 2.0)])
def test_requests_end_when_a_plain_reckoning_says(revision: str, operations: list[Any]) -> None:
    conn = open_client(revision)
    model = Model()
    ids: list[Any] = []
    for operation, *values in operations:
        events: list[Event] = []
        match operation, values:
            case "request", [timeout, most, resets]:
                resets = resets and timeout is not None
                ids.append(
                    conn.request(
                        t.ListToolsRequest(),
                        timeout=timeout,
                        max_timeout=most,
                        reset_on_progress=resets,
                        progress=True,
                        now=model.now,
                    ).id
                )
                model.request(ids[-1], timeout, most, resets)
            case "progress", [which, value] if ids:
                key = ids[which % len(ids)]
                if key in conn.in_flight:
                    model.progress(key, value)
                events = feed(conn, progress(key, value), now=model.now)
            case "answer", [which] if ids:
                key = ids[which % len(ids)]
                events = feed(conn, tools_result(key, revision), now=model.now)
                model.due.pop(key, None)
            case "cancel", [which] if ids:
                conn.cancel(ids[which % len(ids)])
                model.due.pop(ids[which % len(ids)], None)
            case "wait", [seconds]:
                asked = model.now + seconds
                model.now = max(model.now, asked)
                events = conn.handle_timeout(asked)
                ended = [event.id for event in events if isinstance(event, RequestTimedOut)]
                assert sorted(ended) == sorted(model.pop_due())
            case "move", [seconds]:
                conn = ClientConnection.restore(json.loads(json.dumps(conn.snapshot(model.now))), model.now + seconds)
                model.due = {key: when + seconds for key, when in model.due.items()}
                model.resets = {key: (timeout, cap + seconds) for key, (timeout, cap) in model.resets.items()}
                model.now += seconds
            case _:
                continue
        expected = min(model.due.values(), default=None)
        assert conn.next_deadline() == expected, operation
        assert set(model.due) <= set(conn.in_flight)
        assert all(key in conn.in_flight or key not in model.due for key in ids)


STEPS = st.one_of(
    st.tuples(st.just("arm"), st.integers(0, 7), st.none() | whole, st.none() | whole, st.booleans()),
    st.tuples(st.just("postpone"), st.integers(0, 7), st.just(0)),
    st.tuples(st.just("disarm"), st.integers(0, 7), st.just(0)),
    st.tuples(st.just("wait"), st.integers(0, 9), st.just(0)),
)


@settings(deadline=None)
@given(st.lists(STEPS, max_size=60), st.integers(0, 200))
def test_the_heap_is_a_plain_list_of_deadlines(steps: list[Any], before: int) -> None:
    deadlines, model = Deadlines(), Model()
    for i in range(before):  # what was armed and disarmed before makes no difference
        deadlines.arm(f"old {i}", 0.0, 1.0)
        deadlines.disarm(f"old {i}")
    for step, key, first, *rest in steps:
        match step:
            case "arm" if key not in model.due:
                most, postponable = rest
                model.resets.pop(key, None)
                model.request(key, first, most, postponable)
                deadlines.arm(key, model.now, first, most, postponable=postponable)
            case "postpone":
                if key in model.due:
                    model.told.pop(key, None)
                    model.progress(key, 1)
                deadlines.postpone(key, model.now)
            case "disarm":
                model.due.pop(key, None)
                deadlines.disarm(key)
            case "wait":
                model.now += key
                popped = []
                while (due := deadlines.pop_due(model.now)) is not None:
                    popped.append(due)
                whens = [model.due[each] for each in popped]
                assert whens == sorted(whens)
                assert sorted(popped) == sorted(model.pop_due())
        assert bool(deadlines) == bool(model.due)
        assert deadlines.next() == min(model.due.values(), default=None)


# What it costs --------------------------------------------------------------------------------------------------------


def test_many_deadlines_cost_little_each() -> None:
    def run(size: int) -> None:
        deadlines = Deadlines()
        for key in range(size):
            deadlines.arm(key, float(key), 1000.0 - key % 7, postponable=True)
            deadlines.postpone(key // 2, float(key))
            deadlines.next()
        for key in range(0, size, 2):
            deadlines.disarm(key)
            deadlines.next()
        while deadlines.pop_due(1e9) is not None:
            pass

    assert_linear(run, 2000)


def test_looking_costs_the_same_however_many_are_in_flight() -> None:
    conns: list[ServerConnection | ClientConnection] = []
    for many in (1, 1000):
        conn = open_client(D)
        for _ in range(many):
            conn.request(t.PingRequest(), timeout=50, now=0)
        conn.data_to_send()
        conns.append(conn)

    def look(conn: Connection) -> Callable[[], None]:
        def run() -> None:
            for _ in range(2000):
                conn.next_deadline()
                conn.handle_timeout(1)

        return run

    few, many_in_flight = (min(least_time(look(conn)) for _ in range(5)) for conn in conns)
    assert many_in_flight < 5 * few


def test_what_is_over_leaves_nothing_behind() -> None:
    deadlines = Deadlines()

    def turn(times: int) -> None:
        for key in range(times):
            deadlines.arm(key, 0.0, 1000.0, postponable=True)
            deadlines.postpone(key, float(key % 900))
            deadlines.disarm(key)

    turn(1000)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        turn(20_000)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 100_000


def test_a_rule_is_never_broken_by_a_time_out() -> None:
    for revision in EVERY:
        p = pair(revision)
        for timeout in range(10):
            p.client.request(t.ListToolsRequest(), timeout=timeout, progress=True, now=0)
        events = p.pump(now=0)
        for now in range(10):
            events += p.client.handle_timeout(now)
            events += p.pump(now)
        assert drawn(events) == []
        assert p.client.conversation.shared() == p.server.conversation.shared()


def test_what_is_left_when_most_were_disarmed_is_in_order() -> None:
    """Stale entries are swept out now and then, which must not disturb the order of the others."""
    deadlines = Deadlines()
    for number in range(200):
        deadlines.arm(number, 0, 1000 - number)
    for number in range(60, 199):
        deadlines.disarm(number)
    deadlines.disarm(199)
    assert [deadlines.pop_due(1000) for _ in range(61)] == [*range(59, -1, -1), None]
