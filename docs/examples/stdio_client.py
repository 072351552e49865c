"""A client of a server that it starts as a subprocess: synchronous, for servers of every revision.

It needs the standard library and mcp_sansio. Try it: python stdio_client.py python stdio_server.py
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import IO, Any, Literal, TypeVar

import mcp_sansio as mcp
from mcp_sansio import types as t

R = TypeVar("R", bound=t.Result)
LISTS: dict[str, type[t.PaginatedRequest[Any]]] = {
    "tools": t.ListToolsRequest,
    "resources": t.ListResourcesRequest,
    "resource_templates": t.ListResourceTemplatesRequest,
    "prompts": t.ListPromptsRequest,
}


class RequestFailed(Exception):
    """The server gave something else than the result: ``event``."""

    def __init__(self, method: str, event: object) -> None:
        why = getattr(event, "error", None) or getattr(event, "detail", "the server wants to ask the user first")
        super().__init__(f"{method}: {why}")
        self.event = event


class StdioClient:
    """A server as a subprocess: ``with StdioClient(["server"]) as client: client.request(ListToolsRequest())``.

    Two threads do nothing but move bytes, so that neither a full pipe nor a silent server holds us up. Only the
    caller's thread uses the connection. What the server writes to stderr goes where ours goes.
    """

    timeout = 30.0  # seconds for an answer
    grace = 2.0  # seconds to exit

    def __init__(self, command: Sequence[str], era: Literal["auto", "legacy", "modern"] = "auto") -> None:
        self.command = command
        self.connection = mcp.ClientConnection(t.Implementation("stdio_client", "1.0"), era=era)
        self._received, self._to_send = Queue[bytes](), Queue[bytes]()

    def __enter__(self) -> StdioClient:
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        reader = Thread(target=_read, args=(self.process.stdout, self._received), daemon=True)
        writer = Thread(target=_write, args=(self.process.stdin, self._to_send), daemon=True)
        self._threads = (reader, writer)
        try:
            reader.start()
            writer.start()
            self.connection.connect(timeout=self.timeout, now=monotonic())
            event = self._wait_for(lambda event: isinstance(event, mcp.Negotiated | mcp.NegotiationFailed))
            if isinstance(event, mcp.NegotiationFailed):
                raise ConnectionError(event.detail)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the server's input and wait; terminate it and wait; kill it."""
        self.connection.close()
        self._to_send.put(b"")
        for force in (None, self.process.terminate, self.process.kill):
            if force is not None:
                force()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(self.grace)
                break
        for thread in self._threads:
            thread.join(self.grace)

    def request(self, request: t.Request[R], timeout: float | None = None) -> R:
        """Ask, and wait for the result; RequestFailed, ConnectionError or TimeoutError if there is none."""
        seconds = self.timeout if timeout is None else timeout
        handle = self.connection.request(request, timeout=seconds, now=monotonic())
        event = self._wait_for(handle.ended_by)
        if handle.answered_by(event):
            return event.result
        if isinstance(event, mcp.RequestTimedOut):
            raise TimeoutError(f"{event.method} was not answered in {seconds} seconds")
        raise RequestFailed(handle.method, event)

    def on_event(self, event: mcp.Event) -> None:
        """Called with all that happens. Override it to serve requests of the server's, and to hear notifications."""
        if isinstance(event, mcp.RequestReceived):
            self.connection.respond_error(event.id, mcp.ErrorCode.METHOD_NOT_FOUND, "not served here")

    def _wait_for(self, wanted: Callable[[mcp.Event], bool]) -> mcp.Event:
        """Drive the connection: after any call, write what it has to say; then wait for bytes or a deadline."""
        while True:
            self._send()
            deadline = self.connection.next_deadline()
            wait = None if deadline is None else max(0.0, deadline - monotonic())
            events: list[mcp.Event] = []
            with suppress(Empty):
                data, now = self._received.get(timeout=wait), monotonic()
                events = self.connection.receive_data(data, now=now) if data else self.connection.receive_eof(now=now)
            events += self.connection.handle_timeout(monotonic())
            for event in events:
                self.on_event(event)
            self._send()
            for event in events:
                if isinstance(event, mcp.ConnectionClosed):
                    raise ConnectionError(f"the server closed its output, and left {event.pending}")
                if wanted(event):
                    return event

    def _send(self) -> None:
        if data := self.connection.data_to_send():
            self._to_send.put(data)


def _read(pipe: IO[bytes], received: Queue[bytes]) -> None:
    with pipe:
        while data := pipe.read(65536):
            received.put(data)
    received.put(b"")


def _write(pipe: IO[bytes], to_send: Queue[bytes]) -> None:
    with suppress(OSError), pipe:  # a server that is gone shows when we read
        while data := to_send.get():
            while data:
                data = data[pipe.write(data) :]


def pages(client: Any, member: str) -> Iterator[Any]:
    """All items of a list, page by page."""
    cursor = None
    while True:
        page = client.request(LISTS[member](cursor))
        yield from getattr(page, member)
        if (cursor := page.next_cursor) is None:
            return


def main() -> None:
    """Start the server that the command line gives, and list everything it has."""
    with StdioClient(sys.argv[1:]) as client:
        print(client.connection.peer_info, client.connection.revision)
        for member, kind in LISTS.items():
            if client.connection.can_send(kind.method):
                print(f"{member}: {', '.join(item.name for item in pages(client, member))}")


if __name__ == "__main__":
    main()
