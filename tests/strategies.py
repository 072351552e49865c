"""The payload classes, and the strategies of `mcp_sansio.testing` with all that a revision doesn't know."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from mcp_sansio import testing
from mcp_sansio import types as t
from mcp_sansio.types.base import Payload

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")

PAYLOADS: tuple[type[Any], ...] = tuple(
    value
    for name in t.__all__
    if isinstance(value := getattr(t, name), type) and issubclass(value, Payload) and value is not Payload
)
"""Every payload class."""

FREE = (t.CustomRequest, t.CustomNotification, t.UnknownContent)
"""Classes whose members the specification doesn't say."""

UNNAMED: dict[type[Any], tuple[str, ...]] = {
    t.RootsCapability: ("ClientCapabilities", "roots"),
    t.SamplingCapability: ("ClientCapabilities", "sampling"),
    t.ElicitationCapability: ("ClientCapabilities", "elicitation"),
    t.ClientTasksCapability: ("ClientCapabilities", "tasks"),
    t.ClientTasksRequestsCapability: ("ClientCapabilities", "tasks", "requests"),
    t.TasksSamplingCapability: ("ClientCapabilities", "tasks", "requests", "sampling"),
    t.TasksElicitationCapability: ("ClientCapabilities", "tasks", "requests", "elicitation"),
    t.PromptsCapability: ("ServerCapabilities", "prompts"),
    t.ResourcesCapability: ("ServerCapabilities", "resources"),
    t.ToolsCapability: ("ServerCapabilities", "tools"),
    t.ServerTasksCapability: ("ServerCapabilities", "tasks"),
    t.ServerTasksRequestsCapability: ("ServerCapabilities", "tasks", "requests"),
    t.TasksToolsCapability: ("ServerCapabilities", "tasks", "requests", "tools"),
    t.RequestedSchema: ("ElicitRequestFormParams", "requestedSchema"),
    t.UntitledItems: ("UntitledMultiSelectEnumSchema", "items"),
    t.TitledItems: ("TitledMultiSelectEnumSchema", "items"),
    t.EnumOption: ("TitledSingleSelectEnumSchema", "oneOf", "[]"),
}
"""Classes for what neither the schemas nor mcp-types give a name of its own: a class, and members from there on."""

json_objects = testing.json_objects()


def existing(revision: str) -> list[type[Any]]:
    """The classes with known members that the revision has."""
    return [cls for cls in PAYLOADS if cls not in FREE and t.exists(cls, revision)]


def payloads(cls: type[Any], revision: str) -> st.SearchStrategy[Any]:
    """Payloads of the class, or of its variants, with every member that the revision has, and unknown ones."""
    return testing.payloads(cls, revision, unknown=True)
