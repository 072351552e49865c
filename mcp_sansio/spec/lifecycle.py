"""The phases of a legacy session, what leads from one to the next, and which rule a message breaks out of phase.

Source: basic/lifecycle of 2024-11-05 to 2025-11-25. The modern era has no phases.
"""

from __future__ import annotations

from enum import Enum

import attrs

from .revisions import Side

__all__ = ["ANY_PHASE", "NEXT_PHASE", "OUT_OF_PHASE", "Handshake", "OutOfPhase", "Phase"]


class Phase(Enum):
    """How far the legacy handshake has got."""

    OPENING = "opening"
    """Nothing has been said."""
    INITIALIZING = "initializing"
    """``initialize`` was sent."""
    INITIALIZED = "initialized"
    """``initialize`` was answered with a result; ``notifications/initialized`` is still to come."""
    OPERATION = "operation"
    """``notifications/initialized`` was sent."""


ANY_PHASE: frozenset[Phase] = frozenset(Phase)


class Handshake(Enum):
    """The messages of the handshake."""

    INITIALIZE = "initialize"
    AGREED = "its result, which names a legacy revision"
    REFUSED = "any other answer"
    INITIALIZED = "notifications/initialized"


NEXT_PHASE: dict[tuple[Phase, Handshake], Phase] = {
    (Phase.OPENING, Handshake.INITIALIZE): Phase.INITIALIZING,
    (Phase.INITIALIZING, Handshake.AGREED): Phase.INITIALIZED,
    (Phase.INITIALIZING, Handshake.REFUSED): Phase.OPENING,
    (Phase.INITIALIZED, Handshake.INITIALIZED): Phase.OPERATION,
}
"""Elsewhere the messages of the handshake are out of phase, and change nothing."""


@attrs.frozen
class OutOfPhase:
    """What it means when a side sends in a phase what does not belong there.

    Attributes:
        rule: the rule that is broken.
        refused: whether the receiver answers a request with an error; else it serves it all the same.
    """

    rule: str
    refused: bool


OUT_OF_PHASE: dict[tuple[Side, Phase], OutOfPhase] = {
    (Side.CLIENT, Phase.OPENING): OutOfPhase("LIFE-001", refused=True),
    (Side.CLIENT, Phase.INITIALIZING): OutOfPhase("LIFE-004", refused=True),
    (Side.CLIENT, Phase.INITIALIZED): OutOfPhase("LIFE-003", refused=False),
    (Side.CLIENT, Phase.OPERATION): OutOfPhase("LIB-005", refused=False),
    (Side.SERVER, Phase.OPENING): OutOfPhase("LIFE-005", refused=True),
    (Side.SERVER, Phase.INITIALIZING): OutOfPhase("LIFE-005", refused=False),
    (Side.SERVER, Phase.INITIALIZED): OutOfPhase("LIFE-005", refused=False),
}
