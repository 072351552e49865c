"""A server on stdin and stdout: synchronous, for clients of every revision.

It needs the standard library and mcp_sansio. Try it: python stdio_client.py python stdio_server.py
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

from mcp_sansio import LEGACY_REVISIONS, ConnectionState, ErrorCode, Event, RequestReceived, ServerConnection
from mcp_sansio import types as t

INFO = t.Implementation("example", "1.0")
CAPABILITIES = t.ServerCapabilities(
    tools=t.ToolsCapability(), resources=t.ResourcesCapability(), prompts=t.PromptsCapability(), completions={}
)


class NoSuchThing(Exception):
    """The client names something that this server does not have."""


def add(a: Any = None, b: Any = None, **_: Any) -> str:
    """Add two numbers."""
    if not all(type(number) in (int, float) for number in (a, b)):
        raise ValueError("a and b must be numbers")
    return str(a + b)


def echo(text: Any = None, **_: Any) -> str:
    """Give the text back."""
    if not isinstance(text, str):
        raise ValueError("text must be a string")
    return text


def schema(**members: str) -> dict[str, Any]:
    """A JSON Schema for an object with these members, by the type of each."""
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in members.items()},
        "required": list(members),
    }


TOOLS: dict[str, tuple[Callable[..., str], dict[str, Any]]] = {
    "add": (add, schema(a="number", b="number")),
    "echo": (echo, schema(text="string")),
}
CITIES = {"oslo": "Oslo lies on a fjord.", "quito": "Quito lies on a volcano."}
TEXTS = {"memo://cities": ", ".join(CITIES), **{f"memo://city/{name}": text for name, text in CITIES.items()}}
PROMPT = t.Prompt("describe", description="Describe a city", arguments=[t.PromptArgument("city", required=True)])


def call_tool(name: str, arguments: dict[str, Any]) -> t.CallToolResult:
    """What a tool makes of its arguments. Bad ones are a result too, so that a model can read what to do better."""
    if name not in TOOLS:
        raise NoSuchThing(f"Unknown tool: {name[:80]}")
    try:
        return t.CallToolResult([t.TextContent(TOOLS[name][0](**arguments))])
    except ValueError as error:
        return t.CallToolResult([t.TextContent(str(error))], is_error=True)


def answer(request: t.AnyRequest) -> t.Result:
    """The result of a request. The library answers the handshake, pings, and what `CAPABILITIES` do not declare."""
    match request:
        case t.ListToolsRequest():
            return t.ListToolsResult([t.Tool(n, s, description=f.__doc__) for n, (f, s) in TOOLS.items()])
        case t.CallToolRequest(name=name, arguments=arguments):
            return call_tool(name, arguments or {})
        case t.ListResourcesRequest():
            return t.ListResourcesResult([t.Resource("cities", "memo://cities", mime_type="text/plain")])
        case t.ListResourceTemplatesRequest():
            return t.ListResourceTemplatesResult([t.ResourceTemplate("city", "memo://city/{name}")])
        case t.ReadResourceRequest(uri=uri) if uri in TEXTS:
            return t.ReadResourceResult([t.TextResourceContents(uri, TEXTS[uri], mime_type="text/plain")])
        case t.ListPromptsRequest():
            return t.ListPromptsResult([PROMPT])
        case t.GetPromptRequest(name=PROMPT.name, arguments={"city": city}):
            return t.GetPromptResult([t.PromptMessage("user", t.TextContent(f"Describe {city}."))])
        case t.CompleteRequest(argument=argument):
            return t.CompleteResult(t.Completion([name for name in CITIES if name.startswith(argument.value)]))
    raise NoSuchThing(f"Not found: {getattr(request, 'uri', request.method)[:80]}")


def serve(server: ServerConnection, event: Event) -> None:
    """Answer what an event asks for, and tell our log what the client did wrong."""
    for violation in event.violations:
        print(f"{violation.level.value} {violation.rule}: {violation.detail}", file=sys.stderr)
    if not isinstance(event, RequestReceived):
        return
    try:
        server.respond(event.id, answer(event.request))
    except NoSuchThing as error:
        legacy_resource = event.method == "resources/read" and event.revision in LEGACY_REVISIONS
        code = ErrorCode.RESOURCE_NOT_FOUND if legacy_resource else ErrorCode.INVALID_PARAMS
        server.respond_error(event.id, code, str(error))
    except Exception:  # a bug of ours: its text is for our log, not for the client
        traceback.print_exc()
        server.respond_error(event.id, ErrorCode.INTERNAL_ERROR, "Internal error")


def main() -> None:
    """Serve until the client closes our input."""
    wire, sys.stdout = sys.stdout.buffer, sys.stderr  # so that a print() gets between no messages
    server = ServerConnection(INFO, CAPABILITIES)
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as pipe:
        while server.state is ConnectionState.OPEN:
            data = pipe.read(65536)
            for event in server.receive_data(data) if data else server.receive_eof():
                serve(server, event)
            wire.write(server.data_to_send())  # after any call, write what there is
            wire.flush()


if __name__ == "__main__":
    main()
