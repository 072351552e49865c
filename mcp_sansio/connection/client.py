"""The client's side of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, TypeVar, cast

import attrs

from ..codec import STDLIB, Codec
from ..errors import LocalProtocolError, Reason
from ..jsonrpc import (
    Error,
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCRequest,
    JSONRPCResultResponse,
    RequestId,
)
from ..limits import Limits
from ..spec import ALL_REVISIONS, CORE, Era, Phase, Side, Spec, Violation, is_modern, newest, of_era
from ..spec.meta import CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION, SERVER_INFO
from ..types import (
    ClientCapabilities,
    DiscoverRequest,
    DiscoverResult,
    EmptyResult,
    Implementation,
    InitializedNotification,
    InitializeRequest,
    InitializeResult,
    InputResponse,
    Result,
    ServerCapabilities,
)
from ..types.converter import structure
from .base import Connection, check_snapshot
from .checks import meta_of
from .events import (
    AnswerInvalid,
    Ending,
    Event,
    FailureReason,
    InputRequired,
    Negotiated,
    NegotiationFailed,
    RequestLost,
)
from .input_required import Retry
from .negotiation import INITIALIZES, NEXT, PROBES, Outcome, Step, common_version, read_or_none, versions_named
from .outgoing import Handle
from .reader import Broken
from .sender import Declaration
from .state import Bounded, End, OpenRequest, Verdict
from .states import NEXT_STATE, ConnectionState, Turn

__all__ = ["ClientConnection"]

R = TypeVar("R", bound=Result)

_FAILURES: dict[Outcome, FailureReason] = {
    Outcome.LEGACY_IN_COMMON: FailureReason.NO_COMMON_VERSION,
    Outcome.NOTHING_IN_COMMON: FailureReason.NO_COMMON_VERSION,
    Outcome.MODERN_NAMED_IN_ERROR: FailureReason.NO_COMMON_VERSION,
    Outcome.UNREADABLE: FailureReason.INVALID,
    Outcome.ERROR: FailureReason.REFUSED,
    Outcome.TIMED_OUT: FailureReason.TIMED_OUT,
    Outcome.LOST: FailureReason.LOST,
}


class ClientConnection(Connection):
    """A client: ``connect()``, then ``request(...)`` when `Negotiated` has come.

    Args:
        info: what the client calls itself.
        capabilities: what it can do for servers.
        era: "auto" finds out what the server speaks; "legacy" and "modern" speak only that.
        revisions: the revisions that it speaks; by default all.
        limits: bounds on what the server can make it hold.
        codec: how JSON is read and written.
        manual: requests of the server that the application answers, though the library could: ``{"ping"}``.
        strict_capabilities: refuse to send what the server did not declare. Some servers declare too little.
        forwarding: for gateways: payloads stay decoded JSON (`CustomRequest`, `CustomNotification`, `CustomResult`),
            but for those that the connection itself acts on; nothing is lost, and the envelope's rules still hold.
        send_info: name the client in each modern request, as the specification recommends.
        first_id: the id of its first request, for those who let connections follow each other and tell their requests
            apart by id.
        spec: the method table.

    Raises:
        LocalProtocolError: the arguments contradict each other (``Reason.CONFIGURATION``).
    """

    side: ClassVar[Side] = Side.CLIENT

    def __init__(
        self,
        info: Implementation,
        capabilities: ClientCapabilities | None = None,
        *,
        era: Literal["auto", "legacy", "modern"] = "auto",
        revisions: Iterable[str] = ALL_REVISIONS,
        limits: Limits | None = None,
        codec: Codec = STDLIB,
        manual: Iterable[str] = (),
        strict_capabilities: bool = True,
        forwarding: bool = False,
        send_info: bool = True,
        first_id: int = 1,
        spec: Spec = CORE,
    ) -> None:
        if era not in ("auto", "legacy", "modern"):
            raise LocalProtocolError(Reason.CONFIGURATION, f'era is "auto", "legacy" or "modern", not {era!r}')
        spoken = frozenset([revisions] if isinstance(revisions, str) else revisions)
        if era != "auto":
            spoken = frozenset(name for name in spoken if name in of_era(Era(era)) or name not in ALL_REVISIONS)
        self._set_up(
            Declaration(info, capabilities if capabilities is not None else ClientCapabilities()),
            revisions=spoken,
            limits=limits,
            codec=codec,
            manual=manual,
            strict_capabilities=strict_capabilities,
            forwarding=forwarding,
            send_info=send_info,
            spec=spec,
        )
        self._next_id = first_id

    def _set_up(self, declaration: Declaration, *, send_info: bool, **settings: Any) -> None:
        super().__init__(declaration, **settings)
        self._send_info = send_info
        self._modern_revision = newest(of_era(Era.MODERN, self._revisions))
        self._legacy_revisions = of_era(Era.LEGACY, self._revisions)
        self._step: Step | None = None
        self._timeout: float | None = None
        self._probe_timeout: float | None = None
        self._handshake: RequestId | None = None
        self._discovered: JSONObject | None = None
        self._retries: Bounded[RequestId, Retry] = Bounded(self._limits.remembered_ids)

    # Facts

    @property
    def revision(self) -> str | None:
        """The revision in force; None before negotiation."""
        if self._state in (ConnectionState.IDLE, ConnectionState.CONNECTING, ConnectionState.FAILED):
            return None
        session = self._conversation.session
        if session.revision is not None:
            return session.revision if session.revision in self._legacy_revisions else None
        return self._modern_revision if Era.LEGACY not in self._conversation.eras else None

    @property
    def peer_info(self) -> Implementation | None:
        """What the server calls itself; None where it did not say."""
        return self._described()[0]

    @property
    def peer_capabilities(self) -> ServerCapabilities | None:
        """What the server declared; None before it did."""
        return self._described()[1]

    @property
    def instructions(self) -> str | None:
        """How the server wants to be used; None where it did not say."""
        answer = self._conversation.session.server or self._discovered or {}
        return answer.get("instructions")

    def _described(self) -> tuple[Implementation | None, ServerCapabilities | None]:
        session = self._conversation.session
        if session.revision is not None:
            return _described(session.server, session.server["serverInfo"], session.revision)
        if self._discovered is None:
            return None, None
        info = meta_of(self._discovered).get(SERVER_INFO)
        return _described(self._discovered, info, cast(str, self._modern_revision))

    # The handshake

    def connect(
        self, *, timeout: float | None = None, probe_timeout: float | None = None, now: float | None = None
    ) -> None:
        """Start the handshake: `Negotiated` or `NegotiationFailed` will say how it ended.

        Args:
            timeout: seconds to wait for each answer; None waits for ever.
            probe_timeout: seconds to wait for the answer to ``server/discover``, after which ``initialize`` is
                tried; by default ``timeout``. With era="auto" give one: some older servers never answer the probe.
            now: seconds on the caller's clock; needed with a timeout.

        Raises:
            LocalProtocolError: it was called before, or ``now`` is missing.
        """
        if (self._state, Turn.CONNECT) not in NEXT_STATE:
            raise LocalProtocolError(
                Reason.ALREADY_CONNECTED, f"connect() was called before; the connection is {self._state.value}"
            )
        self._check_room()
        self._check_times(now, timeout=timeout, probe_timeout=probe_timeout)
        self._set_clock(now)
        self._start(
            Step.INITIALIZE if self._modern_revision is None else Step.PROBE,
            timeout,
            timeout if probe_timeout is None else probe_timeout,
        )
        self._take(Turn.CONNECT)

    def _start(self, step: Step, timeout: float | None, probe_timeout: float | None) -> None:
        if step in PROBES:
            request_id = self._request(DiscoverRequest()).id
        else:
            revision = self._legacy_revisions[-1]
            info, capabilities = self._declaration.at(revision)
            params = {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": info}
            request_id = self._fresh_id()
            self._commit(self._judge(JSONRPCRequest(request_id, InitializeRequest.method, params)), None)
            self._next_id = request_id + 1
        self._step, self._handshake = step, request_id
        self._timeout, self._probe_timeout = timeout, probe_timeout
        if self._now is not None:
            timeout = probe_timeout if step is Step.PROBE else timeout
            self._deadlines.arm(request_id, self._now, timeout)

    def _proceed(
        self, outcome: Outcome, events: list[Event], detail: str, violations: tuple[Violation, ...] = (), **facts: Any
    ) -> None:
        """Do what the table says about an outcome, unless there is nothing to fall back on."""
        following = NEXT[cast(Step, self._step), outcome]
        self._step = self._handshake = None
        if following in PROBES or (following in INITIALIZES and self._legacy_revisions):
            self._start(following, self._timeout, self._probe_timeout)
        elif following is Step.ESTABLISHED:
            self._establish(events, violations)
        else:
            self._take(Turn.FAILED)
            events.append(NegotiationFailed(reason=_FAILURES[outcome], detail=detail, violations=violations, **facts))

    def _establish(self, events: list[Event], violations: tuple[Violation, ...]) -> None:
        self._take(Turn.ESTABLISHED)
        if self._conversation.session.revision is None:
            self._conversation.settle(Era.MODERN)
        else:
            self._conversation.settle(Era.LEGACY)
            self._notify(InitializedNotification())
        info, capabilities = self._described()
        revision = cast(str, self.revision)
        events.append(
            Negotiated(
                revision=revision,
                peer_info=info,
                client_capabilities=self._self_description(revision)[1],
                server_capabilities=cast(ServerCapabilities, capabilities),
                instructions=self.instructions,
                violations=violations,
            )
        )

    def _ending_of_handshake(
        self, v: Verdict, message: JSONRPCResultResponse | JSONRPCErrorResponse, events: list[Event]
    ) -> None:
        violations = tuple(v.violations)
        if isinstance(message, JSONRPCErrorResponse):
            self._handshake_refused(message.error, events, violations)
        elif v.invalid is not None or not isinstance(v.payload, DiscoverResult | InitializeResult):
            detail = v.invalid or "the server asks for input before it has answered"
            self._proceed(Outcome.UNREADABLE, events, detail, violations)
        elif isinstance(v.payload, InitializeResult):
            named = v.payload.protocol_version
            agreed = named in self._legacy_revisions
            self._proceed(
                Outcome.AGREED if agreed else Outcome.NOTHING_IN_COMMON,
                events,
                f"the server answered version {named[:40]!r}, which this client does not speak",
                violations,
                **({} if agreed else {"supported": (named,)}),
            )
        else:
            self._discovered = message.result
            self._versions_named(v.payload.supported_versions, Outcome.MODERN_IN_COMMON, events, violations, None)

    def _handshake_refused(self, error: Error, events: list[Event], violations: tuple[Violation, ...]) -> None:
        named = versions_named(error)
        if named:
            self._versions_named(named, Outcome.MODERN_NAMED_IN_ERROR, events, violations, error)
        else:
            detail = f"the server refused: {error.message} ({error.code})"
            self._proceed(Outcome.ERROR, events, detail, violations, error=error)

    def _versions_named(
        self,
        named: Iterable[str],
        if_modern: Outcome,
        events: list[Event],
        violations: tuple[Violation, ...],
        error: Error | None,
    ) -> None:
        named = tuple(named)
        modern = common_version(Era.MODERN, self._revisions, named)
        if modern is not None:
            self._modern_revision = modern
            outcome = if_modern
        else:
            legacy = common_version(Era.LEGACY, self._revisions, named)
            outcome = Outcome.LEGACY_IN_COMMON if legacy is not None else Outcome.NOTHING_IN_COMMON
        if modern is not None and self._discovered is not None:
            self._conversation.server_declares(self._discovered["capabilities"], modern)
        listed = ", ".join(named)[:200]
        detail = f"the server speaks {listed or 'no version'}, which this client does not"
        self._proceed(outcome, events, detail, violations, supported=named, error=error)

    # Requests that turn out to need input

    def retry(
        self,
        handle: Handle[R],
        responses: Mapping[str, InputResponse] | None = None,
        *,
        timeout: float | None = None,
        max_timeout: float | None = None,
        reset_on_progress: bool = False,
        now: float | None = None,
    ) -> Handle[R]:
        """Send a request once more, with what the server asked for in `InputRequired`.

        It has a new id, the same params and the server's state as it came (basic/patterns/mrtr of 2026-07-28).

        Args:
            handle: the handle of the request.
            responses: an answer to each of ``InputRequired.result.input_requests``, by its key.
            timeout, max_timeout, reset_on_progress, now: as for ``request``.

        Raises:
            LocalProtocolError: no input was asked for with this request, an answer is missing or of the wrong class,
                or the server has asked too often.
        """
        self._check_class(handle, Handle, "retry(handle, {'key': ElicitResult('decline')})")
        asked = self._retries.get(handle.id)
        if asked is None:
            detail = f"no InputRequired came for the request {handle.id!r:.60}, or it was sent once more already"
            if self._retries.full:
                detail += ", or it is forgotten (Limits.remembered_ids)"
            raise LocalProtocolError(Reason.UNKNOWN_REQUEST, detail)
        if asked.rounds >= self._limits.input_rounds:
            detail = f"the server asked again {asked.rounds} times (Limits.input_rounds): give the request up"
            raise LocalProtocolError(Reason.LIMIT, detail)
        self._check_room()
        self._check_open(asked.method)
        self._check_postponable(timeout, reset_on_progress)
        self._check_times(now, timeout=timeout, max_timeout=max_timeout)
        self._check_in_flight(1)
        request_id = self._fresh_id()
        params = asked.answered(responses or {}, self._spec)
        if asked.progress or reset_on_progress:
            params["_meta"] = {**params["_meta"], "progressToken": request_id}
        verdict = self._judged(JSONRPCRequest(request_id, asked.method, params))
        self._send_request(verdict, None)
        self._next_id = request_id + 1
        self._conversation.open_requests(self.side)[request_id].rounds = asked.rounds + 1
        self._retries.forget(handle.id)
        self._arm(request_id, now, timeout, max_timeout, postponable=reset_on_progress)
        return Handle(request_id, handle.method, handle.result_type)

    def _ending(
        self, v: Verdict, request: OpenRequest, message: JSONRPCResultResponse | JSONRPCErrorResponse
    ) -> Ending:
        event = super()._ending(v, request, message)
        if isinstance(event, InputRequired):
            self._retries.remember(event.id, Retry.of(request, event.result))
        return event

    def _take_effect(self, verdict: Verdict) -> bool:
        if isinstance(verdict.message, JSONRPCRequest):  # an id that was asked about may be used again
            self._retries.forget(verdict.message.id)
        return super()._take_effect(verdict)

    # What the handshake changes about the rest

    def _check_open(self, method: str) -> None:
        super()._check_open(method)
        if self._state is ConnectionState.FAILED:
            hint = "the handshake failed: close this connection and make another; an HTTPClient does so in connect()"
            raise LocalProtocolError(Reason.NOT_CONNECTED, hint)
        if self._state is ConnectionState.OPEN:
            return
        if self._state is ConnectionState.IDLE and not self._legacy_revisions:
            return
        phase = self._conversation.session.phase
        row = self._spec.method(self.side, method, self._legacy_revisions[-1]) if self._legacy_revisions else None
        if phase is Phase.INITIALIZING and row is not None and phase in row.phases:
            return
        raise LocalProtocolError(Reason.NOT_CONNECTED, f"call connect() and wait for Negotiated before {method}")

    def _revision_in_force(self) -> str:
        session = self._conversation.session
        if session.phase is not Phase.OPENING:
            return session.revision or self._legacy_revisions[-1]
        return self._modern_revision or self._legacy_revisions[-1]

    def _request_meta(self, revision: str, meta: JSONObject | None) -> JSONObject | None:
        if not is_modern(revision):
            return meta
        info, capabilities = self._declaration.at(revision)
        stamped: JSONObject = {PROTOCOL_VERSION: revision, CLIENT_CAPABILITIES: capabilities}
        if self._send_info:
            stamped[CLIENT_INFO] = info
        return {**stamped, **meta} if meta else stamped

    def _on_response(
        self, v: Verdict, message: JSONRPCResultResponse | JSONRPCErrorResponse, events: list[Event]
    ) -> None:
        if v.request is None or v.request.id != self._handshake:
            super()._on_response(v, message, events)
            return
        self._conversation.apply(v)
        self._deadlines.disarm(v.request.id)
        self._ending_of_handshake(v, message, events)

    def _conclude(self, event: Ending, events: list[Event]) -> None:
        if isinstance(event, AnswerInvalid | RequestLost) and event.id == self._handshake:
            outcome = Outcome.LOST if isinstance(event, RequestLost) else Outcome.UNREADABLE
            self._proceed(outcome, events, event.detail, event.violations)
        else:
            super()._conclude(event, events)

    def _timed_out(self, request_id: RequestId, events: list[Event]) -> None:
        if request_id != self._handshake:
            super()._timed_out(request_id, events)
            return
        self._conversation.end(self.side, request_id, End.TIMED_OUT)
        self._proceed(Outcome.TIMED_OUT, events, "the server did not answer in time")

    def _automatic_result(self, v: Verdict, message: JSONRPCRequest) -> Result:
        return EmptyResult()

    def _client_of(self, v: Verdict) -> tuple[Implementation | None, ClientCapabilities]:
        return self._self_description(v.revision)

    def _self_description(self, revision: str) -> tuple[Implementation, ClientCapabilities]:
        info, capabilities = self._declaration.at(revision)
        return structure(info, Implementation, revision), structure(capabilities, ClientCapabilities, revision)

    def _answers_broken(self, item: Broken) -> bool:
        """A legacy client answers what is plainly a request; a modern one answers nothing."""
        return item.kind == "request" and self._conversation.session.phase is not Phase.OPENING

    # Keeping

    def snapshot(self, now: float | None = None) -> JSONObject:
        """The whole state as plain JSON data.

        Args:
            now: seconds on the caller's clock; needed while a deadline is armed, which is kept as time left.

        Raises:
            LocalProtocolError: ``now`` is missing.
        """
        return {
            **self._snapshot(now),
            "send_info": self._send_info,
            "step": None if self._step is None else self._step.value,
            "timeout": self._timeout,
            "probe_timeout": self._probe_timeout,
            "handshake": self._handshake,
            "discovered": self._discovered,
            "modern_revision": self._modern_revision,
            "retries": [[request_id, attrs.asdict(retry)] for request_id, retry in self._retries.items()],
        }

    @classmethod
    def restore(
        cls,
        data: JSONObject,
        now: float | None = None,
        *,
        limits: Limits | None = None,
        codec: Codec = STDLIB,
        spec: Spec = CORE,
    ) -> ClientConnection:
        """Go on where the client that gave *data* stopped, as if nothing had happened.

        Args:
            data: what ``snapshot()`` gave.
            now: seconds on the caller's clock; needed if a deadline was armed.
            limits: as for the constructor.
            codec: as for the constructor.
            spec: as for the constructor.

        Raises:
            LocalProtocolError: it is no snapshot of a client, or ``now`` is missing.
        """
        check_snapshot(data, cls.side, now)
        client = cls.__new__(cls)
        client._set_up(
            Declaration.from_json(data["declaration"]),
            revisions=data["revisions"],
            limits=limits,
            codec=codec,
            manual=data["manual"],
            strict_capabilities=data["strict_capabilities"],
            forwarding=data["forwarding"],
            send_info=data["send_info"],
            spec=spec,
        )
        client._restore(data, now)
        client._step = None if data["step"] is None else Step(data["step"])
        client._timeout = data["timeout"]
        client._probe_timeout = data["probe_timeout"]
        client._handshake = data["handshake"]
        client._discovered = data["discovered"]
        client._modern_revision = data["modern_revision"]
        for request_id, retry in data["retries"]:
            client._retries.remember(request_id, Retry(**retry))
        return client


def _described(answer: JSONObject, info: Any, revision: str) -> tuple[Implementation | None, ServerCapabilities]:
    """Name and capabilities as an answer to the handshake gives them; a malformed name is none."""
    return read_or_none(info, Implementation, revision), structure(answer["capabilities"], ServerCapabilities, revision)
