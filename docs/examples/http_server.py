"""A server over HTTP: threads of the standard library, for clients of every revision.

It needs the standard library and mcp_sansio. Try it: python http_server.py, then a client on http://127.0.0.1:8000/mcp
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from secrets import token_urlsafe
from socket import MSG_PEEK, SHUT_RDWR, SHUT_WR, socket
from threading import Condition, Thread
from time import monotonic
from typing import Any, cast

from mcp_sansio import Change, ErrorCode, Event, LocalProtocolError, RequestReceived, ServerConnection
from mcp_sansio.http import Endpoint, Exchange, HTTPRequest, HTTPResponse, MemoryEventStore

Serve = Callable[[ServerConnection, Event], None]


class Shared:
    """A connection for several threads: a call holds the lock, then wakes the streams, as one may have to write."""

    def __init__(self, connection: ServerConnection, changed: Condition) -> None:
        self._connection, self._changed = connection, changed

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            with self._changed:
                self._changed.notify_all()
                return attribute(*args, **options)

        with self._changed:
            attribute = getattr(self._connection, name)
        return call if callable(attribute) else attribute


class HTTPServer(ThreadingHTTPServer):
    """Serves an endpoint: ``serve_forever()`` in one thread, ``close()`` in another.

    Args:
        address: host and port.
        endpoint: the endpoint. Whoever calls it, holds ``changed`` and then notifies it.
        serve: called with each event, in a thread for each request, so that it may take its time.
        path: where the endpoint is.
    """

    request_queue_size = 128
    poll = 0.5  # seconds until we notice that a client has gone
    keep_alive = 15.0  # seconds of silence until a client is told that we are still there
    patience = inf  # seconds that a response stays open, where the client can come back for the rest of it

    def __init__(self, address: tuple[str, int], endpoint: Endpoint, serve: Serve, path: str = "/mcp") -> None:
        self.endpoint, self.serve, self.path = endpoint, serve, path
        self.changed = Condition()
        self.exchanges: set[Exchange] = set()
        self.sockets: set[socket] = set()
        super().__init__(address, Handler)

    def publish(self, change: Change) -> None:
        """Tell all clients that asked for it of a change."""
        with self.changed:
            self.endpoint.publish(change)
            self.changed.notify_all()

    def start(self, connection: ServerConnection | None, events: Iterable[Event]) -> None:
        """Serve events in a thread of their own."""
        if connection is not None and events:
            shared = cast(ServerConnection, Shared(connection, self.changed))
            Thread(target=self._serve, args=(shared, events), daemon=True).start()

    def _serve(self, connection: ServerConnection, events: Iterable[Event]) -> None:
        for event in events:
            try:
                self.serve(connection, event)
            except Exception:  # a bug of ours: its text is for our log, not for the client
                traceback.print_exc()
                if isinstance(event, RequestReceived):
                    with suppress(LocalProtocolError):
                        connection.respond_error(event.id, ErrorCode.INTERNAL_ERROR, "Internal error")

    def close(self, grace: float = 5.0) -> None:
        """Accept no more; give what is being served *grace* seconds; then break the connections that are left."""
        self.shutdown()
        with self.changed:
            self.endpoint.end_streams()
            self.changed.notify_all()
            self.changed.wait_for(lambda: not self.exchanges, grace)
            for connection in self.sockets:
                with suppress(OSError):
                    connection.shutdown(SHUT_RDWR)
            self.changed.notify_all()
            self.changed.wait_for(lambda: not self.sockets, grace)
        self.server_close()

    # What the base class calls

    def service_actions(self) -> None:
        """Twice a second: end what has taken too long."""
        with self.changed:
            ended = self.endpoint.handle_timeout(monotonic())
            if ended:
                self.changed.notify_all()
        for connection, event in ended:
            self.start(connection, [event])

    def process_request(self, request: Any, client_address: Any) -> None:
        """A client has connected."""
        with self.changed:
            self.sockets.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """A connection is over."""
        super().shutdown_request(request)
        with self.changed:
            self.sockets.discard(request)
            self.changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Something went wrong with a connection. That its client broke it, is no news."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection of a client's, in a thread of its own."""

    server: HTTPServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60.0  # seconds that a client may take to send or to read something

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name.startswith("do_"):  # the endpoint knows which methods are served
            return self.answer
        raise AttributeError(name)

    def answer(self) -> None:
        """Answer a request."""
        head = HTTPRequest(self.command, self.path, self.headers.items())
        refused = self.refuse(head)
        if refused is not None:
            self.write(refused)
            self.hang_up()
            return
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True
            return
        with self.server.changed:
            request = HTTPRequest(head.method, head.target, head.headers, body)
            exchange = self.server.endpoint.receive_request(request, now=monotonic())
            self.server.exchanges.add(exchange)
            self.server.changed.notify_all()
        self.server.start(exchange.connection, exchange.events)
        try:
            self.write(exchange)
        except OSError:
            self.close_connection = True
        finally:
            with self.server.changed:
                events = exchange.close()
                self.server.exchanges.discard(exchange)
                self.server.changed.notify_all()
            self.server.start(exchange.connection, events)

    def refuse(self, head: HTTPRequest) -> Exchange | None:
        """The answer to a request whose body is not worth reading."""
        if self.path.partition("?")[0] != self.server.path:
            return Exchange().answer(HTTPResponse(404))
        if "Transfer-Encoding" in self.headers:
            return Exchange().answer(HTTPResponse(411))
        return self.server.endpoint.receive_head(head)

    def hang_up(self) -> None:
        """Close the connection, but let the client send for a while: else it might see a reset before our answer."""
        self.close_connection = True
        self.connection.settimeout(1.0)
        with suppress(OSError):
            self.connection.shutdown(SHUT_WR)
            for _ in range(256):
                if not self.rfile.read1(65536):
                    break

    def write(self, exchange: Exchange) -> None:
        """Write the response as it comes, until it is complete; ConnectionResetError if the client has gone."""
        server = self.server
        begun = finished = False
        began = spoke = looked = monotonic()
        while not finished:
            with server.changed:
                data, finished = exchange.data_to_send(), exchange.finished
                if not (data or finished):
                    server.changed.wait(server.poll)
                    if monotonic() - began > server.patience:
                        exchange.pause(retry=500)
                    if monotonic() - spoke > server.keep_alive:
                        exchange.keep_alive()
                    data, finished = exchange.data_to_send(), exchange.finished
                response = exchange.response
            if response is not None and not begun:
                self.begin(response, None if exchange.is_stream else len(data))
                begun = True
            if data:
                self.send(data)
                spoke = monotonic()
            if monotonic() - looked > server.poll:
                looked = monotonic()
                if self.has_gone():
                    raise ConnectionResetError
        if self.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def begin(self, response: HTTPResponse, length: int | None) -> None:
        """Write status and headers."""
        self.send_response(response.status)
        for name, value in response.headers:
            self.send_header(name, value)
        self.chunked = length is None and self.request_version != "HTTP/1.0"
        if self.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif length is None:
            self.close_connection = True
        elif response.status != 204:
            self.send_header("Content-Length", str(length))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def send(self, data: bytes) -> None:
        """Write a part of the body."""
        if self.command != "HEAD":
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if self.chunked else data)

    def has_gone(self) -> bool:
        """Whether the client has closed the connection."""
        self.connection.settimeout(0)
        try:
            return not self.connection.recv(1, MSG_PEEK)
        except BlockingIOError:
            return False
        finally:
            self.connection.settimeout(self.timeout)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing of a request."""


def main() -> None:
    """Serve what stdio_server.py serves, until Ctrl+C."""
    import stdio_server

    endpoint = Endpoint(
        stdio_server.INFO,
        stdio_server.CAPABILITIES,
        new_session_id=token_urlsafe,
        event_store=MemoryEventStore(),
    )
    server = HTTPServer(("127.0.0.1", 8000), endpoint, stdio_server.serve)
    with suppress(KeyboardInterrupt):
        server.serve_forever()
    server.close()


if __name__ == "__main__":
    main()
