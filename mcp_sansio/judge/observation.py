"""What a judge says: one observation for each thing that happened, and a summary of them all."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import attrs

from ..jsonrpc import JSONRPCMessage, RequestId
from ..spec import Level, Side, Violation

__all__ = ["BINDING", "Asked", "Happening", "Observation", "Summary", "seconds"]

BINDING = frozenset({Level.MUST, Level.MUST_NOT, Level.JSONRPC})
"""The levels that nobody may break: messages MUST follow JSON-RPC, so what binds through it is one of them."""


def seconds(value: float) -> str:
    """A time for a person, never long."""
    return f"{value:.3f} s" if abs(value) < 1e9 else f"{value:.3g} s"


class Happening(Enum):
    """What happened."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    INVALID = "invalid"
    """Something that is no message."""
    EOF = "eof"
    """A side closed its output."""
    EXIT = "exit"
    """The process of a side ended."""


@attrs.frozen
class Asked:
    """A request, as far as its answer is judged by it.

    Attributes:
        id: its id.
        method: its method.
        sender: who sent it.
        record: the number of the record that completed it.
        t: when, in seconds; None where the recording does not say.
        subject: the name or uri that it asks for, cut where it is long; None where it has none.
        page: a fingerprint of the cursor in its params; None where it has none.
        due: whether it is answered as soon as can be, unlike a subscription; and at all, unlike a notification.
        ambiguous: whether another request in flight has its id, so that nobody knows which one an answer is for.
    """

    id: RequestId
    method: str
    sender: Side
    record: int
    t: float | None
    subject: str | None = None
    page: int | None = None
    due: bool = True
    ambiguous: bool = False


@attrs.frozen(kw_only=True)
class Observation:
    """One thing that happened.

    Attributes:
        record: the number of the record that completed it.
        t: when, in seconds; None where the recording does not say.
        sender: who did it.
        what: what it was.
        id: the id of the message, where it has one that can be read.
        method: the method of the message, or of the request that it answers, where that is known.
        violations: the rules that it broke.
        revision: the revision by which it was judged.
        message: the message; None where there is none.
        answered: of an answer, the request that it answers, where that was seen.
        meant: of what is no message, the messages that it was plainly meant to be.
        data: of what is no message, its first bytes.
        detail: of what is no message, why not.
    """

    record: int
    t: float | None
    sender: Side
    what: Happening
    id: RequestId | None = None
    method: str | None = None
    violations: tuple[Violation, ...] = ()
    revision: str
    message: JSONRPCMessage | None = None
    answered: Asked | None = None
    meant: tuple[JSONRPCMessage, ...] = ()
    data: bytes = b""
    detail: str = ""

    @property
    def waited(self) -> float | None:
        """Of an answer, how many seconds its request waited; None where nobody knows."""
        if self.answered is None or self.answered.t is None or self.t is None:
            return None
        return self.t - self.answered.t


@attrs.frozen
class Summary:
    """All that was observed, in numbers.

    Attributes:
        revision: the revision in force at the end; None where none was agreed on, or none that is known here.
        records: how many records there were.
        messages: how many messages they held. What is no message does not count.
        violations: how many rules of each level each side broke.
    """

    revision: str | None
    records: int
    messages: int
    violations: Mapping[tuple[Level, Side], int]

    @property
    def levels(self) -> dict[Level, int]:
        """How many rules of each level were broken."""
        found: dict[Level, int] = {}
        for (level, _), count in self.violations.items():
            found[level] = found.get(level, 0) + count
        return found

    @property
    def broken(self) -> bool:
        """Whether a rule was broken that nobody may break."""
        return not BINDING.isdisjoint(self.levels)
