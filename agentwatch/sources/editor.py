"""Copies both directions between an editor and its agent byte for byte, and lets another process record them.
A piece is forwarded first. Its copy goes to the recorder through a pipe that is never waited for: if it is
full, copies are kept up to a limit, and later ones are left out. A recorder that was killed is replaced if it
had begun to record; one that cannot start would fail again. The agent has the stderr, the environment and the
process group of this process, as if the editor had started it. Few modules are imported, because each start
of the agent waits for them.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # `signal` imports `enum`, which takes 2 ms
import _thread  # `threading` takes 5 ms
import errno
import os
import select
import sys
from collections import deque

from agentwatch.base.clock import now_ms
from agentwatch.recording.appender import PIPE_BYTES, enlarge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_READ_BYTES = 1 << 18
_PATIENCE_MS = 200
"""How long the recorder waits for the first line of the agent, which its own start would slow down."""
_MOST_KEPT = 256 << 20
"""The most bytes of copies that are kept while the recorder does not read them."""
_FORWARDED = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_RECORDER = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from agentwatch.recording.recorder import main; main(sys.argv[2:])"
)
_MOST_PATH = 8192
_ENDED = b"\0"
"""The end of the report of a recorder that was not killed."""


class Agent:
    def __init__(self, command: Sequence[str]) -> None:
        if not command[0]:  # a ValueError of `posix_spawnp`
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        self.command = [*command]
        stdin_fd, self.sent_fd = os.pipe()
        self.wrote_fd, stdout_fd = os.pipe()
        self.exited_fd, self.exit_fd = os.pipe()
        """Both ends of a pipe that is closed when the agent has exited."""
        for fd in (0, 1, self.sent_fd, self.wrote_fd):
            enlarge(fd)
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)  # if it is ignored, exit codes are lost
        self.pid = os.posix_spawnp(
            command[0],
            self.command,
            {key: value for key, value in os.environ.items() if not key.startswith("AGENTWATCH_NATS_")},
            file_actions=[(os.POSIX_SPAWN_DUP2, stdin_fd, 0), (os.POSIX_SPAWN_DUP2, stdout_fd, 1)],
            setsigdef=[_signal.SIGPIPE, _signal.SIGXFSZ],
        )
        os.close(stdin_fd)
        os.close(stdout_fd)

    def copy(self) -> int:
        """Copy and record until the agent exits. Return its exit code, 128 + n if signal n ended it."""
        running = [self.pid]
        _forward_signals(running)
        tee = _Tee(self)
        codes: list[int] = []
        _thread.start_new_thread(_await_exit, (running, codes, self.exit_fd))
        _thread.start_new_thread(_send, (self.sent_fd, tee))
        _receive(self.wrote_fd, self.exited_fd, tee)
        tee.finish(codes[0])
        return codes[0]


class _Tee:
    """Hands copies of both directions to the recorder, without ever waiting for it."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._started_ms = now_ms()
        self._lock = _thread.allocate_lock()
        self._offsets = {b"w": 0, b"s": 0}
        self._taken: dict[bytes, tuple[int, memoryview]] = {}
        """The pieces that are being forwarded, in the order and with the time of their arrival."""
        self._kept: deque[memoryview] = deque()
        self._kept_bytes = 0
        self._path = b""
        self._fd = self._report_fd = self._frames_fd = -1
        self._open()

    def take(self, direction: bytes, data: memoryview) -> None:
        """Note a piece before it is forwarded: its answer must not be recorded before it. `direction` is `w`
        for what the agent wrote, `s` for what it was sent. The data must not change before `put`."""
        self._taken[direction] = now_ms(), data

    def put(self, direction: bytes) -> None:
        """Hand over a copy of the piece of a direction that was forwarded, or could not be."""
        with self._lock:
            for each in [*self._taken] if direction in self._taken else ():
                self._hand_over(each, *self._taken.pop(each))
                if each == direction:
                    break

    def finish(self, code: int) -> None:
        """A child of this process stays until the exit code of the agent is recorded."""
        self.start()
        with self._lock:
            end = b"".join(b"%s %d 0 0\n" % each for each in self._offsets.items())  # how much there was
            end += b"x %d %d 0\n" % (code, now_ms())
            self._put(end, memoryview(b""))
            try:
                is_child = self._fd >= 0 and os.fork() == 0
            except OSError:
                return
            if is_child:
                self._stay(end)
            self._fd = -1  # only the child writes

    def _stay(self, end: bytes) -> None:
        """Hand over all copies, wait until a recorder has written the end, and exit. `end` is how much there
        was, and the exit code, for a recorder that replaces a killed one."""
        try:
            os.setsid()
            for fd in (0, 1, 2, self._agent.sent_fd, self._agent.wrote_fd):
                _close(fd)
            os.set_blocking(self._fd, True)
            for piece in self._kept:
                _write(self._fd, piece)
            while self._fd >= 0:
                self._restart()
                self._put(end, memoryview(b""))
        finally:
            os._exit(0)

    def _hand_over(self, direction: bytes, at_ms: int, data: memoryview) -> None:
        offset = self._offsets[direction]
        self._offsets[direction] = offset + len(data)
        self._put(b"%s %d %d %d\n" % (direction, offset, at_ms, len(data)), data)

    def _put(self, header: bytes, data: memoryview) -> None:
        written = 0
        while self._fd >= 0 and not self._kept:
            try:
                written = os.writev(self._fd, (header, data))
            except BlockingIOError:
                pass
            except OSError:
                self._restart()
                continue
            if written == len(header) + len(data):
                return
            try:
                _thread.start_new_thread(self._flush, (self._fd,))
            except RuntimeError:  # there are too many threads: what is kept is handed over at the end
                break
            break
        if self._fd >= 0 and (not data or self._kept_bytes + len(data) <= _MOST_KEPT):  # the end always
            self._kept.append(memoryview(header + data)[written:])
            self._kept_bytes += len(self._kept[-1])

    def _flush(self, fd: int) -> None:
        while True:
            _await(fd, select.POLLOUT)
            with self._lock:
                if fd != self._fd or not self._kept:
                    return
                try:
                    written = os.write(fd, self._kept[0])
                except BlockingIOError:
                    continue
                except OSError:
                    self._restart()
                    return
                self._kept_bytes -= written
                self._kept[0] = self._kept[0][written:]
                if not self._kept[0]:
                    self._kept.popleft()

    def start(self) -> None:
        """Without a recorder, nothing is recorded."""
        with self._lock:
            self._start()

    def _restart(self) -> None:
        """Replace a killed recorder; record nothing more if it ended by itself, or before it had begun."""
        report = b""
        while data := os.read(self._report_fd, _MOST_PATH):
            report += data
        self._path = report
        os.close(self._report_fd)
        os.close(self._fd)
        self._kept.clear()
        self._kept_bytes, self._fd = 0, -1
        if report and not report.endswith(_ENDED):
            self._open()
            self._start()

    def _open(self) -> None:
        try:
            self._frames_fd, self._fd = os.pipe()
        except OSError:  # there are too many descriptors
            return
        enlarge(self._fd)
        os.set_blocking(self._fd, False)

    def _start(self) -> None:
        """Without a recorder, the pipe is closed."""
        if self._frames_fd < 0:
            return
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        process = str(self._started_ms), str(self._agent.pid), *self._agent.command
        try:
            self._report_fd, report_fd = os.pipe()
            try:
                os.posix_spawn(
                    sys.executable,
                    [sys.executable, "-I", "-c", _RECORDER, package, os.fsdecode(self._path), *process],
                    os.environ,
                    file_actions=[
                        (os.POSIX_SPAWN_DUP2, self._frames_fd, 0),
                        (os.POSIX_SPAWN_DUP2, report_fd, 1),
                    ],
                )
            finally:
                os.close(report_fd)
        except OSError:  # the interpreter does not exist, or a limit of the system is reached
            os.close(self._fd)
            self._fd = -1
        finally:
            os.close(self._frames_fd)
            self._frames_fd = -1


