"""The tools that a client has seen, as far as headers mirror their parameters.

Source: basic/transports/streamable-http of 2026-07-28 (Custom Headers from Tool Parameters).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import attrs

from ..connection.outgoing import AnyHandle
from ..connection.state import Bounded
from ..jsonrpc import JSONRPCMessage, JSONRPCRequest, is_array, is_object
from ..types import CallToolRequest, CustomResult, ListToolsResult, Result
from .client_events import ToolLeftOut
from .headers import ParameterHeader, ToolHeaderError, parameter_headers

__all__ = ["Refresh", "ToolHeaders", "called_tool"]

_REMEMBERED = 10_000
"""How many tools with mirrored parameters are remembered."""
_PAGES = 1000
"""How many pages are asked for, to find the tool of a call that was refused."""


def called_tool(message: JSONRPCMessage) -> str | None:
    """The name of the tool that *message* calls."""
    if not isinstance(message, JSONRPCRequest) or message.method != CallToolRequest.method:
        return None
    name = (message.params or {}).get("name")
    return name if isinstance(name, str) else None


class ToolHeaders:
    """Which parameters of which tools are mirrored in headers."""

    def __init__(self) -> None:
        self._headers: Bounded[str, tuple[ParameterHeader, ...]] = Bounded(_REMEMBERED)

    def of(self, message: JSONRPCMessage) -> tuple[ParameterHeader, ...]:
        """The parameters that *message* has to mirror."""
        name = called_tool(message)
        return () if name is None else self._headers.get(name) or ()

    def learn(self, result: Result) -> tuple[Result, list[ToolLeftOut], frozenset[str]]:
        """Take a page of a list of tools; give it without the bad ones, which those are, and the names of the rest."""
        good: list[Any] = []
        names: set[str] = set()
        bad: list[ToolLeftOut] = []
        for tool, name, schema in _tools(result):
            try:
                headers = parameter_headers(schema)
            except ToolHeaderError as error:
                bad.append(ToolLeftOut(name=name, detail=str(error)))
                self._headers.forget(name)
                continue
            good.append(tool)
            names.add(name)
            if headers:
                self._headers.remember(name, headers)
            else:
                self._headers.forget(name)
        return (_with_tools(result, good) if bad else result), bad, frozenset(names)


def _tools(result: Result) -> Iterator[tuple[Any, str, Any]]:
    """Each tool with its name and schema, read or as decoded JSON."""
    if isinstance(result, ListToolsResult):
        for tool in result.tools:
            yield tool, tool.name, tool.input_schema
    else:  # a gateway's
        tools: Any = cast(CustomResult, result).extra.get("tools")
        for raw in tools if is_array(tools) else ():
            schema: Any = raw.get("inputSchema") if is_object(raw) else None
            yield raw, str(raw.get("name")) if is_object(raw) else "", schema if is_object(schema) else {}


def _with_tools(result: Any, tools: list[Any]) -> Any:  # mypy knows no attrs class behind payload()
    changed: dict[str, Any] = {"tools": tools}
    if isinstance(result, CustomResult):
        changed = {"extra": {**result.extra, **changed}}
    return attrs.evolve(result, **changed)


@attrs.define(eq=False)
class Refresh:
    """The tools are being listed anew, since a call was refused for its headers.

    Attributes:
        handle: the request for the page that is missing.
        seen: the names of the tools on the pages so far.
        cursors: the pages that were asked for.
    """

    handle: AnyHandle
    seen: set[str] = attrs.field(factory=set[str])
    cursors: set[str] = attrs.field(factory=set[str])

    def next_cursor(self, result: Result) -> str | None:
        """Where the list goes on after a page, unless that is where it has been before."""
        cursor: Any = result.next_cursor if isinstance(result, ListToolsResult) else result.extra.get("nextCursor")
        if not isinstance(cursor, str) or cursor in self.cursors or len(self.cursors) >= _PAGES:
            return None
        self.cursors.add(cursor)
        return cursor
