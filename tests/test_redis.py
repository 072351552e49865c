"""A legacy session that lives in a real Redis, where two processes take its requests in turn.

Nothing is lost and nothing is doubled, whatever one of them does while the other is at work.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as NoConnection

from mcp_sansio import (
    ConnectionState,
    Event,
    Handle,
    NotificationReceived,
    ProgressReceived,
    RequestCancelled,
    RequestReceived,
    RequestTimedOut,
    ResponseIgnored,
    Sent,
    UnexpectedReason,
)
from mcp_sansio import types as t
from mcp_sansio.jsonrpc import JSONRPCResponse

from .driving import ROOT
from .pair import LEGACY, client, server
from .redis_worker import WORKERS, other_than, read_session, write_session

E = TypeVar("E")

PATIENCE = 60
"""Seconds that nothing here takes, however busy the machine is."""


# Redis and the processes ----------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def listens(process: subprocess.Popen[bytes], port: int) -> bool:
    """Wait until this process listens on the port; False if it ends instead."""
    with Redis(port=port) as redis:
        while process.poll() is None:
            try:
                if redis.info("server")["process_id"] == process.pid:
                    return True
            except NoConnection:
                pass
            time.sleep(0.01)
    return False


@pytest.fixture(scope="module")
def redis_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a Redis of our own, which keeps nothing."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is missing: apt-get install redis-server")
    place = tmp_path_factory.mktemp("redis")
    for _ in range(5):  # somebody else may be faster to take the port
        port = free_port()
        command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        with subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL) as process:
            try:
                if listens(process, port):
                    yield port
                    return
            finally:
                process.kill()
    pytest.fail("redis-server could not be started")


class Team:
    """The two workers."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        command = [sys.executable, "-m", "tests.redis_worker", str(self.port), name]
        self.processes[name] = subprocess.Popen(command, cwd=ROOT)

    def kill(self, name: str) -> None:
        with self.processes.pop(name) as process:
            process.kill()


@pytest.fixture(scope="module")
def team(redis_port: int) -> Iterator[Team]:
    workers = Team(redis_port)
    for name in WORKERS:
        workers.start(name)
    yield workers
    for name in tuple(workers.processes):
        workers.kill(name)


# The client -----------------------------------------------------------------------------------------------------------


