"""The revisions of the protocol, their eras, and the two sides of a conversation.

Source: basic/versioning of 2026-07-28 (eras), basic/lifecycle of the older revisions.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

import attrs

__all__ = [
    "ALL_REVISIONS",
    "LATEST_LEGACY",
    "LATEST_MODERN",
    "LEGACY_REVISIONS",
    "MODERN_REVISIONS",
    "REVISIONS",
    "Era",
    "Revision",
    "Side",
    "is_modern",
    "newest",
    "of_era",
]


class Side(Enum):
    """One of the two sides of a conversation."""

    CLIENT = "client"
    SERVER = "server"

    __hash__ = object.__hash__  # Enum's own is written in Python, and sides are looked up all the time

    @property
    def other(self) -> Side:
        """The opposite side."""
        return Side.SERVER if self is Side.CLIENT else Side.CLIENT


class Era(Enum):
    """How a revision agrees on a version: by a handshake, or anew in each request."""

    LEGACY = "legacy"
    MODERN = "modern"


@attrs.frozen
class Revision:
    """One revision of the specification.

    Attributes:
        name: its date, as on the wire. Dates in this form sort as strings.
        era: legacy (``initialize`` handshake) or modern (``_meta`` on each request).
        batches: whether JSON-RPC batches exist (basic/index#batching, 2025-03-26 only).
        null_id: whether an error without a readable id is written with ``"id": null`` (else the member is
            absent, which the schema allows from 2025-11-25 on).
    """

    name: str
    era: Era
    batches: bool = False
    null_id: bool = False


REVISIONS: dict[str, Revision] = {
    row.name: row
    for row in (
        Revision("2024-11-05", Era.LEGACY, null_id=True),
        Revision("2025-03-26", Era.LEGACY, batches=True, null_id=True),
        Revision("2025-06-18", Era.LEGACY, null_id=True),
        Revision("2025-11-25", Era.LEGACY),
        Revision("2026-07-28", Era.MODERN),
    )
}


def is_modern(revision: str) -> bool:
    """Whether *revision* belongs to the modern era."""
    return REVISIONS[revision].era is Era.MODERN


def of_era(era: Era, revisions: Iterable[str] = REVISIONS) -> tuple[str, ...]:
    """Those of *revisions* that belong to *era*, oldest first."""
    return tuple(sorted(name for name in revisions if REVISIONS[name].era is era))


def newest(revisions: Iterable[str], *, not_after: str | None = None) -> str | None:
    """The newest of *revisions*, no newer than *not_after* where given; None when there is none."""
    return max((name for name in revisions if not_after is None or name <= not_after), default=None)


ALL_REVISIONS: tuple[str, ...] = tuple(sorted(REVISIONS))
LEGACY_REVISIONS: tuple[str, ...] = of_era(Era.LEGACY)
MODERN_REVISIONS: tuple[str, ...] = of_era(Era.MODERN)
LATEST_LEGACY: str = LEGACY_REVISIONS[-1]
LATEST_MODERN: str = MODERN_REVISIONS[-1]
