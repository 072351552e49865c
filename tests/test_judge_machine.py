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

from .test_machine import Conversation


class Wire(Conversation):
    """The conversation of `test_machine`, with a wire that is watched."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = Judge()
        self.sent = {Side.CLIENT: bytearray(), Side.SERVER: bytearray()}

    def flush(self) -> None:
        """Both sides write into their ends of the wire."""
        self.sent[Side.CLIENT] += self.client.data_to_send()
        self.sent[Side.SERVER] += self.server.data_to_send()

    @rule(side=st.sampled_from(Side), share=st.floats(0, 1))
    def pass_on(self, side: Side, share: float) -> None:
        waiting = self.sent[side]
        size = round(len(waiting) * share)
        chunk = bytes(waiting[:size])
        del waiting[:size]
        self.found(self.judge.receive(Chunk(side, chunk)))
        if side is Side.CLIENT:
            self.to_server += chunk
        else:
            self.to_client += chunk

    def found(self, observations: list[Observation]) -> None:
        assert not [(each.sender, each.message, each.violations) for each in observations if each.violations]

    @rule()
    def deliver_all(self) -> None:
        while self.to_server or self.to_client or any(self.sent.values()):
            for side in Side:
                self.pass_on(side, 1)
            self.deliver(True, 1)
            self.deliver(False, 1)

    @invariant()
    def both_know_the_same_when_nothing_is_under_way(self) -> None:
        if not any(self.sent.values()):
            super().both_know_the_same_when_nothing_is_under_way()

    def teardown(self) -> None:
        self.found(self.judge.finish())


Wire.TestCase.settings = settings(
    max_examples=120, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestWire = Wire.TestCase
