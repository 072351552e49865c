"""Sampling: the server has the client's model write something. Source: page client/sampling."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from ..jsonrpc import JSONObject
from .base import Payload, Result, member, payload
from .common import Role
from .content import SamplingMessageContentBlock
from .tasks import TaskAugmentedRequest
from .tool import Tool

__all__ = [
    "CreateMessageRequest",
    "CreateMessageResult",
    "IncludeContext",
    "ModelHint",
    "ModelPreferences",
    "SamplingMessage",
    "StopReason",
    "ToolChoice",
    "ToolChoiceMode",
]

IncludeContext: TypeAlias = Literal["none", "thisServer", "allServers"] | str
StopReason: TypeAlias = Literal["endTurn", "stopSequence", "maxTokens", "toolUse"] | str
ToolChoiceMode: TypeAlias = Literal["auto", "required", "none"] | str


@payload()
class SamplingMessage(Payload):
    """A message to or from a model."""

    role: Role
    content: SamplingMessageContentBlock | list[SamplingMessageContentBlock] = member(
        before=("2025-11-25", SamplingMessageContentBlock)
    )
    """One block; from 2025-11-25 one or a list of them."""
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-11-25")


@payload()
class ModelHint(Payload):
    """A wish for a model."""

    name: str | None = member(default=None)
    """Part of a model's name, such as ``claude-3-5-sonnet`` or ``claude``."""


@payload()
class ModelPreferences(Payload):
    """What matters to the server when the client chooses a model; each priority is from 0 to 1."""

    hints: list[ModelHint] | None = member(default=None)
    """The first that matches wins."""
    cost_priority: float | None = member(default=None)
    speed_priority: float | None = member(default=None)
    intelligence_priority: float | None = member(default=None)


@payload(since="2025-11-25")
class ToolChoice(Payload):
    """Whether the model may or must use tools."""

    mode: ToolChoiceMode | None = member(default=None)
    """None means "auto"."""


@payload(has=("model",))
class CreateMessageResult(Result):
    """What the model wrote."""

    role: Role
    content: SamplingMessageContentBlock | list[SamplingMessageContentBlock] = member(
        before=("2025-11-25", SamplingMessageContentBlock)
    )
    """One block; from 2025-11-25 one or a list of them."""
    model: str
    """The name of the model that wrote it."""
    stop_reason: StopReason | None = member(default=None)
    # In 2026-07-28 this is an input response, no result of its own: it has no resultType.
    result_type: str | None = member(default=None, kw_only=True, since="never")


@payload()
class CreateMessageRequest(TaskAugmentedRequest[CreateMessageResult]):
    """Ask the client to have its model write a message."""

    method: ClassVar[str] = "sampling/createMessage"
    messages: list[SamplingMessage]
    max_tokens: int
    model_preferences: ModelPreferences | None = member(default=None)
    system_prompt: str | None = member(default=None)
    include_context: IncludeContext | None = member(default=None)
    temperature: float | None = member(default=None)
    stop_sequences: list[str] | None = member(default=None)
    metadata: JSONObject | None = member(default=None)
    """For the provider of the model."""
    tools: list[Tool] | None = member(default=None, since="2025-11-25")
    tool_choice: ToolChoice | None = member(default=None, since="2025-11-25")
    # In 2026-07-28 this is an input request, no request of its own: it has no _meta.
    meta: JSONObject | None = member(default=None, kw_only=True, until="2025-11-25")
