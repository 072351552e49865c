"""Which rules a notification breaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...jsonrpc import (
    ABSENT,
    JSONObject,
    JSONRPCNotification,
    is_id,
)
from ...spec import (
    Era,
    Kind,
    Phase,
    Side,
    Tells,
    is_modern,
)
from ...spec.meta import SUBSCRIPTION_ID
from ...types.logging import LOGGING_LEVELS
from ..state import End, OpenRequest, Standing, State, Verdict
from .common import (
    breach,
    check_capability,
    check_method,
    check_params,
    check_phase,
    check_statuses,
    integer,
    legacy_revision,
    meta_of,
    short,
)

__all__ = ["check_notification"]


def check_notification(state: State, v: Verdict, message: JSONRPCNotification) -> None:
    """Judge a notification."""
    params = message.params or {}
    meta = meta_of(params)
    rows = state.spec.rows(v.sender, message.method)
    find = _SUBJECTS.get(rows[0].tells) if rows else None
    subject = find(state, v, params) if find is not None else None
    if subject is not None:
        v.revision, v.modern = subject.revision, is_modern(subject.revision)
    elif _is_modern_notification(state, v, message.method, meta):
        v.revision, v.modern = state.modern[-1], True
    else:
        v.revision = legacy_revision(state)
    v.row = state.spec.method(v.sender, message.method, v.revision)
    if not v.modern:
        check_phase(state, v, v.row, message)
    check_method(state, v, message.method, Kind.NOTIFICATION)
    check_capability(state, v)
    check_params(state, v, message.method, message.params)
    if v.refusal is not None or v.row is None:
        return
    if v.modern and v.row.filter is not None:
        _check_subscription(state, v, params, meta)
    if v.row.statuses is not None:
        check_statuses(state, v, [params])
    check = _CHECKS.get(v.row.tells)
    if check is not None:
        check(state, v, params)


def _is_modern_notification(state: State, v: Verdict, method: str, meta: JSONObject) -> bool:
    """Whether a notification that is about no open request is judged as a modern one.

    Where both eras are possible, its sender knows which it means; anyone else gives it the benefit of the doubt.
    """
    if len(state.eras) == 1:
        return Era.MODERN in state.eras
    if SUBSCRIPTION_ID in meta:
        return True
    if not v.exact or state.session.phase is not Phase.OPENING:
        return False
    rows = state.spec.rows(v.sender, method)
    return not rows or any(row.until is None for row in rows)


def _cancelled(state: State, v: Verdict, params: JSONObject) -> OpenRequest | None:
    """The request that is given up: one of the sender's, or a subscription that the server ends."""
    rid = params.get("requestId")
    if not is_id(rid, state.id_length):
        return None
    own = state.sides[v.sender].requests.get(rid)
    if own is not None or v.sender is Side.CLIENT:
        return own
    clients = state.sides[Side.CLIENT].requests.get(rid)
    return clients if clients is not None and clients.row is not None and clients.row.listens else None


def _reported(state: State, v: Verdict, params: JSONObject) -> OpenRequest | None:
    """The request whose progress is reported."""
    token = params.get("progressToken")
    return state.sides[v.sender.other].tokens.get(token) if is_id(token, state.id_length) else None


def _check_cancelled(state: State, v: Verdict, params: JSONObject) -> None:
    rid = params.get("requestId", ABSENT)
    if rid is ABSENT:
        return
    request = _cancelled(state, v, params)
    if request is None:
        subscription = v.modern and v.sender is Side.SERVER
        ledger = state.sides[Side.CLIENT if subscription else v.sender]
        ended = ledger.ended.get(rid) is not None or ledger.may_have_forgotten(rid)
        if ended and not v.exact:
            return  # the cancel crossed its end
        if subscription:
            breach(v, "CANC-005", f"no subscription has the id {short(rid)}")
        else:
            breach(v, "CANC-001", f"no request with the id {short(rid)} is in flight")
        return
    row = request.row
    if row is not None and not row.cancellable:
        breach(v, "LIFE-008", f"{row.name} must not be cancelled")
    elif request.task:
        breach(v, "CANC-008", f"the request {short(rid)} is a task; tasks/cancel ends it")
    else:
        v.request = request


