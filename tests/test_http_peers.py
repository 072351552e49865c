"""The example client over real HTTP: with our own server, and with servers that others wrote.

Where a peer breaks no rule, no event may say that it does.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from secrets import token_urlsafe
from typing import Any

import attrs
import pytest

import mcp_sansio as mcp
from mcp_sansio import types as t
from mcp_sansio.http import Endpoint, HTTPEvent, MemoryEventStore

from .driving import MEGABYTE, PEERS, ROOT, Era, example, npm_peers
from .pair import EVERY, MODERN

stdio_server = example("stdio_server")
http_server = example("http_server")
http_client = example("http_client")

SECONDS = 30.0
"""How long anything may take at most."""


class Recorder(http_client.Client):  # type: ignore[misc,name-defined]  # loaded from its file
    """The example client, with every event kept."""

    timeout = SECONDS

    def __init__(self, url: str, era: Era = "auto", **settings: Any) -> None:
        self.events: list[HTTPEvent] = []
        super().__init__(url, era, **settings)

    def on_event(self, event: HTTPEvent) -> None:
        self.events.append(event)
        super().on_event(event)

    @property
    def violations(self) -> list[mcp.Violation]:
        """The rules that the server broke."""
        return [violation for event in self.events for violation in getattr(event, "violations", ())]

    def refusal(self, request: t.Request[Any]) -> mcp.Error:
        """The error that the server answers to a request."""
        with pytest.raises(http_client.RequestFailed) as caught:
            self.request(request)
        assert isinstance(caught.value.event, mcp.ErrorReceived), caught.value.event
        return caught.value.event.error

    def until(self, condition: Callable[[], bool]) -> None:
        """Let things happen until *condition* holds."""
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end, "it takes too long"
            self.step()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def serving(command: list[str], port: int, **environment: str) -> Iterator[str]:
    """The URL of a server that is started as a process, once it can be reached."""
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, f"{command} has exited with {process.returncode}"
                assert time.monotonic() < end, f"{command} cannot be reached"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(SECONDS)


@contextmanager
def our_server(serve: Any = None, **settings: Any) -> Iterator[str]:
    """The URL of the example server; in the end all sessions must have been ended."""
    if serve is None:
        info, capabilities, serve = stdio_server.INFO, stdio_server.CAPABILITIES, stdio_server.serve
    else:
        info, capabilities = t.Implementation("ours", "1"), t.ServerCapabilities(tools=t.ToolsCapability())
    settings = {"new_session_id": token_urlsafe, "event_store": MemoryEventStore(), **settings}
    endpoint = Endpoint(info, capabilities, **settings)
    server = http_server.HTTPServer(("127.0.0.1", 0), endpoint, serve)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        end = time.monotonic() + SECONDS
        while endpoint.sessions:
            assert time.monotonic() < end, "a session is still there, though its client is closed"
            time.sleep(0.01)
    finally:
        server.close()
        thread.join(SECONDS)


def text_of(result: t.CallToolResult) -> str:
    content = result.content[0]
    assert isinstance(content, t.TextContent)
    return content.text


def listed(client: Recorder, member: str) -> set[str]:
    return {item.name for item in http_client.pages(client, member)}


@contextmanager
def official() -> Iterator[str]:
    port = free_port()
    with serving([sys.executable, str(PEERS / "mcp_server.py"), str(port)], port) as url:
        yield url


@contextmanager
def everything() -> Iterator[str]:
    port = free_port()
    command = ["node", str(npm_peers() / "server-everything" / "dist" / "index.js"), "streamableHttp"]
    with serving(command, port, PORT=str(port)) as url:
        yield url


@attrs.frozen
class Server:
    """A server that somebody else wrote, and what is known of it."""

    name: str
    start: Callable[[], Any]
    info: str
    modern: bool
    tools: set[str]
    good: tuple[t.CallToolRequest, str]
    bad: t.CallToolRequest
    big: t.CallToolRequest


SERVERS = [
    Server(
        name="MCPServer",
        start=official,
        info="official",
        modern=True,
        tools={"add", "length"},
        good=(t.CallToolRequest("add", {"a": 1, "b": 2}), "3"),
        bad=t.CallToolRequest("add", {"a": "one", "b": 2}),
        big=t.CallToolRequest("length", {"text": MEGABYTE}),
    ),
    Server(
        name="server-everything",
        start=everything,
        info="mcp-servers/everything",
        modern=False,
        tools={"echo", "get-sum"},
        good=(t.CallToolRequest("get-sum", {"a": 1, "b": 2}), "3"),
        bad=t.CallToolRequest("get-sum", {"a": "one", "b": 2}),
        big=t.CallToolRequest("echo", {"message": MEGABYTE}),
    ),
]


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_servers_that_others_wrote(server: Server) -> None:
    with server.start() as url:
        for era in ("legacy", "auto"):
            modern = server.modern and era == "auto"
            with Recorder(url, era) as client:
                connection = client.http.connection
                assert connection.revision == (MODERN if modern else "2025-11-25")
                assert client.http.known == ("modern" if modern else "streamable")
                assert connection.peer_info.name == server.info
                for member, kind in http_client.LISTS.items():
                    if connection.can_send(kind.method):
                        assert server.tools <= listed(client, member) if member == "tools" else listed(client, member)
                call, text = server.good
                assert text in text_of(client.request(call))
                assert client.request(server.bad).is_error
                assert not client.request(server.big).is_error
                assert client.refusal(t.CustomRequest("none/such")).code == mcp.ErrorCode.METHOD_NOT_FOUND
                assert text in text_of(client.request(call))
            assert client.violations == []
            odd = (mcp.MessageInvalid, mcp.ResponseIgnored, mcp.AnswerInvalid, mcp.RequestLost)
            assert [event for event in client.events if isinstance(event, odd)] == []
        with Recorder(url, known=client.http.known) as again:
            assert again.http.connection.revision == client.http.connection.revision


class Helpful(Recorder):
    """A client with a user and a model to ask."""

    def on_event(self, event: HTTPEvent) -> None:
        self.events.append(event)
        connection = self.http.connection
        match event:
            case mcp.RequestReceived(id=request_id, request=t.ListRootsRequest()):
                connection.respond(request_id, t.ListRootsResult([t.Root("file:///srv/data", "data")]))
            case mcp.RequestReceived(id=request_id, request=t.CreateMessageRequest()):
                content = t.TextContent("The model says hello.")
                connection.respond(request_id, t.CreateMessageResult("assistant", content, "a-model"))
            case mcp.RequestReceived(id=request_id, request=t.ElicitRequestFormParams()):
                connection.respond(request_id, t.ElicitResult("decline"))


def test_a_real_server_asks_back() -> None:
    capabilities = t.ClientCapabilities(
        roots=t.RootsCapability(), sampling=t.SamplingCapability(), elicitation=t.ElicitationCapability()
    )
    with everything() as url, Helpful(url, capabilities=capabilities) as client:
        client.until(lambda: client.http.listening)
        sampled = client.request(t.CallToolRequest("trigger-sampling-request", {"prompt": "Say hello"}))
        assert "The model says hello." in text_of(sampled)
        assert "declined" in text_of(client.request(t.CallToolRequest("trigger-elicitation-request")))
        assert "file:///srv/data" in text_of(client.request(t.CallToolRequest("get-roots-list")))
        steps = t.CallToolRequest("trigger-long-running-operation", {"duration": 0.1, "steps": 3})
        handle = client.http.connection.request(steps, progress=True)
        client.wait_for(handle.ended_by)
    progress = [event.notification.progress for event in client.events if isinstance(event, mcp.ProgressReceived)]
    assert progress == [1, 2, 3]
    assert client.violations == []


# Our own server -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", [*EVERY, "sse"])
def test_our_own_server(revision: str) -> None:
    known: Any = "sse" if revision == "sse" else None
    with (
        our_server(http_sse=True) as url,
        Recorder(url, revisions=EVERY if known else [revision], known=known) as client,
    ):
        connection = client.http.connection
        assert connection.revision == ("2025-11-25" if known else revision)
        assert client.http.known == (known or ("modern" if revision == MODERN else "streamable"))
        assert listed(client, "tools") == {"add", "echo"}
        assert text_of(client.request(t.CallToolRequest("add", {"a": 1, "b": 2}))) == "3"
        assert text_of(client.request(t.CallToolRequest("echo", {"text": MEGABYTE}))) == MEGABYTE
        assert client.refusal(t.CallToolRequest("none")).code == mcp.ErrorCode.INVALID_PARAMS
        assert client.refusal(t.CustomRequest("none/such")).code == mcp.ErrorCode.METHOD_NOT_FOUND
        handles = [connection.request(t.CallToolRequest("echo", {"text": f"{n}"})) for n in range(20)]
        client.until(lambda: not connection.in_flight)
        answers = {event.id: event.result for event in client.events if isinstance(event, mcp.ResultReceived)}
        assert [text_of(answers[handle.id]) for handle in handles] == [f"{n}" for n in range(20)]
    assert client.violations == []


class Waiting:
    """Calls that wait, and what became of them."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Any]] = []
        self.cancelled: list[Any] = []

    def serve(self, connection: Any, event: mcp.Event) -> None:
        match event:
            case mcp.RequestReceived(id=request_id, request=t.CallToolRequest()):
                self.calls.append((connection, request_id))
                connection.progress(request_id, 1)
            case mcp.RequestCancelled(id=request_id):
                self.cancelled.append(request_id)


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
@pytest.mark.parametrize("how", ["cancelled", "timed out"])
def test_a_call_is_given_up(revision: str, how: str) -> None:
    waiting = Waiting()
    with our_server(waiting.serve) as url, Recorder(url, revisions=[revision]) as client:
        connection = client.http.connection
        timing = {"timeout": 1.0, "now": time.monotonic()} if how == "timed out" else {}
        handle = connection.request(t.CallToolRequest("wait"), progress=True, **timing)
        client.wait_for(lambda event: isinstance(event, mcp.ProgressReceived))
        if how == "cancelled":
            connection.cancel(handle.id)
            client.step()  # starts or aborts what that means
        else:
            assert isinstance(client.wait_for(handle.ended_by), mcp.RequestTimedOut)
        end = time.monotonic() + SECONDS
        while waiting.cancelled != [handle.id]:
            assert time.monotonic() < end
            time.sleep(0.01)


def test_nobody_is_there() -> None:
    with pytest.raises(ConnectionError, match="refused"), Recorder(f"http://127.0.0.1:{free_port()}/mcp"):
        pass


ANSWERS = {
    "cut": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
    "cut chunk": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{",
    "no HTTP": b"SSH-2.0-x\r\n\r\n",
    "nothing": b"",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_that_are_none(answer: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            accepted, _ = listener.accept()
            with accepted:
                accepted.recv(65536)
                accepted.sendall(ANSWERS[answer])

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        with pytest.raises(ConnectionError), Recorder(url):
            pass
        thread.join(SECONDS)


def test_the_command() -> None:
    with our_server() as url:
        command = [sys.executable, "-W", "error", http_client.__file__, url]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert "tools: add, echo\n" in done.stdout
