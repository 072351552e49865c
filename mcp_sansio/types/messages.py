"""The closed unions of all requests, notifications and results, and the classes for what they don't know.

Each union holds what any of the revisions has; `exists` tells which.
"""

from __future__ import annotations

from typing import TypeAlias

from ..jsonrpc import JSONObject
from .base import EmptyResult, Notification, Request, Result, member, payload
from .cancellation import CancelledNotification
from .completion import CompleteRequest, CompleteResult
from .discover import DiscoverRequest, DiscoverResult
from .elicitation import (
    ElicitationCompleteNotification,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
)
from .lifecycle import InitializedNotification, InitializeRequest, InitializeResult
from .logging import LoggingMessageNotification, SetLevelRequest
from .mrtr import InputRequiredResult
from .ping import PingRequest
from .progress import ProgressNotification
from .prompts import (
    GetPromptRequest,
    GetPromptResult,
    ListPromptsRequest,
    ListPromptsResult,
    PromptListChangedNotification,
)
from .resources import (
    ListResourcesRequest,
    ListResourcesResult,
    ListResourceTemplatesRequest,
    ListResourceTemplatesResult,
    ReadResourceRequest,
    ReadResourceResult,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    SubscribeRequest,
    UnsubscribeRequest,
)
from .roots import ListRootsRequest, ListRootsResult, RootsListChangedNotification
from .sampling import CreateMessageRequest, CreateMessageResult
from .subscriptions import (
    SubscriptionsAcknowledgedNotification,
    SubscriptionsListenRequest,
    SubscriptionsListenResult,
)
from .tasks import (
    CancelTaskRequest,
    CancelTaskResult,
    CreateTaskResult,
    GetTaskPayloadRequest,
    GetTaskPayloadResult,
    GetTaskRequest,
    GetTaskResult,
    ListTasksRequest,
    ListTasksResult,
    TaskStatusNotification,
)
from .tools import (
    CallToolRequest,
    CallToolResult,
    ListToolsRequest,
    ListToolsResult,
    ToolListChangedNotification,
)

__all__ = [
    "AnyNotification",
    "AnyRequest",
    "AnyResult",
    "ClientNotification",
    "ClientRequest",
    "ClientResult",
    "CustomNotification",
    "CustomRequest",
    "CustomResult",
    "ServerNotification",
    "ServerRequest",
    "ServerResult",
]


@payload()
class CustomRequest(Request["CustomResult"]):
    """A request that the specification doesn't have, an extension's for instance."""

    method: str  # type: ignore[misc]  # pyright: ignore[reportIncompatibleVariableOverride]  # here, of the instance
    params: JSONObject | None = member(default=None)
    """As in JSON; ``meta`` and ``extra``, if given, are added to them."""


@payload()
class CustomNotification(Notification):
    """A notification that the specification doesn't have, an extension's for instance."""

    method: str  # type: ignore[misc]  # pyright: ignore[reportIncompatibleVariableOverride]  # here, of the instance
    params: JSONObject | None = member(default=None)
    """As in JSON; ``meta`` and ``extra``, if given, are added to them."""


@payload()
class CustomResult(Result):
    """A result that the specification doesn't have: its members are in ``extra``."""


ClientRequest: TypeAlias = (
    PingRequest
    | InitializeRequest
    | DiscoverRequest
    | CompleteRequest
    | SetLevelRequest
    | GetPromptRequest
    | ListPromptsRequest
    | ListResourcesRequest
    | ListResourceTemplatesRequest
    | ReadResourceRequest
    | SubscribeRequest
    | UnsubscribeRequest
    | SubscriptionsListenRequest
    | CallToolRequest
    | ListToolsRequest
    | GetTaskRequest
    | GetTaskPayloadRequest
    | ListTasksRequest
    | CancelTaskRequest
)
ServerRequest: TypeAlias = (
    PingRequest
    | CreateMessageRequest
    | ListRootsRequest
    | ElicitRequestFormParams
    | ElicitRequestURLParams
    | GetTaskRequest
    | GetTaskPayloadRequest
    | ListTasksRequest
    | CancelTaskRequest
)
ClientNotification: TypeAlias = (
    CancelledNotification
    | ProgressNotification
    | InitializedNotification
    | RootsListChangedNotification
    | TaskStatusNotification
)
ServerNotification: TypeAlias = (
    CancelledNotification
    | ProgressNotification
    | LoggingMessageNotification
    | ResourceUpdatedNotification
    | ResourceListChangedNotification
    | ToolListChangedNotification
    | PromptListChangedNotification
    | ElicitationCompleteNotification
    | SubscriptionsAcknowledgedNotification
    | TaskStatusNotification
)
# The schemas leave CreateTaskResult out of both unions of results, though requests are answered with it.
ClientResult: TypeAlias = (
    EmptyResult
    | CreateMessageResult
    | ListRootsResult
    | ElicitResult
    | CreateTaskResult
    | GetTaskResult
    | GetTaskPayloadResult
    | ListTasksResult
    | CancelTaskResult
)
ServerResult: TypeAlias = (
    EmptyResult
    | InitializeResult
    | DiscoverResult
    | CompleteResult
    | GetPromptResult
    | ListPromptsResult
    | ListResourceTemplatesResult
    | ListResourcesResult
    | ReadResourceResult
    | SubscriptionsListenResult
    | CallToolResult
    | ListToolsResult
    | InputRequiredResult
    | CreateTaskResult
    | GetTaskResult
    | GetTaskPayloadResult
    | ListTasksResult
    | CancelTaskResult
)
AnyRequest: TypeAlias = ClientRequest | ServerRequest | CustomRequest
AnyNotification: TypeAlias = ClientNotification | ServerNotification | CustomNotification
AnyResult: TypeAlias = ClientResult | ServerResult | CustomResult
