"""The benchmarks run, and what they compare does the same."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("mcp")
pytest.importorskip("orjson")

from benchmarks import ours, sdk
from benchmarks.__main__ import main
from benchmarks.messages import MESSAGES, Message
from mcp_sansio import STDLIB
from mcp_sansio.codec import ORJSON


def test_every_row_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    starts = [message.name for message in MESSAGES]
    starts += [*starts, "legacy", "modern, beside mcp legacy", "modern, beside mcp modern", "import "]
    starts += ["16 MB", "256 KB", "idle, 2025-11-25", "idle, 2026-07-28"]
    rows = iter(lines)
    for start in starts:
        assert any(line.startswith(start) for line in rows), start


def test_the_figures_come_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick", "--json", "--only", "memory"])
    found = json.loads(capsys.readouterr().out)
    assert found["about"]["mcp"]
    assert list(found["tables"]) == ["memory"]
    assert all(row["unit"] == "bytes" and row["values"]["client"] > 0 for row in found["tables"]["memory"])


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.name)
def test_all_ways_write_the_same(message: Message) -> None:
    for encode in (ours.encoder(message, STDLIB), ours.encoder(message, ORJSON), sdk.encoder(message)):
        assert json.loads(encode()) == message.value
