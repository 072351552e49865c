"""The HTTP server under fire: whatever a client sends, and wherever its streams break."""

from __future__ import annotations

import json
from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_sansio import RequestReceived, SubscriptionOpened
from mcp_sansio import types as t
from mcp_sansio.http import Endpoint, Exchange, Headers, HTTPRequest
from mcp_sansio.http.headers import NAME_SOURCES, HeaderError, parameter_headers, request_headers
from mcp_sansio.jsonrpc import JSONRPCRequest, parse_message
from mcp_sansio.spec import CORE, Side

from .http_endpoint import HEADERS, RESULTS, Reader, Site
from .pair import (
    CAPABILITIES_KEY,
    EVERY,
    JSON,
    LEGACY,
    MODERN,
    VERSION_KEY,
    encode,
    modern,
    notification,
    request,
    result,
)
from .samples import PARAMS

quick = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))

# Any request at all

SESSION, OLD_SESSION = "s1", "s2"
"""The sessions that are open: one of 2025-11-25, and one of 2025-03-26."""

METHODS = sorted({row.name for row in CORE.methods if row.sender is Side.CLIENT})
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
ids = st.sampled_from([1, 2, "a", 0, "", -(2**63), *range(5, 15), None, 1.5, True])
LEGACY_METAS: list[JSON] = [None, {}, {"progressToken": 1}]
MODERN_METAS: list[JSON] = [
    *2 * [{VERSION_KEY: MODERN, CAPABILITIES_KEY: {}}],
    *2 * [{VERSION_KEY: MODERN, CAPABILITIES_KEY: {"elicitation": {}}, "progressToken": "p"}],
    {VERSION_KEY: MODERN},
    {VERSION_KEY: "v9", CAPABILITIES_KEY: {}},
    {VERSION_KEY: 5, CAPABILITIES_KEY: []},
]


@st.composite
def messages(draw: st.DrawFn, metas: list[JSON]) -> JSON:
    """A message that a client may send, or nearly."""
    kind = draw(st.sampled_from(["request"] * 6 + ["notification", "result", "value"]))
    if kind == "value":
        return draw(json_values)
    if kind == "result":
        return result(draw(ids), draw(json_values))
    method = draw(st.sampled_from([*METHODS, *METHODS, "none/such", "", "é"]))
    params: JSON = dict(PARAMS.get(method, {}))
    if draw(st.integers(0, 4)) == 4:
        params.update(draw(st.dictionaries(st.sampled_from([*params, "name", "uri", "cursor"]), json_values)))
    meta = draw(st.sampled_from(metas))
    if meta is not None:
        params["_meta"] = meta
    message = notification(method, params) if kind == "notification" else request(draw(ids), method, params)
    return {**message, **draw(st.sampled_from([*10 * [{}], {"jsonrpc": "1.0"}, {"params": []}, {"method": 5}]))}


