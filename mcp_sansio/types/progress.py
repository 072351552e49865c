"""Progress. Source: page basic/utilities/progress (2026-07-28: basic/patterns/progress)."""

from __future__ import annotations

from typing import ClassVar

from ..jsonrpc import ProgressToken
from .base import Notification, member, payload

__all__ = ["ProgressNotification"]


@payload()
class ProgressNotification(Notification):
    """How far a request has got."""

    method: ClassVar[str] = "notifications/progress"
    progress_token: ProgressToken
    """From ``_meta`` of the request."""
    progress: float
    """Rises with each notification, total known or not."""
    total: float | None = member(default=None)
    message: str | None = member(default=None, since="2025-03-26")
