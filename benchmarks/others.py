"""What isn't a matter of calls: imports, framing and memory."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
from statistics import median
from typing import Any

from mcp_sansio import STDLIB

from .calls import Connections
from .timing import Row

__all__ = ["FRAMINGS", "framing", "imports", "memory"]

_IMPORT = "import time; before = time.process_time(); import {}; print(time.process_time() - before)"
_FEED = """
from time import process_time
from mcp_sansio.framing import LineDecoder
size, chunk_size = {}, {}
decoder, chunk = LineDecoder(size), b"x" * chunk_size
before = process_time()
for _ in range(size // chunk_size):
    decoder.receive_data(chunk)
lines = decoder.receive_data(b"\\n")
print(process_time() - before)
assert len(lines) == 1
"""


def _fresh(program: str) -> float:
    """The seconds that a program prints, in an interpreter of its own that caches byte code."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True)
    return float(done.stdout)


def imports(rounds: int) -> Row:
    """The CPU time of ``import`` in fresh interpreters, with the byte code cached."""
    modules = ("mcp_sansio", "mcp")
    if rounds > 1:
        for module in modules:
            _fresh(_IMPORT.format(module))
    taken: dict[str, list[float]] = {module: [] for module in modules}
    for _ in range(rounds):
        for module in modules:
            taken[module].append(_fresh(_IMPORT.format(module)))
    ratio = median(theirs / ours for ours, theirs in zip(taken["mcp_sansio"], taken["mcp"], strict=True))
    values = {"stdlib": median(taken["mcp_sansio"]) * 1e6, "mcp": median(taken["mcp"]) * 1e6}
    return Row("import", "us", values, {"mcp/stdlib": ratio})


FRAMINGS: tuple[tuple[str, int, int], ...] = (
    ("16 MB line in 64 KiB chunks", 16 * 2**20, 65536),
    ("256 KB line byte by byte", 256 * 2**10, 1),
)
"""Name, bytes, bytes a chunk."""


def framing(name: str, size: int, chunk_size: int, *, rounds: int, share: float) -> Row:
    """One line in chunks, and one twice as long: linear is a factor of 2.

    Each in a fresh interpreter: where memory is used again, the kernel's work for the longer one is most of the time.
    """
    size = int(size * share)
    once: list[float] = []
    twice: list[float] = []
    for _ in range(rounds):
        once.append(_fresh(_FEED.format(size, chunk_size)))
        twice.append(_fresh(_FEED.format(2 * size, chunk_size)))
    factor = median(twice) / max(median(once), 1e-9)
    return Row(name, "us", {"once": median(once) * 1e6, "twice": median(twice) * 1e6}, {"twice/once": factor})


def memory(revision: str, count: int) -> Row:
    """What an idle client and an idle server hold, the handshake done; tables and hooks, made once, not counted."""
    Connections(revision, STDLIB).call()
    pairs: list[Any] = [None] * count
    gc.collect()
    tracemalloc.start()
    try:
        for index in range(count):
            pairs[index] = Connections(revision, STDLIB)
        gc.collect()
        both, _ = tracemalloc.get_traced_memory()
        for pair in pairs:
            del pair.server
        gc.collect()
        client, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return Row(f"idle, {revision}", "bytes", {"client": client / count, "server": (both - client) / count})
