"""CPU time of several ways to do the same, taken in turns so that all of them see the same machine."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from statistics import median
from time import process_time
from typing import TypeAlias

import attrs

__all__ = ["Row", "Run", "cpu", "measure", "repeat"]

Run: TypeAlias = Callable[[int], object]
"""Does the same that many times."""


@attrs.frozen
class Row:
    """What was measured for one line of a table.

    Attributes:
        name: what was done.
        unit: of the values.
        values: the median for each way of doing it.
        ratios: how many times as much the way named first takes as the one named second; the median over the rounds.
    """

    name: str
    unit: str
    values: dict[str, float]
    ratios: dict[str, float] = attrs.field(factory=dict[str, float])


def repeat(call: Callable[[], object]) -> Run:
    """A call as a `Run`."""

    def run(times: int) -> None:
        for _ in range(times):
            call()

    return run


def cpu(run: Run, times: int) -> float:
    """Seconds of CPU time for each time."""
    before = process_time()
    run(times)
    return (process_time() - before) / times


def measure(
    name: str,
    ways: Mapping[str, Run],
    ratios: Mapping[str, tuple[str, str]],
    *,
    rounds: int,
    slice_seconds: float,
) -> Row:
    """Time all ways in turns.

    Args:
        name: what the row is called.
        ways: what to time.
        ratios: which ways to divide by which, by the name of the ratio.
        rounds: how many turns each way has.
        slice_seconds: how long a turn takes, about.
    """
    times: dict[str, int] = {}
    for way, run in ways.items():
        run(1)  # whatever is made on first use
        times[way] = max(1, int(slice_seconds / max(cpu(run, 3), 1e-7)))
    taken: dict[str, list[float]] = {way: [] for way in ways}
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            for way in list(ways)[:: 1 if turn % 2 == 0 else -1]:
                taken[way].append(cpu(ways[way], times[way]))
    finally:
        gc.enable()
    return Row(
        name,
        "us",
        {way: median(seconds) * 1e6 for way, seconds in taken.items()},
        {
            ratio: median(a / b for a, b in zip(taken[above], taken[below], strict=True) if b > 0)
            for ratio, (above, below) in ratios.items()
        },
    )
