"""The JSON-RPC 2.0 envelope: four kinds of message, and what is wrong with anything else.

Decoded JSON goes in and comes out; bytes are `mcp_sansio.codec`'s business. Rule ids are those of
`mcp_sansio.spec`; their source is the page basic/index of each revision ("Messages"), and JSON-RPC 2.0.

What is made for each message has no slots, here and elsewhere: attrs then makes a frozen instance in half the time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from enum import Enum
from typing import Any, Final, Literal, NoReturn, TypeAlias, TypeGuard

import attrs

__all__ = [
    "ABSENT",
    "Absent",
    "Error",
    "InvalidMessage",
    "JSONObject",
    "JSONRPCErrorResponse",
    "JSONRPCMessage",
    "JSONRPCNotification",
    "JSONRPCRequest",
    "JSONRPCResponse",
    "JSONRPCResultResponse",
    "JSONValue",
    "MessageKind",
    "ProgressToken",
    "RequestId",
    "copy_json",
    "is_array",
    "is_id",
    "is_object",
    "message_to_json",
    "parse_message",
    "peek",
]

RequestId: TypeAlias = str | int
"""Exact in type and value: ``1`` and ``"1"`` are two ids; ``True`` and ``1.0`` are none."""

ProgressToken: TypeAlias = str | int
"""Exact as a `RequestId` is."""

JSONObject: TypeAlias = dict[str, Any]
JSONValue: TypeAlias = JSONObject | list[Any] | str | int | float | bool | None

MessageKind: TypeAlias = Literal["request", "notification", "response", "unknown"]


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT
"""Stands for a member that isn't there, where null would be a value. Falsy; compare with ``is``."""


@attrs.frozen(slots=False)
class Error:
    """The error member of a response. ``data`` is any JSON value, null included."""

    code: int
    message: str
    data: Any = ABSENT


@attrs.frozen(slots=False)
class JSONRPCRequest:
    """A message that expects a response with the same id."""

    id: RequestId
    method: str
    params: JSONObject | None = None


@attrs.frozen(slots=False)
class JSONRPCNotification:
    """A message that is never answered."""

    method: str
    params: JSONObject | None = None


@attrs.frozen(slots=False)
class JSONRPCResultResponse:
    """The answer to a request that succeeded."""

    id: RequestId
    result: JSONObject


@attrs.frozen(slots=False)
class JSONRPCErrorResponse:
    """The answer to a request that failed; ``id`` is None if the sender could not read the request's id."""

    id: RequestId | None
    error: Error


JSONRPCResponse: TypeAlias = JSONRPCResultResponse | JSONRPCErrorResponse
JSONRPCMessage: TypeAlias = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse


@attrs.frozen(slots=False)
class InvalidMessage:
    """What can be known of something that isn't a message.

    Attributes:
        kind: what it was meant to be. A "result" or "error" member makes a response, else "method" makes a
            request if there is an "id" member, and a notification if there is none.
        id: its id, if that can be read and is valid.
        method: its method, if that can be read.
        rules: the ids of all the rules that it breaks.
        detail: a sentence for whoever wrote the peer; what it quotes is short and ASCII.
    """

    kind: MessageKind
    id: RequestId | None
    method: str | None
    rules: tuple[str, ...]
    detail: str


def is_id(value: object, id_length: int) -> TypeGuard[RequestId]:
    """Tell whether a decoded value can be a request id or progress token.

    That is a string of at most ``id_length`` characters, or an integer that all codecs read exactly
    (-2**63 to 2**64-1). JSON's 1.0 and true are neither.
    """
    if type(value) is int:
        return -0x8000_0000_0000_0000 <= value <= 0xFFFF_FFFF_FFFF_FFFF
    return type(value) is str and len(value) <= id_length


