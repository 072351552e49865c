"""What a connection tells its owner: a closed union of frozen classes.

Each event carries ``violations``: the rules of the specification that the peer broke with it, most often none.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar

import attrs

from ..jsonrpc import Error, JSONRPCMessage, RequestId
from ..spec import Violation
from ..types import (
    AnyNotification,
    AnyRequest,
    ClientCapabilities,
    Implementation,
    InputRequiredResult,
    ProgressNotification,
    Result,
    ServerCapabilities,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsListenRequest,
)
from .state import End

__all__ = [
    "ENDS",
    "AnswerInvalid",
    "ConnectionClosed",
    "Ending",
    "ErrorReceived",
    "Event",
    "FailureReason",
    "InputRequired",
    "MessageInvalid",
    "Negotiated",
    "NegotiationFailed",
    "NotificationReceived",
    "Pending",
    "ProgressIgnored",
    "ProgressIgnoredReason",
    "ProgressReceived",
    "RequestAnswered",
    "RequestCancelled",
    "RequestLost",
    "RequestReceived",
    "RequestTimedOut",
    "ResponseIgnored",
    "ResultReceived",
    "SubscriptionAcknowledged",
    "SubscriptionEnded",
    "SubscriptionOpened",
    "UnexpectedReason",
]

R_co = TypeVar("R_co", bound=Result, covariant=True)

Violations: TypeAlias = tuple[Violation, ...]


@attrs.frozen(kw_only=True, slots=False)
class Negotiated:
    """The two sides agreed on a revision.

    A client gets it when it may send requests. A server gets it when it has answered ``initialize``; in the modern era
    each `RequestReceived` says all this anew instead.

    Attributes:
        revision: the revision in force.
        peer_info: what the peer calls itself; None where it did not say.
        client_capabilities: what the client declared.
        server_capabilities: what the server declared.
        instructions: to a client, how the server wants to be used; None where it did not say.
    """

    revision: str
    peer_info: Implementation | None
    client_capabilities: ClientCapabilities
    server_capabilities: ServerCapabilities
    instructions: str | None = None
    violations: Violations = ()


class FailureReason(Enum):
    """Why the handshake led nowhere."""

    NO_COMMON_VERSION = "no common version"
    """The two sides have no revision in common; `NegotiationFailed.supported` says what the peer has."""
    REFUSED = "refused"
    """The server answered with another error; `NegotiationFailed.error` is it."""
    INVALID = "invalid answer"
    """The server's answer cannot be read."""
    TIMED_OUT = "timed out"
    """The server did not answer in time."""
    LOST = "lost"
    """What carried the messages failed before the server said anything about its versions."""


@attrs.frozen(kw_only=True, slots=False)
class NegotiationFailed:
    """The handshake led nowhere: close the connection, and show the user why.

    Attributes:
        reason: why.
        supported: the versions that the server named, as it named them.
        error: the error that the server answered, where it did.
        detail: one sentence for a person.
    """

    reason: FailureReason
    detail: str
    supported: tuple[str, ...] = ()
    error: Error | None = None
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class RequestReceived:
    """The peer asks for something that the application should serve: answer it with ``respond`` or ``respond_error``.

    A request comes again, with ``input_responses``, when a legacy client has given what ``request_input`` asked for.

    Attributes:
        id: the id to answer with.
        method: the method.
        request: the params, as the class of `mcp_sansio.types` that belongs to the method.
        revision: the revision in whose terms it was sent, and is to be answered.
        client_info: what the client calls itself; None where it did not say.
        client_capabilities: what the client declared, in the handshake or with this request.
    """

    id: RequestId
    method: str
    request: AnyRequest
    revision: str
    client_info: Implementation | None
    client_capabilities: ClientCapabilities
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class RequestAnswered:
    """The peer asked for something that the library answered by itself; there is nothing left to do.

    Attributes:
        id: the id of the request.
        method: the method.
        error: the error that was answered; None where it was a result.
    """

    id: RequestId
    method: str
    error: Error | None = None
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class RequestCancelled:
    """The peer no longer wants the answer to a request: stop the work. ``respond`` to it will be dropped.

    Attributes:
        id: the id of the request.
        method: the method.
        reason: why, in the peer's words.
    """

    id: RequestId
    method: str
    reason: str | None = None
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class NotificationReceived:
    """The peer says something that needs no answer.

    Attributes:
        method: the method.
        notification: the params, as the class of `mcp_sansio.types` that belongs to the method.
        subscription: the id of the ``subscriptions/listen`` request that it belongs to (2026-07-28).
    """

    method: str
    notification: AnyNotification
    subscription: RequestId | None = None
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class ProgressReceived:
    """The peer says how far a request of ours has got.

    Attributes:
        id: the id of the request.
        method: its method.
        notification: the progress.
    """

    id: RequestId
    method: str
    notification: ProgressNotification
    violations: Violations = ()


