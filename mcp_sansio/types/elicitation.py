"""Elicitation: the server asks the user something. Source: page client/elicitation."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from ..jsonrpc import JSONObject
from .base import Notification, Payload, Result, member, payload
from .tasks import TaskAugmentedRequest

__all__ = [
    "BooleanSchema",
    "ElicitAction",
    "ElicitRequest",
    "ElicitRequestFormParams",
    "ElicitRequestURLParams",
    "ElicitResult",
    "ElicitationCompleteNotification",
    "EnumOption",
    "EnumSchema",
    "LegacyTitledEnumSchema",
    "MultiSelectEnumSchema",
    "NumberSchema",
    "PrimitiveSchemaDefinition",
    "RequestedSchema",
    "SingleSelectEnumSchema",
    "StringFormat",
    "StringSchema",
    "TitledItems",
    "TitledMultiSelectEnumSchema",
    "TitledSingleSelectEnumSchema",
    "UntitledItems",
    "UntitledMultiSelectEnumSchema",
    "UntitledSingleSelectEnumSchema",
]

ElicitAction: TypeAlias = Literal["accept", "decline", "cancel"] | str
StringFormat: TypeAlias = Literal["email", "uri", "date", "date-time"] | str


@payload(since="2025-06-18")
class StringSchema(Payload):
    """A text field."""

    title: str | None = member(default=None)
    description: str | None = member(default=None)
    min_length: int | None = member(default=None)
    max_length: int | None = member(default=None)
    format: StringFormat | None = member(default=None)
    default: str | None = member(default=None, since="2025-11-25")
    type: Literal["string"] = "string"


@payload(since="2025-06-18")
class NumberSchema(Payload):
    """A field for a number."""

    type: Literal["number", "integer"]
    title: str | None = member(default=None)
    description: str | None = member(default=None)
    minimum: float | None = member(default=None)
    maximum: float | None = member(default=None)
    default: float | None = member(default=None, since="2025-11-25")


@payload(since="2025-06-18")
class BooleanSchema(Payload):
    """A field for yes or no."""

    title: str | None = member(default=None)
    description: str | None = member(default=None)
    default: bool | None = member(default=None)
    type: Literal["boolean"] = "boolean"


@payload(since="2025-11-25")
class EnumOption(Payload):
    """A choice and the name to show for it."""

    const: str
    title: str


@payload(since="2025-06-18", has=("enum",))
class UntitledSingleSelectEnumSchema(Payload):
    """One of some values."""

    enum: list[str]
    title: str | None = member(default=None)
    description: str | None = member(default=None)
    default: str | None = member(default=None, since="2025-11-25")
    type: Literal["string"] = "string"


@payload(since="2025-11-25", has=("oneOf",))
class TitledSingleSelectEnumSchema(Payload):
    """One of some values that have names to show."""

    one_of: list[EnumOption]
    title: str | None = member(default=None)
    description: str | None = member(default=None)
    default: str | None = member(default=None)
    type: Literal["string"] = "string"


@payload(since="2025-11-25")
class UntitledItems(Payload):
    """The values of an `UntitledMultiSelectEnumSchema`."""

    enum: list[str]
    type: Literal["string"] = "string"


@payload(since="2025-11-25")
class TitledItems(Payload):
    """The values of a `TitledMultiSelectEnumSchema`."""

    any_of: list[EnumOption]


@payload(since="2025-11-25", has=("items", "enum"))
class UntitledMultiSelectEnumSchema(Payload):
    """Any of some values."""

    items: UntitledItems
    title: str | None = member(default=None)
    description: str | None = member(default=None)
    min_items: int | None = member(default=None)
    max_items: int | None = member(default=None)
    default: list[str] | None = member(default=None)
    type: Literal["array"] = "array"


@payload(since="2025-11-25", has=("items", "anyOf"))
class TitledMultiSelectEnumSchema(Payload):
    """Any of some values that have names to show."""

    items: TitledItems
    title: str | None = member(default=None)
    description: str | None = member(default=None)
    min_items: int | None = member(default=None)
    max_items: int | None = member(default=None)
    default: list[str] | None = member(default=None)
    type: Literal["array"] = "array"


@payload(since="2025-06-18", has=("enumNames",))
class LegacyTitledEnumSchema(Payload):
    """One of some values, with names to show in a list of their own.

    Without those names the same JSON is an `UntitledSingleSelectEnumSchema`, so they are required here.
    """

    enum: list[str]
    enum_names: list[str]
    title: str | None = member(default=None)
    description: str | None = member(default=None)
    default: str | None = member(default=None, since="2025-11-25")
    type: Literal["string"] = "string"


SingleSelectEnumSchema: TypeAlias = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema
MultiSelectEnumSchema: TypeAlias = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema
# The legacy one first: what has enumNames has an enum too, and the first that fits wins.
EnumSchema: TypeAlias = LegacyTitledEnumSchema | SingleSelectEnumSchema | MultiSelectEnumSchema
PrimitiveSchemaDefinition: TypeAlias = StringSchema | NumberSchema | BooleanSchema | EnumSchema
"""One field of a form."""


@payload(since="2025-06-18")
class RequestedSchema(Payload):
    """The form: a flat JSON Schema object."""

    properties: dict[str, PrimitiveSchemaDefinition]
    required: list[str] | None = member(default=None)
    schema: str | None = member(default=None, wire="$schema", since="2025-11-25")
    type: Literal["object"] = "object"


@payload(since="2025-06-18", has=("action",))
class ElicitResult(Result):
    """What the user answered."""

    action: ElicitAction
    content: dict[str, str | float | bool | list[str]] | None = member(
        default=None, before=("2025-11-25", dict[str, str | float | bool])
    )
    """The values of the form, if it was accepted. Lists of strings since 2025-11-25."""
    # In 2026-07-28 this is an input response, no result of its own: it has no resultType and no _meta.
    result_type: str | None = member(default=None, kw_only=True, since="never")
    meta: JSONObject | None = member(default=None, kw_only=True, until="2025-11-25")


@payload(since="2025-06-18")
class ElicitRequest(TaskAugmentedRequest[ElicitResult]):
    """Ask the user something: an `ElicitRequestFormParams` or an `ElicitRequestURLParams`.

    There is a class for each mode, so that ``match`` tells them apart by class and each has just the fields
    that its mode has. This one stands for both; it is never itself sent or received.
    """

    method: ClassVar[str] = "elicitation/create"
    message: str
    # In 2026-07-28 this is an input request, no request of its own: it has no _meta.
    meta: JSONObject | None = member(default=None, kw_only=True, until="2025-11-25")


@payload(since="2025-06-18", variant_of=ElicitRequest)
class ElicitRequestFormParams(ElicitRequest):
    """Ask the user to fill in a form."""

    requested_schema: RequestedSchema
    mode: Literal["form"] | None = member(default=None, since="2025-11-25")
    """None means the same; not every client knows modes."""


@payload(since="2025-11-25", variant_of=ElicitRequest)
class ElicitRequestURLParams(ElicitRequest):
    """Ask the user to open a URL."""

    url: str
    elicitation_id: str | None = member(default=None, until="2025-11-25", required=True)
    """Required in 2025-11-25: what `ElicitationCompleteNotification` will name."""
    mode: Literal["url"] = "url"


@payload(since="2025-11-25", until="2025-11-25")
class ElicitationCompleteNotification(Notification):
    """What the user did at the URL is done."""

    method: ClassVar[str] = "notifications/elicitation/complete"
    elicitation_id: str
