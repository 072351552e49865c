"""What a client has under way over HTTP: which exchanges are to be started, which run, and which are to be aborted."""

from __future__ import annotations

from enum import Enum
from math import isfinite
from typing import Any, cast

import attrs

from ..connection import Outgoing
from ..connection.deadlines import Deadlines
from ..errors import LocalProtocolError, Reason
from ..jsonrpc import JSONRPCMessage, JSONRPCRequest, RequestId
from ..sse import EventStreamDecoder
from .values import Headers, HTTPRequest

__all__ = ["ClientExchange", "Flow", "Flows", "Purpose", "Reconnection"]


@attrs.frozen
class ClientExchange:
    """An HTTP request that is to be sent now, and what to call it.

    Attributes:
        key: what ``receive_response()`` and the others are told with what comes of it.
        request: the request; its target is the whole URL.
    """

    key: int
    request: HTTPRequest


@attrs.frozen(kw_only=True)
class Reconnection:
    """How a client takes up streams that broke (2025-03-26 to 2025-11-25).

    Each attempt that brings no event doubles the time before the next, and any event ends that.

    Attributes:
        delay: seconds before the first attempt, where the server names no time of its own (``retry``).
        longest: seconds to wait at most, unless the server names more.
        attempts: how many in a row may bring no event before the stream is given up.

    Raises:
        LocalProtocolError: one of them is negative, or no finite number (``Reason.CONFIGURATION``).
    """

    delay: float = 1.0
    longest: float = 60.0
    attempts: int = 8

    def __attrs_post_init__(self) -> None:
        values: tuple[Any, ...] = (self.delay, self.longest, self.attempts)
        if not all(type(value) in (int, float) and isfinite(value) and value >= 0 for value in values):
            raise LocalProtocolError(Reason.CONFIGURATION, f"times and attempts are numbers from 0 on, not {values}")

    def seconds(self, failures: int, retry: int | None) -> float:
        """How long to wait after *failures* attempts, where the server asked for *retry* milliseconds."""
        base = self.delay if retry is None else retry / 1000
        return min(base * 2.0 ** min(failures, 64), max(base, self.longest))


class Purpose(Enum):
    """What a flow is for."""

    POST = "post"
    """To carry a message, and to bring what answers it."""
    LISTEN = "listen"
    """The stream of what belongs to no request."""
    ENDPOINT = "endpoint"
    """The one stream of HTTP+SSE, which says where to POST to."""
    DELETE = "delete"
    """The end of a session."""


@attrs.define(eq=False)
class Flow:
    """An HTTP exchange, and those that take it up where it broke.

    Attributes:
        purpose: what it is for.
        outgoing: the message that it carries.
        waiting: the requests whose answers it has still to bring.
        session_id: the session that it belongs to.
        revision: the legacy revision in force; None before there is one, and in the modern era.
        mirrored: the headers that say what its message says.
        key: the key of the exchange, or of the next one.
        retried: whether its message has been refused for its headers, and is on its way once more.
        status: the status of the response; None before it came.
        headers: its headers.
        body: what there is of its body, unless that is a stream of events.
        decoder: reads the body if it is a stream of events.
        heard: whether it has brought an event.
        opened: whether this or an earlier exchange was a stream of events.
        failures: how many exchanges in a row brought no event.
        last_event_id: what to go on after; it outlives the exchange that brought it.
        retry: the reconnection time that the server asked for, in milliseconds.
    """

    purpose: Purpose
    outgoing: Outgoing | None = None
    waiting: set[RequestId] = attrs.field(factory=set[RequestId])
    session_id: str | None = None
    revision: str | None = None
    mirrored: list[tuple[str, str]] = attrs.field(factory=list[tuple[str, str]])
    key: int = 0
    retried: bool = False
    status: int | None = None
    headers: Headers = attrs.field(factory=Headers)
    body: bytearray = attrs.field(factory=bytearray)
    decoder: EventStreamDecoder | None = None
    heard: bool = False
    opened: bool = False
    failures: int = 0
    last_event_id: str | None = None
    retry: int | None = None

    @classmethod
    def of(cls, outgoing: Outgoing) -> Flow:
        """A flow that is to carry a message."""
        flow = cls(Purpose.POST, outgoing)
        flow.waiting.update(message.id for message in flow.messages if isinstance(message, JSONRPCRequest))
        return flow

    @property
    def carried(self) -> Outgoing:
        """What it carries, where it was made to carry something."""
        return cast(Outgoing, self.outgoing)

    @property
    def asks(self) -> bool:
        """Whether there is a request in what it carries."""
        return any(isinstance(message, JSONRPCRequest) for message in self.messages)

    @property
    def messages(self) -> tuple[JSONRPCMessage, ...]:
        """The messages that it carries."""
        if self.outgoing is None:
            return ()
        message = self.outgoing.message
        return message if isinstance(message, tuple) else (message,)

    @property
    def request(self) -> JSONRPCRequest | None:
        """The request that it carries, if it is one."""
        message = self.messages[0] if len(self.messages) == 1 else None
        return message if isinstance(message, JSONRPCRequest) else None

    @property
    def resumes(self) -> bool:
        """Whether the next exchange takes up a stream that broke."""
        return self.opened and bool(self.last_event_id)

    def open_stream(self, limit: int) -> None:
        """Read the body as a stream of events, each of at most *limit* bytes."""
        self.decoder = EventStreamDecoder(limit)
        self.opened = True

    def note_end(self) -> bool:
        """Keep what outlives the stream of events; tell whether its end cut an event."""
        decoder, self.decoder = self.decoder, None
        self.failures = 0 if self.heard else self.failures + 1
        if decoder is None:
            return False
        cut = decoder.receive_eof()
        if decoder.last_event_id is not None:
            self.last_event_id = decoder.last_event_id
        if decoder.retry is not None:
            self.retry = decoder.retry
        return cut

    def begin_anew(self) -> None:
        """Forget the exchange that is over."""
        self.status, self.headers, self.heard = None, Headers(), False
        self.body.clear()


