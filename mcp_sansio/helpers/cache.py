"""A cache of results, for clients and gateways.

Source: 2026-07-28, page server/utilities/caching. The older revisions have no caching hints, only change notifications
(pages server/tools, server/prompts, server/resources, "List Changed Notification").
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

import attrs

from ..errors import LocalProtocolError, Reason
from ..spec import CORE, REVISIONS, Method, Side, declared, is_modern
from ..types import (
    CacheableResult,
    InputRequiredResult,
    ListPromptsRequest,
    ListResourcesRequest,
    ListResourceTemplatesRequest,
    ListToolsRequest,
    Notification,
    PromptListChangedNotification,
    ReadResourceRequest,
    ReadResourceResult,
    Request,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    Result,
    ServerCapabilities,
    ToolListChangedNotification,
    unstructure,
)

__all__ = ["ListCache"]

R = TypeVar("R", bound=Result)

_CHANGED_BY: dict[str, str] = {
    ListToolsRequest.method: ToolListChangedNotification.method,
    ListPromptsRequest.method: PromptListChangedNotification.method,
    ListResourcesRequest.method: ResourceListChangedNotification.method,
    # No page says so of templates, but no other notification can, and servers do send it for them.
    ListResourceTemplatesRequest.method: ResourceListChangedNotification.method,
}
"""By the method of a list: the notification that it has changed."""

_LONGEST_MS = 2**53
"""A time to live beyond this is cut: a peer's integer may be too big for a float."""


class _Key(NamedTuple):
    """What makes two requests the same, and for whom the answer is."""

    method: str
    params: str
    """As JSON, since in Python 1, 1.0 and True are equal."""
    context: tuple[Hashable, ...]
    """Empty for all."""


@attrs.frozen
class _Entry:
    request: Request[Any]
    result: Any
    received: float
    lifetime: float

    def is_fresh(self, now: float) -> bool:
        return self.received <= now < self.received + self.lifetime

    def may_hold(self, uri: str) -> bool:
        """Whether this is what was read of a resource, or of one that it is within.

        An update may name a sub-resource of what was subscribed to (schema, ``ResourceUpdatedNotification``), and URIs
        are opaque, so whatever starts alike counts. To be wrong here costs one more request.
        """
        return (isinstance(self.request, ReadResourceRequest) and uri.startswith(self.request.uri)) or (
            isinstance(self.result, ReadResourceResult) and any(part.uri == uri for part in self.result.contents)
        )


