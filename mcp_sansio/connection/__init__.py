"""Connections: bytes in, events out, for a client and for a server."""

from __future__ import annotations

from .base import Connection
from .client import ClientConnection
from .conversation import Conversation
from .events import (
    AnswerInvalid,
    ConnectionClosed,
    ErrorReceived,
    Event,
    FailureReason,
    InputRequired,
    MessageInvalid,
    Negotiated,
    NegotiationFailed,
    NotificationReceived,
    Pending,
    RequestAnswered,
    RequestCancelled,
    RequestReceived,
    ResponseIgnored,
    ResultReceived,
    UnexpectedReason,
)
from .outgoing import Dropped, DroppedReason, Handle, Outgoing, Sent
from .sender import ALL, ConnectionState
from .server import ServerConnection

__all__ = [
    "ALL",
    "AnswerInvalid",
    "ClientConnection",
    "Connection",
    "ConnectionClosed",
    "ConnectionState",
    "Conversation",
    "Dropped",
    "DroppedReason",
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
    "RequestAnswered",
    "RequestCancelled",
    "RequestReceived",
    "ResponseIgnored",
    "ResultReceived",
    "Sent",
    "ServerConnection",
    "UnexpectedReason",
]
