"""A legacy session over HTTP: one connection, whose messages go out on several streams.

Source: basic/transports#streamable-http of 2025-03-26 to 2025-11-25, basic/transports#http-with-sse of 2024-11-05.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

import attrs

from ..connection import Change, Event, MessageInvalid, Outgoing, ServerConnection
from ..jsonrpc import (
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCRequest,
    JSONRPCResponse,
    JSONRPCResultResponse,
    RequestId,
)
from ..limits import Limits
from ..spec import ErrorCode
from .event_store import EventStore
from .exchange import Accepts, Exchange
from .headers import SESSION_ID
from .refusal import SESSION_GONE, Refused
from .statuses import status_of
from .values import HTTPResponse

__all__ = ["Session", "SessionExchange"]

_PRIMED_SINCE = "2025-11-25"
"""The first revision whose clients know events that only have an id, and come back for the rest of a stream."""

_ANSWERS, _LISTENS = "post", "get"
"""How the keys of streams begin."""

_MOST_UNSENT = 1000
"""How many messages wait for a response to be written to; then the oldest are dropped."""


@attrs.define(eq=False)
class _Stream:
    """A stream of messages. One that answers requests may outlive the response that it is written to.

    Attributes:
        key: its name.
        waiting: the requests of the client's that it is to answer.
        listens: whether a GET opened it, for messages that belong to no request.
        asked: the requests of the server's that it brought, which it may have to take back.
        exchange: the response that it is written to, if that is open, and in this process.
        resumable: whether the client may have an event id of it, so that it can come back.
        left: whether the client has left the response.
        unsent: what the response gets that is open in another process, with the event ids.
    """

    key: str
    waiting: set[RequestId] = attrs.field(factory=set[RequestId])
    listens: bool = False
    asked: set[RequestId] = attrs.field(factory=set[RequestId])
    exchange: SessionExchange | None = None
    resumable: bool = False
    left: bool = False
    unsent: list[tuple[bytes, str | None]] = attrs.field(factory=list[tuple[bytes, "str | None"]])

    @property
    def is_over(self) -> bool:
        """Whether all requests are answered that it was opened for."""
        return not self.waiting and not self.listens


class SessionExchange(Exchange):
    """An exchange of a legacy session.

    Attributes:
        session: the session.
        stream: the stream whose messages go here.
        opens_session: whether the request is the one that opens the session.
    """

    def __init__(
        self, session: Session, stream: _Stream, accepts: Accepts | None = None, *, opens_session: bool = False
    ) -> None:
        accepts = accepts if accepts is not None else Accepts()
        accepts = attrs.evolve(accepts, stream=accepts.stream and not opens_session)
        super().__init__(accepts=accepts, most_waiting=session.limits.queued_bytes)
        self.session = session
        self.stream = stream
        self.opens_session = opens_session
        stream.exchange = self

    @property
    def connection(self) -> ServerConnection:
        """The connection of the session."""
        return self.session.connection

    def pause(self, retry: int) -> None:
        """End the response before its stream is over, and have the client come back for the rest."""
        self._collect()
        if self.is_open and self.session.can_pause:
            self.start_stream()
            self.write(b"", retry=retry)
            self.end()
            self.session.leave(self)

    def _begin_stream(self, headers: Iterable[tuple[str, str]] = ()) -> None:
        super()._begin_stream(headers)
        self.session.prime(self)

    def _collect(self) -> None:
        self.session.distribute()

    def _disconnected(self) -> list[Event]:
        return self.session.leave(self)


class Session:
    """A legacy session.

    For the application are ``id``, ``connection`` (of which it uses only the actions, as `Exchange` says), ``publish``
    and ``snapshot``; `Endpoint.end_session` ends it. The other methods are for the endpoint.

    Args:
        session_id: its id, as the client names it.
        connection: its connection.
        sessions: where it stands, by its id, until it ends.
        limits: bounds on what it holds.
        store: where events are kept for clients that come back; None where they can't.
        http_sse: whether it is one of HTTP+SSE of 2024-11-05, whose messages all go to the stream that opened it.
    """

    def __init__(
        self,
        session_id: str,
        connection: ServerConnection,
        sessions: dict[str, Session],
        limits: Limits,
        store: EventStore | None = None,
        *,
        http_sse: bool = False,
    ) -> None:
        self.id = session_id
        self.connection = connection
        self.http_sse = http_sse
        self.limits = limits
        self._sessions = sessions
        self._store = None if http_sse else store
        self._streams: dict[str, _Stream] = {}
        self._by_request: dict[RequestId, _Stream] = {}
        self._unsent: list[bytes] = []
        self._next_stream = 1
        sessions[session_id] = self

    # Exchanges

    @property
    def has_exchanges(self) -> bool:
        """Whether a response of it is open here."""
        return any(stream.exchange is not None for stream in self._streams.values())

    def post(
        self,
        data: bytes,
        requests: Iterable[RequestId],
        accepts: Accepts,
        now: float | None,
        *,
        opens_session: bool = False,
    ) -> Exchange:
        """Take what a POST brought. Where it brought requests, the exchange is open until they are answered."""
        self.distribute()
        events = self.connection.receive_message(data, now=now)
        waiting = set(requests)
        if waiting and not self.http_sse:
            exchange: Exchange = SessionExchange(self, self._open(waiting), accepts, opens_session=opens_session)
            exchange.events += events
        else:
            invalid = [event.detail for event in events if isinstance(event, MessageInvalid)]
            refusal = Refused(400, ErrorCode.INVALID_REQUEST, "; ".join(invalid))
            response = refusal.response() if invalid and not self.http_sse else HTTPResponse(202)
            exchange = Exchange(self.connection, events).answer(response)
        self.distribute()
        self._end_cancelled()
        return exchange

    def listen(self) -> SessionExchange:
        """Open a stream for messages that belong to no request."""
        self.distribute()
        exchange = SessionExchange(self, self._open())
        exchange.start_stream()
        self._send_unsent()
        return exchange

    def resume(self, event_id: str) -> SessionExchange | None:
        """Go on with a stream where a client lost it; None where the event isn't known, or nothing comes after it."""
        self.distribute()
        replay = self._store.replay(self.id, event_id) if self._store is not None else None
        if replay is None:
            return None
        stream = self._streams.get(replay.stream)
        if stream is None:
            listens = replay.stream.startswith(_LISTENS)
            if not listens and not replay.events:
                return None
            stream = self._streams[replay.stream] = _Stream(replay.stream, listens=listens)
        if stream.exchange is not None:
            stream.exchange.end()  # the client has left it, though nobody has noticed
        stream.resumable, stream.left = True, False
        stream.unsent.clear()  # which is among the events
        exchange = SessionExchange(self, stream)
        exchange.start_stream()
        for key, data in replay.events:
            exchange.write(data, event_id=key)
        if stream.is_over:
            self._finish(stream)
        self._send_unsent()
        return exchange

    def prime(self, exchange: SessionExchange) -> None:
        """Let a client come back to a stream that begins; where its revision knows that, by an event of its own."""
        stream = exchange.stream
        if self._store is None or stream.resumable:
            return
        stream.resumable = True
        if self._knows_primes:
            exchange.write(b"", event_id=self._store.append(self.id, stream.key, b""))

    @property
    def can_pause(self) -> bool:
        """Whether the client comes back for the rest of a stream, if its response ends before."""
        return self._store is not None and self._knows_primes

    @property
    def _knows_primes(self) -> bool:
        revision = self.connection.revision
        return revision is not None and revision >= _PRIMED_SINCE

    def leave(self, exchange: SessionExchange) -> list[Event]:
        """A response of the session's is over before its stream is. That cancels nothing."""
        stream = exchange.stream
        stream.exchange = None
        if self.http_sse:
            return self.close()
        stream.left = True
        if stream.listens:
            del self._streams[stream.key]
        return []

    def stop_listening(self) -> None:
        """End the responses to GETs; clients may come back."""
        self.distribute()
        for exchange in [stream.exchange for stream in self._listening() if stream.exchange is not None]:
            exchange.end()
            self.leave(exchange)

    def close(self) -> list[Event]:
        """End the session and its streams. Calling it again does nothing.

        Returns:
            What happened on its connection.
        """
        self.distribute()
        self._sessions.pop(self.id, None)
        events = self.connection.close()
        for stream in list(self._streams.values()):
            if stream.exchange is not None and stream.exchange.is_undecided:
                stream.exchange.answer(SESSION_GONE.response())
            self._finish(stream)
        if self._store is not None:
            self._store.forget(self.id)
        return events

    # Messages

    def publish(self, change: Change) -> int:
        """Tell the client of a change, if it wants to know; as `ServerConnection.publish`."""
        queued = self.connection.publish(change)
        self.distribute()
        return queued

    def distribute(self) -> None:
        """Put each message of the connection on the one stream where it belongs."""
        for outgoing in self.connection.messages_to_send():
            stream = self._stream_of(outgoing)
            if stream is not None:
                self._place(outgoing, stream)
            elif self.http_sse or not _is_answer(outgoing):
                self._unsent.append(outgoing.data)
                del self._unsent[:-_MOST_UNSENT]

    def _stream_of(self, outgoing: Outgoing) -> _Stream | None:
        """The stream of a message; None where it waits for one that listens, or is an answer that nobody waits for."""
        answered = _answered(outgoing)
        for request_id in answered:
            if request_id in self._by_request:
                return self._by_request[request_id]
        related = self._by_request.get(outgoing.related) if outgoing.related is not None else self._asked_on(outgoing)
        if related is not None and (related.exchange is None or related.exchange.is_open):
            return related
        listening = self._listening()
        return listening[-1] if listening and (self.http_sse or not _is_answer(outgoing)) else None

    def _asked_on(self, outgoing: Outgoing) -> _Stream | None:
        """The stream that brought the request which a message takes back."""
        return next((stream for stream in self._streams.values() if outgoing.cancels in stream.asked), None)

    def _listening(self) -> list[_Stream]:
        return [stream for stream in self._streams.values() if stream.listens]

    def _place(self, outgoing: Outgoing, stream: _Stream) -> None:
        if isinstance(outgoing.message, JSONRPCRequest):
            stream.asked.add(outgoing.message.id)
        answered = _answered(outgoing) & stream.waiting
        stream.waiting -= answered
        for request_id in answered:
            del self._by_request[request_id]
        if stream.is_over and stream.exchange is not None and stream.exchange.is_undecided:
            self._answer(outgoing, stream.exchange)
        else:
            self._write(stream, outgoing.data)
            if stream.exchange is not None:
                stream.exchange.check_waiting()
        if stream.is_over:
            self._finish(stream)

    def _answer(self, outgoing: Outgoing, exchange: SessionExchange) -> None:
        """Give a single message as a whole response."""
        message = outgoing.message
        status = status_of(message.error.code, modern=False) if isinstance(message, JSONRPCErrorResponse) else 200
        opened = exchange.opens_session and isinstance(message, JSONRPCResultResponse)
        exchange.answer_message(status, outgoing.data, [(SESSION_ID, self.id)] if opened else ())

    def _write(self, stream: _Stream, data: bytes) -> None:
        exchange, event_id = stream.exchange, None
        if exchange is not None:
            exchange.start_stream()  # which makes it resumable
        elsewhere = exchange is None and not stream.left  # where it may have begun meanwhile
        if self._store is not None and (stream.resumable or elsewhere):
            event_id = self._store.append(self.id, stream.key, data)
        if exchange is not None:
            exchange.write(data, event="message" if self.http_sse else None, event_id=event_id)
        elif elsewhere:
            stream.unsent.append((data, event_id))
            del stream.unsent[:-_MOST_UNSENT]

    def _send_unsent(self) -> None:
        """Send what has been waiting for a stream that listens."""
        listening = self._listening()
        for data in self._unsent if listening else ():
            self._write(listening[-1], data)
        if listening:
            self._unsent.clear()

    def _open(self, requests: set[RequestId] | None = None) -> _Stream:
        """A new stream: for the answers to requests, or one that listens."""
        key = f"{_LISTENS if requests is None else _ANSWERS}{self._next_stream}"
        self._next_stream += 1
        stream = self._streams[key] = _Stream(key, requests or set(), listens=requests is None)
        self._by_request.update(dict.fromkeys(stream.waiting, stream))
        return stream

    def _end_cancelled(self) -> None:
        """End the streams of requests that the client has cancelled: they get no answer."""
        owed = set(self.connection.owed)
        for request_id in [request_id for request_id in self._by_request if request_id not in owed]:
            stream = self._by_request.pop(request_id)
            stream.waiting.discard(request_id)
            if stream.is_over:
                self._finish(stream)

    def _finish(self, stream: _Stream) -> None:
        """End a stream; if its response is open in another process, once that has written it."""
        if stream.exchange is not None:
            stream.exchange.end()
        elif stream.unsent:
            over = [each.key for each in self._streams.values() if each.is_over]
            for key in over[:-_MOST_UNSENT]:
                del self._streams[key]
            return
        del self._streams[stream.key]
        for request_id in stream.waiting:
            del self._by_request[request_id]

    # Keeping

    def snapshot(self, now: float | None = None) -> JSONObject:
        """The session as plain JSON data; the responses that are open stay where they are.

        Args:
            now: as for `ServerConnection.snapshot`.
        """
        self.distribute()
        return {
            "id": self.id,
            "http_sse": self.http_sse,
            "connection": self.connection.snapshot(now),
            "streams": [_to_json(stream) for stream in self._streams.values() if not stream.listens],
            "next_stream": self._next_stream,
            "unsent": [_text(data) for data in self._unsent],
        }

    @classmethod
    def restore(
        cls,
        data: JSONObject,
        connection: ServerConnection,
        sessions: dict[str, Session],
        limits: Limits,
        store: EventStore | None = None,
    ) -> Session:
        """Go on where the session stopped that gave *data*.

        If one with its id is in *sessions*, its responses, which are open here, go on with this one.
        """
        before = sessions.get(data["id"])
        session = cls(data["id"], connection, sessions, limits, store, http_sse=data["http_sse"])
        session._next_stream = data["next_stream"]
        session._unsent = [_data(item) for item in data["unsent"]]
        for item in data["streams"]:
            stream = _from_json(item)
            session._streams[stream.key] = stream
            session._by_request.update(dict.fromkeys(stream.waiting, stream))
        for stream in before._streams.values() if before is not None else ():
            if stream.exchange is not None:
                session._take_over(stream, stream.exchange)
        session._send_unsent()
        return session

    def _take_over(self, before: _Stream, exchange: SessionExchange) -> None:
        """Go on with a response that is open here."""
        exchange.session = self
        stream = self._streams.get(before.key)
        if stream is None and before.listens:
            stream = self._streams[before.key] = before
        if stream is None:
            exchange.end()  # the client got the rest in another process
            return
        stream.exchange, exchange.stream = exchange, stream
        stream.resumable = before.resumable or any(event_id is not None for _, event_id in stream.unsent)
        for data, event_id in stream.unsent:
            exchange.write(data, event_id=event_id)
        stream.unsent.clear()
        if stream.is_over:
            self._finish(stream)


def _answered(outgoing: Outgoing) -> frozenset[RequestId]:
    """The requests that a message answers."""
    return frozenset(each.id for each in _answers(outgoing) if each.id is not None)


def _is_answer(outgoing: Outgoing) -> bool:
    return bool(_answers(outgoing))


def _answers(outgoing: Outgoing) -> list[JSONRPCResponse]:
    messages = outgoing.message if isinstance(outgoing.message, tuple) else (outgoing.message,)
    return [message for message in messages if isinstance(message, JSONRPCResponse)]


def _to_json(stream: _Stream) -> JSONObject:
    return {
        "key": stream.key,
        "waiting": sorted(stream.waiting, key=repr),
        "asked": sorted(stream.asked, key=repr),
        "resumable": stream.resumable,
        "left": stream.left,
        "unsent": [[_text(data), event_id] for data, event_id in stream.unsent],
    }


def _from_json(item: JSONObject) -> _Stream:
    unsent = [(_data(data), event_id) for data, event_id in item["unsent"]]
    return _Stream(
        item["key"],
        set(item["waiting"]),
        asked=set(item["asked"]),
        resumable=item["resumable"],
        left=item["left"],
        unsent=unsent,
    )


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _data(text: str) -> bytes:
    return base64.b64decode(text)
