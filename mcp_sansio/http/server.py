"""The server's end of Streamable HTTP, all revisions on one endpoint: requests in, responses out, as values.

Source: basic/transports/streamable-http of 2026-07-28, basic/transports of the older revisions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from math import inf
from typing import Any, TypeAlias
from urllib.parse import parse_qs, quote

from ..codec import STDLIB, Codec, DecodeError
from ..connection import Change, Event, MessageInvalid, ServerConnection
from ..errors import LocalProtocolError, Reason
from ..jsonrpc import (
    InvalidMessage,
    JSONObject,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    is_array,
    is_object,
    parse_message,
)
from ..limits import Limits
from ..spec import ALL_REVISIONS, CORE, REVISIONS, Era, ErrorCode, Side, Spec, is_modern, of_era
from ..spec.meta import CLIENT_CAPABILITIES, REQUEST_META
from ..spec.meta import PROTOCOL_VERSION as VERSION_KEY
from ..types import CallToolRequest, Implementation, ServerCapabilities
from .event_store import EventStore
from .exchange import STREAM_TYPE, Accepts, Exchange
from .headers import (
    LAST_EVENT_ID,
    NAME_SOURCES,
    PROTOCOL_VERSION,
    SESSION_ID,
    ParameterHeader,
    ToolHeaderError,
    header_fault,
    parameter_headers,
)
from .modern import ModernExchange
from .refusal import LOCAL_HOSTS, SESSION_GONE, Gate, Refused, served_hosts, served_origins
from .session import Session
from .values import Headers, HTTPRequest, HTTPResponse

__all__ = ["Endpoint"]

_SESSION_ID = re.compile("[!-~]{1,1024}")
_SESSION_PARAMETER = "sessionId"
_PATH = "/%:@!$&'()*+,;=~"
"""What a path may have besides letters and digits, escapes included."""

_Message: TypeAlias = JSONRPCMessage | InvalidMessage


class Endpoint:
    """A server behind one URL.

    For each HTTP request call ``receive_request`` and see `Exchange`. The application serves the events of an exchange
    on its connection, as with any other transport. After any call on a connection, look at the open exchanges again.

    It speaks 2026-07-28, where each request stands alone, and the older revisions, which have sessions, as each request
    asks for. Like a connection it is not thread-safe: put one lock around it.

    The ids of requests are unique on one connection only: keep pending work by connection and id. CORS is the driver's:
    the endpoint answers no OPTIONS, and sets no ``Access-Control-`` headers.

    Args:
        info: what the server calls itself.
        capabilities: what it offers.
        revisions: the revisions that it speaks.
        instructions: how it wants to be used, for the client's model.
        limits: bounds for each connection; `Limits.frame_bytes` bounds the body of a request.
        codec: how JSON is read and written.
        spec: the method table.
        new_session_id: makes the id of a legacy session: unguessable, visible ASCII (``secrets.token_urlsafe``).
            Needed unless only 2026-07-28 is spoken.
        hosts: the names in Host and Origin that are served, without schemes and ports, in any case; None serves any
            Host, and only an Origin of the same host. By default this machine's own names, so that no web page can
            reach a local server.
        origins: values of Origin that are allowed besides.
        event_store: keeps the events of legacy streams, so that clients can take a broken one up again.
        tool_schema: the ``inputSchema`` of a tool by its name, so that ``Mcp-Param-`` headers can be checked; None for
            a tool that isn't there. Needed only if schemas have ``x-mcp-header``.
        name_sources: which member of params ``Mcp-Name`` mirrors, by method: `NAME_SOURCES`, and those of extensions.
        most_sessions: how many sessions are kept; one more ends the one that was silent for longest.
        http_sse: serve HTTP+SSE of 2024-11-05 as well: a GET without a session opens it.
        lenient_accept: serve clients as well whose Accept lacks one of the two types. One that takes no streams gets
            no messages but answers.
        connection_options: further arguments for each `ServerConnection`, such as ``manual``.

    Attributes:
        limits: the limits.

    Raises:
        LocalProtocolError: the arguments contradict each other (``Reason.CONFIGURATION``).
    """

    def __init__(
        self,
        info: Implementation,
        capabilities: ServerCapabilities | None = None,
        *,
        revisions: Iterable[str] = ALL_REVISIONS,
        instructions: str | None = None,
        limits: Limits | None = None,
        codec: Codec = STDLIB,
        spec: Spec = CORE,
        new_session_id: Callable[[], str] | None = None,
        hosts: Collection[str] | None = LOCAL_HOSTS,
        origins: Collection[str] = (),
        event_store: EventStore | None = None,
        tool_schema: Callable[[str], JSONObject | None] | None = None,
        name_sources: Mapping[str, str] = NAME_SOURCES,
        most_sessions: int = 10_000,
        http_sse: bool = False,
        lenient_accept: bool = False,
        connection_options: Mapping[str, Any] | None = None,
    ) -> None:
        given = frozenset([revisions] if isinstance(revisions, str) else revisions)
        self._legacy, self._modern = of_era(Era.LEGACY, given), of_era(Era.MODERN, given)
        if self._legacy and new_session_id is None:
            detail = "legacy revisions have sessions: give new_session_id, such as secrets.token_urlsafe"
            raise LocalProtocolError(Reason.CONFIGURATION, detail)
        if new_session_id is not None and not callable(new_session_id):
            detail = "new_session_id is a function without arguments that gives an id, such as secrets.token_urlsafe"
            raise LocalProtocolError(Reason.CONFIGURATION, detail)
        self.limits = limits if limits is not None else Limits()
        methods = ("POST", "GET", "DELETE") if self._legacy else ("POST",)
        self._gate = Gate(
            methods, served_hosts(hosts), served_origins(origins), lenient_accept, self.limits.frame_bytes
        )
        self._codec = codec
        self._spec = spec
        self._new_session_id = new_session_id
        self._store = event_store
        self._tool_schema = tool_schema
        self._name_sources = name_sources
        self._http_sse = http_sse
        self._most_sessions = most_sessions
        self._declaration = (info, capabilities)
        self._options: dict[str, Any] = {
            **(connection_options or {}),
            "instructions": instructions,
            "limits": self.limits,
            "codec": codec,
            "spec": spec,
        }
        self._sessions: dict[str, Session] = {}  # the one that was silent for longest first
        self._ended: list[tuple[ServerConnection, Event]] = []
        self._exchanges: set[ModernExchange] = set()
        self._connect(given)  # whatever is wrong with the arguments shows now

    def _connect(self, revisions: Iterable[str]) -> ServerConnection:
        return ServerConnection(*self._declaration, revisions=revisions, **self._options)

    def __repr__(self) -> str:
        return f"<Endpoint sessions={len(self._sessions)} exchanges={len(self._exchanges)}>"

    # What a driver calls

    def receive_head(self, request: HTTPRequest) -> Exchange | None:
        """Look at a request before its body is read.

        Returns:
            The answer to a request that is refused by what is known already: leave its body unread, and close the HTTP
            connection after the answer. None where it is to be read, and given to ``receive_request``.
        """
        try:
            self._gate.check(request)
        except Refused as refusal:
            return Exchange().answer(refusal.response())
        return None

    def receive_request(self, request: HTTPRequest, *, now: float | None = None) -> Exchange:
        """Take an HTTP request with its whole body.

        Args:
            request: the request.
            now: seconds on the caller's clock; needed while a request of the server's has a time-out.

        Returns:
            What becomes of it. Whatever a client sends, nothing is raised for it.
        """
        try:
            accepts = self._gate.check(request)
            if request.method == "POST":
                return self._post(request, accepts, now)
            return self._get(request) if request.method == "GET" else self._delete(request)
        except Refused as refusal:
            return Exchange().answer(refusal.response())

    @property
    def sessions(self) -> Mapping[str, Session]:
        """The legacy sessions, by id."""
        return self._sessions

    def publish(self, change: Change) -> int:
        """Tell of a change all clients that asked to be told, as `ServerConnection.publish` does for one.

        Returns:
            How many messages were queued.
        """
        sessions = [session.publish(change) for session in list(self._sessions.values())]
        return sum(sessions) + sum(exchange.publish(change) for exchange in list(self._exchanges))

    def end_session(self, session_id: str) -> list[Event]:
        """End a legacy session from this side; the client will get 404.

        Returns:
            What happened on its connection; nothing where there is no such session.
        """
        session = self._sessions.get(session_id)
        return [] if session is None else session.close()

    def restore_session(self, data: JSONObject, now: float | None = None) -> Session:
        """Take up a session that ``Session.snapshot`` gave, perhaps in another process.

        Args:
            data: the snapshot.
            now: as for `ServerConnection.restore`.
        """
        connection = ServerConnection.restore(
            data["connection"], now, limits=self.limits, codec=self._codec, spec=self._spec
        )
        return Session.restore(data, connection, self._sessions, self.limits, self._store)

    def next_deadline(self) -> float | None:
        """When ``handle_timeout`` is to be called at the latest, in seconds on the caller's clock; None for never."""
        if self._ended:
            return -inf
        deadlines = [session.connection.next_deadline() for session in self._sessions.values()]
        return min((when for when in deadlines if when is not None), default=None)

    def handle_timeout(self, now: float) -> list[tuple[ServerConnection, Event]]:
        """End what has taken too long. Calling it early does nothing.

        Args:
            now: seconds on the caller's clock.

        Returns:
            What ended, with the connection that it ended on.
        """
        ended, self._ended = self._ended, []
        connections = [session.connection for session in self._sessions.values()]
        return ended + [(connection, event) for connection in connections for event in connection.handle_timeout(now)]

    def end_streams(self) -> None:
        """End the streams that would go on for ever, before the server goes down: subscriptions, and those of GET.

        Requests that are being served can still be answered, and sessions still be kept.
        """
        for exchange in list(self._exchanges):
            exchange.end_subscription()
        for session in list(self._sessions.values()):
            session.stop_listening()

    # POST

    def _post(self, request: HTTPRequest, accepts: Accepts, now: float | None) -> Exchange:
        try:
            value = self._codec.decode(request.body, self.limits)
        except DecodeError as error:
            raise Refused(400, ErrorCode.PARSE_ERROR, f"Parse error: {error}") from None
        if is_array(value):
            batch = [parse_message(each, id_length=self.limits.id_length) for each in value]
            return self._batch(request, batch, accepts, now)
        message = parse_message(value, id_length=self.limits.id_length)
        if isinstance(message, InvalidMessage):
            detail = f"Invalid message: {message.detail}"
            raise Refused(400, ErrorCode.INVALID_REQUEST, detail, id=message.id)
        if self._is_modern(request.headers, message):
            return self._modern_exchange(request, message, accepts)
        if isinstance(message, JSONRPCRequest) and self._opens_session(request, message):
            return self._open_session(request, message, accepts, now)
        session = self._session_of_post(request, message)
        return self._session_exchange(session, request, [message], accepts, now)

    def _is_modern(self, headers: Headers, message: JSONRPCMessage) -> bool:
        """Whether a message is of the modern era: by what is spoken here, then by what it carries."""
        if not (self._modern and self._legacy):
            return bool(self._modern)
        if isinstance(message, JSONRPCResponse):
            return False
        meta = (message.params or {}).get("_meta")
        if is_object(meta) and any(key.name in meta for key in REQUEST_META):
            return True
        named = headers.get(PROTOCOL_VERSION)
        if named is not None and named in REVISIONS:
            return is_modern(named)
        rows = self._spec.rows(Side.CLIENT, message.method)
        return bool(rows) and all(is_modern(row.since) for row in rows)

    # 2026-07-28

    def _modern_exchange(self, request: HTTPRequest, message: JSONRPCMessage, accepts: Accepts) -> Exchange:
        if isinstance(message, JSONRPCResponse):
            raise Refused(400, ErrorCode.INVALID_REQUEST, "clients send no responses in this revision")
        connection = self._connect(self._modern)
        if isinstance(message, JSONRPCNotification):
            events = connection.receive_message(request.body)
            invalid = [event.detail for event in events if isinstance(event, MessageInvalid)]
            refusal = Refused(400, ErrorCode.INVALID_REQUEST, "; ".join(invalid))
            return Exchange(connection, events).answer(refusal.response() if invalid else HTTPResponse(202))
        has_meta = _has_meta(message)
        if has_meta:
            parameters = self._parameters(message)
            fault = header_fault(request.headers, message, parameters, names=self._name_sources)
            if fault is not None:
                raise Refused(400, ErrorCode.HEADER_MISMATCH, f"Header mismatch: {fault}", id=message.id)
        if not accepts.stream and any(row.listens for row in self._spec.rows(Side.CLIENT, message.method)):
            detail = f"{message.method} is answered by a stream: Accept must list {STREAM_TYPE}"
            raise Refused(406, ErrorCode.INVALID_REQUEST, detail, id=message.id)
        exchange = ModernExchange(
            connection, accepts, self.limits, message.id, has_meta=has_meta, open_exchanges=self._exchanges
        )
        exchange.events += connection.receive_message(request.body)
        return exchange

    def _parameters(self, message: JSONRPCRequest) -> tuple[ParameterHeader, ...]:
        name = (message.params or {}).get("name")
        if self._tool_schema is None or message.method != CallToolRequest.method or not isinstance(name, str):
            return ()
        schema = self._tool_schema(name)
        try:
            return () if schema is None else parameter_headers(schema)
        except ToolHeaderError:
            return ()  # a client leaves such a tool out

    # The older revisions

    def _opens_session(self, request: HTTPRequest, message: JSONRPCRequest) -> bool:
        once = any(row.once for row in self._spec.rows(Side.CLIENT, message.method))
        return once and not request.headers.get_all(SESSION_ID) and self._http_sse_session(request) is None

    def _open_session(
        self, request: HTTPRequest, message: JSONRPCRequest, accepts: Accepts, now: float | None
    ) -> Exchange:
        session = self._new_session()
        exchange = session.post(request.body, [message.id], accepts, now, opens_session=True)
        if exchange.finished and session.connection.revision is None:
            session.close()  # it was refused
        return exchange

    def _new_session(self, *, http_sse: bool = False) -> Session:
        assert self._new_session_id is not None
        session_id = self._new_session_id()
        if not _SESSION_ID.fullmatch(session_id) or session_id in self._sessions:
            detail = "new_session_id gives visible ASCII, and never the same twice"
            raise LocalProtocolError(Reason.CONFIGURATION, detail)
        while len(self._sessions) >= self._most_sessions:
            idle = (session for session in self._sessions.values() if not session.has_exchanges)
            oldest = next(idle, next(iter(self._sessions.values())))
            self._ended += ((oldest.connection, event) for event in oldest.close())
        connection = self._connect(self._legacy)
        return Session(session_id, connection, self._sessions, self.limits, self._store, http_sse=http_sse)

    def _batch(self, request: HTTPRequest, messages: list[_Message], accepts: Accepts, now: float | None) -> Exchange:
        if any(REVISIONS[revision].batches for revision in self._legacy):
            session = self._session_of_post(request)
            revision = session.connection.revision
            if revision is not None and REVISIONS[revision].batches:
                return self._session_exchange(session, request, messages, accepts, now)
        raise Refused(400, ErrorCode.INVALID_REQUEST, "send each message by itself")

    def _session_exchange(
        self, session: Session, request: HTTPRequest, messages: list[_Message], accepts: Accepts, now: float | None
    ) -> Exchange:
        self._check_version(request.headers)
        requests = [message.id for message in messages if isinstance(message, JSONRPCRequest)]
        known = set(session.connection.owed)
        for request_id in requests:
            if request_id in known:
                detail = "the id belongs to another request in flight"
                raise Refused(400, ErrorCode.INVALID_REQUEST, detail, id=request_id)
            known.add(request_id)
        return session.post(request.body, requests, accepts, now)

    def _session_of_post(self, request: HTTPRequest, message: JSONRPCMessage | None = None) -> Session:
        session = self._http_sse_session(request)
        if session is not None:
            return session
        if isinstance(message, JSONRPCRequest) and not request.headers.get_all(SESSION_ID):
            known = any(self._spec.method(Side.CLIENT, message.method, revision) for revision in self._legacy)
            if not known:  # which tells a client that asks for another era more than that it has no session
                detail = f"Method not found: {message.method[:80]}"
                raise Refused(200, ErrorCode.METHOD_NOT_FOUND, detail, id=message.id)
        return self._session(request.headers)

    def _http_sse_session(self, request: HTTPRequest) -> Session | None:
        """The session of HTTP+SSE of 2024-11-05 that a POST names in its target."""
        query = request.target.partition("?")[2] if self._http_sse else ""
        named = parse_qs(query).get(_SESSION_PARAMETER, [])
        session = self._find(named[0]) if len(named) == 1 else None
        return session if session is not None and session.http_sse else None

    def _find(self, session_id: str) -> Session | None:
        session = self._sessions.get(session_id)
        if session is not None:
            self._sessions[session_id] = self._sessions.pop(session_id)  # to the end
        return session

    def _session(self, headers: Headers) -> Session:
        named = headers.get_all(SESSION_ID)
        if len(named) != 1 or not _SESSION_ID.fullmatch(named[0]):
            raise Refused(400, ErrorCode.INVALID_REQUEST, f"one {SESSION_ID} header is needed, as initialize gave it")
        session = self._find(named[0])
        if session is None or session.http_sse:
            raise SESSION_GONE
        return session

    def _check_version(self, headers: Headers) -> None:
        """A version that is named must be one that is spoken; one of another session's is served all the same."""
        for named in headers.get_all(PROTOCOL_VERSION):
            if named not in self._legacy:
                detail = f"{PROTOCOL_VERSION} is one of {', '.join(self._legacy)} here"
                raise Refused(400, ErrorCode.INVALID_REQUEST, detail)

    # GET and DELETE

    def _get(self, request: HTTPRequest) -> Exchange:
        if self._http_sse and not request.headers.get_all(SESSION_ID):
            return self._open_http_sse(request)
        session = self._session(request.headers)
        self._check_version(request.headers)
        last = request.headers.get(LAST_EVENT_ID)
        exchange = session.resume(last) if last else session.listen()
        if exchange is None:
            raise Refused(400, ErrorCode.INVALID_REQUEST, "nothing that comes after this event is kept")
        return exchange

    def _open_http_sse(self, request: HTTPRequest) -> Exchange:
        """HTTP+SSE of 2024-11-05: the first event names where to POST to."""
        session = self._new_session(http_sse=True)
        exchange = session.listen()
        path = quote(request.target.partition("?")[0], safe=_PATH, errors="replace")
        exchange.write(f"{path}?{_SESSION_PARAMETER}={quote(session.id, safe='')}".encode(), event="endpoint")
        return exchange

    def _delete(self, request: HTTPRequest) -> Exchange:
        session = self._session(request.headers)
        self._check_version(request.headers)
        return Exchange(session.connection, session.close()).answer(HTTPResponse(204))


def _has_meta(message: JSONRPCRequest) -> bool:
    """Whether a request says its version and the client's capabilities."""
    meta = (message.params or {}).get("_meta")
    return is_object(meta) and isinstance(meta.get(VERSION_KEY), str) and is_object(meta.get(CLIENT_CAPABILITIES))
