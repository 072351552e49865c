"""The example client and server with peers that others wrote: the official SDKs, and servers made with them.

Where a peer breaks no rule, no event may say that it does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import attrs
import pytest

import mcp_sansio as mcp
from mcp_sansio import types as t

from .driving import EXAMPLES, MEGABYTE, PEERS, Era, Recorder, listed, npm_peers, stdio_client

OFFICIAL_CLIENT = [sys.executable, "-W", "error", str(PEERS / "mcp_client.py")]


@attrs.frozen
class Server:
    """A server that somebody else wrote, and what is known of it."""

    name: str
    command: Callable[[], list[str]]
    info: str
    modern: bool
    lists: dict[str, list[str]]
    good: tuple[t.CallToolRequest, str]
    """A call, and what its text contains."""
    bad: t.CallToolRequest
    """A call with arguments of the wrong type."""
    big: t.CallToolRequest
    """A call with an argument of a megabyte."""


def everything() -> list[str]:
    """The command of server-everything."""
    return ["node", str(npm_peers() / "server-everything" / "dist" / "index.js"), "stdio"]


SERVERS = (
    Server(
        name="MCPServer",
        command=lambda: [sys.executable, str(PEERS / "mcp_server.py")],
        info="official",
        modern=True,
        lists={
            "tools": ["add", "length"],
            "resources": ["greeting"],
            "resource_templates": ["personal"],
            "prompts": ["greet"],
        },
        good=(t.CallToolRequest("add", {"a": 1, "b": 2}), "3"),
        bad=t.CallToolRequest("add", {"a": "one", "b": 2}),
        big=t.CallToolRequest("length", {"text": MEGABYTE}),
    ),
    Server(
        name="mcp-server-time",
        command=lambda: [sys.executable, "-m", "mcp_server_time"],
        info="mcp-time",
        modern=True,
        lists={"tools": ["get_current_time", "convert_time"]},
        good=(t.CallToolRequest("get_current_time", {"timezone": "Europe/Oslo"}), "Europe/Oslo"),
        bad=t.CallToolRequest("get_current_time", {"timezone": 7}),
        big=t.CallToolRequest("get_current_time", {"timezone": "Europe/Oslo", "ignored": MEGABYTE}),
    ),
    Server(
        name="server-everything",
        command=everything,
        info="mcp-servers/everything",
        modern=False,
        lists={
            "tools": ["echo", "get-sum"],
            "resources": ["architecture.md"],
            "resource_templates": ["Dynamic Text Resource"],
            "prompts": ["simple-prompt"],
        },
        good=(t.CallToolRequest("get-sum", {"a": 1, "b": 2}), "3"),
        bad=t.CallToolRequest("get-sum", {"a": "one", "b": 2}),
        big=t.CallToolRequest("echo", {"message": MEGABYTE}),
    ),
)


def text_of(result: t.CallToolResult) -> str:
    """The text of a tool's result."""
    content = result.content[0]
    assert isinstance(content, t.TextContent)
    return content.text


@pytest.mark.parametrize("era", ["legacy", "auto"])
@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_our_client(server: Server, era: Era) -> None:
    with Recorder(server.command(), era) as client:
        modern = server.modern and era == "auto"
        assert client.connection.revision == ("2026-07-28" if modern else "2025-11-25")
        assert client.connection.peer_info is not None
        assert client.connection.peer_info.name == server.info

        for member, kind in stdio_client.LISTS.items():
            if client.connection.can_send(kind.method):
                assert set(server.lists.get(member, ())) <= set(listed(client, member))
            else:
                assert member not in server.lists

        call, text = server.good
        assert text in text_of(client.request(call))
        assert client.request(server.bad).is_error
        assert not client.request(server.big).is_error
        assert client.refusal(t.CustomRequest("none/such")).code == mcp.ErrorCode.METHOD_NOT_FOUND
        assert text in text_of(client.request(call))
        client.end()
    assert client.violations == []
    odd = (mcp.MessageInvalid, mcp.ResponseIgnored, mcp.AnswerInvalid)
    assert [event for event in client.events if isinstance(event, odd)] == []


class Helpful(Recorder):
    """A client with a user and a model to ask."""

    def on_event(self, event: mcp.Event) -> None:
        self.events.append(event)
        match event:
            case mcp.RequestReceived(id=request_id, request=t.ListRootsRequest()):
                self.connection.respond(request_id, t.ListRootsResult([t.Root("file:///srv/data", "data")]))
            case mcp.RequestReceived(id=request_id, request=t.CreateMessageRequest()):
                content = t.TextContent("The model says hello.")
                self.connection.respond(request_id, t.CreateMessageResult("assistant", content, "a-model"))
            case mcp.RequestReceived(id=request_id, request=t.ElicitRequestFormParams()):
                self.connection.respond(request_id, t.ElicitResult("decline"))


def test_our_client_answers_a_real_server() -> None:
    capabilities = t.ClientCapabilities(
        roots=t.RootsCapability(), sampling=t.SamplingCapability(), elicitation=t.ElicitationCapability()
    )
    connection = mcp.ClientConnection(t.Implementation("helpful", "1"), capabilities)
    with Helpful(everything(), connection=connection) as client:
        sampled = client.request(t.CallToolRequest("trigger-sampling-request", {"prompt": "Say hello"}))
        assert "The model says hello." in text_of(sampled)
        declined = client.request(t.CallToolRequest("trigger-elicitation-request"))
        assert "declined" in text_of(declined)
        rooted = client.request(t.CallToolRequest("get-roots-list"))
        assert "file:///srv/data" in text_of(rooted)
        steps = {"duration": 0.1, "steps": 3}
        client.request(t.CallToolRequest("trigger-long-running-operation", steps, meta={"progressToken": "p"}))
        client.end()
    assert [e.notification.progress for e in client.events if isinstance(e, mcp.ProgressReceived)] == [1, 2, 3]
    assert client.violations == []


def got(command: list[str]) -> dict[str, Any]:
    """What a client that somebody else wrote says that it got from the example server."""
    serve = f"import runpy, sys; runpy.run_path({str(EXAMPLES / 'stdio_server.py')!r}, run_name='__main__')"
    server = [sys.executable, "-c", f"{serve}; print('exited by itself', file=sys.stderr)"]
    done = subprocess.run([*command, *server], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "exited by itself\n"), done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def expected(revision: str) -> dict[str, Any]:
    """What it should have got."""
    return {
        "revision": revision,
        "server": "example",
        "tools": ["add", "echo"],
        "resources": ["cities"],
        "templates": ["city"],
        "prompts": ["describe"],
        "sum": "3",
        "bad": [True, "a and b must be numbers"],
        "big": len(MEGABYTE),
        "resource": "Oslo lies on a fjord.",
        "prompt": "Describe Oslo.",
        "completed": ["oslo"],
        "unknown tool": mcp.ErrorCode.INVALID_PARAMS,
        "unknown resource": mcp.ErrorCode.INVALID_PARAMS if revision == "2026-07-28" else -32002,
        "unknown method": mcp.ErrorCode.METHOD_NOT_FOUND,
    }


@pytest.mark.parametrize(("mode", "revision"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_the_official_client(mode: str, revision: str) -> None:
    assert got([*OFFICIAL_CLIENT, mode]) == expected(revision)


def test_the_typescript_client() -> None:
    assert got(["node", str(PEERS / "ts_client.mjs"), str(npm_peers() / "sdk")]) == expected("2025-11-25")
