"""Whether a client skipped its handshake, or the recording lacks it: told by what the server makes of it."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from ..jsonrpc import JSONRPCErrorResponse
from ..spec import ErrorCode, Side, is_modern
from ..types import InitializeRequest, PingRequest
from .observation import Happening, Observation

__all__ = ["Doubt"]

_HELD = 64
"""How many observations are held back at most."""

_INDIFFERENT = (ErrorCode.METHOD_NOT_FOUND, ErrorCode.INTERNAL_ERROR)
"""Errors that servers answer with a session and without one alike."""


class Doubt:
    """Holds observations back from a client's first message on, if that should have been ``initialize``.

    A server that serves what follows has a session, so that its beginning is missing here. A server that refuses, or
    never answers, has none, and a client that shakes hands later had none.

    Args:
        first: the observation in doubt, with the violation.
    """

    def __init__(self, first: Observation) -> None:
        self.first = first
        self._held: list[Observation] = []
        self.guilty: bool | None = None
        """Whether the client skipped its handshake; None while that is open."""

    def weigh(self, observations: Iterable[Observation]) -> list[Observation]:
        """Take what happened next, and give what need no longer be held back."""
        for observation in observations:
            self._held.append(observation)
            if self.guilty is None:
                self.guilty = self._says(observation)
        if self.guilty is None and len(self._held) > _HELD:
            self.guilty = False
        return [] if self.guilty is None else self._release()

    def end(self) -> list[Observation]:
        """Note that nothing more comes, and give what was held back."""
        self.guilty = True
        return self._release()

    def _release(self) -> list[Observation]:
        held, self._held = self._held, []
        return held if self.guilty else [self._acquitted(each) if each is self.first else each for each in held]

    def _acquitted(self, observation: Observation) -> Observation:
        violations = tuple(violation for violation in observation.violations if violation.rule != "LIFE-001")
        return attrs.evolve(observation, violations=violations)

    def _says(self, observation: Observation) -> bool | None:
        """What *observation* says of the client's guilt."""
        if observation.what is Happening.REQUEST:
            return True if observation.method == InitializeRequest.method else None
        if observation.sender is Side.CLIENT:
            return None
        if observation.what in (Happening.EOF, Happening.EXIT):
            return True
        asked, message = observation.answered, observation.message
        if asked is None or asked.record < self.first.record or is_modern(observation.revision):
            return None
        if isinstance(message, JSONRPCErrorResponse):
            return None if message.error.code in _INDIFFERENT else True
        return None if asked.method == PingRequest.method else False
