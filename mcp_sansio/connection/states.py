"""Whether a connection can be used, as a table: its states, and what takes it from one to the next."""

from __future__ import annotations

from enum import Enum

from ..spec import Side

__all__ = ["FIRST_STATE", "NEXT_STATE", "ConnectionState", "Turn"]


class ConnectionState(Enum):
    """Whether a connection can be used."""

    IDLE = "idle"
    """A client before ``connect()``."""
    CONNECTING = "connecting"
    """A client in the handshake."""
    OPEN = "open"
    """Messages go both ways."""
    FAILED = "failed"
    """The handshake led nowhere; all that is left is to close."""
    CLOSING = "closing"
    """The peer has said all it will; what it asked for can still be answered."""
    CLOSED = "closed"
    """Nothing goes either way."""


class Turn(Enum):
    """What takes a connection from one state to the next."""

    CONNECT = "connect()"
    """The client starts the handshake."""
    ESTABLISHED = "Negotiated"
    """The handshake has led to a revision."""
    FAILED = "NegotiationFailed"
    """It has not."""
    EOF = "receive_eof()"
    """The peer has closed its side."""
    CLOSE = "close()"
    """This side is closed."""


FIRST_STATE: dict[Side, ConnectionState] = {Side.CLIENT: ConnectionState.IDLE, Side.SERVER: ConnectionState.OPEN}

NEXT_STATE: dict[tuple[ConnectionState, Turn], ConnectionState] = {
    (ConnectionState.IDLE, Turn.CONNECT): ConnectionState.CONNECTING,
    (ConnectionState.IDLE, Turn.EOF): ConnectionState.CLOSING,
    (ConnectionState.IDLE, Turn.CLOSE): ConnectionState.CLOSED,
    (ConnectionState.CONNECTING, Turn.ESTABLISHED): ConnectionState.OPEN,
    (ConnectionState.CONNECTING, Turn.FAILED): ConnectionState.FAILED,
    (ConnectionState.CONNECTING, Turn.EOF): ConnectionState.CLOSING,
    (ConnectionState.CONNECTING, Turn.CLOSE): ConnectionState.CLOSED,
    (ConnectionState.OPEN, Turn.EOF): ConnectionState.CLOSING,
    (ConnectionState.OPEN, Turn.CLOSE): ConnectionState.CLOSED,
    (ConnectionState.FAILED, Turn.EOF): ConnectionState.CLOSING,
    (ConnectionState.FAILED, Turn.CLOSE): ConnectionState.CLOSED,
    (ConnectionState.CLOSING, Turn.CLOSE): ConnectionState.CLOSED,
}
"""Where there is no row, nothing changes."""
