"""How a connection speaks: each message is judged before it is queued."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeVar, cast

import attrs

from ..codec import Codec, EncodeError
from ..errors import CapabilityError, LocalProtocolError, Reason
from ..jsonrpc import (
    InvalidMessage,
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    JSONRPCResultResponse,
    RequestId,
    is_id,
    message_to_json,
    parse_message,
)
from ..limits import Limits
from ..spec import RESERVED_CODES, REVISIONS, RULES, Method, Side, Spec, Violation
from ..spec.error_codes import ERROR_DATA
from ..types import (
    ClientCapabilities,
    CreateTaskResult,
    CustomRequest,
    CustomResult,
    Implementation,
    InputRequiredResult,
    Notification,
    Request,
    Result,
    ServerCapabilities,
    exists,
)
from ..types.converter import PayloadError, UnavailableError, unstructure
from .checks import declared_by
from .conversation import Conversation
from .deadlines import Deadlines
from .outgoing import Dropped, DroppedReason, Outgoing
from .state import End, OpenRequest, Verdict
from .states import NEXT_STATE, ConnectionState, Turn

__all__ = ["ALL", "Batch", "Declaration", "Sender", "check_time", "is_integer"]

R = TypeVar("R", bound=Result)


class _All(frozenset[str]):
    """Holds every rule id."""

    def __contains__(self, rule: object) -> bool:
        return True


ALL: frozenset[str] = _All()
"""For ``send_raw(allow=ALL)``: let a message break every rule there is."""

_CAPABILITY_RULES = frozenset({"CAP-001", "CAP-004", "CAP-006", "CAP-007", "CAP-008", "LIB-008", "LIB-009", "TASK-005"})

_FORWARDED_RULES = frozenset({"PROG-002", *(row.rule for row in RESERVED_CODES), *(row.rule for row in ERROR_DATA)})
"""What a gateway passes on as it came: it is the fault of whoever is behind it."""

_REASONS: dict[str, Reason] = {
    **dict.fromkeys(_CAPABILITY_RULES, Reason.CAPABILITY),
    "VER-004": Reason.NOT_IN_REVISION,
    "LIB-010": Reason.NOT_IN_REVISION,
    "LIB-006": Reason.WRONG_DIRECTION,
    "MRTR-006": Reason.WRONG_DIRECTION,
    "MRTR-007": Reason.WRONG_DIRECTION,
    "LIFE-001": Reason.NOT_CONNECTED,
    "LIFE-003": Reason.NOT_CONNECTED,
    "LIFE-004": Reason.NOT_CONNECTED,
    "LIFE-005": Reason.NOT_CONNECTED,
    "LIFE-002": Reason.INVALID_PAYLOAD,
    "LIFE-006": Reason.INVALID_PAYLOAD,
    "LIB-003": Reason.INVALID_PAYLOAD,
    "RPC-018": Reason.INVALID_PAYLOAD,
    "RPC-009": Reason.ID_IN_USE,
    "RPC-010": Reason.ID_IN_USE,
    "PROG-005": Reason.ID_IN_USE,
    "CANC-001": Reason.UNKNOWN_REQUEST,
    "RPC-002": Reason.UNKNOWN_REQUEST,
    "RPC-005": Reason.UNKNOWN_REQUEST,
    "LIFE-008": Reason.NOT_CANCELLABLE,
    "CANC-008": Reason.NOT_CANCELLABLE,
}
"""What kind of mistake it is to break a rule; `Reason.RULE` for those that are not here."""


_ADVICE: dict[Reason, str] = {
    Reason.CAPABILITY: "; strict_capabilities=False sends it all the same",
    Reason.NOT_CONNECTED: "; wait for the handshake, and see can_send()",
    Reason.WRONG_DIRECTION: "; in 2026-07-28 a server asks by answering InputRequiredResult",
    Reason.ID_IN_USE: "; leave ids and progress tokens to the connection, or choose new ones",
}
"""What to do about a mistake, where that is not plain from what it is."""


_FOREVER = 1e15
"""Seconds, more than anyone waits: up to here sums of times keep their fractions."""


def check_time(name: str, seconds: object) -> None:
    """Raise `LocalProtocolError` unless *seconds* is a finite number that can be reckoned with."""
    if type(seconds) not in (int, float) or not abs(cast(float, seconds)) <= _FOREVER:
        raise LocalProtocolError(Reason.INVALID_TIME, f"{name} is a finite number of seconds, not {seconds!r:.60}")


def is_integer(value: object) -> bool:
    """Whether *value* is an integer, which True is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _check_made_with(value: object, name: str, kinds: tuple[type[Any], ...]) -> None:
    if value is not None and not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise LocalProtocolError(Reason.CONFIGURATION, f"{name} is made with {names}, not {value!r:.40}")


