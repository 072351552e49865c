"""A server written with the official SDK, on stdin and stdout, or over HTTP: ``mcp_server.py [PORT]``."""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("official", version="1.0", instructions="Add things.")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@server.tool()
def length(text: str) -> int:
    """Count characters."""
    return len(text)


@server.resource("memo://greeting", mime_type="text/plain")
def greeting() -> str:
    """A greeting."""
    return "Hello"


@server.resource("memo://greeting/{name}", mime_type="text/plain")
def personal(name: str) -> str:
    """A greeting for somebody."""
    return f"Hello {name}"


@server.prompt()
def greet(name: str) -> str:
    """Ask for a greeting."""
    return f"Greet {name}."


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
