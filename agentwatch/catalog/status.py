"""The sessions of this machine as one line of counts, for tmux and shell prompts.

An open list passes its counts to other processes in `status.json` beside the sessions: one JSON object with
the numbers `version`, `written_ms`, `pid` and the counts, and `limits` in words. It is replaced as a whole.
A prompt waits for the line, so importing this module loads no decoder and no third-party package.
"""

from __future__ import annotations

import json
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.base.files import state_folder
from agentwatch.text import UNKNOWN

if TYPE_CHECKING:
    pass

LIMITS = "limits"
"""The field of a template for the usage limits in words."""
_MOST_COUNT = 1 << 53


class StatusCounts(NamedTuple):
    """None where it is unknown."""

    needs_you: int | None = 0
    working: int | None = 0
    failed: int | None = 0
    quiet: int | None = 0
    your_turn: int | None = 0
    ended_today: int | None = 0
    """Sessions that have ended since midnight, local time."""
    unknown: int | None = 0
    """The number of sessions with activity today that may run, and whose state is not known."""

    def line(self) -> str:
        """`2 need you · 3 working`; empty if nothing deserves attention, a dash if nothing is known."""
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
        return " · ".join(f"{count:,} {word}" for count, word in words if count)

    def filled(self, template: str, limits: str = "") -> str:
        """Return a template with each `{field}` replaced by its count or by the limits, `–` if unknown. Raise
        `UnknownFieldError` for any other name in braces."""
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
    return ", ".join(f"{{{name}}}" for name in (*StatusCounts._fields, LIMITS))


def counts_in(kept: dict[str, object]) -> StatusCounts | None:
    """Return None if one of the counts is missing, or no count."""
    values: list[int | None] = []
    for name in StatusCounts._fields:
        value = kept.get(name, "")
        if value is not None and not (type(value) is int and 0 <= value < _MOST_COUNT):
            return None
        values.append(value)
    return StatusCounts(*values)


def midnight(at_ms: int) -> int:
    """Return the last midnight in local time; the time itself if it is beyond the calendar."""
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
    """Replace the counts that other processes read; if that fails, they look for themselves."""
    from agentwatch.recording.store import private_folder, replace_file

    path = status_path()
    kept = {"version": _VERSION, "written_ms": now_ms, "pid": os.getpid(), **counts._asdict()}
    kept[LIMITS] = limits[:_MOST_LIMITS]
    with suppress(OSError):
        private_folder(path.parent)
        replace_file(path, json.dumps(kept).encode, is_lasting=False)


def read_status(now_ms: int) -> StatusCounts | None:
    """Return None if no list is open, or they are not fresh."""
    return counts_in(_fresh(now_ms))


def read_limits(now_ms: int) -> str | None:
    """Return the limits in words; None if no list is open, or they are not fresh."""
    limits = _fresh(now_ms).get(LIMITS)
    return limits[:_MOST_LIMITS] if isinstance(limits, str) else None


def _fresh(now_ms: int) -> dict[str, object]:
    """What an open list has written; {} if none is open, or it is not fresh."""
    kept = _read(status_path())
    written_ms, pid = kept.get("written_ms"), kept.get("pid")
    if kept.get("version") != _VERSION or type(written_ms) is not int or type(pid) is not int:
        return {}
    return kept if abs(now_ms - written_ms) < FRESH_MS and is_alive(pid) else {}


def status_path() -> Path:
    return state_folder() / "status.json"


def _read(path: Path) -> dict[str, object]:
    """The JSON object in a file of this user; {} if the file is missing or has another content."""
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


def is_alive(pid: int) -> bool:
    if not 0 < pid < _MOST_PID:
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
