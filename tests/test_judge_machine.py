"""Two connections that break no rule, in any interleaving, with a judge on the wire between them: it finds nothing.

What a side sends passes the wire at once or later, and is delivered at once or later, as behind a proxy.
"""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import invariant, rule

from mcp_sansio import Side
from mcp_sansio.judge import Judge, Observation
from mcp_sansio.recording import Chunk

from .test_machine import Machine


class Wire(Machine):
    """The conversation of `test_machine`, with a wire that is watched."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = Judge()
        self.sent = {side: bytearray() for side in Side}

    def flush(self) -> None:
        """Both sides write into their ends of the wire."""
        for end in self.some(lambda end: not end.stalled):
            self.sent[end.connection.side] += end.connection.data_to_send()

    @rule(side=st.sampled_from(Side), share=st.floats(0, 1))
    def pass_on(self, side: Side, share: float) -> None:
        waiting = self.sent[side]
        size = round(len(waiting) * share)
        chunk = bytes(waiting[:size])
        del waiting[:size]
        self.found(self.judge.receive(Chunk(side, chunk)))
        (self.server if side is Side.CLIENT else self.client).pipe.extend(chunk)

    def found(self, observations: list[Observation]) -> None:
        assert not [(each.sender, each.message, each.violations) for each in observations if each.violations]

    def carry(self) -> None:
        """Deliver all that is under way, and what comes of it."""
        moving = True
        while moving:
            self.flush()
            for side in Side:
                self.pass_on(side, 1)
            moving = any(self.receive(end, len(end.pipe)) for end in self.ends)

    @invariant()
    def both_know_the_same_when_nothing_is_under_way(self) -> None:
        if not any(self.sent.values()):
            super().both_know_the_same_when_nothing_is_under_way()

    def teardown(self) -> None:
        self.found(self.judge.finish())


Wire.TestCase.settings = settings(
    max_examples=100, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
)
TestWire = Wire.TestCase
