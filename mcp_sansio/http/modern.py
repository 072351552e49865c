"""A request of 2026-07-28, which stands alone.

Source: basic/transports/streamable-http of 2026-07-28.
"""

from __future__ import annotations

from ..codec import STDLIB
from ..connection import Change, Event, Outgoing, ServerConnection, SubscriptionOpened
from ..jsonrpc import (
    JSONRPCErrorResponse,
    JSONRPCNotification,
    JSONRPCResponse,
    RequestId,
    message_to_json,
)
from ..limits import Limits
from ..types import CancelledNotification
from .exchange import Accepts, Exchange
from .statuses import status_of

__all__ = ["ModernExchange"]


class ModernExchange(Exchange):
    """A request of 2026-07-28: its connection is its own, and ends with it.

    Args:
        connection: the connection.
        accepts: what the client takes as a response.
        limits: bounds on what it holds.
        request_id: the id of the request.
        has_meta: whether the request says its version and capabilities.
        open_exchanges: where it stands while it is open.
    """

    def __init__(
        self,
        connection: ServerConnection,
        accepts: Accepts,
        limits: Limits,
        request_id: RequestId,
        *,
        has_meta: bool,
        open_exchanges: set[ModernExchange],
    ) -> None:
        super().__init__(connection, accepts=accepts, most_waiting=limits.queued_bytes)
        self._own = connection
        self._request_id = request_id
        self._has_meta = has_meta
        self._open_exchanges = open_exchanges
        open_exchanges.add(self)

    def publish(self, change: Change) -> int:
        """Tell the client of a change, if it is a subscription to it; as `ServerConnection.publish`."""
        queued = self._own.publish(change)
        self._collect()
        return queued

    def end_subscription(self) -> None:
        """End it, if it is a subscription."""
        if any(isinstance(event, SubscriptionOpened) for event in self.events):
            self._own.end_subscription(self._request_id)
            self._collect()

    def _collect(self) -> None:
        for outgoing in self._own.messages_to_send():
            self._take(outgoing)

    def _take(self, outgoing: Outgoing) -> None:
        message = outgoing.message
        if isinstance(message, JSONRPCResponse):
            if self.is_undecided:
                self.answer_message(self._status(message), outgoing.data)
            else:
                self.write(outgoing.data)
                self.end()
        elif self.is_open and outgoing.cancels is None:
            self.write(outgoing.data)
            self.check_waiting()

    def _status(self, message: JSONRPCResponse) -> int:
        if not isinstance(message, JSONRPCErrorResponse):
            return 200
        return status_of(message.error.code, modern=True) if self._has_meta else 400

    def end(self) -> None:
        """End the stream."""
        super().end()
        self._open_exchanges.discard(self)

    def _disconnected(self) -> list[Event]:
        self._open_exchanges.discard(self)
        reason = "the client has closed the stream"
        cancelled = {"requestId": self._request_id, "reason": reason}
        cancel = JSONRPCNotification(CancelledNotification.method, cancelled)
        return [*self._own.receive_message(STDLIB.encode(message_to_json(cancel))), *self._own.close()]
