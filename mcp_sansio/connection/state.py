"""What a conversation has come to: the legacy session, and which requests are open on either side.

Plain values without behaviour beyond their JSON form, so that a snapshot is complete by construction.
"""

from __future__ import annotations

from enum import Enum
from math import inf
from typing import Any, Generic, TypeVar

import attrs

from ..jsonrpc import Error, JSONObject, JSONRPCMessage, ProgressToken, RequestId
from ..limits import Limits
from ..spec import CORE, REVISIONS, Effect, Era, Method, Phase, Side, Spec, Violation, declared, of_era

__all__ = [
    "STANDING_AFTER",
    "Bounded",
    "End",
    "Ended",
    "Ledger",
    "OpenRequest",
    "Session",
    "Standing",
    "State",
    "Verdict",
]

K = TypeVar("K")
V = TypeVar("V")


class End(Enum):
    """How a request ended."""

    ANSWERED = "answered"
    TASK = "task"
    """Of a progress token: the request was answered with a task, which goes on (2025-11-25)."""
    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"
    CLOSED = "closed"


@attrs.frozen
class Ended:
    """What is remembered of a request that is over.

    Attributes:
        how: how it ended.
        revision: the revision in whose terms it was sent.
        effect: what it still changes if it is answered late.
        subject: what that is about.
    """

    how: End
    revision: str
    effect: Effect | None = None
    subject: str | None = None

    @classmethod
    def of(cls, request: OpenRequest, how: End) -> Ended:
        """What is remembered of *request*."""
        effect = None if request.row is None or how is End.ANSWERED else request.row.effect
        return cls(how, request.revision, effect, None if effect is None else request.subject)

    def to_json(self) -> tuple[str | None, ...]:
        """Its fields as plain JSON."""
        return self.how.value, self.revision, None if self.effect is None else self.effect.value, self.subject

    @classmethod
    def from_json(cls, how: str, revision: str, effect: str | None, subject: str | None) -> Ended:
        """The inverse of `to_json`."""
        return cls(End(how), revision, None if effect is None else Effect(effect), subject)


class Standing(Enum):
    """What a response answers, or a report of progress is about."""

    EXPECTED = "expected"
    """A request in flight."""
    UNKNOWN = "unknown"
    """Nothing that was ever sent, or so long ago that it is forgotten."""
    DUPLICATE = "duplicate"
    """A request that was answered already."""
    LATE = "late"
    """A request that was cancelled, or that timed out."""
    REGRESSING = "regressing"
    """A request in flight whose progress was further already."""
    NO_ID = "no id"
    """An error about a message whose id its receiver could not read."""


STANDING_AFTER: dict[End, Standing] = {
    End.ANSWERED: Standing.DUPLICATE,
    End.CANCELLED: Standing.LATE,
    End.TIMED_OUT: Standing.LATE,
    End.CLOSED: Standing.LATE,
}
"""What a response answers that comes after the end of its request."""


@attrs.define(eq=False)
class OpenRequest:
    """A request that has not ended.

    Attributes:
        id: its id.
        method: its method.
        sender: the side that sent it.
        revision: the revision in whose terms it was sent.
        row: its row in the method table; None for methods that the table does not know.
        token: its progress token.
        progress: the last progress reported for it.
        log_level: the least severe level of log messages that it asked for (2026-07-28).
        task: whether it is augmented with a task (2025-11-25).
        capabilities: the client capabilities that it declared (2026-07-28).
        filter: what a subscription was acknowledged for; None before that.
        subject: what its effect on a legacy session is about.
        params: its params, on the side that may need them to ask once more with the input that turns out to be needed.
        rounds: how often it was asked again so.
        cursor: the page of a list that it asks for.
        task_id: the task whose result it asks for.
        held: whether it still waits to be sent, so that nobody can answer it.
    """

    id: RequestId
    method: str
    sender: Side
    revision: str
    row: Method | None = None
    token: ProgressToken | None = None
    progress: float | None = None
    log_level: str | None = None
    task: bool = False
    capabilities: JSONObject | None = None
    filter: JSONObject | None = None
    cursor: str | None = None
    task_id: str | None = None
    subject: str | None = None
    params: JSONObject | None = None
    rounds: int = 0
    held: bool = False

    def to_json(self) -> JSONObject:
        """All but the row, which the tables give."""
        data = attrs.asdict(self, recurse=False, filter=attrs.filters.exclude("row"))
        return {**data, "sender": self.sender.value}

    @classmethod
    def from_json(cls, data: JSONObject, spec: Spec) -> OpenRequest:
        """The inverse of `to_json`."""
        sender = Side(data["sender"])
        fields: dict[str, Any] = {
            **data,
            "sender": sender,
            "row": spec.method(sender, data["method"], data["revision"]),
        }
        return cls(**fields)


