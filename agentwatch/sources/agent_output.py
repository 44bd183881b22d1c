"""How an agent's output reaches the recording: through a relay, or directly (`run --direct`)."""

from __future__ import annotations

import errno
import os
import select
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Protocol

from agentwatch.base.clock import epoch_ns, now_ms
from agentwatch.recording import relay
from agentwatch.recording.appender import enlarge, truncated
from agentwatch.recording.times import ArrivalTimes, WrittenTimes
from agentwatch.recording.write_lock import release

# On a full disk the relay loses output; without a relay the write fails in the agent, and a Node agent
# crashes. With 64 MiB reserved, that much more is recorded while the user sees a warning.

_RESERVED_BYTES = 64 << 20
_MIN_BYTES = 1 << 16
_KEEP_SIZE = 1
"""FALLOC_FL_KEEP_SIZE in linux/falloc.h: reserving does not change the size of the file."""


class Reserve:
    """Reserves disk space beyond the end of a growing file; Linux only, if the file system supports it."""

    def __init__(self, fd: int) -> None:
        self.fault: OSError | None = None
        """The disk is full, or nearly full."""
        self._fd = fd
        self._end = 0
        self._can_reserve = sys.platform == "linux"
        self.keep_ahead(0)

    def keep_ahead(self, size: int) -> None:
        """Reserve more space once half of the reservation is used up. `size` is in bytes."""
        if not self._can_reserve or size + _RESERVED_BYTES // 2 < self._end:
            return
        try:
            disk = os.fstatvfs(self._fd)
        except OSError:
            self._can_reserve = False
            return
        length = min(
            disk.f_bavail * disk.f_frsize // 2, _RESERVED_BYTES
        )  # the log and the arrival times need space too
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        error = _allocate(self._fd, size, length) if length >= _MIN_BYTES else full
        if error is None:
            self.fault, self._end = None, max(self._end, size + length)
        elif error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            self.fault = error
        else:
            self._can_reserve = False

    def is_used_up(self, size: int) -> bool:
        """Whether the disk is full and `size` bytes have used up the reservation: more bytes are lost."""
        return self.fault is not None and size >= self._end

    def forget(self) -> None:
        """Reserve again when the file grows: it was truncated, which releases what was reserved."""
        self._end = 0

    def release(self) -> None:
        """No process may still be writing the file."""
        if self._end:
            with suppress(OSError):
                os.ftruncate(self._fd, os.fstat(self._fd).st_size)


def _allocate(fd: int, offset: int, length: int) -> OSError | None:
    import ctypes  # takes 1.5 ms, and only a started agent needs it

    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (ctypes.c_int(fd), ctypes.c_int(_KEEP_SIZE), ctypes.c_int64(offset), ctypes.c_int64(length))
    if libc.fallocate(*arguments) == 0:
        return None
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))


_POLL_SECONDS = 0.01
_COMPARED_BYTES = 64
"""The bytes before the noted end that are compared, as an agent can erase the file and fill it again."""


class DirectOutput:
    """The recording and the file of stderr, written by the agent itself. The growth of the recording gets the
    present time every 10 ms. An agent that opens /dev/stdout again can erase it, which is then noticed."""

    def __init__(self, recording_fd: int, errors_fd: int, times: ArrivalTimes) -> None:
        self.stdout_fd = recording_fd
        self.stderr_fd = errors_fd
        self.size = 0
        self.stderr_fault: OSError | None = None
        self._times = times
        self._fault: OSError | None = None
        self._reserve = Reserve(recording_fd)
        self._last: bytes | None = b""
        """The last bytes of the recording as its size was noted."""

    @property
    def fault(self) -> OSError | None:
        """Why the recording is incomplete: it was erased, or the disk and its reserve are full."""
        if self._fault is None and self._reserve.is_used_up(self.size):
            return self._reserve.fault
        return self._fault

    @property
    def reserve_fault(self) -> OSError | None:
        return self._reserve.fault

    def begin(self) -> None:
        """Do nothing: this process reads the same files."""

    def advance(self) -> bool:
        time.sleep(_POLL_SECONDS)
        return self._note_growth()

    def is_complete(self) -> bool:
        """What was written is in the file already."""
        self._note_growth()
        return True

    def is_open(self) -> bool:
        """A file has no end that could be awaited."""
        return False

    def note_pause(self, group: int) -> None:
        """Do nothing: no process outlives this one and could continue the group."""

    def release(self) -> None:
        self._reserve.release()
        release(self.stdout_fd)

    def _note_growth(self) -> bool:
        before, size = self.size, os.fstat(self.stdout_fd).st_size
        kept = self._read_before(before)
        if size < before or (kept is not None and self._last is not None and kept != self._last):
            self._fault = truncated()
        if size != before:
            self.size = size
        self._last = kept if size == before else self._read_before(size)
        if size > before:
            self._times.note(before, now_ms())
            self._reserve.keep_ahead(size)
        return size > before

    def _read_before(self, end: int) -> bytes | None:
        start = max(end - _COMPARED_BYTES, 0)
        try:
            return os.pread(self.stdout_fd, end - start, start)
        except OSError:  # a disk error is reported by the readers of the recording
            return None


