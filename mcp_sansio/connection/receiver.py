"""The half of a connection that hears: from what was read to events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import attrs

from ..jsonrpc import (
    Error,
    JSONRPCErrorResponse,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResultResponse,
    RequestId,
)
from ..spec import RULES, Effect, ErrorCode, Method, Side, Violation
from ..types import (
    CancelledNotification,
    ClientCapabilities,
    Implementation,
    InputRequiredResult,
    ProgressNotification,
    Result,
    SubscriptionsAcknowledgedNotification,
)
from .actions import Actions
from .events import (
    AnswerInvalid,
    Ending,
    ErrorReceived,
    Event,
    InputRequired,
    MessageInvalid,
    NotificationReceived,
    ProgressIgnored,
    ProgressIgnoredReason,
    ProgressReceived,
    RequestAnswered,
    RequestCancelled,
    RequestReceived,
    ResponseIgnored,
    ResultReceived,
    SubscriptionAcknowledged,
    SubscriptionEnded,
    UnexpectedReason,
)
from .reader import Broken, Read, ReadBatch, Reader, ReadItem
from .sender import ALL, Batch
from .state import End, OpenRequest, Standing, Verdict
from .states import ConnectionState

__all__ = ["Receiver"]

_SHOWN = 200
"""How many bytes of what could not be read an event shows."""


class Receiver(Actions):
    """What client and server do alike with what the peer says."""

    _reader: Reader
    _manual: frozenset[str]

    def _handle(self, items: Iterable[ReadItem]) -> list[Event]:
        events: list[Event] = []
        for item in items:
            if self._state is ConnectionState.CLOSED:
                break
            if isinstance(item, Read):
                self._message(item, events)
            elif isinstance(item, Broken):
                self._broken(item, events)
            else:
                self._batch(item, events)
        return events

    def _message(self, item: Read, events: list[Event], batch: Batch | None = None) -> None:
        verdict = self._conversation.judge(self.side.other, item.message, in_batch=batch is not None)
        for rule in item.rules:
            verdict.violations.append(self._violation(rule, RULES[rule].text))
        message = item.message
        if isinstance(message, JSONRPCRequest):
            self._on_request(verdict, message, item, events, batch)
        elif isinstance(message, JSONRPCNotification):
            self._on_notification(verdict, message, item, events)
        else:
            self._on_response(verdict, message, events)

    def _on_request(
        self, v: Verdict, message: JSONRPCRequest, item: Read, events: list[Event], batch: Batch | None
    ) -> None:
        if v.modern and self.side is Side.CLIENT:
            detail = f"a server of {v.revision} sends no requests, {message.method[:80]!r} neither"
            events.append(MessageInvalid(detail=detail, data=item.data[:_SHOWN], violations=tuple(v.violations)))
            return
        if not v.unopened:
            self._check_load(v)
        violations = tuple(v.violations)
        self._conversation.apply(v)
        if batch is not None and not v.unopened:
            batch.waiting.add(message.id)
            self._batches[message.id] = batch
        if v.refusal is not None:
            self._refuse(v, message.id, v.refusal, batch)
        elif v.row is not None and v.row.automatic and message.method not in self._manual:
            self._answer_by_itself(v, message, events)
            return
        else:
            info, capabilities = self._client_of(v)
            events.append(
                RequestReceived(
                    id=message.id,
                    method=message.method,
                    request=v.payload,
                    revision=v.revision,
                    client_info=info,
                    client_capabilities=capabilities,
                    violations=violations,
                )
            )
            return
        events.append(RequestAnswered(id=message.id, method=message.method, error=v.refusal, violations=violations))

    def _check_load(self, v: Verdict) -> None:
        """Refuse what is more than this side wants to have open; what is answered at once takes no room."""
        row = v.row
        if v.refusal is not None or row is None or self._is_answered_at_once(row):
            return
        limits, requests = self._limits, self._conversation.open_requests(self.side.other)
        request = cast(OpenRequest, v.request)
        if len(requests) >= limits.peer_requests:
            detail = f"{limits.peer_requests} requests are in flight; wait for answers"
        elif row.effect is Effect.SUBSCRIBE and self._subscribed_with(request) > limits.subscribed_uris:
            detail = f"{limits.subscribed_uris} resources are subscribed to; unsubscribe from some"
        else:
            return
        v.violations.append(self._violation("LIB-013", detail))
        v.refusal = Error(int(ErrorCode.INTERNAL_ERROR), detail)

    def _is_answered_at_once(self, row: Method) -> bool:
        return row.automatic and row.name not in self._manual and not row.listens

    def _subscribed_with(self, request: OpenRequest) -> int:
        """How many resources are subscribed to if *request* and those like it that wait are served."""
        subscribed = self._conversation.session.subscribed
        waiting = self._conversation.open_requests(self.side.other).values()
        asked_for = {request.subject, *(each.subject for each in waiting if each.row is request.row)}
        return len(subscribed) + len(asked_for - subscribed)

    def _refuse(self, v: Verdict, request_id: RequestId, error: Error, batch: Batch | None) -> None:
        response = JSONRPCErrorResponse(request_id, error)
        if v.unopened:
            self._answer_unopened(response, batch)
        else:
            self._commit(self._judge(response), request_id, allow=ALL)

    def _answer_unopened(self, response: JSONRPCErrorResponse, batch: Batch | None) -> None:
        """Answer what never became a request."""
        if batch is not None:
            batch.answers.append(response)
        else:
            self._push(self._encoded(response, response.id))

    def _answer_by_itself(self, v: Verdict, message: JSONRPCRequest, events: list[Event]) -> None:
        self._respond(message.id, self._automatic_result(v, message))
        events.append(RequestAnswered(id=message.id, method=message.method, violations=tuple(v.violations)))

    def _automatic_result(self, v: Verdict, message: JSONRPCRequest) -> Result:
        raise NotImplementedError

    def _client_of(self, v: Verdict) -> tuple[Implementation | None, ClientCapabilities]:
        """What the client says of itself, in the handshake or with this request."""
        raise NotImplementedError

    def _on_notification(self, v: Verdict, message: JSONRPCNotification, item: Read, events: list[Event]) -> None:
        violations = tuple(v.violations)
        if v.refusal is not None and v.row is not None:
            events.append(MessageInvalid(detail=v.refusal.message, data=item.data[:_SHOWN], violations=violations))
            return
        self._conversation.apply(v)
        events.append(self._told(v, message, violations))

    def _told(self, v: Verdict, message: JSONRPCNotification, violations: tuple[Violation, ...]) -> Event:
        """The event for a notification that was let happen."""
        request, payload = v.request, v.payload
        if isinstance(payload, ProgressNotification) and v.standing is not Standing.EXPECTED:
            reason = ProgressIgnoredReason(cast(Standing, v.standing).value)
            return ProgressIgnored(reason=reason, notification=payload, violations=violations)
        if isinstance(payload, ProgressNotification) and request is not None:
            if self._now is not None:
                self._deadlines.postpone(request.id, self._now)
            return ProgressReceived(id=request.id, method=request.method, notification=payload, violations=violations)
        if request is None:
            return NotificationReceived(method=message.method, notification=payload, violations=violations)
        if isinstance(payload, CancelledNotification):
            return self._cancelled(request, payload.reason, violations)
        if isinstance(payload, SubscriptionsAcknowledgedNotification):
            self._deadlines.disarm(request.id)  # from now on it may be silent
            return SubscriptionAcknowledged(id=request.id, notification=payload, violations=violations)
        return NotificationReceived(
            method=message.method, notification=payload, subscription=request.id, violations=violations
        )

    def _cancelled(self, request: OpenRequest, reason: str | None, violations: tuple[Violation, ...]) -> Event:
        if request.sender is self.side:
            self._deadlines.disarm(request.id)
            return SubscriptionEnded(id=request.id, method=request.method, reason=reason, violations=violations)
        batch = self._batches.pop(request.id, None)
        if batch is not None:
            self._ended_in_batch(batch, request.id)
        return RequestCancelled(id=request.id, method=request.method, reason=reason, violations=violations)

    def _on_response(
        self, v: Verdict, message: JSONRPCResultResponse | JSONRPCErrorResponse, events: list[Event]
    ) -> None:
        violations = tuple(v.violations)
        request = v.request
        if message.id is None:
            error = message.error
            events.append(ErrorReceived(id=None, method=None, error=error, violations=violations))
            return
        self._conversation.apply(v)
        if request is None:
            reason = UnexpectedReason(cast(Standing, v.standing).value)
            events.append(ResponseIgnored(id=message.id, reason=reason, message=message, violations=violations))
            return
        self._deadlines.disarm(request.id)
        self._conclude(self._ending(v, request, message), events)

    def _ending(
        self, v: Verdict, request: OpenRequest, message: JSONRPCResultResponse | JSONRPCErrorResponse
    ) -> Ending:
        request_id, method, violations = request.id, request.method, tuple(v.violations)
        if isinstance(message, JSONRPCErrorResponse):
            return ErrorReceived(id=request_id, method=method, error=message.error, violations=violations)
        if v.invalid is not None:
            return AnswerInvalid(id=request_id, method=method, detail=v.invalid, violations=violations)
        if isinstance(v.payload, InputRequiredResult):
            return InputRequired(id=request_id, method=method, result=v.payload, violations=violations)
        if v.row is not None and v.row.listens:
            return SubscriptionEnded(id=request_id, method=method, result=v.payload, violations=violations)
        return ResultReceived(id=request_id, method=method, result=v.payload, violations=violations)

    def _batch(self, item: ReadBatch, events: list[Event]) -> None:
        fault = self._conversation.judge_batch(self.side.other, item.values, self._limits.batch_length)
        if fault is not None:
            rule, detail = fault
            rules = (rule, *item.rules)
            code = ErrorCode.INVALID_REQUEST
            self._broken(Broken("unknown", None, None, rules, code, detail, item.data, whole=False), events)
            return
        batch = Batch()
        for value in item.values:
            part = self._reader.parse(value, item.data)
            if isinstance(part, Read):
                self._message(attrs.evolve(part, rules=item.rules), events, batch)
            else:
                self._broken(part, events, batch)
        batch.reading = False
        self._answer_batch(batch)

    def _broken(self, item: Broken, events: list[Event], batch: Batch | None = None) -> None:
        violations = tuple(self._violation(rule, item.detail) for rule in item.rules)
        answers = item.kind == "response" or (item.kind == "unknown" and item.whole)
        requests = self._conversation.open_requests(self.side)
        request = requests.get(item.id) if answers and item.id is not None else None
        if request is not None and not request.held:
            self._conversation.end(self.side, request.id, End.ANSWERED)
            self._deadlines.disarm(request.id)
            invalid = AnswerInvalid(id=request.id, method=request.method, detail=item.detail, violations=violations)
            self._conclude(invalid, events)
            return
        error = None
        if self._answers_broken(item):
            error = Error(int(item.code), f"Invalid message: {item.detail}")
            self._answer_unopened(JSONRPCErrorResponse(item.id, error), batch)
        events.append(MessageInvalid(detail=item.detail, data=item.data[:_SHOWN], error=error, violations=violations))

    def _answers_broken(self, item: Broken) -> bool:
        raise NotImplementedError

    def _conclude(self, event: Ending, events: list[Event]) -> None:
        """Tell how a request of this side ended."""
        events.append(event)
