"""For mypy and pyright, never run: events are a closed union, and a handle knows the type of its result."""

from __future__ import annotations

from typing import Any, assert_never, assert_type

from mcp_sansio import (
    AnswerInvalid,
    ClientConnection,
    ConnectionClosed,
    Dropped,
    ErrorMessage,
    ErrorReceived,
    Event,
    Handle,
    InputRequired,
    Message,
    MessageInvalid,
    Negotiated,
    NegotiationFailed,
    NotificationMessage,
    NotificationReceived,
    ProgressIgnored,
    ProgressReceived,
    RequestAnswered,
    RequestCancelled,
    RequestLost,
    RequestMessage,
    RequestReceived,
    RequestTimedOut,
    ResponseIgnored,
    ResultMessage,
    ResultReceived,
    Sent,
    ServerConnection,
    SubscriptionAcknowledged,
    SubscriptionEnded,
    SubscriptionOpened,
)
from mcp_sansio import types as t
from mcp_sansio.helpers import Pages


def every_event_is_named(event: Event) -> str:
    match event:
        case Negotiated() | NegotiationFailed() | ConnectionClosed():
            return "the connection"
        case RequestReceived() | RequestAnswered() | RequestCancelled() | NotificationReceived():
            return "from the peer"
        case ProgressReceived() | ProgressIgnored():
            return "progress"
        case SubscriptionOpened() | SubscriptionAcknowledged() | SubscriptionEnded():
            return "subscriptions"
        case ResultReceived() | InputRequired() | ErrorReceived() | AnswerInvalid() | RequestTimedOut() | RequestLost():
            return "the end of a request"
        case ResponseIgnored():
            return "late"
        case MessageInvalid():
            return "noise"
        case _:
            assert_never(event)


def a_handle_knows_its_result(client: ClientConnection, event: Event) -> list[t.Tool]:
    handle = client.request(t.ListToolsRequest())
    assert_type(handle, Handle[t.ListToolsResult])
    if handle.answered_by(event):
        assert_type(event, ResultReceived[t.ListToolsResult])
        return event.result.tools
    return []


def every_message_is_named(message: Message) -> str:
    match message:
        case RequestMessage() | NotificationMessage():
            return "asks or tells"
        case ResultMessage() | ErrorMessage():
            return "answers"
        case _:
            assert_never(message)


def a_list_in_pages_knows_its_items() -> None:
    pages = Pages(t.ListToolsRequest())
    assert_type(pages.items, tuple[t.Tool, ...])
    assert_type(pages.next_request(), t.PaginatedRequest[t.ListToolsResult] | None)


def every_request_has_its_result(client: ClientConnection, server: ServerConnection) -> None:
    assert_type(client.request(t.CallToolRequest("add", {"a": 1})), Handle[t.CallToolResult])
    assert_type(client.request(t.PingRequest()), Handle[t.EmptyResult])
    assert_type(client.request(t.DiscoverRequest()), Handle[t.DiscoverResult])
    assert_type(server.request(t.ListRootsRequest()), Handle[t.ListRootsResult])
    assert_type(client.request(t.CustomRequest("vendor/thing")), Handle[t.CustomResult])
    assert_type(server.respond(1, t.EmptyResult()), Sent | Dropped)


def a_server_matches_on_requests(event: RequestReceived) -> dict[str, Any] | None:
    match event.request:
        case t.CallToolRequest(name="add", arguments=arguments):
            return assert_type(arguments, dict[str, Any] | None)
        case _:
            return None
