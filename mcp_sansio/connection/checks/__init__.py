"""Which rules a message breaks, given what has been said so far. The functions look, and change nothing."""

from __future__ import annotations

from .common import declared_by, may_send, meta_of, modern_versions
from .notifications import check_notification
from .requests import check_request
from .responses import check_response

__all__ = [
    "check_notification",
    "check_request",
    "check_response",
    "declared_by",
    "may_send",
    "meta_of",
    "modern_versions",
]
