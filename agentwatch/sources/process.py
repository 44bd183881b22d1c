"""The agent that we start: its stdout is the recording itself, so nothing stands between the two.

Whatever becomes of the monitor, the agent writes on; a Node agent that exits after a burst leaves all
of it in the file, where a pipe would keep 64 KiB.
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
    """A started agent: a session of its own, no shell, no terminal, stdin from /dev/null.

    A thread looks at the recording's size every 10 ms and notes when it grew, which is as near to an
    arrival time as one gets without standing between the agent and its file.
    """

    def __init__(self, argv: Sequence[str], recording_fd: int, stderr_fd: int, times: ArrivalTimes) -> None:
        """Start the agent.

        Raises:
            OSError: It is not there, or cannot be executed.
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
        import subprocess  # 2 ms, for an agent of ours alone

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
        """The agent's process id, which is also its group's."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The agent's exit status, 128 + n when signal n ended it; None while it runs."""
        status = self._process.returncode
        return 128 - status if status is not None and status < 0 else status

    @property
    def fault(self) -> OSError | None:
        """Why the recording may not be complete: the disk is full, and the room ahead is used up."""
        if self._fault is None and self._reserve.is_used_up(self._size):
            return self._reserve.fault
        return self._fault

    @property
    def room_fault(self) -> OSError | None:
        """Why no more room is reserved ahead; the recording goes on as long as the reserve lasts."""
        return self._reserve.fault

    def size(self) -> int:
        """Return how many bytes are in the recording and have an arrival time."""
        return self._size

    def has_ended(self) -> bool:
        """Return whether the agent has exited and all that it wrote has an arrival time."""
        return self._has_ended

    def leave(self) -> None:
        """Follow the agent no longer: the recording, as far as we see it, ends here."""
        self._has_ended = True

    def survivors(self) -> list[Survivor]:
        """Return what the agent started and what still lives; while the agent lives, nothing."""
        return survivors(self.pid) if self._process.returncode is not None and self._lives() else []

    def stop(self) -> None:
        """Ask the agent and what it started to end; after 10 s they are killed. Returns then."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            deadline = time.monotonic() + _STOP_SECONDS
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
            signalled: set[int] = set()
            while self._lives() and time.monotonic() < deadline:
                signalled |= self._signal_survivors(number, signalled)
                time.sleep(_POLL_SECONDS)

    def _lives(self) -> bool:
        if self._process.returncode is None:
            return True
        lives = bool(survivors(self.pid))
        reap_orphans(self.pid)
        return lives

    def _signal_survivors(self, number: int, signalled: set[int]) -> set[int]:
        """Signal who is not signalled yet: a child in a session of its own is ours when its parent ended."""
        found = {survivor.pid for survivor in survivors(self.pid)} - signalled
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        return found

    def _watch(self) -> None:
        try:
            self._note_growth()
        except OSError as error:  # the recording is beyond our sight; the agent is waited for all the same
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
        if exited and not survivors(self.pid):  # who lives on may still write
            self._reserve.give_back()
