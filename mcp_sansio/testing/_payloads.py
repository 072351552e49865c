"""JSON, ids, and the payloads that the rows of `mcp_sansio.types` describe."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import cache
from string import ascii_lowercase
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin

import attrs
from hypothesis import strategies as st

from .. import types as t
from ..jsonrpc import JSONObject, JSONValue, RequestId
from ..spec import REVISIONS
from ..types.base import FieldInfo, Payload, about

__all__ = ["check_revision", "ids", "json_objects", "json_values", "payloads", "values"]

P = TypeVar("P", bound=Payload)

_texts = st.text(max_size=10)
_integers = st.integers(-(2**53) + 1, 2**53 - 1)
_numbers = _integers | st.floats(allow_nan=False, allow_infinity=False)
_scalars: st.SearchStrategy[JSONValue] = st.none() | st.booleans() | _numbers | _texts
_names = st.text(ascii_lowercase, min_size=1, max_size=5)


def _containers(items: st.SearchStrategy[JSONValue]) -> st.SearchStrategy[JSONValue]:
    return st.lists(items, max_size=3) | st.dictionaries(_texts, items, max_size=3)


_json_values: st.SearchStrategy[JSONValue] = st.recursive(_scalars, _containers, max_leaves=4)
_json_objects: st.SearchStrategy[JSONObject] = st.dictionaries(_texts, _json_values, max_size=3)
# The highest and lowest are what each codec reads exactly, see `mcp_sansio.jsonrpc.is_id`.
_ids: st.SearchStrategy[RequestId] = st.integers(-(2**63), 2**64 - 1) | _texts


def json_values() -> st.SearchStrategy[JSONValue]:
    """Decoded JSON of any kind, small. Integers are within 53 bits, so that every peer reads them exactly.

    Example::

        @given(json_values())
        def test_echo(value):
            assert call_tool("echo", {"value": value}) == value
    """
    return _json_values


def json_objects() -> st.SearchStrategy[JSONObject]:
    """Decoded JSON objects, small.

    Example::

        @given(json_objects())
        def test_any_arguments(arguments):
            call_tool("add", arguments)
    """
    return _json_objects


def ids() -> st.SearchStrategy[RequestId]:
    """Request ids and progress tokens: strings, the empty one too, and integers of 64 bits.

    Example::

        @given(ids())
        def test_ping(request_id):
            assert ask({"jsonrpc": "2.0", "id": request_id, "method": "ping"})["id"] == request_id
    """
    return _ids


def payloads(cls: type[P], revision: str, *, unknown: bool = False) -> st.SearchStrategy[P]:
    """Payloads of a class of `mcp_sansio.types`, with any of the members that the revision has.

    A class that stands for others, as `ElicitRequest` does, gives payloads of those. ``_meta`` holds no key of
    the protocol's own: connections put them in, and so does `messages`.

    Example::

        @given(payloads(CallToolResult, "2025-11-25"))
        def test_render(result):
            assert render(result)

    Args:
        cls: the class.
        revision: whose members and values.
        unknown: whether to make members, values of enums and content blocks that the revision doesn't know, too.

    Raises:
        UnavailableError: the revision lacks the class.
        ValueError: there is no such revision.
    """
    check_revision(revision)
    if not t.exists(cls, revision):
        raise t.UnavailableError(cls, revision)
    return _payloads(cls, revision, unknown)  # type: ignore[arg-type]  # mypy: no class is hashable


def check_revision(revision: str) -> None:
    if revision not in REVISIONS:
        raise ValueError(f"there is no revision {revision!r}, only {', '.join(REVISIONS)}")


@cache
def _payloads(cls: type[Any], revision: str, unknown: bool) -> st.SearchStrategy[Any]:
    if variants := about(cls).variants:
        return st.one_of([payloads(v, revision, unknown=unknown) for v in variants if t.exists(v, revision)])
    if cls is t.UnknownContent:
        return st.builds(_unknown_content, _names, _json_objects)
    arguments = {field.name: _members(field, revision, unknown) for field in t.fields_of(cls, revision)}
    if unknown and "extra" in {field.name for field in attrs.fields(cls)}:
        arguments["extra"] = _extras
    made: st.SearchStrategy[Any] = st.builds(cls, **arguments)
    needed = _NEEDED.get(cls)
    return made if needed is None else made.filter(needed)


def _members(field: FieldInfo, revision: str, unknown: bool) -> st.SearchStrategy[Any]:
    given = values(field.type, revision, unknown, name=field.name)
    return given if field.required else st.just(field.default) | given


def _unknown_content(name: str, data: JSONObject) -> t.UnknownContent:
    kind = f"x-{name}"
    return t.UnknownContent(kind, {**data, "type": kind})


def _asks_something(payload: t.InputRequiredResult) -> bool:
    return payload.input_requests is not None or payload.request_state is not None


_NEEDED: dict[type[Any], Callable[[Any], bool]] = {t.InputRequiredResult: _asks_something}
"""What the fields of a class have to be together."""

_extras = st.dictionaries(_names.map("x-".__add__), _json_values, max_size=2)
_meta = st.dictionaries(_names, _json_values, max_size=2)
_uris = st.text(ascii_lowercase, max_size=5).map("x:".__add__)
_base64 = st.binary(max_size=6).map(lambda data: b64encode(data).decode())
_times = st.datetimes().map(lambda time: f"{time.isoformat()}Z")
_counts = st.integers(0, 2**31 - 1)
_shares = st.floats(0, 1) | st.sampled_from((0, 1))
_schemas = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(_texts, _json_objects, max_size=2),
        "required": st.lists(_texts, max_size=2, unique=True),
    },
)

_SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    Any: _json_values,
    str: _texts,
    int: _integers,
    float: _numbers,
    bool: st.booleans(),
    NoneType: st.none(),
    JSONObject: _json_objects,
}

_NAMED: dict[tuple[str | None, Any], st.SearchStrategy[Any]] = {
    ("meta", JSONObject): _meta,
    ("request_id", RequestId): _ids,
    ("progress_token", RequestId): _ids,
    ("result_type", str): st.just("complete"),
    **dict.fromkeys((("input_schema", JSONObject), ("output_schema", JSONObject)), _schemas),
    **{(name, str): _uris for name in ("uri", "uri_template", "url", "src", "website_url", "resource_subscriptions")},
    **{(name, str): _base64 for name in ("blob", "data")},
    **{(name, str): _times for name in ("created_at", "last_updated_at", "last_modified")},
    **{
        (name, int): _counts
        for name in (
            "max_items", "max_length", "max_tokens", "min_items", "min_length", "poll_interval", "size", "total",
            "ttl", "ttl_ms",
        )
    },
    **{(f"{name}priority", float): _shares for name in ("", "cost_", "intelligence_", "speed_")},
}  # fmt: skip
"""Fields that the specification says more of than their type does."""

_OF_REVISION: dict[tuple[str | None, Any], Callable[[str], Any]] = {
    ("protocol_version", str): lambda revision: revision,
    ("supported_versions", list[str]): lambda revision: [revision],
}
"""Fields that name the revision in force."""


def values(hint: Any, revision: str, unknown: bool, *, name: str | None = None) -> st.SearchStrategy[Any]:
    """Values of the type of a field, and of the name of that field, if given."""
    of_revision = _OF_REVISION.get((name, hint))
    if of_revision is not None:
        return st.builds(of_revision, st.just(revision))
    simple = _NAMED.get((name, hint), _SIMPLE.get(hint))
    if simple is not None:
        return simple
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(arguments)
    if not arguments:
        return st.deferred(lambda: _payloads(hint, revision, unknown))
    parts = [values(part, revision, unknown, name=name) for part in arguments if _fits(part, hint, revision, unknown)]
    if origin is list:
        return st.lists(parts[0], max_size=2)
    if origin is dict:
        return st.dictionaries(_texts, parts[1], max_size=2)
    return st.one_of(parts)


def _fits(part: Any, union: Any, revision: str, unknown: bool) -> bool:
    """Whether to make this part of a union: what the revision has, and of the rest what was asked for."""
    if part is t.UnknownContent or (part is str and any(get_origin(other) is Literal for other in get_args(union))):
        return unknown
    return not (isinstance(part, type) and issubclass(part, Payload)) or t.exists(part, revision)
