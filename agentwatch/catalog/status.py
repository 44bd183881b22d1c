"""The counts of the list by group, and the file by which an open list passes them to other processes.

The file `status.json` beside the sessions is one JSON object of numbers: `version`, `written_ms`, `pid` and
the counts. It is replaced as a whole. Without an open list, live sessions are counted by their reported
states and processes; no line of a session is read, and a session whose agent reports no state counts as
unknown.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents.found import Key
from agentwatch.base.files import state_folder
from agentwatch.catalog.listing import CountedRows
from agentwatch.catalog.row import Row, changed_rows

if TYPE_CHECKING:
    from agentwatch.agents.reported import Said
    from agentwatch.catalog.row import Process


UNKNOWN = "–"
_MOST = 1 << 53


class Counts(NamedTuple):
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
        """Return what deserves attention, in one line: `2 need you · 3 working`.

        It is empty if there is nothing, and a dash if nothing is known.
        """
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

    def filled(self, template: str) -> str:
        """Return a template with each `{field}` replaced by its count, `–` if it is unknown.

        Raises:
            UnknownFieldError: The template has something else in braces than the name of a field.
        """
        pieces, at = [], 0
        while (begin := template.find("{", at)) >= 0 and (end := template.find("}", begin)) >= 0:
            name = template[begin + 1 : end]
            if name not in self._fields:
                raise UnknownFieldError(name)
            count = self[self._fields.index(name)]
            pieces += [template[at:begin], UNKNOWN if count is None else str(count)]
            at = end + 1
        return "".join((*pieces, template[at:]))


UNKNOWN_COUNTS = Counts(*[None] * len(Counts._fields))


class UnknownFieldError(Exception):
    """A template names a field that does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{{{name}}} is no field; known fields: {known_fields()}")


def known_fields() -> str:
    """Return the fields of a template, in words."""
    return ", ".join(f"{{{name}}}" for name in Counts._fields)


def counts_of(rows: Iterable[Row], now_ms: int) -> Counts:
    """Return the counts of the sessions of this machine in a list.

    Those of other machines are left out: without an open list, nobody could count them.

    Args:
        rows: All sessions, the hidden ones too.
        now_ms: The present time, in milliseconds since the epoch.
    """
    from agentwatch.agents.reported import State
    from agentwatch.catalog.listing import counts

    all_rows = [row for row in rows if not row.host]
    counted = counts(all_rows, now_ms)
    begin_ms = midnight(now_ms)
    unknown = sum(
        row.standing.state is State.UNKNOWN and row.parent is None and (row.seen_ms or 0) >= begin_ms
        for row in all_rows
    )
    return Counts(
        needs_you=counted.needs_you,
        working=counted.working,
        failed=counted.failed,
        quiet=counted.quiet,
        your_turn=counted.your_turn,
        ended_today=counted.ended_today,
        unknown=unknown,
    )


def counts_in(kept: dict[str, object]) -> Counts | None:
    """Return the counts in an object that was read; None if one of them is missing, or no count."""
    values: list[int | None] = []
    for name in Counts._fields:
        value = kept.get(name, "")
        if value is not None and not (type(value) is int and 0 <= value < _MOST):
            return None
        values.append(value)
    return Counts(*values)


