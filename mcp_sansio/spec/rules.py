"""Every rule that a conversation shows by itself, as data.

Ids that start with ``LIB-`` are this library's own, for what the specification leaves to the receiver; the others are
stable and shared with test suites. A rule names the page that states it, below ``docs/specification/<revision>/``;
`MOVED` says where that stands elsewhere.
"""

from __future__ import annotations

from enum import Enum

import attrs

from .revisions import Side

__all__ = ["MOVED", "RULES", "Level", "Rule", "Violation"]


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
        advice: what whoever broke it should do, in one sentence.
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
    advice: str
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

    def url(self, revision: str) -> str | None:
        """Where *revision*, one that it binds, states it; None for what only a receiver's limits say."""
        if self.level is Level.LIBRARY:
            return None
        source = MOVED.get((revision, self.source), self.source)
        return source if source.startswith("https:") else f"{_SITE}/{revision}/{source.replace('/index', '')}"


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


_SITE = "https://modelcontextprotocol.io/specification"
_SCHEMA = "https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/{}/schema.ts"

_CLIENT, _SERVER, _BOTH = frozenset({Side.CLIENT}), frozenset({Side.SERVER}), frozenset(Side)
_A, _B, _C, _D, _E = "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"
_M, _MN, _SH, _SN = Level.MUST, Level.MUST_NOT, Level.SHOULD, Level.SHOULD_NOT
_J, _T, _L = Level.JSONRPC, Level.TEXT, Level.LIBRARY

MOVED: dict[tuple[str, str], str] = {
    (_A, "basic/index#messages"): "basic/messages",
    (_A, "basic/index#requests"): "basic/messages#requests",
    (_A, "basic/index#responses"): "basic/messages#responses",
    (_A, "basic/index#notifications"): "basic/messages#notifications",
    (_A, "basic/index#error-responses"): "basic/messages#responses",
    (_B, "basic/index#error-responses"): "basic/index#responses",
    (_C, "basic/index#error-responses"): "basic/index#responses",
    (_A, "schema"): _SCHEMA.format(_A),
    (_A, "schema#jsonrpcmessage"): _SCHEMA.format(_A),
    (_B, "schema"): _SCHEMA.format(_B),
    (_E, "basic/utilities/cancellation#behavior-requirements"): "basic/patterns/cancellation#behavior-requirements",
    (_E, "basic/utilities/progress"): "basic/patterns/progress",
}
"""Where what a rule names as its source stands in a revision that has it elsewhere. Two have no page of the schema."""

