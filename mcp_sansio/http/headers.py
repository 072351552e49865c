"""The headers of Streamable HTTP: what they mirror of a request, how values are written, and media types.

Source: basic/transports/streamable-http of 2026-07-28 (Request Metadata); basic/transports of 2025-06-18 and 2025-11-25
(Protocol Version Header); RFC 9110, sections 5.5, 5.6, 8.3 and 12.5.1.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeAlias

import attrs

from ..jsonrpc import JSONObject, JSONRPCMessage, JSONRPCRequest, is_array, is_object
from ..spec import is_modern
from ..spec.meta import PROTOCOL_VERSION as VERSION_KEY
from ..types import InitializeRequest
from .values import Headers

__all__ = [
    "LAST_EVENT_ID",
    "METHOD",
    "NAME",
    "NAME_SOURCES",
    "PARAM_PREFIX",
    "PROTOCOL_VERSION",
    "SESSION_ID",
    "TASKS_NAME_SOURCES",
    "HeaderError",
    "ParameterHeader",
    "ToolHeaderError",
    "accepts",
    "content_type",
    "decode_value",
    "encode_value",
    "has_media_type",
    "header_fault",
    "parameter_headers",
    "request_headers",
]

PROTOCOL_VERSION = "MCP-Protocol-Version"
METHOD = "Mcp-Method"
NAME = "Mcp-Name"
SESSION_ID = "Mcp-Session-Id"
LAST_EVENT_ID = "Last-Event-ID"
PARAM_PREFIX = "Mcp-Param-"

NAME_SOURCES: Mapping[str, str] = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The member of params that `NAME` mirrors, by method; other methods have no such header."""