def _check_progress(state: State, v: Verdict, params: JSONObject) -> None:
    token, progress, requestor = params["progressToken"], params["progress"], v.sender.other
    ledger = state.sides[requestor]
    request = ledger.tokens.get(token)
    if request is not None and not request.held:
        v.request, v.standing = request, Standing.EXPECTED
        if request.progress is not None and progress <= request.progress:
            v.standing = Standing.REGRESSING
            breach(v, "PROG-002", f"progress went from {request.progress} to {progress}")
        return
    ended = ledger.ended_tokens.get(token)
    twin = str(token) if type(token) is int else integer(token)
    v.standing = Standing.UNKNOWN if ended is None else Standing.LATE
    if ended is not None and ended.how is End.TASK:
        v.standing = Standing.EXPECTED  # of the task, which goes on
    elif ended is None:
        if twin is not None and twin in ledger.tokens:
            breach(v, "PROG-004", f"the token {short(token)} was given as {short(twin)}")
        elif v.exact or not ledger.ended_tokens.full:
            breach(v, "PROG-001", f"no request gave the token {short(token)}")
    elif ended.how is End.ANSWERED or v.exact:
        breach(v, "PROG-003", f"the request with the token {short(token)} has ended")


def _check_log_message(state: State, v: Verdict, params: JSONObject) -> None:
    if params["level"] not in LOGGING_LEVELS:
        if v.exact:  # of a peer's, it may be a level of a later revision
            breach(v, "LIB-003", f"the level is one of {', '.join(LOGGING_LEVELS)}, not {short(params['level'])}")
        return
    if not v.modern:
        return
    severity = LOGGING_LEVELS.index(params["level"])
    for request in state.sides[Side.CLIENT].requests.values():
        if request.log_level is not None and LOGGING_LEVELS.index(request.log_level) <= severity:
            return
    given_up = any(ended.how in (End.CANCELLED, End.TIMED_OUT) for ended in state.sides[Side.CLIENT].ended.values())
    if given_up and not v.exact:
        return  # the message may have been under way when the client gave its request up
    breach(v, "LOG-001", f"no request in flight asked for log messages of the level {params['level']}")


def _check_subscription(state: State, v: Verdict, params: JSONObject, meta: JSONObject) -> None:
    """A change notification of the modern era belongs to a subscription, and to what that was acknowledged for."""
    request = _subscription(state, v, meta)
    if request is None or v.row is None or v.row.filter is None:
        return
    if request.filter is None:
        breach(v, "SUB-001", f"the subscription {short(request.id)} is not acknowledged yet")
    elif not request.filter.get(v.row.filter):
        breach(v, "SUB-003", f"the subscription {short(request.id)} was not acknowledged for {v.row.filter}")
    v.request = request


def _check_acknowledged(state: State, v: Verdict, params: JSONObject) -> None:
    request = _subscription(state, v, meta_of(params))
    if request is not None and request.filter is not None:
        breach(v, "SUB-004", f"the subscription {short(request.id)} is acknowledged already")
    elif request is not None:
        v.request = request


def _subscription(state: State, v: Verdict, meta: JSONObject) -> OpenRequest | None:
    rid, ledger = meta.get(SUBSCRIPTION_ID, ABSENT), state.sides[Side.CLIENT]
    known = is_id(rid, state.id_length)
    request = ledger.requests.get(rid) if known else None
    if request is not None and request.row is not None and request.row.listens:
        return request
    ended = ledger.ended.get(rid) if known else None
    crossed = known and ledger.may_have_forgotten(rid) if ended is None else ended.how is not End.ANSWERED
    if v.exact or not crossed:
        given = "no subscriptionId in _meta" if rid is ABSENT else f"the subscriptionId {short(rid)}"
        breach(v, "SUB-002", f"{given}, which no open subscription has")
    return None


_SUBJECTS: Mapping[Tells | None, Callable[[State, Verdict, JSONObject], OpenRequest | None]] = {
    Tells.CANCELLED: _cancelled,
    Tells.PROGRESS: _reported,
}
"""How the open request that a notification is about is found, which tells its era."""

_CHECKS: Mapping[Tells | None, Callable[[State, Verdict, JSONObject], None]] = {
    Tells.CANCELLED: _check_cancelled,
    Tells.PROGRESS: _check_progress,
    Tells.LOG: _check_log_message,
    Tells.ACKNOWLEDGED: _check_acknowledged,
}
