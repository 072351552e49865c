"""A client and a server, driven by any legal actions in any interleaving and chunking.

After every step: no side sees the other break a rule, every request ends at most once, a call that raised has changed
nothing, and whenever the pipes are empty the two sides know the same. Snapshot and restore may happen at any step.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mcp_sansio import (
    ALL_REVISIONS,
    MODERN_REVISIONS,
    AnswerInvalid,
    ClientConnection,
    ConnectionClosed,
    ConnectionState,
    Dropped,
    ErrorReceived,
    Event,
    InputRequired,
    LocalProtocolError,
    Negotiated,
    NegotiationFailed,
    RequestCancelled,
    RequestReceived,
    ResultReceived,
    ServerConnection,
)
from mcp_sansio import types as t

from .samples import CLIENT_CAPABILITIES, CLIENT_INFO, SERVER_CAPABILITIES, SERVER_INFO, TASK

CLIENT_REQUESTS: list[t.Request[Any]] = [
    t.PingRequest(),
    t.ListToolsRequest(),
    t.CallToolRequest("add", {"a": 1}),
    t.CallToolRequest("log", meta={"io.modelcontextprotocol/logLevel": "info"}),
    t.CallToolRequest("later", task=t.TaskMetadata()),
    t.ListResourcesRequest(cursor=""),
    t.ReadResourceRequest("file:///a"),
    t.SubscribeRequest("file:///a"),
    t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True)),
    t.GetPromptRequest("greet"),
    t.CompleteRequest(t.PromptReference("greet"), t.CompletionArgument("who", "w")),
    t.SetLevelRequest("error"),
    t.ListTasksRequest(),
    t.CustomRequest("vendor/thing", {"x": [1, "1", None]}),
]
SERVER_REQUESTS: list[t.Request[Any]] = [
    t.PingRequest(),
    t.ListRootsRequest(),
    t.CreateMessageRequest([t.SamplingMessage("user", t.TextContent("hi"))], 10),
    t.ElicitRequestFormParams("name?", t.RequestedSchema({})),
    t.CustomRequest("vendor/other"),
]
NOTIFICATIONS: list[t.Notification] = [
    t.RootsListChangedNotification(),
    t.ToolListChangedNotification(),
    t.ResourceUpdatedNotification("file:///a"),
    t.LoggingMessageNotification("warning", "careful"),
    t.LoggingMessageNotification("debug", "detail"),
    t.CustomNotification("vendor/happened"),
]
RESULTS: dict[str, Callable[[], t.Result]] = {
    "ping": t.EmptyResult,
    "tools/list": lambda: t.ListToolsResult([t.Tool("add", {"type": "object"})]),
    "tools/call": lambda: t.CallToolResult([t.TextContent("3")]),
    "resources/list": lambda: t.ListResourcesResult([]),
    "resources/read": lambda: t.ReadResourceResult([t.BlobResourceContents("file:///a", "AAAA")]),
    "resources/subscribe": t.EmptyResult,
    "subscriptions/listen": t.SubscriptionsListenResult,
    "prompts/get": lambda: t.GetPromptResult([]),
    "completion/complete": lambda: t.CompleteResult(t.Completion(["world"])),
    "logging/setLevel": t.EmptyResult,
    "tasks/list": lambda: t.ListTasksResult([]),
    "roots/list": lambda: t.ListRootsResult([]),
    "sampling/createMessage": lambda: t.CreateMessageResult(role="assistant", content=t.TextContent("hi"), model="m"),
    "elicitation/create": lambda: t.ElicitResult("decline"),
}
ENDINGS = (ResultReceived, ErrorReceived, AnswerInvalid, InputRequired)
Connection = ClientConnection | ServerConnection


def revisions() -> st.SearchStrategy[frozenset[str]]:
    return st.one_of(
        st.just(frozenset(ALL_REVISIONS)),
        st.sampled_from(ALL_REVISIONS).map(lambda name: frozenset({name})),
        st.frozensets(st.sampled_from(ALL_REVISIONS), min_size=1),
    )


class Conversation(RuleBasedStateMachine):
    """Two connections, two pipes."""

    @initialize(
        client_revisions=revisions(), server_revisions=revisions(), declares=st.tuples(st.booleans(), st.booleans())
    )
    def start(
        self, client_revisions: frozenset[str], server_revisions: frozenset[str], declares: tuple[bool, bool]
    ) -> None:
        self.now = 0.0
        self.client = ClientConnection(
            CLIENT_INFO, CLIENT_CAPABILITIES if declares[0] else None, revisions=client_revisions
        )
        self.server = ServerConnection(
            SERVER_INFO, SERVER_CAPABILITIES if declares[1] else None, revisions=server_revisions
        )
        self.to_server = bytearray()
        self.to_client = bytearray()
        self.started: dict[str, set[Any]] = {"client": set(), "server": set()}
        self.ended: dict[str, Counter[Any]] = {"client": Counter(), "server": Counter()}
        eras = [{name == MODERN_REVISIONS[0] for name in names} for names in (client_revisions, server_revisions)]
        self.have_an_era_in_common = bool(eras[0] & eras[1])
        self.client.connect(timeout=10, now=self.now)
        self.flush()

    # Bookkeeping

    def side(self, connection: Connection) -> str:
        return "client" if connection is self.client else "server"

    def flush(self) -> None:
        self.to_server += self.client.data_to_send()
        self.to_client += self.server.data_to_send()

    def attempt(self, connection: Connection, action: Callable[[], Any]) -> Any:
        """Do it; if it is refused, nothing has changed."""
        before = connection.snapshot(self.now)
        try:
            done = action()
        except LocalProtocolError as error:
            assert error.hint
            assert connection.snapshot(self.now) == before
            return None
        self.flush()
        return done

    def saw(self, connection: Connection, events: list[Event]) -> None:
        mine, peers = self.side(connection), self.side(self.server if connection is self.client else self.client)
        for event in events:
            broken = {violation.rule for violation in event.violations}
            cut_at_eof = broken == {"LIB-004"} and connection.state is ConnectionState.CLOSING
            assert not broken or cut_at_eof or not self.have_an_era_in_common, event
            if isinstance(event, ENDINGS) and event.id is not None:
                assert event.id in self.started[mine], event
                self.ended[mine][event.id] += 1
            elif isinstance(event, ConnectionClosed):
                self.ended[mine].update(pending.id for pending in event.pending)
            elif isinstance(event, RequestCancelled) and event.method == "subscriptions/listen" and mine == "client":
                self.ended[mine][event.id] += 1
            elif isinstance(event, RequestReceived):
                assert event.id in self.started[peers]
            elif isinstance(event, Negotiated | NegotiationFailed):
                pass
        self.flush()

    # Actions

    @rule(request=st.sampled_from(CLIENT_REQUESTS), progress=st.booleans())
    def client_asks(self, request: t.Request[Any], progress: bool) -> None:
        handle = self.attempt(self.client, lambda: self.client.request(request, progress=progress))
        if handle is not None:
            self.started["client"].add(handle.id)

    @rule(request=st.sampled_from(SERVER_REQUESTS), progress=st.booleans())
    def server_asks(self, request: t.Request[Any], progress: bool) -> None:
        handle = self.attempt(self.server, lambda: self.server.request(request, progress=progress))
        if handle is not None:
            self.started["server"].add(handle.id)

    @rule(from_client=st.booleans(), notification=st.sampled_from(NOTIFICATIONS))
    def notify(self, from_client: bool, notification: t.Notification) -> None:
        connection: Connection = self.client if from_client else self.server
        self.attempt(connection, lambda: connection.notify(notification))

    @rule(from_client=st.booleans(), data=st.data())
    def answer(self, from_client: bool, data: st.DataObject) -> None:
        connection: Connection = self.client if from_client else self.server
        peer = self.server if from_client else self.client
        if not connection.owed:
            return
        request_id = data.draw(st.sampled_from(connection.owed))
        request = connection.conversation.open_requests(peer.side)[request_id]
        how = data.draw(st.sampled_from(["result", "error", "progress", "task", "input"]))
        if how == "error":
            self.attempt(connection, lambda: connection.respond_error(request_id, -32603, "Internal error"))
        elif how == "progress" and request.token is not None:
            step = t.ProgressNotification(request.token, (request.progress or 0) + 1)
            self.attempt(connection, lambda: connection.notify(step))
        elif how == "task" and request.task:
            created = t.CreateTaskResult(t.Task("t1", "working", TASK["createdAt"], TASK["createdAt"], None))
            self.attempt(connection, lambda: connection.respond(request_id, created))
        elif how == "input" and request.row is not None and request.row.input_required:
            asked = t.InputRequiredResult({"who": t.ListRootsRequest()}, "state")
            self.attempt(connection, lambda: connection.respond(request_id, asked))
        else:
            result = RESULTS.get(request.method, t.CustomResult)()
            done = self.attempt(connection, lambda: connection.respond(request_id, result))
            assert done is not None, (request, result)

    @rule(from_client=st.booleans(), data=st.data())
    def cancel(self, from_client: bool, data: st.DataObject) -> None:
        connection: Connection = self.client if from_client else self.server
        if not connection.in_flight:
            return
        request_id = data.draw(st.sampled_from(connection.in_flight))
        before = connection.in_flight
        self.attempt(connection, lambda: connection.cancel(request_id, "no longer needed"))
        if connection.in_flight != before:
            self.ended[self.side(connection)][request_id] += 1

    @rule(from_client=st.booleans(), data=st.data())
    def answer_what_is_over(self, from_client: bool, data: st.DataObject) -> None:
        """An answer to a cancelled request is dropped; a second answer is refused."""
        connection: Connection = self.client if from_client else self.server
        request_id = data.draw(st.sampled_from(sorted(self.started["server" if from_client else "client"]) or [0]))
        if request_id not in connection.owed:
            done = self.attempt(connection, lambda: connection.respond(request_id, t.CustomResult()))
            assert done is None or isinstance(done, Dropped)

    @rule(to_server=st.booleans(), share=st.floats(0, 1))
    def deliver(self, to_server: bool, share: float) -> None:
        pipe, receiver = (self.to_server, self.server) if to_server else (self.to_client, self.client)
        if receiver.state in (ConnectionState.CLOSING, ConnectionState.CLOSED):
            pipe.clear()
            return
        size = round(len(pipe) * share)
        chunk = bytes(pipe[:size])
        del pipe[:size]
        self.saw(receiver, receiver.receive_data(chunk, now=self.now))

    @rule()
    def deliver_all(self) -> None:
        while self.to_server or self.to_client:
            self.deliver(True, 1)
            self.deliver(False, 1)

    @rule(seconds=st.floats(0, 20))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.saw(self.client, self.client.handle_timeout(self.now))
        deadline = self.client.next_deadline()
        assert deadline is None or deadline > self.now

    @rule(of_client=st.booleans())
    def restore(self, of_client: bool) -> None:
        if of_client:
            data = json.loads(json.dumps(self.client.snapshot(self.now)))
            self.client = ClientConnection.restore(data, self.now)
            assert self.client.snapshot(self.now) == data
        else:
            data = json.loads(json.dumps(self.server.snapshot(self.now)))
            self.server = ServerConnection.restore(data, self.now)
            assert self.server.snapshot(self.now) == data

    @precondition(lambda self: self.client.state is not ConnectionState.CONNECTING)
    @rule(of_client=st.booleans(), local=st.booleans(), seldom=st.integers(0, 4))
    def end(self, of_client: bool, local: bool, seldom: int) -> None:
        if seldom:
            return
        connection: Connection = self.client if of_client else self.server
        self.saw(connection, connection.close() if local else connection.receive_eof(now=self.now))
        assert connection.in_flight == ()
        assert connection.close() == [] if local else connection.receive_eof(now=self.now) == []

    # What always holds

    @invariant()
    def every_request_ends_once(self) -> None:
        if not hasattr(self, "client"):
            return
        for connection in (self.client, self.server):
            side = self.side(connection)
            assert all(count == 1 for count in self.ended[side].values()), self.ended[side]
            assert not set(connection.in_flight) & set(self.ended[side])
            handshake = 0 if connection is self.server else 3
            assert len(set(connection.in_flight) - self.started[side]) <= handshake
            assert self.started[side] <= set(self.ended[side]) | set(connection.in_flight)

    @invariant()
    def both_know_the_same_when_nothing_is_under_way(self) -> None:
        if not hasattr(self, "client") or self.to_server or self.to_client:
            return
        states = {self.client.state, self.server.state}
        if states & {ConnectionState.FAILED, ConnectionState.CLOSING, ConnectionState.CLOSED}:
            return
        assert self.client.conversation.shared() == self.server.conversation.shared()


Conversation.TestCase.settings = settings(
    max_examples=120, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestConversation = Conversation.TestCase
