"""How payload classes are described, and the classes that all of them derive from.

Every class of this package is a row: `payload` says in which revisions it exists, `member` says it for each
field. The converter, the documentation, the strategies and the tests read the same rows through `fields_of`
and `exists`. Revisions are ISO dates, so comparing the strings orders them; ``since`` and ``until`` are
inclusive and None means "from the first" and "to the last".
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import get_annotations
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    TypedDict,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import attrs

from ..jsonrpc import JSONObject

__all__ = [
    "EmptyResult",
    "FieldInfo",
    "Notification",
    "Payload",
    "Request",
    "Result",
    "about",
    "exists",
    "fields_of",
    "member",
    "payload",
]

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)
"""The result class of a request."""

_KEY = "mcp"


class _Member(TypedDict, total=False):
    """What `member` was told, as the metadata of the field."""

    since: str | None
    until: str | None
    wire: str | None
    required: bool
    optional_in: tuple[str, ...]
    before: tuple[str, Any] | None
    stamp: Any
    null: bool


class About(NamedTuple):
    """What `payload` was told about one class."""

    since: str | None
    until: str | None
    has: tuple[str, ...]
    variants: list[type[Any]]
    hints: dict[str, Any]
    """Filled when first needed."""


@attrs.frozen
class FieldInfo:
    """One field of a payload class, as it is in one revision."""

    name: str
    """Its name in Python."""
    wire: str
    """Its name in JSON."""
    type: Any
    """Its type; None is not part of it where None only means that the member is absent."""
    required: bool
    """Whether the revision's schema requires the member."""
    default: Any
    """The default in Python; ``attrs.NOTHING`` where there is none."""
    stamp: Any
    """What is written where the revision requires the member and the field is None; else None."""
    null: bool
    """Whether null is read as absent."""


def member(
    *,
    default: Any = attrs.NOTHING,
    factory: Callable[[], Any] | None = None,
    kw_only: bool = False,
    since: str | None = None,
    until: str | None = None,
    wire: str | None = None,
    required: bool = False,
    optional_in: tuple[str, ...] = (),
    before: tuple[str, Any] | None = None,
    stamp: Any = None,
    null: bool = False,
) -> Any:
    """Describe one field, as ``attrs.field`` does.

    Args:
        default, factory, kw_only: as in attrs.
        since, until: the revisions that have the member. ``since="never"`` takes an inherited one away.
        wire: its JSON name, where camelCase of the Python name is not it.
        required: the schema requires the member though the field has a default (some revision lacks it).
        optional_in: revisions that don't require it all the same.
        before: ``(revision, type)``: the narrower type that the member had before that revision.
        stamp: written where the member is required and the field is None. Reading accepts its absence.
        null: null is read as absent. (Elsewhere null is refused unless the type has None and no default.)
    """
    row: _Member = {
        "since": since,
        "until": until,
        "wire": wire,
        "required": required,
        "optional_in": optional_in,
        "before": before,
        "stamp": stamp,
        "null": null,
    }
    return attrs.field(default=default, factory=factory, kw_only=kw_only, metadata={_KEY: row})


@dataclass_transform(frozen_default=True, field_specifiers=(member,))
def payload(
    *,
    since: str | None = None,
    until: str | None = None,
    has: tuple[str, ...] = (),
    variant_of: type[Any] | None = None,
) -> Callable[[type[T]], type[T]]:
    """Make a frozen attrs class of a subclass of `Payload`.

    Args:
        since, until: the revisions that have the class.
        has: the path of a JSON member that tells this class from the others of a union, where no tag does.
        variant_of: the class that stands for this one and its like, such as `ElicitRequest`.
    """

    # No slots, equality and repr from the base, nothing made for a class without fields of its own: half the
    # time at import. And without slots a frozen __init__ is faster.
    def decorate(cls: type[T]) -> type[T]:
        made = cls
        if len(cls.__bases__) > 1 or not all(map(_is_class_var, get_annotations(cls).values())):
            made = attrs.define(cls, frozen=True, slots=False, eq=False, repr=False, order=False)
        made.__payload__ = About(since, until, has, [], {})  # type: ignore[attr-defined]  # T is a Payload
        if variant_of is not None:
            about(variant_of).variants.append(made)
        return made

    return decorate