# A row is three lines: what a program reads, what the rule says, and what to do about it.
# fmt: off
RULES: dict[str, Rule] = {
    row.id: row
    for row in (
        # Framing
        Rule("FRAME-001", _MN, _A, None, _BOTH, "basic/transports",
            "the stream carries only valid MCP messages",
            "Write only JSON-RPC messages, each on one line; logs and banners go to stderr."),
        Rule("FRAME-002", _MN, _A, None, _BOTH, "basic/transports",
            "a message has no embedded newline",
            "Write each message on one line: no pretty-printing, and newlines in strings as \\n."),
        Rule("FRAME-003", _M, _A, None, _BOTH, "basic/transports",
            "messages are UTF-8",
            "Encode output as UTF-8, whatever the locale or code page."),
        Rule("FRAME-004", _MN, _A, None, _BOTH, "schema#jsonrpcmessage",
            "no top-level array is written",
            "Write each message on a line of its own; batches exist in 2025-03-26 only.", skips=frozenset({_B})),
        # The JSON-RPC envelope
        Rule("RPC-001", _M, _A, None, _BOTH, "basic/index#messages",
            'jsonrpc is exactly "2.0"',
            'Add "jsonrpc": "2.0", a string, to every message.'),
        Rule("RPC-002", _M, _A, None, _BOTH, "basic/index#responses",
            "a response has the id, type and value, of a request",
            'Answer what was asked, and copy its id as it stands: 1 stays a number, "1" a string.'),
        Rule("RPC-003", _MN, _A, None, _BOTH, "basic/index#responses",
            "a response carries exactly one of result and error",
            "Write result where it worked, error where it failed, and leave the other member out, null included."),
        Rule("RPC-004", _M, _A, None, _BOTH, "basic/index#error-responses",
            "error.code is an integer, error.message a string",
            "Give error an integer code and a string message; anything else goes into its data."),
        Rule("RPC-005", _J, _A, None, _BOTH, "basic/index#responses",
            "a request is answered exactly once",
            "Send one response for each request, and none after that."),
        Rule("RPC-007", _MN, _A, None, _BOTH, "basic/index#notifications",
            "a notification has no id",
            "Leave the id out: a message with an id is a request and waits for an answer."),
        Rule("RPC-008", _M, _A, None, _BOTH, "basic/index#requests",
            "a request has an id that is a string or an integer",
            "Give each request an id that is a string or an integer: not null, true or a fraction."),
        Rule("RPC-009", _MN, _A, _D, _BOTH, "basic/index#requests",
            "a request id is never used twice in a session",
            "Count ids up, and never use one again before the next initialize of a new connection."),
        Rule("RPC-010", _MN, _E, None, _CLIENT, "basic/index#requests",
            "a request id is not one still in flight",
            "Take another id, or wait for the answer to the request that has it."),
        Rule("RPC-015", _J, _A, None, _BOTH, "basic/index#requests",
            "params, when present, are an object",
            "Write params as an object, or leave it out; not an array, not null."),
        Rule("RPC-016", _M, _E, None, _SERVER, "basic/index#result-responses",
            "a result has resultType",
            'Add "resultType": "complete" to the result.'),
        Rule("RPC-018", _M, _A, None, _BOTH, "schema",
            "a result has the shape of its method's result in the revision in force",
            "Write the result as the schema of this revision has it; the detail says which member is wrong."),
        # Error codes
        Rule("ERR-001", _MN, _E, None, _SERVER, "basic/index#error-codes",
            "-32020 to -32099 only where defined",
            "Choose a code outside -32020 to -32099, unless the specification defines it for this."),
        Rule("ERR-002", _MN, _E, None, _SERVER, "basic/index#error-codes",
            "-32002 and -32042 are not emitted",
            "Answer -32602 for what was not found, and input_required where the user has to open a URL."),
        Rule("ERR-003", _SN, _E, None, _SERVER, "basic/index#error-codes",
            "-32000 to -32019 are not used",
            "Choose a code outside -32000 to -32019; -32603 and -32602 say most things."),
        # Lifecycle
        Rule("LIFE-001", _M, _A, _D, _CLIENT, "basic/lifecycle#initialization",
            "the client's first message is initialize",
            "Send initialize first, wait for its result, send notifications/initialized, then the rest."),
        Rule("LIFE-002", _M, _A, _D, _CLIENT, "basic/lifecycle#initialization",
            "initialize has protocolVersion, capabilities and clientInfo",
            "Send all three in params: protocolVersion, capabilities ({} where there are none), clientInfo."),
        Rule("LIFE-003", _M, _A, _D, _CLIENT, "basic/lifecycle#initialization",
            "notifications/initialized follows the initialize result, before anything but pings",
            "Send notifications/initialized as soon as the initialize result has come, before any request."),
        Rule("LIFE-004", _SN, _A, _D, _CLIENT, "basic/lifecycle#initialization",
            "no request but ping before the initialize result",
            "Wait for the initialize result before anything but pings."),
        Rule("LIFE-005", _SN, _A, _D, _SERVER, "basic/lifecycle#initialization",
            "no request but ping before notifications/initialized",
            "Wait for notifications/initialized before any request but pings."),
        Rule("LIFE-006", _M, _A, _D, _SERVER, "basic/lifecycle#initialization",
            "the initialize result has protocolVersion, capabilities and serverInfo",
            "Send all three in the result: protocolVersion, capabilities ({} where there are none), serverInfo."),
        Rule("LIFE-007", _MN, _B, _B, _CLIENT, "basic/lifecycle#initialization",
            "initialize is not part of a batch",
            "Send initialize by itself on its line, not in an array."),
        Rule("LIFE-008", _MN, _A, _D, _CLIENT, "basic/utilities/cancellation#behavior-requirements",
            "initialize is not cancelled",
            "Close the connection instead of cancelling initialize."),
        # Versions and eras
        Rule("VER-004", _M, _A, _D, _BOTH, "basic/lifecycle#operation",
            "only messages of the negotiated revision are used",
            "Send only what the agreed revision has; look at what the initialize result says.", weaker=(_C, _SH)),
        Rule("VER-005", _M, _E, None, _SERVER, "basic/versioning#protocol-version-negotiation",
            "-32022 has data.supported and data.requested",
            "Give the error data.supported, a list of versions, and data.requested, the one asked for."),
        Rule("VER-009", _M, _E, None, _CLIENT, "basic/index#meta",
            "every request carries protocolVersion and clientCapabilities in _meta",
            "Put both keys into params._meta of every request; there is no session that remembers them."),
        # Capabilities
        Rule("CAP-001", _M, _A, _D, _BOTH, "basic/lifecycle#operation",
            "only negotiated capabilities are used",
            "Look at what the other side declared before you send this, or let it declare more.", weaker=(_C, _SH)),
        Rule("CAP-002", _M, _A, None, _SERVER, "server",
            "a server that answers a feature's requests with results declared the feature",
            "Declare the capability, or answer -32601."),
        Rule("CAP-003", _M, _E, None, _SERVER, "server",
            "a server that declared a feature answers its list method with a result",
            "Serve the list (an empty one will do), or do not declare the capability."),
        Rule("CAP-004", _M, _A, None, _SERVER, "server/utilities/logging#capabilities",
            "notifications/message only if logging was declared",
            'Declare "logging": {}, or write logs to stderr.'),
        Rule("CAP-005", _M, _B, None, _SERVER, "server/utilities/completion#capabilities",
            "completion/complete is answered with a result only if completions was declared",
            'Declare "completions": {}, or answer -32601.'),
        Rule("CAP-006", _M, _E, None, _SERVER, "basic/index#meta",
            "a server needs only what the request declared; else -32021 names it in data.requiredCapabilities",
            "Look at the clientCapabilities of the request; where one is missing, answer -32021 and name it in data."),
        Rule("CAP-007", _MN, _D, None, _SERVER, "client/elicitation#capabilities",
            "no elicitation mode that the client did not declare",
            "Use a mode that the client declared; an empty elicitation capability means form only."),
        Rule("CAP-008", _MN, _D, None, _SERVER, "client/sampling#capabilities",
            "no sampling with tools unless sampling.tools was declared",
            "Leave out tools and toolChoice unless the client declared sampling.tools."),
        # Cancellation
        Rule("CANC-001", _M, _A, None, _BOTH, "basic/utilities/cancellation#behavior-requirements",
            "a side cancels only requests that it sent and believes in progress",
            "Cancel only your own requests, with the id exactly as sent, and only until their answer has come."),
        Rule("CANC-005", _MN, _E, None, _SERVER, "basic/patterns/cancellation",
            "a server sends cancelled only for a subscriptions/listen request",
            "Answer the request with an error instead; cancelled is for subscriptions that you end."),
        Rule("CANC-007", _M, _E, None, _SERVER, "basic/patterns/cancellation",
            "a server that ends a subscription on a stream sends cancelled for it",
            "Send notifications/cancelled with the id of the listen request before its result."),
        Rule("CANC-008", _MN, _D, _D, _BOTH, "basic/utilities/cancellation",
            "a task-augmented request is ended by tasks/cancel, not by cancelled",
            "Send tasks/cancel with the id of the task instead."),
        # Progress
        Rule("PROG-001", _M, _A, None, _BOTH, "basic/utilities/progress",
            "progress only for the token of an active request",
            "Report progress only where the request has a progressToken in _meta, and with that token."),
        Rule("PROG-002", _M, _A, None, _BOTH, "basic/utilities/progress",
            "progress increases with each notification",
            "Let progress grow with every report; leave a report out where nothing has changed."),
        Rule("PROG-003", _M, _A, None, _BOTH, "basic/utilities/progress",
            "progress stops after completion",
            "Send the last progress before the response, and none after it."),
        Rule("PROG-004", _M, _A, None, _BOTH, "basic/utilities/progress",
            "the progress token keeps its JSON type",
            'Copy the token as it stands: 1 stays a number, "1" a string.'),
        Rule("PROG-005", _M, _A, None, _BOTH, "basic/utilities/progress",
            "a progress token is a string or an integer, unique among active requests",
            "Give each request in flight a token of its own, a string or an integer; its id will do."),
        # Resources
        Rule("RES-002", _M, _A, None, _SERVER, "server/resources#security-considerations",
            "blob is valid base64",
            "Encode blob as base64 with padding and without line breaks; text goes into text."),
        # Logging
        Rule("LOG-001", _MN, _E, None, _SERVER, "server/utilities/logging#per-request-log-level",
            "no notifications/message unless a request in flight asked for this level",
            "Log only while a request with a logLevel in _meta is in flight, at its level or above; else use stderr."),
        # Caching hints
        Rule("CACHE-001", _M, _E, None, _SERVER, "server/utilities/caching",
            "a cacheable result has ttlMs, 0 or more, and cacheScope",
            'Add ttlMs (0 where nothing may be kept) and cacheScope ("public" or "private") to the result.'),
        Rule("CACHE-002", _M, _E, None, _SERVER, "server/utilities/caching",
            "every page of a list has the same cacheScope",
            "Give all pages of one list the same cacheScope."),
        # Multi round-trip requests
        Rule("MRTR-001", _MN, _E, None, _SERVER, "basic/patterns/mrtr#supported-requests",
            "input_required only for prompts/get, resources/read and tools/call",
            "Answer this method with a complete result or an error."),
        Rule("MRTR-002", _M, _E, None, _SERVER, "basic/patterns/mrtr#server-requirements-basic-workflow",
            "input_required has inputRequests or requestState",
            "Put into the result what the client should ask the user, or a requestState to be sent back."),
        Rule("MRTR-003", _M, _E, None, _SERVER, "basic/patterns/mrtr#server-requirements-basic-workflow",
            "inputRequests are elicitation/create, sampling/createMessage or roots/list",
            "Ask only for elicitation/create, sampling/createMessage and roots/list, with their params."),
        Rule("MRTR-006", _MN, _E, None, _SERVER, "basic/transports/stdio#receiving-messages",
            "the server writes no request",
            "Answer the client's request with input_required instead of sending a request."),
        Rule("MRTR-007", _MN, _E, None, _CLIENT, "basic/transports/stdio#sending-messages",
            "the client writes no response",
            "Send the request once more with inputResponses; in this revision clients answer nothing."),
        # Subscriptions
        Rule("SUB-001", _M, _E, None, _SERVER, "basic/patterns/subscriptions#acknowledgment",
            "acknowledged is the first notification of a subscription",
            "Send notifications/subscriptions/acknowledged first, then what happens."),
        Rule("SUB-002", _M, _E, None, _SERVER, "basic/patterns/subscriptions#receiving-notifications",
            "a notification of a subscription carries its id, typed as the listen request's",
            "Copy the id of the listen request, as it stands, into _meta as io.modelcontextprotocol/subscriptionId."),
        Rule("SUB-003", _MN, _E, None, _SERVER, "basic/patterns/subscriptions#opening-a-stream",
            "no notification outside the acknowledged filter",
            "Send only what the acknowledgement said this subscription is for."),
        Rule("SUB-004", _M, _E, None, _SERVER, "basic/patterns/subscriptions#acknowledgment",
            "a subscription is acknowledged once",
            "Acknowledge a subscription once; a client that wants another filter listens anew."),
        Rule("SUB-005", _M, _E, None, _SERVER, "basic/patterns/subscriptions#graceful-closure",
            "the listen result carries the subscriptionId in _meta",
            "Copy the id of the request into _meta of the result as io.modelcontextprotocol/subscriptionId."),
        # Tasks of 2025-11-25
        Rule("TASK-001", _M, _D, _D, _BOTH, "basic/utilities/tasks#task-status-lifecycle",
            "the status of a task changes only along the allowed paths, and never once it is terminal",
            "Keep a task as it is once it has completed, failed or been cancelled."),
        Rule("TASK-002", _M, _D, _D, _BOTH, "basic/utilities/tasks#associating-task-related-messages",
            "the result of a task carries its id in _meta",
            "Add io.modelcontextprotocol/related-task with the taskId to _meta of the result."),
        Rule("TASK-005", _MN, _D, _D, _BOTH, "basic/utilities/tasks#capabilities",
            "no task where the receiver did not declare tasks for the request",
            "Leave task out of params, unless the receiver declared tasks.requests for this method."),
        # Removed methods
        Rule("META-001", _T, _E, None, _SERVER, "changelog",
            "methods that the revision removed are not served",
            "Answer -32601 to methods that this revision does not have."),
        # The library's own
        Rule("LIB-001", _L, _A, None, _BOTH, "limits",
            "a line is no longer than the receiver's limit",
            "Send less in one message: page lists, link to large resources."),
        Rule("LIB-002", _L, _A, None, _BOTH, "limits",
            "no object names a member twice",
            "Write each member once; which of two counts differs from reader to reader."),
        Rule("LIB-003", _M, _A, None, _BOTH, "schema",
            "params have the shape that the revision in force gives them",
            "Write params as the schema of this revision has them; the detail says which member is wrong."),
        Rule("LIB-004", _M, _A, None, _BOTH, "basic/transports",
            "every message ends with a newline",
            "Write a newline after each message, and flush before you exit."),
        Rule("LIB-005", _T, _A, _D, _CLIENT, "basic/lifecycle#initialization",
            "the handshake happens once",
            "Start a new connection for a new handshake."),
        Rule("LIB-006", _M, _A, None, _BOTH, "schema",
            "each message is sent by the side that the schema says",
            "Let the other side send this; perhaps client and server are mixed up."),
        Rule("LIB-007", _L, _A, None, _BOTH, "limits",
            "values nest no deeper than the receiver's limit",
            "Nest arrays and objects less deeply."),
        Rule("LIB-008", _SN, _D, None, _SERVER, "client/sampling",
            "includeContext other than none only if sampling.context was declared",
            'Leave includeContext out, or say "none".'),
        Rule("LIB-011", _L, _B, _B, _BOTH, "limits",
            "a batch holds no more messages than the receiver's limit",
            "Split the batch into several, or send the messages one by one."),
        Rule("LIB-013", _L, _A, None, _BOTH, "limits",
            "a side opens no more requests and subscriptions than its peer is ready to hold",
            "Wait for answers before you ask for more, or cancel what is no longer needed."),
        Rule("LIB-012", _M, _E, None, _CLIENT, "basic/versioning#extension-negotiation",
            "a request of an extension declares the extension",
            "Add the extension to clientCapabilities.extensions in _meta of the request."),
        Rule("LIB-009", _T, _E, None, _BOTH, "server/discover",
            "a message needs only capabilities that the server declared",
            "Look at the capabilities in the server/discover result before you send this, or declare them there."),
        Rule("LIB-010", _T, _E, None, _BOTH, "changelog",
            "only messages of the revision in force are used",
            "Send only what this revision has; its changelog names the replacement."),
    )
}
# fmt: on
