"""The commands, as click sees them."""

from __future__ import annotations

import sys

import click

from ..spec import Side
from .demo import run
from .explain import explain as run_explain
from .stage import Stage
from .tap import tap as run_tap

__all__ = ["commands"]


@click.group()
@click.version_option(package_name="mcp_sansio")
def commands() -> None:
    """The Model Context Protocol as a pure state machine: bytes in, events out."""


@commands.command()
def demo() -> None:
    """Show a client and a server in conversation, and what the library says of three classic mistakes."""
    run(Stage())


@commands.command()
@click.argument("file", type=click.Path())
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...")
def tap(file: str, command: tuple[str, ...]) -> None:
    """Stand between a client and the server COMMAND, and record in FILE what passes.

    In your client's configuration put `mcp-sansio tap FILE -- ` before the server's command. Every byte passes in both
    directions, unchanged and at once. The exit status is the server's (128 and the number of the signal that killed
    it; 126 or 127 where it can't be started); SIGTERM, SIGINT and SIGHUP are forwarded; stderr is left alone.

    FILE is overwritten. If somebody is still recording to it, FILE-2 is taken, and so on: server.jsonl, server-2.jsonl.
    Whatever the two sides say to each other is in it, secrets too. A file that can't be written stops nothing: that is
    said once on stderr, and the conversation goes on.

    When the server has exited and something that it started holds its output open, that is passed on until it has been
    silent for a second. On Windows it is until its end, no signals are forwarded, and two that record to one FILE at
    the same time overwrite each other: give each its own.
    """
    sys.exit(run_tap(file, command))


@commands.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--from", "sender", type=click.Choice([side.value for side in Side]), help="FILE is what this side wrote."
)
@click.option("--partial", is_flag=True, help="FILE begins in the middle of a conversation.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON: an object for each event, then a summary.")
def explain(file: str, sender: str | None, partial: bool, as_json: bool) -> None:
    """Say what happened in a recording, message by message, what was wrong with it, and where that comes from.

    FILE is a recording as `mcp-sansio tap` makes it, and may be one that is still being made; "-" is standard input.
    With --from it is what one side wrote, byte for byte: then whatever depends on the other side is not judged.

    A recording is taken as whole, unless it shows that its beginning is missing: its first message refers to what was
    said before, or the client begins without a handshake and the server serves it all the same. Say --partial where
    you know that it is. Then revision and capabilities are unknown, and only what is wrong whatever they are is told.

    The exit status is 0 where no MUST or MUST NOT of the specification is broken, 1 where one is, and 2 where FILE
    can't be read or is no recording; the line is named. JSONRPC counts as a MUST, since messages must follow JSON-RPC
    2.0. SHOULD, SHOULD NOT, TEXT (plain prose) and LIBRARY (limits of this library) are shown and do not count.
    """
    side = None if sender is None else Side(sender)
    sys.exit(run_explain(file, only=side, whole=not partial, as_json=as_json))
