"""The everything client for the official conformance suite: ``python tests/conformance/client.py URL``.

The suite names the scenario, the revision and what else it wants in environment variables.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "examples"))

from http_client import Client, RequestFailed

import mcp_sansio as mcp
from mcp_sansio import types as t
from mcp_sansio.http import HTTPEvent

CAPABILITIES = t.ClientCapabilities(
    roots=t.RootsCapability(),
    sampling=t.SamplingCapability(),
    elicitation=t.ElicitationCapability(form={"applyDefaults": True}),
)


class Everything(Client):
    """A client whose user accepts what is proposed."""

    timeout = 10.0

    def on_event(self, event: HTTPEvent) -> None:
        match event:
            case mcp.RequestReceived(id=request_id, request=t.ElicitRequestFormParams() as asked):
                self.http.connection.respond(request_id, accept(asked))
            case _:
                super().on_event(event)

    def call(self, name: str, arguments: dict[str, Any] | None = None) -> t.CallToolResult:
        """Call a tool, and give the server the input that it asks for."""
        connection = self.http.connection
        handle = connection.request(t.CallToolRequest(name, arguments), timeout=self.timeout, now=monotonic())
        while True:
            event = self.wait_for(handle.ended_by)
            if handle.answered_by(event):
                return event.result
            if not isinstance(event, mcp.InputRequired):
                raise RequestFailed(handle.method, event)
            asked = event.result.input_requests or {}
            forms = {key: form for key, form in asked.items() if isinstance(form, t.ElicitRequestFormParams)}
            answers = {key: accept(form) for key, form in forms.items()}
            handle = connection.retry(handle, answers, timeout=self.timeout, now=monotonic())


def accept(asked: t.ElicitRequestFormParams) -> t.ElicitResult:
    """Accept all defaults; a form without any is confirmed."""
    fields = asked.requested_schema.properties
    content = {name: field.default for name, field in fields.items() if field.default is not None}
    return t.ElicitResult("accept", content or dict.fromkeys(fields, True))


def list_tools(client: Everything) -> list[t.Tool]:
    return client.request(t.ListToolsRequest()).tools


def add(client: Everything) -> None:
    list_tools(client)
    client.call("add_numbers", {"a": 5, "b": 3})


def listen(client: Everything) -> None:
    """What the server asks comes on the stream of no request, so that has to be open."""
    while not client.http.listening:
        client.step()
    list_tools(client)
    client.call("test_client_elicitation_defaults", {})


def reconnect(client: Everything) -> None:
    list_tools(client)
    client.call("test_reconnection", {})


def every_method(client: Everything) -> None:
    for tool in list_tools(client):
        client.call(tool.name, {})
    for resource in client.request(t.ListResourcesRequest()).resources:
        client.request(t.ReadResourceRequest(resource.uri))
    for prompt in client.request(t.ListPromptsRequest()).prompts:
        client.request(t.GetPromptRequest(prompt.name))


def given_calls(client: Everything) -> None:
    list_tools(client)
    for call in json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]:
        client.call(call["name"], call.get("arguments"))


def every_tool(client: Everything) -> None:
    for tool in list_tools(client):
        client.call(tool.name, {})


def state(client: Everything) -> None:
    for name in ("test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state", "test_mrtr_no_result_type"):
        client.call(name, {})


def echo_schema(client: Everything) -> None:
    (tool,) = (tool for tool in list_tools(client) if tool.name == "json_schema_2020_12_tool")
    client.call("json_schema_echo", {"schema": tool.input_schema})


SCENARIOS: dict[str, Callable[[Everything], Any]] = {
    "initialize": list_tools,
    "tools_call": add,
    "elicitation-sep1034-client-defaults": listen,
    "sse-retry": reconnect,
    "request-metadata": list_tools,
    "http-standard-headers": every_method,
    "http-custom-headers": given_calls,
    "http-invalid-tool-headers": every_tool,
    "json-schema-ref-no-deref": list_tools,
    "json-schema-2020-12-preservation": echo_schema,
    "sep-2322-client-request-state": state,
}


def main() -> None:
    """Do what the scenario of the environment wants of a client."""
    scenario = SCENARIOS[os.environ["MCP_CONFORMANCE_SCENARIO"]]
    revision = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
    era = "modern" if revision in mcp.MODERN_REVISIONS else "legacy"
    settings = {
        "capabilities": CAPABILITIES,
        "strict_capabilities": False,
    }  # two of the suite's servers declare nothing
    with Everything(sys.argv[1], era, **settings) as client:
        scenario(client)


if __name__ == "__main__":
    main()
