"""The official SDK's client: ``mcp_client.py MODE COMMAND...`` prints what it got from the server, as JSON.

With URLs instead of the command it goes there. Of several modes, with commas between them, each has a client for each
URL, all at once, and there is a list of what they got.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable
from typing import Any

import mcp_types
from mcp import Client, MCPError, StdioServerParameters


async def code_of(call: Awaitable[Any]) -> int | None:
    """The code of the error that answers a call."""
    try:
        await call
    except MCPError as error:
        return error.code
    return None


async def main(mode: str, command: list[str]) -> dict[str, Any]:
    is_url = command[0].startswith("http:")
    server = command[0] if is_url else StdioServerParameters(command=command[0], args=command[1:])
    async with Client(server, mode=mode, read_timeout_seconds=20) as client:
        big = await client.call_tool("echo", {"text": "x" * 2**20})
        bad = await client.call_tool("add", {"a": "1"})
        total = await client.call_tool("add", {"a": 1, "b": 2})
        resource = await client.read_resource("memo://city/oslo")
        prompt = await client.get_prompt("describe", {"city": "Oslo"})
        prompt_ref = mcp_types.PromptReference(name="describe")
        completed = await client.complete(prompt_ref, {"name": "city", "value": "o"})
        unknown: mcp_types.Request[Any, Any] = mcp_types.Request(method="none/such", params=mcp_types.RequestParams())
        return {
            "revision": client.protocol_version,
            "server": client.server_info.name if client.server_info else None,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "resources": [item.name for item in (await client.list_resources()).resources],
            "templates": [item.name for item in (await client.list_resource_templates()).resource_templates],
            "prompts": [item.name for item in (await client.list_prompts()).prompts],
            "sum": total.content[0].text,
            "bad": [bad.is_error, bad.content[0].text],
            "big": len(big.content[0].text),
            "resource": resource.contents[0].text,
            "prompt": prompt.messages[0].content.text,
            "completed": completed.completion.values,
            "unknown tool": await code_of(client.call_tool("none", {})),
            "unknown resource": await code_of(client.read_resource("memo://none")),
            "unknown method": await code_of(client.session.send_request(unknown, mcp_types.EmptyResult)),
        }


async def together(modes: list[str], command: list[str]) -> Any:
    servers = [[url] for url in command] if command[0].startswith("http:") else [command]
    got = await asyncio.gather(*(main(mode, server) for server in servers for mode in modes))
    return got if len(got) > 1 else got[0]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(together(sys.argv[1].split(","), sys.argv[2:]))))
