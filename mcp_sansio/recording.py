"""Recordings of conversations: a JSON object a line, for whatever passed between a client and a server, in its order.

``{"from": "client", "t": 0.25, "text": "..."}`` is a chunk as it was read: part of a line or several. Bytes that aren't
UTF-8 by themselves, as where a chunk cuts a character, stand as base64 in ``b64`` instead of ``text``. ``"event":
"eof"`` instead says that a side closed its output, ``"event": "exit"`` that its process ended. ``t`` is a time in
seconds, and may be missing. Lines end in LF, and in nothing else: U+2028 may stand in a text.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, TypeAlias

import attrs

from .codec import STDLIB, DecodeError
from .errors import LocalProtocolError, Reason
from .jsonrpc import JSONObject, JSONValue
from .limits import Limits
from .spec import Side

__all__ = ["Chunk", "Ended", "Record", "RecordError", "Recorder", "read_record", "write_record"]


@attrs.frozen
class Chunk:
    """Bytes that a side sent, cut anywhere."""

    sender: Side
    data: bytes
    t: float | None = None
    """When, in seconds on any clock."""


@attrs.frozen
class Ended:
    """A side closed its output (``eof``), or its process ended (``exit``)."""

    sender: Side
    event: Literal["eof", "exit"]
    t: float | None = None
    """When, in seconds on any clock."""


Record: TypeAlias = Chunk | Ended


class RecordError(ValueError):
    """A line is no record. The text says which member is wrong, what it should be and what it is."""


def write_record(record: Record) -> bytes:
    """One line of a recording, with its LF.

    Raises:
        LocalProtocolError: ``t`` is no finite number (`Reason.INVALID_TIME`).
    """
    members: JSONObject = {"from": record.sender.value}
    if record.t is not None:
        members["t"] = _finite(record.t)
    if isinstance(record, Ended):
        members["event"] = record.event
    else:
        try:
            members["text"] = record.data.decode()
        except UnicodeDecodeError:
            members["b64"] = b64encode(record.data).decode()
    return STDLIB.encode(members) + b"\n"


def read_record(line: bytes | str) -> Record:
    """Read one line of a recording, with its LF or without.

    Members with other names are ignored, so that a recorder may add what it knows besides: a process id, a host.

    Raises:
        RecordError: the line is no record.
    """
    members = _object(line)
    sender = _sender(members)
    t = _time(members)
    kinds = [name for name in _READERS if name in members]
    if len(kinds) != 1:
        found = " and ".join(kinds) if kinds else "none"
        raise RecordError(f"exactly one of text, b64 and event is expected, found {found}")
    value = members[kinds[0]]
    if not isinstance(value, str):
        raise RecordError(f"{kinds[0]} must be a string, not {_shown(value)}")
    return _READERS[kinds[0]](sender, value, t)


class Recorder:
    """Turns what a driver sees into lines, which the driver writes where it likes: ``file.write(recorder.data(...))``.

    Call it before you pass the bytes on: then an answer can't stand before what it answers.

    Times are seconds on a clock of yours, such as `time.monotonic`; leave them out or always give them. The lines have
    them relative to the first one given, in microseconds at best, and never going backwards.
    """

    __slots__ = ("_first", "_last")

    def __init__(self) -> None:
        self._first: float | None = None
        self._last = 0.0

    def data(self, sender: Side, data: bytes, t: float | None = None) -> bytes:
        """The line for bytes that a side sent, cut anywhere.

        Raises:
            LocalProtocolError: ``t`` is no finite number (`Reason.INVALID_TIME`).
        """
        return write_record(Chunk(sender, data, self._relative(t)))

    def eof(self, sender: Side, t: float | None = None) -> bytes:
        """The line for a side that closed its output.

        Raises:
            LocalProtocolError: ``t`` is no finite number (`Reason.INVALID_TIME`).
        """
        return write_record(Ended(sender, "eof", self._relative(t)))

    def exit(self, t: float | None = None) -> bytes:
        """The line for the end of the server's process.

        Raises:
            LocalProtocolError: ``t`` is no finite number (`Reason.INVALID_TIME`).
        """
        return write_record(Ended(Side.SERVER, "exit", self._relative(t)))

    def _relative(self, t: float | None) -> float | None:
        if t is None:
            return None
        first = _finite(t) if self._first is None else self._first
        self._last = max(self._last, round(_finite(t - first), 6))
        self._first = first
        return self._last


def _finite(t: float) -> float:
    if not math.isfinite(t):
        raise LocalProtocolError(Reason.INVALID_TIME, f"t must be a finite number of seconds, not {t}")
    return t


# Reading ----------------------------------------------------------------------------------------------------

_LIMITS = Limits(forbid_duplicate_names=True)


def _object(line: bytes | str) -> JSONObject:
    try:
        value: JSONValue = STDLIB.decode(line if isinstance(line, bytes) else line.encode(), _LIMITS)
    except UnicodeEncodeError:
        raise RecordError("a JSON object is expected, found text with a lone surrogate") from None
    except DecodeError as error:
        raise RecordError(f"a JSON object is expected, found what is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise RecordError(f"a JSON object is expected, found {_shown(value)}")
    return value


def _sender(members: JSONObject) -> Side:
    if "from" not in members:
        raise RecordError('from is missing: it must be "client" or "server"')
    try:
        return Side(members["from"])
    except ValueError:
        raise RecordError(f'from must be "client" or "server", not {_shown(members["from"])}') from None


def _time(members: JSONObject) -> float | None:
    if "t" not in members:
        return None
    t = members["t"]
    if type(t) in (int, float):
        with suppress(OverflowError):
            return float(t)
    raise RecordError(f"t must be a finite number of seconds, not {_shown(t)}")


def _text(sender: Side, text: str, t: float | None) -> Record:
    return Chunk(sender, text.encode(), t)


def _base64(sender: Side, text: str, t: float | None) -> Record:
    try:
        return Chunk(sender, b64decode(text, validate=True), t)
    except ValueError as error:
        raise RecordError(f"b64 must be base64 with its padding, not {_shown(text)}: {error}") from None


def _event(sender: Side, event: str, t: float | None) -> Record:
    if event not in _EVENTS:
        raise RecordError(f'event must be "eof" or "exit", not {_shown(event)}')
    return Ended(sender, _EVENTS[event], t)


_EVENTS: dict[str, Literal["eof", "exit"]] = {"eof": "eof", "exit": "exit"}

_READERS: dict[str, Callable[[Side, str, float | None], Record]] = {"text": _text, "b64": _base64, "event": _event}
"""How the member is read that says what happened."""


def _shown(value: JSONValue) -> str:
    """A value in a few words."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = STDLIB.encode(value).decode()
    return text if len(text) <= 40 else f"{text[:37]}..."
