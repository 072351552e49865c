"""Where a server is, and where it says that its messages go.

Source: RFC 3986; basic/transports of 2024-11-05 (HTTP with SSE), whose ``endpoint`` event this is for.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urldefrag, urljoin, urlsplit

__all__ = ["AddressError", "absolute", "resolved"]

_CHARACTERS = re.compile(r"[!-~]+")
_PORTS = {"http": 80, "https": 443}


class AddressError(ValueError):
    """This is no address of a server."""


def absolute(url: str) -> str:
    """A URL of a server, without its fragment.

    Raises:
        AddressError: it is none.
    """
    if not isinstance(url, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may have no types
        raise AddressError(f"url is a str such as https://example.com/mcp, not {type(url).__name__}")
    _origin(url)
    return urldefrag(url).url


def resolved(reference: str, base: str) -> str:
    """A URL that the server at *base* gave, which may be relative to it.

    Raises:
        AddressError: it is none, or has another origin than *base*.
    """
    if not _CHARACTERS.fullmatch(reference):
        raise AddressError(f"{reference[:80]!a} is no URI")
    try:
        url = urldefrag(urljoin(base, reference)).url
    except ValueError as error:
        raise AddressError(f"{reference[:80]!a} is no URI: {error}") from None
    if _origin(url) != _origin(base):
        raise AddressError(f"{reference[:80]!a} has another origin than {_shown(base)}")
    return url


def _origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise AddressError(f"{url[:80]!a} is no URL: {error}") from None
    if parts.scheme not in _PORTS or not parts.hostname or not _CHARACTERS.fullmatch(url):
        raise AddressError(f"{url[:80]!a} is no URL such as https://example.com/mcp, in visible ASCII")
    if _has_user(parts):
        raise AddressError("a URL with a user name or a backslash is refused; send credentials in headers")
    return parts.scheme, parts.hostname, _PORTS[parts.scheme] if port is None else port


def _has_user(parts: SplitResult) -> bool:
    return "@" in parts.netloc or "\\" in parts.netloc


def _shown(url: str) -> str:
    scheme, host, port = _origin(url)
    return f"{scheme}://{host}:{port}"
