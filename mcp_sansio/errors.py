"""What the library raises: only ever for the local caller's own mistakes.

Whatever the peer sends becomes an event. A call that raises has changed nothing and queued nothing.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .spec.rules import Violation

__all__ = ["CapabilityError", "LocalProtocolError", "Reason"]


class Reason(Enum):
    """Why a local call was refused. The hint of the error says what to do about it."""

    NOT_CONNECTED = "not connected"
    """The handshake has not got far enough for this message."""
    ALREADY_CONNECTED = "already connected"
    """``connect()`` is called once."""
    CLOSED = "closed"
    """The connection was closed, or the peer can no longer answer."""
    WRONG_DIRECTION = "wrong direction"
    """The other side sends this message, not this one."""
    NOT_IN_REVISION = "not in this revision"
    """The revision in force lacks this message, member or type."""
    CAPABILITY = "capability not declared"
    """The peer did not declare what this message needs."""
    INVALID_PAYLOAD = "invalid payload"
    """A value has the wrong shape, or JSON cannot hold it."""
    ID_IN_USE = "id in use"
    """The id or progress token belongs to another request in flight."""
    UNKNOWN_REQUEST = "unknown request"
    """No request with this id is waiting."""
    WRONG_RESULT = "wrong result"
    """The result is not the one this request's method has."""
    NOT_CANCELLABLE = "not cancellable"
    """The specification forbids to cancel this request."""
    NOW_REQUIRED = "now required"
    """A deadline is armed, so the caller's clock is needed."""
    INVALID_TIME = "invalid time"
    """A time or time-out is no finite number of seconds."""
    RULE = "rule"
    """Another rule of the specification; ``violations`` names it."""
    LIMIT = "limit"
    """One of the connection's own `Limits` is reached."""
    CONFIGURATION = "configuration"
    """The arguments of a constructor contradict each other."""


class LocalProtocolError(Exception):
    """The local caller asked for something that the protocol does not allow here.

    Attributes:
        reason: the kind of mistake, for programs.
        hint: what went wrong and what to do, for people.
        violations: the rules that the message would have broken, where there are any.
    """

    def __init__(self, reason: Reason, hint: str, violations: tuple[Violation, ...] = ()) -> None:
        super().__init__(f"{reason.value}: {hint}")
        self.reason = reason
        self.hint = hint
        self.violations = violations


class CapabilityError(LocalProtocolError):
    """The peer did not declare the capability that a message needs (``Reason.CAPABILITY``)."""
