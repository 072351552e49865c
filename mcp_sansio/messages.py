"""Single messages, typed, without a connection: for logs, gateways, fuzzers and tests.

Nothing is remembered from one call to the next, so what depends on the conversation (ids, phases, capabilities) is not
judged here; `mcp_sansio.connection` does that.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import attrs

from .codec import STDLIB, Codec, DecodeError, EncodeError
from .jsonrpc import (
    Error,
    InvalidMessage,
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResultResponse,
    RequestId,
    is_object,
    message_to_json,
)
from .jsonrpc import parse_message as parse_envelope
from .limits import Limits
from .spec import CORE, REVISIONS, Kind, Method, Side, Spec, extension_capability, is_modern
from .spec.meta import REQUEST_META
from .types import AnyNotification, AnyRequest, CustomNotification, CustomRequest, CustomResult, Result
from .types.converter import PayloadError, UnavailableError, structure, unstructure

__all__ = [
    "ErrorMessage",
    "Message",
    "MessageError",
    "NotificationMessage",
    "RequestMessage",
    "ResultMessage",
    "parse_message",
    "serialize_message",
]


@attrs.frozen
class RequestMessage:
    """A request: its id, and its params as a class of `mcp_sansio.types`."""

    id: RequestId
    request: AnyRequest


@attrs.frozen
class NotificationMessage:
    """A notification: its params as a class of `mcp_sansio.types`."""

    notification: AnyNotification


@attrs.frozen
class ResultMessage:
    """The answer to a request that succeeded."""

    id: RequestId
    result: Result


@attrs.frozen
class ErrorMessage:
    """The answer to a request that failed; ``id`` is None where the sender could not read the request's."""

    id: RequestId | None
    error: Error


Message: TypeAlias = RequestMessage | NotificationMessage | ResultMessage | ErrorMessage


class MessageError(ValueError):
    """Bytes are no message of the revision, or a message cannot be written in it.

    Attributes:
        path: where the fault is, such as ``$.params.arguments``; ``$`` for the message as a whole.
        detail: what is wrong there, and what would be right.
        rules: the ids of the rules that the bytes break, where a row of `RULES` names it.
    """

    def __init__(self, path: str, detail: str, rules: tuple[str, ...] = ()) -> None:
        super().__init__(path, detail, rules)
        self.path = path
        self.detail = detail
        self.rules = rules

    def __str__(self) -> str:
        return f"{self.path}: {self.detail}"


def parse_message(
    data: bytes | str,
    *,
    revision: str,
    sender: Side,
    answering: str | None = None,
    codec: Codec = STDLIB,
    limits: Limits | None = None,
    spec: Spec = CORE,
) -> Message:
    """Read one message.

    Args:
        data: its JSON text, with or without a newline at the end; a `str` is taken as its UTF-8 encoding.
        revision: the revision to read it by.
        sender: the side that sent it.
        answering: of a response, the method that it answers; without it a result is a `CustomResult`.
        codec: how JSON is read.
        limits: `Limits.depth`, `Limits.forbid_duplicate_names` and `Limits.id_length` are obeyed.
        spec: the method table.

    Raises:
        MessageError: it is no message of *sender* in *revision*.
    """
    _check_revision(revision)
    limits = limits if limits is not None else Limits()
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        value = codec.decode(raw, limits)
    except DecodeError as error:
        raise MessageError("$", f"not a JSON text that is taken here: {error.detail}") from None
    message = parse_envelope(value, id_length=limits.id_length)
    if isinstance(message, InvalidMessage):
        raise MessageError("$", message.detail, message.rules)
    if isinstance(message, JSONRPCErrorResponse):
        return ErrorMessage(message.id, message.error)
    if isinstance(message, JSONRPCResultResponse):
        return ResultMessage(message.id, _result(spec, sender, answering, message.result, revision))
    params = message.params
    if isinstance(message, JSONRPCNotification):
        row = _row(spec, sender, message.method, revision, Kind.NOTIFICATION)
        if row is None:
            return NotificationMessage(CustomNotification(message.method, params))
        return NotificationMessage(_read(params or {}, row.payload, revision))
    row = _row(spec, sender, message.method, revision, Kind.REQUEST)
    if is_modern(revision):
        _check_meta(params or {}, revision)
    if row is None:
        return RequestMessage(message.id, CustomRequest(message.method, params))
    return RequestMessage(message.id, _read(params or {}, row.payload, revision))


