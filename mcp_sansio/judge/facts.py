"""What diagnoses are made from: a bounded digest of all observations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from ..jsonrpc import (
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    is_array,
    is_object,
)
from ..spec import LEGACY_REVISIONS, ErrorCode, Side, declared, is_modern
from ..types import DiscoverRequest, InitializeRequest
from .observation import Asked, Happening, Observation

__all__ = ["Facts", "Listing", "Sample", "Session", "Unanswered"]

_KEPT = 20
"""How many of a kind are kept one by one."""

_SHOWN = 300
"""How many characters are kept of what is quoted."""

_NAMES = 10_000
"""How many names of one list are kept; longer lists are not followed."""


@attrs.define
class Sample:
    """How often something happened, and the first time.

    Attributes:
        count: how often.
        record: the number of the record where it happened first.
        detail: what was said of it there.
        method: the method of the message there, where it has one.
    """

    count: int
    record: int
    detail: str
    method: str | None


@attrs.frozen
class Unanswered:
    """A request that got no answer.

    Attributes:
        asked: the request.
        waited: how many seconds it waited at least; None where the recording does not say.
        over: whether the server had ended by then.
    """

    asked: Asked
    waited: float | None
    over: bool


@attrs.define
class Listing:
    """What is known of a list that the server gives in pages.

    Attributes:
        asked: whether the client asked for it.
        names: the names in the last whole list, with a fingerprint of each item; None where there is none to go by.
        filled: whether any list had something in it.
        empty: the number of the record with an empty list; None where there was none.
        notified: the number of the record with the last notice of a change; 0 where there was none.
        silent: the first list that differs from the one before without such a notice.
    """

    asked: bool = False
    names: dict[str, int] | None = None
    filled: bool = False
    empty: int | None = None
    notified: int = 0
    silent: Sample | None = None
    _read: dict[str, int] | None = None
    _following: int | None = None
    _seen: int = 0

    def take(self, asked: Asked, record: int, items: list[Any], cursor: object) -> None:
        """Note a page."""
        if asked.record < self._seen:
            return  # an answer that was overtaken by another
        if asked.page is None:
            self._read = {}
        elif asked.page != self._following or self._read is None:
            return  # a page of another round
        self._read.update((item["name"], _fingerprint(item)) for item in items if _is_named(item))
        self._following = hash(cursor) if isinstance(cursor, str) else None
        self.filled = self.filled or bool(self._read)
        if len(self._read) > _NAMES:
            self._read = self.names = None
        elif self._following is None:
            self._complete(asked, record, self._read)

    def _complete(self, asked: Asked, record: int, read: dict[str, int]) -> None:
        if not read:
            self.empty = record
        if self.names is not None and read != self.names and self.notified <= self._seen and self.silent is None:
            self.silent = Sample(1, record, _difference(self.names, read), None)
        self.names, self._read = read, None
        self._seen = asked.record


def _is_named(item: object) -> bool:
    return is_object(item) and isinstance(item.get("name"), str)


def _fingerprint(item: Any) -> int:
    """A number that tells two decoded values apart, however deep they are."""
    parts: list[object] = []
    waiting = [item]
    while waiting:
        value = waiting.pop()
        if is_object(value):
            names = sorted(value)
            parts.append(tuple(names))
            waiting += [value[name] for name in names]
        elif is_array(value):
            parts.append(len(value))
            waiting += value
        else:
            parts.append(repr(value))
    return hash(tuple(parts))


def _difference(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """How two lists differ, in a few words."""
    parts = {
        "new": sorted(after.keys() - before.keys()),
        "gone": sorted(before.keys() - after.keys()),
        "changed": sorted(name for name in before.keys() & after.keys() if before[name] != after[name]),
    }
    return "; ".join(f"{word}: {', '.join(map(ascii, names[:3]))}" for word, names in parts.items() if names)


@attrs.define
class Session:
    """What is known of a session, or of a conversation of the modern era.

    Attributes:
        asked: the version that the client asked for in ``initialize``; None where it did not.
        answered: the version that the server answered; None where it did not.
        supported: the versions that the server named when it refused one.
        refusal: the error that answered the handshake, in words; None where there was none, or a later one succeeded.
        declared: the names of what the server declared; None where that is unknown.
        initialized: whether ``notifications/initialized`` was sent.
        went_on: whether the client sent something else after the answer.
        modern: whether the client was served in the modern era.
        listening: whether the client has a subscription to changes of the tools.
        called: whether the client called a tool.
        tools: the list of tools.
        prompts: the list of prompts.
    """

    asked: str | None = None
    answered: str | None = None
    supported: tuple[str, ...] = ()
    refusal: str | None = None
    declared: frozenset[str] | None = None
    initialized: bool = False
    went_on: bool = False
    modern: bool = False
    listening: bool = False
    called: bool = False
    tools: Listing = attrs.field(factory=Listing)
    prompts: Listing = attrs.field(factory=Listing)


class Facts:
    """A digest of observations.

    Attributes:
        only: the side that alone is recorded; None for both.
        messages: how many messages there were.
        missing_beginning: whether the recording begins in the middle.
        session: the last session.
        samples: what happened, by topic and by who did it.
        unlisted: calls of what was not in a whole list, and failed.
        unanswered: requests without an answer, the first ones.
        unanswered_count: how many of them each side sent.
        unfinished: the sides whose last line has no end.
    """

    def __init__(self, only: Side | None = None) -> None:
        self.only = only
        self.messages = 0
        self.missing_beginning = False
        self.session = Session()
        self.samples: dict[tuple[str, Side], Sample] = {}
        self.unlisted: dict[str, Sample] = {}
        self.unanswered: list[Unanswered] = []
        self.unanswered_count = dict.fromkeys(Side, 0)
        self.unfinished: list[Side] = []

    # Told by the judge

    def note_unanswered(self, asked: Asked, t: float | None, *, over: bool) -> None:
        """Note that a request got no answer until *t*."""
        probe = asked.method == DiscoverRequest.method and self.session.answered is not None
        if probe or not asked.due:
            return
        self.unanswered_count[asked.sender] += 1
        if len(self.unanswered) < _KEPT:
            waited = None if t is None or asked.t is None else t - asked.t
            self.unanswered.append(Unanswered(asked, waited, over))

    def note(self, seen: Observation) -> None:
        """Note what happened."""
        message, session = seen.message, self.session
        session.modern = session.modern or (seen.what is Happening.RESULT and is_modern(seen.revision))
        self.messages += message is not None
        for violation in seen.violations:
            topic = _TOPICS.get(violation.rule)
            if topic is not None:
                self._sample(topic, seen, violation.detail)
        for each in seen.meant if message is None else (message,):
            self._note_message(seen, each)
        if message is None and seen.violations:
            topic = _noise(seen)
            text = ascii(seen.data[:80].decode("utf-8", "replace"))
            self._sample(topic, seen, text if topic == "log" else seen.detail)

    def _note_message(self, seen: Observation, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest | JSONRPCNotification):
            self._said(seen, message.method, message.params or {})
        elif seen.answered is None:
            return
        elif isinstance(message, JSONRPCErrorResponse):
            self._refused(seen, seen.answered, message)
        else:
            take = _RESULTS.get(seen.answered.method)
            if take is not None:
                take(self, seen, seen.answered, message.result)

    def _sample(self, topic: str, seen: Observation, detail: str) -> None:
        key = (topic, seen.sender)
        if key in self.samples:
            self.samples[key].count += 1
        else:
            self.samples[key] = Sample(1, seen.record, detail[:_SHOWN], seen.method)

    def _said(self, seen: Observation, method: str, params: JSONObject) -> None:
        session = self.session
        if seen.sender is Side.CLIENT:
            session.went_on = session.went_on or session.answered is not None
        said = _SAID.get(method)
        if said is not None:
            said(session, seen, params)

    def _refused(self, seen: Observation, asked: Asked, message: JSONRPCErrorResponse) -> None:
        error = message.error
        data: Any = error.data
        supported: Any = data.get("supported") if is_object(data) else None
        if is_array(supported):
            self.session.supported = tuple(name[:80] for name in supported[:_KEPT] if isinstance(name, str))
        if asked.method == InitializeRequest.method or error.code == ErrorCode.UNSUPPORTED_PROTOCOL_VERSION:
            self.session.refusal = f"{error.message[:200]!a} ({error.code})"
        self.note_failed(asked)

    def note_failed(self, asked: Asked) -> None:
        """Note that a request failed: perhaps because nothing has the name that it calls."""
        member = _CALLS.get(asked.method)
        names = None if member is None else getattr(self.session, member).names
        if names is None or asked.subject is None or asked.subject in names:
            return
        if asked.subject in self.unlisted:
            self.unlisted[asked.subject].count += 1
        elif len(self.unlisted) < _KEPT:
            self.unlisted[asked.subject] = Sample(1, asked.record, "", asked.method)


# What messages tell ---------------------------------------------------------------------------------------------------


def _asks_for_version(session: Session, seen: Observation, params: JSONObject) -> None:
    version: Any = params.get("protocolVersion")
    session.asked = version[:80] if isinstance(version, str) else None


def _is_initialized(session: Session, seen: Observation, params: JSONObject) -> None:
    session.initialized = True


def _calls_tool(session: Session, seen: Observation, params: JSONObject) -> None:
    session.called = True


def _asks_for_tools(session: Session, seen: Observation, params: JSONObject) -> None:
    session.tools.asked = True


def _tools_changed(session: Session, seen: Observation, params: JSONObject) -> None:
    session.tools.notified = seen.record


def _prompts_changed(session: Session, seen: Observation, params: JSONObject) -> None:
    session.prompts.notified = seen.record


def _acknowledges(session: Session, seen: Observation, params: JSONObject) -> None:
    granted: Any = params.get("notifications")
    session.listening = is_object(granted) and granted.get("toolsListChanged") is True


_SAID: Mapping[str, Callable[[Session, Observation, JSONObject], None]] = {
    "initialize": _asks_for_version,
    "notifications/initialized": _is_initialized,
    "notifications/prompts/list_changed": _prompts_changed,
    "notifications/subscriptions/acknowledged": _acknowledges,
    "notifications/tools/list_changed": _tools_changed,
    "tools/call": _calls_tool,
    "tools/list": _asks_for_tools,
}
"""What requests and notifications tell, by method."""


def _initialize(facts: Facts, seen: Observation, asked: Asked, result: JSONObject) -> None:
    session = facts.session
    version, capabilities = result.get("protocolVersion"), result.get("capabilities")
    session.answered = version[:80] if isinstance(version, str) else "none"
    session.refusal = None
    revision = version if version in LEGACY_REVISIONS else seen.revision
    session.declared = declared(Side.SERVER, capabilities, revision) if is_object(capabilities) else None


def _discover(facts: Facts, seen: Observation, asked: Asked, result: JSONObject) -> None:
    capabilities = result.get("capabilities")
    facts.session.declared = declared(Side.SERVER, capabilities, seen.revision) if is_object(capabilities) else None


def _list(member: str) -> Callable[[Facts, Observation, Asked, JSONObject], None]:
    def take(facts: Facts, seen: Observation, asked: Asked, result: JSONObject) -> None:
        items: Any = result.get(member)
        listing: Listing = getattr(facts.session, member)
        if is_array(items):
            listing.take(asked, seen.record, items, result.get("nextCursor"))

    return take


def _call(facts: Facts, seen: Observation, asked: Asked, result: JSONObject) -> None:
    if result.get("isError") is True:
        facts.note_failed(asked)


_RESULTS: Mapping[str, Callable[[Facts, Observation, Asked, JSONObject], None]] = {
    "initialize": _initialize,
    "prompts/list": _list("prompts"),
    "server/discover": _discover,
    "tools/call": _call,
    "tools/list": _list("tools"),
}
"""What results tell, by the method that they answer."""

_CALLS = {"tools/call": "tools", "prompts/get": "prompts"}
"""The list in which the name stands that a request calls."""

_TOPICS = {
    **dict.fromkeys(("LIFE-001", "LIFE-003", "LIFE-004", "LIFE-005"), "early"),
    **dict.fromkeys(("LIFE-002", "LIFE-006", "LIFE-007"), "initialize"),
    **dict.fromkeys(("CAP-001", "CAP-002", "CAP-004", "CAP-005", "LIB-009"), "undeclared"),
    "RPC-002": "ids",
}
"""The topic of a rule."""


def _noise(seen: Observation) -> str:
    """The topic of what is no message."""
    rules, data = {violation.rule for violation in seen.violations}, seen.data.lstrip()
    if data[:15].lower() == b"content-length:":
        return "headers"
    if "FRAME-002" in rules:
        return "spread"
    if "FRAME-003" in rules:
        return "encoding"
    return "log" if "FRAME-001" in rules and b'"jsonrpc"' not in data else "damaged"
