"""Resources. Source: page server/resources."""

from __future__ import annotations

from typing import ClassVar

from ..jsonrpc import JSONObject
from .base import EmptyResult, Notification, Payload, Request, member, payload
from .common import Annotations, Icon
from .content import BlobResourceContents, TextResourceContents
from .mrtr import InputResponseRequest
from .pagination import CacheableResult, PaginatedRequest, PaginatedResult

__all__ = [
    "ListResourceTemplatesRequest",
    "ListResourceTemplatesResult",
    "ListResourcesRequest",
    "ListResourcesResult",
    "ReadResourceRequest",
    "ReadResourceResult",
    "Resource",
    "ResourceListChangedNotification",
    "ResourceTemplate",
    "ResourceUpdatedNotification",
    "SubscribeRequest",
    "UnsubscribeRequest",
]


@payload()
class Resource(Payload):
    """Something that the server can read. Its URI is an opaque string here, never normalised."""

    name: str
    uri: str
    title: str | None = member(default=None, since="2025-06-18")
    description: str | None = member(default=None)
    mime_type: str | None = member(default=None)
    size: int | None = member(default=None)
    """Bytes, before any encoding."""
    annotations: Annotations | None = member(default=None)
    icons: list[Icon] | None = member(default=None, since="2025-11-25")
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-06-18")


@payload()
class ResourceTemplate(Payload):
    """A family of resources."""

    name: str
    uri_template: str
    """RFC 6570."""
    title: str | None = member(default=None, since="2025-06-18")
    description: str | None = member(default=None)
    mime_type: str | None = member(default=None)
    """If all of them have the same."""
    annotations: Annotations | None = member(default=None)
    icons: list[Icon] | None = member(default=None, since="2025-11-25")
    meta: JSONObject | None = member(default=None, kw_only=True, since="2025-06-18")


@payload()
class ListResourcesResult(PaginatedResult, CacheableResult):
    """A page of resources."""

    resources: list[Resource]


@payload()
class ListResourcesRequest(PaginatedRequest[ListResourcesResult]):
    """Ask for the server's resources."""

    method: ClassVar[str] = "resources/list"


@payload()
class ListResourceTemplatesResult(PaginatedResult, CacheableResult):
    """A page of resource templates."""

    resource_templates: list[ResourceTemplate]


@payload()
class ListResourceTemplatesRequest(PaginatedRequest[ListResourceTemplatesResult]):
    """Ask for the server's resource templates."""

    method: ClassVar[str] = "resources/templates/list"


@payload()
class ReadResourceResult(CacheableResult):
    """The contents of a resource; a directory may have several."""

    contents: list[TextResourceContents | BlobResourceContents]


@payload()
class ReadResourceRequest(InputResponseRequest[ReadResourceResult]):
    """Read a resource."""

    method: ClassVar[str] = "resources/read"
    uri: str


@payload(until="2025-11-25")
class SubscribeRequest(Request[EmptyResult]):
    """Ask to be told when a resource changes."""

    method: ClassVar[str] = "resources/subscribe"
    uri: str


@payload(until="2025-11-25")
class UnsubscribeRequest(Request[EmptyResult]):
    """Ask no longer to be told."""

    method: ClassVar[str] = "resources/unsubscribe"
    uri: str


@payload()
class ResourceListChangedNotification(Notification):
    """The server's resources have changed."""

    method: ClassVar[str] = "notifications/resources/list_changed"


@payload()
class ResourceUpdatedNotification(Notification):
    """A resource has changed: the one subscribed to, or one within it."""

    method: ClassVar[str] = "notifications/resources/updated"
    uri: str
