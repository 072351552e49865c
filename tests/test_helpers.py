"""Pages, the cache and the rules for names: by example, and against naive models."""

from __future__ import annotations

import math
from typing import Any, assert_type

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mcp_sansio import helpers
from mcp_sansio import types as t
from mcp_sansio.errors import LocalProtocolError, Reason
from mcp_sansio.helpers import (
    EndedBy,
    ListCache,
    Pages,
    extension_id_fault,
    is_reserved_meta_key,
    meta_key_fault,
    tool_name_fault,
)
from mcp_sansio.spec import ALL_REVISIONS, LEGACY_REVISIONS, METHODS

quick = settings(deadline=None)

MODERN = "2026-07-28"
A, B, C = (t.Tool(name, {"type": "object"}) for name in "ABC")
ALL_LISTS = t.ServerCapabilities(
    tools=t.ToolsCapability(list_changed=True),
    prompts=t.PromptsCapability(list_changed=True),
    resources=t.ResourcesCapability(list_changed=True, subscribe=True),
)


def page(*tools: t.Tool, cursor: str | None = None, ttl: int | None = 1000, scope: str | None = "public") -> Any:
    return t.ListToolsResult(list(tools), next_cursor=cursor, ttl_ms=ttl, cache_scope=scope)


def read(*uris: str, ttl: int = 1000, scope: str = "public") -> t.ReadResourceResult:
    contents: list[Any] = [t.TextResourceContents(uri=uri, text="") for uri in uris]
    return t.ReadResourceResult(contents, ttl_ms=ttl, cache_scope=scope)


def raises(reason: Reason) -> Any:
    return pytest.raises(LocalProtocolError, match=f"^{reason.value}: ")


def test_exports() -> None:
    assert helpers.__all__ == sorted(helpers.__all__, key=lambda name: (name[0].islower(), name))
    assert all(hasattr(helpers, name) for name in helpers.__all__)


# Pages


def test_pages_of_a_list() -> None:
    pages = Pages(t.ListToolsRequest(meta={"k": 1}, extra={"filter": "x"}))
    assert pages.next_request() == t.ListToolsRequest(meta={"k": 1}, extra={"filter": "x"})
    assert (pages.items, pages.count, pages.ended_by, pages.complete) == ((), 0, None, False)
    assert repr(pages) == "<Pages tools/list: 0 items in 0 pages, open>"
    pages.add(page(A, B, cursor="secret"))
    assert (pages.items, pages.count, pages.ended_by, pages.next_cursor) == ((A, B), 1, None, "secret")
    # Asking again changes nothing: that is how a page is asked for once more.
    for _ in range(2):
        assert pages.next_request() == t.ListToolsRequest("secret", meta={"k": 1}, extra={"filter": "x"})
    pages.add(page(C))
    assert pages.next_request() is None
    assert (pages.items, pages.count, pages.ended_by, pages.complete) == ((A, B, C), 2, EndedBy.LAST_PAGE, True)
    assert pages.next_cursor is None
    assert repr(pages) == "<Pages tools/list: 3 items in 2 pages, ended by last page>"


def test_a_cursor_that_does_not_advance_ends_the_list() -> None:
    """dos-027."""
    pages = Pages(t.ListToolsRequest())
    pages.add(page(A, cursor="8"))
    pages.add(page(A, cursor="8"))
    assert pages.next_request() is None
    assert (pages.ended_by, pages.complete, pages.items) == (EndedBy.REPEATED_CURSOR, False, (A, A))
    assert pages.next_cursor == "8", "for those who know better"


def test_cursors_in_a_circle_end_the_list() -> None:
    pages = Pages(t.ListToolsRequest("a"))
    for cursor in ("b", "c", "a"):
        assert pages.ended_by is None
        pages.add(page(cursor=cursor))
    assert pages.ended_by is EndedBy.REPEATED_CURSOR


@pytest.mark.parametrize("revision", ALL_REVISIONS)
def test_null_ends_a_list(revision: str) -> None:
    """schema-150."""
    pages = Pages(t.ListToolsRequest())
    members = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if revision == MODERN else {}
    pages.add(t.structure({"tools": [], "nextCursor": None, **members}, t.ListToolsResult, revision))
    assert pages.complete


