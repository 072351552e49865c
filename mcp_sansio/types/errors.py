"""What is wrong with a payload."""

from __future__ import annotations

import json
from typing import Any, Final

from .base import about

__all__ = ["MISSING", "PayloadError", "UnavailableError", "describe"]

MISSING: Final = object()
"""Stands for a member that isn't there, for `describe`."""


class PayloadError(ValueError):
    """A value has not the shape that the schema gives.

    Attributes:
        path: where, such as ``$.content[0].text``.
        expected: what should be there, such as "a string".
        found: what is there, in 60 characters at most.
    """

    def __init__(self, path: str, expected: str, found: str) -> None:
        super().__init__(path, expected, found)
        self.path = path
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        path = self.path if len(self.path) <= 120 else f"{self.path[:117]}..."
        return f"{path}: expected {self.expected}, found {self.found}"


class UnavailableError(ValueError):
    """A revision lacks a class.

    Attributes:
        what: the name of the class.
        since, until: the first and the last revision that have it; None: the very first, the very last.
    """

    def __init__(self, cls: type[Any], revision: str) -> None:
        super().__init__(cls, revision)
        row = about(cls)
        self.what = cls.__name__
        self.since = row.since
        self.until = row.until
        self._revision = revision

    def __str__(self) -> str:
        span = [f"from {self.since}"] if self.since else []
        span += [f"to {self.until}"] if self.until else []
        return f"{self.what} exists {' '.join(span)}, not in {self._revision}"


def describe(value: Any) -> str:
    """A value in 60 characters at most."""
    if value is MISSING:
        return "nothing"
    if type(value) is dict:
        return "an object"
    if type(value) is list:
        return "an array"
    if type(value) is str:
        return json.dumps(value if len(value) <= 40 else value[:40] + "…", ensure_ascii=False)[:60]
    if value is None or type(value) in (bool, float) or (type(value) is int and abs(value) < 2**64):
        return json.dumps(value)
    return f"a Python {type(value).__name__}"[:60]
