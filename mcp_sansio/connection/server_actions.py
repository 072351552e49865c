"""What only a server says: questions to the user, log messages, changes, and the ends of subscriptions.

The same calls serve clients of both eras.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import attrs

from ..errors import LocalProtocolError, Reason
from ..jsonrpc import (
    Error,
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    copy_json,
)
from ..spec import ErrorCode, Method, Side, Violation, is_modern
from ..spec.meta import SUBSCRIPTION_ID
from ..types import (
    LOGGING_LEVELS,
    ClientCapabilities,
    Implementation,
    InputRequest,
    InputRequiredResult,
    LoggingLevel,
    LoggingMessageNotification,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsListenRequest,
    SubscriptionsListenResult,
    ToolListChangedNotification,
)
from ..types.converter import PayloadError, structure, unstructure
from .base import Connection
from .events import (
    Ending,
    Event,
    Pending,
    RequestAnswered,
    RequestReceived,
    ResultReceived,
    SubscriptionOpened,
)
from .input_required import Asking
from .outgoing import Dropped, DroppedReason, Sent
from .state import OpenRequest, Verdict
from .states import ConnectionState

__all__ = ["Change", "ServerActions"]

Change = (
    ToolListChangedNotification
    | PromptListChangedNotification
    | ResourceListChangedNotification
    | ResourceUpdatedNotification
)
"""What ``publish`` tells of."""


class ServerActions(Connection):
    """What an application does with a server's connection, and a client's has not."""

    _asking: dict[RequestId, Asking]
    _asked_for: dict[RequestId, RequestId]

    # Questions to the user

    def request_input(
        self,
        request_id: RequestId,
        requests: Mapping[str, InputRequest] | None = None,
        state: str | None = None,
        *,
        timeout: float | None = None,
        now: float | None = None,
    ) -> Sent | Dropped:
        """Ask the client for what a request turns out to need; the request comes again with the answers in it.

        A modern client gets an `InputRequiredResult`, and sends its request once more, as a new `RequestReceived`.
        A legacy client gets requests of the server's; when all are answered, the same request is in a
        `RequestReceived` once more. Either way ``request.input_responses`` has the answers by key, and
        ``request.request_state`` the state. If a legacy client refuses one, the request is answered with an error.

        Args:
            request_id: the id in `RequestReceived` of ``tools/call``, ``prompts/get`` or ``resources/read``.
            requests: what to ask for, by keys of your choice.
            state: what to get back with the answers. A modern client holds it meanwhile, so seal it
                (`mcp_sansio.helpers.seal_state`).
            timeout: seconds that a legacy client has for its answers; a modern one is not waited for.
            now: seconds on the caller's clock; needed with a time-out.

        Returns:
            `Dropped` when the client cancelled the request, or the connection was closed, before.

        Raises:
            CapabilityError: the client did not declare what this needs; ``respond_missing_capability`` says so.
            LocalProtocolError: no such request is waiting, it cannot ask for input, or has asked too often.
        """
        self._check_room()
        self._check_times(now, timeout=timeout)
        request = self._owed(request_id)
        if isinstance(request, Dropped):
            return request
        asked = self._checked_requests(requests)
        self._check_class(state, str | None, "request_input(id, state='page 2')")
        if is_modern(request.revision):
            return self._respond(request_id, InputRequiredResult(asked or None, state))
        for own in self._ask(request, asked, state):
            self._arm(own, now, timeout)
        return Sent()

    def respond_missing_capability(self, request_id: RequestId, capabilities: ClientCapabilities) -> Sent | Dropped:
        """Answer that a request cannot be served by what the client declared (-32021 in 2026-07-28).

        Args:
            request_id: the id in `RequestReceived`.
            capabilities: what the client would have to declare.

        Returns:
            `Dropped` as for ``respond_error``.

        Raises:
            LocalProtocolError: as for ``respond_error``.
        """
        request = self._owed(request_id)
        if isinstance(request, Dropped):
            return request
        required = self._written_capabilities(capabilities, request.revision)
        modern = is_modern(request.revision)
        code = ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY if modern else ErrorCode.INTERNAL_ERROR
        names = ", ".join(required) or "none"
        message = f"Missing required client capability: {names}"
        return self.respond_error(request_id, code, message, {"requiredCapabilities": required})

    def _written_capabilities(self, capabilities: ClientCapabilities, revision: str) -> JSONObject:
        self._check_class(capabilities, ClientCapabilities, "respond_missing_capability(id, ClientCapabilities(...))")
        try:
            return unstructure(capabilities, revision)
        except PayloadError as error:
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, str(error)) from None

    def _checked_requests(self, requests: Mapping[str, InputRequest] | None) -> dict[str, InputRequest]:
        example = "request_input(id, {'where': ListRootsRequest()})"
        self._check_class(requests, Mapping | None, example)
        for key, asked in (requests or {}).items():
            self._check_class(key, str, example)
            self._check_class(asked, InputRequest, example)
        return dict(requests or {})

    def _ask(self, request: OpenRequest, requests: dict[str, InputRequest], state: str | None) -> list[RequestId]:
        """Ask a legacy client by requests of our own; their ids."""
        self._check_usable("a question")
        self._check_askable(request, requests)
        self._check_in_flight(len(requests))
        verdicts: dict[str, Verdict] = {}
        request_id = self._next_id
        for key, asked in requests.items():
            request_id = self._fresh_id(request_id)
            verdict = self._prepare(asked, request_id)
            self._refuse_breaches(verdict.violations, frozenset({"LIFE-005"}))
            if cast(OpenRequest, verdict.request).task:
                raise LocalProtocolError(Reason.INVALID_PAYLOAD, f"{key!r:.60}: the answer is waited for; ask no task")
            self._encoded(verdict.message, None)
            verdicts[key] = verdict
            request_id += 1
        self._check_apart(verdicts.values())
        asking = Asking({key: each.method for key, each in requests.items()}, state, {})
        for key, verdict in verdicts.items():
            self._send_request(verdict, request.id)
            own = cast(JSONRPCRequest, verdict.message).id
            asking.waiting[own] = key
            self._asked_for[own] = request.id
        self._asking[request.id] = asking
        self._next_id = request_id
        return list(asking.waiting)

    def _check_askable(self, request: OpenRequest, requests: dict[str, InputRequest]) -> None:
        if request.row is None or not request.row.input_required or self._forwarding:
            what = "A gateway passes questions on" if self._forwarding else f"{request.method} cannot ask for input"
            raise LocalProtocolError(Reason.WRONG_RESULT, f"{what}; see request()")
        if not requests:
            detail = "a legacy client answers requests only: give some, or go on at once"
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, detail)
        if request.id in self._asking:
            raise LocalProtocolError(Reason.ID_IN_USE, "the client is being asked for this request: ask once for all")
        if request.rounds >= self._limits.input_rounds:
            detail = f"the client was asked {request.rounds} times (Limits.input_rounds): answer the request"
            raise LocalProtocolError(Reason.LIMIT, detail)

    def _conclude(self, event: Ending, events: list[Event]) -> None:
        owed = None if event.id is None else self._asked_for.pop(event.id, None)
        if owed is None or event.id is None:
            super()._conclude(event, events)
            return
        asking = self._asking[owed]
        key = asking.waiting.pop(event.id)
        asking.violations += event.violations
        if not isinstance(event, ResultReceived):
            self._give_up(owed, f"the client did not answer {event.method}", events)
            return
        asking.responses[key] = event.result
        if not asking.waiting:
            self._resume(owed, events)

    def _resume(self, owed: RequestId, events: list[Event]) -> None:
        """Hand a request to the application once more, with the answers."""
        asking = self._asking.pop(owed)
        request = self._conversation.open_requests(Side.CLIENT)[owed]
        request.rounds += 1
        payload: Any = structure(copy_json(request.params), cast(Method, request.row).payload, request.revision)
        payload = attrs.evolve(payload, input_responses=asking.responses, request_state=asking.state)
        info, capabilities = self._session_client()
        events.append(
            RequestReceived(
                id=owed,
                method=request.method,
                request=payload,
                revision=request.revision,
                client_info=info,
                client_capabilities=capabilities,
                violations=asking.violations,
            )
        )

    def _give_up(self, owed: RequestId, detail: str, events: list[Event]) -> None:
        """Answer a request whose questions were not answered."""
        asking = self._asking[owed]
        method = self._conversation.open_requests(Side.CLIENT)[owed].method
        error = Error(int(ErrorCode.INTERNAL_ERROR), detail)
        self._commit(self._judge(JSONRPCErrorResponse(owed, error)), owed)
        events.append(RequestAnswered(id=owed, method=method, error=error, violations=asking.violations))

    def _commit(self, verdict: Verdict, related: RequestId | None, **options: Any) -> None:
        super()._commit(verdict, related, **options)
        if isinstance(verdict.message, JSONRPCResponse) and verdict.message.id is not None:
            self._stop_asking(verdict.message.id)

    def _gave_up(self, request_id: RequestId) -> bool:
        owed = self._asked_for.pop(request_id, None)
        if owed is not None:  # the application takes one question back, which is no use without the others
            del self._asking[owed].waiting[request_id]
            self._stop_asking(owed)
        return super()._gave_up(request_id)

    def _cancelled(self, request: OpenRequest, reason: str | None, violations: tuple[Violation, ...]) -> Event:
        self._stop_asking(request.id)
        return super()._cancelled(request, reason, violations)

    def _stop_asking(self, owed: RequestId) -> None:
        """Withdraw the questions of a request that is over."""
        asking = self._asking.pop(owed, None)
        for own in asking.waiting if asking is not None else ():
            del self._asked_for[own]
            self._cancel(own, "no longer needed")

    def _abandon(self) -> tuple[Pending, ...]:
        self._asking.clear()
        self._asked_for.clear()
        return super()._abandon()

    def _session_client(self) -> tuple[Implementation | None, ClientCapabilities]:
        """What the client of a legacy session says of itself."""
        raise NotImplementedError

    # Log messages

    def log(
        self, level: LoggingLevel, data: Any, *, logger: str | None = None, related: RequestId | None = None
    ) -> Sent | Dropped:
        """Send a log message, if the client wants messages of this level.

        A legacy client sets the level for its session; until it does it gets all. A modern one sets it with each
        request that it wants messages for, so there *related* is needed.

        Args:
            level: one of `LOGGING_LEVELS`.
            data: any JSON value. Put no secrets in it.
            logger: the name of the logger.
            related: the id of the request that it is about.

        Returns:
            `Dropped` when nobody wants it.

        Raises:
            LocalProtocolError: the level is none, or the server did not declare logging.
        """
        if level not in LOGGING_LEVELS:
            detail = f"level is one of {', '.join(LOGGING_LEVELS)}, not {level!r:.20}"
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, detail)
        request = None if related is None else self._worked_on(related)
        if isinstance(request, Dropped):
            return request
        modern = is_modern(self._revision_in_force() if request is None else request.revision)
        session = self._conversation.session
        least = session.log_level if not modern else None if request is None else request.log_level
        if modern and least is None:
            return Dropped(DroppedReason.NOT_ASKED)
        # A session behind a gateway may have been given a level that nobody knows.
        if least in LOGGING_LEVELS and LOGGING_LEVELS.index(level) < LOGGING_LEVELS.index(least):
            return Dropped(DroppedReason.NOT_ASKED)
        self.notify(LoggingMessageNotification(level, data, logger), related=related)
        return Sent()

    # Changes

    def publish(self, change: Change) -> int:
        """Tell of a change all who asked to be told.

        Those are a legacy session (for a resource: if the client subscribed to it, or to one above it) and the open
        subscriptions of modern clients whose filter lets it through.

        Args:
            change: that a list changed, or a resource.

        Returns:
            How many messages were queued.

        Raises:
            LocalProtocolError: it is no such notification, or there is a legacy session, to which the server did not
                declare that it tells of it.
        """
        self._check_class(change, Change, "publish(ToolListChangedNotification())")
        if isinstance(change, ResourceUpdatedNotification):
            self._check_class(change.uri, str, "publish(ResourceUpdatedNotification('file:///a'))")
        if self._state in (ConnectionState.CLOSING, ConnectionState.CLOSED):
            return 0
        self._check_room()
        return self._publish_to_session(change) + sum(
            self._publish_to(subscription, change) for subscription in self._subscriptions()
        )

    def end_subscription(self, request_id: RequestId) -> Sent | Dropped:
        """End a subscription from this side.

        Args:
            request_id: the id in `SubscriptionOpened`.

        Returns:
            `Dropped` when the client ended it, or the connection was closed, before.

        Raises:
            LocalProtocolError: no such subscription is open.
        """
        return self.respond(request_id, SubscriptionsListenResult())

    def _subscriptions(self) -> list[OpenRequest]:
        requests = self._conversation.open_requests(Side.CLIENT).values()
        return [request for request in requests if request.row is not None and request.row.listens]

    def _publish_to_session(self, change: Change) -> int:
        session = self._conversation.session
        if session.revision is None:
            return 0
        if isinstance(change, ResourceUpdatedNotification) and not _covers(session.subscribed, change.uri):
            return 0
        self._notify(change)
        return 1

    def _publish_to(self, subscription: OpenRequest, change: Change) -> int:
        row = self._spec.method(Side.SERVER, type(change).method, subscription.revision)
        wanted = None if row is None or row.filter is None else (subscription.filter or {}).get(row.filter)
        if isinstance(change, ResourceUpdatedNotification):
            wanted = _covers(wanted or (), change.uri)
        if not wanted:
            return 0
        named: Any = change  # attrs.evolve takes no union
        meta = {**(change.meta or {}), SUBSCRIPTION_ID: subscription.id}
        self._notify(attrs.evolve(named, meta=meta), subscription.id)
        return 1

    def _answer_by_itself(self, v: Verdict, message: JSONRPCRequest, events: list[Event]) -> None:
        if not isinstance(v.payload, SubscriptionsListenRequest):
            super()._answer_by_itself(v, message, events)
            return
        honoured = self._honoured(v.payload.notifications, v.revision)
        self._notify(
            SubscriptionsAcknowledgedNotification(honoured, meta={SUBSCRIPTION_ID: message.id}), related=message.id
        )
        events.append(
            SubscriptionOpened(id=message.id, filter=honoured, request=v.payload, violations=tuple(v.violations))
        )

    def _honoured(self, asked: SubscriptionFilter, revision: str) -> SubscriptionFilter:
        """What of a filter the server declares that it tells of."""
        declared = self._conversation.server_declared or frozenset()
        rows = [row for row in self._spec.methods if row.filter is not None and row.exists_in(revision)]
        served = {row.filter for row in rows if row.needs is None or row.needs in declared}
        written = unstructure(asked, revision)
        return structure(
            {name: value for name, value in written.items() if name in served}, SubscriptionFilter, revision
        )


def _covers(subscribed: Iterable[str], uri: str) -> bool:
    """Whether a resource, or one above it, is among those subscribed to (server/resources#subscriptions)."""
    slashes = [i for i, character in enumerate(uri) if character == "/"]
    above = {uri, *(uri[:i] for i in slashes), *(uri[: i + 1] for i in slashes)}
    return not above.isdisjoint(subscribed)
