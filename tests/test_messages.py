"""Single messages, typed, without a connection."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_sansio import ALL_REVISIONS, MODERN_REVISIONS, Side
from mcp_sansio import types as t
from mcp_sansio.jsonrpc import Error
from mcp_sansio.messages import (
    ErrorMessage,
    Message,
    MessageError,
    NotificationMessage,
    RequestMessage,
    ResultMessage,
    parse_message,
    serialize_message,
)
from mcp_sansio.spec import METHODS, Kind, Method

from .samples import META, PARAMS, RESULTS

D, E = "2025-11-25", "2026-07-28"
ROWS = [(row, revision) for row in METHODS for revision in ALL_REVISIONS if row.exists_in(revision)]


def request_of(row: Method, revision: str) -> dict[str, Any]:
    params = dict(PARAMS.get(row.name, {}))
    if revision in MODERN_REVISIONS and row.kind is Kind.REQUEST:
        params["_meta"] = META
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": row.name}
    if params:
        message["params"] = params
    if row.kind is Kind.REQUEST:
        message["id"] = "a"
    return message


def result_of(row: Method, revision: str) -> dict[str, Any]:
    result = dict(RESULTS.get(row.name, {}))
    if revision in MODERN_REVISIONS:
        result["resultType"] = "complete"
        if row.cacheable:
            result |= {"ttlMs": 0, "cacheScope": "public"}
        if row.listens:
            result["_meta"] = {"io.modelcontextprotocol/subscriptionId": "a"}
    return {"jsonrpc": "2.0", "id": "a", "result": result}


@pytest.mark.parametrize(("row", "revision"), ROWS, ids=lambda value: getattr(value, "name", value))
def test_every_message_is_read_typed_and_written_as_it_was(row: Method, revision: str) -> None:
    values = [(request_of(row, revision), row.sender, None)]
    if row.kind is Kind.REQUEST:
        values.append((result_of(row, revision), row.sender.other, row.name))
    for value, sender, answering in values:
        message = parse_message(json.dumps(value), revision=revision, sender=sender, answering=answering)
        match message:
            case RequestMessage(request=payload) | NotificationMessage(notification=payload):
                assert isinstance(payload, row.payload)
            case ResultMessage(result=result):
                assert isinstance(result, row.result)
            case ErrorMessage():
                pytest.fail("no error was sent")
        line = serialize_message(message, revision=revision)
        assert line.endswith(b"\n")
        assert json.loads(line) == value


@pytest.mark.parametrize(
    ("value", "path", "detail"),
    [
        ("{", "$", "JSON"),
        (5, "$", "object"),
        ({"id": 1, "method": "ping"}, "$", "jsonrpc"),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 5}}, "$.params.name", "string"),
        ({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}, "$.method", "2026-07-28"),
        ({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}, "$.method", "not sent by the client"),
        ({"jsonrpc": "2.0", "id": 1, "method": "notifications/initialized"}, "$", "notification"),
        ({"jsonrpc": "2.0", "method": "ping"}, "$", "request"),
    ],
    ids=str,
)
def test_what_is_no_message_is_refused_with_the_path_at_fault(value: Any, path: str, detail: str) -> None:
    data = value if isinstance(value, str) else json.dumps(value)
    with pytest.raises(MessageError, match=detail) as raised:
        parse_message(data, revision=D, sender=Side.CLIENT)
    assert raised.value.path == path
    assert str(raised.value).startswith(path)


@pytest.mark.parametrize(
    ("meta", "path"),
    [
        (None, "$.params._meta"),
        ({}, "$.params._meta"),
        ({**META, "io.modelcontextprotocol/clientCapabilities": {"roots": 1}}, "clientCapabilities'].roots"),
        ({**META, "io.modelcontextprotocol/clientInfo": {}}, "clientInfo'].name"),
    ],
)
def test_a_modern_request_needs_its_meta(meta: Any, path: str) -> None:
    params = {} if meta is None else {"params": {"_meta": meta}}
    value = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", **params}
    with pytest.raises(MessageError) as raised:
        parse_message(json.dumps(value), revision=E, sender=Side.CLIENT)
    assert path in raised.value.path
    with pytest.raises(MessageError):
        serialize_message(RequestMessage(1, t.ListToolsRequest(meta=meta)), revision=E)


@pytest.mark.parametrize(
    ("result", "answering", "revision", "expected"),
    [
        ({"x": 1}, None, D, t.CustomResult),
        ({"x": 1}, "vendor/ask", D, t.CustomResult),
        ({"content": []}, "tools/call", D, t.CallToolResult),
        ({"task": {**RESULTS["tasks/get"]}}, "tools/call", D, t.CreateTaskResult),
        ({"resultType": "input_required", "requestState": "s"}, "tools/call", E, t.InputRequiredResult),
        ({"content": []}, "tools/call", E, t.CallToolResult),
    ],
)
def test_a_result_is_read_as_what_it_answers(result: Any, answering: Any, revision: str, expected: type[Any]) -> None:
    data = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result})
    message = parse_message(data, revision=revision, sender=Side.SERVER, answering=answering)
    assert isinstance(message, ResultMessage)
    assert isinstance(message.result, expected)


@pytest.mark.parametrize("kind", ["strange", "input_required", 5])
def test_a_result_of_an_unknown_type_is_refused(kind: Any) -> None:
    data = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"resultType": kind, "tools": []}})
    with pytest.raises(MessageError) as raised:
        parse_message(data, revision=E, sender=Side.SERVER, answering="tools/list")
    assert raised.value.path == "$.result.resultType"


def test_errors_and_vendor_messages() -> None:
    for value in (
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no", "data": None}},
        {"jsonrpc": "2.0", "id": 2, "method": "vendor/ask", "params": {"x": 1}},
        {"jsonrpc": "2.0", "method": "vendor/tell"},
    ):
        message = parse_message(json.dumps(value).encode(), revision=D, sender=Side.SERVER)
        assert json.loads(serialize_message(message, revision=D)) == value
    unread = ErrorMessage(None, Error(-32700, "Parse error"))
    assert b'"id":null' in serialize_message(unread, revision="2025-06-18")
    assert b'"id"' not in serialize_message(unread, revision=D)


WRONG: list[tuple[Message, str, str]] = [
    (RequestMessage(1, t.DiscoverRequest(meta=META)), D, "2026-07-28"),
    (ResultMessage(1, t.CallToolResult([t.AudioContent("AAAA", "audio/wav")])), "2024-11-05", "2025-03-26"),
    (ResultMessage(1, t.CallToolResult([t.TextContent(5)])), D, r"\$\.result\.content\[0\]\.text"),  # type: ignore[arg-type]  # so
    (NotificationMessage(t.CustomNotification("vendor/tell", {"x": float("nan")})), D, "JSON"),
    (RequestMessage(True, t.PingRequest()), D, "id"),
    (RequestMessage(1, t.PingRequest()), "2020-01-01", "2024-11-05"),
]


@pytest.mark.parametrize(("message", "revision", "hint"), WRONG, ids=range(len(WRONG)))
def test_what_a_revision_lacks_is_not_written(message: Message, revision: str, hint: str) -> None:
    with pytest.raises(MessageError, match=hint):
        serialize_message(message, revision=revision)
