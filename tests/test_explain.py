"""``mcp-sansio explain``: what it prints, its exit status, and that no file can do it harm."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from mcp_sansio import Level
from mcp_sansio.cli import explain as module
from mcp_sansio.cli.commands import commands
from mcp_sansio.cli.words import brief, plain, said
from mcp_sansio.recording import Chunk, Ended, Record, write_record

from .pair import INITIALIZED, error, initialize, modern, notification, request, result, tools_result
from .recorded import (
    CLIENT,
    GOOD,
    LATEST,
    MISTAKES,
    OVER,
    REAL,
    SERVER,
    called,
    client,
    discovered,
    judged,
    listed,
    opened,
    server,
)
from .test_diagnosis import COMPLAINING


def written(*records: Record) -> bytes:
    return b"".join(map(write_record, records))


def explained(data: bytes | list[Record], *options: str) -> Result:
    """What the command makes of a file."""
    given = data if isinstance(data, bytes) else written(*data)
    done = CliRunner().invoke(commands, ["explain", "-", *options], input=given)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def objects(data: bytes | list[Record], *options: str) -> list[Any]:
    return [json.loads(line) for line in explained(data, "--json", *options).stdout.splitlines()]


# JSON -----------------------------------------------------------------------------------------------------------------


def test_the_objects_are_as_the_format_says() -> None:
    records = [*opened(), listed()[0], server(tools_result("1", LATEST), b"hello\n"), *listed(2), *OVER]
    records += [client(INITIALIZED), server(error(None))]
    expected = [
        '{"record": 1, "from": "client", "event": "request", "id": "i", "method": "initialize", "violations": []}',
        '{"record": 2, "from": "server", "event": "result", "id": "i", "method": "initialize", "violations": []}',
        '{"record": 3, "from": "client", "event": "notification", "method": "notifications/initialized", '
        '"violations": []}',
        '{"record": 4, "from": "client", "event": "request", "id": 1, "method": "tools/list", "violations": []}',
        '{"record": 5, "from": "server", "event": "result", "id": "1", "violations": [{"rule": "RPC-002", '
        '"level": "MUST", "detail": "no request with the id \'1\' is in flight; 1 is, which is another type"}]}',
        '{"record": 5, "from": "server", "event": "invalid", "violations": [{"rule": "FRAME-001", "level": "MUST NOT", '
        '"detail": "not JSON: Expecting value at character 0"}]}',
        '{"record": 6, "from": "client", "event": "request", "id": 2, "method": "tools/list", "violations": []}',
        '{"record": 7, "from": "server", "event": "result", "id": 2, "method": "tools/list", "violations": []}',
        '{"record": 8, "from": "client", "event": "eof", "violations": []}',
        '{"record": 9, "from": "server", "event": "eof", "violations": []}',
        '{"record": 10, "from": "server", "event": "exit", "violations": []}',
        '{"record": 11, "from": "client", "event": "notification", "method": "notifications/initialized", '
        '"violations": [{"rule": "LIB-005", "level": "TEXT", "detail": "notifications/initialized is out of place in '
        "the phase 'operation'\"}]}",
        '{"record": 12, "from": "server", "event": "error", "violations": []}',
        '{"summary": {"revision": "2025-11-25", "records": 12, "messages": 9, "violations": '
        '{"MUST": 1, "MUST NOT": 1, "TEXT": 1}}}',
    ]
    assert explained(records, "--json").stdout.splitlines() == expected


def test_nothing_known_is_null() -> None:
    assert objects([]) == [{"summary": {"revision": None, "records": 0, "messages": 0, "violations": {}}}]


# Exit status ----------------------------------------------------------------------------------------------------------

BREAKING: dict[Level, list[Record]] = {
    Level.MUST: [*opened(), server(result(9))],
    Level.MUST_NOT: [*opened(), server(b"hello\n")],
    Level.JSONRPC: [*GOOD, called()[1]],
    Level.SHOULD: [*opened("2024-11-05", {}), client(request(1, "tools/list"))],
    Level.SHOULD_NOT: [client(initialize("i")), server(request(1, "roots/list"))],
    Level.TEXT: [*opened(), client(INITIALIZED)],
    Level.LIBRARY: [*opened("2025-03-26"), client([request(n, "ping") for n in range(300)])],
}


@pytest.mark.parametrize("level", Level)
def test_the_exit_status_tells_whether_a_must_is_broken(level: Level) -> None:
    done = explained(BREAKING[level])
    assert f"! {level.value} " in done.stdout
    assert done.exit_code == (1 if level in (Level.MUST, Level.MUST_NOT, Level.JSONRPC) else 0)
    assert objects(BREAKING[level])[-1]["summary"]["violations"] == {level.value: 1}


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_real_recordings_are_right(path: Path) -> None:
    done = CliRunner().invoke(commands, ["explain", str(path)])
    assert done.exit_code == 0
    assert "broken by the server: no rule" in done.stdout
    assert " ! " not in done.stdout


UNREADABLE = {
    b"hello": "line 4: a JSON object is expected",
    b"\xff\xfe": "line 4: ",
    b"[]": "line 4: a JSON object is expected, found an array",
    b'{"from":"me","text":""}': 'line 4: from must be "client" or "server", not "me"',
    b'{"from":"client"}': "line 4: exactly one of text, b64 and event is expected",
    b'{"from":"client","text":"a","t":"now"}': "line 4: t must be a finite number",
    b'{"from":"client","b64":"?"}': "line 4: b64 must be base64",
    b'{"from":"client","tex': "line 4: a JSON object is expected",
}


@pytest.mark.parametrize("line", UNREADABLE)
def test_what_is_no_recording_is_named_by_its_line(line: bytes) -> None:
    for options in ((), ("--json",)):
        done = explained(written(*opened()) + line + b"\n" + written(*listed()), *options)
        assert done.exit_code == 2
        assert UNREADABLE[line] in done.stderr
        assert "notifications/initialized" in done.stdout
        assert '"id": 1' not in done.stdout
        assert "(id 1)" not in done.stdout
        assert "2025-11-25" in done.stdout.splitlines()[-3 if not options else -1]


def test_a_first_line_that_is_no_record_gets_a_hint() -> None:
    done = explained(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        'mcp-sansio explain: -, line 1: from is missing: it must be "client" or "server"; for the raw bytes of one '
        "side say --from client or --from server\n"
    )


def test_blank_lines_are_no_records() -> None:
    assert objects(b"\n \n" + written(*opened()) + b"\r\n")[-1]["summary"]["records"] == 3


def test_lines_are_not_longer_than_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONGEST", 100)
    done = explained(written(server(b"hello\n"), server(b"x" * 200)))
    assert done.exit_code == 2
    assert "line 2: longer than 100 bytes" in done.stderr


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        done = CliRunner().invoke(commands, ["explain", str(path)])
        assert done.exit_code == 2
        assert path.name in done.stderr


def test_files_that_fail_while_they_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Failing(io.BytesIO):
        def readline(self, size: Any = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr("click.open_file", lambda *_: Failing())
    done = explained([])
    assert done.exit_code == 2
    assert "line 1: Input/output error" in done.stderr


# For a person ---------------------------------------------------------------------------------------------------------

PAGE = """\
    1     0.000 s  client -->  request initialize (id "i"): protocolVersion "2025-11-25", clientInfo
                               {"name": "peer", "version": "1.0"}, capabilities {}
    2     0.500 s  <-- server  result of initialize (id "i") after 0.500 s: protocolVersion
                               "2025-11-25", serverInfo {"name": "peer", "version": "1.0"},
                               capabilities {"tools": {}}
    3     0.600 s  client -->  notification notifications/initialized
    4     1.000 s  client -->  request tools/list (id 1)
    5              <-- server  result of an unknown request (id "1"): {"tools": []}
      ! MUST RPC-002, broken by the server: no request with the id '1' is in flight; 1 is, which is
        another type
        The rule: a response has the id, type and value, of a request.
        Where: https://modelcontextprotocol.io/specification/2025-11-25/basic#responses
        What to do: Answer what was asked, and copy its id as it stands: 1 stays a number, "1" a
                    string.
    6              <-- server  result of an unknown request (id "2")
      ! MUST RPC-002, broken by the server: no request with the id '2' is in flight (see record 5)
    7     9.000 s  client -->  closes its output
    8     9.500 s  <-- server  closes its output
    9     9.750 s  <-- server  its process ends

