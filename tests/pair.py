"""A client and a server that talk in memory, and peers played by hand: what the tests of connections share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

import attrs
import pytest

from mcp_sansio import (
    ALL_REVISIONS,
    LEGACY_REVISIONS,
    ClientConnection,
    Event,
    LocalProtocolError,
    RequestReceived,
    ServerConnection,
    Side,
)
from mcp_sansio import types as t

JSON: TypeAlias = Any
Connection: TypeAlias = ClientConnection | ServerConnection

MODERN = "2026-07-28"
LEGACY = LEGACY_REVISIONS
EVERY = ALL_REVISIONS
SIDES = CLIENT, SERVER = (Side.CLIENT, Side.SERVER)
A, B, C, D, E = EVERY

every_revision = pytest.mark.parametrize("revision", EVERY)
every_legacy = pytest.mark.parametrize("revision", LEGACY)
both_sides = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.value)
every_requestor = pytest.mark.parametrize(
    ("side", "revision"), [*((CLIENT, revision) for revision in EVERY), *((SERVER, revision) for revision in LEGACY)]
)
"""Every side that sends requests, in every revision."""

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
INFO_KEY = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

INFO = t.Implementation("peer", "1.0")
CLIENT_CAN = t.ClientCapabilities(
    roots=t.RootsCapability(list_changed=True),
    sampling=t.SamplingCapability(context={}, tools={}),
    elicitation=t.ElicitationCapability(form={}, url={}),
    tasks=t.ClientTasksCapability(
        list={},
        cancel={},
        requests=t.ClientTasksRequestsCapability(
            sampling=t.TasksSamplingCapability(create_message={}),
            elicitation=t.TasksElicitationCapability(create={}),
        ),
    ),
)
"""Everything. Each revision writes what it knows of it."""
SERVER_CAN = t.ServerCapabilities(
    logging={},
    completions={},
    prompts=t.PromptsCapability(list_changed=True),
    resources=t.ResourcesCapability(subscribe=True, list_changed=True),
    tools=t.ToolsCapability(list_changed=True),
    tasks=t.ServerTasksCapability(
        list={}, cancel={}, requests=t.ServerTasksRequestsCapability(tools=t.TasksToolsCapability(call={}))
    ),
)
"""Likewise."""


# What a peer writes ---------------------------------------------------------------------------------------------------


def encode(*values: JSON) -> bytes:
    """Values as lines; bytes are taken as they are, without a newline of ours."""
    return b"".join(v if isinstance(v, bytes) else json.dumps(v, ensure_ascii=False).encode() + b"\n" for v in values)


def request(request_id: JSON, method: str, params: JSON = None) -> JSON:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def notification(method: str, params: JSON = None) -> JSON:
    message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def result(request_id: JSON, value: JSON = None) -> JSON:
    return {"jsonrpc": "2.0", "id": request_id, "result": {} if value is None else value}


def error(request_id: JSON, code: JSON = -32603, message: JSON = "no", **more: JSON) -> JSON:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message, **more}}


def modern_meta(**more: JSON) -> JSON:
    """The ``_meta`` of a modern request."""
    return {VERSION_KEY: MODERN, CAPABILITIES_KEY: {}, INFO_KEY: {"name": "peer", "version": "1.0"}, **more}


def modern(request_id: JSON, method: str, params: JSON = None, **meta: JSON) -> JSON:
    """A modern request."""
    return request(request_id, method, {**(params or {}), "_meta": modern_meta(**meta)})


def initialize(request_id: JSON = 1, revision: JSON = "2025-11-25", **params: JSON) -> JSON:
    given = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "peer", "version": "1.0"}}
    return request(request_id, "initialize", {**given, **params})


INITIALIZED = notification("notifications/initialized")


def initialize_result(request_id: JSON = 1, revision: JSON = "2025-11-25", **members: JSON) -> JSON:
    given = {"protocolVersion": revision, "capabilities": {}, "serverInfo": {"name": "peer", "version": "1.0"}}
    return result(request_id, {**given, **members})


def discover_result(request_id: JSON = 1, versions: Iterable[str] = (MODERN,), **members: JSON) -> JSON:
    given = {"supportedVersions": list(versions), "capabilities": {}, "resultType": "complete"}
    return result(request_id, {**given, "ttlMs": 0, "cacheScope": "private", **members})


def tools_result(request_id: JSON, revision: str, **members: JSON) -> JSON:
    """An empty list of tools, as the revision has it."""
    stamp = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if revision == MODERN else {}
    return result(request_id, {"tools": [], **stamp, **members})


# What comes of it -----------------------------------------------------------------------------------------------------


def feed(conn: Connection, *values: JSON, now: float | None = None) -> list[Event]:
    """Let a connection receive values, each as a line (bytes as they are), and give its events."""
    return conn.receive_data(encode(*values), now=now)


def sent(conn: Connection) -> list[JSON]:
    """What a connection has to say, decoded."""
    return [json.loads(line) for line in conn.data_to_send().splitlines()]


def drawn(events: Iterable[Event]) -> list[str]:
    """The ids of the rules that were broken, in order."""
    return [violation.rule for event in events for violation in event.violations]


def state_of(conn: Connection) -> str:
    """All that a connection remembers and has to say, to be compared."""
    return json.dumps(conn.snapshot(now=0.0), sort_keys=True)


# Connections ----------------------------------------------------------------------------------------------------------


def client(era: Any = "auto", capabilities: t.ClientCapabilities = CLIENT_CAN, **settings: Any) -> ClientConnection:
    return ClientConnection(INFO, capabilities, era=era, **settings)


def server(capabilities: t.ServerCapabilities = SERVER_CAN, **settings: Any) -> ServerConnection:
    return ServerConnection(INFO, capabilities, **settings)


def open_server(revision: str, **settings: Any) -> ServerConnection:
    """A server that a peer without capabilities has opened at a revision; its output is drained."""
    conn = server(**settings)
    if revision in LEGACY:
        feed(conn, initialize("init", revision), INITIALIZED)
        sent(conn)
    return conn


def open_client(revision: str, server_declares: JSON = None, **settings: Any) -> ClientConnection:
    """A client that has found a server of a revision; its output is drained."""
    declared = {"tools": {}, "resources": {}, "prompts": {}} if server_declares is None else server_declares
    conn = client("modern" if revision == MODERN else "legacy", **settings)
    conn.connect()
    sent(conn)
    if revision == MODERN:
        feed(conn, discover_result(capabilities=declared))
    else:
        feed(conn, initialize_result(revision=revision, capabilities=declared))
    sent(conn)
    return conn


@attrs.define
class Pair:
    """A client and a server, and the revision that they speak."""

    revision: str
    client: ClientConnection
    server: ServerConnection

    def of(self, side: Side) -> Connection:
        return self.client if side is Side.CLIENT else self.server

    def pump(self, now: float | None = None) -> list[Event]:
        """Carry bytes until there are none; the events of both sides."""
        events: list[Event] = []
        while True:
            to_server, to_client = self.client.data_to_send(), self.server.data_to_send()
            if not to_server and not to_client:
                return events
            events += self.server.receive_data(to_server, now=now)
            events += self.client.receive_data(to_client, now=now)

    def open(self, side: Side, payload: t.Request[Any] | None = None, **options: Any) -> Any:
        """Let a side send a request that the other has to serve, and give its id."""
        if payload is None:
            payload = t.ListToolsRequest() if side is Side.CLIENT else t.ListRootsRequest()
        handle = self.of(side).request(payload, **options)
        events = self.pump(options.get("now"))
        assert any(isinstance(event, RequestReceived) and event.id == handle.id for event in events), events
        return handle.id

    def says(self, side: Side, request_id: JSON, method: str, params: JSON = None, **meta: JSON) -> JSON:
        """A request as this side would write it in this revision."""
        if self.revision == MODERN and side is Side.CLIENT:
            return modern(request_id, method, params, **meta)
        return request(request_id, method, {**(params or {}), "_meta": meta} if meta else params)


def pair(
    revision: str,
    *,
    client_can: t.ClientCapabilities = CLIENT_CAN,
    server_can: t.ServerCapabilities = SERVER_CAN,
    connect: bool = True,
    client_settings: dict[str, Any] | None = None,
    server_settings: dict[str, Any] | None = None,
) -> Pair:
    """A client and a server that speak one revision only, with the handshake done unless told otherwise."""
    era = "modern" if revision == MODERN else "legacy"
    made = Pair(
        revision,
        client(era, client_can, **{"revisions": [revision], **(client_settings or {})}),
        server(server_can, **{"revisions": [revision], **(server_settings or {})}),
    )
    if connect:
        made.client.connect()
        made.pump()
        assert made.client.revision == revision
    return made


def legacy_pair(revision: str = "2025-11-25", **settings: Any) -> Pair:
    assert revision in LEGACY
    return pair(revision, **settings)


def modern_pair(**settings: Any) -> Pair:
    return pair(MODERN, **settings)


def case(*ids: str) -> pytest.MarkDecorator:
    """Names the cases whose kind a test is: they become part of its id."""
    return pytest.mark.parametrize("_case", ["+".join(ids)])


def raises(call: Any, *allowed: type[Exception]) -> Exception | None:
    """The mistake that a call of the local caller was told, if any; other exceptions pass through."""
    try:
        call()
    except (LocalProtocolError, *allowed) as mistake:
        return mistake
    return None
