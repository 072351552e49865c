"""`mcp-sansio tap` between real processes: nothing is lost or changed, however the two sides end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from mcp_sansio import Side
from mcp_sansio.recording import Chunk, Ended, Record, read_record

from .driving import PEERS, npm_peers
from .recordings import make
from .test_peers import OFFICIAL_CLIENT, expected, got

resource = pytest.importorskip("resource", reason="signals, limits and shells are POSIX's")

CLIENT, SERVER = Side.CLIENT, Side.SERVER
PATIENCE = 30.0
"""Seconds for what should happen soon: only a failure takes so long."""


def shell(script: str) -> list[str]:
    """A server of a few words."""
    return ["sh", "-c", script]


def python(script: str) -> list[str]:
    """A server of a few more."""
    return [sys.executable, "-c", f"import os, sys, time\n{script}"]


class Tapped:
    """A client's view of a server with a tap before it."""

    def __init__(self, file: Path, command: list[str], **options: Any) -> None:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen([*make.TAP, str(file), "--", *command], bufsize=0, **{**pipes, **options})

    def send(self, data: bytes) -> None:
        """Write it all."""
        pipe = self.process.stdin
        assert pipe is not None
        while data:
            data = data[pipe.write(data) :]

    def receive(self, size: int) -> bytes:
        """Read just so many bytes, less only at the end."""
        pipe = self.process.stdout
        assert pipe is not None
        found = b""
        while len(found) < size and (data := pipe.read(size - len(found))):
            found += data
        return found

    def line(self) -> bytes:
        """Read a line."""
        line = b""
        while not line.endswith(b"\n") and (byte := self.receive(1)):
            line += byte
        return line

    def close_input(self) -> None:
        """Say no more."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> tuple[bytes, str, int]:
        """What is still to come from stdout and stderr, and the exit status."""
        if self.process.stdin is not None and self.process.stdin.closed:
            self.process.stdin = None
        out, err = self.process.communicate(timeout=PATIENCE)
        return out, (err or b"").decode(), self.process.returncode


def records(file: Path) -> list[Record]:
    """A recording so far."""
    return [read_record(line) for line in file.read_bytes().split(b"\n")[:-1]]


def recorded(file: Path, sender: Side) -> bytes:
    """The recorded bytes of one side."""
    return b"".join(r.data for r in records(file) if isinstance(r, Chunk) and r.sender is sender)


def endings(file: Path) -> list[str]:
    """Who ended how, in this order."""
    return [f"{record.sender.value} {record.event}" for record in records(file) if isinstance(record, Ended)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the recording goes."""
    return tmp_path / "server.jsonl"


@contextmanager
def tapped(file: Path, command: list[str], **options: Any) -> Iterator[Tapped]:
    """A tap that is gone in the end."""
    tap = Tapped(file, command, **options)
    try:
        yield tap
    finally:
        tap.process.kill()
        for pipe in (tap.process.stdin, tap.process.stdout, tap.process.stderr):
            if pipe is not None:
                pipe.close()
        tap.process.wait()


def wait_until(true: Callable[[], bool]) -> None:
    """Wait until it is true."""
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with suppress(OSError):  # Linux: what nobody has waited for yet
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return True


# What passes


@pytest.mark.parametrize("seed", range(2))
def test_every_byte_passes_unchanged_and_is_recorded(file: Path, seed: int) -> None:
    chance = random.Random(seed)
    sent = [chance.randbytes(int(10 ** chance.uniform(0, 5.5))) for _ in range(12)]
    sent.insert(6, "å∫𝄞".encode() * 50_000)
    with tapped(file, ["cat"]) as tap:
        thread = Thread(target=lambda: [*map(tap.send, sent), tap.close_input()])
        thread.start()
        received = b"".join(iter(lambda: tap.receive(chance.randint(1, 200_000)), b""))
        thread.join()
        assert received == b"".join(sent)
        assert tap.end() == (b"", "", 0)
        assert recorded(file, CLIENT) == recorded(file, SERVER) == received
        assert endings(file) == ["client eof", "server eof", "server exit"]


def test_it_passes_at_once(file: Path) -> None:
    with tapped(file, ["cat"]) as tap:
        for byte in b"no line, no buffer":
            tap.send(bytes([byte]))
            assert tap.receive(1) == bytes([byte])
        tap.close_input()
        assert tap.end() == (b"", "", 0)
        senders = [record.sender.value for record in records(file) if isinstance(record, Chunk)]
        assert senders == ["client", "server"] * 18
        times = [record.t for record in records(file) if record.t is not None]
        assert (len(times), times) == (36 + 3, sorted(times))


