"""The README keeps its promises: its client and server run against each other, and its commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import mcp_sansio as mcp

from .driving import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_client_and_the_server_run(tmp_path: Path) -> None:
    server, client = BLOCKS
    for name, code in (("server.py", server), ("client.py", client)):
        (tmp_path / name).write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "client.py"], cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "[TextContent(text='Hello, world!', type='text')] 2026-07-28\n",
        "",
    )


def test_they_are_short() -> None:
    assert all(len(block.splitlines()) <= 20 for block in BLOCKS)


def test_what_it_names_exists() -> None:
    assert all((ROOT / path).is_file() for path in re.findall(r"\]\((.*?)\)", README))
    assert all(revision in README for revision in mcp.ALL_REVISIONS)
