"""Make the recordings again, or those that are named: ``python -m tests.recordings.make [NAME...]``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.driving import PEERS, npm_peers

FOLDER = Path(__file__).parent
TAP = [sys.executable, "-c", "from mcp_sansio.cli import main; main()", "tap"]

Command = Callable[[], list[str]]


def python_client(mode: str) -> Command:
    """The tour of the official Python SDK's client: ``legacy``, or ``auto`` if it may find out."""
    return lambda: [sys.executable, str(PEERS / "mcp_tour.py"), mode]


def typescript_client() -> list[str]:
    """The tour of the official TypeScript SDK's client."""
    return ["node", str(PEERS / "ts_tour.mjs"), str(npm_peers() / "sdk")]


def mcpserver() -> list[str]:
    """A server made with the official Python SDK."""
    return [sys.executable, str(PEERS / "mcp_server.py")]


def time() -> list[str]:
    """The reference server ``mcp-server-time``."""
    return [sys.executable, "-m", "mcp_server_time"]


def everything() -> list[str]:
    """The reference server ``@modelcontextprotocol/server-everything``."""
    return ["node", str(npm_peers() / "server-everything" / "dist" / "index.js"), "stdio"]


RECORDINGS: dict[str, tuple[Command, Command]] = {
    "python-mcpserver-legacy": (python_client("legacy"), mcpserver),
    "python-mcpserver-modern": (python_client("auto"), mcpserver),
    "python-time-legacy": (python_client("legacy"), time),
    "python-time-modern": (python_client("auto"), time),
    "python-everything-fallback": (python_client("auto"), everything),
    "typescript-everything": (typescript_client, everything),
}


def record(name: str, file: Path) -> str:
    """Let the client and the server of a recording talk, recorded in *file*; return what the client printed."""
    client, server = RECORDINGS[name]
    command = [*client(), *TAP, str(file), "--", *server()]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout


if __name__ == "__main__":
    for name in sys.argv[1:] or RECORDINGS:
        record(name, FOLDER / f"{name}.jsonl")
