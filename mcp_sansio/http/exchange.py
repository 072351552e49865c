"""One HTTP request and its response, which may be a stream that goes on for as long as the server likes."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from ..connection import Event, ServerConnection
from ..sse import encode_comment, encode_event
from .values import Headers, HTTPResponse

__all__ = ["JSON_TYPE", "STREAM_TYPE", "Accepts", "Exchange"]

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"

_STREAM_HEADERS = (("Content-Type", STREAM_TYPE), ("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no"))


@attrs.frozen
class Accepts:
    """What a client takes as a response: a single JSON message, a stream of them, or either."""

    json: bool = True
    stream: bool = True


class Exchange:
    """What becomes of one HTTP request.

    Serve its ``events`` on its ``connection``. Of this connection use only the actions (``respond``, ``progress`` and
    so on), never ``data_to_send``, ``receive_...`` or ``close``: the endpoint does.

    After that, and after any later call on a connection, look again. Wait until ``response`` is there or ``finished``
    is true; finished without a response: write nothing. Send status and headers as soon as ``response`` is known,
    though the body is still empty; then what ``data_to_send()`` gives, until ``finished`` is true and no more will
    come. Call ``keep_alive()`` after every 15 seconds or so of silence: a write that fails is how a client that has
    vanished is noticed. However it ends, call ``close()``.

    A driver may answer a request by itself: ``Exchange().answer(response)``. The rest under "For the endpoint" is not
    for drivers.

    Attributes:
        events: what happened on the connection.
    """

    def __init__(
        self,
        connection: ServerConnection | None = None,
        events: Iterable[Event] = (),
        *,
        accepts: Accepts | None = None,
        most_waiting: int = 2**26,
    ) -> None:
        self.events: list[Event] = list(events)
        self._connection = connection
        self._accepts = accepts if accepts is not None else Accepts()
        self._response: HTTPResponse | None = None
        self._most_waiting = most_waiting
        self._body = bytearray()
        self._parting: list[Event] = []
        self._is_stream = False
        self._over = False

    @property
    def connection(self) -> ServerConnection | None:
        """The connection that the request came to; None where it was refused before it reached one."""
        return self._connection

    @property
    def response(self) -> HTTPResponse | None:
        """Status and headers; None while they are not known. Its body is empty: ``data_to_send()`` has the body."""
        self._collect()
        return self._response

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of server-sent events, to be written as it comes."""
        self._collect()
        return self._is_stream

    @property
    def finished(self) -> bool:
        """Whether nothing more will come than what ``data_to_send()`` has to give."""
        self._collect()
        return self._over

    def data_to_send(self) -> bytes:
        """Take what there is of the body."""
        self._collect()
        data = bytes(self._body)
        self._body.clear()
        return data

    def start_stream(self) -> None:
        """Answer with a stream of events though nothing has happened yet, so that the client sees the server alive.

        Does nothing once the response is known, or where it can't be a stream.
        """
        self._collect()
        if self._response is None and self._accepts.stream:
            self._begin_stream()

    def keep_alive(self) -> None:
        """Write a comment into the stream, so that nobody on the way takes it for dead; begin it, if that is open."""
        self.start_stream()
        if self._is_stream and not self._over:
            self._body += encode_comment()

    def pause(self, retry: int) -> None:
        """End the response before its stream is over, and have the client come back for the rest.

        Does nothing where the client could not come back: it can in 2025-11-25, if there is an event store.

        Args:
            retry: milliseconds after which to come back.
        """

    def close(self) -> list[Event]:
        """The client has gone, or has read all. In 2026-07-28 the former cancels its request; before, it doesn't.

        Returns:
            What happened on the connection because of it.
        """
        self._collect()
        if not self._over:
            self._abandon()
        parting, self._parting = self._parting, []
        return parting

    # For the endpoint, and what its kinds of exchange decide

    @property
    def is_open(self) -> bool:
        """Whether a stream of messages can be written, now or later."""
        return not self._over and (self._is_stream or (self._response is None and self._accepts.stream))

    @property
    def is_undecided(self) -> bool:
        """Whether the response can still be a single message."""
        return self._response is None

    def answer(self, response: HTTPResponse) -> Exchange:
        """Give the whole response."""
        self._response = attrs.evolve(response, body=b"")
        self._body += response.body
        self.end()
        return self

    def answer_message(self, status: int, data: bytes, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Give a single message as the response; in a stream, if the client wants nothing else."""
        if status == 200 and not self._accepts.json:
            self._begin_stream(headers)
            self.write(data)
            self.end()
        else:
            self.answer(HTTPResponse(status, Headers([("Content-Type", JSON_TYPE), *headers]), data))

    def write(
        self, data: bytes, *, event: str | None = None, event_id: str | None = None, retry: int | None = None
    ) -> None:
        """Write an event into the stream."""
        if self._response is None:
            self._begin_stream()
        self._body += encode_event(data, event=event, id=event_id, retry=retry)

    def end(self) -> None:
        """End the stream; where none has begun, say that there is nothing to say."""
        if self._response is None:
            self._response = HTTPResponse(202)
        self._over = True

    def check_waiting(self) -> None:
        """Give up on a client that doesn't read what waits for it."""
        if len(self._body) > self._most_waiting:
            self._abandon()

    def _abandon(self) -> None:
        self._over = True
        self._body.clear()
        self._parting += self._disconnected()

    def _begin_stream(self, headers: Iterable[tuple[str, str]] = ()) -> None:
        self._is_stream = True
        self._response = HTTPResponse(200, Headers([*_STREAM_HEADERS, *headers]))

    def _collect(self) -> None:
        """Take what the connection has to say."""

    def _disconnected(self) -> list[Event]:
        """The client has gone before the end."""
        return []
