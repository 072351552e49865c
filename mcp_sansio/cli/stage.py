"""Two connections face to face in memory, and everything that passes between them on the screen."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import attrs
from rich.console import Console
from rich.text import Text

from ..connection import ClientConnection, Event, RequestReceived, ServerConnection
from ..errors import LocalProtocolError
from ..jsonrpc import JSONValue
from ..spec import RULES, Side, Violation
from ..types import AnyRequest, Result

__all__ = ["Stage", "elided", "wrapped"]

_WIDTH = 100
_LINES = 4
"""How many lines a message or an event takes on the screen at most."""

_HIDDEN = {"RequestReceived": {"method", "client_info", "client_capabilities"}, "ResultReceived": {"method"}}
"""What an event has besides that says little here."""


class Stage:
    """Shows a conversation as it happens.

    ``play`` puts the two sides on. ``do`` lets one of them act, ``by_hand`` lets somebody write a line who doesn't use
    this library; both then carry lines to and fro until neither side has anything more to say.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console if console is not None else Console(highlight=False, emoji=False, markup=False)
        width = self._console.width if self._console.is_terminal else _WIDTH
        self._width = max(40, min(width, _WIDTH))
        self._sides: dict[Side, ClientConnection | ServerConnection | None] = {}
        self._answer: Callable[[AnyRequest], Result] | None = None

    # What is shown besides

    def title(self, text: str) -> None:
        """Start a part."""
        self._print("", "")
        self._print("", text, "bold")
        self._print("", "=" * len(text), "bold")

    def remark(self, text: str) -> None:
        """Say something about what follows."""
        self._print("", "")
        self._print("", text, "italic", breaks=" ")

    # What happens

    def play(
        self,
        *,
        client: ClientConnection | None = None,
        server: ServerConnection | None = None,
        answer: Callable[[AnyRequest], Result] | None = None,
    ) -> None:
        """Put a client, a server or both on; a side that is missing is played by hand.

        Args:
            client: the client.
            server: the server.
            answer: gives the result of each request that is to be served.
        """
        self._sides = {Side.CLIENT: client, Side.SERVER: server}
        self._answer = answer

    def do(self, side: Side, action: str, *arguments: object) -> None:
        """Call a method of one side, and carry on."""
        self._call(side, action, *arguments)
        self._carry_on()

    def shake_hands(self) -> None:
        """Connect both sides without a word."""
        self._console.quiet = True
        self.do(Side.CLIENT, "connect")
        self._console.quiet = False

    def by_hand(self, side: Side, **message: Any) -> None:
        """Write a message for a side that is played by hand, and carry on."""
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"))
        self._carry(side, line.encode() + b"\n")
        self._carry_on()

    def _carry_on(self) -> None:
        carried = True
        while carried:
            carried = False
            for side, connection in self._sides.items():
                data = connection.data_to_send() if connection is not None else b""
                for line in data.splitlines(keepends=True):
                    self._carry(side, line)
                    carried = True

    def _carry(self, side: Side, line: bytes) -> None:
        self._print("    --> " if side is Side.CLIENT else "    <-- ", elided(line, self._room(8)), "cyan")
        receiver = self._sides[side.other]
        for event in receiver.receive_data(line) if receiver is not None else ():
            self._print("        ", f"{side.other.value}: {_described(event)}", "green")
            self._violations(event.violations)
            if isinstance(event, RequestReceived) and self._answer is not None:
                self._call(side.other, "respond", event.id, self._answer(event.request))

    def _call(self, side: Side, action: str, *arguments: object) -> None:
        self._print("  ", f"{side.value}.{action}({', '.join(map(repr, arguments))})", "bold")
        try:
            getattr(self._sides[side], action)(*arguments)
        except LocalProtocolError as error:
            self._print("        ", f"raises {type(error).__name__}: {error}", "red")
            self._violations(error.violations)

    # How it looks

    def _violations(self, violations: tuple[Violation, ...]) -> None:
        for violation in violations:
            rule = RULES[violation.rule]
            self._print("        ", f"! {violation.level.value} {violation.rule}: {violation.detail}", "red")
            self._print("          ", f"the rule ({rule.source}): {rule.text}", "red")

    def _room(self, indent: int) -> int:
        return (self._width - indent) * _LINES

    def _print(self, label: str, text: str, style: str = "", breaks: str = ", ") -> None:
        lines = wrapped(text, self._width - len(label), breaks)
        for number, line in enumerate(lines[:_LINES]):
            if number == _LINES - 1 and len(lines) > _LINES:
                line = f"{line[: self._width - len(label) - 4]} ..."
            indent = label if number == 0 else " " * len(label)
            self._console.print(Text(f"{indent}{line}", style), soft_wrap=True)


def elided(line: bytes, room: int) -> str:
    """A message in at most *room* characters, if leaving out what lies deepest makes that possible."""
    message: Any = json.loads(line)
    depth = 9
    while len(text := _compact(_cut(message, depth))) > room and depth > 1:
        depth -= 1
    return text


def _compact(message: Any) -> str:
    return json.dumps(message, separators=(",", ":")).replace('"..."', "...")


def _cut(value: JSONValue, depth: int) -> JSONValue:
    if not value or not isinstance(value, dict | list):
        return value
    if depth == 0:
        return "..."
    if isinstance(value, dict):
        return {name: _cut(item, depth - 1) for name, item in value.items()}
    return [_cut(item, depth - 1) for item in value]


def wrapped(text: str, width: int, breaks: str) -> list[str]:
    """The text in lines of at most *width*, which end after one of *breaks* where they can."""
    lines: list[str] = []
    while len(text) > width:
        end = max(text.rfind(character, 0, width) for character in breaks) + 1 or width
        lines.append(text[:end].rstrip())
        text = text[end:].lstrip()
    return [*lines, text]


def _described(event: Event) -> str:
    """An event with the fields that say something."""
    name = type(event).__name__
    hidden = _HIDDEN.get(name, set()) | {"violations"}
    fields = ((f, getattr(event, f.name)) for f in attrs.fields(type(event)) if f.name not in hidden)
    return f"{name}({', '.join(f'{f.name}={_plain(value)!r}' for f, value in fields if value != f.default)})"


def _plain(value: Any) -> Any:
    """A payload without its ``_meta``, which the line above it has shown."""
    return attrs.evolve(value, meta=None) if getattr(value, "meta", None) is not None else value
