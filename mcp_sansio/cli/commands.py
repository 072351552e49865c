"""The commands, as click sees them."""

from __future__ import annotations

import click

from .demo import run
from .stage import Stage

__all__ = ["commands"]


@click.group()
@click.version_option(package_name="mcp_sansio")
def commands() -> None:
    """The Model Context Protocol as a pure state machine: bytes in, events out."""


@commands.command()
def demo() -> None:
    """Show a client and a server in conversation, and what the library says of three classic mistakes."""
    run(Stage())
