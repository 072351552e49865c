"""How a client finds out what its server speaks, as a table: what came back, and what to do about it.

Source: basic/transports/stdio#backward-compatibility of 2026-07-28, basic/lifecycle#version-negotiation of the older
revisions.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, TypeVar

from ..jsonrpc import Error, is_array, is_object
from ..spec import Era, ErrorCode, newest, of_era
from ..types.converter import PayloadError, structure

__all__ = [
    "INITIALIZES",
    "NEXT",
    "PROBES",
    "Outcome",
    "Step",
    "choose_legacy_version",
    "common_version",
    "read_or_none",
    "versions_named",
]

T = TypeVar("T")


class Step(Enum):
    """What the client is waiting for, and what it comes to."""

    PROBE = "probe"
    """The answer to ``server/discover``."""
    PROBE_AGAIN = "probe again"
    """The answer to a second ``server/discover``."""
    INITIALIZE = "initialize"
    """The answer to ``initialize``."""
    INITIALIZE_AFTER_TIMEOUT = "initialize after timeout"
    """The same, when the probe was never answered: the server may be a slow modern one."""
    ESTABLISHED = "established"
    """Nothing any more: a revision is in force."""
    FAILED = "failed"
    """Nothing any more: there is none."""


PROBES: frozenset[Step] = frozenset({Step.PROBE, Step.PROBE_AGAIN})
INITIALIZES: frozenset[Step] = frozenset({Step.INITIALIZE, Step.INITIALIZE_AFTER_TIMEOUT})
"""A client without a legacy revision of its own fails instead."""


class Outcome(Enum):
    """What came back."""

    MODERN_IN_COMMON = "a result that names a modern version in common"
    LEGACY_IN_COMMON = "a result or -32022 that names only legacy versions in common"
    NOTHING_IN_COMMON = "a result or -32022 that names no version in common"
    MODERN_NAMED_IN_ERROR = "-32022 that names a modern version in common"
    AGREED = "an initialize result with a version of ours"
    UNREADABLE = "a result that cannot be read"
    ERROR = "any other error"
    TIMED_OUT = "nothing in time"
    LOST = "nothing, for what carries the messages failed"


NEXT: dict[tuple[Step, Outcome], Step] = {
    (Step.PROBE, Outcome.MODERN_IN_COMMON): Step.ESTABLISHED,
    (Step.PROBE, Outcome.LEGACY_IN_COMMON): Step.INITIALIZE,
    (Step.PROBE, Outcome.NOTHING_IN_COMMON): Step.FAILED,
    (Step.PROBE, Outcome.MODERN_NAMED_IN_ERROR): Step.PROBE_AGAIN,
    (Step.PROBE, Outcome.UNREADABLE): Step.INITIALIZE,
    (Step.PROBE, Outcome.ERROR): Step.INITIALIZE,
    (Step.PROBE, Outcome.TIMED_OUT): Step.INITIALIZE_AFTER_TIMEOUT,
    (Step.PROBE, Outcome.LOST): Step.FAILED,
    (Step.PROBE_AGAIN, Outcome.MODERN_IN_COMMON): Step.ESTABLISHED,
    (Step.PROBE_AGAIN, Outcome.LEGACY_IN_COMMON): Step.INITIALIZE,
    (Step.PROBE_AGAIN, Outcome.NOTHING_IN_COMMON): Step.FAILED,
    (Step.PROBE_AGAIN, Outcome.MODERN_NAMED_IN_ERROR): Step.FAILED,
    (Step.PROBE_AGAIN, Outcome.UNREADABLE): Step.FAILED,
    (Step.PROBE_AGAIN, Outcome.ERROR): Step.FAILED,
    (Step.PROBE_AGAIN, Outcome.TIMED_OUT): Step.FAILED,
    (Step.PROBE_AGAIN, Outcome.LOST): Step.FAILED,
    (Step.INITIALIZE, Outcome.AGREED): Step.ESTABLISHED,
    (Step.INITIALIZE, Outcome.LEGACY_IN_COMMON): Step.FAILED,
    (Step.INITIALIZE, Outcome.NOTHING_IN_COMMON): Step.FAILED,
    (Step.INITIALIZE, Outcome.MODERN_NAMED_IN_ERROR): Step.FAILED,
    (Step.INITIALIZE, Outcome.UNREADABLE): Step.FAILED,
    (Step.INITIALIZE, Outcome.ERROR): Step.FAILED,
    (Step.INITIALIZE, Outcome.TIMED_OUT): Step.FAILED,
    (Step.INITIALIZE, Outcome.LOST): Step.FAILED,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.AGREED): Step.ESTABLISHED,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.LEGACY_IN_COMMON): Step.FAILED,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.NOTHING_IN_COMMON): Step.FAILED,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.MODERN_NAMED_IN_ERROR): Step.PROBE_AGAIN,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.UNREADABLE): Step.FAILED,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.ERROR): Step.FAILED,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.TIMED_OUT): Step.FAILED,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.LOST): Step.FAILED,
}


def common_version(era: Era, ours: Iterable[str], theirs: Iterable[str]) -> str | None:
    """The newest version of *era* that both have."""
    return newest(frozenset(of_era(era, ours)) & frozenset(theirs))


def versions_named(error: Error) -> tuple[str, ...]:
    """The versions that an -32022 error says its sender supports; empty for any other error, or none to read."""
    if error.code != ErrorCode.UNSUPPORTED_PROTOCOL_VERSION or not is_object(error.data):
        return ()
    supported: Any = error.data.get("supported")
    if not is_array(supported):
        return ()
    return tuple(name for name in supported if type(name) is str)


def choose_legacy_version(asked: str, ours: Iterable[str], *, newest_outright: bool = False) -> str | None:
    """The legacy version that a server answers ``initialize`` with.

    Args:
        asked: the version that the client asked for.
        ours: the versions that the server speaks.
        newest_outright: for a version that we lack, answer our newest, as the specification's SHOULD says; else our
            newest that is no newer than the one asked for, which more clients understand.

    Returns:
        The version; None where the server speaks no legacy version.
    """
    legacy = of_era(Era.LEGACY, ours)
    if asked in legacy:
        return asked
    older = None if newest_outright or not _is_date(asked) else newest(legacy, not_after=asked)
    return older or newest(legacy)


def _is_date(text: str) -> bool:
    parts = text.split("-")
    return [len(part) for part in parts] == [4, 2, 2] and all(part.isascii() and part.isdecimal() for part in parts)


def read_or_none(value: Any, cls: type[T], revision: str | None) -> T | None:
    """What the peer said of itself, as *cls*; None where it did not say, or where the revision in force refuses it."""
    if value is None or revision is None:
        return None
    try:
        return structure(value, cls, revision)
    except PayloadError:
        return None