class ProgressIgnoredReason(Enum):
    """Why a report of progress changes nothing."""

    UNKNOWN = "unknown"
    """No request of ours gave this token, or it was long ago."""
    LATE = "late"
    """The request with this token is over."""
    REGRESSING = "regressing"
    """It is no further than the report before it."""


@attrs.frozen(kw_only=True, slots=False)
class ProgressIgnored:
    """A report of progress that does not fit. It changes nothing, no deadline either.

    Attributes:
        reason: why it does not fit.
        notification: the report.
    """

    reason: ProgressIgnoredReason
    notification: ProgressNotification
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class SubscriptionOpened:
    """To a server: a client listens to changes from now on, and was told so. ``publish`` reaches it (2026-07-28).

    `RequestCancelled` says that the client has ended it; ``end_subscription`` ends it from here.

    Attributes:
        id: the id of the ``subscriptions/listen`` request, which names the subscription.
        filter: what the client is told of: of what it asked for, what the server declares.
        request: what it asked for.
    """

    id: RequestId
    filter: SubscriptionFilter
    request: SubscriptionsListenRequest
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class SubscriptionAcknowledged:
    """To a client: the server has taken up a subscription (2026-07-28).

    Attributes:
        id: the id of the ``subscriptions/listen`` request; `NotificationReceived.subscription` repeats it.
        notification: what the server will tell of, which may be less than what was asked for.
    """

    id: RequestId
    notification: SubscriptionsAcknowledgedNotification
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class SubscriptionEnded:
    """To a client: the server has ended a subscription (2026-07-28). A closed connection ends them all by itself.

    Attributes:
        id: the id of the ``subscriptions/listen`` request.
        method: its method.
        result: its result; None where the server sent ``notifications/cancelled``.
        reason: why, in the server's words.
    """

    id: RequestId
    method: str
    result: Result | None = None
    reason: str | None = None
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class ResultReceived(Generic[R_co]):
    """A request of ours has its result, and is over.

    Attributes:
        id: the id of the request.
        method: the method.
        result: the result, as the class of `mcp_sansio.types` that belongs to the method.
    """

    id: RequestId
    method: str
    result: R_co
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class InputRequired:
    """The server needs more before it can answer: ask the user, then send the request once more with the answers.

    The request is over; ``retry`` sends the next one, with a new id (basic/patterns/mrtr of 2026-07-28).

    Attributes:
        id: the id of the request.
        method: the method.
        result: what the server asks for.
    """

    id: RequestId
    method: str
    result: InputRequiredResult
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class ErrorReceived:
    """A request of ours was answered with an error, and is over.

    Attributes:
        id: the id of the request; None where the peer could not read the id of what it complains about.
        method: the method; None likewise.
        error: the error.
    """

    id: RequestId | None
    method: str | None
    error: Error
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class AnswerInvalid:
    """A request of ours was answered with something that is neither its result nor an error, and is over.

    Attributes:
        id: the id of the request.
        method: the method.
        detail: what is wrong with the answer.
    """

    id: RequestId
    method: str
    detail: str
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class RequestTimedOut:
    """A request of ours was not answered in time, and is over. The peer was told to stop.

    Attributes:
        id: the id of the request.
        method: the method.
    """

    id: RequestId
    method: str
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class RequestLost:
    """No answer to a request of ours can come any more, and it is over: what carried it failed.

    Whether the peer has done what was asked is not known. The connection goes on.

    Attributes:
        id: the id of the request.
        method: the method.
        detail: what failed.
    """

    id: RequestId
    method: str
    detail: str
    violations: Violations = ()


