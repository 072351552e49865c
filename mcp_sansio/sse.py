"""Server-sent events, both ways: bytes to events in any chunking, and events to bytes.

Source: the WHATWG HTML standard, "Server-sent events" (parsing and interpreting an event stream), which the pages
basic/transports of all revisions name.
"""

from __future__ import annotations

import re

import attrs

from .framing import HEAD_BYTES

__all__ = [
    "MAX_RETRY",
    "EventStreamDecoder",
    "OverlongEvent",
    "ServerSentEvent",
    "encode_comment",
    "encode_event",
]

MAX_RETRY = 2**31 - 1
"""The longest reconnection time in milliseconds, nearly 25 days: what the timers of most systems can hold."""

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_LONGEST_PREFIX = len(b"event: ")


@attrs.frozen(slots=False)
class ServerSentEvent:
    """One event of a stream.

    Attributes:
        data: its data lines, joined by LF. Bytes that aren't UTF-8 stand as lone surrogates (``surrogateescape``), so
            that nothing is changed unseen; a browser would put U+FFFD.
        event: its type.
        id: the last event id of the stream when it came, its own or an earlier one's; None while there was none, ""
            after an event that reset it.
    """

    data: str
    event: str = "message"
    id: str | None = None

    @property
    def data_bytes(self) -> bytes:
        """The data as it came, but for the line ends: what ``receive_message()`` of a connection takes."""
        return self.data.encode("utf-8", "surrogateescape")


@attrs.frozen(slots=False)
class OverlongEvent:
    """An event with a value over the limit, which was skipped.

    Attributes:
        head: the first `HEAD_BYTES` of its data at most, for `mcp_sansio.jsonrpc.peek`.
        event: its type.
        id: as of `ServerSentEvent`: a stream that is resumed goes on after this event.
    """

    head: bytes
    event: str = "message"
    id: str | None = None


