"""What crosses on the way breaks no rule: a side can only know what has reached it."""

from __future__ import annotations

import pytest

from mcp_sansio import NotificationReceived, RequestReceived, ResponseIgnored, Side, UnexpectedReason
from mcp_sansio import types as t
from mcp_sansio.connection.state import Bounded

from .pair import MODERN, client, drawn, feed, notification, pair, request, sent

LOG = {"io.modelcontextprotocol/logLevel": "info"}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


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
    meta = {SUBSCRIPTION: handle.id}
    p.server.notify(t.SubscriptionsAcknowledgedNotification(t.SubscriptionFilter(tools_list_changed=True), meta=meta))
    p.server.notify(t.ToolListChangedNotification(meta=meta))
    p.server.notify(t.CancelledNotification(request_id=handle.id))
    p.client.cancel(handle.id)
    assert drawn(p.client.receive_data(p.server.data_to_send())) == []
    assert drawn(p.server.receive_data(p.client.data_to_send())) == []
    assert p.client.conversation.shared() == p.server.conversation.shared()


def test_a_level_that_nobody_knows_is_no_level_that_was_asked_for() -> None:
    p = pair(MODERN)
    p.client.request(t.CallToolRequest("slow", meta=LOG))
    p.server.receive_data(p.client.data_to_send())
    (event,) = p.client.receive_data(
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"loud","data":1}}\n'
    )
    assert event.violations == ()


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
    assert drawn(p.client.receive_data(p.server.data_to_send())) == []


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
