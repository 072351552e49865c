"""A client over HTTP, the exchanges that it has under way, and a clock: a server is played by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import attrs

from mcp_sansio import Negotiated
from mcp_sansio import types as t
from mcp_sansio.http import HTTPClient, HTTPEvent, HTTPRequest
from mcp_sansio.sse import encode_event

from .pair import CLIENT_CAN, INFO, JSON, MODERN, discover_result, initialize_result, result

URL = "https://example.com/mcp"
SESSION = "session-1"


@attrs.frozen
class Sent:
    """An exchange that the client has started."""

    key: int
    request: HTTPRequest

    @property
    def message(self) -> JSON:
        return json.loads(self.request.body)

    @property
    def id(self) -> JSON:
        return self.message["id"]

    def header(self, name: str) -> str | None:
        return self.request.headers.get(name)

    def __str__(self) -> str:
        said = self.message.get("method", "response") if self.request.body.startswith(b"{") else ""
        return f"{self.request.method} {said}".strip()


def sse(*messages: JSON, **fields: Any) -> bytes:
    """Messages as a stream of events; bytes are taken as they are."""
    written = (m if isinstance(m, bytes) else encode_event(json.dumps(m), **fields) for m in messages)
    return b"".join(written)


class Wire:
    """``sent()`` takes what the client has started; ``answer()`` and the others let things come of it."""

    def __init__(self, url: str = URL, **settings: Any) -> None:
        self.client = HTTPClient(url, INFO, settings.pop("capabilities", CLIENT_CAN), **settings)
        self.now = 0.0
        self.events: list[HTTPEvent] = []

    @property
    def connection(self) -> Any:
        return self.client.connection

    def sent(self) -> list[Sent]:
        return [Sent(exchange.key, exchange.request) for exchange in self.client.exchanges_to_start()]

    def one(self) -> Sent:
        (sent,) = self.sent()
        return sent

    def aborted(self) -> list[int]:
        return self.client.exchanges_to_abort()

    def begin(self, sent: Sent, status: int = 200, kind: str | None = None, headers: Any = ()) -> list[HTTPEvent]:
        """Status and headers come."""
        given = [*dict(headers).items()] if isinstance(headers, dict) else [*headers]
        if kind is not None:
            given.append(("Content-Type", kind))
        return self._note(self.client.receive_response(sent.key, status, given, now=self.now))

    def data(self, sent: Sent, data: bytes) -> list[HTTPEvent]:
        return self._note(self.client.receive_data(sent.key, data, now=self.now))

    def end(self, sent: Sent) -> list[HTTPEvent]:
        return self._note(self.client.receive_end(sent.key, now=self.now))

    def fail(self, sent: Sent, detail: str = "connection reset") -> list[HTTPEvent]:
        return self._note(self.client.receive_failure(sent.key, detail, now=self.now))

    def answer(
        self,
        sent: Sent,
        body: JSON = b"",
        status: int = 200,
        kind: str | None = "application/json",
        headers: Any = (),
    ) -> list[HTTPEvent]:
        """A whole response; a body that is no bytes is JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return [*self.begin(sent, status, kind, headers), *self.data(sent, data), *self.end(sent)]

    def stream(
        self, sent: Sent, *messages: JSON, headers: Any = (), end: bool = True, **fields: Any
    ) -> list[HTTPEvent]:
        """A response that is a stream of events."""
        events = [*self.begin(sent, 200, "text/event-stream", headers), *self.data(sent, sse(*messages, **fields))]
        return [*events, *self.end(sent)] if end else events

    def accept(self, sent: Sent) -> list[HTTPEvent]:
        """What there is to say about a notification."""
        return [*self.begin(sent, 202), *self.end(sent)]

    def wait(self) -> list[HTTPEvent]:
        """Let the time come for which the client waits."""
        deadline = self.client.next_deadline()
        assert deadline is not None
        self.now = max(self.now, deadline)
        return self._note(self.client.handle_timeout(self.now))

    def _note(self, events: Iterable[HTTPEvent]) -> list[HTTPEvent]:
        told = list(events)
        self.events += told
        return told


def connected(**settings: Any) -> Wire:
    """A client in the handshake."""
    timeouts = {name: settings.pop(name, None) for name in ("timeout", "probe_timeout")}
    wire = Wire(**settings)
    wire.client.connect(**timeouts, now=wire.now)
    return wire


SERVES = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "logging": {}}


def opened(
    revision: str = MODERN,
    *,
    session: str | None = SESSION,
    listening: bool = False,
    serves: JSON = None,
    **settings: Any,
) -> Wire:
    """A client that has found a server of a revision, on Streamable HTTP."""
    modern = revision == MODERN
    wire = connected(era="modern" if modern else "legacy", **settings)
    first = wire.one()
    capabilities = SERVES if serves is None else serves
    if modern:
        (event,) = wire.answer(first, discover_result(first.id, capabilities=capabilities))
    else:
        headers = {} if session is None else {"Mcp-Session-Id": session}
        answer = initialize_result(first.id, revision, capabilities=capabilities)
        (event,) = wire.answer(first, answer, headers=headers)
        wire.accept(wire.one())
        if settings.get("listen", True):
            get = wire.one()
            if listening:
                wire.begin(get, 200, "text/event-stream")
                wire.listening = get
            else:
                wire.answer(get, status=405)
    assert isinstance(event, Negotiated)
    assert event.revision == revision
    return wire


CALLED = {"content": [{"type": "text", "text": "done"}]}


def done(request_id: JSON) -> JSON:
    """The result of a call, in any revision."""
    return result(request_id, {**CALLED, "resultType": "complete"})


def call(wire: Wire, name: str = "t", arguments: JSON = None, **options: Any) -> tuple[Any, Sent]:
    """A call under way: its handle and its exchange."""
    handle = wire.connection.request(t.CallToolRequest(name, arguments or {}), **options)
    return handle, wire.one()


def kinds(events: Any) -> list[type]:
    return [type(event) for event in events]
