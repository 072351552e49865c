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

json_objects = testing.json_objects()


def existing(revision: str) -> list[type[Any]]:
    """The classes with known members that the revision has."""
    return [cls for cls in PAYLOADS if cls not in FREE and t.exists(cls, revision)]


def payloads(cls: type[Any], revision: str) -> st.SearchStrategy[Any]:
    """Payloads of the class, or of its variants, with every member that the revision has, and unknown ones."""
    return testing.payloads(cls, revision, unknown=True)
