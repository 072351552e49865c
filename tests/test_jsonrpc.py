"""The envelope: what is a message, what is wrong with what isn't, and what the start of one tells."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from typing import Any

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_sansio.codec import ORJSON, STDLIB
from mcp_sansio.jsonrpc import (
    ABSENT,
    Error,
    InvalidMessage,
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResultResponse,
    copy_json,
    is_array,
    is_id,
    is_object,
    message_to_json,
    parse_message,
    peek,
)
from mcp_sansio.limits import Limits
from mcp_sansio.testing import json_values

from .timing import least_time

quick = settings(deadline=None)

LIMITS = Limits()
LEAST, MOST = -(2**63), 2**64 - 1

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
IDS = st.sampled_from(["", "0", "1", "007", "1.0", "null", "true", 0, 1, -1, 2**53, 2**53 + 1, LEAST, MOST])
IDS |= TEXT | st.integers(LEAST, MOST)
NAMES = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data"]) | TEXT
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.just(1.5) | TEXT | st.just("2.0"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
MESSAGES: st.SearchStrategy[JSONRPCMessage] = st.one_of(
    st.builds(JSONRPCRequest, IDS, TEXT, st.none() | OBJECTS),
    st.builds(JSONRPCNotification, TEXT, st.none() | OBJECTS),
    st.builds(JSONRPCResultResponse, IDS, OBJECTS),
    st.builds(JSONRPCErrorResponse, st.none() | IDS, st.builds(Error, st.integers(), TEXT, st.just(ABSENT) | VALUES)),
)


def message(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **members}


# Ids --------------------------------------------------------------------------------------------------------


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize("value", ["", "1", "007", "null", "x" * 10, "\u2028", 0, 1, -1, 2**53 + 1, LEAST, MOST])
def test_ids(value: object) -> None:
    assert is_id(value, 10)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        1.0,
        0.0,
        1.9,
        float("nan"),
        [],
        ["x"],
        {},
        ABSENT,
        Text("x"),
        b"x",
        "x" * 11,
        LEAST - 1,
        MOST + 1,
    ],
    ids=repr,
)
def test_no_ids(value: object) -> None:
    assert not is_id(value, 10)


def test_a_very_large_integer_is_no_id() -> None:
    assert not is_id(10**5000, 10)


def test_objects_and_arrays() -> None:
    assert [is_object(value) for value in ({}, {"a": 1}, [], "{}", None)] == [True, True, False, False, False]
    assert [is_array(value) for value in ([], [1], (), {}, "[]", None)] == [True, True, False, False, False, False]


@quick
@given(IDS)
def test_ids_are_exact(id: str | int) -> None:
    """Type and value of an id survive parsing, writing and both codecs."""
    for codec in (STDLIB, ORJSON):
        for text in (message(id=id, method="ping"), message(id=id, result={}), message(id=id, error=ERROR)):
            parsed = parse_message(codec.decode(codec.encode(text), LIMITS), id_length=6)
            assert not isinstance(parsed, InvalidMessage | JSONRPCNotification)
            assert repr(parsed.id) == repr(id)
            assert codec.encode(message_to_json(parsed)) == codec.encode(text)


ERROR = {"code": -32600, "message": "no"}


# Valid messages ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "parsed"),
    [
        (message(id=1, method="ping"), JSONRPCRequest(1, "ping")),
        (message(id="1", method="ping", params={}), JSONRPCRequest("1", "ping", {})),
        (message(id=0, method="", params={"id": 5}), JSONRPCRequest(0, "", {"id": 5})),
        (message(method="x"), JSONRPCNotification("x")),
        (message(method="x", params={"a": None}), JSONRPCNotification("x", {"a": None})),
        (message(id="", result={}), JSONRPCResultResponse("", {})),
        (message(id=1, error=ERROR), JSONRPCErrorResponse(1, Error(-32600, "no"))),
        (message(id=None, error=ERROR), JSONRPCErrorResponse(None, Error(-32600, "no"))),
        (message(error=ERROR), JSONRPCErrorResponse(None, Error(-32600, "no"))),
        (message(id=1, error={**ERROR, "data": None}), JSONRPCErrorResponse(1, Error(-32600, "no", None))),
        (message(id=1, error={"code": 0, "message": "", "x": 1}), JSONRPCErrorResponse(1, Error(0, ""))),
        (message(id=1, error={"code": 10**30, "message": ""}), JSONRPCErrorResponse(1, Error(10**30, ""))),
        (message(id=1, method="ping", METHOD=1, Result={}, Error=1, x=2), JSONRPCRequest(1, "ping")),
        (message(id=1, result={}, params=5, ID="x"), JSONRPCResultResponse(1, {})),
    ],
)
def test_valid_messages(value: dict[str, Any], parsed: JSONRPCMessage) -> None:
    assert repr(parse_message(value)) == repr(parsed)


@quick
@given(MESSAGES, st.booleans(), st.dictionaries(st.sampled_from(["x", "Id", "ID", "Method", "param\u017f"]), VALUES))
def test_messages_survive_a_round_trip(sent: JSONRPCMessage, null_id: bool, unknown: dict[str, Any]) -> None:
    value = {**unknown, **message_to_json(sent, null_id=null_id)}
    received = parse_message(value)
    assert repr(received) == repr(sent)
    assert received == sent


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (JSONRPCRequest(1, "m"), '{"jsonrpc":"2.0","id":1,"method":"m"}'),
        (JSONRPCRequest("", "m", {}), '{"jsonrpc":"2.0","id":"","method":"m","params":{}}'),
        (JSONRPCNotification("m"), '{"jsonrpc":"2.0","method":"m"}'),
        (JSONRPCNotification("m", {}), '{"jsonrpc":"2.0","method":"m","params":{}}'),
        (JSONRPCResultResponse(0, {}), '{"jsonrpc":"2.0","id":0,"result":{}}'),
        (JSONRPCErrorResponse(0, Error(1, "e")), '{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"e"}}'),
        (JSONRPCErrorResponse(None, Error(1, "e")), '{"jsonrpc":"2.0","error":{"code":1,"message":"e"}}'),
        (
            JSONRPCErrorResponse("a", Error(1, "e", None)),
            '{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"e","data":null}}',
        ),
    ],
)
def test_messages_are_written_with_the_id_first(sent: JSONRPCMessage, text: str) -> None:
    assert STDLIB.encode(message_to_json(sent)) == text.encode()


def test_an_unreadable_id_is_written_as_null_if_asked() -> None:
    nameless = JSONRPCErrorResponse(None, Error(-32700, "e"))
    text = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"e"}}'
    assert STDLIB.encode(message_to_json(nameless, null_id=True)) == text
    named = JSONRPCErrorResponse(0, Error(1, "e"))
    assert message_to_json(named, null_id=True) == message_to_json(named)
    assert "id" not in message_to_json(JSONRPCNotification("m"), null_id=True)


def test_payloads_are_not_copied() -> None:
    payload: dict[str, Any] = {"a": []}
    request = parse_message(message(id=1, method="m", params=payload))
    assert isinstance(request, JSONRPCRequest)
    assert request.params is payload
    assert message_to_json(request)["params"] is payload


# Invalid messages -------------------------------------------------------------------------------------------

INVALID: list[tuple[Any, str, Any, str | None, tuple[str, ...], str]] = [
    # value, kind, id, method, rules, detail
    (42, "unknown", None, None, ("FRAME-001",), "a message is an object, not 42"),
    (None, "unknown", None, None, ("FRAME-001",), "a message is an object, not null"),
    (True, "unknown", None, None, ("FRAME-001",), "a message is an object, not true"),
    (1.5, "unknown", None, None, ("FRAME-001",), "a message is an object, not 1.5"),
    ("é\n", "unknown", None, None, ("FRAME-001",), 'a message is an object, not "\\u00e9\\n"'),
    ("x" * 40, "unknown", None, None, ("FRAME-001",), f'a message is an object, not "{"x" * 40}"'),
    ("x" * 41, "unknown", None, None, ("FRAME-001",), "a message is an object, not a string of 41 characters"),
    ([message(id=1, method="m")], "unknown", None, None, ("FRAME-001",), "a message is an object, not an array"),
    ((), "unknown", None, None, ("FRAME-001",), "a message is an object, not tuple"),
    (2**64 - 1, "unknown", None, None, ("FRAME-001",), "a message is an object, not 18446744073709551615"),
    (2**64, "unknown", None, None, ("FRAME-001",), "a message is an object, not an integer beyond 64 bits"),
    (-(2**64), "unknown", None, None, ("FRAME-001",), "a message is an object, not an integer beyond 64 bits"),
    (10**5000, "unknown", None, None, ("FRAME-001",), "a message is an object, not an integer beyond 64 bits"),
    (message(), "unknown", None, None, ("FRAME-001",), "a message has a method, a result or an error"),
    (message(id=None), "unknown", None, None, ("FRAME-001",), "a message has a method, a result or an error"),
    (message(id=1), "unknown", 1, None, ("FRAME-001",), "a message has a method, a result or an error"),
    (
        {"status": 200, "message": "Success", "results": []}, "unknown", None, None, ("RPC-001", "FRAME-001"),
        'jsonrpc is the string "2.0", not absent; a message has a method, a result or an error',
    ),
    (
        message(id=1, method_="tools/list", params={}), "unknown", 1, None, ("FRAME-001",),
        "a message has a method, a result or an error",
    ),
    (
        {"id": 99, "method": "tools/list"}, "request", 99, "tools/list", ("RPC-001",),
        'jsonrpc is the string "2.0", not absent',
    ),
    (
        {"jsonrpc": "1.0", "method": "m"}, "notification", None, "m", ("RPC-001",),
        'jsonrpc is the string "2.0", not "1.0"',
    ),
    (
        {"jsonrpc": 2.0, "id": 1, "result": {}}, "response", 1, None, ("RPC-001",),
        'jsonrpc is the string "2.0", not 2.0',
    ),
    (
        message(id=None, method="m"), "request", None, "m", ("RPC-008",),
        "the id of a request is a string or an integer, not null",
    ),
    (
        message(id=True, method="m"), "request", None, "m", ("RPC-008",),
        "the id of a request is a string or an integer, not true",
    ),
    (
        message(id=1.0, method="m"), "request", None, "m", ("RPC-008",),
        "the id of a request is a string or an integer, not 1.0",
    ),
    (
        message(id=[[["x"]]], method="m"), "request", None, "m", ("RPC-008",),
        "the id of a request is a string or an integer, not an array",
    ),
    (
        message(id={}, method="m"), "request", None, "m", ("RPC-008",),
        "the id of a request is a string or an integer, not an object",
    ),
    (
        message(id=MOST + 1, method="m"), "request", None, "m", ("RPC-008",),
        "the id of a request is an integer of at most 64 bits",
    ),
    (
        message(id="A" * 5_000_000, method="m"), "request", None, "m", ("RPC-008",),
        "the id of a request has at most 1024 characters, not 5000000",
    ),
    (
        message(id=9, method="m", params=["a"]), "request", 9, "m", ("RPC-015",),
        "params is an object, not an array",
    ),
    (message(method="m", params=None), "notification", None, "m", ("RPC-015",), "params is an object, not null"),
    (message(id=1, method=12345), "request", 1, None, ("FRAME-001",), "the method is a string, not 12345"),
    (message(method=None), "notification", None, None, ("FRAME-001",), "the method is a string, not null"),
    (
        message(id=1, result={}, error=None), "response", 1, None, ("RPC-003", "RPC-004"),
        "a response has a result or an error, not both; the error is an object, not null",
    ),
    (
        message(id=1, result={}, error=ERROR), "response", 1, None, ("RPC-003",),
        "a response has a result or an error, not both",
    ),
    (
        message(id=1, method="m", result={}), "response", 1, "m", ("RPC-003",),
        "a response has no method, and a request no result or error",
    ),
    (
        message(id=1, method="m", error=ERROR), "response", 1, "m", ("RPC-003",),
        "a response has no method, and a request no result or error",
    ),
    (
        message(result={}), "response", None, None, ("RPC-002",),
        "the id of a response is a string or an integer, not absent",
    ),
    (
        message(id=None, result={}, error=ERROR), "response", None, None, ("RPC-003", "RPC-002"),
        "a response has a result or an error, not both; the id of a response is a string or an integer, not null",
    ),
    (
        message(id=False, error=ERROR), "response", None, None, ("RPC-002",),
        "the id of a response is a string or an integer, not false",
    ),
    (
        message(id="x" * 1025, result={}), "response", None, None, ("RPC-002",),
        "the id of a response has at most 1024 characters, not 1025",
    ),
    (message(id=1, result=None), "response", 1, None, ("RPC-018",), "the result is an object, not null"),
    (message(id=1, result=[]), "response", 1, None, ("RPC-018",), "the result is an object, not an array"),
    (message(id=1, error=[]), "response", 1, None, ("RPC-004",), "the error is an object, not an array"),
    (message(error={}), "response", None, None, ("RPC-004",), "the code of an error is an integer, not absent"),
    (
        message(id=1, error={**ERROR, "code": True}), "response", 1, None, ("RPC-004",),
        "the code of an error is an integer, not true",
    ),
    (
        message(id=1, error={**ERROR, "code": -32600.0}), "response", 1, None, ("RPC-004",),
        "the code of an error is an integer, not -32600.0",
    ),
    (
        message(id=1, error={**ERROR, "code": "1"}), "response", 1, None, ("RPC-004",),
        'the code of an error is an integer, not "1"',
    ),
    (
        message(id=1, error={"code": 1}), "response", 1, None, ("RPC-004",),
        "the message of an error is a string, not absent",
    ),
    (
        message(id=1, error={"code": 1, "message": None}), "response", 1, None, ("RPC-004",),
        "the message of an error is a string, not null",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "kind", "id", "method", "rules", "detail"), INVALID, ids=[str(row) for row in range(len(INVALID))]
)
def test_invalid_messages(
    value: Any, kind: Any, id: Any, method: str | None, rules: tuple[str, ...], detail: str
) -> None:
    assert repr(parse_message(value)) == repr(InvalidMessage(kind, id, method, rules, detail))


def test_the_longest_id_is_the_caller_s_to_choose() -> None:
    for value in (message(id="x" * 5, method="m"), message(id="x" * 5, result={})):
        assert not isinstance(parse_message(value, id_length=5), InvalidMessage)
        refused = parse_message(value, id_length=4)
        assert isinstance(refused, InvalidMessage)
        assert refused.id is None
        assert "at most 4 characters, not 5" in refused.detail


VERSIONS = {"ok": "2.0", "bad": 2.0, "absent": ABSENT}
IDENTIFIERS = {"ok": 7, "bad": 7.0, "null": None, "absent": ABSENT}
METHODS = {"ok": "ping", "bad": 5, "absent": ABSENT}
PARAMS = {"ok": {"a": 1}, "bad": [1], "absent": ABSENT}
RESULTS = {"ok": {"b": 2}, "bad": None, "absent": ABSENT}
ERRORS = {"ok": ERROR, "bad": {"code": 1}, "absent": ABSENT}


def test_every_combination_of_members_breaks_the_rules_it_should() -> None:
    for version, id, method, params, result, error in itertools.product(
        VERSIONS, IDENTIFIERS, METHODS, PARAMS, RESULTS, ERRORS
    ):
        is_response = (result, error) != ("absent", "absent")
        is_call = not is_response and method != "absent"
        rules = {
            "RPC-001": version != "ok",
            "RPC-008": is_call and id in ("bad", "null"),
            "RPC-015": is_call and params == "bad",
            "RPC-003": is_response and [method, result, error].count("absent") < 2,
            "RPC-002": is_response and (id == "bad" or (id != "ok" and result != "absent")),
            "RPC-018": is_response and result == "bad",
            "RPC-004": is_response and error == "bad",
            "FRAME-001": not is_response and method != "ok",
        }  # fmt: skip
        members = {
            "jsonrpc": VERSIONS[version], "id": IDENTIFIERS[id], "method": METHODS[method],
            "params": PARAMS[params], "result": RESULTS[result], "error": ERRORS[error],
        }  # fmt: skip
        value = {name: member for name, member in members.items() if member is not ABSENT}
        parsed = parse_message(value)
        broken = tuple(rule for rule, is_broken in rules.items() if is_broken)
        if broken:
            assert isinstance(parsed, InvalidMessage), value
            kind = "response" if is_response else "unknown" if not is_call else "request" if id != "absent" else ""
            assert parsed.kind == (kind or "notification"), value
            assert parsed.rules == broken, value
            assert (parsed.id, parsed.method) == (7 if id == "ok" else None, "ping" if method == "ok" else None)
            assert len(parsed.detail.split("; ")) == len(broken)
        else:
            assert not isinstance(parsed, InvalidMessage), value


class Odd:
    """Not JSON at all, but what could a local caller not pass?"""


ODDITIES = st.sampled_from([ABSENT, Odd(), b"x", (), {1: 2}, {1}, 10**5000, float("nan"), "\ud800", Text("2.0")])


@quick
@given(
    VALUES
    | ODDITIES
    | st.dictionaries(
        st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]),
        VALUES | ODDITIES | st.just("2.0") | st.just(ERROR) | st.just({}),
        max_size=6,
    )
)
@example({"jsonrpc": "2.0", "result": ABSENT})
@example({"jsonrpc": "2.0", "method": "m", "id": ABSENT, "params": ABSENT})
def test_no_value_raises_and_every_detail_is_short_ascii(value: Any) -> None:
    parsed = parse_message(value)
    if isinstance(parsed, InvalidMessage):
        assert parsed.detail.isascii()
        assert parsed.detail.isprintable()
        assert len(parsed.detail) < 1000
        assert len(set(parsed.rules)) == len(parsed.rules) > 0


# The start of a message -------------------------------------------------------------------------------------


def known(head: bytes, **options: Any) -> tuple[str, str | int | None, str | None]:
    found = peek(head, **options)
    assert found.rules == ()
    assert found.detail == "the message is longer than this side accepts"
    return found.kind, found.id, found.method


@pytest.mark.parametrize(
    ("head", "facts"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{"t":"AAAA', ("response", 1, None)),
        (b'{"jsonrpc":"2.0","id":"a","error":', ("response", "a", None)),
        (b'{"result":{"id":5},"jsonrpc":"2.0","id":7,', ("response", 7, None)),
        (b'{"result":{"id":5,"method":"x"', ("response", None, None)),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"x":"', ("request", 1, "tools/call")),
        (b'{"method":"tools/call","params":{"id":3,"result":{}},"id":1}  ', ("request", 1, "tools/call")),
        (b'{"method":"tools/call","params":{"id":3,"result":{}', ("unknown", None, "tools/call")),
        (b'{"jsonrpc":"2.0","method":"x"}    ', ("notification", None, "x")),
        (b'{"jsonrpc":"2.0","method":"x",', ("unknown", None, "x")),
        (b'{"jsonrpc":"2.0","method":"x"', ("unknown", None, None)),
        (b'{"jsonrpc":"2.0","method":5}', ("notification", None, None)),
        (b'{"id":1,"method":"x","result"', ("request", 1, "x")),
        (b'{"id":1,"method":"x","result":', ("response", 1, "x")),
        (b'{"id":12', ("unknown", None, None)),
        (b'{"id":12 ', ("unknown", None, None)),
        (b'{"id":12.', ("unknown", None, None)),
        (b'{"id":12.5,', ("unknown", None, None)),
        (b'{"id":12e', ("unknown", None, None)),
        (b'{"id":12,', ("unknown", 12, None)),
        (b'{"id":012,', ("unknown", None, None)),
        (b'{"id":12}', ("unknown", 12, None)),
        (b'{"id":12]', ("unknown", None, None)),
        (b'{"id":"12', ("unknown", None, None)),
        (b'{"id":"12"', ("unknown", None, None)),
        (b'{"id":"12",', ("unknown", "12", None)),
        (b'{"id":true,"method":"x",', ("request", None, "x")),
        (b'{"id":1.0,"method":"x",', ("request", None, "x")),
        (b'{"id":null,"method":"x",', ("request", None, "x")),
        (b'{"id":18446744073709551616,"method":"x",', ("request", None, "x")),
        (b'{"id":' + b"1" * 5000 + b',"method":"x",', ("unknown", None, None)),
        (b'{"id":1,"id":2,', ("unknown", 2, None)),
        (b'{"id":1,"id":', ("unknown", None, None)),
        (b'{"id":1,"method":"x","id":"', ("request", None, "x")),
        (b'{"ID":1,"\\u0069d":2,"Method":"x",', ("unknown", 2, None)),
        (b'{"params":{"id":1,"method":"x"},', ("unknown", None, None)),
        (b'{"params":"{\\"id\\":1,","x":[{"id":2,"method":"y"}],', ("unknown", None, None)),
        (b'{"params":"\\\\","id":1,', ("unknown", 1, None)),
        (b'{"x":[[{}]],"id":1,', ("unknown", 1, None)),
        (b'{"x":' + b"[" * 4000 + b',"id":1,', ("unknown", None, None)),
        (b'{"x":' + b'{"id":' * 600, ("unknown", None, None)),
        (b'{"x":}{"id":1,', ("unknown", None, None)),
        (b'{"x":NaN,"id":1,', ("unknown", None, None)),
        (b'{"id":1,"x":-Infinity,"method":"x",', ("unknown", 1, None)),
        (b'{5:1,"id":1,', ("unknown", None, None)),
        (b'{["id"]:1,"id":2,', ("unknown", None, None)),
        (b'{"id"=1,"id":2,', ("unknown", None, None)),
        (b'{"id" 1,"id":2,', ("unknown", None, None)),
        (b'{,"id":1,', ("unknown", None, None)),
        (b'{"id":1;"method":"x",', ("unknown", None, None)),
        (b'{"id":1,"method":"x"}{"id":2,', ("unknown", None, None)),
        (b'{"id":1,"method":"x"} x', ("unknown", None, None)),
        (b'{"id":1,"method":"x"}\xc3', ("unknown", None, None)),
        (b'{"id":1,"method":"x"} \t\r ', ("request", 1, "x")),
        (b'\xef\xbb\xbf \t\r{ "id"\t:\r1 , "method" : "x" ,', ("request", 1, "x")),
        (b'\xef\xbb\xbf\xef\xbb\xbf{"id":1,', ("unknown", None, None)),
        (b' \xef\xbb\xbf{"id":1,', ("unknown", None, None)),
        (b'\x0b{"id":1,', ("unknown", None, None)),
        (b'{"id":1\x0c,', ("unknown", None, None)),
        ('{"id":"\u8bfb\U0001f600","method":"\xe9",'.encode(), ("request", "\u8bfb\U0001f600", "\xe9")),
        (b'{"id":"\\ud83d\\ude00",', ("unknown", "\U0001f600", None)),
        (b'{"id":"\\ud83d","method":"\\ude00",', ("request", None, None)),
        (b'{"id":"\xff","method":"\xed\xa0\x80",', ("request", None, None)),
        (b'{"id":1,"x":"\xff","method":"x",', ("request", 1, "x")),
        (b'{"id":1,"method":"x","y":"\xe8\xaf', ("request", 1, "x")),
        (b'{"id":1,\xff"method":"x",', ("unknown", 1, None)),
        (b'[{"id":1,"method":"x"},', ("unknown", None, None)),
        (b'"{\\"id\\":1,', ("unknown", None, None)),
        (b'x{"id":1,', ("unknown", None, None)),
        (b"{}", ("unknown", None, None)),
        (b"{", ("unknown", None, None)),
        (b"", ("unknown", None, None)),
        (b" " * 4096, ("unknown", None, None)),
    ],
    ids=lambda value: repr(value)[:50],
)  # fmt: skip
def test_what_the_start_of_a_message_tells(head: bytes, facts: tuple[Any, Any, Any]) -> None:
    assert repr(known(head)) == repr(facts)


def test_a_long_id_is_not_told() -> None:
    assert known(b'{"id":"%s",' % (b"x" * 1024)) == ("unknown", "x" * 1024, None)
    assert known(b'{"id":"%s",' % (b"x" * 1025)) == ("unknown", None, None)
    assert known(b'{"id":"xxx",', id_length=2) == ("unknown", None, None)


SPACES = st.sampled_from(["", "", " ", "\t\r"])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(NAMES, VALUES | IDS, SPACES, SPACES, SPACES), min_size=1, max_size=5), st.booleans(), st.data()
)
def test_nothing_but_whole_members_of_the_object_itself_is_told(
    parts: list[tuple[str, Any, str, str, str]], ascii: bool, data: st.DataObject
) -> None:
    """At any cut, against a text whose members' places are known."""
    text = "{"
    places: list[tuple[str, Any, int, int]] = []
    for number, (name, value, before, between, after) in enumerate(parts, 1):
        text += before + json.dumps(name, ensure_ascii=ascii) + between + ":"
        colon = len(text.encode())
        text += after + json.dumps(value, ensure_ascii=ascii) + before + ("," if number < len(parts) else "}")
        places.append((name, value, colon, len(text.encode())))
    raw = text.encode()
    for cut in range(len(raw) + 1):
        members: dict[str, Any] = {}
        for name, value, colon, end in places:
            if cut >= colon:
                members[name] = value if cut >= end else ABSENT
        kind = "unknown"
        if "result" in members or "error" in members:
            kind = "response"
        elif "method" in members and "id" in members:
            kind = "request"
        elif "method" in members and cut == len(raw):
            kind = "notification"
        id, method = members.get("id"), members.get("method")
        facts = (kind, id if type(id) in (int, str) else None, method if type(method) is str else None)
        assert repr(known(raw[:cut])) == repr(facts), raw[:cut]


