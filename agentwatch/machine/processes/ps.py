"""The processes of a system without /proc, such as macOS, by `ps` and `lsof`.

They run in a thread with a time limit: `lsof` can take tens of seconds. Nothing waits for them.
"""

import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

_SECONDS = 2.0
"""The time between two runs."""
_PS_LIMIT_SECONDS = 5.0
_LSOF_LIMIT_SECONDS = 10.0
_LSOF_PAUSE_SECONDS = 60.0
"""The pause after an `lsof` that took too long."""
_MOST_OUTPUT = 1 << 20
_MOST_ARGUMENTS = 64
_MOST_ARGUMENT = 300
_MOST_PIDS = 100
"""The number of processes whose folder is looked up at once."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC"}


class Listed(NamedTuple):
    """A process as `ps` shows it."""

    pid: int
    parent: int
    began_ms: int
    arguments: tuple[str, ...]
    """The command line, split at blanks."""


class ProcessTable:
    """Runs `ps` in a thread, and keeps what it has shown."""

    def __init__(self, uid: int) -> None:
        self._uid = uid
        self._due = 0.0
        self._thread: threading.Thread | None = None
        self._lsof_due = 0.0
        self.listed: dict[int, Listed] = {}
        self.is_known = False
        """Whether `ps` has shown the processes once."""
        self.cwds: dict[int, str] = {}
        """The working directories of the processes that were asked for."""

    def refresh(self, now: float, wanted: Sequence[int]) -> None:
        """Start the next run if it is due and the last one has ended.

        Args:
            now: The time, in seconds.
            wanted: The processes whose working directory is needed.
        """
        if now < self._due or (self._thread is not None and self._thread.is_alive()):
            return
        self._due = now + _SECONDS
        self._thread = threading.Thread(target=self._run, args=(tuple(wanted),), daemon=True, name="ps")
        self._thread.start()

    def _run(self, wanted: tuple[int, ...]) -> None:
        listed = listed_processes(("-U", str(self._uid)))
        if listed is None:
            return
        self.cwds = {pid: cwd for pid, cwd in self.cwds.items() if _is_same(pid, self.listed, listed)}
        self.listed = listed
        self.is_known = True
        missing = [pid for pid in wanted if pid in listed and pid not in self.cwds][:_MOST_PIDS]
        if missing and time.monotonic() >= self._lsof_due:
            shown = _output(
                ("lsof", "-n", "-P", "-w", "-a", "-p", ",".join(map(str, missing)), "-d", "cwd", "-Fn"),
                _LSOF_LIMIT_SECONDS,
            )
            if shown is None:
                self._lsof_due = time.monotonic() + _LSOF_PAUSE_SECONDS
            else:
                self.cwds = {**self.cwds, **folders_in(shown)}


def listed_processes(selection: tuple[str, ...]) -> dict[int, Listed] | None:
    """Return the processes that `ps` shows, by their id; None if there are none, or it takes
    longer than 5 s.

    Args:
        selection: The options that select processes: `-U 501`, `-p 1234`.
    """
    shown = _output(("ps", *selection, "-o", "pid=,ppid=,lstart=,command="), _PS_LIMIT_SECONDS)
    if shown is None:
        return None
    found = (_listed(line) for line in shown.splitlines())
    return {each.pid: each for each in found if each is not None} or None


def folders_in(shown: str) -> dict[int, str]:
    """Return the folders that `lsof -Fn` shows, by the process: lines of `p` and the id, `n` and the path."""
    found, pid = {}, 0
    for line in shown.splitlines():
        if line.startswith("p") and line[1:].isdecimal():
            pid = int(line[1:])
        elif line.startswith("n/"):
            found[pid] = line[1:]
    return found


def started_ms(text: str) -> int | None:
    """Return the time that `ps` shows as `lstart`, `Sat Sep 12 15:07:13 2026` (UTC), in milliseconds.

    Returns:
        The milliseconds since the epoch; None if the text is no such time.
    """
    import calendar

    match text.split():
        case [_, month, day, clock, year] if month in _MONTHS:
            with suppress(ValueError, OverflowError):
                hour, minute, second = map(int, clock.split(":"))
                when = (int(year), _MONTHS.index(month) + 1, int(day), hour, minute, second)
                return calendar.timegm(when) * 1000
    return None


def _listed(line: str) -> Listed | None:
    words = line.split(None, 7)
    if len(words) < 8 or not (words[0].isdecimal() and words[1].isdecimal()):
        return None
    began = started_ms(" ".join(words[2:7]))
    if began is None:
        return None
    arguments = tuple(word[:_MOST_ARGUMENT] for word in words[7].split()[:_MOST_ARGUMENTS])
    return Listed(int(words[0]), int(words[1]), began, arguments)


def _is_same(pid: int, before: dict[int, Listed], after: dict[int, Listed]) -> bool:
    return pid in before and pid in after and before[pid].began_ms == after[pid].began_ms


def _output(command: tuple[str, ...], seconds: float) -> str | None:
    """Return what a program prints; None if there is no such program, or it takes too long."""
    import subprocess  # takes 3 ms, which a prompt would wait for

    try:
        ran = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            env={**os.environ, **_ENVIRONMENT},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout[:_MOST_OUTPUT].decode("utf-8", "replace")
