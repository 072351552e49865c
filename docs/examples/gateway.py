"""A gateway on stdin and stdout: a server to its client, and a client of a server that it starts.

It looks at no payload but the names of tools, which get a prefix; ids and progress tokens are each connection's own.
Its client must speak the revision that it has agreed with the server: --legacy makes that one with a handshake.
Try it: python stdio_client.py python gateway.py mine. python stdio_server.py
"""

from __future__ import annotations

import selectors
import subprocess
import sys
from typing import Any, Literal

import attrs

import mcp_sansio as mcp
from mcp_sansio import types as t
from mcp_sansio.spec.meta import SUBSCRIPTION_ID

CLIENT_CAN = t.ClientCapabilities(
    roots=t.RootsCapability(list_changed=True),
    sampling=t.SamplingCapability(context={}, tools={}),
    elicitation=t.ElicitationCapability(form={}, url={}),
)
"""What a gateway says that its client can: all that it passes on."""


@attrs.frozen
class Route:
    """Where the requests go that came in on one connection."""

    came_in: mcp.Connection
    goes_out: mcp.Connection
    asked: dict[mcp.RequestId, mcp.RequestId] = attrs.field(factory=dict)
    """The ids that they have there, by the ids that they came with."""
    asker: dict[mcp.RequestId, mcp.RequestId] = attrs.field(factory=dict)
    """The other way round."""

    def request(self, event: mcp.RequestReceived, params: dict[str, Any]) -> None:
        token = params.get("_meta", {}).get("progressToken")
        try:
            message = t.CustomRequest(event.method, params or None)
            handle = self.goes_out.request(message, progress=token is not None)
        except mcp.LocalProtocolError as error:  # the other side may not be asked this
            self.came_in.respond_error(event.id, mcp.ErrorCode.INTERNAL_ERROR, error.hint)
            return
        self.asked[event.id] = handle.id
        self.asker[handle.id] = event.id

    def end(self, id_there: mcp.RequestId) -> mcp.RequestId | None:
        asker = self.asker.pop(id_there, None)
        if asker is not None:
            self.asked.pop(asker, None)
        return asker

    def cancelled(self, event: mcp.RequestCancelled) -> None:
        if event.id in self.asked:
            self.goes_out.cancel(self.asked[event.id], event.reason)
            self.end(self.asked[event.id])


class Gateway:
    """Two connections back to back: what one receives the other sends."""

    def __init__(self, front: mcp.ServerConnection, back: mcp.ClientConnection, prefix: str = "") -> None:
        self.front, self.back, self.prefix = front, back, prefix
        self.to_back, self.to_front = Route(front, back), Route(back, front)

    def pass_on(self, came_on: mcp.Connection, event: mcp.Event) -> None:
        """Do on the other connection what happened on this one."""
        onward, backward = self.to_back, self.to_front
        if came_on is self.back:
            onward, backward = backward, onward
        other = onward.goes_out
        match event:
            case mcp.RequestReceived(request=t.CustomRequest(params=params)):
                onward.request(event, self.named(event.method, params or {}))
            case mcp.RequestCancelled():
                onward.cancelled(event)
            case mcp.ResultReceived(id=id, result=result) if (asker := backward.end(id)) is not None:
                other.respond(asker, self.listed(event.method, result))
            case mcp.SubscriptionEnded(id=id) if (asker := backward.end(id)) is not None:
                other.respond(asker, t.SubscriptionsListenResult())
            case mcp.ErrorReceived(id=id, error=error) if id is not None and (asker := backward.end(id)) is not None:
                other.respond_error(asker, error.code, error.message, error.data)
            case mcp.AnswerInvalid(id=id, detail=detail) if (asker := backward.end(id)) is not None:
                other.respond_error(asker, mcp.ErrorCode.INTERNAL_ERROR, f"unreadable answer: {detail}")
            case mcp.ProgressReceived(id=id, notification=told) if id in backward.asker:
                other.progress(backward.asker[id], told.progress, told.total, told.message)
            case mcp.SubscriptionAcknowledged(id=id, notification=told) if id in backward.asker:
                meta = {**(told.meta or {}), SUBSCRIPTION_ID: backward.asker[id]}
                other.notify(attrs.evolve(told, meta=meta), related=backward.asker[id])
            case mcp.NotificationReceived(notification=t.InitializedNotification()):
                pass  # each connection sends its own
            case mcp.NotificationReceived(notification=told, subscription=id):
                other.notify(told if id is None else subscribed(told, backward.asker.get(id)))

    def named(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Params with the name that the server knows."""
        name = params.get("name")
        if method != "tools/call" or type(name) is not str:
            return params
        return {**params, "name": name.removeprefix(self.prefix)}

    def listed(self, method: str, result: t.Result) -> t.Result:
        """A result with the names that the client knows."""
        if method != "tools/list":
            return result
        tools = [{**tool, "name": self.prefix + tool["name"]} for tool in result.extra["tools"]]
        return t.CustomResult(extra={**result.extra, "tools": tools})


def subscribed(told: t.Notification, asker: mcp.RequestId | None) -> t.Notification:
    """A change with the id that the subscription has on the other side."""
    assert isinstance(told, t.CustomNotification)
    params = told.params or {}
    return t.CustomNotification(told.method, {**params, "_meta": {**params["_meta"], SUBSCRIPTION_ID: asker}})


def main() -> None:
    """Start the server, agree with it, then say to our client what it says of itself."""
    legacy = sys.argv[1] == "--legacy"
    prefix, *command = sys.argv[2 if legacy else 1 :]
    era: Literal["legacy", "auto"] = "legacy" if legacy else "auto"
    back = mcp.ClientConnection(t.Implementation("gateway", "1.0"), CLIENT_CAN, era=era, forwarding=True)
    back.connect()
    wire_out, sys.stdout = sys.stdout.buffer, sys.stderr
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as server,
        open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as wire_in,
        selectors.DefaultSelector() as ready,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        gateway: Gateway | None = None
        ready.register(server.stdout, selectors.EVENT_READ, back)
        server.stdin.write(back.data_to_send())
        while True:
            for key, _ in ready.select():
                connection: mcp.Connection = key.data
                data = (wire_in if connection is not back else server.stdout).read(65536)
                if not data:
                    server.terminate()
                    return
                for event in connection.receive_data(data):
                    if isinstance(event, mcp.Negotiated) and connection is back:
                        gateway = Gateway(front_of(back, event), back, prefix)
                        ready.register(wire_in, selectors.EVENT_READ, gateway.front)
                    elif isinstance(event, mcp.NegotiationFailed):
                        sys.exit(event.detail)
                    elif gateway is not None:
                        gateway.pass_on(connection, event)
            if gateway is not None:
                wire_out.write(gateway.front.data_to_send())
                wire_out.flush()
            server.stdin.write(back.data_to_send())


def front_of(back: mcp.ClientConnection, agreed: mcp.Negotiated) -> mcp.ServerConnection:
    """A server's connection that says what the server behind it says."""
    return mcp.ServerConnection(
        agreed.peer_info or t.Implementation("gateway", "1.0"),
        agreed.server_capabilities,
        revisions=[agreed.revision],
        instructions=agreed.instructions,
        forwarding=True,
    )


if __name__ == "__main__":
    main()