def _is_class_var(annotation: str) -> bool:
    return annotation.startswith("ClassVar")


class Payload:
    """Base of all payload classes: immutable values, equal if their classes and fields are equal.

    Not hashable, since most hold JSON objects.
    """

    __payload__: ClassVar[About]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.__dict__ == other.__dict__

    def __repr__(self) -> str:
        """The fields that differ from their defaults."""
        shown = [
            f"{field.name}={value!r}"
            for field in attrs.fields(type(self))  # type: ignore[arg-type]  # every subclass is an attrs class
            if (value := getattr(self, field.name)) is not field.default and not (field.name == "extra" and value == {})
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


@payload()
class Request(Payload, Generic[R_co]):
    """A request: its fields are the members of ``params``; ``R_co`` is the class of its result."""

    method: ClassVar[str]
    meta: JSONObject | None = member(default=None, kw_only=True)
    """``_meta``, plain JSON. In 2026-07-28 the connection fills in what that revision requires."""
    extra: JSONObject = member(factory=dict, kw_only=True)
    """Members of ``params`` that this revision doesn't know."""


@payload()
class Notification(Payload):
    """A notification: its fields are the members of ``params``."""

    method: ClassVar[str]
    meta: JSONObject | None = member(default=None, kw_only=True)
    """``_meta``, plain JSON."""
    extra: JSONObject = member(factory=dict, kw_only=True)
    """Members of ``params`` that this revision doesn't know."""


@payload()
class Result(Payload):
    """A result."""

    meta: JSONObject | None = member(default=None, kw_only=True)
    """``_meta``, plain JSON."""
    result_type: str | None = member(default=None, kw_only=True, since="2026-07-28", required=True, stamp="complete")
    """"complete", "input_required" or an extension's own; None is written as what the class stands for."""
    extra: JSONObject = member(factory=dict, kw_only=True)
    """Members that this revision doesn't know."""


@payload()
class EmptyResult(Result):
    """A result that says no more than that the request was served."""


def about(cls: type[Any]) -> About:
    """What `payload` was told about this class."""
    return cls.__payload__  # type: ignore[no-any-return]  # cls is a Payload, which Any hides


def _within(revision: str, since: str | None, until: str | None) -> bool:
    return (since is None or since <= revision) and (until is None or revision <= until)


def exists(cls: type[Any], revision: str) -> bool:
    """Whether this revision has the class."""
    row = about(cls)
    return _within(revision, row.since, row.until)


def _camel(name: str) -> str:
    if name == "meta":
        return "_meta"
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _hints(cls: type[Any]) -> dict[str, Any]:
    hints = about(cls).hints
    if not hints:
        hints.update(get_type_hints(cls))
    return hints


def _is_tag(hint: Any, default: Any) -> bool:
    return get_origin(hint) is Literal and default in get_args(hint)


def _without_none(hint: Any) -> Any:
    arguments = get_args(hint)
    if type(None) not in arguments:
        return hint
    return Union[tuple(a for a in arguments if a is not type(None))]  # noqa: UP007  # made at run time


def fields_of(cls: type[Any], revision: str) -> tuple[FieldInfo, ...]:
    """The fields that the class has in this revision, ``extra`` aside, in the order of ``attrs.fields``."""
    hints = _hints(cls)
    found: list[FieldInfo] = []
    for field in attrs.fields(cls):
        row: _Member = field.metadata.get(_KEY, {})
        if field.name == "extra" or not _within(revision, row.get("since"), row.get("until")):
            continue
        hint = hints[field.name]
        before = row.get("before")
        if before is not None and revision < before[0]:
            hint = before[1]
        if field.default is None:
            hint = _without_none(hint)
        required = field.default is attrs.NOTHING or row.get("required", False) or _is_tag(hint, field.default)
        found.append(
            FieldInfo(
                name=field.name,
                wire=row.get("wire") or _camel(field.name),
                type=hint,
                required=required and revision not in row.get("optional_in", ()),
                default=field.default,
                stamp=row.get("stamp"),
                null=row.get("null", False),
            )
        )
    return tuple(found)