class UnexpectedReason(Enum):
    """Why a response ends no request."""

    UNKNOWN = "unknown"
    """Nothing with this id was ever sent, or it was long ago."""
    DUPLICATE = "duplicate"
    """The request was answered before."""
    LATE = "late"
    """The request was cancelled or timed out before the answer came."""


@attrs.frozen(kw_only=True, slots=False)
class ResponseIgnored:
    """A response came that no request of ours is waiting for. It changes nothing.

    Attributes:
        id: its id.
        reason: why it was ignored.
        message: the response.
    """

    id: RequestId
    reason: UnexpectedReason
    message: JSONRPCMessage
    violations: Violations = ()


@attrs.frozen(kw_only=True, slots=False)
class MessageInvalid:
    """The peer sent what is no message of the protocol. The connection goes on.

    Attributes:
        detail: what is wrong with it, for the person who wrote the peer.
        data: its first bytes.
        error: the error that was answered, where one was.
    """

    detail: str
    data: bytes
    error: Error | None = None
    violations: Violations = ()


@attrs.frozen
class Pending:
    """A request of ours that a closing connection left without an answer."""

    id: RequestId
    method: str


@attrs.frozen(kw_only=True, slots=False)
class ConnectionClosed:
    """Nothing more will come from the peer, so the requests that were in flight are over.

    Requests that the peer sent before may still be answered, until ``close()``.

    Attributes:
        pending: the requests that ended without an answer, oldest first.
    """

    pending: tuple[Pending, ...] = ()
    violations: Violations = ()


Ending: TypeAlias = (
    ResultReceived[Any]
    | InputRequired
    | ErrorReceived
    | AnswerInvalid
    | RequestTimedOut
    | RequestLost
    | SubscriptionEnded
)
"""How a request of this side ends; a closed connection ends all that are left (`ConnectionClosed.pending`)."""

ENDS: dict[type[Ending | ConnectionClosed], tuple[End, ...]] = {
    ResultReceived: (End.ANSWERED,),
    InputRequired: (End.ANSWERED,),
    ErrorReceived: (End.ANSWERED,),
    AnswerInvalid: (End.ANSWERED,),
    SubscriptionEnded: (End.ANSWERED, End.CANCELLED),
    RequestTimedOut: (End.CANCELLED, End.TIMED_OUT),
    RequestLost: (End.CLOSED,),
    ConnectionClosed: (End.CLOSED,),
}
"""The events that end requests of this side, and how those may have ended for the conversation.

A time-out cancels what may be cancelled. ``cancel()`` itself ends a request without an event.
"""

Event: TypeAlias = (
    Negotiated
    | NegotiationFailed
    | RequestReceived
    | RequestAnswered
    | RequestCancelled
    | NotificationReceived
    | ProgressReceived
    | ProgressIgnored
    | SubscriptionOpened
    | SubscriptionAcknowledged
    | SubscriptionEnded
    | ResultReceived[Any]
    | InputRequired
    | ErrorReceived
    | AnswerInvalid
    | RequestTimedOut
    | RequestLost
    | ResponseIgnored
    | MessageInvalid
    | ConnectionClosed
)
"""All that a connection has to say."""
