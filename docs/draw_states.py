"""Draws `states.md` from the tables that connections obey: ``python docs/draw_states.py``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path

from mcp_sansio import ConnectionState, Side
from mcp_sansio.connection.events import ENDS
from mcp_sansio.connection.negotiation import NEXT, Step
from mcp_sansio.connection.state import STANDING_AFTER, End
from mcp_sansio.connection.states import FIRST_STATE, NEXT_STATE
from mcp_sansio.spec import LATEST_LEGACY, METHODS, NEXT_PHASE, OUT_OF_PHASE, RULES, Method, Phase

PAGE = Path(__file__).with_name("states.md")

Edge = tuple[Enum | str, Enum | str, str]
"""From, to, and what leads there; a string stands for itself."""

OUTSIDE = "[*]"
"""Where Mermaid's diagrams begin and end."""

INTRODUCTION = """\
# States

Drawn by `python docs/draw_states.py` from the tables that connections obey. Change those, then draw this page anew; a
test fails until you do.
"""

CONNECTION = """\
## A connection

`Connection.state` says whether a connection can be used. Whatever an arrow doesn't name changes nothing. The table is
`NEXT_STATE` in `mcp_sansio/connection/states.py`.
"""

NEGOTIATION = """\
## How a client finds out what its server speaks

What a client waits for after `connect()`, and what comes back. A client that speaks no legacy revision fails where it
would send `initialize`; one that speaks no modern revision begins with it. The table is `NEXT` in
`mcp_sansio/connection/negotiation.py`.
"""

PHASES = """\
## The phases of a legacy session

2026-07-28 has none: there each request stands for itself. The tables are `NEXT_PHASE` and `OUT_OF_PHASE` in
`mcp_sansio/spec/lifecycle.py`, and the column `phases` of `METHODS` in `mcp_sansio/spec/methods.py`.
"""

REQUEST = """\
## The life of a request

As the side that sent it sees it. Each request ends once, with the event that an arrow names or with a call of
`cancel()`. A response that comes after that changes nothing, and is a `ResponseIgnored`. The tables are `ENDS` in
`mcp_sansio/connection/events.py` and `STANDING_AFTER` in `mcp_sansio/connection/state.py`.
"""


def label(state: Enum | str) -> str:
    return state if isinstance(state, str) else str(state.value)


def name(state: Enum | str) -> str:
    """What Mermaid calls a state: no spaces."""
    return label(state).replace(" ", "_")


def diagram(edges: Iterable[Edge]) -> Iterator[str]:
    """A Mermaid diagram; what leads from one state to the same other is one arrow."""
    arrows: dict[tuple[str, str], list[str]] = {}
    spaced: dict[str, str] = {}
    for start, end, cause in edges:
        arrows.setdefault((name(start), name(end)), []).append(cause)
        spaced |= {name(state): label(state) for state in (start, end) if name(state) != label(state)}
    yield "```mermaid"
    yield "stateDiagram-v2"
    for short, full in spaced.items():
        yield f'    state "{full}" as {short}'
    for (start, end), causes in arrows.items():
        text = "<br/>".join(cause for cause in causes if cause)
        yield f"    {start} --> {end}" + (f" : {text}" if text else "")
    yield "```"
    yield ""


def connection_edges(side: Side) -> Iterator[Edge]:
    """Those that a side can come to."""
    yield OUTSIDE, FIRST_STATE[side], ""
    reached = [FIRST_STATE[side]]
    for state in reached:
        for (start, turn), end in NEXT_STATE.items():
            if start is state:
                yield start, end, turn.value
                reached += [] if end in reached else [end]
    yield ConnectionState.CLOSED, OUTSIDE, ""


def negotiation_edges() -> Iterator[Edge]:
    yield OUTSIDE, Step.PROBE, "a modern revision is spoken"
    yield OUTSIDE, Step.INITIALIZE, "none is"
    for (step, outcome), following in NEXT.items():
        yield step, following, outcome.value
    yield Step.ESTABLISHED, OUTSIDE, ""
    yield Step.FAILED, OUTSIDE, ""


def phase_edges() -> Iterator[Edge]:
    yield OUTSIDE, Phase.OPENING, ""
    for (start, message), end in NEXT_PHASE.items():
        yield start, end, message.value


def request_edges() -> Iterator[Edge]:
    yield OUTSIDE, "in flight", "request()"
    yield "in flight", End.CANCELLED, "cancel()"
    for event, ends in ENDS.items():
        for end in ends:
            yield "in flight", end, event.__name__
    for end, standing in STANDING_AFTER.items():
        yield end, end, f"a response is ignored: {standing.value}"


def phase_rows() -> Iterator[str]:
    """What each side may send in each phase, and what it means to send anything else."""
    yield "| Phase | Side | May send | What else it sends |"
    yield "|---|---|---|---|"
    for phase in Phase:
        for side in Side:
            yield f"| {phase.value} | {side.value} | {may_send(side, phase)} | {otherwise(side, phase)} |"
    yield ""


def methods(side: Side) -> list[Method]:
    """What a side may send in a legacy session at all."""
    return [row for row in METHODS if row.sender is side and row.since <= LATEST_LEGACY]


def listed(rows: Iterable[Method]) -> str:
    return ", ".join(f"`{row.name}`" for row in rows)


def may_send(side: Side, phase: Phase) -> str:
    fitting = [row for row in methods(side) if phase in row.phases]
    others = [row for row in methods(side) if phase not in row.phases]
    if len(fitting) <= len(others):
        return listed(fitting)
    return f"all but {listed(others)}" if others else "all"


def otherwise(side: Side, phase: Phase) -> str:
    out = OUT_OF_PHASE.get((side, phase))
    if out is None:
        return ""
    others = [row for row in methods(side) if phase not in row.phases]
    refused = [row for row in others if out.refused or row.once]
    but = f", but {listed(refused)} is refused" if refused else ""
    outcome = "refused" if refused == others else f"served all the same{but}"
    return f"breaks {out.rule} ({RULES[out.rule].text}); {outcome}"


def page() -> str:
    """The whole page."""
    lines = [INTRODUCTION, CONNECTION]
    for side in Side:
        lines += [f"Of a {side.value}:", "", *diagram(connection_edges(side))]
    lines += [NEGOTIATION, *diagram(negotiation_edges())]
    lines += [PHASES, *diagram(phase_edges()), *phase_rows()]
    lines += [REQUEST, *diagram(request_edges())]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
