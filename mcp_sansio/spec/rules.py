"""Every rule that a conversation shows by itself, as data.

Ids that start with ``LIB-`` are this library's own, for what the specification leaves to the receiver; the others are
stable and shared with test suites. A rule names the page that states it, below ``docs/specification/<revision>/``.
"""

from __future__ import annotations

from enum import Enum

import attrs

from .revisions import Side

__all__ = ["RULES", "Level", "Rule", "Violation"]


class Level(Enum):
    """How binding a rule is."""

    MUST = "MUST"
    MUST_NOT = "MUST NOT"
    SHOULD = "SHOULD"
    SHOULD_NOT = "SHOULD NOT"
    JSONRPC = "JSONRPC"
    """Binding through "messages MUST follow JSON-RPC 2.0"."""
    TEXT = "TEXT"
    """Stated in plain prose, with no keyword."""
    LIBRARY = "LIBRARY"
    """The receiver's own limit or policy; nothing in the text forbids it."""


@attrs.frozen
class Rule:
    """One rule.

    Attributes:
        id: its stable name.
        level: how binding it is.
        since: the first revision that it binds.
        until: the last revision that it binds; None when it still does.
        sides: the sides that it binds.
        source: the page that states it.
        text: what it says, in one sentence.
        weaker: for revisions before the one named, the level that held then.
        skips: revisions between since and until that it does not bind.
    """

    id: str
    level: Level
    since: str
    until: str | None
    sides: frozenset[Side]
    source: str
    text: str
    weaker: tuple[str, Level] | None = None
    skips: frozenset[str] = frozenset()

    def binds(self, side: Side, revision: str) -> bool:
        """Whether it binds *side* in *revision*."""
        return (
            side in self.sides
            and self.since <= revision
            and (self.until is None or revision <= self.until)
            and revision not in self.skips
        )

    def level_in(self, revision: str) -> Level:
        """How binding it is in *revision*."""
        if self.weaker is not None and revision < self.weaker[0]:
            return self.weaker[1]
        return self.level


@attrs.frozen
class Violation:
    """A rule that a message broke.

    Attributes:
        rule: the id of the rule, a key of `RULES`.
        level: how binding the rule is in the revision in force.
        detail: what exactly was wrong, for the person who wrote the sender.
    """

    rule: str
    level: Level
    detail: str


_CLIENT, _SERVER, _BOTH = frozenset({Side.CLIENT}), frozenset({Side.SERVER}), frozenset(Side)
_A, _B, _C, _D, _E = "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"
_M, _MN, _SH, _SN = Level.MUST, Level.MUST_NOT, Level.SHOULD, Level.SHOULD_NOT
_J, _T, _L = Level.JSONRPC, Level.TEXT, Level.LIBRARY

