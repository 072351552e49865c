"""Verdicts over what passes between a client and a server, as the wire between them sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import attrs

from ..codec import STDLIB, Codec
from ..connection.reader import Broken, Read, ReadBatch
from ..connection.state import End, Standing, Verdict
from ..jsonrpc import (
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    RequestId,
)
from ..limits import Limits
from ..recording import Chunk, Ended, Record
from ..spec import CORE, RULES, ErrorCode, Kind, Level, Phase, Side, Spec, Violation
from .diagnosis import Diagnosis, diagnose
from .direction import Direction, Received, meant
from .doubt import Doubt
from .facts import Facts, Session
from .observation import Asked, Happening, Observation, Summary
from .view import REFERRING, View

__all__ = ["Judge"]

_SHOWN = 200
"""How many bytes an observation shows of what is no message, and how many characters are kept of a name or uri."""

_OPEN = 4096
"""How many requests of each side are waited for; then the oldest is given up."""

_LIMITS = Limits(remembered_ids=4096)

_ANSWERS_TO_OTHERS = {Standing.UNKNOWN: "RPC-002", Standing.DUPLICATE: "RPC-005"}
"""What an answer breaks that answers nothing; unless it is for a request that could not be read, or had the same id."""

_HAPPENINGS: dict[type[JSONRPCMessage], Happening] = {
    JSONRPCRequest: Happening.REQUEST,
    JSONRPCNotification: Happening.NOTIFICATION,
    JSONRPCErrorResponse: Happening.ERROR,
}


class Judge:
    """Takes the records of a recording, or of live traffic, and says what happened and what was wrong with it.

    A recording is taken as whole, as ``mcp-sansio tap`` makes it, unless it shows that its beginning is missing: its
    first message refers to what was said before, or the client begins without a handshake and the server serves it
    all the same. Of a session whose handshake was not seen, or cannot be read, the revision and the capabilities are
    unknown; then a rule counts as broken only if it is broken in every revision that has sessions, with everything
    declared.

    What is no message, but plainly meant as one, draws its own violations; what follows is judged as if it had been
    right. Nothing that comes raises, and memory is bounded by the limits.

    Args:
        whole: whether the recording has the beginning of the conversation, as far as the caller knows.
        only: the side that alone is recorded; then all that depends on the other side goes unjudged.
        limits: how long a line may be, and so on; by default 4096 ended requests of each side are remembered.
        codec: how JSON is read.
        spec: the method table.
    """

    def __init__(
        self,
        *,
        whole: bool = True,
        only: Side | None = None,
        limits: Limits = _LIMITS,
        codec: Codec = STDLIB,
        spec: Spec = CORE,
    ) -> None:
        codec.check(limits)
        self._whole, self._only, self._limits, self._spec = whole, only, limits, spec
        self._directions = {side: Direction(codec, limits, cut=not whole) for side in Side}
        self._facts = Facts(only)
        self._number = self._records = self._messages = 0
        self._broken: Counter[tuple[Level, Side]] = Counter()
        self._t: float | None = None
        self._doubt: Doubt | None = None
        self._begin()

    def _begin(self) -> None:
        """Be ready for a session of which nothing is known."""
        self._view = View(self._limits, self._spec, renewed=self._only is None)
        self._asked: dict[Side, dict[RequestId, Asked]] = {side: {} for side in Side}
        self._unread = dict.fromkeys(Side, 0)
        self._ended: set[Side] = set()
        self._opened = False
        self._acquitted: Observation | None = None
        if self._only is not None or not self._whole:
            self._view.assume(Phase.OPERATION, past_unknown=True)
            self._opened = True

    # Input

    def receive(self, record: Record, number: int | None = None) -> list[Observation]:
        """Take the next record.

        Args:
            record: the record.
            number: the number that observations call it by; by default they are counted from 1 on. Several with
                one number count as one.

        Returns:
            What happened, in its order. It may come a few records late, where only what follows tells what it was.
        """
        number = self._number + 1 if number is None else number
        self._records += number != self._number
        self._number = number
        self._t = record.t if record.t is not None else self._t
        return self._told(self._observe(record, number))

    def finish(self) -> list[Observation]:
        """Note that there are no more records, and give what was held back."""
        late = [seen for side in Side for got in self._directions[side].finish() for seen in self._take(side, got)]
        found = self._told(late)
        if self._doubt is not None:
            found += self._noted(self._doubt.end())
            self._doubt = None
        for side in Side:
            self._give_up(side)
        self._facts.unfinished = [side for side, direction in self._directions.items() if direction.unfinished]
        return found

    # Outcome

    @property
    def summary(self) -> Summary:
        """What was observed so far, in numbers."""
        return Summary(self._view.revision, self._records, self._messages, dict(self._broken))

    def diagnoses(self) -> list[Diagnosis]:
        """What the usual complaints come from, as far as was observed; call ``finish()`` first."""
        return diagnose(self._facts)

    # From records to observations

    def _told(self, observations: Iterable[Observation]) -> list[Observation]:
        found = list(observations)
        if self._doubt is None:
            return self._noted(found)
        found = self._doubt.weigh(found)
        if self._doubt.guilty is not None:
            if self._doubt.guilty:
                self._view.know_past()
            else:
                self._acquitted = self._doubt.first
                self._facts.missing_beginning = True
            self._doubt, self._opened = None, True
        return self._noted(found)

    def _noted(self, observations: list[Observation]) -> list[Observation]:
        for seen in observations:
            self._messages += seen.message is not None
            self._broken.update((violation.level, seen.sender) for violation in seen.violations)
            self._facts.note(seen)
        return observations

    def _observe(self, record: Record, number: int) -> Iterator[Observation]:
        sender, direction = record.sender, self._directions[record.sender]
        if isinstance(record, Chunk):
            found = direction.receive(number, record.t, record.data)
        else:
            found = direction.receive_eof(number, record.t)
        for got in found:
            for held in self._directions[sender.other].finish():
                yield from self._take(sender.other, held)
            yield from self._take(sender, got)
        if isinstance(record, Ended):
            yield self._end(record, number)

    def _end(self, record: Ended, number: int) -> Observation:
        self._ended.add(record.sender)
        if record.sender is Side.SERVER:
            self._give_up(Side.CLIENT)
        what, revision = Happening(record.event), self._view.likely_revision
        return Observation(record=number, t=record.t, sender=record.sender, what=what, revision=revision)

    def _give_up(self, side: Side) -> None:
        """Wait no longer for answers to requests of *side*."""
        for asked in self._asked[side].values():
            self._facts.note_unanswered(asked, self._t, over=Side.SERVER in self._ended)
            self._view.end(side, asked.id, End.TIMED_OUT)
        self._asked[side].clear()

    def _take(self, sender: Side, got: Received, *, in_batch: bool = False) -> Iterator[Observation]:
        item = got.item
        if isinstance(item, Read):
            yield self._message(sender, got, item.message, item.rules, in_batch=in_batch)
        elif isinstance(item, Broken):
            yield self._invalid(sender, got, item)
        else:
            yield from self._batch(sender, got, item)

    def _batch(self, sender: Side, got: Received, item: ReadBatch) -> Iterator[Observation]:
        fault = self._view.judge_batch(sender, item.values)
        if fault is not None:
            rule, detail = fault
            rules, code = (rule, *item.rules), ErrorCode.INVALID_REQUEST
            messages = tuple(each for value in item.values if (each := meant(value, self._limits)) is not None)
            broken = Broken("unknown", None, None, rules, code, detail, item.data, whole=False)
            yield self._invalid(sender, attrs.evolve(got, meant=messages), broken)
            return
        for value in item.values:
            yield from self._take(sender, self._directions[sender].part(got, value), in_batch=True)

    def _message(
        self, sender: Side, got: Received, message: JSONRPCMessage, rules: tuple[str, ...], *, in_batch: bool
    ) -> Observation:
        if self._ended and self._view.opens_session(sender, message):
            self._begin()
            self._facts.session = Session()
        v = self._view.judge(sender, message, in_batch=in_batch)
        broken = [*v.violations, *(self._violation(rule, RULES[rule].text, v.revision) for rule in rules)]
        if self._acquitted is not None and self._view.opens_session(sender, message):
            late = f"{self._acquitted.method} came before it, in record {self._acquitted.record}"
            broken.append(self._violation("LIFE-001", late, v.revision))
            self._acquitted, self._facts.missing_beginning = None, False
        if v.standing in _ANSWERS_TO_OTHERS and self._unread[sender.other]:
            self._unread[sender.other] -= 1
            broken = [violation for violation in broken if violation.rule != _ANSWERS_TO_OTHERS[v.standing]]
        answered = self._apply(v, got)
        if answered is not None and answered.ambiguous:
            broken = []
        if isinstance(message, JSONRPCRequest) and v.row is not None and v.row.kind is Kind.NOTIFICATION:
            self._apply(self._view.judge(sender, JSONRPCNotification(message.method, message.params)), got)
        refers = any(violation.rule in REFERRING for violation in broken)
        if refers and not self._opened:
            self._view.assume(Phase.OPERATION, past_unknown=True)
            self._facts.missing_beginning = True
            self._opened = True
            broken = [violation for violation in broken if violation.rule not in REFERRING]
        request = answered or v.request
        seen = Observation(
            record=got.record,
            t=got.t,
            sender=sender,
            what=_HAPPENINGS.get(type(message), Happening.RESULT),
            id=None if isinstance(message, JSONRPCNotification) else message.id,
            method=_method(message) or (None if request is None else request.method),
            violations=tuple(broken),
            revision=v.revision,
            message=message,
            answered=answered,
        )
        if any(violation.rule == "LIFE-001" for violation in v.violations):
            self._view.assume(Phase.OPERATION, past_unknown=not self._opened)
            self._doubt = self._doubt if self._opened else Doubt(seen)
        return seen

    def _invalid(self, sender: Side, got: Received, item: Broken) -> Observation:
        other, rules, revision = sender.other, item.rules, self._view.likely_revision
        if "RPC-002" in rules and item.id is None and self._unread[other]:
            self._unread[other] -= 1
            rules = tuple(rule for rule in rules if rule != "RPC-002")
        answered = None
        answers = item.kind == "response" or (item.kind == "unknown" and item.whole)
        for message in got.meant:
            answered = self._apply(self._view.judge(sender, message), got)
        if got.meant:
            self._unread[sender] += item.kind == "request" and item.id is None
        elif answers and item.id is not None and self._view.is_open(other, item.id):
            answered = self._asked[other].pop(item.id, None)
            self._view.end(other, item.id, End.ANSWERED)
        else:
            self._unread[sender] += item.kind in ("request", "unknown")
        return Observation(
            record=got.record,
            t=got.t,
            sender=sender,
            what=Happening.INVALID,
            id=item.id,
            method=item.method if answered is None else answered.method,
            violations=tuple(self._violation(rule, item.detail, revision) for rule in rules),
            revision=revision,
            answered=answered,
            meant=got.meant,
            data=item.data[:_SHOWN],
            detail=item.detail,
        )

    def _violation(self, rule: str, detail: str, revision: str) -> Violation:
        return Violation(rule, RULES[rule].level_in(revision), detail)

    def _apply(self, v: Verdict, got: Received) -> Asked | None:
        """Let happen what was judged, and give the request that it answers."""
        self._view.apply()
        message = v.message
        if isinstance(message, JSONRPCRequest):
            modern = v.modern and v.sender is Side.CLIENT
            self._opened = self._opened or modern or self._view.opens_session(v.sender, message)
            self._wait(v, message, got)
        elif isinstance(message, JSONRPCNotification):
            ended = v.request
            if ended is not None and not self._view.is_open(ended.sender, ended.id):
                self._asked[ended.sender].pop(ended.id, None)
        elif message.id is not None and v.standing is Standing.EXPECTED:
            return self._asked[v.sender.other].pop(message.id, None)
        return None

    def _wait(self, v: Verdict, request: JSONRPCRequest, got: Received) -> None:
        """Remember a request until it is answered."""
        sender, waiting = v.sender, self._asked[v.sender]
        if request.id in waiting:
            waiting[request.id] = attrs.evolve(waiting[request.id], ambiguous=True)
            self._unread[sender] += 1
            return
        if self._only is not None:
            self._view.end(sender, request.id, End.TIMED_OUT)  # whether it was answered is not recorded
            return
        params = request.params or {}
        subject, cursor = params.get("name", params.get("uri")), params.get("cursor")
        waiting[request.id] = Asked(
            id=request.id,
            method=request.method[:_SHOWN],
            sender=sender,
            record=got.record,
            t=got.t,
            subject=subject[:_SHOWN] if isinstance(subject, str) else None,
            page=hash(cursor) if isinstance(cursor, str) else None,
            due=v.row is None or (v.row.kind is Kind.REQUEST and not v.row.listens),
        )
        if len(waiting) > _OPEN:
            oldest = next(iter(waiting))
            del waiting[oldest]
            self._view.end(sender, oldest, End.TIMED_OUT)


def _method(message: JSONRPCMessage) -> str | None:
    return message.method if isinstance(message, JSONRPCRequest | JSONRPCNotification) else None
