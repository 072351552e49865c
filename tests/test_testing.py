"""The published strategies: what they make is valid, whole, and as small as it can be."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from mcp_sansio import ALL_REVISIONS, Side, testing
from mcp_sansio import types as t
from mcp_sansio.codec import STDLIB
from mcp_sansio.jsonrpc import InvalidMessage, is_id, message_to_json, parse_message
from mcp_sansio.limits import Limits
from mcp_sansio.spec import CORE, METHODS, Kind, Method
from mcp_sansio.spec.meta import PROTOCOL_VERSION, REQUEST_META, SUBSCRIPTION_ID
from mcp_sansio.testing import (
    errors,
    ids,
    json_objects,
    json_values,
    lines,
    messages,
    notifications,
    payloads,
    requests,
    results,
)

from .pair import MODERN, SIDES, drawn, feed, pair
from .strategies import PAYLOADS

SCHEMAS = os.environ.get("MCP_SCHEMA_DIR", "")

needs_schemas = pytest.mark.skipif(
    not SCHEMAS,
    reason="set MCP_SCHEMA_DIR to the folder `schema` of a checkout of "
    "https://github.com/modelcontextprotocol/modelcontextprotocol",
)
each_revision = pytest.mark.parametrize("revision", ALL_REVISIONS)
each_side = pytest.mark.parametrize("sender", SIDES, ids=lambda side: side.value)
known_or_not = pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])


def examples(count: int) -> Any:
    return settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


seek = settings(max_examples=1000, database=None, derandomize=True, phases=[Phase.generate])
"""To find something, however large."""


def smallest(strategy: st.SearchStrategy[Any], condition: Callable[[Any], bool] = lambda value: True) -> Any:
    """What a failing test would show."""
    last: list[Any] = []

    @examples(100)
    @given(strategy)
    def fails(value: Any) -> None:
        if condition(value):
            last[:] = [value]
            raise Found

    with pytest.raises(Found):
        fails()
    return last[0]


class Found(Exception):
    pass


def row_of(method: str, sender: Side, revision: str) -> Method:
    row = CORE.method(sender, method, revision)
    assert row is not None
    return row


def asked_by(sender: Side, revision: str) -> list[Method]:
    return [r for r in METHODS if r.kind is Kind.REQUEST and r.sender is sender and r.exists_in(revision)]


# What they make


@known_or_not
@each_side
@each_revision
def test_messages_are_read_and_written_as_they_were(revision: str, sender: Side, unknown: bool) -> None:
    found: set[str] = set()

    @examples(25)
    @given(messages(sender, revision, unknown=unknown))
    def check(value: Any) -> None:
        message = parse_message(copy.deepcopy(value))
        assert not isinstance(message, InvalidMessage)
        assert message_to_json(message) == value
        if "method" not in value:
            found.add("response")
            return
        row = row_of(value["method"], sender, revision)
        assert (row.kind is Kind.REQUEST) == ("id" in value)
        params = value.get("params", {})
        assert t.unstructure(t.structure(params, row.payload, revision), revision) == params
        found.add(row.kind.value)

    check()
    assert found == {"notification"} | ({"request"} if asked_by(sender, revision) else set()) | (
        {"response"} if asked_by(sender.other, revision) else set()
    )


@each_side
@each_revision
@examples(8)
@given(data=st.data())
def test_typed_requests_and_notifications_are_read_back(data: st.DataObject, revision: str, sender: Side) -> None:
    kinds: list[Any] = [notifications(sender, revision), notifications(sender, revision, unknown=True)]
    if asked_by(sender, revision):
        kinds += [requests(sender, revision), requests(sender, revision, unknown=True)]
    payload = data.draw(st.one_of(kinds))
    row = row_of(payload.method, sender, revision)
    assert isinstance(payload, row.payload)
    assert t.structure(t.unstructure(payload, revision), row.payload, revision) == payload


@known_or_not
@each_revision
@examples(8)
@given(data=st.data())
def test_results_are_read_back(data: st.DataObject, revision: str, unknown: bool) -> None:
    row = data.draw(st.sampled_from(asked_by(Side.CLIENT, revision) + asked_by(Side.SERVER, revision)))
    result = data.draw(results(row.name, revision, unknown=unknown))
    if isinstance(result, t.InputRequiredResult):
        assert row.input_required
        assert revision == MODERN
        assert result.input_requests is not None or result.request_state is not None
    else:
        assert type(result) is row.result
    value = t.unstructure(result, revision)
    assert t.structure(value, type(result), revision) == result


def test_where_input_may_be_required_it_is() -> None:
    find(results("tools/call", MODERN), lambda result: isinstance(result, t.InputRequiredResult), settings=seek)


def test_unknown_things_are_made_only_if_asked_for() -> None:
    for condition in (
        lambda made: bool(made.extra),
        lambda made: any(isinstance(block, t.UnknownContent) for block in made.content),
    ):
        find(payloads(t.CallToolResult, "2025-11-25", unknown=True), condition, settings=seek)
    assert smallest(payloads(t.ToolChoice, MODERN, unknown=True), lambda made: made.mode == "") == t.ToolChoice("")

    @examples(25)
    @given(payloads(t.CallToolResult, "2025-11-25"), payloads(t.PromptMessage, "2024-11-05"))
    def check(result: t.CallToolResult, message: t.PromptMessage) -> None:
        assert not result.extra
        assert not any(isinstance(block, t.UnknownContent) for block in (*result.content, message.content))
        assert message.role in ("user", "assistant")

    check()


def test_every_class_has_payloads() -> None:
    """What they are like is tested in test_types_roundtrip.py."""
    for cls in PAYLOADS:
        for revision in ALL_REVISIONS:
            if t.exists(cls, revision):
                assert not payloads(cls, revision).is_empty
            else:
                with pytest.raises(t.UnavailableError, match=cls.__name__):
                    payloads(cls, revision)


@examples(25)
@given(lines(Side.SERVER, MODERN))
def test_lines_are_lines(line: bytes) -> None:
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line)["jsonrpc"] == "2.0"


@examples(25)
@given(json_values(), json_objects(), ids(), errors())
def test_small_parts(value: Any, object_: Any, request_id: Any, error: Any) -> None:
    assert STDLIB.decode(STDLIB.encode(value), Limits()) == value
    assert STDLIB.decode(STDLIB.encode(object_), Limits()) == object_
    assert isinstance(object_, dict)
    assert is_id(request_id, 10)
    assert error.code > 0 or -32700 <= error.code <= -32600


@examples(25)
@given(messages(Side.CLIENT, MODERN))
def test_modern_requests_say_what_they_must(message: Any) -> None:
    if "id" in message:
        meta = message["params"]["_meta"]
        assert {key.name for key in REQUEST_META if key.required} <= meta.keys()
        assert meta[PROTOCOL_VERSION] == MODERN


@examples(40)
@given(messages(Side.SERVER, MODERN))
def test_modern_servers_name_the_subscription(message: Any) -> None:
    if message.get("method", "").endswith(("list_changed", "updated", "acknowledged")):
        assert is_id(message["params"]["_meta"][SUBSCRIPTION_ID], 10)


def test_tasks_are_among_the_answers() -> None:
    assert find(messages(Side.SERVER, "2025-11-25"), lambda message: "task" in message.get("result", {}), settings=seek)


# Shrinking


def test_the_smallest_of_all() -> None:
    assert smallest(messages(Side.CLIENT, "2025-11-25")) == {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert smallest(lines(Side.SERVER, "2024-11-05")) == (
        b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
    )
    assert smallest(payloads(t.Tool, MODERN)) == t.Tool("", {"type": "object"})


# Mistakes


def test_what_does_not_exist_is_refused_at_once() -> None:
    for call in (
        lambda: payloads(t.Tool, "2025-01-01"),
        lambda: requests(Side.CLIENT, "2025-01-01"),
        lambda: messages(Side.CLIENT, "2025-01-01"),
        lambda: results("ping", "2025-01-01"),
    ):
        with pytest.raises(ValueError, match="there is no revision '2025-01-01', only 2024-11-05, "):
            call()
    for method, revision in (("ping", MODERN), ("tools/reboot", MODERN), ("notifications/message", "2025-11-25")):
        with pytest.raises(ValueError, match=f"{revision} has no request '{method}'"):
            results(method, revision)
    with pytest.raises(t.UnavailableError, match="DiscoverRequest exists from 2026-07-28"):
        payloads(t.DiscoverRequest, "2025-11-25")
    assert requests(Side.SERVER, MODERN).is_empty


def test_without_hypothesis_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys; sys.modules['hypothesis'] = None; import mcp_sansio; import mcp_sansio.testing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("ImportError: mcp_sansio.testing needs hypothesis: pip install 'mcp_sansio[testing]'\n")
    kept = [name for name in sys.modules if name.startswith("mcp_sansio.testing")]
    for missing, error, said in (
        ("hypothesis", ImportError, "mcp_sansio.testing needs hypothesis"),
        ("mcp_sansio.codec", ModuleNotFoundError, "mcp_sansio.codec"),
    ):
        with monkeypatch.context() as patch:
            for name in kept:
                patch.delitem(sys.modules, name)
            patch.setitem(sys.modules, missing, None)
            with pytest.raises(error, match=said):
                __import__("mcp_sansio.testing")
    assert sys.modules["mcp_sansio.testing"] is testing


def test_all_is_documented_by_example() -> None:
    for name in testing.__all__:
        assert "Example::\n" in (getattr(testing, name).__doc__ or ""), name


# Connections


SHAPES = {row.params_rule for row in METHODS} | {row.result_rule for row in METHODS} | {"MRTR-003"}


@each_side
@each_revision
def test_connections_find_no_wrong_shape(revision: str, sender: Side) -> None:
    opened = pair(revision).of(sender.other).snapshot()

    @examples(10)
    @given(messages(sender, revision) | messages(sender, revision, unknown=True))
    def check(message: Any) -> None:
        conn = restored(opened, sender.other, revision)
        rules = drawn(feed(conn, message))
        assert not SHAPES & set(rules) or (message.get("method") == "initialize" and "LIFE-002" in rules)
        assert not {rule for rule in rules if rule.startswith(("FRAME", "VER-004", "VER-009"))}

    check()


def restored(data: Any, side: Side, revision: str) -> Any:
    return type(pair(revision, connect=False).of(side)).restore(data)


# The official schemas


@cache
def validators(revision: str) -> Callable[[str], Any]:
    import jsonschema

    document = json.loads((Path(SCHEMAS) / revision / "schema.json").read_text("utf-8"))
    for part in _parts(document):
        # schema.ts, the source of truth, has number here, and in JSONValue null too.
        if part.get("type") == ["string", "integer", "boolean"]:
            part["type"] = ["string", "number", "boolean", "null"]
    where = "$defs" if "$defs" in document else "definitions"
    for name in ("default", "maximum", "minimum"):
        number = document[where].get("NumberSchema", {}).get("properties", {}).get(name, {})
        number.update({"type": "number"} if number else {})
    cls = jsonschema.validators.validator_for(document)

    @cache
    def validator(name: str) -> Any:
        return cls({**document, "$ref": f"#/{where}/{name}"}) if name in document[where] else None

    return validator


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _parts(item)


def definitions_of(message: Any, sender: Side, revision: str) -> Iterator[str]:
    """The definitions that describe a message, the envelope's first."""
    if "error" in message:
        yield "JSONRPCErrorResponse" if revision >= "2025-11-25" else "JSONRPCError"
    elif "result" in message:
        yield "JSONRPCResultResponse" if revision >= "2025-11-25" else "JSONRPCResponse"
    else:
        yield "JSONRPCRequest" if "id" in message else "JSONRPCNotification"
        yield f"{sender.value.capitalize()}{'Request' if 'id' in message else 'Notification'}"
        payload = row_of(message["method"], sender, revision).payload
        yield payload.__name__


