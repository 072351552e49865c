"""Multi round-trip requests: the server answers what it needs, and the client asks again.

Source: 2026-07-28, page basic/patterns/mrtr.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from .base import Request, Result, member, payload
from .elicitation import ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult
from .roots import ListRootsRequest, ListRootsResult
from .sampling import CreateMessageRequest, CreateMessageResult

__all__ = [
    "InputRequest",
    "InputRequiredResult",
    "InputResponse",
    "InputResponseRequest",
]

R_co = TypeVar("R_co", covariant=True)

InputRequest: TypeAlias = CreateMessageRequest | ListRootsRequest | ElicitRequestFormParams | ElicitRequestURLParams
"""What a server may ask for. In JSON each is an object with ``method`` and ``params``."""

InputResponse: TypeAlias = CreateMessageResult | ListRootsResult | ElicitResult
"""What a client answers. In JSON only their members tell them apart: model, roots or action."""


@payload(since="2026-07-28")
class InputRequiredResult(Result):
    """The server needs answers before it can go on; at least one of the two fields is given."""

    input_requests: dict[str, InputRequest] | None = member(default=None)
    """By keys of the server's choice, which the answers repeat."""
    request_state: str | None = member(default=None)
    """To be sent back unchanged."""
    result_type: str | None = member(
        default=None, kw_only=True, since="2026-07-28", required=True, stamp="input_required"
    )


@payload(since="2026-07-28")
class InputResponseRequest(Request[R_co]):
    """Base of the requests that may be answered with an `InputRequiredResult`, and then asked again."""

    input_responses: dict[str, InputResponse] | None = member(default=None, kw_only=True, since="2026-07-28")
    request_state: str | None = member(default=None, kw_only=True, since="2026-07-28")
    """As it came; None if there was none."""