Diagnosis
  * ids that do not match: The server is at fault: it answers with ids that the client did not use
    (2 times, first in record 5): no request with the id '1' is in flight; 1 is, which is another
    type. So the client still waits. Copy the id of the request as it stands, its JSON type too.
  * requests never answered: The server ended without an answer to: tools/list (id 1, record 4,
    waited 8.500 s). Look at what it wrote to stderr; did it crash?

Summary
  revision 2025-11-25; 9 records, 6 messages
  broken by the client: no rule
  broken by the server: 2 MUST
"""
PAGED = [*opened(), listed()[0], server(tools_result("1", LATEST)), server(result("2")), *OVER]


def test_a_page_for_a_person() -> None:
    assert explained(PAGED).stdout == PAGE


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_terminal(records: list[Record]) -> str:
    """What a terminal gets."""
    screen = Terminal()
    page = module._Page(screen)
    judge, seen = judged(*records)
    for each in seen:
        page.show(each)
    page.conclude(judge.diagnoses(), judge.summary)
    return screen.getvalue()


def test_a_terminal_gets_colours_and_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TERM", "xterm"), ("COLUMNS", "100"), ("LINES", "25"), ("COLORTERM", "")):
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    told = on_terminal(PAGED)
    assert "\x1b[" in told
    assert re.sub(r"\x1b\[[0-9;]*m", "", told) == PAGE
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", on_terminal(PAGED)).splitlines())) < 100


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in explained(PAGED).stdout


@pytest.mark.parametrize("name", MISTAKES)
def test_every_mistake_is_told_with_its_remedy(name: str) -> None:
    records, expected = MISTAKES[name]
    done = explained(records)
    for rule, side in expected:
        if rule != "LIB-001":  # which has another limit here
            assert f" {rule}, broken by the {side.value}: " in done.stdout
    assert done.stdout.count("What to do: ") == len({pair for pair in expected if pair[0] != "LIB-001"})


@pytest.mark.parametrize("number", range(len(COMPLAINING)), ids=lambda number: COMPLAINING[number][0])
def test_every_complaint_is_told(number: int) -> None:
    name, records, _ = COMPLAINING[number]
    done = explained(records)
    assert f"  * {name}: " in done.stdout
    long = [line for line in done.stdout.splitlines() if len(line) > 100]
    assert not [line for line in long if " " in line.strip() and len(max(line.split(), key=len)) < 60]


WORDS: dict[str, tuple[Record, str]] = {
    "call": (called()[0], 'request tools/call (id 2): name "add"'),
    "result": (called()[1], 'result of an unknown request (id 2): {"content":'),
    "modern": (discovered()[0], 'server/discover (id "d"): protocolVersion "2026-07-28", clientInfo {"name": "peer"'),
    "no meta": (client(request(1, "server/discover")), "request server/discover (id 1)"),
    "error": (server(error(None, -32700, "bad")), 'error for an unknown request (id null): -32700 parse error: "bad"'),
    "odd error": (server(error(None, 77, "bad")), '(id null): 77: "bad"'),
    "progress": (
        server(notification("notifications/progress", {"progressToken": 7, "progress": 1})),
        'notification notifications/progress: {"progressToken": 7, "progress": 1}',
    ),
    "meant": (client(request(1, "ping") | {"jsonrpc": 2}), ", meant as request ping (id 1)"),
    "long": (server(b"y" * 500 + b"\n"), "no message: " + "y" * 160 + "..."),
}


@pytest.mark.parametrize("name", WORDS)
def test_what_messages_say(name: str) -> None:
    record, words = WORDS[name]
    _, (seen,) = judged(record)
    assert words in said(seen)


RESULTS: dict[str, tuple[str, Any, str]] = {
    "tools": (
        "tools/list",
        {"tools": [{"name": "a"}, 5], "nextCursor": "c"},
        '2 tools: "a", 5, and there are more pages',
    ),
    "many tools": (
        "tools/list",
        {"tools": [{"name": f"tool number {n}"} for n in range(99)]},
        '"tool number 8", "tool n...',
    ),
    "no tools": ("tools/list", {"tools": []}, "0 tools"),
    "no list": ("tools/list", {"tools": 5}, '{"tools": 5}'),
    "resources": ("resources/list", {"resources": [{"uri": "u"}]}, '1 resources: "u"'),
    "call": ("tools/call", {"content": [{"text": "3"}, {"data": ""}, 5]}, '"3", {"data": ""}, 5'),
    "failed": ("tools/call", {"content": [{"text": "3"}], "isError": True}, 'the tool failed: "3"'),
    "odd call": ("tools/call", {"content": 5}, '{"content": 5}'),
    "nothing": ("ping", {"_meta": {}}, "result of ping (id 1)"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_results_say(name: str) -> None:
    method, told, words = RESULTS[name]
    _, seen = judged(*opened(), client(request(1, method)), server(result(1, told)))
    assert said(seen[-1]).endswith(words)


def test_long_values_are_cut_soon() -> None:
    assert brief(["x" * 300]) == '["' + "x" * 158 + "..."
    assert brief(list(range(10**6)), 10) == "[0, 1, 2, ..."
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    assert brief(deep) == "[" * 160 + "..."


# One side's bytes, standard input -------------------------------------------------------------------------------------


def test_one_side_alone() -> None:
    data = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\nhello\n{"jsonrpc":"2.0","method":"x"}'
    told = objects(data, "--from", "client")
    assert [(each.get("record"), each.get("event")) for each in told[:-1]] == [
        (1, "request"),
        (2, "invalid"),
        (3, "notification"),
        (3, "eof"),
    ]
    assert told[-1]["summary"] == {
        "revision": None,
        "records": 3,
        "messages": 2,
        "violations": {"MUST": 1, "MUST NOT": 1},
    }
    assert "one side only" in explained(data, "--from", "client").stdout
    assert {each.get("from") for each in objects(data, "--from", "server")[:-1]} == {"server"}
    assert objects(b"", "--from", "server")[-1]["summary"]["records"] == 0
    long = b'{"jsonrpc":"2.0","method":"x","params":{"a":"' + b"a" * 200_000 + b'"}}\n'
    assert objects(long * 2, "--from", "server")[-1]["summary"] == {
        "revision": None,
        "records": 2,
        "messages": 2,
        "violations": {},
    }


def test_the_beginning_may_be_missing() -> None:
    cut = Chunk(SERVER, b'ools":[]}}\n')
    assert explained([cut, *listed()], "--partial").exit_code == 0
    assert explained([cut, *listed()]).exit_code == 1


def started(*options: str, **settings: Any) -> subprocess.Popen[bytes]:
    code = "from mcp_sansio.cli import main; main()"
    command = [sys.executable, "-c", code, "explain", *options]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **settings)


def stopped(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)


def closed(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()


@pytest.mark.parametrize("end", [stopped, closed])
@pytest.mark.parametrize("options", [("-",), ("-", "--json"), ("-", "--from", "server")])
def test_it_tells_at_once_what_it_reads(
    options: tuple[str, ...], end: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    raw = b'{"jsonrpc":"2.0","method":"vendor/ping"}\n'
    with started(*options) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):
            process.stdin.write(raw if "--from" in options else written(server(raw)))
            process.stdin.flush()
            assert b"ping" in process.stdout.readline()
        end(process)
        assert b"ummary" in process.stdout.read()
    assert process.returncode == 0


def test_output_that_cannot_hold_a_character_gets_an_escape() -> None:
    with started("-", env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path(__file__).parent.parent)}) as process:
        told, _ = process.communicate(written(server("grüße 你\n".encode())))
    assert b"gr\\xfc\\xdfe \\u4f60" in told
    assert process.returncode == 1


def test_its_help_says_what_counts() -> None:
    told = " ".join(CliRunner().invoke(commands, ["explain", "--help"]).stdout.split())
    for words in ("The exit status is 0", "JSONRPC counts as a MUST", "SHOULD, SHOULD NOT, TEXT", "--partial"):
        assert words in told


# Nothing in the file can do harm --------------------------------------------------------------------------------------

HOSTILE = "\x1b[2J\x1b]0;x\x07\u202e\u2028\x85\x00\r[bold]\\[/]{x}%s" + "z" * 500


def test_hostile_text_is_shown_escaped() -> None:
    tool = {"name": HOSTILE, "inputSchema": {"type": "object"}}
    records: list[Record] = [
        client(initialize(HOSTILE, HOSTILE, clientInfo={"name": HOSTILE, "version": HOSTILE})),
        server(error(HOSTILE, -32603, HOSTILE, data={"supported": [HOSTILE]})),
        *opened(),
        *listed(HOSTILE, tool),
        *listed(5, {**tool, "title": HOSTILE}),
        *called(6, HOSTILE + "!", fails=True),
        client(request(HOSTILE + "?", HOSTILE), modern("m", HOSTILE)),
        server(notification(HOSTILE, {HOSTILE: HOSTILE})),
        server(HOSTILE.replace("\r", "").encode() + b"\n"),
        server({"jsonrpc": HOSTILE, "method": HOSTILE}),
        *OVER,
    ]
    page = explained(records).stdout
    assert "[bold]" in page
    for told in (page, explained(records, "--json").stdout, re.sub(r"\x1b\[[0-9;]*m", "", on_terminal(records))):
        assert told.replace("\n", "").isprintable()
        assert len(told) < 40_000


def test_plain_text() -> None:
    assert plain("a\x1b\n\x85\u202e\ud800 é 你") == "a\\x1b\\n\\x85\\u202e\\ud800 é 你"


anything = st.binary(max_size=200) | st.builds(
    lambda records, tail: written(*records) + tail,
    st.lists(
        st.builds(Chunk, st.sampled_from([CLIENT, SERVER]), st.binary(max_size=40), st.none() | st.floats(0, 1e300))
        | st.builds(Ended, st.sampled_from([CLIENT, SERVER]), st.sampled_from(["eof", "exit"])),
        max_size=5,
    ),
    st.binary(max_size=10),
)
options = st.lists(st.sampled_from(["--json", "--partial"]), unique=True)


@given(anything, options)
def test_any_file_is_explained_or_refused(data: bytes, options: list[str]) -> None:
    done = explained(data, *options)
    assert done.exit_code in (0, 1, 2)
    assert (done.exit_code == 2) == bool(done.stderr)


@given(st.binary(max_size=300), options, st.sampled_from(["client", "server"]))
def test_any_bytes_of_one_side_are_explained(data: bytes, options: list[str], side: str) -> None:
    assert explained(data, "--from", side, *options).exit_code in (0, 1)
