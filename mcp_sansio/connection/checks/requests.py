"""Which rules a request breaks.

The order of the checks is the order in which a receiver refuses: envelope, ``_meta``, version, method, server
capability, params, client capability.
"""

from __future__ import annotations

from typing import Any

from ...jsonrpc import (
    ABSENT,
    JSONObject,
    JSONRPCRequest,
    RequestId,
    is_id,
    is_object,
)
from ...spec import (
    Era,
    ErrorCode,
    Kind,
    Phase,
    Side,
    extension_capability,
    is_modern,
)
from ...spec.meta import CLIENT_CAPABILITIES, LOG_LEVEL, PROTOCOL_VERSION, REQUEST_META
from ...types.converter import PayloadError, structure
from ..state import OpenRequest, State, Verdict
from .common import (
    breach,
    check_capability,
    check_method,
    check_params,
    check_phase,
    declared_by,
    has,
    legacy_revision,
    meta_of,
    refuse,
    short,
)

__all__ = ["check_request"]


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
        v.revision = legacy_revision(state, message)
        v.row = state.spec.method(v.sender, message.method, v.revision)
        check_phase(state, v, v.row, message)
        if v.exact and v.sender is Side.CLIENT:
            _check_own_meta(v, meta)
    request = OpenRequest(message.id, message.method, v.sender, v.revision, v.row)
    _check_id(state, v, message.id)
    check_method(state, v, message.method, Kind.REQUEST)
    if in_batch and v.row is not None and not v.row.batchable:
        breach(v, "LIFE-007", "initialize stands in a batch")
        refuse(v, ErrorCode.INVALID_REQUEST, "initialize must not be part of a batch")
    if v.row is None:
        refuse(v, ErrorCode.METHOD_NOT_FOUND, f"Method not found: {message.method[:80]}")
    check_capability(state, v)
    check_params(state, v, message.method, message.params)
    if v.modern:
        _check_meta_types(v, meta, request)
    _check_token(state, v, meta, request)
    request.cursor, request.task_id = _text(message.params, "cursor"), _text(message.params, "taskId")
    if v.row is not None:
        request.subject = _text(message.params, v.row.subject)
        # A modern client asks again by itself, a legacy server is asked again: each by what it keeps of the first time.
        request.params = message.params or {} if v.row.input_required and v.modern is v.exact else None
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
        opens = any(row.once for row in state.spec.rows(v.sender, message.method))
        return opens and not any(key.name in meta for key in REQUEST_META)
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


def _check_id(state: State, v: Verdict, request_id: RequestId) -> None:
    v.unopened = request_id in state.sides[v.sender].requests
    ended = state.sides[v.sender].ended.get(request_id)
    if v.unopened or (ended is not None and not is_modern(ended.revision)):
        breach(v, "RPC-009", f"the id {short(request_id)} was used before")
    if v.unopened:
        breach(v, "RPC-010", f"the id {short(request_id)} belongs to a request in flight")
        refuse(v, ErrorCode.INVALID_REQUEST, "the id belongs to another request in flight")


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
    if v.row is None or not v.row.listens:  # no log messages on the stream of a subscription (server/utilities/logging)
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


def _check_token(state: State, v: Verdict, meta: JSONObject, request: OpenRequest) -> None:
    token = meta.get("progressToken", ABSENT)
    if token is ABSENT:
        return
    if not is_id(token, state.id_length):
        breach(v, "PROG-005", "the progressToken is neither a string nor an integer")
        refuse(v, ErrorCode.INVALID_PARAMS, "Invalid params: progressToken is a string or an integer")
    elif token in state.sides[v.sender].tokens:
        breach(v, "PROG-005", f"the progressToken {short(token)} belongs to another active request")
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
