"""An endpoint, requests to it, and what their responses say: what the tests of the HTTP server share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from mcp_sansio import Limits, RequestReceived
from mcp_sansio import types as t
from mcp_sansio.http import Endpoint, Exchange, Headers, HTTPRequest, MemoryEventStore
from mcp_sansio.http.headers import LAST_EVENT_ID, PROTOCOL_VERSION, SESSION_ID, request_headers
from mcp_sansio.jsonrpc import JSONRPCRequest
from mcp_sansio.sse import EventStreamDecoder, ServerSentEvent

from .pair import INFO, INITIALIZED, JSON, MODERN, SERVER_CAN, initialize, modern

BOTH = "application/json, text/event-stream"
HEADERS = {"Host": "localhost:8000", "Accept": BOTH, "Content-Type": "application/json"}


class Reader:
    """Reads the response of an exchange as a client does, piece by piece."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.events: list[ServerSentEvent] = []
        self._decoder = EventStreamDecoder(2**30)
        self._body = b""

    @property
    def status(self) -> int:
        response = self.exchange.response
        assert response is not None, "there is no response yet"
        return response.status

    def header(self, name: str) -> str | None:
        response = self.exchange.response
        assert response is not None
        return response.headers.get(name)

    def take(self) -> list[ServerSentEvent]:
        """The events of a stream that are new; a whole body is one event."""
        data = self.exchange.data_to_send()
        if self.exchange.is_stream:
            new: list[Any] = self._decoder.receive_data(data)
        else:
            self._body += data
            new = [ServerSentEvent(self._body.decode())] if self.exchange.finished and data else []
        self.events += new
        return new

    def messages(self) -> list[JSON]:
        """The messages that are new."""
        return [json.loads(event.data) for event in self.take() if event.data]

    def message(self) -> JSON:
        """The only message of the response, which is over."""
        (message,) = self.messages()
        assert self.exchange.finished
        return message

    @property
    def error(self) -> JSON:
        """The error in the response."""
        return self.message()["error"]

    @property
    def retry(self) -> int | None:
        return self._decoder.retry


class Site:
    """An endpoint, and requests to it. ``now`` is the clock; sessions are named s1, s2 and so on."""

    def __init__(self, **settings: Any) -> None:
        numbers = settings.pop("numbers", None) or count(1)
        given = {"new_session_id": lambda: f"s{next(numbers)}", "event_store": MemoryEventStore(), **settings}
        self.endpoint = Endpoint(INFO, given.pop("capabilities", SERVER_CAN), **given)
        self.now: float | None = None

    def send(
        self,
        method: str,
        body: bytes = b"",
        headers: Mapping[str, str | None] | Iterable[tuple[str, str]] = (),
        target: str = "/mcp",
    ) -> Reader:
        """Send a request with the usual headers, and these instead or besides; None leaves a header out."""
        if isinstance(headers, Mapping):
            changed = {**HEADERS, **headers}
            given = [(name, value) for name, value in changed.items() if value is not None]
        else:
            given = [*HEADERS.items(), *headers]
        return Reader(self.endpoint.receive_request(HTTPRequest(method, target, Headers(given), body), now=self.now))

    def post(self, message: JSON, session: str | None = None, **headers: str | None) -> Reader:
        """POST a message of a legacy session, or of none."""
        named = {} if session is None else {SESSION_ID: session}
        return self.send("POST", json.dumps(message).encode(), {**named, **_names(headers)})

    def modern(
        self, request_id: JSON, method: str, params: JSON = None, *, headers: Any = None, **meta: JSON
    ) -> Reader:
        """POST a modern request, with the headers that belong to it."""
        message = modern(request_id, method, params, **meta)
        mirrored = dict(request_headers(JSONRPCRequest(request_id, method, message["params"]), MODERN))
        return self.send("POST", json.dumps(message).encode(), {**mirrored, **(headers or {})})

    def open(self, revision: str = "2025-11-25", **params: JSON) -> str:
        """Open a session, and give its id."""
        opened = self.post(initialize("init", revision, **params))
        session = opened.header(SESSION_ID)
        assert session is not None, opened.message()
        assert self.post(INITIALIZED, session).status == 202
        return session

    def get(self, session: str, last_event_id: str | None = None) -> Reader:
        """GET a stream of a session."""
        resumed = {LAST_EVENT_ID: last_event_id} if last_event_id is not None else {}
        return self.send("GET", headers={SESSION_ID: session, "Content-Type": None, **resumed})

    def delete(self, session: str) -> Reader:
        return self.send("DELETE", headers={SESSION_ID: session})


def _names(headers: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def tools_list(request_id: JSON = 1) -> JSON:
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/list"}


def call(request_id: JSON = 1, token: JSON = None, name: str = "add") -> JSON:
    """A tool call of a legacy session."""
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": {"name": name, **meta}}


def serve(reader: Reader, result: t.Result | None = None) -> None:
    """Answer the requests that an exchange brought."""
    connection = reader.exchange.connection
    for event in reader.exchange.events:
        if isinstance(event, RequestReceived):
            assert connection is not None
            connection.respond(event.id, result if result is not None else RESULTS[event.method])


RESULTS: dict[str, t.Result] = {
    "tools/list": t.ListToolsResult([]),
    "tools/call": t.CallToolResult([t.TextContent("done")]),
    "resources/list": t.ListResourcesResult([]),
    "resources/templates/list": t.ListResourceTemplatesResult([]),
    "resources/read": t.ReadResourceResult([]),
    "resources/subscribe": t.EmptyResult(),
    "resources/unsubscribe": t.EmptyResult(),
    "prompts/list": t.ListPromptsResult([]),
    "prompts/get": t.GetPromptResult([]),
    "completion/complete": t.CompleteResult(t.Completion([])),
    "logging/setLevel": t.EmptyResult(),
}
"""A result for each method that an application serves; those of tasks aside."""

SMALL = Limits(frame_bytes=2000)
__all__ = [
    "BOTH",
    "HEADERS",
    "PROTOCOL_VERSION",
    "RESULTS",
    "SMALL",
    "Reader",
    "Site",
    "call",
    "serve",
    "tools_list",
]
