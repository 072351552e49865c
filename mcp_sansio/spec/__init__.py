"""The specification as tables: revisions, methods, capabilities, phases, error codes and rules.

Everything else reads these tables; no rule lives in code that a row could hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import attrs

from ..types import Result
from .capabilities import CAPABILITIES, NEEDS_BY_PARAMS, Capability, NeedByParams, declared, extension_capability
from .error_codes import RESERVED_CODES, ErrorCode, ReservedCodes
from .extensions import Extension, ExtensionResult
from .lifecycle import ANY_PHASE, NEXT_PHASE, OUT_OF_PHASE, Handshake, OutOfPhase, Phase
from .methods import METHODS, Effect, Kind, Method, Tells
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
    is_modern,
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
    "NEXT_PHASE",
    "OUT_OF_PHASE",
    "RESERVED_CODES",
    "REVISIONS",
    "RULES",
    "Capability",
    "Effect",
    "Era",
    "ErrorCode",
    "Extension",
    "ExtensionResult",
    "Handshake",
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
    "Tells",
    "Violation",
    "declared",
    "extension_capability",
    "is_modern",
    "newest",
    "of_era",
]


def _index(methods: Iterable[Method]) -> dict[tuple[Side, str], tuple[Method, ...]]:
    index: dict[tuple[Side, str], tuple[Method, ...]] = {}
    for row in methods:
        key = (row.sender, row.name)
        index[key] = (*index.get(key, ()), row)
    return index


@attrs.frozen(eq=False, repr=False)
class Spec:
    """The tables that connections and the stateless functions read: the core's, and those of extensions.

    Args:
        methods: the method table.
        extensions: what is added to it: ``Spec(extensions=(MY_EXTENSION,))``.
    """

    methods: tuple[Method, ...] = METHODS
    extensions: tuple[Extension, ...] = ()
    _index: Mapping[tuple[Side, str], tuple[Method, ...]] = attrs.field(init=False, repr=False)
    _needs: Mapping[str, tuple[NeedByParams, ...]] = attrs.field(init=False, repr=False)
    _results: Mapping[tuple[str, str], tuple[str, ExtensionResult]] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        added = [attrs.evolve(row, extension=ext.name) for ext in self.extensions for row in ext.methods]
        methods = (*(row for row in self.methods if row.extension is None), *added)
        needs = {row.name: tuple(need for need in NEEDS_BY_PARAMS if need.method == row.name) for row in methods}
        results = {(row.method, row.result_type): (ext.name, row) for ext in self.extensions for row in ext.results}
        object.__setattr__(self, "methods", methods)
        object.__setattr__(self, "_index", _index(methods))
        object.__setattr__(self, "_needs", needs)
        object.__setattr__(self, "_results", results)

    def __repr__(self) -> str:
        names = ", ".join(extension.name for extension in self.extensions)
        return f"<Spec {names or 'core'}>"

    def extension_results(self, method: str, declared: Collection[str]) -> dict[str, type[Result]]:
        """The results that extensions add to *method*, by ``resultType``.

        Args:
            method: the method.
            declared: the names of what the client declared; those of other extensions are left out.
        """
        return {
            kind: row.payload
            for (name, kind), (extension, row) in self._results.items()
            if name == method and extension_capability(Side.CLIENT, extension) in declared
        }

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
