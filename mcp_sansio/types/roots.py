"""Roots: where in the file system a server may work. Source: page client/roots."""

from __future__ import annotations

from typing import ClassVar

from ..jsonrpc import JSONObject
from .base import Notification, Payload, Request, Result, member, payload

__all__ = ["ListRootsRequest", "ListRootsResult", "Root", "RootsListChangedNotification"]


@payload()
class Root(Payload):
    """A directory or file that the server may use."""

    uri: str
    """A ``file:`` URI."""
    name: str | None = member(default=None)
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-06-18")


@payload(has=("roots",))
class ListRootsResult(Result):
    """The client's roots."""

    roots: list[Root]
    # In 2026-07-28 this is an input response, no result of its own: it has no resultType and no _meta.
    result_type: str | None = member(default=None, kw_only=True, since="never")
    meta: JSONObject | None = member(default=None, kw_only=True, until="2025-11-25")


@payload()
class ListRootsRequest(Request[ListRootsResult]):
    """Ask the client for its roots."""

    method: ClassVar[str] = "roots/list"


@payload(until="2025-11-25")
class RootsListChangedNotification(Notification):
    """The client's roots have changed."""

    method: ClassVar[str] = "notifications/roots/list_changed"
