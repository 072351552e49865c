"""Types that several pages share. Source: pages basic/index and server/index of each revision."""

from __future__ import annotations

from typing import Literal, TypeAlias

from .base import Payload, member, payload

__all__ = ["Annotations", "CacheScope", "Cursor", "Icon", "IconTheme", "Role"]

# An alias ``Literal[...] | str`` is an enum whose unknown values, from newer peers, arrive as they are.
Role: TypeAlias = Literal["user", "assistant"] | str
IconTheme: TypeAlias = Literal["light", "dark"] | str
CacheScope: TypeAlias = Literal["public", "private"] | str
"""Who may cache a result: anybody, or only the one who asked."""

Cursor: TypeAlias = str
"""An opaque position in a list; the empty string is one too."""


@payload()
class Annotations(Payload):
    """Hints for the client on how to use an object."""

    audience: list[Role] | None = member(default=None)
    priority: float | None = member(default=None)
    """From 0, entirely optional, to 1, effectively required."""
    last_modified: str | None = member(default=None, since="2025-06-18")
    """ISO 8601."""


@payload(since="2025-11-25")
class Icon(Payload):
    """An image to show for something."""

    src: str
    """An ``https:`` or ``data:`` URI."""
    mime_type: str | None = member(default=None)
    sizes: list[str] | None = member(default=None)
    """Such as ``48x48``, or ``any``."""
    theme: IconTheme | None = member(default=None)
