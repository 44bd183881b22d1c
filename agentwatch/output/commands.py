"""Runs the user's commands: each is given one event of a session as a redacted JSON object on its stdin.

What is run comes from the settings alone. A session's text is only on stdin, which is a file without a name:
a command that does not read it blocks nothing.
"""

from __future__ import annotations

import atexit
import errno
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import orjson

from agentwatch.base.credentials import without_credentials
from agentwatch.output.redact.mask import Masks
from agentwatch.output.redact.personal import Personal
from agentwatch.output.redact.secrets.scanner import masked
from agentwatch.recording.alarms import rule_words
from agentwatch.rules.alarms.events import Event
from agentwatch.text.safe import SafeText, safe_line, safe_text
from agentwatch.text.times import utc_time

MOST_SECONDS = 10.0
"""The time limit of a command, and of the wait at the end for commands that are still queued."""
MOST_WAITING = 20
"""The events of a rule that wait for its command. The oldest ones beyond this number are left out."""
_POLL_SECONDS = 0.02
_END_SECONDS = 1.0
_MOST_READ = 8192
"""Characters of a text in which secrets are searched, before it is cut."""
_COLUMNS: Mapping[str, int] = {
    "command": 8000,
    "words": 1500,
    "session": 500,
    "title": 200,
    "rule": 200,
    "agent": 40,
    "state": 40,
    "event": 40,
}
"""The length limit of each text of an event: the object has less than 64 KB."""


class Commands:
    """The commands of the rules. Each rule has a thread, which runs its command for one event at a time."""

    def __init__(self, report: Callable[[SafeText], object] | None = None) -> None:
        """`report` is called with the first fault of each rule's command, in another thread."""
        self.faults: dict[str, OSError | None] = {}
        """The first fault of each rule's command, by the words for the command."""
        self._report = report
        self._queues: dict[tuple[str, tuple[str, ...]], _Queue] = {}
        self._lock = threading.Lock()
        self._masks = Masks()
        home = os.path.expanduser("~")
        self._home = home if os.path.isdir(home) else "/"
        self._personal = Personal([home], [os.path.basename(home)])
        atexit.register(self.finish)

    def tell(self, command: tuple[str, ...], event: Event) -> None:
        """Run a command with an event, after the events that wait for it; this returns at once."""
        with self._lock:
            key = event.rule, command
            queue = self._queues.get(key) or self._queues.setdefault(key, _Queue(partial(self._try, command)))
        queue.put(event)

    def finish(self, seconds: float = MOST_SECONDS) -> None:
        """Wait until the commands of all events have ended, and end those that take longer."""
        until = time.monotonic() + seconds
        for queue in list(self._queues.values()):
            queue.finish(until)

    def _try(self, command: tuple[str, ...], event: Event, missed: int, stopped: threading.Event) -> None:
        try:
            reason = self._run(command, event, missed, stopped)
        except OSError as error:
            reason = error.strerror or "it cannot be started"
        except Exception as error:  # noqa: BLE001 - the edge of a thread: later events still run their command
            reason = f"internal error: {type(error).__name__}"
        what = f"the command of {rule_words(event.rule)} failed"
        if reason and what not in self.faults:
            self.faults[what] = OSError(errno.EIO, reason)
            if self._report is not None:
                self._report(SafeText(f"{what}: {safe_line(reason)}"))

    def _run(self, command: tuple[str, ...], event: Event, missed: int, stopped: threading.Event) -> str:
        """Run a command with an event to its end, for 10 s at most, and end what is left of its group."""
        with tempfile.TemporaryFile() as file:
            file.write(self._data(event, missed))
            file.seek(0)
            process = subprocess.Popen(
                command,
                stdin=file,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self._home,
                env=without_credentials(os.environ),
                start_new_session=True,
            )
        until, is_over = time.monotonic() + MOST_SECONDS, False
        while not (is_over := _is_over(process)) and time.monotonic() < until and not stopped.is_set():
            stopped.wait(_POLL_SECONDS)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        if not is_over:
            return f"it was ended after {MOST_SECONDS:.0f} s"
        return f"signal {-code}" if code < 0 else f"exit code {code}" if code else ""

    def _data(self, event: Event, missed: int) -> bytes:
        """Return an event as a JSON object of less than 64 KB."""
        members = {"version": 1} | {
            name: self._redacted(name, value) if isinstance(value, str) else value
            for name, value in event._asdict().items()
            if name != "at_ms"
        }
        members["time"] = utc_time(event.at_ms)
        return orjson.dumps(members | ({"missed": missed} if missed else {})) + b"\n"

    def _redacted(self, name: str, whole: str) -> str:
        """Return safe text without secrets and personal data; only a command keeps several lines."""
        text = whole[:_MOST_READ]
        shown = self._masked((safe_text if name == "command" else safe_line)(self._masked(text)))
        most = _COLUMNS[name]
        return shown if len(shown) <= most and whole == text else f"{shown[: most - 1]}…"

    def _masked(self, text: str) -> str:
        return masked(text, self._personal, self._masks)


class _Queue:
    def __init__(self, run: Callable[[Event, int, threading.Event], object]) -> None:
        self._run = run
        self._waiting: deque[Event] = deque()
        self._missed = 0
        self._changed = threading.Condition()
        self._is_over = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="command", daemon=True)
        self._thread.start()

    def put(self, event: Event) -> None:
        """Add an event; the oldest one makes room if too many wait."""
        with self._changed:
            if len(self._waiting) == MOST_WAITING:
                self._waiting.popleft()
                self._missed += 1
            self._waiting.append(event)
            self._changed.notify()

    def finish(self, until: float) -> None:
        """Wait until all events are told; at a time of the monotonic clock, end the command that runs."""
        with self._changed:
            self._is_over = True
            self._changed.notify()
        self._thread.join(max(until - time.monotonic(), 0))
        self._stopped.set()
        self._thread.join(_END_SECONDS)

    def _follow(self) -> None:
        while not self._stopped.is_set():
            with self._changed:
                while not self._waiting and not self._is_over:
                    self._changed.wait()
                if not self._waiting:
                    return
                event, missed, self._missed = self._waiting.popleft(), self._missed, 0
            self._run(event, missed, self._stopped)


def _is_over(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has ended; it is not collected if possible, so that its group keeps its id."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True
