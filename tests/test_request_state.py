"""The sealed ``requestState``: what was sealed comes back, and nothing else ever does."""

from __future__ import annotations

import base64
import math
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from mcp_sansio import InputRequired, RequestReceived, ResultReceived
from mcp_sansio import types as t
from mcp_sansio.errors import LocalProtocolError, Reason
from mcp_sansio.helpers import StateError, StateErrorReason, open_state, seal_state

from .pair import EVERY, pair

quick = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

KEY, OTHER_KEY = b"k" * 32, b"K" * 32
ARGUMENTS = {"a": 1, "b": [True, {"c": None, "d": "ü"}]}
REQUEST = t.CallToolRequest("add", ARGUMENTS)
DATA = {"step": 2, "chosen": ["a", 1.5, None, {"ü": "\U0001f600"}]}
SEALED: dict[str, Any] = {"key": KEY, "now": 1000.0, "lifetime": 60, "principal": "alice", "request": REQUEST}
OPENED: dict[str, Any] = {"keys": [KEY], "now": 1001.0, "principal": "alice", "request": REQUEST}
STATE = seal_state(DATA, **SEALED)
RAW = base64.urlsafe_b64decode(STATE + "=" * (-len(STATE) % 4))

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(), v, max_size=3))
objects = st.dictionaries(st.text(), values, max_size=4)
keys = st.binary(min_size=32, max_size=80)
times = st.floats(-(2**40), 2**40) | st.integers(-(2**40), 2**40)
requests = st.one_of(
    st.builds(t.CallToolRequest, st.text(), st.none() | objects),
    st.builds(t.ReadResourceRequest, st.text()),
    st.builds(t.GetPromptRequest, st.text(), st.none() | st.dictionaries(st.text(), st.text(), max_size=3)),
    st.builds(t.CustomRequest, st.just("vendor/thing"), st.none() | objects),
)


def why_refused(state: str, **changes: Any) -> StateErrorReason:
    """Why a state is not opened; fails if it is, or if anything else is raised."""
    with pytest.raises(StateError) as caught:
        open_state(state, **{**OPENED, **changes})
    assert caught.value.hint
    assert str(caught.value) == f"{caught.value.reason.value}: {caught.value.hint}"
    return caught.value.reason


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def backwards(value: Any) -> Any:
    """The same JSON, with the members of all objects in the opposite order."""
    if isinstance(value, dict):
        return {name: backwards(member) for name, member in reversed(value.items())}
    return [backwards(item) for item in value] if isinstance(value, list) else value


def test_what_was_sealed_comes_back() -> None:
    assert open_state(STATE, **OPENED) == DATA


@quick
@given(data=objects, key=keys, now=times, lifetime=st.floats(1, 2**40), principal=st.text(), request=requests)
def test_a_round_trip(
    data: Any, key: bytes, now: float, lifetime: float, principal: str, request: t.Request[Any]
) -> None:
    state = seal_state(data, key=key, now=now, lifetime=lifetime, principal=principal, request=request)
    assert state.isascii()
    assert state.replace("-", "").replace("_", "").isalnum()
    opened = open_state(state, keys=[key], now=now, principal=principal, request=request)
    assert repr(opened) == repr(data), "in type and order as well"


@quick
@given(data=objects, arguments=objects, meta=st.none() | objects)
def test_a_retry_is_the_same_request(data: Any, arguments: Any, meta: Any) -> None:
    """It has its answers, the state and a ``_meta`` of its own, and another order of members may be its own too."""
    state = seal_state(data, **{**SEALED, "request": t.CallToolRequest("add", arguments)})
    answers: Any = {"who": t.ElicitResult("accept", {"name": "octocat"})}
    retry = t.CallToolRequest(
        "add", backwards(arguments), meta=meta, input_responses=answers, request_state=state, extra={}
    )
    assert open_state(state, **{**OPENED, "request": retry}) == data


@pytest.mark.parametrize("answers", [{}, {"inputResponses": {}}, {"requestState": "", "_meta": {"n": 1}}])
def test_a_retry_of_an_extension_is_too(answers: Any) -> None:
    first = t.CustomRequest("vendor/thing", {"x": 1, "y": 2})
    retry = t.CustomRequest("vendor/thing", {"y": 2, **answers, "x": 1})
    state = seal_state(DATA, **{**SEALED, "request": first})
    assert open_state(state, **{**OPENED, "request": retry}) == DATA


# What is not what was sealed


