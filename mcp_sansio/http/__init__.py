"""Streamable HTTP of all revisions, and HTTP+SSE of 2024-11-05, as values: no sockets, no clock, no threads.

Source: page basic/transports of 2024-11-05 to 2025-11-25, basic/transports/streamable-http of 2026-07-28.
"""

from __future__ import annotations

from .client import HTTPClient
from .client_events import AuthorizationRequired, HTTPEvent, MessageRefused, SessionLost, StreamLost, ToolLeftOut
from .client_flows import ClientExchange, Reconnection
from .client_reader import Known
from .event_store import EventStore, MemoryEventStore, Replay
from .exchange import Exchange
from .refusal import LOCAL_HOSTS
from .server import Endpoint
from .session import Session
from .values import Headers, HTTPRequest, HTTPResponse

__all__ = [
    "LOCAL_HOSTS",
    "AuthorizationRequired",
    "ClientExchange",
    "Endpoint",
    "EventStore",
    "Exchange",
    "HTTPClient",
    "HTTPEvent",
    "HTTPRequest",
    "HTTPResponse",
    "Headers",
    "Known",
    "MemoryEventStore",
    "MessageRefused",
    "Reconnection",
    "Replay",
    "Session",
    "SessionLost",
    "StreamLost",
    "ToolLeftOut",
]