def test_streams_that_do_not_block(file: Path) -> None:
    (in_read, in_write), (out_read, out_write) = os.pipe(), os.pipe()
    os.set_blocking(in_read, False)
    os.set_blocking(out_write, False)
    with tapped(file, ["cat"], stdin=in_read, stdout=out_write), open(in_write, "wb") as sink:
        os.close(in_read)
        os.close(out_write)
        with open(out_read, "rb") as source:
            for size in (1, 300_000, 2):
                time.sleep(0.1)
                thread = Thread(target=lambda data: (sink.write(data), sink.flush()), args=(b"x" * size,))
                thread.start()
                time.sleep(0.1)
                assert source.read(size) == b"x" * size
                thread.join()


def test_stderr_and_other_files_are_the_servers(file: Path) -> None:
    theirs, ours = os.pipe()
    server = python(f"for number, text in (1, b'out'), (2, b'err'), ({ours}, b'other'): os.write(number, text)")
    with tapped(file, server, pass_fds=[ours]) as tap:
        assert tap.end() == (b"out", "err", 0)
        assert os.read(theirs, 100) == b"other"
        assert recorded(file, SERVER) == b"out"
    os.close(theirs)
    os.close(ours)


def test_a_slow_reader_slows_the_writer(file: Path) -> None:
    size = 3_000_000
    with tapped(file, python(f"sys.stdout.write('x' * {size})")) as tap:
        assert tap.receive(1) == b"x"
        time.sleep(0.3)
        assert len(recorded(file, SERVER)) < 300_000
        assert len(tap.end()[0]) == size - 1
        assert len(recorded(file, SERVER)) == size


# How it ends


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (shell("exit 7"), 7),
        (shell("kill -KILL $$"), 128 + signal.SIGKILL),
        (["/no/such/command"], 127),
        ([str(PEERS)], 126),
    ],
    ids=["7", "killed", "missing", "a folder"],
)
def test_the_exit_status(file: Path, command: list[str], status: int) -> None:
    with tapped(file, command) as tap:
        out, err, got = tap.end()
        assert (out, got) == (b"", status)
        if status in (126, 127):
            assert err.startswith(f"mcp-sansio tap: cannot start {command[0]}: ")
            assert not file.exists()
        else:
            assert err == ""


def test_what_is_in_the_pipe_when_the_server_exits_passes(file: Path) -> None:
    with tapped(file, python("os.write(1, b'%8d' % os.getpid() + b'x' * 150_000); os._exit(3)")) as tap:
        pid = int(tap.receive(8))
        wait_until(lambda: not is_alive(pid))
        assert tap.end() == (b"x" * 150_000, "", 3)


def test_a_server_that_closes_its_output_still_hears(file: Path) -> None:
    with tapped(file, shell("echo out; exec >&-; cat >&2")) as tap:
        assert tap.receive(10) == b"out\n"  # up to the end
        tap.send(b"still here")
        tap.close_input()
        assert tap.end() == (b"", "still here", 0)
        assert endings(file) == ["server eof", "client eof", "server exit"]


def test_a_server_that_closes_its_input_still_speaks(file: Path) -> None:
    server = python("os.close(0); print('deaf', flush=True); time.sleep(0.5); print('but not dumb')")
    with tapped(file, server) as tap:
        assert tap.line() == b"deaf\n"
        with pytest.raises(BrokenPipeError):
            tap.send(b"can you hear me?" * 2**20)
        assert tap.receive(100) == b"but not dumb\n"
        assert tap.end() == (b"", "", 0)


def test_a_client_that_reads_no_more(file: Path) -> None:
    with tapped(file, shell("exec yes")) as tap:
        assert tap.receive(2) == b"y\n"
        assert tap.process.stdout is not None
        tap.process.stdout.close()
        assert tap.process.wait(PATIENCE) == 128 + signal.SIGPIPE
        assert endings(file) == ["server exit"]


