"""``python -m benchmarks [--json] [--quick] [--only WORD]``: everything in one run, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import attrs

from mcp_sansio import STDLIB
from mcp_sansio.codec import ORJSON

from . import ours, sdk
from .calls import Connections, Sdk
from .messages import MESSAGES, Message
from .others import FRAMINGS, framing, imports, memory
from .timing import Row, Run, measure, repeat

__all__ = ["main", "sections"]

_MODERN = "2026-07-28"
_LEGACY = "2025-11-25"
_RATIOS = {
    "mcp/stdlib": ("mcp", "stdlib"),
    "mcp/orjson": ("mcp", "orjson"),
    "stdlib/floor": ("stdlib", "floor"),
}


@attrs.frozen
class Effort:
    """How long to measure.

    Attributes:
        rounds: turns of each way.
        slice_seconds: how long a turn takes.
        processes: fresh interpreters for each module.
        streams: streams for each way of framing.
        stream_share: the part of their length that is fed.
        connections: connections that are made to weigh one.
    """

    rounds: int = 15
    slice_seconds: float = 0.01
    processes: int = 7
    streams: int = 5
    stream_share: float = 1.0
    connections: int = 100


QUICK = Effort(rounds=1, slice_seconds=0.0002, processes=1, streams=1, stream_share=1 / 16, connections=2)
"""Enough to see that it runs, and for no more."""

Table = tuple[str, list[Callable[[], Row]]]


def sections(effort: Effort) -> Iterator[Table]:
    """The tables, each with what makes its rows."""

    def timed(name: str, ways: dict[str, Run], ratios: dict[str, tuple[str, str]] = _RATIOS) -> Row:
        return measure(name, ways, ratios, rounds=effort.rounds, slice_seconds=effort.slice_seconds)

    def decode(message: Message) -> Row:
        data = message.data
        return timed(
            message.name,
            {
                "floor": repeat(lambda: json.loads(data)),
                "stdlib": repeat(ours.decoder(message, STDLIB)),
                "orjson": repeat(ours.decoder(message, ORJSON)),
                "mcp": repeat(sdk.decoder(message)),
            },
        )

    def encode(message: Message) -> Row:
        return timed(
            message.name,
            {
                "floor": repeat(lambda: json.dumps(message.value, separators=(",", ":"), ensure_ascii=False).encode()),
                "stdlib": repeat(ours.encoder(message, STDLIB)),
                "orjson": repeat(ours.encoder(message, ORJSON)),
                "mcp": repeat(sdk.encoder(message)),
            },
        )

    def round_trip(name: str, revision: str, *, modern_sdk: bool) -> Row:
        with Sdk(modern=modern_sdk) as peer:
            ways: dict[str, Run] = {
                "stdlib": repeat(Connections(revision, STDLIB).call),
                "orjson": repeat(Connections(revision, ORJSON).call),
                "mcp": peer.run,
            }
            return timed(name, ways, {name: pair for name, pair in _RATIOS.items() if "floor" not in pair})

    yield "decode, bytes to typed", [partial(decode, m) for m in MESSAGES]
    yield "encode, typed to bytes", [partial(encode, m) for m in MESSAGES]
    yield (
        "tools/call, both sides",
        [
            partial(round_trip, "legacy", _LEGACY, modern_sdk=False),
            partial(round_trip, "modern, beside mcp legacy", _MODERN, modern_sdk=False),
            partial(round_trip, "modern, beside mcp modern (direct)", _MODERN, modern_sdk=True),
        ],
    )
    yield "import, fresh interpreter", [partial(imports, effort.processes)]
    yield "framing", [partial(framing, *f, rounds=effort.streams, share=effort.stream_share) for f in FRAMINGS]
    yield "memory", [partial(memory, r, effort.connections) for r in (_LEGACY, _MODERN)]


def _print(title: str, rows: Sequence[Row]) -> None:
    columns = list(rows[0].values)
    ratios = list(rows[0].ratios)
    width = max(len(title) + 8, *(len(row.name) for row in rows)) + 2
    print()
    print(f"{title + ' (' + rows[0].unit + ')':{width}}" + "".join(f"{column:>14}" for column in [*columns, *ratios]))
    for row in rows:
        values = "".join(f"{row.values[column]:14.{1 if row.values[column] < 1000 else 0}f}" for column in columns)
        print(f"{row.name:{width}}{values}" + "".join(f"{row.ratios[ratio]:14.2f}" for ratio in ratios))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="mcp_sansio beside mcp and the floor.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--quick", action="store_true", help="see that it runs; the figures mean nothing")
    parser.add_argument("--only", default="", metavar="WORD", help="only tables with WORD in their title")
    options = parser.parse_args(arguments)
    packages = {name: version(name) for name in ("mcp_sansio", "mcp", "pydantic", "attrs", "cattrs", "orjson")}
    about = {"python": platform.python_version(), **packages}
    if not options.json:
        print("CPU time, medians of interleaved rounds. Only ratios hold; from one run, of one machine.")
        print(", ".join(f"{name} {number}" for name, number in about.items()))
        print("floor: json.loads and json.dumps alone. stdlib, orjson: mcp_sansio with either codec.")
    found: dict[str, Any] = {}
    for title, makers in sections(QUICK if options.quick else Effort()):
        if options.only not in title:
            continue
        rows = [make() for make in makers]
        found[title] = [attrs.asdict(row) for row in rows]
        if not options.json:
            _print(title, rows)
            sys.stdout.flush()
    if options.json:
        print(json.dumps({"about": about, "tables": found}, indent=1))


if __name__ == "__main__":
    main()
