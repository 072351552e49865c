"""The client over HTTP against servers that answer anything: each request ends once, and nothing goes on for ever."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any
from urllib.parse import urlsplit

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_sansio import Limits, LocalProtocolError, RequestReceived
from mcp_sansio import types as t
from mcp_sansio.http import HTTPEvent, Reconnection
from mcp_sansio.http.client_address import AddressError, resolved
from mcp_sansio.sse import encode_event

from .http_wire import Sent, Wire, opened
from .pair import EVERY, JSON, MODERN, discover_result, error, initialize_result, notification, request, result

D = "2025-11-25"
quick = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
randoms = st.randoms(use_true_random=False)
"""Choices that Hypothesis makes, and makes simpler where a test fails."""

STATUSES = [200, 201, 202, 204, 301, 307, 400, 401, 403, 404, 405, 406, 409, 413, 415, 429, 500, 501, 503]
TYPES = [None, "", "application/json; charset=utf-8", "Text/Event-Stream;x=1", "text/html", ";;"]
USUAL = ["application/json", "text/event-stream"]
HEADERS = [
    ("Mcp-Session-Id", "s1"),
    ("Mcp-Session-Id", "s 2"),
    ("mcp-session-id", ""),
    ("WWW-Authenticate", 'Bearer scope="a"'),
    ("WWW-Authenticate", "=,="),
    ("Location", "/x"),
]
CODES = [-32700, -32600, -32601, -32602, -32603, -32000, -32020, -32021, -32022, 7]
GARBAGE = [b"", b" ", b"{", b"<html>", b"\xff", b"[[", b"x" * 3000]
NO_EVENTS = [b": x\n\n", b"data: {\n\n", b"data", b"\r", b"event: x\ndata: {}\n\n", b"\xff\n\n", b"id: e9\n\n"]
ENDPOINTS = ["/m?sessionId=1", "//evil/", "m", "http://[", ""]
FULL = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
CAN = {"tools": {}}


def tools(name: str) -> JSON:
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": name}}}
    return {**FULL, "tools": [{"name": "t", "inputSchema": schema}]}


def message(random: Random, about: JSON) -> JSON:
    """Something that a server might answer to a message, or not."""
    request_id = random.choice([about.get("id", 0)] * 6 + [None, 0, 1, 2, 3, "1", 1.0, True, []])
    versions = random.choice([[MODERN], ["2025-11-25"], ["2030-01-01"], EVERY])
    match random.randrange(20):
        case 0 | 1:
            return discover_result(request_id, versions, capabilities=CAN)
        case 2 | 3:
            return initialize_result(request_id, random.choice([*EVERY, "1999-01-01"]), capabilities=CAN)
        case 4:
            return result(request_id, {**FULL, "content": []})
        case 5 | 6:
            return result(request_id, tools(random.choice(["A", "a b"])))
        case 7:
            return result(request_id, {**FULL, "tools": [], "nextCursor": random.choice(["", "2", "3"])})
        case 8:
            return result(request_id, {"resultType": "input_required", "requestState": "s"})
        case 9:
            return result(request_id)
        case 10 | 11:
            return error(request_id, random.choice(CODES), data={"supported": versions, "requested": "x"})
        case 12:
            return {"jsonrpc": "2.0", "error": {"code": random.choice(CODES), "message": "m"}}
        case 13:
            return request("s", random.choice(["ping", "roots/list"]))
        case 14 | 15:
            return notification(random.choice(["vendor/x", "notifications/tools/list_changed"]))
        case 16:
            return notification("notifications/cancelled", {"requestId": request_id})
        case 17:
            return [result(request_id), result(1)]
        case _:
            return random.choice([[], 7, {}])


def event(random: Random, about: JSON) -> bytes:
    """Part of a stream of events."""
    fields: Any = {
        "id": random.choice([None, None, "e1", "e2", ""]),
        "retry": random.choice([None, None, 0, 50, 10**6]),
    }
    match random.randrange(8):
        case 0:
            return encode_event("", **fields)
        case 1:
            return encode_event(random.choice(ENDPOINTS), event="endpoint", **fields)
        case 2:
            return random.choice([*NO_EVENTS, b"data: " + b"x" * 3000 + b"\n\n"])
        case _:
            return encode_event(json.dumps(message(random, about)), **fields)


def body(random: Random, about: JSON) -> bytes:
    """Part of a body, or all of it."""
    match random.randrange(5):
        case 0 | 1:
            return json.dumps(message(random, about)).encode()
        case 2:
            return random.choice(GARBAGE)
        case _:
            return event(random, about)


@attrs.define
class Requests:
    """The requests of a client, and how often each has ended."""

    handles: list[Any] = attrs.field(factory=list)
    cancelled: set[Any] = attrs.field(factory=set)
    ended: Counter[Any] = attrs.field(factory=Counter)

    def note(self, events: list[HTTPEvent]) -> None:
        for event in events:
            self.ended.update(handle.id for handle in self.handles if handle.ended_by(event))

    def check(self, *, all_over: bool) -> None:
        for handle in self.handles:
            times = self.ended[handle.id]
            assert times <= 1, f"{handle} has ended {times} times"
            if handle.id in self.cancelled:
                assert times == 0, f"{handle} was cancelled, and has ended"
            elif all_over:
                assert times == 1, f"{handle} has never ended"


ACTIONS = ["ask"] * 3 + ["serve"] * 8 + ["cancel", "say", "respond", "wait", "connect", "listen"]
ASKED = [t.ListToolsRequest(), t.CallToolRequest("t", {"a": "x"}), t.PingRequest()]


class AnyServer:
    """A client, and everything that may happen to its exchanges."""

    def __init__(self, random: Random, wire: Wire, *running: Sent) -> None:
        self.random = random
        self.wire = wire
        self.requests = Requests()
        self.running: dict[int, Sent] = {sent.key: sent for sent in running}
        self.begun = set(self.running)
        self.keys = set(self.running)
        self.owed: list[Any] = []

    def told(self, events: list[HTTPEvent]) -> None:
        self.requests.note(events)
        self.owed += (event.id for event in events if isinstance(event, RequestReceived))
        self.look()

    def look(self) -> None:
        """Start and abort what the client wants started and aborted."""
        for sent in self.wire.sent():
            assert sent.key not in self.keys, "a key is used twice"
            self.keys.add(sent.key)
            self.running[sent.key] = sent
        for key in self.wire.aborted():
            assert key in self.running, "what does not run is aborted"
            del self.running[key]

    def step(self) -> None:
        """Something happens."""
        connection, client, random = self.wire.connection, self.wire.client, self.random
        match random.choice(ACTIONS):
            case "ask":
                options = random.choice([{}, {"timeout": 5, "now": self.wire.now}])
                asked = random.choice(ASKED)
                self.attempt(lambda: self.requests.handles.append(connection.request(asked, **options)))
            case "cancel" if self.requests.handles:
                handle = random.choice(self.requests.handles)
                over = self.requests.ended[handle.id]
                if not over and self.attempt(lambda: connection.cancel(handle.id)):
                    self.requests.cancelled.add(handle.id)
            case "say":
                self.attempt(lambda: connection.notify(t.CustomNotification("vendor/x")))
            case "respond" if self.owed:
                self.attempt(lambda: connection.respond(self.owed.pop(), t.ListRootsResult([])))
            case "wait":
                self.wait()
            case "connect":
                self.attempt(lambda: client.connect(timeout=random.choice([None, 7]), now=self.wire.now))
            case "listen":
                self.attempt(client.listen)
            case "serve" if self.running:
                self.serve(self.running[random.choice(sorted(self.running))])
            case _:
                pass
        self.look()
        self.requests.check(all_over=False)

    def attempt(self, action: Any) -> bool:
        try:
            action()
        except LocalProtocolError:
            return False
        return True

    def wait(self) -> None:
        deadline = self.wire.client.next_deadline()
        if deadline is not None:
            self.wire.now = max(self.wire.now, deadline)
        self.told(self.wire.client.handle_timeout(self.wire.now))

    def serve(self, sent: Sent) -> None:
        """Something comes of an exchange."""
        wire, random = self.wire, self.random
        if sent.key not in self.begun:
            if random.randrange(8) == 0:
                self.fail(sent)
                return
            self.begun.add(sent.key)
            status = random.choice([200] * 12 + STATUSES)
            kind = random.choice(USUAL * 5 + TYPES)
            self.told(wire.begin(sent, status, kind, random.sample(HEADERS, random.randrange(3))))
            return
        match random.randrange(6):
            case 0:
                del self.running[sent.key]
                self.told(wire.end(sent))
            case 1:
                self.fail(sent)
            case _:
                about = sent.message if sent.request.body.startswith(b"{") else {}
                self.told(wire.data(sent, body(random, about)))

    def fail(self, sent: Sent) -> None:
        del self.running[sent.key]
        self.told(self.wire.fail(sent))

    def finish(self) -> None:
        """The server is gone for good: everything must come to an end."""
        for _ in range(300):
            if self.running:
                self.fail(next(iter(self.running.values())))
            elif self.wire.client.next_deadline() is not None:
                self.wait()
            else:
                break
        else:
            raise AssertionError("the client goes on for ever")
        self.requests.check(all_over=True)


@pytest.mark.parametrize("era", ["auto", "legacy", "modern"])
@quick
@given(randoms)
def test_whatever_a_server_answers_each_request_ends_once(era: Any, random: Random) -> None:
    wire = Wire(era=era, limits=Limits(frame_bytes=2000), reconnection=Reconnection(attempts=2))
    wire.client.connect(timeout=random.choice([None, 10]), now=0)
    peer = AnyServer(random, wire)
    for _ in range(random.randrange(40)):
        peer.step()
    if random.randrange(2):
        peer.told(wire.client.close())
        peer.requests.check(all_over=True)
    peer.finish()


@pytest.mark.parametrize("revision", [D, MODERN])
@quick
@given(randoms)
def test_whatever_comes_in_operation(revision: str, random: Random) -> None:
    wire = opened(revision, listening=revision == D, reconnection=Reconnection(attempts=2))
    peer = AnyServer(random, wire, *([wire.listening] if revision == D else []))
    for _ in range(random.randrange(40)):
        peer.step()
    peer.finish()


@pytest.mark.parametrize("revision", [D, MODERN])
@quick
@given(randoms)
def test_how_a_body_is_cut_changes_nothing(revision: str, random: Random) -> None:
    status, kind = random.choice([200] * 8 + STATUSES), random.choice(USUAL * 3 + TYPES)
    content = b"".join(event(random, {"id": 2}) for _ in range(random.randrange(4))) + body(random, {"id": 2})
    cuts = sorted(random.randrange(len(content) + 1) for _ in range(random.randrange(6)))
    pieces = [content[i:j] for i, j in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    ends = random.randrange(2)

    def outcome(pieces: list[bytes]) -> Any:
        wire = opened(revision, listen=False)
        wire.connection.request(t.CallToolRequest("t"))
        sent = wire.one()
        wire.begin(sent, status, kind)
        for piece in pieces:
            wire.data(sent, piece)
        if ends:
            wire.end(sent)
        else:
            wire.fail(sent)
        return wire.events, [str(each) for each in wire.sent()], wire.aborted(), wire.client.next_deadline()

    assert outcome([content]) == outcome(pieces) == outcome([bytes([byte]) for byte in content])


@quick
@given(st.text(max_size=40), st.sampled_from(["http://h/a/b?c=d", "https://h:8/", "http://[::1]/x"]))
def test_no_endpoint_event_leads_elsewhere(reference: str, url: str) -> None:
    try:
        found = urlsplit(resolved(reference, url))
    except AddressError:
        return
    base = urlsplit(url)
    assert (found.scheme, found.netloc.lower()) == (base.scheme, base.netloc)
    assert not found.fragment
