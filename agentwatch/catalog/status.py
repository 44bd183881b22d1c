"""The sessions of this machine as one line of counts, for tmux and shell prompts.

An open list passes its counts to other processes in `status.json` beside the sessions: one JSON object with
the numbers `version`, `written_ms`, `pid` and the counts, and `limits` in words. It is replaced as a whole.
A prompt waits for the line, so importing this module loads no decoder and no third-party package.

Without an open list, the live sessions are counted as it would count them. Reported states and running
processes are cheap to read. If they do not decide the state of a session, the sessions that run are read too,
for as long as there is time; without it, such a session is unknown.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.base.clock import now_ms as clock_ms
from agentwatch.base.files import state_folder
from agentwatch.text import UNKNOWN

if TYPE_CHECKING:
    from agentwatch.agents.state_report import StateReport
    from agentwatch.catalog.reports import Registries
    from agentwatch.catalog.session_status import Process

LIMITS = "limits"
"""The field of a template for the usage limits in words."""
_MOST_COUNT = 1 << 53


class StatusCounts(NamedTuple):
    """The number of sessions in each group; None where it is unknown."""

    needs_you: int | None = 0
    working: int | None = 0
    failed: int | None = 0
    """Sessions whose last turn failed, and whose process still runs."""
    quiet: int | None = 0
    your_turn: int | None = 0
    ended_today: int | None = 0
    """Sessions that have ended since midnight, local time."""
    unknown: int | None = 0
    """Sessions with activity today that may run, and whose state is not known."""

    def line(self) -> str:
        """Return what deserves attention, in one line: `2 need you · 3 working`. It is empty if there is
        nothing, and a dash if nothing is known."""
        if self == UNKNOWN_COUNTS:
            return UNKNOWN
        needs = "needs you" if self.needs_you == 1 else "need you"
        words = (
            (self.needs_you, needs),
            (self.working, "working"),
            (self.failed, "failed"),
            (self.quiet, "quiet"),
            (self.unknown, "unknown"),
        )
        return " · ".join(f"{count} {word}" for count, word in words if count)

    def filled(self, template: str, limits: str = "") -> str:
        """Return a template with each `{field}` replaced by its count or by the limits, `–` if unknown. Raise
        `UnknownFieldError` if the template has something else in braces than the name of a field."""
        pieces, at = [], 0
        while (begin := template.find("{", at)) >= 0 and (end := template.find("}", begin)) >= 0:
            name = template[begin + 1 : end]
            if name == LIMITS:
                pieces += [template[at:begin], limits or UNKNOWN]
            elif name in self._fields:
                count = self[self._fields.index(name)]
                pieces += [template[at:begin], UNKNOWN if count is None else str(count)]
            else:
                raise UnknownFieldError(name)
            at = end + 1
        return "".join((*pieces, template[at:]))


UNKNOWN_COUNTS = StatusCounts(*[None] * len(StatusCounts._fields))


class UnknownFieldError(Exception):
    """A template names a field that does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{{{name}}} is not a field; known fields: {known_fields()}")


def known_fields() -> str:
    """Return the fields of a template, in words."""
    return ", ".join(f"{{{name}}}" for name in (*StatusCounts._fields, LIMITS))


def counts_in(kept: dict[str, object]) -> StatusCounts | None:
    """Return the counts in an object that was read; None if one of them is missing, or no count."""
    values: list[int | None] = []
    for name in StatusCounts._fields:
        value = kept.get(name, "")
        if value is not None and not (type(value) is int and 0 <= value < _MOST_COUNT):
            return None
        values.append(value)
    return StatusCounts(*values)