def test_a_client_that_vanishes(file: Path) -> None:
    client = python(
        "import subprocess\n"
        "pipes = dict.fromkeys(('stdin', 'stdout'), subprocess.PIPE)\n"
        "tap = subprocess.Popen(sys.argv[1:], bufsize=0, **pipes)\n"
        "tap.stdin.write(b'hello')\n"
        "print(tap.pid, tap.stdout.readline().decode(), flush=True)\n"
        "time.sleep(300)"
    )
    server = shell("echo $$; cat >/dev/null; echo bye; exec yes")
    command = [*client, *make.TAP, str(file), "--", *server]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        wait_until(lambda: recorded(file, CLIENT) == b"hello")
        process.kill()
    wait_until(lambda: not any(map(is_alive, pids)))
    assert endings(file) == ["client eof", "server exit"]
    assert recorded(file, SERVER).startswith(f"{pids[1]}\nbye\n".encode())


def test_what_keeps_the_output_open_does_not_keep_us(file: Path) -> None:
    with tapped(file, shell("sleep 300 & echo $!; exit 3")) as tap:
        pid = int(tap.line())
        assert tap.process.wait(PATIENCE) == 3
        assert is_alive(pid)
        os.kill(pid, signal.SIGKILL)
        assert endings(file) == ["server exit"]


def test_what_keeps_the_output_open_is_heard_out(file: Path) -> None:
    with tapped(file, shell("for n in 1 2 3 4 5 6; do sleep 0.2; echo $n; done & echo 0; exit 3")) as tap:
        assert tap.end() == (b"0\n1\n2\n3\n4\n5\n6\n", "", 3)
        assert endings(file) == ["client eof", "server eof", "server exit"]


@pytest.mark.parametrize("closed", [{0}, {1}, {0, 1, 2}], ids=["input", "output", "all"])
def test_standard_streams_that_are_closed(file: Path, closed: set[int]) -> None:
    pipes = {name: None for number, name in enumerate(("stdin", "stdout", "stderr")) if number in closed}
    server = shell("cat; echo out; echo err >&2")
    with tapped(file, server, preexec_fn=lambda: [*map(os.close, closed)], **pipes) as tap:
        out, err, _ = tap.end()
    assert (out or b"") == (b"" if 1 in closed else b"out\n")
    assert err == ("" if 2 in closed else "err\n")
    assert recorded(file, SERVER) == b"out\n"
    assert endings(file) == ["client eof", "server eof", "server exit"]


# Signals


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP"])
def test_signals_are_forwarded(file: Path, name: str) -> None:
    number = getattr(signal, f"SIG{name}")

    def heed() -> None:
        signal.signal(number, signal.SIG_DFL)  # shells start what is in the background with SIGINT ignored

    server = shell(f"trap 'echo {name}; exit 5' {name}; echo $$; while :; do sleep 0.05; done")
    with tapped(file, server, preexec_fn=heed) as tap:
        pid = int(tap.line())
        tap.process.send_signal(number)
        assert tap.end() == (f"{name}\n".encode(), "", 5)
        assert not is_alive(pid)


def test_what_was_ignored_stays_ignored(file: Path) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with tapped(file, shell("echo; read x; kill -HUP $$; echo alive"), preexec_fn=ignore) as tap:
        tap.line()
        tap.process.send_signal(signal.SIGHUP)
        tap.send(b"\n")
        assert tap.end() == (b"alive\n", "", 0)


def test_a_signal_before_the_servers_start_is_for_it(file: Path) -> None:
    code = (
        "import os; from mcp_sansio.cli import main, tap; start = tap._start\n"
        "tap._start = lambda command: (os.kill(os.getpid(), 15), start(command))[1]; main()"
    )
    command = [sys.executable, "-c", code, "tap", str(file), "--", *shell("exec sleep 300")]
    assert subprocess.run(command, timeout=PATIENCE, check=False).returncode == 128 + signal.SIGTERM
    assert endings(file)[-1] == "server exit"


def test_a_signal_after_the_servers_end_ends_the_tap(file: Path) -> None:
    with tapped(file, python("os.write(1, b'%8d' % os.getpid() + b'x' * 150_000); os._exit(3)")) as tap:
        pid = int(tap.receive(8))
        wait_until(lambda: not is_alive(pid))
        time.sleep(0.2)
        assert tap.process.poll() is None  # nobody reads
        tap.process.terminate()
        assert tap.process.wait(PATIENCE) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's help is needed")
