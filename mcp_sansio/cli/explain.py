"""Read a recording, and say what happened and what was wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from textwrap import wrap
from typing import Any, Protocol, TextIO

import click
from rich.console import Console
from rich.text import Text

from ..judge import Diagnosis, Judge, Observation, Summary
from ..judge.observation import seconds
from ..recording import Chunk, Ended, Record, RecordError, read_record
from ..spec import RULES, Level, Side, Violation
from .words import plain, said

__all__ = ["explain"]

_WIDTH = 100
"""How many characters a line has at most, where its words allow it."""

_DETAIL = 400
"""How many characters are shown of what was wrong."""

_LONGEST = 128 * 2**20
"""How long a line of a recording may be, in bytes."""

_PIECE = 65536
"""How much of a line is read at once where there are no records, in bytes."""


def explain(file: str, *, only: Side | None, whole: bool, as_json: bool) -> int:
    """Explain *file* on standard output, and give the exit status.

    Args:
        file: a recording; "-" for standard input.
        only: the side whose raw bytes it holds; None for a recording.
        whole: whether it has the beginning of the conversation.
        as_json: write an object for each event instead of text.
    """
    output = _output()
    report: _Report = _Objects(output) if as_json else _Page(output)
    judge = Judge(whole=whole, only=only)
    failure = None
    try:
        for number, record in _records(file, only):
            for seen in judge.receive(record, number):
                report.show(seen)
            output.flush()
    except _UnreadableError as error:
        failure = str(error)
    except KeyboardInterrupt:
        pass  # enough was seen
    for seen in judge.finish():
        report.show(seen)
    if failure is None or judge.summary.records:
        report.conclude(judge.diagnoses(), judge.summary)
    output.flush()
    if failure is not None:
        click.echo(f"mcp-sansio explain: {plain(failure)}", err=True)
        return 2
    return int(judge.summary.broken)


def _output() -> TextIO:
    """Standard output, where what its encoding lacks is written as an escape."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return sys.stdout


# Reading --------------------------------------------------------------------------------------------------------------


class _UnreadableError(Exception):
    """The file, or a line of it, cannot be read; the text says which and why."""


def _records(file: str, only: Side | None) -> Iterator[tuple[int, Record]]:
    """The records with their numbers: lines of the file, counted from 1 on."""
    number = 0
    for number, piece in _pieces(file, _LONGEST + 1 if only is None else _PIECE):
        if only is not None:
            yield number, Chunk(only, piece)
        elif len(piece) > _LONGEST:
            raise _UnreadableError(f"{file}, line {number}: longer than {_LONGEST} bytes")
        elif piece.strip():
            try:
                yield number, read_record(piece)
            except RecordError as error:
                hint = "; for the raw bytes of one side say --from client or --from server" if number == 1 else ""
                raise _UnreadableError(f"{file}, line {number}: {error}{hint}") from None
    if only is not None:
        yield number, Ended(only, "eof")


def _pieces(file: str, longest: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers; those that are longer in several pieces."""
    number = 1
    try:
        with click.open_file(file, "rb") as stream:
            while piece := stream.readline(longest):
                yield number, piece
                number += piece.endswith(b"\n")
    except OSError as error:
        raise _UnreadableError(f"{file}, line {number}: {error.strerror}") from None


# Writing --------------------------------------------------------------------------------------------------------------


class _Report(Protocol):
    """A way to show what a judge says."""

    def show(self, seen: Observation) -> None: ...

    def conclude(self, diagnoses: list[Diagnosis], summary: Summary) -> None: ...


class _Objects:
    """JSON: an object a line."""

    def __init__(self, output: TextIO) -> None:
        self._output = output

    def show(self, seen: Observation) -> None:
        told: dict[str, Any] = {"record": seen.record, "from": seen.sender.value, "event": seen.what.value}
        if seen.id is not None:
            told["id"] = seen.id
        if seen.method is not None:
            told["method"] = seen.method
        told["violations"] = [
            {"rule": each.rule, "level": each.level.value, "detail": each.detail} for each in seen.violations
        ]
        self._write(told)

    def conclude(self, diagnoses: list[Diagnosis], summary: Summary) -> None:
        broken = {level.value: count for level, count in summary.levels.items()}
        numbers = {"revision": summary.revision, "records": summary.records, "messages": summary.messages}
        self._write({"summary": {**numbers, "violations": broken}})

    def _write(self, value: dict[str, Any]) -> None:
        self._output.write(json.dumps(value) + "\n")


class _Page:
    """Text for a person."""

    def __init__(self, output: TextIO) -> None:
        terminal = output.isatty()
        self._output = output
        self._console = Console(file=output, highlight=False, emoji=False, markup=False) if terminal else None
        self._width = min(_WIDTH, max(60, self._console.width)) if self._console is not None else _WIDTH
        self._explained: dict[tuple[str, Side], int] = {}

    def show(self, seen: Observation) -> None:
        time = "" if seen.t is None else seconds(seen.t)
        arrow = "client -->" if seen.sender is Side.CLIENT else "<-- server"
        style = "red" if seen.violations else "cyan" if seen.sender is Side.CLIENT else "green"
        self._print(f"{seen.record:>5} {time:>11}  {arrow}  ", said(seen), style)
        for violation in seen.violations:
            self._violation(seen, violation)

    def _violation(self, seen: Observation, violation: Violation) -> None:
        rule, key = RULES[violation.rule], (violation.rule, seen.sender)
        again = f" (see record {self._explained[key]})" if key in self._explained else ""
        self._explained.setdefault(key, seen.record)
        told = f"{violation.level.value} {violation.rule}, broken by the {seen.sender.value}: "
        self._print("      ! ", told + plain(violation.detail[:_DETAIL]) + again, "bold red")
        if again:
            return
        source = rule.url(seen.revision) or "this library's own; the specification leaves it to the receiver"
        self._print("        The rule: ", f"{rule.text}.")
        self._print("        Where: ", source)
        self._print("        What to do: ", rule.advice)

    def conclude(self, diagnoses: list[Diagnosis], summary: Summary) -> None:
        if diagnoses:
            self._print("", "")
            self._print("", "Diagnosis", "bold")
        for diagnosis in diagnoses:
            self._print("  * ", f"{plain(diagnosis.name)}: {plain(diagnosis.words)}")
        self._print("", "")
        self._print("", "Summary", "bold")
        revision = "revision unknown" if summary.revision is None else f"revision {summary.revision}"
        self._print("  ", f"{revision}; {summary.records} records, {summary.messages} messages")
        for side in Side:
            counts = [f"{n} {level.value}" for level in Level if (n := summary.violations.get((level, side), 0))]
            self._print("  ", f"broken by the {side.value}: {', '.join(counts) or 'no rule'}", "red" if counts else "")

    def _print(self, label: str, text: str, style: str = "") -> None:
        """Print a paragraph; words, as ids and addresses are, are never cut."""
        indent = " " * len(label)
        width = self._width
        lines = wrap(label + text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        for line in lines or [""]:
            if self._console is None:
                self._output.write(f"{line}\n")
            else:
                self._console.print(Text(line, style), soft_wrap=True)