@quick
@given(place=st.integers(0, len(STATE) - 1), character=st.characters() | st.sampled_from("ABab01-_=+/"))
def test_another_character_is_refused(place: int, character: str) -> None:
    assume(STATE[place] != character)
    why_refused(STATE[:place] + character + STATE[place + 1 :])


@quick
@given(start=st.integers(0, len(STATE)), length=st.integers(1, len(STATE)))
def test_a_cut_is_refused(start: int, length: int) -> None:
    assume(start < len(STATE))
    why_refused(STATE[:start] + STATE[start + length :])


@quick
@given(place=st.integers(0, len(STATE)), more=st.text(min_size=1) | st.text("ABab01-_=\n ", min_size=1))
def test_an_addition_is_refused(place: int, more: str) -> None:
    why_refused(STATE[:place] + more + STATE[place:])


@pytest.mark.parametrize("bit", range(8))
def test_another_bit_is_refused(bit: int) -> None:
    for place in range(len(RAW)):
        changed = bytearray(RAW)
        changed[place] ^= 1 << bit
        expected = StateErrorReason.MALFORMED if place == 32 else StateErrorReason.SEAL  # the version stands there
        assert why_refused(encoded(bytes(changed))) is expected


def test_other_texts_for_the_same_bytes_are_refused() -> None:
    """The last character holds bits that no byte needs, and decoders skip or translate what is not in the alphabet."""
    raw = next(raw for n in range(9) if len(raw := RAW + b"x" * n) % 3 == 1)
    assert encoded(raw)[-1] in "AQgw"
    assert why_refused(encoded(raw)[:-1] + chr(ord(encoded(raw)[-1]) + 1)) is StateErrorReason.MALFORMED
    for text in (STATE + "=" * (-len(STATE) % 4), STATE + "\n", f" {STATE}", STATE[:5] + "." + STATE[5:]):
        if text != STATE:
            assert why_refused(text) is StateErrorReason.MALFORMED


@quick
@given(state=st.text() | st.binary().map(encoded) | st.binary(min_size=34).map(lambda b: encoded(b[:32] + b"\1" + b)))
@example("")
@example("\ud800")
@example("=")
@example("ü" * 5)
@example("A" * 44)
@example("A" * 2**20)
def test_nothing_else_is_raised_and_nothing_is_opened(state: str) -> None:
    assert why_refused(state) in (StateErrorReason.MALFORMED, StateErrorReason.SEAL)


@quick
@given(other=keys)
def test_another_key_is_refused(other: bytes) -> None:
    assume(other.rstrip(b"\0") != KEY)  # HMAC fills a key up with zeros
    assert why_refused(STATE, keys=[other]) is StateErrorReason.SEAL


@quick
@given(late=st.floats(0, 2**40))
def test_late_is_refused(late: float) -> None:
    assert why_refused(STATE, now=1060.0 + late) is StateErrorReason.EXPIRED
    assert open_state(STATE, **{**OPENED, "now": math.nextafter(1060.0, 0)}) == DATA


@quick
@given(principal=st.text() | st.text("\ud800\udfff", max_size=2))
def test_another_principal_is_refused(principal: str) -> None:
    assume(principal != "alice")
    assert why_refused(STATE, principal=principal) is StateErrorReason.PRINCIPAL


@quick
@given(request=requests)
@example(t.CallToolRequest("add"))
@example(t.CallToolRequest("add", {**ARGUMENTS, "b": [True, {"c": None, "d": "u"}]}))
@example(t.CallToolRequest("add", {**ARGUMENTS, "a": True}))
@example(t.CallToolRequest("add", {**ARGUMENTS, "a": 1.0}))
@example(t.CallToolRequest("add", {**ARGUMENTS, "a": "1"}))
@example(t.CallToolRequest("add", ARGUMENTS, extra={"more": 1}))
@example(t.CustomRequest("tools/CALL", {"name": "add", "arguments": ARGUMENTS}))
def test_another_request_is_refused(request: t.Request[Any]) -> None:
    assert why_refused(STATE, request=request) is StateErrorReason.REQUEST


def test_the_first_reason_is_the_seal_then_the_time_then_the_principal() -> None:
    changes: dict[str, Any] = {"request": t.CallToolRequest("other")}
    for name, value, reason in (
        ("principal", "mallory", StateErrorReason.PRINCIPAL),
        ("now", 2000.0, StateErrorReason.EXPIRED),
        ("keys", [OTHER_KEY], StateErrorReason.SEAL),
    ):
        changes[name] = value
        assert why_refused(STATE, **changes) is reason


