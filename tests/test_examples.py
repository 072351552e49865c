"""The example client and the example server: with each other, and with peers that misbehave."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time

import pytest

import mcp_sansio as mcp
from mcp_sansio import types as t

from .driving import EXAMPLES, MEGABYTE, SERVER, Recorder, listed, stdio_client


def text_of(result: t.CallToolResult) -> str:
    """The text of a tool's result."""
    (content,) = result.content
    assert isinstance(content, t.TextContent)
    return content.text


def python(code: str) -> list[str]:
    """The command of a server that is this code."""
    return [sys.executable, "-c", textwrap.dedent(code)]


# With each other


@pytest.mark.parametrize("revision", mcp.ALL_REVISIONS)
def test_each_revision(revision: str, capfd: pytest.CaptureFixture[str]) -> None:
    connection = mcp.ClientConnection(t.Implementation("test", "1"), revisions=[revision])
    with Recorder(SERVER, connection=connection) as client:
        assert client.connection.revision == revision
        assert listed(client, "tools") == ["add", "echo"]
        assert listed(client, "resources") == ["cities"]
        assert listed(client, "resource_templates") == ["city"]
        assert listed(client, "prompts") == ["describe"]
        assert text_of(client.request(t.CallToolRequest("add", {"a": 1, "b": 2}))) == "3"
        assert text_of(client.request(t.CallToolRequest("echo", {"text": MEGABYTE}))) == MEGABYTE
        for arguments in ({"a": "1", "b": 2}, {"a": True, "b": 2}, {}, None):
            bad = client.request(t.CallToolRequest("add", arguments))
            assert (bad.is_error, text_of(bad)) == (True, "a and b must be numbers")
        (contents,) = client.request(t.ReadResourceRequest("memo://city/oslo")).contents
        assert contents == t.TextResourceContents("memo://city/oslo", "Oslo lies on a fjord.", "text/plain")
        (message,) = client.request(t.GetPromptRequest("describe", {"city": "Oslo"})).messages
        assert message.content == t.TextContent("Describe Oslo.")
        completed = client.request(t.CompleteRequest(t.PromptReference("describe"), t.CompletionArgument("city", "o")))
        assert completed.completion.values == ["oslo"]

        missing = mcp.ErrorCode.INVALID_PARAMS if revision in mcp.MODERN_REVISIONS else mcp.ErrorCode.RESOURCE_NOT_FOUND
        assert client.refusal(t.ReadResourceRequest("memo://none")).code == missing
        assert client.refusal(t.CallToolRequest("none")) == mcp.Error(-32602, "Unknown tool: none")
        assert client.refusal(t.GetPromptRequest("describe")).code == mcp.ErrorCode.INVALID_PARAMS
        assert client.refusal(t.CustomRequest("none/such")).code == mcp.ErrorCode.METHOD_NOT_FOUND
        client.end()
    assert client.violations == []
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("era", "revision"), [("auto", "2026-07-28"), ("legacy", "2025-11-25"), ("modern", "2026-07-28")]
)
def test_each_era(era: str, revision: str) -> None:
    with stdio_client.StdioClient(SERVER, era) as client:
        assert client.connection.revision == revision
    assert client.process.returncode == 0
    assert not any(thread.is_alive() for thread in client._threads)


def test_the_client_lists_everything() -> None:
    command = [sys.executable, str(EXAMPLES / "stdio_client.py"), *SERVER]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1:] == [
        "tools: add, echo",
        "resources: cities",
        "resource_templates: city",
        "prompts: describe",
    ]


# The server


