"""How a client finds out what its server speaks: every branch, with a scripted server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_sansio import (
    ClientConnection,
    ConnectionClosed,
    ConnectionState,
    ErrorCode,
    Event,
    FailureReason,
    LocalProtocolError,
    MessageInvalid,
    Negotiated,
    NegotiationFailed,
    Pending,
    Reason,
    RequestAnswered,
    RequestReceived,
    ResponseIgnored,
    ServerConnection,
    UnexpectedReason,
)
from mcp_sansio import types as t

from .samples import CLIENT_CAPABILITIES, CLIENT_INFO, RESULTS

MODERN = "2026-07-28"
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def sent(client: ClientConnection) -> list[dict[str, Any]]:
    return [json.loads(line) for line in client.data_to_send().splitlines()]


def feed(client: ClientConnection, now: float | None = None, **message: Any) -> list[Event]:
    return client.receive_data(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n", now=now)


def probing(**options: Any) -> ClientConnection:
    """A client that has sent server/discover with the id 1."""
    client = ClientConnection(CLIENT_INFO, CLIENT_CAPABILITIES, **options)
    client.connect(timeout=5, now=100)
    (probe,) = sent(client)
    assert (probe["method"], probe["id"]) == ("server/discover", 1)
    assert client.next_deadline() == 105
    return client


def discovered(*versions: str, **more: Any) -> dict[str, Any]:
    return {
        "resultType": "complete",
        "supportedVersions": list(versions),
        "capabilities": {"tools": {}},
        "ttlMs": 0,
        "cacheScope": "public",
        **more,
    }


def unsupported(*versions: Any) -> dict[str, Any]:
    data = {"supported": list(versions), "requested": MODERN}
    return {"code": -32022, "message": "Unsupported protocol version", "data": data}


def initializing(client: ClientConnection, version: str = "2025-11-25") -> int:
    """The client has just sent initialize; gives its id."""
    (request,) = sent(client)
    assert request["method"] == "initialize"
    assert request["params"]["protocolVersion"] == version
    assert "_meta" not in request["params"]
    request_id: int = request["id"]
    return request_id


def agreed(version: str = "2025-11-25") -> dict[str, Any]:
    return {**RESULTS["initialize"], "protocolVersion": version}


def test_a_discover_result_with_a_version_in_common_is_modern() -> None:
    client = probing()
    meta = {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "2"}}
    (event,) = feed(client, 101, id=1, result=discovered(MODERN, _meta=meta, instructions="be kind"))
    assert event == Negotiated(
        revision=MODERN,
        peer_info=t.Implementation("s", "2"),
        client_capabilities=t.ClientCapabilities(
            roots=t.RootsCapability(),
            sampling=t.SamplingCapability(context={}, tools={}),
            elicitation=t.ElicitationCapability(form={}, url={}),
        ),
        server_capabilities=t.ServerCapabilities(tools=t.ToolsCapability()),
        instructions="be kind",
    )
    assert sent(client) == []
    assert client.next_deadline() is None
    assert client.state is ConnectionState.OPEN
    assert client.instructions == "be kind"
    assert client.peer_info == t.Implementation("s", "2")
    assert client.peer_capabilities == t.ServerCapabilities(tools=t.ToolsCapability())
    client.request(t.ListToolsRequest())
    with pytest.raises(LocalProtocolError) as raised:
        client.request(t.ListPromptsRequest())
    assert raised.value.reason is Reason.CAPABILITY


@pytest.mark.parametrize("meta", [{}, {"_meta": {"io.modelcontextprotocol/serverInfo": 5}}])
def test_a_server_without_a_readable_name_is_modern_all_the_same(meta: dict[str, Any]) -> None:
    client = probing()
    (event,) = feed(client, 101, id=1, result=discovered(MODERN, **meta))
    assert isinstance(event, Negotiated)
    assert event.peer_info is None


LEGACY_ANSWERS: list[dict[str, Any]] = [
    {"result": discovered("2025-06-18")},
    {"result": {}},
    {"result": {"supportedVersions": "2026-07-28"}},
    {"result": {"resultType": "strange"}},
    {"result": 5},
    {"result": {}, "error": None},
    {"error": unsupported("2025-11-25", "2024-11-05")},
    {"error": unsupported()},
    {"error": unsupported(5, None)},
    {"error": {"code": -32022, "message": "no data"}},
    {"error": {"code": -32022, "message": "odd", "data": {"supported": "2026-07-28"}}},
    *({"error": {"code": code, "message": "?"}} for code in (-32601, -32602, -32600, -32000, -32021, -32020, 0, 1)),
]


@pytest.mark.parametrize("answer", LEGACY_ANSWERS, ids=str)
def test_anything_else_leads_to_initialize(answer: dict[str, Any]) -> None:
    client = probing()
    assert not any(isinstance(event, NegotiationFailed) for event in feed(client, 101, id=1, **answer))
    request_id = initializing(client)
    assert client.next_deadline() == 106
    (event,) = feed(client, 102, id=request_id, result=agreed())
    assert isinstance(event, Negotiated)
    assert event.revision == client.revision == "2025-11-25"
    assert sent(client) == [INITIALIZED]
    assert client.next_deadline() is None


@pytest.mark.parametrize("answer", LEGACY_ANSWERS, ids=str)
def test_a_modern_client_has_nothing_to_fall_back_on(answer: dict[str, Any]) -> None:
    client = probing(era="modern")
    (event,) = feed(client, 101, id=1, **answer)
    assert isinstance(event, NegotiationFailed)
    assert event.detail
    assert client.state is ConnectionState.FAILED
    assert sent(client) == []
    with pytest.raises(LocalProtocolError):
        client.request(t.ListToolsRequest())


@pytest.mark.parametrize(
    "answer", [{"result": discovered("2099-01-01")}, {"error": unsupported("2099-01-01")}, {"result": discovered()}]
)
def test_nothing_in_common_fails(answer: dict[str, Any]) -> None:
    client = probing()
    (event,) = feed(client, 101, id=1, **answer)
    assert isinstance(event, NegotiationFailed)
    assert event.reason is FailureReason.NO_COMMON_VERSION
    assert event.supported == (("2099-01-01",) if "2099" in str(answer) else ())
    assert (event.error is not None) == ("error" in answer)


def test_an_unsupported_version_that_names_ours_is_tried_once_more_and_only_once() -> None:
    client = probing()
    assert feed(client, 101, id=1, error=unsupported(MODERN)) == []
    (again,) = sent(client)
    assert (again["method"], again["id"]) == ("server/discover", 2)
    (event,) = feed(client, 102, id=2, error=unsupported(MODERN))
    assert isinstance(event, NegotiationFailed)
    assert event.reason is FailureReason.NO_COMMON_VERSION
    assert event.supported == (MODERN,)


def test_a_probe_that_is_not_answered_leads_to_initialize_and_is_not_cancelled() -> None:
    client = probing()
    assert client.handle_timeout(104.9) == []
    assert client.handle_timeout(105) == []
    request_id = initializing(client)
    assert client.next_deadline() == 110
    (late,) = feed(client, 106, id=1, result=discovered(MODERN))
    assert isinstance(late, ResponseIgnored)
    assert (late.reason, late.violations) == (UnexpectedReason.LATE, ())
    (event,) = feed(client, 107, id=request_id, result=agreed())
    assert isinstance(event, Negotiated)


def test_a_slow_modern_server_that_refuses_initialize_is_probed_again() -> None:
    client = probing()
    client.handle_timeout(105)
    request_id = initializing(client)
    assert feed(client, 106, id=request_id, error=unsupported(MODERN)) == []
    (again,) = sent(client)
    assert again["method"] == "server/discover"
    (event,) = feed(client, 107, id=again["id"], result=discovered(MODERN))
    assert isinstance(event, Negotiated)
    assert event.revision == MODERN
    assert client.conversation.shared()["phase"] == "opening"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"result": agreed("2099-01-01")}, FailureReason.NO_COMMON_VERSION),
        ({"result": agreed(MODERN)}, FailureReason.NO_COMMON_VERSION),
        ({"result": agreed("2024-11-05")}, FailureReason.NO_COMMON_VERSION),
        ({"result": {"capabilities": {}}}, FailureReason.INVALID),
        ({"result": {**agreed(), "protocolVersion": 20251125}}, FailureReason.INVALID),
        ({"result": {**agreed(), "capabilities": []}}, FailureReason.INVALID),
        ({"result": {**agreed(), "serverInfo": {"name": "x"}}}, FailureReason.INVALID),
        ({"error": {"code": -32602, "message": "no"}}, FailureReason.REFUSED),
        ({"error": unsupported(MODERN)}, FailureReason.NO_COMMON_VERSION),
        ({"error": unsupported("2024-11-05")}, FailureReason.NO_COMMON_VERSION),
        ({"error": unsupported("1999-01-01")}, FailureReason.NO_COMMON_VERSION),
    ],
    ids=str,
)
def test_initialize_may_fail(answer: dict[str, Any], reason: FailureReason) -> None:
    client = ClientConnection(CLIENT_INFO, era="legacy", revisions=["2025-06-18", "2025-11-25"])
    client.connect()
    (event,) = feed(client, id=initializing(client), **answer)
    assert isinstance(event, NegotiationFailed)
    assert event.reason is reason
    assert client.state is ConnectionState.FAILED
    assert sent(client) == []
    assert "failed" in repr(client)
    assert client.close() == [ConnectionClosed()]


def test_initialize_may_time_out_and_is_not_cancelled() -> None:
    client = ClientConnection(CLIENT_INFO, era="legacy")
    client.connect(timeout=3, now=0)
    initializing(client)
    (event,) = client.handle_timeout(3)
    assert isinstance(event, NegotiationFailed)
    assert event.reason is FailureReason.TIMED_OUT
    assert sent(client) == []
    assert client.next_deadline() is None


def test_eof_in_the_handshake_names_what_was_pending() -> None:
    client = probing()
    assert client.receive_eof(now=101) == [ConnectionClosed(pending=(Pending(1, "server/discover"),))]
    assert client.receive_eof() == []
    assert client.close() == []
    assert client.next_deadline() is None
    assert client.handle_timeout(1000) == []


def test_only_pings_may_be_sent_before_the_answer() -> None:
    client = ClientConnection(CLIENT_INFO, era="legacy")
    for request in (t.PingRequest(), t.ListToolsRequest()):
        with pytest.raises(LocalProtocolError) as raised:
            client.request(request)
        assert raised.value.reason is Reason.NOT_CONNECTED
    client.connect()
    initializing(client)
    with pytest.raises(LocalProtocolError) as raised:
        client.request(t.ListToolsRequest())
    assert raised.value.reason is Reason.NOT_CONNECTED
    client.request(t.PingRequest())
    assert sent(client) == [{"jsonrpc": "2.0", "id": 2, "method": "ping"}]
    with pytest.raises(LocalProtocolError):
        client.connect()


def test_a_modern_client_may_send_without_asking_first() -> None:
    client = ClientConnection(CLIENT_INFO, era="modern", send_info=False)
    handle = client.request(t.ListPromptsRequest(meta={"vendor.example/trace": "abc"}))
    (request,) = sent(client)
    assert request["params"]["_meta"] == {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "vendor.example/trace": "abc",
    }
    (event,) = feed(
        client, id=handle.id, result={"resultType": "complete", "prompts": [], "ttlMs": 0, "cacheScope": "public"}
    )
    assert handle.answered_by(event)
    assert event.result.prompts == []
    client.connect()
    (event,) = feed(client, id=2, result=discovered(MODERN))
    assert isinstance(event, Negotiated)


def test_a_server_may_ping_at_any_time_but_ask_nothing_before_the_handshake() -> None:
    client = probing()
    (event,) = feed(client, 101, id=1, method="ping")
    assert isinstance(event, RequestAnswered)
    assert event.violations == ()
    assert sent(client) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    (event,) = feed(client, 101, id=2, method="roots/list")
    assert isinstance(event, RequestAnswered)
    assert event.error is not None
    assert event.error.code == ErrorCode.INVALID_REQUEST
    assert [v.rule for v in event.violations] == ["LIFE-005"]
    (answer,) = sent(client)
    assert answer["error"]["code"] == -32600


def test_a_modern_client_never_writes_a_response() -> None:
    client = probing()
    feed(client, 101, id=1, result=discovered(MODERN))
    for message in ({"id": 1, "method": "ping"}, {"id": 2, "method": "roots/list"}, {"id": None, "method": "x"}):
        (event,) = feed(client, **message)
        assert isinstance(event, MessageInvalid)
        assert event.error is None
        assert event.violations
    assert sent(client) == []


def test_a_legacy_client_serves_what_it_declared_and_refuses_the_rest() -> None:
    client = ClientConnection(CLIENT_INFO, t.ClientCapabilities(roots=t.RootsCapability()), era="legacy")
    client.connect()
    feed(client, id=initializing(client), result=agreed())
    sent(client)
    (event,) = feed(client, id="a", method="roots/list")
    assert isinstance(event, RequestReceived)
    assert isinstance(event.request, t.ListRootsRequest)
    assert event.client_info == CLIENT_INFO
    assert event.client_capabilities == t.ClientCapabilities(roots=t.RootsCapability())
    client.respond("a", t.ListRootsResult([]))
    (event,) = feed(client, id="b", method="sampling/createMessage", params={"messages": [], "maxTokens": 1})
    assert isinstance(event, RequestAnswered)
    answers = sent(client)
    assert answers[0] == {"jsonrpc": "2.0", "id": "a", "result": {"roots": []}}
    assert answers[1]["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"era": "new"}, "era"),
        ({"revisions": []}, "not of none"),
        ({"revisions": ["2020-01-01"]}, "2020-01-01"),
        ({"revisions": [MODERN], "era": "legacy"}, "not of none"),
        ({"revisions": ["2025-11-25"], "era": "modern"}, "not of none"),
        ({"manual": {"initialize"}}, "ping"),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(LocalProtocolError, match=reason) as raised:
        ClientConnection(CLIENT_INFO, **options)
    assert raised.value.reason is Reason.CONFIGURATION


@pytest.mark.parametrize("kind", [ClientConnection, ServerConnection])
@pytest.mark.parametrize(
    ("made_with", "what"), [(("editor",), "info"), ((CLIENT_INFO, {"roots": {}}), "capabilities"), (({},), "info")]
)
def test_a_side_says_of_itself_what_has_a_class(kind: Any, made_with: tuple[Any, ...], what: str) -> None:
    with pytest.raises(LocalProtocolError, match=f"{what} is made with") as raised:
        kind(*made_with)
    assert raised.value.reason is Reason.CONFIGURATION


def test_the_clock_is_needed_exactly_while_a_deadline_is_armed() -> None:
    client = ClientConnection(CLIENT_INFO)
    with pytest.raises(LocalProtocolError) as raised:
        client.connect(timeout=1)
    assert raised.value.reason is Reason.NOW_REQUIRED
    client = probing()
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": discovered(MODERN)}).encode() + b"\n"
    for call in (client.receive_data, client.receive_message):
        with pytest.raises(LocalProtocolError) as raised:
            call(line)
        assert raised.value.reason is Reason.NOW_REQUIRED
    for ask in (client.receive_eof, client.snapshot):
        with pytest.raises(LocalProtocolError) as raised:
            ask()
        assert raised.value.reason is Reason.NOW_REQUIRED
    (event,) = client.receive_data(line, now=50)  # a clock that went backwards does no harm
    assert isinstance(event, Negotiated)
    client.receive_data(b"\n")


def test_a_snapshot_with_a_deadline_is_restored_with_the_clock() -> None:
    data = json.loads(json.dumps(probing().snapshot(102)))
    with pytest.raises(LocalProtocolError) as raised:
        ClientConnection.restore(data)
    assert raised.value.reason is Reason.NOW_REQUIRED
    assert ClientConnection.restore(data, 1000).next_deadline() == 1003


def test_a_vendor_method_of_a_modern_server_may_be_served() -> None:
    client = probing()
    feed(client, 101, id=1, result=discovered(MODERN))
    handle = client.request(t.CustomRequest("vendor/ask", {"x": 1}))
    (event,) = feed(client, id=handle.id, result={"resultType": "complete", "y": 2})
    assert handle.answered_by(event)
    assert event.violations == ()


def test_modern_meta_keys_are_not_for_a_legacy_session() -> None:
    client = ClientConnection(CLIENT_INFO, era="legacy")
    client.connect()
    feed(client, id=initializing(client), result={**agreed(), "capabilities": {"tools": {}}})
    with pytest.raises(LocalProtocolError) as raised:
        client.request(t.ListToolsRequest(meta={"io.modelcontextprotocol/logLevel": "info"}))
    assert raised.value.reason is Reason.NOT_IN_REVISION


@pytest.mark.parametrize(
    "result",
    [
        {"resultType": "input_required", "requestState": "s"},
        {**discovered(MODERN), "contents": [{"uri": "a", "text": "t", "blob": 5}]},
        {**discovered(MODERN), "contents": [{"uri": "a", "text": "t", "blob": ["AAAA"]}]},
    ],
)
def test_a_read_that_gives_no_blob_does_not_make_us_look_for_one(result: Any) -> None:
    client = ClientConnection(CLIENT_INFO, era="modern")
    handle = client.request(t.ReadResourceRequest("a"))
    (event,) = feed(client, id=handle.id, result=result)
    assert not isinstance(event, MessageInvalid)