def test_keys_change() -> None:
    assert open_state(STATE, **{**OPENED, "keys": [OTHER_KEY, KEY]}) == DATA
    assert open_state(STATE, **{**OPENED, "keys": iter([KEY, OTHER_KEY])}) == DATA
    assert why_refused(STATE, keys=[OTHER_KEY]) is StateErrorReason.SEAL


def test_the_client_can_read_it_but_for_the_principal() -> None:
    assert b'"chosen":["a",1.5,null,' in RAW
    assert b"alice" not in RAW


# Mistakes of the caller


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"key": b"k" * 31}, Reason.CONFIGURATION),
        ({"key": "k" * 32}, Reason.CONFIGURATION),
        ({"lifetime": 0}, Reason.INVALID_TIME),
        ({"lifetime": -1.0}, Reason.INVALID_TIME),
        ({"lifetime": math.inf}, Reason.INVALID_TIME),
        ({"now": math.nan}, Reason.INVALID_TIME),
        ({"now": 10**400}, Reason.INVALID_TIME),
        ({"now": True}, Reason.INVALID_TIME),
        ({"now": None}, Reason.INVALID_TIME),
        ({"principal": None}, Reason.INVALID_PAYLOAD),
        ({"request": t.CallToolRequest("add", {"a": {1, 2}})}, Reason.INVALID_PAYLOAD),
        ({"request": t.CallToolRequest(5)}, Reason.INVALID_PAYLOAD),
        ({"request": t.PingRequest()}, Reason.INVALID_PAYLOAD),
        ({"request": "tools/call"}, Reason.INVALID_PAYLOAD),
    ],
    ids=str,
)
def test_mistakes(changes: dict[str, Any], reason: Reason) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        seal_state(DATA, **{**SEALED, **changes})
    assert caught.value.reason is reason
    if "lifetime" in changes:
        return
    if "key" in changes:
        changes = {"keys": [changes["key"]]}
    with pytest.raises(LocalProtocolError) as caught:
        open_state(STATE, **{**OPENED, **changes})
    assert caught.value.reason is reason


@pytest.mark.parametrize("data", [{"a": {1, 2}}, {"a": math.nan}, {1: 2}, ["a"], None, "text"], ids=str)
def test_data_that_json_cannot_hold(data: Any) -> None:
    with pytest.raises(LocalProtocolError, match="invalid payload: "):
        seal_state(data, **SEALED)


def test_nested_too_deeply() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for seal in (
        lambda: seal_state(deep, **SEALED),
        lambda: seal_state(DATA, **{**SEALED, "request": t.CallToolRequest("add", deep)}),
        lambda: open_state(STATE, **{**OPENED, "request": t.CallToolRequest("add", deep)}),
    ):
        with pytest.raises(LocalProtocolError, match="invalid payload: "):
            seal()


@pytest.mark.parametrize("given_keys", [[], KEY, [KEY, b"short"]], ids=str)
def test_keys_that_are_none(given_keys: Any) -> None:
    with pytest.raises(LocalProtocolError, match=r"configuration: .*key"):
        open_state(STATE, **{**OPENED, "keys": given_keys})


# With a server and a client


@pytest.mark.parametrize("revision", EVERY)
def test_with_connections_of_each_revision(revision: str) -> None:
    """The server's code is the same for all: seal, ask, open."""
    both = pair(revision)
    handle = both.client.request(t.CallToolRequest("greet", {"loud": True}))
    served: list[t.CallToolRequest] = []
    results: list[t.Result] = []
    while events := both.pump():
        for event in events:
            match event:
                case RequestReceived(id=id, request=t.CallToolRequest(request_state=None) as request):
                    served.append(request)
                    state = seal_state({"round": 1}, **{**SEALED, "request": request})
                    both.server.request_input(id, {"roots": t.ListRootsRequest()}, state)
                case RequestReceived(id=id, request=t.CallToolRequest(request_state=str(state)) as request):
                    served.append(request)
                    assert open_state(state, **{**OPENED, "request": request}) == {"round": 1}
                    changed = attrs.evolve(request, arguments={"loud": False})
                    assert why_refused(state, request=changed) is StateErrorReason.REQUEST
                    both.server.respond(id, t.CallToolResult([t.TextContent("Hello")]))
                case RequestReceived(id=id, request=t.ListRootsRequest()):
                    both.client.respond(id, t.ListRootsResult([]))
                case InputRequired():
                    handle = both.client.retry(handle, {"roots": t.ListRootsResult([])})
                case ResultReceived(id=handle.id, result=result):
                    results.append(result)
                case _:
                    pass
    first, second = served
    assert (first.input_responses, second.input_responses) == (None, {"roots": t.ListRootsResult([])})
    assert len(results) == 1
