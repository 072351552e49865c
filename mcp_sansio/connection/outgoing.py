"""What a connection has to say: a queue of messages, drained as bytes or one by one."""

from __future__ import annotations

import base64
import json
from enum import Enum
from typing import Any, Generic, TypeAlias, TypeGuard, TypeVar, cast

import attrs

from ..jsonrpc import JSONObject, JSONRPCMessage, JSONRPCNotification, RequestId, is_array, parse_message
from ..types import CancelledNotification, Result
from .events import ENDS, ConnectionClosed, Ending, ResultReceived

__all__ = ["Dropped", "DroppedReason", "Handle", "Outgoing", "Sent", "message_from_json"]

R = TypeVar("R", bound=Result)

_ENDINGS = cast("tuple[type[Ending], ...]", tuple(ENDS))
_ANY_LENGTH = 2**63


@attrs.frozen(slots=False)
class Outgoing:
    """One message to be written.

    Attributes:
        data: the message as JSON in UTF-8, without a newline.
        message: the same, decoded; of a batch, its messages.
        related: the id of the peer's request that it belongs to, so that a transport can choose the stream.
        closes_stream: the id of a request of this side that it gives up. Streamable HTTP of 2026-07-28 does not write
            it: closing the stream of that request says it.
    """

    data: bytes
    message: JSONRPCMessage | tuple[JSONRPCMessage, ...]
    related: RequestId | None = None
    closes_stream: RequestId | None = None

    @property
    def text(self) -> str:
        """The message as text, as WebSocket carries it."""
        return self.data.decode()

    @property
    def cancels(self) -> RequestId | None:
        """The id of the request that it gives up, or of the subscription that it ends; None where it does neither."""
        message = self.message
        if not isinstance(message, JSONRPCNotification) or message.method != CancelledNotification.method:
            return None
        request_id = (message.params or {}).get("requestId")
        return request_id if isinstance(request_id, str | int) else None

    def to_json(self) -> JSONObject:
        """The message as plain JSON."""
        data = base64.b64encode(self.data).decode()
        return {"data": data, "related": self.related, "closes_stream": self.closes_stream}

    @classmethod
    def from_json(cls, data: JSONObject) -> Outgoing:
        """The inverse of `to_json`."""
        written = base64.b64decode(data["data"])
        value = json.loads(written)
        message: Any = tuple(map(message_from_json, value)) if is_array(value) else message_from_json(value)
        return cls(written, message, data["related"], data["closes_stream"])


def message_from_json(value: Any) -> JSONRPCMessage:
    """A message that a snapshot kept; limits are for what comes from the peer."""
    return cast(JSONRPCMessage, parse_message(value, id_length=_ANY_LENGTH))


@attrs.frozen(slots=False)
class Sent:
    """The message is in the queue."""


class DroppedReason(Enum):
    """Why a message is not wanted."""

    CANCELLED = "cancelled"
    """The peer cancelled the request."""
    CLOSED = "closed"
    """The connection was closed."""
    OVER = "over"
    """The request of this side has ended."""
    NOT_ASKED = "not asked"
    """The request carried no progress token, or asked for no log messages of this level."""
    FORGOTTEN = "forgotten"
    """It is over for so long that how it ended is forgotten (`Limits.remembered_ids`)."""


@attrs.frozen(slots=False)
class Dropped:
    """The message was thrown away, which is no mistake: nobody wants it any more, or ever did."""

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

    def ended_by(self, event: object) -> bool:
        """Whether *event* is the end of this request, whatever it is; one `Event` is the end of each."""
        if isinstance(event, ConnectionClosed):
            return any(pending.id == self.id for pending in event.pending)
        return isinstance(event, _ENDINGS) and event.id == self.id

    def answered_by(self, event: object) -> TypeGuard[ResultReceived[R]]:
        """Whether *event* brings the result of this request."""
        given: Any = event
        return isinstance(event, ResultReceived) and given.id == self.id and isinstance(given.result, self.result_type)


Answer: TypeAlias = Sent | Dropped
AnyHandle: TypeAlias = Handle[Any]
