"""Properties that hold for every payload class in every revision."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_sansio import types as t
from mcp_sansio.types.base import about
from mcp_sansio.types.errors import describe

from .strategies import FREE, PAYLOADS, REVISIONS, existing, json_objects, payloads

CLASSES = [cls for cls in PAYLOADS if cls not in FREE]

each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
each_revision = pytest.mark.parametrize("revision", REVISIONS)


def examples(count: int) -> Any:
    return settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def revisions_of(cls: type[Any]) -> list[str]:
    return [revision for revision in REVISIONS if t.exists(cls, revision)]


def drawn(data: st.DataObject, cls: type[Any]) -> tuple[Any, str]:
    revision = data.draw(st.sampled_from(revisions_of(cls)))
    return data.draw(payloads(cls, revision)), revision


@each_class
@examples(6)
@given(st.data(), json_objects)
def test_what_is_written_is_read_back(cls: type[Any], data: st.DataObject, unknown: dict[str, Any]) -> None:
    """And unknown members are kept where the schema is open."""
    payload, revision = drawn(data, cls)
    value = t.unstructure(payload, revision)
    assert json.loads(json.dumps(value)) == value
    again = t.structure(value, type(payload), revision)
    assert exactly(again) == exactly(payload)
    assert exactly(t.unstructure(again, revision)) == exactly(value)
    if variants := about(cls).variants:
        assert type(payload) in variants
        assert t.structure(value, cls, revision) == payload
    more = {**{f"y-{name}": item for name, item in unknown.items()}, **value}
    again = t.structure(more, type(payload), revision)
    if "extra" in names_of(cls):
        assert t.unstructure(again, revision) == more
    else:
        assert again == payload


def exactly(value: Any) -> str:
    """Tells 1, 1.0 and True apart, which are equal in Python."""
    if isinstance(value, dict):
        return repr({name: exactly(value[name]) for name in sorted(value)})
    return repr(value)


@each_class
@examples(3)
@given(st.data())
def test_other_revisions_get_only_their_members(cls: type[Any], data: st.DataObject) -> None:
    payload, _ = drawn(data, cls)
    cls = type(payload)
    for revision in REVISIONS:
        if not t.exists(cls, revision):
            with pytest.raises(t.UnavailableError, match=cls.__name__) as error:
                t.unstructure(payload, revision)
            assert (error.value.since, error.value.until) == (about(cls).since, about(cls).until)
            with pytest.raises(t.UnavailableError):
                t.structure({}, cls, revision)
            continue
        try:
            value = t.unstructure(payload, revision)
        except t.UnavailableError as error:
            assert not t.exists(getattr(t, error.what), revision)
        except t.PayloadError:  # a required member, or one that this revision wants otherwise
            pass
        else:
            names = {field.wire for field in t.fields_of(cls, revision)}
            assert value.keys() <= names | getattr(payload, "extra", {}).keys()
            t.structure(value, cls, revision)


def names_of(cls: type[Any]) -> set[str]:
    return {field.name for field in attrs.fields(cls)}


WRONG: dict[type[Any], Any] = {
    type(None): None, bool: True, int: 7, float: 7.5, str: "?", list: [None], dict: {"?": None},
}  # fmt: skip


def kinds(hint: Any, revision: str) -> set[type[Any]]:
    """The Python types of the JSON values that a field may have."""
    if hint is Any:
        return set(WRONG)
    if hint is float:
        return {int, float}
    if get_origin(hint) is Literal:
        return {str}
    if get_origin(hint) in (list, dict):
        return {get_origin(hint)}
    if arguments := get_args(hint):
        return set().union(*(kinds(a, revision) for a in arguments))
    return {hint} if hint in WRONG else {dict}


@each_class
@examples(1)
@given(st.data())
def test_members_of_the_wrong_type_are_refused(cls: type[Any], data: st.DataObject) -> None:
    for revision in revisions_of(cls):
        payload = data.draw(payloads(cls, revision))
        value = t.unstructure(payload, revision)
        for field in t.fields_of(type(payload), revision):
            refuse_wrong_types(payload, value, field, revision)
        for wrong in (None, True, 7, 7.5, "?", [], ()):
            with pytest.raises(t.PayloadError, match=r"^\$: expected an object, found "):
                t.structure(wrong, cls, revision)


def refuse_wrong_types(payload: Any, value: dict[str, Any], field: t.FieldInfo, revision: str) -> None:
    cls = type(payload)
    allowed = kinds(field.type, revision) | ({type(None)} if field.null else set())
    for kind, wrong in WRONG.items():
        if kind in allowed:
            continue
        with pytest.raises(t.PayloadError) as error:
            t.structure({**value, field.wire: wrong}, cls, revision)
        assert resolve(error.value.path, {field.wire: wrong}) == wrong
        assert error.value.found == describe(wrong)
        if wrong is not None:  # which means absent
            with pytest.raises(t.PayloadError) as error:
                t.unstructure(attrs.evolve(payload, **{field.name: wrong}), revision)
            assert resolve(error.value.path, {field.wire: wrong}) == wrong
    if field.type is not Any:
        with pytest.raises(t.PayloadError) as error:
            t.unstructure(attrs.evolve(payload, **{field.name: b"?"}), revision)
        assert error.value.found == "a Python bytes"
    without = {name: item for name, item in value.items() if name != field.wire}
    if field.required and field.stamp is None:
        with pytest.raises(t.PayloadError) as error:
            t.structure(without, cls, revision)
        assert (error.value.path, error.value.found) == (f"$.{field.wire}", "nothing")
    else:
        assert getattr(t.structure(without, cls, revision), field.name) is field.default


@each_class
@examples(5)
@given(st.data())
def test_an_error_leads_to_the_bad_value(cls: type[Any], data: st.DataObject) -> None:
    payload, revision = drawn(data, cls)
    value = copy.deepcopy(t.unstructure(payload, revision))
    places = list(parts(value, "$"))
    if not places:
        return
    holder, key, path = data.draw(st.sampled_from(places))
    holder[key] = data.draw(st.sampled_from(list(WRONG.values())))
    error = refused(value, type(payload), revision)
    if error is None:
        return
    assert error.path.startswith(path) or path.startswith(error.path.rpartition(".")[0])
    assert len(error.found) <= 60
    assert str(error) == f"{error.path}: expected {error.expected}, found {error.found}"
    if error.found == "nothing":
        above, _, name = error.path.rpartition(".")
        assert name not in resolve(above, value)
    else:
        assert describe(resolve(error.path, value)) == error.found


def refused(value: Any, cls: type[Any], revision: str) -> t.PayloadError | None:
    try:
        t.structure(value, cls, revision)
    except t.PayloadError as error:
        return error
    return None


def parts(value: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """All parts of a value: what holds it, under which key, and its path."""
    for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
        here = f"{path}[{key}]"
        if isinstance(key, str):
            here = f"{path}.{key}" if key.isidentifier() or key == "$schema" else f"{path}[{json.dumps(key)}]"
        yield value, key, here
        if isinstance(item, dict | list):
            yield from parts(item, here)


STEP = re.compile(r"""\.([^.\[]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]""")


def resolve(path: str, value: Any) -> Any:
    assert path.startswith("$")
    position = 1
    while position < len(path):
        step = STEP.match(path, position)
        assert step is not None, path
        name, index, quoted = step.groups()
        value = value[int(index) if index else json.loads(quoted) if quoted else name]
        position = step.end()
    return value


@each_revision
def test_every_type_of_a_field_exists(revision: str) -> None:
    """Where a field exists some class of its type does, and no required field comes and goes."""
    for cls in existing(revision):
        for field in t.fields_of(cls, revision):
            assert kinds(field.type, revision)
            classes = [a for a in (field.type, *get_args(field.type)) if a in PAYLOADS and a not in FREE]
            assert not classes or any(t.exists(a, revision) for a in classes), (cls, field.name)
        always = {f.name for f in attrs.fields(cls) if f.default is attrs.NOTHING}
        assert always <= {field.name for field in t.fields_of(cls, revision)}
