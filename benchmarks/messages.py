"""What is measured: the same messages on every run."""

from __future__ import annotations

import json
from typing import Any, Literal

import attrs

from mcp_sansio import types as t

__all__ = ["MESSAGES", "REVISION", "TOOLS", "Message", "names"]

REVISION = "2025-11-25"
"""The revision in whose terms the messages are written: the newest that both libraries speak with a handshake."""

Kind = Literal["request", "result", "notification"]


@attrs.frozen
class Message:
    """One message.

    Attributes:
        name: what the tables call it.
        kind: what it is.
        method: its method, or that of the request that it answers.
        payload: the class of its params or result.
        value: the message as JSON.
    """

    name: str
    kind: Kind
    method: str
    payload: type[t.Payload]
    value: dict[str, Any]

    @property
    def body(self) -> dict[str, Any]:
        """Params or result."""
        body: dict[str, Any] = self.value["result" if self.kind == "result" else "params"]
        return body

    @property
    def data(self) -> bytes:
        """The message as it comes in."""
        return json.dumps(self.value, separators=(",", ":"), ensure_ascii=False).encode()


def _request(name: str, payload: type[t.Payload], method: str, params: dict[str, Any]) -> Message:
    return Message(name, "request", method, payload, {"jsonrpc": "2.0", "id": 42, "method": method, "params": params})


def _result(name: str, payload: type[t.Payload], method: str, result: dict[str, Any]) -> Message:
    return Message(name, "result", method, payload, {"jsonrpc": "2.0", "id": 42, "result": result})


def _notification(name: str, payload: type[t.Payload], method: str, params: dict[str, Any]) -> Message:
    return Message(name, "notification", method, payload, {"jsonrpc": "2.0", "method": method, "params": params})


def _tool(number: int) -> dict[str, Any]:
    return {
        "name": f"search_documents_{number}",
        "title": f"Search documents {number}",
        "description": "Searches the documents of a workspace for words, and gives the best matches first.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The words to search for", "minLength": 1},
                "limit": {"type": "integer", "description": "How many to give", "minimum": 1, "maximum": 100},
                "tags": {"type": "array", "items": {"type": "string"}, "description": "Only those with all of these"},
                "sort": {"type": "string", "enum": ["relevance", "date", "title"]},
            },
            "required": ["query"],
        },
        "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
    }


TOOLS: list[dict[str, Any]] = [_tool(number) for number in range(50)]

_LINE = "It was a bright cold day in April, and the clocks were striking thirteen; nobody looked up from work.\n"

MESSAGES: tuple[Message, ...] = (
    _request(
        "tools/call request",
        t.CallToolRequest,
        "tools/call",
        {
            "name": "search_documents",
            "arguments": {
                "query": "quarterly report 2025",
                "limit": 20,
                "tags": ["finance", "internal", "final"],
                "range": {"from": "2025-01-01", "to": "2025-03-31"},
                "fuzzy": False,
                "threshold": 0.75,
            },
            "_meta": {"progressToken": 42},
        },
    ),
    _result(
        "tools/call result",
        t.CallToolResult,
        "tools/call",
        {
            "content": [{"type": "text", "text": "3 documents match: Q1 report, Q1 summary (draft), Board deck Q1"}],
            "structuredContent": {"total": 3, "ids": ["d-1041", "d-1077", "d-1102"], "truncated": False},
            "isError": False,
        },
    ),
    _result("tools/list, 50 tools", t.ListToolsResult, "tools/list", {"tools": TOOLS}),
    _result(
        "1 MB text result",
        t.CallToolResult,
        "tools/call",
        {"content": [{"type": "text", "text": _LINE * (2**20 // len(_LINE))}], "isError": False},
    ),
    _notification(
        "progress",
        t.ProgressNotification,
        "notifications/progress",
        {"progressToken": 42, "progress": 17.5, "total": 100.0, "message": "indexing"},
    ),
    _request(
        "initialize",
        t.InitializeRequest,
        "initialize",
        {
            "protocolVersion": REVISION,
            "capabilities": {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}}},
            "clientInfo": {"name": "example-client", "title": "Example", "version": "1.4.2"},
        },
    ),
)


def names() -> list[str]:
    """The names of the messages."""
    return [message.name for message in MESSAGES]
