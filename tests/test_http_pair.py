"""Our client and our server over a network that loses requests and breaks connections at any point, in all revisions.

Every request ends once, nothing is delivered twice, and nothing crosses from one session to another.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import count
from random import Random
from typing import Any
from urllib.parse import urlsplit

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_sansio import (
    ConnectionState,
    LocalProtocolError,
    NotificationReceived,
    RequestReceived,
    ResultReceived,
    ServerConnection,
)
from mcp_sansio import types as t
from mcp_sansio.http import Endpoint, Exchange, HTTPClient, HTTPRequest, MemoryEventStore, Reconnection

from .pair import CLIENT_CAN, EVERY, INFO, MODERN, SERVER_CAN
from .test_http_client_fuzz import Requests

URL = "http://localhost/mcp"


@attrs.define(eq=False)
class Running:
    """An exchange under way: what the client has asked, and what the server has made of it so far."""

    key: int
    request: HTTPRequest
    exchange: Exchange | None = None
    begun: bool = False
    got: bytes = b""

    @property
    def can_be_taken_up(self) -> bool:
        """Whether an event with an id has come whole."""
        return b"\nid: " in b"\n" + self.got.rpartition(b"\n\n")[0]


class Network:
    """Two clients, a server, and what is between them."""

    def __init__(
        self, random: Random, revision: str, *, http_sse: bool = False, events: bool = True, patient: bool = False
    ) -> None:
        self.patient = patient
        ids, self.serials, self.calls = count(1), count(1), count(1)
        self.random = random
        self.now = 0.0
        self.endpoint = Endpoint(
            INFO,
            SERVER_CAN,
            revisions=[revision],
            new_session_id=lambda: f"session-{next(ids)}",
            event_store=MemoryEventStore() if events else None,
            http_sse=http_sse,
        )
        self.sent: set[int] = set()
        self.peers = [Peer(self, who, revision, "sse" if http_sse else None) for who in ("a", "b")]
        self.work: list[tuple[ServerConnection, Any]] = []
        self.left: list[Exchange] = []  # whose clients have gone, though the server does not know
        self.served: Counter[int] = Counter()
        self.clients: dict[ServerConnection, str] = {}

    def step(self) -> None:
        """Something happens."""
        random, peer = self.random, self.random.choice(self.peers)
        match random.randrange(14):
            case 0:
                peer.ask()
            case 1:
                peer.cancel()
            case 2:
                peer.say()
            case 3:
                peer.wait()
            case 4 | 5 if self.work:
                self.serve(*self.work.pop(random.randrange(len(self.work))))
            case 6 if self.left:
                self.serve_events(self.left.pop(random.randrange(len(self.left))).close(), None)
            case 7 if self.endpoint.sessions and not random.randrange(3):
                self.endpoint.end_session(random.choice(sorted(self.endpoint.sessions)))
            case 8:
                peer.connect()
            case _ if peer.running:
                running = peer.running[random.choice(sorted(peer.running))]
                if random.randrange(6) == 0:
                    peer.break_off(running)
                else:
                    peer.move(running)
            case _:
                pass
        for peer in self.peers:
            peer.look()

    # The server

    def serve_events(self, events: Any, connection: ServerConnection | None) -> None:
        for event in events:
            # Each message is a request of its own, so a cancel may overtake what it cancels.
            assert {violation.rule for violation in event.violations} <= {"CANC-001"}, event
            if isinstance(event, RequestReceived) and connection is not None:
                if isinstance(event.request, t.CallToolRequest):
                    arguments = event.request.arguments or {}
                    self.served[arguments["n"]] += 1
                    assert self.served[arguments["n"]] == 1, "a call is served twice"
                    who = self.clients.setdefault(connection, arguments["who"])
                    assert who == arguments["who"], "two clients share a connection"
                self.work.append((connection, event))

    def serve(self, connection: ServerConnection, event: RequestReceived) -> None:
        if connection.state is not ConnectionState.OPEN:
            return
        if isinstance(event.request, t.CallToolRequest):
            arguments = event.request.arguments or {}
            match self.random.randrange(5):
                case 0:
                    connection.notify(self.said(arguments["who"]), related=event.id)
                case 1:
                    connection.notify(self.said(arguments["who"]))
                case 2:
                    self.attempt(lambda: connection.request(t.ListRootsRequest(), related=event.id))
                case _:
                    text = f"{arguments['who']} {arguments['n']}"
                    self.attempt(lambda: connection.respond(event.id, t.CallToolResult([t.TextContent(text)])))
                    return
            self.work.append((connection, event))
        else:
            self.attempt(lambda: connection.respond_error(event.id, -32602, "no"))

    def said(self, who: str) -> t.CustomNotification:
        """Something that is said once, to one of the clients."""
        serial = next(self.serials)
        self.sent.add(serial)
        return t.CustomNotification("vendor/said", {"to": who, "serial": serial})

    def attempt(self, action: Any) -> None:
        with suppress(LocalProtocolError):
            action()

    def heal(self) -> None:
        """From now on nothing breaks: what is under way comes to its end."""
        for _ in range(400):
            busy = False
            while self.left:
                self.serve_events(self.left.pop().close(), None)
            while self.work:
                busy = True
                self.serve(*self.work.pop(0))
            for peer in self.peers:
                peer.look()
                for running in list(peer.running.values()):
                    busy |= peer.running.get(running.key) is running and peer.move(running)
                if peer.client.next_deadline() is not None:
                    busy = True
                    peer.wait()
            if not busy and not self.left:
                break
        else:
            raise AssertionError("it never comes to rest")
        for peer in self.peers:
            peer.requests.check(all_over=True)


class Peer:
    """A client and its exchanges."""

    def __init__(self, network: Network, who: str, revision: str, known: Any) -> None:
        self.network = network
        self.who = who
        self.client = HTTPClient(
            URL,
            INFO,
            CLIENT_CAN,
            known=known,
            revisions=[revision],
            headers={"Host": "localhost"},
            reconnection=Reconnection(delay=0.1, attempts=3),
        )
        self.client.connect(now=0)
        self.requests = Requests()
        self.calls: dict[Any, int] = {}
        self.running: dict[int, Running] = {}
        self.serials: set[int] = set()
        self.results: list[Any] = []

    # What the application does

    def ask(self) -> None:
        n = next(self.network.calls)
        options: Any = self.network.random.choice([{}, {"timeout": 5, "now": self.network.now}, {"progress": True}])
        options = {} if self.network.patient else options
        try:
            handle = self.client.connection.request(t.CallToolRequest("t", {"n": n, "who": self.who}), **options)
        except LocalProtocolError:
            return
        self.requests.handles.append(handle)
        self.calls[handle.id] = n

    def cancel(self) -> None:
        open_ = [h for h in self.requests.handles if h.id in self.client.connection.in_flight]
        if open_:
            handle = self.network.random.choice(open_)
            self.client.connection.cancel(handle.id)
            self.requests.cancelled.add(handle.id)

    def say(self) -> None:
        self.network.attempt(lambda: self.client.connection.notify(t.CustomNotification("vendor/x")))

    def connect(self) -> None:
        self.network.attempt(lambda: self.client.connect(now=self.network.now))

    def wait(self) -> None:
        network, deadline = self.network, self.client.next_deadline()
        if deadline is not None:
            network.now = max(network.now, deadline)
        self.told(self.client.handle_timeout(network.now))

    # What comes of its exchanges

    def told(self, events: Any) -> None:
        self.requests.note(events)
        for event in events:
            assert getattr(event, "violations", ()) == (), event
            match event:
                case ResultReceived(id=request_id, result=t.CallToolResult(content=[t.TextContent(text=text)])):
                    assert text == f"{self.who} {self.calls[request_id]}", "an answer of another request"
                    self.results.append(request_id)
                case NotificationReceived(notification=t.CustomNotification(params={"to": to, "serial": serial})):
                    assert to == self.who, "a notification for somebody else"
                    assert serial not in self.serials, "a notification comes twice"
                    self.serials.add(serial)
                case RequestReceived(id=request_id):
                    self.client.connection.respond(request_id, t.ListRootsResult([]))
                case _:
                    pass
        self.look()

    def look(self) -> None:
        for each in self.client.exchanges_to_start():
            assert each.key not in self.running
            self.running[each.key] = Running(each.key, each.request)
        for key in self.client.exchanges_to_abort():
            self.leave(self.running.pop(key))

    def leave(self, running: Running) -> None:
        if running.exchange is not None:
            self.network.left.append(running.exchange)

    def break_stream(self, running: Running) -> None:
        """Let a stream break that can be taken up, with a part of what was on its way."""
        if running.exchange is not None and running.begun and running.can_be_taken_up:
            data = running.exchange.data_to_send()
            cut = self.network.random.randrange(len(data) + 1)
            self.told(self.client.receive_data(running.key, data[:cut], now=self.network.now))
            if running.key in self.running:
                self.break_off(running)

    def break_off(self, running: Running) -> None:
        del self.running[running.key]
        self.leave(running)
        self.told(self.client.receive_failure(running.key, "the network broke", now=self.network.now))

    def move(self, running: Running) -> bool:
        """Let something happen to an exchange, if there is anything."""
        now, exchange = self.network.now, running.exchange
        if exchange is None:
            target = urlsplit(running.request.target)
            request = attrs.evolve(running.request, target=target.path + ("?" + target.query if target.query else ""))
            running.exchange = exchange = self.network.endpoint.receive_request(request, now=now)
            self.network.serve_events(exchange.events, exchange.connection)
            return True
        response = exchange.response
        if response is None:
            return False
        if not running.begun:
            running.begun = True
            self.told(self.client.receive_response(running.key, response.status, response.headers, now=now))
            return True
        data = exchange.data_to_send()
        if data:
            cut = self.network.random.randrange(len(data) + 1)
            for piece in (data[:cut], data[cut:]):
                running.got += piece
                self.told(self.client.receive_data(running.key, piece, now=now))
            return True
        if exchange.finished and self.running.pop(running.key, None) is not None:
            self.told(self.client.receive_end(running.key, now=now))
            return True
        return False


@pytest.mark.parametrize("events", [True, False], ids=["resumable", "not resumable"])
@pytest.mark.parametrize("revision", [*EVERY, "sse"])
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_a_bad_network(revision: str, events: bool, seed: int) -> None:
    random = Random(seed)
    http_sse = revision == "sse"
    network = Network(random, "2024-11-05" if http_sse else revision, http_sse=http_sse, events=events)
    for _ in range(random.randrange(80)):
        network.step()
        for peer in network.peers:
            peer.requests.check(all_over=False)
    network.heal()


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_streams_that_break_and_are_taken_up_lose_nothing(revision: str, seed: int) -> None:
    network = Network(Random(seed), revision, patient=True)
    network.heal()
    for peer in network.peers:
        peer.client.listen()
    network.heal()
    for _ in range(network.random.randrange(80)):
        peer = network.random.choice(network.peers)
        match network.random.randrange(6):
            case 0:
                peer.ask()
            case 1 if network.work:
                network.serve(*network.work.pop(network.random.randrange(len(network.work))))
            case 2 if network.left:
                network.serve_events(network.left.pop().close(), None)
            case 3 if peer.client.next_deadline() is not None and not peer.client.connection.next_deadline():
                peer.wait()
            case 4 if peer.running:
                peer.break_stream(network.random.choice(list(peer.running.values())))
            case 5 if peer.running:
                peer.move(network.random.choice(list(peer.running.values())))
            case _:
                pass
        for each in network.peers:
            each.look()
    network.heal()
    for peer in network.peers:
        assert set(peer.results) == {handle.id for handle in peer.requests.handles}
    assert network.sent == network.peers[0].serials | network.peers[1].serials


@pytest.mark.parametrize("revision", [*EVERY, "sse"])
def test_a_good_network(revision: str) -> None:
    """Where nothing breaks, everything arrives."""
    http_sse = revision == "sse"
    network = Network(Random(1), "2024-11-05" if http_sse else revision, http_sse=http_sse)
    network.heal()
    for _ in range(5):
        for peer in network.peers:
            peer.ask()
            peer.say()
        network.heal()
    for peer in network.peers:
        assert peer.client.connection.revision == ("2024-11-05" if http_sse else revision)
        assert peer.client.known == ("sse" if http_sse else "modern" if revision == MODERN else "streamable")
        assert len(peer.requests.handles) == 5
        assert all(peer.requests.ended[handle.id] == 1 for handle in peer.requests.handles)
        peer.client.close()
    network.heal()
    assert not network.endpoint.sessions
