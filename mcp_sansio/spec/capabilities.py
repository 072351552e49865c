"""Capabilities: what exists in which revision, and what a declaration means.

Source: basic/lifecycle#capability-negotiation (legacy), ``ClientCapabilities`` and ``ServerCapabilities`` in the
schema of each revision.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import attrs

from ..jsonrpc import is_object
from .revisions import Side

__all__ = ["CAPABILITIES", "NEEDS_BY_PARAMS", "Capability", "NeedByParams", "declared", "extension_capability"]


@attrs.frozen
class Capability:
    """One capability that a side can declare.

    Attributes:
        side: who declares it.
        path: where it stands in the capabilities object, dots between the names.
        since: the first revision that has it.
        until: the last revision that has it; None when it still exists.
        flag: True where the value is a boolean (``listChanged``), False where it is an object.
        implied_by_empty: declared too when its parent is the empty object (client/elicitation: ``{}`` is form).
    """

    side: Side
    path: str
    since: str = "2024-11-05"
    until: str | None = None
    flag: bool = False
    implied_by_empty: bool = False

    @property
    def name(self) -> str:
        """The key of this row: ``"server.tools.listChanged"``."""
        return f"{self.side.value}.{self.path}"

    def exists_in(self, revision: str) -> bool:
        """Whether *revision* has this capability."""
        return self.since <= revision and (self.until is None or revision <= self.until)

    def declared_by(self, capabilities: Mapping[str, Any]) -> bool:
        """Whether *capabilities*, as decoded JSON, declare it. Wrong shapes declare nothing."""
        value: Any = capabilities
        parent: Any = None
        for name in self.path.split("."):
            if not is_object(value):
                return False
            parent = value
            value = value.get(name)
        if self.implied_by_empty and parent == {}:
            return True
        return value is True if self.flag else is_object(value)


_C, _S = Side.CLIENT, Side.SERVER

CAPABILITIES: dict[str, Capability] = {
    row.name: row
    for row in (
        Capability(_C, "roots"),
        Capability(_C, "roots.listChanged", until="2025-11-25", flag=True),
        Capability(_C, "sampling"),
        Capability(_C, "sampling.context", since="2025-11-25"),
        Capability(_C, "sampling.tools", since="2025-11-25"),
        Capability(_C, "elicitation", since="2025-06-18"),
        Capability(_C, "elicitation.form", since="2025-11-25", implied_by_empty=True),
        Capability(_C, "elicitation.url", since="2025-11-25"),
        Capability(_C, "tasks", since="2025-11-25", until="2025-11-25"),
        Capability(_C, "tasks.list", since="2025-11-25", until="2025-11-25"),
        Capability(_C, "tasks.cancel", since="2025-11-25", until="2025-11-25"),
        Capability(_C, "tasks.requests.sampling.createMessage", since="2025-11-25", until="2025-11-25"),
        Capability(_C, "tasks.requests.elicitation.create", since="2025-11-25", until="2025-11-25"),
        Capability(_S, "completions", since="2025-03-26"),
        Capability(_S, "logging"),
        Capability(_S, "prompts"),
        Capability(_S, "prompts.listChanged", flag=True),
        Capability(_S, "resources"),
        Capability(_S, "resources.listChanged", flag=True),
        Capability(_S, "resources.subscribe", flag=True),
        Capability(_S, "tools"),
        Capability(_S, "tools.listChanged", flag=True),
        Capability(_S, "tasks", since="2025-11-25", until="2025-11-25"),
        Capability(_S, "tasks.list", since="2025-11-25", until="2025-11-25"),
        Capability(_S, "tasks.cancel", since="2025-11-25", until="2025-11-25"),
        Capability(_S, "tasks.requests.tools.call", since="2025-11-25", until="2025-11-25"),
    )
}


@attrs.frozen
class NeedByParams:
    """A capability that a request needs only when its params say so.

    Attributes:
        method: the request.
        member: the member of params that decides.
        values: the values that need the capability; None for any value (the member is present).
        absent: whether an absent member needs it too.
        needs: the capability, by its name in `CAPABILITIES`.
        rule: the rule that is broken without it.
        refused: whether the receiver answers an error (-32602); else it serves the request all the same.
    """

    method: str
    member: str
    needs: str
    rule: str
    values: tuple[str, ...] | None = None
    absent: bool = False
    refused: bool = True

    def applies(self, params: Mapping[str, Any]) -> bool:
        """Whether *params*, as decoded JSON, need the capability."""
        if self.member not in params:
            return self.absent
        return self.values is None or params[self.member] in self.values


NEEDS_BY_PARAMS: tuple[NeedByParams, ...] = (
    NeedByParams("sampling/createMessage", "tools", "client.sampling.tools", "CAP-008"),
    NeedByParams("sampling/createMessage", "toolChoice", "client.sampling.tools", "CAP-008"),
    NeedByParams(
        "sampling/createMessage",
        "includeContext",
        "client.sampling.context",
        "LIB-008",
        values=("thisServer", "allServers"),
        refused=False,
    ),
    NeedByParams(
        "elicitation/create",
        "mode",
        "client.elicitation.form",
        "CAP-007",
        values=("form",),
        absent=True,
    ),
    NeedByParams("elicitation/create", "mode", "client.elicitation.url", "CAP-007", values=("url",)),
    NeedByParams("tools/call", "task", "server.tasks.requests.tools.call", "TASK-005", refused=False),
    NeedByParams(
        "sampling/createMessage",
        "task",
        "client.tasks.requests.sampling.createMessage",
        "TASK-005",
        refused=False,
    ),
    NeedByParams("elicitation/create", "task", "client.tasks.requests.elicitation.create", "TASK-005", refused=False),
)


def declared(side: Side, capabilities: Mapping[str, Any], revision: str) -> frozenset[str]:
    """The names of the `CAPABILITIES` of *revision*, and of extensions, that *capabilities* (decoded JSON) declare."""
    names = {name for name, row in _rows(side, revision) if row.declared_by(capabilities)}
    extensions = capabilities.get("extensions")
    if is_object(extensions):
        names |= {extension_capability(side, name) for name, value in extensions.items() if is_object(value)}
    return frozenset(names)


def extension_capability(side: Side, name: str) -> str:
    """The name under which an extension counts as declared by *side*."""
    return f"{side.value}.extensions/{name}"


@lru_cache(maxsize=64)
def _rows(side: Side, revision: str) -> tuple[tuple[str, Capability], ...]:
    return tuple((name, row) for name, row in CAPABILITIES.items() if row.side is side and row.exists_in(revision))
