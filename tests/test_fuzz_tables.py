"""Every message of the tables, with a part of it replaced by something else, makes no connection raise."""

from __future__ import annotations

import copy
import json
import random
from typing import Any, Literal

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from mcp_sansio import ALL, ClientConnection, ServerConnection, Side
from mcp_sansio.jsonrpc import JSONRPCRequest
from mcp_sansio.spec import METHODS, Kind, Method

from .samples import CLIENT_CAPABILITIES, CLIENT_INFO, META, PARAMS, RESULTS, SERVER_CAPABILITIES, SERVER_INFO

NAMES = (
    *("_meta", "blob", "cacheScope", "content", "contents", "cursor", "inputRequests", "nextCursor", "notifications"),
    *("params", "progress", "progressToken", "requestId", "requestState", "resultType", "status", "task", "taskId"),
    *("tasks", "text", "tools", "ttlMs", "uri"),
)
OTHERS: list[Any] = [
    *(None, True, 0, -1, 1.5, "", "x", "input_required", "complete", [], {}, [[]], {"a": 1}, {"taskId": []}),
    {"a": {"method": "roots/list"}},
    {"a": {"method": "elicitation/create", "params": {"mode": []}}},
]


def changed(value: Any, rng: random.Random) -> Any:
    """The value with a part of it replaced, or a member more."""
    value = place = copy.deepcopy(value)
    while True:
        parts = place.values() if isinstance(place, dict) else place
        inner = [part for part in parts if part and type(part) in (dict, list)]
        if not inner:
            break
        if rng.random() < 0.4:
            break
        place = rng.choice(inner)
    other = copy.deepcopy(rng.choice(OTHERS))
    if isinstance(place, dict):
        place[rng.choice([*NAMES, *place])] = other
    else:
        place[rng.randrange(len(place))] = other
    return value


def pair(era: Literal["legacy", "modern"]) -> dict[Side, ClientConnection | ServerConnection]:
    client = ClientConnection(CLIENT_INFO, CLIENT_CAPABILITIES, era=era)
    server = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES)
    client.connect()
    while data := client.data_to_send():
        server.receive_data(data)
        client.receive_data(server.data_to_send())
    return {Side.CLIENT: client, Side.SERVER: server}


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("row", METHODS, ids=lambda row: f"{row.sender.value} {row.name}")
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_no_part_of_any_message_makes_us_raise(row: Method, era: Literal["legacy", "modern"], seed: int) -> None:
    rng = random.Random(seed)
    sides = pair(era)
    sender, receiver = sides[row.sender], sides[row.sender.other]
    params = {**PARAMS.get(row.name, {}), **({"_meta": META} if era == "modern" else {})}
    for message in ({"id": 7}, {}):
        receiver.receive_data(line(method=row.name, params=changed(params, rng), **message))
    if row.kind is Kind.REQUEST:
        result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public", **RESULTS.get(row.name, {})}
        for request_id in range(500, 510):
            result["resultType"] = rng.choice(["complete", "input_required"])
            sender.send_raw(JSONRPCRequest(request_id, row.name, params), allow=ALL)
            sender.receive_data(line(id=request_id, result=changed(result, rng)))
    json.dumps([sender.snapshot(), receiver.snapshot()])
