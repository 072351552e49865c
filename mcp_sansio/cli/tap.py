"""Stand between a client and the server that it starts, pass everything on, and record it.

Two threads move bytes, each in one direction: read what there is, record it, write it, and only then read on. So
nothing is held back, a slow reader slows the writer as it would without us, and no answer is recorded before what it
answers. Where a side has closed its end of a pipe, we close ours of the other pipe, and so the other side learns it.

The server stays in our process group: who kills the group, as the official Python SDK does, kills it too. (So Ctrl-C in
a terminal reaches it twice: from the terminal, and forwarded.)
"""

from __future__ import annotations

import os
import select
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock, Thread
from time import monotonic
from types import FrameType

from ..recording import Recorder
from ..spec import Side

if sys.platform != "win32":
    import fcntl

__all__ = ["tap"]

_CHUNK = 65536
"""How many bytes are read at once at most: what a pipe holds."""

_SILENCE = 1.0
"""When a server has exited and something holds its output open, it is over after so many seconds without a byte. Less
than the two that the official SDKs wait before they terminate a server."""

_TICK = 0.05
"""How often we look, in seconds, while such a silence lasts."""

_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")

if sys.platform == "linux":
    import ctypes

    _LIBC = ctypes.CDLL(None)
    _PR_SET_PDEATHSIG = 1  # from <sys/prctl.h>

    def _die_with_parent() -> None:
        """Have the kernel kill this process when its parent dies, as by a SIGKILL, which can't be forwarded."""
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

else:
    _die_with_parent = None


def tap(file: str, command: Sequence[str]) -> int:
    """Run a server with its input and output recorded, until it has ended and all that it wrote is passed on.

    Args:
        file: the recording's name.
        command: the server and its arguments.

    Returns:
        The server's exit status as a shell has it: 128 and the signal's number where one killed it, 127 where there is
        no such command, 126 where it can't be started.
    """
    null = _open_null()
    signals = _Signals()
    try:
        server = _start(command)
    except OSError as error:
        _say(f"cannot start {command[0]}: {error.strerror}")
        return 127 if isinstance(error, FileNotFoundError) else 126
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        signals.forward_to(server)
        recording = _Recording(file)
        to_server = _Pump(Side.CLIENT, 0, server.stdin.fileno(), null, recording)
        to_client = _Pump(Side.SERVER, server.stdout.fileno(), 1, null, recording)
        to_server.start()
        to_client.start()
        status = server.wait()
        exited = monotonic()
        while to_client.is_alive() and not signals.come_too_late and not to_client.ended_in_silence(exited):
            to_client.join(_TICK)
        recording.exit(exited)
    finally:
        server.kill()  # nothing where it has ended, as it has unless we failed
    return status if status >= 0 else 128 - status


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start the server. But for its input and output it has what we have from the client: stderr, other files."""
    return subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        close_fds=False,  # ours aren't inherited
        preexec_fn=_die_with_parent,
    )


class _Signals:
    """Signals that are meant for the server. Those that were ignored when we started stay so, here and there."""

    def __init__(self) -> None:
        self.come_too_late = False
        """Whether one came after the server's end: it's us who should end."""
        self._server: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        for name in _SIGNALS:
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._receive)

    def forward_to(self, server: subprocess.Popen[bytes]) -> None:
        """Forward from now on, and what came before."""
        self._server = server
        for number in self._early:
            self._receive(number, None)

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self._server is None:
            self._early.append(number)
        elif self._server.returncode is not None:
            self.come_too_late = True
        elif sys.platform != "win32":  # where the console sends Ctrl-C to the server itself
            self._server.send_signal(number)


class _Pump(Thread):
    """Passes on what one side sends."""

    def __init__(self, sender: Side, source: int, sink: int, null: int, recording: _Recording) -> None:
        super().__init__(daemon=True)
        self._sender, self._source, self._sink, self._null = sender, source, sink, null
        self._recording = recording
        self._moving = Lock()
        self._moved = 0.0

    def run(self) -> None:
        more = True
        while more:
            _wait_readable(self._source, None)
            with self._moving:
                more = self._move()
                self._moved = monotonic()

    def ended_in_silence(self, since: float) -> bool:
        """Whether nothing has come for a while, nor since then. If so, nothing more is passed on."""
        if not self._moving.acquire(blocking=False):
            return False
        quiet = monotonic() - max(since, self._moved)
        if quiet > _SILENCE and not _wait_readable(self._source, 0):
            return True
        self._moving.release()
        return False

    def _move(self) -> bool:
        """Pass on what there is. False: the sender has closed its output, or nobody reads it."""
        data = _read(self._source)
        if data:
            self._recording.data(self._sender, data)
            with suppress(OSError):
                _write(self._sink, data)
                return True
        else:
            self._recording.eof(self._sender)
        for descriptor in (self._source, self._sink):
            os.dup2(self._null, descriptor)  # closes it, without freeing its number for another file
        return False


class _Recording:
    """The file, in whole lines. If it can't be written, that is said once, and the conversation goes on without."""

    def __init__(self, file: str) -> None:
        self._lock = Lock()
        self._recorder = Recorder()
        self._size = 0
        self._descriptor: int | None = None
        try:
            self._descriptor = _open(file)
        except OSError as error:
            _say(f"cannot record to {file}: {error.strerror}; the conversation goes on")

    def data(self, sender: Side, data: bytes) -> None:
        """Record what a side sent."""
        with self._lock:
            self._add(self._recorder.data(sender, data, monotonic()))

    def eof(self, sender: Side) -> None:
        """Record that a side closed its output."""
        with self._lock:
            self._add(self._recorder.eof(sender, monotonic()))

    def exit(self, t: float) -> None:
        """Record that the server's process has ended, and nothing after it."""
        with self._lock:
            self._add(self._recorder.exit(t))
            self._descriptor = None

    def _add(self, line: bytes) -> None:
        if self._descriptor is None:
            return
        try:
            _write(self._descriptor, line)
            self._size += len(line)
        except OSError as error:
            with suppress(OSError):  # what is no regular file has no size
                os.ftruncate(self._descriptor, self._size)
            self._descriptor = None
            _say(f"recording ends here: {error.strerror}; the conversation goes on")


def _open(file: str) -> int:
    """Open a recording, emptied; under another name if somebody else records to it."""
    stem, extension = os.path.splitext(file)
    name, number = file, 1
    while True:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        if not is_regular or _lock(descriptor):
            break
        os.close(descriptor)
        number += 1
        name = f"{stem}-{number}{extension}"
    if is_regular:
        os.ftruncate(descriptor, 0)
    if name != file:
        _say(f"somebody else records to {file}; this is recorded to {name}")
    return descriptor


def _lock(descriptor: int) -> bool:
    """Lock a file for as long as we run; False if it's locked."""
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # some network file systems have no locks
    return True


def _open_null() -> int:
    """Open the null device, and once more for each closed standard stream, lest another file be taken for that."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    return descriptor


def _wait_readable(descriptor: int, milliseconds: int | None) -> bool:
    """Wait for something to read, or the end. True on Windows, which can't tell: there it's reading that waits."""
    if sys.platform == "win32":
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(milliseconds))


def _read(descriptor: int) -> bytes:
    """What there is, nothing at the end. A connection that was reset has ended, too."""
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""


def _write(descriptor: int, data: bytes) -> None:
    """Write all of it. It may take long; OSError where it can't be written."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # whoever shares the descriptor with us made it so
            select.select([], [descriptor], [])


def _say(text: str) -> None:
    with suppress(OSError):
        os.write(2, f"mcp-sansio tap: {text}\n".encode(errors="backslashreplace"))