@quick
@given(
    st.binary(max_size=40)
    | st.lists(
        st.sampled_from([b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"1", b"-", b".", b"e", b" ", b"\xff"])
        | st.sampled_from([b'"id":', b'"method":', b'"result":', b'"x"', b"null", b"\\ud800", b"\xef\xbb\xbf", b"NaN"]),
        max_size=20,
    ).map(b"".join)
)  # fmt: skip
def test_no_bytes_raise_and_nothing_is_told_against_the_whole(head: bytes) -> None:
    kind, id, method = known(head)
    assert id is None or is_id(id, 1024)
    for text in (id, method):
        if isinstance(text, str):
            text.encode()
    try:
        whole = parse_message(json.loads(head.removeprefix(b"\xef\xbb\xbf").decode()))
    except (ValueError, RecursionError):
        return
    if isinstance(whole, InvalidMessage) and b"NaN" not in head and b"\\ud800" not in head:
        assert (kind, id, method) == (whole.kind, whole.id, whole.method)


# Values -----------------------------------------------------------------------------------------------------


def test_absent_is_one_falsy_value() -> None:
    assert not ABSENT
    assert repr(ABSENT) == "ABSENT"
    assert copy.deepcopy(ABSENT) is ABSENT
    assert pickle.loads(pickle.dumps(ABSENT)) is ABSENT