# A row is two lines: what a program reads, then what a person reads.
# fmt: off
RULES: dict[str, Rule] = {
    row.id: row
    for row in (
        # Framing
        Rule("FRAME-001", _MN, _A, None, _BOTH, "basic/transports",
            "the stream carries only valid MCP messages"),
        Rule("FRAME-002", _MN, _A, None, _BOTH, "basic/transports",
            "a message has no embedded newline"),
        Rule("FRAME-003", _M, _A, None, _BOTH, "basic/transports",
            "messages are UTF-8"),
        Rule("FRAME-004", _MN, _A, None, _BOTH, "schema#jsonrpcmessage",
            "no top-level array is written", skips=frozenset({_B})),
        # The JSON-RPC envelope
        Rule("RPC-001", _M, _A, None, _BOTH, "basic/index#messages",
            'jsonrpc is exactly "2.0"'),
        Rule("RPC-002", _M, _A, None, _BOTH, "basic/index#responses",
            "a response has the id, type and value, of a request"),
        Rule("RPC-003", _MN, _A, None, _BOTH, "basic/index#responses",
            "a response carries exactly one of result and error"),
        Rule("RPC-004", _M, _A, None, _BOTH, "basic/index#error-responses",
            "error.code is an integer, error.message a string"),
        Rule("RPC-005", _J, _A, None, _BOTH, "basic/index#responses",
            "a request is answered exactly once"),
        Rule("RPC-007", _MN, _A, None, _BOTH, "basic/index#notifications",
            "a notification has no id"),
        Rule("RPC-008", _M, _A, None, _BOTH, "basic/index#requests",
            "a request has an id that is a string or an integer"),
        Rule("RPC-009", _MN, _A, _D, _BOTH, "basic/index#requests",
            "a request id is never used twice in a session"),
        Rule("RPC-010", _MN, _E, None, _CLIENT, "basic/index#requests",
            "a request id is not one still in flight"),
        Rule("RPC-015", _J, _A, None, _BOTH, "basic/index#requests",
            "params, when present, are an object"),
        Rule("RPC-016", _M, _E, None, _SERVER, "basic/index#result-responses",
            "a result has resultType"),
        Rule("RPC-018", _M, _A, None, _BOTH, "schema",
            "a result has the shape of its method's result in the revision in force"),
        # Error codes
        Rule("ERR-001", _MN, _E, None, _SERVER, "basic/index#error-codes",
            "-32020 to -32099 only where defined"),
        Rule("ERR-002", _MN, _E, None, _SERVER, "basic/index#error-codes",
            "-32002 and -32042 are not emitted"),
        Rule("ERR-003", _SN, _E, None, _SERVER, "basic/index#error-codes",
            "-32000 to -32019 are not used"),
        # Lifecycle
        Rule("LIFE-001", _M, _A, _D, _CLIENT, "basic/lifecycle#initialization",
            "the client's first message is initialize"),
        Rule("LIFE-002", _M, _A, _D, _CLIENT, "basic/lifecycle#initialization",
            "initialize has protocolVersion, capabilities and clientInfo"),
        Rule("LIFE-003", _M, _A, _D, _CLIENT, "basic/lifecycle#initialization",
            "notifications/initialized follows the initialize result, before anything but pings"),
        Rule("LIFE-004", _SN, _A, _D, _CLIENT, "basic/lifecycle#initialization",
            "no request but ping before the initialize result"),
        Rule("LIFE-005", _SN, _A, _D, _SERVER, "basic/lifecycle#initialization",
            "no request but ping before notifications/initialized"),
        Rule("LIFE-006", _M, _A, _D, _SERVER, "basic/lifecycle#initialization",
            "the initialize result has protocolVersion, capabilities and serverInfo"),
        Rule("LIFE-007", _MN, _B, _B, _CLIENT, "basic/lifecycle#initialization",
            "initialize is not part of a batch"),
        Rule("LIFE-008", _MN, _A, _D, _CLIENT, "basic/utilities/cancellation#behavior-requirements",
            "initialize is not cancelled"),
        # Versions and eras
        Rule("VER-004", _M, _A, _D, _BOTH, "basic/lifecycle#operation",
            "only messages of the negotiated revision are used", weaker=(_C, _SH)),
        Rule("VER-005", _M, _E, None, _SERVER, "basic/versioning#protocol-version-negotiation",
            "-32022 has data.supported and data.requested"),
        Rule("VER-009", _M, _E, None, _CLIENT, "basic/index#_meta",
            "every request carries protocolVersion and clientCapabilities in _meta"),
        # Capabilities
        Rule("CAP-001", _M, _A, _D, _BOTH, "basic/lifecycle#operation",
            "only negotiated capabilities are used", weaker=(_C, _SH)),
        Rule("CAP-002", _M, _A, None, _SERVER, "server",
            "a server that answers a feature's requests with results declared the feature"),
        Rule("CAP-003", _M, _E, None, _SERVER, "server",
            "a server that declared a feature answers its list method with a result"),
        Rule("CAP-004", _M, _A, None, _SERVER, "server/utilities/logging#capabilities",
            "notifications/message only if logging was declared"),
        Rule("CAP-005", _M, _B, None, _SERVER, "server/utilities/completion#capabilities",
            "completion/complete is answered with a result only if completions was declared"),
        Rule("CAP-006", _M, _E, None, _SERVER, "basic/index#_meta",
            "a server needs only what the request declared; else -32021 names it in data.requiredCapabilities"),
        Rule("CAP-007", _MN, _D, None, _SERVER, "client/elicitation#capabilities",
            "no elicitation mode that the client did not declare"),
        Rule("CAP-008", _MN, _D, None, _SERVER, "client/sampling#capabilities",
            "no sampling with tools unless sampling.tools was declared"),
        # Cancellation
        Rule("CANC-001", _M, _A, None, _BOTH, "basic/utilities/cancellation#behavior-requirements",
            "a side cancels only requests that it sent and believes in progress"),
        Rule("CANC-005", _MN, _E, None, _SERVER, "basic/patterns/cancellation",
            "a server sends cancelled only for a subscriptions/listen request"),
        Rule("CANC-007", _M, _E, None, _SERVER, "basic/patterns/cancellation",
            "a server that ends a subscription on a stream sends cancelled for it"),
        Rule("CANC-008", _MN, _D, _D, _BOTH, "basic/utilities/cancellation",
            "a task-augmented request is ended by tasks/cancel, not by cancelled"),
        # Progress
        Rule("PROG-001", _M, _A, None, _BOTH, "basic/utilities/progress",
            "progress only for the token of an active request"),
        Rule("PROG-002", _M, _A, None, _BOTH, "basic/utilities/progress",
            "progress increases with each notification"),
        Rule("PROG-003", _M, _A, None, _BOTH, "basic/utilities/progress",
            "progress stops after completion"),
        Rule("PROG-004", _M, _A, None, _BOTH, "basic/utilities/progress",
            "the progress token keeps its JSON type"),
        Rule("PROG-005", _M, _A, None, _BOTH, "basic/utilities/progress",
            "a progress token is a string or an integer, unique among active requests"),
        # Resources
        Rule("RES-002", _M, _A, None, _SERVER, "server/resources#security-considerations",
            "blob is valid base64"),
        # Logging
        Rule("LOG-001", _MN, _E, None, _SERVER, "server/utilities/logging#per-request-log-level",
            "no notifications/message unless a request in flight asked for this level"),
        # Caching hints
        Rule("CACHE-001", _M, _E, None, _SERVER, "server/utilities/caching",
            "a cacheable result has ttlMs, 0 or more, and cacheScope"),
        Rule("CACHE-002", _M, _E, None, _SERVER, "server/utilities/caching",
            "every page of a list has the same cacheScope"),
        # Multi round-trip requests
        Rule("MRTR-001", _MN, _E, None, _SERVER, "basic/patterns/mrtr#supported-requests",
            "input_required only for prompts/get, resources/read and tools/call"),
        Rule("MRTR-002", _M, _E, None, _SERVER, "basic/patterns/mrtr#server-requirements-basic-workflow",
            "input_required has inputRequests or requestState"),
        Rule("MRTR-003", _M, _E, None, _SERVER, "basic/patterns/mrtr#server-requirements-basic-workflow",
            "inputRequests are elicitation/create, sampling/createMessage or roots/list"),
        Rule("MRTR-006", _MN, _E, None, _SERVER, "basic/transports/stdio#receiving-messages",
            "the server writes no request"),
        Rule("MRTR-007", _MN, _E, None, _CLIENT, "basic/transports/stdio#sending-messages",
            "the client writes no response"),
        # Subscriptions
        Rule("SUB-001", _M, _E, None, _SERVER, "basic/patterns/subscriptions#acknowledgment",
            "acknowledged is the first notification of a subscription"),
        Rule("SUB-002", _M, _E, None, _SERVER, "basic/patterns/subscriptions#receiving-notifications",
            "a notification of a subscription carries its id, typed as the listen request's"),
        Rule("SUB-003", _MN, _E, None, _SERVER, "basic/patterns/subscriptions#opening-a-stream",
            "no notification outside the acknowledged filter"),
        Rule("SUB-004", _M, _E, None, _SERVER, "basic/patterns/subscriptions#acknowledgment",
            "a subscription is acknowledged once"),
        Rule("SUB-005", _M, _E, None, _SERVER, "basic/patterns/subscriptions#graceful-closure",
            "the listen result carries the subscriptionId in _meta"),
        # Tasks of 2025-11-25
        Rule("TASK-001", _M, _D, _D, _BOTH, "basic/utilities/tasks#task-status-lifecycle",
            "the status of a task changes only along the allowed paths, and never once it is terminal"),
        Rule("TASK-002", _M, _D, _D, _BOTH, "basic/utilities/tasks#associating-task-related-messages",
            "the result of a task carries its id in _meta"),
        Rule("TASK-005", _MN, _D, _D, _BOTH, "basic/utilities/tasks#capabilities",
            "no task where the receiver did not declare tasks for the request"),
        # Removed methods
        Rule("META-001", _T, _E, None, _SERVER, "changelog",
            "methods that the revision removed are not served"),
        # The library's own
        Rule("LIB-001", _L, _A, None, _BOTH, "limits",
            "a line is no longer than the receiver's limit"),
        Rule("LIB-002", _L, _A, None, _BOTH, "limits",
            "no object names a member twice"),
        Rule("LIB-003", _M, _A, None, _BOTH, "schema",
            "params have the shape that the revision in force gives them"),
        Rule("LIB-004", _M, _A, None, _BOTH, "basic/transports",
            "every message ends with a newline"),
        Rule("LIB-005", _T, _A, _D, _CLIENT, "basic/lifecycle#initialization",
            "the handshake happens once"),
        Rule("LIB-006", _M, _A, None, _BOTH, "schema",
            "each message is sent by the side that the schema says"),
        Rule("LIB-007", _L, _A, None, _BOTH, "limits",
            "values nest no deeper than the receiver's limit"),
        Rule("LIB-008", _SN, _D, None, _SERVER, "client/sampling",
            "includeContext other than none only if sampling.context was declared"),
        Rule("LIB-011", _L, _B, _B, _BOTH, "limits",
            "a batch holds no more messages than the receiver's limit"),
        Rule("LIB-012", _M, _E, None, _CLIENT, "basic/versioning#extension-negotiation",
            "a request of an extension declares the extension"),
        Rule("LIB-009", _T, _E, None, _BOTH, "server/discover",
            "a message needs only capabilities that the server declared"),
        Rule("LIB-010", _T, _E, None, _BOTH, "changelog",
            "only messages of the revision in force are used"),
    )
}
# fmt: on
