"""Stands between an editor and its agent: copies both directions byte for byte, and another process records them.

A piece is forwarded first. Its copy is then handed to the recorder through a pipe that is never waited for: if
the pipe is full, copies are kept up to a limit, and later ones are left out. A recorder that was killed is
replaced. Whatever happens to it, the editor and the agent have the bytes.

The agent has the stderr, the environment and the process group of this process, as if the editor had started
it. Few modules are imported, because each start of the editor's agent waits for them.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # `signal` imports `enum`, which takes 2 ms
import _thread  # `threading` takes 5 ms
import os
import select
import sys
import time
from collections import deque
from itertools import count

from agentwatch.recording.appender import PIPE_BYTES, enlarge, now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_KEPT = 64 << 20
"""The copies that are kept while the recorder does not read them, in bytes."""
_MOST_RECORDERS = 100
_FLUSH_SECONDS = 1.0
"""How long the end of this process waits for the recorder to read the last copies."""
_FORWARDED = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_RECORDER = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from agentwatch.recording.recorder import main; main(sys.argv[2:])"
)
_MOST_PATH = 8192
_OTHER = {b"w": b"s", b"s": b"w"}
_NEVER = float("inf")
_NOTHING = _NEVER, 0, memoryview(b"")


class _Tee:
    """Hands copies of both directions to the recorder, without ever waiting for it."""

    def __init__(self, command: Sequence[str], pid: int) -> None:
        """Start the recorder.

        Args:
            command: The command of the agent.
            pid: The process id of the agent.
        """
        self._process = (str(now_ms()), str(pid), *command)
        self._lock = _thread.allocate_lock()
        self._offsets = dict.fromkeys(_OTHER, 0)
        self._count = count()
        self._taken: dict[bytes, tuple[float, int, memoryview]] = {}
        """The pieces that are being forwarded: their order, their time of arrival, and the bytes."""
        self._kept: deque[memoryview] = deque()
        self._kept_bytes = 0
        self._recorders = self._pid = 0
        self._path = b""
        self._fd = self._report_fd = -1
        self._start()

    def take(self, direction: bytes, data: memoryview) -> None:
        """Note a piece before it is forwarded: its answer must not be recorded before it.

        Args:
            direction: `w` for what the agent wrote, `s` for what it was sent.
            data: The bytes. They must not change before `put`.
        """
        self._taken[direction] = next(self._count), now_ms(), data

    def put(self, direction: bytes) -> None:
        """Hand over a copy of the piece of a direction that was forwarded."""
        with self._lock:
            order, at_ms, data = self._taken.pop(direction, _NOTHING)
            other, other_ms, other_data = self._taken.get(_OTHER[direction], _NOTHING)
            if other < order:
                del self._taken[_OTHER[direction]]
                self._hand_over(_OTHER[direction], other_ms, other_data)
            if order < _NEVER:
                self._hand_over(direction, at_ms, data)

    def drop(self, direction: bytes) -> None:
        """Forget the piece of a direction that could not be forwarded."""
        with self._lock:
            self._taken.pop(direction, None)

    def finish(self, code: int) -> None:
        """Hand over the exit code of the agent, and wait at most 1 s until the recorder has everything."""
        with self._lock:
            self._put(b"x %d %d 0\n" % (code, now_ms()), memoryview(b""))
        deadline = time.monotonic() + _FLUSH_SECONDS
        while self._kept and time.monotonic() < deadline:
            time.sleep(0.005)

    def _hand_over(self, direction: bytes, at_ms: int, data: memoryview) -> None:
        offset = self._offsets[direction]
        self._offsets[direction] = offset + len(data)
        self._put(b"%s %d %d %d\n" % (direction, offset, at_ms, len(data)), data)

    def _put(self, header: bytes, data: memoryview) -> None:
        if self._fd < 0 or self._kept_bytes + len(data) > _MOST_KEPT:
            return
        written = 0
        if not self._kept:
            try:
                written = os.writev(self._fd, (header, data))
            except BlockingIOError:
                pass
            except OSError:
                self._start()
                return
            if written == len(header) + len(data):
                return
            _thread.start_new_thread(self._flush, (self._fd,))
        rest = memoryview(header + data)[written:]
        self._kept.append(rest)
        self._kept_bytes += len(rest)

    def _flush(self, fd: int) -> None:
        """Hand over the copies that are kept."""
        poller = select.poll()
        poller.register(fd, select.POLLOUT)
        while True:
            poller.poll()
            with self._lock:
                if fd != self._fd or not self._kept:
                    return
                try:
                    written = os.write(fd, self._kept[0])
                except BlockingIOError:
                    continue
                except OSError:
                    self._start()
                    return
                self._kept_bytes -= written
                self._kept[0] = self._kept[0][written:]
                if not self._kept[0]:
                    self._kept.popleft()

    def _start(self) -> None:
        """Start a recorder, which continues the recording of one that was killed.

        Nothing more is recorded if the last one could not create its files, or if many were killed.
        """
        can_record = True
        if self._fd >= 0:
            self._path = self._path or _read_path(self._report_fd)
            os.close(self._report_fd)
            os.close(self._fd)
            can_record = bool(self._path) or _was_killed(self._pid)
        self._kept.clear()
        self._kept_bytes, self._fd = 0, -1
        self._recorders += 1
        if not can_record or self._recorders > _MOST_RECORDERS or not sys.executable:
            return
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        try:
            frames_fd, fd = os.pipe()
            self._report_fd, report_fd = os.pipe()
            self._pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-c", _RECORDER, package, os.fsdecode(self._path), *self._process],
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, frames_fd, 0), (os.POSIX_SPAWN_DUP2, report_fd, 1)],
            )
        except OSError:
            return
        os.close(frames_fd)
        os.close(report_fd)
        enlarge(fd)
        os.set_blocking(fd, False)
        os.set_blocking(self._report_fd, False)
        self._fd = fd


def _read_path(fd: int) -> bytes:
    try:
        return os.read(fd, _MOST_PATH)
    except OSError:
        return b""


def _was_killed(pid: int) -> bool:
    """Return whether a recorder that has ended was killed; it then has not found a reason to end."""
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def run(command: Sequence[str]) -> int:
    """Start an agent in place of this process, and copy and record both directions until it exits.

    Args:
        command: The command of the agent.

    Returns:
        The exit code of the agent, 128 + n if signal n ended it.

    Raises:
        OSError: The command does not exist or cannot be executed, or there are too few descriptors.
    """
    stdin_fd, sent_fd = os.pipe()
    wrote_fd, stdout_fd = os.pipe()
    exited_fd, exit_fd = os.pipe()
    for fd in (0, 1, sent_fd, wrote_fd):
        enlarge(fd)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("AGENTWATCH_NATS_")}
    pid = os.posix_spawnp(
        command[0],
        command,
        environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, stdin_fd, 0), (os.POSIX_SPAWN_DUP2, stdout_fd, 1)],
        setsigdef=[_signal.SIGPIPE, _signal.SIGXFSZ],
    )
    os.close(stdin_fd)
    os.close(stdout_fd)
    running = [pid]
    _forward_signals(running)
    tee = _Tee(command, pid)
    codes: list[int] = []
    _thread.start_new_thread(_await_exit, (running, codes, exit_fd))
    _thread.start_new_thread(_send, (sent_fd, tee))
    _receive(wrote_fd, exited_fd, tee)
    tee.finish(codes[0])
    return codes[0]


def _forward_signals(running: list[int]) -> None:
    def forward(number: int, _frame: object) -> None:
        for pid in running:
            os.kill(pid, number)

    for name in _FORWARDED:
        number = getattr(_signal, name)
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, forward)


def _await_exit(running: list[int], codes: list[int], exit_fd: int) -> None:
    """Wait until the agent has exited, and note its exit code. Its process id is free only after the wait."""
    pid = running[0]
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    running.clear()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    codes.append(128 - code if code < 0 else code)
    os.close(exit_fd)


def _send(sent_fd: int, tee: _Tee) -> None:
    """Copy from the editor to the agent until one of them closes its end."""
    buffer = memoryview(bytearray(PIPE_BYTES))
    while data := _read(0, buffer):
        tee.take(b"s", data)
        if not _write(sent_fd, data):
            tee.drop(b"s")
            break
        tee.put(b"s")
    os.close(sent_fd)
    _close(0)


def _receive(wrote_fd: int, exited_fd: int, tee: _Tee) -> None:
    """Copy from the agent to the editor until the agent has exited and all that it wrote is copied."""
    buffer = memoryview(bytearray(PIPE_BYTES))
    poller = select.poll()
    poller.register(wrote_fd, select.POLLIN)
    poller.register(exited_fd, select.POLLIN)
    is_open, left = True, PIPE_BYTES
    while True:
        ready = [fd for fd, _ in poller.poll()]
        if is_open and wrote_fd in ready and left > 0:
            data = _read(wrote_fd, buffer)
            if exited_fd in ready:  # only what the pipe held; a process that the agent left behind may write on
                left -= len(data)
            if data:
                tee.take(b"w", data)
            is_open = bool(data) and _write(1, data)
            tee.put(b"w")
            if not is_open:  # the other side gets the end of the file, or the broken pipe
                poller.unregister(wrote_fd)
                os.close(wrote_fd)
                _close(1)
        elif exited_fd in ready:
            _close(1)
            return


def _read(fd: int, buffer: memoryview) -> memoryview:
    """Return what can be read next; nothing at the end."""
    while True:
        try:
            return buffer[: os.readv(fd, [buffer])]
        except BlockingIOError:
            _await(fd, select.POLLIN)
        except OSError:  # a terminal or a socket that was closed
            return buffer[:0]


def _write(fd: int, data: memoryview) -> bool:
    """Write all bytes, and return whether that succeeded."""
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:
            _await(fd, select.POLLOUT)
        except OSError:  # nobody reads them any more
            return False
    return True


def _await(fd: int, event: int) -> None:
    poller = select.poll()
    poller.register(fd, event)
    poller.poll()


def _close(fd: int) -> None:
    """Close the editor's end of a direction; nothing else gets its number."""
    null_fd = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_fd, fd)
    os.close(null_fd)
