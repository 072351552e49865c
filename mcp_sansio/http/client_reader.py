"""What comes of the exchanges of a client over HTTP: which responses say what, and what follows from it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from ..codec import Codec, DecodeError
from ..connection import ErrorReceived, MessageInvalid, ResultReceived
from ..connection.sender import check_time
from ..errors import LocalProtocolError, Reason
from ..jsonrpc import Error, JSONRPCErrorResponse, JSONRPCRequest, RequestId, message_to_json, parse_message, peek
from ..limits import Limits
from ..spec import LATEST_LEGACY, RULES, ErrorCode, Violation
from ..sse import OverlongEvent
from ..types import InitializedNotification, InitializeRequest, ListToolsRequest
from .authorization import Challenge, parse_challenge
from .client_address import AddressError, resolved
from .client_events import AuthorizationRequired, HTTPEvent, MessageRefused, StreamLost
from .client_flows import Flow, Purpose, Reconnection
from .client_sender import EVENTS, JSON, HTTPSender
from .client_tools import Refresh, called_tool
from .headers import SESSION_ID, has_media_type
from .statuses import is_modern_error
from .values import HeaderItems, Headers

__all__ = ["HTTPReader", "Known", "taken"]

Known: TypeAlias = Literal["modern", "streamable", "sse"]
"""What a server speaks: 2026-07-28; Streamable HTTP with a handshake; HTTP+SSE of 2024-11-05."""

_VISIBLE = re.compile(r"[!-~]+")
_SHOWN = 200

_UNAUTHORIZED = frozenset({401, 403})
_OLDER = frozenset({400, 404, 405})
"""After these to initialize, HTTP+SSE is tried (basic/transports#backwards-compatibility of 2025-11-25)."""
_NO_STREAM = 405
"""The server has no stream for what belongs to no request."""
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""After these to a GET, it is tried again."""

_LINGER = 5.0
"""Seconds within which the server should end a stream that has brought its answer."""
_REFRESH_TIMEOUT = 30.0
"""Seconds to wait for each page of tools, where a call was refused for its headers."""


def taken(items: HeaderItems, reason: Reason) -> Headers:
    """Headers from the caller.

    Raises:
        LocalProtocolError: they are none.
    """
    try:
        return Headers(items)
    except (TypeError, ValueError):
        hint = "headers are a mapping, or pairs of name and value, all of them str or bytes"
        raise LocalProtocolError(reason, hint) from None


class HTTPReader(HTTPSender):
    """What an `HTTPClient` does with what comes."""

    _codec: Codec
    _limits: Limits
    _reconnection: Reconnection
    _now: float | None
    _known: Known | None
    _listener: Flow | None
    _listened: str | None
    _refusal: tuple[str, Error | None] | None
    _refresh: Refresh | None
    _refused_calls: list[tuple[Flow, Error]]

    # Input

    def receive_response(self, key: int, status: int, headers: HeaderItems = (), *, now: float) -> list[HTTPEvent]:
        """Note status and headers of a response.

        Args:
            key: of the exchange.
            status: the status code, 200 to 999: responses before the final one are none of the client's business.
            headers: its header fields, repeated ones as they came.
            now: seconds on the caller's clock.

        Returns:
            What happened.

        Raises:
            LocalProtocolError: there is no such exchange, its response came before, ``now`` is no time, or status
                or headers are none (``Reason.INVALID_PAYLOAD``).
        """
        _check_status(status)
        fields = taken(headers, Reason.INVALID_PAYLOAD)
        flow = self._running(key, now)
        if flow is None:
            return []
        if flow.status is not None:
            raise LocalProtocolError(Reason.UNKNOWN_REQUEST, f"the response of exchange {key} has begun before")
        flow.status, flow.headers = status, fields
        return self._leave(self._begun(flow, status, now), now)

    def receive_data(self, key: int, data: bytes | bytearray | memoryview, *, now: float) -> list[HTTPEvent]:
        """Take the next bytes of a response's body, without its transfer and content codings.

        Args:
            key: of the exchange.
            data: any number of bytes, cut anywhere.
            now: seconds on the caller's clock.

        Returns:
            What happened, in the order of the bytes.

        Raises:
            LocalProtocolError: there is no such exchange, its response has not begun, ``now`` is no time, or data are
                no bytes (``Reason.INVALID_PAYLOAD``).
        """
        _check_bytes(data)
        flow = self._running(key, now, begun=True)
        if flow is None:
            return []
        return self._leave(self._stream(flow, data, now) if flow.decoder else self._body(flow, data, now), now)

    def receive_end(self, key: int, *, now: float) -> list[HTTPEvent]:
        """Note that a response is complete.

        Args:
            key: of the exchange.
            now: seconds on the caller's clock.

        Returns:
            What happened.

        Raises:
            LocalProtocolError: there is no such exchange, its response has not begun, or ``now`` is no time.
        """
        flow = self._running(key, now, begun=True)
        if flow is None:
            return []
        if flow.decoder is not None:
            return self._leave(self._stream_over(flow, "the stream ended", now), now)
        return self._leave(self._complete(flow, now), now)

    def receive_failure(self, key: int, detail: str | BaseException, *, now: float) -> list[HTTPEvent]:
        """Note that there is no response, or that the rest of it will not come.

        Args:
            key: of the exchange.
            detail: what happened, for a person; or the exception that says so.
            now: seconds on the caller's clock.

        Returns:
            What happened.

        Raises:
            LocalProtocolError: there is no such exchange, or ``now`` is no time.
        """
        detail = str(detail) or repr(detail)
        flow = self._running(key, now)
        if flow is None:
            return []
        if flow.decoder is not None or flow.purpose is not Purpose.POST or flow.resumes:
            return self._leave(self._stream_over(flow, detail, now), now)
        if flow.status is not None and not _is_success(flow.status):
            return self._leave(self._refused(flow, flow.status, now), now)
        if flow is self._hold:  # nobody can know whether the session is open
            self._flows.end(flow)
            detail = f"{InitializedNotification.method} may not have arrived: {detail}"
            return self._leave(self._session_lost(detail, now, forgotten=False), now)
        self._end(flow)
        return self._leave(self._lose(flow, detail, now), now)

    def _running(self, key: int, now: float, *, begun: bool = False) -> Flow | None:
        check_time("now", now)
        flow = self._flows.running(key)
        if begun and flow is not None and flow.status is None:
            raise LocalProtocolError(Reason.UNKNOWN_REQUEST, f"call receive_response({key}, ...) first")
        self._set_clock(now)
        return flow

    def _set_clock(self, now: float) -> None:
        check_time("now", now)
        if self._now is None or now > self._now:
            self._now = now

    def _leave(self, events: Iterable[HTTPEvent], now: float) -> list[HTTPEvent]:
        """What a call tells in the end."""
        told = [each for event in events for each in self._digest(event, now)]
        self._route()
        unwritable, self._unwritable = self._unwritable, {}
        for request_id, detail in unwritable.items():
            told += self.connection.lose_request(request_id, detail, now=now)
        return told

    # What the whole client decides

    def _digest(self, event: HTTPEvent, now: float) -> list[HTTPEvent]:
        """Act on an event; what is told of it."""
        raise NotImplementedError

    def _session_lost(self, detail: str, now: float, *, forgotten: bool = True) -> list[HTTPEvent]:
        """Start anew; *forgotten* says whether the server knows nothing of the session any more."""
        raise NotImplementedError

    # Responses

    def _begun(self, flow: Flow, status: int, now: float) -> list[HTTPEvent]:
        if flow.purpose is Purpose.DELETE:
            self._end(flow)
            return []
        if flow.purpose is not Purpose.POST or flow.resumes:
            return self._stream_begun(flow, status, now)
        if not _is_success(status):
            return []  # the body says why
        self._settle(flow)
        if not flow.waiting or self._sse:  # accepted: nothing more is to come here
            if has_media_type(flow.headers.get("Content-Type"), EVENTS):
                self._drop(flow)
            else:
                self._end(flow)
            return []
        fault = self._take_session(flow) if _initializes(flow) else None
        kind = flow.headers.get("Content-Type")
        if has_media_type(kind, EVENTS):
            flow.open_stream(self._limits.frame_bytes)
        elif not has_media_type(kind, JSON):
            said = "no Content-Type" if kind is None else f"Content-Type {kind[:80]!a}"
            fault = fault or f"HTTP {status} with {said}, where {JSON} or {EVENTS} is expected"
        if fault is not None:
            self._drop(flow)
            return self._lose(flow, fault, now, answered=True)
        return []

    def _take_session(self, flow: Flow) -> str | None:
        """Take the id of the session that a response opens; what is wrong with it."""
        given = {value for value in flow.headers.get_all(SESSION_ID) if value}
        if len(given) > 1 or not all(_VISIBLE.fullmatch(value) for value in given):
            return f"{SESSION_ID} is one value of visible ASCII"
        for value in given:
            self._session_id = flow.session_id = value
        return None

    def _stream_begun(self, flow: Flow, status: int, now: float) -> list[HTTPEvent]:
        """A response to a GET."""
        kind = flow.headers.get("Content-Type")
        if _is_success(status) and has_media_type(kind, EVENTS):
            flow.open_stream(self._limits.frame_bytes)
            return []
        detail = f"GET was answered {_shown(status, flow.headers)}"
        if _is_success(status):
            detail += f" with {'no Content-Type' if kind is None else ascii(kind[:80])}, which is no stream of events"
            self._flows.drop(flow)
        events = self._challenge(flow, status)
        if flow.purpose is Purpose.ENDPOINT:
            return events + self._no_endpoint(flow, detail, now, answered=not _says_nothing(status))
        if status in _PASSING:
            return self._stream_over(flow, detail, now)
        if status == 404 and flow.session_id is not None and flow.opened:
            return self._session_lost(detail, now)
        return events + self._give_up(flow, detail, now, quietly=status == _NO_STREAM)

    def _body(self, flow: Flow, data: bytes | bytearray | memoryview, now: float) -> list[HTTPEvent]:
        flow.body += data
        status = flow.status or 0
        if len(flow.body) <= self._limits.frame_bytes:
            return []
        self._flows.drop(flow)
        if _is_success(status):
            self._end(flow)
            return self._lose(flow, self._too_long(), now, answered=True)
        flow.body.clear()
        return self._refused(flow, status, now)

    def _complete(self, flow: Flow, now: float) -> list[HTTPEvent]:
        status = flow.status or 0
        if not _is_success(status):
            return self._refused(flow, status, now)
        events = self._feed(flow, bytes(flow.body), now) if flow.body.strip() else []
        self._end(flow)
        return events + self._lose(flow, f"HTTP {status} holds no answer to the request", now, answered=True)

    def _refused(self, flow: Flow, status: int, now: float) -> list[HTTPEvent]:
        """A response to a POST that is no success."""
        in_handshake = flow is self._handshake
        self._end(flow)
        self._settle(flow)
        error = self._error_in(flow)
        detail = _shown(status, flow.headers)
        if error is not None:
            detail += f": {error.message} ({error.code})"
        events = self._challenge(flow, status)
        unknown_method = error is not None and error.code == ErrorCode.METHOD_NOT_FOUND
        if status == 404 and flow.session_id is not None and not unknown_method:
            return events + self._session_lost(detail, now)
        if not flow.waiting:
            if flow.asks:
                return events
            message = flow.carried.message
            return [*events, MessageRefused(message=message, detail=detail, status=status, error=error)]
        if in_handshake:
            return events + self._handshake_refused(flow, status, error, detail, now)
        if error is not None and self._is_mismatch(flow, error) and self._list_tools(ListToolsRequest(), now):
            self._refused_calls.append((flow, error))
            return events
        if error is not None and flow.request is not None:
            return events + self._answer(flow.request.id, error, now)
        return events + self._lose(flow, detail, now, answered=not _says_nothing(status))

    def _handshake_refused(
        self, flow: Flow, status: int, error: Error | None, detail: str, now: float
    ) -> list[HTTPEvent]:
        """What a refusal says about the server's era, if anything (Backward Compatibility, 2026-07-28)."""
        modern = error is not None and is_modern_error(status, error.code)
        unsupported = error is not None and error.code == ErrorCode.UNSUPPORTED_PROTOCOL_VERSION
        initializes = _initializes(flow)
        if _says_nothing(status) or (modern and not unsupported and not initializes):
            return self._lose(flow, detail, now)
        if initializes and not modern and status in _OLDER and not self._sse and self._known is None:
            self._refusal = (detail, error)
            self._held.appendleft(flow.carried)
            self._open_endpoint()
            return []
        if error is not None and flow.request is not None:
            return self._answer(flow.request.id, error, now)
        return self._lose(flow, detail, now, answered=True)

    def _challenge(self, flow: Flow, status: int) -> list[HTTPEvent]:
        """What the server says about tokens."""
        challenge = parse_challenge(flow.headers)
        if status not in _UNAUTHORIZED or (status == 403 and challenge is None):
            return []
        challenge = challenge or Challenge("bearer")
        return [
            AuthorizationRequired(
                status=status,
                request_id=None if flow.request is None else flow.request.id,
                resource_metadata=challenge.resource_metadata,
                scope=challenge.scope,
                error=challenge.error,
                error_description=challenge.error_description,
            )
        ]

    def _error_in(self, flow: Flow) -> Error | None:
        """The JSON-RPC error that a body holds, if it is about what was sent."""
        try:
            value = self._codec.decode(bytes(flow.body), self._limits)
        except DecodeError:
            return None
        response = parse_message(value, id_length=self._limits.id_length)
        if not isinstance(response, JSONRPCErrorResponse):
            return None
        about_another = response.id is not None and flow.waiting and response.id not in flow.waiting
        return None if about_another else response.error

    # Streams

    def _stream(self, flow: Flow, data: bytes | bytearray | memoryview, now: float) -> list[HTTPEvent]:
        events: list[HTTPEvent] = []
        waited = bool(flow.waiting)
        for item in flow.decoder.receive_data(data) if flow.decoder else ():
            flow.heard = True
            if not self._flows.is_running(flow):
                break
            if isinstance(item, OverlongEvent):
                events += self._overlong(item.head, now)
            elif item.event == "endpoint" and flow.purpose is Purpose.ENDPOINT:
                events += self._endpoint_named(flow, item.data, now)
            elif item.event == "message" and item.data:
                events += self._feed(flow, item.data_bytes, now)
        if waited and not flow.waiting:
            self._flows.limit(flow, now, _LINGER)
        return events

    def _stream_over(self, flow: Flow, detail: str, now: float) -> list[HTTPEvent]:
        """A stream ended or broke, or could not be had for the moment."""
        cut = flow.note_end()
        self._settle(flow)
        if flow.purpose is Purpose.DELETE:
            self._end(flow)
        elif flow.purpose is Purpose.ENDPOINT:
            return self._endpoint_over(flow, detail, now)
        elif flow.purpose is Purpose.POST and not flow.waiting:
            self._end(flow)
        elif flow.purpose is Purpose.POST and (flow.mirrored or not flow.resumes):
            self._end(flow)
            return self._lose(flow, f"{detail} without the answer{', and cut an event' if cut else ''}", now)
        elif flow.failures > self._reconnection.attempts:
            return self._give_up(flow, f"{detail}; {flow.failures} attempts in a row brought no event", now)
        else:
            self._flows.end(flow)
            self._flows.start_later(flow, now, self._reconnection.seconds(flow.failures, flow.retry))
        return []

    def _give_up(self, flow: Flow, detail: str, now: float, *, quietly: bool = False) -> list[HTTPEvent]:
        self._end(flow)
        if flow is not self._listener:
            return self._lose(flow, detail, now)
        self._listener, self._listened = None, flow.last_event_id
        return [] if quietly else [StreamLost(detail=detail)]

    # HTTP+SSE of 2024-11-05

    def _open_endpoint(self) -> None:
        self._sse = True
        self._hold = self._flow(Purpose.ENDPOINT)
        self._flows.start(self._hold)

    def _endpoint_named(self, flow: Flow, reference: str, now: float) -> list[HTTPEvent]:
        if self._endpoint is not None:
            return []
        try:
            self._endpoint = resolved(reference, self._url)
        except AddressError as error:
            self._flows.drop(flow)
            return self._no_endpoint(flow, f"the endpoint event: {error}", now, answered=True)
        self._hold = None
        return []

    def _no_endpoint(self, flow: Flow, detail: str, now: float, *, answered: bool) -> list[HTTPEvent]:
        """There is no HTTP+SSE here either."""
        self._end(flow)
        self._sse = False
        initialize = self._held.popleft()
        if self._refusal is None:
            return self._lose(Flow.of(initialize), detail, now, answered=answered)
        (refusal, error), self._refusal = self._refusal, None
        flow = Flow.of(initialize)
        if error is not None and flow.request is not None:
            return self._answer(flow.request.id, error, now)
        return self._lose(flow, f"{refusal} to initialize; {detail}", now, answered=True)

    def _endpoint_over(self, flow: Flow, detail: str, now: float) -> list[HTTPEvent]:
        if self._endpoint is None:
            return self._no_endpoint(flow, f"GET: {detail} without an endpoint", now, answered=False)
        self._end(flow)
        return self._session_lost(detail, now)

    # Messages

    def _feed(self, flow: Flow, data: bytes, now: float) -> list[HTTPEvent]:
        """Take a message; an error that names no request is about what the flow carried."""
        events: list[HTTPEvent] = []
        for event in self.connection.receive_message(data, now=now):
            if isinstance(event, ErrorReceived) and event.id is None and flow.request and flow.waiting:
                events += self._answer(flow.request.id, event.error, now)
            else:
                events.append(event)
        self._settle(flow)
        return events

    def _answer(self, request_id: RequestId, error: Error, now: float) -> list[HTTPEvent]:
        """End a request with an error."""
        response = JSONRPCErrorResponse(request_id, error)
        return [*self.connection.receive_message(self._codec.encode(message_to_json(response)), now=now)]

    def _lose(self, flow: Flow, detail: str, now: float, *, answered: bool = False) -> list[HTTPEvent]:
        """End what a flow carried and nobody has answered."""
        self._settle(flow)
        if not flow.asks:
            return [MessageRefused(message=flow.carried.message, detail=detail)]
        return [
            event
            for message in flow.messages
            if isinstance(message, JSONRPCRequest) and message.id in flow.waiting
            for event in self.connection.lose_request(message.id, detail, answered=answered, now=now)
        ]

    def _lose_all(self, detail: str, now: float) -> list[HTTPEvent]:
        return [
            event
            for request_id in self.connection.in_flight
            for event in self.connection.lose_request(request_id, detail, now=now)
        ]

    def _overlong(self, head: bytes, now: float) -> list[HTTPEvent]:
        seen = peek(head, id_length=self._limits.id_length)
        if seen.kind == "response" and seen.id is not None:
            lost = self.connection.lose_request(seen.id, self._too_long(), answered=True, now=now)
            if lost:
                return [*lost]
        level = RULES["LIB-001"].level_in(self.connection.revision or LATEST_LEGACY)
        violations = (Violation("LIB-001", level, self._too_long()),)
        return [MessageInvalid(detail=self._too_long(), data=head[:_SHOWN], violations=violations)]

    def _too_long(self) -> str:
        return f"the message is longer than {self._limits.frame_bytes} bytes"

    # Calls that were refused for their headers

    def _is_mismatch(self, flow: Flow, error: Error) -> bool:
        is_call = flow.request is not None and called_tool(flow.request) is not None
        return is_call and bool(flow.mirrored) and not flow.retried and error.code == ErrorCode.HEADER_MISMATCH

    def _list_tools(self, request: ListToolsRequest, now: float) -> bool:
        """Ask for a page of the tools, to call again with the headers that they want now."""
        if self._refresh is not None and request.cursor is None:
            return True
        try:
            handle = self.connection.request(request, timeout=_REFRESH_TIMEOUT, now=now)
        except LocalProtocolError:
            return False
        if self._refresh is None:
            self._refresh = Refresh(handle)
        self._refresh.handle = handle
        return True

    def _refreshed(self, refresh: Refresh, event: HTTPEvent, now: float) -> list[HTTPEvent]:
        """A page of the tools has come, or none will."""
        events: list[HTTPEvent] = []
        if isinstance(event, ResultReceived):
            _, left_out, names = self._tools.learn(event.result)
            events += left_out
            refresh.seen |= names
            cursor = refresh.next_cursor(event.result)
            missing = any(self._is_missing(flow, refresh) for flow, _ in self._refused_calls)
            if missing and cursor is not None and self._list_tools(ListToolsRequest(cursor), now):
                return events
        calls, self._refused_calls, self._refresh = self._refused_calls, [], None
        for flow, error in calls:
            events += self._call_again(flow, error, refresh.seen, now)
        return events

    def _is_missing(self, flow: Flow, refresh: Refresh) -> bool:
        """Whether the tool of a call that still matters has not been listed so far."""
        self._settle(flow)
        return bool(flow.waiting) and called_tool(flow.messages[0]) not in refresh.seen

    def _call_again(self, flow: Flow, error: Error, tools: set[str], now: float) -> list[HTTPEvent]:
        self._settle(flow)
        flow.retried = True
        if not flow.waiting or flow.request is None:
            return []
        if called_tool(flow.request) not in tools:
            return self._answer(flow.request.id, error, now)
        if self._mirror(flow):
            self._posts[flow.request.id] = flow
            self._flows.start(flow)
        return []


def _check_status(status: Any) -> None:
    if not isinstance(status, int) or isinstance(status, bool) or not 200 <= status < 1000:
        raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"status is a number of 200 to 999, not {status!r:.40}")


def _check_bytes(data: Any) -> None:
    if not isinstance(data, bytes | bytearray | memoryview):
        raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"data are bytes, as they came, not {type(data).__name__}")


def _shown(status: int, headers: Headers) -> str:
    """A status for a person, and where a redirect leads."""
    location = headers.get("Location")
    if not 300 <= status < 400 or location is None:
        return f"HTTP {status}"
    return f"HTTP {status} to {location[:_SHOWN]!a}; redirects are not followed: connect to that URL instead"


def _is_success(status: int) -> bool:
    return 200 <= status < 300


def _says_nothing(status: int) -> bool:
    """Whether a status says nothing about what the server speaks."""
    return status in _UNAUTHORIZED or (not 200 <= status < 300 and not 400 <= status < 500)


def _initializes(flow: Flow) -> bool:
    return flow.request is not None and flow.request.method == InitializeRequest.method
