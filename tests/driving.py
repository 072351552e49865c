"""The example client with everything that happens kept, and the places of what the tests run."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

import mcp_sansio as mcp
from mcp_sansio import types as t

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "docs" / "examples"
PEERS = Path(__file__).parent / "peers"
SERVER = [sys.executable, str(EXAMPLES / "stdio_server.py")]
MEGABYTE = "x" * 2**20
Era = Literal["auto", "legacy", "modern"]


def example(name: str) -> ModuleType:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


stdio_client = example("stdio_client")


class Recorder(stdio_client.StdioClient):  # type: ignore[misc,name-defined]  # loaded from its file
    """The example client, with every event kept."""

    timeout = 20.0

    def __init__(self, command: list[str], era: Era = "auto", connection: mcp.ClientConnection | None = None) -> None:
        super().__init__(command, era)
        self.events: list[mcp.Event] = []
        if connection is not None:
            self.connection = connection

    def on_event(self, event: mcp.Event) -> None:
        self.events.append(event)
        super().on_event(event)

    @property
    def violations(self) -> list[mcp.Violation]:
        """The rules that the server broke."""
        return [violation for event in self.events for violation in event.violations]

    def refusal(self, request: t.Request[t.Result]) -> mcp.Error:
        """The error that the server answers to a request."""
        with pytest.raises(stdio_client.RequestFailed) as caught:
            self.request(request)
        event = caught.value.event
        assert isinstance(event, mcp.ErrorReceived), event
        return event.error

    def end(self) -> None:
        """Close the server's input, and see it close its output and exit by itself."""
        self._to_send.put(b"")
        with pytest.raises(ConnectionError, match="closed its output"):
            self._wait_for(lambda event: False)
        assert self.events[-1] == mcp.ConnectionClosed(pending=())
        assert self.process.wait(self.timeout) == 0


def listed(client: Recorder, member: str) -> list[str]:
    """The names in a list of the server's."""
    return [item.name for item in stdio_client.pages(client, member)]


def npm_peers() -> Path:
    """The folder of the peers from npm; skips the test where they are missing."""
    if shutil.which("node") is None:
        pytest.skip("node is missing, which runs the peers from npm")
    folder = Path(os.environ.get("MCP_PEERS", ROOT / ".peers")) / "node_modules" / "@modelcontextprotocol"
    for name in ("server-everything", "sdk"):
        if not (folder / name).is_dir():
            pytest.skip(
                f"@modelcontextprotocol/{name} is missing: npm install --prefix .peers --no-save "
                "@modelcontextprotocol/server-everything @modelcontextprotocol/sdk"
            )
    return folder
