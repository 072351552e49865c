"""Hypothesis strategies for payloads, made from the rows of `mcp_sansio.types`."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, get_args, get_origin

import attrs
from hypothesis import strategies as st

from mcp_sansio import types as t
from mcp_sansio.types.base import Payload, about

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")

PAYLOADS: tuple[type[Any], ...] = tuple(
    value
    for name in t.__all__
    if isinstance(value := getattr(t, name), type) and issubclass(value, Payload) and value is not Payload
)
"""Every payload class."""

FREE = (t.CustomRequest, t.CustomNotification, t.UnknownContent)
"""Classes whose members the specification doesn't say."""

texts = st.text(max_size=5)
integers = st.integers(-(2**53), 2**53)
numbers = integers | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
json_values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(texts, scalars, max_size=2)
json_objects = st.dictionaries(texts, json_values, max_size=2)
extras = st.just({}) | st.dictionaries(texts.map("x-".__add__), json_values, min_size=1, max_size=2)

_SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    Any: json_values,
    str: texts,
    int: integers,
    float: numbers,
    bool: st.booleans(),
    type(None): st.none(),
    dict[str, Any]: json_objects,
}


def existing(revision: str) -> list[type[Any]]:
    """The classes with known members that the revision has."""
    return [cls for cls in PAYLOADS if cls not in FREE and t.exists(cls, revision)]


@cache
def payloads(cls: type[Any], revision: str) -> st.SearchStrategy[Any]:
    """Payloads of the class, or of its variants, with every member that the revision has."""
    if variants := about(cls).variants:
        return st.one_of(payloads(v, revision) for v in variants if t.exists(v, revision))
    if cls is t.UnknownContent:
        return st.builds(_unknown_content, texts.map("x-".__add__), json_objects)
    arguments: dict[str, st.SearchStrategy[Any]] = {}
    for field in t.fields_of(cls, revision):
        given = values(field.type, revision)
        arguments[field.name] = given if field.required else st.just(field.default) | given
    if "extra" in {a.name for a in attrs.fields(cls)}:
        arguments["extra"] = extras
    return st.builds(cls, **arguments)


def _unknown_content(kind: str, data: dict[str, Any]) -> t.UnknownContent:
    return t.UnknownContent(kind, {**data, "type": kind})


def values(hint: Any, revision: str) -> st.SearchStrategy[Any]:
    """Values of the type of a field."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    arguments = get_args(hint)
    if get_origin(hint) is list:
        return st.lists(values(arguments[0], revision), max_size=2)
    if get_origin(hint) is dict:
        return st.dictionaries(texts, values(arguments[1], revision), max_size=2)
    if get_origin(hint) is Literal:
        return st.sampled_from(arguments)
    if arguments:
        return st.one_of(values(a, revision) for a in arguments if _usable(a, revision))
    return st.deferred(lambda: payloads(hint, revision))


def _usable(hint: Any, revision: str) -> bool:
    return not (isinstance(hint, type) and issubclass(hint, Payload)) or t.exists(hint, revision)
