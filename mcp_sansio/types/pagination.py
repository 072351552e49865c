"""Lists in pages. Source: page server/utilities/pagination."""

from __future__ import annotations

from typing import TypeVar

from .base import Request, Result, member, payload
from .common import CacheScope, Cursor

__all__ = ["CacheableResult", "PaginatedRequest", "PaginatedResult"]

R_co = TypeVar("R_co", covariant=True)


@payload()
class PaginatedRequest(Request[R_co]):
    """Base of the requests for lists."""

    cursor: Cursor | None = member(default=None)
    """The ``next_cursor`` of the page before, unchanged; None asks for the first page."""


@payload()
class PaginatedResult(Result):
    """Base of the pages of lists."""

    next_cursor: Cursor | None = member(default=None, kw_only=True, null=True)
    """Where the next page starts; None: this is the last one. (A null from the peer is taken as that.)"""


@payload(since="2026-07-28")
class CacheableResult(Result):
    """Base of the results that may be cached. Source: 2026-07-28, server/utilities/caching."""

    ttl_ms: int | None = member(default=None, kw_only=True, since="2026-07-28", required=True, stamp=0)
    """For how many milliseconds the result may be taken as fresh; None is written as 0."""
    cache_scope: CacheScope | None = member(
        default=None, kw_only=True, since="2026-07-28", required=True, stamp="private"
    )
    """None is written as "private"."""