bodies = st.one_of(
    st.binary(max_size=20),
    st.sampled_from([b"", b"[" * 10_000, b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', b"\xef\xbb\xbf{}"]),
)
any_text = st.text(st.characters(), max_size=8)
"""Lone surrogates too."""
header_names = st.sampled_from(
    [
        *("Host", "Origin", "Accept", "Content-Type", "Content-Length", "Mcp-Session-Id", "MCP-Protocol-Version"),
        *("Mcp-Method", "Mcp-Name", "Mcp-Param-N", "Last-Event-ID", "accept", "mcp-session-id"),
    ]
)
header_values = st.one_of(
    st.sampled_from([*HEADERS.values(), *EVERY, SESSION, OLD_SESSION, "s3", "get1-1", "post2-1", "1", "*/*", "null"]),
    st.sampled_from([*METHODS, *NAME_SOURCES, "add", "file:///a", "=?base64?YWRk?=", "=?base64?!?=", "", "ü", "\x00"]),
    any_text,
)
changes = st.lists(st.tuples(header_names, st.booleans(), header_values), max_size=2)
targets = st.sampled_from(["/mcp?sessionId=s3", "/mcp?sessionId=", "?", "//[", "", "*", "/\ud800\n"]) | any_text


@st.composite
def requests(draw: st.DrawFn) -> HTTPRequest:
    """A request that makes sense, and up to two things about it that need not."""
    headers = list(HEADERS.items())
    method = draw(st.sampled_from(["POST"] * 6 + ["GET", "DELETE"]))
    body: bytes = b""
    target = "/mcp"
    kind = draw(st.sampled_from(["modern", "session", "session", "old", "none", "raw"]))
    if kind in ("session", "none"):
        body = json.dumps(draw(messages(metas=LEGACY_METAS))).encode()
    elif kind == "old":
        target = draw(st.sampled_from(["/mcp", "/mcp?sessionId=s3"]))
        body = json.dumps(draw(st.lists(messages(metas=LEGACY_METAS), max_size=3))).encode()
    elif kind == "modern":
        message = draw(messages(metas=MODERN_METAS))
        body = json.dumps(message).encode()
        parsed = parse_message(message)
        if isinstance(parsed, JSONRPCRequest):
            with suppress(HeaderError):
                headers += request_headers(parsed, MODERN)
    else:
        body = draw(bodies)
    if kind in ("session", "old", "raw"):
        headers.append(("Mcp-Session-Id", OLD_SESSION if kind == "old" else SESSION))
    for name, replaces, value in draw(changes) if draw(st.booleans()) else ():
        headers = [(n, v) for n, v in headers if not replaces or n.lower() != name.lower()]
        headers.append((name, value))
    if draw(st.integers(0, 9)) == 9:
        method = draw(st.sampled_from(["PUT", "HEAD"]) | any_text)
    if draw(st.integers(0, 9)) == 9:
        target = draw(targets)
    return HTTPRequest(method, target, Headers(headers), body)


def site(kind: str) -> Site:
    """An endpoint with two sessions, and one of HTTP+SSE where it serves that."""
    if kind == "modern":
        return Site(revisions=[MODERN])
    made = Site(**{"legacy": {"revisions": LEGACY}, "both": {}}.get(kind, {"http_sse": True, "lenient_accept": True}))
    assert (made.open(), made.open("2025-03-26")) == (SESSION, OLD_SESSION)
    if kind == "all":
        made.send("GET", headers={"Content-Type": None})
    return made


def check(exchange: Exchange) -> None:
    """What holds of each exchange, and at its end."""
    connection = exchange.connection
    owed = [event for event in exchange.events if isinstance(event, RequestReceived | SubscriptionOpened)]
    assert exchange.response is not None or owed, "nobody will answer this"
    exchange.keep_alive()
    for event in owed:
        assert connection is not None
        if isinstance(event, SubscriptionOpened):
            connection.end_subscription(event.id)
        elif event.method in RESULTS:
            connection.respond(event.id, RESULTS[event.method])
        else:
            connection.respond_error(event.id, -32603, "cannot")
    response, body = exchange.response, exchange.data_to_send()
    assert response is not None
    assert 200 <= response.status < 500
    for name, value in response.headers:
        assert f"{name}{value}".isascii()
        assert f"{name}{value}".isprintable()
    if exchange.is_stream:
        assert response.status == 200
        assert response.headers.get("Content-Type") == "text/event-stream"
    elif body:
        assert exchange.finished
        assert response.headers.get("Content-Type") == "application/json"
        assert isinstance(json.loads(body), dict | list)
    else:
        assert response.status in (202, 204)
    for event in exchange.close():
        assert event is not None


@quick
@given(st.sampled_from(["modern", "legacy", "both", "all"]), st.lists(requests(), min_size=1, max_size=4))
def test_any_request_gets_a_response(kind: str, several: list[HTTPRequest]) -> None:
    made = site(kind)
    for each in several:
        refused = made.endpoint.receive_head(each)
        exchange = made.endpoint.receive_request(each)
        if refused is not None:
            assert refused.response == exchange.response
        check(exchange)
    for session in list(made.endpoint.sessions.values()):
        json.dumps(session.snapshot())
        session.close()


# Headers and body say the same

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "x-mcp-header": "N"},
        "b": {"type": "boolean", "x-mcp-header": "B"},
        "deep": {"type": "object", "properties": {"s": {"type": "string", "x-mcp-header": "S"}}},
    },
}
MIRRORING = Endpoint(
    t.Implementation("s", "1"),
    t.ServerCapabilities(
        tools=t.ToolsCapability(), prompts=t.PromptsCapability(), resources=t.ResourcesCapability(), completions={}
    ),
    revisions=[MODERN],
    tool_schema={"tool": SCHEMA, "tööl": SCHEMA}.get,
)
scalars = st.fixed_dictionaries(
    {},
    optional={
        "n": st.integers(-(2**53) + 1, 2**53 - 1) | st.none(),
        "b": st.booleans() | st.none(),
        "deep": st.fixed_dictionaries({}, optional={"s": st.text(st.characters(codec="utf-8"), max_size=8)}),
        "other": st.integers(),
    },
)


@st.composite
def mirrored(draw: st.DrawFn) -> tuple[JSON, list[tuple[str, str]]]:
    """A modern request, and the headers that say the same."""
    method = draw(st.sampled_from(["tools/call", "tools/call", "prompts/get", "resources/read", "tools/list"]))
    if method == "tools/call":
        params = {"name": draw(st.sampled_from(["tool", "tööl", "none"])), "arguments": draw(scalars)}
    elif method == "prompts/get":
        params = {"name": draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=8))}
    else:
        params = {"uri": "file:///ä b"} if method == "resources/read" else {}
    message = modern(1, method, params)
    known = method == "tools/call" and params["name"] != "none"
    parameters = parameter_headers(SCHEMA) if known else ()
    written = request_headers(JSONRPCRequest(1, method, message["params"]), MODERN, parameters)
    return message, written


def answer_to(message: JSON, headers: list[tuple[str, str]]) -> Exchange:
    given = Headers([*HEADERS.items(), *headers])
    return MIRRORING.receive_request(HTTPRequest("POST", "/mcp", given, encode(message)))


@quick
@given(mirrored(), st.data())
def test_any_mismatch_of_headers_and_body_is_refused(
    what: tuple[JSON, list[tuple[str, str]]], data: st.DataObject
) -> None:
    message, headers = what
    served = answer_to(message, headers)
    assert served.response is None, served.data_to_send()
    assert answer_to(message, [(name.upper(), f" {value}\t") for name, value in headers]).response is None
    index = data.draw(st.integers(0, len(headers) - 1))
    name, value = headers[index]
    other = data.draw(
        st.sampled_from(["", "x", "tools/call", "true", "=?base64??=", "=?base64?eA=?=", "ü", f"{value}x"])
    )
    before, after = headers[:index], headers[index + 1 :]
    wrong = [before + after]
    if other != value and not (name == "Mcp-Param-S" and other == "=?base64??=" and value == ""):
        wrong += [
            [*before, (name, other), *after],
            [*before, (name, value), (name, other), *after],
            [(name.lower(), other), *headers],
        ]
    for given_headers in wrong:
        refused = Reader(answer_to(message, given_headers))
        assert refused.status == 400
        answer = refused.message()
        assert (answer["error"]["code"], answer["id"]) == (-32020, 1)
