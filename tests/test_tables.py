"""The tables: complete, as written down in tables.txt, as the official schemas say, and obeyed in both directions."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from mcp_sansio import (
    ALL_REVISIONS,
    LEGACY_REVISIONS,
    MODERN_REVISIONS,
    ClientConnection,
    LocalProtocolError,
    MessageInvalid,
    RequestAnswered,
    ServerConnection,
    Side,
)
from mcp_sansio.connection import Conversation
from mcp_sansio.connection.events import ENDS
from mcp_sansio.connection.negotiation import NEXT
from mcp_sansio.connection.state import STANDING_AFTER
from mcp_sansio.connection.states import FIRST_STATE, NEXT_STATE
from mcp_sansio.jsonrpc import JSONRPCNotification, JSONRPCRequest, JSONRPCResultResponse
from mcp_sansio.spec import (
    CAPABILITIES,
    CORE,
    METHODS,
    NEEDS_BY_PARAMS,
    NEXT_PHASE,
    OUT_OF_PHASE,
    RESERVED_CODES,
    REVISIONS,
    RULES,
    ErrorCode,
    Kind,
    Level,
    Method,
    Phase,
    Rule,
)
from mcp_sansio.spec.error_codes import ERROR_DATA
from mcp_sansio.spec.meta import REQUEST_META
from mcp_sansio.spec.rules import MOVED

from .samples import CLIENT_INFO, META, PARAMS, SERVER_INFO

WRITTEN = Path(__file__).with_name("tables.txt")


def _cell(value: Any) -> str:
    match value:
        case frozenset():
            return "{" + ", ".join(sorted(map(_cell, value))) + "}"
        case dict():
            return "{" + ", ".join(f"{key}: {_cell(item)}" for key, item in value.items()) + "}"
        case tuple():
            return "(" + ", ".join(map(_cell, value)) + ")"
        case type():
            return value.__name__
        case _:
            return str(getattr(value, "value", value))


def _row(row: Any) -> str:
    return " ".join(f"{field.name}={_cell(getattr(row, field.name))}" for field in attrs.fields(type(row)))


def written_tables() -> Iterator[str]:
    """Every row and every column of every table, a line each."""
    tables: dict[str, Any] = {
        "revision": REVISIONS.values(),
        "method": METHODS,
        "capability": CAPABILITIES.values(),
        "need by params": NEEDS_BY_PARAMS,
        "reserved codes": RESERVED_CODES,
        "error data": ERROR_DATA,
        "meta key": REQUEST_META,
        "rule": RULES.values(),
    }
    for name, rows in tables.items():
        for row in rows:
            yield f"{name}: {_row(row)}"
    for (side, phase), row in OUT_OF_PHASE.items():
        yield f"out of phase: {side.value} {phase.value}: {_row(row)}"
    for (revision, source), place in MOVED.items():
        yield f"moved: {revision}: {source}: {place}"
    for code in ErrorCode:
        yield f"error code: {code.name}={code.value}"
    for (step, outcome), following in NEXT.items():
        yield f"negotiation: {step.value}: {outcome.value}: {following.value}"
    for (phase, message), next_phase in NEXT_PHASE.items():
        yield f"next phase: {phase.value}: {message.value}: {next_phase.value}"
    for side, state in FIRST_STATE.items():
        yield f"first state: {side.value}: {state.value}"
    for (state, turn), next_state in NEXT_STATE.items():
        yield f"next state: {state.value}: {turn.value}: {next_state.value}"
    for event, ends in ENDS.items():
        yield f"ends: {event.__name__}: {_cell(ends)}"
    for end, standing in STANDING_AFTER.items():
        yield f"standing after: {end.value}: {standing.value}"


def test_the_tables_are_as_written_down() -> None:
    """A row that goes or a column that flips shows here; `python -m tests.test_tables` writes the file anew."""
    assert list(written_tables()) == WRITTEN.read_text().splitlines()


def test_the_handshake_is_made_of_the_methods_that_are_sent_once() -> None:
    ours = {(row.name, row.phases) for row in METHODS if row.once}
    steps = {(message.value, frozenset({phase})) for phase, message in NEXT_PHASE}
    assert ours <= steps
    assert len(steps - ours) == 2, "the two ways in which initialize is answered"


def test_every_rule_says_what_to_do_and_where_it_stands() -> None:
    for rule in RULES.values():
        assert rule.advice.endswith(".")
        assert rule.advice != rule.text
        for revision in filter(lambda revision: bound(rule, revision), ALL_REVISIONS):
            url = rule.url(revision)
            assert (url is None) == (rule.level is Level.LIBRARY)
            assert url is None or url.startswith("https://")
    assert RULES["RPC-002"].url("2024-11-05") == f"{SITE}/2024-11-05/basic/messages#responses"
    assert RULES["RPC-002"].url("2025-11-25") == f"{SITE}/2025-11-25/basic#responses"
    assert RULES["CAP-002"].url("2026-07-28") == f"{SITE}/2026-07-28/server"
    assert RULES["RPC-018"].url("2025-11-25") == f"{SITE}/2025-11-25/schema"
    assert "github.com" in str(RULES["RPC-018"].url("2024-11-05"))


def bound(rule: Rule, revision: str) -> bool:
    return any(rule.binds(side, revision) for side in Side)


SITE = "https://modelcontextprotocol.io/specification"

# Against the official schemas ---------------------------------------------------------------------------------------

SCHEMAS = os.environ.get("MCP_SCHEMA_DIR")
needs_schemas = pytest.mark.skipif(
    SCHEMAS is None,
    reason="set MCP_SCHEMA_DIR to the folder `schema` of a checkout of modelcontextprotocol/modelcontextprotocol",
)


def _definitions(revision: str) -> dict[str, Any]:
    assert SCHEMAS is not None
    schema = json.loads((Path(SCHEMAS) / revision / "schema.json").read_text())
    return schema.get("$defs") or schema["definitions"]


def _union(definitions: dict[str, Any], name: str) -> dict[str, str]:
    """The members of a union of messages: the name of the definition by method."""
    union = definitions.get(name, {})
    if "properties" in union:  # a union of one
        method = _method(union)
        return {method: next(k for k, d in definitions.items() if k != name and _method(d) == method)}
    names = [part["$ref"].split("/")[-1] for part in union.get("anyOf", [])]
    return {_method(definitions[part]): part for part in names}


def _method(definition: dict[str, Any]) -> str:
    return definition.get("properties", {}).get("method", {}).get("const", "")


@needs_schemas
@pytest.mark.parametrize("revision", ALL_REVISIONS)
@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("kind", Kind)
def test_methods_are_those_of_the_official_schema(revision: str, side: Side, kind: Kind) -> None:
    definitions = _definitions(revision)
    official = _union(definitions, f"{side.value.title()}{kind.value.title()}")
    if revision in MODERN_REVISIONS and (side, kind) == (Side.SERVER, Kind.REQUEST):
        official = {}  # there they are input requests, and no messages of their own
    ours = {row.name: row for row in METHODS if row.sender is side and row.kind is kind and row.exists_in(revision)}
    assert set(ours) == set(official)
    for name, definition in official.items():
        assert ours[name].payload.method == name
        assert definition.replace("Request", "").replace("Notification", "") == ours[name].payload.__name__.replace(
            "Request", ""
        ).replace("Notification", "")


@needs_schemas
@pytest.mark.parametrize("revision", ALL_REVISIONS)
def test_results_are_those_of_the_official_schema(revision: str) -> None:
    definitions = _definitions(revision)
    for row in METHODS:
        if not row.exists_in(revision) or row.result.__name__ == "EmptyResult":
            continue
        assert row.result.__name__ in definitions, row.name
        properties = definitions[row.result.__name__].get("properties", {})
        assert ("ttlMs" in properties) == (row.cacheable and revision in MODERN_REVISIONS), row.name
        if revision in MODERN_REVISIONS and row.kind is Kind.REQUEST:
            response = definitions.get(row.payload.__name__.replace("Request", "ResultResponse"), {})
            result = response.get("properties", {}).get("result", {})
            assert ("InputRequiredResult" in json.dumps(result)) == row.input_required, row.name


@needs_schemas
def test_error_codes_are_those_of_the_official_schemas() -> None:
    found: set[int] = set()
    for revision in ALL_REVISIONS:
        for definition in _definitions(revision).values():
            properties = definition.get("properties", {})
            for holder in (definition, properties.get("error", {}), *properties.get("error", {}).get("allOf", [])):
                code = holder.get("properties", {}).get("code", {}).get("const")
                if code is not None:
                    found.add(code)
    assert found <= set(ErrorCode)
    assert set(ErrorCode) - found <= {ErrorCode.RESOURCE_NOT_FOUND}  # that one stands on the page of resources


@needs_schemas
def test_rules_name_pages_and_headings_that_exist() -> None:
    pages = Path(SCHEMAS or "", "..", "docs", "specification")
    if not pages.exists():
        pytest.skip("the checkout has no docs/specification")
    used = set()
    for rule in RULES.values():
        for revision in filter(lambda revision: bound(rule, revision), ALL_REVISIONS):
            url = rule.url(revision)
            used.add((revision, rule.source))
            if url is None or "github.com" in url:
                continue
            page, _, anchor = url.removeprefix(f"{SITE}/").partition("#")
            files = [path for path in (pages / f"{page}.mdx", pages / page / "index.mdx") if path.exists()]
            assert files, url
            headings = re.findall(r"^#+ (.*)$", files[0].read_text("utf-8"), re.MULTILINE)
            assert anchor in {"", *map(_anchor, headings)}, url
    assert set(MOVED) <= used


def _anchor(heading: str) -> str:
    """How the site names a heading in addresses."""
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).strip().replace(" ", "-")


# What the tables say is what send and receive do --------------------------------------------------------------------

NAMES = [*sorted({(row.name, row.kind) for row in METHODS}, key=str), ("vendor/thing", Kind.REQUEST)]


def _path_to_json(names: frozenset[str], side: Side) -> dict[str, Any]:
    """A capabilities object that declares just these, and what they stand in."""
    found: dict[str, Any] = {}
    for name in sorted(names):
        row = CAPABILITIES[name]
        if row.side is not side:
            continue
        *parents, last = row.path.split(".")
        place = found
        for parent in parents:
            place = place.setdefault(parent, {})
        place.setdefault(last, True if row.flag else {})
    return found


def _capability_sets(row: Method | None, revision: str) -> list[frozenset[str]]:
    every = frozenset(name for name, cap in CAPABILITIES.items() if cap.exists_in(revision))
    needed = {row.needs} if row is not None and row.needs in every else set()
    without = frozenset(name for name in every if not any((name + ".").startswith(need + ".") for need in needed))
    return [frozenset(), every, frozenset(needed), without]


def _reach(phase: Phase, revision: str, names: frozenset[str]) -> tuple[ClientConnection, ServerConnection]:
    """A client and a server in this phase of a legacy session, who declared these capabilities."""
    client = ClientConnection(CLIENT_INFO, era="legacy", revisions={revision})
    server = ServerConnection(SERVER_INFO, revisions={revision})
    messages: list[tuple[Side, Any]] = [
        (
            Side.CLIENT,
            JSONRPCRequest(
                "init",
                "initialize",
                {
                    "protocolVersion": revision,
                    "capabilities": _path_to_json(names, Side.CLIENT),
                    "clientInfo": {"name": "c", "version": "1"},
                },
            ),
        ),
        (
            Side.SERVER,
            JSONRPCResultResponse(
                "init",
                {
                    "protocolVersion": revision,
                    "capabilities": _path_to_json(names, Side.SERVER),
                    "serverInfo": {"name": "s", "version": "1"},
                },
            ),
        ),
        (Side.CLIENT, JSONRPCNotification("notifications/initialized")),
    ]
    steps = {Phase.OPENING: 0, Phase.INITIALIZING: 1, Phase.INITIALIZED: 2, Phase.OPERATION: 3}[phase]
    for side, message in messages[:steps]:
        for connection in (client, server):
            conversation: Conversation = connection.conversation
            conversation.apply(conversation.judge(side, message))
    assert client.phase is server.phase is phase
    return client, server


def _allowed(row: Method | None, side: Side, phase: Phase, names: frozenset[str], revision: str) -> bool:
    """What the table says, in a few lines."""
    if row is None:
        return phase is Phase.OPERATION
    known = phase in (Phase.INITIALIZED, Phase.OPERATION)
    gated = row.needs is not None and CAPABILITIES[row.needs].exists_in(revision) and known
    implied = {"client.elicitation.form"} if "client.elicitation" in names else set()
    return phase in row.phases and (not gated or row.needs in names | implied or _declares(row.needs, names))


def _declares(need: str | None, names: frozenset[str]) -> bool:
    """A path is there also when one below it is."""
    return need is not None and any(name.startswith(need + ".") for name in names)


@pytest.mark.parametrize("revision", LEGACY_REVISIONS)
@pytest.mark.parametrize("phase", Phase)
def test_what_the_table_says_is_what_send_and_receive_do(revision: str, phase: Phase) -> None:
    for name, kind in NAMES:
        for side in Side:
            rows = CORE.rows(side, name)
            row = CORE.method(side, name, revision)
            for names in _capability_sets(row, revision):
                client, server = _reach(phase, revision, names)
                sender, receiver = (client, server) if side is Side.CLIENT else (server, client)
                params = PARAMS.get(name)
                if name == "initialize":
                    params = {**PARAMS[name], "protocolVersion": revision}
                if name in ("notifications/cancelled", "notifications/progress"):
                    _open_77(client, server, side)
                message = (
                    JSONRPCRequest("x", name, params) if kind is Kind.REQUEST else JSONRPCNotification(name, params)
                )
                exists = row is not None or not (rows or CORE.rows(side.other, name))
                expected = exists and _allowed(row, side, phase, names, revision)
                before = sender.snapshot()
                try:
                    sender.send_raw(message)
                    sent = True
                except LocalProtocolError:
                    sent = False
                    assert sender.snapshot() == before
                assert sent == expected, (name, side, names)
                line = json.dumps(
                    {"jsonrpc": "2.0", "method": name}
                    | ({"params": params} if params is not None else {})
                    | ({"id": "x"} if kind is Kind.REQUEST else {})
                ).encode()
                events = receiver.receive_data(line + b"\n")
                violations = [v for event in events for v in event.violations]
                other_era = phase is Phase.OPENING and rows and all(r.since in MODERN_REVISIONS for r in rows)
                if not (other_era and side is Side.CLIENT and kind is Kind.REQUEST):  # a probe, which is no fault
                    assert (not violations) == expected, (name, side, names, violations)
                assert not any(isinstance(event, MessageInvalid) for event in events) or not expected
                if expected and name == "vendor/thing":
                    (answered,) = events
                    assert isinstance(answered, RequestAnswered)
                    assert answered.error is not None
                    assert answered.error.code == ErrorCode.METHOD_NOT_FOUND


def _open_77(client: ClientConnection, server: ServerConnection, side: Side) -> None:
    """A request with the id and token 77 that *side* may cancel, and one that it may report progress of."""
    for sender, token in ((side, None), (side.other, 77)):
        meta = {"_meta": {"progressToken": 77}} if token else None
        message = JSONRPCRequest(77, "ping", meta)
        for connection in (client, server):
            connection.conversation.apply(connection.conversation.judge(sender, message))


@pytest.mark.parametrize("revision", MODERN_REVISIONS)
def test_what_the_table_says_is_what_a_modern_server_does(revision: str) -> None:
    for name in sorted({row.name for row in METHODS if row.kind is Kind.REQUEST}):
        row = CORE.method(Side.CLIENT, name, revision)
        for names in _capability_sets(row, revision):
            declares = row is None or row.needs is None or row.needs in names or _declares(row.needs, names)
            server = ServerConnection(SERVER_INFO, revisions={revision})
            server.conversation.server_declares(_path_to_json(names, Side.SERVER), revision)
            params = {**PARAMS.get(name, {}), "_meta": META}
            events = server.receive_message(json.dumps({"jsonrpc": "2.0", "id": 1, "method": name, "params": params}))
            (event,) = events
            error = event.error if isinstance(event, RequestAnswered) else None
            if row is None or not declares:
                assert error is not None
                assert error.code == ErrorCode.METHOD_NOT_FOUND
                assert event.violations
            else:
                assert error is None
                assert event.violations == ()


if __name__ == "__main__":
    WRITTEN.write_text("\n".join(written_tables()) + "\n")
