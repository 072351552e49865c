"""Capabilities: what each side can do. Unknown members are kept in ``extra`` at every level.

A capability without members of its own is a JSON object; given, even empty, it is declared.
Source: pages basic/lifecycle, and server/discover of 2026-07-28.
"""

from __future__ import annotations

from ..jsonrpc import JSONObject
from .base import Payload, member, payload

__all__ = [
    "ClientCapabilities",
    "ClientTasksCapability",
    "ClientTasksRequestsCapability",
    "ElicitationCapability",
    "PromptsCapability",
    "ResourcesCapability",
    "RootsCapability",
    "SamplingCapability",
    "ServerCapabilities",
    "ServerTasksCapability",
    "ServerTasksRequestsCapability",
    "TasksElicitationCapability",
    "TasksSamplingCapability",
    "TasksToolsCapability",
    "ToolsCapability",
]


@payload()
class RootsCapability(Payload):
    """The client has roots."""

    list_changed: bool | None = member(default=None, until="2025-11-25")
    """It tells of changes."""
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload()
class SamplingCapability(Payload):
    """The client has a model."""

    context: JSONObject | None = member(default=None, since="2025-11-25")
    """It knows ``include_context`` other than "none"."""
    tools: JSONObject | None = member(default=None, since="2025-11-25")
    """It knows ``tools`` and ``tool_choice``."""
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload(since="2025-06-18")
class ElicitationCapability(Payload):
    """The client can ask its user. Empty means forms only."""

    form: JSONObject | None = member(default=None, since="2025-11-25")
    url: JSONObject | None = member(default=None, since="2025-11-25")
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload(since="2025-11-25", until="2025-11-25")
class TasksSamplingCapability(Payload):
    """Sampling as a task."""

    create_message: JSONObject | None = member(default=None)
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload(since="2025-11-25", until="2025-11-25")
class TasksElicitationCapability(Payload):
    """Elicitation as a task."""

    create: JSONObject | None = member(default=None)
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload(since="2025-11-25", until="2025-11-25")
class TasksToolsCapability(Payload):
    """Tool calls as tasks."""

    call: JSONObject | None = member(default=None)
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload(since="2025-11-25", until="2025-11-25")
class ClientTasksRequestsCapability(Payload):
    """Which requests the client makes tasks."""

    sampling: TasksSamplingCapability | None = member(default=None)
    elicitation: TasksElicitationCapability | None = member(default=None)
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload(since="2025-11-25", until="2025-11-25")
class ServerTasksRequestsCapability(Payload):
    """Which requests the server makes tasks."""

    tools: TasksToolsCapability | None = member(default=None)
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload(since="2025-11-25", until="2025-11-25")
class ClientTasksCapability(Payload):
    """The client has tasks."""

    list: JSONObject | None = member(default=None)
    cancel: JSONObject | None = member(default=None)
    requests: ClientTasksRequestsCapability | None = member(default=None)
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload(since="2025-11-25", until="2025-11-25")
class ServerTasksCapability(Payload):
    """The server has tasks."""

    list: JSONObject | None = member(default=None)
    cancel: JSONObject | None = member(default=None)
    requests: ServerTasksRequestsCapability | None = member(default=None)
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload()
class PromptsCapability(Payload):
    """The server has prompts."""

    list_changed: bool | None = member(default=None)
    """It tells of changes."""
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload()
class ResourcesCapability(Payload):
    """The server has resources."""

    subscribe: bool | None = member(default=None)
    """It tells of changes of single resources."""
    list_changed: bool | None = member(default=None)
    """It tells of changes of the list."""
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload()
class ToolsCapability(Payload):
    """The server has tools."""

    list_changed: bool | None = member(default=None)
    """It tells of changes."""
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload()
class ClientCapabilities(Payload):
    """What a client can do."""

    experimental: dict[str, JSONObject] | None = member(default=None)
    roots: RootsCapability | None = member(default=None)
    sampling: SamplingCapability | None = member(default=None)
    elicitation: ElicitationCapability | None = member(default=None, since="2025-06-18")
    tasks: ClientTasksCapability | None = member(default=None, since="2025-11-25", until="2025-11-25")
    extensions: dict[str, JSONObject] | None = member(default=None, since="2026-07-28")
    extra: JSONObject = member(factory=dict, kw_only=True)


@payload()
class ServerCapabilities(Payload):
    """What a server can do."""

    experimental: dict[str, JSONObject] | None = member(default=None)
    logging: JSONObject | None = member(default=None)
    completions: JSONObject | None = member(default=None, since="2025-03-26")
    prompts: PromptsCapability | None = member(default=None)
    resources: ResourcesCapability | None = member(default=None)
    tools: ToolsCapability | None = member(default=None)
    tasks: ServerTasksCapability | None = member(default=None, since="2025-11-25", until="2025-11-25")
    extensions: dict[str, JSONObject] | None = member(default=None, since="2026-07-28")
    extra: JSONObject = member(factory=dict, kw_only=True)
