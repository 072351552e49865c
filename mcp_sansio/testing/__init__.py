"""Hypothesis strategies for MCP: payloads, messages and lines of any revision, made from the library's own tables.

What they make is valid by the schema of the revision and shrinks to the smallest message. A test of a server that must
survive whatever a client may say::

    from hypothesis import given
    from mcp_sansio import Side
    from mcp_sansio.testing import messages

    @given(messages(Side.CLIENT, "2025-11-25"))
    def test_server_survives(message):
        assert my_server.receive(message) is not None

With ``unknown=True`` they also make what a peer of a later revision might send, and which every receiver has to bear:
members, values of enums and content blocks that the revision doesn't know.

Needs hypothesis, which comes with an extra: ``pip install 'mcp_sansio[testing]'``.
"""

from __future__ import annotations

try:
    from ._messages import errors, lines, messages, notifications, requests, results
    from ._payloads import ids, json_objects, json_values, payloads
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ImportError("mcp_sansio.testing needs hypothesis: pip install 'mcp_sansio[testing]'") from error

__all__ = [
    "errors",
    "ids",
    "json_objects",
    "json_values",
    "lines",
    "messages",
    "notifications",
    "payloads",
    "requests",
    "results",
]