@pytest.mark.parametrize("revision", ALL_REVISIONS)
def test_the_empty_string_is_a_cursor(revision: str) -> None:
    """schema-151."""
    pages = Pages(t.ListToolsRequest())
    pages.add(page(A, cursor=""))
    request = pages.next_request()
    assert request is not None
    assert t.unstructure(request, revision) == {"cursor": ""}
    pages.add(page(B, cursor=""))
    assert pages.ended_by is EndedBy.REPEATED_CURSOR
    pages = Pages(t.ListToolsRequest(""))
    pages.add(page(B, cursor=""))
    assert pages.ended_by is EndedBy.REPEATED_CURSOR


def test_page_budget() -> None:
    pages = Pages(t.ListToolsRequest(), max_pages=2)
    pages.add(page(A, cursor="1"))
    pages.add(page(B, cursor="2"))
    assert (pages.next_request(), pages.ended_by) == (None, EndedBy.PAGE_BUDGET)
    assert (pages.items, pages.next_cursor, pages.complete) == ((A, B), "2", False)
    for last, ended_by in ((None, EndedBy.LAST_PAGE), ("1", EndedBy.REPEATED_CURSOR)):
        pages = Pages(t.ListToolsRequest(), max_pages=2)
        pages.add(page(A, cursor="1"))
        pages.add(page(B, cursor=last))
        assert pages.ended_by is ended_by


def test_misuse_of_pages_changes_nothing() -> None:
    with raises(Reason.CONFIGURATION):
        Pages(t.ListToolsRequest(), max_pages=0)
    with raises(Reason.INVALID_PAYLOAD):
        Pages(t.PingRequest())  # type: ignore[call-overload]
    pages = Pages(t.ListToolsRequest(), max_pages=1)
    with raises(Reason.WRONG_RESULT):
        pages.add(t.ListPromptsResult([]))  # type: ignore[arg-type]
    assert (pages.count, pages.ended_by) == (0, None)
    pages.add(page(A))
    with raises(Reason.UNKNOWN_REQUEST):
        pages.add(page(B))
    assert pages.items == (A,)


BASES: tuple[Any, ...] = (t.PaginatedResult, t.CacheableResult)


@pytest.mark.parametrize("row", [row for row in METHODS if issubclass(row.payload, t.PaginatedRequest)], ids=str)
def test_every_list_comes_in_pages(row: Any) -> None:
    [field] = {field.name for field in attrs.fields(row.result)} - {
        field.name for base in BASES for field in attrs.fields(base)
    }
    pages: Any = Pages(row.payload())
    item = object()
    pages.add(row.result(**{field: [item]}))
    assert pages.items == (item,)


def test_types_of_pages() -> None:
    """Looked at by mypy and pyright."""
    assert_type(Pages(t.ListToolsRequest()).items, tuple[t.Tool, ...])
    assert_type(Pages(t.ListPromptsRequest()).items, tuple[t.Prompt, ...])
    assert_type(Pages(t.ListResourcesRequest()).items, tuple[t.Resource, ...])
    assert_type(Pages(t.ListResourceTemplatesRequest()).items, tuple[t.ResourceTemplate, ...])
    assert_type(Pages(t.ListTasksRequest()).items, tuple[t.Task, ...])
    assert_type(Pages(t.ListToolsRequest()).next_request(), t.PaginatedRequest[t.ListToolsResult] | None)


@quick
@given(st.lists(st.none() | st.text(max_size=1), max_size=30), st.integers(1, 20))
def test_every_sequence_of_pages_ends(cursors: list[str | None], budget: int) -> None:
    """No request comes twice, no page comes after the end, and the end has its reason."""
    pages = Pages(t.ListToolsRequest(), max_pages=budget)
    asked: list[str | None] = []
    for cursor in [*cursors, None]:
        request = pages.next_request()
        if request is None:
            break
        assert request.cursor not in asked
        asked.append(request.cursor)
        pages.add(page(A, cursor=cursor))
    assert pages.next_request() is None
    assert len(pages.items) == pages.count == len(asked) <= budget
    given_last = [*cursors, None][len(asked) - 1]
    assert asked == [None, *cursors[: len(asked) - 1]]
    if given_last is None:
        assert pages.ended_by is EndedBy.LAST_PAGE
    elif given_last in asked:
        assert pages.ended_by is EndedBy.REPEATED_CURSOR
    else:
        assert (pages.ended_by, pages.count) == (EndedBy.PAGE_BUDGET, budget)


