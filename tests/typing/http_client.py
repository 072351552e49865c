"""For mypy and pyright, never run: what a client over HTTP tells is a closed union too, and handles know it."""

from __future__ import annotations

from typing import assert_never, assert_type

from mcp_sansio import (
    AnswerInvalid,
    ClientConnection,
    ConnectionClosed,
    ErrorReceived,
    InputRequired,
    MessageInvalid,
    Negotiated,
    NegotiationFailed,
    NotificationReceived,
    ProgressIgnored,
    ProgressReceived,
    RequestAnswered,
    RequestCancelled,
    RequestLost,
    RequestReceived,
    RequestTimedOut,
    ResponseIgnored,
    ResultReceived,
    SubscriptionAcknowledged,
    SubscriptionEnded,
    SubscriptionOpened,
)
from mcp_sansio import types as t
from mcp_sansio.http import (
    AuthorizationRequired,
    ClientExchange,
    HTTPClient,
    HTTPEvent,
    MessageRefused,
    SessionLost,
    StreamLost,
    ToolLeftOut,
)


def every_event_is_named(event: HTTPEvent) -> str:
    match event:
        case Negotiated() | NegotiationFailed() | ConnectionClosed() | SessionLost():
            return "the connection"
        case RequestReceived() | RequestAnswered() | RequestCancelled() | NotificationReceived() | MessageInvalid():
            return "from the server"
        case ProgressReceived() | ProgressIgnored() | SubscriptionAcknowledged() | SubscriptionOpened():
            return "on the way"
        case ResultReceived() | InputRequired() | ErrorReceived() | AnswerInvalid():
            return "an answer"
        case RequestTimedOut() | RequestLost() | SubscriptionEnded() | ResponseIgnored():
            return "no answer"
        case AuthorizationRequired() | StreamLost() | MessageRefused() | ToolLeftOut():
            return "HTTP"
        case _:
            assert_never(event)


def a_driver(client: HTTPClient, event: HTTPEvent) -> list[t.Tool]:
    assert_type(client.connection, ClientConnection)
    assert_type(client.exchanges_to_start(), list[ClientExchange])
    assert_type(client.receive_response(1, 200, {"Content-Type": "application/json"}, now=0), list[HTTPEvent])
    client.headers = client.headers.with_({"Authorization": "Bearer x"})
    handle = client.connection.request(t.ListToolsRequest(), timeout=30, now=0)
    if handle.answered_by(event):
        assert_type(event, ResultReceived[t.ListToolsResult])
        return event.result.tools
    return []