class Flows:
    """All flows of a client, by the keys of their exchanges. Keys are never used twice."""

    def __init__(self) -> None:
        self._last_key = 0
        self._to_start: dict[int, Flow] = {}
        self._running: dict[int, Flow] = {}
        self._waiting: dict[int, Flow] = {}
        self._timers = Deadlines()
        self._to_abort: list[int] = []

    def start(self, flow: Flow) -> None:
        """Have the next exchange of a flow started."""
        self._to_start[self._next_key(flow)] = flow

    def start_later(self, flow: Flow, now: float, seconds: float) -> None:
        """The same, after a time."""
        key = self._next_key(flow)
        self._waiting[key] = flow
        self._timers.arm(key, now, seconds)

    def _next_key(self, flow: Flow) -> int:
        self._last_key += 1
        flow.key = self._last_key
        flow.begin_anew()
        return flow.key

    def limit(self, flow: Flow, now: float, seconds: float) -> None:
        """Let the time of a running exchange be over after a while, unless it ends before."""
        self._timers.arm(flow.key, now, seconds)

    def due(self, now: float) -> list[Flow]:
        """Have the exchanges started whose time has come, and give the flows whose time is over."""
        over: list[Flow] = []
        while (key := self._timers.pop_due(now)) is not None:
            flow = self._waiting.pop(int(key), None)
            if flow is None:
                over.append(self._running[int(key)])
            else:
                self._to_start[flow.key] = flow
        return over

    def next_deadline(self) -> float | None:
        """When ``due`` has something to do."""
        return self._timers.next()

    def take_started(self) -> list[Flow]:
        """The flows whose exchanges start now."""
        started, self._to_start = self._to_start, {}
        self._running.update(started)
        return list(started.values())

    def take_aborted(self) -> list[int]:
        """The keys of the exchanges that are to be aborted."""
        aborted, self._to_abort = self._to_abort, []
        return aborted

    def running(self, key: int) -> Flow | None:
        """The flow of a running exchange; None when it is over.

        Raises:
            LocalProtocolError: there never was such an exchange.
        """
        flow = self._running.get(key)
        known = type(key) is int and 0 < key <= self._last_key
        if not known or key in self._to_start or key in self._waiting:
            raise LocalProtocolError(
                Reason.UNKNOWN_REQUEST, f"{key!r:.40} is not the key of an exchange that exchanges_to_start() gave"
            )
        return flow

    def is_unstarted(self, flow: Flow) -> bool:
        """Whether a flow has still to be started."""
        return flow.key in self._to_start

    def is_running(self, flow: Flow) -> bool:
        """Whether the exchange of a flow runs."""
        return flow.key in self._running

    def end(self, flow: Flow) -> None:
        """Note that the exchange of a flow is over."""
        self._running.pop(flow.key, None)
        self._timers.disarm(flow.key)

    def drop(self, flow: Flow) -> bool:
        """Have a flow given up, wherever it is; tell whether it never started."""
        if self._running.pop(flow.key, None) is not None:
            self._to_abort.append(flow.key)
        self._waiting.pop(flow.key, None)
        self._timers.disarm(flow.key)
        return self._to_start.pop(flow.key, None) is not None

    def all(self) -> list[Flow]:
        """All flows, whether they run or wait."""
        return [*self._running.values(), *self._waiting.values(), *self._to_start.values()]