# The cache


def cached(request: Any, result: Any, *, context: Any = None, **options: Any) -> ListCache:
    cache = ListCache(MODERN, **options)
    assert cache.put(request, result, now=0, generation=0, context=context)
    return cache


def test_a_result_is_fresh_for_its_ttl() -> None:
    result = page(A, ttl=1500)
    cache = cached(t.ListToolsRequest(), result)
    assert cache.get(t.ListToolsRequest(), now=0) is result
    assert cache.get(t.ListToolsRequest(), now=1.499) is result
    assert cache.get(t.ListToolsRequest(), now=-1) is None, "a clock that went back"
    assert cache.get(t.ListToolsRequest(), now=math.nan) is None
    assert len(cache) == 1
    assert cache.get(t.ListToolsRequest(), now=1.5) is None
    assert len(cache) == 0
    assert_type(cache.get(t.ListToolsRequest(), now=0), t.ListToolsResult | None)


@pytest.mark.parametrize("ttl", [0, -1, -(10**400), None])
def test_no_ttl_is_never_fresh_and_ends_what_was(ttl: int | None) -> None:
    for scope in ("public", "private"):
        cache = cached(t.ListToolsRequest(), page(A, scope=scope))
        assert not cache.put(t.ListToolsRequest(), page(B, ttl=ttl), now=0, generation=0)
        assert cache.get(t.ListToolsRequest(), now=0) is None


def test_a_ttl_too_big_for_a_float() -> None:
    cache = cached(t.ListToolsRequest(), page(A, ttl=10**400))
    assert cache.get(t.ListToolsRequest(), now=10**9) is not None


@pytest.mark.parametrize("scope", ["private", None, "shared"])
def test_what_is_not_public_is_private(scope: str | None) -> None:
    cache = cached(t.ListToolsRequest(), page(A, scope=scope), context="alice")
    assert cache.get(t.ListToolsRequest(), now=0, context="alice") is not None
    assert cache.get(t.ListToolsRequest(), now=0, context="bob") is None
    assert cache.get(t.ListToolsRequest(), now=0) is None
    assert "alice" not in repr(cache)


def test_public_is_for_all() -> None:
    cache = cached(t.ListToolsRequest(), page(A), context="alice")
    for context in ("alice", "bob", None, ()):
        assert cache.get(t.ListToolsRequest(), now=0, context=context) is not None
    # Once a page is private, the public one is history.
    assert cache.put(t.ListToolsRequest(), page(B, scope="private"), now=0, generation=0, context="bob")
    assert cache.get(t.ListToolsRequest(), now=0, context="alice") is None
    assert cache.put(t.ListToolsRequest(), page(C), now=0, generation=0, context="bob")
    for context in ("alice", "bob"):
        assert cache.get(t.ListToolsRequest(), now=0, context=context) == page(C)
    assert len(cache) == 1


def test_the_key_is_all_of_the_params_but_meta() -> None:
    requests: list[Any] = [
        t.ListToolsRequest(),
        t.ListToolsRequest(""),
        t.ListToolsRequest("1"),
        t.ListToolsRequest(extra={"n": 1}),
        t.ListToolsRequest(extra={"n": 1.0}),
        t.ListToolsRequest(extra={"n": True}),
        t.ListToolsRequest(extra={"n": "1"}),
    ]
    cache = ListCache(MODERN)
    for number, request in enumerate(requests):
        assert cache.get(request, now=0) is None
        assert cache.put(request, page(cursor=str(number)), now=0, generation=0)
    for number, request in enumerate(requests):
        found = cache.get(attrs.evolve(request, meta={"progressToken": number}), now=0)
        assert found is not None
        assert found.next_cursor == str(number)
    cache = cached(t.ListToolsRequest(extra={"a": 1, "b": 2}), page())
    assert cache.get(t.ListToolsRequest(extra={"b": 2, "a": 1}), now=0) is not None
    # The same method and params in another class is no request whose result class is known.
    assert cache.get(t.CustomRequest("tools/list", {"a": 1, "b": 2}), now=0) is None


