"""The client over HTTP: headers that mirror the arguments of tools, and tools whose schemas say so in a wrong way.

Source: basic/transports/streamable-http of 2026-07-28 (Custom Headers from Tool Parameters).
"""

from __future__ import annotations

from typing import Any

import pytest

from mcp_sansio import (
    AnswerInvalid,
    ConnectionClosed,
    ErrorReceived,
    InputRequired,
    Limits,
    RequestLost,
    RequestTimedOut,
    ResultReceived,
)
from mcp_sansio import types as t
from mcp_sansio.http import ToolLeftOut
from mcp_sansio.http.headers import NAME_SOURCES, TASKS_NAME_SOURCES
from mcp_sansio.jsonrpc import JSONRPCRequest

from .http_wire import Sent, Wire, call, done, kinds, opened, sse
from .pair import JSON, MODERN, case, error, modern_meta, result, tools_result

D = "2025-11-25"
REGION = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
PLAIN = {"type": "object"}
BAD = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "Re gion"}}}


def tool(name: str, schema: JSON = None) -> JSON:
    return {"name": name, "inputSchema": PLAIN if schema is None else schema}


def listed(wire: Wire, *tools: JSON, **members: JSON) -> Any:
    """Let the client list the tools; what it is told."""
    wire.connection.request(t.ListToolsRequest())
    sent = wire.one()
    return wire.answer(sent, tools_result(sent.id, MODERN, tools=list(tools), **members))