class Output(Protocol):
    """Where the stdout and stderr of an agent go, and how much of them has been recorded."""

    stdout_fd: int
    """The descriptor that becomes the agent's stdout."""
    stderr_fd: int
    """The descriptor that becomes the agent's stderr."""
    size: int
    """The bytes of the recording that have an arrival time."""
    stderr_fault: OSError | None
    """Why the file of stderr is incomplete."""

    @property
    def fault(self) -> OSError | None:
        """Why the recording is incomplete."""

    @property
    def reserve_fault(self) -> OSError | None:
        """Why no more disk space can be reserved ahead of the recording."""

    def begin(self) -> None:
        """Note that the agent has been started, or that it could not be."""

    def advance(self) -> bool:
        """Look for growth after a wait of at most 10 ms, and return whether the recording has grown."""

    def is_complete(self) -> bool:
        """Return whether all that was written before the first such call is recorded."""

    def is_open(self) -> bool:
        """Return whether a process is known to hold the agent's stdout still."""

    def note_pause(self, group: int) -> None:
        """Note which process group a rule has paused; 0 for none."""

    def release(self) -> None:
        """Release what was reserved for an agent that will not write any more."""


_READ_BYTES = 1 << 12
_START = (
    "import sys; sys.path.append(sys.argv[1]);"
    " from agentwatch.recording.relay import main; main(sys.argv[2:])"
)


