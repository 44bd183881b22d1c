"""The process of a started agent, whose stdout is the recording itself.

Without a pipe between them, the agent can write even if the monitor dies. A Node agent that exits after a
burst loses nothing; of a pipe only the 64 KiB that fit into its buffer would remain.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from agentwatch.recording import ArrivalTimes, Wakeup, now_ms
from agentwatch.sources.disk_reserve import Reserve
from agentwatch.sources.stderr import StderrFile
from agentwatch.sources.survivors import Survivor, adopt_orphans, reap_orphans, survivors

_POLL_SECONDS = 0.01
_STOP_SECONDS = 10.0


class AgentProcess:
    """A started agent, in its own process session, without a shell or a terminal, with stdin from /dev/null.

    A thread polls the size of the recording every 10 ms and notes when it grew. More precise arrival times
    would require a pipe between the agent and the recording.
    """

    def __init__(self, argv: Sequence[str], recording_fd: int, stderr_fd: int, times: ArrivalTimes) -> None:
        """Start the agent.

        Args:
            argv: The command of the agent.
            recording_fd: The descriptor of the recording, which becomes the agent's stdout.
            stderr_fd: The descriptor of the file that becomes the agent's stderr.
            times: The arrival times of the recording.

        Raises:
            OSError: The command does not exist or cannot be executed.
        """
        self.argv = list(argv)
        self.stderr = StderrFile(stderr_fd)
        self._recording_fd = recording_fd
        self._times = times
        self.wakeup = Wakeup()
        self._size = 0
        self._has_ended = False
        self._fault: OSError | None = None
        self._reserve = Reserve(recording_fd)
        self.started_ms = now_ms()
        self.ended_ms: int | None = None
        import subprocess  # takes 2 ms, and only a started agent needs it

        adopt_orphans()
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=recording_fd,
            stderr=stderr_fd,
            start_new_session=True,
        )
        threading.Thread(target=self._watch, name="intake", daemon=True).start()

    @property
    def pid(self) -> int:
        """The agent's process id, which is also the id of its process group and of its session."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The agent's exit code, 128 + n if signal n ended it; None while the agent runs."""
        status = self._process.returncode
        return 128 - status if status is not None and status < 0 else status

    @property
    def fault(self) -> OSError | None:
        """Why the recording may be incomplete: it cannot be read, or the disk and its reserve are full."""
        if self._fault is None and self._reserve.is_used_up(self._size):
            return self._reserve.fault
        return self._fault

    @property
    def reserve_fault(self) -> OSError | None:
        """Why no more disk space can be reserved; recording continues until the reserve is used up."""
        return self._reserve.fault

    def size(self) -> int:
        """Return the number of bytes in the recording that have an arrival time."""
        return self._size

    def has_ended(self) -> bool:
        """Return whether the agent has exited and all its bytes have an arrival time."""
        return self._has_ended

    def leave(self) -> None:
        """Stop following the agent, which keeps running; the recording counts as ended."""
        self._has_ended = True

    def survivors(self) -> list[Survivor]:
        """Return the processes started by the agent that outlived it; none while the agent runs."""
        return survivors(self.pid) if self._process.returncode is not None and self._anything_runs() else []

    def stop(self) -> None:
        """Terminate the agent and the processes that it started, and wait for their end.

        They receive SIGTERM, and SIGKILL 10 s later; this returns after 20 s at the latest.
        """
        for number in (signal.SIGTERM, signal.SIGKILL):
            deadline = time.monotonic() + _STOP_SECONDS
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
            signalled: set[int] = set()
            while self._anything_runs() and time.monotonic() < deadline:
                signalled |= self._signal_survivors(number, signalled)
                time.sleep(_POLL_SECONDS)

    def _anything_runs(self) -> bool:
        if self._process.returncode is None:
            return True
        has_survivors = bool(survivors(self.pid))
        reap_orphans(self.pid)
        return has_survivors

    def _signal_survivors(self, number: int, signalled: set[int]) -> set[int]:
        """Signal the survivors that were not signalled yet, and return their process ids.

        A child in its own session becomes visible as a survivor only when its parent has ended.
        """
        found = {survivor.pid for survivor in survivors(self.pid)} - signalled
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        return found

    def _watch(self) -> None:
        try:
            self._note_growth()
        except OSError as error:  # the size of the recording is unknown from now on; still wait for the agent
            self._fault = error
            self._process.wait()
            with suppress(OSError):
                self._size = os.fstat(self._recording_fd).st_size
        self.ended_ms = now_ms()
        self._has_ended = True
        self.wakeup.ring()

    def _note_growth(self) -> None:
        exited = False
        while not self._has_ended:
            exited = self._process.poll() is not None
            size = os.fstat(self._recording_fd).st_size
            if size > self._size:
                self._times.note(self._size, now_ms())
                self._size = size
                self.wakeup.ring()
                self._reserve.keep_ahead(size)
            if exited:
                break
            reap_orphans(self.pid)
            time.sleep(_POLL_SECONDS)
        if exited and not survivors(self.pid):  # a survivor may still write
            self._reserve.release()
