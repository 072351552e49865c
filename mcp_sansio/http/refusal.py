"""Requests that are refused, and the checks that need no more than their head.

Source: basic/transports/streamable-http of 2026-07-28, basic/transports of the older revisions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

import attrs

from ..codec import STDLIB
from ..errors import LocalProtocolError, Reason
from ..jsonrpc import Error, JSONRPCErrorResponse, RequestId, message_to_json
from ..spec import ErrorCode
from .exchange import JSON_TYPE, STREAM_TYPE, Accepts
from .headers import accepts, has_media_type
from .values import Headers, HTTPRequest, HTTPResponse

__all__ = ["LOCAL_HOSTS", "SESSION_GONE", "Gate", "Refused", "served_hosts", "served_origins"]

LOCAL_HOSTS: frozenset[str] = frozenset({"localhost", "127.0.0.1", "::1"})
"""The names of this machine."""

_LENGTH = re.compile("[0-9]{1,19}")


class Refused(Exception):
    """A request that gets an error right away.

    Attributes:
        status: the HTTP status.
        code: the code of the JSON-RPC error in the body.
        detail: its message.
        id: the id that it answers; None where there is none.
        headers: further headers of the response.
    """

    def __init__(
        self,
        status: int,
        code: ErrorCode,
        detail: str,
        *,
        id: RequestId | None = None,
        headers: Iterable[tuple[str, str]] = (),
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.id, self.headers = status, code, detail, id, tuple(headers)

    def response(self) -> HTTPResponse:
        """The response that says so."""
        error = JSONRPCErrorResponse(self.id, Error(int(self.code), self.detail))
        headers = Headers([("Content-Type", JSON_TYPE), *self.headers])
        return HTTPResponse(self.status, headers, STDLIB.encode(message_to_json(error)))


SESSION_GONE = Refused(404, ErrorCode.INVALID_REQUEST, "there is no such session; initialize a new one")
"""What makes a client start anew."""


def served_hosts(hosts: Collection[str] | None) -> frozenset[str] | None:
    """The hosts that an endpoint is given, in lower case.

    Raises:
        LocalProtocolError: they are not names alone (``Reason.CONFIGURATION``).
    """
    if hosts is None:
        return None
    if isinstance(hosts, str):
        raise LocalProtocolError(Reason.CONFIGURATION, f"hosts is a list of names: write hosts=[{hosts!r}]")
    given = tuple(hosts)
    for host in given:
        address = f"[{host}]" if host.count(":") > 1 and "[" not in host and "/" not in host else host
        name = _host_of(address if "//" in address else f"//{address}")
        if name != host.lower() or "*" in host:
            better = repr(name) if name and "*" not in name else "'example.com', or hosts=None for any"
            detail = f"hosts are names without scheme, port and wildcard: not {host!r}, write {better}"
            raise LocalProtocolError(Reason.CONFIGURATION, detail)
    return frozenset(host.lower() for host in given)


def served_origins(origins: Collection[str]) -> frozenset[str]:
    """The origins that an endpoint is given.

    Raises:
        LocalProtocolError: they are one str (``Reason.CONFIGURATION``).
    """
    if isinstance(origins, str):
        raise LocalProtocolError(Reason.CONFIGURATION, f"origins is a list: write origins=[{origins!r}]")
    return frozenset(origins)


@attrs.frozen
class Gate:
    """What a request must fulfil before its body is looked at.

    Attributes:
        methods: the methods that are served.
        hosts: as for `Endpoint`, in lower case.
        origins: as for `Endpoint`.
        lenient_accept: as for `Endpoint`.
        body_bytes: how long a body may be.
    """

    methods: tuple[str, ...]
    hosts: frozenset[str] | None
    origins: frozenset[str]
    lenient_accept: bool
    body_bytes: int

    def check(self, request: HTTPRequest) -> Accepts:
        """Raise `Refused`, or tell what the client takes as a response."""
        self._check_origin(request.headers)
        if request.method not in self.methods:
            allowed = ", ".join(self.methods)
            detail = f"only {allowed} {'are' if len(self.methods) > 1 else 'is'} served"
            raise Refused(405, ErrorCode.INVALID_REQUEST, detail, headers=[("Allow", allowed)])
        if request.method == "DELETE":
            return Accepts()
        given = request.headers.get_all("Accept")
        accepted = Accepts(accepts(given, JSON_TYPE), accepts(given, STREAM_TYPE))
        if request.method == "POST":
            self._check_body(request)
            lenient = self.lenient_accept and (accepted.json or accepted.stream)
            needed, found = f"{JSON_TYPE} and {STREAM_TYPE}", lenient or (accepted.json and accepted.stream)
        else:
            needed, found = STREAM_TYPE, accepted.stream
        if not found:
            raise Refused(406, ErrorCode.INVALID_REQUEST, f"Accept must list {needed}")
        return accepted

    def _check_origin(self, headers: Headers) -> None:
        """Against DNS rebinding: Host and Origin name hosts that are served."""
        names = {_host_of(f"//{host}"): host for host in headers.get_all("Host")}
        served = names.keys() if self.hosts is None else self.hosts
        for name, value in names.items():
            if name not in served:
                detail = f"Host {value[:60]!a} is not served here: see Endpoint(hosts=...)"
                raise Refused(403, ErrorCode.INVALID_REQUEST, detail)
        for origin in headers.get_all("Origin"):
            host = _host_of(origin)
            if origin not in self.origins and (host is None or host not in served):
                detail = f"Origin {origin[:60]!a} is not allowed here: see Endpoint(origins=...)"
                raise Refused(403, ErrorCode.INVALID_REQUEST, detail)

    def _check_body(self, request: HTTPRequest) -> None:
        lengths = set(request.headers.get_all("Content-Length"))
        if len(lengths) > 1 or not all(_LENGTH.fullmatch(each) for each in lengths):
            raise Refused(400, ErrorCode.INVALID_REQUEST, "Content-Length must be one number")
        if max([len(request.body), *map(int, lengths)]) > self.body_bytes:
            raise Refused(413, ErrorCode.INVALID_REQUEST, f"the body has more than {self.body_bytes} bytes")
        if not has_media_type(request.headers.get("Content-Type"), JSON_TYPE):
            raise Refused(415, ErrorCode.INVALID_REQUEST, f"Content-Type must be {JSON_TYPE}")


def _host_of(origin: str) -> str | None:
    """The host that an origin names, without its port; None where it names none."""
    try:
        return urlsplit(origin).hostname
    except ValueError:
        return None
