"""The file by which an open list passes its counts to other processes: `status.json` beside the sessions.

It is one JSON object: the numbers `version`, `written_ms`, `pid` and the counts, and `limits` in words. It is
replaced as a whole.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from pathlib import Path

from agentwatch.base.files import state_folder
from agentwatch.catalog.status.counts import LIMITS, Counts, counts_in

FRESH_MS = 5_000
"""Counts that were written longer ago are not used. An open list writes them every second."""
_VERSION = 1
_MOST_BYTES = 4096
_MOST_LIMITS = 500
_MOST_PID = 1 << 31
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def write_status(counts: Counts, now_ms: int, limits: str = "") -> None:
    """Replace the counts that other processes read. If that is not possible, they look for themselves.
    `limits` are in words, and empty if none is known."""
    from agentwatch.recording.store import private_folder, replace_file

    path = status_path()
    kept = {"version": _VERSION, "written_ms": now_ms, "pid": os.getpid(), **counts._asdict()}
    kept[LIMITS] = limits[:_MOST_LIMITS]
    with suppress(OSError):
        private_folder(path.parent)
        replace_file(path, json.dumps(kept).encode, is_lasting=False)


def read_status(now_ms: int) -> Counts | None:
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
    """Return whether a process of this user has this id."""
    if not 0 < pid < _MOST_PID:
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
