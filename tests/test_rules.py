"""Each rule, broken on purpose: a peer that breaks it draws its id alone, and we refuse to break it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs
import pytest

from mcp_sansio import ALL, RULES, Event, Limits, LocalProtocolError, Side
from mcp_sansio import types as t
from mcp_sansio.jsonrpc import (
    Error,
    InvalidMessage,
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResultResponse,
    parse_message,
)

from .pair import (
    CAPABILITIES_KEY,
    CLIENT,
    CLIENT_CAN,
    EVERY,
    INITIALIZED,
    JSON,
    LEGACY,
    LOG_LEVEL_KEY,
    MODERN,
    SERVER,
    SIDES,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
    A,
    B,
    C,
    Connection,
    D,
    E,
    Pair,
    drawn,
    encode,
    error,
    feed,
    initialize,
    modern,
    notification,
    pair,
    request,
    result,
    sent,
    state_of,
    tools_result,
)
from .test_extensions import DECLARED, SPEC

JOBS = SPEC
HAS_JOBS = t.ServerCapabilities(extensions=DECLARED)

Make = Callable[[Pair, Side], JSON]


@attrs.frozen
class Unterminated:
    """Bytes that the stream ends with."""

    data: bytes


@attrs.frozen
class Wrong:
    """A way to break one rule.

    Attributes:
        rule: the rule.
        name: which way.
        make: brings a pair into the state where it can be broken, and gives what the sender then writes.
        cases: the sides and revisions for which it is tried.
        settings: of the pair.
        own: whether our own side can be asked to send it, in the state that `make` leaves.
    """

    rule: str
    name: str
    make: Make
    cases: tuple[tuple[Side, str], ...]
    settings: dict[str, Any]
    own: bool

    def pair(self, revision: str) -> Pair:
        return pair(revision, **self.settings)


WRONGS: list[Wrong] = []


def wrong(
    rule: str,
    sides: Iterable[Side] | None = None,
    revisions: Iterable[str] = EVERY,
    *,
    own: bool = True,
    **settings: Any,
) -> Callable[[Make], Make]:
    """Register a function as a way to break a rule, on those of the sides and revisions that the rule binds."""
    row = RULES[rule]
    tried = tuple(revisions)
    cases = tuple((s, r) for s in sides or SIDES for r in tried if row.binds(s, r))

    def register(make: Make) -> Make:
        WRONGS.append(Wrong(rule, make.__name__.strip("_"), make, cases, settings, own))
        return make

    return register


def receive(conn: Connection, written: JSON) -> list[Event]:
    if isinstance(written, Unterminated):
        return feed(conn, written.data) + conn.receive_eof()
    return feed(conn, written)


NOTHING = t.ServerCapabilities()
LOOSE = {"strict_capabilities": False}
BY_HAND = {"manual": {"subscriptions/listen"}}

# Framing ------------------------------------------------------------------------------------------------------------


@wrong("FRAME-001", own=False)
def banner(p: Pair, sender: Side) -> JSON:
    return b"Example Server version : 1.2.3\n"


@wrong("FRAME-001", own=False)
def cut_json(p: Pair, sender: Side) -> JSON:
    return b'{"jsonrpc":"2.0","id":1,"result":{\n'


@wrong("FRAME-001", own=False)
def number(p: Pair, sender: Side) -> JSON:
    return 42


@wrong("FRAME-001", own=False)
def neither_method_nor_result(p: Pair, sender: Side) -> JSON:
    return {"jsonrpc": "2.0", "id": None}


@wrong("FRAME-001", own=False)
def method_is_a_number(p: Pair, sender: Side) -> JSON:
    return {"jsonrpc": "2.0", "method": 12345}


@wrong("FRAME-001", own=False)
def not_a_number(p: Pair, sender: Side) -> JSON:
    return b'{"jsonrpc":"2.0","method":"x","params":{"a":NaN}}\n'


@wrong("FRAME-001", own=False)
def content_length(p: Pair, sender: Side) -> JSON:
    return b"Content-Length: 36\r\n"


@wrong("FRAME-002", own=False)
def pretty_printed(p: Pair, sender: Side) -> JSON:
    lines = b'{\n  "jsonrpc": "2.0",\n  "method": "x"\n'
    assert set(drawn(feed(p.of(sender.other), lines))) == {"FRAME-001"}
    return b"}\n"


@wrong("FRAME-002", own=False)
def newline_in_a_string(p: Pair, sender: Side) -> JSON:
    assert drawn(feed(p.of(sender.other), b'{"jsonrpc":"2.0","method":"x","params":{"a":"b\n')) == ["FRAME-001"]
    return b'c"}}\n'


@wrong("FRAME-003", own=False)
def not_utf8(p: Pair, sender: Side) -> JSON:
    return b'{"jsonrpc":"2.0","method":"x","params":{"a":"\xff\xfe"}}\n'


@wrong("FRAME-004", own=False)
def array(p: Pair, sender: Side) -> JSON:
    return [notification("vendor/a"), notification("vendor/b")]


# The envelope -------------------------------------------------------------------------------------------------------


@wrong("RPC-001", own=False)
def version_1(p: Pair, sender: Side) -> JSON:
    return {**notification("vendor/a"), "jsonrpc": "1.0"}


@wrong("RPC-001", own=False)
def version_is_a_number(p: Pair, sender: Side) -> JSON:
    return {**p.says(sender, 900, "ping"), "jsonrpc": 2.0}


@wrong("RPC-001", own=False)
def no_version(p: Pair, sender: Side) -> JSON:
    return {"id": 900, "result": {}}


@wrong("RPC-002", [SERVER])
@wrong("RPC-002", [CLIENT], LEGACY)
def unknown_id(p: Pair, sender: Side) -> JSON:
    return result(900)


@wrong("RPC-002", [SERVER])
@wrong("RPC-002", [CLIENT], LEGACY)
def id_of_another_type(p: Pair, sender: Side) -> JSON:
    return result(str(p.open(sender.other)))


@wrong("RPC-002", own=False)
def id_is_no_id(p: Pair, sender: Side) -> JSON:
    return result(1.5)


@wrong("RPC-003", own=False)
def result_and_error(p: Pair, sender: Side) -> JSON:
    return {**result(900), "error": {"code": 1, "message": "x"}}


@wrong("RPC-003", own=False)
def result_and_method(p: Pair, sender: Side) -> JSON:
    return {**result(900), "method": "ping"}


@wrong("RPC-004", own=False)
def code_is_a_string(p: Pair, sender: Side) -> JSON:
    return error(900, code="E1")


@wrong("RPC-004", own=False)
def code_is_true(p: Pair, sender: Side) -> JSON:
    return error(900, code=True)


@wrong("RPC-004", own=False)
def no_message(p: Pair, sender: Side) -> JSON:
    return {"jsonrpc": "2.0", "id": 900, "error": {"code": 1}}


@wrong("RPC-005", [SERVER])
@wrong("RPC-005", [CLIENT], LEGACY)
def second_answer(p: Pair, sender: Side) -> JSON:
    request_id = p.open(sender.other)
    p.of(sender).respond_error(request_id, 1, "no")
    p.pump()
    return error(request_id)


@wrong("RPC-007", [CLIENT])
@wrong("RPC-007", [SERVER], LEGACY)
def notification_with_an_id(p: Pair, sender: Side) -> JSON:
    return p.says(sender, 900, "notifications/cancelled", {"requestId": 901})


@wrong("RPC-008", own=False)
def id_null(p: Pair, sender: Side) -> JSON:
    return p.says(sender, None, "ping")


@wrong("RPC-008", own=False)
def id_true(p: Pair, sender: Side) -> JSON:
    return p.says(sender, True, "ping")


@wrong("RPC-008", own=False)
def id_fraction(p: Pair, sender: Side) -> JSON:
    return p.says(sender, 1.0, "ping")


@wrong("RPC-008", own=False)
def id_beyond_64_bits(p: Pair, sender: Side) -> JSON:
    return p.says(sender, 2**64, "ping")


@wrong("RPC-008", [CLIENT])
@wrong("RPC-008", [SERVER], LEGACY)
def request_without_an_id(p: Pair, sender: Side) -> JSON:
    return notification("tools/list" if sender is CLIENT else "roots/list")


@wrong("RPC-009")
def id_of_an_ended_request(p: Pair, sender: Side) -> JSON:
    request_id = p.open(sender)
    p.of(sender.other).respond_error(request_id, 1, "no")
    p.pump()
    return p.says(sender, request_id, "ping")


@wrong("RPC-009")
def id_in_flight(p: Pair, sender: Side) -> JSON:
    return p.says(sender, p.open(sender), "ping")


@wrong("RPC-010")
def modern_id_in_flight(p: Pair, sender: Side) -> JSON:
    return p.says(sender, p.open(sender), "tools/list")


@wrong("RPC-015", own=False)
def params_is_an_array(p: Pair, sender: Side) -> JSON:
    return request(900, "ping", ["a"])


@wrong("RPC-015", own=False)
def params_is_null(p: Pair, sender: Side) -> JSON:
    return b'{"jsonrpc":"2.0","method":"vendor/a","params":null}\n'


@wrong("RPC-016")
def no_result_type(p: Pair, sender: Side) -> JSON:
    request_id = p.open(CLIENT)
    return result(request_id, {"tools": [], "ttlMs": 0, "cacheScope": "private"})


@wrong("RPC-018", [SERVER])
@wrong("RPC-018", [CLIENT], LEGACY)
def result_of_another_shape(p: Pair, sender: Side) -> JSON:
    if sender is SERVER:
        return tools_result(p.open(CLIENT), p.revision, tools=5)
    return result(p.open(SERVER), {"roots": 5})


@wrong("RPC-018", [SERVER], [MODERN])
def unknown_result_type(p: Pair, sender: Side) -> JSON:
    return tools_result(p.open(CLIENT), p.revision, resultType="x")


# Error codes --------------------------------------------------------------------------------------------------------


@wrong("ERR-001")
def reserved_code(p: Pair, sender: Side) -> JSON:
    return error(p.open(CLIENT), -32050)


@wrong("ERR-002")
def resource_not_found(p: Pair, sender: Side) -> JSON:
    return error(p.open(CLIENT), -32002)


@wrong("ERR-002")
def url_elicitation_required(p: Pair, sender: Side) -> JSON:
    return error(p.open(CLIENT), -32042)


@wrong("ERR-003")
def implementation_code(p: Pair, sender: Side) -> JSON:
    return error(p.open(CLIENT), -32000)


# Lifecycle ----------------------------------------------------------------------------------------------------------


@wrong("LIFE-001", connect=False)
def list_before_initialize(p: Pair, sender: Side) -> JSON:
    return p.says(sender, 900, "tools/list")


@wrong("LIFE-001", connect=False)
def initialized_before_initialize(p: Pair, sender: Side) -> JSON:
    return INITIALIZED


@wrong("LIFE-002", connect=False)
def initialize_without_a_name(p: Pair, sender: Side) -> JSON:
    return request(1, "initialize", {"protocolVersion": p.revision, "capabilities": {}})


@wrong("LIFE-003", connect=False, own=False)  # our client says so by itself
def list_before_initialized(p: Pair, sender: Side) -> JSON:
    p.client.connect()
    feed(p.server, *sent(p.client))
    feed_without_initialized(p)
    return p.says(sender, 900, "tools/list")


def feed_without_initialized(p: Pair) -> None:
    """Let the client have its answer, and drop what it says of it."""
    p.client.receive_data(p.server.data_to_send())
    sent(p.client)


@wrong("LIFE-004", connect=False, server_settings={"manual": {"initialize"}})
def list_before_the_answer(p: Pair, sender: Side) -> JSON:
    p.client.connect()
    p.pump()
    return p.says(sender, 900, "tools/list")


@wrong("LIFE-005", connect=False)
def server_asks_before_initialized(p: Pair, sender: Side) -> JSON:
    p.client.connect()
    feed(p.server, *sent(p.client))
    sent(p.server)
    return request(900, "roots/list")


@wrong("LIFE-006", connect=False, server_settings={"manual": {"initialize"}})
def initialize_result_without_a_name(p: Pair, sender: Side) -> JSON:
    p.client.connect()
    p.pump()
    return result(1, {"protocolVersion": p.revision, "capabilities": {}})


@wrong("LIFE-007", connect=False, own=False)
def initialize_in_a_batch(p: Pair, sender: Side) -> JSON:
    return [initialize(1, p.revision)]


@wrong("LIFE-008", connect=False, server_settings={"manual": {"initialize"}})
def cancelled_initialize(p: Pair, sender: Side) -> JSON:
    p.client.connect()
    p.pump()
    return notification("notifications/cancelled", {"requestId": 1})


# Versions and eras --------------------------------------------------------------------------------------------------


@wrong("VER-004")
def modern_method(p: Pair, sender: Side) -> JSON:
    if sender is CLIENT:
        return request(900, "server/discover")
    return notification("notifications/subscriptions/acknowledged", {"notifications": {}})


@wrong("VER-004", revisions=[A, B, C])
def task_method(p: Pair, sender: Side) -> JSON:
    return request(900, "tasks/list")


@wrong("VER-004", [SERVER], [A, B])
def elicitation(p: Pair, sender: Side) -> JSON:
    return request(900, "elicitation/create", {"message": "m", "requestedSchema": {}})


@wrong("VER-005")
def unsupported_version_without_data(p: Pair, sender: Side) -> JSON:
    return error(p.open(CLIENT), -32022)


@wrong("VER-005")
def unsupported_version_without_the_version(p: Pair, sender: Side) -> JSON:
    return error(p.open(CLIENT), -32022, data={"supported": [MODERN]})


@wrong("VER-009")
def no_meta(p: Pair, sender: Side) -> JSON:
    return request(900, "tools/list")


@wrong("VER-009")
def meta_without_capabilities(p: Pair, sender: Side) -> JSON:
    return request(900, "tools/list", {"_meta": {VERSION_KEY: MODERN}})


@wrong("VER-009")
def meta_without_version(p: Pair, sender: Side) -> JSON:
    return request(900, "tools/list", {"_meta": {CAPABILITIES_KEY: {}}})


# Capabilities -------------------------------------------------------------------------------------------------------


@wrong("CAP-001", client_can=t.ClientCapabilities(), server_can=NOTHING)
def undeclared(p: Pair, sender: Side) -> JSON:
    return p.says(sender, 900, "tools/list" if sender is CLIENT else "roots/list")


@wrong("CAP-001", [CLIENT], server_can=t.ServerCapabilities(resources=t.ResourcesCapability()))
def undeclared_subscribe(p: Pair, sender: Side) -> JSON:
    return p.says(sender, 900, "resources/subscribe", {"uri": "a"})


@wrong("CAP-001", server_can=t.ServerCapabilities(tools=t.ToolsCapability()), client_can=t.ClientCapabilities())
def undeclared_change(p: Pair, sender: Side) -> JSON:
    return notification(f"notifications/{'roots' if sender is CLIENT else 'tools'}/list_changed")


@wrong("CAP-002", server_can=NOTHING, client_settings=LOOSE, own=False)  # our server refuses the request
def list_served_undeclared(p: Pair, sender: Side) -> JSON:
    return tools_result(p.client.request(t.ListToolsRequest()).id, p.revision)


@wrong("CAP-003")
def declared_list_not_found(p: Pair, sender: Side) -> JSON:
    return error(p.open(CLIENT), -32601)


@wrong("CAP-004", server_can=NOTHING, server_settings=BY_HAND)
def log_undeclared(p: Pair, sender: Side) -> JSON:
    if p.revision == MODERN:
        p.open(CLIENT, t.SubscriptionsListenRequest(t.SubscriptionFilter(), meta={LOG_LEVEL_KEY: "debug"}))
    return notification("notifications/message", {"level": "error", "data": 1})


@wrong("CAP-005", server_can=NOTHING, client_settings=LOOSE, own=False)  # our server refuses the request
def completion_served_undeclared(p: Pair, sender: Side) -> JSON:
    asked = t.CompleteRequest(t.PromptReference("p"), t.CompletionArgument("a", "b"))
    stamp = {"resultType": "complete"} if p.revision == MODERN else {}
    return result(p.client.request(asked).id, {"completion": {"values": []}, **stamp})


@wrong("CAP-006")
def missing_capability_without_data(p: Pair, sender: Side) -> JSON:
    return error(p.open(CLIENT), -32021)


@wrong("CAP-007", revisions=[D], client_can=t.ClientCapabilities(elicitation=t.ElicitationCapability()))
def elicitation_by_url(p: Pair, sender: Side) -> JSON:
    return request(900, "elicitation/create", {"mode": "url", "message": "m", "url": "u", "elicitationId": "e"})


@wrong("CAP-007", revisions=[D], client_can=t.ClientCapabilities(elicitation=t.ElicitationCapability(url={})))
def elicitation_by_form(p: Pair, sender: Side) -> JSON:
    schema = {"type": "object", "properties": {}}
    return request(900, "elicitation/create", {"message": "m", "requestedSchema": schema})


PLAIN_SAMPLING = {"messages": [], "maxTokens": 1}


@wrong("CAP-008", revisions=[D], client_can=t.ClientCapabilities(sampling=t.SamplingCapability()))
def sampling_with_tools(p: Pair, sender: Side) -> JSON:
    return request(900, "sampling/createMessage", {**PLAIN_SAMPLING, "tools": []})


@wrong("CAP-008", revisions=[D], client_can=t.ClientCapabilities(sampling=t.SamplingCapability()))
def sampling_with_tool_choice(p: Pair, sender: Side) -> JSON:
    return request(900, "sampling/createMessage", {**PLAIN_SAMPLING, "toolChoice": {}})


# Cancellation -------------------------------------------------------------------------------------------------------


@wrong("CANC-001", [CLIENT])
@wrong("CANC-001", [SERVER], LEGACY)
def cancelled_nothing(p: Pair, sender: Side) -> JSON:
    return notification("notifications/cancelled", {"requestId": 900})


@wrong("CANC-001", [CLIENT])
@wrong("CANC-001", [SERVER], LEGACY)
def cancelled_by_another_type(p: Pair, sender: Side) -> JSON:
    return notification("notifications/cancelled", {"requestId": str(p.open(sender))})


@wrong("CANC-005")
def server_cancels_a_call(p: Pair, sender: Side) -> JSON:
    return notification("notifications/cancelled", {"requestId": p.open(CLIENT)})


@wrong("CANC-005")
def server_cancels_nothing(p: Pair, sender: Side) -> JSON:
    return notification("notifications/cancelled", {"requestId": 900})


@wrong("CANC-008")
def cancelled_task(p: Pair, sender: Side) -> JSON:
    task = t.TaskMetadata()
    if sender is CLIENT:
        request_id = p.open(CLIENT, t.CallToolRequest("x", task=task))
    else:
        request_id = p.open(SERVER, t.CreateMessageRequest([], 1, task=task))
    return notification("notifications/cancelled", {"requestId": request_id})


# Progress -----------------------------------------------------------------------------------------------------------


def progress(token: JSON, value: float = 1) -> JSON:
    return notification("notifications/progress", {"progressToken": token, "progress": value})


@wrong("PROG-001", [SERVER])
@wrong("PROG-001", [CLIENT], LEGACY)
def invented_token(p: Pair, sender: Side) -> JSON:
    p.open(sender.other)
    return progress("x-1")


@wrong("PROG-002", [SERVER])
@wrong("PROG-002", [CLIENT], LEGACY)
def no_progress(p: Pair, sender: Side) -> JSON:
    token = p.open(sender.other, progress=True)
    p.of(sender).notify(t.ProgressNotification(token, 0.5))
    p.pump()
    return progress(token, 0.5)


@wrong("PROG-003", [SERVER])
@wrong("PROG-003", [CLIENT], LEGACY)
def progress_after_the_end(p: Pair, sender: Side) -> JSON:
    token = p.open(sender.other, progress=True)
    p.of(sender).respond_error(token, 1, "no")
    p.pump()
    return progress(token)


@wrong("PROG-004", [SERVER])
@wrong("PROG-004", [CLIENT], LEGACY)
def token_of_another_type(p: Pair, sender: Side) -> JSON:
    return progress(str(p.open(sender.other, progress=True)))


@wrong("PROG-005", [CLIENT])
@wrong("PROG-005", [SERVER], LEGACY)
def token_is_a_fraction(p: Pair, sender: Side) -> JSON:
    return p.says(sender, 900, "tools/list" if sender is CLIENT else "roots/list", progressToken=1.5)


@wrong("PROG-005", [CLIENT])
@wrong("PROG-005", [SERVER], LEGACY)
def token_in_use(p: Pair, sender: Side) -> JSON:
    token = p.open(sender, progress=True)
    return p.says(sender, 900, "tools/list" if sender is CLIENT else "roots/list", progressToken=token)


# Resources, logging, caching ----------------------------------------------------------------------------------------


@wrong("RES-002")
def blob_is_no_base64(p: Pair, sender: Side) -> JSON:
    stamp = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if p.revision == MODERN else {}
    request_id = p.open(CLIENT, t.ReadResourceRequest("a"))
    return result(request_id, {"contents": [{"uri": "a", "blob": "not base64!"}], **stamp})


@wrong("LOG-001")
def log_nobody_asked_for(p: Pair, sender: Side) -> JSON:
    p.open(CLIENT)
    return notification("notifications/message", {"level": "emergency", "data": 1})


@wrong("LOG-001")
def log_below_the_level(p: Pair, sender: Side) -> JSON:
    p.open(CLIENT, t.ListToolsRequest(meta={LOG_LEVEL_KEY: "error"}))
    return notification("notifications/message", {"level": "warning", "data": 1})


@wrong("CACHE-001")
def no_ttl(p: Pair, sender: Side) -> JSON:
    return result(p.open(CLIENT), {"tools": [], "resultType": "complete", "cacheScope": "private"})


@wrong("CACHE-001")
def negative_ttl(p: Pair, sender: Side) -> JSON:
    return tools_result(p.open(CLIENT), p.revision, ttlMs=-1)


# Multi round-trip requests ------------------------------------------------------------------------------------------


@wrong("MRTR-001")
def list_needs_input(p: Pair, sender: Side) -> JSON:
    return result(p.open(CLIENT), {"resultType": "input_required", "requestState": "s"})


@wrong("MRTR-002")
def nothing_required(p: Pair, sender: Side) -> JSON:
    return result(p.open(CLIENT, t.CallToolRequest("x")), {"resultType": "input_required"})


@wrong("MRTR-003")
def ping_as_input(p: Pair, sender: Side) -> JSON:
    asked = {"resultType": "input_required", "inputRequests": {"a": {"method": "ping"}}}
    return result(p.open(CLIENT, t.CallToolRequest("x")), asked)


@wrong("MRTR-006")
def server_pings(p: Pair, sender: Side) -> JSON:
    return request(900, "vendor/ask")


@wrong("MRTR-007")
def client_answers(p: Pair, sender: Side) -> JSON:
    return result(900)


@wrong("MRTR-007")
def client_answers_an_error(p: Pair, sender: Side) -> JSON:
    return error("900")


# Subscriptions ------------------------------------------------------------------------------------------------------


def listen(p: Pair, acknowledged: JSON = None) -> JSON:
    request_id = p.open(CLIENT, t.SubscriptionsListenRequest(t.SubscriptionFilter(tools_list_changed=True)))
    if acknowledged is not None:
        feed(p.client, ack(request_id, acknowledged))
        p.server.send_raw(parsed(ack(request_id, acknowledged)))
        sent(p.server)
    return request_id


def ack(request_id: JSON, acknowledged: JSON) -> JSON:
    params = {"notifications": acknowledged, "_meta": {SUBSCRIPTION_KEY: request_id}}
    return notification("notifications/subscriptions/acknowledged", params)


def tools_changed(request_id: JSON, what: str = "tools") -> JSON:
    return notification(f"notifications/{what}/list_changed", {"_meta": {SUBSCRIPTION_KEY: request_id}})


@wrong("SUB-001", server_settings=BY_HAND)
def change_before_the_acknowledgement(p: Pair, sender: Side) -> JSON:
    return tools_changed(listen(p))


@wrong("SUB-002", server_settings=BY_HAND)
def change_without_an_id(p: Pair, sender: Side) -> JSON:
    listen(p, {"toolsListChanged": True})
    return notification("notifications/tools/list_changed")


@wrong("SUB-002", server_settings=BY_HAND)
def change_with_an_id_of_another_type(p: Pair, sender: Side) -> JSON:
    return tools_changed(str(listen(p, {"toolsListChanged": True})))


@wrong("SUB-002")
def acknowledgement_of_nothing(p: Pair, sender: Side) -> JSON:
    return ack(900, {})


@wrong("SUB-003", server_settings=BY_HAND)
def change_outside_the_filter(p: Pair, sender: Side) -> JSON:
    return tools_changed(listen(p, {"toolsListChanged": True}), "prompts")


@wrong("SUB-004", server_settings=BY_HAND)
def second_acknowledgement(p: Pair, sender: Side) -> JSON:
    return ack(listen(p, {"toolsListChanged": True}), {})


@wrong("CANC-007", server_settings=BY_HAND)
def end_by_the_result_alone(p: Pair, sender: Side) -> JSON:
    request_id = listen(p, {})
    return result(request_id, {"resultType": "complete", "_meta": {SUBSCRIPTION_KEY: request_id}})


@wrong("SUB-005", server_settings=BY_HAND)
def end_without_an_id(p: Pair, sender: Side) -> JSON:
    return result(listen(p, {}), {"resultType": "complete"})


# Tasks, removed methods ---------------------------------------------------------------------------------------------


@wrong("TASK-005", server_can=t.ServerCapabilities(tools=t.ToolsCapability()), client_can=CLIENT_CAN, own=True)
def call_as_a_task(p: Pair, sender: Side) -> JSON:
    if sender is CLIENT:
        return request(900, "tools/call", {"name": "x", "task": {}})
    q = pair(p.revision, client_can=t.ClientCapabilities(sampling=t.SamplingCapability()))
    p.client, p.server = q.client, q.server
    return request(900, "sampling/createMessage", {**PLAIN_SAMPLING, "task": {}})


def task(status: str) -> dict[str, Any]:
    times = dict.fromkeys(("createdAt", "lastUpdatedAt"), "2025-11-25T10:30:00Z")
    return {"taskId": "t1", "status": status, "ttl": None, **times}


@wrong("TASK-001")
def task_comes_back_to_life(p: Pair, sender: Side) -> JSON:
    for status in ("working", "input_required", "working", "working", "failed"):
        line = encode(notification("notifications/tasks/status", task(status)))
        us, peer = p.of(sender), p.of(sender.other)
        us.send_raw(parsed(notification("notifications/tasks/status", task(status))))
        us.data_to_send()
        assert drawn(peer.receive_data(line)) == []
    return notification("notifications/tasks/status", task("completed"))


@wrong("TASK-001")
def answers_disagree(p: Pair, sender: Side) -> JSON:
    ids: list[Any] = []
    for ask in (t.ListTasksRequest(), t.CancelTaskRequest("t1"), t.GetTaskRequest("t1")):
        ids.append(p.of(sender.other).request(ask).id)
    p.of(sender).receive_data(p.of(sender.other).data_to_send())
    for request_id, told in ((ids[0], {"tasks": [task("working")]}), (ids[1], task("cancelled"))):
        p.of(sender).send_raw(parsed(result(request_id, told)))
        assert drawn(p.of(sender.other).receive_data(p.of(sender).data_to_send())) == []
    return result(ids[2], task("working"))


@wrong("TASK-002")
def result_of_no_task(p: Pair, sender: Side) -> JSON:
    request_id = p.of(sender.other).request(t.GetTaskPayloadRequest("t1")).id
    p.of(sender).receive_data(p.of(sender.other).data_to_send())
    related = {"io.modelcontextprotocol/related-task": {"taskId": "another"}}
    return result(request_id, {"_meta": related})


@wrong("CACHE-002")
def pages_of_two_scopes(p: Pair, sender: Side) -> JSON:
    first = p.client.request(t.ListToolsRequest()).id
    second = p.client.request(t.ListToolsRequest("")).id
    p.server.receive_data(p.client.data_to_send())
    page = {"tools": [], "resultType": "complete", "ttlMs": 0}
    p.server.send_raw(parsed(result(first, {**page, "nextCursor": "", "cacheScope": "public"})))
    assert drawn(p.client.receive_data(p.server.data_to_send())) == []
    return result(second, {**page, "cacheScope": "private"})


@wrong("META-001", own=False)  # our server refuses the request
def served_what_was_removed(p: Pair, sender: Side) -> JSON:
    p.client.send_raw(parsed(modern(900, "ping")), allow=frozenset({"LIB-010"}))
    return result(900, {"resultType": "complete"})


# The library's own --------------------------------------------------------------------------------------------------

SHORT = {"limits": Limits(frame_bytes=4096)}
FLAT = {"limits": Limits(depth=20)}
FEW = {"limits": Limits(batch_length=3)}
BUSY = {"limits": Limits(peer_requests=1)}
UNIQUE = {"limits": Limits(forbid_duplicate_names=True)}


@wrong("LIB-001", client_settings=SHORT, server_settings=SHORT, own=False)
def long_line(p: Pair, sender: Side) -> JSON:
    return notification("vendor/a", {"a": "x" * 5000})


@wrong("LIB-002", client_settings=UNIQUE, server_settings=UNIQUE, own=False)
def name_twice(p: Pair, sender: Side) -> JSON:
    return b'{"jsonrpc":"2.0","method":"vendor/a","method":"vendor/b"}\n'


@wrong("LIB-003", [CLIENT])
def name_is_a_number(p: Pair, sender: Side) -> JSON:
    return p.says(sender, 900, "tools/call", {"name": 5})


@wrong("LIB-003", [SERVER], LEGACY)
def sampling_of_nothing(p: Pair, sender: Side) -> JSON:
    return request(900, "sampling/createMessage", {})


@wrong("LIB-003", [SERVER])
@wrong("LIB-003", [CLIENT], LEGACY)
def progress_of_nothing(p: Pair, sender: Side) -> JSON:
    return notification("notifications/progress", {})


@wrong("LIB-003", [CLIENT], [MODERN])
def client_info_is_a_number(p: Pair, sender: Side) -> JSON:
    return p.says(sender, 900, "tools/list", None, **{"io.modelcontextprotocol/clientInfo": 5})


@wrong("LIB-004", own=False)
def no_newline(p: Pair, sender: Side) -> JSON:
    return Unterminated(encode(notification("vendor/a")).rstrip(b"\n"))


@wrong("LIB-004", own=False)
def cut_line(p: Pair, sender: Side) -> JSON:
    return Unterminated(b'{"jsonrpc":"2.0","method":"vend')


@wrong("LIB-005")
def second_initialize(p: Pair, sender: Side) -> JSON:
    return initialize(900, p.revision)


@wrong("LIB-005")
def second_initialized(p: Pair, sender: Side) -> JSON:
    return INITIALIZED


@wrong("LIB-006", [CLIENT])
@wrong("LIB-006", [SERVER], LEGACY)
def request_of_the_other_side(p: Pair, sender: Side) -> JSON:
    return p.says(sender, 900, "roots/list" if sender is CLIENT else "tools/list")


@wrong("LIB-006")
def notification_of_the_other_side(p: Pair, sender: Side) -> JSON:
    if sender is CLIENT:
        return notification("notifications/message", {"level": "error", "data": 1})
    return notification("notifications/roots/list_changed")


@wrong("LIB-007", client_settings=FLAT, server_settings=FLAT, own=False)
def deep(p: Pair, sender: Side) -> JSON:
    return b'{"jsonrpc":"2.0","method":"vendor/a","params":{"a":' + b"[" * 30 + b"]" * 30 + b"}}\n"


@wrong("LIB-008", revisions=[D], client_can=t.ClientCapabilities(sampling=t.SamplingCapability()))
def include_context(p: Pair, sender: Side) -> JSON:
    return request(900, "sampling/createMessage", {**PLAIN_SAMPLING, "includeContext": "thisServer"})


@wrong("LIB-011", revisions=[B], client_settings=FEW, server_settings=FEW, own=False)
def long_batch(p: Pair, sender: Side) -> JSON:
    return [notification("vendor/a")] * 4


@wrong("LIB-013", [CLIENT], server_settings=BUSY, own=False)
@wrong("LIB-013", [SERVER], LEGACY, client_settings=BUSY, own=False)
def one_request_too_many(p: Pair, sender: Side) -> JSON:
    p.open(sender)
    return p.says(sender, 900, "tools/list" if sender is CLIENT else "roots/list")


@wrong("LIB-013", [CLIENT], LEGACY, server_settings={"limits": Limits(subscribed_uris=1)}, own=False)
def one_resource_too_many(p: Pair, sender: Side) -> JSON:
    p.server.respond(p.open(CLIENT, t.SubscribeRequest("file:///a")), t.EmptyResult())
    p.pump()
    return request(900, "resources/subscribe", {"uri": "file:///b"})


def asks_for(p: Pair, method: str, **params: JSON) -> JSON:
    """An answer to tools/call that asks for more."""
    request_id = p.client.request(t.CallToolRequest("x")).id
    p.server.receive_data(p.client.data_to_send())
    asked = {"a": {"method": method, "params": params}}
    return result(request_id, {"resultType": "input_required", "inputRequests": asked})


FORMS_ONLY = t.ClientCapabilities(elicitation=t.ElicitationCapability(), sampling=t.SamplingCapability())


@wrong("CAP-006", revisions=[E], client_can=t.ClientCapabilities())
def asks_for_what_was_not_declared(p: Pair, sender: Side) -> JSON:
    return asks_for(p, "roots/list")


@wrong("CAP-007", revisions=[E], client_can=FORMS_ONLY)
def asks_by_url(p: Pair, sender: Side) -> JSON:
    return asks_for(p, "elicitation/create", mode="url", message="m", url="https://example.com")


@wrong("CAP-008", revisions=[E], client_can=FORMS_ONLY)
def asks_for_sampling_with_tools(p: Pair, sender: Side) -> JSON:
    return asks_for(p, "sampling/createMessage", **PLAIN_SAMPLING, toolChoice={})


@wrong("LIB-008", revisions=[E], client_can=FORMS_ONLY)
def asks_for_sampling_with_context(p: Pair, sender: Side) -> JSON:
    return asks_for(p, "sampling/createMessage", **PLAIN_SAMPLING, includeContext="thisServer")


@wrong("LIB-012", client_settings={"spec": JOBS}, server_settings={"spec": JOBS}, server_can=HAS_JOBS, own=False)
def extension_that_was_not_declared(p: Pair, sender: Side) -> JSON:
    return modern(900, "com.example/jobs/get", {"job": "j1"})


@wrong("LIB-009", [CLIENT], server_can=NOTHING)
def modern_undeclared(p: Pair, sender: Side) -> JSON:
    return modern(900, "tools/list")


@wrong("LIB-009", [SERVER], server_can=NOTHING, server_settings=BY_HAND)
def modern_undeclared_change(p: Pair, sender: Side) -> JSON:
    return tools_changed(listen(p, {"toolsListChanged": True}))


@wrong("LIB-010", [CLIENT])
def removed_method(p: Pair, sender: Side) -> JSON:
    return modern(900, "logging/setLevel", {"level": "error"})


@wrong("LIB-010")
def removed_notification(p: Pair, sender: Side) -> JSON:
    if sender is CLIENT:
        return INITIALIZED
    return notification("notifications/elicitation/complete", {"elicitationId": "a"})


# The tests ----------------------------------------------------------------------------------------------------------

NOT_ALONE: dict[tuple[str, Side], tuple[str, ...]] = {
    # In 2026-07-28 another rule says the same of this side, or says more.
    ("RPC-005", CLIENT): (E,),  # MRTR-007
    ("RPC-007", SERVER): (E,),  # MRTR-006
    ("CANC-001", SERVER): (E,),  # CANC-005
    ("PROG-001", CLIENT): (E,),  # clients of 2026-07-28 have no progress: LIB-010
    ("PROG-002", CLIENT): (E,),
    ("PROG-003", CLIENT): (E,),
    ("PROG-004", CLIENT): (E,),
    ("PROG-005", SERVER): (E,),  # servers of 2026-07-28 have no requests: MRTR-006
    ("RPC-018", CLIENT): (E,),  # MRTR-007
    ("LIB-013", SERVER): (E,),  # MRTR-006
}
"""Where a rule binds by its row, but can't be the only one that is broken."""


