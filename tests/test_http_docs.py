"""The server and the client of docs/http.md, as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest

from .driving import ROOT

PAGE = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
SERVER, CLIENT = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


class Threaded(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    names: dict[str, Any] = {}
    exec(SERVER, names)
    with make_server("127.0.0.1", 0, names["app"], Threaded, Quiet) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_they_understand_each_other(url: str, era: str, tmp_path: Path) -> None:
    program = tmp_path / "client.py"
    program.write_text(CLIENT.replace("listen=False", f"listen=False, era={era!r}"), encoding="utf-8")
    done = subprocess.run([sys.executable, program, url], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    agreed, content = done.stdout.splitlines()
    assert agreed.startswith("Negotiated(")
    assert content == "[TextContent(text='Hello, world!', type='text')]"


def test_what_the_page_names_exists() -> None:
    assert all((ROOT / "docs" / path).is_file() for path in re.findall(r"\]\((.*?)\)", PAGE))
