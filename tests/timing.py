"""Whether time grows in proportion to the input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

__all__ = ["assert_linear", "least_time"]


def least_time(run: Callable[[], object]) -> float:
    """Seconds of CPU time, without the garbage collector, whose time depends on what other tests left."""
    gc.disable()
    try:
        start = time.process_time()
        run()
        return time.process_time() - start
    finally:
        gc.enable()


def assert_linear(run: Callable[[int], object], size: int) -> None:
    """Four times the input takes less than seven times as long, at best: the machine is shared."""
    for _ in range(5):
        small = min(least_time(lambda: run(size)) for _ in range(3))
        large = min(least_time(lambda: run(4 * size)) for _ in range(2))
        if large < 7 * small:
            return
    pytest.fail(f"{size}: {small:.4f} s, four times as much: {large:.4f} s")
