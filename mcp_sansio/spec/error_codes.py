"""Error codes: which exist, in which revisions, and who may emit what.

Source: basic/index#error-codes of 2026-07-28, server/resources and client/elicitation of the older revisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import attrs

from ..jsonrpc import is_object

__all__ = ["ERROR_DATA", "RESERVED_CODES", "ErrorCode", "ErrorData", "ReservedCodes"]


class ErrorCode(IntEnum):
    """The codes that the specification defines."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    RESOURCE_NOT_FOUND = -32002
    """Up to 2025-11-25; -32602 from 2026-07-28 on."""
    HEADER_MISMATCH = -32020
    """2026-07-28: an HTTP header is missing or says something else than the body."""
    MISSING_REQUIRED_CLIENT_CAPABILITY = -32021
    """2026-07-28: ``data.requiredCapabilities`` names what the request did not declare."""
    UNSUPPORTED_PROTOCOL_VERSION = -32022
    """2026-07-28: ``data.supported`` and ``data.requested``."""
    URL_ELICITATION_REQUIRED = -32042
    """2025-11-25 only: ``data.elicitations``."""


@attrs.frozen
class ReservedCodes:
    """A range of codes that a server of 2026-07-28 may not emit, but for those that are named.

    Attributes:
        low: the lowest code of the range.
        high: the highest code of the range.
        rule: the rule that is broken by a code within it.
        defined: the codes within it that are allowed.
    """

    low: int
    high: int
    rule: str
    defined: tuple[int, ...] = ()


RESERVED_CODES: tuple[ReservedCodes, ...] = (
    ReservedCodes(-32002, -32002, "ERR-002"),
    ReservedCodes(-32042, -32042, "ERR-002"),
    ReservedCodes(
        -32099,
        -32020,
        "ERR-001",
        defined=(
            ErrorCode.HEADER_MISMATCH,
            ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY,
            ErrorCode.UNSUPPORTED_PROTOCOL_VERSION,
        ),
    ),
    ReservedCodes(-32019, -32000, "ERR-003"),
)
"""The first row that holds a code decides."""


@attrs.frozen
class ErrorData:
    """What the ``data`` of an error must hold.

    Attributes:
        code: the code of the error.
        rule: the rule that is broken otherwise.
        members: the members that ``data`` has, and the Python type of each.
    """

    code: int
    rule: str
    members: Mapping[str, type]

    def matches(self, data: Any) -> bool:
        """Whether *data*, as decoded JSON, is an object with these members."""
        return is_object(data) and all(type(data.get(name)) is kind for name, kind in self.members.items())


ERROR_DATA: tuple[ErrorData, ...] = (
    ErrorData(ErrorCode.UNSUPPORTED_PROTOCOL_VERSION, "VER-005", {"supported": list, "requested": str}),
    ErrorData(ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY, "CAP-006", {"requiredCapabilities": dict}),
)
