"""What ``mcp-sansio demo`` shows."""

from __future__ import annotations

from typing import Any

from ..connection import ClientConnection, ServerConnection
from ..spec import LEGACY_REVISIONS, MODERN_REVISIONS, Side
from ..types import (
    AnyRequest,
    CallToolRequest,
    CallToolResult,
    ClientCapabilities,
    EmptyResult,
    Implementation,
    ListRootsRequest,
    ListRootsResult,
    ListToolsRequest,
    ListToolsResult,
    Result,
    Root,
    RootsCapability,
    ServerCapabilities,
    TextContent,
    Tool,
    ToolsCapability,
)
from .stage import Stage

__all__ = ["run"]

CLIENT, SERVER = Side.CLIENT, Side.SERVER
ALICE, BOB = Implementation("alice", "1.0"), Implementation("bob", "1.0")
ROOTS = ClientCapabilities(roots=RootsCapability())
TOOLS = ServerCapabilities(tools=ToolsCapability())
NOBODY = "1999-12-31"
"""A version that nobody speaks."""


def run(stage: Stage) -> None:
    """Play all parts."""
    stage.remark(
        "alice is a client, bob is a server. --> is a line from her to him, <-- one back, and below each line stands "
        "what its receiver makes of it."
    )
    legacy(stage)
    modern(stage)
    undeclared_tools(stage)
    unknown_version(stage)
    too_early(stage)


def answer(request: AnyRequest) -> Result:
    """What the application says to each request: the library has checked it, and answers the rest by itself."""
    match request:
        case ListToolsRequest():
            return ListToolsResult([Tool("greet", {"type": "object"})])
        case CallToolRequest():
            return CallToolResult([TextContent("Hello!")])
        case ListRootsRequest():
            return ListRootsResult([Root("file:///home/alice")])
        case _:
            return EmptyResult()


def ask(version: str, **capabilities: Any) -> dict[str, Any]:
    """The params of ``initialize``, written by hand."""
    return {"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "alice", "version": "1.0"}}


def agree(version: str) -> dict[str, Any]:
    """The result of ``initialize``, written by hand."""
    return {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "bob", "version": "1.0"}}


def legacy(stage: Stage) -> None:
    """A handshake, then requests both ways."""
    stage.title("A legacy conversation: a handshake, then both sides may ask")
    stage.play(client=ClientConnection(ALICE, ROOTS, era="legacy"), server=ServerConnection(BOB, TOOLS), answer=answer)
    stage.do(CLIENT, "connect")
    stage.do(CLIENT, "request", ListToolsRequest())
    stage.do(CLIENT, "request", CallToolRequest("greet"))
    stage.do(SERVER, "request", ListRootsRequest())


def modern(stage: Stage) -> None:
    """No session: each request says all."""
    stage.title("A modern conversation: each request says who asks, and in which version")
    client = ClientConnection(ALICE, ROOTS, era="modern")
    server = ServerConnection(BOB, TOOLS, revisions=MODERN_REVISIONS)
    stage.play(client=client, server=server, answer=answer)
    stage.do(CLIENT, "connect")
    stage.do(CLIENT, "request", ListToolsRequest())
    stage.do(CLIENT, "request", CallToolRequest("greet"))
    stage.remark("A server asks nothing here. If it tries, it is told before anything is written:")
    stage.do(SERVER, "request", ListRootsRequest())


def undeclared_tools(stage: Stage) -> None:
    """A tool server that forgot to declare ``tools``."""
    stage.title("Mistake 1: a tool server that forgot to declare tools")
    stage.remark("The handshake is the one above, but for bob's capabilities: {}. So alice does not even ask:")
    stage.play(client=ClientConnection(ALICE, era="legacy"), server=ServerConnection(BOB), answer=answer)
    stage.shake_hands()
    stage.do(CLIENT, "request", ListToolsRequest())
    stage.remark("With strict_capabilities=False she asks all the same. bob, who uses the library, refuses:")
    lenient = ClientConnection(ALICE, era="legacy", strict_capabilities=False)
    stage.play(client=lenient, server=ServerConnection(BOB), answer=answer)
    stage.shake_hands()
    stage.do(CLIENT, "request", ListToolsRequest())
    stage.remark("If bob is written by hand and serves her, she gets the result, and learns what is wrong:")
    stage.play(client=ClientConnection(ALICE, era="legacy", strict_capabilities=False))
    stage.do(CLIENT, "connect")
    stage.by_hand(SERVER, id=1, result=agree("2025-11-25"))
    stage.do(CLIENT, "request", ListToolsRequest())
    stage.by_hand(SERVER, id=2, result={"tools": [{"name": "greet", "inputSchema": {"type": "object"}}]})


def unknown_version(stage: Stage) -> None:
    """A version nobody speaks."""
    stage.title("Mistake 2: a version nobody speaks")
    stage.remark("alice, written by hand, asks for one. In a handshake bob offers the best that he has instead:")
    stage.play(server=ServerConnection(BOB, TOOLS))
    stage.by_hand(CLIENT, id=1, method="initialize", params=ask(NOBODY))
    stage.remark("Without a handshake he refuses, and names what he has:")
    stage.play(server=ServerConnection(BOB, TOOLS))
    prefix = "io.modelcontextprotocol/"
    meta: dict[str, Any] = {f"{prefix}protocolVersion": NOBODY, f"{prefix}clientCapabilities": {}}
    stage.by_hand(CLIENT, id=1, method="tools/list", params={"_meta": meta})
    stage.remark("bob, written by hand, answers one. alice gives up, and says why:")
    stage.play(client=ClientConnection(ALICE, era="legacy"))
    stage.do(CLIENT, "connect")
    stage.by_hand(SERVER, id=1, result=agree(NOBODY))
    stage.do(CLIENT, "request", ListToolsRequest())


def too_early(stage: Stage) -> None:
    """A server that talks before ``initialized``."""
    stage.title("Mistake 3: a server that talks before initialized")
    stage.remark("bob, written by hand, asks before he has answered. alice serves him, and learns what is wrong:")
    stage.play(client=ClientConnection(ALICE, ROOTS, era="legacy"), answer=answer)
    stage.do(CLIENT, "connect")
    stage.by_hand(SERVER, id="r1", method="roots/list")
    stage.remark("With the library he cannot: it refuses at first, then lets his request wait for initialized.")
    stage.play(server=ServerConnection(BOB, TOOLS, revisions=LEGACY_REVISIONS))
    stage.do(SERVER, "request", ListRootsRequest())
    stage.by_hand(CLIENT, id=1, method="initialize", params=ask("2025-11-25", roots={}))
    stage.do(SERVER, "request", ListRootsRequest())
    stage.by_hand(CLIENT, method="notifications/initialized")
