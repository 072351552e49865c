"""How a client over HTTP speaks: which message goes into which HTTP request, and when."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final, cast

from ..connection import ClientConnection, ConnectionState, Outgoing
from ..connection.checks import meta_of
from ..jsonrpc import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, RequestId
from ..spec import MODERN_REVISIONS, Side, is_modern
from ..spec.meta import PROTOCOL_VERSION as VERSION_KEY
from ..types import DiscoverRequest, InitializedNotification, InitializeRequest
from .client_flows import ClientExchange, Flow, Flows, Purpose
from .client_tools import ToolHeaders
from .headers import LAST_EVENT_ID, PROTOCOL_VERSION, SESSION_ID, HeaderError, request_headers
from .values import Headers, HTTPRequest

__all__ = ["HTTPSender"]

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"

_HANDSHAKE = frozenset({DiscoverRequest.method, InitializeRequest.method})


class HTTPSender:
    """What an `HTTPClient` does with the messages that its connection writes."""

    connection: ClientConnection

    _url: str
    _headers: Headers
    _names: Mapping[str, str]
    _flows: Flows
    _tools: ToolHeaders
    _next_id: int
    _held: deque[Outgoing]
    _hold: Flow | None
    _handshake: Flow | None
    _posts: dict[RequestId, Flow]
    _unwritable: dict[RequestId, str]
    _session_id: str | None
    _sse: bool
    _endpoint: str | None

    # Output

    def exchanges_to_start(self) -> list[ClientExchange]:
        """Take the HTTP requests that are to be sent now, each at once: none waits for another's response."""
        self._route()
        started: list[ClientExchange] = []
        for flow in self._flows.take_started():
            self._settle(flow)
            if flow.resumes and flow.outgoing is not None and not flow.waiting:
                self._end(flow)  # answered elsewhere meanwhile
            else:
                started.append(ClientExchange(flow.key, self._http_request(flow)))
        return started

    def exchanges_to_abort(self) -> list[int]:
        """Take the keys of the exchanges that are to be closed, whether or not their responses have come.

        What still comes of them changes nothing.
        """
        self._route()
        return self._flows.take_aborted()

    def _route(self) -> None:
        """Make flows of what the connection has to say, unless all must wait for one that is under way."""
        self._collect()
        while self._held and self._hold is None:
            self._post(self._held.popleft())

    def _collect(self) -> None:
        """Take what the connection has to say, and note which ids no later connection may use again."""
        for outgoing in self.connection.messages_to_send():
            self._held.append(outgoing)
            for message in Flow.of(outgoing).messages:
                if isinstance(message, JSONRPCRequest) and isinstance(message.id, int):
                    self._next_id = max(self._next_id, message.id + 1)

    def _post(self, outgoing: Outgoing) -> None:
        flow = self._flow(Purpose.POST, outgoing)
        if self._cancels(outgoing):
            return
        requests = [message for message in flow.messages if isinstance(message, JSONRPCRequest)]
        if not self._mirror(flow):
            return
        if self.connection.state is ConnectionState.CONNECTING and any(each.method in _HANDSHAKE for each in requests):
            if self._handshake is not None:
                self._drop(self._handshake)
            self._handshake = flow
        elif any(message.method == InitializedNotification.method for message in _notifications(flow)):
            self._hold = flow  # some servers refuse what overtakes it
        self._posts.update(dict.fromkeys(flow.waiting, flow))
        self._flows.start(flow)

    def _cancels(self, outgoing: Outgoing) -> bool:
        """Whether giving up a stream says all that a cancel has to say; the stream is given up then."""
        if outgoing.cancels is None:
            return False
        flow = self._posts.get(outgoing.cancels)
        never_started = flow is not None and self._drop(flow)
        return never_started or outgoing.closes_stream is not None

    def _flow(self, purpose: Purpose, outgoing: Outgoing | None = None) -> Flow:
        flow = Flow(purpose) if outgoing is None else Flow.of(outgoing)
        revision = self.connection.revision
        if revision is not None and not is_modern(revision):
            flow.revision = revision
        flow.session_id = self._session_id
        return flow

    def _mirror(self, flow: Flow) -> bool:
        """Add the headers that say what a modern message says; what they cannot say is remembered, and not sent."""
        message = flow.messages[0]
        revision = self._modern_revision(message)
        if revision is not None:
            try:
                flow.mirrored = request_headers(message, revision, self._tools.of(message), names=self._names)
            except HeaderError as error:  # which only requests have headers for
                self._unwritable[cast(JSONRPCRequest, message).id] = f"it was not sent: {error}"
                return False
        return True

    def _modern_revision(self, message: JSONRPCMessage) -> str | None:
        """The modern revision in whose terms a message is written; None where that is a legacy one."""
        revision = self.connection.revision
        if revision is not None:
            return revision if is_modern(revision) else None
        named = meta_of(message.params).get(VERSION_KEY) if isinstance(message, JSONRPCRequest) else None
        return named if named in MODERN_REVISIONS else None

    def _http_request(self, flow: Flow) -> HTTPRequest:
        fields = list(self._headers)
        body = b""
        if flow.purpose is Purpose.DELETE:
            method = "DELETE"
        elif flow.outgoing is not None and not flow.resumes:
            method, body = "POST", flow.outgoing.data
            fields += [("Content-Type", JSON), ("Accept", f"{JSON}, {EVENTS}"), *flow.mirrored]
        else:
            method = "GET"
            fields.append(("Accept", EVENTS))
            if flow.last_event_id:
                fields.append((LAST_EVENT_ID, flow.last_event_id))
        if flow.session_id is not None:
            fields.append((SESSION_ID, flow.session_id))
        if flow.revision is not None:
            fields.append((PROTOCOL_VERSION, flow.revision))
        url = self._endpoint if method == "POST" and self._endpoint is not None else self._url
        return HTTPRequest(method, url, Headers(fields), body)

    def _settle(self, flow: Flow) -> None:
        """Strike out what has been answered, on whichever stream, or has ended otherwise."""
        flow.waiting.intersection_update(self.connection.conversation.open_requests(Side.CLIENT))

    def _drop(self, flow: Flow) -> bool:
        """Give up a flow; tell whether its exchange never started."""
        self._forget(flow)
        return self._flows.drop(flow)

    def _end(self, flow: Flow) -> None:
        """Note that a flow has done what it was for."""
        self._forget(flow)
        self._flows.end(flow)

    def _forget(self, flow: Flow) -> None:
        for message in flow.messages:
            if isinstance(message, JSONRPCRequest) and self._posts.get(message.id) is flow:
                del self._posts[message.id]
        if self._handshake is flow:
            self._handshake = None
        if self._hold is flow:
            self._hold = None
            self._released(flow)

    def _released(self, flow: Flow) -> None:
        """Messages that waited for *flow* can be sent."""
        raise NotImplementedError


def _notifications(flow: Flow) -> list[JSONRPCNotification]:
    return [message for message in flow.messages if isinstance(message, JSONRPCNotification)]
