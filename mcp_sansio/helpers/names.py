"""Which names are well formed, and which belong to the protocol.

The ``..._fault`` functions say in a few words what is wrong with a name, or None. What they say never repeats the name.
Letters are ASCII letters, and names match exactly: nothing is folded.
"""

from __future__ import annotations

import re

from ..spec import LATEST_MODERN

__all__ = ["extension_id_fault", "is_reserved_meta_key", "meta_key_fault", "tool_name_fault"]

_LABEL = re.compile(r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?")
_KEY_NAME = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]*")

_MCP_LABELS = frozenset({"modelcontextprotocol", "mcp"})
_BARE_KEYS: dict[str, str] = {
    "progressToken": "2024-11-05",
    "traceparent": "2026-07-28",
    "tracestate": "2026-07-28",
    "baggage": "2026-07-28",
}
"""Reserved keys without a prefix, and since which revision."""


def _split(key: str) -> tuple[str | None, str]:
    """The prefix, None where there is none, and the name."""
    before, slash, after = key.partition("/")
    return (before, after) if slash else (None, key)


def meta_key_fault(key: str) -> str | None:
    """What is wrong with the form of a ``_meta`` key; None: nothing.

    Source: page basic/index#_meta of 2025-06-18, 2025-11-25 and 2026-07-28, which say the same. (The older revisions
    don't restrict keys.) By its letter the name may be empty, after a prefix and without one.
    """
    prefix, name = _split(key)
    if prefix is not None and not all(map(_LABEL.fullmatch, prefix.split("."))):
        return (
            "the prefix is not a series of labels, separated by dots, that start with a letter, end with a letter or"
            " digit, and have letters, digits or hyphens in between"
        )
    if not _KEY_NAME.fullmatch(name):
        return (
            "the name does not begin and end with a letter or digit, with only letters, digits, hyphens, underscores"
            " and dots in between"
        )
    return None


def is_reserved_meta_key(key: str, *, revision: str = LATEST_MODERN) -> bool:
    """Whether a ``_meta`` key belongs to the protocol or its official extensions, so that nobody else may define it.

    Source: page basic/index#_meta. A prefix is reserved from 2025-11-25 on if its second label is
    ``modelcontextprotocol`` or ``mcp`` (``io.modelcontextprotocol/``, ``com.mcp.tools/``); in 2025-06-18 if any label
    but the last is (``mcp.dev/``, ``api.modelcontextprotocol.org/``); before, none is. Without a prefix,
    ``progressToken`` is always reserved (schema, ``RequestParams``), and from 2026-07-28 on ``traceparent``,
    ``tracestate`` and ``baggage`` are.
    """
    prefix, name = _split(key)
    if prefix is None:
        return name in _BARE_KEYS and _BARE_KEYS[name] <= revision
    labels = prefix.split(".")
    if revision >= "2025-11-25":
        return not _MCP_LABELS.isdisjoint(labels[1:2])
    return revision >= "2025-06-18" and not _MCP_LABELS.isdisjoint(labels[:-1])


def extension_id_fault(identifier: str) -> str | None:
    """What is wrong with the form of an extension's identifier; None: nothing.

    Source: 2026-07-28, page basic/versioning#extension-negotiation: as a ``_meta`` key, "with a mandatory prefix".
    """
    if "/" not in identifier:
        return "there is no prefix, such as com.example/"
    return meta_key_fault(identifier)


def tool_name_fault(name: str) -> str | None:
    """What is wrong with a tool's name; None: nothing.

    Source: page server/tools#tool-names, from 2025-11-25 on. All of it is SHOULD, so warn, don't refuse: a client meets
    other names too. Names "SHOULD be unique within a server" and differ by case.
    """
    if not 1 <= len(name) <= 128:
        return "the name has not 1 to 128 characters"
    if not _TOOL_NAME.fullmatch(name):
        return "the name has other characters than A-Z, a-z, 0-9, underscore, hyphen and dot"
    return None