def is_object(value: Any) -> TypeGuard[JSONObject]:
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a decoded value is a JSON array."""
    return type(value) is list


def _keys(container: Any) -> Iterable[Any]:
    return container if is_object(container) else range(len(container))


def copy_json(value: Any) -> Any:
    """A decoded value again, with arrays and objects of its own. Not recursive: peers nest as deep as they like."""
    root = [value]
    todo: list[Any] = [root]
    while todo:
        container = todo.pop()
        for key in _keys(container):
            item = container[key]
            if is_object(item) or is_array(item):
                container[key] = item.copy()
                todo.append(container[key])
    return root[0]


def parse_message(value: Any, *, id_length: int = 1024) -> JSONRPCMessage | InvalidMessage:
    """Turn one decoded JSON value into a message. Never raises; unknown members are ignored.

    An array, a batch of 2025-03-26, is taken apart by the caller.
    """
    if not is_object(value):
        return _invalid("unknown", {}, id_length, [("FRAME-001", f"a message is an object, not {_say(value)}")])
    faults: list[tuple[str, str]] = []
    version = value.get("jsonrpc", ABSENT)
    if version != "2.0":
        faults.append(("RPC-001", f'jsonrpc is the string "2.0", not {_say(version)}'))
    if "result" in value or "error" in value:
        return _parse_response(value, id_length, faults)
    if "method" in value:
        return _parse_call(value, id_length, faults)
    faults.append(("FRAME-001", "a message has a method, a result or an error"))
    return _invalid("unknown", value, id_length, faults)


def _parse_call(
    message: JSONObject, id_length: int, faults: list[tuple[str, str]]
) -> JSONRPCRequest | JSONRPCNotification | InvalidMessage:
    id, method, params = message.get("id", ABSENT), message["method"], message.get("params", ABSENT)
    if id is not ABSENT and not is_id(id, id_length):
        faults.append(("RPC-008", _id_fault("request", id, id_length)))
    if params is ABSENT:
        params = None
    elif not is_object(params):
        faults.append(("RPC-015", f"params is an object, not {_say(params)}"))
    if not isinstance(method, str):
        faults.append(("FRAME-001", f"the method is a string, not {_say(method)}"))
    if faults:
        return _invalid("notification" if id is ABSENT else "request", message, id_length, faults)
    return JSONRPCNotification(method, params) if id is ABSENT else JSONRPCRequest(id, method, params)


def _parse_response(
    message: JSONObject, id_length: int, faults: list[tuple[str, str]]
) -> JSONRPCResponse | InvalidMessage:
    id, has_result, result = message.get("id", ABSENT), "result" in message, message.get("result")
    error = _parse_error(message["error"]) if "error" in message else None
    if has_result and error is not None:
        faults.append(("RPC-003", "a response has a result or an error, not both"))
    elif "method" in message:
        faults.append(("RPC-003", "a response has no method, and a request no result or error"))
    # The sender of an error may not have been able to read the id; the sender of a result was.
    if not is_id(id, id_length) and (has_result or (id is not None and id is not ABSENT)):
        faults.append(("RPC-002", _id_fault("response", id, id_length)))
    if has_result and not isinstance(result, dict):
        faults.append(("RPC-018", f"the result is an object, not {_say(result)}"))
    if isinstance(error, str):
        faults.append(("RPC-004", error))
    if faults:
        return _invalid("response", message, id_length, faults)
    if isinstance(error, Error):
        return JSONRPCErrorResponse(message.get("id"), error)
    return JSONRPCResultResponse(message["id"], message["result"])


def _parse_error(value: Any) -> Error | str:
    """The error member, or what is wrong with it."""
    if not is_object(value):
        return f"the error is an object, not {_say(value)}"
    code, message = value.get("code", ABSENT), value.get("message", ABSENT)
    if type(code) is not int:
        return f"the code of an error is an integer, not {_say(code)}"
    if not isinstance(message, str):
        return f"the message of an error is a string, not {_say(message)}"
    return Error(code, message, value.get("data", ABSENT))


def _invalid(kind: MessageKind, message: JSONObject, id_length: int, faults: list[tuple[str, str]]) -> InvalidMessage:
    id, method = message.get("id"), message.get("method")
    return InvalidMessage(
        kind,
        id if is_id(id, id_length) else None,
        method if isinstance(method, str) else None,
        tuple(rule for rule, _ in faults),
        "; ".join(detail for _, detail in faults),
    )


def _id_fault(owner: str, id: object, id_length: int) -> str:
    if type(id) is str:
        return f"the id of a {owner} has at most {id_length} characters, not {len(id)}"
    if type(id) is int:
        return f"the id of a {owner} is an integer of at most 64 bits"
    return f"the id of a {owner} is a string or an integer, not {_say(id)}"


def _say(value: object) -> str:
    """A few words for a value that should have been another."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(value) if len(value) <= 40 else f"a string of {len(value)} characters"
    if isinstance(value, int):
        # Python refuses to write very long integers.
        return str(value) if -(2**64) < value < 2**64 else "an integer beyond 64 bits"
    if isinstance(value, float):
        return repr(value)
    if value is ABSENT:
        return "absent"
    if isinstance(value, list):
        return "an array"
    return "an object" if isinstance(value, dict) else type(value).__name__


