"""The relay: copies an agent's stdout and stderr from two pipes into files, until both pipes end.

It is a process of its own session, without a terminal, and no signal but KILL ends it. So it outlives the
monitor, and the agent never writes into a pipe without a reader. If the relay is killed, the monitor does the
same work in a thread.

The monitor sends `?` to ask for what is in the pipes now, and `p` with 8 bytes to say which process group a
rule has paused (0: none). If the monitor ends without a word, the relay continues that group. The relay
reports one fact per line: `stdout TEXT`, `stderr TEXT` and `times TEXT` are faults of a file, sent before the
file is cut; `eof` is the end of the agent's stdout; `copied` answers the monitor; `end` is the last line.
"""

from __future__ import annotations

import os
import select
import time

from agentwatch.base.clock import now_ms
from agentwatch.recording.appender import BURST_BYTES, PIPE_BYTES, READ_BYTES, Appender, TimesFile


def take_name(name: bytes) -> None:
    """Linux only. The name has at most 15 bytes."""
    try:
        with open("/proc/self/comm", "wb") as comm:
            comm.write(name)
    except OSError:
        return


_GATHER_SECONDS = 0.01
"""The pause after a small read. At 350 lines/s, each of them written alone, it saves two of three times."""
PAUSE = b"p"
GROUP_BYTES = 8
_READABLE = select.POLLIN | select.POLLHUP | select.POLLERR


class Relay:
    def __init__(self, fds: tuple[int, ...], epoch_ns: int | None = None, *, continues: bool = False) -> None:
        """`fds` are those of the pipes of stdout and stderr, of requests and reports, of the recording, its
        arrival times, and the file of stderr. `epoch_ns` is None in the monitor's process. If it `continues`,
        another relay has copied the beginning."""
        stdout_fd, stderr_fd, self._request_fd, self._report_fd, recording_fd, times_fd, errors_fd = fds
        self._times = TimesFile(times_fd)
        self._recording_fd = recording_fd
        self._stdout_fd = stdout_fd
        self._has_reported_times = False
        self._paused = 0
        """The process group that the monitor has paused; 0 for none."""
        self._files = {
            stdout_fd: Appender(
                recording_fd,
                self._times,
                lambda: now_ms(epoch_ns),
                lambda fault: self._report(f"stdout {fault.strerror}"),
                continues=continues,
            ),
            stderr_fd: Appender(
                errors_fd,
                None,
                lambda: now_ms(epoch_ns),
                lambda fault: self._report(f"stderr {fault.strerror}"),
                continues=continues,
            ),
        }
        self._poller = select.poll()
        for fd in (stdout_fd, stderr_fd, self._request_fd):
            self._poller.register(fd, select.POLLIN)

    def run(self) -> None:
        while self._files:
            ready = [fd for fd, event in self._poller.poll() if event & _READABLE]
            most = max([self._copy(fd) for fd in ready if fd in self._files], default=BURST_BYTES)
            if self._request_fd in ready:
                self._answer()
            elif most < BURST_BYTES and self._files:
                time.sleep(_GATHER_SECONDS)
        self._report("end")

    def _copy(self, fd: int) -> int:
        try:
            data = os.read(fd, READ_BYTES)
        except OSError as error:
            self._report(f"{'stdout' if fd == self._stdout_fd else 'stderr'} {error.strerror}")
            data = b""
        if not data:
            self._end(fd)
            return 0
        self._files[fd].append(data)
        self._report_times()
        return len(data)

    def _end(self, fd: int) -> None:
        self._files.pop(fd).note_gap()
        self._poller.unregister(fd)
        self._report_times()
        if fd == self._stdout_fd:
            self._release()
            self._report("eof")

    def _release(self) -> None:
        """Release the disk space that the monitor has reserved beyond the end of the recording."""
        try:
            os.ftruncate(self._recording_fd, os.fstat(self._recording_fd).st_size)
        except OSError:
            return

    def _answer(self) -> None:
        """Copy all that the pipes hold now, which is at most the size of their buffers; or note a pause."""
        try:
            request = os.read(self._request_fd, 1)
            if request == PAUSE:
                self._paused = int.from_bytes(os.read(self._request_fd, GROUP_BYTES), "big")
                return
        except OSError:  # without requests, the agent is still copied to its end
            request = b""
        if not request:  # the monitor has ended
            self._poller.unregister(self._request_fd)
            self._resume()
            return
        for fd in list(self._files):
            left, poller = PIPE_BYTES, select.poll()
            poller.register(fd, select.POLLIN)
            while left > 0 and fd in self._files and poller.poll(0):
                left -= self._copy(fd)
        self._report("copied")

    def _resume(self) -> None:
        """Continue a paused agent, because nobody else can do so any more."""
        import _signal  # type: ignore[import-not-found] # `signal` imports `enum`, which takes 2 ms

        try:
            if self._paused:
                os.killpg(self._paused, _signal.SIGCONT)
        except OSError:  # it has ended
            return

    def _report_times(self) -> None:
        if self._times.fault is not None and not self._has_reported_times:
            self._has_reported_times = True
            self._report(f"times {self._times.fault.strerror}")

    def _report(self, words: str) -> None:
        try:
            os.write(self._report_fd, f"{words}\n".encode())
        except OSError:  # the monitor has ended
            return


def main(arguments: list[str]) -> None:
    """`arguments` are the clock of the monitor, then the descriptors."""
    take_name(b"agentwatch-pipe")
    ignore_signals()
    epoch_ns, *fds = map(int, arguments)
    Relay(tuple(fds), epoch_ns).run()


def ignore_signals() -> None:
    """All that can be ignored and may end this process."""
    import _signal

    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGTSTP", "SIGUSR1", "SIGUSR2", "SIGXFSZ"):
        _signal.signal(getattr(_signal, name), _signal.SIG_IGN)
