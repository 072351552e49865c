"""What a server does by itself, and what it holds back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_sansio import (
    ALL,
    CapabilityError,
    ConnectionClosed,
    ConnectionState,
    Dropped,
    DroppedReason,
    Error,
    Event,
    LocalProtocolError,
    Negotiated,
    NotificationReceived,
    Pending,
    ProgressReceived,
    Reason,
    RequestAnswered,
    RequestCancelled,
    RequestReceived,
    ResultReceived,
    Sent,
    ServerConnection,
)
from mcp_sansio import types as t
from mcp_sansio.jsonrpc import JSONRPCErrorResponse, JSONRPCRequest
from mcp_sansio.spec import Phase

from .samples import CLIENT_INFO, META, PARAMS, SERVER_CAPABILITIES, SERVER_INFO


def sent(server: ServerConnection) -> list[Any]:
    return [json.loads(line) for line in server.data_to_send().splitlines()]


def feed(server: ServerConnection, *messages: dict[str, Any]) -> list[Event]:
    return server.receive_data(b"".join(json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\n" for m in messages))


def initialize(capabilities: dict[str, Any] | None = None, version: str = "2025-11-25") -> dict[str, Any]:
    params = {**PARAMS["initialize"], "capabilities": capabilities or {}, "protocolVersion": version}
    return {"id": "i", "method": "initialize", "params": params}


INITIALIZED: dict[str, Any] = {"method": "notifications/initialized"}


def modern(request_id: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"id": request_id, "method": method, "params": {**params, "_meta": META}}


def test_it_answers_initialize_and_says_what_was_agreed() -> None:
    server = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES, instructions="be kind")
    answered, negotiated = feed(server, initialize({"roots": {}}, "2025-06-18"))
    assert answered == RequestAnswered(id="i", method="initialize")
    assert negotiated == Negotiated(
        revision="2025-06-18",
        peer_info=CLIENT_INFO,
        client_capabilities=t.ClientCapabilities(roots=t.RootsCapability()),
        server_capabilities=t.ServerCapabilities(
            logging={},
            completions={},
            prompts=t.PromptsCapability(list_changed=True),
            resources=t.ResourcesCapability(subscribe=True, list_changed=True),
            tools=t.ToolsCapability(list_changed=True),
        ),
    )
    (result,) = sent(server)
    assert result["result"] == {
        "protocolVersion": "2025-06-18",
        "capabilities": {
            "logging": {},
            "completions": {},
            "prompts": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "tools": {"listChanged": True},
        },
        "serverInfo": {"name": "server", "version": "1"},
        "instructions": "be kind",
    }
    assert server.revision == "2025-06-18"
    assert server.phase is Phase.INITIALIZED
    assert "2025-06-18" in repr(server)


def test_it_answers_discover_and_stamps_modern_results() -> None:
    server = ServerConnection(SERVER_INFO, t.ServerCapabilities(tools=t.ToolsCapability()), instructions="be kind")
    assert feed(server, modern(1, "server/discover")) == [RequestAnswered(id=1, method="server/discover")]
    (answer,) = sent(server)
    assert answer["result"] == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "instructions": "be kind",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "server", "version": "1"}},
    }
    (received,) = feed(server, modern(2, "tools/list"))
    assert isinstance(received, RequestReceived)
    assert (received.revision, received.client_info) == ("2026-07-28", CLIENT_INFO)
    server.respond(2, t.ListToolsResult([], ttl_ms=5, cache_scope="public", meta={"a": 1}))
    (answer,) = sent(server)
    assert answer["result"]["_meta"]["a"] == 1
    assert answer["result"]["ttlMs"] == 5
    assert server.revision is None


def test_the_name_in_results_can_be_turned_off() -> None:
    server = ServerConnection(SERVER_INFO, send_info=False)
    feed(server, modern(1, "server/discover"), modern(2, "subscriptions/listen", notifications={}))
    assert "_meta" not in sent(server)[0]["result"]
    server.respond(2, t.SubscriptionsListenResult())
    cancelled, ended = sent(server)
    assert cancelled["params"] == {"requestId": 2}
    assert ended["result"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": 2}
    assert server.owed == ()


def test_a_subscription_can_be_ended_after_eof() -> None:
    server = ServerConnection(SERVER_INFO)
    feed(server, modern(2, "subscriptions/listen", notifications={}))
    (acknowledged,) = sent(server)
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    server.receive_eof()
    assert server.respond(2, t.SubscriptionsListenResult()) == Sent()
    assert [message.get("method") for message in sent(server)] == ["notifications/cancelled", None]


def test_both_eras_share_one_pipe() -> None:
    server = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES)
    feed(server, modern(1, "tools/list"), initialize(), INITIALIZED, {"id": 2, "method": "tools/list"})
    assert server.owed == (1, 2)
    server.respond(2, t.ListToolsResult([]))
    server.respond(1, t.ListToolsResult([]))
    _, legacy, stateless = sent(server)
    assert "resultType" not in legacy["result"]
    assert stateless["result"]["resultType"] == "complete"


def test_manual_leaves_the_answers_to_the_application() -> None:
    server = ServerConnection(SERVER_INFO, manual={"initialize", "ping", "server/discover"})
    ping, discover, opening = feed(server, {"id": 1, "method": "ping"}, modern(2, "server/discover"), initialize())
    for event in (ping, discover, opening):
        assert isinstance(event, RequestReceived)
    assert isinstance(ping, RequestReceived)
    assert (ping.client_info, ping.client_capabilities) == (None, t.ClientCapabilities())
    assert server.respond(1, t.EmptyResult()) == Sent()
    server.respond(2, t.DiscoverResult(supported_versions=["2026-07-28"], capabilities=t.ServerCapabilities()))
    with pytest.raises(LocalProtocolError) as raised:
        server.respond("i", t.EmptyResult())
    assert raised.value.reason is Reason.WRONG_RESULT
    server.respond("i", t.InitializeResult("2025-11-25", t.ServerCapabilities(), SERVER_INFO))
    assert server.revision == "2025-11-25"


def test_requests_of_its_own_wait_for_initialized_but_pings_do_not() -> None:
    server = ServerConnection(SERVER_INFO)
    with pytest.raises(LocalProtocolError) as raised:
        server.request(t.ListRootsRequest())
    assert raised.value.reason is Reason.WRONG_DIRECTION
    feed(server, initialize({"roots": {}}))
    sent(server)
    assert server.can_send("roots/list")
    assert not server.can_send("sampling/createMessage")
    assert not server.can_send("no/such")
    first = server.request(t.ListRootsRequest())
    second = server.request(t.ListRootsRequest(), id="mine")
    ping = server.request(t.PingRequest())
    with pytest.raises(CapabilityError):
        server.request(t.CreateMessageRequest([], 1))
    with pytest.raises(LocalProtocolError) as raised:
        server.request(t.ListRootsRequest(), id="mine")
    assert raised.value.reason is Reason.ID_IN_USE
    with pytest.raises(LocalProtocolError):
        server.request(t.ListRootsRequest(meta={"x": float("nan")}))
    assert [m["method"] for m in sent(server)] == ["ping"]
    assert server.in_flight == (first.id, second.id, ping.id)
    server.cancel(second.id)
    restored = ServerConnection.restore(json.loads(json.dumps(server.snapshot())))
    assert restored.in_flight == (first.id, ping.id)
    feed(restored, INITIALIZED)
    assert [(m["method"], m["id"]) for m in sent(restored)] == [("roots/list", first.id)]
    (event,) = feed(restored, {"id": first.id, "result": {"roots": []}})
    assert first.answered_by(event)
    assert not ping.answered_by(event)
    assert server.close() == [ConnectionClosed(pending=(Pending(first.id, "roots/list"), Pending(ping.id, "ping")))]


def test_a_cancelled_request_is_answered_no_more() -> None:
    server = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES)
    feed(server, initialize(), INITIALIZED, {"id": 5, "method": "tools/list"})
    sent(server)
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 5, "reason": "enough"}}
    assert feed(server, cancel) == [RequestCancelled(id=5, method="tools/list", reason="enough")]
    assert server.respond(5, t.ListToolsResult([])) == Dropped(DroppedReason.CANCELLED)
    assert server.respond_error(5, -32603, "Internal error") == Dropped(DroppedReason.CANCELLED)
    assert sent(server) == []
    again = feed(server, cancel)
    assert isinstance(again[0], NotificationReceived)
    for unknown in (6, "5"):
        with pytest.raises(LocalProtocolError) as raised:
            server.respond(unknown, t.ListToolsResult([]))
        assert raised.value.reason is Reason.UNKNOWN_REQUEST


def test_what_is_owed_at_eof_can_still_be_answered() -> None:
    server = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES)
    feed(server, initialize({"roots": {}}), INITIALIZED)
    roots = server.request(t.ListRootsRequest())
    feed(server, *({"id": n, "method": "tools/list"} for n in (1, 2, 3)))
    sent(server)
    assert server.receive_eof() == [ConnectionClosed(pending=(Pending(roots.id, "roots/list"),))]
    assert server.state is ConnectionState.CLOSING
    with pytest.raises(LocalProtocolError) as raised:
        server.receive_data(b"")
    assert raised.value.reason is Reason.CLOSED
    for send in (lambda: server.request(t.ListRootsRequest()), lambda: server.notify(t.ToolListChangedNotification())):
        with pytest.raises(LocalProtocolError) as raised:
            send()
        assert raised.value.reason is Reason.CLOSED
    assert not server.can_send("roots/list")
    for n in (3, 1):
        assert server.respond(n, t.ListToolsResult([])) == Sent()
    assert server.close() == []
    assert server.respond(2, t.ListToolsResult([])) == Dropped(DroppedReason.CLOSED)
    assert [m["id"] for m in sent(server)] == [3, 1]
    assert server.receive_data(b'{"jsonrpc":"2.0","id":9,"method":"ping"}\n') == []
    with pytest.raises(LocalProtocolError):
        server.notify(t.ToolListChangedNotification())
    with pytest.raises(LocalProtocolError):
        server.send_raw(JSONRPCRequest(1, "ping"))


def test_a_batch_is_answered_by_one_array_when_its_last_request_has_ended() -> None:
    server = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES)
    feed(server, initialize(version="2025-03-26"), INITIALIZED)
    sent(server)
    batch: list[Any] = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "method": "vendor/hello"},
        5,
        {"jsonrpc": "2.0", "id": 3, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/list"},
    ]
    events = server.receive_data(json.dumps(batch).encode() + b"\n")
    assert [type(event).__name__ for event in events] == [
        "RequestAnswered",
        "RequestReceived",
        "NotificationReceived",
        "MessageInvalid",
        "RequestReceived",
        "RequestAnswered",
    ]
    assert sent(server) == []
    server.respond(3, t.ListToolsResult([]))
    server = ServerConnection.restore(json.loads(json.dumps(server.snapshot())))
    assert sent(server) == []
    feed(server, {"method": "notifications/cancelled", "params": {"requestId": 2}})
    (answers,) = server.messages_to_send()
    assert isinstance(answers.message, tuple)
    decoded = json.loads(answers.data)
    assert [(a.get("id", "absent"), a.get("error", {}).get("code")) for a in decoded] == [
        (1, None),
        (None, -32600),
        (3, -32600),
        (3, None),
    ]
    assert server.receive_data(b'[{"jsonrpc":"2.0","method":"vendor/hello"}]\n')
    assert sent(server) == []


def test_what_is_queued_survives_a_snapshot() -> None:
    server = ServerConnection(SERVER_INFO)
    feed(server, initialize(version="2025-03-26"), {"id": 1, "method": "ping"})
    server.receive_data(b'[{"jsonrpc":"2.0","id":2,"method":"ping"}]\n{"jsonrpc":')
    restored = ServerConnection.restore(json.loads(json.dumps(server.snapshot())))
    assert restored.messages_to_send() == server.messages_to_send()
    (event,) = restored.receive_data(b'"2.0","id":7,"method":"ping"}\n')
    assert event == RequestAnswered(id=7, method="ping", violations=event.violations)
    with pytest.raises(LocalProtocolError) as raised:
        ServerConnection.restore({"format": 0, "side": "server"})
    assert raised.value.reason is Reason.CONFIGURATION


def test_a_lenient_server_may_use_what_was_not_declared() -> None:
    server = ServerConnection(SERVER_INFO, strict_capabilities=False)
    feed(server, initialize(), INITIALIZED)
    sent(server)
    assert server.can_send("roots/list")
    handle = server.request(t.ListRootsRequest(), progress=True)
    (request,) = sent(server)
    assert request["params"] == {"_meta": {"progressToken": handle.id}}
    (progress, result) = feed(
        server,
        {"method": "notifications/progress", "params": {"progressToken": handle.id, "progress": 0.5}},
        {"id": handle.id, "result": {"roots": []}},
    )
    assert progress == ProgressReceived(
        id=handle.id, method="roots/list", notification=t.ProgressNotification(handle.id, 0.5)
    )
    assert isinstance(result, ResultReceived)


def test_payloads_that_a_revision_lacks_name_the_one_that_has_them() -> None:
    server = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES)
    feed(
        server,
        initialize(version="2024-11-05"),
        INITIALIZED,
        {"id": 1, "method": "tools/call", "params": {"name": "a"}},
    )
    sent(server)
    with pytest.raises(LocalProtocolError, match="2025-03-26") as raised:
        server.respond(1, t.CallToolResult([t.AudioContent("AAAA", "audio/wav")]))
    assert raised.value.reason is Reason.NOT_IN_REVISION
    wrong: Any = t.CallToolResult([t.TextContent(5)])  # type: ignore[arg-type]  # what the test is about
    with pytest.raises(LocalProtocolError, match=r"content\[0\]\.text") as raised:
        server.respond(1, wrong)
    assert raised.value.reason is Reason.INVALID_PAYLOAD
    with pytest.raises(LocalProtocolError):
        server.respond_error(1, True, "no")
    assert server.respond_error(1, -32602, "Unknown tool", {"name": "a"}) == Sent()


def test_initialize_in_a_batch_breaks_its_own_rule() -> None:
    server = ServerConnection(SERVER_INFO)
    feed(server, initialize(version="2025-03-26"), INITIALIZED)
    sent(server)
    again = {"jsonrpc": "2.0", **initialize(version="2025-03-26"), "id": 2}
    (event,) = server.receive_data(json.dumps([again]).encode() + b"\n")
    assert {"LIFE-007", "LIB-005"} == {v.rule for v in event.violations}
    ((answer,),) = sent(server)
    assert answer["error"]["code"] == -32600


def test_a_task_may_be_created_for_a_call_that_asked_for_one() -> None:
    server = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES)
    call = {"method": "tools/call", "params": {"name": "slow", "task": {"ttl": 1000}}}
    feed(server, initialize(), INITIALIZED, {"id": 1, **call})
    created = t.CreateTaskResult(t.Task("t1", "working", "2025-11-25T10:30:00Z", "2025-11-25T10:30:00Z", None))
    with pytest.raises(LocalProtocolError, match="CreateTaskResult or CallToolResult"):
        server.respond(1, t.EmptyResult())
    assert server.respond(1, created) == Sent()


def test_messages_that_are_broken_on_purpose_can_be_sent() -> None:
    server = ServerConnection(SERVER_INFO)
    broken: Any = JSONRPCErrorResponse(None, Error("1", "m"))  # type: ignore[arg-type]  # what the test is about
    with pytest.raises(LocalProtocolError) as raised:
        server.send_raw(broken)
    assert [v.rule for v in raised.value.violations] == ["RPC-004"]
    assert [v.rule for v in server.send_raw(broken, allow=ALL)] == ["RPC-004"]
    assert sent(server)[0]["error"]["code"] == "1"


def test_what_has_a_class_is_sent_by_it() -> None:
    server = ServerConnection(SERVER_INFO)
    feed(server, initialize({"roots": {}}), INITIALIZED)
    with pytest.raises(LocalProtocolError, match="ListRootsRequest"):
        server.request(t.CustomRequest("roots/list"))
    wrong: Any = "roots/list"
    with pytest.raises(LocalProtocolError, match=r"request\(ListToolsRequest\(\)\)"):
        server.request(wrong)
    custom = server.request(t.CustomRequest("vendor/ask"))
    (event,) = feed(server, {"id": custom.id, "result": {"x": 1}})
    assert custom.answered_by(event)
    assert event.result.extra == {"x": 1}


def test_a_name_that_cannot_be_written_is_refused_at_once() -> None:
    nameless: Any = 5
    for make in (
        lambda: ServerConnection(t.Implementation(nameless, "1")),
        lambda: ServerConnection(t.Implementation("\ud800", "1")),
        lambda: ServerConnection(SERVER_INFO, instructions=nameless),
    ):
        with pytest.raises(LocalProtocolError) as raised:
            make()
        assert raised.value.reason is Reason.CONFIGURATION


def test_a_member_that_another_method_has_may_be_anything_here() -> None:
    server = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES)
    feed(server, modern(1, "resources/read", uri="a", cursor=[], taskId={}))
    assert server.respond(1, t.ReadResourceResult([])) == Sent()