class ListCache:
    """Results of one server in one revision, as long as they may be taken as fresh.

    ::

        result = cache.get(request, now=clock(), context=user)
        if result is None:
            generation = cache.generation
            result = send_and_wait(request)
            cache.put(request, result, now=clock(), generation=generation, context=user)

    and hand every notification to `invalidate`.

    - Cached are the results that the revision calls cacheable: lists, ``resources/read`` and ``server/discover``. Each
      page of a list is an entry of its own.
    - Two requests are the same if their methods and params, ``_meta`` aside, are.
    - 2026-07-28: a result is fresh for its ``ttlMs``; 0, negative and absent mean not at all. Nothing is cached of
      retries (``inputResponses``, ``requestState``) and of ``input_required``.
    - A result whose ``cacheScope`` is "public" is for everybody. Any other is only for the *context* that asked.
    - Older revisions: a list is fresh until it is said to have changed, if the server declared that it says so
      (``listChanged``), and always private; nothing else is cached. Use one cache for one session, and drop it with
      the session: who isn't connected misses notifications.

    A context is whatever tells callers with different rights apart: contexts that compare equal share what is private.
    Take a user's id or the digest of an access token, rather than the token. None is a context as well, that of a
    client with only one user.

    Results are shared, not copied: don't change them. What expired or was dropped is gone, there is no serving of stale
    results. Not thread-safe.
    """

    def __init__(
        self, revision: str, capabilities: ServerCapabilities | None = None, *, max_entries: int = 256
    ) -> None:
        """Make an empty cache.

        Args:
            revision: the revision in force.
            capabilities: what the server declared; only asked in the older revisions.
            max_entries: how many results to keep; beyond that, those go that were not used for the longest time.

        Raises:
            LocalProtocolError: unknown revision, or ``max_entries`` less than 1 (``Reason.CONFIGURATION``).
        """
        if revision not in REVISIONS:
            raise LocalProtocolError(Reason.CONFIGURATION, f"the revision is not one of {', '.join(REVISIONS)}")
        if max_entries < 1:
            raise LocalProtocolError(Reason.CONFIGURATION, "max_entries must be 1 or more")
        self._revision = revision
        self._modern = is_modern(revision)
        given = unstructure(capabilities or ServerCapabilities(), revision)
        self._declared = declared(Side.SERVER, given, revision)
        self._max_entries = max_entries
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()
        self._generation = 0
        self._changed: dict[str, int] = {}

    def __len__(self) -> int:
        """How many results are kept, expired ones that nobody asked for since included."""
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<ListCache {self._revision}: {len(self._entries)} of {self._max_entries} entries>"

    @property
    def generation(self) -> int:
        """A number that grows with all that makes results stale. Note it when a request is sent, for `put`."""
        return self._generation

    def get(self, request: Request[R], *, now: float, context: Hashable = None) -> R | None:
        """The result of this request, if there is one that is fresh and for this context.

        Args:
            request: the request that would be sent.
            now: seconds on the clock that `put` has too. While it is before what `put` was told, nothing is fresh.
            context: who asks.

        Raises:
            LocalProtocolError: the request can't be written as JSON (``Reason.INVALID_PAYLOAD``).
        """
        row = self._row(request)
        params = None if row is None else self._params(request)
        if params is None:
            return None
        for key in _keys(request.method, params, context):
            entry = self._entries.get(key)
            if entry is None:
                continue
            if entry.is_fresh(now):
                self._entries.move_to_end(key)
                result: R = entry.result  # put() saw that it is one
                return result
            if now >= entry.received:
                del self._entries[key]
        return None

    def put(
        self,
        request: Request[R],
        result: R | InputRequiredResult,
        *,
        now: float,
        generation: int,
        context: Hashable = None,
    ) -> bool:
        """Take a result, if it may be cached, in the place of what this context would have got until now.

        Args:
            request: the request that was sent.
            result: what came.
            now: when it came.
            generation: `generation` as it was when the request was sent. If a notification that may concern the result
                came since, the result may be older than the change, and isn't cached.
            context: who asked.

        Returns:
            Whether it is cached.

        Raises:
            LocalProtocolError: the result is not the request's (``Reason.WRONG_RESULT``), or the request can't be
                written as JSON (``Reason.INVALID_PAYLOAD``).
        """
        row = self._row(request)
        if row is None or isinstance(result, InputRequiredResult) or result.result_type not in (None, "complete"):
            return False
        if not isinstance(result, row.result) or not isinstance(result, CacheableResult):
            hint = f"{row.name} is answered with {row.result.__name__}, not {type(result).__name__}"
            raise LocalProtocolError(Reason.WRONG_RESULT, hint)
        params = self._params(request)
        if params is None or self._changed.get(row.name, 0) > generation:
            return False
        private, public = _keys(row.name, params, context)
        self._entries.pop(private, None)
        self._entries.pop(public, None)
        lifetime = self._lifetime(row, result)
        if lifetime == 0:
            return False
        key = public if self._modern and result.cache_scope == "public" else private
        self._entries[key] = _Entry(request, result, now, lifetime)
        if len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)
        return True

    def invalidate(self, notification: Notification) -> int:
        """Drop what a notification makes stale. Those that don't concern results may be given as well.

        A list goes with all its pages; a resource with those that it is within. ``server/discover`` and, when the list
        of resources changes, what was read of them are left alone.

        Returns:
            How many results were dropped.
        """
        if isinstance(notification, ResourceUpdatedNotification):
            uri = notification.uri
            return self._drop({ReadResourceRequest.method}, lambda entry: entry.may_hold(uri))
        lists = {name for name, changed_by in _CHANGED_BY.items() if changed_by == notification.method}
        return self._drop(lists) if lists else 0

    def discard(self, method: str) -> int:
        """Drop all results of one method.

        For instance all pages of a list, when the server refuses a cursor that it gave, or the tools, when one is
        unknown to the server (2026-07-28, server/utilities/caching).

        Returns:
            How many results were dropped.
        """
        return self._drop({method})

    def clear(self) -> None:
        """Drop everything, that on its way here included."""
        self._drop({row.name for row in CORE.methods if row.cacheable})

    def _drop(self, methods: set[str], concerns: Callable[[_Entry], bool] = lambda _: True) -> int:
        self._generation += 1
        self._changed.update(dict.fromkeys(methods, self._generation))
        stale = [key for key, entry in self._entries.items() if key.method in methods and concerns(entry)]
        for key in stale:
            del self._entries[key]
        return len(stale)

    def _row(self, request: Request[Any]) -> Method | None:
        """The request's row, if its results are cacheable in this revision."""
        row = CORE.method(Side.CLIENT, request.method, self._revision)
        return row if row is not None and row.cacheable and isinstance(request, row.payload) else None

    def _params(self, request: Request[Any]) -> str | None:
        """The params that affect the result; None for a retry."""
        try:
            params = unstructure(request, self._revision)
            params.pop("_meta", None)
            if "inputResponses" in params or "requestState" in params:
                return None
            return json.dumps(params, sort_keys=True)
        except (TypeError, ValueError, RecursionError) as error:
            hint = f"the request can't be written as JSON ({error})"
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, hint) from error

    def _lifetime(self, row: Method, result: CacheableResult) -> float:
        """For how many seconds the result is fresh."""
        if self._modern:
            return max(0, min(result.ttl_ms or 0, _LONGEST_MS)) / 1000
        if row.name not in _CHANGED_BY:
            return 0
        changed_by = CORE.method(Side.SERVER, _CHANGED_BY[row.name], self._revision)
        return math.inf if changed_by is not None and changed_by.needs in self._declared else 0


def _keys(method: str, params: str, context: Hashable) -> tuple[_Key, _Key]:
    """Where the result is kept that is for this context, and the one for all."""
    return _Key(method, params, (context,)), _Key(method, params, ())