def test_retries_and_input_required_are_never_cached() -> None:
    plain = t.ReadResourceRequest("x:/")
    cache = cached(plain, read("x:/"))
    retries: list[Any] = [
        t.ReadResourceRequest("x:/", request_state=""),
        t.ReadResourceRequest("x:/", input_responses={}),
        t.ListToolsRequest(extra={"requestState": "s"}),
    ]
    odd: Any = read("x:/")
    for request in retries:
        result = page() if isinstance(request, t.ListToolsRequest) else read("x:/")
        assert not cache.put(request, result, now=0, generation=0)
        assert cache.get(request, now=0) is None
    assert not cache.put(plain, t.InputRequiredResult(request_state="s"), now=0, generation=0)
    assert not cache.put(plain, attrs.evolve(odd, result_type="odd"), now=0, generation=0)
    assert cache.put(plain, attrs.evolve(odd, result_type="complete"), now=0, generation=0)
    assert len(cache) == 1


CACHEABLE: list[tuple[Any, Any, str | None]] = [
    (t.ListToolsRequest(), page(), "tools"),
    (t.ListPromptsRequest(), t.ListPromptsResult([], ttl_ms=1), "prompts"),
    (t.ListResourcesRequest(), t.ListResourcesResult([], ttl_ms=1), "resources"),
    (t.ListResourceTemplatesRequest(), t.ListResourceTemplatesResult([], ttl_ms=1), "resources"),
    (t.ReadResourceRequest("x:/"), read("x:/"), None),
    (t.DiscoverRequest(), t.DiscoverResult([], t.ServerCapabilities(), ttl_ms=1), None),
]
CHANGES: dict[str, Any] = {
    "tools": t.ToolListChangedNotification(),
    "prompts": t.PromptListChangedNotification(),
    "resources": t.ResourceListChangedNotification(),
}


def test_what_is_cacheable() -> None:
    assert {request.method for request, _, _ in CACHEABLE} == {row.name for row in METHODS if row.cacheable}
    cache = ListCache(MODERN)
    for request, result, _ in CACHEABLE:
        assert cache.put(request, result, now=0, generation=0)
    assert not cache.put(t.CallToolRequest("x"), t.CallToolResult([]), now=0, generation=0)
    assert not cache.put(t.PingRequest(), t.EmptyResult(), now=0, generation=0)
    assert cache.get(t.PingRequest(), now=0) is None
    assert repr(cache) == "<ListCache 2026-07-28: 6 of 256 entries>"


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_list_is_dropped_with_its_pages(name: str) -> None:
    cache = ListCache(MODERN)
    for request, result, _ in CACHEABLE:
        cache.put(request, result, now=0, generation=0, context="alice")
    cache.put(t.ListToolsRequest("2"), page(), now=0, generation=0)
    assert cache.invalidate(CHANGES[name]) == (1 if name == "prompts" else 2)
    for request, _, of in CACHEABLE:
        assert (cache.get(request, now=0, context="alice") is None) == (of == name)
    assert (cache.get(t.ListToolsRequest("2"), now=0) is None) == (name == "tools")


def test_an_updated_resource_is_dropped_with_those_that_hold_it() -> None:
    cache = ListCache(MODERN)
    for uri, parts in (("f:/d", ["f:/d"]), ("f:/d/a", ["f:/d/a"]), ("f:/d/a/b", []), ("all:", ["f:/d/a"]), ("g:", [])):
        cache.put(t.ReadResourceRequest(uri), read(*parts), now=0, generation=0)
    cache.put(t.ListResourcesRequest(), t.ListResourcesResult([], ttl_ms=1000), now=0, generation=0)
    assert cache.invalidate(t.ResourceUpdatedNotification("f:/d/a")) == 3
    assert cache.get(t.ReadResourceRequest("f:/d/a/b"), now=0) is not None
    assert cache.get(t.ReadResourceRequest("g:"), now=0) is not None
    assert cache.get(t.ListResourcesRequest(), now=0) is not None


