"""Content blocks: what tools, prompts and sampling messages hold.

A content block that this library or the revision in force doesn't know arrives as `UnknownContent`, so that
one of them doesn't spoil a list.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from ..jsonrpc import ABSENT, JSONObject
from .base import Payload, member, payload
from .common import Annotations, Icon

__all__ = [
    "AudioContent",
    "BlobResourceContents",
    "ContentBlock",
    "EmbeddedResource",
    "ImageContent",
    "ResourceLink",
    "SamplingMessageContentBlock",
    "TextContent",
    "TextResourceContents",
    "ToolResultContent",
    "ToolUseContent",
    "UnknownContent",
]


@payload(has=("text",))
class TextResourceContents(Payload):
    """A resource, or a part of one, that is text."""

    uri: str
    text: str
    mime_type: str | None = member(default=None)
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-06-18")


@payload(has=("blob",))
class BlobResourceContents(Payload):
    """A resource, or a part of one, that is binary."""

    uri: str
    blob: str
    """Base64."""
    mime_type: str | None = member(default=None)
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-06-18")


@payload()
class TextContent(Payload):
    """Text."""

    text: str
    annotations: Annotations | None = member(default=None)
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-06-18")
    type: Literal["text"] = "text"


@payload()
class ImageContent(Payload):
    """An image."""

    data: str
    """Base64."""
    mime_type: str
    annotations: Annotations | None = member(default=None)
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-06-18")
    type: Literal["image"] = "image"


@payload(since="2025-03-26")
class AudioContent(Payload):
    """Sound."""

    data: str
    """Base64."""
    mime_type: str
    annotations: Annotations | None = member(default=None)
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-06-18")
    type: Literal["audio"] = "audio"


@payload(since="2025-06-18")
class ResourceLink(Payload):
    """A resource that the server can read, named instead of embedded."""

    name: str
    uri: str
    title: str | None = member(default=None)
    description: str | None = member(default=None)
    mime_type: str | None = member(default=None)
    size: int | None = member(default=None)
    """Bytes, before any encoding."""
    annotations: Annotations | None = member(default=None)
    icons: list[Icon] | None = member(default=None, since="2025-11-25")
    meta: JSONObject | None = member(default=None, kw_only=True)
    type: Literal["resource_link"] = "resource_link"


@payload()
class EmbeddedResource(Payload):
    """A resource with its contents."""

    resource: TextResourceContents | BlobResourceContents
    annotations: Annotations | None = member(default=None)
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-06-18")
    type: Literal["resource"] = "resource"


@payload(since="2025-11-25")
class ToolUseContent(Payload):
    """In sampling: the model wants a tool called."""

    id: str
    """Names this call; the `ToolResultContent` that answers it repeats it."""
    name: str
    input: JSONObject
    meta: JSONObject | None = member(default=None, kw_only=True)
    type: Literal["tool_use"] = "tool_use"


@payload()
class UnknownContent(Payload):
    """A content block of a type that the revision in force lacks. It is written as it came."""

    type: str
    data: JSONObject
    """The whole object, ``type`` included."""


ContentBlock: TypeAlias = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownContent
"""What tool results and prompt messages hold. Audio since 2025-03-26, resource links since 2025-06-18."""


@payload(since="2025-11-25")
class ToolResultContent(Payload):
    """In sampling: what came of the call that a `ToolUseContent` asked for."""

    tool_use_id: str
    content: list[ContentBlock]
    structured_content: Any = member(default=ABSENT, before=("2026-07-28", JSONObject))
    """An object; from 2026-07-28 any JSON value, null included."""
    is_error: bool | None = member(default=None)
    meta: JSONObject | None = member(default=None, kw_only=True)
    type: Literal["tool_result"] = "tool_result"


SamplingMessageContentBlock: TypeAlias = (
    TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent | UnknownContent
)
"""What sampling messages hold. Tool use and results since 2025-11-25."""
