"""Deadlines of requests, on a clock that the caller owns. Times and time-outs are in seconds."""

from __future__ import annotations

import heapq
from typing import Any

import attrs

from ..jsonrpc import RequestId

__all__ = ["Deadlines"]


@attrs.define
class _Deadline:
    """When a request must be answered.

    Attributes:
        when: when it times out as things stand.
        timeout: how long it may take from each sign of progress on; None where progress changes nothing.
        until: when it times out whatever happens; None for never.
    """

    when: float
    timeout: float | None
    until: float | None


class Deadlines:
    """Which request must be answered by when. Arming costs O(log n), looking and postponing O(1) on average."""

    __slots__ = ("_armed", "_heap", "_order")

    def __init__(self) -> None:
        self._armed: dict[RequestId, _Deadline] = {}
        self._heap: list[tuple[float, int, RequestId]] = []
        self._order = 0

    def __bool__(self) -> bool:
        return bool(self._armed)

    def arm(
        self,
        request_id: RequestId,
        now: float,
        timeout: float | None,
        max_timeout: float | None = None,
        *,
        postponable: bool = False,
    ) -> None:
        """Set the deadline of a request, if it has a time-out.

        Args:
            request_id: its id.
            now: the time.
            timeout: how long it may take.
            max_timeout: how long it may take however often it is postponed.
            postponable: whether ``postpone`` starts its time-out anew.
        """
        times = [now + seconds for seconds in (timeout, max_timeout) if seconds is not None]
        if not times:
            return
        until = None if max_timeout is None else now + max_timeout
        self._set(request_id, min(times), timeout if postponable else None, until)

    def postpone(self, request_id: RequestId, now: float) -> None:
        """Start the time-out of a request anew, if it was armed so; never beyond its cap."""
        deadline = self._armed.get(request_id)
        if deadline is None or deadline.timeout is None:
            return
        when = now + deadline.timeout
        deadline.when = when if deadline.until is None else min(when, deadline.until)

    def disarm(self, request_id: RequestId) -> None:
        """Take the deadline of a request away, if it has one."""
        if self._armed.pop(request_id, None) is not None and len(self._heap) > 2 * len(self._armed) + 64:
            self._heap = [(deadline.when, order, key) for order, (key, deadline) in enumerate(self._armed.items())]
            heapq.heapify(self._heap)

    def next(self) -> float | None:
        """The earliest deadline; None when there is none."""
        heap = self._heap
        while heap:
            when, order, request_id = heap[0]
            deadline = self._armed.get(request_id)
            if deadline is None:
                heapq.heappop(heap)
            elif deadline.when != when:
                heapq.heapreplace(heap, (deadline.when, order, request_id))
            else:
                return when
        return None

    def pop_due(self, now: float) -> RequestId | None:
        """Disarm and give the request whose deadline is the earliest, if that is not after *now*."""
        when = self.next()
        if when is None or when > now:
            return None
        request_id = self._heap[0][2]
        self.disarm(request_id)
        return request_id

    def to_json(self, now: float) -> list[list[Any]]:
        """All deadlines as plain JSON: request, time left, time-out for ``postpone``, time left to the cap."""
        return [
            [key, each.when - now, each.timeout, None if each.until is None else each.until - now]
            for key, each in self._armed.items()
        ]

    def restore(self, data: list[list[Any]], now: float) -> None:
        """Take the place of the deadlines that gave *data*."""
        for request_id, left, timeout, left_at_most in data:
            self._set(request_id, now + left, timeout, None if left_at_most is None else now + left_at_most)

    def _set(self, request_id: RequestId, when: float, timeout: float | None, until: float | None) -> None:
        self._order += 1
        self._armed[request_id] = _Deadline(when, timeout, until)
        heapq.heappush(self._heap, (when, self._order, request_id))
