"""Payload classes by example: what the properties of the other two files don't say."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import traceback
from time import process_time
from typing import Any, get_args

import attrs
import pytest

from mcp_sansio import types as t
from mcp_sansio.jsonrpc import ABSENT
from mcp_sansio.types.converter import PayloadError, UnavailableError, make_converter, structure, unstructure
from mcp_sansio.types.errors import describe

from .strategies import PAYLOADS, REVISIONS

OLDEST, *_, LATEST_LEGACY, MODERN = REVISIONS


def error_of(value: Any, cls: type[Any], revision: str) -> str:
    with pytest.raises(PayloadError) as error:
        structure(value, cls, revision)
    assert str(error.value) == f"{error.value.path}: expected {error.value.expected}, found {error.value.found}"
    return str(error.value)


# The classes


def test_names_are_sorted_and_complete() -> None:
    assert sorted(t.__all__) == sorted(set(t.__all__))
    assert [name for name in t.__all__ if not hasattr(t, name)] == []
    assert all(getattr(t, cls.__name__) is cls for cls in PAYLOADS)


def test_payloads_are_values() -> None:
    text = t.TextContent("hi")
    assert text == t.TextContent(text="hi", type="text") != t.TextContent("ho")
    assert text != t.ImageContent("hi", "image/png")
    assert text.__eq__("hi") is NotImplemented
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        text.text = "ho"  # type: ignore[misc]
    with pytest.raises(TypeError):
        hash(text)
    assert pickle.loads(pickle.dumps(text)) == copy.deepcopy(text) == text


def test_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(t.TextContent("hi")) == "TextContent(text='hi')"
    result = t.CallToolResult([], structured_content=None, extra={"a": 1})
    assert repr(result) == "CallToolResult(extra={'a': 1}, content=[], structured_content=None)"
    assert repr(t.ElicitRequestFormParams("m", t.RequestedSchema({}))) == (
        "ElicitRequestFormParams(message='m', requested_schema=RequestedSchema(properties={}))"
    )
    assert repr(t.CustomRequest("x/y")) == "CustomRequest(method='x/y')"


def test_content_matches_by_position() -> None:
    match t.CallToolResult([t.TextContent("hi"), t.EmbeddedResource(t.TextResourceContents("u", "t"))]).content:
        case [t.TextContent(text), t.EmbeddedResource(t.TextResourceContents(uri))]:
            assert (text, uri) == ("hi", "u")
        case _:
            pytest.fail("no match")


def test_methods_belong_to_one_class() -> None:
    """All but elicitation/create, which has one for each mode."""
    messages = {*get_args(t.AnyRequest), *get_args(t.AnyNotification)} - {t.CustomRequest, t.CustomNotification}
    methods = [cls.method for cls in messages if cls is not t.ElicitRequestURLParams]
    assert len(methods) == len(set(methods))


def test_fields_say_what_a_revision_has() -> None:
    fields = {field.name: field for field in t.fields_of(t.ListToolsResult, MODERN)}
    assert list(fields) == ["meta", "result_type", "ttl_ms", "cache_scope", "next_cursor", "tools"]
    assert fields["ttl_ms"] == t.FieldInfo("ttl_ms", "ttlMs", int, True, None, 0, False)
    assert fields["next_cursor"] == t.FieldInfo("next_cursor", "nextCursor", str, False, None, None, True)
    assert fields["tools"].default is attrs.NOTHING
    assert [field.name for field in t.fields_of(t.ListToolsResult, OLDEST)] == ["meta", "next_cursor", "tools"]
    assert t.exists(t.AudioContent, "2025-03-26")
    assert not t.exists(t.AudioContent, OLDEST)
    assert t.exists(t.PingRequest, LATEST_LEGACY)
    assert not t.exists(t.PingRequest, MODERN)


def test_import_is_light() -> None:
    program = "import sys, mcp_sansio.types; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"cattrs", "json.tool", "hypothesis", "orjson"} & set(loaded.stdout.split())


# Reading


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"content": {}}, "$.content: expected an array, found an object"),
        ({"content": None}, "$.content: expected an array, found null"),
        ({}, "$.content: expected an array, found nothing"),
        ({"content": [], "isError": "no"}, '$.isError: expected true or false, found "no"'),
        ({"content": [], "isError": 1}, "$.isError: expected true or false, found 1"),
        ({"content": [], "_meta": []}, "$._meta: expected an object, found an array"),
        ({"content": [7]}, "$.content[0]: expected an object, found 7"),
        ({"content": [{}]}, "$.content[0].type: expected a string, found nothing"),
        ({"content": [{"type": None}]}, "$.content[0].type: expected a string, found null"),
        ({"content": [{"type": []}]}, "$.content[0].type: expected a string, found an array"),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": 5}]},
            "$.content[1].text: expected a string, found 5",
        ),
        (
            {"content": [{"type": "text", "text": "a", "annotations": {"audience": ["user", False]}}]},
            "$.content[0].annotations.audience[1]: expected a string, found false",
        ),
        (
            {"content": [{"type": "text", "text": "a", "annotations": {"priority": True}}]},
            "$.content[0].annotations.priority: expected a number, found true",
        ),
        (
            {"content": [{"type": "resource", "resource": {"uri": "u"}}]},
            "$.content[0].resource: expected an object with text or blob, found an object",
        ),
        (
            {"content": [{"type": "resource", "resource": "u"}]},
            '$.content[0].resource: expected an object with text or blob, found "u"',
        ),
    ],
)
def test_nothing_is_converted(value: Any, message: str) -> None:
    assert error_of(value, t.CallToolResult, LATEST_LEGACY) == message


def test_numbers_stay_what_they_are() -> None:
    for number in (1, 1.0, 0.5, 10**400):
        read = structure({"progressToken": 1, "progress": number}, t.ProgressNotification, MODERN)
        assert (type(read.progress), read.progress) == (type(number), number)
    value = {"messages": [], "maxTokens": 5.0}
    assert error_of(value, t.CreateMessageRequest, MODERN) == "$.maxTokens: expected an integer, found 5.0"


def test_ids_and_tokens_keep_their_type() -> None:
    for token in (0, "", "1", 1):
        read = structure({"progressToken": token, "progress": 1}, t.ProgressNotification, MODERN)
        assert (type(read.progress_token), read.progress_token) == (type(token), token)
    for wrong in (True, 1.0, None, [], {}):
        message = error_of({"requestId": wrong}, t.CancelledNotification, MODERN)
        assert message.startswith("$.requestId: expected a string or an integer, found ")


def test_found_is_short() -> None:
    for value in ("é" * 1000, '"' * 1000, "\n" * 1000, 10**5000, -(10**5000), 1e300, b"?" * 1000, ...):
        assert len(describe(value)) <= 60
    assert describe("x" * 41) == f'"{"x" * 40}…"'
    assert describe(10**5000) == "a Python int"
    assert describe({}) == "an object"


def test_paths_name_strange_members() -> None:
    value = {"name": "x", "arguments": {"a b": 1, "c": "d"}}
    message = '$.arguments["a b"]: expected a string, found 1'
    assert error_of(value, t.GetPromptRequest, OLDEST) == message
    form = {"message": "m", "requestedSchema": {"type": "object", "properties": {}, "$schema": 1}}
    assert error_of(form, t.ElicitRequest, MODERN).startswith("$.requestedSchema.$schema: ")


def test_unknown_content_does_not_spoil_a_list() -> None:
    value = {"content": [{"type": "text", "text": "a"}, {"type": "video", "url": "u"}, {"type": "audio", "x": 1}]}
    result = structure(value, t.CallToolResult, OLDEST)
    assert result.content == [
        t.TextContent("a"),
        t.UnknownContent("video", {"type": "video", "url": "u"}),
        t.UnknownContent("audio", {"type": "audio", "x": 1}),
    ]
    assert unstructure(result, OLDEST) == value


def test_unknown_values_of_enums_arrive_as_they_are() -> None:
    message = {"role": "tool", "content": {"type": "text", "text": "a"}}
    assert structure(message, t.PromptMessage, MODERN).role == "tool"
    log = structure({"level": "loud", "data": None}, t.LoggingMessageNotification, OLDEST)
    assert (log.level, log.data) == ("loud", None)
    assert error_of({"level": "loud"}, t.SetLevelRequest, OLDEST).startswith('$.level: expected "debug" or "info" or')


def test_known_members_of_other_revisions_are_kept_like_unknown_ones() -> None:
    """A newer client's capabilities must not spoil the handshake (a server with closed types refused them)."""
    capabilities = {"elicitation": {"form": {"applyDefaults": True}, "url": {}}, "future": {"x": 1}, "tasks": {}}
    read = structure(capabilities, t.ClientCapabilities, "2025-06-18")
    assert read.elicitation == t.ElicitationCapability(extra=capabilities["elicitation"])
    assert read.extra == {"future": {"x": 1}, "tasks": {}}
    assert unstructure(read, "2025-06-18") == capabilities
    assert structure({"content": [], "resultType": "x"}, t.CallToolResult, LATEST_LEGACY).extra == {"resultType": "x"}


