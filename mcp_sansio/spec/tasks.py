"""How the status of a task may change, and how messages name their task.

Source: basic/utilities/tasks#task-status-lifecycle of 2025-11-25.
"""

from __future__ import annotations

__all__ = ["NEXT_STATUS", "RELATED_TASK"]

RELATED_TASK = "io.modelcontextprotocol/related-task"

_TERMINAL = frozenset({"completed", "failed", "cancelled"})

NEXT_STATUS: dict[str, frozenset[str]] = {
    "working": _TERMINAL | {"input_required"},
    "input_required": _TERMINAL | {"working"},
    "completed": frozenset(),
    "failed": frozenset(),
    "cancelled": frozenset(),
}
"""The statuses that may follow each; staying the same is no change."""
