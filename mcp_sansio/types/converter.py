"""From decoded JSON to payload classes and back, exactly.

Nothing is converted: a value either has the shape that the revision's schema gives or is refused. There is
one set of rules for both directions: what `unstructure` wrote is read again before it is given away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from ..jsonrpc import JSONObject
from ._reading import FAILURES, Hook, Reader
from ._writing import Writer
from .base import Payload
from .errors import PayloadError, UnavailableError, describe
from .messages import CustomNotification, CustomRequest

__all__ = ["PayloadError", "UnavailableError", "structure", "unstructure"]

T = TypeVar("T")


@cache
def _hooks(revision: str) -> tuple[Reader, Writer]:
    from cattrs import Converter

    converter = Converter(detailed_validation=False)
    return Reader(revision, converter), Writer(revision, converter)


@cache
def _reading(cls: Any, revision: str) -> Hook:
    return _hooks(revision)[0].hook(cls)


@cache
def _writing(cls: Any, revision: str) -> Callable[[Any], Any]:
    return _hooks(revision)[1].hook(cls)


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
        raise _hooks(revision)[0].locate(value, hook) from None
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
        raise _hooks(revision)[0].locate(value, hook) from None
    return value


def _custom(payload: CustomRequest | CustomNotification) -> JSONObject:
    for path, part in (("$", payload.params), ("$", payload.extra), ("$._meta", payload.meta)):
        if part is not None and part.__class__ is not dict:
            raise PayloadError(path, "an object", describe(part))
    value = {**payload.extra, **(payload.params or {})}
    if payload.meta is not None:
        value["_meta"] = payload.meta
    return value
