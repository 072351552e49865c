"""What a message says, in a few words that are safe to print."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ..jsonrpc import (
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    is_array,
    is_object,
)
from ..judge import Happening, Observation
from ..judge.observation import seconds
from ..spec import ErrorCode
from ..spec.meta import CLIENT_INFO, PROTOCOL_VERSION

__all__ = ["brief", "plain", "said"]

_ROOM = 160
"""How many characters of a value are shown."""

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "))


def plain(text: str) -> str:
    """The text without anything that a terminal would obey: what is not printable is written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def brief(value: Any, room: int = _ROOM) -> str:
    """A decoded value as JSON text, cut where it is long. Takes no longer for a large one."""
    text = ""
    for piece in _JSON.iterencode(value):
        text += piece[: room + 1]
        if len(text) > room:
            return f"{text[:room]}..."
    return text


def said(seen: Observation) -> str:
    """What happened, in one line."""
    return plain(_said(seen))


def _said(seen: Observation) -> str:
    if seen.what is Happening.EOF:
        return "closes its output"
    if seen.what is Happening.EXIT:
        return "its process ends"
    if seen.message is not None:
        return _message(seen, seen.message)
    text = seen.data.decode("utf-8", "backslashreplace")
    shown = _cut(text)
    meant = "".join(f", meant as {_message(seen, message)}" for message in seen.meant[:3])
    return f"no message: {shown}{meant}"


def _message(seen: Observation, message: JSONRPCMessage) -> str:
    if isinstance(message, JSONRPCRequest):
        told = _REQUESTS.get(message.method, _others)(message.params or {})
        return _joined(f"request {message.method[:_ROOM]} (id {brief(message.id)})", told)
    if isinstance(message, JSONRPCNotification):
        return _joined(f"notification {message.method[:_ROOM]}", _others(message.params or {}))
    kind = "error for" if isinstance(message, JSONRPCErrorResponse) else "result of"
    method = "an unknown request" if seen.method is None else seen.method[:_ROOM]
    waited = "" if seen.waited is None else f" after {seconds(seen.waited)}"
    head = f"{kind} {method} (id {brief(message.id)}){waited}"
    if isinstance(message, JSONRPCErrorResponse):
        return _joined(head, f"{_code(message.error.code)}: {brief(message.error.message)}")
    return _joined(head, _RESULTS.get(seen.method or "", _others)(message.result))


def _cut(text: str) -> str:
    return f"{text[:_ROOM]}..." if len(text) > _ROOM else text


def _joined(head: str, told: str) -> str:
    return f"{head}: {told}" if told else head


def _code(code: int) -> str:
    with suppress(ValueError):
        return f"{code} {ErrorCode(code).name.lower().replace('_', ' ')}"
    return brief(code)


# What is worth a word, by method --------------------------------------------------------------------------------------


def _others(members: JSONObject) -> str:
    """Everything but ``_meta``."""
    rest = {name: value for name, value in members.items() if name != "_meta"}
    return brief(rest) if rest else ""


def _named(members: JSONObject, *names: str) -> str:
    """Some members with their names."""
    return ", ".join(f"{name} {brief(members[name])}" for name in names if name in members)


def _discover(params: JSONObject) -> str:
    meta: Any = params.get("_meta")
    if not is_object(meta):
        return ""
    said = {"protocolVersion": meta.get(PROTOCOL_VERSION), "clientInfo": meta.get(CLIENT_INFO)}
    return _named({name: value for name, value in said.items() if value is not None}, *said)


def _handshake(members: JSONObject) -> str:
    return _named(members, "protocolVersion", "supportedVersions", "clientInfo", "serverInfo", "capabilities")


def _call(params: JSONObject) -> str:
    return _named(params, "name", "arguments")


def _called(result: JSONObject) -> str:
    content: Any = result.get("content")
    texts = [each.get("text", each) if is_object(each) else each for each in content[:5]] if is_array(content) else []
    told = ", ".join(map(brief, texts)) or _others(result)
    return f"the tool failed: {told}" if result.get("isError") is True else told


def _listed(member: str, what: str) -> Callable[[JSONObject], str]:
    def told(result: JSONObject) -> str:
        items: Any = result.get(member)
        if not is_array(items):
            return _others(result)
        names = [item.get("name", item.get("uri")) if is_object(item) else item for item in items[:20]]
        more = ", and there are more pages" if result.get("nextCursor") is not None else ""
        told = ", ".join(map(brief, names))
        return f"{len(items)} {what}{': ' if names else ''}{_cut(told)}{more}"

    return told


_REQUESTS: Mapping[str, Callable[[JSONObject], str]] = {
    "initialize": _handshake,
    "prompts/get": _call,
    "server/discover": _discover,
    "tools/call": _call,
}

_RESULTS: Mapping[str, Callable[[JSONObject], str]] = {
    "initialize": _handshake,
    "prompts/list": _listed("prompts", "prompts"),
    "resources/list": _listed("resources", "resources"),
    "resources/templates/list": _listed("resourceTemplates", "resource templates"),
    "server/discover": _handshake,
    "tools/call": _called,
    "tools/list": _listed("tools", "tools"),
}
