"""Who may send what, in which revision, with which params and result, and what it needs.

Source: the unions ``ClientRequest``, ``ServerRequest``, ``ClientNotification`` and ``ServerNotification`` in the schema
of each revision, and the page of each feature.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import attrs

from .. import types as t
from ..jsonrpc import JSONObject, is_object
from .lifecycle import ANY_PHASE, Phase
from .revisions import Side, is_modern

__all__ = ["METHODS", "Effect", "Kind", "Method", "Tells"]


class Kind(Enum):
    """Whether a message is answered."""

    REQUEST = "request"
    NOTIFICATION = "notification"


class Effect(Enum):
    """What a request changes in a legacy session once it has its result."""

    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    SET_LOG_LEVEL = "set log level"


class Tells(Enum):
    """What a notification tells of a request in flight."""

    CANCELLED = "cancelled"
    """That its sender gives it up, or that the server ends a subscription."""
    PROGRESS = "progress"
    """How far it has got."""
    LOG = "log"
    """What happens while it is served."""
    ACKNOWLEDGED = "acknowledged"
    """What a subscription will tell of."""


@attrs.frozen(eq=False)
class Method:
    """One row: a method, sent by one side, in a span of revisions.

    Attributes:
        name: the method, as on the wire.
        kind: request or notification.
        sender: the side that sends it.
        payload: the class of its params.
        result: the class of its result; notifications have none.
        since: the first revision that has it.
        until: the last revision that has it; None when it still exists.
        needs: the capability that it needs, by name in `CAPABILITIES`; revisions that lack the capability need none.
        declares_rule: the rule that a side breaks which answers it with a result but did not declare ``needs``.
        undeclared_rule: the rule that a sender breaks without ``needs``.
        params_rule: the rule that params of the wrong shape break.
        result_rule: the rule that a result of the wrong shape breaks.
        must_be_served: whether a side that declared ``needs`` must answer it with something else than -32601.
        blobs: the member of its result whose items may hold base64.
        phases: the phases of a legacy session in which it may be sent.
        once: sent at most once in a session, and refused after that.
        automatic: answered by the library unless the application asked to answer it itself.
        cancellable: whether ``notifications/cancelled`` may end it.
        batchable: whether it may be part of a batch.
        cacheable: whether its result carries ``ttlMs`` and ``cacheScope`` (2026-07-28).
        inspected: whether a connection itself acts on what it holds, so that it is read typed even where payloads are
            only forwarded.
        statuses: where its result or params tell the status of tasks: "$" for themselves, else the name of a member.
        task_result: whether its result is that of a task.
        input_required: whether it may be answered ``input_required`` (2026-07-28).
        task_augmentable: whether it may carry ``task`` (2025-11-25).
        effect: what it changes in a legacy session once it has its result.
        subject: the member of its params that says what ``effect`` is about.
        listens: whether it opens a subscription, on which notifications come until it is answered.
        extension: the extension that it belongs to; None for the core protocol.
        tells: what it tells of a request.
        filter: the member of a subscription's filter that lets this notification through.
    """

    name: str
    kind: Kind
    sender: Side
    payload: type[Any]
    result: type[t.Result] = t.EmptyResult
    since: str = "2024-11-05"
    until: str | None = None
    needs: str | None = None
    declares_rule: str | None = None
    undeclared_rule: str = "CAP-001"
    params_rule: str = "LIB-003"
    result_rule: str = "RPC-018"
    must_be_served: bool = False
    blobs: str | None = None
    phases: frozenset[Phase] = frozenset({Phase.OPERATION})
    once: bool = False
    automatic: bool = False
    cancellable: bool = True
    batchable: bool = True
    cacheable: bool = False
    inspected: bool = False
    statuses: str | None = None
    task_result: bool = False
    input_required: bool = False
    task_augmentable: bool = False
    effect: Effect | None = None
    subject: str = ""
    listens: bool = False
    tells: Tells | None = None
    filter: str | None = None
    extension: str | None = None

    def exists_in(self, revision: str) -> bool:
        """Whether *revision* has this row."""
        return self.since <= revision and (self.until is None or revision <= self.until)

    def result_class(self, result: JSONObject, revision: str, *, task: bool) -> type[t.Result] | None:
        """The class that *result*, as decoded JSON, is read as.

        Args:
            result: a result of this method.
            revision: the revision in force.
            task: whether the request was augmented with a task (2025-11-25).

        Returns:
            The class; None where its ``resultType`` is unknown, or not one that this method has.
        """
        if is_modern(revision):
            kind = result.get("resultType", "complete")
            if kind == "input_required":
                return t.InputRequiredResult if self.input_required else None
            return self.result if kind == "complete" else None
        if task and is_object(result.get("task")):
            return t.CreateTaskResult
        return self.result


_A, _C25, _D, _E = "2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"
_CLIENT, _SERVER = Side.CLIENT, Side.SERVER


def _request(sender: Side, payload: type[Any], result: type[t.Result], **columns: Any) -> Method:
    return Method(payload.method, Kind.REQUEST, sender, payload, result, **columns)


def _notification(sender: Side, payload: type[Any], **columns: Any) -> Method:
    columns.setdefault("phases", ANY_PHASE)
    return Method(payload.method, Kind.NOTIFICATION, sender, payload, **columns)


def _list(payload: type[Any], result: type[t.Result], needs: str, *, must_be_served: bool = True) -> Method:
    return _request(
        _CLIENT,
        payload,
        result,
        needs=needs,
        cacheable=True,
        declares_rule="CAP-002",
        must_be_served=must_be_served,
    )


def _task_methods(requestor: Side) -> tuple[Method, ...]:
    tasks = f"{requestor.other.value}.tasks"
    span: dict[str, Any] = {"since": _D, "until": _D}
    told: dict[str, Any] = {"statuses": "$", **span}
    return (
        _request(requestor, t.GetTaskRequest, t.GetTaskResult, needs=tasks, **told),
        _request(requestor, t.GetTaskPayloadRequest, t.GetTaskPayloadResult, needs=tasks, task_result=True, **span),
        _request(requestor, t.ListTasksRequest, t.ListTasksResult, needs=f"{tasks}.list", statuses="tasks", **span),
        _request(requestor, t.CancelTaskRequest, t.CancelTaskResult, needs=f"{tasks}.cancel", **told),
        _notification(requestor.other, t.TaskStatusNotification, needs=tasks, inspected=True, **told),
    )


_SUBSCRIBING: dict[str, Any] = {"until": _D, "needs": "server.resources.subscribe", "subject": "uri"}

METHODS: tuple[Method, ...] = (
    # Requests of the client
    _request(
        _CLIENT,
        t.InitializeRequest,
        t.InitializeResult,
        until=_D,
        phases=frozenset({Phase.OPENING}),
        once=True,
        automatic=True,
        cancellable=False,
        batchable=False,
        params_rule="LIFE-002",
        result_rule="LIFE-006",
        inspected=True,
    ),
    _request(_CLIENT, t.PingRequest, t.EmptyResult, until=_D, phases=ANY_PHASE, automatic=True),
    _request(_CLIENT, t.DiscoverRequest, t.DiscoverResult, since=_E, automatic=True, cacheable=True, inspected=True),
    _list(t.ListToolsRequest, t.ListToolsResult, "server.tools"),
    _request(
        _CLIENT,
        t.CallToolRequest,
        t.CallToolResult,
        needs="server.tools",
        input_required=True,
        task_augmentable=True,
    ),
    _list(t.ListResourcesRequest, t.ListResourcesResult, "server.resources"),
    _list(
        t.ListResourceTemplatesRequest,
        t.ListResourceTemplatesResult,
        "server.resources",
        must_be_served=False,
    ),
    _request(
        _CLIENT,
        t.ReadResourceRequest,
        t.ReadResourceResult,
        needs="server.resources",
        cacheable=True,
        input_required=True,
        blobs="contents",
    ),
    _request(_CLIENT, t.SubscribeRequest, t.EmptyResult, effect=Effect.SUBSCRIBE, **_SUBSCRIBING),
    _request(_CLIENT, t.UnsubscribeRequest, t.EmptyResult, effect=Effect.UNSUBSCRIBE, **_SUBSCRIBING),
    _request(
        _CLIENT,
        t.SubscriptionsListenRequest,
        t.SubscriptionsListenResult,
        since=_E,
        automatic=True,
        listens=True,
    ),
    _list(t.ListPromptsRequest, t.ListPromptsResult, "server.prompts"),
    _request(_CLIENT, t.GetPromptRequest, t.GetPromptResult, needs="server.prompts", input_required=True),
    _request(_CLIENT, t.CompleteRequest, t.CompleteResult, needs="server.completions", declares_rule="CAP-005"),
    _request(
        _CLIENT,
        t.SetLevelRequest,
        t.EmptyResult,
        until=_D,
        needs="server.logging",
        effect=Effect.SET_LOG_LEVEL,
        subject="level",
    ),
    *_task_methods(_CLIENT),
    # Requests of the server: legacy only, input requests in 2026-07-28
    _request(_SERVER, t.PingRequest, t.EmptyResult, until=_D, phases=ANY_PHASE, automatic=True),
    _request(
        _SERVER,
        t.CreateMessageRequest,
        t.CreateMessageResult,
        until=_D,
        needs="client.sampling",
        task_augmentable=True,
    ),
    _request(_SERVER, t.ListRootsRequest, t.ListRootsResult, until=_D, needs="client.roots"),
    _request(
        _SERVER,
        t.ElicitRequest,
        t.ElicitResult,
        since=_C25,
        until=_D,
        needs="client.elicitation",
        task_augmentable=True,
    ),
    *_task_methods(_SERVER),
    # Notifications of the client
    _notification(
        _CLIENT,
        t.InitializedNotification,
        until=_D,
        phases=frozenset({Phase.INITIALIZED}),
        once=True,
        inspected=True,
    ),
    _notification(_CLIENT, t.CancelledNotification, tells=Tells.CANCELLED, inspected=True),
    _notification(_CLIENT, t.ProgressNotification, tells=Tells.PROGRESS, until=_D, inspected=True),
    _notification(
        _CLIENT,
        t.RootsListChangedNotification,
        until=_D,
        needs="client.roots.listChanged",
        phases=frozenset({Phase.OPERATION}),
    ),
    # Notifications of the server
    _notification(_SERVER, t.CancelledNotification, tells=Tells.CANCELLED, inspected=True),
    _notification(_SERVER, t.ProgressNotification, tells=Tells.PROGRESS, inspected=True),
    _notification(
        _SERVER,
        t.LoggingMessageNotification,
        tells=Tells.LOG,
        needs="server.logging",
        undeclared_rule="CAP-004",
        inspected=True,
    ),
    _notification(_SERVER, t.ToolListChangedNotification, needs="server.tools.listChanged", filter="toolsListChanged"),
    _notification(
        _SERVER,
        t.PromptListChangedNotification,
        needs="server.prompts.listChanged",
        filter="promptsListChanged",
    ),
    _notification(
        _SERVER,
        t.ResourceListChangedNotification,
        needs="server.resources.listChanged",
        filter="resourcesListChanged",
    ),
    _notification(
        _SERVER,
        t.ResourceUpdatedNotification,
        needs="server.resources.subscribe",
        filter="resourceSubscriptions",
    ),
    _notification(_SERVER, t.SubscriptionsAcknowledgedNotification, tells=Tells.ACKNOWLEDGED, since=_E, inspected=True),
    _notification(_SERVER, t.ElicitationCompleteNotification, since=_D, until=_D, needs="client.elicitation.url"),
)
