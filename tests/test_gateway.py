"""The example gateway: between the example client and servers, and alone."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import mcp_sansio as mcp
from mcp_sansio import types as t

from .driving import EXAMPLES, PEERS, Era, example, stdio_client
from .pair import CLIENT_CAN, INFO, SERVER_CAN

gateway = example("gateway")
OURS = [sys.executable, str(EXAMPLES / "stdio_server.py")]
OFFICIAL = [sys.executable, str(PEERS / "mcp_server.py")]


@pytest.mark.parametrize("era", ["auto", "legacy"])
@pytest.mark.parametrize("server", [OURS, OFFICIAL], ids=["ours", "mcp"])
def test_names_change_and_nothing_else_does(server: list[str], era: Era) -> None:
    flag = ["--legacy"] if era == "legacy" else []
    command = [sys.executable, str(EXAMPLES / "gateway.py"), *flag, "mine.", *server]
    with stdio_client.StdioClient(server, era) as direct, stdio_client.StdioClient(command, era) as through:
        assert through.connection.peer_info == direct.connection.peer_info
        assert through.connection.peer_capabilities == direct.connection.peer_capabilities
        names = [tool.name for tool in direct.request(t.ListToolsRequest()).tools]
        assert [tool.name for tool in through.request(t.ListToolsRequest()).tools] == [f"mine.{n}" for n in names]
        plain = direct.request(t.CallToolRequest("add", {"a": 1, "b": 2}))
        assert through.request(t.CallToolRequest("mine.add", {"a": 1, "b": 2})) == plain


class Chain:
    """A client, a gateway and a server in memory."""

    def __init__(self, revision: str) -> None:
        era: Any = "modern" if revision == "2026-07-28" else "legacy"
        self.client = mcp.ClientConnection(INFO, CLIENT_CAN, era=era, revisions=[revision])
        self.server = mcp.ServerConnection(INFO, SERVER_CAN, revisions=[revision])
        back = mcp.ClientConnection(INFO, gateway.CLIENT_CAN, era=era, forwarding=True)
        back.connect()
        (agreed,) = (event for event in meet(back, self.server)[0] if isinstance(event, mcp.Negotiated))
        self.gateway = gateway.Gateway(gateway.front_of(back, agreed), back, "mine.")
        self.client.connect()
        self.run()

    def run(self) -> tuple[list[mcp.Event], list[mcp.Event]]:
        """Let everything arrive; gives what client and server saw."""
        front, back = self.gateway.front, self.gateway.back
        seen: tuple[list[mcp.Event], list[mcp.Event]] = ([], [])
        for _ in range(8):
            for source, target in (
                (self.client, front),
                (front, self.client),
                (back, self.server),
                (self.server, back),
            ):
                for event in target.receive_data(source.data_to_send()):
                    if target in (front, back):
                        self.gateway.pass_on(target, event)
                    else:
                        seen[0 if target is self.client else 1].append(event)
        assert all(not event.violations for event in (*seen[0], *seen[1]))
        return seen


def meet(one: mcp.Connection, other: mcp.Connection) -> tuple[list[mcp.Event], list[mcp.Event]]:
    seen: tuple[list[mcp.Event], list[mcp.Event]] = ([], [])
    for _ in range(4):
        seen[1].extend(other.receive_data(one.data_to_send()))
        seen[0].extend(one.receive_data(other.data_to_send()))
    return seen


@pytest.mark.parametrize("revision", mcp.ALL_REVISIONS)
def test_progress_errors_and_cancels_reach_the_other_side(revision: str) -> None:
    chain = Chain(revision)
    handle = chain.client.request(t.CallToolRequest("mine.slow"), progress=True)
    chain.client.request(t.ListPromptsRequest())
    _, (call, prompts) = chain.run()
    assert isinstance(call, mcp.RequestReceived)
    assert call.request == t.CallToolRequest("slow", meta=call.request.meta)
    assert isinstance(prompts, mcp.RequestReceived)
    chain.server.progress(call.id, 1, 2)
    chain.server.respond_error(prompts.id, -32603, "broken", {"why": None})
    (told, refused), _ = chain.run()
    assert isinstance(told, mcp.ProgressReceived)
    assert (told.id, told.notification.progress, told.notification.total) == (handle.id, 1, 2)
    assert isinstance(refused, mcp.ErrorReceived)
    assert refused.error == mcp.Error(-32603, "broken", {"why": None})
    chain.client.cancel(handle.id, "enough")
    _, (cancelled,) = chain.run()
    assert cancelled == mcp.RequestCancelled(id=call.id, method="tools/call", reason="enough")


def test_questions_go_the_other_way() -> None:
    chain = Chain("2025-11-25")
    asked = chain.server.request(t.ListRootsRequest())
    (question,), _ = chain.run()
    assert isinstance(question, mcp.RequestReceived)
    chain.client.respond(question.id, t.ListRootsResult([t.Root("file:///a")]))
    _, (answer,) = chain.run()
    assert asked.answered_by(answer)
    assert answer.result == t.ListRootsResult([t.Root("file:///a")])


def test_subscriptions_keep_their_changes_apart() -> None:
    chain = Chain("2026-07-28")
    chain.client.request(t.ListToolsRequest())  # so that ids differ on the two sides
    chain.client.request(t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True)), id="mine")
    (acknowledged,), (_, opened) = chain.run()
    assert isinstance(acknowledged, mcp.SubscriptionAcknowledged)
    assert isinstance(opened, mcp.SubscriptionOpened)
    assert acknowledged.id == "mine" != opened.id
    chain.server.publish(t.ToolListChangedNotification())
    (changed,), _ = chain.run()
    assert isinstance(changed, mcp.NotificationReceived)
    assert changed.subscription == "mine"
    chain.server.end_subscription(opened.id)
    (ended, *_), _ = chain.run()
    assert isinstance(ended, mcp.SubscriptionEnded)
    assert ended.id == "mine"