class Declaration:
    """What a side says of itself, as each revision writes it."""

    __slots__ = ("_capabilities", "_info", "_written")

    def __init__(
        self,
        info: Implementation | None,
        capabilities: ClientCapabilities | ServerCapabilities | None,
        written: Mapping[str, tuple[JSONObject, JSONObject]] | None = None,
    ) -> None:
        _check_made_with(info, "info", (Implementation,))
        _check_made_with(capabilities, "capabilities", (ClientCapabilities, ServerCapabilities))
        self._info = info
        self._capabilities = capabilities
        self._written: dict[str, tuple[JSONObject, JSONObject]] = dict(written or {})

    @classmethod
    def from_json(cls, data: JSONObject) -> Declaration:
        """A declaration as a snapshot keeps it."""
        return cls(None, None, {name: (info, capabilities) for name, (info, capabilities) in data.items()})

    def at(self, revision: str) -> tuple[JSONObject, JSONObject]:
        """Implementation and capabilities as *revision* writes them, kept for the next time."""
        written = self._written.get(revision)
        if written is None:
            written = self._written[revision] = self.write(revision)
        return written

    def write(self, revision: str) -> tuple[JSONObject, JSONObject]:
        """The same, not kept."""
        return self._written.get(revision) or (
            unstructure(self._info, revision),
            unstructure(self._capabilities, revision),
        )


@attrs.define(eq=False)
class Batch:
    """A batch of the peer's that is being answered: by one array, when its last request has ended."""

    waiting: set[RequestId] = attrs.field(factory=set[RequestId])
    answers: list[JSONRPCResponse] = attrs.field(factory=list[JSONRPCResponse])
    reading: bool = True


