"""Every JSON message in the pages of the specification is read and written back as it stands."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_sansio import ALL_REVISIONS, MessageError, Side, parse_message, serialize_message
from mcp_sansio.spec import CORE

from .samples import META

SCHEMAS = os.environ.get("MCP_SCHEMA_DIR")
PAGES = Path(SCHEMAS or "", "..", "docs", "specification")
WITHOUT_ID = {"2024-11-05", "2025-03-26"}
"""Revisions whose page on pagination shows a request that lacks its id."""

pytestmark = pytest.mark.skipif(
    SCHEMAS is None or not PAGES.exists(),
    reason="set MCP_SCHEMA_DIR to the folder `schema` of a checkout of modelcontextprotocol/modelcontextprotocol",
)


def messages(revision: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The messages in the pages of a revision, with the page that each stands on."""
    for page in sorted((PAGES / revision).rglob("*.mdx")):
        for block in re.findall(r"```json[^\n]*\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL):
            try:
                value = json.loads(block)
            except ValueError:
                continue  # an example with comments or omissions
            if isinstance(value, dict) and value.get("jsonrpc") == "2.0":
                yield str(page.relative_to(PAGES)), value


@pytest.mark.parametrize("revision", ALL_REVISIONS)
def test_every_message_on_the_pages_is_read_and_written_back(revision: str) -> None:
    asked, seen = "", 0
    for page, value in messages(revision):
        method = value.get("method")
        senders = [side for side in Side if CORE.method(side, method or asked, revision)] or [Side.CLIENT]
        sender = senders[0] if method else senders[0].other
        if method and "id" in value:
            asked = method
            if revision == "2026-07-28":  # for brevity, most examples leave it out
                params = value.setdefault("params", {})
                params["_meta"] = {**META, **params.get("_meta", {})}
        try:
            message = parse_message(json.dumps(value), revision=revision, sender=sender, answering=asked)
        except MessageError as error:
            assert error.rules == ("RPC-008",), (page, value)
            assert revision in WITHOUT_ID
            continue
        assert json.loads(serialize_message(message, revision=revision)) == value, page
        seen += 1
    assert seen > 30
