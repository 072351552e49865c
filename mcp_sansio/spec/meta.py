"""The ``_meta`` keys that a modern message carries.

Source: basic/index#meta of 2026-07-28.
"""

from __future__ import annotations

from typing import Any

import attrs

from .. import types as t

__all__ = [
    "CLIENT_CAPABILITIES",
    "CLIENT_INFO",
    "LOG_LEVEL",
    "PROTOCOL_VERSION",
    "REQUEST_META",
    "SERVER_INFO",
    "SUBSCRIPTION_ID",
    "MetaKey",
]

PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"


@attrs.frozen
class MetaKey:
    """A key in the ``_meta`` of a modern request. Any one of them tells that the request is modern.

    Attributes:
        name: the key.
        type: the type of its value.
        required: whether each request carries it.
    """

    name: str
    type: Any
    required: bool = False


REQUEST_META: tuple[MetaKey, ...] = (
    MetaKey(PROTOCOL_VERSION, str, required=True),
    MetaKey(CLIENT_CAPABILITIES, t.ClientCapabilities, required=True),
    MetaKey(CLIENT_INFO, t.Implementation),
    MetaKey(LOG_LEVEL, t.LoggingLevel),
)