@needs_schemas
@each_side
@each_revision
def test_messages_are_valid_by_the_schema(revision: str, sender: Side) -> None:
    validator = validators(revision)

    @examples(10)
    @given(messages(sender, revision))
    def check(message: Any) -> None:
        for name in definitions_of(message, sender, revision):
            if (sender, revision, name) != (Side.SERVER, MODERN, "ServerRequest"):
                validator(name).validate(message)

    check()


@needs_schemas
@each_revision
def test_results_are_valid_by_the_schema(revision: str) -> None:
    validator = validators(revision)
    for row in asked_by(Side.CLIENT, revision) + asked_by(Side.SERVER, revision):
        if row.result is t.SubscriptionsListenResult:  # its _meta, which a connection adds, is required
            continue

        @examples(2)
        @given(results(row.name, revision))
        def check(result: t.Result) -> None:
            name = type(result).__name__
            validator(name).validate(t.unstructure(result, revision))  # called at once

        check()


@needs_schemas
@each_revision
def test_payloads_are_valid_by_the_schema(revision: str) -> None:
    """Those that no message is, but that have a definition of their own."""
    validator = validators(revision)
    for cls in PAYLOADS:
        if (
            not t.exists(cls, revision)
            or issubclass(cls, t.Request | t.Notification)
            or validator(cls.__name__) is None
        ):
            continue
        if cls is t.SubscriptionsListenResult:
            continue

        @examples(2)
        @given(payloads(cls, revision))
        def check(payload: Any) -> None:
            validator(cls.__name__).validate(t.unstructure(payload, revision))  # noqa: B023  # called at once

        check()