TASKS_NAME_SOURCES: Mapping[str, str] = {"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}
"""The same for the methods of the Tasks extension: ``names={**NAME_SOURCES, **TASKS_NAME_SOURCES}``."""

_VERSION_SINCE = "2025-06-18"
"""The first revision that has the header `PROTOCOL_VERSION`."""


class HeaderError(ValueError):
    """A header can't carry the value, or has one that nothing can be made of."""


class ToolHeaderError(ValueError):
    """An ``x-mcp-header`` in a tool's inputSchema breaks a rule, so that clients must leave the tool out."""


# Values

_SENTINEL = ("=?base64?", "?=")
_PLAIN = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")  # a tab inside is allowed, but others encode it, and expect that
_VALUE = re.compile(r"[ -~\t]*")


def encode_value(text: str) -> str:
    """Write text as the value of `NAME` or a `PARAM_PREFIX` header: as it is, or as base64 where that isn't safe.

    Raises:
        HeaderError: text isn't Unicode (lone surrogates).
    """
    if _PLAIN.fullmatch(text) and not _is_sentinel(text):
        return text
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raise HeaderError("text with lone surrogates can't be a header value") from None
    return f"{_SENTINEL[0]}{b64encode(raw).decode()}{_SENTINEL[1]}"


def decode_value(value: str) -> str:
    """Read what `encode_value` wrote.

    Raises:
        HeaderError: the value has other characters than a header may have, or base64 that isn't.
    """
    value = value.strip(" \t")  # which belongs to the header, not to its value
    if not _is_sentinel(value):
        if not _VALUE.fullmatch(value):
            raise HeaderError("it has invalid characters; use visible ASCII with spaces inside, or =?base64?...?=")
        return value
    encoded = value.removeprefix(_SENTINEL[0]).removesuffix(_SENTINEL[1])
    try:
        raw = b64decode(encoded, validate=True)
        if b64encode(raw).decode() == encoded:
            return raw.decode()
    except ValueError:
        pass
    raise HeaderError("it begins as =?base64? and ends as ?=, but what is in between is no base64 of UTF-8")


def _is_sentinel(value: str) -> bool:
    return value.startswith(_SENTINEL[0]) and value.endswith(_SENTINEL[1])


# Media types

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_MEDIA_TYPE = re.compile(rf"({_TOKEN.pattern}/{_TOKEN.pattern})[ \t]*(?:;|\Z)")
_PARAMETER = re.compile(rf'[ \t]*+(?:({_TOKEN.pattern})=({_TOKEN.pattern}|"(?:[^"\\]|\\.)*+"))?+[ \t]*+(?:;|\Z)')
_ELEMENT = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
_WEIGHT = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


def content_type(value: str | None) -> tuple[str, dict[str, str]] | None:
    """Read a media type: "type/subtype" in lower case, and its parameters by name in lower case.

    None where there is none, or it's malformed. Of a parameter that is repeated the first counts.
    """
    match = _MEDIA_TYPE.match(value.strip(" \t")) if value is not None else None
    if match is None:
        return None
    parameters: dict[str, str] = {}
    position = match.end()
    while position < len(match.string):
        found = _PARAMETER.match(match.string, position)
        if found is None:
            return None
        position = found.end()
        if found[1]:
            text = found[2]
            text = re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text
            parameters.setdefault(found[1].lower(), text)
    return match[1].lower(), parameters


def has_media_type(value: str | None, media_type: str) -> bool:
    """Whether a Content-Type is *media_type*, in UTF-8 if it says so; other parameters don't matter."""
    found = content_type(value)
    return found is not None and found[0] == media_type and found[1].get("charset", "utf-8").lower() == "utf-8"


def accepts(accept_values: Iterable[str], media_type: str) -> bool:
    """Whether the values of Accept allow *media_type*: the most specific range decides, and ``q=0`` says no.

    Ranges that are malformed are left out. Without any value everything is allowed, as RFC 9110 says; that a client
    MUST send one is for the caller to check.
    """
    values = list(accept_values)
    if not values:
        return True
    ranges = (media_type, media_type.partition("/")[0] + "/*", "*/*")
    weights: dict[str, float] = {}
    for element in (element for value in values for element in _ELEMENT.findall(value)):
        found = content_type(element)
        if found is not None and _WEIGHT.fullmatch(found[1].get("q", "1")):
            weights[found[0]] = max(weights.get(found[0], 0.0), float(found[1].get("q", "1")))
    for each in ranges:
        if each in weights:
            return weights[each] > 0
    return False


# Parameters of tools that are mirrored

_ANNOTATION = "x-mcp-header"
_MIRRORED_TYPES = ("string", "integer", "boolean")
_SAFE_INTEGER = 2**53 - 1
_INTEGER = re.compile(r"(-?)0*([0-9]{1,16})(?:\.0+)?")  # as long as safe integers are
_DATA = frozenset({"const", "default", "enum", "examples", _ANNOTATION})
"""Keywords whose values are data, not schemas, whatever they hold."""
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"})
"""Keywords whose values have schemas by names, which are no keywords."""


@attrs.frozen
class ParameterHeader:
    """A parameter of a tool that is mirrored in a header.

    Attributes:
        name: the name of the header, with `PARAM_PREFIX`.
        path: the properties that lead to it from the arguments.
        type: its type: string, integer or boolean.
    """

    name: str
    path: tuple[str, ...]
    type: str


def parameter_headers(input_schema: JSONObject) -> tuple[ParameterHeader, ...]:
    """The parameters of a tool that are mirrored in headers, as ``x-mcp-header`` in its inputSchema says.

    Raises:
        ToolHeaderError: an ``x-mcp-header`` breaks a rule; the message says where, and which.
    """
    found: dict[str, ParameterHeader] = {}
    for path, schema in _schemas(input_schema):
        if _ANNOTATION not in schema:
            continue
        if not path:
            raise ToolHeaderError(f"an {_ANNOTATION} stands where no chain of properties alone leads from the root")
        header = _parameter_header(path, schema)
        other = found.setdefault(header.name.lower(), header)
        if other is not header:
            raise ToolHeaderError(f"{_say_path(path)} and {_say_path(other.path)} have the same {_ANNOTATION}")
    return tuple(found.values())


def _schemas(root: JSONObject) -> Iterator[tuple[tuple[str, ...] | None, JSONObject]]:
    """Each schema within a schema, in order, and the chain of properties that leads to it: () to the root.

    The chain is None where another keyword is on the way. Not recursive, as the peer decides how deep it is.
    """
    pending: list[tuple[tuple[str, ...] | None, Any]] = [((), root)]
    while pending:
        path, schema = pending.pop()
        if is_array(schema):
            pending += [(None, item) for item in reversed(schema)]
        if not is_object(schema):
            continue
        yield path, schema
        inner: list[tuple[tuple[str, ...] | None, Any]] = []
        for keyword, value in schema.items():
            if keyword in _MAPS and is_object(value):
                chained = keyword == "properties" and path is not None
                inner += [((*(path or ()), name) if chained else None, item) for name, item in value.items()]
            elif keyword not in _DATA:
                inner.append((None, value))
        pending += reversed(inner)


def _parameter_header(path: tuple[str, ...], schema: JSONObject) -> ParameterHeader:
    name, kind = schema[_ANNOTATION], schema.get("type")
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise ToolHeaderError(f"the {_ANNOTATION} of {_say_path(path)} is no HTTP token, such as Region")
    if kind not in _MIRRORED_TYPES:
        raise ToolHeaderError(f"{_say_path(path)} has an {_ANNOTATION}, but not the type string, integer or boolean")
    return ParameterHeader(PARAM_PREFIX + name, path, kind)


def _say_path(path: tuple[str, ...]) -> str:
    return _say(".".join(path))


def _say(text: str) -> str:
    return ascii(text) if len(text) <= 60 else f"{text[:60]!a}..."


# Requests


def request_headers(
    message: JSONRPCMessage,
    revision: str,
    parameters: Iterable[ParameterHeader] = (),
    *,
    names: Mapping[str, str] = NAME_SOURCES,
) -> list[tuple[str, str]]:
    """The headers that a client sends for what the message says.

    Args:
        message: what is in the body.
        revision: the revision in force, or that is tried.
        parameters: of the tool that is called, from `parameter_headers`.
        names: `NAME_SOURCES`, and those of extensions.

    Raises:
        HeaderError: a value can't be written in a header.
    """
    initializes = isinstance(message, JSONRPCRequest) and message.method == InitializeRequest.method
    if revision < _VERSION_SINCE or initializes:
        return []  # initialize negotiates the version in its body
    headers = [(PROTOCOL_VERSION, revision)]
    if is_modern(revision) and isinstance(message, JSONRPCRequest):
        if not _PLAIN.fullmatch(message.method):
            raise HeaderError(f"{METHOD} can't carry the method {_say(message.method)}")
        headers.append((METHOD, message.method))
        for name, value in _mirrored(message, parameters, names):
            if value is None:
                continue
            if _is_unsafe(value):
                raise HeaderError(f"{name} can't mirror an integer beyond 2**53 - 1")
            headers.append((name, encode_value(_text(value))))
    return headers


def header_fault(
    headers: Headers,
    message: JSONRPCRequest,
    parameters: Iterable[ParameterHeader] = (),
    *,
    names: Mapping[str, str] = NAME_SOURCES,
) -> str | None:
    """What is wrong with the headers of a modern request, for the error -32020; None: nothing.

    Headers that mirror nothing of this request are ignored. What the body lacks is for others to judge, unless there
    is a header for it.

    Args:
        headers: of the HTTP request.
        message: what is in its body.
        parameters: of the tool that is called, from `parameter_headers`.
        names: `NAME_SOURCES`, and those of extensions.
    """
    params = message.params or {}
    meta = params.get("_meta")
    version = meta.get(VERSION_KEY) if is_object(meta) else None
    plain = [(PROTOCOL_VERSION, version if isinstance(version, str) else None), (METHOD, message.method)]
    faults = (_fault(name, headers.get_all(name), value, str) for name, value in plain)
    encoded = (
        _fault(name, headers.get_all(name), value, decode_value)
        for name, value in _mirrored(message, parameters, names)
    )
    return next(filter(None, chain(faults, encoded)), None)


_Scalar: TypeAlias = str | bool | int


def _mirrored(
    message: JSONRPCRequest, parameters: Iterable[ParameterHeader], names: Mapping[str, str]
) -> Iterator[tuple[str, _Scalar | None]]:
    """The headers that mirror params of the request, each with the value in the body; None where there is none."""
    params = message.params or {}
    if message.method in names:
        value = params.get(names[message.method])
        yield NAME, value if isinstance(value, str) else None
    for parameter in parameters:
        value = params.get("arguments")
        for step in parameter.path:
            value = value.get(step) if is_object(value) else None
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # 42.0 is an integer to JSON Schema
        yield parameter.name, value if isinstance(value, str | int) else None


def _is_unsafe(value: _Scalar) -> bool:
    """Whether it's an integer that JavaScript doesn't hold exactly, which may not be mirrored."""
    return isinstance(value, int) and not -_SAFE_INTEGER <= value <= _SAFE_INTEGER


def _text(value: _Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _fault(name: str, given: tuple[str, ...], value: _Scalar | None, decode: Callable[[str], str]) -> str | None:
    """What is wrong with the values of one header, whose value in the body is *value*."""
    if value is None:
        return f"{name} is sent, but the body has no value that it mirrors" if given else None
    if _is_unsafe(value):
        return f"{name} mirrors an integer beyond 2**53 - 1 in the body, which is not allowed"
    if not given:
        return f"{name} is missing; the body has {_say(_text(value))}"
    for each in given:  # repeats must agree, as the next reader may take any of them
        try:
            decoded = decode(each)
        except HeaderError as error:
            return f"{name} can't be read: {error}"
        if not _is_same(decoded, value):
            return f"{name} header value {_say(decoded)} does not match body value {_say(_text(value))}"
    return None


def _is_same(decoded: str, value: _Scalar) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        match = _INTEGER.fullmatch(decoded)
        return match is not None and int(match[1] + match[2]) == value
    return decoded == _text(value)
