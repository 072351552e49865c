"""Every class in every revision against the official schemas.

The rows of `mcp_sansio.types` and the schemas are brought into one notation and compared: which classes and
members there are, which are required, their types and the values of enums. What differs on purpose is in
`DIFFERENCES`.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import pytest

from mcp_sansio import types as t
from mcp_sansio.types.base import Payload

from .strategies import FREE, PAYLOADS, REVISIONS, UNNAMED

SCHEMAS = os.environ.get("MCP_SCHEMA_DIR", "")

pytestmark = pytest.mark.skipif(
    not SCHEMAS,
    reason="set MCP_SCHEMA_DIR to the folder `schema` of a checkout of "
    "https://github.com/modelcontextprotocol/modelcontextprotocol",
)

Place = tuple[str, ...]

# Where the schemas have what they don't name as we do: a definition, and members from there on.
PLACES: dict[type[Any], Place] = {
    **UNNAMED,
    t.CompletionArgument: ("CompleteRequest", "params", "argument"),
    t.CompletionContext: ("CompleteRequest", "params", "context"),
    t.Completion: ("CompleteResult", "completion"),
    t.InputResponseRequest: ("InputResponseRequestParams",),
    t.TaskAugmentedRequest: ("TaskAugmentedRequestParams",),
}
OLD_PLACES: dict[tuple[type[Any], str], Place] = {
    (t.Annotations, "2024-11-05"): ("Annotated", "annotations"),
    (t.ResourceTemplateReference, "2024-11-05"): ("ResourceReference",),
    (t.ResourceTemplateReference, "2025-03-26"): ("ResourceReference",),
    (t.ElicitRequestFormParams, "2025-06-18"): ("ElicitRequest", "params"),
    (t.RequestedSchema, "2025-06-18"): ("ElicitRequest", "params", "requestedSchema"),
    (t.UntitledSingleSelectEnumSchema, "2025-06-18"): ("EnumSchema",),
    (t.LegacyTitledEnumSchema, "2025-06-18"): ("EnumSchema",),
}

COMPARED = [cls for cls in PAYLOADS if cls not in (*FREE, t.Request, t.Notification, t.CustomResult)]
COMPARED.remove(t.ElicitRequest)  # its variants are
# What the oldest schemas have no definitions for, though classes derive from it.
BASES = (t.PaginatedRequest, t.PaginatedResult)

# Definitions that need no payload class.
NOT_PAYLOADS = {
    # The envelope, and errors.
    "Request", "Notification", "JSONRPCRequest", "JSONRPCNotification", "JSONRPCResponse",
    "JSONRPCResultResponse", "JSONRPCError", "JSONRPCErrorResponse", "Error", "ParseError",
    "InvalidRequestError", "MethodNotFoundError", "InvalidParamsError", "InternalError",
    "HeaderMismatchError", "MissingRequiredClientCapabilityError", "UnsupportedProtocolVersionError",
    "URLElicitationRequiredError",
    # ``_meta``, which is plain JSON.
    "MetaObject", "RequestMetaObject", "NotificationMetaObject", "ResultMetaObject",
    "SubscriptionsListenResultMetaObject",
    # A union of one.
    "ClientNotification",
    # What classes have in common. The members are compared where they are.
    "Annotated", "BaseMetadata", "Icons", "ResourceContents", "ResourceRequestParams",
}  # fmt: skip

# Members that differ on purpose, by class. (``_meta`` is apart, see `compared`.)
DIFFERENCES: dict[tuple[str, str], str] = {
    ("Tool", "inputSchema"): "a JSON Schema, passed on as it is",
    ("Tool", "outputSchema"): "a JSON Schema, passed on as it is",
    ("CreateMessageResult", "stopReason"): "any string; schema.ts names some, see below",
    ("ElicitResult", "content"): "schema.ts has number where schema.json has integer",
    ("InputRequiredResult", "inputRequests"): "a class for each mode of elicitation/create",
    ("LegacyTitledEnumSchema", "enumNames"): "required: without it, it is an UntitledSingleSelectEnumSchema",
    ("UntitledSingleSelectEnumSchema", "enumNames"): "with it, it is a LegacyTitledEnumSchema",
}


class Schema:
    """The definitions of a revision."""

    def __init__(self, revision: str) -> None:
        document = json.loads((Path(SCHEMAS) / revision / "schema.json").read_text("utf-8"))
        self.definitions: dict[str, Any] = document.get("$defs") or document["definitions"]
        self.seen: set[str] = set()

    def definition(self, name: str) -> Any:
        self.seen.add(name)
        return self.definitions[name]

    def merged(self, schema: Any) -> dict[str, Any]:
        """The properties and required members of an object."""
        if "$ref" in schema:
            return self.merged(self.definition(_name(schema)))
        found: dict[str, Any] = {"properties": dict(schema.get("properties", {}))}
        found["required"] = set(schema.get("required", ()))
        for part in map(self.merged, schema.get("allOf", ())):
            found["properties"].update(part["properties"])
            found["required"] |= part["required"]
        return found

    def at(self, place: Place) -> dict[str, Any] | None:
        """The object at a place; of requests and notifications their params."""
        first, *path = place
        if first not in self.definitions:
            return None
        schema = self.definition(first)
        for step in path:
            schema = schema["items"] if step == "[]" else self.merged(schema)["properties"].get(step)
            if schema is None:
                return None
        found = self.merged(schema)
        if "method" in found["properties"]:
            params = self.merged(found["properties"].get("params", {}))
            return {**params, "method": found["properties"]["method"].get("const")}
        return found

    def types(self, schema: Any) -> frozenset[Any]:
        """The types of a value in our notation."""
        if "$ref" in schema:
            name = _name(schema)
            if name.endswith("Object"):  # JSONObject, MetaObject ...
                return frozenset({"object"})
            target = self.definition(name)
            if "properties" in target or "allOf" in target:
                return frozenset({("class", name)})
            return self.types(target)
        if "anyOf" in schema:
            return frozenset().union(*map(self.types, schema["anyOf"]))
        if "const" in schema or "enum" in schema:
            return frozenset(schema["enum"] if "enum" in schema else [schema["const"]])
        kinds = schema.get("type", "any")
        return frozenset(self.kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds))

    def kind(self, kind: str, schema: Any) -> Any:
        if kind == "array":
            return "array", self.types(schema["items"])
        if kind == "object" and schema.get("properties"):
            return "a nameless class"
        of = schema.get("additionalProperties")
        if kind == "object" and isinstance(of, dict) and of:
            return "map", self.types(of)
        return kind


def _name(schema: Any) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[1]


@cache
def schema_of(revision: str) -> Schema:
    return Schema(revision)


def place_of(cls: type[Any], revision: str) -> Place:
    return OLD_PLACES.get((cls, revision)) or PLACES.get(cls) or (cls.__name__,)


NAMES = {Any: "any", str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def types_of(hint: Any, revision: str) -> frozenset[Any]:
    """The types of a field in the notation of `Schema.types`."""
    arguments = get_args(hint)
    if hint in NAMES:
        return frozenset({NAMES[hint]})
    if hint == dict[str, Any]:
        return frozenset({"object"})
    if get_origin(hint) is Literal:
        return frozenset(arguments)
    if get_origin(hint) is list:
        return frozenset({("array", types_of(arguments[0], revision))})
    if get_origin(hint) is dict:
        return frozenset({("map", types_of(arguments[1], revision))})
    if not arguments:
        if hint is t.UnknownContent or not t.exists(hint, revision):
            return frozenset()
        place = place_of(hint, revision)
        if len(place) == 1:
            return frozenset({("class", place[0])})
        return frozenset({"a nameless class" if t.fields_of(hint, revision) else "object"})
    found = frozenset().union(*(types_of(a, revision) for a in arguments))
    if str in arguments and any(get_origin(a) is Literal for a in arguments):  # an open enum
        found -= {"string"}
    return found


def compared(cls: type[Any], wire: str, revision: str) -> bool:
    """Whether the member must be as in the schema.

    The pages give ``_meta`` to every request and notification (basic/index, General fields); the legacy schemas
    don't repeat it everywhere. What must be in it, and so whether it is required, is the connection's business.
    """
    if wire == "_meta" and issubclass(cls, t.Request | t.Notification):
        return revision == REVISIONS[-1]
    return (cls.__name__, wire) not in DIFFERENCES


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("cls", COMPARED, ids=lambda cls: cls.__name__)
def test_class_is_as_in_the_schema(cls: type[Any], revision: str) -> None:
    schema = schema_of(revision)
    theirs = schema.at(place_of(cls, revision))
    assert t.exists(cls, revision) == (theirs is not None) or (cls in BASES and theirs is None)
    if theirs is None:
        return
    if issubclass(cls, t.ElicitRequest):
        theirs = {**(schema.at(("ElicitRequest",)) or {}), **theirs}
    assert getattr(cls, "method", None) == theirs.get("method")
    ours = {field.wire: field for field in t.fields_of(cls, revision)}
    names = {name for name in ours.keys() | theirs["properties"].keys() if compared(cls, name, revision)}
    assert names & ours.keys() == names & theirs["properties"].keys()
    assert {name for name in names if ours[name].required} == (names & theirs["required"]) - {"_meta"}
    for name in names:
        assert types_of(ours[name].type, revision) == schema.types(theirs["properties"][name]), name


def test_stop_reasons_are_those_of_the_newest_schema() -> None:
    source = Path(SCHEMAS) / REVISIONS[-1] / "schema.ts"
    if not source.exists():
        pytest.skip("this MCP_SCHEMA_DIR has no schema.ts; that of a checkout of the specification has")
    text = source.read_text("utf-8")
    names = [name for part in get_args(t.StopReason) for name in get_args(part)]
    assert f"stopReason?: {' | '.join(json.dumps(name) for name in names)} | string;" in text


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_definition_has_its_class(revision: str) -> None:
    schema = Schema(revision)
    for cls in (*COMPARED, t.ElicitRequest):
        schema.at(place_of(cls, revision))
    missing = {
        name
        for name, definition in schema.definitions.items()
        if ("properties" in definition or "allOf" in definition) and not name.endswith("ResultResponse")
    }
    assert missing - schema.seen - NOT_PAYLOADS == set()


def test_every_difference_is_one() -> None:
    """A row of `DIFFERENCES` that nothing needs is a mistake."""
    needed = set()
    for cls in COMPARED:
        for revision in REVISIONS:
            theirs = schema_of(revision).at(place_of(cls, revision))
            if theirs is None:
                continue
            ours = {field.wire: field for field in t.fields_of(cls, revision)}
            for name in ours.keys() | theirs["properties"].keys():
                same = (
                    name in ours
                    and name in theirs["properties"]
                    and ours[name].required == (name in theirs["required"])
                    and types_of(ours[name].type, revision) == schema_of(revision).types(theirs["properties"][name])
                )
                if not same:
                    needed.add((cls.__name__, name))
    assert DIFFERENCES.keys() <= needed


@pytest.mark.parametrize("union", ["ClientRequest", "ServerRequest", "ClientNotification", "ServerNotification",
                                   "ClientResult", "ServerResult"])  # fmt: skip
def test_unions_hold_what_any_schema_holds(union: str) -> None:
    ours = {cls.__name__ for cls in get_args(getattr(t, union))}
    theirs: set[str] = set()
    for revision in REVISIONS:
        definition = schema_of(revision).definitions.get(union, {})
        theirs |= {_name(part) for part in definition.get("anyOf", [definition]) if "$ref" in part}
    renamed = {"Result": {"EmptyResult"}, "ElicitRequest": {"ElicitRequestFormParams", "ElicitRequestURLParams"}}
    theirs = set().union(*(renamed.get(name, {name}) for name in theirs))
    assert ours - {"CreateTaskResult"} == theirs


def _examples() -> list[Any]:
    if not SCHEMAS:
        return []
    found = []
    for path in sorted(Path(SCHEMAS).glob("*/examples/*/*.json")):
        revision, name = path.parts[-4], path.parent.name
        cls = getattr(t, name, None) or getattr(t, name.removesuffix("Params"), None)
        if revision in REVISIONS and cls in PAYLOADS:
            found.append(pytest.param(path, cls, revision, id=f"{name}/{path.stem}"))
    return found


@pytest.mark.parametrize(("path", "cls", "revision"), _examples())
def test_examples_of_the_specification(path: Path, cls: type[Payload], revision: str) -> None:
    """Each is read, and written as it was."""
    value = json.loads(path.read_text("utf-8"))
    if "method" in value and issubclass(cls, t.Request | t.Notification):
        value = value.get("params", {})
    read: Any = t.structure(value, cls, revision)
    assert t.unstructure(read, revision) == value
    assert not getattr(read, "extra", None)