class RelayedOutput:
    """Pipes to a relay, which is a process that outlives this one, and notes the arrival times. An agent that
    opens /dev/stdout again, or its stderr, gets the pipe and cannot erase what it has written. This process
    keeps the reading ends without reading them, so that the agent survives if the relay is killed."""

    def __init__(self, recording_fd: int, errors_fd: int, times: WrittenTimes) -> None:
        """Raise `OSError` if there are too few descriptors, or no process can be started."""
        self.size = 0
        self.stderr_fault: OSError | None = None
        self._fault: OSError | None = None
        self._is_eof = self._is_copied = self._is_asked = False
        self._recording_fd = recording_fd
        self._times = times
        self._heard = b""
        self._fds: list[int] = []
        try:
            stdout_fd, self.stdout_fd = self._pipe()
            stderr_fd, self.stderr_fd = self._pipe()
            request_fd, self._request_fd = self._pipe()
            self._report_fd, report_fd = self._pipe()
            for fd in (self._report_fd, report_fd):
                os.set_blocking(fd, False)  # neither process waits for the other
            enlarge(stdout_fd)
            self._relayed = (stdout_fd, stderr_fd, request_fd, report_fd, recording_fd, times.fd, errors_fd)
            process = _start(self._relayed)
        except OSError:
            for fd in self._fds:
                os.close(fd)
            raise
        threading.Thread(target=process.wait, name="relay", daemon=True).start()
        os.close(report_fd)
        os.close(request_fd)
        self.relay_pid = process.pid
        self._reports: int | None = self._report_fd
        self._poller = select.poll()
        self._poller.register(self._report_fd, select.POLLIN)
        self._reserve = Reserve(recording_fd)

    @property
    def fault(self) -> OSError | None:
        return self._fault

    @property
    def reserve_fault(self) -> OSError | None:
        return self._reserve.fault

    def begin(self) -> None:
        """Close the ends of the pipes that only the agent may hold."""
        os.close(self.stdout_fd)
        os.close(self.stderr_fd)

    def advance(self) -> bool:
        if self._reports is None:
            time.sleep(_POLL_SECONDS)
        else:
            self._poller.poll(_POLL_SECONDS * 1000)
        return self._note_growth()

    def is_complete(self) -> bool:
        if not self._is_asked and self._reports is not None:
            self._is_asked = True
            try:
                os.write(self._request_fd, b"?")
            except BrokenPipeError:  # the relay has ended; its last report is still to be read
                self._is_asked = False
        if self._is_copied or self._reports is None:
            self._note_growth()
            return True
        return False

    def is_open(self) -> bool:
        return not self._is_eof

    def note_pause(self, group: int) -> None:
        """Let the relay continue this process group if this process is killed; 0 for none."""
        with suppress(OSError):
            os.write(self._request_fd, relay.PAUSE + group.to_bytes(relay.GROUP_BYTES, "big"))

    def release(self) -> None:
        release(self._recording_fd)
        if self._is_eof:
            self._reserve.release()

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._fds += ends
        return ends

    def _note_growth(self) -> bool:
        """Note the present size; the relay reports that it cuts the recording before it does so."""
        size = os.fstat(self._recording_fd).st_size
        is_cut = self._hear()
        has_grown = size > self.size
        if size < self.size and not is_cut and self._fault is None:
            self._fault = truncated()
        if is_cut:
            self._reserve.forget()
        if size != self.size:
            self._times.refresh()  # before the readers may look up the new bytes
            self.size = size
        if has_grown:
            self._reserve.keep_ahead(size)
        return has_grown

    def _hear(self) -> bool:
        """Take the reports of the relay; return whether one of them announces a cut recording."""
        is_cut = False
        while self._reports is not None:
            try:
                data = os.read(self._reports, _READ_BYTES)
            except BlockingIOError:
                break
            if not data:
                self._take_over()
                return True
            *reports, self._heard = (self._heard + data).split(b"\n")
            for report in reports:
                is_cut |= report.startswith(b"stdout")
                self._take(report.decode())
        return is_cut

    def _take(self, report: str) -> None:
        what, _, reason = report.partition(" ")
        if what == "stdout":
            self._fault = OSError(errno.EIO, reason)
        elif what == "stderr":
            self.stderr_fault = OSError(errno.EIO, reason)
        elif what == "times":
            self._times.fail(OSError(errno.EIO, reason))
        elif what == "eof":
            self._is_eof = True
        elif what == "copied":
            self._is_copied = True
        else:
            self._reports = None

    def _take_over(self) -> None:
        """Continue in a thread of this process, because the relay was killed."""
        self._fault = self._fault or OSError(errno.EPIPE, "the relay from the agent to the file was killed")
        request_fd, self._request_fd = os.pipe()
        self._reports, report_fd = os.pipe()
        for fd in (self._reports, report_fd):
            os.set_blocking(fd, False)
        self._poller = select.poll()
        self._poller.register(self._reports, select.POLLIN)
        self._is_asked = False
        fds = (*self._relayed[:2], request_fd, report_fd, *self._relayed[4:])
        threading.Thread(target=relay.Relay(fds, continues=True).run, name="relay", daemon=True).start()


def _start(fds: tuple[int, ...]) -> subprocess.Popen[bytes]:
    """Without the user's packages and settings, Python starts in 6 ms instead of 15."""
    if not sys.executable:
        raise OSError(errno.ENOENT, "no python interpreter was found")
    package = os.path.dirname(os.path.dirname(os.path.abspath(relay.__file__)))
    return subprocess.Popen(
        [
            *(sys.executable, "-I", "-S", "-c", _START),
            *(os.path.dirname(package), str(epoch_ns()), *map(str, fds)),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=fds,
        cwd="/",
        start_new_session=True,
    )
