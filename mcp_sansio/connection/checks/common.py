"""What the checks on requests, notifications and responses have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import types as t
from ...jsonrpc import (
    ABSENT,
    Error,
    JSONObject,
    JSONRPCNotification,
    JSONRPCRequest,
    is_object,
)
from ...spec import (
    ANY_PHASE,
    CAPABILITIES,
    OUT_OF_PHASE,
    RULES,
    Era,
    ErrorCode,
    Kind,
    Method,
    Phase,
    Side,
    Violation,
    declared,
    extension_capability,
    of_era,
)
from ...spec.meta import REQUEST_META
from ...spec.tasks import NEXT_STATUS
from ...types.converter import PayloadError, structure
from ..state import OpenRequest, State, Verdict

__all__ = [
    "breach",
    "check_capability",
    "check_method",
    "check_params",
    "check_phase",
    "check_statuses",
    "declared_by",
    "has",
    "integer",
    "legacy_revision",
    "may_send",
    "meta_of",
    "modern_versions",
    "refuse",
    "short",
]

_NEW_REQUEST_PHASES = frozenset({Phase.OPERATION})


def meta_of(params: JSONObject | None) -> JSONObject:
    """The ``_meta`` of params; empty where there is none, or none that is an object."""
    meta = params.get("_meta") if params else None
    return meta if is_object(meta) else {}


def modern_versions(revisions: Iterable[str]) -> list[str]:
    """The modern ones, newest first, as ``data.supported`` of -32022 and ``supportedVersions`` list them."""
    return list(reversed(of_era(Era.MODERN, revisions)))


def breach(v: Verdict, rule: str, detail: str) -> None:
    """Note that the message breaks *rule*, if that rule binds its sender in this revision."""
    row = RULES[rule]
    if row.binds(v.sender, v.revision):
        v.violations.append(Violation(rule, row.level_in(v.revision), detail))


def refuse(v: Verdict, code: ErrorCode, message: str, data: Any = ABSENT) -> None:
    """Note what a receiver should answer; the first reason found is the one given."""
    if v.refusal is None:
        v.refusal = Error(int(code), message, data)


def has(state: State, v: Verdict, capability: str) -> bool | None:
    """Whether *capability* was declared; None when that is unknown, or the revision lacks it."""
    row = CAPABILITIES.get(capability)  # extensions have none
    if row is not None and not row.exists_in(v.revision):
        return None
    if not v.modern:
        return capability in state.session.declared if state.session.revision is not None else None
    return None if state.server_declared is None else capability in state.server_declared


def declared_by(request: OpenRequest) -> frozenset[str]:
    """The names of what the client declared with a modern request."""
    return declared(Side.CLIENT, request.capabilities or {}, request.revision)


def legacy_revision(state: State, message: JSONRPCRequest | None = None) -> str:
    """The revision in whose terms a legacy message is judged."""
    if state.session.revision is not None:
        return state.session.revision
    possible = state.legacy or of_era(Era.LEGACY)
    asked = (message.params or {}).get("protocolVersion") if message else None
    return asked if isinstance(asked, str) and asked in possible else possible[-1]


def check_phase(state: State, v: Verdict, row: Method | None, message: JSONRPCRequest | JSONRPCNotification) -> None:
    phase = state.session.phase
    unknown = ANY_PHASE if isinstance(message, JSONRPCNotification) else _NEW_REQUEST_PHASES
    if phase in (row.phases if row else unknown):
        return
    out = OUT_OF_PHASE[v.sender, phase]
    breach(v, out.rule, f"{message.method[:80]} is out of place in the phase {phase.value!r}")
    if not (out.refused or (row is not None and row.once)):
        return
    if v.sender is Side.SERVER:
        refuse(v, ErrorCode.INVALID_REQUEST, "the session is not initialized yet")
    elif phase is Phase.OPENING and Era.MODERN in state.eras:
        keys = " and ".join(key.name for key in REQUEST_META if key.required)
        refuse(v, ErrorCode.INVALID_PARAMS, f"send initialize first, or name {keys} in params._meta of each request")
    elif row is not None and row.once:
        refuse(v, ErrorCode.INVALID_REQUEST, "the session is initialized already")
    else:
        refuse(v, ErrorCode.INVALID_REQUEST, "send initialize first")


def check_method(state: State, v: Verdict, method: str, kind: Kind) -> None:
    """Notice methods of another revision, of the other side, and of the other kind."""
    row = v.row
    if row is None:
        if state.spec.rows(v.sender, method):
            breach(v, "VER-004", f"{method} does not exist in {v.revision}")
            breach(v, "LIB-010", f"{method} does not exist in {v.revision}")
        elif state.spec.rows(v.sender.other, method):
            breach(v, "LIB-006", f"{method} is not sent by the {v.sender.value}")
    elif row.kind is not kind:
        if kind is Kind.REQUEST:
            breach(v, "RPC-007", f"the notification {method} has an id")
        else:
            breach(v, "RPC-008", f"the request {method} has no id")
        refuse(v, ErrorCode.INVALID_REQUEST, f"{method} is a {row.kind.value}")


def check_capability(state: State, v: Verdict) -> None:
    """The gate: what the method needs must have been declared."""
    row = v.row
    if row is None:
        return
    extension = None if row.extension is None else extension_capability(Side.SERVER, row.extension)
    for need in (row.needs, extension):
        if need is None or has(state, v, need) is not False:
            continue
        v.missing = need
        breach(v, row.undeclared_rule, f"{row.name} needs {need}, which was not declared")
        if row.undeclared_rule == "CAP-001":
            breach(v, "LIB-009", f"{row.name} needs {need}, which was not declared")
        refuse(v, ErrorCode.METHOD_NOT_FOUND, f"Method not found: {row.name} ({need} is not declared)")


def check_params(state: State, v: Verdict, method: str, params: JSONObject | None) -> None:
    """Read the params as what the revision says they are."""
    row = v.row
    if row is None or (state.forwarding and not row.inspected):
        kind = t.CustomNotification if isinstance(v.message, JSONRPCNotification) else t.CustomRequest
        v.payload = kind(method, dict(params) if params is not None else None)
        return
    try:
        v.payload = structure(params if params is not None else {}, row.payload, v.revision)
    except PayloadError as error:
        breach(v, row.params_rule, f"{method}: {error}")
        refuse(v, ErrorCode.INVALID_PARAMS, f"Invalid params: {error}")


def check_statuses(state: State, v: Verdict, tasks: list[JSONObject]) -> None:
    """What the side that runs tasks says of them agrees with what it said before."""
    for task in tasks:
        before, now = state.sides[v.sender].statuses.get(task["taskId"]), task["status"]
        if before is not None and before != now and now not in NEXT_STATUS.get(before, {now}):
            breach(v, "TASK-001", f"the task {short(task['taskId'])} went from {before} to {short(now)}")
    v.tasks = tasks


def may_send(state: State, sender: Side, method: str, *, strict: bool) -> bool:
    """Whether the tables let *sender* send *method* now, whatever the params."""
    phase, eras = state.session.phase, state.eras
    if sender is Side.SERVER and phase is Phase.INITIALIZED:
        phase = Phase.OPERATION  # a server's requests wait for notifications/initialized by themselves
    if sender is Side.SERVER and phase is Phase.OPENING and Era.MODERN in eras:
        eras = frozenset({Era.MODERN})  # its client may be a modern one
    for era in eras:
        modern = era is Era.MODERN
        revision = state.modern[-1] if modern else legacy_revision(state)
        row = state.spec.method(sender, method, revision)
        if row is None or not (modern or phase in row.phases):
            continue
        v = Verdict(sender, JSONRPCNotification(method), True, revision, modern, row)
        if not strict or row.needs is None or has(state, v, row.needs) is not False:
            return True
    return False


def integer(text: object) -> int | None:
    """The integer that *text* is the decimal form of, if it is one."""
    if type(text) is str and len(text) < 20 and text.lstrip("-").isdecimal() and str(int(text)) == text:
        return int(text)
    return None


def short(value: object) -> str:
    """*value* for a person, never long."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
