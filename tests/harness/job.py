"""The stages of a pipeline as one job on a pty, and how each of them ended.

`session_leader.py` leads the session as a shell does: the pty is the controlling terminal of each stage,
ctrl+z stops them, and a closed terminal sends them SIGHUP, but not to the children of an ended program.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from tests.harness.processes import is_ready

LEADER = Path(__file__).with_name("session_leader.py")


class Job:
    """The stages of a job, by their process ids; they share a process group, whose id is the first pid."""

    def __init__(
        self, stages: Sequence[Sequence[str]], slave: int, env: Mapping[str, str], cwd: Path | str | None
    ) -> None:
        """Start the stages, piped into each other; what is not piped is connected to the pty `slave`."""
        self._status: dict[int, int] = {}
        self._heard = b""
        self._mark = uuid4().hex
        self._link, link = socket.socketpair()
        # Not pty.fork(): in a process with threads, Python 3.12 warns that it may deadlock.
        self._leader = subprocess.Popen(
            [sys.executable, "-IS", str(LEADER), str(link.fileno()), json.dumps([*map(list, stages)])],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            pass_fds=[link.fileno()],
            env={**env, "TEST_TERMINAL": self._mark},
            cwd=cwd,
            start_new_session=True,
        )
        link.close()

    @property
    def pids(self) -> list[int]:
        """The process ids of the stages; an empty list until they have started."""
        return list(self.statuses())

    def statuses(self) -> dict[int, int]:
        """Return the last wait status of each stage by process id, -1 before the first."""
        while is_ready(self._link) and (data := self._link.recv(4096)):
            self._heard += data
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            pid, status = line.split()
            self._status[int(pid)] = int(status)
        return self._status

    def exit_status(self, pid: int) -> int | None:
        """Return a stage's exit code, or 128 + the signal that ended it; None while it lives."""
        status = self.statuses()[pid]
        if status == -1 or os.WIFSTOPPED(status) or os.WIFCONTINUED(status):
            return None
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code

    def is_stopped(self, pid: int) -> bool:
        """Return whether a stage is stopped, as by ctrl+z."""
        return os.WIFSTOPPED(self.statuses()[pid])

    def kill(self) -> None:
        """Kill everything that was started here, in any session."""
        while marked := self._marked():
            for pid in marked:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if any(self.exit_status(pid) is None for pid in self.pids):
            with suppress(ProcessLookupError):
                os.killpg(self.pids[0], signal.SIGKILL)

    def finish(self) -> None:
        """Wait for the end of the leader; the stages have ended."""
        self._link.shutdown(socket.SHUT_WR)
        self._leader.wait(10)
        self._link.close()

    def _marked(self) -> list[int]:
        """Return the live processes with this job's mark; an empty list without /proc."""
        marked = []
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if self._mark.encode() in environ.read_bytes():
                    marked.append(int(environ.parent.name))
        return [pid for pid in marked if pid != self._leader.pid]