class EventStreamDecoder:
    """Splits a stream into events. Linear in the input; what it holds is bounded by a few times ``limit``.

    The result doesn't depend on how the stream is cut into chunks: lines end at CR LF, LF or CR, and nowhere else, and
    a CR ends its line before it's known whether an LF follows. A byte order mark at the start, comments and unknown
    fields give nothing. An event is dispatched at its blank line if it has a data field, be that empty, as that of a
    priming event is.

    Args:
        limit: how long the data of an event may be, in bytes, and the value of each other field. An event over it is
            reported at its blank line, and skipped.
    """

    __slots__ = (
        "_after_cr",
        "_at_start",
        "_data",
        "_event",
        "_id",
        "_last_event_id",
        "_limit",
        "_line",
        "_overlong",
        "_retry",
        "_skipping",
    )

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._at_start = True
        self._after_cr = False
        self._line = bytearray()  # whose end hasn't come
        self._skipping = False  # the rest of a line, of which enough is known
        self._data = bytearray()  # of the event whose blank line hasn't come; each line with an LF
        self._event = ""
        self._id: str | None = None
        self._overlong = False
        self._last_event_id: str | None = None
        self._retry: int | None = None

    @property
    def last_event_id(self) -> str | None:
        """What ``Last-Event-ID`` says when the stream is resumed; None while no event had an id, "" to send none."""
        return self._last_event_id

    @property
    def retry(self) -> int | None:
        """The reconnection time in milliseconds that the server asked for, `MAX_RETRY` at most."""
        return self._retry

    @property
    def buffered(self) -> int:
        """How many bytes are held, waiting for the rest of their event."""
        return len(self._line) + len(self._data)

    def receive_data(self, data: bytes | bytearray | memoryview) -> list[ServerSentEvent | OverlongEvent]:
        """Take the next bytes and return the events that are now whole, in byte order."""
        chunk = data if isinstance(data, bytes) else memoryview(data).tobytes()
        if self._at_start:
            chunk = bytes(self._line) + chunk
            self._line.clear()
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                self._line += chunk
                return []
            self._at_start = False
            chunk = chunk.removeprefix(_BOM)
        if not chunk:
            return []
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        found: list[ServerSentEvent | OverlongEvent] = []
        lines = chunk.splitlines()  # of bytes: at CR LF, LF and CR
        rest = lines.pop() if lines and not chunk.endswith((b"\r", b"\n")) else b""
        for line in lines:
            event = self._end_line(line)
            if event is not None:
                found.append(event)
        self._keep(rest)
        return found

    def receive_eof(self) -> bool:
        """Take the end of the stream; tell whether it cut an event, which is lost, as its blank line never came."""
        cut = bool(self._line or self._data or self._event or self._id is not None or self._overlong)
        self._line.clear()
        self._start_event()
        return cut

    def _keep(self, piece: bytes) -> None:
        """Keep a piece of an unfinished line, unless it can be dealt with now: comments and what is too long."""
        if self._skipping:
            return
        self._line += piece
        if self._line.startswith(b":"):
            self._line.clear()
            self._skipping = True
        elif len(self._line) > self._limit + _LONGEST_PREFIX:
            self._receive_field(bytes(self._line))
            del self._line[1:]  # what is left tells at EOF that a line was cut
            self._skipping = True

    def _end_line(self, tail: bytes) -> ServerSentEvent | OverlongEvent | None:
        if self._skipping:
            self._line.clear()
            self._skipping = False
            return None
        line = bytes(self._line) + tail if self._line else tail
        self._line.clear()
        if not line:
            return self._dispatch()
        self._receive_field(line)
        return None

    def _receive_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data += value
            self._data += b"\n"
            if len(self._data) > self._limit + 1:
                self._overlong = True
                del self._data[self._limit + 1 :]
        elif name not in (b"event", b"id", b"retry"):
            return
        elif len(value) > self._limit:
            self._overlong = True
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id":
            if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
        elif value.isdigit():  # of bytes: ASCII digits
            digits = value.lstrip(b"0")[:11]  # enough to be over the maximum; Python refuses to read thousands
            self._retry = min(int(digits or b"0"), MAX_RETRY)

    def _dispatch(self) -> ServerSentEvent | OverlongEvent | None:
        if self._id is not None:
            self._last_event_id = self._id
        data, event, overlong = self._data, self._event or "message", self._overlong
        self._start_event()
        if overlong:
            return OverlongEvent(bytes(data[:-1][:HEAD_BYTES]), event, self._last_event_id)
        if not data:
            return None
        return ServerSentEvent(data[:-1].decode("utf-8", "surrogateescape"), event, self._last_event_id)

    def _start_event(self) -> None:
        self._data = bytearray()
        self._event = ""
        self._id = None
        self._overlong = False


def encode_event(
    data: str | bytes, *, event: str | None = None, id: str | None = None, retry: int | None = None
) -> bytes:
    """Write one event.

    Args:
        data: its data; any line end in it arrives as LF.
        event: its type; None is "message".
        id: what a client sends as ``Last-Event-ID`` to go on after this event; "" makes it forget.
        retry: the time in milliseconds after which a client may connect again.

    Raises:
        ValueError: the type or id has a line end, or the id a NUL, which no client could read back; the retry time is
            negative; or text isn't Unicode (lone surrogates).
    """
    lines: list[bytes] = []
    if event is not None:
        lines.append(b"event: " + _encode_value("type", event, "\r\n"))
    if id is not None:
        lines.append(b"id: " + _encode_value("id", id, "\r\n\0"))
    if retry is not None:
        if retry < 0:
            raise ValueError(f"the retry time of an event is 0 milliseconds or more, not {retry}")
        lines.append(b"retry: %d" % retry)
    raw = data.encode() if isinstance(data, str) else data
    lines += (b"data: " + line for line in _LINE_END.split(raw))
    return b"\n".join(lines) + b"\n\n"


def _encode_value(what: str, value: str, forbidden: str) -> bytes:
    if any(character in forbidden for character in value):
        raise ValueError(f"the {what} of an event has no line ends and no NUL: {value[:40]!r}")
    return value.encode()


def encode_comment(text: str = "") -> bytes:
    """Write a comment, which clients ignore: it keeps a quiet stream open.

    Raises:
        ValueError: text isn't Unicode (lone surrogates).
    """
    lines = _LINE_END.split(text.encode())
    return b"".join(b": " + line + b"\n" if line else b":\n" for line in lines)