class Sender:
    """What client and server do alike to say something."""

    side: ClassVar[Side]

    _codec: Codec
    _limits: Limits
    _spec: Spec
    _revisions: frozenset[str]
    _declaration: Declaration
    _strict_capabilities: bool
    _forwarding: bool
    _conversation: Conversation
    _state: ConnectionState
    _queue: list[Outgoing]
    _queued_bytes: int
    _deadlines: Deadlines
    _now: float | None
    _next_id: int
    _batches: dict[RequestId, Batch]

    # Output

    def data_to_send(self) -> bytes:
        """Take all queued messages as newline-delimited bytes, to be written as they are."""
        return b"".join(outgoing.data + b"\n" for outgoing in self.messages_to_send())

    def messages_to_send(self) -> list[Outgoing]:
        """Take all queued messages one by one, for transports that keep messages apart. The same queue."""
        queue, self._queue, self._queued_bytes = self._queue, [], 0
        return queue

    # What subclasses decide

    def _revision_in_force(self) -> str:
        raise NotImplementedError

    def _request_revision(self) -> str:
        """The revision in whose terms this side writes a request."""
        return self._revision_in_force()

    def _check_open(self, method: str) -> None:
        """Raise unless this side may speak of itself now."""
        self._check_usable(method)

    def _check_usable(self, method: str) -> None:
        if self._state is ConnectionState.CLOSED:
            raise LocalProtocolError(Reason.CLOSED, f"the connection is closed; {method} cannot be sent")
        if self._state is ConnectionState.CLOSING:
            raise LocalProtocolError(
                Reason.CLOSED, f"the peer has closed its side; only answers are useful now, not {method}"
            )

    def _request_meta(self, revision: str, meta: JSONObject | None) -> JSONObject | None:
        return meta

    def _stamp_result(self, request: OpenRequest, payload: JSONObject) -> None:
        """Add what the library writes into each result."""

    def _send_result(self, verdict: Verdict, request_id: RequestId) -> None:
        self._commit(verdict, request_id)

    def _send_request(self, verdict: Verdict, related: RequestId | None) -> None:
        self._commit(verdict, related)

    # Steps

    def _take(self, turn: Turn) -> bool:
        """Change the state as the table says; False where it says nothing."""
        following = NEXT_STATE.get((self._state, turn))
        if following is None:
            return False
        self._state = following
        return True

    def _set_clock(self, now: float | None) -> None:
        if now is None:
            if self._deadlines:
                raise LocalProtocolError(Reason.NOW_REQUIRED, "a deadline is armed: pass now=, in seconds")
            return
        self._advance(now)

    def _advance(self, now: float) -> float:
        """Set the clock, which never goes backwards, and give the time."""
        check_time("now", now)
        self._now = now if self._now is None else max(self._now, now)
        return self._now

    def _check_room(self) -> None:
        """Raise while too much output waits."""
        if self._queued_bytes > self._limits.queued_bytes:
            raise LocalProtocolError(
                Reason.LIMIT,
                f"{self._queued_bytes} bytes wait (Limits.queued_bytes): write what data_to_send() gives, then go on",
            )

    def _check_class(self, value: object, kind: Any, example: str) -> None:
        if not isinstance(value, kind):
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"call it like {example}, not with {value!r:.60}")

    def _check_custom(self, payload: object) -> None:
        """A message that has a class is sent by it, so that its result has one too."""
        if isinstance(payload, CustomRequest) and not self._forwarding:
            for row in self._spec.rows(self.side, payload.method):
                name = row.payload.__name__
                raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"{payload.method} has a class of its own: {name}")

    def _fresh_id(self, at_least: int = 0) -> int:
        candidate = max(self._next_id, at_least)
        taken = self._conversation.open_requests(self.side)
        while candidate in taken or self._conversation.ended(self.side, candidate) is not None:
            candidate += 1
        return candidate

    def _written(
        self, payload: Request[Any] | Notification | Result, revision: str, *, check: bool = False
    ) -> JSONObject:
        try:
            # What is sent is judged before, which reads it back; payloads that are only forwarded are not read.
            return unstructure(payload, revision, check=check or self._forwarding)
        except UnavailableError as error:
            raise LocalProtocolError(Reason.NOT_IN_REVISION, str(error)) from None
        except PayloadError as error:
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, str(error)) from None

    def _params(self, notification: Notification, revision: str) -> JSONObject | None:
        return self._written(notification, revision) or None

    def _judge(self, message: JSONRPCMessage, *, in_batch: bool = False) -> Verdict:
        return self._conversation.judge(self.side, message, in_batch=in_batch)

    def _commit(
        self,
        verdict: Verdict,
        related: RequestId | None,
        *,
        allow: frozenset[str] = frozenset(),
        closes_stream: RequestId | None = None,
    ) -> None:
        """Queue a judged message, unless it breaks a rule that is not allowed; raises before anything changes."""
        self._refuse_breaches(verdict.violations, allow)
        outgoing = self._encoded(verdict.message, related, closes_stream)
        if self._take_effect(verdict):
            self._enqueue(outgoing)

    def _take_effect(self, verdict: Verdict) -> bool:
        """Let happen what this side says, and tell whether the peer has to hear it."""
        self._conversation.apply(verdict)
        request = verdict.request
        if isinstance(verdict.message, JSONRPCNotification) and request is not None and request.sender is self.side:
            return self._gave_up(request.id)
        return True

    def _gave_up(self, request_id: RequestId) -> bool:
        """Note that a request of this side was given up by it, and tell whether the peer has to hear it."""
        self._deadlines.disarm(request_id)
        return True

    def _judged(self, message: JSONRPCRequest | JSONRPCNotification, *, in_batch: bool = False) -> Verdict:
        """Judge a message of the caller's, who may have chosen an id or a method that is none."""
        sound = type(message.method) is str
        if isinstance(message, JSONRPCRequest):
            sound = sound and is_id(message.id, self._limits.id_length)
        envelope = None if sound else self._envelope(message)
        if envelope is not None:
            violations = tuple(self._violation(rule, envelope.detail) for rule in envelope.rules)
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, envelope.detail, violations)
        return self._judge(message, in_batch=in_batch)

    def _envelope(self, message: JSONRPCMessage) -> InvalidMessage | None:
        """What is wrong with the envelope of a message of the caller's."""
        self._check_class(message, JSONRPCMessage, "send_raw(JSONRPCRequest(1, 'ping'))")
        try:
            written = message_to_json(message)
        except AttributeError as error:
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"a part of the message is missing: {error}") from None
        parsed = parse_message(written, id_length=self._limits.id_length)
        return parsed if isinstance(parsed, InvalidMessage) else None

    def _violation(self, rule: str, detail: str) -> Violation:
        revision = self._conversation.session.revision or max(self._revisions)
        return Violation(rule, RULES[rule].level_in(revision), detail)

    def _encoded(
        self, message: JSONRPCMessage, related: RequestId | None, closes_stream: RequestId | None = None
    ) -> Outgoing:
        data = self._encoded_json(message_to_json(message, null_id=self._null_id(message)))
        return Outgoing(data, message, related, closes_stream)

    def _encoded_json(self, value: Any) -> bytes:
        try:
            return self._codec.encode(value)
        except EncodeError as error:
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"JSON cannot hold this: {error}") from None

    def _refuse_breaches(self, violations: Iterable[Violation], allow: frozenset[str]) -> None:
        lenient = frozenset[str]() if self._strict_capabilities else _CAPABILITY_RULES
        forwarded = _FORWARDED_RULES if self._forwarding else frozenset[str]()
        broken = tuple(v for v in violations if not any(v.rule in rules for rules in (allow, lenient, forwarded)))
        if broken:
            reason = _REASONS.get(broken[0].rule, Reason.RULE)
            kind = CapabilityError if reason is Reason.CAPABILITY else LocalProtocolError
            advice = _ADVICE.get(reason, "")
            raise kind(reason, f"{broken[0].detail} ({broken[0].rule}){advice}", broken)

    def _owed(self, request_id: RequestId) -> OpenRequest | Dropped:
        """The peer's request with this id, which waits for an answer."""
        peer = self.side.other
        if not is_id(request_id, self._limits.id_length):
            raise LocalProtocolError(Reason.UNKNOWN_REQUEST, f"{request_id!r:.60} is no request id")
        if self._state is ConnectionState.CLOSED:
            return Dropped(DroppedReason.CLOSED)
        request = self._conversation.open_requests(peer).get(request_id)
        if request is not None:
            return request
        ended = self._conversation.ended(peer, request_id)
        if ended is End.CANCELLED:
            return Dropped(DroppedReason.CANCELLED)
        if ended is None and self._conversation.may_have_forgotten(peer):
            return Dropped(DroppedReason.FORGOTTEN)
        hint = "was answered before" if ended is not None else "was never received, or is of another type"
        raise LocalProtocolError(Reason.UNKNOWN_REQUEST, f"the request {request_id!r:.60} {hint}")

    def _check_result_type(self, request: OpenRequest, result: Result) -> None:
        row = cast(Method, request.row)  # what has none was refused when it came
        fitting: list[type[Result]] = [CustomResult, row.result]
        if row.input_required and exists(InputRequiredResult, request.revision):
            fitting.append(InputRequiredResult)
        if request.task:
            fitting.append(CreateTaskResult)
        if self._spec.extensions:
            fitting += self._spec.extension_results(row.name, declared_by(request)).values()
        if type(result) not in fitting:
            names = " or ".join(kind.__name__ for kind in reversed(fitting))
            raise LocalProtocolError(
                Reason.WRONG_RESULT, f"{request.method} is answered with {names}, not {type(result).__name__}"
            )

    def _null_id(self, message: JSONRPCMessage) -> bool:
        """Whether an error without a readable id says ``"id": null``: where that is, or may still become, the rule."""
        if not isinstance(message, JSONRPCErrorResponse) or message.id is not None:
            return False
        revision = self._conversation.session.revision
        possible = self._revisions if revision is None else {revision}
        return any(REVISIONS[name].null_id for name in possible)

    def _enqueue(self, outgoing: Outgoing) -> None:
        """Queue a message, or keep it for the array that answers its batch."""
        message = outgoing.message
        batch = None
        if (
            self._batches
            and isinstance(message, JSONRPCResultResponse | JSONRPCErrorResponse)
            and message.id is not None
        ):
            batch = self._batches.pop(message.id, None)
        if batch is None:
            self._push(outgoing)
            return
        batch.answers.append(cast(JSONRPCResponse, message))
        self._ended_in_batch(batch, cast(RequestId, cast(JSONRPCResponse, message).id))

    def _ended_in_batch(self, batch: Batch, request_id: RequestId) -> None:
        batch.waiting.discard(request_id)
        self._answer_batch(batch)

    def _answer_batch(self, batch: Batch) -> None:
        if batch.reading or batch.waiting or not batch.answers:
            return
        written = [message_to_json(answer, null_id=self._null_id(answer)) for answer in batch.answers]
        self._push(Outgoing(self._codec.encode(written), tuple(batch.answers)))

    def _push(self, outgoing: Outgoing) -> None:
        self._queue.append(outgoing)
        self._queued_bytes += len(outgoing.data)