def parsed(value: JSON) -> JSONRPCMessage:
    message = parse_message(value)
    assert not isinstance(message, InvalidMessage), message
    return message


def each(own: bool = False) -> list[Any]:
    return [
        pytest.param(w, side, revision, id=f"{w.rule}-{w.name}-{side.value}-{revision}")
        for w in WRONGS
        for side, revision in w.cases
        if w.own or not own
    ]


@pytest.mark.parametrize(("w", "side", "revision"), each())
def test_a_peer_that_breaks_a_rule_draws_it_and_no_other(w: Wrong, side: Side, revision: str) -> None:
    p = w.pair(revision)
    written = w.make(p, side)
    events = receive(p.of(side.other), written)
    assert drawn(events) == [w.rule]
    (violation,) = (v for event in events for v in event.violations)
    assert violation.level is RULES[w.rule].level_in(revision)
    assert violation.detail


@pytest.mark.parametrize(("w", "side", "revision"), each(own=True))
def test_we_break_a_rule_only_if_it_is_allowed_and_else_change_nothing(w: Wrong, side: Side, revision: str) -> None:
    p = w.pair(revision)
    written = w.make(p, side)
    us = p.of(side)
    sent(us)
    before = state_of(us)
    with pytest.raises(LocalProtocolError) as caught:
        us.send_raw(parsed(written), allow=frozenset(RULES) - {w.rule})
    assert [v.rule for v in caught.value.violations] == [w.rule]
    assert caught.value.hint
    assert state_of(us) == before
    broken = type(us).restore(us.snapshot()).send_raw(parsed(written), allow=ALL)
    assert broken == us.send_raw(parsed(written), allow=frozenset({w.rule})) == caught.value.violations
    assert sent(us) == [written]


