"""Tasks: requests whose results are fetched later. Source: 2025-11-25, page basic/utilities/tasks."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias, TypeVar

from .base import Notification, Payload, Request, Result, member, payload
from .pagination import PaginatedRequest, PaginatedResult

__all__ = [
    "CancelTaskRequest",
    "CancelTaskResult",
    "CreateTaskResult",
    "GetTaskPayloadRequest",
    "GetTaskPayloadResult",
    "GetTaskRequest",
    "GetTaskResult",
    "ListTasksRequest",
    "ListTasksResult",
    "RelatedTaskMetadata",
    "Task",
    "TaskAugmentedRequest",
    "TaskMetadata",
    "TaskStatus",
    "TaskStatusNotification",
]

R_co = TypeVar("R_co", covariant=True)

TaskStatus: TypeAlias = Literal["working", "input_required", "completed", "failed", "cancelled"] | str
"""The last three are terminal."""


@payload(since="2025-11-25", until="2025-11-25")
class TaskMetadata(Payload):
    """Asks for a task instead of an immediate result."""

    ttl: int | None = member(default=None)
    """For how many milliseconds the task should be kept."""


@payload(since="2025-11-25", until="2025-11-25")
class RelatedTaskMetadata(Payload):
    """The ``_meta`` member ``io.modelcontextprotocol/related-task`` of messages that belong to a task."""

    task_id: str


@payload(since="2025-11-25", until="2025-11-25")
class TaskAugmentedRequest(Request[R_co]):
    """Base of the requests that may be made tasks: tool calls, sampling, elicitation."""

    task: TaskMetadata | None = member(default=None, kw_only=True, since="2025-11-25", until="2025-11-25")
    """Given: the answer is a `CreateTaskResult`."""


@payload(since="2025-11-25", until="2025-11-25")
class Task(Payload):
    """The state of a task."""

    task_id: str
    status: TaskStatus
    created_at: str
    """ISO 8601."""
    last_updated_at: str
    """ISO 8601."""
    ttl: int | None
    """For how many milliseconds since its creation the task is kept; None (null): without end."""
    status_message: str | None = member(default=None)
    poll_interval: int | None = member(default=None)
    """Suggested milliseconds between two polls."""


@payload(since="2025-11-25", until="2025-11-25")
class CreateTaskResult(Result):
    """The answer to a request that was made a task."""

    task: Task


@payload(since="2025-11-25", until="2025-11-25")
class GetTaskResult(Task, Result):
    """The state of the task that was asked for."""


@payload(since="2025-11-25", until="2025-11-25")
class GetTaskRequest(Request[GetTaskResult]):
    """Ask for the state of a task."""

    method: ClassVar[str] = "tasks/get"
    task_id: str


@payload(since="2025-11-25", until="2025-11-25")
class GetTaskPayloadResult(Result):
    """What the request that became the task would have answered: all its members are in ``extra``."""


@payload(since="2025-11-25", until="2025-11-25")
class GetTaskPayloadRequest(Request[GetTaskPayloadResult]):
    """Wait for the end of a task, and get its result."""

    method: ClassVar[str] = "tasks/result"
    task_id: str


@payload(since="2025-11-25", until="2025-11-25")
class ListTasksResult(PaginatedResult):
    """A page of tasks."""

    tasks: list[Task]


@payload(since="2025-11-25", until="2025-11-25")
class ListTasksRequest(PaginatedRequest[ListTasksResult]):
    """Ask for the tasks of the other side."""

    method: ClassVar[str] = "tasks/list"


@payload(since="2025-11-25", until="2025-11-25")
class CancelTaskResult(Task, Result):
    """The state of the task after it was cancelled."""


@payload(since="2025-11-25", until="2025-11-25")
class CancelTaskRequest(Request[CancelTaskResult]):
    """Cancel a task."""

    method: ClassVar[str] = "tasks/cancel"
    task_id: str


@payload(since="2025-11-25", until="2025-11-25")
class TaskStatusNotification(Task, Notification):
    """The state of a task has changed."""

    method: ClassVar[str] = "notifications/tasks/status"
