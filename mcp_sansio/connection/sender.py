"""The half of a connection that speaks: each message is judged before it is queued."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from math import isfinite
from typing import Any, ClassVar, TypeVar, cast

import attrs

from ..codec import Codec, EncodeError
from ..errors import CapabilityError, LocalProtocolError, Reason
from ..jsonrpc import (
    ABSENT,
    Error,
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
from ..spec import REVISIONS, RULES, Method, Side, Spec, Violation
from ..types import (
    CancelledNotification,
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
from .outgoing import Dropped, DroppedReason, Handle, Outgoing, Sent
from .state import End, OpenRequest, Verdict

__all__ = ["ALL", "ConnectionState", "Declaration", "Sender"]

R = TypeVar("R", bound=Result)


class ConnectionState(Enum):
    """Whether a connection can be used."""

    IDLE = "idle"
    """A client before ``connect()``."""
    CONNECTING = "connecting"
    """A client in the handshake."""
    OPEN = "open"
    """Messages go both ways."""
    FAILED = "failed"
    """The handshake led nowhere; all that is left is to close."""
    CLOSING = "closing"
    """The peer has said all it will; what it asked for can still be answered."""
    CLOSED = "closed"
    """Nothing goes either way."""


class _All(frozenset[str]):
    """Holds every rule id."""

    def __contains__(self, rule: object) -> bool:
        return True


ALL: frozenset[str] = _All()
"""For ``send_raw(allow=ALL)``: let a message break every rule there is."""

_CAPABILITY_RULES = frozenset({"CAP-001", "CAP-004", "CAP-007", "CAP-008", "LIB-008", "LIB-009", "TASK-005"})

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


def check_time(name: str, seconds: object) -> None:
    """Raise `LocalProtocolError` unless *seconds* is a finite number."""
    if type(seconds) not in (int, float) or not isfinite(cast(float, seconds)):
        raise LocalProtocolError(Reason.INVALID_TIME, f"{name} is a finite number of seconds, not {seconds!r:.60}")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class Declaration:
    """What a side says of itself, as each revision writes it."""

    __slots__ = ("_capabilities", "_info", "_written")

    def __init__(
        self,
        info: Implementation | None,
        capabilities: ClientCapabilities | ServerCapabilities | None,
        written: Mapping[str, tuple[JSONObject, JSONObject]] | None = None,
    ) -> None:
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
    _deadlines: Deadlines
    _next_id: int
    _batches: dict[RequestId, Batch]

    # Output

    def data_to_send(self) -> bytes:
        """Take all queued messages as newline-delimited bytes, to be written as they are."""
        queue, self._queue = self._queue, []
        return b"".join(outgoing.data + b"\n" for outgoing in queue)

    def messages_to_send(self) -> list[Outgoing]:
        """Take all queued messages one by one, for transports that keep messages apart. The same queue."""
        queue, self._queue = self._queue, []
        return queue

    # Actions

    def request(
        self,
        request: Request[R],
        *,
        progress: bool = False,
        id: RequestId | None = None,
    ) -> Handle[R]:
        """Send a request.

        Args:
            request: the request; its class knows the method and the result.
            progress: ask for progress notifications; the progress token is the id.
            id: an id of the caller's choice; by default the next integer.

        Raises:
            LocalProtocolError: it may not be sent now, here, in this revision or in this shape.
        """
        self._check_class(request, Request, "request(ListToolsRequest())")
        self._check_open(request.method)
        self._check_custom(request)
        return self._request(request, progress=progress, id=id)

    def _request(self, request: Request[R], *, progress: bool = False, id: RequestId | None = None) -> Handle[R]:
        fresh = self._fresh_id()
        request_id: RequestId = fresh if id is None else id
        revision = self._request_revision()
        params = self._written(request, revision)
        meta = self._request_meta(revision, params.get("_meta"))
        if progress:
            meta = {**(meta or {}), "progressToken": request_id}
        if meta is not None:
            params["_meta"] = meta
        message = JSONRPCRequest(request_id, request.method, params or None)
        verdict = self._judged(message)
        self._send_request(verdict)
        if id is None:
            self._next_id = fresh + 1
        row = verdict.row
        raw = row is None or (self._forwarding and not row.inspected)
        result_type: Any = CustomResult if raw else cast(Method, row).result
        return Handle(request_id, request.method, result_type)

    def notify(self, notification: Notification, *, related: RequestId | None = None) -> None:
        """Send a notification.

        Args:
            notification: the notification; its class knows the method.
            related: the id of the peer's request that it belongs to, where a transport has a stream for each.

        Raises:
            LocalProtocolError: it may not be sent now, here, in this revision or in this shape.
        """
        self._check_class(notification, Notification, "notify(ToolListChangedNotification())")
        self._check_open(notification.method)
        revision = self._revision_in_force()
        message = JSONRPCNotification(notification.method, self._written(notification, revision) or None)
        verdict = self._judged(message)
        if verdict.revision != revision:
            params = self._written(notification, verdict.revision)
            message = JSONRPCNotification(notification.method, params or None)
            verdict = self._judged(message)
        if related is None and verdict.request is not None and verdict.request.sender is self.side.other:
            related = verdict.request.id
        self._commit(verdict, related)

    def cancel(self, request_id: RequestId, reason: str | None = None) -> None:
        """Give up a request of ours: it ends now, and an answer that still comes is ignored.

        Args:
            request_id: the id of a request in flight.
            reason: why, for the peer's log.

        Raises:
            LocalProtocolError: there is no such request, or the specification forbids to cancel it.
        """
        if not is_id(request_id, self._limits.id_length):
            raise LocalProtocolError(Reason.UNKNOWN_REQUEST, f"{request_id!r:.60} is no request id")
        self.notify(CancelledNotification(request_id=request_id, reason=reason))
        self._deadlines.disarm(request_id)

    def respond(self, request_id: RequestId, result: Result) -> Sent | Dropped:
        """Answer a request of the peer's with its result.

        Args:
            request_id: the id in `RequestReceived`.
            result: the result that belongs to the method; `CustomResult` fits each.

        Returns:
            `Dropped` when the peer cancelled the request, or the connection was closed, before.

        Raises:
            LocalProtocolError: no such request is waiting, or the result is not one for it.
        """
        request = self._owed(request_id)
        if isinstance(request, Dropped):
            return request
        self._check_result_type(request, result)
        payload = self._written(result, request.revision)
        self._stamp_result(request, payload)
        verdict = self._judge(JSONRPCResultResponse(request_id, payload))
        if verdict.invalid is not None:
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, verdict.invalid, tuple(verdict.violations))
        self._send_result(verdict, request_id)
        return Sent()

    def respond_error(self, request_id: RequestId, code: int, message: str, data: Any = ABSENT) -> Sent | Dropped:
        """Answer a request of the peer's with an error.

        Args:
            request_id: the id in `RequestReceived`.
            code: one of `ErrorCode`, or an integer outside -32768 to -32000 of the application's own.
            message: one sentence. Put no secrets and no tracebacks in it.
            data: any JSON value.

        Returns:
            `Dropped` when the peer cancelled the request, or the connection was closed, before.

        Raises:
            LocalProtocolError: no such request is waiting, or the revision reserves the code.
        """
        request = self._owed(request_id)
        if isinstance(request, Dropped):
            return request
        if not _is_integer(code) or type(message) is not str:
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, "code is an integer and message a string")
        self._commit(self._judge(JSONRPCErrorResponse(request_id, Error(int(code), message, data))), request_id)
        return Sent()

    def send_raw(
        self, message: JSONRPCMessage, *, allow: frozenset[str] = frozenset(), related: RequestId | None = None
    ) -> tuple[Violation, ...]:
        """Send an envelope as it is: for gateways, and for testing what a peer makes of broken rules.

        Args:
            message: the message.
            allow: the ids of rules that it may break; `ALL` for any.
            related: as for ``notify``.

        Returns:
            The rules that it breaks.

        Raises:
            LocalProtocolError: it breaks a rule that is not allowed, JSON cannot hold it, or the connection is closed.
        """
        if self._state is ConnectionState.CLOSED or not isinstance(message, JSONRPCResponse):
            self._check_usable("a message")
        envelope = self._envelope(message)
        if envelope is None:
            verdict = self._judge(message)
            self._commit(verdict, related, allow=allow)
            return tuple(verdict.violations)
        violations = tuple(self._violation(rule, envelope.detail) for rule in envelope.rules)
        self._refuse_breaches(violations, allow)
        self._enqueue(self._encoded(message, related))
        return violations

    def can_send(self, method: str) -> bool:
        """Whether a message of *method* may be sent now, whatever its params."""
        try:
            self._check_open(method)
        except LocalProtocolError:
            return False
        return self._conversation.may_send(self.side, method, strict=self._strict_capabilities)

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

    def _send_request(self, verdict: Verdict) -> None:
        self._commit(verdict, None)

    # Steps

    def _check_class(self, value: object, kind: Any, example: str) -> None:
        if not isinstance(value, kind):
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"call it like {example}, not with {value!r:.60}")

    def _check_custom(self, payload: object) -> None:
        """A message that has a class is sent by it, so that its result has one too."""
        if isinstance(payload, CustomRequest) and not self._forwarding:
            for row in self._spec.rows(self.side, payload.method):
                name = row.payload.__name__
                raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"{payload.method} has a class of its own: {name}")

    def _fresh_id(self) -> int:
        candidate = self._next_id
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

    def _judge(self, message: JSONRPCMessage) -> Verdict:
        return self._conversation.judge(self.side, message)

    def _commit(self, verdict: Verdict, related: RequestId | None, *, allow: frozenset[str] = frozenset()) -> None:
        """Queue a judged message, unless it breaks a rule that is not allowed; raises before anything changes."""
        self._refuse_breaches(verdict.violations, allow)
        outgoing = self._encoded(verdict.message, related)
        self._conversation.apply(verdict)
        self._enqueue(outgoing)

    def _judged(self, message: JSONRPCRequest | JSONRPCNotification) -> Verdict:
        """Judge a message of the caller's, who may have chosen an id or a method that is none."""
        sound = type(message.method) is str
        if isinstance(message, JSONRPCRequest):
            sound = sound and is_id(message.id, self._limits.id_length)
        envelope = None if sound else self._envelope(message)
        if envelope is not None:
            violations = tuple(self._violation(rule, envelope.detail) for rule in envelope.rules)
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, envelope.detail, violations)
        return self._judge(message)

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

    def _encoded(self, message: JSONRPCMessage, related: RequestId | None) -> Outgoing:
        try:
            return self._encode(message, related)
        except EncodeError as error:
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"JSON cannot hold this: {error}") from None

    def _refuse_breaches(self, violations: Iterable[Violation], allow: frozenset[str]) -> None:
        lenient = frozenset[str]() if self._strict_capabilities else _CAPABILITY_RULES
        broken = tuple(v for v in violations if v.rule not in allow and v.rule not in lenient)
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

    def _encode(self, message: JSONRPCMessage, related: RequestId | None) -> Outgoing:
        nameless = isinstance(message, JSONRPCErrorResponse) and message.id is None
        data = self._codec.encode(message_to_json(message, null_id=nameless and self._null_id()))
        return Outgoing(data, message, related)

    def _null_id(self) -> bool:
        """Whether an error without a readable id says ``"id": null``: where that is, or may still become, the rule."""
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
            self._queue.append(outgoing)
            return
        batch.answers.append(cast(JSONRPCResponse, message))
        self._ended_in_batch(batch, cast(RequestId, cast(JSONRPCResponse, message).id))

    def _ended_in_batch(self, batch: Batch, request_id: RequestId) -> None:
        batch.waiting.discard(request_id)
        self._answer_batch(batch)

    def _answer_batch(self, batch: Batch) -> None:
        if batch.reading or batch.waiting or not batch.answers:
            return
        null_id = self._null_id()
        data = self._codec.encode([message_to_json(answer, null_id=null_id) for answer in batch.answers])
        self._queue.append(Outgoing(data, tuple(batch.answers)))
