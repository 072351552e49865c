"""The official SDK's client sees all that a server has: ``mcp_tour.py MODE COMMAND...`` prints what it saw, as JSON."""

import asyncio
import json
import sys
from typing import Any

from mcp import Client, MCPError, StdioServerParameters

ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "add": [{"a": 1, "b": 2}, {"a": "one", "b": 2}],
    "length": [{"text": "Blåbærsyltetøy 🫐"}],
    "echo": [{"message": "Blåbærsyltetøy 🫐"}],
    "get-sum": [{"a": 1, "b": 2}, {"a": "one", "b": 2}],
    "trigger-long-running-operation": [{"duration": 0.3, "steps": 3}],
    "get_current_time": [{"timezone": "Europe/Oslo"}, {"timezone": 7}],
    "convert_time": [{"source_timezone": "UTC", "time": "12:00", "target_timezone": "Europe/Oslo"}],
}
"""What tools are called with, by their names. Others are not called."""


async def on_progress(*_: Any) -> None:
    pass


async def main(mode: str, command: list[str]) -> dict[str, Any]:
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(server, mode=mode, read_timeout_seconds=20) as client:
        has = client.server_capabilities
        saw: dict[str, Any] = {"revision": client.protocol_version}
        saw["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        for name in saw["tools"]:
            for arguments in ARGUMENTS.get(name, []):
                result = await client.call_tool(name, arguments, progress_callback=on_progress)
                saw[f"{name} {arguments}"] = result.is_error
        if has.resources is not None:
            resources = (await client.list_resources()).resources
            await client.list_resource_templates()
            saw["resources"] = [len((await client.read_resource(str(item.uri))).contents) for item in resources[:2]]
        if has.prompts is not None:
            names = {prompt.name for prompt in (await client.list_prompts()).prompts}
            for name in names & {"greet", "simple-prompt"}:
                saw[f"prompt {name}"] = len((await client.get_prompt(name, {"name": "Åse"})).messages)
        if client.protocol_version >= "2026-07-28" and has.tools is not None and has.tools.list_changed:
            async with client.listen(tools_list_changed=True) as subscription:
                saw["listens"] = subscription.honored.tools_list_changed
        try:
            await client.call_tool("none", {})
        except MCPError as error:
            saw["none"] = error.code
        return saw


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2:]))))