def serialize_message(message: Message, *, revision: str, codec: Codec = STDLIB) -> bytes:
    """Write one message as a line: JSON in UTF-8 and a newline.

    Members that *revision* lacks are left out, those that it requires and that can be known are filled in.

    Args:
        message: the message.
        revision: the revision to write it by.
        codec: how JSON is written.

    Raises:
        MessageError: *revision* lacks the message or a type in it, or a value has the wrong shape.
    """
    _check_revision(revision)
    envelope: JSONRPCMessage
    if isinstance(message, RequestMessage):
        params = _written(message.request, revision, "params")
        if is_modern(revision):
            _check_meta(params, revision)
        envelope = JSONRPCRequest(message.id, message.request.method, params or None)
    elif isinstance(message, NotificationMessage):
        params = _written(message.notification, revision, "params")
        envelope = JSONRPCNotification(message.notification.method, params or None)
    elif isinstance(message, ResultMessage):
        envelope = JSONRPCResultResponse(message.id, _written(message.result, revision, "result"))
    else:
        envelope = JSONRPCErrorResponse(message.id, message.error)
    value = message_to_json(envelope, null_id=REVISIONS[revision].null_id)
    checked = parse_envelope(value)
    if isinstance(checked, InvalidMessage):
        raise MessageError("$", checked.detail, checked.rules)
    try:
        return codec.encode(value) + b"\n"
    except EncodeError as error:
        raise MessageError("$", f"JSON cannot hold this: {error}") from None


def _check_revision(revision: str) -> None:
    if revision not in REVISIONS:
        raise MessageError("$", f"{revision!r:.40} is no revision; there are {', '.join(REVISIONS)}")


def _row(spec: Spec, sender: Side, method: str, revision: str, kind: Kind) -> Method | None:
    """The row of a method; None where no revision has it."""
    row = spec.method(sender, method, revision)
    if row is not None:
        if row.kind is not kind:
            rule = "RPC-007" if kind is Kind.REQUEST else "RPC-008"
            raise MessageError("$", f"{method} is a {row.kind.value}", (rule,))
        return row
    for other in spec.rows(sender, method):
        span = f"from {other.since}" if other.until is None else f"from {other.since} to {other.until}"
        raise MessageError("$.method", f"{method} exists {span}, not in {revision}")
    for _ in spec.rows(sender.other, method):
        raise MessageError("$.method", f"{method} is not sent by the {sender.value}", ("LIB-006",))
    return None


def _check_meta(params: JSONObject, revision: str) -> None:
    meta: Any = params.get("_meta")
    for key in REQUEST_META:
        if is_object(meta) and key.name in meta:
            _read(meta[key.name], key.type, revision, f"$.params._meta[{key.name!r}]")
        elif key.required:
            raise MessageError("$.params._meta", f"expected {key.name}, found nothing", ("VER-009",))


def _result(spec: Spec, sender: Side, answering: str | None, result: JSONObject, revision: str) -> Result:
    row = spec.method(sender.other, answering, revision) if answering is not None else None
    if row is None:
        return CustomResult(extra=dict(result))
    cls = row.result_class(result, revision, task=row.task_augmentable)
    if cls is None:
        everything = {extension_capability(Side.CLIENT, extension.name) for extension in spec.extensions}
        cls = spec.extension_results(row.name, everything).get(str(result["resultType"]))
    if cls is None:
        raise MessageError("$.result.resultType", f"{row.name} has no such result", ("RPC-018",))
    read: Result = _read(result, cls, revision, "$.result")
    return read


def _read(value: Any, cls: Any, revision: str, place: str = "$.params") -> Any:
    try:
        return structure(value, cls, revision)
    except PayloadError as error:
        raise MessageError(place + error.path[1:], f"expected {error.expected}, found {error.found}") from None


def _written(payload: AnyRequest | AnyNotification | Result, revision: str, member: str) -> JSONObject:
    try:
        return unstructure(payload, revision)
    except UnavailableError as error:
        raise MessageError(f"$.{member}", str(error)) from None
    except PayloadError as error:
        place = f"$.{member}{error.path[1:]}"
        raise MessageError(place, f"expected {error.expected}, found {error.found}") from None
