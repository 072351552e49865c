"""The command ``mcp-sansio``: the only part that does I/O, and that needs click and rich."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command, or say how to get what it needs."""
    try:
        from .commands import commands
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("click", "rich"):
            raise
        sys.exit(f"mcp-sansio needs {missing}, which comes with its extra: pip install 'mcp_sansio[cli]'")
    commands(prog_name="mcp-sansio", windows_expand_args=False)  # a command's arguments are its own
