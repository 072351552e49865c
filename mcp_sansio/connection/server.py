"""The server's side of a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, cast

from ..codec import STDLIB, Codec
from ..errors import LocalProtocolError, Reason
from ..jsonrpc import JSONObject, JSONRPCNotification, JSONRPCRequest, RequestId
from ..limits import Limits
from ..spec import ALL_REVISIONS, CORE, Era, Phase, Side, Spec, is_modern, newest, of_era
from ..spec.meta import CLIENT_CAPABILITIES, CLIENT_INFO, SERVER_INFO, SUBSCRIPTION_ID
from ..types import (
    CancelledNotification,
    ClientCapabilities,
    DiscoverRequest,
    DiscoverResult,
    EmptyResult,
    Implementation,
    InitializeRequest,
    InitializeResult,
    Result,
    ServerCapabilities,
)
from ..types.converter import structure
from .base import check_snapshot
from .checks import modern_versions
from .events import Event, Negotiated, Pending
from .input_required import Asking
from .negotiation import choose_legacy_version, read_or_none
from .outgoing import Outgoing
from .reader import Broken, Read
from .sender import Declaration
from .server_actions import ServerActions
from .state import OpenRequest, Verdict

__all__ = ["ServerConnection"]


class ServerConnection(ServerActions):
    """A server: serve each `RequestReceived` with ``respond`` or ``respond_error``.

    It speaks both eras on one pipe, as each message asks for.

    Args:
        info: what the server calls itself.
        capabilities: what it offers; the library refuses requests for anything else.
        revisions: the revisions that it speaks; by default all.
        instructions: how it wants to be used, for the client's model.
        limits: bounds on what the client can make it hold.
        codec: how JSON is read and written.
        manual: requests that the application answers, though the library could: ``"initialize"``, ``"ping"``,
            ``"server/discover"``.
        strict_capabilities: refuse to send what the client did not declare.
        forwarding: for gateways: payloads stay decoded JSON (`CustomRequest`, `CustomNotification`, `CustomResult`),
            but for those that the connection itself acts on; nothing is lost, and the envelope's rules still hold.
        newest_version: answer a legacy version that it lacks with its newest, instead of its newest that is no newer.
        send_info: name the server in each modern result, as the specification recommends.
        spec: the method table.

    Raises:
        LocalProtocolError: the arguments contradict each other (``Reason.CONFIGURATION``).
    """

    side: ClassVar[Side] = Side.SERVER

    def __init__(
        self,
        info: Implementation,
        capabilities: ServerCapabilities | None = None,
        *,
        revisions: Iterable[str] = ALL_REVISIONS,
        instructions: str | None = None,
        limits: Limits | None = None,
        codec: Codec = STDLIB,
        manual: Iterable[str] = (),
        strict_capabilities: bool = True,
        forwarding: bool = False,
        newest_version: bool = False,
        send_info: bool = True,
        spec: Spec = CORE,
    ) -> None:
        self._set_up(
            Declaration(info, capabilities if capabilities is not None else ServerCapabilities()),
            instructions=instructions,
            newest_version=newest_version,
            send_info=send_info,
            revisions=revisions,
            limits=limits,
            codec=codec,
            manual=manual,
            strict_capabilities=strict_capabilities,
            forwarding=forwarding,
            spec=spec,
        )

    def _set_up(
        self,
        declaration: Declaration,
        *,
        instructions: str | None,
        newest_version: bool,
        send_info: bool,
        **settings: Any,
    ) -> None:
        super().__init__(declaration, **settings)
        if instructions is not None and type(instructions) is not str:
            raise LocalProtocolError(Reason.CONFIGURATION, "instructions are a string")
        self._check_writable(instructions)
        self._instructions = instructions
        self._newest_version = newest_version
        self._send_info = send_info
        self._held: dict[RequestId, Outgoing] = {}
        self._peer: tuple[Implementation | None, ClientCapabilities] | None = None
        self._asking = {}
        self._asked_for = {}
        if self._forwarding:  # the other side of a gateway answers them
            self._manual |= {row.name for row in self._spec.methods if row.listens}
        modern = newest(of_era(Era.MODERN, self._revisions))
        if modern is not None:
            self._conversation.server_declares(declaration.at(modern)[1], modern)

    # Facts

    @property
    def peer_info(self) -> Implementation | None:
        """What the client of a legacy session calls itself; None where there is no session."""
        session = self._conversation.session
        return read_or_none(session.client.get("clientInfo"), Implementation, session.revision)

    @property
    def peer_capabilities(self) -> ClientCapabilities | None:
        """What the client of a legacy session declared; None where there is no session."""
        session = self._conversation.session
        return read_or_none(session.client.get("capabilities"), ClientCapabilities, session.revision)

    # What the library answers

    def _automatic_result(self, v: Verdict, message: JSONRPCRequest) -> Result:
        match v.payload:
            case InitializeRequest(protocol_version=asked):
                version = choose_legacy_version(asked, self._revisions, newest_outright=self._newest_version)
                revision = cast(str, version)
                info, capabilities = self._declaration.at(revision)
                return InitializeResult(
                    revision,
                    structure(capabilities, ServerCapabilities, revision),
                    structure(info, Implementation, revision),
                    self._instructions,
                )
            case DiscoverRequest():
                _, capabilities = self._declaration.at(v.revision)
                return DiscoverResult(
                    supported_versions=modern_versions(self._revisions),
                    capabilities=structure(capabilities, ServerCapabilities, v.revision),
                    instructions=self._instructions,
                )
            case _:
                return EmptyResult()

    def _answer_by_itself(self, v: Verdict, message: JSONRPCRequest, events: list[Event]) -> None:
        before = self._conversation.session.revision
        super()._answer_by_itself(v, message, events)
        revision = self._conversation.session.revision
        if revision is not None and revision != before:
            events.append(
                Negotiated(
                    revision=revision,
                    peer_info=self.peer_info,
                    client_capabilities=self.peer_capabilities or ClientCapabilities(),
                    server_capabilities=structure(
                        self._conversation.session.server["capabilities"], ServerCapabilities, revision
                    ),
                )
            )

    def _answers_broken(self, item: Broken) -> bool:
        """Everything that may be a request is answered; nothing that looks like a response is."""
        return item.kind in ("request", "unknown")

    def _client_of(self, v: Verdict) -> tuple[Implementation | None, ClientCapabilities]:
        if v.modern:
            return v.client.get(CLIENT_INFO), v.client[CLIENT_CAPABILITIES]
        return self._session_client()

    def _session_client(self) -> tuple[Implementation | None, ClientCapabilities]:
        if self._peer is None and self._conversation.session.revision is not None:
            self._peer = (self.peer_info, self.peer_capabilities or ClientCapabilities())
        return self._peer or (None, ClientCapabilities())

    # What it says

    def _revision_in_force(self) -> str:
        return self._conversation.session.revision or max(self._revisions)

    def _request_revision(self) -> str:
        """Requests of a server are legacy where that is possible at all."""
        legacy = newest(of_era(Era.LEGACY, self._revisions))
        return self._conversation.session.revision or legacy or max(self._revisions)

    def _stamp_result(self, request: OpenRequest, payload: JSONObject) -> None:
        if not is_modern(request.revision):
            return
        row = request.row
        if payload.setdefault("resultType", "complete") == "complete" and row is not None and row.cacheable:
            payload.setdefault("ttlMs", 0)
            payload.setdefault("cacheScope", "private")
        stamped: JSONObject = {}
        if self._send_info:
            stamped[SERVER_INFO] = self._declaration.at(request.revision)[0]
        if row is not None and row.listens:
            stamped[SUBSCRIPTION_ID] = request.id
        if stamped:
            payload["_meta"] = {**stamped, **payload.get("_meta", {})}

    def _send_result(self, verdict: Verdict, request_id: RequestId) -> None:
        """Send a result; that of a subscription, which ends it, comes after the cancelled that ends it as well."""
        if verdict.row is None or not verdict.row.listens:
            super()._send_result(verdict, request_id)
            return
        self._refuse_breaches(verdict.violations, frozenset({"CANC-007"}))
        cancelled = self._judge(JSONRPCNotification(CancelledNotification.method, {"requestId": request_id}))
        # Where a request of ours to a legacy client has the same id, cancelled would be about that.
        ends = [each for each in (cancelled, verdict) if each.request is verdict.request]
        outgoing = [self._encoded(each.message, request_id) for each in ends]
        self._conversation.apply(verdict)
        for each in outgoing:
            self._enqueue(each)

    def _send_request(self, verdict: Verdict, related: RequestId | None) -> None:
        """Send a request, or hold it back until ``initialized``, before which only pings are in order."""
        row, phase = verdict.row, self._conversation.session.phase
        if phase is not Phase.INITIALIZED or (row is not None and phase in row.phases):
            super()._send_request(verdict, related)
            return
        self._refuse_breaches(verdict.violations, frozenset({"LIFE-005"}))
        outgoing = self._encoded(verdict.message, related)
        self._conversation.apply(verdict)
        request = cast(OpenRequest, verdict.request)
        request.held = True
        self._held[request.id] = outgoing

    def _gave_up(self, request_id: RequestId) -> bool:
        super()._gave_up(request_id)
        return self._held.pop(request_id, None) is None  # else it was never sent

    def _on_notification(self, v: Verdict, message: JSONRPCNotification, item: Read, events: list[Event]) -> None:
        super()._on_notification(v, message, item, events)
        if self._held and self._conversation.session.phase is Phase.OPERATION:
            for request_id, outgoing in self._held.items():
                self._conversation.open_requests(self.side)[request_id].held = False
                self._push(outgoing)
            self._held.clear()

    def _abandon(self) -> tuple[Pending, ...]:
        self._held.clear()
        return super()._abandon()

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
            "instructions": self._instructions,
            "newest_version": self._newest_version,
            "send_info": self._send_info,
            "asking": [
                [owed, asking.to_json(self._conversation.open_requests(Side.CLIENT)[owed].revision)]
                for owed, asking in self._asking.items()
            ],
            "held": [[request_id, outgoing.to_json()] for request_id, outgoing in self._held.items()],
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
    ) -> ServerConnection:
        """Go on where the server that gave *data* stopped, as if nothing had happened.

        Args:
            data: what ``snapshot()`` gave.
            now: seconds on the caller's clock; needed if a deadline was armed.
            limits: as for the constructor.
            codec: as for the constructor.
            spec: as for the constructor.

        Raises:
            LocalProtocolError: it is no snapshot of a server, or ``now`` is missing.
        """
        check_snapshot(data, cls.side, now)
        server = cls.__new__(cls)
        server._set_up(
            Declaration.from_json(data["declaration"]),
            instructions=data["instructions"],
            newest_version=data["newest_version"],
            send_info=data["send_info"],
            revisions=data["revisions"],
            limits=limits,
            codec=codec,
            manual=data["manual"],
            strict_capabilities=data["strict_capabilities"],
            forwarding=data["forwarding"],
            spec=spec,
        )
        server._restore(data, now)
        server._held = {request_id: Outgoing.from_json(item) for request_id, item in data["held"]}
        for owed, item in data["asking"]:
            revision = server._conversation.open_requests(Side.CLIENT)[owed].revision
            server._asking[owed] = asking = Asking.from_json(item, revision, spec)
            for own in asking.waiting:
                server._asked_for[own] = owed
        return server
