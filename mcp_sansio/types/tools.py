"""Tools. Source: page server/tools."""

from __future__ import annotations

from typing import Any, ClassVar

from ..jsonrpc import ABSENT, JSONObject
from .base import Notification, Result, member, payload
from .content import ContentBlock
from .mrtr import InputResponseRequest
from .pagination import CacheableResult, PaginatedRequest, PaginatedResult
from .tasks import TaskAugmentedRequest
from .tool import Tool

__all__ = [
    "CallToolRequest",
    "CallToolResult",
    "ListToolsRequest",
    "ListToolsResult",
    "ToolListChangedNotification",
]


@payload()
class ListToolsResult(PaginatedResult, CacheableResult):
    """A page of tools."""

    tools: list[Tool]


@payload()
class ListToolsRequest(PaginatedRequest[ListToolsResult]):
    """Ask for the server's tools."""

    method: ClassVar[str] = "tools/list"


@payload()
class CallToolResult(Result):
    """What came of a call. Errors of the tool itself are results too, with ``is_error``."""

    content: list[ContentBlock]
    structured_content: Any = member(default=ABSENT, since="2025-06-18", before=("2026-07-28", JSONObject))
    """An object; from 2026-07-28 any JSON value, null included."""
    is_error: bool | None = member(default=None)


@payload()
class CallToolRequest(InputResponseRequest[CallToolResult], TaskAugmentedRequest[CallToolResult]):
    """Call a tool."""

    method: ClassVar[str] = "tools/call"
    name: str
    arguments: JSONObject | None = member(default=None)


@payload()
class ToolListChangedNotification(Notification):
    """The server's tools have changed."""

    method: ClassVar[str] = "notifications/tools/list_changed"
