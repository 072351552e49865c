"""What a connection has to say: a queue of messages, drained as bytes or one by one."""

from __future__ import annotations

from enum import Enum
from typing import Any, Generic, TypeAlias, TypeGuard, TypeVar

import attrs

from ..jsonrpc import JSONRPCMessage, RequestId
from ..types import Result
from .events import Event, ResultReceived

__all__ = ["Dropped", "DroppedReason", "Handle", "Outgoing", "Sent"]

R = TypeVar("R", bound=Result)


@attrs.frozen(slots=False)
class Outgoing:
    """One message to be written.

    Attributes:
        data: the message as JSON in UTF-8, without a newline.
        message: the same, decoded; of a batch, its messages.
        related: the id of the peer's request that it belongs to, so that a transport can choose the stream.
    """

    data: bytes
    message: JSONRPCMessage | tuple[JSONRPCMessage, ...]
    related: RequestId | None = None


@attrs.frozen(slots=False)
class Sent:
    """The answer is in the queue."""


class DroppedReason(Enum):
    """Why an answer is not wanted any more."""

    CANCELLED = "cancelled"
    """The peer cancelled the request."""
    CLOSED = "closed"
    """The connection was closed."""
    FORGOTTEN = "forgotten"
    """It is over for so long that how it ended is forgotten (`Limits.remembered_ids`)."""


@attrs.frozen(slots=False)
class Dropped:
    """The answer was thrown away, which is no mistake: the request ended while it was being worked on."""

    reason: DroppedReason


@attrs.frozen(slots=False)
class Handle(Generic[R]):
    """A request in flight. Keep it, and ask it about each event.

    Attributes:
        id: the id of the request.
        method: its method.
        result_type: the class of its result.
    """

    id: RequestId
    method: str
    result_type: type[R]

    def answered_by(self, event: Event) -> TypeGuard[ResultReceived[R]]:
        """Whether *event* brings the result of this request."""
        return isinstance(event, ResultReceived) and event.id == self.id and isinstance(event.result, self.result_type)


Answer: TypeAlias = Sent | Dropped
AnyHandle: TypeAlias = Handle[Any]
