"""Prompts. Source: page server/prompts."""

from __future__ import annotations

from typing import ClassVar

from ..jsonrpc import JSONObject
from .base import Notification, Payload, Result, member, payload
from .common import Icon, Role
from .content import ContentBlock
from .mrtr import InputResponseRequest
from .pagination import CacheableResult, PaginatedRequest, PaginatedResult

__all__ = [
    "GetPromptRequest",
    "GetPromptResult",
    "ListPromptsRequest",
    "ListPromptsResult",
    "Prompt",
    "PromptArgument",
    "PromptListChangedNotification",
    "PromptMessage",
]


@payload()
class PromptArgument(Payload):
    """A blank in a prompt."""

    name: str
    title: str | None = member(default=None, since="2025-06-18")
    description: str | None = member(default=None)
    required: bool | None = member(default=None)


@payload()
class Prompt(Payload):
    """A prompt, or a template for one."""

    name: str
    title: str | None = member(default=None, since="2025-06-18")
    description: str | None = member(default=None)
    arguments: list[PromptArgument] | None = member(default=None)
    icons: list[Icon] | None = member(default=None, since="2025-11-25")
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-06-18")


@payload()
class PromptMessage(Payload):
    """A message of a prompt."""

    role: Role
    content: ContentBlock


@payload()
class ListPromptsResult(PaginatedResult, CacheableResult):
    """A page of prompts."""

    prompts: list[Prompt]


@payload()
class ListPromptsRequest(PaginatedRequest[ListPromptsResult]):
    """Ask for the server's prompts."""

    method: ClassVar[str] = "prompts/list"


@payload()
class GetPromptResult(Result):
    """A prompt with its blanks filled in."""

    messages: list[PromptMessage]
    description: str | None = member(default=None)


@payload()
class GetPromptRequest(InputResponseRequest[GetPromptResult]):
    """Get a prompt."""

    method: ClassVar[str] = "prompts/get"
    name: str
    arguments: dict[str, str] | None = member(default=None)


@payload()
class PromptListChangedNotification(Notification):
    """The server's prompts have changed."""

    method: ClassVar[str] = "notifications/prompts/list_changed"
