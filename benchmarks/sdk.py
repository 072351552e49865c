"""How mcp, the official SDK, gets from bytes to typed payloads, and back.

The steps are those of its stdio transports (``mcp.client.stdio``, ``mcp.server.stdio``), of ``ClientSession`` and of
the server's runner, without their tasks and streams; what they do besides is left out, in the SDK's favour.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mcp_types
from mcp_types import methods
from mcp_types.jsonrpc import (
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import BaseModel

from .messages import REVISION, Message

__all__ = ["decoder", "encoder"]

_PARAMS: dict[str, type[BaseModel]] = {
    "tools/call": mcp_types.CallToolRequestParams,
    "initialize": mcp_types.InitializeRequestParams,
}
_REQUESTS: dict[str, Callable[[Any], BaseModel]] = {
    "tools/call": lambda params: mcp_types.CallToolRequest(params=params),
    "initialize": lambda params: mcp_types.InitializeRequest(params=params),
}
_RESULTS: dict[str, type[BaseModel]] = {
    "tools/call": mcp_types.CallToolResult,
    "tools/list": mcp_types.ListToolsResult,
}


def decoder(message: Message) -> Callable[[], BaseModel]:
    """Bytes to a model."""
    data, method = message.data, message.method

    def request() -> BaseModel:  # stdio_server, then ServerRunner
        envelope: Any = jsonrpc_message_adapter.validate_json(data, by_name=False)
        methods.validate_client_request(envelope.method, REVISION, envelope.params)
        return params.model_validate(envelope.params, by_name=False)

    def result() -> BaseModel:  # stdio_client, then ClientSession.send_request
        envelope: Any = jsonrpc_message_adapter.validate_json(data, by_name=False)
        methods.validate_server_result(method, REVISION, envelope.result)
        return model.model_validate(envelope.result, by_name=False)

    def notification() -> BaseModel:  # stdio_client, then ClientSession._on_notify
        envelope: Any = jsonrpc_message_adapter.validate_json(data, by_name=False)
        return methods.parse_server_notification(envelope.method, REVISION, envelope.params)

    if message.kind == "request":
        params = _PARAMS[method]
        return request
    if message.kind == "result":
        model = _RESULTS[method]
        return result
    return notification


def encoder(message: Message) -> Callable[[], bytes]:
    """A model to bytes."""
    model, method = decoder(message)(), message.method
    if message.kind == "request":
        model = _REQUESTS[method](model)

    def written(envelope: BaseModel) -> bytes:
        return envelope.model_dump_json(by_alias=True, exclude_unset=True).encode()

    def request() -> bytes:  # ClientSession.send_request, then stdio_client
        body = model.model_dump(by_alias=True, mode="json", exclude_none=True)
        return written(JSONRPCRequest(jsonrpc="2.0", id=42, method=body["method"], params=body["params"]))

    def result() -> bytes:  # ServerRunner._serialize, then stdio_server
        body = model.model_dump(by_alias=True, mode="json", exclude_none=True)
        body = methods.serialize_server_result(method, REVISION, body)
        return written(JSONRPCResponse(jsonrpc="2.0", id=42, result=body))

    def notification() -> bytes:  # the sessions' send_notification, then the stdio transports
        body = model.model_dump(by_alias=True, mode="json", exclude_none=True)
        return written(JSONRPCNotification(jsonrpc="2.0", method=body["method"], params=body["params"]))

    return {"request": request, "result": result, "notification": notification}[message.kind]