def test_a_result_that_crossed_a_change_is_not_cached() -> None:
    cache = ListCache(MODERN)
    sent = cache.generation
    assert cache.invalidate(t.ToolListChangedNotification()) == 0
    assert not cache.put(t.ListToolsRequest(), page(), now=0, generation=sent)
    assert cache.put(t.ListPromptsRequest(), t.ListPromptsResult([], ttl_ms=1), now=0, generation=sent), "another list"
    assert cache.put(t.ListToolsRequest(), page(), now=0, generation=cache.generation)
    sent = cache.generation
    cache.invalidate(t.ResourceUpdatedNotification("x:/"))
    assert not cache.put(t.ReadResourceRequest("x:/"), read("x:/"), now=0, generation=sent)
    cache.clear()
    assert len(cache) == 0
    for request, result, _ in CACHEABLE:
        assert not cache.put(request, result, now=0, generation=sent)


def test_other_notifications_change_nothing() -> None:
    cache = cached(t.ListToolsRequest(), page())
    for notification in (t.ProgressNotification(1, 1.0), t.RootsListChangedNotification(), t.CustomNotification("x")):
        assert cache.invalidate(notification) == 0
    assert cache.generation == 0
    assert len(cache) == 1


def test_discard_one_method() -> None:
    cache = cached(t.ListToolsRequest(), page())
    cache.put(t.ListToolsRequest("2"), page(), now=0, generation=0)
    assert cache.discard("prompts/list") == 0
    assert cache.discard("tools/list") == 2
    assert not cache.put(t.ListToolsRequest("2"), page(), now=0, generation=0)


def test_a_full_cache_forgets_what_was_not_used() -> None:
    cache = ListCache(MODERN, max_entries=2)
    for cursor in "ab":
        cache.put(t.ListToolsRequest(cursor), page(), now=0, generation=0)
    cache.get(t.ListToolsRequest("a"), now=0)
    cache.put(t.ListToolsRequest("c"), page(), now=0, generation=0)
    assert [cache.get(t.ListToolsRequest(c), now=0) is not None for c in "abc"] == [True, False, True]


@pytest.mark.parametrize("revision", LEGACY_REVISIONS)
def test_legacy_lists_are_fresh_until_they_change(revision: str) -> None:
    cache = ListCache(revision, ALL_LISTS)
    for request, result, of in CACHEABLE:
        assert cache.put(request, result, now=0, generation=0, context="alice") == (of is not None)
        assert (cache.get(request, now=10**9, context="alice") is not None) == (of is not None)
        assert cache.get(request, now=0, context="bob") is None, "private, whatever a scope says"
    for name, change in CHANGES.items():
        assert cache.invalidate(change) == (2 if name == "resources" else 1)
    assert len(cache) == 0


@pytest.mark.parametrize("revision", LEGACY_REVISIONS)
@pytest.mark.parametrize(
    "capabilities",
    [
        None,
        t.ServerCapabilities(tools=t.ToolsCapability(), prompts=t.PromptsCapability(list_changed=False)),
        t.ServerCapabilities(resources=t.ResourcesCapability(subscribe=True)),
    ],
)
def test_legacy_lists_that_may_change_unsaid_are_not_cached(revision: str, capabilities: Any) -> None:
    cache = ListCache(revision, capabilities)
    for request, result, _ in CACHEABLE:
        assert not cache.put(request, result, now=0, generation=0)


def test_misuse_of_the_cache() -> None:
    with raises(Reason.CONFIGURATION):
        ListCache("2026-07-29")
    with raises(Reason.CONFIGURATION):
        ListCache(MODERN, max_entries=0)
    cache = cached(t.ListToolsRequest(), page(A))
    wrong: list[Any] = [t.ListPromptsResult([], ttl_ms=1), t.CallToolResult([])]
    for result in wrong:
        with raises(Reason.WRONG_RESULT):
            cache.put(t.ListToolsRequest(), result, now=0, generation=0)
    deep: Any = {}
    deep["deep"] = deep
    for odd in ({"n": object()}, {"n": {1: 1, "a": 2}}, deep):
        with raises(Reason.INVALID_PAYLOAD):
            cache.get(t.ListToolsRequest(extra=odd), now=0)
    with raises(Reason.INVALID_PAYLOAD):
        cache.put(t.ListToolsRequest(1), page(), now=0, generation=0)  # type: ignore[arg-type]
    assert len(cache) == 1


