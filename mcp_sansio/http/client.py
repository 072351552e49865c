"""The client of Streamable HTTP of all revisions, and of HTTP+SSE of 2024-11-05, around a `ClientConnection`.

Source: basic/transports of 2024-11-05 to 2025-11-25; basic/transports/streamable-http of 2026-07-28.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Literal

import attrs

from ..codec import STDLIB, Codec
from ..connection import (
    ClientConnection,
    ConnectionClosed,
    ConnectionState,
    ErrorReceived,
    FailureReason,
    InputRequired,
    Negotiated,
    NegotiationFailed,
    NotificationReceived,
    ProgressReceived,
    RequestLost,
    RequestReceived,
    ResultReceived,
)
from ..connection.sender import check_time
from ..errors import LocalProtocolError, Reason
from ..limits import Limits
from ..spec import ALL_REVISIONS, CORE, Spec, is_modern
from ..types import ClientCapabilities, Implementation, ListToolsRequest
from .client_address import AddressError, absolute
from .client_events import HTTPEvent, SessionLost
from .client_flows import Flow, Flows, Purpose, Reconnection
from .client_reader import HTTPReader, Known, taken
from .client_tools import ToolHeaders
from .headers import LAST_EVENT_ID, NAME_SOURCES
from .values import HeaderItems, Headers

__all__ = ["HTTPClient"]

_ERAS: Mapping[Known, Literal["legacy", "modern"]] = {"modern": "modern", "streamable": "legacy", "sse": "legacy"}

_RESERVED = frozenset({"accept", "content-type", LAST_EVENT_ID.lower()})
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t -~\x80-\xff]*")

_SESSIONS = 3
"""How many sessions that brought no message may be lost in a row."""
_MESSAGES = (ResultReceived, InputRequired, ErrorReceived, NotificationReceived, ProgressReceived, RequestReceived)
"""What shows that a session is of use."""


class HTTPClient(HTTPReader):
    """A client of the server at a URL: ``connect()``, then ``connection.request(...)`` when `Negotiated` has come.

    It finds out what the server speaks, as `ClientConnection` does, and keeps what HTTP adds: sessions, streams and
    their resumption, headers that mirror messages. Use only the actions of its ``connection``, such as ``request()``;
    its inputs and its output are the client's own business. One rule for drivers: after any call, on the client or on
    its connection, start what ``exchanges_to_start()`` gives, and abort what ``exchanges_to_abort()`` gives. Of each
    exchange tell the client

    - ``receive_response()``, once, when status and headers have come,
    - ``receive_data()`` with each piece of the body as it comes (a stream of events may take hours),
    - ``receive_end()`` at its end, or ``receive_failure()`` if there was no response, or the rest of it will not come.

    What is said of an exchange that is over, since it was aborted, changes nothing.

    Run all exchanges at the same time, each by itself: the stream that a GET opens never ends, and a request may wait
    for the answer to another. Whoever can only run one after the other passes ``listen=False``. Have the HTTP library
    underneath follow no redirects: it would send the headers, and their secrets, elsewhere; a response that is one
    fails, and says where it leads.

    A session that the server has forgotten is followed by a new one: after `SessionLost`, ``connection`` is another
    object, whose requests have other ids. So ask for ``client.connection`` each time, and keep none.

    Not thread-safe: put one lock around it and its connection.

    Args:
        url: where the server is: ``https://example.com/mcp``.
        info, capabilities: as for `ClientConnection`.
        era: as for `ClientConnection`.
        known: what ``known`` said of this server the time before, to save the detours of finding out. Where it turns
            out wrong, they are made.
        headers: what is sent with each request besides, such as Authorization.
        listen: open a stream for what belongs to no request, where a legacy server has one.
        reconnection: how streams that broke are taken up.
        names: the methods whose requests are named in a header, and which member of their params is the name;
            for extensions.
        revisions, limits, codec, manual, strict_capabilities, forwarding, send_info, spec: as for `ClientConnection`.

    Raises:
        LocalProtocolError: the arguments contradict each other, or the URL or a header is none
            (``Reason.CONFIGURATION``).
    """

    def __init__(
        self,
        url: str,
        info: Implementation,
        capabilities: ClientCapabilities | None = None,
        *,
        era: Literal["auto", "legacy", "modern"] = "auto",
        known: Known | None = None,
        headers: HeaderItems = (),
        listen: bool = True,
        reconnection: Reconnection | None = None,
        names: Mapping[str, str] = NAME_SOURCES,
        revisions: Iterable[str] = ALL_REVISIONS,
        limits: Limits | None = None,
        codec: Codec = STDLIB,
        manual: Iterable[str] = (),
        strict_capabilities: bool = True,
        forwarding: bool = False,
        send_info: bool = True,
        spec: Spec = CORE,
    ) -> None:
        try:
            self._url = absolute(url)
        except AddressError as error:
            raise LocalProtocolError(Reason.CONFIGURATION, str(error)) from None
        if known is not None and (known not in _ERAS or era not in ("auto", _ERAS[known])):
            hint = f"known is None or one of {', '.join(_ERAS)}, and fits era={era!r}; it is not {known!r:.40}"
            raise LocalProtocolError(Reason.CONFIGURATION, hint)
        self.headers = headers
        self._limits = limits if limits is not None else Limits()
        self._codec = codec
        self._make = partial(
            ClientConnection,
            info,
            capabilities,
            revisions=revisions if isinstance(revisions, str) else tuple(revisions),
            limits=self._limits,
            codec=codec,
            manual=tuple(manual),
            strict_capabilities=strict_capabilities,
            forwarding=forwarding,
            send_info=send_info,
            spec=spec,
        )
        self._era: Literal["auto", "legacy", "modern"] = era
        self._guess = known
        self._listens = listen
        self._reconnection = reconnection if reconnection is not None else Reconnection()
        self._names = names
        self._known: Known | None = None
        self._timeouts: dict[str, float | None] = {}
        self._now: float | None = None
        self._next_id = 1
        self._lost_sessions = 0
        self._failed = self._closed = False
        self._flows = Flows()
        self._tools = ToolHeaders()
        self._adopt(self._made(era if known is None else _ERAS[known]), sse=known == "sse")

    def __repr__(self) -> str:
        return f"<HTTPClient {self._url.partition('?')[0]} {self.connection!r}>"

    # Facts

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._url

    @property
    def headers(self) -> Headers:
        """What is sent with each request besides; set to whatever the constructor takes.

        Setting it holds for the exchanges that are started afterwards.
        """
        return self._headers

    @headers.setter
    def headers(self, items: HeaderItems) -> None:
        headers = taken(items, Reason.CONFIGURATION)
        for name, value in headers:
            if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
                hint = f"{name[:40]!a} is no name of a header, or its value has characters that cannot be sent"
                raise LocalProtocolError(Reason.CONFIGURATION, hint)
            if name.lower() in _RESERVED or name.lower().startswith("mcp-"):
                raise LocalProtocolError(Reason.CONFIGURATION, f"{name} is for the client itself to send")
        self._headers = headers

    @property
    def known(self) -> Known | None:
        """What the server speaks: keep it, and pass it to the next client of this server. None before that is known."""
        return self._known

    @property
    def listening(self) -> bool:
        """Whether a stream is open for what belongs to no request; see ``listen()``. In HTTP+SSE it always is."""
        return self._sse if self._listener is None else self._listener.decoder is not None

    # The handshake

    def connect(self, *, timeout: float | None = None, probe_timeout: float | None = None, now: float) -> None:
        """Start the handshake: `Negotiated` or `NegotiationFailed` will say how it ended. After the latter, try again.

        Args:
            timeout, probe_timeout: as for ``ClientConnection.connect``; they hold for later sessions too.
            now: seconds on the caller's clock.

        Raises:
            LocalProtocolError: it was called before, and has not failed; or the client is closed.
        """
        if self._closed:
            raise LocalProtocolError(Reason.CLOSED, "the client is closed: make another")
        timeouts = {"timeout": timeout, "probe_timeout": probe_timeout}
        connection, sse = self.connection, self._sse
        if self._failed:
            connection, sse = self._made(self._era), False
        check_time("now", now)
        connection.connect(**timeouts, now=now)
        if self._failed:
            self._adopt(connection, sse=sse)
            self._known = None
        self._now, self._timeouts, self._failed = now, timeouts, False
        self._open()

    def listen(self) -> None:
        """Open the stream on which a legacy server says what belongs to no request, if it is not open.

        It is opened by itself after the handshake, unless ``listen=False`` was passed, and taken up where it broke.

        Raises:
            LocalProtocolError: there is no such stream (``Reason.NOT_IN_REVISION``), or no session yet.
        """
        revision = self.connection.revision
        if revision is None:
            raise LocalProtocolError(Reason.NOT_CONNECTED, "wait for Negotiated before listen()")
        if self._sse or is_modern(revision):
            hint = "there is no such stream; in 2026-07-28 send SubscriptionsListenRequest, in HTTP+SSE it is open"
            raise LocalProtocolError(Reason.NOT_IN_REVISION, hint)
        if self._listener is None:
            self._listener = self._flow(Purpose.LISTEN)
            self._listener.last_event_id = self._listened
            self._flows.start(self._listener)

    def close(self) -> list[HTTPEvent]:
        """End all, from this side: exchanges are aborted, and a session is ended by DELETE. Again, it does nothing.

        What was said before, and needs no answer, can still be sent.

        Returns:
            `ConnectionClosed` with the requests that were in flight.
        """
        if self._closed:
            return []
        self._hold, self._closed = None, True
        self._route()
        events: list[HTTPEvent] = [*self._ended()]
        for flow in self._flows.all():
            if flow.purpose is not Purpose.POST or flow.asks or not self._flows.is_unstarted(flow):
                self._drop(flow)
        self._end_session()
        return events

    def _ended(self) -> list[ConnectionClosed]:
        """Close the connection. What the client asked for by itself is nobody else's business."""
        own = None if self._refresh is None else self._refresh.handle.id
        return [
            ConnectionClosed(pending=tuple(pending for pending in event.pending if pending.id != own))
            for event in self.connection.close()
            if isinstance(event, ConnectionClosed)
        ]

    # Time

    def next_deadline(self) -> float | None:
        """When ``handle_timeout`` is to be called at the latest, in seconds on the caller's clock; None for never."""
        self._route()
        times = [self._flows.next_deadline(), self.connection.next_deadline()]
        if self._unwritable:
            times.append(self._now if self._now is not None else float("-inf"))
        return min((when for when in times if when is not None), default=None)

    def handle_timeout(self, now: float) -> list[HTTPEvent]:
        """Do what its time has come for: end requests, take up streams. Calling it early does nothing.

        Args:
            now: seconds on the caller's clock.

        Returns:
            What ended.
        """
        self._set_clock(now)
        self._route()
        for flow in self._flows.due(now):
            self._drop(flow)
        return self._leave(self.connection.handle_timeout(now), now)

    # Connections that follow each other

    def _made(self, era: Literal["auto", "legacy", "modern"]) -> ClientConnection:
        return self._make(era=era, first_id=self._next_id)

    def _adopt(self, connection: ClientConnection, *, sse: bool) -> None:
        """Speak through a new connection."""
        self.connection = connection
        self._sse = sse
        self._held = deque()
        self._hold = self._handshake = self._listener = self._refresh = None
        self._listened = self._session_id = self._endpoint = self._refusal = None
        self._posts, self._unwritable, self._refused_calls = {}, {}, []

    def _restart(self, era: Literal["auto", "legacy", "modern"], now: float, *, sse: bool) -> None:
        self._collect()
        self._abandon()
        self._adopt(self._made(era), sse=sse)
        self.connection.connect(**self._timeouts, now=now)
        self._open()

    def _open(self) -> None:
        if self._sse:
            self._open_endpoint()
        self._route()

    def _abandon(self) -> None:
        """Give up all flows but those that end a session."""
        self._held.clear()
        self._hold = None
        for flow in self._flows.all():
            if flow.purpose is not Purpose.DELETE:
                self._drop(flow)

    def _released(self, flow: Flow) -> None:
        if flow.purpose is Purpose.POST and self._listens and not self._sse and not self._closed:
            self.listen()

    def _end_session(self) -> None:
        if self._session_id is not None:
            self._flows.start(self._flow(Purpose.DELETE))
            self._session_id = None

    def _session_lost(self, detail: str, now: float, *, forgotten: bool = True) -> list[HTTPEvent]:
        if self._closed:
            return []
        if self.connection.state is ConnectionState.CONNECTING:
            return self._lose_all(detail, now)
        events: list[HTTPEvent] = [SessionLost(detail=detail)]
        lost = f"the session is lost: {detail}"
        for closed in self._ended():
            events += (RequestLost(id=each.id, method=each.method, detail=lost) for each in closed.pending)
        self._lost_sessions += 1
        self._abandon()
        if forgotten:
            self._session_id = None
        self._end_session()
        if self._lost_sessions < _SESSIONS:
            self._restart("legacy", now, sse=self._sse)
            return events
        detail = f"{_SESSIONS} sessions in a row were lost, and brought no message; the last: {detail}"
        return [*events, NegotiationFailed(reason=FailureReason.LOST, detail=detail)]

    # Events of the connection that mean something for HTTP

    def _digest(self, event: HTTPEvent, now: float) -> list[HTTPEvent]:
        if isinstance(event, _MESSAGES):
            self._lost_sessions = 0
        if self._refresh is not None and self._refresh.handle.ended_by(event):
            return self._refreshed(self._refresh, event, now)
        match event:
            case Negotiated(revision=revision):
                self._guess = None
                self._known = "modern" if is_modern(revision) else "sse" if self._sse else "streamable"
            case NegotiationFailed(reason=reason) if self._guess is not None and reason is not FailureReason.LOST:
                self._guess = None
                lost = self._lose_all("what was known of the server is wrong", now)
                self._restart(self._era, now, sse=False)
                return lost
            case NegotiationFailed(detail=detail):
                lost = self._lose_all(f"the handshake failed: {detail}", now)
                self._abandon()
                self._end_session()
                self._failed = True
                return [event, *lost]
            case ResultReceived(method=ListToolsRequest.method) if self._is_modern():
                result, left_out, _ = self._tools.learn(event.result)
                return [*left_out, attrs.evolve(event, result=result) if left_out else event]
            case _:
                pass
        return [event]

    def _is_modern(self) -> bool:
        revision: Any = self.connection.revision
        return self.connection.state is ConnectionState.IDLE or (revision is not None and is_modern(revision))