def midnight(now_ms: int) -> int:
    """Return the last midnight in local time, in milliseconds since the epoch."""
    now = time.localtime(now_ms // 1000)
    return int(time.mktime((now.tm_year, now.tm_mon, now.tm_mday, 0, 0, 0, 0, 0, -1))) * 1000


FRESH_MS = 5_000
"""Counts that were written longer ago are not used. An open list writes them every second."""
_VERSION = 1
_MOST_BYTES = 4096
_MOST_PID = 1 << 31
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_status(counts: Counts, now_ms: int) -> None:
    """Replace the counts that other processes read. If that is not possible, they look for themselves.

    Args:
        counts: The counts.
        now_ms: The present time, in milliseconds since the epoch.
    """
    from agentwatch.recording.store import private_folder

    path = status_path()
    kept = {"version": _VERSION, "written_ms": now_ms, "pid": os.getpid(), **counts._asdict()}
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        private_folder(path.parent)
        with suppress(FileNotFoundError):  # left by a killed process, which had the same id
            new.unlink()
        with open(os.open(new, _CREATE, 0o600), "w", encoding="ascii") as file:
            json.dump(kept, file)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()


def read_status(now_ms: int) -> Counts | None:
    """Return the counts that an open list has written; None if none is open, or if they are not fresh.

    Args:
        now_ms: The present time, in milliseconds since the epoch.
    """
    kept = _read(status_path())
    written_ms, pid = kept.get("written_ms"), kept.get("pid")
    if kept.get("version") != _VERSION or type(written_ms) is not int or type(pid) is not int:
        return None
    if abs(now_ms - written_ms) >= FRESH_MS or not _is_alive(pid):
        return None
    return counts_in(kept)


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
    """Return whether a process of this user has this id."""
    if not 0 < pid < _MOST_PID:
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


MOST_SECONDS = 0.25
"""A disk that hangs must not hold up a prompt. Otherwise looking takes 5 ms, after 25 ms for the imports."""
_OWN = "agentwatch"


def looked(look: Callable[[], Counts] | None = None, most_seconds: float = MOST_SECONDS) -> Counts:
    """Return the counts of this machine, or unknown ones if that takes too long.

    The thread that looks is left behind then: whatever it waits for cannot be interrupted.

    Args:
        look: Returns the counts; None for those of this user.
        most_seconds: The longest time to wait.
    """
    found: list[Counts] = []
    thread = threading.Thread(target=lambda: found.append((look or _look)()), daemon=True)
    thread.start()
    thread.join(most_seconds)
    return found[0] if found else UNKNOWN_COUNTS


def _look() -> Counts:
    from agentwatch.catalog.processes import Processes
    from agentwatch.catalog.reports import Registries

    now = time.time()
    registries, processes = Registries(os.environ, Path.home()), Processes()
    registries.refresh(now)
    processes.refresh(now)
    said = [each for each in registries.said.values() if not each.is_one_liner]
    one_liners = {each.pid for each in registries.said.values() if each.is_one_liner}
    agents = {pid: each for pid, each in processes.agents.items() if pid not in one_liners}
    return counted(said, agents if processes.is_known else None, int(now * 1000))


def counted(said: list[Said], agents: Mapping[int, Process] | None, now_ms: int) -> Counts:
    """Return the counts of the sessions that run, or may run.

    Args:
        said: What agents say of their sessions.
        agents: The processes of agents by their id; None if they are not known.
        now_ms: The present time, in milliseconds since the epoch.
    """
    from agentwatch.agents.reported import Life
    from agentwatch.catalog.row import GROUPS, Group

    fields = {
        Group.NEEDS_YOU: "needs_you",
        Group.WORKING: "working",
        Group.FAILED: "failed",
        Group.QUIET: "quiet",
        Group.YOUR_TURN: "your_turn",
    }
    counts = dict.fromkeys((*fields.values(), "unknown"), 0)
    others = {each.pid for each in said if each.agent != _OWN and each.pid is not None}
    for each in said:
        if each.life is Life.DEAD or (each.agent == _OWN and each.pid in others):
            continue  # an agent that `run` has started also speaks for itself
        group = None if each.state is None else GROUPS.get(each.state)
        if each.life is Life.LIVE and group is not None:
            counts[fields[group]] += 1
        elif each.life is Life.LIVE or (each.since_ms or 0) >= midnight(now_ms):
            counts["unknown"] += 1
    known = {each.pid for each in said}
    silent = [pid for pid, each in (agents or {}).items() if pid not in known and not each.is_shared]
    counts["unknown"] += len(silent)
    found = Counts(**counts, ended_today=None)
    return found if agents is not None else found._replace(unknown=None)


_LEAST_MS = 1_000
"""Changed counts are written after this time."""
_MOST_MS = FRESH_MS // 2
"""The same counts are written again after this time, so that they stay fresh."""


class Publisher:
    """Writes the counts of rows when they have changed, and otherwise before they are too old."""

    def __init__(self) -> None:
        self._rows: Mapping[Key, Row] = {}
        self._counts = Counts()
        self._counted = CountedRows(counts_of)
        self._written_ms: int | None = None

    @property
    def has_begun(self) -> bool:
        """Whether counts were written."""
        return self._written_ms is not None

    def publish(self, rows: Mapping[Key, Row], now_ms: int) -> bool:
        """Write the counts if they are due, and return whether they were.

        Args:
            rows: All sessions; another mapping when a row has changed.
            now_ms: The present time, in milliseconds since the epoch.
        """
        is_changed = rows is not self._rows
        due_ms = _LEAST_MS if is_changed else _MOST_MS
        if self._is_fresh(now_ms, due_ms):
            return False
        if is_changed:
            before = self._counts
            changed, self._rows = changed_rows(self._rows, rows), rows
            self._counts = self._counted.update(rows, changed, now_ms)
            if self._counts == before and self._is_fresh(now_ms, _MOST_MS):
                return False
        self._written_ms = now_ms
        write_status(self._counts, now_ms)
        return True

    def _is_fresh(self, now_ms: int, most_ms: int) -> bool:
        """Return whether counts were written within a time."""
        return self._written_ms is not None and 0 <= now_ms - self._written_ms < most_ms
