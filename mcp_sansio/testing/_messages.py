"""What each side may send: the rows of `mcp_sansio.spec.METHODS` as payloads, messages and lines."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from .. import types as t
from ..codec import STDLIB
from ..jsonrpc import (
    ABSENT,
    Error,
    JSONObject,
    JSONRPCErrorResponse,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResultResponse,
    message_to_json,
)
from ..spec import METHODS, REVISIONS, Era, ErrorCode, Kind, Method, Side
from ..spec.meta import PROTOCOL_VERSION, REQUEST_META, SERVER_INFO, SUBSCRIPTION_ID, MetaKey
from ._payloads import check_revision, ids, json_values, payloads, values

__all__ = ["errors", "lines", "messages", "notifications", "requests", "results"]


def requests(sender: Side, revision: str, *, unknown: bool = False) -> st.SearchStrategy[t.Request[Any]]:
    """Typed requests that a side sends. In 2026-07-28 a server sends none, and this is empty.

    Example::

        @given(requests(Side.CLIENT, "2025-11-25"))
        def test_route(request):
            assert request.method in HANDLERS

    Args:
        sender: the side.
        revision: whose methods and members.
        unknown: as in `payloads`.

    Raises:
        ValueError: there is no such revision.
    """
    rows = _rows(Kind.REQUEST, sender, revision)
    return st.one_of([payloads(row.payload, revision, unknown=unknown) for row in rows])


def notifications(sender: Side, revision: str, *, unknown: bool = False) -> st.SearchStrategy[t.Notification]:
    """Typed notifications that a side sends.

    Example::

        @given(notifications(Side.SERVER, "2025-11-25"))
        def test_log(notification):
            log(notification)

    Args:
        sender: the side.
        revision: whose methods and members.
        unknown: as in `payloads`.

    Raises:
        ValueError: there is no such revision.
    """
    rows = _rows(Kind.NOTIFICATION, sender, revision)
    return st.one_of([payloads(row.payload, revision, unknown=unknown) for row in rows])


def results(method: str, revision: str, *, unknown: bool = False) -> st.SearchStrategy[t.Result]:
    """Typed results that answer a method: those of its own, and where it may be so answered `InputRequiredResult`.

    A request that asked for a task is answered otherwise: ``payloads(CreateTaskResult, "2025-11-25")``.

    Example::

        @given(results("tools/list", "2026-07-28"))
        def test_show_tools(result):
            show(result.tools)

    Args:
        method: such as "tools/call".
        revision: whose members.
        unknown: as in `payloads`.

    Raises:
        ValueError: there is no such revision, or no such request in it.
    """
    for row in (*_rows(Kind.REQUEST, Side.CLIENT, revision), *_rows(Kind.REQUEST, Side.SERVER, revision)):
        if row.name == method:
            return _results(row, revision, unknown)
    raise ValueError(f"{revision} has no request {method!r}")


def errors() -> st.SearchStrategy[Error]:
    """The error of a response, with a code of JSON-RPC or of an application: allowed in every revision.

    Example::

        @given(errors())
        def test_show_error(error):
            assert str(error.code) in show(error)
    """
    return _errors


def messages(sender: Side, revision: str, *, unknown: bool = False) -> st.SearchStrategy[JSONObject]:
    """All that a side sends, as decoded JSON-RPC messages: requests, notifications, results and errors.

    In 2026-07-28 they have the ``_meta`` that it requires. Whether a message fits the state of a conversation is
    another matter: any request may come, and any id may be answered.

    Example::

        @given(messages(Side.CLIENT, "2025-11-25"))
        def test_server_survives(message):
            assert my_server.receive(message) is not None

    Args:
        sender: the side.
        revision: whose methods and members.
        unknown: as in `payloads`.

    Raises:
        ValueError: there is no such revision.
    """
    answered = _rows(Kind.REQUEST, sender.other, revision)
    kinds: list[list[st.SearchStrategy[JSONRPCMessage]]] = [
        [_calls(row, revision, unknown) for row in _rows(Kind.NOTIFICATION, sender, revision)],
        [_calls(row, revision, unknown) for row in _rows(Kind.REQUEST, sender, revision)],
        [_responses(row, revision, unknown) for row in answered],
        [st.builds(JSONRPCErrorResponse, ids(), _errors)] if answered else [],
    ]
    # Written kind by kind, so that each is as likely: one_of takes a one_of among its arguments apart, mapped or not.
    return st.one_of([st.builds(message_to_json, st.one_of(kind)) for kind in kinds if kind])


def lines(sender: Side, revision: str, *, unknown: bool = False) -> st.SearchStrategy[bytes]:
    """All that a side sends, as the bytes of one line each, with the newline.

    Example::

        @given(st.lists(lines(Side.SERVER, "2025-11-25")))
        def test_client_survives(lines):
            my_client.feed(b"".join(lines))

    Args:
        sender: the side.
        revision: whose methods and members.
        unknown: as in `payloads`.

    Raises:
        ValueError: there is no such revision.
    """
    return messages(sender, revision, unknown=unknown).map(lambda message: STDLIB.encode(message) + b"\n")


def _rows(kind: Kind, sender: Side, revision: str) -> list[Method]:
    """The methods, those that need the fewest members first: tests shrink towards the first."""
    check_revision(revision)
    rows = [row for row in METHODS if row.kind is kind and row.sender is sender and row.exists_in(revision)]
    return sorted(rows, key=lambda row: sum(field.required for field in t.fields_of(row.payload, revision)))


def _is_modern(revision: str) -> bool:
    return REVISIONS[revision].era is Era.MODERN


def _results(row: Method, revision: str, unknown: bool) -> st.SearchStrategy[t.Result]:
    made: st.SearchStrategy[t.Result] = payloads(row.result, revision, unknown=unknown)
    if row.input_required and _is_modern(revision):
        made |= payloads(t.InputRequiredResult, revision, unknown=unknown)
    return made


_CODES = [code.value for code in ErrorCode if code <= ErrorCode.INVALID_REQUEST]
"""Those of JSON-RPC."""

_errors = st.builds(
    Error,
    code=st.sampled_from(_CODES) | st.integers(1, 2**31 - 1),
    message=st.text(max_size=10),
    data=st.just(ABSENT) | json_values(),
)


@cache
def _calls(row: Method, revision: str, unknown: bool) -> st.SearchStrategy[JSONRPCMessage]:
    params = _written(payloads(row.payload, revision, unknown=unknown), _meta_of_call(row, revision), revision)
    params_or_none = params.map(_none_for_empty) | params
    if row.kind is Kind.REQUEST:
        return st.builds(JSONRPCRequest, ids(), st.just(row.name), params_or_none)
    # The schemas require the params of a notification that has any members, though none of them may be required.
    has_members = any(field.wire != "_meta" for field in t.fields_of(row.payload, revision))
    return st.builds(JSONRPCNotification, st.just(row.name), params if has_members else params_or_none)


@cache
def _responses(row: Method, revision: str, unknown: bool) -> st.SearchStrategy[JSONRPCMessage]:
    payload = _results(row, revision, unknown)
    if row.task_augmentable and t.exists(t.CreateTaskResult, revision):
        payload |= payloads(t.CreateTaskResult, revision, unknown=unknown)
    return st.builds(JSONRPCResultResponse, ids(), _written(payload, _meta_of_result(row, revision), revision))


def _none_for_empty(params: JSONObject) -> JSONObject | None:
    return params or None


def _written(
    payload: st.SearchStrategy[Any], meta: st.SearchStrategy[JSONObject], revision: str
) -> st.SearchStrategy[JSONObject]:
    """The payloads as JSON, with more in their ``_meta``."""
    return st.builds(_write, payload, meta, st.just(revision))


def _write(payload: object, meta: JSONObject, revision: str) -> JSONObject:
    value = t.unstructure(payload, revision)
    return {**value, "_meta": {**value.get("_meta", {}), **meta}} if meta else value


def _meta_of_call(row: Method, revision: str) -> st.SearchStrategy[JSONObject]:
    """What the protocol has in the ``_meta`` of a request or notification."""
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    if row.kind is Kind.REQUEST:
        optional["progressToken"] = ids()
        if _is_modern(revision):
            for key in REQUEST_META:
                (required if key.required else optional)[key.name] = _meta_values(key, revision)
    elif _is_modern(revision) and (row.filter is not None or row.payload is t.SubscriptionsAcknowledgedNotification):
        required[SUBSCRIPTION_ID] = ids()
    return st.fixed_dictionaries(required, optional=optional)


def _meta_of_result(row: Method, revision: str) -> st.SearchStrategy[JSONObject]:
    """What the protocol has in the ``_meta`` of a result."""
    if not _is_modern(revision):
        return st.builds(dict[str, Any])
    required: dict[str, st.SearchStrategy[Any]] = {SUBSCRIPTION_ID: ids()} if row.listens else {}
    info = st.builds(t.unstructure, payloads(t.Implementation, revision), st.just(revision))
    return st.fixed_dictionaries(required, optional={SERVER_INFO: info})


def _meta_values(key: MetaKey, revision: str) -> st.SearchStrategy[Any]:
    if key.name == PROTOCOL_VERSION:
        return st.just(revision)
    made = values(key.type, revision, unknown=False)
    return st.builds(t.unstructure, made, st.just(revision)) if isinstance(key.type, type) else made
