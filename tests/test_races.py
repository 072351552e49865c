"""What crosses on the way breaks no rule: a side can only know what has reached it."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_sansio import (
    Limits,
    LocalProtocolError,
    NotificationReceived,
    Reason,
    RequestAnswered,
    RequestReceived,
    ResponseIgnored,
    Sent,
    Side,
    UnexpectedReason,
)
from mcp_sansio import types as t
from mcp_sansio.connection.state import Bounded

from .pair import MODERN, client, drawn, feed, notification, pair, request, sent

LOG = {"io.modelcontextprotocol/logLevel": "info"}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", MODERN])
def test_an_answer_that_crosses_a_cancel_is_late(revision: str) -> None:
    p = pair(revision)
    request_id = p.open(Side.CLIENT)
    p.server.respond(request_id, t.ListToolsResult([]))
    p.client.cancel(request_id)
    (event,) = p.client.receive_data(p.server.data_to_send())
    assert isinstance(event, ResponseIgnored)
    assert event.reason is UnexpectedReason.LATE
    (ignored,) = p.server.receive_data(p.client.data_to_send())
    assert isinstance(ignored, NotificationReceived)
    assert drawn([event, ignored]) == []


def test_progress_and_log_messages_that_cross_a_cancel() -> None:
    p = pair(MODERN)
    handle = p.client.request(t.CallToolRequest("slow", meta=LOG), progress=True)
    (event,) = p.server.receive_data(p.client.data_to_send())
    assert isinstance(event, RequestReceived)
    p.server.notify(t.ProgressNotification(handle.id, 1))
    p.server.notify(t.LoggingMessageNotification("warning", "slow"))
    p.client.cancel(handle.id)
    assert drawn(p.client.receive_data(p.server.data_to_send())) == []


def test_ends_of_a_subscription_that_cross() -> None:
    p = pair(MODERN)
    handle = p.client.request(t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True)))
    p.server.receive_data(p.client.data_to_send())
    assert p.server.publish(t.ToolListChangedNotification()) == 1
    p.server.notify(t.CancelledNotification(request_id=handle.id))
    assert p.client.cancel(handle.id) == Sent()
    to_client = p.client.receive_data(p.server.data_to_send())
    to_server = p.server.receive_data(p.client.data_to_send())
    assert [type(event) for event in to_client + to_server] == [NotificationReceived] * 4
    assert drawn(to_client + to_server) == []
    assert p.client.conversation.shared() == p.server.conversation.shared()


@pytest.mark.parametrize("given_up", ["cancelled", "timed out"])
@pytest.mark.parametrize("request_", [t.SetLevelRequest("error"), t.SubscribeRequest("file:///a")])
def test_what_was_given_up_but_served_has_its_effect_on_both_sides(
    request_: t.Request[t.EmptyResult], given_up: str
) -> None:
    p = pair("2025-11-25")
    handle = p.client.request(request_, timeout=1, now=0)
    p.server.receive_data(p.client.data_to_send())
    p.server.respond(handle.id, t.EmptyResult())
    if given_up == "cancelled":
        p.client.cancel(handle.id)
    else:
        p.client.handle_timeout(1)
    p.client = type(p.client).restore(p.client.snapshot())
    (late,) = p.client.receive_data(p.server.data_to_send())
    assert isinstance(late, ResponseIgnored)
    p.server.receive_data(p.client.data_to_send())
    assert p.client.conversation.shared() == p.server.conversation.shared()
    session = p.client.conversation.session
    assert (session.log_level, session.subscribed) in (("error", set()), (None, {"file:///a"}))


def test_what_was_given_up_and_refused_has_no_effect() -> None:
    p = pair("2025-11-25")
    request_id = p.open(Side.CLIENT, t.SetLevelRequest("error"))
    p.server.respond_error(request_id, -32603, "no")
    p.client.cancel(request_id)
    assert drawn(p.pump()) == []
    assert p.client.conversation.session.log_level is None
    assert p.client.conversation.shared() == p.server.conversation.shared()


def test_a_cancel_that_crosses_the_refusal_of_one_request_too_many() -> None:
    p = pair("2025-11-25", client_settings={"limits": Limits(peer_requests=1)})
    p.open(Side.SERVER)
    handle = p.server.request(t.ListRootsRequest())
    (refused,) = p.client.receive_data(p.server.data_to_send())
    assert isinstance(refused, RequestAnswered)
    assert drawn([refused]) == ["LIB-013"]
    p.server.cancel(handle.id)
    (cancelled,) = p.client.receive_data(p.server.data_to_send())
    (late,) = p.server.receive_data(p.client.data_to_send())
    assert isinstance(late, ResponseIgnored)
    assert drawn([cancelled, late]) == []


def test_a_client_knows_all_that_it_subscribed_to() -> None:
    p = pair("2025-11-25", client_settings={"limits": Limits(subscribed_uris=1)})
    for uri in ("file:///a", "file:///b"):
        p.server.respond(p.open(Side.CLIENT, t.SubscribeRequest(uri)), t.EmptyResult())
        p.pump()
    assert p.client.conversation.session.subscribed == {"file:///a", "file:///b"}


def test_a_level_that_nobody_knows_is_no_level_that_was_asked_for() -> None:
    p = pair(MODERN)
    p.client.request(t.CallToolRequest("slow", meta=LOG))
    p.server.receive_data(p.client.data_to_send())
    (event,) = p.client.receive_data(
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"loud","data":1}}\n'
    )
    assert event.violations == ()


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_we_send_no_level_that_nobody_knows(revision: str) -> None:
    p = pair(revision)
    p.client.request(t.CallToolRequest("slow", meta=LOG if revision == MODERN else None))
    p.server.receive_data(p.client.data_to_send())
    loud: Any = "loud"
    with pytest.raises(LocalProtocolError, match="the level is one of debug, info") as raised:
        p.server.notify(t.LoggingMessageNotification(loud, 1))
    assert raised.value.reason is Reason.INVALID_PAYLOAD
    assert p.server.data_to_send() == b""


def test_the_result_of_a_task_that_names_its_task_breaks_no_rule() -> None:
    p = pair("2025-11-25")
    handle = p.client.request(t.GetTaskPayloadRequest("t1"))
    p.server.receive_data(p.client.data_to_send())
    related = {"io.modelcontextprotocol/related-task": {"taskId": "t1"}}
    p.server.respond(handle.id, t.GetTaskPayloadResult(meta=related))
    (event,) = p.client.receive_data(p.server.data_to_send())
    assert handle.answered_by(event)
    assert event.violations == ()


def test_the_progress_token_of_a_task_outlives_the_answer_to_its_request() -> None:
    p = pair("2025-11-25")
    token = p.open(Side.CLIENT, t.CallToolRequest("slow", task=t.TaskMetadata()), progress=True)
    now = "2025-11-25T10:30:00Z"
    p.server.respond(token, t.CreateTaskResult(t.Task("t1", "working", now, now, None)))
    p.server.notify(t.ProgressNotification(token, 0.5))
    _, told = p.client.receive_data(p.server.data_to_send())
    assert told == NotificationReceived(
        method="notifications/progress", notification=t.ProgressNotification(token, 0.5)
    )


def test_what_was_touched_last_is_forgotten_last() -> None:
    memory: Bounded[str, int] = Bounded(2)
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        memory.remember(key, value)
    assert memory.items() == [("a", 3), ("c", 4)]
    assert memory.full


def test_a_server_may_cancel_its_ping_while_the_client_probes_with_the_same_id() -> None:
    probing = client()
    probing.connect()
    (probe,) = sent(probing)
    feed(probing, request(probe["id"], "ping"))
    ignored = feed(probing, notification("notifications/cancelled", {"requestId": probe["id"]}))
    assert drawn(ignored) == []
