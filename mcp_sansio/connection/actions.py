"""What client and server can say: the calls of an application, each checked before anything changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, cast

from ..errors import LocalProtocolError, Reason
from ..jsonrpc import (
    ABSENT,
    Error,
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    JSONRPCResultResponse,
    RequestId,
    is_id,
)
from ..spec import REVISIONS, Method, Violation, is_modern
from ..spec.meta import LOG_LEVEL
from ..types import (
    CancelledNotification,
    CustomResult,
    LoggingLevel,
    Notification,
    ProgressNotification,
    Request,
    Result,
)
from .outgoing import Dropped, DroppedReason, Handle, Outgoing, Sent
from .sender import Sender, check_time, is_integer
from .state import OpenRequest, Verdict
from .states import ConnectionState

__all__ = ["Actions"]

R = TypeVar("R", bound=Result)


class Actions(Sender):
    """What an application does with a connection.

    Each raises `LocalProtocolError` for a mistake of the caller's, in which case nothing has changed.
    """

    def request(
        self,
        request: Request[R],
        *,
        timeout: float | None = None,
        max_timeout: float | None = None,
        reset_on_progress: bool = False,
        progress: bool = False,
        log_level: LoggingLevel | None = None,
        id: RequestId | None = None,
        related: RequestId | None = None,
        now: float | None = None,
    ) -> Handle[R]:
        """Send a request.

        Args:
            request: the request; its class knows the method and the result.
            timeout: seconds to wait for the answer (of a subscription: for its acknowledgement); then
                `RequestTimedOut` ends it, and the peer is told to stop.
            max_timeout: seconds to wait at most, whatever progress comes.
            reset_on_progress: begin ``timeout`` anew with each progress notification, which this asks for.
            progress: ask for progress notifications; the progress token is the id, unless ``request.meta`` has one.
            log_level: ask for log messages of this level and above (2026-07-28; before, send `SetLevelRequest`).
            id: an id of the caller's choice; by default the next integer.
            related: the id of the peer's request on whose behalf it is sent, where a transport has a stream for each.
            now: seconds on the caller's clock; needed with a time-out.

        Raises:
            LocalProtocolError: it may not be sent now, here, in this revision or in this shape.
        """
        self._check_class(request, Request, "request(ListToolsRequest())")
        self._check_room()
        self._check_open(request.method)
        self._check_custom(request)
        self._check_postponable(timeout, reset_on_progress)
        self._check_times(now, timeout=timeout, max_timeout=max_timeout)
        self._check_in_flight(1)
        progress = progress or reset_on_progress
        handle = self._request(request, id=id, related=related, progress=progress, log_level=log_level)
        self._arm(handle.id, now, timeout, max_timeout, postponable=reset_on_progress)
        return handle

    def send_batch(self, messages: Iterable[Request[Any] | Notification]) -> tuple[Handle[Any], ...]:
        """Send requests and notifications as one JSON-RPC batch, which only 2025-03-26 has.

        Args:
            messages: what to send, in this order; no two about the same request or progress token.

        Returns:
            The handles of the requests.

        Raises:
            LocalProtocolError: the revision has no batches, or one of the messages may not be sent.
        """
        given = tuple(messages)
        self._check_room()
        self._check_open("a batch")
        revision = self._revision_in_force()
        if not REVISIONS[revision].batches:
            raise LocalProtocolError(Reason.NOT_IN_REVISION, f"{revision} has no batches: send each message by itself")
        verdicts: list[Verdict] = []
        request_id = self._next_id
        for message in given:
            if isinstance(message, Request):
                self._check_custom(message)
                fresh = self._fresh_id(request_id)
                verdicts.append(self._prepare(message, fresh, in_batch=True))
                request_id = fresh + 1
            else:
                self._check_class(message, Notification, "send_batch([PingRequest()])")
                verdicts.append(self._judged(JSONRPCNotification(message.method, self._params(message, revision))))
        if not given or len(given) > self._limits.batch_length:
            detail = f"a batch holds 1 to {self._limits.batch_length} messages, not {len(given)}"
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, detail)
        requests = [v for v in verdicts if isinstance(v.message, JSONRPCRequest)]
        self._check_in_flight(len(requests))
        self._check_apart(verdicts)
        for verdict in verdicts:
            self._refuse_breaches(verdict.violations, frozenset())
        parts = [self._encoded(verdict.message, None) for verdict in verdicts]
        told = [part for part, verdict in zip(parts, verdicts, strict=True) if self._take_effect(verdict)]
        self._next_id = request_id
        if told:
            data = b"[" + b",".join(part.data for part in told) + b"]"
            self._push(Outgoing(data, tuple(cast(JSONRPCMessage, part.message) for part in told)))
        return tuple(map(self._handle_of, requests))

    def notify(self, notification: Notification, *, related: RequestId | None = None) -> None:
        """Send a notification.

        Args:
            notification: the notification; its class knows the method.
            related: the id of the peer's request that it belongs to, where a transport has a stream for each.

        Raises:
            LocalProtocolError: it may not be sent now, here, in this revision or in this shape.
        """
        self._check_class(notification, Notification, "notify(ToolListChangedNotification())")
        self._check_room()
        self._check_open(notification.method)
        self._notify(notification, related)

    def progress(
        self, request_id: RequestId, progress: float, total: float | None = None, message: str | None = None
    ) -> Sent | Dropped:
        """Tell the peer how far one of its requests has got.

        Args:
            request_id: the id in `RequestReceived`.
            progress: how far; more than the time before.
            total: where it will end, if that is known.
            message: what is being done, for a person.

        Returns:
            `Dropped` where the peer did not ask for progress, cancelled the request, or is gone.

        Raises:
            LocalProtocolError: no such request is waiting, or the progress is none.
        """
        request = self._worked_on(request_id)
        if isinstance(request, Dropped):
            return request
        if request.token is None:
            return Dropped(DroppedReason.NOT_ASKED)
        self.notify(ProgressNotification(request.token, progress, total, message), related=request_id)
        return Sent()

    def cancel(self, request_id: RequestId, reason: str | None = None) -> Sent | Dropped:
        """Give up a request of ours: it ends now, without an event, and an answer that still comes is ignored.

        Args:
            request_id: the id of a request in flight.
            reason: why, for the peer's log.

        Returns:
            `Dropped` when it is over already.

        Raises:
            LocalProtocolError: there never was such a request, or the specification forbids to cancel it.
        """
        if not is_id(request_id, self._limits.id_length):
            raise LocalProtocolError(Reason.UNKNOWN_REQUEST, f"{request_id!r:.60} is no request id; see Handle.id")
        conversation = self._conversation
        if request_id not in conversation.open_requests(self.side):
            if conversation.ended(self.side, request_id) is not None:
                return Dropped(DroppedReason.OVER)
            if conversation.may_have_forgotten(self.side):
                return Dropped(DroppedReason.FORGOTTEN)
            raise LocalProtocolError(Reason.UNKNOWN_REQUEST, f"no request {request_id!r:.60} was sent; see Handle.id")
        self._check_room()
        self._check_open(CancelledNotification.method)
        self._cancel(request_id, reason)
        return Sent()

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
        self._check_room()
        return self._respond(request_id, result)

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
        self._check_room()
        request = self._owed(request_id)
        if isinstance(request, Dropped):
            return request
        if not is_integer(code) or type(message) is not str:
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
        self._check_room()
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

    # Steps

    def _check_in_flight(self, more: int) -> None:
        most = self._limits.requests
        if len(self._conversation.open_requests(self.side)) + more > most:
            raise LocalProtocolError(
                Reason.LIMIT, f"{most} requests are in flight (Limits.requests): wait for answers, or cancel some"
            )

    def _check_times(self, now: float | None, **timeouts: float | None) -> None:
        """Raise unless *timeouts*, by name, can be armed at *now*."""
        if now is not None:
            check_time("now", now)
        for name, seconds in timeouts.items():
            if seconds is None:
                continue
            check_time(name, seconds)
            if seconds < 0:
                raise LocalProtocolError(Reason.INVALID_TIME, f"{name} is no negative number, as {seconds!r:.60} is")
            if now is None:
                raise LocalProtocolError(Reason.NOW_REQUIRED, f"{name} needs now=, in seconds")

    def _check_postponable(self, timeout: float | None, reset_on_progress: bool) -> None:
        if reset_on_progress and timeout is None:
            raise LocalProtocolError(Reason.INVALID_TIME, "reset_on_progress needs a timeout to begin anew")

    def _check_apart(self, verdicts: Iterable[Verdict]) -> None:
        """Raise where two messages are about one request or token: each was judged as if it were alone."""
        about: list[object] = []
        for verdict in verdicts:
            request = verdict.request
            if request is not None and isinstance(verdict.message, JSONRPCNotification):
                about.append(request)
            elif request is not None and request.token is not None:
                about.append(request.token)
        if len(set(about)) < len(about):
            detail = "two of these messages name the same request or progress token: send them one by one"
            raise LocalProtocolError(Reason.ID_IN_USE, detail)

    def _arm(
        self,
        request_id: RequestId,
        now: float | None,
        timeout: float | None,
        max_timeout: float | None = None,
        *,
        postponable: bool = False,
    ) -> None:
        if now is not None:
            self._deadlines.arm(request_id, self._advance(now), timeout, max_timeout, postponable=postponable)

    def _worked_on(self, request_id: RequestId) -> OpenRequest | Dropped:
        """The peer's request with this id, if the peer still listens to how it gets on."""
        request = self._owed(request_id)
        return Dropped(DroppedReason.CLOSED) if self._state is ConnectionState.CLOSING else request

    def _request(
        self, request: Request[R], *, id: RequestId | None = None, related: RequestId | None = None, **options: Any
    ) -> Handle[R]:
        fresh = self._fresh_id()
        verdict = self._prepare(request, fresh if id is None else id, **options)
        self._send_request(verdict, related)
        if id is None:
            self._next_id = fresh + 1
        return self._handle_of(verdict)

    def _prepare(
        self,
        request: Request[Any],
        request_id: RequestId,
        *,
        progress: bool = False,
        log_level: LoggingLevel | None = None,
        in_batch: bool = False,
    ) -> Verdict:
        """A request as it would be sent, judged."""
        revision = self._request_revision()
        params = self._written(request, revision)
        meta = self._request_meta(revision, params.get("_meta"))
        if progress:
            meta = {"progressToken": request_id, **(meta or {})}
        if log_level is not None:
            if not is_modern(revision):
                detail = f"{revision} has no log_level of a request: send SetLevelRequest({log_level!r:.20})"
                raise LocalProtocolError(Reason.NOT_IN_REVISION, detail)
            meta = {**(meta or {}), LOG_LEVEL: log_level}
        if meta is not None:
            params["_meta"] = meta
        return self._judged(JSONRPCRequest(request_id, request.method, params or None), in_batch=in_batch)

    def _handle_of(self, verdict: Verdict) -> Handle[Any]:
        row, message = verdict.row, cast(JSONRPCRequest, verdict.message)
        raw = row is None or (self._forwarding and not row.inspected)
        return Handle(message.id, message.method, CustomResult if raw else cast(Method, row).result)

    def _notify(
        self, notification: Notification, related: RequestId | None = None, closes_stream: RequestId | None = None
    ) -> None:
        about = None if related is None else self._conversation.open_requests(self.side.other).get(related)
        revision = self._revision_in_force() if about is None else about.revision
        verdict = self._judged(JSONRPCNotification(notification.method, self._params(notification, revision)))
        if verdict.revision != revision:
            params = self._params(notification, verdict.revision)
            verdict = self._judged(JSONRPCNotification(notification.method, params))
        if related is None and verdict.request is not None and verdict.request.sender is self.side.other:
            related = verdict.request.id
        self._commit(verdict, related, closes_stream=closes_stream if verdict.modern else None)

    def _cancel(self, request_id: RequestId, reason: str | None) -> None:
        self._notify(CancelledNotification(request_id=request_id, reason=reason), closes_stream=request_id)

    def _respond(self, request_id: RequestId, result: Result) -> Sent | Dropped:
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
