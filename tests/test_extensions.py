"""An extension is a frozen value with rows; here is a made-up one."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

from mcp_sansio import (
    AnswerInvalid,
    CapabilityError,
    ClientConnection,
    LocalProtocolError,
    RequestAnswered,
    RequestReceived,
    ResultMessage,
    ResultReceived,
    Sent,
    ServerConnection,
    Side,
    parse_message,
)
from mcp_sansio import types as t
from mcp_sansio.spec import CORE, Extension, ExtensionResult, Kind, Method, Spec
from mcp_sansio.types.base import member, payload

from .samples import CLIENT_INFO, META, SERVER_INFO

E = "2026-07-28"
NAME = "com.example/jobs"


@payload(since=E)
class JobResult(t.Result):
    """A tools/call that goes on elsewhere."""

    job: str
    result_type: str | None = member(default=None, kw_only=True, required=True, stamp="job")


@payload(since=E)
class JobRequest(t.Request[t.CallToolResult]):
    """Ask for what a job came to."""

    method: ClassVar[str] = "com.example/jobs/get"
    job: str


JOBS = Extension(
    NAME,
    methods=(Method(JobRequest.method, Kind.REQUEST, Side.CLIENT, JobRequest, t.CallToolResult, since=E),),
    results=(ExtensionResult("tools/call", "job", JobResult),),
)
SPEC = Spec(extensions=(JOBS,))
DECLARED: dict[str, dict[str, Any]] = {NAME: {}}


def pair(client_has: bool = True, server_has: bool = True) -> tuple[ClientConnection, ServerConnection]:
    client_can = t.ClientCapabilities(extensions=DECLARED if client_has else None)
    server_can = t.ServerCapabilities(tools=t.ToolsCapability(), extensions=DECLARED if server_has else None)
    client = ClientConnection(CLIENT_INFO, client_can, era="modern", spec=SPEC)
    server = ServerConnection(SERVER_INFO, server_can, spec=SPEC)
    client.connect()
    server.receive_data(client.data_to_send())
    client.receive_data(server.data_to_send())
    return client, server


def test_both_sides_declare_it_and_use_it() -> None:
    client, server = pair()
    call = client.request(t.CallToolRequest("slow"))
    server.receive_data(client.data_to_send())
    assert server.respond(call.id, JobResult("j1")) == Sent()
    (event,) = client.receive_data(server.data_to_send())
    assert isinstance(event, ResultReceived)
    assert isinstance(event.result, JobResult)
    assert (event.result.job, event.result.result_type, event.violations) == ("j1", "job", ())
    assert not call.answered_by(event)
    later = client.request(JobRequest("j1"))
    (received,) = server.receive_data(client.data_to_send())
    assert isinstance(received, RequestReceived)
    assert isinstance(received.request, JobRequest)
    server.respond(received.id, t.CallToolResult([]))
    (event,) = client.receive_data(server.data_to_send())
    assert later.answered_by(event)


def test_what_the_client_did_not_declare_is_not_used() -> None:
    client, server = pair(client_has=False)
    call = client.request(t.CallToolRequest("slow"))
    server.receive_data(client.data_to_send())
    with pytest.raises(LocalProtocolError):
        server.respond(call.id, JobResult("j1"))
    line = {"jsonrpc": "2.0", "id": call.id, "result": {"resultType": "job", "job": "j1"}}
    (event,) = client.receive_data(json.dumps(line).encode() + b"\n")
    assert isinstance(event, AnswerInvalid)
    assert [violation.rule for violation in event.violations] == ["RPC-018"]
    with pytest.raises(LocalProtocolError):
        client.request(JobRequest("j1"))
    asked = {"jsonrpc": "2.0", "id": 9, "method": JobRequest.method, "params": {"job": "j1", "_meta": META}}
    (event,) = server.receive_data(json.dumps(asked).encode() + b"\n")
    assert isinstance(event, RequestAnswered)
    assert event.error is not None
    assert event.error.code == -32021
    assert event.error.data == {"requiredCapabilities": {"extensions": {NAME: {}}}}
    assert [violation.rule for violation in event.violations] == ["LIB-012"]


def test_what_the_server_did_not_declare_is_not_used() -> None:
    client, server = pair(server_has=False)
    with pytest.raises(CapabilityError):
        client.request(JobRequest("j1"))
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"extensions": DECLARED}}
    asked = {"jsonrpc": "2.0", "id": 9, "method": JobRequest.method, "params": {"job": "j1", "_meta": meta}}
    (event,) = server.receive_data(json.dumps(asked).encode() + b"\n")
    assert isinstance(event, RequestAnswered)
    assert event.error is not None
    assert event.error.code == -32601


def test_the_core_does_not_know_it() -> None:
    core = ServerConnection(SERVER_INFO, t.ServerCapabilities(extensions=DECLARED))
    asked = {"jsonrpc": "2.0", "id": 9, "method": JobRequest.method, "params": {"job": "j1", "_meta": META}}
    (event,) = core.receive_data(json.dumps(asked).encode() + b"\n")
    assert isinstance(event, RequestAnswered)
    data = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "job", "job": "j1"}})
    message = parse_message(data, revision=E, sender=Side.SERVER, answering="tools/call", spec=SPEC)
    assert isinstance(message, ResultMessage)
    assert message.result == JobResult("j1", result_type="job")


def test_a_spec_shows_its_extensions_and_not_its_tables() -> None:
    assert (repr(CORE), repr(SPEC)) == ("<Spec core>", f"<Spec {NAME}>")
