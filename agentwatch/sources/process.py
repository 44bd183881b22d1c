"""The process of a started agent, and the file with its standard error."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from agentwatch.base.clock import now_ms
from agentwatch.recording.head_tail import last_lines
from agentwatch.recording.saved_sessions import working_folder
from agentwatch.recording.times import Wakeup
from agentwatch.sources.agent_output import Output
from agentwatch.sources.agent_processes import Descendants, Survivor, marked_environment

_READ_BYTES = 1 << 16


class StderrFile:
    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._offset = 0
        self._tail = b""

    def new_lines(self) -> list[str]:
        """The complete lines since the last call, at most 64 KiB; a longer line is returned in pieces."""
        data = os.pread(self._fd, _READ_BYTES, self._offset)
        self._offset += len(data)
        *lines, self._tail = (self._tail + data).split(b"\n")
        if len(self._tail) > _READ_BYTES:
            lines.append(self._tail)
            self._tail = b""
        return [line.decode("utf-8", "replace") for line in lines]

    def last_lines(self, count: int) -> list[str]:
        """The last non-blank lines within the last 64 KiB."""
        lines = [line.decode("utf-8", "replace") for line in last_lines(self._fd, _READ_BYTES)]
        return [line for line in lines if line.strip()][-count:]

    def close(self) -> None:
        os.close(self._fd)


_POLL_SECONDS = 0.01
_STOP_SECONDS = 10.0


class AgentProcess:
    """A started agent, in its own process session, without a shell or a terminal, with stdin from /dev/null.
    A thread follows its output every 10 ms until it has exited and its output is recorded. One that exits
    with code 0 before its result, and leaves a process that holds its stdout, is a launcher: it is followed
    until that process closes the stdout."""

    def __init__(self, argv: Sequence[str], output: Output, errors_fd: int) -> None:
        self.argv = list(argv)
        self.cwd = working_folder()
        self.stderr = StderrFile(errors_fd)
        self.output = output
        self._has_ended = self._is_left = False
        self._has_result = False
        self._quiet_since: float | None = None
        self._fault: OSError | None = None
        self.started_ms = now_ms()
        self.ended_ms: int | None = None
        import subprocess  # takes 2 ms, and only a started agent needs it

        mark, environment = _environment()
        self._descendants = Descendants(mark)
        try:
            self.wakeup = Wakeup()
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output.stdout_fd,
                stderr=output.stderr_fd,
                env=environment,
                start_new_session=True,
            )
        finally:
            output.begin()
        self._descendants.begin(self._process.pid)
        threading.Thread(target=self._watch, name="agent output", daemon=True).start()

    @property
    def pid(self) -> int:
        """Return the id of the agent's process, which is also that of its process group and session."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """128 + n if signal n ended the agent; None while it runs."""
        status = self._process.returncode
        return 128 - status if status is not None and status < 0 else status

    @property
    def fault(self) -> OSError | None:
        return self._fault or self.output.fault

    def size(self) -> int:
        """The bytes of the recording that have an arrival time."""
        return self.output.size

    def has_ended(self) -> bool:
        """Whether the agent was left, or has exited and all its bytes have an arrival time."""
        return self._has_ended

    @property
    def is_followed(self) -> bool:
        """Whether the output is recorded: the agent has not ended, and was not left."""
        return not (self._is_left or self._has_ended)

    def note_result(self) -> None:
        """Processes that outlive the agent are not followed beyond its result."""
        self._has_result = True

    def leave(self) -> None:
        """Ask the thread to stop following the agent, which keeps running; the recording then ends."""
        self._is_left = True

    def quiet_ms(self) -> int:
        """How long nothing was written since the agent has exited; 0 if it is not followed on."""
        since = self._quiet_since
        return 0 if since is None or not self.is_followed else int((time.monotonic() - since) * 1000)

    def survivors(self) -> list[Survivor]:
        """Return no survivors while the agent runs."""
        if self._process.returncode is None:
            return []
        found = self._descendants.survivors()
        self._descendants.reap()
        return found

    def interrupt(self) -> bool:
        """Send SIGINT to the agent alone, which ends its own tools; return False if it has ended. Until it is
        reaped here, its id cannot be that of another process."""
        with suppress(ProcessLookupError, PermissionError):
            self._process.send_signal(signal.SIGINT)
        return self._process.returncode is None

    def stop(self, told: Callable[[signal.Signals], object] = lambda _: None) -> None:
        """Terminate the agent and its processes by SIGTERM, and SIGKILL 10 s later, and wait for their end,
        at most 20 s. `told` is called with each signal before it is sent."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._anything_runs():
                told(number)
            deadline = time.monotonic() + _STOP_SECONDS
            if self._process.returncode is None or sys.platform != "linux":  # elsewhere no survivor is found
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, number)
                    os.killpg(
                        self.pid, signal.SIGCONT
                    )  # a stopped process receives SIGTERM when it is resumed
            signalled: set[int] = set()
            while self._anything_runs() and time.monotonic() < deadline:
                signalled |= self._signal_survivors(number, signalled)
                time.sleep(_POLL_SECONDS)

    def _anything_runs(self) -> bool:
        return self._process.returncode is None or bool(self.survivors())

    def _signal_survivors(self, number: int, signalled: set[int]) -> set[int]:
        """Signal the survivors that were not signalled yet. A child in its own session becomes a survivor
        only when its parent has ended."""
        found = {survivor.pid for survivor in self._descendants.survivors()} - signalled
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
                os.kill(pid, signal.SIGCONT)
        return found

    def _watch(self) -> None:
        try:
            self._follow_output()
        except OSError as error:  # the size of the recording is unknown from now on; still wait for the agent
            self._fault = error
            while not self._is_left and self._process.poll() is None:
                time.sleep(_POLL_SECONDS)
            with suppress(OSError):
                while not (self._is_left or self.output.is_complete()):
                    self.output.advance()
        self.ended_ms = now_ms()
        self._has_ended = True
        self.wakeup.ring()

    def _follow_output(self) -> None:
        is_complete = False
        while not (self._is_left or is_complete):
            code = self._process.poll()
            has_grown = self.output.advance()
            if has_grown:
                self.wakeup.ring()
            if code is not None and (has_grown or self._quiet_since is None):
                self._quiet_since = time.monotonic()
            is_complete = code is not None and not self._is_awaited(code) and self.output.is_complete()
            self._descendants.reap()
        if is_complete and not self._descendants.survivors():  # a survivor may still write
            self.output.release()

    def _is_awaited(self, code: int) -> bool:
        """Whether the output still comes from a process that the agent left behind."""
        return code == 0 and not self._has_result and self.output.is_open()


def _environment() -> tuple[str, dict[str, str]]:
    """Return an environment with a new mark, and without the credentials of an engine."""
    mark, environment = marked_environment()
    if any(name.startswith("AGENTWATCH_NATS_") for name in environment):
        from agentwatch.base.credentials import without_credentials

        return mark, without_credentials(environment)
    return mark, environment