def elsewhere() -> list[Any]:
    """Each way, on the sides that the rule binds somewhere, in the revisions where it doesn't bind."""
    unique = {(w.rule, w.name): w for w in WRONGS}
    return [
        pytest.param(w, side, revision, id=f"{w.rule}-{w.name}-{side.value}-{revision}")
        for w in unique.values()
        for side in SIDES
        for revision in EVERY
        if side in RULES[w.rule].sides and not RULES[w.rule].binds(side, revision)
    ]


@pytest.mark.parametrize(("w", "side", "revision"), elsewhere())
def test_a_rule_binds_only_in_its_revisions(w: Wrong, side: Side, revision: str) -> None:
    p = w.pair(revision)
    try:
        written = w.make(p, side)
    except (LocalProtocolError, AssertionError):
        return  # the state in which it could be broken doesn't exist there
    assert w.rule not in drawn(receive(p.of(side.other), written))


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_broken_wherever_it_binds(rule: str) -> None:
    row = RULES[rule]
    tried = {case for w in WRONGS if w.rule == rule for case in w.cases}
    assert tried, "no test breaks this rule"
    excused = {
        (side, revision) for (name, side), revisions in NOT_ALONE.items() if name == rule for revision in revisions
    }
    assert tried | excused == {(s, r) for s in SIDES for r in EVERY if row.binds(s, r)}