def test_a_member_named_extra_is_no_field() -> None:
    read = structure({"name": "x", "extra": 1, "meta": 2}, t.CallToolRequest, MODERN)
    assert read == t.CallToolRequest("x", extra={"extra": 1, "meta": 2})


def test_null_cursor_ends_the_list_and_empty_cursor_does_not() -> None:
    assert structure({"tools": [], "nextCursor": None}, t.ListToolsResult, MODERN).next_cursor is None
    read = structure({"tools": [], "nextCursor": ""}, t.ListToolsResult, MODERN)
    assert unstructure(read, LATEST_LEGACY) == {"tools": [], "nextCursor": ""}
    assert unstructure(t.ListToolsRequest(""), MODERN) == {"cursor": ""}
    message = "$.nextCursor: expected a string or null, found 5"
    assert error_of({"tools": [], "nextCursor": 5}, t.ListToolsResult, MODERN) == message
    assert error_of({"cursor": None}, t.ListToolsRequest, MODERN) == "$.cursor: expected a string, found null"


def test_null_is_structured_content_from_2026() -> None:
    value = {"content": [], "resultType": "complete", "structuredContent": None}
    read = structure(value, t.CallToolResult, MODERN)
    assert read.structured_content is None
    assert unstructure(read, MODERN) == value
    del value["structuredContent"]
    assert structure(value, t.CallToolResult, MODERN).structured_content is ABSENT
    for wrong in (None, [], "x"):
        with pytest.raises(PayloadError, match=r"^\$\.structuredContent: expected an object, found "):
            unstructure(t.CallToolResult([], structured_content=wrong), LATEST_LEGACY)


