"""The command: what the demonstration shows, and what the command says without its extra."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest
from click.testing import CliRunner
from rich.console import Console

import mcp_sansio as mcp
from mcp_sansio.cli.commands import commands
from mcp_sansio.cli.demo import run
from mcp_sansio.cli.stage import Stage, elided, wrapped


def command(*arguments: str, before: str = "pass") -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    code = f"import sys; {before}; from mcp_sansio.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def shown(*, width: int, colours: bool) -> str:
    """The demonstration on a terminal."""
    screen = io.StringIO()
    system = "standard" if colours else None
    run(Stage(Console(file=screen, force_terminal=True, color_system=system, width=width, _environ={})))
    return screen.getvalue()


@pytest.fixture(scope="module")
def demo() -> str:
    """What ``mcp-sansio demo`` writes into a pipe."""
    done = command("demo")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_it_is_plain_text_that_fits_and_never_changes(demo: str) -> None:
    assert demo.isascii()
    assert "\x1b" not in demo
    assert max(map(len, demo.splitlines())) <= 100
    assert command("demo").stdout == demo
    assert CliRunner().invoke(commands, ["demo"]).output == demo


def test_it_shows_a_conversation_of_each_era(demo: str) -> None:
    legacy, modern = demo.split("A modern conversation")
    for line in (
        "  client.request(CallToolRequest(name='greet'))\n",
        '    --> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"greet"}}\n',
        "        server: RequestReceived(id=3, request=CallToolRequest(name='greet'), revision='2025-11-25')\n",
        "  server.respond(3, CallToolResult(content=[TextContent(text='Hello!')]))\n",
        '    <-- {"jsonrpc":"2.0","id":3,"result":{"content":[{"text":"Hello!","type":"text"}]}}\n',
        "        client: ResultReceived(id=3, result=CallToolResult(content=[TextContent(text='Hello!',\n",
    ):
        assert line in legacy
    assert "io.modelcontextprotocol/clientInfo" in modern


MISTAKES = {
    "Mistake 1": ["CAP-001", "CAP-002", "-32601", "raises CapabilityError: capability not declared"],
    "Mistake 2": ["-32022", "NegotiationFailed(reason=<FailureReason.NO_COMMON_VERSION", "raises LocalProtocolError"],
    "Mistake 3": ["LIFE-005", "raises LocalProtocolError: not connected"],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_it_shows_what_the_library_says_of_each_mistake(demo: str, mistake: str) -> None:
    part = demo[demo.index(mistake) :].partition("\nMistake")[0]
    text = " ".join(part.split())
    for words in MISTAKES[mistake]:
        assert words in text
        if words in mcp.RULES:
            rule = mcp.RULES[words]
            assert f"! {rule.level.value} {words}: " in text
            assert f"the rule ({rule.source}): {rule.text}" in text


def test_a_terminal_gets_colours_and_lines_that_fit(demo: str) -> None:
    assert "\x1b[36m" in shown(width=100, colours=True)
    assert shown(width=100, colours=False) == demo
    assert shown(width=200, colours=False) == demo
    assert max(map(len, shown(width=60, colours=False).splitlines())) <= 60


def test_a_message_loses_its_depths_first() -> None:
    line = json.dumps({"id": 1, "result": {"tools": [{"name": "x" * 40}], "empty": {}, "no": None}}).encode()
    assert elided(line, 1000) == line.decode().replace(" ", "")
    assert elided(line, 80) == '{"id":1,"result":{"tools":[...],"empty":{},"no":null}}'
    assert elided(line, 40) == '{"id":1,"result":...}'
    assert elided(line, 1) == '{"id":1,"result":...}'


def test_lines_end_where_they_can() -> None:
    assert wrapped("one, two, three", 9, ", ") == ["one, two,", "three"]
    assert wrapped("x" * 25, 10, ", ") == ["x" * 10, "x" * 10, "x" * 5]
    assert wrapped("", 10, ", ") == [""]


def test_long_events_are_cut() -> None:
    screen = io.StringIO()
    stage = Stage(Console(file=screen, width=100, _environ={}))
    stage.remark("word " * 200)
    lines = screen.getvalue().splitlines()
    assert len(lines) == 5
    assert lines[-1].endswith(" ...")
    assert len(lines[-1]) <= 100


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_its_extra_it_says_how_to_get_it(missing: str) -> None:
    done = command("demo", before=f"sys.modules[{missing!r}] = None")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"mcp-sansio needs {missing}, which comes with its extra: pip install 'mcp_sansio[cli]'\n"


def test_other_missing_modules_are_no_matter_of_the_extra() -> None:
    done = command("demo", before="sys.modules['attrs'] = None")
    assert "ModuleNotFoundError" in done.stderr


def test_it_is_loaded_only_when_run() -> None:
    code = "import sys, mcp_sansio.cli; assert not {'click', 'rich'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_help_and_version() -> None:
    assert "demo" in command("--help").stdout
    assert command("--version").stdout.startswith("mcp-sansio, version ")