REQUESTS: list[Any] = [
    t.ListToolsRequest(),
    t.ListToolsRequest(""),
    t.ListPromptsRequest(),
    t.ReadResourceRequest("a:"),
    t.ReadResourceRequest("a:b"),
    t.ReadResourceRequest("a:", request_state="s"),
]
requests = st.sampled_from(REQUESTS)
contexts = st.sampled_from([None, "alice", "bob"])


class CacheMachine(RuleBasedStateMachine):
    """A cache beside the diary of all that ever came: what it gives must be in there, for the one who asks."""

    @initialize(size=st.integers(1, 4))
    def start(self, size: int) -> None:
        self.cache = ListCache(MODERN, max_entries=size)
        self.size = size
        self.now = 0
        self.serial = 0
        self.sent: list[tuple[Any, str | None, int]] = []
        self.stale: dict[str, int] = {}  # by method and URI: how many answers had been given before it changed
        self.diary: dict[int, tuple[Any, str | None, int, int, str]] = {}

    def result(self, request: Any, ttl: int, scope: str) -> Any:
        hints: dict[str, Any] = {"ttl_ms": ttl, "cache_scope": scope, "meta": {"serial": self.serial}}
        match request:
            case t.ListToolsRequest():
                return t.ListToolsResult([], **hints)
            case t.ListPromptsRequest():
                return t.ListPromptsResult([], **hints)
            case _:
                return t.ReadResourceResult([], **hints)

    def name(self, request: Any) -> str:
        return str(getattr(request, "uri", request.method))

    @rule(request=requests, context=contexts)
    def send(self, request: Any, context: str | None) -> None:
        self.serial += 1
        result = self.result(request, 0, "private")
        self.sent.append((attrs.evolve(request, meta=result.meta), context, self.cache.generation))

    @rule(data=st.data(), ttl=st.sampled_from([-1, 0, 1000, 2000]), scope=st.sampled_from(["public", "private"]))
    def answer(self, data: st.DataObject, ttl: int, scope: str) -> None:
        if self.sent:
            request, context, generation = self.sent.pop(data.draw(st.integers(0, len(self.sent) - 1)))
            serial = request.meta["serial"]
            result = attrs.evolve(self.result(request, ttl, scope), meta={"serial": serial})
            self.diary[serial] = (request, context, self.now, ttl, scope)
            self.cache.put(request, result, now=self.now, generation=generation, context=context)

    @rule(seconds=st.integers(0, 2))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(what=st.sampled_from(["tools/list", "prompts/list", "a:", "a:b"]))
    def change(self, what: str) -> None:
        if what.endswith("/list"):
            self.cache.invalidate(CHANGES[what.removesuffix("/list")])
        else:
            self.cache.invalidate(t.ResourceUpdatedNotification(what))
        for name in {what, "a:" if what == "a:b" else what}:
            self.stale[name] = self.serial

    @rule(request=requests, context=contexts)
    def ask(self, request: Any, context: str | None) -> None:
        found: Any = self.cache.get(request, now=self.now, context=context)
        if found is not None:
            asked, by, received, ttl, scope = self.diary[found.meta["serial"]]
            assert attrs.evolve(asked, meta=None) == request
            assert request.method != "resources/read" or request.request_state is None
            assert scope == "public" or by == context
            assert self.now < received + ttl / 1000
            # Serials are given when a request is sent, so a later change ends everything sent before it.
            assert found.meta["serial"] > self.stale.get(self.name(request), 0)

    @rule(request=requests, context=contexts, scope=st.sampled_from(["public", "private"]))
    def what_comes_now_is_found(self, request: Any, context: str | None, scope: str) -> None:
        self.send(request, context)
        request, context, generation = self.sent.pop()
        serial = request.meta["serial"]
        result = attrs.evolve(self.result(request, 1000, scope), meta={"serial": serial})
        self.diary[serial] = (request, context, self.now, 1000, scope)
        retry = getattr(request, "request_state", None) is not None
        kept = self.cache.put(request, result, now=self.now, generation=generation, context=context)
        assert kept is not retry
        assert (self.cache.get(request, now=self.now, context=context) is result) is kept

    @invariant()
    def is_bounded(self) -> None:
        if hasattr(self, "cache"):
            assert len(self.cache) <= self.size


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(deadline=None, max_examples=60, stateful_step_count=30)