def test_uris_and_mime_types_are_opaque() -> None:
    for uri in ("users/me", "HTTP://H/", "", "a b", "file:///x/../y"):
        assert unstructure(structure({"uri": uri}, t.ReadResourceRequest, MODERN), MODERN) == {"uri": uri}
    resource = {"name": "n", "uri": "u", "mimeType": "text/html;profile=mcp-app"}
    assert unstructure(structure(resource, t.Resource, MODERN), MODERN) == resource


def test_elicitation_has_a_class_for_each_mode() -> None:
    form = {"message": "m", "requestedSchema": {"type": "object", "properties": {}}}
    url = {"message": "m", "mode": "url", "url": "u"}
    for value in (form, {**form, "mode": "form"}):
        read = structure(value, t.ElicitRequest, MODERN)
        assert type(read) is t.ElicitRequestFormParams
        assert unstructure(read, MODERN) == value
    assert structure(url, t.ElicitRequest, MODERN) == t.ElicitRequestURLParams("m", "u")
    assert type(structure({**form, "mode": "url"}, t.ElicitRequest, "2025-06-18")) is t.ElicitRequestFormParams
    message = error_of({**form, "mode": "voice"}, t.ElicitRequest, MODERN)
    assert message == '$.mode: expected "form" or "url", found "voice"'
    assert error_of({**form, "mode": None}, t.ElicitRequest, MODERN) == '$.mode: expected "form", found null'
    assert error_of({**form, "mode": 5}, t.ElicitRequest, MODERN) == '$.mode: expected "form" or "url", found 5'
    with pytest.raises(UnavailableError):
        structure(form, t.ElicitRequest, "2025-03-26")
    with pytest.raises(PayloadError, match="requestedSchema"):  # the class that stands for both is neither
        unstructure(t.ElicitRequest("m"), MODERN)