@quick
@given(MESSAGES)
def test_messages_are_frozen_values(sent: JSONRPCMessage) -> None:
    assert copy.deepcopy(sent) == sent
    assert pickle.loads(pickle.dumps(sent)) == sent
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        sent.id = 5  # type: ignore


def containers(value: Any) -> list[int]:
    """Which arrays and objects a value is made of."""
    items = value.values() if is_object(value) else value if is_array(value) else None
    return [] if items is None else [id(value), *(each for item in items for each in containers(item))]


@quick
@given(json_values())
def test_a_copy_is_equal_and_shares_nothing_that_can_change(value: Any) -> None:
    copied = copy_json(value)
    assert repr(copied) == repr(value)
    assert not set(containers(copied)) & set(containers(value))


def test_a_copy_is_as_deep_as_can_be() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    copied = copy_json(value)
    for _ in range(100_000):
        (copied,) = copied
    assert copied == []


# Time -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part",
    [b'"a":1,', b'"id":1,', b'"a":[', b'"a":{', b'"', b'"\\', b"\xff", b" ", b'"a":"' + b"\\n" * 50, b"\n"],
    ids=repr,
)
def test_time_to_peek_is_linear(part: bytes) -> None:
    small, large = b'{"id":1,' + part * 4000, b'{"id":1,' + part * 16_000
    for _ in range(5):
        few = min(least_time(lambda: peek(small)) for _ in range(3))
        many = min(least_time(lambda: peek(large)) for _ in range(2))
        if many < 7 * max(few, 0.0002):
            return
    pytest.fail(f"{few:.4f} s, four times as much: {many:.4f} s")
