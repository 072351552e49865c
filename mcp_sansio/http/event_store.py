"""Where the events of legacy streams are kept, so that a client can take a broken stream up again.

Source: basic/transports#resumability-and-redelivery of 2025-03-26 to 2025-11-25.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

import attrs

__all__ = ["EventStore", "MemoryEventStore", "Replay"]


@attrs.frozen
class Replay:
    """What a client has missed of a stream.

    Attributes:
        stream: the stream.
        events: the ids and data of the events after the one that the client saw last.
    """

    stream: str
    events: tuple[tuple[str, bytes], ...]


class EventStore(Protocol):
    """Keeps the events of streams. Ids are unique in a session, and visible ASCII."""

    def append(self, session: str, stream: str, data: bytes) -> str:
        """Keep an event, and give it an id. Empty data is an event that only primes the client."""
        ...

    def replay(self, session: str, event_id: str) -> Replay | None:
        """What came after an event, on the same stream of the same session; None where it is not known."""
        ...

    def forget(self, session: str) -> None:
        """Forget all events of a session that is over."""
        ...


class MemoryEventStore:
    """An `EventStore` that keeps the latest events of each session in memory.

    Args:
        events_per_session: how many; older ones are forgotten.
    """

    def __init__(self, events_per_session: int = 1000) -> None:
        self._limit = events_per_session
        self._sessions: dict[str, deque[tuple[str, str, bytes]]] = {}
        self._next: dict[str, int] = {}

    def append(self, session: str, stream: str, data: bytes) -> str:
        """Keep an event, and give it an id."""
        number = self._next[session] = self._next.get(session, 0) + 1
        event_id = f"{stream}-{number}"
        self._sessions.setdefault(session, deque(maxlen=self._limit)).append((event_id, stream, data))
        return event_id

    def replay(self, session: str, event_id: str) -> Replay | None:
        """What came after an event, on the same stream of the same session."""
        events = iter(self._sessions.get(session, ()))
        for key, stream, _ in events:
            if key == event_id:
                return Replay(stream, tuple((later, data) for later, of, data in events if of == stream))
        return None

    def forget(self, session: str) -> None:
        """Forget all events of a session that is over."""
        self._sessions.pop(session, None)
        self._next.pop(session, None)
