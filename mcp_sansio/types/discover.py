"""What a modern server can do. Source: 2026-07-28, page server/discover."""

from __future__ import annotations

from typing import ClassVar

from .base import Request, member, payload
from .capabilities import ServerCapabilities
from .pagination import CacheableResult

__all__ = ["DiscoverRequest", "DiscoverResult"]


@payload(since="2026-07-28")
class DiscoverResult(CacheableResult):
    """The server's versions and capabilities. Its name is in ``_meta``."""

    supported_versions: list[str]
    capabilities: ServerCapabilities
    instructions: str | None = member(default=None)
    """How to use the server; may go into a system prompt."""


@payload(since="2026-07-28")
class DiscoverRequest(Request[DiscoverResult]):
    """Ask for the server's versions and capabilities."""

    method: ClassVar[str] = "server/discover"
