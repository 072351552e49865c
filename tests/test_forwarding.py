"""A gateway: what comes in goes out, whatever it holds."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from mcp_sansio import (
    ClientConnection,
    ErrorReceived,
    Handle,
    NotificationReceived,
    RequestReceived,
    ResultReceived,
    ServerConnection,
)
from mcp_sansio import types as t

from .samples import CLIENT_INFO, SERVER_CAPABILITIES, SERVER_INFO

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(
    st.text(min_size=1).filter(lambda name: name not in ("_meta", "resultType")), JSON, max_size=4
)


def meet(client: ClientConnection, server: ServerConnection) -> tuple[list[Any], list[Any]]:
    """Let everything that is queued arrive; gives what the two saw."""
    seen: tuple[list[Any], list[Any]] = ([], [])
    while (out := client.data_to_send()) or (back := server.data_to_send()):
        seen[1].extend(server.receive_data(out))
        back = server.data_to_send() if out else back
        seen[0].extend(client.receive_data(back))
    return seen


class Gateway:
    """A server to the one, a client to the other, which looks at no payload."""

    def __init__(self, era: Any) -> None:
        self.front = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES, forwarding=True)
        self.back = ClientConnection(CLIENT_INFO, era=era, forwarding=True)
        self.routes: dict[Any, tuple[Handle[Any], Any]] = {}

    def from_front(self, events: list[Any]) -> None:
        for event in events:
            if isinstance(event, RequestReceived):
                handle = self.back.request(event.request)
                self.routes[handle.id] = (handle, event.id)

    def from_back(self, events: list[Any]) -> None:
        for event in events:
            if isinstance(event, ResultReceived):
                assert isinstance(event.result, t.CustomResult)
                handle, request_id = self.routes.pop(event.id)
                assert handle.answered_by(event)
                self.front.respond(request_id, event.result)
            elif isinstance(event, ErrorReceived):
                _, request_id = self.routes.pop(event.id)
                self.front.respond_error(request_id, event.error.code, event.error.message, event.error.data)
            elif isinstance(event, NotificationReceived):
                self.front.notify(event.notification)


@pytest.mark.parametrize("era", ["legacy", "modern"])
@given(arguments=OBJECTS, result=OBJECTS, extra=OBJECTS)
def test_payloads_come_through_whole_under_other_ids(era: Any, arguments: Any, result: Any, extra: Any) -> None:
    client = ClientConnection(CLIENT_INFO, era=era)
    server = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES, forwarding=True)
    gateway = Gateway(era)
    client.connect()
    meet(client, gateway.front)
    gateway.back.connect()
    meet(gateway.back, server)
    params = {**extra, "name": "add", "arguments": arguments}
    handle = client.request(t.CallToolRequest("add", arguments, extra=extra), id="mine")
    gateway.from_front(meet(client, gateway.front)[1])
    (received,) = meet(gateway.back, server)[1]
    assert isinstance(received, RequestReceived)
    assert isinstance(received.request, t.CustomRequest)
    assert received.id != "mine"
    got = dict(received.request.params or {})
    got.pop("_meta", None)
    assert json.dumps(got, sort_keys=True) == json.dumps(params, sort_keys=True)
    answer = {**result, "content": [{"type": "text", "text": "3", "vendor": 1}]}
    server.respond(received.id, t.CustomResult(extra=answer))
    gateway.from_back(meet(gateway.back, server)[0])
    wire = json.loads(gateway.front.messages_to_send()[0].data)
    assert wire["id"] == "mine"
    wire["result"].pop("_meta", None)
    wire["result"].pop("resultType", None)
    assert json.dumps(wire["result"], sort_keys=True) == json.dumps(answer, sort_keys=True)
    assert gateway.back.in_flight == ()
    assert handle.id == "mine"


def test_what_the_connection_acts_on_is_typed_all_the_same() -> None:
    server = ServerConnection(SERVER_INFO, SERVER_CAPABILITIES, forwarding=True)
    client = ClientConnection(CLIENT_INFO, era="legacy")
    client.connect()
    meet(client, server)
    handle = client.request(t.CallToolRequest("slow"), progress=True)
    meet(client, server)
    server.notify(t.ProgressNotification(handle.id, 1))
    server.notify(t.CustomNotification("notifications/tools/list_changed", {"vendor": 1}))
    progress, changed = meet(client, server)[0]
    assert isinstance(progress.notification, t.ProgressNotification)
    assert changed.notification.extra == {"vendor": 1}
    client.cancel(handle.id)
    (cancelled,) = meet(client, server)[1]
    assert cancelled.id == handle.id
    restored = ServerConnection.restore(json.loads(json.dumps(server.snapshot())))
    client.request(t.CallToolRequest("add"))
    (received,) = restored.receive_data(client.data_to_send())
    assert isinstance(received, RequestReceived)
    assert received.request == t.CustomRequest("tools/call", {"name": "add"})
