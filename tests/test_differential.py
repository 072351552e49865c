"""What we read and refuse against what the official ``mcp-types`` reads and refuses.

For each payload class in each revision that ``mcp-types`` has wire models for, payloads from the strategies, and
mutants of them, are given to both. Where the two differ, the rows of `DIFFERENCES` repair what they are
about; what differs for another reason stays different, and fails the test.

Theirs is asked as its session layer asks: decoded JSON into ``model_validate(..., by_name=False)`` of the wire model,
then, where it has one for the method, of the version-free model. (``docs/differences.md`` is the table for readers.)
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

import attrs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from mcp_sansio import types as t
from mcp_sansio.jsonrpc import ABSENT
from mcp_sansio.types.base import Payload
from mcp_sansio.types.converter import PayloadError, structure, unstructure

from .strategies import FREE, PAYLOADS, REVISIONS, UNNAMED, existing, payloads

mcp_types = pytest.importorskip("mcp_types", reason="needs mcp-types 2.3 or later")

import mcp_types._v2025_11_25 as v2025  # noqa: E402
import mcp_types._v2026_07_28 as v2026  # noqa: E402
from mcp_types import methods  # noqa: E402
from pydantic import TypeAdapter, ValidationError  # noqa: E402

LEGACY, MODERN = "2025-11-25", "2026-07-28"
MODULES: dict[str, Any] = {LEGACY: v2025, MODERN: v2026}
SCHEMAS = os.environ.get("MCP_SCHEMA_DIR", "")
DOCS = Path(__file__).parents[1] / "docs" / "differences.md"

Step = str | int
Path_ = tuple[Step, ...]

# Theirs

# Bases, which it names otherwise.
NAMES: dict[type[Any], str] = {
    t.Request: "RequestParams",
    t.Notification: "NotificationParams",
    t.PaginatedRequest: "PaginatedRequestParams",
    t.TaskAugmentedRequest: "TaskAugmentedRequestParams",
    t.InputResponseRequest: "InputResponseRequestParams",
    t.CustomResult: "Result",
}
# What has two version-free models, either of which will do.
VERSION_FREE: dict[type[Any], Any] = {t.CreateMessageResult: methods.MONOLITH_RESULTS["sampling/createMessage"]}
# Classes whose models have made-up names: a model, and members from there on.
PLACES: dict[type[Any], tuple[str, ...]] = {
    **UNNAMED,
    t.CompletionArgument: ("CompleteRequestParams", "argument"),
    t.CompletionContext: ("CompleteRequestParams", "context"),
}

Validate = Callable[[Any], Any]


@cache
def validators(cls: Any, revision: str) -> tuple[Validate, ...]:
    """What mcp-types puts a payload of the class through."""
    module, name = MODULES[revision], cls.__name__
    if cls in PLACES:
        first, *path = PLACES[cls]
        return (_direct(_member_type(getattr(module, first), path)),)
    method = getattr(cls, "method", None)
    if cls in NAMES or method is None or name.endswith("Params"):
        found = [_direct(getattr(module, NAMES.get(cls, name)))]
        version_free = getattr(mcp_types, name, None)
        if any(version_free in _arms(row) for row in methods.MONOLITH_RESULTS.values()):
            found.append(_direct(VERSION_FREE.get(cls, version_free)))
        return tuple(found)
    found = [_framed(getattr(module, name), method)]
    messages: dict[str, Any] = {**methods.MONOLITH_REQUESTS, **methods.MONOLITH_NOTIFICATIONS}
    if method in messages:
        found.append(_framed(messages[method], method))
    return tuple(found)


def _arms(row: Any) -> tuple[Any, ...]:
    return get_args(row) or (row,)


def _direct(target: Any) -> Validate:
    return partial(TypeAdapter(target).validate_python, by_name=False)


def _framed(model: Any, method: str) -> Validate:
    validate = _direct(model)
    return lambda params: validate({"jsonrpc": "2.0", "id": 0, "method": method, "params": params})


def _member_type(model: Any, path: list[str]) -> Any:
    for step in path:
        if step == "[]":
            (model,) = get_args(model)
            continue
        if get_origin(model) is dict:  # an object without members
            return model
        (field,) = [f for name, f in model.model_fields.items() if (f.alias or name) == step]
        model = field.annotation
        if type(None) in get_args(model):
            (model,) = (a for a in get_args(model) if a is not type(None))
    return model


def theirs(cls: type[Any], revision: str, value: Any) -> bool:
    try:
        for validate in validators(cls, revision):  # type: ignore[arg-type]  # classes are hashable
            validate(value)
    except ValidationError:
        return False
    return True


# The table


class Site(NamedTuple):
    """A place where one side may have refused what the other took."""

    value: Any
    """What is there; `ABSENT` if nothing is."""
    path: Path_
    expected: str = ""
    """What we expected, where we refused."""
    hint: Any = None
    """The type of the field, where we accepted."""
    holder: Any = None
    """The payload that has the field, where we accepted."""
    revision: str = ""

    def is_field(self, cls: type[Any], *wires: str) -> bool:
        return isinstance(self.holder, cls) and self.path[-1] in wires


REMOVE = object()
"""A repair: the member goes."""

Example = tuple[type[Any], str, Any]


@attrs.frozen
class Difference:
    """One class of differences."""

    name: str
    ours: Literal["accepts", "refuses"]
    at: Callable[[Site], bool]
    """Whether this is the reason at this place."""
    repair: Callable[[Site], Any]
    """What both would accept there."""
    why: str
    clause: str
    example: Example
    schema: Literal["ours", "theirs"] = "ours"
    """With whom schema.json sides."""


OPTION: dict[str, Any] = {"type": "string", "title": "t", "enum": ["a"]}
TOOL: dict[str, Any] = {"name": "n", "inputSchema": {"type": "object"}}
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/subscriptionId": 1,
}
NUMBERS = ("an integer", "a number")
BOOLEANS = {"0": 0, "off": 0, "f": 0, "false": 0, "n": 0, "no": 0, "1": 1, "on": 1, "t": 1, "true": 1, "y": 1, "yes": 1}


def expects(site: Site, *kinds: str) -> bool:
    return bool(set(kinds) & set(site.expected.split(" or ")))


def is_answer(site: Site) -> bool:
    """Whether it is a value of a submitted form."""
    return expects(site, "a string") and expects(site, "true")


def is_text_of_a_number(site: Site) -> bool:
    try:
        return type(site.value) is str and expects(site, *NUMBERS) and float(site.value) is not None
    except ValueError:
        return False


def is_text_of_a_boolean(site: Site) -> bool:
    return type(site.value) is str and expects(site, "true or false", "true") and site.value.lower() in BOOLEANS


def is_in_properties(site: Site) -> bool:
    return "properties" in site.path[:2] or "requestedSchema" in site.path


def property_of(site: Site) -> Path_:
    return site.path[: site.path.index("properties") + 2]


def is_unknown_of_enum(site: Site) -> bool:
    known = literals(site.hint)
    return bool(known) and type(site.value) is str and site.value not in known


def literals(hint: Any) -> tuple[str, ...]:
    """The known values of an open enum."""
    arguments = get_args(hint)
    if str not in arguments:
        return ()
    return tuple(value for argument in arguments if get_origin(argument) is Literal for value in get_args(argument))


def is_out_of_range(site: Site) -> bool:
    return (
        site.is_field(t.Annotations, "priority")
        or site.is_field(t.ModelPreferences, "costPriority", "speedPriority", "intelligencePriority")
    ) and not (site.value is ABSENT or 0 <= site.value <= 1)


DIFFERENCES = (
    Difference(
        "the member of another class of the union",
        "refuses",
        lambda s: s.path[-1:] == ("text",) and s.value is not ABSENT,
        lambda s: REMOVE,
        "a `text` that is no string is a mistake, not a member of another class",
        "schema.json, EmbeddedResource.resource: `anyOf` of both, and neither is closed",
        (t.EmbeddedResource, MODERN, {"type": "resource", "resource": {"uri": "", "text": 5, "blob": ""}}),
        schema="theirs",
    ),
    Difference(
        "an integer written 5.0",
        "refuses",
        lambda s: type(s.value) is float and expects(s, "an integer"),
        lambda s: int(s.value),
        "nothing is converted, and 5 and 5.0 are two things in Python",
        'JSON Schema, validation 6.1.1: "integer" is any number with a zero fractional part; schema.ts: `number`',
        (t.Completion, LEGACY, {"values": [], "total": 5.0}),
        schema="theirs",
    ),
    Difference(
        "a priority out of range",
        "accepts",
        is_out_of_range,
        lambda s: 1,
        "a hint out of range spoils no result",
        "schema.ts, Annotations and ModelPreferences: `@minimum 0`, `@maximum 1`",
        (t.Annotations, LEGACY, {"priority": 2}),
        schema="theirs",
    ),
    Difference(
        "more than 100 completions",
        "accepts",
        lambda s: s.is_field(t.Completion, "values") and len(s.value) > 100,
        lambda s: [],
        "a list that is too long is no reason to lose it",
        "schema.ts of 2026-07-28, CompleteResult: `@maxItems 100`",
        (t.Completion, MODERN, {"values": [""] * 101}),
        schema="theirs",
    ),
    Difference(
        "schemas of tools that aren't of objects",
        "accepts",
        lambda s: s.is_field(t.Tool, "inputSchema", "outputSchema"),
        lambda s: TOOL["inputSchema"],
        "JSON Schemas of tools are the application's business, and servers do leave `type` out",
        'schema.ts, Tool.inputSchema: `type: "object"`',
        (t.Tool, LEGACY, {"name": "n", "inputSchema": {}}),
        schema="theirs",
    ),
    Difference(
        "null for an absent member",
        "refuses",
        lambda s: s.value is None and isinstance(s.path[-1], str) and not is_answer(s),
        lambda s: REMOVE,
        "an optional member is there with its type or not there",
        "schema.ts: `title?: string`, without `| null`; JSON Schema: null is no string",
        (t.TextContent, LEGACY, {"type": "text", "text": "", "annotations": None}),
    ),
    Difference(
        "null in a submitted form",
        "refuses",
        lambda s: s.value is None and is_answer(s),
        lambda s: REMOVE,
        "a field left empty is left out",
        "schema.ts, ElicitResult.content: `string | number | boolean | string[]`",
        (t.ElicitResult, LEGACY, {"action": "accept", "content": {"a": None}}),
    ),
    Difference(
        "_meta that isn't an object",
        "refuses",
        lambda s: s.path[-1:] == ("_meta",) and s.value is not None,
        lambda s: REMOVE,
        "every message may have `_meta`; the schema, and so theirs, doesn't name it in the params of task requests",
        "basic/index#_meta: an object, in requests, notifications and results",
        (t.GetTaskRequest, LEGACY, {"taskId": "", "_meta": "a"}),
        schema="theirs",
    ),
    Difference(
        "text for a number",
        "refuses",
        is_text_of_a_number,
        lambda s: int(float(s.value)),
        "nothing is converted",
        "schema.json: type integer or number; JSON Schema: no string is one",
        (t.Completion, LEGACY, {"values": [], "total": "5"}),
    ),
    Difference(
        "true or false for a number",
        "refuses",
        lambda s: type(s.value) is bool and expects(s, *NUMBERS),
        lambda s: int(s.value),
        "nothing is converted",
        "schema.json: type integer or number; JSON Schema: no boolean is one",
        (t.Annotations, MODERN, {"priority": True}),
    ),
    Difference(
        "a number for true or false",
        "refuses",
        lambda s: type(s.value) in (int, float) and expects(s, "true or false", "true") and s.value in (0, 1),
        lambda s: bool(s.value),
        "nothing is converted",
        "schema.json: type boolean; JSON Schema: no number is one",
        (t.ToolAnnotations, MODERN, {"readOnlyHint": 1}),
    ),
    Difference(
        "text for true or false",
        "refuses",
        is_text_of_a_boolean,
        lambda s: bool(BOOLEANS[s.value.lower()]),
        "nothing is converted",
        "schema.json: type boolean; JSON Schema: no string is one",
        (t.ToolAnnotations, MODERN, {"readOnlyHint": "no"}),
    ),
    Difference(
        "forms of any shape",
        "refuses",
        lambda s: "properties" in s.path and is_in_properties(s),
        lambda s: {"type": "boolean"},
        "the fields of a form are the few that the schema has; theirs takes any object's members",
        "schema.ts, ElicitRequestFormParams: `[key: string]: PrimitiveSchemaDefinition`",
        (t.RequestedSchema, LEGACY, {"type": "object", "properties": {"a": {"type": "object"}}}),
    ),
    Difference(
        "a legacy enum without names",
        "refuses",
        lambda s: s.path == ("enumNames",) and s.value is ABSENT,
        lambda s: [],
        "the same JSON is an UntitledSingleSelectEnumSchema, and is read as that wherever either may be",
        "schema.ts, EnumSchema: a union of both",
        (t.LegacyTitledEnumSchema, MODERN, OPTION),
        schema="theirs",
    ),
    Difference(
        "an unknown type of content",
        "accepts",
        lambda s: isinstance(s.value, t.UnknownContent),
        lambda s: {"type": "text", "text": ""},
        "one block from a newer peer doesn't spoil a list; it arrives as UnknownContent",
        "issue 3, 3 (the schema's unions are closed)",
        (t.CallToolResult, LEGACY, {"content": [{"type": "x-video"}]}),
        schema="theirs",
    ),
    Difference(
        "an unknown value of an enum",
        "accepts",
        is_unknown_of_enum,
        lambda s: literals(s.hint)[0],
        "a value from a newer peer arrives as it is",
        "issue 3, 3 (the schema's enums are closed)",
        (t.Icon, MODERN, {"src": "", "theme": "sepia"}),
        schema="theirs",
    ),
    Difference(
        "no resultType",
        "accepts",
        lambda s: s.is_field(t.Result, "resultType") and s.value is ABSENT,
        lambda s: "complete",
        "a result without it is complete",
        'schema.ts, Result: "the client MUST treat the absent field as `complete`"',
        (t.EmptyResult, MODERN, {}),
        schema="theirs",
    ),
    Difference(
        "no ttlMs, no cacheScope",
        "accepts",
        lambda s: s.is_field(t.CacheableResult, "ttlMs", "cacheScope") and s.value is ABSENT,
        lambda s: 0 if s.path[-1] == "ttlMs" else "private",
        "a result without them is stale at once and private",
        'server/utilities/caching: "If `ttlMs` is absent, clients SHOULD assume a default of 0"',
        (t.ReadResourceResult, MODERN, {"contents": [], "resultType": "complete"}),
        schema="theirs",
    ),
    Difference(
        "a ttlMs below zero",
        "accepts",
        lambda s: s.is_field(t.CacheableResult, "ttlMs") and s.value is not ABSENT and s.value < 0,
        lambda s: 0,
        "it spoils no result; the event names the rule",
        'server/utilities/caching: "If `ttlMs` is negative, clients SHOULD ignore it and treat it as 0"',
        (t.ReadResourceResult, MODERN, {"contents": [], "resultType": "", "ttlMs": -1, "cacheScope": "public"}),
        schema="theirs",
    ),
    Difference(
        "an input_required result that requires nothing",
        "accepts",
        lambda s: s.is_field(t.InputRequiredResult, "requestState") and s.value is ABSENT,
        lambda s: "",
        "the shape is right; the event names the rule",
        'basic/patterns/mrtr: "Servers MUST include at least one of `inputRequests` or `requestState`"',
        (t.InputRequiredResult, MODERN, {"resultType": "input_required"}),
    ),
    Difference(
        "an input_required result of another resultType",
        "accepts",
        lambda s: s.is_field(t.InputRequiredResult, "resultType") and s.value != "input_required",
        lambda s: "input_required",
        "the class that reads a result is chosen before",
        "schema.ts, InputRequiredResult: `resultType: ResultType`, and that is any string",
        (t.InputRequiredResult, MODERN, {"resultType": "x", "requestState": ""}),
    ),
    Difference(
        "a root that is no file",
        "accepts",
        lambda s: s.is_field(t.Root, "uri") and not s.value.startswith("file:///"),
        lambda s: "file:///",
        "URIs are opaque strings in a payload",
        "schema.ts, Root.uri: `string`; client/roots has the MUST about file: URIs",
        (t.ListRootsResult, LEGACY, {"roots": [{"uri": "https://example.com"}]}),
    ),
    Difference(
        "what is in _meta",
        "accepts",
        lambda s: s.path[-1] == "_meta",
        lambda s: META,
        "it is plain JSON in a payload; the connection checks the keys that a message must carry",
        "basic/index#_meta; mcp_sansio.spec.meta",
        (t.ListToolsRequest, MODERN, {}),
        schema="theirs",
    ),
)
"""Differences on purpose."""


each_row = pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: row.name)


# Comparing


def refusal(cls: type[Any], revision: str, value: Any) -> PayloadError | None:
    try:
        structure(value, cls, revision)
    except PayloadError as error:
        return error
    return None


def explain(cls: type[Any], revision: str, value: Any) -> set[str]:
    """The rows that tell why the two differ on the value; none if they agree.

    Raises:
        AssertionError: they don't tell.
    """
    names: set[str] = set()
    value = json.loads(json.dumps(value))
    original = copy.deepcopy(value)
    for _ in range(60):
        error, accepted = refusal(cls, revision, value), theirs(cls, revision, value)
        if (error is None) is accepted and (accepted or not names):
            return names
        if error is not None:
            sites = [site_of(error, value)]
        else:
            sites = list(sites_of(structure(value, cls, revision), revision))
        kind = "accepts" if error is None else "refuses"
        found = [(row, site) for row in DIFFERENCES for site in sites if row.ours == kind and row.at(site)]
        # One row at a time, since the first may be all; no row twice, unless it was at another place that we refused.
        found = [(row, site) for row, site in found if error is not None or row.name not in names]
        found = [(row, site) for row, site in found if row is found[0][0]]
        if not found or (error is not None and not accepted):
            break
        value = _repaired(value, found)
        names.add(found[0][0].name)
    reason = f"we refuse it, {error}" if error else "we accept it"
    raise AssertionError(f"{cls.__name__} of {revision}, {json.dumps(original)}: {reason}; not in DIFFERENCES")


def _repaired(value: Any, found: list[tuple[Difference, Site]]) -> Any:
    done: set[Path_] = set()
    for row, site in found:
        path = property_of(site) if row.name == "forms of any shape" else site.path
        if not any(path[:n] in done for n in range(1, len(path) + 1)):
            done.add(path)
            value = put(value, path, row.repair(site))
    return value


def put(value: Any, path: Path_, new: Any) -> Any:
    """The value with something else at the path; itself unchanged."""
    if not path:
        return new
    changed = copy.copy(value)
    if new is REMOVE and len(path) == 1:
        del changed[path[0]]
    else:
        old = changed.get(path[0], {}) if isinstance(changed, dict) else changed[path[0]]
        changed[path[0]] = put(old, path[1:], new)
    return changed


def at(value: Any, path: Path_) -> Any:
    for step in path:
        if isinstance(value, dict) and step not in value:
            return ABSENT
        value = value[step]
    return value


def site_of(error: PayloadError, value: Any) -> Site:
    """Where we refused."""
    path = parsed(error.path)
    return Site(at(value, path), path, error.expected)


def parsed(path: str) -> Path_:
    """``$.a[0]["b c"]`` as its steps."""
    steps: list[Step] = []
    rest = path.removeprefix("$")
    while rest:
        if rest[0] == ".":
            end = next((n for n, char in enumerate(rest) if n and char in ".["), len(rest))
            steps.append(rest[1:end])
        else:
            step, length = json.JSONDecoder().raw_decode(rest[1:])
            steps.append(step)
            end = length + 2
        rest = rest[end:]
    return tuple(steps)


def sites_of(payload: Payload, revision: str, path: Path_ = ()) -> Iterator[Site]:
    """Every field of a payload that we accepted, and of those in it."""
    if isinstance(payload, t.UnknownContent):
        yield Site(payload, path, revision=revision)
        return
    for field in t.fields_of(type(payload), revision):
        value = getattr(payload, field.name)
        if value is None and field.default is None:
            value = ABSENT
        yield from _sites(value, (*path, field.wire), field.type, payload, revision)


def _sites(value: Any, path: Path_, hint: Any, holder: Any, revision: str) -> Iterator[Site]:
    if isinstance(value, Payload):
        inner = (*path, "params") if isinstance(value, t.Request) else path
        yield from sites_of(value, revision, inner)
        return
    yield Site(value, path, hint=hint, holder=holder, revision=revision)
    inner_hint = get_args(hint)[-1] if get_origin(hint) in (list, dict) else None
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _sites(item, (*path, index), inner_hint, None, revision)
    elif isinstance(value, dict):
        for name, item in value.items():
            if inner_hint is not Any:  # not in plain JSON
                yield from _sites(item, (*path, name), inner_hint, None, revision)


# Mutants


def mutants(value: Any) -> Iterator[tuple[Path_, Any]]:
    """What to change where: one thing at a time."""
    yield (), []
    yield (), "a"
    for path, old in places(value):
        if isinstance(old, dict):
            yield (*path, "x-unknown"), {"a": None}
            if "blob" in old:
                yield (*path, "text"), 5  # what would make it another class of a union
        if not path:
            continue
        if isinstance(path[-1], str):
            yield path, REMOVE
        for new in (None, "a", "5", "yes", True, 1, 5, 5.0, 5.5, [], {}, ["a"], [None], {"a": 1}, {"type": "a"}):
            if type(new) is not type(old) or new != old:
                yield path, new


def places(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    yield path, value
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*path, index))


# The tests


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


CASES = [pytest.param(cls, r, id=f"{cls.__name__}-{r}") for r in MODULES for cls in existing(r)]
EXAMPLES = int(os.environ.get("MCP_DIFFERENTIAL_EXAMPLES", "2"))
MUTANTS = 25
"""At most so many of a payload, spread over it."""


@pytest.mark.parametrize(("cls", "revision"), CASES)
@examples(EXAMPLES)
@given(st.data())
def test_both_accept_and_refuse_the_same(cls: type[Any], revision: str, data: st.DataObject) -> None:
    value = unstructure(data.draw(payloads(cls, revision)), revision)
    explain(cls, revision, value)
    possible = list(mutants(value))
    start, stride = data.draw(st.integers(0, len(possible) - 1)), max(1, len(possible) // MUTANTS)
    for path, new in possible[start % stride :: stride]:
        explain(cls, revision, put(value, path, new))


@each_row
def test_row_is_needed(row: Difference) -> None:
    """And is all that its example differs in."""
    cls, revision, value = row.example
    assert (refusal(cls, revision, value) is None) == (row.ours == "accepts") != theirs(cls, revision, value)
    assert explain(cls, revision, value) == {row.name}


@pytest.mark.parametrize("cls", [cls for cls in PAYLOADS if cls not in FREE], ids=lambda cls: cls.__name__)
def test_revisions_modelled_are_the_newest_two(cls: type[Any]) -> None:
    assert set(MODULES) == set(REVISIONS[-2:])
    assert all(validators(cls, revision) for revision in MODULES if t.exists(cls, revision))  # type: ignore[arg-type]  # classes are hashable


def test_unexplained_differences_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.DIFFERENCES", ())
    for row in DIFFERENCES:
        with pytest.raises(AssertionError, match="not in DIFFERENCES"):
            explain(*row.example)


def test_docs_have_the_table() -> None:
    """Every difference, in the order of the rows."""
    lines = [line for line in DOCS.read_text("utf-8").splitlines() if line.startswith("| ")][1:]
    cells = [line.split(" | ")[0].removeprefix("| ") for line in lines]
    assert cells == [row.name for row in DIFFERENCES]
    assert all(row.clause.replace("|", "\\|") in line for row, line in zip(DIFFERENCES, lines, strict=True))


@pytest.mark.skipif(not SCHEMAS, reason="set MCP_SCHEMA_DIR to the folder `schema` of a checkout of the specification")
@each_row
def test_schema_sides_as_the_row_says(row: Difference) -> None:
    jsonschema: Any = pytest.importorskip("jsonschema")
    cls, revision, value = row.example
    schema = json.loads((Path(SCHEMAS) / revision / "schema.json").read_text("utf-8"))
    name, path = cls.__name__, []
    if cls in PLACES:
        name, *path = PLACES[cls]
        name = {"CompleteRequestParams": "CompleteRequest"}.get(name, name)
    if cls is t.Completion:
        name, path = "CompleteResult", ["completion"]
    if hasattr(cls, "method"):
        path = ["params"]
    pointer = "".join(f"/properties/{step}" for step in path)
    validator = jsonschema.Draft202012Validator({**schema, "$ref": f"#/$defs/{name}{pointer}"})
    accepted = validator.is_valid(value)
    assert accepted == ((row.ours == "accepts") == (row.schema == "ours"))
