"""Which rules a message breaks, given what has been said so far.

Each function looks and changes nothing. The order of the checks on a request is the order in which a receiver refuses:
envelope, ``_meta``, version, method, server capability, params, client capability.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import types as t
from ..jsonrpc import (
    ABSENT,
    Error,
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResultResponse,
    RequestId,
    is_id,
    is_object,
)
from ..spec import (
    ANY_PHASE,
    CAPABILITIES,
    OUT_OF_PHASE,
    RESERVED_CODES,
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
    is_modern,
    of_era,
)
from ..spec.error_codes import ERROR_DATA
from ..spec.meta import CLIENT_CAPABILITIES, LOG_LEVEL, PROTOCOL_VERSION, REQUEST_META, SUBSCRIPTION_ID
from ..spec.tasks import NEXT_STATUS, RELATED_TASK
from ..types.converter import PayloadError, structure
from .state import End, OpenRequest, Standing, State, Verdict

__all__ = [
    "check_notification",
    "check_request",
    "check_response",
    "declared_by",
    "may_send",
    "meta_of",
    "modern_versions",
]

_NEW_REQUEST_PHASES = frozenset({Phase.OPERATION})
_LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


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


# Requests ------------------------------------------------------------------------------------------------------------


def check_request(state: State, v: Verdict, message: JSONRPCRequest, in_batch: bool) -> OpenRequest:
    """Judge a request, and give what it opens."""
    meta = meta_of(message.params)
    v.modern = _is_modern(state, v, message.method, meta)
    if v.modern:
        v.revision = state.modern[-1]
        if v.sender is Side.SERVER:
            breach(v, "MRTR-006", f"the server sent the request {message.method[:80]}")
            return OpenRequest(message.id, message.method, v.sender, v.revision)
        _check_modern_request(state, v, message, meta)
    else:
        v.revision = _legacy_revision(state, message)
        v.row = state.spec.method(v.sender, message.method, v.revision)
        _check_phase(state, v, v.row, message)
        if v.exact and v.sender is Side.CLIENT:
            _check_own_meta(v, meta)
    request = OpenRequest(message.id, message.method, v.sender, v.revision, v.row)
    _check_id(state, v, message.id)
    _check_method(state, v, message.method, Kind.REQUEST)
    if in_batch and v.row is not None and not v.row.batchable:
        breach(v, "LIFE-007", "initialize stands in a batch")
        refuse(v, ErrorCode.INVALID_REQUEST, "initialize must not be part of a batch")
    if v.row is None:
        refuse(v, ErrorCode.METHOD_NOT_FOUND, f"Method not found: {message.method[:80]}")
    _check_capability(state, v)
    _check_params(state, v, message.method, message.params)
    if v.modern:
        _check_meta_types(v, meta, request)
    _check_token(state, v, meta, request)
    request.cursor, request.task_id = _text(message.params, "cursor"), _text(message.params, "taskId")
    _check_needs_by_params(state, v, message, request)
    if _opens_other_era(state, v, message, meta) and not v.exact:
        v.violations.clear()
    return request


def _check_own_meta(v: Verdict, meta: JSONObject) -> None:
    """A server that speaks both eras would take a legacy request with these keys for a modern one."""
    for key in REQUEST_META:
        if key.name in meta:
            breach(v, "VER-004", f"the _meta key {key.name} does not exist in {v.revision}")


def _opens_other_era(state: State, v: Verdict, message: JSONRPCRequest, meta: JSONObject) -> bool:
    """Whether a client tries an era that is not spoken here, which is how it finds out, and breaks no rule."""
    if v.modern:
        return any(row.once for row in state.spec.rows(v.sender, message.method))
    return state.session.phase is Phase.OPENING and _looks_modern(state, v.sender, message.method, meta)


def _text(params: JSONObject | None, name: str) -> str | None:
    value = params.get(name) if params else None
    return value if type(value) is str else None


def _is_modern(state: State, v: Verdict, method: str, meta: JSONObject) -> bool:
    """Whether a request is judged as a modern one: by what is possible here, then by what it carries."""
    if len(state.eras) == 1:
        return Era.MODERN in state.eras
    if v.sender is Side.SERVER:  # without a session its client may be a modern one, which takes no requests
        return v.exact and state.session.phase is Phase.OPENING
    return _looks_modern(state, v.sender, method, meta)


def _looks_modern(state: State, sender: Side, method: str, meta: JSONObject) -> bool:
    if sender is Side.SERVER:
        return False
    if any(key.name in meta for key in REQUEST_META):
        return True
    rows = state.spec.rows(sender, method)
    return bool(rows) and all(is_modern(row.since) for row in rows)


def _legacy_revision(state: State, message: JSONRPCRequest | None = None) -> str:
    """The revision in whose terms a legacy message is judged."""
    if state.session.revision is not None:
        return state.session.revision
    possible = state.legacy or of_era(Era.LEGACY)
    asked = (message.params or {}).get("protocolVersion") if message else None
    return asked if isinstance(asked, str) and asked in possible else possible[-1]


def _check_modern_request(state: State, v: Verdict, message: JSONRPCRequest, meta: JSONObject) -> None:
    v.row = state.spec.method(v.sender, message.method, v.revision)
    if _opens_other_era(state, v, message, meta):
        asked = (message.params or {}).get("protocolVersion", ABSENT)
        _refuse_version(state, v, asked)
        return
    missing = [key.name for key in REQUEST_META if key.required and key.name not in meta]
    if missing:
        breach(v, "VER-009", f"_meta lacks {' and '.join(missing)}")
        refuse(v, ErrorCode.INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
        return
    version = meta[PROTOCOL_VERSION]
    if version in state.modern:
        v.revision = version
    elif isinstance(version, str):
        _refuse_version(state, v, version)


def _refuse_version(state: State, v: Verdict, requested: Any) -> None:
    supported = list(reversed(state.modern))
    names = ", ".join(supported)
    if isinstance(requested, str):
        data = {"supported": supported, "requested": requested[:80]}
        refuse(v, ErrorCode.UNSUPPORTED_PROTOCOL_VERSION, f"Unsupported protocol version; supported: {names}", data)
    else:
        refuse(v, ErrorCode.INVALID_PARAMS, f"protocolVersion is a string; supported: {names}")


def _check_phase(state: State, v: Verdict, row: Method | None, message: JSONRPCRequest | JSONRPCNotification) -> None:
    phase = state.session.phase
    unknown = ANY_PHASE if isinstance(message, JSONRPCNotification) else _NEW_REQUEST_PHASES
    if phase in (row.phases if row else unknown):
        return
    out = OUT_OF_PHASE[v.sender, phase]
    breach(v, out.rule, f"{message.method[:80]} came in the phase {phase.value!r}")
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


def _check_id(state: State, v: Verdict, request_id: RequestId) -> None:
    v.reused = request_id in state.sides[v.sender].requests
    ended = state.sides[v.sender].ended.get(request_id)
    if v.reused or (ended is not None and not is_modern(ended.revision)):
        breach(v, "RPC-009", f"the id {_short(request_id)} was used before")
    if v.reused:
        breach(v, "RPC-010", f"the id {_short(request_id)} belongs to a request in flight")
        refuse(v, ErrorCode.INVALID_REQUEST, "the id belongs to another request in flight")


def _check_method(state: State, v: Verdict, method: str, kind: Kind) -> None:
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


def _check_capability(state: State, v: Verdict) -> None:
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


def has(state: State, v: Verdict, capability: str) -> bool | None:
    """Whether *capability* was declared; None when that is unknown, or the revision lacks it."""
    row = CAPABILITIES.get(capability)  # extensions have none
    if row is not None and not row.exists_in(v.revision):
        return None
    if not v.modern:
        return capability in state.session.declared if state.session.revision is not None else None
    return None if state.server_declared is None else capability in state.server_declared


def _check_params(state: State, v: Verdict, method: str, params: JSONObject | None) -> None:
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


def _check_meta_types(v: Verdict, meta: JSONObject, request: OpenRequest) -> None:
    for key in REQUEST_META:
        if key.name not in meta:
            continue
        try:
            v.client[key.name] = structure(meta[key.name], key.type, v.revision)
        except PayloadError as error:
            breach(v, "LIB-003", f"_meta {key.name}: {error}")
            refuse(v, ErrorCode.INVALID_PARAMS, f"Invalid params._meta {key.name}: {error}")
            return
    request.capabilities = meta.get(CLIENT_CAPABILITIES)
    request.log_level = meta.get(LOG_LEVEL)
    extension = v.row.extension if v.row is not None else None
    if extension is not None and extension_capability(Side.CLIENT, extension) not in declared_by(request):
        breach(v, "LIB-012", f"{request.method} needs the extension {extension}, which the request does not declare")
        refuse(
            v,
            ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY,
            f"declare the extension {extension}",
            {"requiredCapabilities": {"extensions": {extension: {}}}},
        )


def declared_by(request: OpenRequest) -> frozenset[str]:
    """The names of what the client declared with a modern request."""
    return declared(Side.CLIENT, request.capabilities or {}, request.revision)


def _check_token(state: State, v: Verdict, meta: JSONObject, request: OpenRequest) -> None:
    token = meta.get("progressToken", ABSENT)
    if token is ABSENT:
        return
    if not is_id(token, state.id_length):
        breach(v, "PROG-005", "the progressToken is neither a string nor an integer")
        refuse(v, ErrorCode.INVALID_PARAMS, "Invalid params: progressToken is a string or an integer")
    elif token in state.sides[v.sender].tokens:
        breach(v, "PROG-005", f"the progressToken {_short(token)} belongs to another active request")
    else:
        request.token = token


def _check_needs_by_params(state: State, v: Verdict, message: JSONRPCRequest, request: OpenRequest) -> None:
    row, params = v.row, message.params or {}
    if row is None:
        return
    for need in state.spec.needs_by_params(row.name):
        if not need.applies(params) or has(state, v, need.needs) is not False:
            continue
        v.missing = v.missing or need.needs
        breach(v, need.rule, f"{row.name} with this {need.member} needs {need.needs}, which was not declared")
        if need.refused:
            refuse(v, ErrorCode.INVALID_PARAMS, f"Invalid params: {need.needs} is not declared")
    request.task = row.task_augmentable and is_object(params.get("task")) and v.missing is None


# Notifications -------------------------------------------------------------------------------------------------------


def check_notification(state: State, v: Verdict, message: JSONRPCNotification) -> None:
    """Judge a notification."""
    params = message.params or {}
    meta = meta_of(params)
    subject = _subject(state, v, message.method, params)
    if subject is not None:
        v.revision, v.modern = subject.revision, is_modern(subject.revision)
    elif _is_modern_notification(state, v, message.method, meta):
        v.revision, v.modern = state.modern[-1], True
    else:
        v.revision = _legacy_revision(state)
    v.row = state.spec.method(v.sender, message.method, v.revision)
    if not v.modern:
        _check_phase(state, v, v.row, message)
    _check_method(state, v, message.method, Kind.NOTIFICATION)
    _check_capability(state, v)
    _check_params(state, v, message.method, message.params)
    if v.refusal is not None or v.row is None:
        return
    if v.modern and v.row.filter is not None:
        _check_subscription(state, v, params, meta)
    if v.row.statuses is not None:
        _check_statuses(state, v, [params])
    check = _NOTIFICATIONS.get(v.row.name)
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


def _subject(state: State, v: Verdict, method: str, params: JSONObject) -> OpenRequest | None:
    """The open request that a notification is about, which tells its era."""
    if method == "notifications/cancelled":
        rid = params.get("requestId")
        if not is_id(rid, state.id_length):
            return None
        own = state.sides[v.sender].requests.get(rid)
        if own is not None or v.sender is Side.CLIENT:
            return own
        listening = state.sides[Side.CLIENT].requests.get(rid)
        return listening if listening is not None and is_modern(listening.revision) else None
    if method == "notifications/progress":
        token = params.get("progressToken")
        return state.sides[v.sender.other].tokens.get(token) if is_id(token, state.id_length) else None
    return None


def _check_cancelled(state: State, v: Verdict, params: JSONObject) -> None:
    rid = params.get("requestId", ABSENT)
    if rid is ABSENT:
        return
    request = _subject(state, v, "notifications/cancelled", params)
    if request is None:
        ended = state.sides[v.sender].ended.get(rid)
        if v.modern and v.sender is Side.SERVER:
            if state.sides[Side.CLIENT].ended.get(rid) is None or v.exact:
                breach(v, "CANC-005", f"no subscription has the id {_short(rid)}")
        elif ended is None or v.exact:
            breach(v, "CANC-001", f"no request with the id {_short(rid)} is in flight")
        return
    row = request.row
    if row is not None and not row.cancellable:
        breach(v, "LIFE-008", f"{row.name} must not be cancelled")
    elif request.task:
        breach(v, "CANC-008", f"the request {_short(rid)} is a task; tasks/cancel ends it")
    elif request.sender is not v.sender and not (row is not None and row.listens):
        breach(v, "CANC-005", f"the request {_short(rid)} is no subscription")
    else:
        v.request = request


def _check_progress(state: State, v: Verdict, params: JSONObject) -> None:
    token, progress, requestor = params["progressToken"], params["progress"], v.sender.other
    request = state.sides[requestor].tokens.get(token)
    if request is not None:
        if request.progress is not None and progress <= request.progress:
            breach(v, "PROG-002", f"progress went from {request.progress} to {progress}")
        v.request = request
        return
    ended = state.sides[requestor].ended_tokens.get(token)
    twin = str(token) if type(token) is int else _integer(token)
    if ended is None:
        if twin is not None and twin in state.sides[requestor].tokens:
            breach(v, "PROG-004", f"the token {_short(token)} was given as {_short(twin)}")
        else:
            breach(v, "PROG-001", f"no request gave the token {_short(token)}")
    elif ended.how is End.ANSWERED or v.exact:
        breach(v, "PROG-003", f"the request with the token {_short(token)} has ended")


def _check_log_message(state: State, v: Verdict, params: JSONObject) -> None:
    if not v.modern or params["level"] not in _LOG_LEVELS:
        return
    severity = _LOG_LEVELS.index(params["level"])
    for request in state.sides[Side.CLIENT].requests.values():
        if request.log_level is not None and _LOG_LEVELS.index(request.log_level) <= severity:
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
        breach(v, "SUB-001", f"the subscription {_short(request.id)} is not acknowledged yet")
    elif not request.filter.get(v.row.filter):
        breach(v, "SUB-003", f"the subscription {_short(request.id)} was not acknowledged for {v.row.filter}")


def _check_acknowledged(state: State, v: Verdict, params: JSONObject) -> None:
    request = _subscription(state, v, meta_of(params))
    if request is not None and request.filter is not None:
        breach(v, "SUB-004", f"the subscription {_short(request.id)} is acknowledged already")
    elif request is not None:
        v.request = request


def _subscription(state: State, v: Verdict, meta: JSONObject) -> OpenRequest | None:
    rid = meta.get(SUBSCRIPTION_ID, ABSENT)
    request = state.sides[Side.CLIENT].requests.get(rid) if is_id(rid, state.id_length) else None
    if request is not None and request.row is not None and request.row.listens:
        return request
    ended = state.sides[Side.CLIENT].ended.get(rid) if is_id(rid, state.id_length) else None
    if ended is None or ended.how is End.ANSWERED or v.exact:
        given = "no subscriptionId in _meta" if rid is ABSENT else f"the subscriptionId {_short(rid)}"
        breach(v, "SUB-002", f"{given}, which no open subscription has")
    return None


_NOTIFICATIONS: Mapping[str, Callable[[State, Verdict, JSONObject], None]] = {
    "notifications/cancelled": _check_cancelled,
    "notifications/progress": _check_progress,
    "notifications/message": _check_log_message,
    "notifications/subscriptions/acknowledged": _check_acknowledged,
}


# Responses -----------------------------------------------------------------------------------------------------------


def check_response(state: State, v: Verdict, message: JSONRPCResultResponse | JSONRPCErrorResponse) -> None:
    """Judge a response, and find the request that it answers."""
    requestor = v.sender.other
    if message.id is None:
        v.standing = Standing.NO_ID
        return
    request = state.sides[requestor].requests.get(message.id)
    if request is None:
        _check_unexpected(state, v, message.id)
        return
    v.standing, v.request, v.row = Standing.EXPECTED, request, request.row
    v.revision, v.modern = request.revision, is_modern(request.revision)
    if isinstance(message, JSONRPCErrorResponse):
        _check_error(state, v, message.error)
    else:
        _check_result(state, v, request, message.result)


def _check_unexpected(state: State, v: Verdict, request_id: RequestId) -> None:
    requestor = v.sender.other
    ended = state.sides[requestor].ended.get(request_id)
    if ended is not None and ended.how is End.ANSWERED:
        v.standing = Standing.DUPLICATE
        breach(v, "RPC-005", f"the request {_short(request_id)} was answered before")
    elif ended is not None:
        v.standing = Standing.LATE
    else:
        v.standing = Standing.UNKNOWN
        twin = str(request_id) if type(request_id) is int else _integer(request_id)
        hint = ""
        if twin is not None and twin in state.sides[requestor].requests:
            hint = f"; {_short(twin)} is, which is another type"
        if v.sender is Side.CLIENT and Era.LEGACY not in state.eras:
            breach(v, "MRTR-007", "the client wrote a response")
        else:
            breach(v, "RPC-002", f"no request with the id {_short(request_id)} is in flight{hint}")


def _check_error(state: State, v: Verdict, error: Error) -> None:
    for reserved in RESERVED_CODES:
        if reserved.low <= error.code <= reserved.high:
            if error.code not in reserved.defined:
                breach(v, reserved.rule, f"the code {error.code} is reserved")
            break
    data: Any = error.data
    for expected in ERROR_DATA:
        if expected.code == error.code and not expected.matches(data):
            breach(v, expected.rule, f"the data of {error.code} lacks {' or '.join(expected.members)}")
    row = v.row
    if (
        error.code == ErrorCode.METHOD_NOT_FOUND
        and row is not None
        and row.must_be_served
        and row.needs is not None
        and has(state, v, row.needs)
    ):
        breach(v, "CAP-003", f"{row.needs} is declared, yet {row.name} was not found")


def _check_result(state: State, v: Verdict, request: OpenRequest, result: JSONObject) -> None:
    row = request.row
    if row is None:
        if v.modern and state.spec.rows(request.sender, request.method):
            breach(v, "META-001", f"{request.method} was removed before {v.revision}, yet it was served")
        v.payload = t.CustomResult(extra=dict(result))
        return
    if state.forwarding and not row.inspected:
        v.payload = t.CustomResult(extra=dict(result))
        return
    result_type = result.get("resultType", ABSENT)
    if v.modern and result_type is ABSENT:
        breach(v, "RPC-016", f"the result of {row.name} has no resultType")
    cls = row.result_class(result, v.revision, task=request.task)
    if cls is None and type(result_type) is str:
        cls = state.spec.extension_results(row.name, declared_by(request)).get(result_type)
    if cls is None:
        v.invalid = f"{row.name} has no result of the type {_short(result_type)}"
        breach(v, "MRTR-001" if result_type == "input_required" else "RPC-018", v.invalid)
        return
    _check_shape(v, row, cls, result)
    if v.invalid is not None:
        return
    if cls is t.InputRequiredResult:
        _check_input_required(state, v, request, result)
    elif v.modern and row.cacheable:
        _check_cacheable(state, v, row, request, result)
    if cls is t.CreateTaskResult:
        _check_statuses(state, v, [result["task"]])
    elif row.statuses is not None:
        _check_statuses(state, v, [result] if row.statuses == "$" else result[row.statuses])
    elif row.task_result:
        related = meta_of(result).get(RELATED_TASK)
        if not is_object(related) or related.get("taskId") != request.task_id:
            breach(v, "TASK-002", f"the result of {row.name} does not name its task in _meta {RELATED_TASK}")
    if row.declares_rule is not None and row.needs is not None and has(state, v, row.needs) is False:
        breach(v, row.declares_rule, f"{row.name} was served, but {row.needs} was not declared")
    if row.listens:
        subscription = meta_of(result).get(SUBSCRIPTION_ID, ABSENT)
        if type(subscription) is not type(request.id) or subscription != request.id:
            breach(v, "SUB-005", f"the result of {row.name} lacks its subscriptionId in _meta")
        else:
            breach(v, "CANC-007", f"the subscription {_short(request.id)} was ended without notifications/cancelled")
    if row.blobs is not None:
        _check_blobs(v, result[row.blobs])


def _check_shape(v: Verdict, row: Method, cls: type[Any], result: JSONObject) -> None:
    try:
        v.payload = structure(result, cls, v.revision)
    except PayloadError as error:
        v.invalid = f"{row.name}: {error}"
        breach(v, "MRTR-003" if _names_input_request(error) else row.result_rule, v.invalid)


def _names_input_request(error: PayloadError) -> bool:
    return error.path.startswith("$.inputRequests")


def _check_input_required(state: State, v: Verdict, request: OpenRequest, result: JSONObject) -> None:
    if "inputRequests" not in result and "requestState" not in result:
        breach(v, "MRTR-002", "the input_required result has neither inputRequests nor requestState")
    known = declared_by(request)
    for asked in result.get("inputRequests", {}).values():
        for rule, need in _needs_of_input(state, asked):
            if need not in known and CAPABILITIES[need].exists_in(v.revision):
                breach(v, rule, f"{asked['method']} needs {need}, which the request did not declare")


def _needs_of_input(state: State, asked: JSONObject) -> Iterable[tuple[str, str]]:
    """What an input request needs, and the rule that is broken without it."""
    yield from (("CAP-006", row.needs) for row in state.spec.rows(Side.SERVER, asked["method"]) if row.needs)
    for need in state.spec.needs_by_params(asked["method"]):
        if need.applies(asked.get("params", {})):
            yield need.rule, need.needs


def _check_cacheable(state: State, v: Verdict, row: Method, request: OpenRequest, result: JSONObject) -> None:
    ttl, scope = result.get("ttlMs"), result.get("cacheScope")
    if type(ttl) is not int or ttl < 0 or scope not in ("public", "private"):
        breach(v, "CACHE-001", f"the result of {row.name} lacks a ttlMs of 0 or more, or cacheScope")
    elif request.cursor is not None and state.scopes.get((row.name, request.cursor), scope) != scope:
        breach(v, "CACHE-002", f"this page of {row.name} is {scope}, the one before was not")


def _check_statuses(state: State, v: Verdict, tasks: list[JSONObject]) -> None:
    """What the side that runs tasks says of them agrees with what it said before."""
    for task in tasks:
        before, now = state.sides[v.sender].statuses.get(task["taskId"]), task["status"]
        if before is not None and before != now and now not in NEXT_STATUS.get(before, {now}):
            breach(v, "TASK-001", f"the task {_short(task['taskId'])} went from {before} to {_short(now)}")
    v.tasks = tasks


def _check_blobs(v: Verdict, contents: list[JSONObject]) -> None:
    for item in contents:
        blob = item.get("blob", "")
        try:
            binascii.a2b_base64(blob, strict_mode=True)
        except ValueError:
            breach(v, "RES-002", f"the blob of {_short(item.get('uri'))} is not base64")
            return


def _integer(text: object) -> int | None:
    """The integer that *text* is the decimal form of, if it is one."""
    if type(text) is str and len(text) < 20 and text.lstrip("-").isdecimal() and str(int(text)) == text:
        return int(text)
    return None


def _short(value: object) -> str:
    """*value* for a person, never long."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def may_send(state: State, sender: Side, method: str, *, strict: bool) -> bool:
    """Whether the tables let *sender* send *method* now, whatever the params."""
    phase, eras = state.session.phase, state.eras
    if sender is Side.SERVER and phase is Phase.INITIALIZED:
        phase = Phase.OPERATION  # a server's requests wait for notifications/initialized by themselves
    if sender is Side.SERVER and phase is Phase.OPENING and Era.MODERN in eras:
        eras = frozenset({Era.MODERN})  # its client may be a modern one
    for era in eras:
        modern = era is Era.MODERN
        revision = state.modern[-1] if modern else _legacy_revision(state)
        row = state.spec.method(sender, method, revision)
        if row is None or not (modern or phase in row.phases):
            continue
        v = Verdict(sender, JSONRPCNotification(method), True, revision, modern, row)
        if not strict or row.needs is None or has(state, v, row.needs) is not False:
            return True
    return False