@pytest.mark.parametrize(
    ("schema", "cls"),
    [
        ({"type": "string"}, t.StringSchema),
        ({"type": "string", "enum": ["a"]}, t.UntitledSingleSelectEnumSchema),
        ({"type": "string", "enum": ["a"], "enumNames": ["A"]}, t.LegacyTitledEnumSchema),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, t.TitledSingleSelectEnumSchema),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, t.UntitledMultiSelectEnumSchema),
        ({"type": "array", "items": {"anyOf": []}}, t.TitledMultiSelectEnumSchema),
        ({"type": "number", "maximum": 0.5}, t.NumberSchema),
        ({"type": "integer", "minimum": 1}, t.NumberSchema),
        ({"type": "boolean"}, t.BooleanSchema),
    ],
)
def test_forms_have_these_fields(schema: dict[str, Any], cls: type[Any]) -> None:
    value = {"type": "object", "properties": {"f": schema}}
    for revision in (LATEST_LEGACY, MODERN):
        read = structure(value, t.RequestedSchema, revision)
        assert type(read.properties["f"]) is cls
        assert unstructure(read, revision) == value


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"type": "object"},
            '.type: expected "string" or "number" or "integer" or "boolean" or "array", found "object"',
        ),
        ({"type": "array", "items": {}}, ": expected an object with items.enum or items.anyOf, found an object"),
        ({"type": "array"}, ": expected an object with items.enum or items.anyOf, found an object"),
        ({"type": "string", "enum": "a"}, '.enum: expected an array, found "a"'),
        ([], ": expected an object, found an array"),
    ],
)
def test_forms_have_no_others(schema: Any, message: str) -> None:
    value = {"type": "object", "properties": {"f": schema}}
    assert error_of(value, t.RequestedSchema, MODERN) == f"$.properties.f{message}"


def test_answers_of_forms() -> None:
    content = {"a": "x", "b": 1, "c": 0.5, "d": True, "e": ["x"]}
    value = {"action": "accept", "content": content}
    assert unstructure(structure(value, t.ElicitResult, MODERN), MODERN) == value
    assert error_of(value, t.ElicitResult, "2025-06-18").startswith("$.content.e: expected a string or a number or")
    assert error_of({"action": "accept", "content": {"a": [1]}}, t.ElicitResult, MODERN) == (
        "$.content.a[0]: expected a string, found 1"
    )


def test_input_requests_are_whole_requests() -> None:
    requests: dict[str, t.InputRequest] = {
        "a": t.ListRootsRequest(),
        "b": t.ElicitRequestURLParams("m", "u"),
        "c": t.CreateMessageRequest([t.SamplingMessage("user", [t.TextContent("hi")])], 5),
        "d": t.ListRootsRequest(meta={"x": 1}),
    }
    value = unstructure(t.InputRequiredResult(requests, "s"), MODERN)
    assert value == {
        "resultType": "input_required",
        "requestState": "s",
        "inputRequests": {
            "a": {"method": "roots/list"},
            "b": {"method": "elicitation/create", "params": {"message": "m", "url": "u", "mode": "url"}},
            "c": {
                "method": "sampling/createMessage",
                "params": {
                    "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
                    "maxTokens": 5,
                },
            },
            "d": {"method": "roots/list", "params": {"_meta": {"x": 1}}},
        },
    }
    assert structure(value, t.InputRequiredResult, MODERN).input_requests == requests


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (5, ": expected an object, found 5"),
        ({}, ".method: expected {}, found nothing"),
        ({"method": "tools/call"}, '.method: expected {}, found "tools/call"'),
        ({"method": ["roots/list"]}, ".method: expected {}, found an array"),
        ({"method": "elicitation/create"}, ".params: expected an object, found nothing"),
        ({"method": "roots/list", "params": None}, ".params: expected an object, found null"),
        (
            {"method": "elicitation/create", "params": {"mode": "url", "url": "u"}},
            ".params.message: expected a string, found nothing",
        ),
    ],
)  # fmt: skip
def test_input_requests_of_the_wrong_shape(request_: Any, message: str) -> None:
    expected = message.format('"sampling/createMessage" or "roots/list" or "elicitation/create"')
    value = {"inputRequests": {"k": request_}}
    assert error_of(value, t.InputRequiredResult, MODERN) == f"$.inputRequests.k{expected}"