def test_who_kills_the_tap_kills_the_server(file: Path) -> None:
    with tapped(file, shell("trap '' TERM INT HUP; echo $$; while :; do sleep 0.05; done")) as tap:
        pid = int(tap.line())
        tap.process.terminate()
        tap.send(b"hello")
        wait_until(lambda: recorded(file, CLIENT) == b"hello")
        assert is_alive(pid)
        tap.process.kill()
        wait_until(lambda: not is_alive(pid))
        assert recorded(file, SERVER) == f"{pid}\n".encode()


# The recording


def test_two_at_once(file: Path) -> None:
    other = file.with_name("server-2.jsonl")
    with tapped(file, ["cat"]) as one, tapped(file, ["cat"]) as two:
        one.send(b"one")
        two.send(b"two")
        assert (one.receive(3), two.receive(3)) == (b"one", b"two")
        said = [err for _, err, _ in (one.end(), two.end())]
    note = f"mcp-sansio tap: somebody else records to {file}; this is recorded to {other}\n"
    assert sorted(said) == ["", note]
    assert sorted(recorded(name, SERVER) for name in (file, other)) == [b"one", b"two"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_one_after_the_other(file: Path) -> None:
    file.write_bytes(b"something older\n" * 1000)
    with tapped(file, ["cat"]) as tap:
        tap.send(b"new")
        assert tap.end() == (b"new", "", 0)
    assert recorded(file, SERVER) == b"new"


def small_files() -> None:
    """Let no file be longer than 500 bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))


def test_a_recording_that_cannot_go_on_ends_with_a_whole_line(file: Path) -> None:
    with tapped(file, ["cat"], preexec_fn=small_files) as tap:
        for _ in range(20):
            tap.send(b"twenty bytes of text")
            assert tap.receive(20) == b"twenty bytes of text"
        said = "mcp-sansio tap: recording ends here: File too large; the conversation goes on\n"
        assert tap.end() == (b"", said, 0)
    assert file.read_bytes().endswith(b"\n")
    assert 440 < file.stat().st_size <= 500
    assert {record.data for record in records(file) if isinstance(record, Chunk)} == {b"twenty bytes of text"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("/dev/full", "recording ends here: No space left on device; the conversation goes on"),
        ("/no/such/x", "cannot record to /no/such/x: No such file or directory; the conversation goes on"),
    ],
)
def test_a_file_that_cannot_be_written(name: str, said: str) -> None:
    if name.startswith("/dev") and not Path(name).exists():
        pytest.skip("there is no such device")
    with tapped(Path(name), ["cat"]) as tap:
        for word in (b"one", b"two"):
            tap.send(word)
            assert tap.receive(3) == word
        assert tap.end() == (b"", f"mcp-sansio tap: {said}\n", 0)


# Real clients, real servers


def messages(file: Path) -> list[dict[str, Any]]:
    """All messages of a recording that is whole."""
    assert endings(file) == ["client eof", "server eof", "server exit"]
    assert isinstance(records(file)[-1], Ended)
    return [json.loads(line) for side in Side for line in recorded(file, side).splitlines()]


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_official_clients_notice_nothing(file: Path, language: str) -> None:
    if language == "python":
        client = [*OFFICIAL_CLIENT, "legacy"]
    else:
        client = ["node", str(PEERS / "ts_client.mjs"), str(npm_peers() / "sdk")]
    assert got([*client, *make.TAP, str(file), "--"]) == expected("2025-11-25")
    assert all(message["jsonrpc"] == "2.0" for message in messages(file))


def test_a_recording_is_made_again(file: Path) -> None:
    saw = json.loads(make.record("python-mcpserver-modern", file))
    assert saw["tools"] == ["add", "length"]
    assert [saw[call] for call in saw if call.startswith("add ")] == [False, True]
    methods = [m["method"] for m in messages(file) if "method" in m]
    assert methods == [m["method"] for m in messages(make.FOLDER / "python-mcpserver-modern.jsonl") if "method" in m]


def test_the_recordings_are_those_that_can_be_made() -> None:
    assert {file.stem for file in make.FOLDER.glob("*.jsonl")} == set(make.RECORDINGS)


@pytest.mark.parametrize("name", make.RECORDINGS)
def test_the_recordings_are_whole(name: str) -> None:
    methods = {message.get("method") for message in messages(make.FOLDER / f"{name}.jsonl")}
    assert ("initialize" in methods) is not name.endswith("modern")
    assert ("server/discover" in methods) is name.endswith(("modern", "fallback"))
