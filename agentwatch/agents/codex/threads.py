"""A thread of Codex, with the threads that it has spawned. Each of them has a file of its own, whose first
line names the thread that has spawned it."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from agentwatch.agents.codex.program import is_later_segment, spawners_in, thread_in_name
from agentwatch.agents.description_files import first_line
from agentwatch.agents.subagents import JoinedFiles

_MOST_DAYS = 60
_MOST_FILES = 2000


def open_threads(path: Path) -> JoinedFiles | None:
    """Return the store of a thread that has spawned others; None for another one. Raise `OSError` if its file
    cannot be opened."""
    return JoinedFiles(path, _days, _spawned) if _spawned(path) else None


def _spawned(path: Path) -> dict[str, Path]:
    """Return the files of the threads that a thread has spawned, or that these have, the oldest first."""
    threads, found, read = {thread_in_name(path.name)}, dict[str, Path](), 0
    for folder in _days(path):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            if name <= path.name or not name.startswith("rollout-") or not name.endswith(".jsonl"):
                continue
            read += 1
            if read > _MOST_FILES:
                return found
            above = () if is_later_segment(name) else spawners_in(first_line(f"{folder}/{name}"))
            if not threads.isdisjoint(above):
                threads.add(thread_in_name(name))
                found[thread_in_name(name)] = folder / name
    return found


def _days(path: Path) -> list[Path]:
    """Return the folders of the days from that of a thread to that of its last change; its own elsewhere."""
    *_, year, month, day = path.absolute().parent.parts
    try:
        first = date(int(year), int(month), int(day))
        last = datetime.fromtimestamp(path.stat().st_mtime, UTC).date() + timedelta(days=1)
    except (ValueError, OSError, OverflowError):
        return [path.parent]
    root = path.parent.parent.parent.parent
    count = min(max((last - first).days, 0), _MOST_DAYS)
    return [root / f"{first + timedelta(days=after):%Y/%m/%d}" for after in range(count + 1)]