def test_input_responses_are_told_apart_by_their_members() -> None:
    responses: dict[str, t.InputResponse] = {
        "a": t.ListRootsResult([]),
        "b": t.ElicitResult("decline"),
        "c": t.CreateMessageResult("assistant", t.TextContent("hi"), "model"),
    }
    value = unstructure(t.CallToolRequest("x", input_responses=responses), MODERN)
    assert value["inputResponses"]["a"] == {"roots": []}  # no resultType: it is no result of its own
    assert structure(value, t.CallToolRequest, MODERN).input_responses == responses
    value["inputResponses"]["a"] = {"content": {}}
    message = error_of(value, t.CallToolRequest, MODERN)
    assert message == "$.inputResponses.a: expected an object with model or roots or action, found an object"


def test_errors_are_found_in_linear_time() -> None:
    """The bad value is the last of many, several levels down, which must not be read again for each level."""
    good = {"type": "tool_result", "toolUseId": "i", "content": [{"type": "text", "text": "a"}] * 3}

    def seconds(count: int, last: Any) -> float:
        value = {"messages": [{"role": "user", "content": [good] * count + [last]}], "maxTokens": 5}
        start = process_time()
        if last is good:
            structure(value, t.CreateMessageRequest, MODERN)
        else:
            message = error_of(value, t.CreateMessageRequest, MODERN)
            assert message.startswith(f"$.messages[0].content[{count}].content[0].text: ")
        return process_time() - start

    bad = {**good, "content": [{"type": "text", "text": 5}]}
    seconds(10, bad)
    assert min(seconds(2000, bad) for _ in range(3)) < 20 * min(seconds(2000, good) for _ in range(3))


# Writing


def test_stamps_are_written_where_the_revision_requires_them() -> None:
    assert unstructure(t.ListToolsResult([]), MODERN) == {
        "tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
    }  # fmt: skip
    given = t.ListToolsResult([], result_type="x", ttl_ms=5, cache_scope="public")
    assert unstructure(given, MODERN) == {"tools": [], "resultType": "x", "ttlMs": 5, "cacheScope": "public"}
    assert unstructure(given, LATEST_LEGACY) == {"tools": []}
    assert unstructure(t.EmptyResult(), MODERN) == {"resultType": "complete"}
    assert unstructure(t.EmptyResult(), LATEST_LEGACY) == {}
    assert structure({"tools": []}, t.ListToolsResult, MODERN) == t.ListToolsResult([])


@pytest.mark.parametrize(
    ("payload", "revision", "what", "since", "until"),
    [
        (t.CallToolResult([t.AudioContent("", "")]), OLDEST, "AudioContent", "2025-03-26", None),
        (t.PromptMessage("user", t.ResourceLink("n", "u")), "2025-03-26", "ResourceLink", "2025-06-18", None),
        (t.SubscribeRequest("u"), MODERN, "SubscribeRequest", None, "2025-11-25"),
        (t.DiscoverRequest(), LATEST_LEGACY, "DiscoverRequest", "2026-07-28", None),
        (t.ElicitRequestURLParams("m", "u", "i"), "2025-06-18", "ElicitRequestURLParams", "2025-11-25", None),
        (t.GetTaskRequest("i"), MODERN, "GetTaskRequest", "2025-11-25", "2025-11-25"),
    ],
)
def test_what_a_revision_lacks_is_not_written(
    payload: Any, revision: str, what: str, since: str | None, until: str | None
) -> None:
    with pytest.raises(UnavailableError) as error:
        unstructure(payload, revision)
    assert (error.value.what, error.value.since, error.value.until) == (what, since, until)
    span = [f"from {since}"] * bool(since) + [f"to {until}"] * bool(until)
    assert str(error.value) == f"{what} exists {' '.join(span)}, not in {revision}"


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (5, "$: expected a payload, found 5"),
        (t.CallToolResult([t.TextContent(5)]), "$.content[0].text: expected a string, found 5"),  # type: ignore[arg-type]
        (t.CallToolResult([t.Tool("x", {})]), "$.content[0]: expected an object, found a Python Tool"),  # type: ignore[list-item]
        (t.CallToolResult((t.TextContent("a"),)), "$.content: expected an array, found a Python tuple"),  # type: ignore[arg-type]
        (t.CallToolResult(t.TextContent("a")), "$.content: expected an array, found a Python TextContent"),  # type: ignore[arg-type]
        (t.CallToolResult([t.AudioContent(5, "")]), "$.content[0].data: expected a string, found 5"),  # type: ignore[arg-type]
        (t.CallToolRequest("x", extra=[5]), "$: expected an object, found a Python CallToolRequest"),  # type: ignore[arg-type]
        (t.InitializeRequest("v", {}, t.Implementation("n", "v")), None),  # type: ignore[arg-type]
        (t.InitializeRequest("v", t.ClientCapabilities(roots=t.ToolsCapability()), t.Implementation("n", "v")),  # type: ignore[arg-type]
         "$.capabilities.roots: expected an object, found a Python ToolsCapability"),
        (t.CancelTaskResult("i", "working", "", "", 5.5), "$.ttl: expected an integer or null, found 5.5"),  # type: ignore[arg-type]
        (t.ElicitRequestURLParams("m", "u"), "$.elicitationId: expected a string, found nothing"),
        (
            t.ElicitRequestFormParams("m", t.RequestedSchema([])),  # type: ignore[arg-type]
            "$.requestedSchema.properties: expected an object, found an array",
        ),
    ],
)  # fmt: skip
def test_payloads_of_the_wrong_shape_are_not_written(payload: Any, message: str | None) -> None:
    if message is None:  # JSON in the place of a payload is checked like one
        assert unstructure(payload, LATEST_LEGACY)["capabilities"] == {}
        return
    with pytest.raises(PayloadError) as error:
        unstructure(payload, LATEST_LEGACY)
    assert str(error.value) == message


