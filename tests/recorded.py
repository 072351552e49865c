"""Recordings for the tests of the judge and of the command: written by hand, or taken of pairs of connections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

from mcp_sansio import Side
from mcp_sansio.connection import Connection
from mcp_sansio.judge import Judge, Observation
from mcp_sansio.recording import Chunk, Ended, Record, read_record

from .pair import (
    CAPABILITIES_KEY,
    CLIENT,
    INITIALIZED,
    JSON,
    LOG_LEVEL_KEY,
    MODERN,
    SERVER,
    SUBSCRIPTION_KEY,
    discover_result,
    encode,
    error,
    initialize,
    initialize_result,
    modern,
    notification,
    request,
    result,
    tools_result,
)
from .test_rules import Unterminated, Wrong, receive

LATEST = "2025-11-25"
REAL = sorted(Path(__file__).with_name("recordings").glob("*.jsonl"))
"""Recordings of official clients and servers."""


def client(*values: JSON, t: float | None = None) -> Chunk:
    """What the client wrote: each value as a line, bytes as they are."""
    return Chunk(CLIENT, encode(*values), t)


def server(*values: JSON, t: float | None = None) -> Chunk:
    """What the server wrote, likewise."""
    return Chunk(SERVER, encode(*values), t)


def read(path: Path) -> list[Record]:
    return [read_record(line) for line in path.read_bytes().splitlines()]


def judged(*records: Record, **settings: Any) -> tuple[Judge, list[Observation]]:
    """The judge of a recording, and what it observed."""
    judge = Judge(**settings)
    seen = [each for record in records for each in judge.receive(record)]
    return judge, seen + judge.finish()


def drawn(*records: Record, **settings: Any) -> list[tuple[str, Side]]:
    """Which rules were broken, and by whom."""
    _, seen = judged(*records, **settings)
    return [(violation.rule, each.sender) for each in seen for violation in each.violations]


def recording_of(w: Wrong, side: Side, revision: str) -> tuple[Record, ...]:
    """What passes between a pair until one side has broken a rule."""
    heard: list[tuple[Connection, Record]] = []
    receive_data = Connection.receive_data

    def listen(self: Connection, data: bytes, **options: Any) -> Any:
        heard.append((self, Chunk(self.side.other, bytes(data))))
        return receive_data(self, data, **options)

    with mock.patch.object(Connection, "receive_data", listen):
        p = w.pair(revision)
        written = w.make(p, side)
        lines = p.of(side.other).data_to_send().splitlines(keepends=True)
        asked = Chunk(side.other, b"".join(line for line in lines if b'"method"' in line))
        receive(p.of(side.other), written)
    *before, last = [record for receiver, record in heard if receiver in (p.client, p.server)]
    return (*before, asked, last, *((Ended(side, "eof"),) if isinstance(written, Unterminated) else ()))


# Parts of a session ---------------------------------------------------------------------------------------------------

TOOL = {"name": "add", "inputSchema": {"type": "object"}}
OTHER_TOOL = {"name": "subtract", "inputSchema": {"type": "object"}}
HAS_TOOLS = {"tools": {}}
TELLS_CHANGES = {"tools": {"listChanged": True}}


def opened(revision: str = LATEST, capabilities: JSON = HAS_TOOLS) -> list[Record]:
    """A handshake."""
    answer = initialize_result("i", revision, capabilities=capabilities)
    return [client(initialize("i", revision), t=0.0), server(answer, t=0.5), client(INITIALIZED, t=0.6)]


def listed(request_id: JSON = 1, *tools: JSON, revision: str = LATEST, t: float = 1.0) -> list[Record]:
    """The list of tools; one, unless others are given."""
    answer = tools_result(request_id, revision, tools=list(tools or (TOOL,)))
    asked = modern(request_id, "tools/list") if revision == MODERN else request(request_id, "tools/list")
    return [client(asked, t=t), server(answer, t=t + 0.25)]


def called(request_id: JSON = 2, name: str = "add", *, fails: bool = False) -> list[Record]:
    """A call of a tool."""
    answer = result(request_id, {"content": [{"type": "text", "text": "3"}], "isError": fails})
    return [client(request(request_id, "tools/call", {"name": name}), t=2.0), server(answer, t=2.5)]


def discovered(capabilities: JSON = HAS_TOOLS) -> list[Record]:
    """The beginning of a conversation of the modern era."""
    return [client(modern("d", "server/discover")), server(discover_result("d", capabilities=capabilities))]


TOOLS_CHANGED = server(notification("notifications/tools/list_changed"))
GOOD = [*opened(), *listed(), *called()]
"""A session without fault."""
OVER: list[Record] = [Ended(CLIENT, "eof", 9.0), Ended(SERVER, "eof", 9.5), Ended(SERVER, "exit", 9.75)]
"""Its end."""
NOT_INITIALIZED = error(1, -32602, "Received request before initialization was complete")


def without(message: JSON, *members: str) -> JSON:
    return {name: value for name, value in message.items() if name not in members}


# Mistakes, and what follows them --------------------------------------------------------------------------------------

REST = [client(INITIALIZED), *listed(), *called()]
ASKED = client(initialize("i"))
ANSWER = initialize_result("i", capabilities=HAS_TOOLS)
UNNAMED = {"protocolVersion": LATEST, "capabilities": {}}
PRETTY = json.dumps(ANSWER, indent=2).encode() + b"\n"
LOG = {"level": "error", "error": "boom", "time": 1}

MISTAKES: dict[str, tuple[list[Record], list[tuple[str, Side]]]] = {
    "the initialize result has no serverInfo": (
        [ASKED, server(result("i", {**UNNAMED, "capabilities": HAS_TOOLS})), *REST],
        [("LIFE-006", SERVER)],
    ),
    "the initialize result has no jsonrpc": (
        [ASKED, server(without(ANSWER, "jsonrpc")), *REST],
        [("RPC-001", SERVER)],
    ),
    "the initialize result is spread over lines": ([ASKED, server(PRETTY), *REST], [("FRAME-002", SERVER)]),
    "the initialize result is no object": (
        [ASKED, server({"jsonrpc": "2.0", "id": "i", "result": 5}), *REST],
        [("RPC-018", SERVER)],
    ),
    "a bad initialize result, and once more": (
        [ASKED, server(result("i", UNNAMED)), client(initialize("j")), server({**ANSWER, "id": "j"}), *REST],
        [("LIFE-006", SERVER)],
    ),
    "initialize has no clientInfo, and is served": (
        [client(request("i", "initialize", UNNAMED)), server(ANSWER), *REST],
        [("LIFE-002", CLIENT)],
    ),
    "initialize has no jsonrpc, and is served": (
        [client(without(initialize("i"), "jsonrpc")), server(ANSWER), *REST],
        [("RPC-001", CLIENT)],
    ),
    "initialize stands in a batch, and so does its result": (
        [client([initialize("i", "2025-03-26")]), server([initialize_result("i", "2025-03-26")]), *REST],
        [("LIFE-007", CLIENT)],
    ),
    "initialized has no jsonrpc": (
        [ASKED, server(ANSWER), client(without(INITIALIZED, "jsonrpc")), *listed()],
        [("RPC-001", CLIENT)],
    ),
    "initialized comes before the result": (
        [ASKED, client(INITIALIZED), server(ANSWER), *listed(), *called()],
        [("LIFE-004", CLIENT)],
    ),
    "a request has no jsonrpc": (
        [*opened(), client(without(request(1, "tools/list"), "jsonrpc")), listed()[1]],
        [("RPC-001", CLIENT)],
    ),
    "params is null": (
        [*opened(), client(request(1, "ping") | {"params": None}), server(result(1))],
        [("RPC-015", CLIENT)],
    ),
    "an id is 1.0, and copied so": (
        [*opened(), client(request(1.0, "ping")), server(result(1.0))],
        [("RPC-008", CLIENT)],
    ),
    "an id is 1.5, and copied so": (
        [*opened(), client(request(1.5, "ping")), server(result(1.5))],
        [("RPC-008", CLIENT)],
    ),
    "an id is null": (
        [*opened(), client(request(None, "ping")), server(error(None, -32600))],
        [("RPC-008", CLIENT)],
    ),
    "a line that cannot be read is answered": (
        [*opened(), client(b'{"jsonrpc":"2.0","id":7,"method":"pi\n'), server(result(7))],
        [("FRAME-001", CLIENT)],
    ),
    "a result has a null error": (
        [*opened(), listed()[0], server(tools_result(1, LATEST) | {"error": None})],
        [("RPC-003", SERVER)],
    ),
    "an error has a null result": (
        [*opened(), listed()[0], server(error(1) | {"result": None})],
        [("RPC-003", SERVER)],
    ),
    "a response names its method": (
        [*opened(), listed()[0], server(tools_result(1, LATEST) | {"method": "tools/list"})],
        [("RPC-003", SERVER)],
    ),
    "an answer is too long": (
        [
            *opened(),
            listed()[0],
            server(tools_result(1, LATEST, tools=[TOOL | {"description": "x" * 5000}])),
            *called(),
        ],
        [("LIB-001", SERVER)],
    ),
    "a log is JSON": ([*opened(), server(LOG), server({"msg": "up"}), *listed()], [("FRAME-001", SERVER)] * 2),
    "a log is cut": ([*opened(), server(b'{"level":"info"'), Ended(SERVER, "eof")], [("LIB-004", SERVER)]),
    "a log is JSON, and has no newline": (
        [*opened(), server(b'{"level":"info"}'), Ended(SERVER, "eof")],
        [("FRAME-001", SERVER), ("LIB-004", SERVER)],
    ),
    "lines that begin like a message over several": (
        [*opened(), server(b"{ starting\n  wait\n"), *listed()],
        [("FRAME-001", SERVER)] * 2,
    ),
    "lines that begin so, and end": (
        [*opened(), server(b"{ starting\n"), Ended(SERVER, "eof")],
        [("FRAME-001", SERVER)],
    ),
    "lines that begin so, and the recording ends": ([*opened(), server(b"{ starting\n")], [("FRAME-001", SERVER)]),
    "an array, answered by an array": (
        [*opened(), client([request(7, "ping"), 5, request(8, "ping")]), server([result(7), result(8)])],
        [("FRAME-004", CLIENT), ("FRAME-004", SERVER)],
    ),
    "part of a batch is no message": (
        [*opened("2025-03-26"), client([request(7, "ping"), 5, INITIALIZED | {"id": None}]), server([result(7)])],
        [("FRAME-001", CLIENT), ("RPC-008", CLIENT)],
    ),
    "requests after a refused handshake": (
        [
            ASKED,
            server(error("i")),
            *listed(),
            *called(),
            client(notification("notifications/cancelled", {"requestId": 9})),
        ],
        [("LIFE-001", CLIENT), ("CANC-001", CLIENT)],
    ),
    "the server asks in the modern era": (
        [client(modern(1, "tools/call", {"name": "a"})), server(request(1, "roots/list"))],
        [("MRTR-006", SERVER)],
    ),
    "a request of the modern era without its _meta": (
        [*discovered(), *listed()],
        [("VER-009", CLIENT)],
    ),
    "a newline stands in a string": (
        [
            *opened(),
            called()[0],
            server(b'{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a\nb"}]}}\n'),
        ],
        [("FRAME-002", SERVER)],
    ),
    "initialized has an id": (
        [ASKED, server(ANSWER), client(INITIALIZED | {"id": 5}), server(error(5, -32601)), *listed(), *called()],
        [("RPC-007", CLIENT)],
    ),
    "two requests with one id in flight": (
        [*opened(), listed()[0], called(1)[0], called(1)[1], listed()[1]],
        [("RPC-009", CLIENT)],
    ),
    "two requests with one id, one after the other": (
        [*opened(), *listed(), *called(1)],
        [("RPC-009", CLIENT)],
    ),
    "two answers, one to what was cancelled": (
        [
            *opened(),
            listed()[0],
            client(notification("notifications/cancelled", {"requestId": 1})),
            listed()[1],
            listed()[1],
        ],
        [],
    ),
}
"""Recordings with one mistake, and what it draws."""

# Without a beginning --------------------------------------------------------------------------------------------------

PROGRESS = notification("notifications/progress", {"progressToken": 7, "progress": 1})
CANCELLED = notification("notifications/cancelled", {"requestId": 7})
OF_SUBSCRIPTION = notification("notifications/tools/list_changed", {"_meta": {SUBSCRIPTION_KEY: 7}})

BEGUN_BEFORE: dict[str, list[Record]] = {
    "with a request": [*listed(), *called()],
    "with a request for something else": [*called(), *listed()],
    "with an answer": [listed()[1], *called()],
    "with an answer of the client": [client(result(7)), *listed()],
    "with progress": [server(PROGRESS), *listed()],
    "with a cancel": [client(CANCELLED), *listed()],
    "with a change to a subscription": [server(OF_SUBSCRIPTION), *listed(revision=MODERN)],
    "with a request that fails as it would in a session": [
        client(request(1, "vendor/a")),
        server(error(1, -32601)),
        *listed(2),
    ],
    "with pings": [
        client(request(1, "ping")),
        server(result(1)),
        client(request(2, "ping")),
        *called(3),
        server(result(2)),
    ],
    "with a request whose answer takes long": [
        called()[0],
        *[server(notification("notifications/message", {"level": "info", "data": n})) for n in range(80)],
        called()[1],
    ],
    "with a request that is answered at once": [
        listed()[0],
        server(tools_result(1, LATEST), notification("vendor/a"), error(None)),
    ],
    "with initialized": [client(INITIALIZED), *listed()],
    "with a request of the modern era between": [client(request(7, "vendor/a")), *listed(revision=MODERN), *listed(2)],
}
"""Recordings that begin in the middle."""

WITHOUT_HANDSHAKE: dict[str, list[Record]] = {
    "refused": [listed()[0], server(NOT_INITIALIZED)],
    "never answered": [listed()[0]],
    "ended": [listed()[0], *OVER],
    "handshake later": [listed()[0], *opened()],
    "served, and handshake later": [*listed(), *opened(), *listed(5)],
    "served, and the server ends after": [listed()[0], Ended(SERVER, "exit")],
}
"""Recordings that begin where they do."""

# Nothing wrong --------------------------------------------------------------------------------------------------------

PROBE = client(modern("d", "server/discover"))
EXTENSION = {CAPABILITIES_KEY: {"extensions": {"com.example/jobs": {}}}}

HARMLESS: dict[str, list[Record]] = {
    "a session": [*GOOD, *OVER],
    "one after another": [*GOOD, *OVER, *GOOD, *OVER],
    "one after another, of a client": [*GOOD, OVER[0], *GOOD],
    "modern": [*discovered(), *listed(revision=MODERN), *OVER],
    "modern, without a probe": listed(revision=MODERN),
    "modern, one after another": [
        *discovered(),
        client(modern(1, "tools/list")),
        *OVER,
        *discovered(),
        *listed(1, revision=MODERN),
    ],
    "a probe refused in the manner of old servers": [PROBE, server(error("d", -32000)), *GOOD],
    "a probe refused in the manner of language servers": [PROBE, server(error("d", -32002)), *GOOD],
    "a probe refused for its version": [
        PROBE,
        server(error("d", -32022, data={"supported": [LATEST], "requested": MODERN})),
        *GOOD,
    ],
    "a probe never answered": [PROBE, *GOOD, *OVER],
    "a probe answered too late": [PROBE, *GOOD, discovered()[1], *listed(7)],
    "a probe whose result names old versions only": [
        PROBE,
        server(
            result(
                "d",
                {
                    "supportedVersions": [LATEST],
                    "capabilities": {},
                    "resultType": "complete",
                    "ttlMs": 0,
                    "cacheScope": "private",
                },
            )
        ),
        *GOOD,
    ],
    "both eras on one pipe": [
        *opened(),
        *listed(7, revision=MODERN),
        *listed(8),
        *listed(9, revision=MODERN),
        *called(),
    ],
    "modern first, then a session": [*listed(7, revision=MODERN), *GOOD, *listed(8, revision=MODERN)],
    "a server without sessions refuses one": [
        client(initialize("i")),
        server(error("i", -32022, data={"supported": [MODERN], "requested": LATEST})),
        *listed(revision=MODERN),
    ],
    "a request of an extension that nobody here knows": [
        client(modern(1, "tools/call", {"name": "slow"}, **EXTENSION)),
        server(result(1, {"resultType": "job", "job": "j1"})),
        client(modern(2, "tasks/get", {"job": "j1"}, **EXTENSION)),
        server(result(2, {"resultType": "complete"})),
    ],
    "a batch": [
        *opened("2025-03-26"),
        client([request(7, "ping"), request(8, "ping")]),
        server([result(8), result(7)]),
        client([notification("vendor/a")]),
    ],
    "answers to what was given up": [
        *opened(),
        *[client(request(n, "tools/list")) for n in range(5000)],
        server(tools_result(0, LATEST), tools_result(4999, LATEST)),
    ],
    "blank lines, CR and a byte order mark": [
        *opened(),
        client(b"\r\n  \n", b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n'),
        server(result(1)),
    ],
    "an empty chunk": [client(b""), *GOOD],
    "an error about what could not be read": [
        *opened(),
        server({"jsonrpc": "2.0", "error": {"code": -32700, "message": "x"}}),
    ],
    "a log that a request of the modern era asked for": [
        client(modern(1, "tools/call", {"name": "a"}, **{LOG_LEVEL_KEY: "info"})),
        server(notification("notifications/message", {"level": "error", "data": 1})),
    ],
}
"""Recordings without a mistake."""
