"""Two connections, two pipes and a clock, and what must be true of them whatever happens: see test_machine.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import attrs
import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant

from mcp_sansio import (
    ALL_REVISIONS,
    MODERN_REVISIONS,
    AnswerInvalid,
    ClientConnection,
    ConnectionClosed,
    ConnectionState,
    ErrorReceived,
    Event,
    Handle,
    InputRequired,
    Limits,
    LocalProtocolError,
    MessageInvalid,
    NotificationReceived,
    ProgressIgnored,
    ProgressReceived,
    Reason,
    RequestAnswered,
    RequestCancelled,
    RequestReceived,
    RequestTimedOut,
    ResponseIgnored,
    ResultReceived,
    ServerConnection,
    Side,
    SubscriptionAcknowledged,
    SubscriptionEnded,
    SubscriptionOpened,
)
from mcp_sansio import types as t
from mcp_sansio.spec import REVISIONS

from .samples import CLIENT_CAPABILITIES, CLIENT_INFO, SERVER_CAPABILITIES, SERVER_INFO

T = TypeVar("T")
Connection = ClientConnection | ServerConnection
MODERN = MODERN_REVISIONS[0]

FEW = Limits(requests=3, peer_requests=2, subscribed_uris=1, input_rounds=1, remembered_ids=2, batch_length=2)
BRIEF = Limits(queued_bytes=200)
LIMITS = {"roomy": Limits(), "few": FEW, "brief": BRIEF}


def revisions() -> st.SearchStrategy[tuple[frozenset[str], frozenset[str]]]:
    """What the two sides speak: most often one revision."""
    some = st.just(frozenset(ALL_REVISIONS)) | st.frozensets(st.sampled_from(ALL_REVISIONS), min_size=1)
    one = st.sampled_from([*ALL_REVISIONS, "2025-03-26", MODERN]).map(
        lambda name: (frozenset({name}), frozenset({name}))
    )
    return st.one_of(one, one, st.tuples(some, some))


@attrs.define
class Due:
    """When a request times out, as the machine reckons it."""

    when: int
    timeout: int | None
    until: int | None

    @classmethod
    def of(
        cls, now: int, timeout: int | None = None, max_timeout: int | None = None, reset_on_progress: bool = False
    ) -> Due | None:
        times = [now + seconds for seconds in (timeout, max_timeout) if seconds is not None]
        until = None if max_timeout is None else now + max_timeout
        return cls(min(times), timeout if reset_on_progress else None, until) if times else None

    def postpone(self, now: int) -> None:
        if self.timeout is not None:
            when = now + self.timeout
            self.when = when if self.until is None else min(when, self.until)


@attrs.define
class Asking:
    """What a server asked a legacy client for, to be in the request when it comes again."""

    keys: set[str]
    state: str | None
    questions: set[Any]


@attrs.define(eq=False)
class End:
    """One end of the two pipes, and what must be true of it.

    Attributes:
        connection: the connection.
        limits: its limits.
        pipe: what is under way to it.
        stalled: whether nobody writes what it has to say.
        handles: the requests that it sent, by id.
        ended: how often each of them ended.
        due: which of its requests time out, and when.
        questions: requests that it sent for the application, which sees no end of theirs.
        serving: the peer's requests that wait for the application, by id.
        progress: of each of its requests, the progress that it heard of.
    """

    connection: Connection
    limits: Limits
    pipe: bytearray = attrs.field(factory=bytearray)
    stalled: bool = False
    handles: dict[Any, Handle[Any]] = attrs.field(factory=dict)
    ended: Counter[Any] = attrs.field(factory=Counter)
    due: dict[Any, Due] = attrs.field(factory=dict)
    questions: set[Any] = attrs.field(factory=set)
    serving: dict[Any, Any] = attrs.field(factory=dict)
    progress: dict[Any, float] = attrs.field(factory=dict)

    @property
    def over(self) -> bool:
        return self.connection.state in (ConnectionState.CLOSING, ConnectionState.CLOSED)

    @property
    def has_batches(self) -> bool:
        revision = self.connection.revision
        return revision is not None and REVISIONS[revision].batches

    @property
    def queued(self) -> int:
        """How many bytes it has to say."""
        return sum(len(outgoing.data) for outgoing in self.connection._queue)

    def holds_answers(self, now: int) -> bool:
        """Whether answers wait for others of their batch."""
        return self.has_batches and any(batch["answers"] for batch in self.connection.snapshot(now)["batches"])

    def note_end(self, request_id: Any) -> None:
        """A request of this end is over."""
        assert request_id in self.handles
        self.ended[request_id] += 1
        self.due.pop(request_id, None)


class World(RuleBasedStateMachine):
    """Two connections, two pipes, one clock."""

    client: End
    server: End

    @initialize(
        spoken=revisions(),
        declares=st.sampled_from([(True, True), (True, True), (True, False), (False, True)]),
        bounds=st.tuples(*[st.sampled_from(["roomy", "roomy", "few", "brief"])] * 2),
        prompt=st.sampled_from([True, True, True, False]),
        lifetime=st.integers(20, 99),
    )
    def start(
        self,
        spoken: tuple[frozenset[str], frozenset[str]],
        declares: tuple[bool, bool],
        bounds: tuple[str, str],
        prompt: bool,
        lifetime: int,
    ) -> None:
        self.now, self.age, self.lifetime = 0, 0, lifetime
        limits = (LIMITS[bounds[0]], LIMITS[bounds[1]])
        client = ClientConnection(
            CLIENT_INFO, CLIENT_CAPABILITIES if declares[0] else None, revisions=spoken[0], limits=limits[0]
        )
        server = ServerConnection(
            SERVER_INFO, SERVER_CAPABILITIES if declares[1] else None, revisions=spoken[1], limits=limits[1]
        )
        self.client, self.server = self.ends = End(client, limits[0]), End(server, limits[1])
        self.prompt = prompt
        self.server_declares = declares[1]
        eras = [{name == MODERN for name in names} for names in spoken]
        self.have_an_era_in_common = bool(eras[0] & eras[1])
        self.asking: dict[Any, Asking] = {}
        self.to_retry: list[tuple[Handle[Any], t.InputRequiredResult]] = []
        self.retried: dict[Any, tuple[set[str], str | None]] = {}
        self.subscriptions: dict[Any, t.SubscriptionFilter] = {}
        self.published: Counter[Any] = Counter()
        self.heard: Counter[Any] = Counter()
        self.subscribed: set[str] = set()
        self.level: str | None = None
        self.tasks_given_up: set[Any] = set()
        self.refusal: Reason | None = None
        client.connect(timeout=10, now=self.now)
        self.flush()
        if self.prompt:
            self.carry()

    # Bookkeeping

    @property
    def of_client(self) -> ClientConnection:
        assert isinstance(self.client.connection, ClientConnection)
        return self.client.connection

    @property
    def of_server(self) -> ServerConnection:
        assert isinstance(self.server.connection, ServerConnection)
        return self.server.connection

    def peer_of(self, end: End) -> End:
        return self.server if end is self.client else self.client

    def some(self, has: Callable[[End], Any]) -> list[End]:
        return [end for end in self.ends if has(end)]

    def choose(self, data: st.DataObject, has: Callable[[End], Any]) -> End:
        sides = [end.connection.side for end in self.some(has)]
        return self.client if data.draw(st.sampled_from(sides), "side") is Side.CLIENT else self.server

    def flush(self) -> None:
        """Put into the pipes what the ends have to say, unless they are stalled."""
        for end in self.some(lambda end: not end.stalled):
            for outgoing in end.connection.messages_to_send():
                given_up = outgoing.closes_stream
                assert given_up is None or (end is self.client and given_up in end.ended)
                self.peer_of(end).pipe += outgoing.data + b"\n"

    def carry(self) -> None:
        """Deliver all that is under way, and what comes of it."""
        self.flush()
        while any(self.receive(end, len(end.pipe)) for end in self.ends):
            self.flush()

    def receive(self, end: End, size: int) -> bool:
        """Let an end take the next bytes from its pipe; whether there were any."""
        if end.over:
            end.pipe.clear()
        chunk = bytes(end.pipe[:size])
        if not chunk:
            return False
        before = end.connection.snapshot(self.now)
        try:
            events = end.connection.receive_data(chunk, now=self.now)
        except LocalProtocolError as error:
            assert (error.reason, end.limits, end.stalled) == (Reason.LIMIT, BRIEF, True)
            assert end.connection.snapshot(self.now) == before
            return False
        del end.pipe[: len(chunk)]
        self.saw(end, events)
        return True

    def attempt(self, end: End, action: Callable[[], T], *, gives_up: bool = False) -> T | None:
        """Do it. If it is refused, nothing has changed; else requests of this end are over only if it gives them up."""
        connection = end.connection
        before, in_flight, queued = connection.snapshot(self.now), set(connection.in_flight), end.queued
        try:
            done = action()
        except LocalProtocolError as error:
            assert error.hint
            assert connection.snapshot(self.now) == before
            self.refusal = error.reason
            if error.reason is Reason.LIMIT:
                assert end.limits is FEW or (end.limits is BRIEF and end.queued > BRIEF.queued_bytes)
            return None
        assert queued <= end.limits.queued_bytes or end.queued == queued
        gone = in_flight - set(connection.in_flight)
        assert gives_up or gone <= end.questions
        for request_id in gone & set(end.handles):
            end.note_end(request_id)
        self.forget_questions(end)
        return done

    @property
    def may_need_input(self) -> list[Any]:
        """The requests that the server serves that may turn out to need input."""
        served = self.server.serving.items()
        return [i for i, request in served if hasattr(request, "input_responses") and i not in self.asking]

    def forget_questions(self, end: End) -> None:
        """Questions that are no longer in flight are withdrawn, or answered."""
        over = end.questions - set(end.connection.in_flight)
        for request_id in over & set(end.due):
            del end.due[request_id]
        for owed, asking in list(self.asking.items()):
            if over >= asking.questions:
                del self.asking[owed]

    def note_sent(self, end: End, handle: Handle[Any] | None, timing: dict[str, Any]) -> None:
        if handle is None:
            return
        assert handle.id not in end.handles
        end.handles[handle.id] = handle
        due = Due.of(self.now, **timing)
        if due is not None:
            end.due[handle.id] = due

    def note_served(self, end: End, request_id: Any) -> None:
        """A request of the peer's no longer waits for the application."""
        end.serving.pop(request_id, None)
        if end is self.server:
            self.subscriptions.pop(request_id, None)

    # What the ends hear

    def saw(self, end: End, events: list[Event]) -> None:
        for event in events:
            self.check_violations(end, event)
            ends = [handle.id for handle in end.handles.values() if handle.ended_by(event)]
            match event:
                case ConnectionClosed(pending=pending):
                    assert {each.id for each in pending} >= set(ends)
                case ResultReceived() | ErrorReceived() | AnswerInvalid() | RequestTimedOut() | InputRequired():
                    assert ends == ([] if event.id is None else [event.id])
                case SubscriptionEnded(id=request_id):
                    assert ends == [request_id]
                case _:
                    assert ends == []
            for request_id in ends:
                end.note_end(request_id)
            self.either_saw(end, event)
            if end is self.client:
                self.client_saw(event)
            else:
                self.server_saw(event)
        self.forget_questions(end)

    def check_violations(self, end: End, event: Event) -> None:
        broken = {violation.rule for violation in event.violations}
        cut_at_eof = broken == {"LIB-004"} and end.over
        too_much = broken == {"LIB-013"} and end.limits is FEW and isinstance(event, RequestAnswered)
        gave_up = self.client.connection.state is ConnectionState.FAILED  # its server is not told, and goes on
        if self.have_an_era_in_common and not gave_up:
            assert not broken or cut_at_eof or too_much, event
            assert cut_at_eof or not isinstance(event, MessageInvalid | AnswerInvalid), event

    def either_saw(self, end: End, event: Event) -> None:
        peer = self.peer_of(end)
        match event:
            case RequestReceived(id=request_id, request=request):
                assert request_id in peer.handles or request_id in peer.questions
                end.serving.setdefault(request_id, request)
            case RequestCancelled(id=request_id):
                assert request_id in end.serving
                self.note_served(end, request_id)
            case ProgressReceived(id=request_id, notification=notification):
                assert notification.progress > end.progress.get(request_id, -9)
                end.progress[request_id] = notification.progress
                if request_id in end.due:
                    end.due[request_id].postpone(self.now)
            case ProgressIgnored() | ResponseIgnored():
                forgetful = end.limits is FEW or not self.have_an_era_in_common
                assert event.reason.value == "late" or (event.reason.value == "unknown" and forgetful)

    def client_saw(self, event: Event) -> None:
        match event:
            case InputRequired(id=request_id, result=result):
                self.to_retry.append((self.client.handles[request_id], result))
            case SubscriptionAcknowledged(id=request_id, notification=notification):
                self.client.due.pop(request_id, None)
                assert notification.notifications == self.subscriptions.get(request_id, notification.notifications)
            case NotificationReceived(subscription=subscription) if subscription is not None:
                self.heard[subscription] += 1

    def server_saw(self, event: Event) -> None:
        match event:
            case RequestReceived(id=request_id, request=request) if request_id in self.asking:
                asking, before = self.asking.pop(request_id), self.server.serving[request_id]
                assert set(request.input_responses) == asking.keys
                assert request.request_state == asking.state
                given = {"input_responses": None, "request_state": None}
                assert attrs.evolve(request, **given) == attrs.evolve(before, **given)
            case RequestReceived(id=request_id, request=request) if request_id in self.retried:
                assert (set(request.input_responses or {}), request.request_state) == self.retried[request_id]
            case RequestReceived(request=request):
                assert getattr(request, "input_responses", None) is None
            case RequestAnswered(id=request_id, error=error) if request_id in self.server.serving:
                assert error is not None
                assert self.asking.pop(request_id)
                self.note_served(self.server, request_id)
            case SubscriptionOpened(id=request_id, filter=honoured, request=request):
                assert honoured == (request.notifications if self.server_declares else t.SubscriptionFilter())
                self.subscriptions[request_id] = honoured
                self.server.serving[request_id] = request

    # What always holds

    @invariant()
    def every_request_ends_once(self) -> None:
        for end in self.ends:
            in_flight = set(end.connection.in_flight)
            assert all(count == 1 for count in end.ended.values()), end.ended
            assert set(end.handles) == set(end.ended) | (in_flight & set(end.handles))
            assert not in_flight & set(end.ended)
            assert len(in_flight - set(end.handles) - end.questions) <= (3 if end is self.client else 0)
            assert set(end.connection.owed) == set(end.serving)
        waiting = set().union(*(asking.questions for asking in self.asking.values()))
        assert set(self.of_server.in_flight) & self.server.questions <= waiting

    @invariant()
    def deadlines_are_as_reckoned(self) -> None:
        for end in self.ends:
            if end.connection.state is not ConnectionState.CONNECTING:
                assert end.connection.next_deadline() == min((due.when for due in end.due.values()), default=None)

    @invariant()
    def the_session_is_as_reckoned(self) -> None:
        session = self.of_server.conversation.session
        assert (session.subscribed, session.log_level) == (self.subscribed, self.level)

    @invariant()
    def both_know_the_same_when_nothing_is_under_way(self) -> None:
        if self.some(lambda end: end.pipe or end.stalled or end.over or end.holds_answers(self.now)):
            return
        if self.client.connection.state is ConnectionState.FAILED:
            return
        ours, theirs = (end.connection.conversation.shared() for end in self.ends)
        for each in (ours, theirs):
            each["requests"] = [
                (side, *request)
                for side, requests in each["requests"].items()
                for request in requests
                if (side, request[0]) not in self.tasks_given_up
            ]
        assert ours == theirs
        for request_id in self.subscriptions:
            assert self.heard[request_id] == self.published[request_id]
