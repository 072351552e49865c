"""Connections: bytes in, events out, for a client and for a server."""

from __future__ import annotations

from .base import Connection
from .client import ClientConnection
from .conversation import Conversation
from .events import (
    AnswerInvalid,
    ConnectionClosed,
    Ending,
    ErrorReceived,
    Event,
    FailureReason,
    InputRequired,
    MessageInvalid,
    Negotiated,
    NegotiationFailed,
    NotificationReceived,
    Pending,
    ProgressIgnored,
    ProgressIgnoredReason,
    ProgressReceived,
    RequestAnswered,
    RequestCancelled,
    RequestLost,
    RequestReceived,
    RequestTimedOut,
    ResponseIgnored,
    ResultReceived,
    SubscriptionAcknowledged,
    SubscriptionEnded,
    SubscriptionOpened,
    UnexpectedReason,
)
from .outgoing import Dropped, DroppedReason, Handle, Outgoing, Sent
from .sender import ALL
from .server import ServerConnection
from .server_actions import Change
from .states import ConnectionState

__all__ = [
    "ALL",
    "AnswerInvalid",
    "Change",
    "ClientConnection",
    "Connection",
    "ConnectionClosed",
    "ConnectionState",
    "Conversation",
    "Dropped",
    "DroppedReason",
    "Ending",
    "ErrorReceived",
    "Event",
    "FailureReason",
    "Handle",
    "InputRequired",
    "MessageInvalid",
    "Negotiated",
    "NegotiationFailed",
    "NotificationReceived",
    "Outgoing",
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
    "Sent",
    "ServerConnection",
    "SubscriptionAcknowledged",
    "SubscriptionEnded",
    "SubscriptionOpened",
    "UnexpectedReason",
]
