"""Subscriptions to changes. Source: 2026-07-28, page basic/patterns/subscriptions."""

from __future__ import annotations

from typing import ClassVar

from .base import Notification, Payload, Request, Result, member, payload

__all__ = [
    "SubscriptionFilter",
    "SubscriptionsAcknowledgedNotification",
    "SubscriptionsListenRequest",
    "SubscriptionsListenResult",
]


@payload(since="2026-07-28")
class SubscriptionFilter(Payload):
    """Which changes to tell of."""

    tools_list_changed: bool | None = member(default=None)
    prompts_list_changed: bool | None = member(default=None)
    resources_list_changed: bool | None = member(default=None)
    resource_subscriptions: list[str] | None = member(default=None)
    """URIs."""


@payload(since="2026-07-28")
class SubscriptionsListenResult(Result):
    """The end of a subscription. Its ``_meta`` names it: ``io.modelcontextprotocol/subscriptionId``."""


@payload(since="2026-07-28")
class SubscriptionsListenRequest(Request[SubscriptionsListenResult]):
    """Ask to be told of changes, until the result ends it."""

    method: ClassVar[str] = "subscriptions/listen"
    notifications: SubscriptionFilter


@payload(since="2026-07-28")
class SubscriptionsAcknowledgedNotification(Notification):
    """The first message of a subscription: which of the changes asked for the server will tell of."""

    method: ClassVar[str] = "notifications/subscriptions/acknowledged"
    notifications: SubscriptionFilter
