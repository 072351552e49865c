"""Log messages: the level is the session's (legacy) or the request's (2026-07-28), and the library filters by it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_sansio import (
    CapabilityError,
    Dropped,
    DroppedReason,
    LocalProtocolError,
    NotificationReceived,
    Reason,
    RequestAnswered,
    RequestReceived,
    Sent,
    ServerConnection,
)
from mcp_sansio import types as t

from .pair import (
    CLIENT,
    INITIALIZED,
    LEGACY,
    LOG_LEVEL_KEY,
    MODERN,
    Pair,
    drawn,
    error,
    every_legacy,
    every_revision,
    feed,
    initialize,
    modern,
    notification,
    open_server,
    pair,
    request,
    sent,
    server,
    state_of,
)

LEVELS = t.LOGGING_LEVELS
NOT_ASKED = Dropped(DroppedReason.NOT_ASKED)
levels = st.sampled_from(LEVELS)


def set_level(p: Pair, level: t.LoggingLevel) -> None:
    p.server.respond(p.open(CLIENT, t.SetLevelRequest(level)), t.EmptyResult())
    p.pump()


def wanted(level: t.LoggingLevel, least: t.LoggingLevel | None) -> bool:
    return least is None or LEVELS.index(level) >= LEVELS.index(least)


# The level of a session -----------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.sampled_from(LEGACY), st.lists(st.tuples(st.sampled_from(["set", "log", "move"]), levels), max_size=20))
def test_a_session_gets_what_is_as_severe_as_it_last_said(revision: str, steps: list[Any]) -> None:
    p = pair(revision)
    least = None
    for step, level in steps:
        match step:
            case "set":
                set_level(p, level)
                least = level
            case "move":
                p.server = ServerConnection.restore(json.loads(json.dumps(p.server.snapshot())))
            case _:
                assert p.server.log(level, {"a": 1}, logger="db") == (Sent() if wanted(level, least) else NOT_ASKED)
                told = t.LoggingMessageNotification(level, {"a": 1}, "db")
                expected = [NotificationReceived(method="notifications/message", notification=told)]
                assert p.pump() == (expected if wanted(level, least) else [])
    assert p.client.conversation.shared() == p.server.conversation.shared()


@every_legacy
def test_the_level_changes_when_it_is_granted_and_not_before(revision: str) -> None:
    p = pair(revision)
    set_level(p, "error")
    for answer in ("error", "cancel", "result"):
        request_id = p.open(CLIENT, t.SetLevelRequest("debug"))
        assert p.server.log("info", 1) == NOT_ASKED
        match answer:
            case "error":
                p.server.respond_error(request_id, -32603, "no")
            case "cancel":
                p.client.cancel(request_id)
                p.pump()
            case _:
                p.server.respond(request_id, t.EmptyResult())
        assert p.server.log("info", 1) == (Sent() if answer == "result" else NOT_ASKED)
    assert drawn(p.pump()) == []


@every_legacy
@pytest.mark.parametrize("level", ["loud", "INFO", "", 5, None])
def test_a_level_that_is_none_is_refused(level: Any, revision: str) -> None:
    """LOG-002: servers should answer -32602."""
    conn = open_server(revision)
    (event,) = feed(conn, request(1, "logging/setLevel", {"level": level}))
    assert isinstance(event, RequestAnswered)
    assert [answer["error"]["code"] for answer in sent(conn)] == [-32602]
    assert conn.conversation.session.log_level is None
    with pytest.raises(LocalProtocolError):
        pair(revision).client.request(t.SetLevelRequest(level))


@every_legacy
def test_a_message_may_come_before_the_handshake_is_done(revision: str) -> None:
    """Of requests only pings and logging are in order then (basic/lifecycle)."""
    conn = server(revisions=[revision])
    feed(conn, initialize("i", revision))
    sent(conn)
    assert conn.log("info", "starting") == Sent()
    feed(conn, INITIALIZED)
    (written,) = sent(conn)
    assert written == notification("notifications/message", {"level": "info", "data": "starting"})


def test_a_gateway_bears_a_level_that_nobody_knows() -> None:
    conn = open_server(LEGACY[-1], forwarding=True)
    feed(conn, request(1, "logging/setLevel", {"level": "loud"}))
    conn.respond(1, t.CustomResult())
    sent(conn)
    assert conn.log("debug", 1) == Sent()


# The level of a request -----------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.lists(st.none() | levels, min_size=1, max_size=4), st.lists(st.tuples(st.integers(0, 3), levels), max_size=12)
)
def test_each_request_gets_what_it_asked_for(asked: list[Any], steps: list[Any]) -> None:
    p = pair(MODERN)
    ids = [p.open(CLIENT, t.CallToolRequest("x"), log_level=least) for least in asked]
    for which, level in steps:
        which %= len(ids)
        granted = asked[which] is not None and wanted(level, asked[which])
        assert p.server.log(level, "text", related=ids[which]) == (Sent() if granted else NOT_ASKED)
        outgoing = p.server.messages_to_send()
        assert [each.related for each in outgoing] == [ids[which]] * granted
        events = [event for each in outgoing for event in p.client.receive_message(each.data)]
        told = t.LoggingMessageNotification(level, "text")
        assert events == [NotificationReceived(method="notifications/message", notification=told)] * granted
        assert p.server.log(level, "text") == NOT_ASKED  # of no request
    assert p.client.conversation.shared() == p.server.conversation.shared()


def test_nothing_comes_after_the_answer_or_the_cancel() -> None:
    p = pair(MODERN)
    answered, given_up = (p.open(CLIENT, t.CallToolRequest("x"), log_level="debug") for _ in range(2))
    p.client.cancel(given_up)
    p.pump()
    p.server.respond(answered, t.CallToolResult([]))
    assert p.server.log("alert", 1, related=given_up) == Dropped(DroppedReason.CANCELLED)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.log("alert", 1, related=answered)
    assert caught.value.reason is Reason.UNKNOWN_REQUEST
    live = p.open(CLIENT, t.CallToolRequest("x"), log_level="debug")
    p.server.receive_eof()
    assert p.server.log("alert", 1, related=live) == Dropped(DroppedReason.CLOSED)


def test_the_stream_of_a_subscription_carries_none() -> None:
    """2026-07-28, server/utilities/logging: not on a subscriptions/listen stream."""
    p = pair(MODERN)
    listens = t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True))
    request_id = p.client.request(listens, log_level="debug").id
    p.pump()
    assert p.server.log("alert", 1, related=request_id) == NOT_ASKED
    message = notification("notifications/message", {"level": "alert", "data": 1})
    assert drawn(feed(p.client, message)) == ["LOG-001"]


def test_the_level_of_a_request_is_kept_in_a_snapshot() -> None:
    p = pair(MODERN)
    request_id = p.open(CLIENT, t.CallToolRequest("x"), log_level="notice")
    again = ServerConnection.restore(json.loads(json.dumps(p.server.snapshot())))
    assert again.log("info", 1, related=request_id) == NOT_ASKED
    assert again.log("notice", 1, related=request_id) == Sent()


@every_revision
def test_only_2026_07_28_has_a_level_of_a_request(revision: str) -> None:
    conn = pair(revision).client
    before = state_of(conn)
    if revision in LEGACY:
        with pytest.raises(LocalProtocolError) as caught:
            conn.request(t.ListToolsRequest(), log_level="info")
        assert caught.value.reason is Reason.NOT_IN_REVISION
        assert state_of(conn) == before
        return
    conn.request(t.ListToolsRequest(), log_level="info")
    (written,) = sent(conn)
    assert written["params"]["_meta"][LOG_LEVEL_KEY] == "info"
    before = state_of(conn)
    for bad in ("loud", 5, ["info"]):
        with pytest.raises(LocalProtocolError) as caught:
            conn.request(t.ListToolsRequest(), log_level=bad)  # type: ignore[arg-type]
        assert caught.value.reason is Reason.INVALID_PAYLOAD
    assert state_of(conn) == before


# Both -----------------------------------------------------------------------------------------------------------------


def test_one_pipe_with_a_session_and_modern_requests() -> None:
    conn = open_server("2025-11-25")
    feed(conn, request("level", "logging/setLevel", {"level": "error"}))
    conn.respond("level", t.EmptyResult())
    feed(conn, modern("chatty", "tools/list", **{LOG_LEVEL_KEY: "debug"}), modern("quiet", "tools/list"))
    sent(conn)
    assert conn.log("info", 1) == NOT_ASKED
    assert conn.log("info", 1, related="quiet") == NOT_ASKED
    assert conn.log("emergency", 1, related="quiet") == NOT_ASKED
    assert conn.log("info", 1, related="chatty") == Sent()
    assert conn.log("error", 1) == Sent()
    assert [each.related for each in conn.messages_to_send()] == ["chatty", None]


@every_legacy
def test_a_message_about_a_request_of_a_session(revision: str) -> None:
    p = pair(revision)
    set_level(p, "error")
    request_id = p.open(CLIENT)
    assert p.server.log("info", 1, related=request_id) == NOT_ASKED
    assert p.server.log("error", 1, related=request_id) == Sent()
    assert [each.related for each in p.server.messages_to_send()] == [request_id]


@every_revision
def test_a_server_that_did_not_declare_it_does_not_log(revision: str) -> None:
    conn = open_server(revision, capabilities=t.ServerCapabilities(tools=t.ToolsCapability()))
    if revision == MODERN:
        (event,) = feed(conn, modern(1, "tools/list", **{LOG_LEVEL_KEY: "debug"}))
        assert isinstance(event, RequestReceived)
    before = state_of(conn)
    with pytest.raises(CapabilityError) as caught:
        conn.log("error", 1, related=1 if revision == MODERN else None)
    assert [violation.rule for violation in caught.value.violations] == ["CAP-004"]
    assert state_of(conn) == before


@every_revision
@pytest.mark.parametrize(
    ("level", "data"), [("loud", 1), ("INFO", 1), (5, 1), (None, 1), ("error", {1}), ("error", float("nan"))]
)
def test_what_is_no_log_message_is_refused(level: Any, data: Any, revision: str) -> None:
    p = pair(revision)
    options = {"log_level": "debug"} if revision == MODERN else {}
    request_id = p.open(CLIENT, t.CallToolRequest("x"), **options)
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.log(level, data, related=request_id)
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    assert state_of(p.server) == before


@every_revision
@pytest.mark.parametrize("data", [None, "", 0, False, [], {}, {"a": [1, {"b": None}]}], ids=repr)
def test_data_is_any_json_value(data: Any, revision: str) -> None:
    p = pair(revision)
    options = {"log_level": "debug"} if revision == MODERN else {}
    request_id = p.open(CLIENT, t.CallToolRequest("x"), **options)
    assert p.server.log("error", data, related=request_id) == Sent()
    (event,) = p.pump()
    assert isinstance(event, NotificationReceived)
    assert (event.notification, event.violations) == (t.LoggingMessageNotification("error", data), ())


def test_a_log_message_that_nobody_asked_for_is_named() -> None:
    """2026-07-28, server/utilities/logging#per-request-log-level."""
    p = pair(MODERN)
    asked = p.open(CLIENT, t.CallToolRequest("x"), log_level="error")
    message = notification("notifications/message", {"level": "info", "data": 1})
    assert drawn(feed(p.client, message)) == ["LOG-001"]
    assert drawn(feed(p.client, {**message, "params": {"level": "alert", "data": 1}})) == []
    feed(p.client, error(asked))
    assert drawn(feed(p.client, {**message, "params": {"level": "alert", "data": 1}})) == ["LOG-001"]