def test_extra_adds_members_and_replaces_none() -> None:
    request = t.CallToolRequest("x", extra={"name": "y", "arguments": {"a": 1}, "z": None})
    assert unstructure(request, MODERN) == {"name": "x", "arguments": {"a": 1}, "z": None}
    with pytest.raises(PayloadError, match=r"^\$\.arguments: "):
        unstructure(t.CallToolRequest("x", extra={"arguments": 5}), MODERN)


def test_subclasses_are_written_as_what_they_derive_from() -> None:
    class Mine(t.CallToolRequest):
        pass

    assert unstructure(Mine("x"), MODERN) == {"name": "x"}
    assert type(structure({"name": "x"}, Mine, MODERN)) is Mine


def test_custom_messages_are_written_as_they_are() -> None:
    for cls in (t.CustomRequest, t.CustomNotification):
        assert unstructure(cls("x/y"), MODERN) == {}
        params = {"a": 1, "_meta": {"b": 2}}
        assert unstructure(cls("x/y", params), OLDEST) == params
        more = cls("x/y", params, meta={"c": 3}, extra={"d": 4})
        assert unstructure(more, MODERN) == {"a": 1, "d": 4, "_meta": {"c": 3}}
        assert params == {"a": 1, "_meta": {"b": 2}}
        for wrong in (cls("x/y", []), cls("x/y", extra=5), cls("x/y", meta="m")):  # type: ignore[arg-type]
            with pytest.raises(PayloadError, match=r"^\$(\._meta)?: expected an object, found "):
                unstructure(wrong, MODERN)
    result = t.CustomResult(result_type="task", extra={"taskId": "i"})
    assert unstructure(result, MODERN) == {"resultType": "task", "taskId": "i"}
    assert structure({"resultType": "task", "taskId": "i"}, t.CustomResult, MODERN) == result


def test_errors_survive_pickling() -> None:
    for error in (PayloadError("$.a", "a string", "5"), UnavailableError(t.PingRequest, MODERN)):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.__dict__) == (str(error), error.__dict__)


@attrs.frozen
class Listing:
    """A user's own class that holds payloads."""

    server: str
    tools: list[t.Tool]


def test_classes_that_hold_payloads_go_through_cattrs() -> None:
    converter = make_converter("2025-11-25")
    listing = Listing("everything", [t.Tool("add", {"type": "object"})])
    written = {"server": "everything", "tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
    assert converter.unstructure(listing) == written
    assert converter.structure(written, Listing) == listing
    with pytest.raises(ExceptionGroup) as caught:
        converter.structure({"server": "everything", "tools": [{"name": 5}]}, Listing)
    assert "$.name: expected a string, found 5" in "".join(traceback.format_exception(caught.value))
