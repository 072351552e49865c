"""The wire's view of a conversation, and what it leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..connection.checks import meta_of
from ..connection.conversation import Conversation
from ..connection.state import End, Session, Verdict
from ..jsonrpc import (
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResultResponse,
    RequestId,
    is_object,
)
from ..limits import Limits
from ..spec import CAPABILITIES, LATEST_LEGACY, LEGACY_REVISIONS, RULES, Era, Phase, Side, Spec
from ..spec.error_codes import ERROR_DATA
from ..spec.meta import REQUEST_META
from ..types import DiscoverRequest, DiscoverResult

__all__ = ["REFERRING", "View"]

REFERRING = frozenset({"RPC-002", "CANC-001", "CANC-005", "PROG-001", "SUB-002", "LOG-001"})
"""Rules that a message breaks by referring to what nobody has said, as far as the recording shows."""

_HANDSHAKE = frozenset({"LIFE-001", "LIFE-003", "LIFE-004", "LIFE-005", "LIB-005"})
"""Rules about a handshake, which nobody can tell of a session whose handshake was not seen."""

_OTHER_REVISIONS = frozenset({"LIB-010", "META-001"})
"""Rules against messages of other revisions. An extension may have a message of that name."""


class View:
    """What the wire between the two sides knows of their conversation.

    That is one `Conversation` as long as all is known. Where a session goes on whose handshake was not seen or could
    not be read, there is one for each revision that it may have, in which everything is declared; then a rule counts
    as broken only where it is broken in each.

    Args:
        limits: those of the conversations.
        spec: the method table.
        renewed: whether a handshake, when one comes, tells what is not known yet.
    """

    def __init__(self, limits: Limits, spec: Spec, *, renewed: bool = True) -> None:
        self._limits, self._spec, self._renewed = limits, spec, renewed
        self._conversations = [Conversation(observer=None, limits=limits, spec=spec)]
        self._verdicts: list[Verdict] = []
        self._assumed = False
        self._unjudged: frozenset[str] = frozenset()
        self._modern: str | None = None
        self._asked_for: Any = None
        self._early: JSONRPCNotification | None = None

    @property
    def revision(self) -> str | None:
        """The revision in force: the session's, else that of modern requests; None where it is not known."""
        first, *others = self._conversations
        return self._modern if others or first.session.revision is None else first.session.revision

    @property
    def likely_revision(self) -> str:
        """The revision in force, else the one that the client asked for, else the newest that has sessions."""
        return self.revision or (self._asked_for if self._asked_for in LEGACY_REVISIONS else LATEST_LEGACY)

    @property
    def _phase(self) -> Phase:
        return self._conversations[0].session.phase

    def is_open(self, sender: Side, request_id: RequestId) -> bool:
        """Whether a request of *sender* has not ended."""
        return request_id in self._conversations[0].open_requests(sender)

    def opens_session(self, sender: Side, message: JSONRPCMessage) -> bool:
        """Whether *message* asks for a handshake."""
        return isinstance(message, JSONRPCRequest) and any(r.once for r in self._spec.rows(sender, message.method))

    # Judging

    def judge(self, sender: Side, message: JSONRPCMessage, *, in_batch: bool = False) -> Verdict:
        """Say what *message* breaks. Nothing has changed until `apply`."""
        if isinstance(message, JSONRPCRequest) and self.opens_session(sender, message):
            self._asked_for = (message.params or {}).get("protocolVersion")
            self._early = None
            if self._assumed and self._renewed:
                self._begin_anew()
        era = self._era(sender, message)
        self._verdicts = []
        for conversation in self._conversations:
            conversation.settle(era)
            self._verdicts.append(conversation.judge(sender, message, in_batch=in_batch))
        verdict = self._verdicts[0]
        broken = set[str].intersection(*({violation.rule for violation in v.violations} for v in self._verdicts))
        broken -= self._unjudged | self._excused(verdict)
        verdict.violations = [violation for violation in verdict.violations if violation.rule in broken]
        return verdict

    def judge_batch(self, sender: Side, values: Sequence[Any]) -> tuple[str, str] | None:
        """Say what an array of messages breaks as such: the rule, and what is wrong."""
        faults = [each.judge_batch(sender, values, self._limits.batch_length) for each in self._conversations]
        fault = None if None in faults else faults[0]
        return fault if fault is not None and RULES[fault[0]].binds(sender, self.likely_revision) else None

    def _era(self, sender: Side, message: JSONRPCMessage) -> Era | None:
        """The only era that *message* can be of after what was said; None where it must tell by itself."""
        if isinstance(message, JSONRPCRequest):
            meta = meta_of(message.params)
            if self.opens_session(sender, message) or any(key.name in meta for key in REQUEST_META):
                return None
        legacy = self._phase is not Phase.OPENING
        if legacy is (self._modern is not None):
            return None
        return Era.LEGACY if legacy else Era.MODERN

    def _excused(self, v: Verdict) -> frozenset[str]:
        """Rules of which nobody can tell whether they bind the sender here."""
        message, request = v.message, v.request
        if request is None or not v.modern:
            return frozenset()
        if isinstance(message, JSONRPCErrorResponse) and request.method == DiscoverRequest.method and not self._modern:
            # A server without the modern era answers the probe as it likes; only a modern one knows these codes.
            return frozenset() if any(message.error.code == row.code for row in ERROR_DATA) else frozenset(RULES)
        if request.capabilities is None and not isinstance(message, JSONRPCRequest):
            return frozenset(RULES)  # what is no request of the modern era may have an answer that is none
        extensions: Any = (request.capabilities or {}).get("extensions")
        known = {extension.name for extension in self._spec.extensions}
        if not is_object(extensions) or known.issuperset(extensions):
            return frozenset()
        if isinstance(message, JSONRPCResultResponse) and message.result.get("resultType") not in _RESULT_TYPES:
            return _OTHER_REVISIONS | {"RPC-018"}
        return _OTHER_REVISIONS

    # Changing

    def apply(self) -> None:
        """Let happen what was judged last."""
        for conversation, verdict in zip(self._conversations, self._verdicts, strict=True):
            conversation.apply(verdict)
        v = self._verdicts[0]
        if isinstance(v.message, JSONRPCResultResponse) and v.request is not None:
            self._answered(v, v.message.result)
        if isinstance(v.message, JSONRPCNotification) and v.row is not None and v.row.once:
            self._early = v.message if self._phase is Phase.INITIALIZING else None
        served = v.modern and v.sender is Side.CLIENT and v.refusal is None
        if served and isinstance(v.message, JSONRPCRequest) and v.message.method != DiscoverRequest.method:
            self._modern = v.revision

    def _answered(self, v: Verdict, result: JSONObject) -> None:
        if v.modern and v.invalid is None:
            self._modern = v.revision
        if isinstance(v.payload, DiscoverResult):
            for conversation in self._conversations:
                conversation.server_declares(result["capabilities"], v.revision)
        if v.row is None or not v.row.once:
            return
        if self._phase is Phase.OPENING:
            self.assume(Phase.INITIALIZED, result.get("protocolVersion"))
        if self._early is not None:  # it came too early, which was said; it need not come again
            for conversation in self._conversations:
                conversation.apply(conversation.judge(v.sender.other, self._early))
            self._early = None

    def end(self, sender: Side, request_id: RequestId, how: End) -> None:
        """Note that an open request of *sender* is over without an answer that could be read."""
        row = self._conversations[0].open_requests(sender)[request_id].row
        for conversation in self._conversations:
            conversation.end(sender, request_id, how)
        if how is End.ANSWERED and row is not None and row.once:
            self.assume(Phase.INITIALIZED)

    def assume(self, phase: Phase, revision: object = None, *, past_unknown: bool = False) -> None:
        """Go on as with a session of which nothing else is known.

        Args:
            phase: how far it has got.
            revision: its revision; any may be it where this is none that has sessions.
            past_unknown: whether more may have been said than the recording shows.
        """
        revisions = [revision] if revision in LEGACY_REVISIONS else reversed(LEGACY_REVISIONS)
        self._replace([_session(phase, str(each)) for each in revisions])
        self._assumed = True
        self._unjudged = _HANDSHAKE if phase is Phase.OPERATION else frozenset()
        if past_unknown:
            self._unjudged |= REFERRING

    def know_past(self) -> None:
        """Note that nothing was said but what the recording shows."""
        self._unjudged -= REFERRING

    def _begin_anew(self) -> None:
        self._replace([Session()])
        self._assumed = False
        self._unjudged = frozenset()

    def _replace(self, sessions: Sequence[Session]) -> None:
        """Go on with another session; what is in flight stays so."""
        kept = self._conversations[0].snapshot()
        self._conversations = [Conversation(observer=None, limits=self._limits, spec=self._spec) for _ in sessions]
        for conversation, session in zip(self._conversations, sessions, strict=True):
            conversation.restore({**kept, "session": session.to_json()})


_RESULT_TYPES = ("complete", "input_required", None)
"""What the core protocol knows as ``resultType``."""


def _everything(side: Side) -> JSONObject:
    """The capabilities of a side that declares all that there are."""
    declared: JSONObject = {}
    for row in CAPABILITIES.values():
        if row.side is side:
            place = declared
            *parents, last = row.path.split(".")
            for name in parents:
                place = place.setdefault(name, {})
            place.setdefault(last, True if row.flag else {})
    return declared


_EVERYTHING = {side: _everything(side) for side in Side}


def _session(phase: Phase, revision: str) -> Session:
    session = Session(client={"capabilities": _EVERYTHING[Side.CLIENT]})
    session.agree({"protocolVersion": revision, "capabilities": _EVERYTHING[Side.SERVER]})
    session.phase = phase
    return session
