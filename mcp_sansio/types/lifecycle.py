"""The handshake of the legacy revisions. Source: page basic/lifecycle."""

from __future__ import annotations

from typing import ClassVar

from .base import Notification, Payload, Request, Result, member, payload
from .capabilities import ClientCapabilities, ServerCapabilities
from .common import Icon

__all__ = ["Implementation", "InitializeRequest", "InitializeResult", "InitializedNotification"]


@payload()
class Implementation(Payload):
    """Names a client or a server."""

    name: str
    version: str
    title: str | None = member(default=None, since="2025-06-18")
    description: str | None = member(default=None, since="2025-11-25")
    website_url: str | None = member(default=None, since="2025-11-25")
    icons: list[Icon] | None = member(default=None, since="2025-11-25")


@payload(until="2025-11-25")
class InitializeResult(Result):
    """The server's side of the handshake."""

    protocol_version: str
    capabilities: ServerCapabilities
    server_info: Implementation
    instructions: str | None = member(default=None)
    """How to use the server; may go into a system prompt."""


@payload(until="2025-11-25")
class InitializeRequest(Request[InitializeResult]):
    """The client's side of the handshake."""

    method: ClassVar[str] = "initialize"
    protocol_version: str
    """The newest that the client speaks."""
    capabilities: ClientCapabilities
    client_info: Implementation


@payload(until="2025-11-25")
class InitializedNotification(Notification):
    """The client is ready."""

    method: ClassVar[str] = "notifications/initialized"