def message_to_json(message: JSONRPCMessage, *, null_id: bool = False) -> JSONObject:
    """The JSON object of a message, its params, result and error data not copied.

    ``null_id`` says how an error without an id is written: with ``"id": null``, as JSON-RPC and the revisions
    up to 2025-06-18 have it, or with no id member, as the schemas from 2025-11-25 have it.
    """
    if isinstance(message, JSONRPCRequest):
        value: JSONObject = {"jsonrpc": "2.0", "id": message.id, "method": message.method}
        if message.params is not None:
            value["params"] = message.params
        return value
    if isinstance(message, JSONRPCResultResponse):
        return {"jsonrpc": "2.0", "id": message.id, "result": message.result}
    if isinstance(message, JSONRPCNotification):
        value = {"jsonrpc": "2.0", "method": message.method}
        if message.params is not None:
            value["params"] = message.params
        return value
    value = {"jsonrpc": "2.0"}
    if message.id is not None or null_id:
        value["id"] = message.id
    error = value["error"] = {"code": message.error.code, "message": message.error.message}
    if message.error.data is not ABSENT:
        error["data"] = message.error.data
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_HEAD_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_SPACE = re.compile(r"[ \t\r\n]*")


def peek(head: bytes, *, id_length: int = 1024) -> InvalidMessage:
    """Say what can be known of a message from its first bytes, the rest being too long to keep. Never raises.

    Only complete members of the object itself count, and of the first incomplete one its name. So the kind is
    "unknown" where an id may follow, and an id or method that may have been cut is None. ``rules`` is empty:
    what the message breaks by its length is the caller's to say.
    """
    # Bytes that aren't UTF-8 become lone surrogates, which fit nowhere outside strings and in no id.
    members, closed = _read_members(head.decode("utf-8", "surrogateescape"))
    id, method = members.get("id"), members.get("method")
    kind: MessageKind = "unknown"
    if "result" in members or "error" in members:
        kind = "response"
    elif "method" in members and "id" in members:
        kind = "request"
    elif "method" in members and closed:
        kind = "notification"
    return InvalidMessage(
        kind,
        id if is_id(id, id_length) and _is_text(str(id)) else None,
        method if isinstance(method, str) and _is_text(method) else None,
        (),
        "the message is longer than this side accepts",
    )


def _read_members(text: str) -> tuple[JSONObject, bool]:
    """The members at the start of a text that begins an object, and whether the object ends in it.

    The first incomplete member has the value ABSENT.
    """
    members: JSONObject = {}
    opening = re.match(r"\ufeff?[ \t\r\n]*\{", text)
    if opening is None:
        return members, False
    position, delimiter = opening.end(), ","
    try:
        while delimiter == ",":
            name, position = _HEAD_DECODER.raw_decode(text, _skip_space(text, position))
            position = _skip_space(text, position)
            if not isinstance(name, str) or text[position : position + 1] != ":":
                return members, False
            members[name] = ABSENT
            value, position = _HEAD_DECODER.raw_decode(text, _skip_space(text, position + 1))
            # Only what follows tells that a number isn't cut: "12" may begin 123 or 12.5.
            position = _skip_space(text, position)
            delimiter = text[position : position + 1]
            if delimiter not in (",", "}"):
                return members, False
            members[name] = value
            position += 1
    except (ValueError, RecursionError):
        return members, False
    if _skip_space(text, position) < len(text):
        return {}, False  # more than one value: no message, whatever its first one says
    return members, True


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
