"""A smallest valid message of every method, for tests that go through all of them."""

from __future__ import annotations

from typing import Any

from mcp_sansio import types as t

TOOL_SCHEMA = {"type": "object"}
TASK: dict[str, Any] = {
    "taskId": "t1",
    "status": "working",
    "createdAt": "2025-11-25T10:30:00Z",
    "lastUpdatedAt": "2025-11-25T10:30:00Z",
    "ttl": None,
}

PARAMS: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "client", "version": "1"},
    },
    "tools/call": {"name": "add"},
    "resources/read": {"uri": "file:///a"},
    "resources/subscribe": {"uri": "file:///a"},
    "resources/unsubscribe": {"uri": "file:///a"},
    "subscriptions/listen": {"notifications": {}},
    "prompts/get": {"name": "greet"},
    "completion/complete": {
        "ref": {"type": "ref/prompt", "name": "greet"},
        "argument": {"name": "who", "value": "w"},
    },
    "logging/setLevel": {"level": "info"},
    "tasks/get": {"taskId": "t1"},
    "tasks/result": {"taskId": "t1"},
    "tasks/cancel": {"taskId": "t1"},
    "sampling/createMessage": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
        "maxTokens": 10,
    },
    "elicitation/create": {"message": "name?", "requestedSchema": {"type": "object", "properties": {}}},
    "notifications/cancelled": {"requestId": 77},
    "notifications/progress": {"progressToken": 77, "progress": 1},
    "notifications/message": {"level": "info", "data": "hello"},
    "notifications/resources/updated": {"uri": "file:///a"},
    "notifications/subscriptions/acknowledged": {"notifications": {}},
    "notifications/tasks/status": TASK,
    "notifications/elicitation/complete": {"elicitationId": "e1"},
}
"""Params by method; methods that are not here need none."""

RESULTS: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "serverInfo": {"name": "server", "version": "1"},
    },
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {}},
    "tools/list": {"tools": []},
    "tools/call": {"content": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": []},
    "prompts/list": {"prompts": []},
    "prompts/get": {"messages": []},
    "completion/complete": {"completion": {"values": []}},
    "tasks/get": TASK,
    "tasks/list": {"tasks": []},
    "tasks/cancel": TASK,
    "sampling/createMessage": {
        "role": "assistant",
        "content": {"type": "text", "text": "hi"},
        "model": "m",
    },
    "roots/list": {"roots": []},
    "elicitation/create": {"action": "decline"},
}
"""Results by method, without what 2026-07-28 adds to all; methods that are not here have an empty one."""

META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "1"},
}
"""The ``_meta`` of a modern request."""

CLIENT_CAPABILITIES = t.ClientCapabilities(
    roots=t.RootsCapability(list_changed=True),
    sampling=t.SamplingCapability(context={}, tools={}),
    elicitation=t.ElicitationCapability(form={}, url={}),
    tasks=t.ClientTasksCapability(
        list={},
        cancel={},
        requests=t.ClientTasksRequestsCapability(
            sampling=t.TasksSamplingCapability(create_message={}),
            elicitation=t.TasksElicitationCapability(create={}),
        ),
    ),
)
SERVER_CAPABILITIES = t.ServerCapabilities(
    logging={},
    completions={},
    prompts=t.PromptsCapability(list_changed=True),
    resources=t.ResourcesCapability(subscribe=True, list_changed=True),
    tools=t.ToolsCapability(list_changed=True),
    tasks=t.ServerTasksCapability(
        list={}, cancel={}, requests=t.ServerTasksRequestsCapability(tools=t.TasksToolsCapability(call={}))
    ),
)
CLIENT_INFO = t.Implementation("client", "1")
SERVER_INFO = t.Implementation("server", "1")
