"""Which rules a response breaks."""

from __future__ import annotations

import binascii
from collections.abc import Iterable
from typing import Any

from ... import types as t
from ...jsonrpc import (
    ABSENT,
    Error,
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCResultResponse,
    RequestId,
    is_object,
)
from ...spec import (
    CAPABILITIES,
    RESERVED_CODES,
    Era,
    ErrorCode,
    Method,
    Side,
    is_modern,
)
from ...spec.error_codes import ERROR_DATA
from ...spec.meta import SUBSCRIPTION_ID
from ...spec.tasks import RELATED_TASK
from ...types.converter import PayloadError, structure
from ..state import STANDING_AFTER, OpenRequest, Standing, State, Verdict
from .common import (
    breach,
    check_statuses,
    declared_by,
    has,
    integer,
    meta_of,
    short,
)

__all__ = ["check_response"]


def check_response(state: State, v: Verdict, message: JSONRPCResultResponse | JSONRPCErrorResponse) -> None:
    """Judge a response, and find the request that it answers."""
    requestor = v.sender.other
    if message.id is None:
        v.standing = Standing.NO_ID
        return
    request = state.sides[requestor].requests.get(message.id)
    if request is None or request.held:
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
    ledger = state.sides[requestor]
    v.ended = ended = ledger.ended.get(request_id)
    v.standing = Standing.UNKNOWN if ended is None else STANDING_AFTER[ended.how]
    if v.standing is Standing.DUPLICATE:
        breach(v, "RPC-005", f"the request {short(request_id)} was answered before")
    elif v.standing is Standing.UNKNOWN:
        twin = str(request_id) if type(request_id) is int else integer(request_id)
        hint = ""
        if twin is not None and twin in ledger.requests:
            hint = f"; {short(twin)} is, which is another type"
        if v.sender is Side.CLIENT and Era.LEGACY not in state.eras:
            breach(v, "MRTR-007", "the client wrote a response")
        elif hint or v.exact or not ledger.may_have_forgotten(request_id):
            breach(v, "RPC-002", f"no request with the id {short(request_id)} is in flight{hint}")


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
        v.invalid = f"{row.name} has no result of the type {short(result_type)}"
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
        check_statuses(state, v, [result["task"]])
    elif row.statuses is not None:
        check_statuses(state, v, [result] if row.statuses == "$" else result[row.statuses])
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
            breach(v, "CANC-007", f"the subscription {short(request.id)} was ended without notifications/cancelled")
    if row.blobs is not None and cls is row.result:
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


def _check_blobs(v: Verdict, contents: list[JSONObject]) -> None:
    for item in contents:
        try:
            binascii.a2b_base64(item.get("blob", ""), strict_mode=True)
        except (ValueError, TypeError):
            breach(v, "RES-002", f"the blob of {short(item.get('uri'))} is not base64")
            return
