"""From decoded JSON to payload classes: the hooks of one revision.

A hook takes a value and a type (which cattrs passes and ours ignore) and raises one of `FAILURES` for a value
of the wrong shape. Nothing is noted on the way, which keeps reading fast; what was wrong, and where,
`Reader.locate` finds out afterwards, in time linear in the value.

Types are compared exactly, so that true is no integer, by ``__class__``: it is faster than ``type()``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import count, repeat
from types import NoneType
from typing import Any, Literal, NamedTuple, TypeGuard, Union, get_args, get_origin

import attrs

from ..jsonrpc import JSONObject
from .base import FieldInfo, Payload, Request, about, exists, fields_of
from .content import UnknownContent
from .errors import MISSING, PayloadError, UnavailableError, describe

__all__ = ["FAILURES", "Hook", "Reader", "is_payload"]

Hook = Callable[[Any, Any], Any]

Child = tuple[str | int | None, Any, Hook]
"""A part of a value: its name or index, the part or `MISSING`, and the hook that reads it. The name is None
where the part is the value itself, read by another hook."""


class WrongShape(Exception):
    """A value was refused."""


FAILURES = (WrongShape, KeyError)
"""What hooks raise. (KeyError: for a required member that is missing.)"""


class _Node(NamedTuple):
    """What `Reader.locate` knows about a hook."""

    expected: str
    children: Callable[[Any], Iterable[Child]]


def _any(value: Any, _: Any) -> Any:
    return value


def _string(value: Any, _: Any) -> str:
    if value.__class__ is str:
        return value
    raise WrongShape


def _integer(value: Any, _: Any) -> int:
    if value.__class__ is int:
        return value
    raise WrongShape


def _number(value: Any, _: Any) -> float:
    if value.__class__ is float or value.__class__ is int:
        return value
    raise WrongShape


def _boolean(value: Any, _: Any) -> bool:
    if value.__class__ is bool:
        return value
    raise WrongShape


def _null(value: Any, _: Any) -> None:
    return None


def _object(value: Any, _: Any) -> JSONObject:
    if value.__class__ is dict:
        return value
    raise WrongShape


class _Simple(NamedTuple):
    """A type whose values have no parts."""

    hook: Hook
    expected: str
    types: tuple[type[Any], ...]


_SIMPLE: dict[Any, _Simple] = {
    Any: _Simple(_any, "a value", ()),
    str: _Simple(_string, "a string", (str,)),
    int: _Simple(_integer, "an integer", (int,)),
    float: _Simple(_number, "a number", (int, float)),
    bool: _Simple(_boolean, "true or false", (bool,)),
    NoneType: _Simple(_null, "null", (NoneType,)),
    JSONObject: _Simple(_object, "an object", (dict,)),
}


def is_payload(hint: Any) -> TypeGuard[type[Payload]]:
    """Whether a type is a payload class."""
    return isinstance(hint, type) and get_origin(hint) is None and issubclass(hint, Payload)


class Reader:
    """The hooks for one revision, each made when first needed."""

    def __init__(self, revision: str) -> None:
        self._revision = revision
        self._hooks: dict[Any, Hook] = {}
        self._nodes: dict[Hook, _Node] = {}
        for hint, simple in _SIMPLE.items():
            self._hooks[hint] = self._with_node(simple.hook, simple.expected)

    def hook(self, hint: Any) -> Hook:
        """The hook for a type.

        Raises:
            UnavailableError: the revision lacks the class.
        """
        hook = self._hooks.get(hint)
        if hook is None:
            hook = self._hooks[hint] = self._make(hint)
        return hook

    def locate(self, value: Any, hook: Hook, path: str = "$") -> PayloadError:
        """The error for a value that the hook refused: it names the first part at fault."""
        node = self._nodes[hook]
        for name, part, part_hook in node.children(value):
            if part is not MISSING:
                try:
                    part_hook(part, None)
                    continue
                except FAILURES:
                    pass
            return self.locate(part, part_hook, path + _step(name))
        return PayloadError(path, node.expected, describe(value))

    def _with_node(
        self, hook: Hook, expected: str, children: Callable[[Any], Iterable[Child]] = lambda value: ()
    ) -> Hook:
        self._nodes[hook] = _Node(expected, children)
        return hook

    def _make(self, hint: Any) -> Hook:
        if is_payload(hint):
            if not exists(hint, self._revision):
                raise UnavailableError(hint, self._revision)
            variants = about(hint).variants
            return self._tagged(self._existing(variants)) if variants else self._class(hint)
        origin = get_origin(hint)
        arguments = get_args(hint)
        if origin is list:
            return self._list(self.hook(arguments[0]))
        if origin is dict:
            return self._map(self.hook(arguments[1]))
        if origin is Literal:
            return self._one_of(arguments)
        return self._union(arguments)

    def _existing(self, classes: Iterable[type[Any]]) -> list[type[Any]]:
        return [cls for cls in classes if exists(cls, self._revision)]

    def _list(self, item_hook: Hook) -> Hook:
        def hook(value: Any, _: Any) -> list[Any]:
            if value.__class__ is not list:
                raise WrongShape
            return [item_hook(item, None) for item in value]

        def children(value: Any) -> Iterable[Child]:
            return zip(count(), value, repeat(item_hook), strict=False) if value.__class__ is list else ()

        return self._with_node(hook, "an array", children)

    def _map(self, item_hook: Hook) -> Hook:
        def hook(value: Any, _: Any) -> dict[str, Any]:
            if value.__class__ is not dict:
                raise WrongShape
            return {name: item_hook(item, None) for name, item in value.items()}

        def children(value: Any) -> Iterable[Child]:
            if value.__class__ is dict:
                return zip(value, value.values(), repeat(item_hook), strict=False)
            return ()

        return self._with_node(hook, "an object", children)

    def _one_of(self, values: Iterable[str], *, refuse: bool = False) -> Hook:
        known = frozenset[str]() if refuse else frozenset(values)

        def hook(value: Any, _: Any) -> Any:
            if value.__class__ is str and value in known:
                return value
            raise WrongShape

        quoted = [f'"{value}"' for value in values]
        return self._with_node(hook, " or ".join(quoted))

    def _union(self, arguments: tuple[Any, ...]) -> Hook:
        """By the JSON type of the value; among classes, by their members."""
        table: dict[type[Any], Hook] = {}
        expected: list[str] = []
        classes = [argument for argument in arguments if is_payload(argument)]
        if classes:
            table[dict] = self._classes(classes)
            expected.append("an object")
        for argument in arguments:
            if argument in _SIMPLE:
                hook, name, types = _SIMPLE[argument]
                table.update(dict.fromkeys(types, hook))
                expected.append(name)
            elif get_origin(argument) is list:
                table[list] = self.hook(argument)
                expected.append("an array")
            # else a class, or the literals of an open enum, which are strings
        if len(table) == 1:
            return next(iter(table.values()))
        if not classes and all(hook in _INLINE for hook in table.values()):
            return self._with_node(_any_of(frozenset(table)), " or ".join(expected))

        def union(value: Any, _: Any) -> Any:
            chosen = table.get(value.__class__)
            if chosen is None:
                raise WrongShape
            return chosen(value, None)

        def children(value: Any) -> Iterable[Child]:
            return [(None, value, table[value.__class__])] if value.__class__ in table else ()

        return self._with_node(union, " or ".join(expected), children)

    def _classes(self, classes: list[type[Payload]]) -> Hook:
        known = self._existing(cls for cls in classes if cls is not UnknownContent)
        if issubclass(known[0], Request):
            return self._messages(known)
        return self._tagged(known, unknown=UnknownContent in classes)

    def _messages(self, classes: list[type[Any]]) -> Hook:
        """Whole requests, as objects with ``method`` and ``params``."""
        methods = dict.fromkeys(cls.method for cls in classes)
        table = {m: self._tagged([cls for cls in classes if cls.method == m]) for m in methods}
        unknown = self._one_of(table, refuse=True)

        def hook(value: Any, _: Any) -> Any:
            if value.__class__ is not dict:
                raise WrongShape
            method = value["method"]
            if method.__class__ is not str or method not in table:
                raise WrongShape
            return table[method](value.get("params", {}), None)

        def children(value: Any) -> Iterable[Child]:
            if value.__class__ is not dict:
                return ()
            method = value.get("method", MISSING)
            if method.__class__ is str and method in table:
                return [("params", value.get("params", MISSING), table[method])]
            return [("method", method, unknown)]

        return self._with_node(hook, "an object", children)

    def _tagged(self, classes: list[type[Any]], *, unknown: bool = False) -> Hook:
        """Classes with a member, ``type`` for instance, whose value tells them apart."""
        if len(classes) == 1 and not unknown:
            return self.hook(classes[0])
        tags = {cls: field for cls in classes if (field := _tag(cls, self._revision))}
        if not tags:
            return self._by_member(classes)
        (tag,) = {field.wire for field in tags.values()}
        groups: dict[str | None, list[type[Any]]] = {}
        for cls, field in tags.items():
            for value in get_args(field.type) if field.required else (None, *get_args(field.type)):
                groups.setdefault(value, []).append(cls)
        table = {value: self._by_member(group) for value, group in groups.items()}
        string = self._hooks[str]
        refused = string if unknown else self._one_of([v for v in table if v is not None], refuse=True)

        def hook(value: Any, _: Any) -> Any:
            if value.__class__ is not dict:
                raise WrongShape
            kind = value.get(tag)
            if kind.__class__ is str:
                chosen = table.get(kind)
                if chosen is None and unknown:
                    return UnknownContent(kind, value)
            else:
                chosen = table.get(None) if kind is None else None
            if chosen is None:
                raise WrongShape
            return chosen(value, None)

        def children(value: Any) -> Iterable[Child]:
            if value.__class__ is not dict:
                return ()
            kind = value.get(tag)
            if (kind.__class__ is str or kind is None) and kind in table:
                return [(None, value, table[kind])]
            return [(tag, value.get(tag, MISSING), refused)]

        return self._with_node(hook, "an object", children)

    def _by_member(self, classes: list[type[Any]]) -> Hook:
        """Classes that are told apart by the members that they have; the one that needs none comes last."""
        if len(classes) == 1:
            return self.hook(classes[0])
        options = [(about(cls).has, self.hook(cls)) for cls in classes]
        options.sort(key=lambda option: not option[0])

        def choose(value: Any) -> Hook | None:
            return next((hook for has, hook in options if _has(value, has)), None)

        def hook(value: Any, _: Any) -> Any:
            chosen = choose(value)
            if chosen is None:
                raise WrongShape
            return chosen(value, None)

        def children(value: Any) -> Iterable[Child]:
            chosen = choose(value)
            return () if chosen is None else [(None, value, chosen)]

        names = [".".join(has) for has, _ in options]
        return self._with_node(hook, f"an object with {' or '.join(names)}", children)

    def _class(self, cls: type[Any]) -> Hook:
        fields = fields_of(cls, self._revision)
        hooks = {f.name: self.hook(_nullable(f.type) if f.null else f.type) for f in fields}

        def children(value: Any) -> Iterable[Child]:
            if value.__class__ is not dict:
                return ()
            looked_at = [f for f in fields if f.wire in value or _is_needed(f)]
            return [(f.wire, value.get(f.wire, MISSING), hooks[f.name]) for f in looked_at]

        return self._with_node(_generate(cls, fields, hooks), "an object", children)


_INLINE: dict[Hook, str] = {
    _any: "pass",
    _string: "if part.__class__ is not str: raise WrongShape",
    _integer: "if part.__class__ is not int: raise WrongShape",
    _number: "if part.__class__ is not float and part.__class__ is not int: raise WrongShape",
    _boolean: "if part.__class__ is not bool: raise WrongShape",
    _object: "if part.__class__ is not dict: raise WrongShape",
}
"""What `_generate` writes instead of a call of the hook."""


def _any_of(kinds: frozenset[type[Any]]) -> Hook:
    def hook(value: Any, _: Any) -> Any:
        if value.__class__ in kinds:
            return value
        raise WrongShape

    return hook


def _is_needed(field: FieldInfo) -> bool:
    """Whether a value without the member is refused."""
    return field.required and field.stamp is None


def _generate(cls: type[Any], fields: tuple[FieldInfo, ...], hooks: dict[str, Hook]) -> Hook:
    """Write the hook of a class: a function that knows its members by name, about twice as fast as a loop.

    It makes the instance as ``__init__`` would, which does no more than fill the ``__dict__``.
    """
    present = {field.name: field for field in fields}
    names: dict[str, Any] = {"WrongShape": WrongShape, "new": object.__new__, "cls": cls}
    lines = [
        "def hook(value, _):",
        " if value.__class__ is not dict: raise WrongShape",
        " made = new(cls)",
        " into = made.__dict__",
        f" known = {sum(map(_is_needed, fields))}",
    ]
    for attribute in attrs.fields(cls):
        name = attribute.name
        names[f"default_{name}"] = attribute.default
        absent = f"into[{name!r}] = default_{name}"
        if name in present:
            wire = present[name].wire
            names[f"hook_{name}"] = hooks[name]
            check = _INLINE.get(hooks[name], f"part = hook_{name}(part, None)")
            read = [f"part = value[{wire!r}]", check, f"into[{name!r}] = part"]
            if _is_needed(present[name]):
                lines += [f" {line}" for line in read]
            else:
                lines += [f" if {wire!r} in value:", *(f"  {line}" for line in read), "  known += 1"]
                lines += [" else:", f"  {absent}"]
        elif name == "extra":
            names["wires"] = frozenset(field.wire for field in fields)
        else:
            lines.append(f" {absent}")
    if "wires" in names:
        unknown = "{n: value[n] for n in value if n not in wires}"
        lines.append(f" into['extra'] = {{}} if known == len(value) else {unknown}")
    exec("\n".join([*lines, " return made"]), names)
    hook: Hook = names["hook"]
    return hook


def _nullable(hint: Any) -> Any:
    return Union[hint, None]  # noqa: UP007  # made at run time


def _tag(cls: type[Any], revision: str) -> FieldInfo | None:
    return next((f for f in fields_of(cls, revision) if get_origin(f.type) is Literal), None)


def _has(value: Any, path: tuple[str, ...]) -> bool:
    for name in path:
        if value.__class__ is not dict or name not in value:
            return False
        value = value[name]
    return True


def _step(name: str | int | None) -> str:
    if name is None:
        return ""
    if isinstance(name, str):
        return f".{name}" if name.isidentifier() or name == "$schema" else f"[{json.dumps(name)}]"
    return f"[{name}]"
