"""A whole tools/call, from the caller's arguments to the typed result, in memory."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

import mcp_types
from mcp.client import Client
from mcp.server import Server, ServerRequestContext

from mcp_sansio import ClientConnection, Codec, RequestReceived, ResultReceived, ServerConnection
from mcp_sansio import types as t

__all__ = ["Connections", "Sdk"]

_ARGUMENTS = {"name": "world", "greeting": "Hello", "repeat": 1}
_MODERN = "2026-07-28"


class Connections:
    """A client and a server of mcp_sansio. Each call crosses as bytes, there and back."""

    def __init__(self, revision: str, codec: Codec) -> None:
        self.client = ClientConnection(
            t.Implementation("client", "1.0"),
            era="modern" if revision == _MODERN else "legacy",
            revisions=[revision],
            codec=codec,
        )
        self.server = ServerConnection(
            t.Implementation("server", "1.0"), t.ServerCapabilities(tools=t.ToolsCapability()), codec=codec
        )
        self.client.connect()
        while data := self.client.data_to_send():
            self.server.receive_data(data)
            self.client.receive_data(self.server.data_to_send())
        assert self.client.revision == revision

    def call(self) -> t.CallToolResult:
        """One call."""
        client, server = self.client, self.server
        handle = client.request(t.CallToolRequest("greet", _ARGUMENTS))
        (asked,) = server.receive_data(client.data_to_send())
        assert isinstance(asked, RequestReceived)
        server.respond(asked.id, t.CallToolResult([t.TextContent("Hello, world!")]))
        (answered,) = client.receive_data(server.data_to_send())
        assert isinstance(answered, ResultReceived)
        assert answered.id == handle.id
        result: t.CallToolResult = answered.result
        return result


async def _list_tools(
    context: ServerRequestContext[Any], params: mcp_types.PaginatedRequestParams | None
) -> mcp_types.ListToolsResult:
    return mcp_types.ListToolsResult(tools=[mcp_types.Tool(name="greet", input_schema={"type": "object"})])


async def _call_tool(
    context: ServerRequestContext[Any], params: mcp_types.CallToolRequestParams
) -> mcp_types.CallToolResult:
    return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text="Hello, world!")])


class Sdk:
    """A client and a low-level server of mcp, the official SDK. Nothing becomes bytes.

    In a legacy session they talk JSON-RPC over memory streams; in the modern era the client calls the server directly.
    """

    def __init__(self, *, modern: bool) -> None:
        self._mode = _MODERN if modern else "legacy"
        self._loop = asyncio.new_event_loop()
        self._client: Client | None = None
        self._done = asyncio.Event()
        self._ready = asyncio.Event()

    def __enter__(self) -> Sdk:
        self._task = self._loop.create_task(self._serve())
        ready = self._loop.create_task(self._ready.wait())
        self._loop.run_until_complete(asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED))
        if self._task.done():
            ready.cancel()
            self._task.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._loop.run_until_complete(self._task)
        self._loop.close()

    def run(self, times: int) -> None:
        """That many calls."""
        self._loop.run_until_complete(self._calls(times))

    async def _serve(self) -> None:
        server: Server[Any] = Server("server", version="1.0", on_list_tools=_list_tools, on_call_tool=_call_tool)
        async with Client(server, mode=self._mode, cache=None) as client:
            await client.list_tools()  # a call looks up the tool's output schema; it is known from now on
            self._client = client
            self._ready.set()
            await self._done.wait()

    async def _calls(self, times: int) -> None:
        client = self._client
        assert client is not None
        for _ in range(times):
            await client.call_tool("greet", _ARGUMENTS)
