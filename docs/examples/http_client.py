"""A client of a server over HTTP: synchronous, for servers of every revision.

It needs the standard library, mcp_sansio and stdio_client.py. Try it: python http_server.py, then python
http_client.py URL
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, Queue
from socket import SHUT_RDWR, socket
from threading import Thread
from time import monotonic
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from stdio_client import LISTS, RequestFailed, pages

import mcp_sansio as mcp
from mcp_sansio import types as t
from mcp_sansio.http import ClientExchange, HTTPClient, HTTPEvent

R = TypeVar("R", bound=t.Result)
CONNECTIONS = {"http": HTTPConnection, "https": HTTPSConnection}


class Client:
    """A server at a URL: ``with Client("http://127.0.0.1:8000/mcp") as client: client.request(ListToolsRequest())``.

    Each exchange has a thread that does nothing but move bytes. Only the caller's thread uses the HTTPClient.
    """

    timeout = 30.0  # seconds for an answer

    def __init__(self, url: str, era: Literal["auto", "legacy", "modern"] = "auto", **settings: Any) -> None:
        settings = {"info": t.Implementation("http_client", "1.0"), "era": era, **settings}
        self.http = HTTPClient(url, **settings)
        self._received = Queue[Callable[[], list[HTTPEvent]]]()
        self._sockets: dict[int, socket] = {}
        self._aborted: set[int] = set()
        self._threads: list[Thread] = []

    def __enter__(self) -> Client:
        self.http.connect(timeout=self.timeout, now=monotonic())
        try:
            event = self.wait_for(lambda event: isinstance(event, mcp.Negotiated | mcp.NegotiationFailed))
            if isinstance(event, mcp.NegotiationFailed):
                raise ConnectionError(event.detail)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session, and all that is under way."""
        self.http.close()
        self._drive()
        for thread in self._threads:
            thread.join(2.0)

    def request(self, request: t.Request[R], timeout: float | None = None) -> R:
        """Ask, and wait for the result; RequestFailed if there is none."""
        seconds = self.timeout if timeout is None else timeout
        handle = self.http.connection.request(request, timeout=seconds, now=monotonic())
        event = self.wait_for(handle.ended_by)
        if handle.answered_by(event):
            return event.result
        raise RequestFailed(handle.method, event)

    def on_event(self, event: HTTPEvent) -> None:
        """Called with all that happens. Override it to serve requests of the server's, and to hear notifications."""
        if isinstance(event, mcp.RequestReceived):
            self.http.connection.respond_error(event.id, mcp.ErrorCode.METHOD_NOT_FOUND, "not served here")

    def wait_for(self, wanted: Callable[[HTTPEvent], bool]) -> Any:
        """Wait for an event, and let everything else happen meanwhile."""
        while True:
            for event in self.step():
                if wanted(event):
                    return event

    def step(self) -> list[HTTPEvent]:
        """After any call, start and abort exchanges; then wait for what comes of them, or for a deadline."""
        self._drive()
        deadline = self.http.next_deadline()
        events: list[HTTPEvent] = []
        with suppress(Empty):
            events = self._received.get(timeout=None if deadline is None else max(0.0, deadline - monotonic()))()
        events += self.http.handle_timeout(monotonic())
        for event in events:
            self.on_event(event)
        self._drive()
        return events

    def _drive(self) -> None:
        for exchange in self.http.exchanges_to_start():
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            self._threads.append(Thread(target=self._exchange, args=(exchange,), daemon=True))
            self._threads[-1].start()
        for key in self.http.exchanges_to_abort():
            self._aborted.add(key)
            with suppress(KeyError, OSError):
                self._sockets[key].shutdown(SHUT_RDWR)

    def _exchange(self, exchange: ClientExchange) -> None:
        """What a thread does: it leaves in the queue what the HTTPClient is to be told."""
        key, request, http = exchange.key, exchange.request, self.http
        url = urlsplit(request.target)
        connection = CONNECTIONS[url.scheme](url.netloc, timeout=self.timeout)
        try:
            connection.connect()
            connection.sock.settimeout(None)
            self._sockets[key] = connection.sock
            if key in self._aborted:
                raise ConnectionAbortedError("aborted")
            connection.putrequest(request.method, url._replace(scheme="", netloc="").geturl() or "/")
            for name, value in (*request.headers, ("Content-Length", str(len(request.body)))):
                connection.putheader(name, value)
            connection.endheaders(request.body)
            response = connection.getresponse()
            status, headers = response.status, response.getheaders()
            self._received.put(lambda: http.receive_response(key, status, headers, now=monotonic()))
            while data := response.read1(65536):
                self._received.put(lambda data=data: http.receive_data(key, data, now=monotonic()))
            if response.length:
                raise HTTPException(f"{response.length} bytes of the response are missing")
            self._received.put(lambda: http.receive_end(key, now=monotonic()))
        except (OSError, HTTPException, ValueError) as error:
            detail = f"{type(error).__name__}: {error}"
            self._received.put(lambda: http.receive_failure(key, detail, now=monotonic()))
        finally:
            self._sockets.pop(key, None)
            self._aborted.discard(key)
            connection.close()


def main() -> None:
    """List everything that the server at the URL of the command line has."""
    with Client(sys.argv[1]) as client:
        connection = client.http.connection
        print(connection.peer_info, connection.revision)
        for member, kind in LISTS.items():
            if connection.can_send(kind.method):
                print(f"{member}: {', '.join(item.name for item in pages(client, member))}")


if __name__ == "__main__":
    main()
