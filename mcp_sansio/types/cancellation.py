"""Cancellation. Source: page basic/utilities/cancellation (2026-07-28: basic/patterns/cancellation)."""

from __future__ import annotations

from typing import ClassVar

from ..jsonrpc import RequestId
from .base import Notification, member, payload

__all__ = ["CancelledNotification"]


@payload()
class CancelledNotification(Notification):
    """The sender no longer wants an answer to its request."""

    method: ClassVar[str] = "notifications/cancelled"
    request_id: RequestId | None = member(default=None, required=True, optional_in=("2025-11-25",))
    """Required, save in 2025-11-25, where tasks are cancelled by `CancelTaskRequest`."""
    reason: str | None = member(default=None)