def _forward_signals(running: list[int]) -> None:
    def forward(number: int, _frame: object) -> None:
        for pid in running:
            try:
                os.kill(pid, number)
            except OSError:  # it has ended, or is one of another user
                return

    for name in _FORWARDED:
        _signal.signal(getattr(_signal, name), forward)


def _await_exit(running: list[int], codes: list[int], exit_fd: int) -> None:
    """After `waitpid` another process may get the id; Python has `waitid` on macOS only since 3.13."""
    pid = running[0]
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        running.clear()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    running.clear()
    codes.append(128 - code if code < 0 else code)
    os.close(exit_fd)


def _send(sent_fd: int, tee: _Tee) -> None:
    buffer = memoryview(bytearray(_READ_BYTES))
    is_open = True
    while is_open and (data := _read(0, buffer)):
        tee.take(b"s", data)
        is_open = _write(sent_fd, data)
        tee.put(b"s")
    for fd in (sent_fd, 0):
        _close(fd)


def _receive(wrote_fd: int, exited_fd: int, tee: _Tee) -> None:
    """Copy from the agent to the editor until it has exited and all that it wrote is copied."""
    buffer = memoryview(bytearray(_READ_BYTES))
    poller = select.poll()
    poller.register(wrote_fd, select.POLLIN)
    poller.register(exited_fd, select.POLLIN)
    is_open, left, patience = True, PIPE_BYTES, _PATIENCE_MS
    while True:
        ready = [fd for fd, _ in poller.poll(patience)]
        has_exited = exited_fd in ready
        if is_open and wrote_fd in ready and left > 0:
            data = _read(wrote_fd, buffer)
            if has_exited:  # only what the pipe held: a process that the agent left behind may write on
                left -= len(data)
            if data:
                tee.take(b"w", data)
            is_open = bool(data) and _write(1, data)
            tee.put(b"w")
            if not is_open:  # the other side gets the end of the file, or the broken pipe
                poller.unregister(wrote_fd)
                for fd in (wrote_fd, 1):
                    _close(fd)
        elif has_exited:
            return
        if patience >= 0:
            patience = -1
            tee.start()


def _read(fd: int, buffer: memoryview) -> memoryview:
    while True:
        try:
            return buffer[: os.readv(fd, [buffer])]
        except BlockingIOError:
            _await(fd, select.POLLIN)
        except OSError:  # a terminal or a socket that was closed
            return buffer[:0]


def _write(fd: int, data: memoryview) -> bool:
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
    """Nothing else gets its number."""
    null_fd = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_fd, fd)
    os.close(null_fd)
