"""The specification as tables: revisions, methods, capabilities, phases, error codes and rules.

Everything else reads these tables; no rule lives in code that a row could hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from .capabilities import CAPABILITIES, NEEDS_BY_PARAMS, Capability, NeedByParams, declared
from .error_codes import RESERVED_CODES, ErrorCode, ReservedCodes
from .lifecycle import ANY_PHASE, OUT_OF_PHASE, OutOfPhase, Phase
from .methods import METHODS, Kind, Method
from .revisions import (
    ALL_REVISIONS,
    LATEST_LEGACY,
    LATEST_MODERN,
    LEGACY_REVISIONS,
    MODERN_REVISIONS,
    REVISIONS,
    Era,
    Revision,
    Side,
    newest,
    of_era,
)
from .rules import RULES, Level, Rule, Violation

__all__ = [
    "ALL_REVISIONS",
    "ANY_PHASE",
    "CAPABILITIES",
    "CORE",
    "LATEST_LEGACY",
    "LATEST_MODERN",
    "LEGACY_REVISIONS",
    "METHODS",
    "MODERN_REVISIONS",
    "NEEDS_BY_PARAMS",
    "OUT_OF_PHASE",
    "RESERVED_CODES",
    "REVISIONS",
    "RULES",
    "Capability",
    "Era",
    "ErrorCode",
    "Kind",
    "Level",
    "Method",
    "NeedByParams",
    "OutOfPhase",
    "Phase",
    "ReservedCodes",
    "Revision",
    "Rule",
    "Side",
    "Spec",
    "Violation",
    "declared",
    "newest",
    "of_era",
]


def _index(methods: Iterable[Method]) -> dict[tuple[Side, str], tuple[Method, ...]]:
    index: dict[tuple[Side, str], tuple[Method, ...]] = {}
    for row in methods:
        key = (row.sender, row.name)
        index[key] = (*index.get(key, ()), row)
    return index


@attrs.frozen(eq=False)
class Spec:
    """The method table, indexed for lookup. Connections share one."""

    methods: tuple[Method, ...] = METHODS
    _index: Mapping[tuple[Side, str], tuple[Method, ...]] = attrs.field(init=False, repr=False)
    _needs: Mapping[str, tuple[NeedByParams, ...]] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_index", _index(self.methods))
        needs = {row.name: tuple(need for need in NEEDS_BY_PARAMS if need.method == row.name) for row in self.methods}
        object.__setattr__(self, "_needs", needs)

    def method(self, sender: Side, name: str, revision: str) -> Method | None:
        """The row of *name*, sent by *sender* in *revision*; None when there is none."""
        for row in self._index.get((sender, name), ()):
            if row.exists_in(revision):
                return row
        return None

    def rows(self, sender: Side, name: str) -> tuple[Method, ...]:
        """The rows of *name*, sent by *sender*, in any revision."""
        return self._index.get((sender, name), ())

    def needs_by_params(self, name: str) -> tuple[NeedByParams, ...]:
        """What the params of *name* may need."""
        return self._needs.get(name, ())


CORE: Spec = Spec()
"""The specification without extensions."""
