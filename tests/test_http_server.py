"""The server's end of Streamable HTTP: what is refused, statuses, sessions, and the streams that messages go to."""

from __future__ import annotations

import gc
import json
import weakref
from itertools import count
from typing import Any

import pytest

from mcp_sansio import (
    ConnectionClosed,
    Dropped,
    Limits,
    LocalProtocolError,
    NotificationReceived,
    Reason,
    RequestCancelled,
    RequestReceived,
    RequestTimedOut,
    ResponseIgnored,
    ResultReceived,
    Spec,
)
from mcp_sansio import types as t
from mcp_sansio.http import LOCAL_HOSTS, Endpoint, Exchange, Headers, HTTPRequest, HTTPResponse, MemoryEventStore
from mcp_sansio.http.headers import NAME_SOURCES, TASKS_NAME_SOURCES

from .http_endpoint import HEADERS, RESULTS, SMALL, Reader, Site, call, serve, tools_list
from .pair import (
    CAPABILITIES_KEY,
    EVERY,
    INFO,
    INITIALIZED,
    JSON,
    LEGACY,
    LOG_LEVEL_KEY,
    MODERN,
    SERVER_CAN,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
    case,
    encode,
    initialize,
    modern,
    notification,
    request,
    result,
)

STREAMABLE = [revision for revision in LEGACY if revision != "2024-11-05"]
BATCHING = "2025-03-26"
LATEST = "2025-11-25"


# What is refused before the body is read


