"""Lists in pages: which request comes next, and when it is enough.

Source: page server/utilities/pagination, the same in all revisions but for one thing: 2026-07-28 adds that the empty
string is a cursor too. It never was said not to be, so here it is one in every revision. A null ``nextCursor`` reads as
an absent one ("whether a non-null value was provided").

Cursors are sent back unchanged and never looked into. But a server that sends a cursor once more would be asked for
ever, and one that makes up a new cursor each time too, so both are stopped, and `Pages.ended_by` says which it was. The
first comparison is more than 2026-07-28 allows by its letter ("any determination based on cursor value other than
whether a non-null value was provided"): where a server of yours repeats cursors and means it, go on from
`Pages.next_cursor` with a new `Pages`.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Generic, TypeVar, overload

import attrs

from ..errors import LocalProtocolError, Reason
from ..types import (
    Cursor,
    ListPromptsRequest,
    ListPromptsResult,
    ListResourcesRequest,
    ListResourcesResult,
    ListResourceTemplatesRequest,
    ListResourceTemplatesResult,
    ListTasksRequest,
    ListTasksResult,
    ListToolsRequest,
    ListToolsResult,
    PaginatedRequest,
    PaginatedResult,
    Prompt,
    Resource,
    ResourceTemplate,
    Task,
    Tool,
)

__all__ = ["EndedBy", "Pages"]

R = TypeVar("R", bound=PaginatedResult)
"""The class of a page."""
Item = TypeVar("Item")
"""The class of what is listed."""

_LISTS: dict[type[Any], tuple[type[PaginatedResult], str]] = {
    ListToolsRequest: (ListToolsResult, "tools"),
    ListPromptsRequest: (ListPromptsResult, "prompts"),
    ListResourcesRequest: (ListResourcesResult, "resources"),
    ListResourceTemplatesRequest: (ListResourceTemplatesResult, "resource_templates"),
    ListTasksRequest: (ListTasksResult, "tasks"),
}
"""By request: the class of a page, and its field that holds the items."""


class EndedBy(Enum):
    """Why no page is asked for any more."""

    LAST_PAGE = "last page"
    """The page had no ``nextCursor``: the list is complete."""
    REPEATED_CURSOR = "repeated cursor"
    """The page's ``nextCursor`` was asked for before: the server goes round in circles."""
    PAGE_BUDGET = "page budget"
    """There is more, but ``max_pages`` have come."""


@attrs.define(init=False, eq=False, repr=False)
class Pages(Generic[R, Item]):
    """Collects a list that comes in pages.

    ::

        pages = Pages(ListToolsRequest())
        while (request := pages.next_request()) is not None:
            pages.add(send_and_wait(request))
        pages.items, pages.ended_by

    Where a request fails, its page is simply still missing: send it again, or give up with the items so far. When a
    server refuses a cursor that it gave (-32602), start anew without a cursor (2026-07-28, server/utilities/caching).
    Items that come twice are kept twice: a list may change between two pages.
    """

    _request: PaginatedRequest[R]
    _page_class: type[PaginatedResult]
    _field: str
    _max_pages: int
    _asked: set[Cursor]
    _items: list[Item]
    _count: int
    _next_cursor: Cursor | None
    _ended_by: EndedBy | None

    @overload
    def __init__(self: Pages[ListToolsResult, Tool], request: ListToolsRequest, *, max_pages: int = ...) -> None: ...
    @overload
    def __init__(
        self: Pages[ListPromptsResult, Prompt], request: ListPromptsRequest, *, max_pages: int = ...
    ) -> None: ...
    @overload
    def __init__(
        self: Pages[ListResourcesResult, Resource], request: ListResourcesRequest, *, max_pages: int = ...
    ) -> None: ...
    @overload
    def __init__(
        self: Pages[ListResourceTemplatesResult, ResourceTemplate],
        request: ListResourceTemplatesRequest,
        *,
        max_pages: int = ...,
    ) -> None: ...
    @overload
    def __init__(self: Pages[ListTasksResult, Task], request: ListTasksRequest, *, max_pages: int = ...) -> None: ...
    def __init__(self, request: PaginatedRequest[Any], *, max_pages: int = 1000) -> None:
        """Start with *request*, whose cursor, if any, is where the list starts.

        Args:
            request: the request for the first page; the others are like it but for the cursor.
            max_pages: how many pages to take at most.

        Raises:
            LocalProtocolError: ``max_pages`` is less than 1 (``Reason.CONFIGURATION``), or the request is for no list
                that comes in pages (``Reason.INVALID_PAYLOAD``).
        """
        if type(request) not in _LISTS:
            hint = f"{type(request).__name__} is no request for a list in pages"
            raise LocalProtocolError(Reason.INVALID_PAYLOAD, hint)
        if max_pages < 1:
            raise LocalProtocolError(Reason.CONFIGURATION, "max_pages must be 1 or more")
        self._request = request
        self._page_class, self._field = _LISTS[type(request)]
        self._max_pages = max_pages
        self._asked = set() if request.cursor is None else {request.cursor}
        self._items = []
        self._count = 0
        self._next_cursor = request.cursor
        self._ended_by = None

    def __repr__(self) -> str:
        state = "open" if self._ended_by is None else f"ended by {self._ended_by.value}"
        return f"<Pages {self._request.method}: {len(self._items)} items in {self._count} pages, {state}>"

    @property
    def items(self) -> tuple[Item, ...]:
        """All items so far, in the order in which they came."""
        return tuple(self._items)

    @property
    def count(self) -> int:
        """How many pages have come."""
        return self._count

    @property
    def ended_by(self) -> EndedBy | None:
        """Why no page is asked for any more; None while one is missing."""
        return self._ended_by

    @property
    def complete(self) -> bool:
        """Whether the server said that this was all."""
        return self._ended_by is EndedBy.LAST_PAGE

    @property
    def next_cursor(self) -> Cursor | None:
        """Where the list goes on, after whatever ended it too; None at its start and at its end."""
        return self._next_cursor

    def next_request(self) -> PaginatedRequest[R] | None:
        """The request for the page that is missing; None when no more is to be asked for.

        It changes nothing: until `add` takes that page, each call gives the same request.
        """
        return self._request if self._ended_by is None else None

    def add(self, result: R) -> None:
        """Take the result of `next_request`.

        Raises:
            LocalProtocolError: no page is missing (``Reason.UNKNOWN_REQUEST``), or this is a result of another method
                (``Reason.WRONG_RESULT``).
        """
        if self._ended_by is not None:
            hint = f"the list has ended ({self._ended_by.value}), so no page is missing"
            raise LocalProtocolError(Reason.UNKNOWN_REQUEST, hint)
        if not isinstance(result, self._page_class):
            hint = f"{self._request.method} is answered with {self._page_class.__name__}, not {type(result).__name__}"
            raise LocalProtocolError(Reason.WRONG_RESULT, hint)
        self._items.extend(getattr(result, self._field))
        self._count += 1
        self._next_cursor = cursor = result.next_cursor
        if cursor is None:
            self._ended_by = EndedBy.LAST_PAGE
        elif cursor in self._asked:
            self._ended_by = EndedBy.REPEATED_CURSOR
        elif self._count >= self._max_pages:
            self._ended_by = EndedBy.PAGE_BUDGET
        else:
            self._asked.add(cursor)
            request: Any = self._request  # mypy knows no attrs class behind payload()
            self._request = attrs.evolve(request, cursor=cursor)
