"""A thread of Codex in several files: its own rollouts, and the threads that it has spawned.

A revert begins another file of the same thread, `rollout-TIME-THREAD_ROLLOUT.jsonl`. Its `session_meta` names
the part of an earlier file that comes before it (`history_base`). The files are joined in the order in which
they were begun, each of their bytes once. What a revert took back stays: the line between two files says how
many prompts it took back. A spawned thread has a file of its own, whose first line names the thread that has
spawned it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.codex.program import is_later_segment, spawners_in, thread_in_name
from agentwatch.agents.description_files import first_line
from agentwatch.agents.fields import Fields, mapping, number, text
from agentwatch.agents.subagents import JoinedFiles
from agentwatch.sources.stores.lines import Tail, as_line, next_batch, parsed
from agentwatch.sources.stores.zstd import MAGIC, compressed_at

_MOST_FILES = 1000
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


class _Prompts(NamedTuple):
    """The prompts in a file and before it."""

    before: int
    """The number of prompts in the history that the file continues."""
    at: list[int]
    """The positions of its own."""

    def up_to(self, end: int) -> int:
        """Return the number of prompts before a position in the file."""
        return self.before + sum(position < end for position in self.at)


def open_segments(path: Path) -> Segments | None:
    """Return the store of the thread whose newest rollout is at a path; None if it has no earlier one. Raise
    `OSError` if a file cannot be opened."""
    earlier = _earlier(path)
    return Segments(path, earlier) if earlier else None


def _earlier(path: Path) -> list[Path]:
    thread = thread_in_name(path.name)
    if not thread or not all(each.isalnum() or each == "-" for each in thread):
        return []
    name = f"rollout-*{thread}*.jsonl*"
    root = next((each.parent for each in path.absolute().parents if each.name == "sessions"), None)
    found = {each.name: each for each in path.parent.glob(name)}
    if root is not None:
        for part in (f"sessions/*/*/*/{name}", f"archived_sessions/{name}"):
            found |= {each.name: each for each in islice(root.glob(part), _MOST_FILES)}
    names = sorted(each for each in found if each < path.name and thread_in_name(each) == thread)
    return [found[each] for each in names if not found[each].is_symlink()]


class Segments:
    """Reads the rollouts of one thread, one after the other, and the newest one as it grows."""

    poll_seconds = 0.02

    def __init__(self, path: Path, earlier: list[Path]) -> None:
        """Open the newest rollout. `earlier` begins with the oldest. Raise `OSError` if the newest rollout
        cannot be opened."""
        self._newest = Tail(os.open(path, _READ))
        self._rollout = _rollout_in(path.name)
        self._lines = self._joined(earlier)

    def new_lines(self) -> list[bytes]:
        """Return the lines that no earlier call has returned."""
        lines, self._lines = next_batch(self._lines, self._newest.lines)
        return lines

    def close(self) -> None:
        """Close the files."""
        self._lines = iter(())
        os.close(self._newest.fd)

    def _joined(self, earlier: list[Path]) -> Iterator[bytes]:
        known: dict[str, _Prompts] = {}
        present = 0
        parts = [
            *((_rollout_in(path.name), _lines_of(path)) for path in earlier),
            (self._rollout, self._newest.lines()),
        ]
        for rollout, lines in parts:
            prompts, position = _Prompts(present, []), 0
            for line in lines:
                fields = _of_interest(line)
                if fields.get("type") == "session_meta" and not position and known:
                    base = mapping(mapping(fields.get("payload")).get("history_base"))
                    of, end = known.get(text(base, "thread_id") or ""), number(base, "end_byte_offset")
                    before = present if of is None or end is None else min(of.up_to(end), present)
                    if before < present:
                        yield _taken_back(present - before, fields)
                    present, prompts = before, _Prompts(before, [])
                elif mapping(mapping(fields.get("payload")).get("item")).get("type") == "UserMessage":
                    prompts.at.append(position)
                    present += 1
                position += len(line)
                yield line
            known[rollout] = prompts


def _lines_of(path: Path) -> Iterator[bytes]:
    """Yield the lines of an earlier file. One that cannot be read has none: the others are still shown."""
    with suppress(OSError), open(os.open(path, _READ | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        store = compressed_at(path, file.read(len(MAGIC)))
        if store is not None:
            with closing(store):
                while lines := store.new_lines():
                    yield from lines
            return
        file.seek(0)
        yield from (line if line.endswith(b"\n") else line + b"\n" for line in file)


def _of_interest(line: bytes) -> Fields:
    return mapping(parsed(line)) if b'"session_meta"' in line or b'"UserMessage"' in line else {}


def _taken_back(prompts: int, meta: Fields) -> bytes:
    payload = {"type": "thread_rolled_back", "num_turns": prompts}
    return as_line({"timestamp": text(meta, "timestamp"), "type": "event_msg", "payload": payload}) or b"\n"


def _rollout_in(name: str) -> str:
    """Return the id of the rollout in the name of its file; the first of a thread has the thread's."""
    return name.removesuffix(".zst").removesuffix(".jsonl")[-36:]


# The threads that a thread has spawned.

_MOST_DAYS = 60
_MOST_SPAWNED = 2000


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
            if read > _MOST_SPAWNED:
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