ILL_TYPED = {
    "params is an array": JSONRPCRequest(900, "ping", [1]),
    "params of a notification is a string": JSONRPCNotification("vendor/a", "x"),
    "method is a number": JSONRPCRequest(900, 5),
    "id is true": JSONRPCRequest(True, "ping"),
    "id is a float": JSONRPCRequest(900.0, "ping"),
    "id is null": JSONRPCRequest(None, "ping"),
    "id is a list": JSONRPCRequest([], "ping"),
    "id is beyond 64 bits": JSONRPCRequest(2**64, "ping"),
    "id is too long": JSONRPCRequest("x" * 2000, "ping"),
    "id of a result is null": JSONRPCResultResponse(None, {}),
    "result is null": JSONRPCResultResponse(900, None),
    "error is null": JSONRPCErrorResponse(900, None),
    "code is a float": JSONRPCErrorResponse(None, Error(1.5, "m")),
    "code is a string": JSONRPCErrorResponse(None, Error("1", "m")),
    "code is true": JSONRPCErrorResponse(None, Error(True, "m")),
    "message is a number": JSONRPCErrorResponse(None, Error(1, 5)),
    "no message at all": None,
    "a dict": {"jsonrpc": "2.0", "method": "vendor/a"},
}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("revision", [D, E])
@pytest.mark.parametrize("what", ILL_TYPED)
def test_send_raw_refuses_ill_typed_envelopes(what: str, revision: str, side: Side) -> None:
    us = pair(revision).of(side)
    before = state_of(us)
    with pytest.raises((LocalProtocolError, TypeError)):
        us.send_raw(ILL_TYPED[what])
    assert state_of(us) == before


@pytest.mark.parametrize("like", [1.0, True], ids=repr)
@pytest.mark.parametrize("kind", ["result", "error", "cancelled"])
def test_send_raw_takes_no_id_that_is_only_equal(kind: str, like: Any) -> None:
    p = pair(D)
    request_id = p.open(CLIENT) if kind == "cancelled" else p.open(SERVER)
    us = p.client
    value = type(like)(request_id)
    if value != request_id:
        pytest.skip("the id isn't 1")
    message: JSONRPCMessage
    if kind == "cancelled":
        message = JSONRPCNotification("notifications/cancelled", {"requestId": value})
    elif kind == "result":
        message = JSONRPCResultResponse(value, {"roots": []})
    else:
        message = JSONRPCErrorResponse(value, Error(1, "m"))
    before = state_of(us)
    with pytest.raises((LocalProtocolError, TypeError)):
        us.send_raw(message)
    assert state_of(us) == before