class Bounded(Generic[K, V]):
    """A mapping that forgets its oldest entry when it holds more than ``limit``. Empty, it takes next to no memory."""

    __slots__ = ("_entries", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._entries: dict[K, V] | None = None

    def get(self, key: K, default: V | None = None) -> V | None:
        """The value of *key*, else *default*."""
        return default if self._entries is None else self._entries.get(key, default)

    def remember(self, key: K, value: V) -> None:
        """Put *key* last, and forget the first if there are too many."""
        if self._entries is None:
            self._entries = {}
        self._entries.pop(key, None)
        self._entries[key] = value
        if len(self._entries) > self.limit:
            del self._entries[next(iter(self._entries))]

    def forget(self, key: K) -> None:
        """Forget *key*, if it is there."""
        if self._entries is not None:
            self._entries.pop(key, None)

    def items(self) -> list[tuple[K, V]]:
        """All entries, the oldest first."""
        return [] if self._entries is None else list(self._entries.items())

    def values(self) -> list[V]:
        """All values, the oldest first."""
        return [value for _, value in self.items()]

    @property
    def full(self) -> bool:
        """Whether something may have been forgotten."""
        return self._entries is not None and len(self._entries) >= self.limit


@attrs.define(eq=False)
class Session:
    """A legacy session, from ``initialize`` on. The modern era has none.

    Attributes:
        phase: how far the handshake has got.
        opened_by: the id of the ``initialize`` request that opened it.
        revision: the revision that the server answered; None before that.
        client: what the client said of itself in ``initialize`` (``capabilities`` and ``clientInfo``).
        server: what the server answered (``capabilities``, ``serverInfo``, ``instructions``).
        declared: the names of all capabilities that both declared.
        log_level: the least severe level of log messages that the client set; None before it did.
        subscribed: the URIs of the resources that the client subscribed to.
    """

    phase: Phase = Phase.OPENING
    opened_by: RequestId | None = None
    revision: str | None = None
    client: JSONObject = attrs.field(factory=dict[str, Any])
    server: JSONObject = attrs.field(factory=dict[str, Any])
    declared: frozenset[str] = frozenset()
    log_level: str | None = None
    subscribed: set[str] = attrs.field(factory=set[str])

    def take(self, effect: Effect | None, subject: str | None, limit: float) -> None:
        """Let a request have its effect, if it has one; *limit* is the most URIs that are remembered."""
        if effect is None or subject is None:
            return
        match effect:
            case Effect.SUBSCRIBE:
                if len(self.subscribed) < limit:
                    self.subscribed.add(subject)
            case Effect.UNSUBSCRIBE:
                self.subscribed.discard(subject)
            case _:  # Effect.SET_LOG_LEVEL
                self.log_level = subject

    def agree(self, result: JSONObject) -> None:
        """Take what the ``initialize`` result says."""
        revision: str = result["protocolVersion"]
        self.revision = revision
        self.server = result
        self.declared = declared(Side.CLIENT, self.client["capabilities"], revision) | declared(
            Side.SERVER, result["capabilities"], revision
        )

    def to_json(self) -> JSONObject:
        """The session as plain JSON."""
        return {
            "phase": self.phase.value,
            "opened_by": self.opened_by,
            "client": self.client,
            "server": self.server if self.revision is not None else None,
            "log_level": self.log_level,
            "subscribed": sorted(self.subscribed),
        }

    @classmethod
    def from_json(cls, data: JSONObject) -> Session:
        """The inverse of `to_json`."""
        session = cls(opened_by=data["opened_by"], client=data["client"])
        if data["server"] is not None:
            session.agree(data["server"])
        session.phase = Phase(data["phase"])
        session.log_level = data["log_level"]
        session.subscribed = set(data["subscribed"])
        return session


class Ledger:
    """What a conversation remembers of one side.

    Attributes:
        requests: its open requests, by id.
        tokens: those of them that carried a progress token, by token.
        ended: how its latest ended requests ended.
        ended_tokens: the same for their tokens.
        statuses: the last known status of the latest tasks that it runs.
    """

    __slots__ = ("ended", "ended_tokens", "requests", "statuses", "tokens")

    def __init__(self, remembered: int) -> None:
        self.requests: dict[RequestId, OpenRequest] = {}
        self.tokens: dict[ProgressToken, OpenRequest] = {}
        self.ended: Bounded[RequestId, Ended] = Bounded(remembered)
        self.ended_tokens: Bounded[ProgressToken, Ended] = Bounded(remembered)
        self.statuses: Bounded[str, str] = Bounded(remembered)

    def may_have_forgotten(self, request_id: RequestId) -> bool:
        """Whether a request with this id may have ended so long ago that it is not remembered."""
        return self.ended.full and self.ended.get(request_id) is None and request_id not in self.requests

    def to_json(self) -> JSONObject:
        """The ledger as plain JSON, maps with id keys as pairs."""
        return {
            "requests": [request.to_json() for request in self.requests.values()],
            "ended": [[key, *ended.to_json()] for key, ended in self.ended.items()],
            "ended_tokens": [[key, *ended.to_json()] for key, ended in self.ended_tokens.items()],
            "statuses": [[*item] for item in self.statuses.items()],
        }

    def restore(self, data: JSONObject, spec: Spec) -> None:
        """Take the place of the ledger that gave *data*."""
        for item in data["requests"]:
            request = OpenRequest.from_json(item, spec)
            self.requests[request.id] = request
            if request.token is not None:
                self.tokens[request.token] = request
        for request_id, *ended in data["ended"]:
            self.ended.remember(request_id, Ended.from_json(*ended))
        for token, *ended in data["ended_tokens"]:
            self.ended_tokens.remember(token, Ended.from_json(*ended))
        for task_id, status in data["statuses"]:
            self.statuses.remember(task_id, status)


class State:
    """All that a conversation remembers.

    Attributes:
        spec: the method table.
        legacy: the legacy revisions that are possible here, oldest first.
        modern: the modern ones.
        eras: their eras; a client's shrinks to one when it has found out about its server.
        observer: whose view this is; None for the wire between the two.
        id_length: longest string taken as an id or token.
        subscribed_uris: most URIs that a legacy session remembers as subscribed to; a client knows its own.
        forwarding: whether payloads stay decoded JSON.
        session: the legacy session.
        server_declared: what the server declares in the modern era; None while that is unknown.
        sides: what is remembered of each side.
        scopes: the cacheScope of the latest pages, by method and the cursor of the page that follows.
    """

    __slots__ = (
        "eras",
        "forwarding",
        "id_length",
        "legacy",
        "modern",
        "observer",
        "scopes",
        "server_declared",
        "session",
        "sides",
        "spec",
        "subscribed_uris",
    )

    def __init__(
        self,
        *,
        spec: Spec = CORE,
        revisions: frozenset[str],
        observer: Side | None,
        forwarding: bool,
        limits: Limits,
    ) -> None:
        self.spec = spec
        self.legacy = of_era(Era.LEGACY, revisions)
        self.modern = of_era(Era.MODERN, revisions)
        self.eras = frozenset(REVISIONS[name].era for name in revisions)
        self.observer = observer
        self.id_length = limits.id_length
        self.subscribed_uris = inf if observer is Side.CLIENT else limits.subscribed_uris
        self.forwarding = forwarding
        self.session = Session()
        self.server_declared: frozenset[str] | None = None
        self.sides = {side: Ledger(limits.remembered_ids) for side in Side}
        self.scopes: Bounded[tuple[str, str], str] = Bounded(limits.remembered_ids)


@attrs.define(eq=False)
class Verdict:
    """What a conversation makes of one message: nothing has changed yet.

    Attributes:
        sender: the side that sends it.
        message: the message.
        exact: whether the observer is the sender, who knows all that it has received.
        revision: the revision in whose terms it is judged.
        modern: whether that is a modern one.
        row: its row in the method table (of a response: its request's).
        payload: params or result as an object of `mcp_sansio.types`; None where they have not got the right shape.
        violations: the rules that it breaks.
        refusal: the error that a receiver should answer to a request; None when it should be served.
        missing: the capability that it would need, where that was not declared.
        request: the request that a response answers, that cancelled ends, that progress is of, or whose subscription
            a notification belongs to.
        standing: of a response, what it answers; of progress, what it is about.
        ended: of a response to a request that is over, what is remembered of that.
        unopened: of a request, whether it opens nothing, since its id is in flight already.
        invalid: why a result cannot be taken as one; None when it can.
        tasks: the tasks whose status it tells.
        client: of a modern request, what its ``_meta`` says of the client, by key.
    """

    sender: Side
    message: JSONRPCMessage
    exact: bool
    revision: str
    modern: bool
    row: Method | None = None
    payload: Any = None
    violations: list[Violation] = attrs.field(factory=list[Violation])
    refusal: Error | None = None
    missing: str | None = None
    request: OpenRequest | None = None
    standing: Standing | None = None
    ended: Ended | None = None
    unopened: bool = False
    invalid: str | None = None
    tasks: list[JSONObject] = attrs.field(factory=list[JSONObject])
    client: dict[str, Any] = attrs.field(factory=dict[str, Any])
