"""The everything server for the official conformance suite: ``python tests/conformance/server.py --port N``.

Its endpoint is http://127.0.0.1:N/mcp. With port 0 the system chooses one; the first line of the output is the URL.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path
from secrets import token_urlsafe

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "examples"))
sys.path.insert(0, str(Path(__file__).parent))

from everything import CAPABILITIES, INFO, TOOLS, Everything
from http_server import HTTPServer

from mcp_sansio.http import Endpoint, MemoryEventStore


def main() -> None:
    """Serve until Ctrl+C."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    port = parser.parse_args().port
    endpoint = Endpoint(
        INFO,
        CAPABILITIES,
        new_session_id=token_urlsafe,
        event_store=MemoryEventStore(),
        tool_schema=lambda name: TOOLS[name][0].input_schema if name in TOOLS else None,
    )
    app = Everything()
    server = HTTPServer(("127.0.0.1", port), endpoint, app.serve)
    app.publish = server.publish
    server.patience = app.patience
    print(f"http://127.0.0.1:{server.server_port}{server.path}", flush=True)
    with suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
