"""HTTP statuses of JSON-RPC errors, by era.

Source: basic/transports/streamable-http of 2026-07-28 (Protocol Version Header, Server Validation). The older revisions
name none but 404 for a session that has ended, so an unknown method can't be 404 there.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ..spec import ErrorCode

__all__ = ["ERROR_STATUSES", "MODERN_ERRORS", "ErrorStatus", "is_modern_error", "status_of"]


@attrs.frozen
class ErrorStatus:
    """The status that goes with an error code.

    Attributes:
        legacy: in the revisions up to 2025-11-25.
        modern: from 2026-07-28 on.
    """

    legacy: int
    modern: int


ERROR_STATUSES: Mapping[int, ErrorStatus] = {
    ErrorCode.PARSE_ERROR: ErrorStatus(400, 400),
    ErrorCode.INVALID_REQUEST: ErrorStatus(400, 400),
    ErrorCode.METHOD_NOT_FOUND: ErrorStatus(200, 404),
    ErrorCode.HEADER_MISMATCH: ErrorStatus(400, 400),
    ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY: ErrorStatus(400, 400),
    ErrorCode.UNSUPPORTED_PROTOCOL_VERSION: ErrorStatus(400, 400),
}
"""Other codes are 200. (A modern request without its ``_meta`` is 400 too, but its code, -32602, has other causes.)"""

MODERN_ERRORS: Mapping[int, frozenset[int]] = {
    ErrorCode.HEADER_MISMATCH: frozenset(range(400, 500)),
    ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY: frozenset(range(400, 500)),
    ErrorCode.UNSUPPORTED_PROTOCOL_VERSION: frozenset(range(400, 500)),
    ErrorCode.METHOD_NOT_FOUND: frozenset({404}),
}
"""The statuses with which an error code tells that the server is a modern one (Backward Compatibility)."""


def status_of(code: int, modern: bool) -> int:
    """The status of a response that is the JSON-RPC error *code*, to a modern or legacy request."""
    row = ERROR_STATUSES.get(code, ErrorStatus(200, 200))
    return row.modern if modern else row.legacy


def is_modern_error(status: int, code: int) -> bool:
    """Whether this answer tells that the server is a modern one, so that a client doesn't fall back to initialize."""
    return status in MODERN_ERRORS.get(code, frozenset())
