"""What client and server connections have in common: bytes in, events out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from ..codec import Codec, EncodeError
from ..errors import LocalProtocolError, Reason
from ..jsonrpc import (
    JSONObject,
    JSONRPCResponse,
    RequestId,
    message_to_json,
)
from ..limits import Limits
from ..spec import REVISIONS, Phase, Side, Spec
from ..types.converter import PayloadError, UnavailableError
from .conversation import Conversation
from .deadlines import Deadlines
from .events import (
    AnswerInvalid,
    ConnectionClosed,
    Event,
    Pending,
    RequestLost,
    RequestTimedOut,
)
from .outgoing import Outgoing, message_from_json
from .reader import Reader
from .receiver import Receiver
from .sender import Batch, Declaration, check_time
from .state import End
from .states import FIRST_STATE, NEXT_STATE, ConnectionState, Turn

__all__ = ["Connection", "check_snapshot"]

_FORMAT = 1
"""The version of the snapshot format."""


class Connection(Receiver):
    """One side of a conversation. Use `ClientConnection` or `ServerConnection`.

    Inputs (``receive_...``, ``handle_timeout``) return events in the order of the bytes, and never raise for what the
    peer did. Actions (``request``, ``respond``, ...) queue output in the order of the calls, and raise
    `LocalProtocolError` for the caller's own mistakes, in which case nothing has changed. After any call, write what
    ``data_to_send()`` gives.

    A connection is not thread-safe: put one lock around it.
    """

    def __init__(
        self,
        declaration: Declaration,
        *,
        revisions: Iterable[str],
        limits: Limits | None,
        codec: Codec,
        manual: Iterable[str],
        strict_capabilities: bool,
        forwarding: bool,
        spec: Spec,
    ) -> None:
        self._limits = limits if limits is not None else Limits()
        codec.check(self._limits)
        self._codec = codec
        self._spec = spec
        self._declaration = declaration
        self._strict_capabilities = strict_capabilities
        self._forwarding = forwarding
        self._revisions = self._known_revisions(revisions)
        self._manual = self._answerable(manual)
        self._conversation = Conversation(
            observer=self.side, revisions=self._revisions, limits=self._limits, spec=spec, forwarding=forwarding
        )
        self._reader = Reader(codec, self._limits)
        self._state = FIRST_STATE[self.side]
        self._queue: list[Outgoing] = []
        self._queued_bytes = 0
        self._deadlines = Deadlines()
        self._now: float | None = None
        self._next_id = 1
        self._batches: dict[RequestId, Batch] = {}
        try:
            for revision in self._revisions:
                self._check_writable(declaration.write(revision))
        except (PayloadError, UnavailableError) as error:
            raise LocalProtocolError(Reason.CONFIGURATION, f"what this side says of itself: {error}") from None

    def _check_writable(self, value: Any) -> None:
        """Raise unless JSON can hold what this side will say of itself, so that no answer fails for it later."""
        try:
            self._codec.encode(value)
        except EncodeError as error:
            raise LocalProtocolError(Reason.CONFIGURATION, f"what this side says of itself: {error}") from None

    def _known_revisions(self, revisions: Iterable[str]) -> frozenset[str]:
        given = frozenset([revisions] if isinstance(revisions, str) else revisions)
        unknown = sorted(given - frozenset(REVISIONS))
        if unknown or not given:
            raise LocalProtocolError(
                Reason.CONFIGURATION,
                f"revisions is a list of some of {', '.join(REVISIONS)} (and era leaves at least one), "
                f"not of {', '.join(unknown) or 'none'}",
            )
        return given

    def _answerable(self, manual: Iterable[str]) -> frozenset[str]:
        given = frozenset(manual)
        rows = self._spec.methods
        answered = {row.name for row in rows if row.automatic and row.sender is self.side.other}
        if not given <= answered:
            raise LocalProtocolError(
                Reason.CONFIGURATION,
                f"manual names requests that the library answers here: {', '.join(sorted(answered))}",
            )
        return given

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._state.value} revision={self.revision}>"

    # Facts

    @property
    def state(self) -> ConnectionState:
        """Whether the connection can be used."""
        return self._state

    @property
    def phase(self) -> Phase:
        """How far the handshake of a legacy session has got."""
        return self._conversation.session.phase

    @property
    def revision(self) -> str | None:
        """The revision in force; None before negotiation, and of a server that has no legacy session."""
        return self._conversation.session.revision

    @property
    def conversation(self) -> Conversation:
        """The protocol's state as this side sees it. To be looked at, not to be changed."""
        return self._conversation

    @property
    def in_flight(self) -> tuple[RequestId, ...]:
        """The ids of the requests of this side that have not ended, oldest first."""
        return tuple(self._conversation.open_requests(self.side))

    @property
    def owed(self) -> tuple[RequestId, ...]:
        """The ids of the peer's requests that wait for ``respond`` or ``respond_error``, oldest first."""
        return tuple(self._conversation.open_requests(self.side.other))

    # Input

    def receive_data(self, data: bytes | bytearray | memoryview, *, now: float | None = None) -> list[Event]:
        """Take the next bytes of a newline-delimited stream, such as the other end's output of a pipe.

        Args:
            data: any number of bytes, cut anywhere.
            now: seconds on the caller's clock; needed while a deadline is armed.

        Returns:
            What happened, in the order of the bytes.

        Raises:
            LocalProtocolError: ``now`` is missing, ``receive_eof`` was called before, or more output waits than
                `Limits.queued_bytes`; nothing was taken then.
        """
        self._begin_input(now)
        return self._handle(self._reader.receive_data(data))

    def receive_message(
        self, message: bytes | bytearray | memoryview | str, *, now: float | None = None
    ) -> list[Event]:
        """Take one message of a transport that keeps messages apart, such as WebSocket.

        Args:
            message: one JSON text; a `str` is taken as its UTF-8 encoding.
            now: as for ``receive_data``.

        Returns:
            What happened.

        Raises:
            LocalProtocolError: as for ``receive_data``.
        """
        self._begin_input(now)
        data = message.encode("utf-8", "surrogatepass") if isinstance(message, str) else bytes(memoryview(message))
        return self._handle([self._reader.receive_message(data)])

    def lose_request(
        self, request_id: RequestId, detail: str, *, answered: bool = False, now: float | None = None
    ) -> list[Event]:
        """Note that no answer to a request of this side can come any more, though the connection goes on.

        For transports that carry each request by itself, as HTTP does.

        Args:
            request_id: its id.
            detail: what happened, in a sentence.
            answered: whether the peer did answer, with something that is no message.
            now: as for ``receive_data``.

        Returns:
            `AnswerInvalid` if the peer answered, else `RequestLost`; what the handshake makes of it, where it was a
            request of the handshake; nothing if it had ended before.

        Raises:
            LocalProtocolError: as for ``receive_data``.
        """
        self._begin_input(now)
        events: list[Event] = []
        request = self._conversation.open_requests(self.side).get(request_id)
        if request is not None:
            self._deadlines.disarm(request_id)
            self._conversation.end(self.side, request_id, End.ANSWERED if answered else End.CLOSED)
            kind = AnswerInvalid if answered else RequestLost
            self._conclude(kind(id=request_id, method=request.method, detail=detail), events)
        return events

    def receive_eof(self, *, now: float | None = None) -> list[Event]:
        """Note that the peer will say nothing more. Calling it again does nothing.

        What the peer asked for before can still be answered, until ``close()``.

        Args:
            now: as for ``receive_data``.

        Returns:
            What an unterminated last line holds, then `ConnectionClosed`.

        Raises:
            LocalProtocolError: ``now`` is missing.
        """
        self._set_clock(now)
        if (self._state, Turn.EOF) not in NEXT_STATE:
            return []
        events = self._handle(self._reader.receive_eof())
        self._take(Turn.EOF)
        events.append(ConnectionClosed(pending=self._abandon()))
        return events

    def close(self) -> list[Event]:
        """End the connection from this side: nothing is sent or received from now on. Calling it again does nothing.

        What is queued can still be written.

        Returns:
            `ConnectionClosed` with the requests that were in flight, unless ``receive_eof`` gave it before.
        """
        told = self._state is ConnectionState.CLOSING
        if not self._take(Turn.CLOSE) or told:
            return []
        return [ConnectionClosed(pending=self._abandon())]

    def next_deadline(self) -> float | None:
        """When ``handle_timeout`` is to be called at the latest, in seconds on the caller's clock; None for never."""
        return self._deadlines.next()

    def handle_timeout(self, now: float) -> list[Event]:
        """End what has taken too long. Calling it early does nothing.

        Args:
            now: seconds on the caller's clock.

        Returns:
            What ended.
        """
        time = self._advance(now)
        events: list[Event] = []
        while (request_id := self._deadlines.pop_due(time)) is not None:
            self._timed_out(request_id, events)
        return events

    def _begin_input(self, now: float | None) -> None:
        if self._state is ConnectionState.CLOSING:
            raise LocalProtocolError(Reason.CLOSED, "receive_eof() was called; nothing can come after it")
        self._check_room()
        self._set_clock(now)

    def _abandon(self) -> tuple[Pending, ...]:
        """End all requests of this side, since no answer can come."""
        requests = list(self._conversation.open_requests(self.side).values())
        for request in requests:
            self._deadlines.disarm(request.id)
            self._conversation.end(self.side, request.id, End.CLOSED)
        return tuple(Pending(request.id, request.method) for request in requests)

    def _timed_out(self, request_id: RequestId, events: list[Event]) -> None:
        request = self._conversation.open_requests(self.side)[request_id]
        self._conclude(RequestTimedOut(id=request_id, method=request.method), events)
        if request.task:  # which only tasks/cancel ends
            self._conversation.end(self.side, request_id, End.TIMED_OUT)
            self._gave_up(request_id)
        else:
            self._cancel(request_id, "timed out")

    # Keeping

    def _snapshot(self, now: float | None) -> JSONObject:
        self._set_clock(now)
        return {
            "format": _FORMAT,
            "side": self.side.value,
            "revisions": sorted(self._revisions),
            "manual": sorted(self._manual),
            "strict_capabilities": self._strict_capabilities,
            "forwarding": self._forwarding,
            "declaration": {name: list(self._declaration.write(name)) for name in sorted(self._revisions)},
            "state": self._state.value,
            "next_id": self._next_id,
            "conversation": self._conversation.snapshot(),
            "reader": self._reader.snapshot(),
            "queue": [outgoing.to_json() for outgoing in self._queue],
            "batches": [
                {
                    "waiting": sorted(batch.waiting, key=repr),
                    "answers": [message_to_json(answer) for answer in batch.answers],
                }
                for batch in {id(batch): batch for batch in self._batches.values()}.values()
            ],
            "deadlines": self._deadlines.to_json(self._now or 0.0),
        }

    def _restore(self, data: JSONObject, now: float | None) -> None:
        self._state = ConnectionState(data["state"])
        self._next_id = data["next_id"]
        self._conversation.restore(data["conversation"])
        self._reader.restore(data["reader"])
        for item in data["queue"]:
            self._push(Outgoing.from_json(item))
        for item in data["batches"]:
            answers = [cast(JSONRPCResponse, message_from_json(answer)) for answer in item["answers"]]
            batch = Batch(set(item["waiting"]), answers, reading=False)
            self._batches.update(dict.fromkeys(batch.waiting, batch))
        self._deadlines.restore(data["deadlines"], now or 0.0)
        self._now = now


def check_snapshot(data: JSONObject, side: Side, now: float | None) -> None:
    """Raise `LocalProtocolError` unless *data* is a snapshot of *side* that can be restored at *now*."""
    if data.get("format") != _FORMAT or data.get("side") != side.value:
        raise LocalProtocolError(
            Reason.CONFIGURATION,
            f"this is no snapshot of a {side.value} in format {_FORMAT}: it says {data.get('side')!r}, "
            f"format {data.get('format')!r}",
        )
    if data["deadlines"] and now is None:
        raise LocalProtocolError(Reason.NOW_REQUIRED, "the snapshot has deadlines: pass now=, in seconds")
    if now is not None:
        check_time("now", now)
