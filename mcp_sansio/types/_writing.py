"""From payload classes to JSON: the hooks of one revision.

They pass on whatever they don't know as it is: reading the outcome again finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args, get_origin

import attrs

from ._reading import is_payload
from .base import FieldInfo, Request, exists, fields_of
from .content import UnknownContent
from .errors import UnavailableError

__all__ = ["Writer"]

Hook = Callable[[Any], Any]


class Writer:
    """The hooks for one revision, each made when first needed."""

    def __init__(self, revision: str) -> None:
        from cattrs import Converter
        from cattrs.fns import identity

        self._revision = revision
        self._converter = Converter()
        self._as_is: Hook = identity  # cattrs knows it, and leaves it out of the code that it makes
        self._hooks: dict[Any, Hook] = {}

    def hook(self, hint: Any) -> Hook:
        """The hook for a type. That of a class which the revision lacks raises `UnavailableError`."""
        hook = self._hooks.get(hint)
        if hook is None:
            hook = self._hooks[hint] = self._make(hint)
        return hook

    def _make(self, hint: Any) -> Hook:
        if is_payload(hint):
            return self._class(hint)
        origin = get_origin(hint)
        if origin is list or origin is dict:
            item_hook = self.hook(get_args(hint)[-1])
            if item_hook is self._as_is:
                return item_hook
            return _list(item_hook) if origin is list else _map(item_hook)
        return self._union(get_args(hint))

    def _union(self, arguments: tuple[Any, ...]) -> Hook:
        """By the class of the value. What is no union has none."""
        table: dict[type[Any], Hook] = {}
        for argument in arguments:
            if is_payload(argument):
                hook = self.hook(argument)
                table[argument] = _message(hook) if issubclass(argument, Request) else hook
            elif get_origin(argument) is list and self.hook(argument) is not self._as_is:
                table[list] = self.hook(argument)
        if not table:
            return self._as_is

        def union(value: Any) -> Any:
            hook = table.get(value.__class__)
            return value if hook is None else hook(value)

        return union

    def _class(self, cls: type[Any]) -> Hook:
        if cls is UnknownContent:
            return _unknown_content
        if not exists(cls, self._revision):
            return self._unavailable(cls)
        from cattrs.gen import (
            make_dict_unstructure_fn_from_attrs,  # pyright: ignore[reportUnknownVariableType]  # Attribute is generic
            override,
        )

        overrides: dict[str, Any] = {a.name: override(omit=True) for a in attrs.fields(cls)}
        is_open = "extra" in overrides
        for field in fields_of(cls, self._revision):
            always = field.stamp is not None or _is_tag(field)
            overrides[field.name] = override(
                rename=field.wire,
                unstruct_hook=self.hook(field.type) if field.stamp is None else _stamp(field.stamp),
                omit_if_default=not always,
            )
        write = make_dict_unstructure_fn_from_attrs(
            list(attrs.fields(cls)), cls, self._converter, _cattrs_use_linecache=False, **overrides
        )

        def hook(value: Any) -> Any:
            if value.__class__ is not cls:
                return value
            written = write(value)
            if is_open and value.extra:
                if value.extra.__class__ is not dict:
                    return value
                for name, item in value.extra.items():
                    written.setdefault(name, item)
            return written

        return hook

    def _unavailable(self, cls: type[Any]) -> Hook:
        def hook(value: Any) -> Any:
            raise UnavailableError(cls, self._revision)

        return hook


def _is_tag(field: FieldInfo) -> bool:
    return field.required and field.default is not None and field.default is not attrs.NOTHING


def _unknown_content(value: Any) -> Any:
    return value.data if value.__class__ is UnknownContent else value


def _list(item_hook: Hook) -> Hook:
    return lambda value: [item_hook(item) for item in value] if value.__class__ is list else value


def _map(item_hook: Hook) -> Hook:
    def hook(value: Any) -> Any:
        if value.__class__ is not dict:
            return value
        return {name: item_hook(item) for name, item in value.items()}

    return hook


def _stamp(stamp: Any) -> Hook:
    return lambda value: stamp if value is None else value


def _message(hook: Hook) -> Hook:
    """A whole request, as an object with ``method`` and, unless they are empty, ``params``."""

    def message(value: Any) -> Any:
        params = hook(value)
        return {"method": value.method, "params": params} if params else {"method": value.method}

    return message
