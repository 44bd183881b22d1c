"""A thread of Codex, with the threads that it has spawned. Each of them has a file of its own, whose first
line names the thread that has spawned it. The lines of all files are merged by their times; those of a
spawned thread get a member with its id."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import orjson

from agentwatch.agents.codex.agent import SPAWNED
from agentwatch.agents.codex.program import is_later_segment, spawners_in, thread_in_name
from agentwatch.agents.described import first_line
from agentwatch.recording.store import open_own
from agentwatch.sources.stores.tail import Tail, next_batch, timed_lines

_MOST_THREADS = 1000
_MOST_DAYS = 60
_MOST_FILES = 2000


def open_threads(path: Path) -> Threads | None:
    """Return the store of a thread that has spawned others; None for another one. Raise `OSError` if its file
    cannot be opened."""
    spawned = _spawned(path)
    return Threads(path, spawned) if spawned else None


class Threads:
    """Reads the file of a thread, and those of the threads that it has spawned."""

    poll_seconds = 0.02

    def __init__(self, path: Path, spawned: list[Path]) -> None:
        self._path = path
        self._seen = _changed(path)
        self._tails = [(Tail(open_own(path)), b"")]
        self._paths: set[Path] = set()
        self._merged: Iterator[bytes] = iter(())
        self._open(spawned)

    def new_lines(self) -> list[bytes]:
        """Return the lines that no earlier call has returned, in the order of their times."""
        lines, self._merged = next_batch(self._merged, self._read_on)
        return lines

    def close(self) -> None:
        """Close all files."""
        for tail, _ in self._tails:
            os.close(tail.fd)
        self._tails.clear()

    def _read_on(self) -> Iterator[bytes]:
        """Yield what has been written to the files since they were last read, merged by time."""
        if (now := _changed(self._path)) != self._seen:
            self._seen = now
            self._open(_spawned(self._path))
        timed = [
            timed_lines(tail, number) for number, (tail, _) in enumerate(self._tails) if tail.has_grown()
        ]
        for _, number, line in heapq.merge(*timed, key=lambda each: each[:2]):
            begin = self._tails[number][1]
            yield begin + line[1:] if begin and line.startswith(b"{") else line

    def _open(self, spawned: list[Path]) -> None:
        for path in spawned:
            if path not in self._paths and len(self._paths) < _MOST_THREADS:
                self._paths.add(path)
                with suppress(OSError):
                    begin = orjson.dumps({SPAWNED: thread_in_name(path.name)})[:-1] + b","
                    self._tails.append((Tail(open_own(path)), begin))


def _spawned(path: Path) -> list[Path]:
    """Return the files of the threads that a thread has spawned, or that these have, the oldest first."""
    threads, found, read = {thread_in_name(path.name)}, list[Path](), 0
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
                found.append(folder / name)
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


def _changed(path: Path) -> int:
    newest = 0
    for folder in _days(path):
        with suppress(OSError):
            newest = max(newest, os.stat(folder).st_mtime_ns)
    return newest