class Host:
    """A client, and the way of its messages through Redis to the workers and back."""

    def __init__(self, redis: Redis, team: Team, revision: str) -> None:
        self.redis = redis
        self.team = team
        self.client = client("legacy", revisions=[revision])
        self.events: list[Event] = []
        self.turn = WORKERS[0]
        self.answering: dict[Any, str] = {}
        self.unwanted: set[Any] = set()
        redis.flushall()
        redis.set("session", write_session(server(revisions=[revision])))

    def connect(self) -> None:
        self.client.connect()
        self.send()
        self.wait_for(lambda: self.client.state is ConnectionState.OPEN)
        self.settle()

    def send(self, to: str | None = None, *, hold: bool = False) -> None:
        """Hand on what the client has to say: to the workers in turn, but an answer to the one that did not ask."""
        for outgoing in self.client.messages_to_send():
            worker = to or self.turn
            if isinstance(outgoing.message, JSONRPCResponse):
                worker = self.answering.pop(outgoing.message.id)
            elif to is None:
                self.turn = other_than(self.turn)
            self.redis.rpush(f"tasks:{worker}", json.dumps({"message": outgoing.text, "hold": hold}))

    def ask(
        self, request: t.Request[Any], to: str | None = None, *, progress: bool = False, hold: bool = False
    ) -> Handle[Any]:
        handle = self.client.request(request, progress=progress)
        self.send(to, hold=hold)
        return handle

    def call(self, tool: str, argument: Any, to: str | None = None, **options: bool) -> Handle[Any]:
        return self.ask(t.CallToolRequest(tool, {"it": argument}), to, **options)

    def receive(self, item: str) -> None:
        worker, text = json.loads(item)
        events = self.client.receive_message(text)
        self.events += events
        for event in events:
            match event:
                case RequestReceived(id=id, request=t.CreateMessageRequest(messages=[message])):
                    said: Any = message.content
                    if said.text != "silence":
                        self.answering[id] = other_than(worker)
                        answer = t.TextContent(f"{said.text}!")
                        self.client.respond(id, t.CreateMessageResult(role="assistant", content=answer, model="m"))
                case ProgressReceived(id=id) if id in self.unwanted:
                    assert self.client.cancel(id) == Sent()
                case _:
                    pass
        self.send()

    def wait_for(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self.receive(self.next_of("out"))

    def wait_until_one_holds(self) -> None:
        self.next_of("holding")

    def next_of(self, name: str) -> str:
        """Wait for the next item of a list."""
        for _ in range(PATIENCE):
            item = self.redis.blpop(name, 1)
            if item is not None:
                text: str = item[1]
                return text
            assert all(process.poll() is None for process in self.team.processes.values()), "a worker has ended"
        pytest.fail(f"nothing comes to {name} any more")

    def settle(self) -> None:
        """Wait until nothing is under way anywhere."""
        lists = ["out", *(f"{kind}:{name}" for kind in ("tasks", "taken") for name in WORKERS)]
        until = time.monotonic() + PATIENCE
        while True:
            with self.redis.pipeline() as look:
                for name in lists:
                    look.llen(name)
                lengths = look.execute()
            if not any(lengths):
                return
            assert time.monotonic() < until, dict(zip(lists, lengths, strict=True))
            while (item := self.redis.lpop("out")) is not None:
                self.receive(item)
            time.sleep(0.001)

    def result(self, handle: Handle[Any]) -> str:
        """The text that a call gave; fails if it gave none, or two."""
        self.wait_for(lambda: any(map(handle.ended_by, self.events)))
        (event,) = filter(handle.ended_by, self.events)
        assert handle.answered_by(event), event
        (content,) = event.result.content
        text: str = content.text
        return text

    def seen(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def served(self, kind: type[Event]) -> Counter[Any]:
        """How often the workers had this event, by the id of the request."""
        records = map(json.loads, self.redis.lrange("events", 0, -1))
        return Counter(id for _, name, id, _ in records if name == kind.__name__)

    def check(self) -> None:
        """What must hold when all is done."""
        self.settle()
        session = read_session(self.redis.get("session"))
        assert session.owed == session.in_flight == self.client.owed == self.client.in_flight == ()
        assert session.conversation.shared() == self.client.conversation.shared()
        assert [violation for event in self.events for violation in event.violations] == []
        records = [json.loads(item) for item in self.redis.lrange("events", 0, -1)]
        assert {worker for worker, *_ in records} == set(WORKERS)
        assert [record for record in records if record[-1]] == [], "the client broke rules"


@pytest.fixture
def host(request: pytest.FixtureRequest, team: Team) -> Iterator[Host]:
    with Redis(port=team.port, decode_responses=True) as redis:
        made = Host(redis, team, getattr(request, "param", LEGACY[-1]))
        made.connect()
        yield made


# What happens ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", LEGACY, indirect=True)
def test_nothing_is_lost_and_nothing_is_doubled(host: Host) -> None:
    echoes = {str(n): host.call("echo", str(n)) for n in range(100)}
    counts = [host.call("count", 4, progress=True) for _ in range(8)]
    asks = {text: host.call("ask", text) for text in "abcdefgh"}
    cancelled = {handle.id for handle in counts[::2]}
    host.unwanted |= cancelled
    for text, handle in echoes.items():
        assert host.result(handle) == text
    for text, handle in asks.items():
        assert host.result(handle) in (f"0 asked, 1 was told: {text}!", f"1 asked, 0 was told: {text}!")
    for handle in counts[1::2]:
        assert host.result(handle) == "counted"
    host.settle()
    progress = [(event.id, event.notification.progress) for event in host.seen(ProgressReceived)]
    for handle in counts:
        told = [far for id, far in progress if id == handle.id]
        assert told == ([1] if handle.id in cancelled else [1, 2, 3, 4])
    asked_for = Counter(handle.id for handle in (*echoes.values(), *counts, *asks.values()))
    assert host.served(RequestReceived) == asked_for + Counter(handle.id for handle in asks.values())
    # A cancel stops the work, or crosses the answer.
    late = Counter(event.id for event in host.seen(ResponseIgnored) if event.reason is UnexpectedReason.LATE)
    assert host.served(RequestCancelled) + late == Counter(cancelled)
    assert len(host.seen(ResponseIgnored)) == late.total()
    host.check()


def test_what_one_worker_learns_the_other_knows(host: Host) -> None:
    uri = "file:///a"
    assert host.result(host.call("touch", uri, "0")) == "0"
    assert len(host.seen(NotificationReceived)) == 1, "the log message about the call"
    for request in (t.SubscribeRequest(uri), t.SetLevelRequest("error")):
        host.ask(request, "0")
        host.settle()
    assert host.result(host.call("touch", uri, "1")) == "1"
    _, updated = host.seen(NotificationReceived)
    assert updated.notification == t.ResourceUpdatedNotification(uri)
    host.ask(t.UnsubscribeRequest(uri), "1")
    host.settle()
    assert host.result(host.call("touch", uri, "0")) == "0"
    assert len(host.seen(NotificationReceived)) == 2
    host.check()


def test_a_deadline_runs_on_in_redis(host: Host) -> None:
    assert host.result(host.call("hurry", 0.2, "0")) == "asked"
    time.sleep(0.25)
    host.redis.rpush("tasks:1", json.dumps({}))
    host.settle()
    (asked,) = host.seen(RequestReceived)
    assert [event.id for event in host.seen(RequestCancelled)] == [asked.id]
    assert host.served(RequestTimedOut) == Counter([asked.id])
    host.check()


def test_a_worker_that_was_too_slow_does_it_once_more(host: Host) -> None:
    before = int(host.redis.get("conflicts") or 0)
    slow = host.call("echo", "slow", "0", hold=True)
    host.wait_until_one_holds()
    assert host.result(host.call("echo", "quick", "1")) == "quick"
    assert host.result(slow) == "slow"
    assert int(host.redis.get("conflicts")) > before
    host.check()


def test_a_worker_that_dies_at_its_work_loses_nothing(host: Host) -> None:
    handle = host.call("ask", "a", "0", hold=True)
    host.wait_until_one_holds()
    host.team.kill("0")
    assert host.result(host.call("echo", "alone", "1")) == "alone"
    host.team.start("0")
    host.wait_until_one_holds()
    assert host.result(host.call("echo", "again", "1")) == "again"
    assert host.result(handle) == "0 asked, 1 was told: a!"
    assert host.served(RequestReceived)[handle.id] == 2, "once to be asked about, once with the answer"
    host.check()