def midnight(at_ms: int) -> int:
    """Return the midnight before a time, in local time; the time itself if it is beyond the calendar."""
    try:
        now = time.localtime(at_ms // 1000)
        return int(time.mktime((now.tm_year, now.tm_mon, now.tm_mday, 0, 0, 0, 0, 0, -1))) * 1000
    except (OverflowError, ValueError, OSError):
        return at_ms


FRESH_MS = 5_000
"""Counts that were written longer ago are not used. An open list writes them every second."""
_VERSION = 1
_MOST_BYTES = 4096
_MOST_LIMITS = 500
_MOST_PID = 1 << 31
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def write_status(counts: StatusCounts, now_ms: int, limits: str = "") -> None:
    """Replace the counts that other processes read. If that is not possible, they look for themselves.
    `limits` are in words, and empty if none is known."""
    from agentwatch.recording.store import private_folder, replace_file

    path = status_path()
    kept = {"version": _VERSION, "written_ms": now_ms, "pid": os.getpid(), **counts._asdict()}
    kept[LIMITS] = limits[:_MOST_LIMITS]
    with suppress(OSError):
        private_folder(path.parent)
        replace_file(path, json.dumps(kept).encode, is_lasting=False)


def read_status(now_ms: int) -> StatusCounts | None:
    """Return the counts that an open list has written; None if none is open, or if they are not fresh."""
    return counts_in(_fresh(now_ms))


def read_limits(now_ms: int) -> str | None:
    """Return the usage limits that an open list has written, in words; None if none is open, or not fresh."""
    limits = _fresh(now_ms).get(LIMITS)
    return limits[:_MOST_LIMITS] if isinstance(limits, str) else None


def _fresh(now_ms: int) -> dict[str, object]:
    """Return what an open list has written; {} if none is open, or if it is not fresh."""
    kept = _read(status_path())
    written_ms, pid = kept.get("written_ms"), kept.get("pid")
    if kept.get("version") != _VERSION or type(written_ms) is not int or type(pid) is not int:
        return {}
    return kept if abs(now_ms - written_ms) < FRESH_MS and _is_alive(pid) else {}


def status_path() -> Path:
    """Return the path of the file, which may not exist."""
    return state_folder() / "status.json"


def _read(path: Path) -> dict[str, object]:
    """Return the JSON object in a file of this user; {} if the file is missing or has another content."""
    try:
        fd = os.open(path, _OPEN)
        try:
            status = os.fstat(fd)
            is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
            found = json.loads(os.pread(fd, _MOST_BYTES, 0)) if is_own else None
        finally:
            os.close(fd)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_alive(pid: int) -> bool:
    if not 0 < pid < _MOST_PID:
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


# Counts what runs, without an open list.

MOST_SECONDS = 1.0
"""A disk that hangs must not hold up a prompt. Looking takes 5 ms, after 25 ms for the imports; reading what
runs among 100 sessions takes 0.1 s more, and among 5,000 0.5 s."""
_OWN = "agentwatch"


class Look(NamedTuple):
    """What is known about the sessions of this machine."""

    counts: StatusCounts = UNKNOWN_COUNTS
    limits: str = ""
    """The usage limits in words, as the sessions that run report them; empty if unknown."""


def looked(
    look: Callable[[], Iterable[Look]] | None = None,
    most_seconds: float = MOST_SECONDS,
    *,
    has_limits: bool = False,
) -> Look:
    """Return the best that is found about this machine in time, or else that nothing is known. The thread
    that looks is left behind then: whatever it waits for cannot be interrupted. `look` returns what is known,
    the later the better; None to search the sessions of this user. `has_limits` includes the usage limits,
    for which the lines of the sessions are read."""
    found: list[Look] = []
    search = look or (lambda: _look(has_limits=has_limits))
    thread = threading.Thread(target=lambda: found.extend(search()), daemon=True)
    thread.start()
    thread.join(most_seconds)
    return found[-1] if found else Look()


def _look(*, has_limits: bool) -> Iterator[Look]:
    """Yield the counts by what is cheap to read, and then those of a list, if they may differ."""
    from agentwatch.catalog.processes import Processes
    from agentwatch.catalog.reports import Registries

    now_ms = clock_ms()
    registries, processes = Registries(os.environ, Path.home()), Processes()
    registries.refresh(now_ms / 1000)
    processes.refresh(now_ms / 1000)
    reported = [each for each in registries.reported.values() if not each.is_one_liner]
    one_liners = {each.pid for each in registries.reported.values() if each.is_one_liner}
    agents = {pid: each for pid, each in processes.agents.items() if pid not in one_liners}
    counts = counted(reported, agents if processes.is_known else None, now_ms)
    yield Look(counts)
    is_needed = processes.is_known and not is_decided(reported, agents)
    if is_needed or has_limits:
        yield _listed(registries, now_ms, None if is_needed else counts)


def is_decided(reported: list[StateReport], agents: Mapping[int, Process]) -> bool:
    """Return whether the reports alone decide the state of each session that runs, as in the list. The end of
    a turn is reported, but not whether the turn has failed."""
    from agentwatch.agents.state_report import Life, State

    live = [each for each in reported if each.life is Life.LIVE]
    known = {each.pid for each in live if each.agent != _OWN}
    reports = [each.state for each in live if each.agent != _OWN or each.pid not in known]
    is_silent = any(pid not in known and not each.is_shared for pid, each in agents.items())
    return not is_silent and all(state in (State.WORKING, State.ASKS, State.SHELL) for state in reports)


def _listed(registries: Registries, now_ms: int, counts: StatusCounts | None) -> Look:
    """Return what a list of the sessions that run shows. `registries` was read: no server is asked twice.
    `counts` is None for those of the list."""
    from agentwatch.catalog.catalog import Machine
    from agentwatch.catalog.limits import NewestLimits, limits_words
    from agentwatch.catalog.row_counts import status_counts

    machine = Machine(os.environ, Path.home(), registries=registries, is_brief=True)
    machine.settle(now_ms)
    limits = NewestLimits()
    limits.update(machine.rows.values())
    if counts is None:
        doubtful = machine.doubtful(now_ms)
        counts = status_counts((row for key, row in machine.rows.items() if key not in doubtful), now_ms)
        counts = counts._replace(ended_today=None, unknown=(counts.unknown or 0) + len(doubtful))
    return Look(counts, limits_words(limits.shown(now_ms), now_ms))


def counted(reported: list[StateReport], agents: Mapping[int, Process] | None, now_ms: int) -> StatusCounts:
    """Return the counts of the sessions that run, or may run. `agents` is None if they are not known."""
    from agentwatch.agents.state_report import Life
    from agentwatch.catalog.session_status import GROUPS

    counts = dict.fromkeys((*(group.name.lower() for group in GROUPS.values()), "unknown"), 0)
    others = {each.pid for each in reported if each.agent != _OWN and each.pid is not None}
    for each in reported:
        if each.life is Life.DEAD or (each.agent == _OWN and each.pid in others):
            continue  # an agent that `run` has started also speaks for itself
        group = None if each.state is None else GROUPS.get(each.state)
        if each.life is Life.LIVE and group is not None:
            counts[group.name.lower()] += 1
        elif each.life is Life.LIVE or (each.since_ms or 0) >= midnight(now_ms):
            counts["unknown"] += 1
    known = {each.pid for each in reported}
    silent = [pid for pid, each in (agents or {}).items() if pid not in known and not each.is_shared]
    counts["unknown"] += len(silent)
    found = StatusCounts(**counts, ended_today=None)
    return found if agents is not None else found._replace(unknown=None)
