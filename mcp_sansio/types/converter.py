"""From decoded JSON to payload classes and back, exactly.

Nothing is converted: a value either has the shape that the revision's schema gives or is refused. There is
one set of rules for both directions: what `unstructure` wrote is read again before it is given away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from ..jsonrpc import JSONObject
from ._reading import FAILURES, Hook, Reader, is_payload
from ._writing import Writer
from .base import Payload
from .errors import PayloadError, UnavailableError, describe
from .messages import CustomNotification, CustomRequest

if TYPE_CHECKING:
    from cattrs import Converter

__all__ = ["PayloadError", "UnavailableError", "make_converter", "structure", "unstructure"]

T = TypeVar("T")


@cache
def _reader(revision: str) -> Reader:
    return Reader(revision)


@cache
def _writer(revision: str) -> Writer:
    return Writer(revision)


@cache
def _reading(cls: Any, revision: str) -> Hook:
    return _reader(revision).hook(cls)


@cache
def _writing(cls: Any, revision: str) -> Callable[[Any], Any]:
    return _writer(revision).hook(cls)


def structure(value: Any, cls: type[T], revision: str) -> T:
    """Read decoded JSON, such as the params of a request or a result, as ``cls``.

    Members that the revision doesn't have are kept in ``extra`` where the class has that, else ignored. The
    payload shares objects with ``value``. (A `CustomRequest` or `CustomNotification` is made directly.)

    Raises:
        PayloadError: the value has the wrong shape.
        UnavailableError: the revision lacks the class.
    """
    key: Any = cls  # which has a hash, though its instances have none
    hook = _reading(key, revision)
    try:
        made: T = hook(value, cls)
    except FAILURES:
        raise _reader(revision).locate(value, hook) from None
    return made


def unstructure(payload: object, revision: str, *, check: bool = True) -> JSONObject:
    """Write a payload as JSON that `structure` accepts in the same revision.

    Members that the revision lacks are left out, and so are those that are None. The outcome shares objects
    with the payload. Without ``check`` it is the caller who reads it back.

    Raises:
        PayloadError: a value has the wrong shape, or a member that the revision requires is None.
        UnavailableError: the revision lacks the class of the payload or of something in it.
    """
    if not isinstance(payload, Payload):
        raise PayloadError("$", "a payload", describe(payload))
    if isinstance(payload, (CustomRequest, CustomNotification)):
        return _custom(payload)
    cls: Any = type(payload)
    value: JSONObject = _writing(cls, revision)(payload)
    if not check:
        return value
    hook = _reading(cls, revision)
    try:
        hook(value, cls)
    except FAILURES:
        raise _reader(revision).locate(value, hook) from None
    return value


def make_converter(revision: str) -> Converter:
    """A cattrs converter with these rules as its hooks, for classes of your own that hold payloads.

    What is no payload is cattrs' to convert, in its own way. `PayloadError` and `UnavailableError` come from the
    payloads, in whatever cattrs wraps errors.
    """
    from cattrs import Converter

    def reading(cls: Any) -> Hook:
        return lambda value, _: structure(value, cls, revision)

    def writing(cls: Any) -> Callable[[Any], Any]:
        return lambda payload: unstructure(payload, revision)

    converter = Converter()
    converter.register_structure_hook_factory(is_payload, reading)
    converter.register_unstructure_hook_factory(is_payload, writing)
    return converter


def _custom(payload: CustomRequest | CustomNotification) -> JSONObject:
    for path, part in (("$", payload.params), ("$", payload.extra), ("$._meta", payload.meta)):
        if part is not None and part.__class__ is not dict:
            raise PayloadError(path, "an object", describe(part))
    value = {**payload.extra, **(payload.params or {})}
    if payload.meta is not None:
        value["_meta"] = payload.meta
    return value
