"""The pages that are drawn from tables are what these are now, and the tables what connections do."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from types import ModuleType
from typing import Any

import pytest

from mcp_sansio import ClientConnection, ConnectionState, Event, Handle, LocalProtocolError, ResponseIgnored, Side
from mcp_sansio import types as t
from mcp_sansio.connection.events import ENDS
from mcp_sansio.connection.state import STANDING_AFTER, End
from mcp_sansio.connection.states import FIRST_STATE, NEXT_STATE, Turn

from .driving import ROOT
from .pair import (
    LEGACY,
    MODERN,
    SUBSCRIPTION_KEY,
    client,
    error,
    feed,
    initialize_result,
    notification,
    open_client,
    result,
    sent,
    server,
    tools_result,
)


def script(name: str) -> ModuleType:
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_diagrams_are_drawn_from_the_tables_as_they_are() -> None:
    draw_states = script("draw_states")
    drawn = draw_states.PAGE.read_text(encoding="utf-8")
    assert drawn == draw_states.page(), "stale: run python docs/draw_states.py"


# What the diagrams say of connections ---------------------------------------------------------------------------------


def take(conn: Any, turn: Turn) -> None:
    """Let a turn happen, if it can."""
    match turn:
        case Turn.CONNECT:
            conn.connect()
        case Turn.ESTABLISHED:
            feed(conn, initialize_result())
        case Turn.FAILED:
            feed(conn, error(1))
        case Turn.EOF:
            conn.receive_eof()
        case Turn.CLOSE:
            conn.close()


PATHS: dict[Side, dict[ConnectionState, list[Turn]]] = {
    Side.CLIENT: {
        ConnectionState.IDLE: [],
        ConnectionState.CONNECTING: [Turn.CONNECT],
        ConnectionState.OPEN: [Turn.CONNECT, Turn.ESTABLISHED],
        ConnectionState.FAILED: [Turn.CONNECT, Turn.FAILED],
        ConnectionState.CLOSING: [Turn.EOF],
        ConnectionState.CLOSED: [Turn.CLOSE],
    },
    Side.SERVER: {
        ConnectionState.OPEN: [],
        ConnectionState.CLOSING: [Turn.EOF],
        ConnectionState.CLOSED: [Turn.CLOSE],
    },
}
"""How a side comes to each state that it can come to."""


@pytest.mark.parametrize(("side", "state"), [(side, state) for side, paths in PATHS.items() for state in paths])
@pytest.mark.parametrize("turn", Turn)
def test_states_follow_each_other_as_the_table_says(side: Side, state: ConnectionState, turn: Turn) -> None:
    if side is Side.SERVER and turn is Turn.CONNECT:
        return  # a server has no such call
    conn = client("legacy") if side is Side.CLIENT else server()
    assert conn.state is FIRST_STATE[side]
    for before in PATHS[side][state]:
        take(conn, before)
    assert conn.state is state
    try:
        take(conn, turn)
    except LocalProtocolError:
        assert (state, turn) not in NEXT_STATE
    assert conn.state is NEXT_STATE.get((state, turn), state)


def in_flight(revision: str, request: t.Request[Any], **options: Any) -> tuple[ClientConnection, Handle[Any]]:
    """A client with a request in flight."""
    conn = open_client(revision, {"tools": {"listChanged": True}, "tasks": {"requests": {"tools": {"call": {}}}}})
    handle = conn.request(request, now=0.0, timeout=5, **options)
    sent(conn)
    return conn, handle


LISTEN = t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True))
TASK = t.CallToolRequest("add", task=t.TaskMetadata())


def endings() -> list[tuple[ClientConnection, Handle[Any], list[Event]]]:
    """Every way in which a request can end: the client, the request, and what the client is told."""
    happened: list[tuple[ClientConnection, Handle[Any], list[Event]]] = []

    def ended(conn: ClientConnection, handle: Handle[Any], events: list[Event]) -> None:
        happened.append((conn, handle, events))

    for revision in (*LEGACY, MODERN):
        listing = t.ListToolsRequest()
        for answer in (
            lambda id, revision=revision: tools_result(id, revision),
            error,
            lambda id: result(id, {"tools": 5}),
        ):
            conn, handle = in_flight(revision, listing)
            ended(conn, handle, feed(conn, answer(handle.id), now=1.0))
        conn, handle = in_flight(revision, listing)
        ended(conn, handle, conn.handle_timeout(5.0))
        conn, handle = in_flight(revision, listing)
        ended(conn, handle, conn.receive_eof(now=1.0))
        conn, handle = in_flight(revision, listing)
        ended(conn, handle, conn.close())
        for answered in (False, True):
            conn, handle = in_flight(revision, listing)
            ended(conn, handle, conn.lose_request(handle.id, "HTTP 502", answered=answered, now=1.0))
    conn, handle = in_flight("2025-11-25", TASK)
    ended(conn, handle, conn.handle_timeout(5.0))
    conn, handle = in_flight(MODERN, t.CallToolRequest("add"))
    asks = {"resultType": "input_required", "requestState": "x"}
    ended(conn, handle, feed(conn, result(handle.id, asks), now=1.0))
    conn, handle = in_flight(MODERN, LISTEN)
    over = {"resultType": "complete", "_meta": {SUBSCRIPTION_KEY: handle.id}}
    ended(conn, handle, feed(conn, result(handle.id, over), now=1.0))
    conn, handle = in_flight(MODERN, LISTEN)
    ended(conn, handle, feed(conn, notification("notifications/cancelled", {"requestId": handle.id}), now=1.0))
    return happened


def test_requests_end_as_the_table_says() -> None:
    seen: dict[type[Any], set[End | None]] = defaultdict(set)
    for conn, handle, events in endings():
        (event,) = filter(handle.ended_by, events)
        seen[type(event)].add(conn.conversation.ended(Side.CLIENT, handle.id))
    assert seen == {event: set(ends) for event, ends in ENDS.items()}


def test_responses_after_the_end_are_ignored_as_the_table_says() -> None:
    for conn, handle, _ in endings():
        how = conn.conversation.ended(Side.CLIENT, handle.id)
        assert how is not None
        if conn.state is not ConnectionState.OPEN:
            continue  # where nothing comes any more
        (event,) = feed(conn, error(handle.id), now=6.0)
        assert isinstance(event, ResponseIgnored)
        assert event.reason.value == STANDING_AFTER[how].value
