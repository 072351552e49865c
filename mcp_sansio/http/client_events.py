"""What a client over HTTP tells its owner beside the events of its connection."""

from __future__ import annotations

from typing import TypeAlias

import attrs

from ..connection import Event
from ..jsonrpc import Error, JSONRPCMessage, RequestId

__all__ = [
    "AuthorizationRequired",
    "HTTPEvent",
    "MessageRefused",
    "SessionLost",
    "StreamLost",
    "ToolLeftOut",
]


@attrs.frozen(kw_only=True, slots=False)
class AuthorizationRequired:
    """The server wants a token, or one that allows more: get it, put it into ``client.headers``, then try again.

    What was asked for has ended; another event says so.

    Attributes:
        status: 401 (no token, or none that is valid) or 403 (the token is not enough).
        request_id: the id of the request that was refused; None where it was none.
        resource_metadata: the URL of the metadata that names the authorization servers.
        scope: the scopes that are needed, separated by spaces.
        error: what is wrong with the token, such as "invalid_token" or "insufficient_scope".
        error_description: the same for people.

    Each of the last four is None where ``WWW-Authenticate`` did not say it.
    """

    status: int
    request_id: RequestId | None = None
    resource_metadata: str | None = None
    scope: str | None = None
    error: str | None = None
    error_description: str | None = None


@attrs.frozen(kw_only=True, slots=False)
class SessionLost:
    """The session is lost: mostly the server has forgotten it. What was in flight has ended (`RequestLost`), for good.

    A new session is being opened, and `Negotiated` will come once more, or `NegotiationFailed`.

    Attributes:
        detail: how that showed.
    """

    detail: str


@attrs.frozen(kw_only=True, slots=False)
class StreamLost:
    """The stream for what belongs to no request could not be opened or kept, and is given up.

    Requests go on. ``listen()`` opens it again.

    Attributes:
        detail: why.
    """

    detail: str


@attrs.frozen(kw_only=True, slots=False)
class MessageRefused:
    """A notification, or an answer to a request of the server's, did not arrive, or the server did not take it.

    Attributes:
        message: what was sent; of a batch, its messages.
        detail: what happened.
        status: the status of the HTTP response; None where there was none.
        error: the error in its body, where there was one.
    """

    message: JSONRPCMessage | tuple[JSONRPCMessage, ...]
    detail: str
    status: int | None = None
    error: Error | None = None


@attrs.frozen(kw_only=True, slots=False)
class ToolLeftOut:
    """A tool is left out of a list, since an ``x-mcp-header`` in its schema breaks a rule (2026-07-28).

    Attributes:
        name: the name of the tool.
        detail: which rule, and where.
    """

    name: str
    detail: str


HTTPEvent: TypeAlias = Event | AuthorizationRequired | SessionLost | StreamLost | MessageRefused | ToolLeftOut
"""All that an `HTTPClient` has to say."""
