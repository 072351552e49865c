"""Being told of changes: subscriptions of 2026-07-28, and legacy sessions, through the same ``publish``."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_sansio import (
    CapabilityError,
    ConnectionClosed,
    Dropped,
    DroppedReason,
    ErrorReceived,
    Event,
    Limits,
    LocalProtocolError,
    NotificationReceived,
    Pending,
    Reason,
    RequestCancelled,
    RequestReceived,
    RequestTimedOut,
    ResponseIgnored,
    Sent,
    SubscriptionAcknowledged,
    SubscriptionEnded,
    SubscriptionOpened,
    UnexpectedReason,
)
from mcp_sansio import types as t

from .pair import (
    CLIENT,
    EVERY,
    INITIALIZED,
    JSON,
    LEGACY,
    MODERN,
    SERVER_CAN,
    SUBSCRIPTION_KEY,
    D,
    Pair,
    case,
    drawn,
    error,
    every_legacy,
    feed,
    initialize,
    modern,
    notification,
    open_client,
    open_server,
    pair,
    request,
    result,
    sent,
    server,
    state_of,
)

TOOLS, PROMPTS, RESOURCES = (
    t.ToolListChangedNotification(),
    t.PromptListChangedNotification(),
    t.ResourceListChangedNotification(),
)
ALL = t.SubscriptionFilter(True, True, True, ["file:///a"])


def updated(uri: str) -> t.ResourceUpdatedNotification:
    return t.ResourceUpdatedNotification(uri)


def listen(p: Pair, wanted: t.SubscriptionFilter = ALL, **options: Any) -> JSON:
    """Open a subscription; its id."""
    request_id = p.client.request(t.SubscriptionsListenRequest(wanted), **options).id
    opened, acknowledged = p.pump(options.get("now"))
    assert isinstance(opened, SubscriptionOpened)
    assert isinstance(acknowledged, SubscriptionAcknowledged)
    assert (opened.id, acknowledged.id) == (request_id, request_id)
    return request_id


def of(request_id: JSON, method: str, **params: JSON) -> JSON:
    """A notification of a subscription, as a server writes it."""
    return notification(f"notifications/{method}", {**params, "_meta": {SUBSCRIPTION_KEY: request_id}})


def moved(conn: Any) -> Any:
    return type(conn).restore(json.loads(json.dumps(conn.snapshot())))


# The acknowledgement --------------------------------------------------------------------------------------------------

flags = st.none() | st.booleans()
uris = st.sampled_from(["file:///a", "file:///a/", "file:///a/b", "file:///ab", "", "x"])
filters = st.builds(t.SubscriptionFilter, flags, flags, flags, st.none() | st.lists(uris, max_size=3))
capabilities = st.builds(
    t.ServerCapabilities,
    tools=st.none() | st.builds(t.ToolsCapability, flags),
    prompts=st.none() | st.builds(t.PromptsCapability, flags),
    resources=st.none() | st.builds(t.ResourcesCapability, subscribe=flags, list_changed=flags),
)


def served(can: t.ServerCapabilities) -> dict[str, bool]:
    """What of a filter a server of these capabilities tells of."""
    return {
        "tools_list_changed": bool(can.tools and can.tools.list_changed),
        "prompts_list_changed": bool(can.prompts and can.prompts.list_changed),
        "resources_list_changed": bool(can.resources and can.resources.list_changed),
        "resource_subscriptions": bool(can.resources and can.resources.subscribe),
    }


@settings(deadline=None)
@given(capabilities, filters)
def test_what_the_server_does_not_declare_is_left_out(can: t.ServerCapabilities, wanted: t.SubscriptionFilter) -> None:
    p = pair(MODERN, server_can=can)
    request_id = p.client.request(t.SubscriptionsListenRequest(wanted)).id
    opened, acknowledged = p.pump()
    honoured = t.SubscriptionFilter(**{name: getattr(wanted, name) for name, yes in served(can).items() if yes})
    assert isinstance(opened, SubscriptionOpened)
    assert (opened.id, opened.filter, opened.request.notifications) == (request_id, honoured, wanted)
    assert isinstance(acknowledged, SubscriptionAcknowledged)
    assert (acknowledged.id, acknowledged.notification.notifications) == (request_id, honoured)
    assert drawn([opened, acknowledged]) == []


def test_what_a_filter_has_besides_is_not_promised() -> None:
    conn = open_server(MODERN)
    feed(conn, modern("a", "subscriptions/listen", {"notifications": {"toolsListChanged": True, "weather": True}}))
    (acknowledged,) = sent(conn)
    assert acknowledged == of("a", "subscriptions/acknowledged", notifications={"toolsListChanged": True})


@case("schema-156")
@pytest.mark.parametrize("bad", [None, {}, {"notifications": 5}, {"notifications": {"toolsListChanged": 1}}], ids=repr)
def test_a_filter_that_cannot_be_read_is_refused(_case: str, bad: JSON) -> None:
    conn = open_server(MODERN)
    feed(conn, modern("a", "subscriptions/listen", bad))
    assert [answer["error"]["code"] for answer in sent(conn)] == [-32602]
    assert conn.owed == ()


# Who is told ----------------------------------------------------------------------------------------------------------

IDS = [0, 1, "1", "", "ü"]
CHANGES = st.sampled_from([TOOLS, PROMPTS, RESOURCES]) | uris.map(updated)
PUBLISH = ("publish", TOOLS, None)
STEPS = st.one_of(
    st.tuples(st.just("listen"), st.sampled_from(IDS), filters),
    st.tuples(st.just("publish"), CHANGES, st.none()),
    st.tuples(st.sampled_from(["cancel", "end", "refuse"]), st.sampled_from(IDS), st.none()),
    st.tuples(st.just("move"), st.none(), st.none()),
)


def above(uri: str, subscribed: str) -> bool:
    """Whether what was subscribed to is a resource, or one above it."""
    return uri == subscribed or uri.startswith(subscribed.removesuffix("/") + "/")


def wants(wanted: t.SubscriptionFilter, change: Any, can: t.ServerCapabilities) -> bool:
    names = {
        t.ToolListChangedNotification: "tools_list_changed",
        t.PromptListChangedNotification: "prompts_list_changed",
        t.ResourceListChangedNotification: "resources_list_changed",
        t.ResourceUpdatedNotification: "resource_subscriptions",
    }
    name = names[type(change)]
    asked = getattr(wanted, name)
    if not served(can)[name]:
        return False
    if isinstance(change, t.ResourceUpdatedNotification):
        return any(above(change.uri, each) for each in asked or ())
    return bool(asked)


@settings(deadline=None)
@given(capabilities, st.lists(STEPS, max_size=25))
@example(SERVER_CAN, [("listen", 1, ALL), ("listen", "1", ALL), PUBLISH, ("end", 1, None), PUBLISH])
def test_changes_reach_those_who_asked_and_no_one_else(can: t.ServerCapabilities, steps: list[Any]) -> None:
    p = pair(MODERN, server_can=can)
    open_now: dict[Any, t.SubscriptionFilter] = {}
    for step, what, wanted in steps:
        match step:
            case "listen" if what not in open_now:
                listen(p, wanted, id=what)
                open_now[what] = wanted
            case "publish":
                expected = [request_id for request_id, asked in open_now.items() if wants(asked, what, can)]
                assert p.server.publish(what) == len(expected)
                outgoing = p.server.messages_to_send()
                assert [each.related for each in outgoing] == expected
                events = [event for each in outgoing for event in p.client.receive_message(each.data)]
                assert [(type(e.subscription), e.subscription) for e in events] == [  # type: ignore[union-attr]
                    (type(request_id), request_id) for request_id in expected
                ]
                assert all(isinstance(event, NotificationReceived) for event in events)
                assert drawn(events) == []
            case "cancel" if what in open_now:
                p.client.cancel(what)
                (event,) = p.pump()
                assert event == RequestCancelled(id=what, method="subscriptions/listen")
                del open_now[what]
            case "end" if what in open_now:
                assert p.server.end_subscription(what) == Sent()
                ended, late = p.pump()
                assert isinstance(ended, SubscriptionEnded)
                assert isinstance(late, ResponseIgnored)
                assert (ended.id, late.reason, drawn([ended, late])) == (what, UnexpectedReason.LATE, [])
                del open_now[what]
            case "refuse" if what in open_now:
                p.server.respond_error(what, 1, "no more")
                (event,) = p.pump()
                assert isinstance(event, ErrorReceived)
                del open_now[what]
            case "move":
                p.client, p.server = moved(p.client), moved(p.server)
            case _:
                pass
        assert set(p.client.in_flight) == set(p.server.owed) == set(open_now)
    assert p.client.conversation.shared() == p.server.conversation.shared()


@given(uris | st.text("/ab", max_size=8), st.lists(uris | st.text("/ab", max_size=8), max_size=4))
def test_a_resource_below_one_that_was_subscribed_to_counts(uri: str, subscribed: list[str]) -> None:
    """2025-11-25, schema: the URI may be a sub-resource of the one that was subscribed to."""
    p = pair(MODERN)
    listen(p, t.SubscriptionFilter(resource_subscriptions=subscribed))
    assert p.server.publish(updated(uri)) == any(above(uri, each) for each in subscribed)


def test_the_same_thing_twice_is_told_twice_each_by_its_id() -> None:
    p = pair(MODERN)
    first, second = listen(p), listen(p)
    assert p.server.publish(updated("file:///a")) == 2
    events = p.pump()
    assert [event.subscription for event in events] == [first, second]  # type: ignore[union-attr]
    p.server.end_subscription(first)
    assert p.server.publish(TOOLS) == 1


@case("schema-165")
def test_two_subscriptions_are_acknowledged_each_for_itself(_case: str) -> None:
    """The order is defined for each subscription, not for the channel."""
    conn = open_client(MODERN, {"tools": {"listChanged": True}})
    first, second = (conn.request(t.SubscriptionsListenRequest(ALL)).id for _ in range(2))
    events = feed(
        conn,
        of(second, "subscriptions/acknowledged", notifications={"toolsListChanged": True}),
        of(second, "tools/list_changed"),
        of(first, "subscriptions/acknowledged", notifications={}),
        of(first, "tools/list_changed"),
    )
    assert [drawn([event]) for event in events] == [[], [], [], ["SUB-003"]]


def test_what_the_change_says_besides_is_kept() -> None:
    p = pair(MODERN)
    request_id = listen(p)
    change = t.ResourceUpdatedNotification("file:///a", meta={"x/why": [1], SUBSCRIPTION_KEY: "another"})
    p.server.publish(change)
    (event,) = p.pump()
    assert isinstance(event, NotificationReceived)
    assert event.notification.meta == {"x/why": [1], SUBSCRIPTION_KEY: request_id}
    assert change.meta == {"x/why": [1], SUBSCRIPTION_KEY: "another"}


@pytest.mark.parametrize("revision", EVERY)
def test_publish_tells_nobody_where_nobody_listens(revision: str) -> None:
    p = pair(revision, connect=False)
    for change in (TOOLS, PROMPTS, RESOURCES, updated("file:///a")):
        assert p.server.publish(change) == 0
    assert sent(p.server) == []


@pytest.mark.parametrize("revision", EVERY)
@pytest.mark.parametrize("end", ["eof", "close"])
def test_after_the_end_nobody_listens(end: str, revision: str) -> None:
    p = pair(revision)
    if revision == MODERN:
        listen(p)
    p.server.receive_eof() if end == "eof" else p.server.close()
    assert p.server.publish(TOOLS) == 0
    assert sent(p.server) == []


NO_CHANGES = [None, "tools", t.ToolListChangedNotification, t.InitializedNotification(), updated(5)]  # type: ignore[arg-type]


@pytest.mark.parametrize("revision", EVERY)
@pytest.mark.parametrize("bad", NO_CHANGES, ids=repr)
def test_only_changes_are_published(bad: Any, revision: str) -> None:
    p = pair(revision)
    if revision == MODERN:
        listen(p)
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.publish(bad)
    assert caught.value.reason is Reason.INVALID_PAYLOAD
    assert state_of(p.server) == before


def test_publish_tells_all_or_refuses_before_the_first() -> None:
    limits = Limits(queued_bytes=100)
    p = pair(MODERN, server_settings={"limits": limits})
    listen(p)
    listen(p)
    assert p.server.publish(TOOLS) == 2  # which is more than 100 bytes
    before = state_of(p.server)
    with pytest.raises(LocalProtocolError) as caught:
        p.server.publish(TOOLS)
    assert caught.value.reason is Reason.LIMIT
    assert state_of(p.server) == before
    assert len(sent(p.server)) == 2
    for bad in (t.ToolListChangedNotification(meta={"x": {1}}), t.ToolListChangedNotification(meta={"x": "\ud800"})):
        with pytest.raises(LocalProtocolError):
            p.server.publish(bad)
    assert sent(p.server) == []


# The ends of a subscription -------------------------------------------------------------------------------------------


def cancelled(request_id: JSON, **params: JSON) -> JSON:
    return notification("notifications/cancelled", {"requestId": request_id, **params})


def listen_result(request_id: JSON) -> JSON:
    return result(request_id, {"resultType": "complete", "_meta": {SUBSCRIPTION_KEY: request_id}})


@pytest.mark.parametrize(
    ("ends", "kinds", "rules"),
    [
        (["cancelled", "result"], [SubscriptionEnded, ResponseIgnored], []),
        (["cancelled"], [SubscriptionEnded], []),
        (["result"], [SubscriptionEnded], ["CANC-007"]),
        (["result", "cancelled"], [SubscriptionEnded, NotificationReceived], ["CANC-007"]),
        (["error"], [ErrorReceived], []),
    ],
    ids=str,
)
def test_a_client_takes_whatever_a_server_sends_as_the_end_once(
    ends: list[str], kinds: list[Any], rules: list[str]
) -> None:
    conn = open_client(MODERN)
    handle = conn.request(t.SubscriptionsListenRequest(ALL), timeout=5, now=0)
    feed(conn, of(handle.id, "subscriptions/acknowledged", notifications={}), now=1)
    lines = {
        "cancelled": cancelled(handle.id, reason="shutdown"),
        "result": listen_result(handle.id),
        "error": error(handle.id),
    }
    events = feed(conn, *(lines[end] for end in ends))
    assert [type(event) for event in events] == kinds
    assert [handle.ended_by(event) for event in events] == [True, *[False] * (len(ends) - 1)]
    assert drawn(events) == rules
    assert conn.in_flight == ()
    ended = events[0]
    if isinstance(ended, SubscriptionEnded):
        assert (ended.result is None, ended.reason) == ((True, "shutdown") if ends[0] == "cancelled" else (False, None))
    assert conn.cancel(handle.id) == Dropped(DroppedReason.OVER)


def test_a_server_ends_a_subscription_with_both_on_a_stream() -> None:
    p = pair(MODERN)
    request_id = listen(p)
    assert p.server.end_subscription(request_id) == Sent()
    outgoing = p.server.messages_to_send()
    assert {each.related for each in outgoing} == {request_id}
    told, answer = (json.loads(each.data) for each in outgoing)
    assert told == cancelled(request_id)
    assert answer["id"] == request_id
    assert answer["result"]["_meta"][SUBSCRIPTION_KEY] == request_id
    assert p.server.owed == ()
    with pytest.raises(LocalProtocolError) as caught:
        p.server.end_subscription(request_id)
    assert caught.value.reason is Reason.UNKNOWN_REQUEST


@pytest.mark.parametrize("how", ["client", "eof", "close"])
def test_a_subscription_that_is_over_is_not_ended_again(how: str) -> None:
    p = pair(MODERN)
    request_id = listen(p)
    if how == "client":
        p.client.cancel(request_id, "enough")
        assert p.pump() == [RequestCancelled(id=request_id, method="subscriptions/listen", reason="enough")]
        assert p.server.end_subscription(request_id) == Dropped(DroppedReason.CANCELLED)
    elif how == "eof":
        p.server.receive_eof()
        assert p.server.end_subscription(request_id) == Sent()  # the client may still read it
        assert len(sent(p.server)) == 2
        return
    else:
        p.server.close()
        assert p.server.end_subscription(request_id) == Dropped(DroppedReason.CLOSED)
    assert sent(p.server) == []


def test_a_client_that_loses_its_server_has_its_subscriptions_back() -> None:
    p = pair(MODERN)
    request_id = listen(p)
    (closed,) = p.client.receive_eof()
    assert closed == ConnectionClosed(pending=(Pending(request_id, "subscriptions/listen"),))


def test_both_sides_end_a_subscription_at_once() -> None:
    p = pair(MODERN)
    request_id = listen(p)
    p.server.publish(TOOLS)
    p.server.end_subscription(request_id)
    p.client.cancel(request_id)
    events = p.client.receive_data(p.server.data_to_send()) + p.server.receive_data(p.client.data_to_send())
    assert [type(event) for event in events] == [NotificationReceived] * 2 + [ResponseIgnored, NotificationReceived]
    assert drawn(events) == []
    assert p.client.conversation.shared() == p.server.conversation.shared()


def test_only_subscriptions_are_ended_so() -> None:
    p = pair(MODERN)
    request_id = p.open(CLIENT)
    before = state_of(p.server)
    for bad in (request_id, "never", True):
        with pytest.raises(LocalProtocolError) as caught:
            p.server.end_subscription(bad)
        assert caught.value.reason is (Reason.WRONG_RESULT if bad is request_id else Reason.UNKNOWN_REQUEST)
        assert state_of(p.server) == before


def test_an_acknowledgement_that_does_not_come_times_out() -> None:
    conn = open_client(MODERN, {"tools": {"listChanged": True}})
    handle = conn.request(t.SubscriptionsListenRequest(ALL), timeout=5, now=0)
    sent(conn)
    assert conn.handle_timeout(5) == [RequestTimedOut(id=handle.id, method="subscriptions/listen")]
    (told,) = conn.messages_to_send()
    assert (json.loads(told.data)["params"]["requestId"], told.closes_stream) == (handle.id, handle.id)
    late = feed(
        conn, of(handle.id, "subscriptions/acknowledged", notifications={}), of(handle.id, "tools/list_changed")
    )
    assert [type(event) for event in late] == [NotificationReceived] * 2
    assert drawn(late) == []


# By hand, and through a gateway ---------------------------------------------------------------------------------------


def test_an_application_may_acknowledge_by_itself() -> None:
    p = pair(MODERN, server_settings={"manual": {"subscriptions/listen"}})
    request_id = p.client.request(t.SubscriptionsListenRequest(ALL)).id
    (event,) = p.pump()
    assert isinstance(event, RequestReceived)
    assert p.server.publish(TOOLS) == 0  # not before the acknowledgement
    granted = t.SubscriptionFilter(tools_list_changed=True)
    p.server.notify(t.SubscriptionsAcknowledgedNotification(granted, meta={SUBSCRIPTION_KEY: request_id}))
    assert [p.server.publish(change) for change in (TOOLS, PROMPTS)] == [1, 0]
    acknowledged, told = p.pump()
    assert isinstance(acknowledged, SubscriptionAcknowledged)
    assert isinstance(told, NotificationReceived)
    p.server.end_subscription(request_id)
    assert drawn(p.pump()) == []


def test_a_gateway_passes_subscriptions_on() -> None:
    p = pair(MODERN, client_settings={"forwarding": True}, server_settings={"forwarding": True})
    wanted = {"notifications": {"toolsListChanged": True}}
    handle = p.client.request(t.CustomRequest("subscriptions/listen", wanted))
    (event,) = p.pump()
    assert isinstance(event, RequestReceived)
    meta = {SUBSCRIPTION_KEY: handle.id}
    p.server.notify(t.SubscriptionsAcknowledgedNotification(t.SubscriptionFilter(tools_list_changed=True), meta=meta))
    p.server.notify(t.CustomNotification("notifications/tools/list_changed", {"_meta": meta, "more": 1}))
    acknowledged, told = p.pump()
    assert isinstance(acknowledged, SubscriptionAcknowledged)
    assert isinstance(told, NotificationReceived)
    assert (told.subscription, told.notification.params["more"]) == (handle.id, 1)
    p.server.respond(handle.id, t.CustomResult(extra={"resultType": "complete", "_meta": meta}))
    ended, late = p.pump()
    assert isinstance(ended, SubscriptionEnded)
    assert isinstance(late, ResponseIgnored)
    assert drawn([acknowledged, told, ended, late]) == []


# Legacy sessions ------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.sampled_from(LEGACY),
    st.lists(
        st.tuples(st.sampled_from(["subscribe", "unsubscribe"]), uris, st.sampled_from(["result", "error", "cancel"]))
        | st.tuples(st.sampled_from(["publish", "move"]), uris, st.none()),
        max_size=20,
    ),
)
def test_a_session_is_told_of_what_it_subscribed_to(revision: str, steps: list[Any]) -> None:
    p = pair(revision)
    subscribed: set[str] = set()
    for step, uri, answer in steps:
        match step:
            case "publish":
                wanted = any(above(uri, each) for each in subscribed)
                assert p.server.publish(updated(uri)) == wanted
                told = NotificationReceived(method="notifications/resources/updated", notification=updated(uri))
                assert p.pump() == [told] * wanted
                assert p.server.publish(TOOLS) == 1  # which needs no subscription
                assert drawn(p.pump()) == []
            case "move":
                p.client, p.server = moved(p.client), moved(p.server)
            case _:
                kind = t.SubscribeRequest if step == "subscribe" else t.UnsubscribeRequest
                request_id = p.open(CLIENT, kind(uri))
                match answer:
                    case "result":
                        p.server.respond(request_id, t.EmptyResult())
                        subscribed = subscribed | {uri} if step == "subscribe" else subscribed - {uri}
                    case "error":
                        p.server.respond_error(request_id, -32002, "no such resource")
                    case _:
                        p.client.cancel(request_id)
                assert drawn(p.pump()) == []
    assert p.server.conversation.session.subscribed == subscribed
    assert p.client.conversation.shared() == p.server.conversation.shared()


@every_legacy
@pytest.mark.parametrize("change", [TOOLS, PROMPTS, RESOURCES], ids=lambda change: change.method)
def test_a_server_tells_a_session_only_of_what_it_declared(change: Any, revision: str) -> None:
    can = t.ServerCapabilities(
        tools=t.ToolsCapability(), prompts=t.PromptsCapability(list_changed=False), resources=t.ResourcesCapability()
    )
    p = pair(revision, server_can=can)
    before = state_of(p.server)
    with pytest.raises(CapabilityError):
        p.server.publish(change)
    assert state_of(p.server) == before
    assert p.server.publish(updated("file:///a")) == 0


@every_legacy
def test_a_client_that_never_says_initialized_is_told_too(revision: str) -> None:
    """It is served, so it is told: notifications are in order before initialized (basic/lifecycle)."""
    conn = server(revisions=[revision])
    feed(conn, initialize("i", revision))
    feed(conn, request("s", "resources/subscribe", {"uri": "file:///a"}))
    conn.respond("s", t.EmptyResult())
    sent(conn)
    assert [conn.publish(change) for change in (TOOLS, updated("file:///a"), updated("x"))] == [1, 1, 0]


# Both on one pipe -----------------------------------------------------------------------------------------------------


def both() -> Any:
    """A server with a legacy session and two modern subscriptions on one pipe."""
    conn = server()
    feed(conn, initialize("i", D, capabilities={"roots": {}}), INITIALIZED)
    feed(conn, request("s", "resources/subscribe", {"uri": "file:///a"}))
    conn.respond("s", t.EmptyResult())
    feed(
        conn,
        modern(1, "subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
        modern("1", "subscriptions/listen", {"notifications": {"resourceSubscriptions": ["file:///a/b"]}}),
    )
    sent(conn)
    return conn


@pytest.mark.parametrize("move", [False, True])
def test_one_publish_tells_clients_of_both_eras(move: bool) -> None:
    conn = moved(both()) if move else both()
    changes = (TOOLS, PROMPTS, updated("file:///a/b"), updated("file:///a"))
    assert [conn.publish(change) for change in changes] == [2, 1, 2, 1]
    outgoing = conn.messages_to_send()
    assert [each.related for each in outgoing] == [None, 1, None, None, "1", None]
    metas = [json.loads(each.data).get("params", {}).get("_meta", {}) for each in outgoing]
    assert [meta.get(SUBSCRIPTION_KEY) for meta in metas] == [None, 1, None, None, "1", None]


def test_a_subscription_with_the_id_of_a_request_of_ours() -> None:
    """cancelled would be about the request, so the result alone ends the subscription."""
    conn = both()
    ours = conn.request(t.ListRootsRequest(), id=1)
    sent(conn)
    assert conn.end_subscription(1) == Sent()
    (answer,) = sent(conn)
    assert (answer["id"], "result" in answer) == (1, True)
    assert (conn.in_flight, conn.owed) == ((1,), ("1",))
    (event,) = feed(conn, result(1, {"roots": []}))
    assert ours.answered_by(event)
    assert conn.end_subscription("1") == Sent()
    assert [message.get("method", "answer") for message in sent(conn)] == ["notifications/cancelled", "answer"]


def test_a_cancel_of_a_legacy_request_ends_no_subscription() -> None:
    conn = both()
    feed(conn, request("legacy", "tools/list"))
    events: list[Event] = feed(conn, notification("notifications/cancelled", {"requestId": "legacy"}))
    assert [type(event) for event in events] == [RequestCancelled]
    assert conn.owed == (1, "1")