def starts(**headers: str | None) -> list[Reader]:
    """A request of each era that is served, with these headers changed."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    mirrored = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "server/discover"}
    discover = json.dumps(modern(1, "server/discover")).encode()
    return [
        Site().send("POST", json.dumps(initialize()).encode(), named),
        Site().send("POST", discover, {**mirrored, **named}),
    ]


@case("http-124")
@pytest.mark.parametrize(
    ("accept", "strict", "lenient"),
    [
        ("*/*", 200, 200),
        (None, 200, 200),
        ("application/json, text/event-stream", 200, 200),
        ("text/event-stream,application/json", 200, 200),
        ("APPLICATION/JSON, Text/Event-Stream", 200, 200),
        ("application/json;q=0.9,text/event-stream;q=0.1", 200, 200),
        ("application/*, text/*", 200, 200),
        ("text/event-stream", 406, 200),
        ("application/json", 406, 200),
        ("text/*", 406, 200),
        ("application/json;q=0, text/event-stream", 406, 200),
        ("*/*, application/json;q=0", 406, 200),
        ("text/html", 406, 406),
        ("application/json;q=0", 406, 406),
        ("nonsense", 406, 406),
    ],
)
def test_accept(_case: str, accept: str | None, strict: int, lenient: int) -> None:
    assert [reader.status for reader in starts(Accept=accept)] == [strict, strict]
    reader = Site(lenient_accept=True).post(initialize(), Accept=accept)
    assert reader.status == lenient


@case("http-124")
@pytest.mark.parametrize(("accept", "status"), [("text/event-stream", 200), ("*/*", 200), ("application/json", 406)])
def test_accept_of_a_get(_case: str, accept: str, status: int) -> None:
    site = Site(lenient_accept=True)
    named = {"Mcp-Session-Id": site.open(), "Accept": accept}
    assert site.send("GET", headers=named).status == status


@case("http-125")
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
        ('application/json;charset="UTF-8"', 200),
        ("application/json;charset=latin-1", 415),
        ("application/jsonp", 415),
        ("text/plain", 415),
        ("application/json, application/json", 415),
        ("", 415),
        (None, 415),
    ],
)
def test_content_type(_case: str, kind: str | None, status: int) -> None:
    assert [reader.status for reader in starts(Content_Type=kind)] == [status, status]


HOSTS = [
    # Host, Origin, by the names of this machine, by example.com, by any
    ("localhost", None, 200, 403, 200),
    ("localhost:8000", "http://localhost:8000", 200, 403, 200),
    ("LOCALHOST", "http://127.0.0.1:1", 200, 403, 403),
    ("127.0.0.1:8000", "http://[::1]:8000", 200, 403, 403),
    ("[::1]:8000", "http://[::1]", 200, 403, 200),
    ("example.com", None, 403, 200, 200),
    ("example.com", "https://example.com", 403, 200, 200),
    ("example.com", "https://evil.example.com", 403, 403, 403),
    ("example.com", "https://friend.example.org", 403, 200, 200),
    ("evil.example.com", "https://evil.example.com", 403, 403, 200),
    ("example.com@evil.example.com", None, 403, 403, 200),
    ("localhost", "null", 403, 403, 403),
    ("localhost", "", 403, 403, 403),
    ("localhost", "localhost", 403, 403, 403),
    ("localhost", "http://[", 403, 403, 403),
    ("[", None, 403, 403, 200),
    ("[", "null", 403, 403, 403),
    (None, None, 200, 200, 200),
    (None, "http://localhost", 200, 403, 403),
]


@pytest.mark.parametrize(("host", "origin", *["local", "named", "open"]), HOSTS)
def test_host_and_origin(host: str | None, origin: str | None, local: int, named: int, open: int) -> None:
    friend = ["https://friend.example.org"]
    sites = [
        Site(),
        Site(hosts=["example.com"], origins=friend),
        Site(hosts=None, origins=friend),
    ]
    headers = {"Host": host, "Origin": origin}
    assert [site.post(initialize(), **headers).status for site in sites] == [local, named, open]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"hosts": "example.com"}, "write hosts=['example.com']"),
        ({"hosts": ["example.com:8000"]}, "not 'example.com:8000', write 'example.com'"),
        ({"hosts": ["https://Example.com/mcp"]}, "write 'example.com'"),
        ({"hosts": ["localhost", "[::1]"]}, "not '[::1]', write '::1'"),
        ({"hosts": ["[::1]:80"]}, "write '::1'"),
        ({"hosts": ["*"]}, "write 'example.com', or hosts=None for any"),
        ({"hosts": ["*.example.com"]}, "hosts=None for any"),
        ({"hosts": [""]}, "write 'example.com'"),
        ({"hosts": ["[:"]}, "write 'example.com'"),
        ({"origins": "https://a.com"}, "write origins=['https://a.com']"),
        ({"new_session_id": "abc"}, "is a function"),
        ({"new_session_id": "abc", "revisions": [MODERN]}, "is a function"),
    ],
)
def test_arguments_that_would_serve_nobody_are_refused(given: Any, hint: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        Site(**given)
    assert caught.value.reason is Reason.CONFIGURATION
    assert hint in str(caught.value)


@pytest.mark.parametrize("host", ["example.com", "EXAMPLE.com", "::1", "2001:DB8::1"])
def test_hosts_match_in_any_case(host: str) -> None:
    address = f"[{host}]" if ":" in host else host
    site = Site(hosts=(each for each in [host]))
    for written in (address.lower(), address.upper(), f"{address}:80"):
        assert site.send("DELETE", headers={"Host": written, "Origin": f"https://{written}"}).status == 400
    assert site.send("DELETE", headers={"Host": "localhost"}).status == 403


def test_a_host_or_origin_that_is_refused_is_named() -> None:
    error = Site().send("DELETE", headers={"Host": "Exämple.com:80"}).error
    assert error["message"] == r"Host 'Ex\xe4mple.com:80' is not served here: see Endpoint(hosts=...)"
    error = Site().send("DELETE", headers={"Origin": "http://" + "a" * 500}).error
    assert error["message"].startswith("Origin 'http://aaa")
    assert error["message"].endswith("aaa' is not allowed here: see Endpoint(origins=...)")
    assert len(error["message"]) < 150


@pytest.mark.parametrize("revision", EVERY)
def test_a_single_revision_may_be_given_as_it_is(revision: str) -> None:
    one, same = Site(revisions=revision), Site(revisions=[revision])
    for site in (one, same):
        assert ("result" in site.modern(1, "server/discover").message()) == (revision == MODERN)


@pytest.mark.parametrize(
    ("revisions", "text"), [(EVERY, "only POST, GET, DELETE are served"), (MODERN, "only POST is served")]
)
def test_a_method_that_is_not_served_hears_which_are(revisions: Any, text: str) -> None:
    assert Site(revisions=revisions).send("PUT").error["message"] == text


def test_all_hosts_and_origins_count() -> None:
    for name in ("Host", "Origin"):
        reader = Site().send("POST", encode(initialize()), [(name, "http://localhost"), (name, "http://evil.example")])
        assert reader.status == 403
    assert {"localhost", "127.0.0.1", "::1"} == LOCAL_HOSTS


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [({}, "POST, GET, DELETE"), ({"revisions": [MODERN]}, "POST"), ({"revisions": LEGACY}, "POST, GET, DELETE")],
)
@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "OPTIONS", "post", "", "\ud800", "x" * 100_000])
def test_methods_that_no_revision_has(settings: Any, allowed: str, method: str) -> None:
    reader = Site(**settings).send(method)
    assert (reader.status, reader.header("Allow")) == (405, allowed)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_methods_that_the_modern_revision_does_not_have(method: str) -> None:
    site = Site(revisions=[MODERN])
    reader = site.send(method, headers={"Mcp-Session-Id": "s1", "Last-Event-ID": "x"})
    assert (reader.status, reader.header("Allow")) == (405, "POST")


@pytest.mark.parametrize(
    ("lengths", "status"),
    [
        (["5"], None),
        (["5", "5"], None),
        (["2000"], None),
        (["2001"], 413),
        (["9" * 5000], 400),
        (["9" * 19], 413),
        (["5", "6"], 400),
        (["5, 5"], 400),
        (["-1"], 400),
        (["+5"], 400),
        (["5.0"], 400),
        (["\u0665"], 400),
        ([""], 400),
    ],
)
def test_the_length_is_judged_before_the_body_is_read(lengths: list[str], status: int | None) -> None:
    site = Site(limits=SMALL)
    headers = Headers([*HEADERS.items(), *(("Content-Length", each) for each in lengths)])
    exchange = site.endpoint.receive_head(HTTPRequest("POST", "/mcp", headers))
    assert (None if exchange is None else Reader(exchange).status) == status


def test_a_body_over_the_limit() -> None:
    site = Site(limits=SMALL)
    body = encode(initialize())
    assert site.send("POST", body + b" " * (2000 - len(body))).status == 200
    assert site.send("POST", body + b" " * (2001 - len(body))).status == 413


@pytest.mark.parametrize(
    ("body", "code", "id"),
    [
        (b"", -32700, None),
        (b"{", -32700, None),
        (b"\xff", -32700, None),
        (b'{"a":NaN}', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"null", -32600, None),
        (b"7", -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}', -32600, "a"),
    ],
)
@pytest.mark.parametrize("revisions", [EVERY, LEGACY, [MODERN]])
def test_what_cannot_be_read(revisions: Any, body: bytes, code: int, id: JSON) -> None:
    reader = Site(revisions=revisions).send("POST", body)
    message = reader.message()
    assert (reader.status, message["error"]["code"], message.get("id")) == (400, code, id)
    assert ("id" in message) == (id is not None)


# 2026-07-28


def test_a_request_is_answered_by_itself() -> None:
    site = Site()
    reader = site.modern("a", "tools/list")
    assert (reader.exchange.response, reader.exchange.finished) == (None, False)
    serve(reader)
    assert reader.status == 200
    assert reader.header("Content-Type") == "application/json"
    assert reader.message()["result"]["tools"] == []
    assert reader.header("Mcp-Session-Id") is None
    assert site.endpoint.sessions == {}


def test_discover_and_sessions_are_of_different_eras() -> None:
    reader = Site().modern(1, "server/discover", headers={"Mcp-Session-Id": "s9", "Last-Event-ID": "x"})
    assert reader.status == 200
    assert reader.message()["result"]["supportedVersions"] == [MODERN]
    assert reader.header("Mcp-Session-Id") is None


def test_a_request_with_messages_of_its_own_is_a_stream() -> None:
    reader = Site().modern(1, "tools/call", {"name": "add"}, **{"progressToken": "p", LOG_LEVEL_KEY: "info"})
    connection: Any = reader.exchange.connection
    connection.progress(1, 1, 2)
    assert (reader.status, reader.header("Content-Type")) == (200, "text/event-stream")
    assert (reader.header("X-Accel-Buffering"), reader.header("Cache-Control")) == ("no", "no-cache")
    assert [message["method"] for message in reader.messages()] == ["notifications/progress"]
    connection.log("info", "half way", related=1)
    serve(reader)
    assert [message.get("method", "answer") for message in reader.messages()] == ["notifications/message", "answer"]
    assert reader.exchange.finished
    assert {event.id for event in reader.events} == {None}


def test_a_client_that_goes_away_cancels_its_request() -> None:
    for begun in (False, True):
        reader = Site().modern("r", "tools/call", {"name": "add"}, progressToken="p")
        connection: Any = reader.exchange.connection
        if begun:
            reader.exchange.start_stream()
        events = reader.exchange.close()
        assert [type(event) for event in events] == [RequestCancelled, ConnectionClosed]
        assert (events[0].id, events[0].method) == ("r", "tools/call")
        assert isinstance(connection.progress("r", 1), Dropped)
        assert isinstance(connection.respond("r", RESULTS["tools/call"]), Dropped)
        assert reader.take() == []
        assert (reader.exchange.finished, reader.exchange.close()) == (True, [])


def test_an_endpoint_keeps_no_exchange_that_is_over() -> None:
    site = Site()
    ended, kept = [], []
    for number in range(3):
        reader = site.modern(1, "tools/list")
        if number == 0:
            serve(reader)
            assert reader.exchange.finished
        elif number == 1:
            reader.exchange.close()
        (kept if number == 2 else ended).append(weakref.ref(reader.exchange))
        del reader
    gc.collect()
    assert [reference() for reference in ended] == [None, None]
    assert kept[0]() is not None, "its application may still answer"


def test_a_client_that_goes_away_after_its_answer_cancels_nothing() -> None:
    reader = Site().modern(1, "tools/list")
    serve(reader)
    assert reader.exchange.close() == []


def test_input_is_required() -> None:
    site = Site()
    meta = {CAPABILITIES_KEY: {"elicitation": {}}}
    reader = site.modern(1, "tools/call", {"name": "add"}, **meta)
    form = t.ElicitRequestFormParams("Who?", t.RequestedSchema({"name": t.StringSchema()}))
    connection: Any = reader.exchange.connection
    connection.request_input(1, {"who": form}, "state")
    asked = reader.message()["result"]
    assert (asked["resultType"], asked["requestState"], list(asked["inputRequests"])) == (
        "input_required",
        "state",
        ["who"],
    )
    again = {"name": "add", "inputResponses": {"who": {"action": "decline"}}, "requestState": "state"}
    retry = site.modern(2, "tools/call", again, **meta)
    (event,) = retry.exchange.events
    assert isinstance(event, RequestReceived)
    assert event.request.request_state == "state"


STATUSES: list[tuple[str, JSON, dict[str, str | None], int, int]] = [
    # what, message, headers, status, code
    ("unknown method", modern(1, "none/such"), {}, 404, -32601),
    ("removed method", modern(1, "ping"), {}, 404, -32601),
    ("removed method", modern(1, "initialize", initialize()["params"]), {}, 404, -32601),
    ("undeclared", modern(1, "completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}}), {}, 404, -32601),
    ("bad params", modern(1, "tools/call", {"name": 5}), {}, 200, -32602),
    ("no _meta", request(1, "tools/list"), {"MCP-Protocol-Version": MODERN}, 400, -32602),
    ("no capabilities", request(1, "tools/list", {"_meta": {VERSION_KEY: MODERN}}), {}, 400, -32602),
    ("bad capabilities", modern(1, "tools/list", **{CAPABILITIES_KEY: []}), {}, 400, -32602),
    ("bad capabilities", modern(1, "tools/list", **{CAPABILITIES_KEY: {"roots": 5}}), {}, 200, -32602),
    ("no version", request(1, "tools/list", {"_meta": {CAPABILITIES_KEY: {}}}), {}, 400, -32602),
    ("version is no string", modern(1, "tools/list", **{VERSION_KEY: 5}), {}, 400, -32602),
    ("unlike versions", modern(1, "tools/list", **{VERSION_KEY: "v9"}), {"MCP-Protocol-Version": MODERN}, 400, -32020),
    ("unknown version", modern(1, "tools/list", **{VERSION_KEY: "v9"}), {"MCP-Protocol-Version": "v9"}, 400, -32022),
    ("older version", modern(1, "tools/list", **{VERSION_KEY: LATEST}), {"MCP-Protocol-Version": LATEST}, 400, -32022),
    ("no header", modern(1, "tools/list"), {"MCP-Protocol-Version": None}, 400, -32020),
    ("no header", modern(1, "tools/list"), {"Mcp-Method": None}, 400, -32020),
    ("other method", modern(1, "tools/list"), {"Mcp-Method": "tools/call"}, 400, -32020),
    ("other case", modern(1, "tools/list"), {"Mcp-Method": "Tools/list"}, 400, -32020),
    ("no name", modern(1, "tools/call", {"name": "add"}), {"Mcp-Name": None}, 400, -32020),
    ("other name", modern(1, "tools/call", {"name": "add"}), {"Mcp-Name": "sub"}, 400, -32020),
    ("bad base64", modern(1, "tools/call", {"name": "add"}), {"Mcp-Name": "=?base64?%?="}, 400, -32020),
]


@pytest.mark.parametrize(("_what", "message", "headers", "status", "code"), STATUSES)
def test_statuses_of_errors(_what: str, message: JSON, headers: Any, status: int, code: int) -> None:
    named = (message.get("params") or {}).get("name", "x")
    mirrored = {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
    if message["method"] == "tools/call":
        mirrored["Mcp-Name"] = named if isinstance(named, str) else None
    without = t.ServerCapabilities(tools=t.ToolsCapability())
    site = Site(capabilities=without if _what == "undeclared" else SERVER_CAN)
    reader = site.send("POST", encode(message), {**mirrored, **headers})
    answer = reader.message()
    assert (reader.status, answer["error"]["code"], answer["id"]) == (status, code, 1)
    if code == -32022:
        assert answer["error"]["data"] == {
            "supported": [MODERN],
            "requested": message["params"]["_meta"][VERSION_KEY],
        }


def test_a_capability_that_is_missing_is_a_status_of_its_own() -> None:
    reader = Site().modern(1, "tools/call", {"name": "add"})
    connection: Any = reader.exchange.connection
    connection.respond_missing_capability(1, t.ClientCapabilities(sampling=t.SamplingCapability()))
    assert (reader.status, reader.error["code"]) == (400, -32021)


def test_the_order_of_the_checks() -> None:
    """Each request is wrong in all that come after, too."""
    site = Site()
    wrong = modern(1, "none/such", **{VERSION_KEY: "v9"})
    no_meta = {**wrong, "params": {"_meta": {VERSION_KEY: "v9"}}}
    mismatch = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "x"}
    right = {"MCP-Protocol-Version": "v9", "Mcp-Method": "none/such"}
    codes = [
        site.send("POST", body, headers).error["code"]
        for body, headers in [
            (b"{", mismatch),
            (encode({**no_meta, "jsonrpc": "1.0"}), mismatch),
            (encode(no_meta), mismatch),
            (encode(wrong), mismatch),
            (encode(wrong), right),
            (encode(modern(1, "none/such")), {**right, "MCP-Protocol-Version": MODERN}),
        ]
    ]
    assert codes == [-32700, -32600, -32602, -32020, -32022, -32601]


@case("http-133")
def test_notifications_need_no_headers(_case: str) -> None:
    for message in (notification("notifications/cancelled", {"requestId": 1}), notification("x/y")):
        reader = Site(revisions=[MODERN]).post(message)
        assert (reader.status, reader.take()) == (202, [])
        assert [type(event) for event in reader.exchange.events] != []
    reader = Site(revisions=[MODERN]).post(notification("notifications/cancelled", {}))
    assert (reader.status, reader.error["code"]) == (400, -32600)


@case("http-133")
def test_names_are_decoded_before_they_are_compared(_case: str) -> None:
    site = Site()
    assert site.modern(1, "tools/call", {"name": "töól"}).exchange.response is None
    named = {"Mcp-Name": "=?base64?dMO2w7Zs?="}
    assert site.modern(1, "tools/call", {"name": "tööl"}, headers=named).exchange.response is None
    assert site.modern(1, "tools/call", {"name": "tööl "}, headers=named).status == 400


SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "x-mcp-header": "N"},
        "b": {"type": "boolean", "x-mcp-header": "B"},
        "s": {"type": "string", "x-mcp-header": "S"},
        "free": {"type": "string"},
    },
}


@case("http-134")
@pytest.mark.parametrize(
    ("arguments", "headers", "served"),
    [
        ({"n": 42}, {"Mcp-Param-N": "42"}, True),
        ({"n": 42}, {"Mcp-Param-N": "42.0"}, True),
        ({"n": 42}, {"mcp-param-n": "42"}, True),
        ({"n": 42}, {"Mcp-Param-N": "43"}, False),
        ({"n": 42}, {}, False),
        ({"b": True}, {"Mcp-Param-B": "true"}, True),
        ({"b": True}, {"Mcp-Param-B": "True"}, False),
        ({"s": "é"}, {"Mcp-Param-S": "=?base64?w6k=?="}, True),
        ({"s": "é"}, {"Mcp-Param-S": "é"}, False),
        ({"s": None}, {}, True),
        ({"s": None}, {"Mcp-Param-S": "x"}, False),
        ({}, {"Mcp-Param-S": "x"}, False),
        ({"free": "x"}, {}, True),
        ({"free": "x"}, {"Mcp-Param-Free": "y"}, True),
        ({}, {}, True),
    ],
)
def test_parameters_in_headers(_case: str, arguments: JSON, headers: Any, served: bool) -> None:
    site = Site(tool_schema={"t": SCHEMA}.get)
    reader = site.modern(1, "tools/call", {"name": "t", "arguments": arguments}, headers=headers)
    assert (reader.exchange.response is None) == served
    if not served:
        assert (reader.status, reader.error["code"]) == (400, -32020)


def test_parameters_of_tools_that_have_none() -> None:
    bad = {"type": "object", "properties": {"n": {"type": "number", "x-mcp-header": "N"}}}
    site = Site(tool_schema={"bad": bad}.get)
    for name in ("bad", "unknown"):
        call = {"name": name, "arguments": {"n": 1}}
        assert site.modern(1, "tools/call", call).exchange.response is None
        assert site.modern(1, "prompts/get", {"name": name}).exchange.response is None
    assert site.modern(1, "tools/call", {"name": 5}).status == 200


@case("http-166")
def test_names_of_tasks_are_needed_only_with_the_extension(_case: str) -> None:
    assert "tasks/get" not in NAME_SOURCES
    assert Site().modern(1, "tasks/get", {"taskId": "t"}).status == 404
    site = Site(name_sources={**NAME_SOURCES, **TASKS_NAME_SOURCES})
    assert site.modern(1, "tasks/get", {"taskId": "t"}).status == 400
    assert site.modern(1, "tasks/get", {"taskId": "t"}, headers={"Mcp-Name": "t"}).status == 404


@pytest.mark.parametrize("revisions", [EVERY, [MODERN]])
def test_clients_send_no_responses_and_no_batches(revisions: Any) -> None:
    for message in (result(1), [modern(1, "tools/list")], []):
        assert Site(revisions=revisions).post(message, MCP_Protocol_Version=MODERN).status == 400


def test_a_modern_server_tells_an_older_client_its_versions() -> None:
    reader = Site(revisions=[MODERN]).post(initialize())
    assert reader.status == 400
    error = reader.error
    assert (error["code"], error["data"]["supported"]) == (-32022, [MODERN])


def test_a_legacy_server_answers_the_probe_of_a_modern_client() -> None:
    reader = Site(revisions=LEGACY).modern(1, "server/discover")
    assert (reader.status, reader.error["code"]) == (200, -32601)
    assert Site(revisions=LEGACY).modern(1, "tools/list").status == 400


def test_requests_with_the_same_id_have_nothing_in_common() -> None:
    site = Site()
    session = site.open()
    readers = [
        site.modern(1, "tools/call", {"name": "add"}, progressToken="p"),
        site.modern(1, "tools/call", {"name": "add"}, progressToken="p"),
        site.post(call(1, token="p"), session),
        site.post(call(1, token="p"), site.open()),
    ]
    for number, reader in enumerate(readers):
        connection: Any = reader.exchange.connection
        connection.progress(1, number)
    readers[0].exchange.close()
    for reader in readers[1:]:
        serve(reader)
    assert readers[0].messages() == []
    for number, reader in enumerate(readers[1:], 1):
        progress, answer = reader.messages()
        assert (progress["params"]["progress"], answer["id"]) == (number, 1)


# Subscriptions


def listen(site: Site, request_id: JSON = "sub", **wanted: JSON) -> Reader:
    reader = site.modern(request_id, "subscriptions/listen", {"notifications": wanted})
    (acknowledged,) = reader.messages()
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    return reader


def test_changes_reach_those_who_asked() -> None:
    site = Site()
    tools, other = listen(site, 1, toolsListChanged=True), listen(site, 2, promptsListChanged=True)
    legacy = site.get(site.open())
    assert site.endpoint.publish(t.ToolListChangedNotification()) == 2
    (changed,) = tools.messages()
    assert changed["method"] == "notifications/tools/list_changed"
    assert changed["params"]["_meta"] == {SUBSCRIPTION_KEY: 1}
    assert [message["method"] for message in legacy.messages()] == ["notifications/tools/list_changed"]
    assert other.messages() == []
    tools.exchange.close()
    assert site.endpoint.publish(t.ToolListChangedNotification()) == 1


def test_a_subscription_is_kept_alive_by_comments() -> None:
    reader = listen(Site(), toolsListChanged=True)
    reader.exchange.keep_alive()
    data = reader.exchange.data_to_send()
    assert data.startswith(b":")
    assert data.endswith(b"\n")
    assert reader.exchange.data_to_send() == b""


def test_the_server_ends_streams_before_it_goes_down() -> None:
    site = Site()
    subscription, session = listen(site, toolsListChanged=True), site.open()
    listening, working, asked = site.get(session), site.post(call(1), session), site.modern(1, "tools/list")
    site.endpoint.end_streams()
    (ended,) = subscription.messages()
    assert ended["result"]["_meta"][SUBSCRIPTION_KEY] == "sub"
    assert (subscription.exchange.finished, listening.exchange.finished) == (True, True)
    for reader in (working, asked):
        serve(reader)
        assert reader.message()["id"] == 1
    assert list(site.endpoint.sessions) == [session]


# Sessions


@pytest.mark.parametrize("revision", LEGACY)
def test_a_session(revision: str) -> None:
    site = Site()
    opened = site.post(initialize("i", revision))
    assert opened.message()["result"]["protocolVersion"] == revision
    assert opened.header("Mcp-Session-Id") == "s1"
    assert [type(event).__name__ for event in opened.exchange.events] == ["RequestAnswered", "Negotiated"]
    accepted = site.post(INITIALIZED, "s1")
    assert (accepted.status, accepted.take(), accepted.header("Mcp-Session-Id")) == (202, [], None)
    assert [type(event) for event in accepted.exchange.events] == [NotificationReceived]
    listed = site.post(tools_list(2), "s1", MCP_Protocol_Version=revision)
    serve(listed)
    assert (listed.status, listed.header("Content-Type")) == (200, "application/json")
    assert listed.message() == result(2, {"tools": []})
    assert listed.header("Mcp-Session-Id") is None
    ended = site.delete("s1")
    assert (ended.status, ended.take()) == (204, [])
    assert [type(event) for event in ended.exchange.events] == [ConnectionClosed]
    assert site.post(tools_list(3), "s1").status == 404
    assert site.delete("s1").status == 404


@case("session-139")
def test_sessions_that_are_not_there(_case: str) -> None:
    site = Site()
    site.open()
    for method, body in (("POST", encode(tools_list())), ("GET", b""), ("DELETE", b"")):
        assert site.send(method, body).status == 400
        assert site.send(method, body, {"Mcp-Session-Id": "s2"}).status == 404
    assert site.post(INITIALIZED).status == 400
    assert site.post(result(1)).status == 400


@case("session-142", "session-143")
@pytest.mark.parametrize(
    "values",
    [["{}x y"], ["s1", "s1"], ["s1 s1"], ["s\x7f"], ["sé"], ["s" * 10_000], [""], ["s1,"], ["S1"], ["s1\0"]],
)
def test_session_ids_that_are_none(_case: str, values: list[str]) -> None:
    site = Site()
    assert site.open() == "s1"
    named = [("mcp-session-id", value) for value in values]
    for method, body in (("POST", encode(tools_list())), ("GET", b""), ("DELETE", b"")):
        assert site.send(method, body, named).status in (400, 404)
    assert site.send("POST", encode(tools_list()), [("mcp-SESSION-id", " s1\t")]).exchange.response is None


@case("session-145")
def test_a_second_initialize_tells_no_session_id(_case: str) -> None:
    site = Site()
    for session, status in (("guess", 404), (site.open(), 400)):
        reader = site.post(initialize(7), session)
        assert (reader.status, reader.header("Mcp-Session-Id")) == (status, None)
    assert len(site.endpoint.sessions) == 1


def test_an_initialize_that_is_refused_opens_no_session() -> None:
    site = Site()
    for params in ({"protocolVersion": 5}, {"capabilities": None}):
        reader = site.post(initialize(**{"revision": LATEST, **params}))
        assert (reader.error["code"], reader.header("Mcp-Session-Id")) == (-32602, None)
    assert site.endpoint.sessions == {}


def test_an_initialize_that_the_application_answers() -> None:
    for good in (True, False):
        site = Site(connection_options={"manual": {"initialize"}})
        reader = site.post(initialize())
        connection: Any = reader.exchange.connection
        reader.exchange.keep_alive()
        reader.exchange.start_stream()
        assert reader.exchange.response is None, "the session's id goes with the result only"
        if good:
            connection.respond(1, t.InitializeResult(LATEST, t.ServerCapabilities(), INFO))
        else:
            connection.respond_error(1, -32603, "not today")
        assert (reader.status, reader.header("Mcp-Session-Id")) == (200, "s1" if good else None)
        assert reader.message()["id"] == 1


@case("version-071", "version-074")
@pytest.mark.parametrize("revision", STREAMABLE)
@pytest.mark.parametrize(
    ("named", "good"),
    [
        (None, True),
        *((version, True) for version in LEGACY),
        ("1900-01-01", False),
        ("not-a-version", False),
        ("2025-06-18, 2025-11-25", False),
        ("", False),
    ],
)
def test_the_version_header_of_a_session(_case: str, revision: str, named: str | None, good: bool) -> None:
    site = Site()
    session = site.open(revision)
    headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": named}
    for method, body in (("POST", encode(tools_list())), ("POST", encode(result(9))), ("GET", b""), ("DELETE", b"")):
        response = site.send(method, body, headers).exchange.response
        assert (response is None or response.status < 300) == good


def test_two_version_headers() -> None:
    site = Site()
    session = site.open()
    named = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", LATEST), ("MCP-Protocol-Version", "1900-01-01")]
    assert site.send("POST", encode(tools_list()), named).status == 400


@case("version-067", "version-068")
def test_initialize_negotiates_in_its_body_whatever_the_header(_case: str) -> None:
    for header in (None, LATEST, "1900-01-01"):
        for asked, agreed in [*((each, each) for each in LEGACY), ("1900-01-01", LATEST), ("2025-12-01", LATEST)]:
            reader = Site().post(initialize(revision=asked), MCP_Protocol_Version=header)
            assert reader.message()["result"]["protocolVersion"] == agreed


@case("version-076")
def test_a_modern_request_that_fails_leaves_nothing_behind(_case: str) -> None:
    site = Site()
    header = {"MCP-Protocol-Version": "2099-01-01"}
    refused = site.modern(1, "server/discover", headers=header, **{VERSION_KEY: "2099-01-01"})
    assert refused.error["code"] == -32022
    session = site.open()
    serve(listed := site.post(tools_list(), session))
    assert listed.message()["result"] == {"tools": []}


@case("version-077")
def test_a_method_that_no_revision_has_needs_no_session(_case: str) -> None:
    site = Site(revisions=LEGACY)
    for method in ("server/discover", "none/such"):
        reader = site.post(request("p", method))
        assert (reader.status, reader.message()["error"]["code"]) == (200, -32601)


@case("http-131")
def test_an_unknown_method_in_a_session_is_no_404(_case: str) -> None:
    site = Site()
    reader = site.post(request(5, "none/such"), site.open())
    assert (reader.status, reader.message()["error"]["code"]) == (200, -32601)
    assert Site().modern(1, "none/such").status == 404


@case("http-127")
def test_what_needs_no_answer_is_accepted_without_a_body(_case: str) -> None:
    site = Site()
    session = site.open(capabilities={"roots": {}})
    connection = site.endpoint.sessions[session].connection
    handle = connection.request(t.ListRootsRequest())
    for message, kinds in (
        (notification("notifications/cancelled", {"requestId": 77}), [NotificationReceived]),
        (result(handle.id, {"roots": []}), [ResultReceived]),
        (result(99), [ResponseIgnored]),
    ):
        reader = site.post(message, session)
        assert (reader.status, reader.header("Content-Type"), reader.take()) == (202, None, [])
        assert [type(event) for event in reader.exchange.events] == kinds


def test_what_cannot_be_accepted_is_an_error_without_an_id() -> None:
    site = Site()
    reader = site.post(notification("notifications/progress", {}), site.open())
    message = reader.message()
    assert (reader.status, message["error"]["code"], "id" in message) == (400, -32600, False)


def test_an_id_in_flight_is_not_taken_twice() -> None:
    site = Site()
    session = site.open(BATCHING)
    first = site.post(tools_list(5), session)
    for message in (tools_list(5), [tools_list(6), tools_list(6)], [tools_list(5)]):
        reader = site.post(message, session)
        assert (reader.status, reader.error["code"]) == (400, -32600)
    serve(first)
    assert first.message()["id"] == 5
    for request_id in ("5", 6):
        assert site.post(tools_list(request_id), session).exchange.response is None


# Batches


def test_a_batch_is_answered_by_one_response() -> None:
    site = Site()
    session = site.open(BATCHING)
    batch = [tools_list(1), request(2, "ping"), INITIALIZED, 5, call(3)]
    reader = site.post(batch, session)
    assert reader.exchange.response is None
    serve(reader)
    answers = reader.message()
    assert sorted(str(answer["id"]) for answer in answers) == ["1", "2", "3", "None"]
    assert reader.status == 200


@pytest.mark.parametrize("revision", [revision for revision in LEGACY if revision != BATCHING])
def test_batches_are_of_one_revision(revision: str) -> None:
    site = Site()
    session = site.open(revision)
    reader = site.post([tools_list(1)], session)
    assert (reader.status, reader.error["code"]) == (400, -32600)
    assert Site(revisions=[revision]).post([tools_list(1)]).status == 400
    assert Site().post([initialize()]).status == 400


@pytest.mark.parametrize(
    ("batch", "status"), [([result(9)], 202), ([result(9), result(1)], 202), ([5], 400), ([], 400), ([5, {}], 400)]
)
def test_a_batch_without_requests(batch: JSON, status: int) -> None:
    site = Site()
    session = site.open(BATCHING)
    listening = site.get(session)
    reader = site.post(batch, session)
    assert reader.status == status
    assert reader.exchange.finished
    assert listening.messages() == [], "an answer is no message for a stream that listens"
    listening.exchange.close()
    site.post(batch, session)
    assert site.get(session).messages() == []


def test_a_batch_of_which_all_are_cancelled() -> None:
    site = Site()
    session = site.open(BATCHING)
    reader, listening = site.post([5, tools_list(1), tools_list(2)], session), site.get(session)
    for request_id in (1, 2):
        site.post(notification("notifications/cancelled", {"requestId": request_id}), session)
    assert reader.exchange.finished
    assert listening.messages() == []


# Streams of sessions


def test_one_message_is_json_and_several_are_a_stream() -> None:
    site = Site(event_store=None)
    session = site.open()
    reader = site.post(call(1, token="p"), session)
    connection: Any = reader.exchange.connection
    connection.progress(1, 1)
    serve(reader)
    assert reader.header("Content-Type") == "text/event-stream"
    assert [message.get("id") for message in reader.messages()] == [None, 1]
    assert reader.exchange.finished


def test_each_message_goes_to_one_stream() -> None:
    site = Site()
    session = site.open(capabilities={"roots": {}, "sampling": {}})
    one, two = site.post(call(1, token="one"), session), site.post(call(2, token="two"), session)
    first, second = site.get(session), site.get(session)
    connection: Any = one.exchange.connection
    connection.progress(1, 1)
    connection.request(t.ListRootsRequest(), related=2)
    connection.notify(t.ToolListChangedNotification())
    connection.request(t.ListRootsRequest())
    connection.log("info", "x", related=1)
    methods = [[message["method"] for message in reader.messages()] for reader in (one, two, first, second)]
    assert methods == [
        ["notifications/progress", "notifications/message"],
        ["roots/list"],
        [],
        ["notifications/tools/list_changed", "roots/list"],
    ]


def test_what_belongs_to_no_request_waits_for_a_stream() -> None:
    site = Site()
    session = site.open()
    connection = site.endpoint.sessions[session].connection
    for number in range(1100):
        connection.notify(t.LoggingMessageNotification("info", number))
        site.endpoint.sessions[session].distribute()
    data = [message["params"]["data"] for message in site.get(session).messages()]
    assert data == list(range(100, 1100))
    assert site.get(session).messages() == []


def test_a_client_that_goes_away_cancels_nothing() -> None:
    site = Site(event_store=None)
    session = site.open()
    reader = site.post(call(1), session)
    assert reader.exchange.close() == []
    assert reader.exchange.finished
    serve(reader)
    listening = site.get(session)
    assert listening.messages() == [], "an answer belongs to its own stream"
    assert listening.exchange.close() == []
    site.endpoint.publish(t.ToolListChangedNotification())
    assert len(site.get(session).messages()) == 1


def test_a_request_that_the_client_cancels_ends_its_stream() -> None:
    for begun in (False, True):
        site = Site()
        session = site.open()
        reader = site.post(call(1), session)
        if begun:
            reader.exchange.start_stream()
        cancel = site.post(notification("notifications/cancelled", {"requestId": 1}), session)
        assert [type(event) for event in cancel.exchange.events] == [RequestCancelled]
        assert (reader.exchange.finished, reader.status) == (True, 200 if begun else 202)
        assert reader.messages() == []


def test_input_is_asked_for_on_the_stream_of_the_request() -> None:
    site = Site()
    session = site.open(capabilities={"elicitation": {}})
    reader, listening = site.post(call(1), session), site.get(session)
    connection: Any = reader.exchange.connection
    form = t.ElicitRequestFormParams("Who?", t.RequestedSchema({"name": t.StringSchema()}))
    connection.request_input(1, {"who": form}, "state")
    (asked,) = reader.messages()
    assert asked["method"] == "elicitation/create"
    answer = site.post(result(asked["id"], {"action": "accept", "content": {"name": "Ada"}}), session)
    assert answer.status == 202
    serve(answer)
    assert [message["id"] for message in reader.messages()] == [1]
    assert listening.messages() == []


def test_a_request_is_taken_back_on_the_stream_that_brought_it() -> None:
    site, there = Site(), Site()
    session = site.open(capabilities={"roots": {}})
    reader, listening = site.post(call(1), session), site.get(session)
    connection: Any = reader.exchange.connection
    handles = [connection.request(t.ListRootsRequest(), related=related) for related in (1, 1, None)]
    for handle in (handles[0], handles[2]):
        connection.cancel(handle.id)
    methods = [[message["method"] for message in each.messages()] for each in (reader, listening)]
    assert methods == [
        ["roots/list", "roots/list", "notifications/cancelled"],
        ["roots/list", "notifications/cancelled"],
    ]
    moved(site, session, there)
    there.endpoint.sessions[session].connection.cancel(handles[1].id)
    moved(there, session, site)
    assert [message["method"] for message in reader.messages()] == ["notifications/cancelled"]
    assert listening.messages() == []


def test_requests_of_the_server_time_out() -> None:
    site = Site()
    session = site.open(capabilities={"roots": {}})
    connection = site.endpoint.sessions[session].connection
    assert site.endpoint.next_deadline() is None
    connection.request(t.ListRootsRequest(), timeout=5, now=10.0)
    assert site.endpoint.next_deadline() == 15.0
    with pytest.raises(LocalProtocolError, match="now"):
        site.post(tools_list(), session)
    assert site.endpoint.sessions[session].snapshot(now=11.0)["streams"] == []
    site.now = 11.0
    assert site.post(tools_list(), session).exchange.response is None
    assert site.endpoint.handle_timeout(14.0) == []
    ((ended_on, event),) = site.endpoint.handle_timeout(15.0)
    assert ended_on is connection
    assert isinstance(event, RequestTimedOut)


# Streams that clients come back to


@case("sse-117")
@pytest.mark.parametrize("revision", STREAMABLE)
def test_only_clients_that_know_them_get_primes(_case: str, revision: str) -> None:
    site = Site()
    session = site.open(revision)
    readers = [site.get(session), site.post(call(1), session)]
    readers[1].exchange.start_stream()
    for reader in readers:
        primes = [(event.data, event.id is not None) for event in reader.take()]
        assert primes == ([("", True)] if revision == LATEST else [])
    serve(readers[1])
    (answer,) = readers[1].take()
    assert answer.id is not None


def test_no_primes_without_a_store_and_none_in_the_modern_revision() -> None:
    site = Site(event_store=None)
    readers = [site.get(site.open()), site.modern(1, "tools/call", {"name": "add"})]
    for reader in readers:
        reader.exchange.start_stream()
        assert (reader.take(), reader.status) == ([], 200)


@pytest.mark.parametrize("revision", STREAMABLE)
def test_a_client_comes_back_for_the_rest_of_a_stream(revision: str) -> None:
    site = Site()
    session = site.open(revision)
    reader = site.post(call(1, token="p"), session)
    other = site.post(call(2, token="q"), session)
    connection: Any = reader.exchange.connection
    connection.progress(1, 1)
    seen = reader.take()[-1].id
    connection.progress(1, 2)
    connection.progress(2, 1)
    reader.exchange.close()
    connection.progress(1, 3)
    back = site.get(session, seen)
    assert [message["params"]["progress"] for message in back.messages()] == [2, 3]
    connection.progress(1, 4)
    serve(reader)
    assert [message.get("id", "progress") for message in back.messages()] == ["progress", 1]
    assert back.exchange.finished
    assert [message["params"]["progressToken"] for message in other.messages()] == ["q"]
    again = site.get(session, seen)
    assert [message.get("id", "progress") for message in again.messages()] == ["progress"] * 3 + [1]
    assert again.exchange.finished
    assert site.get(session, again.events[-1].id).status == 400, "there is nothing after the answer"


def test_a_client_comes_back_before_we_know_that_it_went() -> None:
    site = Site()
    session = site.open()
    for reader in (site.get(session), site.post(call(1), session)):
        reader.exchange.start_stream()
        back = site.get(session, reader.take()[0].id)
        assert (reader.exchange.finished, reader.exchange.close()) == (True, [])
        assert not back.exchange.finished
        if reader.exchange.events:
            serve(reader)
        else:
            site.endpoint.publish(t.ToolListChangedNotification())
        assert len(back.messages()) == 1
        assert reader.take() == []


def test_a_stream_that_listens_is_taken_up_again() -> None:
    site = Site()
    session = site.open()
    reader = site.get(session)
    (primed,) = reader.take()
    site.endpoint.publish(t.ToolListChangedNotification())
    reader.exchange.data_to_send()  # and lost on the way
    reader.exchange.close()
    site.endpoint.publish(t.PromptListChangedNotification())
    back = site.get(session, primed.id)
    methods = [message["method"] for message in back.messages()]
    assert methods == ["notifications/tools/list_changed", "notifications/prompts/list_changed"]
    assert not back.exchange.finished


def test_events_of_other_sessions_and_unknown_ones_are_refused() -> None:
    site = Site()
    mine, other = site.open(), site.open()
    seen = site.get(mine).take()[0].id
    assert seen is not None
    for event_id in ("none", "get1-99", "é", "x" * 10_000):
        assert site.get(mine, event_id).status == 400
    assert site.get(other, seen).status == 400
    assert site.get(mine, "").status == 200, "an empty id names no event"
    assert Site(event_store=None).open() == "s1"
    without = Site(event_store=None)
    assert without.get(without.open(), seen).status == 400


def test_pausing_a_stream() -> None:
    site = Site()
    session = site.open()
    reader = site.post(call(1), session)
    reader.exchange.pause(retry=250)
    assert (reader.exchange.finished, reader.status) == (True, 200)
    primed, paused = reader.take()
    assert (primed.data, paused.data, reader.retry) == ("", "", 250)
    reader.exchange.pause(retry=500)
    assert reader.take() == []
    serve(reader)
    back = site.get(session, primed.id)
    assert back.message()["id"] == 1


def test_streams_that_cannot_be_paused_go_on() -> None:
    for site, revision in ((Site(event_store=None), LATEST), (Site(), "2025-06-18")):
        reader = site.post(call(1), site.open(revision))
        reader.exchange.pause(retry=250)
        assert not reader.exchange.finished
        serve(reader)
        assert [message["id"] for message in reader.messages()] == [1]
        reader.exchange.pause(retry=250)
        assert reader.take() == []
    reader = Site().modern(1, "tools/list")
    reader.exchange.pause(retry=250)
    assert reader.exchange.response is None


def test_the_store_forgets() -> None:
    store = MemoryEventStore(events_per_session=3)
    ids = [store.append("s", f"stream{number % 2}", b"%d" % number) for number in range(6)]
    assert len(set(ids)) == 6
    assert store.replay("s", ids[0]) is None
    replay = store.replay("s", ids[3])
    assert replay is not None
    assert (replay.stream, [data for _, data in replay.events]) == ("stream1", [b"5"])
    assert store.replay("t", ids[3]) is None
    store.forget("s")
    assert store.replay("s", ids[3]) is None


# Clients that take only one kind of response


def test_a_client_that_takes_no_streams() -> None:
    site = Site(lenient_accept=True)
    session = site.open(capabilities={"roots": {}})
    plain = {"Accept": "application/json"}
    reader = site.send("POST", encode(call(1, token="p")), {"Mcp-Session-Id": session, **plain})
    connection: Any = reader.exchange.connection
    connection.progress(1, 1)
    reader.exchange.keep_alive()
    reader.exchange.pause(retry=1)
    assert reader.exchange.response is None
    serve(reader)
    assert reader.message()["id"] == 1
    assert [message["method"] for message in site.get(session).messages()] == ["notifications/progress"]

    reader = site.modern(1, "tools/call", {"name": "add"}, headers=plain, progressToken="p")
    connection = reader.exchange.connection
    connection.progress(1, 1)
    serve(reader)
    assert reader.message()["id"] == 1
    refused = site.modern(1, "subscriptions/listen", {"notifications": {}}, headers=plain)
    assert (refused.status, refused.message()["id"]) == (406, 1)


def test_a_client_that_takes_nothing_but_streams() -> None:
    site = Site(lenient_accept=True)
    stream = {"Accept": "text/event-stream"}
    opened = site.send("POST", encode(initialize()), stream)
    assert (opened.header("Content-Type"), opened.header("Mcp-Session-Id")) == ("text/event-stream", "s1")
    assert opened.message()["result"]["protocolVersion"] == LATEST
    for reader in (
        site.send("POST", encode(tools_list()), {"Mcp-Session-Id": "s1", **stream}),
        site.modern(1, "tools/list", headers=stream),
    ):
        serve(reader)
        assert reader.header("Content-Type") == "text/event-stream"
        assert [json.loads(event.data)["id"] for event in reader.take() if event.data] == [1]
        assert reader.exchange.finished


# Clients that don't read


def test_a_client_that_does_not_read_loses_its_response() -> None:
    site = Site(limits=Limits(queued_bytes=1000))
    session = site.open()
    working, listening, asked = (
        site.post(call(1, token="p"), session),
        site.get(session),
        site.modern(1, "tools/call", {"name": "add"}, progressToken="p"),
    )
    subscription = site.modern(2, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    (primed,) = listening.take()
    for number in range(20):
        for reader in (working, asked):
            connection: Any = reader.exchange.connection
            connection.progress(1, number)
            assert reader.exchange.is_stream
        site.endpoint.publish(t.ToolListChangedNotification())
    for reader in (working, listening, asked, subscription):
        assert (reader.exchange.finished, reader.take()) == (True, [])
    ended = [[type(event) for event in reader.exchange.close()] for reader in (working, listening, asked, subscription)]
    assert ended == [[], [], [RequestCancelled, ConnectionClosed], [RequestCancelled, ConnectionClosed]]
    assert len(site.get(session, primed.id).messages()) == 20, "what was kept is not lost"


# Sessions, how many and which


def test_the_session_that_was_silent_for_longest_makes_way() -> None:
    site = Site(most_sessions=3)
    one, two, three = (site.open() for _ in range(3))
    site.get(one)
    serve(asked := site.post(tools_list(9), three))
    asked.take()
    site.post(result(9), two)
    assert site.endpoint.next_deadline() is None
    site.open()
    assert sorted(site.endpoint.sessions) == ["s1", "s2", "s4"]
    assert site.endpoint.next_deadline() == float("-inf")
    ((connection, event),) = site.endpoint.handle_timeout(0.0)
    assert isinstance(event, ConnectionClosed)
    assert connection is asked.exchange.connection
    assert site.endpoint.handle_timeout(0.0) == []
    site.open()
    assert sorted(site.endpoint.sessions) == ["s1", "s4", "s5"]
    for session in ("s4", "s5"):
        site.get(session)
    site.open()
    assert sorted(site.endpoint.sessions) == ["s4", "s5", "s6"], "if all are in use, too"


@pytest.mark.parametrize("session_id", ["", "a b", "é", "a\n", "x" * 2000])
def test_session_ids_of_the_application_are_checked(session_id: str) -> None:
    site = Site(new_session_id=lambda: session_id)
    with pytest.raises(LocalProtocolError, match="visible ASCII") as caught:
        site.post(initialize())
    assert caught.value.reason is Reason.CONFIGURATION


def test_a_session_id_is_not_given_twice() -> None:
    site = Site(new_session_id=lambda: "same")
    assert site.open() == "same"
    with pytest.raises(LocalProtocolError, match="never the same"):
        site.post(initialize())


def test_the_server_ends_a_session() -> None:
    store = MemoryEventStore()
    site = Site(event_store=store)
    session = site.open()
    reader, listening = site.post(call(1), session), site.get(session)
    (primed,) = listening.take()
    assert store.replay(session, primed.id or "") is not None
    assert [type(event) for event in site.endpoint.end_session(session)] == [ConnectionClosed]
    assert site.endpoint.end_session(session) == []
    assert store.replay(session, primed.id or "") is None
    assert (reader.status, reader.error["code"], reader.exchange.finished) == (404, -32600, True)
    assert (listening.status, listening.exchange.finished) == (200, True)
    assert site.post(tools_list(), session).status == 404
    assert site.endpoint.publish(t.ToolListChangedNotification()) == 0


def test_arguments_that_contradict_each_other() -> None:
    with pytest.raises(LocalProtocolError, match="new_session_id"):
        Endpoint(INFO)
    with pytest.raises(LocalProtocolError, match="revisions"):
        Endpoint(INFO, revisions=[])
    assert Endpoint(INFO, revisions=[MODERN], instructions="Be kind").sessions == {}


def test_instructions_reach_clients_of_both_eras() -> None:
    site = Site(instructions="Be kind")
    assert site.post(initialize()).message()["result"]["instructions"] == "Be kind"
    assert site.modern(1, "server/discover").message()["result"]["instructions"] == "Be kind"


def test_methods_of_the_application_need_a_spec() -> None:
    assert Site(spec=Spec()).post(initialize()).status == 200


# HTTP+SSE of 2024-11-05


def test_http_sse() -> None:
    site = Site(http_sse=True, numbers=count(7))
    stream = site.send("GET", headers={"Content-Type": None}, target="/a/mcp?x=1")
    (endpoint,) = stream.take()
    assert (endpoint.event, endpoint.data, endpoint.id) == ("endpoint", "/a/mcp?sessionId=s7", None)
    for message in (initialize(1, "2024-11-05"), INITIALIZED, call(2, token="p")):
        posted = site.send("POST", encode(message), target=endpoint.data)
        assert (posted.status, posted.take()) == (202, [])
    connection: Any = posted.exchange.connection
    connection.progress(2, 1)
    serve(posted)
    events = stream.take()
    assert {event.event for event in events} == {"message"}
    assert [json.loads(event.data).get("id") for event in events] == [1, None, 2]
    assert site.send("POST", encode(notification("notifications/cancelled", {})), target=endpoint.data).status == 202
    stream.exchange.keep_alive()
    assert stream.exchange.data_to_send().startswith(b":")
    stream.exchange.pause(retry=1)
    assert not stream.exchange.finished
    assert [type(event) for event in stream.exchange.close()] == [ConnectionClosed]
    assert site.endpoint.sessions == {}
    assert site.send("POST", encode(call(3)), target=endpoint.data).status == 400


@pytest.mark.parametrize(
    ("target", "path"),
    [("/a b/%20", "/a%20b/%20"), ("/a\nevent: x", "/a%0Aevent:%20x"), ("//[", "//%5B"), ("/\ud800ä?q", "/%3F%C3%A4")],
)
def test_the_endpoint_of_an_odd_target(target: str, path: str) -> None:
    (endpoint,) = Site(http_sse=True).send("GET", headers={"Content-Type": None}, target=target).take()
    assert (endpoint.event, endpoint.data) == ("endpoint", f"{path}?sessionId=s1")
    assert Site(http_sse=True).send("POST", encode(tools_list()), target=target).status == 400


def test_the_sessions_of_http_sse_end_with_their_streams() -> None:
    site = Site(http_sse=True)
    streams = [site.send("GET", headers={"Content-Type": None}) for _ in range(2)]
    site.endpoint.end_streams()
    assert all(stream.exchange.finished for stream in streams)
    assert not site.endpoint.sessions


def test_sessions_of_the_two_transports_are_apart() -> None:
    site = Site(http_sse=True)
    old = site.send("GET", headers={"Content-Type": None})
    assert old.take()[0].data.endswith("s1")
    new = site.open()
    assert site.post(tools_list(), "s1").status == 404
    assert site.delete("s1").status == 404
    for target in ("/mcp?sessionId=s2", "/mcp?sessionId=none", "/mcp?sessionId=s1&sessionId=s1", "/mcp"):
        assert site.send("POST", encode(tools_list()), target=target).status == 400
    assert site.post(tools_list(), new).exchange.response is None
    assert Site().send("GET", headers={"Content-Type": None}).status == 400
    closed = Site()
    assert closed.send("POST", encode(initialize()), target="/mcp?sessionId=s1").header("Mcp-Session-Id") == "s1"


# Sessions in a store of the user's


def moved(site: Site, session: str, to: Site) -> None:
    """Let another endpoint take up a session, by way of JSON."""
    data = json.loads(json.dumps(site.endpoint.sessions[session].snapshot(now=site.now)))
    to.endpoint.restore_session(data, now=to.now)


def test_any_server_can_take_the_next_request() -> None:
    store = MemoryEventStore()
    here, there = Site(event_store=store), Site(event_store=store)
    session = here.open(capabilities={"sampling": {}})
    working = here.post(call(1, token="p"), session)
    here.get(session)
    working.exchange.start_stream()
    moved(here, session, there)
    serve(listed := there.post(tools_list(2), session))
    assert listed.message()["id"] == 2
    connection = there.endpoint.sessions[session].connection
    connection.progress(1, 1)
    connection.notify(t.ToolListChangedNotification())
    moved(there, session, here)
    assert [message["method"] for message in working.messages()] == ["notifications/progress"]
    assert working.exchange.connection is here.endpoint.sessions[session].connection
    serve(working)
    assert working.message()["id"] == 1


def test_what_another_server_says_reaches_the_streams_that_are_open_here() -> None:
    for begun in (False, True):
        store = MemoryEventStore()
        here, there = Site(event_store=store), Site(event_store=store)
        session = here.open()
        working, listening = here.post(call(1, token="p"), session), here.get(session)
        if begun:
            working.exchange.start_stream()
        listening.take()
        moved(here, session, there)
        connection = there.endpoint.sessions[session].connection
        connection.progress(1, 1)
        there.endpoint.publish(t.ToolListChangedNotification())
        connection.respond(1, RESULTS["tools/call"])
        moved(there, session, here)
        assert [message.get("id") for message in working.messages()] == [None, 1]
        assert working.exchange.finished
        assert [message["method"] for message in listening.messages()] == ["notifications/tools/list_changed"]
        moved(here, session, there)
        assert there.endpoint.sessions[session].snapshot()["streams"] == []


def test_a_client_comes_back_to_another_server() -> None:
    store = MemoryEventStore()
    here, there = Site(event_store=store), Site(event_store=store)
    session = here.open()
    working = here.post(call(1, token="p"), session)
    working.exchange.start_stream()
    primed = working.take()[0].id
    moved(here, session, there)
    connection = there.endpoint.sessions[session].connection
    connection.progress(1, 1)
    assert unsent(there, session) == [1]
    back = there.get(session, primed)
    assert unsent(there, session) == [0]
    connection.respond(1, RESULTS["tools/call"])
    assert [message.get("id") for message in back.messages()] == [None, 1]
    assert back.exchange.finished
    moved(there, session, here)
    assert (working.exchange.finished, working.messages()) == (True, [])


def test_a_stream_begins_here_while_another_server_answers() -> None:
    for comes_back_there in (True, False):
        store = MemoryEventStore()
        here, there = Site(event_store=store), Site(event_store=store)
        session = here.open()
        working = here.post(call(1), session)
        moved(here, session, there)
        there.endpoint.sessions[session].connection.respond(1, RESULTS["tools/call"])
        working.exchange.pause(retry=0)
        primed = working.take()[0].id
        if not comes_back_there:
            moved(there, session, here)
        back = (there if comes_back_there else here).get(session, primed)
        assert back.message()["id"] == 1


def test_a_stream_that_began_after_its_session_went_can_be_taken_up() -> None:
    store = MemoryEventStore()
    here, there = Site(event_store=store), Site(event_store=store)
    session = here.open()
    working = here.post(call(1), session)
    moved(here, session, there)
    working.exchange.start_stream()
    primed = working.take()[0].id
    moved(there, session, here)
    working.exchange.close()
    serve(working)
    assert here.get(session, primed).message()["id"] == 1


def unsent(site: Site, session: str) -> list[int]:
    """How many messages wait on each stream of a session for a response in another process."""
    return [len(stream["unsent"]) for stream in site.endpoint.sessions[session].snapshot()["streams"]]


def test_messages_wait_only_for_responses_that_may_be_open_elsewhere() -> None:
    here, there = Site(), Site()
    session = here.open()
    left, working = (here.post(call(number, token=number), session) for number in (1, 2))
    left.exchange.close()
    moved(here, session, there)
    connection = there.endpoint.sessions[session].connection
    for number in (1, 2):
        connection.progress(number, 1)
    assert unsent(there, session) == [0, 1]
    moved(there, session, here)
    assert unsent(here, session) == [0, 0]
    assert len(working.messages()) == 1


def test_what_another_server_said_can_be_taken_up_again() -> None:
    store = MemoryEventStore()
    here, there = Site(event_store=store), Site(event_store=store)
    session = here.open()
    working = here.post(call(1, token="p"), session)
    moved(here, session, there)
    connection = there.endpoint.sessions[session].connection
    connection.progress(1, 1)
    connection.progress(1, 2)
    moved(there, session, here)
    first, second = working.take()
    serve(working)
    working.exchange.close()
    assert [len(here.get(session, event.id).messages()) for event in (first, second)] == [2, 1]


def test_streams_that_nobody_comes_back_for_are_forgotten() -> None:
    here, there = Site(), Site()
    session = here.open()
    for number in range(1010):
        here.post(call(number), session)
        if number % 500 == 499 or number == 1009:
            moved(here, session, there)
            connection = there.endpoint.sessions[session].connection
            for request_id in connection.owed:
                connection.respond(request_id, RESULTS["tools/call"])
                there.endpoint.sessions[session].distribute()
            data = there.endpoint.sessions[session].snapshot()
            assert len(data["streams"]) <= 1000
            here = Site()
            here.endpoint.restore_session(data)


def test_streams_of_several_servers_are_not_mixed_up() -> None:
    store = MemoryEventStore()
    here, there = Site(event_store=store), Site(event_store=store)
    session = here.open()
    first = here.post(call(1), session)
    moved(here, session, there)
    others = [there.post(call(number), session) for number in (2, 3)]
    for reader in others:
        serve(reader)
        assert reader.message()["id"] in (2, 3)
    moved(there, session, here)
    serve(first)
    assert first.message()["id"] == 1


def test_a_time_out_moves_with_its_session() -> None:
    here, there = Site(), Site()
    session = here.open(capabilities={"roots": {}})
    here.now, there.now = 100.0, 5.0
    here.endpoint.sessions[session].connection.request(t.ListRootsRequest(), timeout=10, now=100.0)
    moved(here, session, there)
    assert there.endpoint.next_deadline() == 15.0
    assert [message["method"] for message in there.get(session).messages()] == ["roots/list"]


def test_a_session_of_http_sse_moves_but_for_its_stream() -> None:
    here, there = Site(http_sse=True), Site(http_sse=True)
    stream = here.send("GET", headers={"Content-Type": None})
    (endpoint,) = stream.take()
    moved(here, "s1", there)
    there.send("POST", encode(initialize(1, "2024-11-05")), target=endpoint.data)
    moved(there, "s1", here)
    assert [message["id"] for message in stream.messages()] == [1]


# What an exchange is for a driver


def test_an_exchange_of_the_drivers_own() -> None:
    exchange = Exchange()
    assert (exchange.connection, exchange.response, exchange.finished) == (None, None, False)
    exchange.end()
    assert Reader(exchange).status == 202
    gone = Exchange()
    assert (gone.close(), gone.finished) == ([], True)


def test_a_response_is_a_head_only() -> None:
    """So that nobody writes its body twice."""
    reader = Reader(Exchange().answer(HTTPResponse(404, {"A": "b"}, b"gone")))
    assert reader.exchange.response == HTTPResponse(404, {"A": "b"})
    assert reader.exchange.data_to_send() == b"gone"
    site = Site()
    served = site.post(call(1), site.open(), Accept="application/json, text/event-stream")
    serve(served)
    refused = site.send("PUT")
    for each in (served, refused, site.modern(1, "server/discover")):
        assert each.exchange.response is not None
        assert each.exchange.response.body == b""
        assert each.message()["jsonrpc"] == "2.0"


def test_the_repr_of_an_endpoint_counts() -> None:
    site = Site()
    assert repr(site.endpoint) == "<Endpoint sessions=0 exchanges=0>"
    site.open()
    site.open()
    reader = site.modern(1, "tools/list")
    assert repr(site.endpoint) == "<Endpoint sessions=2 exchanges=1>"
    reader.exchange.close()
    assert repr(site.endpoint) == "<Endpoint sessions=2 exchanges=0>"


def test_nothing_of_a_session_shows_in_a_repr() -> None:
    site = Site(http_sse=True)
    session = site.open()
    reader = site.post(call(1), session)
    for value in (reader.exchange, site.endpoint, site.endpoint.sessions[session]):
        assert session not in repr(value).replace("mcp_sansio.http.session", "")
