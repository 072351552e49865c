"""A server over HTTP as an ASGI application, for clients of every revision.

It needs mcp_sansio, and a server such as uvicorn. Try it: uvicorn asgi_app:app --timeout-graceful-shutdown 5, then a
client on http://127.0.0.1:8000/mcp
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from secrets import token_urlsafe
from typing import Any, cast

import stdio_server

from mcp_sansio import Change, ErrorCode, Event, LocalProtocolError, RequestReceived, ServerConnection
from mcp_sansio.http import Endpoint, Exchange, HTTPRequest, HTTPResponse, MemoryEventStore

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Serve = Callable[[ServerConnection, Event], Awaitable[None]]


class Waking:
    """A connection, each call of which wakes the streams, since one of them may have something to write then."""

    def __init__(self, connection: ServerConnection, wake: Callable[[], None]) -> None:
        self._connection, self._wake = connection, wake

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            try:
                return attribute(*args, **options)
            finally:
                self._wake()

        attribute = getattr(self._connection, name)
        return call if callable(attribute) else attribute


class App:
    """An endpoint as an ASGI application. All of it runs in one event loop, so it needs no lock.

    Args:
        endpoint: the endpoint.
        serve: called with each event, in a task for each request.
        path: where the endpoint is.
    """

    keep_alive = 15.0  # seconds of silence until a client is told that we are still there

    def __init__(self, endpoint: Endpoint, serve: Serve, path: str = "/mcp") -> None:
        self.endpoint, self.serve, self.path = endpoint, serve, path
        self._changed: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def publish(self, change: Change) -> None:
        """Tell all clients that asked for it of a change."""
        self.endpoint.publish(change)
        self._wake()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            raise NotImplementedError(f"{scope['type']} is not served")
        target = f"{scope['path']}?{scope['query_string'].decode('latin-1')}"
        request = HTTPRequest(scope["method"], target, scope["headers"])
        exchange = Exchange().answer(HTTPResponse(404)) if scope["path"] != self.path else None
        exchange = exchange or self.endpoint.receive_head(request)
        if exchange is None:
            body = await self._body(receive)
            if body is None:
                return
            request = HTTPRequest(request.method, target, request.headers, body)
            exchange = self.endpoint.receive_request(request, now=asyncio.get_running_loop().time())
        self._start(exchange.connection, exchange.events)
        gone = asyncio.create_task(_disconnected(receive))
        try:
            await self._write(exchange, gone, send)
        finally:
            gone.cancel()
            self._start(exchange.connection, exchange.close())

    async def _body(self, receive: Receive) -> bytes | None:
        """The body of a request, or more of it than is allowed; None if the client has gone."""
        body, more = bytearray(), True
        while more and len(body) <= self.endpoint.limits.frame_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return bytes(body)

    async def _write(self, exchange: Exchange, gone: asyncio.Task[None], send: Send) -> None:
        """Write the response as it comes, until it is complete or the client has gone."""
        begun = finished = False
        now = asyncio.get_running_loop().time
        spoke = now()
        while not finished and not gone.done():
            changed = self._next_change()
            data, finished, response = exchange.data_to_send(), exchange.finished, exchange.response
            if response is not None and not begun:
                begun = True
                fields = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers]
                if not exchange.is_stream and response.status != 204:
                    fields.append((b"content-length", b"%d" % len(data)))
                await send({"type": "http.response.start", "status": response.status, "headers": fields})
            if data or finished:
                await send({"type": "http.response.body", "body": data, "more_body": not finished})
                spoke = now()
            elif now() - spoke >= self.keep_alive:
                exchange.keep_alive()
                spoke = now()
            else:
                silence = spoke + self.keep_alive - now()
                await asyncio.wait([gone, changed], timeout=silence, return_when=asyncio.FIRST_COMPLETED)

    def _start(self, connection: ServerConnection | None, events: Iterable[Event]) -> None:
        """Serve events in a task of their own, and wake the streams."""
        if connection is not None and events:
            waking = cast(ServerConnection, Waking(connection, self._wake))
            task = asyncio.create_task(self._serve(waking, events))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._wake()

    async def _serve(self, connection: ServerConnection, events: Iterable[Event]) -> None:
        for event in events:
            try:
                await self.serve(connection, event)
            except Exception:  # a bug of ours: its text is for our log, not for the client
                traceback.print_exc()
                if isinstance(event, RequestReceived):
                    with suppress(LocalProtocolError):
                        connection.respond_error(event.id, ErrorCode.INTERNAL_ERROR, "Internal error")

    def _next_change(self) -> asyncio.Future[None]:
        """What is done when a stream may have something to write."""
        if self._changed is None:
            self._changed = asyncio.get_running_loop().create_future()
        return self._changed

    def _wake(self) -> None:
        """Something has changed: wake the streams, and see when the next time-out is."""
        if self._changed is not None:
            self._changed.set_result(None)
            self._changed = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = self.endpoint.next_deadline()
        if deadline is not None:
            self._timer = asyncio.get_running_loop().call_at(deadline, self._time_out)

    def _time_out(self) -> None:
        for connection, event in self.endpoint.handle_timeout(asyncio.get_running_loop().time()):
            self._start(connection, [event])
        self._wake()


async def _disconnected(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def serve(server: ServerConnection, event: Event) -> None:
    """Serve what stdio_server.py serves."""
    stdio_server.serve(server, event)


app = App(
    Endpoint(
        stdio_server.INFO, stdio_server.CAPABILITIES, new_session_id=token_urlsafe, event_store=MemoryEventStore()
    ),
    serve,
)
