"""Sessions over HTTP under fire: two servers that share them, clients whose streams break anywhere, and a model.

Each message that the server sends is a number that is sent once. A client must see the numbers of its own session, on
the stream that they belong to, in order, and none twice; and all of them, where the revision lets clients come back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import attrs
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from mcp_sansio import ServerConnection
from mcp_sansio import types as t
from mcp_sansio.http import MemoryEventStore

from .http_endpoint import Reader, Site, call
from .pair import LEGACY, notification

PRIMED = "2025-11-25"


@attrs.define(eq=False)
class Stream:
    """What the client knows of a stream, and what it should get on it.

    Attributes:
        request: the id of the request that it answers; None for one that listens.
        reader: the response that it reads; None while it has none.
        site: the server that this response comes from.
        last_id: the last event id that it saw.
        expected: the numbers that the server sent about the request.
        seen: the numbers that the client saw.
        over: whether the client knows that nothing will follow.
        answered: whether the server has answered, or the client has cancelled.
        lost: whether numbers may be lost: the client had no event id when the stream broke, or it cancelled.
    """

    request: int | None
    reader: Reader | None
    site: int
    last_id: str | None = None
    expected: list[int] = attrs.Factory(list)
    seen: list[int] = attrs.Factory(list)
    over: bool = False
    answered: bool = False
    lost: bool = False

    def read(self) -> None:
        """Read what there is."""
        assert self.reader is not None
        for event in self.reader.take():
            self.last_id = event.id or self.last_id
            if event.data:
                message = json.loads(event.data)
                self.seen.append(number_in(message))
                self.over = self.over or "result" in message
        if self.reader.exchange.finished:
            self.reader.exchange.close()
            self.reader = None


def number_in(message: Any) -> int:
    """The number in a message."""
    if "method" in message:
        return int(message["params"]["data"])
    return int(message["result"]["content"][0]["text"])


@attrs.define(eq=False)
class Client:
    """A session as its client sees it.

    Attributes:
        session: its id.
        revision: its revision.
        home: the server that has its state.
        streams: its streams.
        unrelated: the numbers that belong to no request.
    """

    session: str
    revision: str
    home: int
    streams: list[Stream] = attrs.Factory(list)
    unrelated: list[int] = attrs.Factory(list)

    def of(self, *, broken: bool) -> list[Stream]:
        """The streams that are broken and can be taken up again, or those that are being read."""
        if broken:
            return [s for s in self.streams if s.reader is None and not s.over and s.last_id is not None]
        return [s for s in self.streams if s.reader is not None]


class Sessions(RuleBasedStateMachine):
    """Two servers, and clients."""

    @initialize()
    def servers(self) -> None:
        store, numbers = MemoryEventStore(), count(1)
        self.sites = [Site(event_store=store, numbers=numbers), Site(event_store=store, numbers=numbers)]
        self.numbers: Iterator[int] = count(1)
        self.clients: list[Client] = []
        self.requests = count(1)

    def site(self, client: Client) -> Site:
        return self.sites[client.home]

    def connection(self, client: Client) -> ServerConnection:
        return self.site(client).endpoint.sessions[client.session].connection

    @precondition(lambda self: len(self.clients) < 2)
    @rule(revision=st.sampled_from([*LEGACY, PRIMED, PRIMED]), home=st.integers(0, 1))
    def open(self, revision: str, home: int) -> None:
        self.clients.append(Client(self.sites[home].open(revision), revision, home))

    def pick(self, data: st.DataObject) -> Client:
        return data.draw(st.sampled_from(self.clients))

    has_clients = precondition(lambda self: self.clients)

    @has_clients
    @rule(data=st.data())
    def post(self, data: st.DataObject) -> None:
        client = self.pick(data)
        request = next(self.requests)
        client.streams.append(Stream(request, self.site(client).post(call(request), client.session), client.home))

    @has_clients
    @rule(data=st.data())
    def get(self, data: st.DataObject) -> None:
        client = self.pick(data)
        client.streams.append(Stream(None, self.site(client).get(client.session), client.home))

    def answering(self, data: st.DataObject, client: Client) -> Stream | None:
        open_ones = [s for s in client.streams if s.request is not None and not s.answered]
        return data.draw(st.sampled_from(open_ones)) if open_ones else None

    @has_clients
    @rule(data=st.data())
    def log(self, data: st.DataObject) -> None:
        client = self.pick(data)
        stream = self.answering(data, client)
        if stream is not None:
            stream.expected.append(next(self.numbers))
            self.connection(client).log("info", stream.expected[-1], related=stream.request)

    @has_clients
    @rule(data=st.data())
    def log_of_no_request(self, data: st.DataObject) -> None:
        client = self.pick(data)
        client.unrelated.append(next(self.numbers))
        self.connection(client).log("info", client.unrelated[-1])

    @has_clients
    @rule(data=st.data())
    def answer(self, data: st.DataObject) -> None:
        client = self.pick(data)
        stream = self.answering(data, client)
        if stream is not None:
            assert stream.request is not None
            stream.expected.append(next(self.numbers))
            stream.answered = True
            result = t.CallToolResult([t.TextContent(str(stream.expected[-1]))])
            self.connection(client).respond(stream.request, result)

    @has_clients
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        client = self.pick(data)
        stream = self.answering(data, client)
        if stream is not None:
            cancelled = notification("notifications/cancelled", {"requestId": stream.request})
            assert self.site(client).post(cancelled, client.session).status == 202
            stream.answered = stream.lost = True

    def reading(self, data: st.DataObject, client: Client) -> Stream | None:
        readable = client.of(broken=False)
        return data.draw(st.sampled_from(readable)) if readable else None

    @has_clients
    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        stream = self.reading(data, self.pick(data))
        if stream is not None:
            stream.read()

    @has_clients
    @rule(data=st.data(), loses=st.booleans())
    def breaks(self, data: st.DataObject, loses: bool) -> None:
        client = self.pick(data)
        stream = self.reading(data, client)
        if stream is None:
            return
        assert stream.reader is not None
        if loses:
            stream.reader.exchange.data_to_send()  # it was written, and never arrived
        stream.reader.exchange.close()
        stream.reader = None
        stream.lost = stream.lost or stream.last_id is None

    @has_clients
    @rule(data=st.data())
    def pause(self, data: st.DataObject) -> None:
        stream = self.reading(data, self.pick(data))
        if stream is not None and stream.reader is not None:
            stream.reader.exchange.pause(retry=0)

    @has_clients
    @rule(data=st.data())
    def keep_alive(self, data: st.DataObject) -> None:
        stream = self.reading(data, self.pick(data))
        if stream is not None and stream.reader is not None:
            stream.reader.exchange.keep_alive()

    def resume(self, client: Client, stream: Stream) -> None:
        reader = self.site(client).get(client.session, stream.last_id)
        if reader.status == 200:
            stream.reader, stream.site = reader, client.home
        else:
            assert reader.status == 400
            assert stream.answered, "only at its end a stream cannot be taken up"
            stream.over = True

    @has_clients
    @rule(data=st.data())
    def come_back(self, data: st.DataObject) -> None:
        client = self.pick(data)
        broken = client.of(broken=True)
        if broken:
            self.resume(client, data.draw(st.sampled_from(broken)))

    def move(self, client: Client) -> None:
        snapshot = self.site(client).endpoint.sessions[client.session].snapshot()
        client.home = 1 - client.home
        self.site(client).endpoint.restore_session(json.loads(json.dumps(snapshot)))

    @has_clients
    @rule(data=st.data())
    def another_server_takes_over(self, data: st.DataObject) -> None:
        self.move(self.pick(data))

    def teardown(self) -> None:
        for client in self.clients if hasattr(self, "clients") else ():
            self.settle(client)

    def settle(self, client: Client) -> None:
        """Let all streams come to their end, and compare."""
        client.streams.append(Stream(None, self.site(client).get(client.session), client.home))
        for _ in range(3):
            self.move(client)
            for stream in client.of(broken=False):
                stream.read()
            for stream in client.of(broken=True):
                self.resume(client, stream)
                if stream.reader is not None:
                    stream.read()
        listened: list[int] = []
        for stream in client.streams:
            if stream.request is None:
                assert stream.seen == sorted(stream.seen)
                listened += stream.seen
                continue
            assert stream.seen == stream.expected[: len(stream.seen)] or stream.lost
            assert set(stream.seen) <= set(stream.expected)
            assert len(set(stream.seen)) == len(stream.seen)
            if not stream.lost:
                assert stream.seen == stream.expected, "nothing is lost"
        assert len(set(listened)) == len(listened)
        assert set(listened) <= set(client.unrelated)
        if not any(stream.lost for stream in client.streams if stream.request is None):
            assert sorted(listened) == client.unrelated, "nothing is lost"


TestSessions = Sessions.TestCase
TestSessions.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