ARGUMENTS: list[tuple[JSON, str, JSON, str | None]] = [
    ({"type": "string"}, "a", "us-west1", "us-west1"),
    ({"type": "string"}, "a", "", ""),
    ({"type": "string"}, "a", " padded ", "=?base64?IHBhZGRlZCA=?="),
    ({"type": "string"}, "a", "Hello, \u4e16\u754c", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    ({"type": "string"}, "a", "line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
    ({"type": "string"}, "a", "=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ({"type": "string"}, "a", None, None),
    ({"type": "string"}, "other", "x", None),
    ({"type": "integer"}, "a", -7, "-7"),
    ({"type": "boolean"}, "a", True, "true"),
    ({"type": "boolean"}, "a", False, "false"),
]


@pytest.mark.parametrize(("kind", "name", "value", "header"), ARGUMENTS)
def test_arguments_are_mirrored(kind: JSON, name: str, value: JSON, header: str | None) -> None:
    wire = opened()
    schema = {"type": "object", "properties": {"a": {**kind, "x-mcp-header": "A"}}}
    assert kinds(listed(wire, tool("t", schema))) == [ResultReceived]
    _, sent = call(wire, "t", {name: value})
    assert sent.header("Mcp-Param-A") == header


def test_nested_arguments_are_mirrored_and_other_tools_not() -> None:
    wire = opened()
    inner = {"type": "object", "properties": {"b": {"type": "string", "x-mcp-header": "B"}}}
    listed(wire, tool("t", {"type": "object", "properties": {"a": inner}}), tool("u"))
    _, sent = call(wire, "t", {"a": {"b": "x"}})
    assert sent.header("Mcp-Param-B") == "x"
    _, sent = call(wire, "u", {"a": {"b": "x"}})
    assert sent.header("Mcp-Param-B") is None


def test_the_last_list_counts() -> None:
    wire = opened()
    listed(wire, tool("t", REGION))
    listed(wire, tool("u"))
    _, sent = call(wire, "t", {"region": "x"})
    assert sent.header("Mcp-Param-Region") == "x"
    listed(wire, tool("t"))
    _, sent = call(wire, "t", {"region": "x"})
    assert sent.header("Mcp-Param-Region") is None


def test_a_retry_with_input_is_mirrored_too() -> None:
    wire = opened()
    listed(wire, tool("t", REGION))
    handle, sent = call(wire, "t", {"region": "x"})
    (event,) = wire.answer(sent, result(sent.id, {"resultType": "input_required", "requestState": "s"}))
    assert isinstance(event, InputRequired)
    again = wire.connection.retry(handle)
    sent = wire.one()
    assert sent.id == again.id != handle.id
    assert sent.message["params"]["requestState"] == "s"
    assert sent.header("Mcp-Name") == "t"
    assert sent.header("Mcp-Param-Region") == "x"
    (event,) = wire.answer(sent, done(sent.id))
    assert again.answered_by(event)


def annotated(kind: str, name: JSON = "A") -> JSON:
    return {"type": kind, "x-mcp-header": name}


BAD_SCHEMAS: dict[str, JSON] = {
    "space": {"properties": {"a": annotated("string", "Re gion")}},
    "empty": {"properties": {"a": annotated("string", "")}},
    "line end": {"properties": {"a": annotated("string", "A\r\nB")}},
    "twice": {"properties": {"a": annotated("string", "Dup"), "b": annotated("string", "dUP")}},
    "number": {"properties": {"a": annotated("number")}},
    "items": {"properties": {"a": {"type": "array", "items": annotated("string")}}},
    "oneOf": {"oneOf": [{"properties": {"a": annotated("string")}}]},
    "$defs": {"$defs": {"a": annotated("string")}, "properties": {"a": {"$ref": "#/$defs/a"}}},
}


@case("http-136", "http-137")
@pytest.mark.parametrize("why", BAD_SCHEMAS)
def test_a_bad_tool_is_left_out_with_the_reason(_case: str, why: str) -> None:
    wire = opened()
    bad = tool("bad", {"type": "object", **BAD_SCHEMAS[why]})
    left_out, event = listed(wire, tool("good", REGION), bad, tool("plain"))
    assert isinstance(left_out, ToolLeftOut)
    assert left_out.name == "bad"
    assert "x-mcp-header" in left_out.detail
    assert [each.name for each in event.result.tools] == ["good", "plain"]


def test_a_tool_that_has_become_bad_is_mirrored_no_more() -> None:
    wire = opened()
    listed(wire, tool("t", REGION))
    listed(wire, tool("t", BAD))
    _, sent = call(wire, "t", {"region": "x"})
    assert sent.header("Mcp-Param-Region") is None


def test_legacy_lists_are_left_alone() -> None:
    wire = opened(D)
    wire.connection.request(t.ListToolsRequest())
    sent = wire.one()
    (event,) = wire.answer(sent, tools_result(sent.id, D, tools=[tool("bad", BAD)]))
    assert [each.name for each in event.result.tools] == ["bad"]


def test_gateways_leave_bad_tools_out_as_well() -> None:
    wire = opened(forwarding=True)
    raw = [tool("good", REGION), tool("bad", BAD), 7, {"name": "odd", "inputSchema": 7}]
    left_out, event = listed(wire, *raw, vendor=1)
    assert left_out == ToolLeftOut(name="bad", detail=left_out.detail)
    assert event.result.extra["tools"] == [raw[0], raw[2], raw[3]]
    assert event.result.extra["vendor"] == 1
    _, sent = call(wire, "good", {"region": "x"})
    assert sent.header("Mcp-Param-Region") == "x"
    wire.connection.request(t.ListToolsRequest())
    sent = wire.one()
    (event,) = wire.answer(sent, result(sent.id, {"tools": None}))
    assert event.result.extra == {"tools": None}


def test_extensions_name_their_requests() -> None:
    wire = opened(names={**NAME_SOURCES, **TASKS_NAME_SOURCES, "vendor/get": "what"})
    wire.connection.request(t.CustomRequest("vendor/get", extra={"what": "t1"}))
    assert wire.one().header("Mcp-Name") == "t1"


def test_what_no_header_can_carry_is_not_sent() -> None:
    wire = opened()
    listed(wire, tool("t", {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}))
    handle = wire.connection.request(t.CallToolRequest("t", {"n": 2**60}))
    assert wire.client.next_deadline() == wire.now
    assert wire.sent() == []
    (event,) = wire.wait()
    assert isinstance(event, RequestLost)
    assert handle.ended_by(event)
    assert "not sent" in event.detail
    assert wire.client.next_deadline() is None
    early = Wire(era="modern")
    early.connection.request(t.CustomRequest("b\u00e4d"))
    assert early.client.next_deadline() == float("-inf")
    assert kinds(early.client.handle_timeout(5)) == [RequestLost]


# Calls that are refused for their headers -----------------------------------------------------------------------------


def refused(wire: Wire, **options: Any) -> tuple[Any, Sent]:
    """A call that the server refuses, and the list that the client asks for then."""
    handle, sent = call(wire, "t", {"region": "x"}, **options)
    assert sent.header("Mcp-Param-Region") is None
    assert wire.answer(sent, error(sent.id, -32020, "Mcp-Param-Region is missing"), 400) == []
    asked = wire.one()
    assert asked.message["method"] == "tools/list"
    return handle, asked


def page(sent: Sent, *tools: JSON, **members: JSON) -> JSON:
    return tools_result(sent.id, MODERN, tools=list(tools), **members)


def test_the_tools_are_listed_anew_and_the_call_is_sent_once_more() -> None:
    wire = opened()
    handle, asked = refused(wire)
    assert wire.answer(asked, page(asked, tool("t", REGION))) == []
    again = wire.one()
    assert again.id == handle.id
    assert again.header("Mcp-Param-Region") == "x"
    (event,) = wire.answer(again, done(again.id))
    assert handle.answered_by(event)
    assert wire.sent() == []


def test_but_only_once() -> None:
    wire = opened()
    handle, asked = refused(wire)
    wire.answer(asked, page(asked, tool("t", REGION)))
    again = wire.one()
    (event,) = wire.answer(again, error(again.id, -32020), 400)
    assert isinstance(event, ErrorReceived)
    assert handle.ended_by(event)
    assert wire.sent() == []


def test_page_by_page_until_the_tool_is_found() -> None:
    wire = opened()
    handle, asked = refused(wire)
    assert "cursor" not in asked.message["params"]
    left_out = wire.answer(asked, page(asked, tool("u"), tool("bad", BAD), nextCursor="2"))
    assert kinds(left_out) == [ToolLeftOut]
    asked = wire.one()
    assert asked.message["params"]["cursor"] == "2"
    wire.answer(asked, page(asked, tool("t", REGION), nextCursor="3"))
    assert wire.one().id == handle.id


@pytest.mark.parametrize("how", ["not listed", "bad", "in circles", "error", "invalid", "lost", "timed out"])
def test_where_the_list_does_not_help_the_error_is_told(how: str) -> None:
    wire = opened()
    handle, asked = refused(wire)
    match how:
        case "not listed":
            events = wire.answer(asked, page(asked, tool("u")))
        case "bad":
            events = wire.answer(asked, page(asked, tool("t", BAD)))[1:]
        case "in circles":
            wire.answer(asked, page(asked, nextCursor="2"))
            asked = wire.one()
            events = wire.answer(asked, page(asked, nextCursor="2"))
        case "error":
            events = wire.answer(asked, error(asked.id, -32603), 500)
        case "invalid":
            events = wire.answer(asked, result(asked.id, {"tools": 7}))
        case "lost":
            events = wire.fail(asked)
        case _:
            events = wire.wait()
            assert wire.now == 30
    (event,) = events
    assert isinstance(event, ErrorReceived)
    assert handle.ended_by(event)
    assert event.error.message == "Mcp-Param-Region is missing"
    assert wire.sent() == []
    assert wire.client.next_deadline() is None


def test_two_calls_share_a_list() -> None:
    wire = opened()
    first, asked = refused(wire)
    second, sent = call(wire, "t", {"region": "y"})
    assert wire.answer(sent, error(sent.id, -32020), 400) == []
    assert wire.sent() == []
    wire.answer(asked, page(asked, tool("t", REGION)))
    assert [each.id for each in wire.sent()] == [first.id, second.id]


@pytest.mark.parametrize("how", ["cancelled", "timed out"])
def test_a_call_that_has_ended_meanwhile_is_not_sent_again(how: str) -> None:
    wire = opened()
    if how == "cancelled":
        handle, asked = refused(wire)
        wire.connection.cancel(handle.id)
    else:
        _, asked = refused(wire, timeout=5, now=0)
        assert kinds(wire.wait()) == [RequestTimedOut]
    assert wire.answer(asked, page(asked, tool("t", REGION))) == []
    assert wire.sent() == []


def test_the_client_s_own_list_is_nobody_else_s_business() -> None:
    wire = opened()
    handle, asked = refused(wire)
    (event,) = wire.client.close()
    assert isinstance(event, ConnectionClosed)
    assert [pending.id for pending in event.pending] == [handle.id]
    assert wire.aborted() == [asked.key]


def test_a_list_that_cannot_be_asked_for() -> None:
    wire = opened(limits=Limits(requests=1))
    _, sent = call(wire, "t", {"region": "x"})
    assert kinds(wire.answer(sent, error(sent.id, -32020), 400)) == [ErrorReceived]
    assert wire.sent() == []


def test_the_second_page_that_cannot_be_asked_for() -> None:
    wire = opened(limits=Limits(requests=2))
    handle, asked = refused(wire)
    wire.connection.send_raw(JSONRPCRequest("raw", "vendor/x", {"_meta": modern_meta()}))
    wire.sent()
    (event,) = wire.answer(asked, page(asked, nextCursor="2"))
    assert isinstance(event, ErrorReceived)
    assert handle.ended_by(event)


def test_no_page_is_asked_for_on_behalf_of_nobody() -> None:
    wire = opened()
    handle, asked = refused(wire)
    wire.connection.cancel(handle.id)
    assert wire.answer(asked, page(asked, nextCursor="2")) == []
    assert wire.sent() == []


def test_other_requests_with_that_error_are_told() -> None:
    wire = opened()
    wire.connection.request(t.ListToolsRequest())
    sent = wire.one()
    assert kinds(wire.answer(sent, error(sent.id, -32020), 400)) == [ErrorReceived]
    assert wire.sent() == []


def test_the_new_headers_may_be_impossible() -> None:
    wire = opened()
    handle, sent = call(wire, "t", {"region": 2**60})
    wire.answer(sent, error(sent.id, -32020), 400)
    asked = wire.one()
    schema = {"type": "object", "properties": {"region": {"type": "integer", "x-mcp-header": "Region"}}}
    (event,) = wire.answer(asked, page(asked, tool("t", schema)))
    assert isinstance(event, RequestLost)
    assert handle.ended_by(event)
    assert wire.sent() == []


def test_gateways_call_again_too() -> None:
    wire = opened(forwarding=True)
    handle, asked = refused(wire)
    assert wire.answer(asked, page(asked, nextCursor="2")) == []
    asked = wire.one()
    wire.stream(asked, page(asked, tool("t", REGION)))
    again = wire.one()
    assert again.id == handle.id
    assert again.header("Mcp-Param-Region") == "x"
    wire.begin(again, 200, "text/event-stream")
    (event,) = wire.data(again, sse(done(again.id)))
    assert handle.answered_by(event)
    assert AnswerInvalid not in kinds(wire.events)
