"""The bytes of one side: which messages they hold, and what was meant by what is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from ..codec import Codec, DecodeError
from ..connection.reader import Broken, Reader, ReadItem
from ..jsonrpc import InvalidMessage, JSONObject, JSONRPCMessage, JSONValue, is_object, parse_message
from ..limits import Limits
from ..spec import ErrorCode

__all__ = ["Direction", "Received", "meant"]


_HELD = 65536
"""How many bytes of lines are held back at most."""


@attrs.frozen
class Received:
    """A message, a batch or something broken.

    Attributes:
        record: the number of the record that completed it.
        t: when, in seconds; None where the recording does not say.
        item: what it is.
        meant: of what is broken, the messages that were plainly meant.
    """

    record: int
    t: float | None
    item: ReadItem
    meant: tuple[JSONRPCMessage, ...] = ()


class Direction:
    """Reads what one side sends.

    Lines that may be a message written over several are held back until it is complete, or cannot become one, or the
    other side says something.

    Args:
        codec: how JSON is read.
        limits: how long a line may be, and so on.
        cut: whether the first line may lack its beginning.
    """

    def __init__(self, codec: Codec, limits: Limits, *, cut: bool) -> None:
        self._codec, self._limits, self._cut = codec, limits, cut
        self._reader = Reader(codec, limits)
        self._lines: list[Received] = []
        self._held = 0
        self.unfinished = False
        """Whether the last line has no end yet."""

    def receive(self, record: int, t: float | None, data: bytes) -> Iterator[Received]:
        """What the next bytes complete."""
        if data:
            self.unfinished = bool(data.rpartition(b"\n")[2].strip())
        return self._understood(record, t, self._reader.receive_data(data))

    def receive_eof(self, record: int, t: float | None) -> Iterator[Received]:
        """What the end of the stream completes."""
        self.unfinished = False
        yield from self._understood(record, t, self._reader.receive_eof())
        yield from self.finish()

    def finish(self) -> Iterator[Received]:
        """The lines that were held back."""
        lines, self._lines, self._held = self._lines, [], 0
        yield from lines

    def _understood(self, record: int, t: float | None, items: Iterable[ReadItem]) -> Iterator[Received]:
        for item in items:
            if not isinstance(item, Broken):
                yield from self.finish()
                yield Received(record, t, item)
            elif item.rules == ("FRAME-001",) and self._reader.joining:
                self._lines.append(self._broken(record, t, item))
                self._held += len(item.data)
                if self._held > _HELD:
                    yield from self.finish()
            elif item.rules == ("FRAME-002",):
                parts = [*(line.item.data for line in self._lines), item.data]
                self._lines, self._held = [], 0
                yield self._joined(record, t, item, parts)
            else:
                yield from self.finish()
                yield self._broken(record, t, item)
            self._cut = False

    def part(self, batch: Received, value: JSONValue) -> Received:
        """One of the messages in a batch."""
        item = self._reader.parse(value, batch.item.data)
        item = attrs.evolve(item, rules=(*item.rules, *batch.item.rules))
        return self._explained(Received(batch.record, batch.t, item), value)

    def _joined(self, record: int, t: float | None, item: Broken, parts: list[bytes]) -> Received:
        """The message that stood on several lines. The newlines may stand in a string."""
        got = self._broken(record, t, attrs.evolve(item, data=b"\n".join(parts)))
        return got if got.meant else self._broken(record, t, attrs.evolve(item, data=b"\\n".join(parts)))

    def _broken(self, record: int, t: float | None, item: Broken) -> Received:
        try:
            value = self._codec.decode(item.data, self._limits) if item.whole else None
        except DecodeError:
            value = None
            if self._cut and item.code is ErrorCode.PARSE_ERROR:
                item = attrs.evolve(item, rules=(), detail="the beginning of this line is not in the recording")
        return self._explained(Received(record, t, item), value)

    def _explained(self, got: Received, value: JSONValue) -> Received:
        """Something with what it was meant to be. An object with nothing of a message, as of a log, is none."""
        if not isinstance(got.item, Broken) or not is_object(value):
            return got
        item, message = got.item, meant(value, self._limits)
        if message is None and "jsonrpc" not in value:
            rules = ("FRAME-001", *(rule for rule in item.rules if rule == "LIB-004"))
            item = attrs.evolve(item, rules=rules, detail="a JSON object, but no JSON-RPC message")
        elif "RPC-003" in item.rules:  # the member that is too much need not have the right shape, too
            needless = {rule for member, rule in _SHAPES.items() if value.get(member, value) is None}
            item = attrs.evolve(item, rules=tuple(rule for rule in item.rules if rule not in needless))
        return attrs.evolve(got, item=item, meant=() if message is None else (message,))


_SHAPES = {"result": "RPC-018", "error": "RPC-004"}
"""The rules for what stands in the members of a response."""


def meant(value: JSONValue, limits: Limits) -> JSONRPCMessage | None:
    """The message that a value would be if its envelope were right; None where that is anyone's guess."""
    if not is_object(value):
        return None
    repaired: JSONObject = {**value, "jsonrpc": "2.0"}
    if not is_object(value.get("params")):
        repaired.pop("params", None)
    for member, other in (("result", "error"), ("error", "result"), ("result", "method"), ("error", "method")):
        if is_object(value.get(member)) and (other == "method" or value.get(other) is None):
            repaired.pop(other, None)
    request_id = value.get("id")
    if type(request_id) is float and request_id.is_integer():
        repaired["id"] = int(request_id)
    message = parse_message(repaired, id_length=limits.id_length)
    return None if isinstance(message, InvalidMessage) else message