# Names

VALID_KEYS = ["", "a", "progressToken", "com.example/", "com.example/a", "a/b", "a-1.b2/x_y-z.0", "x/0", "A.B/C"]
BAD_PREFIXES = ["/", "/a", ".a/b", "a./b", "a..b/c", "1a/b", "-a/b", "a-/b", "a_b/c", "é/a", "a\n/b", "a b/c"]
BAD_NAMES = ["-a", "a-", ".a", "a.", "_", "a b", "é", "a\n", "com.example/-", "a/b/c", "a/b/", "x/²"]


@pytest.mark.parametrize("key", VALID_KEYS)
def test_good_meta_keys(key: str) -> None:
    assert meta_key_fault(key) is None
    assert (extension_id_fault(key) is None) == ("/" in key)


@pytest.mark.parametrize(("key", "part"), [(k, "prefix") for k in BAD_PREFIXES] + [(k, "name") for k in BAD_NAMES])
def test_bad_meta_keys(key: str, part: str) -> None:
    fault = meta_key_fault(key)
    assert fault is not None
    assert fault.startswith(f"the {part} ")
    assert extension_id_fault(key) == (fault if "/" in key else "there is no prefix, such as com.example/")


def naive_key(key: str) -> bool:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    some = letters + "0123456789"
    *prefix, name = key.split("/", 1)
    for label in prefix[0].split(".") if prefix else []:
        if not label or label[0] not in letters or label[-1] not in some or set(label) - set(some + "-"):
            return False
    return not name or (name[0] in some and name[-1] in some and not set(name) - set(some + "-_."))


@quick
@given(st.text(st.sampled_from("aZ0-_./ é\n"), max_size=8))
def test_meta_keys_against_a_naive_reading(key: str) -> None:
    assert (meta_key_fault(key) is None) == naive_key(key)


@pytest.mark.parametrize(
    ("key", "since_2025_06_18", "since_2025_11_25"),
    [
        # The examples of the pages.
        ("modelcontextprotocol.io/", True, False),
        ("mcp.dev/", True, False),
        ("api.modelcontextprotocol.org/", True, True),
        ("tools.mcp.com/", True, True),
        ("io.modelcontextprotocol/", False, True),
        ("dev.mcp/", False, True),
        ("org.modelcontextprotocol.api/", True, True),
        ("com.mcp.tools/", True, True),
        ("com.example.mcp/", False, False),
        ("a.b.mcp.c/x", True, False),
        ("io.modelcontextprotocol/x/y", False, True),
        ("com.example/mcp", False, False),
        ("mcp/x", False, False),
        ("io.MCP/x", False, False),
        ("io.mcp-x/x", False, False),
        ("io.modelcontextprotocol", False, False),
        ("mcp", False, False),
    ],
)
def test_reserved_prefixes(key: str, since_2025_06_18: bool, since_2025_11_25: bool) -> None:
    reserved = [is_reserved_meta_key(key, revision=revision) for revision in ALL_REVISIONS]
    assert reserved == [False, False, since_2025_06_18, since_2025_11_25, since_2025_11_25]
    assert is_reserved_meta_key(key) == since_2025_11_25


def test_reserved_keys_without_prefix() -> None:
    for revision in ALL_REVISIONS:
        assert is_reserved_meta_key("progressToken", revision=revision)
        assert not is_reserved_meta_key("com.example/progressToken", revision=revision)
        for key in ("traceparent", "tracestate", "baggage"):
            assert is_reserved_meta_key(key, revision=revision) == (revision == MODERN)


@pytest.mark.parametrize("name", ["getUser", "DATA_EXPORT_v2", "admin.tools.list", "-", "a" * 128])
def test_good_tool_names(name: str) -> None:
    assert tool_name_fault(name) is None


@pytest.mark.parametrize("name", ["", "a" * 129, "a b", "a,b", "é", "a\n", "a/b", "٣"])
def test_bad_tool_names(name: str) -> None:
    fault = tool_name_fault(name)
    assert fault is not None
    assert ("128" in fault) == (not 1 <= len(name) <= 128)
