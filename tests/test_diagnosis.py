"""Each usual complaint has its diagnosis, and nobody who has nothing to complain of gets one."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mcp_sansio.judge import COMPLAINTS
from mcp_sansio.recording import Record

from .pair import (
    JSON,
    MODERN,
    SUBSCRIPTION_KEY,
    error,
    initialize,
    initialize_result,
    modern,
    notification,
    request,
    result,
    tools_result,
)
from .recorded import (
    ANSWER,
    ASKED,
    GOOD,
    HAS_TOOLS,
    LATEST,
    MISTAKES,
    OTHER_TOOL,
    OVER,
    PROBE,
    REST,
    TELLS_CHANGES,
    TOOL,
    TOOLS_CHANGED,
    WITHOUT_HANDSHAKE,
    called,
    client,
    discovered,
    judged,
    listed,
    opened,
    server,
)

UNANSWERED = client(request(3, "tools/call", {"name": "add"}), t=3.0)
LISTENS = [
    client(modern("s", "subscriptions/listen", {"notifications": {"toolsListChanged": True}})),
    server(
        notification(
            "notifications/subscriptions/acknowledged",
            {"notifications": {"toolsListChanged": True}, "_meta": {SUBSCRIPTION_KEY: "s"}},
        )
    ),
]
OTHER_VERSION = server(initialize_result("i", "2024-11-05"))

COMPLAINING: list[tuple[str, list[Record], tuple[str, ...]]] = [
    ("nothing was recorded", [], ()),
    ("nothing was recorded", OVER, ()),
    ("the beginning is missing", listed(), ("LIFE-001",)),
    ("version mismatch", [ASKED, OTHER_VERSION, *OVER], ("'2025-11-25'", "'2024-11-05'")),
    (
        "version mismatch",
        [ASKED, server(error("i", -32602, "Unsupported protocol version", data={"supported": ["2024-11-05", 5]}))],
        ("Unsupported protocol version", "'2024-11-05'"),
    ),
    ("version mismatch", [ASKED, server(error("i", -32603, "Bad version"))], ("Bad version", "none")),
    (
        "version mismatch",
        [PROBE, server(error("d", -32022, data={"supported": ["2027-01-01"], "requested": MODERN}))],
        ("'2027-01-01'",),
    ),
    ("unknown version", [ASKED, server(initialize_result("i", "2030-01-01")), *REST], ("'2030-01-01'",)),
    ("handshake refused", [ASKED, server(error("i", -32603, "no"))], ("'no' (-32603)",)),
    (
        "malformed initialize",
        MISTAKES["initialize has no clientInfo, and is served"][0],
        ("client is at fault", "clientInfo"),
    ),
    (
        "malformed initialize",
        MISTAKES["the initialize result has no serverInfo"][0],
        ("server is at fault", "serverInfo"),
    ),
    ("initialized never sent", [ASKED, server(ANSWER)], ("send it",)),
    ("initialized never sent", [ASKED, server(ANSWER), *listed()], ("send it",)),
    ("talking before initialized", [ASKED, server(request(1, "roots/list"))], ("server is at fault", "roots/list")),
    ("talking before initialized", WITHOUT_HANDSHAKE["refused"], ("client is at fault", "tools/list")),
    ("no tools: not declared", opened(capabilities={"prompts": {}}), ("prompts", "initialize")),
    ("no tools: not declared", discovered({}), ("nothing", "server/discover")),
    ("no tools: listed empty", [*opened(), listed()[0], server(tools_result(1, LATEST))], ("record 5",)),
    ("no tools: never asked for", opened(), ("client",)),
    ("no tools: never asked for", discovered(), ("client",)),
    (
        "tools changed without notice",
        [*opened(capabilities=TELLS_CHANGES), *listed(), *listed(2, OTHER_TOOL)],
        ("server is at fault", "new: 'subtract'; gone: 'add'"),
    ),
    (
        "tools changed without notice",
        [*opened(), *listed(), *listed(2, TOOL | {"title": "Add"})],
        ("listChanged", "changed: 'add'"),
    ),
    (
        "tools changed without notice",
        [*discovered(TELLS_CHANGES), *LISTENS, *listed(revision=MODERN), *listed(2, OTHER_TOOL, revision=MODERN)],
        ("server is at fault",),
    ),
    (
        "log lines among the messages",
        [*opened(), server(b"Listening\n")],
        ("'Listening'", "stderr", "server is at fault"),
    ),
    ("log lines among the messages", MISTAKES["a log is JSON"][0], ("boom", "2 times")),
    ("damaged messages", [*opened(), client(b'{"jsonrpc":"2.0","id":7,"method":"pi\n')], ("client is at fault",)),
    ("messages over several lines", MISTAKES["the initialize result is spread over lines"][0], ("server is at fault",)),
    ("headers before messages", [client(b"Content-Length: 20\r\n\r\n")], ("client is at fault",)),
    ("not UTF-8", [*opened(), server(b'{"jsonrpc":"2.0","method":"\xff"}\n')], ("server is at fault",)),
    ("no newline at the end", [*opened(), server(b'{"jsonrpc":"2.0","id":7,')], ("server",)),
    ("ids that do not match", [*opened(), listed()[0], server(tools_result("1", LATEST))], ("another type", "server")),
    ("use of what was not declared", [*opened(capabilities={}), listed()[0]], ("server.tools", "client")),
    ("call of what is not listed", [*opened(), *listed(), *called(2, "sub", fails=True)], ("'sub'", "tools/call")),
    (
        "call of what is not listed",
        [*opened(), *listed(), called(2, "sub")[0], server(error(2, -32602)), called(3, "sub")[0], server(error(3))],
        ("'sub'",),
    ),
    (
        "call of what is not listed",
        [
            *opened(capabilities={"prompts": {}}),
            client(request(1, "prompts/list")),
            server(result(1, {"prompts": []})),
            client(request(2, "prompts/get", {"name": "p"})),
            server(error(2, -32602)),
        ],
        ("'p'", "prompts/get"),
    ),
    (
        "call of what is not listed",
        [*opened(), *listed(), *(record for n in range(2, 32) for record in called(n, f"t{n:02}", fails=True))],
        ("'t06'",),
    ),
    ("requests never answered", [*opened(), *listed(), UNANSWERED, *OVER], ("server ended", "'add'", "waited 6.500 s")),
    ("requests never answered", [*opened(), *listed(), UNANSWERED], ("server owes", "id 3, record 6)")),
    (
        "requests never answered",
        [*opened(), *[client(request(n, "vendor/a")) for n in range(30)]],
        ("server owes", "and 15 more"),
    ),
    ("requests never answered", [*opened(), *listed(), server(request(1, "ping"))], ("client owes the server",)),
]
"""A complaint, a recording that gives rise to it, and words that the diagnosis has."""


def diagnosed(*records: Record, **settings: Any) -> dict[str, str]:
    """The diagnoses of a recording, by name."""
    judge, _ = judged(*records, **settings)
    return {diagnosis.name: diagnosis.words for diagnosis in judge.diagnoses()}


@pytest.mark.parametrize("number", range(len(COMPLAINING)), ids=lambda number: COMPLAINING[number][0])
def test_a_complaint_is_explained(number: int) -> None:
    name, records, parts = COMPLAINING[number]
    found = diagnosed(*records)
    assert name in found
    for part in parts:
        assert part in found[name]
    assert not re.search(r"\{\w+\}", found[name])


def test_every_complaint_is_tried() -> None:
    assert {name for name, _, _ in COMPLAINING} | {"one side only"} == {row.name for row in COMPLAINTS}
    assert len({row.words for row in COMPLAINTS}) == len(COMPLAINTS)


def page(request_id: JSON, cursor: JSON, following: JSON, *tools: JSON, revision: str = LATEST) -> list[Record]:
    """A page of the list of tools."""
    asked = request(request_id, "tools/list", {} if cursor is None else {"cursor": cursor})
    more = {} if following is None else {"nextCursor": following}
    return [client(asked), server(tools_result(request_id, revision, tools=list(tools), **more))]


def deep(levels: int) -> JSON:
    value: JSON = [1, 1.5, True, None, "a"]
    for _ in range(levels):
        value = [value]
    return value


CONTENT: dict[str, list[Record]] = {
    "a session": [*GOOD, *OVER],
    "a call without a list": [*opened(), *called()],
    "a call of a hidden tool": [*opened(), *listed(), *called(2, "hidden")],
    "the same pages twice": [
        *opened(),
        *page(1, None, "2", TOOL),
        *page(2, "2", None, OTHER_TOOL),
        *page(3, None, "2", TOOL),
        *page(4, "2", None, OTHER_TOOL),
    ],
    "rounds that overlap": [
        *opened(),
        *page(1, None, "2", TOOL),
        *page(3, None, "b", TOOL),
        *page(2, "2", None, OTHER_TOOL),
        *page(4, "b", None, OTHER_TOOL),
        *page(5, "b", None, OTHER_TOOL),
    ],
    "a change with notice": [*opened(capabilities=TELLS_CHANGES), *listed(), TOOLS_CHANGED, *listed(2, OTHER_TOOL)],
    "a change with notice in time": [
        *opened(capabilities=TELLS_CHANGES),
        *listed(),
        listed(2)[0],
        TOOLS_CHANGED,
        *listed(3, OTHER_TOOL),
        listed(2, TOOL)[1],
    ],
    "definitions that are equal, and very deep": [
        *opened(),
        *(record for n in range(2) for record in listed(n, TOOL | {"_meta": {"a": deep(800)}})),
    ],
    "an order that changes": [*opened(), *listed(1, TOOL, OTHER_TOOL), *listed(2, OTHER_TOOL, TOOL)],
    "a change of the modern era that nobody listens for": [
        *discovered(TELLS_CHANGES),
        *listed(1, revision=MODERN),
        *listed(2, OTHER_TOOL, revision=MODERN),
    ],
    "an older version that the client takes": [
        ASKED,
        server(initialize_result("i", "2024-11-05", capabilities=HAS_TOOLS)),
        *REST,
    ],
    "a handshake that succeeds at last": [
        ASKED,
        server(error("i", -32603, "not yet")),
        client(initialize("j")),
        server(ANSWER | {"id": "j"}),
        *REST,
    ],
    "a version that is refused, then another": [
        PROBE,
        server(error("d", -32022, data={"supported": [MODERN], "requested": "2099-01-01"})),
        *listed(revision=MODERN),
    ],
    "a subscription that goes on": [*discovered(TELLS_CHANGES), *listed(revision=MODERN), *LISTENS],
    "a probe that an old server never answers": [PROBE, *GOOD, *OVER],
    "shapes that make no sense": [
        *opened(),
        client(request(1, "tools/list", {"cursor": 5})),
        server(result(1, {"tools": 5})),
        client(request(2, "tools/list")),
        server(result(2, {"tools": [5, {"name": 5}, TOOL], "nextCursor": 5})),
    ],
}


@pytest.mark.parametrize("name", CONTENT)
def test_nobody_complains_without_reason(name: str) -> None:
    assert diagnosed(*CONTENT[name]) == {}


def test_the_first_silent_change_is_told() -> None:
    changes = [*opened(), *listed(), *listed(2, OTHER_TOOL), *listed(3)]
    assert "new: 'subtract'; gone: 'add'" in diagnosed(*changes)["tools changed without notice"]


def test_a_notice_of_before_tells_of_no_later_change() -> None:
    records = [*opened(capabilities=TELLS_CHANGES), TOOLS_CHANGED, *listed(), *listed(2, OTHER_TOOL)]
    assert "tools changed without notice" in diagnosed(*records)


def test_very_long_lists_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_sansio.judge.facts._NAMES", 1)
    two = (TOOL, OTHER_TOOL)
    assert diagnosed(*opened(), *listed(1, *two), *listed(2), *listed(3, *two), *called(4, "x", fails=True)) == {}


@pytest.mark.parametrize("pair", [(1, True), (1, 1.0), ([], {}), ([1, [2]], [1, 2]), ({"a": 1}, {"b": 1})], ids=repr)
def test_what_differs_is_told_apart(pair: tuple[JSON, JSON]) -> None:
    before, after = ({**TOOL, "_meta": {"a": value}} for value in pair)
    words = diagnosed(*opened(), *listed(1, before), *listed(2, after))["tools changed without notice"]
    assert "changed: 'add'" in words


def test_each_session_is_diagnosed_by_itself() -> None:
    assert diagnosed(*opened(capabilities={}), *OVER, *GOOD) == {}
    assert list(diagnosed(*GOOD, *OVER, *opened(capabilities={}))) == ["no tools: not declared"]


def test_words_quote_hostile_text_as_ascii() -> None:
    tool = {"name": "\x1b[31m\u202e{x}", "inputSchema": {"type": "object"}}
    words = diagnosed(*opened(), *listed(), *listed(2, tool))["tools changed without notice"]
    assert words.isascii()
    assert words.isprintable()
    assert "{x}" in words
