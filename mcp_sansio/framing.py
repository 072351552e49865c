"""Newline-delimited streams, as stdio has them: bytes to lines, in any chunking (basic/transports)."""

from __future__ import annotations

from base64 import b64decode, b64encode

import attrs

from .jsonrpc import JSONObject

__all__ = ["HEAD_BYTES", "Line", "LineDecoder", "OverlongLine", "UnterminatedLine"]

HEAD_BYTES = 4096
"""How much is kept of a line over the limit."""


@attrs.frozen
class Line:
    """A line without its LF. A CR at its end stays: it's JSON's white space."""

    data: bytes


@attrs.frozen
class OverlongLine:
    """A line longer than the limit, from which its first `HEAD_BYTES` at most are left."""

    head: bytes


@attrs.frozen
class UnterminatedLine:
    """What came after the last LF of a stream that has ended."""

    data: bytes


class LineDecoder:
    """Splits a stream at its LF bytes and at no others. Linear in the input, bounded by ``limit``.

    A line of more than ``limit`` bytes, its LF not counted, is reported as soon as that many have come, and
    skipped exactly to its LF. Lines of JSON white space only, after a byte order mark or not, give nothing.
    """

    __slots__ = ("_buffer", "_limit", "_skipping")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()  # of the line whose LF hasn't come
        self._skipping = False

    @property
    def buffered(self) -> int:
        """How many bytes are held, waiting for the rest of their line."""
        return len(self._buffer)

    def receive_data(self, data: bytes | bytearray | memoryview) -> list[Line | OverlongLine]:
        """Take the next bytes and return the lines that are now whole or too long, in byte order."""
        chunk = data if isinstance(data, bytes) else memoryview(data).tobytes()
        found: list[Line | OverlongLine] = []
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            line = chunk[start:end]
            start = end + 1
            if self._buffer or self._skipping or len(line) > self._limit:
                found += self._add(line)
                line = self._end_line()
            if not _is_blank(line):
                found.append(Line(line))
        if start < len(chunk):
            found += self._add(chunk[start:])
        return found

    def receive_eof(self) -> list[UnterminatedLine | OverlongLine]:
        """Take the end of the stream and return what was still unfinished, unless it was reported before."""
        found: list[UnterminatedLine | OverlongLine] = [*self._add(b"")]
        line = self._end_line()
        if not _is_blank(line):
            found.append(UnterminatedLine(line))
        return found

    def snapshot(self) -> JSONObject:
        """The state as JSON, for `restore`."""
        return {"buffer": b64encode(self._buffer).decode(), "skipping": self._skipping}

    @classmethod
    def restore(cls, data: JSONObject, limit: int) -> LineDecoder:
        """A decoder that goes on where the one that gave the snapshot was. The limit may be another one."""
        decoder = cls(limit)
        decoder._buffer += b64decode(data["buffer"])
        decoder._skipping = data["skipping"]
        return decoder

    def _add(self, piece: bytes) -> list[OverlongLine]:
        """Take bytes of the current line, unless it's being skipped; say so if they make it too long."""
        if self._skipping:
            return []
        if len(self._buffer) + len(piece) <= self._limit:
            self._buffer += piece
            return []
        self._buffer += piece[:HEAD_BYTES]
        head = bytes(self._buffer[: min(HEAD_BYTES, self._limit)])
        self._buffer.clear()
        self._skipping = True
        return [OverlongLine(head)]

    def _end_line(self) -> bytes:
        """The whole line, nothing if it was skipped; and be ready for the next."""
        line = bytes(self._buffer)
        self._buffer.clear()
        self._skipping = False
        return line


def _is_blank(line: bytes) -> bool:
    return not line.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r")
