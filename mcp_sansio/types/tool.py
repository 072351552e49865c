"""The description of a tool, which tools/list and sampling share. Source: page server/tools."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..jsonrpc import JSONObject
from .base import Payload, member, payload
from .common import Icon

__all__ = ["TaskSupport", "Tool", "ToolAnnotations", "ToolExecution"]

TaskSupport: TypeAlias = Literal["forbidden", "optional", "required"] | str


@payload(since="2025-03-26")
class ToolAnnotations(Payload):
    """Hints about a tool, no more: a client should not trust those of a server that it doesn't trust."""

    title: str | None = member(default=None)
    read_only_hint: bool | None = member(default=None)
    """It changes nothing. None means False."""
    destructive_hint: bool | None = member(default=None)
    """Its changes may destroy something. None means True."""
    idempotent_hint: bool | None = member(default=None)
    """Calling it again with the same arguments changes nothing more. None means False."""
    open_world_hint: bool | None = member(default=None)
    """It deals with things outside, such as the web. None means True."""


@payload(since="2025-11-25", until="2025-11-25")
class ToolExecution(Payload):
    """How a tool may be run."""

    task_support: TaskSupport | None = member(default=None)
    """None means "forbidden"."""


@payload()
class Tool(Payload):
    """Something that the server can do."""

    name: str
    input_schema: JSONObject
    """A JSON Schema for the arguments; its ``type`` is "object"."""
    title: str | None = member(default=None, since="2025-06-18")
    description: str | None = member(default=None)
    output_schema: JSONObject | None = member(default=None, since="2025-06-18")
    """A JSON Schema for the structured content of the result."""
    annotations: ToolAnnotations | None = member(default=None, since="2025-03-26")
    execution: ToolExecution | None = member(default=None, since="2025-11-25", until="2025-11-25")
    icons: list[Icon] | None = member(default=None, since="2025-11-25")
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-06-18")
