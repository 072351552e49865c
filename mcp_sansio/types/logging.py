"""Log messages to the client. Source: page server/utilities/logging."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias, get_args

from .base import EmptyResult, Notification, Request, member, payload

__all__ = ["LOGGING_LEVELS", "LoggingLevel", "LoggingMessageNotification", "SetLevelRequest"]

LoggingLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""RFC 5424's levels, the least severe first."""
LOGGING_LEVELS: tuple[LoggingLevel, ...] = get_args(LoggingLevel)


@payload(until="2025-11-25")
class SetLevelRequest(Request[EmptyResult]):
    """Ask for log messages of a level and above. Unknown levels are refused."""

    method: ClassVar[str] = "logging/setLevel"
    level: LoggingLevel


@payload()
class LoggingMessageNotification(Notification):
    """A log message."""

    method: ClassVar[str] = "notifications/message"
    level: LoggingLevel | str
    data: Any
    """Any JSON value."""
    logger: str | None = member(default=None)
