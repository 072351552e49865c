"""Completion of arguments while the user types. Source: page server/utilities/completion."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Payload, Request, Result, member, payload

__all__ = [
    "CompleteRequest",
    "CompleteResult",
    "Completion",
    "CompletionArgument",
    "CompletionContext",
    "PromptReference",
    "ResourceTemplateReference",
]


@payload()
class PromptReference(Payload):
    """Names a prompt."""

    name: str
    title: str | None = member(default=None, since="2025-06-18")
    type: Literal["ref/prompt"] = "ref/prompt"


@payload()
class ResourceTemplateReference(Payload):
    """Names a resource template. (ResourceReference before 2025-06-18.)"""

    uri: str
    """A URI or a template for one."""
    type: Literal["ref/resource"] = "ref/resource"


@payload()
class CompletionArgument(Payload):
    """The argument to complete."""

    name: str
    value: str
    """What the user typed so far."""


@payload(since="2025-06-18")
class CompletionContext(Payload):
    """What is known besides."""

    arguments: dict[str, str] | None = member(default=None)
    """The arguments that have their values already."""


@payload()
class Completion(Payload):
    """Proposals."""

    values: list[str]
    """At most 100."""
    total: int | None = member(default=None)
    has_more: bool | None = member(default=None)


@payload()
class CompleteResult(Result):
    """Proposals for the argument."""

    completion: Completion


@payload()
class CompleteRequest(Request[CompleteResult]):
    """Ask for proposals for an argument."""

    method: ClassVar[str] = "completion/complete"
    ref: PromptReference | ResourceTemplateReference
    argument: CompletionArgument
    context: CompletionContext | None = member(default=None, since="2025-06-18")
