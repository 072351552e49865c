"""How a client finds out what its server speaks, as a table: what came back, and what to do about it.

Source: basic/transports/stdio#backward-compatibility of 2026-07-28, basic/lifecycle#version-negotiation of the older
revisions.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from ..jsonrpc import Error, is_array, is_object
from ..spec import Era, ErrorCode, newest, of_era

__all__ = ["NEXT", "Action", "Outcome", "Step", "choose_legacy_version", "common_version", "versions_named"]


class Step(Enum):
    """What the client is waiting for."""

    PROBE = "probe"
    """The answer to ``server/discover``."""
    PROBE_AGAIN = "probe again"
    """The answer to a second ``server/discover``."""
    INITIALIZE = "initialize"
    """The answer to ``initialize``."""
    INITIALIZE_AFTER_TIMEOUT = "initialize after timeout"
    """The same, when the probe was never answered: the server may be a slow modern one."""


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


class Action(Enum):
    """What to do about it. Without a legacy revision of its own, a client fails where it says INITIALIZE."""

    ESTABLISH = "establish"
    PROBE_AGAIN = "probe again"
    INITIALIZE = "initialize"
    FAIL = "fail"


NEXT: dict[tuple[Step, Outcome], Action] = {
    (Step.PROBE, Outcome.MODERN_IN_COMMON): Action.ESTABLISH,
    (Step.PROBE, Outcome.LEGACY_IN_COMMON): Action.INITIALIZE,
    (Step.PROBE, Outcome.NOTHING_IN_COMMON): Action.FAIL,
    (Step.PROBE, Outcome.MODERN_NAMED_IN_ERROR): Action.PROBE_AGAIN,
    (Step.PROBE, Outcome.UNREADABLE): Action.INITIALIZE,
    (Step.PROBE, Outcome.ERROR): Action.INITIALIZE,
    (Step.PROBE, Outcome.TIMED_OUT): Action.INITIALIZE,
    (Step.PROBE_AGAIN, Outcome.MODERN_IN_COMMON): Action.ESTABLISH,
    (Step.PROBE_AGAIN, Outcome.LEGACY_IN_COMMON): Action.INITIALIZE,
    (Step.PROBE_AGAIN, Outcome.NOTHING_IN_COMMON): Action.FAIL,
    (Step.PROBE_AGAIN, Outcome.MODERN_NAMED_IN_ERROR): Action.FAIL,
    (Step.PROBE_AGAIN, Outcome.UNREADABLE): Action.FAIL,
    (Step.PROBE_AGAIN, Outcome.ERROR): Action.FAIL,
    (Step.PROBE_AGAIN, Outcome.TIMED_OUT): Action.FAIL,
    (Step.INITIALIZE, Outcome.AGREED): Action.ESTABLISH,
    (Step.INITIALIZE, Outcome.LEGACY_IN_COMMON): Action.FAIL,
    (Step.INITIALIZE, Outcome.NOTHING_IN_COMMON): Action.FAIL,
    (Step.INITIALIZE, Outcome.MODERN_NAMED_IN_ERROR): Action.FAIL,
    (Step.INITIALIZE, Outcome.UNREADABLE): Action.FAIL,
    (Step.INITIALIZE, Outcome.ERROR): Action.FAIL,
    (Step.INITIALIZE, Outcome.TIMED_OUT): Action.FAIL,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.AGREED): Action.ESTABLISH,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.LEGACY_IN_COMMON): Action.FAIL,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.NOTHING_IN_COMMON): Action.FAIL,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.MODERN_NAMED_IN_ERROR): Action.PROBE_AGAIN,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.UNREADABLE): Action.FAIL,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.ERROR): Action.FAIL,
    (Step.INITIALIZE_AFTER_TIMEOUT, Outcome.TIMED_OUT): Action.FAIL,
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
