"""How mcp_sansio gets from bytes to typed payloads, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_sansio import Codec, Limits, types
from mcp_sansio.connection.reader import Read, Reader
from mcp_sansio.jsonrpc import (
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResultResponse,
    message_to_json,
)
from mcp_sansio.types.converter import structure, unstructure

from .messages import REVISION, Message

__all__ = ["decoder", "encoder"]


def decoder(message: Message, codec: Codec) -> Callable[[], types.Payload]:
    """Bytes to a payload."""
    reader, data, cls = Reader(codec, Limits()), message.data, message.payload

    def decode() -> types.Payload:
        item = reader.receive_message(data)
        assert isinstance(item, Read)
        read = item.message
        assert not isinstance(read, JSONRPCErrorResponse)
        body = read.result if isinstance(read, JSONRPCResultResponse) else read.params
        return structure(body, cls, REVISION)

    return decode


def encoder(message: Message, codec: Codec) -> Callable[[], bytes]:
    """A payload to bytes."""
    payload, method, kind = decoder(message, codec)(), message.method, message.kind

    def encode() -> bytes:
        body: dict[str, Any] = unstructure(payload, REVISION)
        envelope: JSONRPCMessage
        if kind == "request":
            envelope = JSONRPCRequest(42, method, body)
        elif kind == "result":
            envelope = JSONRPCResultResponse(42, body)
        else:
            envelope = JSONRPCNotification(method, body)
        return codec.encode(message_to_json(envelope))

    return encode
