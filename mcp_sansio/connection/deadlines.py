"""Deadlines of requests, on a clock that the caller owns."""

from __future__ import annotations

import heapq

from ..jsonrpc import RequestId

__all__ = ["Deadlines"]


class Deadlines:
    """Which request must be answered by when. Arming and the next deadline cost O(log n), looking costs O(1)."""

    __slots__ = ("_armed", "_heap", "_order")

    def __init__(self) -> None:
        self._armed: dict[RequestId, float] = {}
        self._heap: list[tuple[float, int, RequestId]] = []
        self._order = 0

    def __bool__(self) -> bool:
        return bool(self._armed)

    def arm(self, request_id: RequestId, when: float) -> None:
        """Set or move the deadline of a request to *when*, in seconds."""
        self._armed[request_id] = when
        self._order += 1
        heapq.heappush(self._heap, (when, self._order, request_id))

    def disarm(self, request_id: RequestId) -> None:
        """Take the deadline of a request away, if it has one."""
        self._armed.pop(request_id, None)
        self._drop_stale()

    def next(self) -> float | None:
        """The earliest deadline, in seconds; None when there is none."""
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now: float) -> RequestId | None:
        """Disarm and give the request whose deadline is the earliest, if that is not after *now*."""
        if not self._heap or self._heap[0][0] > now:
            return None
        request_id = self._heap[0][2]
        self.disarm(request_id)
        return request_id

    def items(self) -> list[tuple[RequestId, float]]:
        """All deadlines, by request."""
        return list(self._armed.items())

    def _drop_stale(self) -> None:
        """Keep an armed deadline on top of the heap: moved and disarmed ones stay in it until they get there."""
        heap, armed = self._heap, self._armed
        while heap and armed.get(heap[0][2]) != heap[0][0]:
            heapq.heappop(heap)