def server_answers(data: bytes, command: list[str] = SERVER) -> tuple[list[dict[str, object]], str]:
    """What the server writes when these bytes are all it gets, and its log."""
    done = subprocess.run(command, input=data, capture_output=True, check=True, timeout=20)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def legacy_session(*calls: tuple[int, str, dict[str, object]]) -> bytes:
    """The bytes of a client that calls tools."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = [
        {"id": 0, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        *({"id": i, "method": "tools/call", "params": {"name": n, "arguments": a}} for i, n, a in calls),
    ]
    return b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)


def test_the_server_answers_what_it_owes_when_its_input_ends() -> None:
    data = legacy_session((1, "add", {"a": 1, "b": 1}), (2, "echo", {"text": MEGABYTE}), (3, "add", {"a": 2, "b": 2}))
    answers, log = server_answers(data[:-1])
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3]
    assert log == "MUST LIB-004: every message ends with a newline\n"


def test_a_bug_in_a_tool_is_no_ones_business_but_ours() -> None:
    command = python(f"""
        import sys; sys.path.insert(0, {str(EXAMPLES)!r})
        import stdio_server
        def buggy():
            print("a print in a handler")
            raise KeyError("secret")
        stdio_server.TOOLS["buggy"] = (buggy, stdio_server.schema())
        stdio_server.main()
    """)
    answers, log = server_answers(legacy_session((1, "buggy", {}), (2, "echo", {"text": "on we go"})), command)
    assert answers[1] == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "Internal error"}}
    assert answers[2]["id"] == 2
    assert "result" in answers[2]
    assert "a print in a handler" in log
    assert "KeyError: 'secret'" in log


def test_a_result_that_json_cannot_hold_is_an_internal_error() -> None:
    answers, log = server_answers(legacy_session((1, "echo", {"text": "\ud800"}), (2, "add", {"a": 1e308, "b": 1e308})))
    assert [answer.get("id") for answer in answers] == [0, None, 2]
    assert "FRAME-001" in log


# The client


QUIET = python("import sys; sys.stdin.buffer.read()")
"""Never answers."""

TALKS = f"import sys; sys.path.insert(0, {str(EXAMPLES)!r}); import stdio_server as s\n"


def test_a_silent_server_times_out_and_is_gone() -> None:
    client = Recorder(QUIET)
    client.timeout, client.grace = 0.2, 20.0
    with pytest.raises(ConnectionError, match="did not answer"), client:
        pass
    assert client.process.returncode == 0


def test_a_server_that_exits_at_once() -> None:
    client = Recorder(python("raise SystemExit(3)"))
    with pytest.raises(ConnectionError, match="closed its output"), client:
        pass
    assert client.process.returncode == 3


def test_no_such_command() -> None:
    with pytest.raises(FileNotFoundError), Recorder(["/no/such/command"]):
        pass


def test_a_request_that_times_out_is_cancelled_and_the_next_one_served(capfd: pytest.CaptureFixture[str]) -> None:
    slow = TALKS + "import time; s.TOOLS['slow'] = (lambda: time.sleep(0.5) or 'late', s.schema()); s.main()"
    with Recorder(python(slow)) as client:
        with pytest.raises(TimeoutError):
            client.request(t.CallToolRequest("slow"), timeout=0.1)
        assert text_of(client.request(t.CallToolRequest("echo", {"text": "hello"}))) == "hello"
        client.end()
    late = [event for event in client.events if isinstance(event, mcp.ResponseIgnored)]
    assert [event.reason for event in late] == [mcp.UnexpectedReason.LATE]
    assert client.violations == []
    assert capfd.readouterr().err == ""


def test_a_server_that_dies_in_a_request() -> None:
    dies = TALKS + "import os; s.TOOLS['die'] = (lambda: os._exit(1), s.schema()); s.main()"
    with Recorder(python(dies)) as client:
        with pytest.raises(ConnectionError, match="tools/call"):
            client.request(t.CallToolRequest("die"))
        with pytest.raises(mcp.LocalProtocolError, match="closed"):
            client.request(t.CallToolRequest("echo"))
    assert client.process.returncode == 1


def test_a_flood_on_stderr_blocks_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    loud = TALKS + "s.TOOLS['shout'] = (lambda: print('y' * 2**20) or 'done', s.schema()); s.main()"
    with Recorder(python(loud)) as client:
        assert text_of(client.request(t.CallToolRequest("shout"))) == "done"
    assert len(capfd.readouterr().err) == 2**20 + 1


def test_a_server_that_stops_reading_cannot_hold_us_up() -> None:
    deaf = TALKS + "import time; s.TOOLS['sleep'] = (lambda: time.sleep(60) or '', s.schema()); s.main()"
    client = Recorder(python(deaf))
    client.grace = 1.0
    started = time.monotonic()
    with client:
        for request in (t.CallToolRequest("sleep"), t.CallToolRequest("echo", {"text": MEGABYTE})):
            with pytest.raises(TimeoutError):
                client.request(request, timeout=0.2)
    assert time.monotonic() - started < 20
    assert client.process.returncode == -15


def test_a_server_that_ignores_the_end_and_sigterm_is_killed() -> None:
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + TALKS + "s.main(); time.sleep(60)"
    )
    client = Recorder(python(stubborn))
    client.grace = 0.2
    with client:
        assert listed(client, "tools")
    assert client.process.returncode == -9


def test_requests_of_the_server_are_answered_politely() -> None:
    asks = """
        import json, sys
        def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
        hello = json.loads(sys.stdin.readline())
        say(id=hello["id"], result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                                    "serverInfo": {"name": "asks", "version": "1"}})
        sys.stdin.readline()
        say(id=1, method="ping")
        say(id="2", method="roots/list")
        say(method="notifications/tools/list_changed")
        answers = [json.loads(sys.stdin.readline()) for _ in range(3)]
        request = next(a for a in answers if "method" in a)
        say(id=request["id"], result={"tools": [], "answers": [a for a in answers if a is not request]})
    """
    with Recorder(python(asks), "legacy") as client:
        answers = {a["id"]: a for a in client.request(t.ListToolsRequest()).extra["answers"]}
        assert answers[1] == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert answers["2"]["error"]["code"] == mcp.ErrorCode.METHOD_NOT_FOUND
    assert {violation.rule for violation in client.violations} == {"CAP-001"}
