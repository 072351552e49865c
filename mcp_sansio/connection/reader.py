"""From bytes to messages: framing, JSON and the envelope, and what is wrong with whatever is no message."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, TypeAlias

import attrs

from ..codec import Codec, DecodeError, DecodeReason
from ..framing import Line, LineDecoder, OverlongLine, UnterminatedLine
from ..jsonrpc import (
    InvalidMessage,
    JSONObject,
    JSONRPCMessage,
    MessageKind,
    RequestId,
    is_array,
    parse_message,
    peek,
)
from ..limits import Limits
from ..spec import ErrorCode

__all__ = ["Broken", "Read", "ReadBatch", "ReadItem", "Reader"]


@attrs.frozen(slots=False)
class Read:
    """One message.

    Attributes:
        message: the message.
        data: the bytes it stood in.
        rules: the rules that are broken by the way it came.
    """

    message: JSONRPCMessage
    data: bytes
    rules: tuple[str, ...] = ()


@attrs.frozen(slots=False)
class Broken:
    """Something that is no message.

    Attributes:
        kind: what it was meant to be, as far as that can be told.
        id: its id, if that can be told.
        method: its method, if that can be told.
        rules: the rules that it breaks.
        code: the error that answers it.
        detail: what is wrong with it.
        data: the bytes it stood in, or the first of them.
        whole: whether all of it could be read, so that nothing is missing that the sender wrote.
    """

    kind: MessageKind
    id: RequestId | None
    method: str | None
    rules: tuple[str, ...]
    code: ErrorCode
    detail: str
    data: bytes
    whole: bool = True


@attrs.frozen(slots=False)
class ReadBatch:
    """A JSON array of messages, which one revision has.

    Attributes:
        values: what stands in it, for `Reader.parse`; never empty.
        data: the bytes it stood in.
        rules: the rules that are broken by the way it came.
    """

    values: list[Any]
    data: bytes
    rules: tuple[str, ...] = ()


ReadItem: TypeAlias = Read | Broken | ReadBatch

_UNDECODABLE: dict[DecodeReason, str] = {
    "utf-8": "FRAME-003",
    "json": "FRAME-001",
    "depth": "LIB-007",
    "duplicate": "LIB-002",
}
_PEEKED = frozenset[DecodeReason]({"depth", "duplicate"})
"""Reasons for which the envelope may still be legible."""

_HEAD = 4096
_JOINED = 8192
_LSP = b"content-length:"


class Reader:
    """Reads the messages in a stream of bytes, or one at a time where the transport keeps them apart."""

    def __init__(self, codec: Codec, limits: Limits) -> None:
        self._codec = codec
        self._limits = limits
        self._lines = LineDecoder(limits.frame_bytes)
        self._joined = bytearray()
        self._open = 0

    @property
    def joining(self) -> bool:
        """Whether the lines read last may be the start of a message that was written over several."""
        return bool(self._joined)

    def receive_data(self, data: bytes | bytearray | memoryview) -> Iterator[ReadItem]:
        """What the next bytes of a newline-delimited stream complete. The bytes are taken at once, read one by one."""
        return map(self._read_line, self._lines.receive_data(data))

    def receive_message(self, data: bytes) -> ReadItem:
        """What one message of a transport with its own framing holds."""
        if len(data) > self._limits.frame_bytes:
            return self._overlong(data[: min(_HEAD, self._limits.frame_bytes)])
        return self._read(data)

    def receive_eof(self) -> Iterator[ReadItem]:
        """What the end of the stream completes."""
        return map(self._read_line, self._lines.receive_eof())

    def _read_line(self, line: Line | OverlongLine | UnterminatedLine) -> ReadItem:
        if isinstance(line, OverlongLine):
            return self._overlong(line.head)
        item = self._read(line.data)
        if isinstance(line, UnterminatedLine):
            return attrs.evolve(item, rules=_unterminated(item))
        return item

    def _read(self, data: bytes) -> ReadItem:
        try:
            value = self._codec.decode(data, self._limits)
        except DecodeError as error:
            return self._undecodable(data, error)
        if self._joined:
            self._forget_joined()
        return ReadBatch(value, data) if is_array(value) and value else self.parse(value, data)

    def parse(self, value: Any, data: bytes) -> Read | Broken:
        """The message that a decoded value is; *data* is where it stood."""
        message = parse_message(value, id_length=self._limits.id_length)
        if not isinstance(message, InvalidMessage):
            return Read(message, data)
        return _broken(message, message.rules, ErrorCode.INVALID_REQUEST, message.detail, data)

    def _undecodable(self, data: bytes, error: DecodeError) -> Broken:
        rule = _UNDECODABLE[error.reason]
        seen = peek(data[:_HEAD], id_length=self._limits.id_length)
        if error.reason in _PEEKED:
            code = ErrorCode.PARSE_ERROR if seen.id is None else ErrorCode.INVALID_REQUEST
            return _broken(seen, (rule,), code, error.detail, data, whole=False)
        detail = f"not JSON: {error.detail}" if error.reason == "json" else error.detail
        if data[: len(_LSP)].lower() == _LSP:
            detail = "a Content-Length header: MCP puts one message on each line, and has no headers"
        elif error.reason == "json" and self._completes_joined(data):
            rule = "FRAME-002"
            detail = "the message is spread over several lines; write it on one"
        if seen.kind == "response":  # so that it is not answered, and ends what it was meant to answer
            return _broken(seen, (rule,), ErrorCode.PARSE_ERROR, detail, data)
        return Broken("unknown", None, None, (rule,), ErrorCode.PARSE_ERROR, detail, data)

    def _completes_joined(self, data: bytes) -> bool:
        """Whether *data* is the last line of a message that was written over several.

        Brackets are counted without a look at strings, so this can miss some, but it is linear and finds nothing that
        is not there.
        """
        text = data.strip()
        if not self._joined and not text.startswith((b"{", b"[")):
            return False
        self._joined += text
        self._joined += b"\n"
        self._open += text.count(b"{") + text.count(b"[") - text.count(b"}") - text.count(b"]")
        if self._open > 0 and len(self._joined) <= _JOINED:
            return False
        joined = bytes(self._joined)
        self._forget_joined()
        # A newline stood between two tokens, or in a string, where it should have been escaped.
        return any(self._is_json(text) for text in (joined, joined.rstrip().replace(b"\n", b"\\n")))

    def _is_json(self, data: bytes) -> bool:
        try:
            self._codec.decode(data, self._limits)
        except DecodeError:
            return False
        return True

    def _forget_joined(self) -> None:
        self._joined.clear()
        self._open = 0

    def _overlong(self, head: bytes) -> Broken:
        seen = peek(head, id_length=self._limits.id_length)
        detail = f"the message is longer than {self._limits.frame_bytes} bytes"
        return _broken(seen, ("LIB-001",), ErrorCode.INVALID_REQUEST, detail, head, whole=False)

    def snapshot(self) -> JSONObject:
        """The bytes that wait for their newline, as plain JSON data."""
        joined = base64.b64encode(self._joined).decode()
        return {"lines": self._lines.snapshot(), "joined": joined, "open": self._open}

    def restore(self, data: JSONObject) -> None:
        """Take the place of the reader that gave *data*."""
        self._lines = LineDecoder.restore(data["lines"], self._limits.frame_bytes)
        self._joined = bytearray(base64.b64decode(data["joined"]))
        self._open = data["open"]


def _broken(
    seen: InvalidMessage, rules: tuple[str, ...], code: ErrorCode, detail: str, data: bytes, *, whole: bool = True
) -> Broken:
    return Broken(seen.kind, seen.id, seen.method, rules, code, detail, data, whole)


def _unterminated(item: ReadItem) -> tuple[str, ...]:
    """A line that was cut breaks no rule but that one."""
    if isinstance(item, Broken) and item.code is ErrorCode.PARSE_ERROR:
        return ("LIB-004",)
    return (*item.rules, "LIB-004")
