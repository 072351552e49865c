"""HTTP requests and responses as values, whatever server or client library moves them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias, cast

import attrs

__all__ = ["HTTPRequest", "HTTPResponse", "HeaderItems", "Headers"]

HeaderItems: TypeAlias = Iterable[tuple[str, str]] | Iterable[tuple[bytes, bytes]] | Mapping[str, str]
"""What `Headers` are made from: pairs of name and value, or a mapping. Bytes, as ASGI has them, are Latin-1."""


def _pairs(items: HeaderItems) -> tuple[tuple[str, str], ...]:
    pairs = cast("Mapping[str, str]", items).items() if isinstance(items, Mapping) else items
    return tuple((_text(name), _text(value).strip(" \t")) for name, value in pairs)


def _text(part: str | bytes) -> str:
    if isinstance(part, bytes):
        return part.decode("latin-1")
    if not isinstance(part, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may have no types
        raise TypeError(f"names and values are str, not {type(part).__name__}")
    return part


def _folded(items: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name.lower(), value) for name, value in items)


@attrs.frozen(repr=False)
class Headers:
    """Header fields, in order and with their repeats. Names match in any case, and values lose the space around them.

    Iteration gives pairs of name and value. Whatever else a value holds is kept: `mcp_sansio.http.headers` judges it.

    Raises:
        TypeError: a name or a value is neither str nor bytes.

    Source: RFC 9110, section 5.
    """

    _items: tuple[tuple[str, str], ...] = attrs.field(default=(), converter=_pairs, eq=_folded)

    def get(self, name: str) -> str | None:
        """The value of *name*, repeats joined by ``", "`` as RFC 9110 says; None where there is none."""
        values = self.get_all(name)
        return ", ".join(values) if values else None

    def get_all(self, name: str) -> tuple[str, ...]:
        """Each value of *name*, in order."""
        wanted = name.lower()
        return tuple(value for name, value in self._items if name.lower() == wanted)

    def with_(self, items: HeaderItems) -> Headers:
        """A copy with these fields instead of any that have their names."""
        added = _pairs(items)
        replaced = {name for name, _ in _folded(added)}
        return Headers((*(item for item in self._items if item[0].lower() not in replaced), *added))

    def __contains__(self, name: str) -> bool:
        return bool(self.get_all(name))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        # Values may be secrets: tokens and session ids.
        return f"<Headers {', '.join(name for name, _ in self._items)}>"


def _repr_target(target: str) -> str:
    return repr(target.partition("?")[0])  # a query may hold a session's id


def _repr_body(body: bytes) -> str:
    return f"<{len(body)} bytes>"


def _headers(items: HeaderItems) -> Headers:
    return items if isinstance(items, Headers) else Headers(items)


def _check_body(instance: object, attribute: attrs.Attribute[bytes], body: bytes) -> None:
    if not isinstance(body, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may have no types
        raise TypeError(f"body is bytes, not {type(body).__name__}")


@attrs.frozen
class HTTPRequest:
    """A request.

    Attributes:
        method: as sent; "GET" and "get" are two methods.
        target: path and query on a server, the whole URL on a client.
        headers: its header fields; what `Headers` are made from is converted.
        body: the whole body.

    Raises:
        TypeError: the body is not bytes.
    """

    method: str
    target: str = attrs.field(repr=_repr_target)
    headers: Headers = attrs.field(default=Headers(), converter=_headers)
    body: bytes = attrs.field(default=b"", repr=_repr_body, validator=_check_body)


@attrs.frozen
class HTTPResponse:
    """A response, or its start where the body is a stream.

    Attributes:
        status: the status code.
        headers: its header fields; what `Headers` are made from is converted. Content-Length and Date are the driver's.
        body: the whole body.

    Raises:
        TypeError: the body is not bytes.
    """

    status: int
    headers: Headers = attrs.field(default=Headers(), converter=_headers)
    body: bytes = attrs.field(default=b"", repr=_repr_body, validator=_check_body)
