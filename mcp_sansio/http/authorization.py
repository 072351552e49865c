"""Bearer tokens: what a server answers without one that will do, and what a client reads from that.

Nothing here checks a token: the driver does. Source: basic/authorization of 2026-07-28 (Error Handling, Scope Challenge
Handling, Protected Resource Metadata Discovery Requirements); RFC 6750, section 3; RFC 9728, sections 3 and 5.1; RFC
9110, section 11.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from .values import Headers, HTTPResponse

__all__ = [
    "Challenge",
    "bearer_token",
    "forbidden",
    "metadata_path",
    "parse_challenge",
    "parse_challenges",
    "protected_resource_metadata",
    "unauthorized",
]

_WELL_KNOWN = "/.well-known/oauth-protected-resource"
_QUOTABLE = re.compile(r"[ !#-\[\]-~]*")
_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9._~+/-]+=*)")
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PART = re.compile(rf'({_TOKEN})(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s",]*)))?')
"""A scheme, or a parameter with its value. Values that should be quoted, as addresses, are read without quotes too."""


def bearer_token(headers: Headers) -> str | None:
    """The token of a request; None where there is none, or more than one Authorization."""
    values = headers.get_all("Authorization")
    match = _BEARER.fullmatch(values[0]) if len(values) == 1 else None
    return match[1] if match else None


def unauthorized(
    *,
    resource_metadata: str | None = None,
    scope: str | None = None,
    error: str | None = None,
    error_description: str | None = None,
) -> HTTPResponse:
    """The answer 401: there is no token, or it's invalid or expired.

    Args:
        resource_metadata: the URL of the document that `protected_resource_metadata` makes.
        scope: the scopes that the request needs, separated by spaces.
        error: "invalid_token" where there was a token, else none.
        error_description: the reason, for people.

    Raises:
        ValueError: one of them has characters that RFC 6750 doesn't allow.
    """
    return _challenge(
        401, error=error, scope=scope, resource_metadata=resource_metadata, error_description=error_description
    )


def forbidden(
    *, scope: str, resource_metadata: str | None = None, error_description: str | None = None
) -> HTTPResponse:
    """The answer 403 ``insufficient_scope``: the token is valid, but this operation needs more.

    Args:
        scope: all the scopes that the operation needs, separated by spaces.
        resource_metadata: the URL of the document that `protected_resource_metadata` makes.
        error_description: the reason, for people.

    Raises:
        ValueError: one of them has characters that RFC 6750 doesn't allow.
    """
    return _challenge(
        403,
        error="insufficient_scope",
        scope=scope,
        resource_metadata=resource_metadata,
        error_description=error_description,
    )


def _challenge(status: int, **parameters: str | None) -> HTTPResponse:
    parts: list[str] = []
    for name, value in parameters.items():
        if value is None:
            continue
        if not _QUOTABLE.fullmatch(value):
            raise ValueError(
                f"{name} has other characters than visible ASCII without quotes and backslashes: {value!r}"
            )
        parts.append(f'{name}="{value}"')
    challenge = f"Bearer {', '.join(parts)}" if parts else "Bearer"
    return HTTPResponse(status, Headers([("WWW-Authenticate", challenge)]))


def protected_resource_metadata(
    resource: str,
    authorization_servers: Iterable[str],
    *,
    scopes_supported: Iterable[str] = (),
    members: Mapping[str, Any] | None = None,
) -> HTTPResponse:
    """The document that names the authorization servers, to be served at `metadata_path`.

    Args:
        resource: the canonical URI of the server, such as ``https://example.com/mcp``.
        authorization_servers: the issuers, one at least.
        scopes_supported: the scopes that basic use needs.
        members: what else the document has (RFC 9728, section 2), such as ``resource_name``.

    Raises:
        ValueError: there is no authorization server, or JSON can't hold a member.
    """
    document: dict[str, Any] = {"resource": resource, "authorization_servers": list(authorization_servers)}
    if not document["authorization_servers"]:
        raise ValueError("the metadata of a protected resource names one authorization server at least")
    scopes = list(scopes_supported)
    if scopes:
        document["scopes_supported"] = scopes
    document |= members or {}
    body = json.dumps(document, allow_nan=False).encode()
    return HTTPResponse(200, Headers([("Content-Type", "application/json")]), body)


def metadata_path(resource_target: str) -> str:
    """Where the metadata of a resource is served on its host: "/mcp" gives what RFC 9728, section 3.1 says.

    Args:
        resource_target: the path of the resource, with its query if it has one; "" and "/" for the host itself.

    Raises:
        ValueError: it's something else, such as a whole URL.
    """
    if resource_target and resource_target[0] not in "/?":
        raise ValueError(f"the target of a resource is a path, such as /mcp, not {resource_target!r}")
    return _WELL_KNOWN + ("" if resource_target == "/" else resource_target)


@attrs.frozen
class Challenge:
    """One challenge of a ``WWW-Authenticate`` header.

    Attributes:
        scheme: in lower case: "bearer".
        parameters: all of its parameters, by name in lower case.
    """

    scheme: str
    parameters: Mapping[str, str] = attrs.field(factory=dict[str, str])

    @property
    def resource_metadata(self) -> str | None:
        """The URL of the metadata of the protected resource."""
        return self.parameters.get("resource_metadata")

    @property
    def scope(self) -> str | None:
        """The scopes that the request needs, separated by spaces."""
        return self.parameters.get("scope")

    @property
    def error(self) -> str | None:
        """Why the token didn't do: "invalid_token", "insufficient_scope"."""
        return self.parameters.get("error")

    @property
    def error_description(self) -> str | None:
        """The same for people."""
        return self.parameters.get("error_description")


def parse_challenges(headers: Headers) -> tuple[Challenge, ...]:
    """All challenges of a response, in order. What is malformed is left out; of equal names the first counts."""
    found: list[tuple[str, dict[str, str]]] = []
    for value in headers.get_all("WWW-Authenticate"):
        for match in _PART.finditer(value):
            name, quoted, bare = match.groups()
            if quoted is None and bare is None:
                found.append((name.lower(), {}))
            elif found:
                text = bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
                found[-1][1].setdefault(name.lower(), text)
    return tuple(Challenge(scheme, parameters) for scheme, parameters in found)


def parse_challenge(headers: Headers) -> Challenge | None:
    """The challenge that a client of MCP can meet; None without any.

    Those of scheme Bearer go first, then those that name ``resource_metadata``, then as they come.
    """
    challenges = parse_challenges(headers)
    return max(challenges, key=lambda each: (each.scheme == "bearer", each.resource_metadata is not None), default=None)
