"""The output that goes through a relay: the agent writes into pipes, and the relay into the files."""

from __future__ import annotations

import errno
import os
import select
import subprocess
import sys
import threading
import time
from contextlib import suppress

from agentwatch.capture import relay
from agentwatch.capture.appender import truncated
from agentwatch.capture.clock import EPOCH_NS
from agentwatch.capture.pipe_buffer import enlarge
from agentwatch.recording import WrittenTimes, release
from agentwatch.sources.started.disk_reserve import Reserve

_POLL_SECONDS = 0.01
_READ_BYTES = 1 << 12
_START = (
    "import sys; sys.path.append(sys.argv[1]); from agentwatch.capture.relay import main; main(sys.argv[2:])"
)


class RelayedOutput:
    """Pipes to a relay, which is a process that outlives this one.

    An agent that opens /dev/stdout again, or its stderr, gets the pipe and cannot erase what it has written.
    The relay notes the arrival times. This process keeps the reading ends of the pipes without reading them,
    so that the agent survives if the relay is killed.
    """

    def __init__(self, recording_fd: int, errors_fd: int, times: WrittenTimes) -> None:
        """Start the relay.

        Args:
            recording_fd: The descriptor of the recording.
            errors_fd: The descriptor of the file of stderr.
            times: The arrival times, which the relay writes.

        Raises:
            OSError: There are too few descriptors, or no process can be started.
        """
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
        """Why the recording is incomplete."""
        return self._fault

    @property
    def reserve_fault(self) -> OSError | None:
        """Why no more disk space can be reserved ahead of the recording."""
        return self._reserve.fault

    def begin(self) -> None:
        """Close the ends of the pipes that only the agent may hold."""
        os.close(self.stdout_fd)
        os.close(self.stderr_fd)

    def advance(self) -> bool:
        """Wait at most 10 ms for a report of the relay, and return whether the recording has grown."""
        if self._reports is None:
            time.sleep(_POLL_SECONDS)
        else:
            self._poller.poll(_POLL_SECONDS * 1000)
        return self._note_growth()

    def is_complete(self) -> bool:
        """Return whether all that was written before the first such call is recorded."""
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
        """Return whether a process still holds the agent's stdout."""
        return not self._is_eof

    def note_pause(self, group: int) -> None:
        """Let the relay continue this process group if this process is killed; 0 for none."""
        with suppress(OSError):
            os.write(self._request_fd, relay.PAUSE + group.to_bytes(relay.GROUP_BYTES, "big"))

    def release(self) -> None:
        """Mark the recording as ended, and release the disk space beyond its end if the relay has ended."""
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
        """Take the reports of the relay, and return whether one of them announces a cut recording."""
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
    """Start the relay. Without the user's packages and settings, Python starts in 6 ms instead of 15."""
    if not sys.executable:
        raise OSError(errno.ENOENT, "no python interpreter was found")
    package = os.path.dirname(os.path.dirname(os.path.abspath(relay.__file__)))
    return subprocess.Popen(
        [
            *(sys.executable, "-I", "-S", "-c", _START),
            *(os.path.dirname(package), str(EPOCH_NS), *map(str, fds)),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=fds,
        cwd="/",
        start_new_session=True,
    )
