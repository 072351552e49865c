"""A client and a server, driven by any legal actions in any interleaving and chunking, under a clock.

After every step: no side sees the other break a rule, every request ends at most once and for the reason that the
machine knows, a call that raised has changed nothing, no deadline is overdue, and whenever nothing is under way the two
sides know the same. Snapshot and restore may happen at any step.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

import attrs
import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import rule

from mcp_sansio import ConnectionState, Dropped, DroppedReason, Reason, RequestTimedOut, Sent, Side
from mcp_sansio import types as t

from .samples import TASK
from .world import FEW, MODERN, Asking, Due, End, World

ELICIT = t.ElicitRequestFormParams("name?", t.RequestedSchema({}))
SAMPLE = t.CreateMessageRequest([t.SamplingMessage("user", t.TextContent("hi"))], 10)
CALLS: list[t.Request[Any]] = [
    t.CallToolRequest("add", {"a": 1}),
    t.ReadResourceRequest("file:///a"),
    t.GetPromptRequest("greet"),
    t.CallToolRequest("later", task=t.TaskMetadata()),
]
LISTENING: list[t.Request[Any]] = [
    t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True, resource_subscriptions=["file:///a"])),
    t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True, prompts_list_changed=False)),
    t.SubscribeRequest("file:///a"),
    t.SubscribeRequest("file:///b/"),
    t.UnsubscribeRequest("file:///a"),
    t.UnsubscribeRequest("file:///b/"),
    t.SetLevelRequest("error"),
    t.SetLevelRequest("debug"),
]
OTHERS: list[t.Request[Any]] = [
    t.PingRequest(),
    t.ListToolsRequest(),
    t.CustomRequest("vendor/thing", {"x": [1, "1", None]}),
]
SERVER_REQUESTS: list[t.Request[Any]] = [
    t.PingRequest(),
    t.ListRootsRequest(),
    SAMPLE,
    attrs.evolve(SAMPLE, task=t.TaskMetadata()),
    ELICIT,
    t.CustomRequest("vendor/other"),
]
QUESTIONS: list[Any] = [t.ListRootsRequest(), SAMPLE, ELICIT]
NOTIFICATIONS: list[t.Notification] = [
    t.RootsListChangedNotification(),
    t.ToolListChangedNotification(),
    t.LoggingMessageNotification("debug", "detail"),
    t.CustomNotification("vendor/happened"),
]
CHANGES: list[Any] = [
    t.ToolListChangedNotification(),
    t.PromptListChangedNotification(),
    t.ResourceUpdatedNotification("file:///a"),
    t.ResourceUpdatedNotification("file:///b/c", meta={"m": 1}),
]
RESULTS: dict[str, Callable[[], t.Result]] = {
    "ping": t.EmptyResult,
    "tools/list": lambda: t.ListToolsResult([t.Tool("add", {"type": "object"})]),
    "tools/call": lambda: t.CallToolResult([t.TextContent("3")]),
    "resources/read": lambda: t.ReadResourceResult([t.BlobResourceContents("file:///a", "AAAA")]),
    "resources/subscribe": t.EmptyResult,
    "resources/unsubscribe": t.EmptyResult,
    "prompts/get": lambda: t.GetPromptResult([]),
    "logging/setLevel": t.EmptyResult,
    "roots/list": lambda: t.ListRootsResult([]),
    "sampling/createMessage": lambda: t.CreateMessageResult(role="assistant", content=t.TextContent("hi"), model="m"),
    "elicitation/create": lambda: t.ElicitResult("decline"),
}
WORKING = t.CreateTaskResult(t.Task("t1", "working", TASK["createdAt"], TASK["createdAt"], None))

TIMINGS: list[dict[str, Any]] = [
    {},
    {},
    {"timeout": 4},
    {"timeout": 0},
    {"max_timeout": 8},
    {"timeout": 6, "max_timeout": 4},
    {"timeout": 6, "reset_on_progress": True},
    {"timeout": 6, "max_timeout": 9, "reset_on_progress": True},
]


def covers(subscribed: Iterable[str], uri: str) -> bool:
    return any(uri == each or uri.startswith(each.rstrip("/") + "/") for each in subscribed)


ACTIONS: list[tuple[int, Callable[[Machine], Any], Callable[[Machine, st.DataObject], None]]] = []


def action(weight: int, when: Callable[[Machine], Any] = lambda machine: True) -> Any:
    """Register something that may happen, how often beside others, and when it can at all."""

    def register(function: Any) -> Any:
        ACTIONS.append((weight, when, function))
        return function

    return register


def connected(machine: Machine) -> bool:
    return machine.client.connection.state is ConnectionState.OPEN


def owed(machine: Machine) -> Any:
    return machine.some(lambda end: end.serving)


class Machine(World):
    """What may happen."""

    # What each side says

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """Something happens, and at once what follows from it, while all is prompt."""
        possible = {do.__name__: (weight, do) for weight, when, do in ACTIONS if when(self)}
        names = [name for name, (weight, _) in possible.items() for _ in range(weight)]
        possible[data.draw(st.sampled_from(names), "what")][1](self, data)
        self.age += 1
        self.flush()
        if self.prompt:
            self.carry()

    @action(4, connected)
    def call(self, data: st.DataObject) -> None:
        modern = self.of_client.revision == MODERN
        level = data.draw(st.sampled_from([None, "debug", "error"]), "level") if modern else None
        self.ask(self.client, CALLS, data, progress=data.draw(st.booleans(), "progress"), log_level=level)

    @action(3, connected)
    def listen(self, data: st.DataObject) -> None:
        self.ask(self.client, LISTENING, data)

    @action(2)
    def ask_for_another_thing(self, data: st.DataObject) -> None:
        self.ask(self.client, OTHERS, data)

    @action(2, lambda machine: machine.of_server.revision is not None)
    def server_asks(self, data: st.DataObject) -> None:
        self.ask(self.server, SERVER_REQUESTS, data, progress=data.draw(st.booleans(), "progress"))

    def ask(self, end: End, requests: list[t.Request[Any]], data: st.DataObject, **options: Any) -> None:
        possible = [request for request in requests if end.connection.can_send(request.method)]
        request = data.draw(st.sampled_from([*possible * 6, *requests]), "request")
        timing = data.draw(st.sampled_from(TIMINGS), "timing")
        now = self.now if timing else None
        handle = self.attempt(end, lambda: end.connection.request(request, now=now, **timing, **options))
        self.note_sent(end, handle, timing)

    @action(3, lambda machine: machine.some(lambda end: end.has_batches))
    def batch(self, data: st.DataObject) -> None:
        end = self.choose(data, lambda end: end.has_batches)
        requests = [r for r in (*CALLS, *LISTENING, *OTHERS, *SERVER_REQUESTS) if end.connection.can_send(r.method)]
        cancels = [t.CancelledNotification(request_id=request_id) for request_id in end.connection.in_flight]
        most = min(4, self.peer_of(end).limits.batch_length)
        messages = data.draw(st.lists(st.sampled_from([*requests, *cancels, *NOTIFICATIONS]), max_size=most), "batch")
        for handle in self.attempt(end, lambda: end.connection.send_batch(messages), gives_up=True) or ():
            self.note_sent(end, handle, {})

    @action(1)
    def notify(self, data: st.DataObject) -> None:
        end = self.choose(data, lambda end: True)
        notification = data.draw(st.sampled_from(NOTIFICATIONS), "notification")
        self.attempt(end, lambda: end.connection.notify(notification))

    @action(2, lambda machine: machine.some(lambda end: end.connection.in_flight))
    def cancel(self, data: st.DataObject) -> None:
        end = self.choose(data, lambda end: end.connection.in_flight)
        request_id = data.draw(st.sampled_from(end.connection.in_flight), "id")
        if data.draw(st.booleans(), "by hand"):
            cancelled = t.CancelledNotification(request_id=request_id, reason="by hand")
            self.attempt(end, lambda: end.connection.notify(cancelled), gives_up=True)
        else:
            done = self.attempt(end, lambda: end.connection.cancel(request_id, "no longer needed"), gives_up=True)
            assert done == Sent() or self.refusal in (Reason.NOT_CANCELLABLE, Reason.NOT_CONNECTED, Reason.LIMIT)

    @action(1, lambda machine: machine.some(lambda end: end.ended))
    def touch_what_is_over(self, data: st.DataObject) -> None:
        """A cancel comes too late; an answer to a cancelled request is dropped, a second one is refused."""
        end = self.choose(data, lambda end: end.ended)
        request_id = data.draw(st.sampled_from(sorted(end.ended)), "id")
        done = self.attempt(end, lambda: end.connection.cancel(request_id))
        assert done in (Dropped(DroppedReason.OVER), Dropped(DroppedReason.FORGOTTEN))
        peer = self.peer_of(end)
        if request_id not in peer.connection.owed:
            answered = self.attempt(peer, lambda: peer.connection.respond(request_id, t.CustomResult()))
            assert answered is None or isinstance(answered, Dropped)

    @action(6, owed)
    def answer(self, data: st.DataObject) -> None:
        end, request_id, request = self.choose_served(data)
        connection = end.connection
        if isinstance(request, t.SubscriptionsListenRequest):
            done = self.attempt(end, lambda: self.of_server.end_subscription(request_id))
        else:
            result = RESULTS.get(request.method, t.CustomResult)()
            done = self.attempt(end, lambda: connection.respond(request_id, result))
        self.note_answer(end, request_id, done)
        if done == Sent():
            self.note_effect(request)

    @action(2, owed)
    def answer_otherwise(self, data: st.DataObject) -> None:
        end, request_id, request = self.choose_served(data)
        connection = end.connection
        if getattr(request, "task", None) is not None and data.draw(st.booleans(), "as a task"):
            done = self.attempt(end, lambda: connection.respond(request_id, WORKING))
        elif end is self.server and data.draw(st.booleans(), "for want of a capability"):
            needed = t.ClientCapabilities(roots=t.RootsCapability())
            done = self.attempt(end, lambda: self.of_server.respond_missing_capability(request_id, needed))
        else:
            done = self.attempt(end, lambda: connection.respond_error(request_id, -32603, "Internal error"))
        self.note_answer(end, request_id, done)

    def choose_served(self, data: st.DataObject) -> tuple[End, Any, Any]:
        end = self.choose(data, lambda end: end.serving)
        request_id = data.draw(st.sampled_from(sorted(end.serving)), "id")
        return end, request_id, end.serving[request_id]

    def note_answer(self, end: End, request_id: Any, done: Sent | Dropped | None) -> None:
        if done == Sent():
            self.note_served(end, request_id)
        elif done is None:
            assert self.refusal is Reason.LIMIT
        else:
            assert done == Dropped(DroppedReason.CLOSED)

    def note_effect(self, request: t.AnyRequest) -> None:
        match request:
            case t.SubscribeRequest(uri=uri):
                self.subscribed.add(uri)
            case t.UnsubscribeRequest(uri=uri):
                self.subscribed.discard(uri)
            case t.SetLevelRequest(level=level):
                self.level = level

    @action(4, owed)
    def report(self, data: st.DataObject) -> None:
        end, request_id, _ = self.choose_served(data)
        request = end.connection.conversation.open_requests(end.connection.side.other)[request_id]
        before, further = request.progress, data.draw(st.sampled_from([1, 1, 1, 0, -1]), "further")
        amount = (before or 0) + further
        done = self.attempt(end, lambda: end.connection.progress(request_id, amount, message="on it"))
        if done == Sent():
            assert before is None or further > 0
        elif done is None:
            assert self.refusal is Reason.LIMIT or (self.refusal is Reason.RULE and further <= 0)
        else:
            assert end.over or request.token is None

    # What only a server says, and how a client takes it

    @action(2)
    def log(self, data: st.DataObject) -> None:
        server = self.of_server
        level = data.draw(st.sampled_from(t.LOGGING_LEVELS), "level")
        related = data.draw(st.sampled_from([None, *sorted(self.server.serving)]), "related")
        done = self.attempt(self.server, lambda: server.log(level, "note", related=related))
        if server.revision is not None and related is None and self.level is not None and not self.server.over:
            wanted = t.LOGGING_LEVELS.index(level) >= t.LOGGING_LEVELS.index(self.level)
            expected = Sent() if wanted else Dropped(DroppedReason.NOT_ASKED)
            assert done == expected or (done is None and self.refusal is Reason.LIMIT)

    @action(6, lambda machine: machine.may_need_input)
    def request_input(self, data: st.DataObject) -> None:
        server = self.of_server
        request_id = data.draw(st.sampled_from(self.may_need_input), "id")
        modern = server.conversation.open_requests(Side.CLIENT)[request_id].revision == MODERN
        possible = [each for each in QUESTIONS if modern or server.can_send(each.method)] or QUESTIONS
        asked = data.draw(st.dictionaries(st.sampled_from("ab"), st.sampled_from(possible)), "asked")
        state = data.draw(st.sampled_from([None, "", "state"]), "state")
        timeout = data.draw(st.sampled_from([None, None, 4]), "timeout")
        before = set(server.in_flight)
        ask = functools.partial(server.request_input, request_id, asked, state, timeout=timeout, now=self.now)
        if self.attempt(self.server, ask) != Sent():
            return
        if modern:
            self.note_served(self.server, request_id)
            return
        asking = Asking(set(asked), state, set(server.in_flight) - before)
        assert len(asking.questions) == len(asked)
        self.server.questions |= asking.questions
        self.asking[request_id] = asking
        for question in asking.questions if timeout is not None else ():
            self.server.due[question] = Due(self.now + timeout, None, None)

    @action(5, lambda machine: machine.to_retry)
    def retry(self, data: st.DataObject) -> None:
        handle, result = data.draw(st.sampled_from(self.to_retry), "of")
        asked = result.input_requests or {}
        responses: dict[str, Any] = {key: RESULTS[each.method]() for key, each in asked.items()}
        complete = data.draw(st.sampled_from([True, True, True, False]), "complete")
        if not complete:
            responses["another"] = t.ListRootsResult([])
        timing = data.draw(st.sampled_from(TIMINGS), "timing")
        again = self.attempt(self.client, lambda: self.of_client.retry(handle, responses, now=self.now, **timing))
        self.note_sent(self.client, again, timing)
        forgotten = self.client.limits is FEW and self.refusal is Reason.UNKNOWN_REQUEST
        if again is None:
            assert not complete or forgotten or self.refusal in (Reason.LIMIT, Reason.CLOSED)
        else:
            assert complete
            self.to_retry.remove((handle, result))
            self.retried[again.id] = (set(asked), result.request_state)

    @action(3, lambda machine: machine.subscriptions or machine.of_server.revision is not None)
    def publish(self, data: st.DataObject) -> None:
        server = self.of_server
        change = data.draw(st.sampled_from(CHANGES), "change")
        uri: str | None = getattr(change, "uri", None)
        told = [
            request_id
            for request_id, wanted in self.subscriptions.items()
            if (wanted.tools_list_changed and isinstance(change, t.ToolListChangedNotification))
            or (uri is not None and covers(wanted.resource_subscriptions or (), uri))
        ]
        in_session = server.revision is not None and (uri is None or covers(self.subscribed, uri))
        done = self.attempt(self.server, lambda: server.publish(change))
        if done is None:
            undeclared = in_session and not self.server_declares
            assert self.refusal is Reason.LIMIT or (self.refusal is Reason.CAPABILITY and undeclared)
        elif self.server.over:
            assert done == 0
        else:
            assert done == len(told) + in_session
            self.published.update(told)

    @action(1, lambda machine: machine.subscriptions)
    def end_by_cancelled(self, data: st.DataObject) -> None:
        """A server may end a subscription by notifications/cancelled alone."""
        request_id = data.draw(st.sampled_from(sorted(self.subscriptions)), "id")
        cancelled = t.CancelledNotification(request_id=request_id)
        self.attempt(self.server, lambda: self.of_server.notify(cancelled), gives_up=True)
        if request_id not in self.of_server.owed:
            self.note_served(self.server, request_id)

    # The world

    @action(8, lambda machine: machine.some(lambda end: end.pipe))
    def deliver(self, data: st.DataObject) -> None:
        end = self.choose(data, lambda end: end.pipe)
        share = data.draw(st.sampled_from([1.0, 1.0, 0.9, 0.5, 0.1]), "share")
        self.receive(end, round(len(end.pipe) * share))

    @action(1)
    def change_pace(self, data: st.DataObject) -> None:
        """From now on all is delivered at once, or as it comes, or nobody writes what one side has to say."""
        pace = data.draw(st.sampled_from(["prompt", "prompt", "slow", "client stalls", "server stalls"]), "pace")
        self.prompt = pace == "prompt"
        self.client.stalled = pace == "client stalls"
        self.server.stalled = pace == "server stalls"

    @action(3)
    def wait(self, data: st.DataObject) -> None:
        self.now += data.draw(st.integers(0, 4), "seconds")
        for end in self.ends:
            connection = end.connection
            late = {request_id for request_id, due in end.due.items() if due.when <= self.now}
            mine = connection.conversation.open_requests(connection.side)
            tasks = {request_id for request_id in late if mine[request_id].task}
            events = connection.handle_timeout(self.now)
            assert {event.id for event in events if isinstance(event, RequestTimedOut)} == late - end.questions
            assert not late & set(connection.in_flight)
            deadline = connection.next_deadline()
            assert deadline is None or deadline > self.now
            self.tasks_given_up |= {(connection.side.value, request_id) for request_id in tasks}
            self.saw(end, events)

    @action(4)
    def restore(self, data: st.DataObject) -> None:
        end = self.choose(data, lambda end: True)
        kept = json.loads(json.dumps(end.connection.snapshot(self.now)))
        end.connection = type(end.connection).restore(kept, self.now, limits=end.limits)
        assert end.connection.snapshot(self.now) == kept

    @action(2, lambda machine: machine.age > machine.lifetime)
    def end(self, data: st.DataObject) -> None:
        """One side is told that the stream has ended, with what was under way cut anywhere; or closes it."""
        end = self.choose(data, lambda end: True)
        local = data.draw(st.booleans(), "closes")
        connection = end.connection
        self.receive(end, round(len(end.pipe) * data.draw(st.floats(0, 1), "share")))
        self.saw(end, connection.close() if local else connection.receive_eof(now=self.now))
        assert connection.in_flight == ()
        assert connection.next_deadline() is None
        assert (connection.close() if local else connection.receive_eof(now=self.now)) == []


ACTIONS.sort(key=itemgetter(0), reverse=True)  # the first ones are drawn most often
Machine.TestCase.settings = settings(
    max_examples=100, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
)
TestMachine = Machine.TestCase
