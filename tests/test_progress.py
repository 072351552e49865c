"""Progress from either side: through a live request that carried a token, rising, and told apart where it is not."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_sansio import (
    ClientConnection,
    Dropped,
    DroppedReason,
    Limits,
    LocalProtocolError,
    NotificationReceived,
    ProgressIgnored,
    ProgressIgnoredReason,
    ProgressReceived,
    Reason,
    ResultReceived,
    Sent,
    Side,
)
from mcp_sansio import types as t

from .pair import (
    CLIENT,
    JSON,
    MODERN,
    A,
    D,
    Pair,
    case,
    client,
    drawn,
    every_requestor,
    every_revision,
    feed,
    notification,
    open_client,
    open_server,
    pair,
    sent,
    state_of,
    tools_result,
)

UNKNOWN, LATE, REGRESSING = ProgressIgnoredReason


def reported(token: JSON, value: JSON, **more: JSON) -> JSON:
    return notification("notifications/progress", {"progressToken": token, "progress": value, **more})


def asks(revision: str, request_id: JSON, token: JSON) -> JSON:
    """A tools/list with a progress token."""
    return Pair(revision, client(), open_server(revision)).says(
        CLIENT, request_id, "tools/list", None, progressToken=token
    )


# From a live request to its requestor ---------------------------------------------------------------------------------


numbers = st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9)
NO_PROGRESS = [5, 4, 5.0, -1, "6", None, True, math.nan, math.inf, [6]]


@every_requestor
@settings(deadline=None, max_examples=20)
@given(
    values=st.lists(st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9), unique=True, min_size=1, max_size=8).map(
        sorted
    ),
    total=st.none() | st.floats(0, 1e9),
)
def test_what_one_side_reports_reaches_the_other_in_order(
    side: Side, revision: str, values: list[float], total: float | None
) -> None:
    p = pair(revision)
    request_id = p.open(side, progress=True)
    assert [p.of(side.other).progress(request_id, value, total) for value in values] == [Sent()] * len(values)
    outgoing = p.of(side.other).messages_to_send()
    assert {each.related for each in outgoing} == {request_id}
    events = [event for each in outgoing for event in p.of(side).receive_message(each.data)]
    method = "tools/list" if side is CLIENT else "roots/list"
    assert events == [
        ProgressReceived(id=request_id, method=method, notification=t.ProgressNotification(request_id, value, total))
        for value in values
    ]
    assert drawn(p.pump()) == []


@every_requestor
def test_the_token_is_the_id_whatever_that_is(side: Side, revision: str) -> None:
    p = pair(revision)
    for request_id in (0, "", "0", -1, "ü\u2028", 2**64 - 1):
        assert p.open(side, id=request_id, progress=True) == request_id
        p.of(side.other).progress(request_id, 0.5)
        (written,) = sent(p.of(side.other))
        token = written["params"]["progressToken"]
        assert (type(token), token) == (type(request_id), request_id)
        (event,) = feed(p.of(side), written)
        assert isinstance(event, ProgressReceived)
        assert (type(event.id), event.id) == (type(request_id), request_id)


@every_revision
def test_a_token_of_the_callers_own_is_kept(revision: str) -> None:
    p = pair(revision)
    request_id = p.open(CLIENT, t.ListToolsRequest(meta={"progressToken": "mine"}), progress=True)
    assert p.server.progress(request_id, 1) == Sent()
    (event,) = p.pump()
    assert isinstance(event, ProgressReceived)
    assert (event.id, event.notification.progress_token) == (request_id, "mine")


@every_revision
def test_words_where_the_revision_has_them(revision: str) -> None:
    p = pair(revision)
    request_id = p.open(CLIENT, progress=True)
    p.server.progress(request_id, 1, 2, "half way")
    (event,) = p.pump()
    assert isinstance(event, ProgressReceived)
    words = None if revision == A else "half way"
    assert event.notification == t.ProgressNotification(request_id, 1, 2, words)


# What is not sent -----------------------------------------------------------------------------------------------------


@case("progress-099")
@every_requestor
def test_only_a_live_request_that_asked_is_told(_case: str, side: Side, revision: str) -> None:
    p = pair(revision)
    us, them = p.of(side.other), p.of(side)
    silent, asked, given_up, answered = p.open(side), *(p.open(side, progress=True) for _ in range(3))
    them.cancel(given_up)
    us.respond_error(answered, 1, "no")
    p.pump()
    assert us.progress(silent, 1) == Dropped(DroppedReason.NOT_ASKED)
    assert us.progress(given_up, 1) == Dropped(DroppedReason.CANCELLED)
    for bad in (answered, "never", str(asked), True, 1.0, None):
        with pytest.raises(LocalProtocolError) as caught:
            us.progress(bad, 1)
        assert caught.value.reason is Reason.UNKNOWN_REQUEST
    assert sent(us) == []
    us.receive_eof()
    assert us.progress(asked, 1) == Dropped(DroppedReason.CLOSED)
    us.close()
    assert us.progress(asked, 1) == Dropped(DroppedReason.CLOSED)
    assert sent(us) == []


@every_revision
def test_what_ended_long_ago_is_dropped(revision: str) -> None:
    p = pair(revision, server_settings={"limits": Limits(remembered_ids=1)})
    first, _ = (p.open(CLIENT, progress=True) for _ in range(2))
    for request_id in p.server.owed:
        p.server.respond_error(request_id, 1, "no")
    assert p.server.progress(first, 1) == Dropped(DroppedReason.FORGOTTEN)


@every_requestor
@pytest.mark.parametrize("bad", NO_PROGRESS, ids=repr)
def test_progress_that_is_none_is_refused_and_changes_nothing(bad: Any, side: Side, revision: str) -> None:
    p = pair(revision)
    request_id = p.open(side, progress=True)
    us = p.of(side.other)
    us.progress(request_id, 5)
    before = state_of(us)
    with pytest.raises(LocalProtocolError) as caught:
        us.progress(request_id, bad)
    falls = type(bad) in (int, float) and bad <= 5
    assert caught.value.reason is (Reason.RULE if falls else Reason.INVALID_PAYLOAD)
    assert state_of(us) == before
    for more in ({"total": "9"}, {"total": math.nan}, *([] if revision == A else [{"message": 5}])):
        with pytest.raises(LocalProtocolError):
            us.progress(request_id, 6, **more)  # type: ignore[arg-type]
        assert state_of(us) == before
    assert us.progress(request_id, 5.5) == Sent()


# What does not fit when it arrives ------------------------------------------------------------------------------------


@case("progress-098", "progress-102")
@every_requestor
def test_unknown_late_and_regressing_are_told_apart(_case: str, side: Side, revision: str) -> None:
    p = pair(revision)
    conn = p.of(side)
    live, given_up, answered = (p.open(side, progress=True) for _ in range(3))
    timed_out = p.open(side, progress=True, timeout=5, now=0)
    conn.cancel(given_up)
    conn.handle_timeout(5)
    p.of(side.other).respond_error(answered, 1, "no")
    p.pump()
    expected: list[tuple[JSON, JSON, ProgressIgnoredReason | None, list[str]]] = [
        ("never", 1, UNKNOWN, ["PROG-001"]),
        (str(live), 1, UNKNOWN, ["PROG-004"]),
        (live, 2, None, []),
        (live, 2, REGRESSING, ["PROG-002"]),
        (live, 1.5, REGRESSING, ["PROG-002"]),
        (live, 2.5, None, []),
        (given_up, 1, LATE, []),
        (timed_out, 1, LATE, []),
        (answered, 1, LATE, ["PROG-003"]),
    ]
    for token, value, reason, rules in expected:
        (event,) = feed(conn, reported(token, value))
        assert drawn([event]) == rules
        told = t.ProgressNotification(token, value)
        if reason is None:
            assert isinstance(event, ProgressReceived)
            assert (event.id, event.notification) == (token, told)
        else:
            assert isinstance(event, ProgressIgnored)
            assert (event.reason, event.notification) == (reason, told)


@case("progress-098")
@every_revision
def test_what_may_be_forgotten_is_no_violation(_case: str, revision: str) -> None:
    conn = open_client(revision, limits=Limits(remembered_ids=2))
    ids = [conn.request(t.ListToolsRequest(), progress=True).id for _ in range(4)]
    feed(conn, *(tools_result(request_id, revision) for request_id in ids[:3]))
    events = feed(conn, *(reported(request_id, 1) for request_id in ids))
    assert [getattr(event, "reason", None) for event in events] == [UNKNOWN, LATE, LATE, None]
    assert [drawn([event]) for event in events] == [[], ["PROG-003"], ["PROG-003"], []]
    assert drawn(feed(conn, reported(str(ids[3]), 2))) == ["PROG-004"]


@every_revision
def test_a_client_of_2026_07_28_reports_no_progress(revision: str) -> None:
    conn = pair(revision).server
    (event,) = feed(conn, reported("x", 1))
    if revision == MODERN:
        assert isinstance(event, NotificationReceived)
        assert drawn([event]) == ["LIB-010"]
    else:
        assert isinstance(event, ProgressIgnored)


@case("progress-098", "ordering-105")
@settings(deadline=None)
@given(
    st.sampled_from([A, D, MODERN]),
    st.lists(
        st.tuples(st.just("progress"), st.sampled_from([0, 1, 2, "0", "x"]), st.sampled_from([0, 1, 1.5, 2, 3]))
        | st.tuples(st.sampled_from(["ask", "answer", "cancel", "move"]), st.integers(0, 2), st.just(0)),
        max_size=30,
    ),
)
@example(MODERN, [("ask", 0, 0), ("cancel", 0, 0), ("ask", 0, 0), ("progress", 0, 1), ("progress", 0, 1)])
def test_reports_in_any_order_against_a_plain_reckoning(_case: str, revision: str, steps: list[Any]) -> None:
    conn = open_client(revision)
    live: dict[Any, float | None] = {}
    over: dict[Any, bool] = {}
    ids: dict[Any, Any] = {}
    for step, key, value in steps:
        match step:
            case "ask" if key not in live:
                ids[key] = conn.request(t.ListToolsRequest(meta={"progressToken": key})).id
                live[key] = None
                over.pop(key, None)
            case "answer" if key in live:
                (answer,) = feed(conn, tools_result(ids[key], revision))
                assert isinstance(answer, ResultReceived)
                over[key] = True
                del live[key]
            case "cancel" if key in live:
                conn.cancel(ids[key])
                over[key] = False
                del live[key]
            case "move":
                conn = ClientConnection.restore(json.loads(json.dumps(conn.snapshot())))
            case "progress":
                (event,) = feed(conn, reported(key, value))
                before = live.get(key)
                if key in live and (before is None or value > before):
                    live[key] = value
                    expected: tuple[Any, list[str]] = (None, [])
                elif key in live:
                    expected = (REGRESSING, ["PROG-002"])
                elif key in over:
                    expected = (LATE, ["PROG-003"] if over[key] else [])
                else:
                    expected = (UNKNOWN, ["PROG-004"] if key == "0" and 0 in live else ["PROG-001"])
                assert (getattr(event, "reason", None), drawn([event])) == expected
            case _:
                pass


@case("progress-102")
@every_revision
def test_a_token_in_use_is_refused_whoever_chose_it(_case: str, revision: str) -> None:
    conn = open_server(revision)
    feed(conn, asks(revision, "a", 7))
    (event,) = feed(conn, asks(revision, "b", 7))
    assert drawn([event]) == ["PROG-005"]
    assert conn.progress("b", 1) == Dropped(DroppedReason.NOT_ASKED)
    feed(conn, asks(revision, "c", "7"))
    conn.respond_error("b", 1, "no")
    assert [conn.progress(request_id, 1) for request_id in ("a", "c")] == [Sent(), Sent()]
    conn.respond("a", t.ListToolsResult([]))
    (event,) = feed(conn, asks(revision, "d", 7))
    assert drawn([event]) == []
    assert conn.progress("d", 1) == Sent()
