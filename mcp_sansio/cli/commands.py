"""The commands, as click sees them."""

from __future__ import annotations

import sys

import click

from .demo import run
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
