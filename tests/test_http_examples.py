"""The example drivers, threads and ASGI, over real HTTP: with the official client, and with clients that misbehave."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse, IncompleteRead
from typing import Any

import pytest
import uvicorn

from mcp_sansio import Dropped, Limits, RequestCancelled, RequestReceived, RequestTimedOut, ServerConnection
from mcp_sansio import types as t
from mcp_sansio.http import Endpoint, MemoryEventStore
from mcp_sansio.http.headers import request_headers
from mcp_sansio.jsonrpc import JSONRPCRequest
from mcp_sansio.sse import EventStreamDecoder, ServerSentEvent

from .driving import PEERS, example
from .http_endpoint import BOTH, call
from .pair import INFO, INITIALIZED, JSON, MODERN, SERVER_CAN, initialize, modern
from .test_peers import expected

stdio_server = example("stdio_server")
http_server = example("http_server")
asgi_app = example("asgi_app")

SECONDS = 20.0
"""How long anything may take at most."""


class Tools:
    """An application whose tools do what the tests need.

    Attributes:
        released: what the tools ``wait`` and ``tick`` wait for.
        waiting: how many of them do.
        cancelled: the ids of the requests that were cancelled.
        dropped: whether the last call on a connection was for nothing.
    """

    def __init__(self) -> None:
        self.released = False
        self.waiting = 0
        self.cancelled: list[JSON] = []
        self.dropped = False
        self.asking: list[tuple[ServerConnection, JSON]] = []

    async def serve(self, connection: ServerConnection, event: Any) -> None:
        match event:
            case RequestCancelled(id=request_id):
                self.cancelled.append(request_id)
            case RequestTimedOut():
                owner, request_id = self.asking.pop()
                owner.respond(request_id, text("nobody answered"))
            case RequestReceived(id=request_id, request=t.CallToolRequest(name=name, arguments=arguments)):
                await getattr(self, name)(connection, request_id, **(arguments or {}))

    async def echo(self, connection: ServerConnection, request_id: JSON, what: str = "") -> None:
        connection.respond(request_id, text(what))

    async def bug(self, connection: ServerConnection, request_id: JSON) -> None:
        raise KeyError("secret")

    async def wait(self, connection: ServerConnection, request_id: JSON) -> None:
        self.waiting += 1
        while not self.released:
            await asyncio.sleep(0.01)
        self.dropped = isinstance(connection.respond(request_id, text("waited")), Dropped)

    async def tick(self, connection: ServerConnection, request_id: JSON, what: str, times: int) -> None:
        connection.progress(request_id, 0, message=what)
        self.waiting += 1
        while not self.released:
            await asyncio.sleep(0.05)
        for number in range(1, times):
            connection.progress(request_id, number, message=what)
            await asyncio.sleep(0)
        connection.respond(request_id, text(what))

    async def ask(self, connection: ServerConnection, request_id: JSON) -> None:
        self.asking.append((connection, request_id))
        connection.request(t.ListRootsRequest(), timeout=0.2, related=request_id, now=time.monotonic())

    def wait_for(self, what: Callable[[Tools], bool]) -> None:
        until = time.monotonic() + SECONDS
        while not what(self):
            assert time.monotonic() < until, "it did not happen in time"
            time.sleep(0.01)


def text(what: str) -> t.CallToolResult:
    return t.CallToolResult([t.TextContent(what)])


class Driver:
    """A driver that serves.

    Attributes:
        port: where.
        publish: tells all clients of a change.
        close: lets the server end, and waits for it.
    """

    def __init__(self, port: int, publish: Callable[[Any], None], close: Callable[[], None]) -> None:
        self.port, self.publish, self.close = port, publish, close

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"


def endpoint(**settings: Any) -> Endpoint:
    given = {"new_session_id": http_server.token_urlsafe, "event_store": MemoryEventStore(), **settings}
    return Endpoint(given.pop("info", INFO), given.pop("capabilities", SERVER_CAN), **given)


@contextmanager
def threads(serve: Any, settings: Any = None, **attributes: Any) -> Iterator[Driver]:
    """The driver with threads."""

    def in_thread(connection: ServerConnection, event: Any) -> None:
        asyncio.run(serve(connection, event))

    server = http_server.HTTPServer(("127.0.0.1", 0), endpoint(**(settings or {})), in_thread)
    for name, value in attributes.items():
        setattr(server, name, value)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    closed = threading.Event()

    def close() -> None:
        if not closed.is_set():
            closed.set()
            server.close(grace=SECONDS)
            thread.join()

    try:
        yield Driver(server.server_port, server.publish, close)
    finally:
        close()


@contextmanager
def asgi(serve: Any, settings: Any = None, **attributes: Any) -> Iterator[Driver]:
    """The ASGI application, under uvicorn."""
    app = asgi_app.App(endpoint(**(settings or {})), serve)
    for name, value in attributes.items():
        setattr(app, name, value)
    config = uvicorn.Config(app, port=0, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    loops: list[asyncio.AbstractEventLoop] = []

    async def run() -> None:
        loops.append(asyncio.get_running_loop())
        await server.serve()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    until = time.monotonic() + SECONDS
    while not server.started:
        assert time.monotonic() < until
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]

    def close() -> None:
        server.should_exit = True
        thread.join(SECONDS)
        assert not thread.is_alive()

    try:
        yield Driver(port, lambda change: loops[0].call_soon_threadsafe(app.publish, change), close)
    finally:
        close()


Start = Callable[..., AbstractContextManager[Driver]]
both = pytest.mark.parametrize("start", [threads, asgi])


class Response:
    """A response that is being read."""

    def __init__(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        self.connection, self.response = connection, response
        self.status = response.status
        self.events: list[ServerSentEvent] = []
        self._decoder = EventStreamDecoder(2**20)

    def header(self, name: str) -> str | None:
        return self.response.getheader(name)

    def messages(self, count: int | None = None) -> list[JSON]:
        """The next *count* messages, or all that are left."""
        if not (self.header("Content-Type") or "").startswith("text/event-stream"):
            return [json.loads(self.response.read())]
        found: list[JSON] = []
        while count is None or len(found) < count:
            data = self.response.read1(65536)
            if not data:
                break
            new: list[Any] = self._decoder.receive_data(data)
            self.events += new
            found += [json.loads(event.data) for event in new if event.data]
        return found

    def close(self) -> None:
        """Go away."""
        if self.connection.sock is not None:
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.response.close()
        self.connection.close()


class Client:
    """Sends requests to a driver, each on a connection of its own."""

    def __init__(self, driver: Driver, stack: ExitStack) -> None:
        self.driver, self.stack = driver, stack

    def send(self, method: str, body: bytes = b"", **headers: str) -> Response:
        connection = HTTPConnection("127.0.0.1", self.driver.port, timeout=SECONDS)
        usual = {"Accept": BOTH, "Content-Type": "application/json"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, "/mcp", body, {**usual, **named})
        response = Response(connection, connection.getresponse())
        self.stack.callback(lambda: (response.response.close(), connection.close()))
        return response

    def modern(self, method: str, params: JSON = None, **meta: JSON) -> Response:
        message = modern(1, method, params, **meta)
        headers = dict(request_headers(JSONRPCRequest(1, method, message["params"]), MODERN))
        return self.send("POST", json.dumps(message).encode(), **headers)

    def tool(self, name: str, token: JSON = None, **arguments: JSON) -> Response:
        """Call a tool, as a modern client."""
        meta = {} if token is None else {"progressToken": token}
        return self.modern("tools/call", {"name": name, "arguments": arguments}, **meta)

    def legacy(self, message: JSON, session: str) -> Response:
        return self.send("POST", json.dumps(message).encode(), Mcp_Session_Id=session)

    def open(self, **capabilities: JSON) -> str:
        """Open a session."""
        opened = self.send("POST", json.dumps(initialize(capabilities=capabilities)).encode())
        session = opened.header("Mcp-Session-Id")
        assert session is not None
        assert self.legacy(INITIALIZED, session).status == 202
        return session

    def listen(self, session: str, **headers: str) -> Response:
        return self.send("GET", Mcp_Session_Id=session, **headers)


@contextmanager
def serving(start: Start, settings: Any = None, **attributes: Any) -> Iterator[tuple[Driver, Tools, Client]]:
    """A driver, its application, and a client."""
    tools = Tools()
    with start(tools.serve, settings, **attributes) as driver, ExitStack() as stack:
        try:
            yield driver, tools, Client(driver, stack)
        finally:
            tools.released = True


def text_of(message: JSON) -> str:
    return str(message["result"]["content"][0]["text"])


# The official client


async def serve_stdio_example(connection: ServerConnection, event: Any) -> None:
    stdio_server.serve(connection, event)


def test_official_clients_of_both_eras_four_at_once() -> None:
    settings = {"info": stdio_server.INFO, "capabilities": stdio_server.CAPABILITIES}
    with threads(serve_stdio_example, settings) as first, asgi(serve_stdio_example, settings) as second:
        official = [sys.executable, "-W", "error", str(PEERS / "mcp_client.py")]
        command = [*official, "legacy,auto,legacy,auto", first.url, second.url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    legacy, latest = expected("2025-11-25"), expected(MODERN)
    assert json.loads(done.stdout) == [legacy, latest, legacy, latest] * 2


# Many at once


@both
def test_a_slow_tool_blocks_nobody(start: Start) -> None:
    with serving(start) as (_, tools, client):
        session = client.open()
        slow = threading.Thread(target=lambda: answers.append(client.tool("wait").messages()))
        answers: list[list[JSON]] = []
        slow.start()
        also = threading.Thread(target=lambda: answers.append(client.legacy(call(7, name="wait"), session).messages()))
        also.start()
        tools.wait_for(lambda tools: tools.waiting == 2)
        assert text_of(client.tool("echo", what="quick").messages()[0]) == "quick"
        assert client.legacy(call(8, name="echo"), session).messages()[0]["id"] == 8
        assert answers == []
        tools.released = True
        slow.join(SECONDS)
        also.join(SECONDS)
        assert sorted(messages[0]["id"] for messages in answers) == [1, 7]


@both
def test_a_hundred_streams_at_once(start: Start) -> None:
    with serving(start) as (driver, tools, client):
        sessions = [client.open() for _ in range(4)]
        listening = [client.listen(session) for session in sessions]
        subscribed = [client.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})]
        streams: list[Response] = []
        for number in range(100):
            arguments = {"what": f"stream {number}", "times": 5}
            if number % 2:
                streams.append(client.tool("tick", token=number, **arguments))
            else:
                message = call(number, token=number, name="tick")
                message["params"]["arguments"] = arguments
                streams.append(client.legacy(message, sessions[number % 8 // 2]))
        tools.wait_for(lambda tools: tools.waiting == 100)
        driver.publish(t.ToolListChangedNotification())
        tools.released = True
        for number, stream in enumerate(streams):
            *progress, answer = stream.messages()
            assert [(each["params"]["progressToken"], each["params"]["message"]) for each in progress] == [
                (number, f"stream {number}")
            ] * 5
            assert [each["params"]["progress"] for each in progress] == list(range(5))
            assert (answer["id"], text_of(answer)) == (1 if number % 2 else number, f"stream {number}")
        acknowledged = subscribed[0].messages(2)
        assert acknowledged[-1]["method"] == "notifications/tools/list_changed"
        for stream in listening:
            (changed,) = stream.messages(1)
            assert changed["method"] == "notifications/tools/list_changed"


# Clients that go away


@both
def test_a_modern_client_that_goes_away_cancels(start: Start) -> None:
    with serving(start) as (_, tools, client):
        stream = client.tool("tick", token="p", what="x", times=3)
        stream.messages(1)
        stream.close()
        tools.wait_for(lambda tools: tools.cancelled == [1])
        with socket.create_connection(("127.0.0.1", client.driver.port)) as plain:  # before there is any response
            message = modern(2, "tools/call", {"name": "wait"})
            headers = request_headers(JSONRPCRequest(2, "tools/call", message["params"]), MODERN)
            plain.sendall(http("POST", json.dumps(message).encode(), dict(headers)))
            tools.wait_for(lambda tools: tools.waiting == 2)
        tools.wait_for(lambda tools: tools.cancelled == [1, 2])
        tools.released = True
        tools.wait_for(lambda tools: tools.dropped)


@both
def test_a_legacy_client_comes_back(start: Start) -> None:
    with serving(start) as (_, tools, client):
        session = client.open()
        message = call(5, token="p", name="tick")
        message["params"]["arguments"] = {"what": "x", "times": 3}
        stream = client.legacy(message, session)
        stream.messages(1)
        last = stream.events[-1].id
        assert last is not None
        stream.close()
        tools.released = True
        back = client.listen(session, Last_Event_ID=last)
        assert [message.get("id") for message in back.messages()] == [None, None, 5]
        assert tools.cancelled == []


def test_a_response_that_stays_open_for_too_long_is_paused() -> None:
    with serving(threads, poll=0.05, patience=0.1) as (_, tools, client):
        session = client.open()
        stream = client.legacy(call(5, name="wait"), session)
        assert stream.messages() == []
        assert [event.data for event in stream.events] == ["", ""]
        tools.released = True
        last = stream.events[0].id
        assert last is not None
        answers: list[JSON] = []
        while not answers:  # what it comes back for may be paused as well
            answers = client.listen(session, Last_Event_ID=last).messages()
        assert [answer["id"] for answer in answers] == [5]


@both
def test_a_silent_stream_is_kept_alive_whatever_others_do(start: Start) -> None:
    fast = {"poll": 0.05} if start is threads else {}
    with serving(start, keep_alive=0.2, **fast) as (driver, tools, client):

        def busy() -> None:
            while not tools.released:
                driver.publish(t.PromptListChangedNotification())
                time.sleep(0.01)

        threading.Thread(target=busy).start()
        for response in (
            client.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
            client.tool("wait"),
        ):
            assert response.status == 200
            data = b""
            while data.count(b":\n") < 2:
                more = response.response.read1(65536)
                assert more
                data += more
        tools.released = True


@both
def test_a_request_of_the_server_times_out(start: Start) -> None:
    with serving(start) as (_, _tools, client):
        session = client.open(roots={})
        asked, cancelled, answer = client.legacy(call(5, name="ask"), session).messages()
        assert asked["method"] == "roots/list"
        assert cancelled["method"] == "notifications/cancelled"
        assert text_of(answer) == "nobody answered"


# Requests that are none


def http(method: str, body: bytes, headers: dict[str, str], version: str = "1.1") -> bytes:
    """A request as bytes."""
    usual = {"Host": "localhost", "Accept": BOTH, "Content-Type": "application/json", "Content-Length": str(len(body))}
    lines = [f"{name}: {value}" for name, value in {**usual, **headers}.items() if value is not None]
    return "\r\n".join([f"{method} /mcp HTTP/{version}", *lines, "", ""]).encode() + body


def status_of(driver: Driver, data: bytes) -> int:
    """The status that bytes get, from a server that closes the connection or does not."""
    with socket.create_connection(("127.0.0.1", driver.port), timeout=SECONDS) as connection:
        with suppress(OSError):
            connection.sendall(data)
        head = connection.makefile("rb").readline()
    return int(head.split()[1])


HELLO = json.dumps(initialize()).encode()


@both
def test_what_is_refused_over_the_wire(start: Start, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(start, {"limits": Limits(frame_bytes=2**20)}) as (driver, _, client):
        big = {"Content-Length": str(2**40)}
        statuses = {
            "good": status_of(driver, http("POST", HELLO, {})),
            "without a length": status_of(driver, http("POST", b"", {"Content-Length": None})),  # type: ignore[dict-item]
            "too long": status_of(driver, http("POST", b"x" * 2**18, big)),
            "too long indeed": status_of(driver, http("POST", b"x" * 2**21, {})),
            "no number": status_of(driver, http("POST", HELLO, {"Content-Length": "five"})),
            "host": status_of(driver, http("POST", HELLO, {"Host": "evil.example.com"})),
            "type": status_of(driver, http("POST", HELLO, {"Content-Type": "text/plain"})),
            "method": status_of(driver, http("PATCH", HELLO, {})),
            "path": status_of(driver, http("POST", HELLO, {}).replace(b"/mcp", b"/elsewhere")),
            "no path": status_of(driver, http("POST", HELLO, {}).replace(b"/mcp", b"//[?x=%zz")),
        }
        assert statuses == {
            "good": 200,
            "without a length": 400,
            "too long": 413,
            "too long indeed": 413,
            "no number": 400,
            "host": 403,
            "type": 415,
            "method": 405,
            "path": 404,
            "no path": 404,
        }
        chunked = http("POST", b"", {"Transfer-Encoding": "chunked", "Content-Length": None})  # type: ignore[dict-item]
        chunk = b"%x\r\n%b\r\n0\r\n\r\n" % (len(HELLO), HELLO)
        assert status_of(driver, chunked + chunk) == (411 if start is threads else 200)
        with socket.create_connection(("127.0.0.1", driver.port)) as cut:
            cut.sendall(http("POST", HELLO, {"Content-Length": "1000"}))
        assert client.tool("echo").status == 200
    assert capfd.readouterr().err == ""


@both
def test_a_connection_carries_one_request_after_the_other(start: Start) -> None:
    with serving(start) as (driver, tools, client):
        tools.released = True
        session = client.open()
        usual = {"Accept": BOTH, "Content-Type": "application/json", "Mcp-Session-Id": session}
        with closing(HTTPConnection("127.0.0.1", driver.port, timeout=SECONDS)) as connection:
            sockets = set()
            for number, name in enumerate(["echo", "tick", "echo"]):
                message = call(number, token=number, name=name)
                message["params"]["arguments"] = {"what": "x"} | ({"times": 2} if name == "tick" else {})
                connection.request("POST", "/mcp", json.dumps(message), usual)
                response = connection.getresponse()
                assert f'"id":{number}'.encode() in response.read()
                sockets.add(connection.sock)
            assert len(sockets) == 1


def test_http_1_0() -> None:
    with serving(threads) as (driver, tools, _):
        tools.released = True
        message = modern(1, "tools/call", {"name": "tick", "arguments": {"what": "x", "times": 3}}, progressToken="p")
        headers = dict(request_headers(JSONRPCRequest(1, "tools/call", message["params"]), MODERN))
        with socket.create_connection(("127.0.0.1", driver.port), timeout=SECONDS) as connection:
            connection.sendall(http("POST", json.dumps(message).encode(), headers, "1.0"))
            data = b""
            while more := connection.recv(65536):
                data += more
        head, _, body = data.partition(b"\r\n\r\n")
        assert b"chunked" not in head
        assert b"Connection: close" in head
        assert len(EventStreamDecoder(2**20).receive_data(body)) == 4


@both
def test_a_bug_in_a_tool_is_no_ones_business_but_ours(start: Start, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(start) as (_, _tools, client):
        (answer,) = client.tool("bug").messages()
        assert answer["error"] == {"code": -32603, "message": "Internal error"}
        assert text_of(client.tool("echo", what="on we go").messages()[0]) == "on we go"
    assert "KeyError: 'secret'" in capfd.readouterr().err


# The end


def test_the_threads_end_when_they_have_answered() -> None:
    with serving(threads) as (driver, tools, client):
        session = client.open()
        subscription = client.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        listening = client.listen(session)
        waiting: list[JSON] = []
        thread = threading.Thread(target=lambda: waiting.extend(client.tool("wait").messages()))
        thread.start()
        tools.wait_for(lambda tools: tools.waiting == 1)
        ending = threading.Thread(target=driver.close)
        ending.start()
        assert subscription.messages()[-1]["result"]["resultType"] == "complete"
        assert listening.messages() == []
        assert ending.is_alive(), "a request is being served"
        tools.released = True
        thread.join(SECONDS)
        assert text_of(waiting[0]) == "waited"
        ending.join(SECONDS)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", driver.port), timeout=1)


def test_the_threads_do_not_wait_for_ever() -> None:
    tools = Tools()
    server = http_server.HTTPServer(("127.0.0.1", 0), endpoint(), lambda c, e: asyncio.run(tools.serve(c, e)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    with ExitStack() as stack:
        client = Client(Driver(server.server_port, server.publish, server.close), stack)
        stream = client.tool("tick", token="p", what="x", times=1)
        stream.messages(1)
        server.close(grace=0.1)
        thread.join(SECONDS)
        with pytest.raises(IncompleteRead):
            stream.messages()
        tools.wait_for(lambda tools: tools.cancelled == [1])
    tools.released = True


def test_uvicorn_ends_in_spite_of_open_streams() -> None:
    with serving(asgi) as (driver, _, client):
        stream = client.tool("tick", token="p", what="x", times=1)
        stream.messages(1)
        driver.close()
        with pytest.raises(ConnectionRefusedError):
            client.tool("echo")
