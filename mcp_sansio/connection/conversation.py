"""One conversation, seen from nowhere: which rules a message breaks, and what it changes.

A `Conversation` plays no role. It takes facts (a message and its sender, a request given up) as an observer sees
them: one of the two sides, or the wire between. A side judges its own messages before it sends them, and the peer's
when they arrive, by the same rules. A rule counts as broken only if the sender could have known: a cancel that crosses
an answer breaks nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..jsonrpc import (
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResultResponse,
    RequestId,
    copy_json,
    is_object,
)
from ..limits import Limits
from ..spec import CORE, NEXT_PHASE, REVISIONS, Era, Handshake, Phase, Side, Spec, Tells, declared, of_era
from ..types import CreateTaskResult, DiscoverResult
from ..types.converter import unstructure
from .checks import check_notification, check_request, check_response, may_send
from .state import End, Ended, OpenRequest, Session, Standing, State, Verdict

__all__ = ["Conversation"]


class Conversation:
    """The state of one conversation between a client and a server.

    Args:
        observer: whose view this is; None for the wire between the two.
        revisions: the revisions that are possible here.
        limits: `Limits.id_length`, `Limits.remembered_ids` and `Limits.subscribed_uris` bound what is kept.
        spec: the method table.
        forwarding: payloads stay decoded JSON, and are not held against the schema.
    """

    def __init__(
        self,
        *,
        observer: Side | None,
        revisions: frozenset[str] = frozenset(REVISIONS),
        limits: Limits | None = None,
        spec: Spec = CORE,
        forwarding: bool = False,
    ) -> None:
        self._state = State(
            spec=spec,
            revisions=revisions,
            observer=observer,
            forwarding=forwarding,
            limits=limits if limits is not None else Limits(),
        )
        self._every_era = self._state.eras

    # Looking

    @property
    def session(self) -> Session:
        """The legacy session."""
        return self._state.session

    @property
    def eras(self) -> frozenset[Era]:
        """The eras that are still possible."""
        return self._state.eras

    @property
    def server_declared(self) -> frozenset[str] | None:
        """The names of what the server declares in the modern era; None while that is unknown."""
        return self._state.server_declared

    def open_requests(self, sender: Side) -> dict[RequestId, OpenRequest]:
        """The requests of *sender* that have not ended, by id. Not to be changed."""
        return self._state.sides[sender].requests

    def ended(self, sender: Side, request_id: RequestId) -> End | None:
        """How that request of *sender* ended; None if it never was, is open, or is forgotten."""
        ended = self._state.sides[sender].ended.get(request_id)
        return None if ended is None else ended.how

    def may_have_forgotten(self, sender: Side) -> bool:
        """Whether a request of *sender* may have ended so long ago that it is not remembered."""
        return self._state.sides[sender].ended.full

    def shared(self) -> JSONObject:
        """What both sides know alike when nothing is under way between them."""
        session = self._state.session
        return {
            "phase": session.phase.value,
            "revision": session.revision,
            "declared": sorted(session.declared),
            "log_level": session.log_level,
            "subscribed": sorted(session.subscribed),
            "requests": {
                side.value: sorted(([r.id, r.method, r.revision, r.token] for r in ledger.requests.values()), key=repr)
                for side, ledger in self._state.sides.items()
            },
        }

    # Judging

    def judge(self, sender: Side, message: JSONRPCMessage, *, in_batch: bool = False) -> Verdict:
        """Say what *message* of *sender* would break and change; nothing has changed yet.

        Args:
            sender: the side that sends it.
            message: the message.
            in_batch: whether it stands in a JSON-RPC batch.
        """
        state = self._state
        revision = state.session.revision or (state.modern or state.legacy)[-1]
        v = Verdict(sender, message, sender is state.observer, revision, modern=False)
        if isinstance(message, JSONRPCRequest):
            v.request = check_request(state, v, message, in_batch)
        elif isinstance(message, JSONRPCNotification):
            check_notification(state, v, message)
        else:
            check_response(state, v, message)
        return v

    def judge_batch(self, sender: Side, values: Sequence[Any], longest: int) -> tuple[str, str] | None:
        """Say what an array of messages breaks as such.

        Args:
            sender: the side that sends it.
            values: what stands in it, decoded.
            longest: how many messages it may hold.

        Returns:
            The rule and what is wrong; None where each of the messages can be judged by itself.
        """
        revision = self._state.session.revision
        if revision is None or not REVISIONS[revision].batches:
            detail = "an array is no message in this revision; send each message by itself"
            return self._rule_against_array(sender, values), detail
        if len(values) > longest:
            return "LIB-011", f"a batch holds at most {longest} messages here"
        return None

    def _rule_against_array(self, sender: Side, values: Sequence[Any]) -> str:
        """An array that opens a session of a revision with batches is wrong only for what is in it."""
        for value in values:
            method: Any = value.get("method") if is_object(value) else None
            if type(method) is str and any(not row.batchable for row in self._state.spec.rows(sender, method)):
                params: Any = value.get("params")
                asked = params.get("protocolVersion") if is_object(params) else None
                if type(asked) is str and asked in REVISIONS and REVISIONS[asked].batches:
                    return "LIFE-007"
        return "FRAME-004"

    def may_send(self, sender: Side, method: str, *, strict: bool = True) -> bool:
        """Whether the tables let *sender* send *method* now, whatever the params."""
        return may_send(self._state, sender, method, strict=strict)

    # Changing

    def apply(self, v: Verdict) -> None:
        """Let happen what was judged."""
        message = v.message
        if isinstance(message, JSONRPCRequest):
            self._open(v, message)
        elif isinstance(message, JSONRPCNotification):
            self._notified(v, message)
        else:
            self._answered(v, message)

    def end(self, sender: Side, request_id: RequestId, how: End) -> None:
        """Note that a request of *sender* is over without an answer."""
        self._end(self._state.sides[sender].requests[request_id], how)

    def settle(self, era: Era | None) -> None:
        """Note that only one era is possible from now on; None for every era of the revisions."""
        self._state.eras = self._every_era if era is None else frozenset({era})

    def server_declares(self, capabilities: JSONObject, revision: str) -> None:
        """Note what the server declares in the modern era."""
        self._state.server_declared = declared(Side.SERVER, capabilities, revision)

    def _open(self, v: Verdict, message: JSONRPCRequest) -> None:
        request = v.request
        if request is None or v.unopened:
            return
        state = self._state
        request.params = copy_json(request.params)  # what the application does with it changes nothing here
        state.sides[v.sender].requests[request.id] = request
        if request.token is not None:
            state.sides[v.sender].tokens[request.token] = request
        if self._is_handshake(request) and v.refusal is None and message.params is not None:
            state.session.phase = NEXT_PHASE[state.session.phase, Handshake.INITIALIZE]
            state.session.opened_by = request.id
            state.session.client = message.params

    def _is_handshake(self, request: OpenRequest) -> bool:
        return request.row is not None and request.row.once

    def _notified(self, v: Verdict, message: JSONRPCNotification) -> None:
        state, row, request = self._state, v.row, v.request
        if row is not None and row.once and state.session.phase in row.phases and v.payload is not None:
            state.session.phase = NEXT_PHASE[state.session.phase, Handshake.INITIALIZED]
        self._learn(v)
        if request is None or row is None:
            return
        params = message.params or {}
        if row.tells is Tells.CANCELLED:
            self._end(request, End.CANCELLED)
        elif row.tells is Tells.PROGRESS:
            request.progress = max(params["progress"], request.progress or params["progress"])
        elif row.tells is Tells.ACKNOWLEDGED:
            request.filter = params["notifications"]

    def _answered(self, v: Verdict, message: JSONRPCResultResponse | JSONRPCErrorResponse) -> None:
        request, session = v.request, self._state.session
        served = isinstance(message, JSONRPCResultResponse) and v.invalid is None
        if v.ended is not None and served:  # who answered did not know yet that nobody waits for it
            session.take(v.ended.effect, v.ended.subject, self._state.subscribed_uris)
        if v.standing is not Standing.EXPECTED or request is None:
            return
        self._end(request, End.ANSWERED, of_token=End.TASK if isinstance(v.payload, CreateTaskResult) else None)
        self._learn(v)
        if served and request.row is not None:
            session.take(request.row.effect, request.subject, self._state.subscribed_uris)
        opens = self._is_handshake(request) and request.id == session.opened_by
        if not opens or session.phase is not Phase.INITIALIZING:
            return
        agreed = (
            served
            and isinstance(message, JSONRPCResultResponse)
            and message.result["protocolVersion"] in of_era(Era.LEGACY)
        )
        if agreed and isinstance(message, JSONRPCResultResponse):
            session.phase = NEXT_PHASE[session.phase, Handshake.AGREED]
            session.agree(message.result)
        else:
            self._state.session = Session(NEXT_PHASE[session.phase, Handshake.REFUSED])

    def _learn(self, v: Verdict) -> None:
        """Remember what later messages are held against."""
        for task in v.tasks:
            self._state.sides[v.sender].statuses.remember(task["taskId"], task["status"])
        if isinstance(v.payload, DiscoverResult):
            self.server_declares(unstructure(v.payload.capabilities, v.revision), v.revision)
        following, scope = getattr(v.payload, "next_cursor", None), getattr(v.payload, "cache_scope", None)
        if v.request is not None and following is not None and scope is not None:
            self._state.scopes.remember((v.request.method, following), scope)

    def _end(self, request: OpenRequest, how: End, *, of_token: End | None = None) -> None:
        state = self._state
        del state.sides[request.sender].requests[request.id]
        state.sides[request.sender].ended.remember(request.id, Ended.of(request, how))
        if request.token is not None:
            del state.sides[request.sender].tokens[request.token]
            state.sides[request.sender].ended_tokens.remember(request.token, Ended(of_token or how, request.revision))

    # Keeping

    def snapshot(self) -> JSONObject:
        """All of it as plain JSON data."""
        state = self._state
        return {
            "eras": sorted(era.value for era in state.eras),
            "session": state.session.to_json(),
            "server_declared": None if state.server_declared is None else sorted(state.server_declared),
            "sides": {side.value: ledger.to_json() for side, ledger in state.sides.items()},
            "scopes": [[*key, scope] for key, scope in state.scopes.items()],
        }

    def restore(self, data: JSONObject) -> None:
        """Take the place of the conversation that gave *data*."""
        state = self._state
        state.eras = frozenset(Era(era) for era in data["eras"])
        state.session = Session.from_json(data["session"])
        declared_names = data["server_declared"]
        state.server_declared = None if declared_names is None else frozenset(declared_names)
        for side, ledger in data["sides"].items():
            state.sides[Side(side)].restore(ledger, state.spec)
        for method, cursor, scope in data["scopes"]:
            state.scopes.remember((method, cursor), scope)
