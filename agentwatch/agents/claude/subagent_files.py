"""A session of Claude Code whose subagents have files of their own. Beside the transcript `ID.jsonl` is the
folder `ID/subagents`. It has a file `agent-*.jsonl` for each subagent, and `agent-*.meta.json` with the id of
the call that started it. The lines of all these files are merged by their times."""

from __future__ import annotations

import heapq
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from agentwatch.agents.own_files import is_still_written
from agentwatch.recording.store import within
from agentwatch.sources.stores.lines import Tail, as_line, next_batch, parsed, timed_lines

_PROJECTS, _FOLDER = "projects", "subagents"
_START, _END, _META = "agent-", ".jsonl", ".meta.json"
_MOST_META = 1 << 16
_MOST_AGENTS = 1000
_MOST_NEW_SESSION = 16 << 20
"""A session that is being written may get subagents later. If its transcript is larger than this, it is
read directly until it has them: a store is read completely before the screen opens."""
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def open_claude_subagents(path: Path) -> ClaudeSubagents | None:
    """None for a session that gets no subagents. Raise `OSError` if the transcript cannot be opened."""
    folder = within(path.parent, path.stem, _FOLDER)
    if folder is None or not (_subagents_in(folder) or _may_get_subagents(path)):
        return None
    return ClaudeSubagents(path, folder)


def _may_get_subagents(path: Path) -> bool:
    is_transcript = path.absolute().parent.parent.name == _PROJECTS
    return is_transcript and path.stat().st_size <= _MOST_NEW_SESSION and is_still_written(path)


class ClaudeSubagents:
    poll_seconds = 0.02
    """Finding out that nothing has changed takes 6 us."""

    def __init__(self, transcript: Path, folder: Path) -> None:
        self._transcript, self._folder = transcript, folder
        self._main = Tail(os.open(transcript, _READ))
        self._agents: dict[str, Tail] = {}
        self._merged: Iterator[bytes] = iter(())
        self._seen_at = 0

    def new_lines(self) -> list[bytes]:
        lines, self._merged = next_batch(self._merged, self._read_on)
        return lines

    def close(self) -> None:
        for tail in (self._main, *self._agents.values()):
            os.close(tail.fd)
        self._agents.clear()

    def _read_on(self) -> Iterator[bytes]:
        self._reopen()
        metas = self._find_agents()
        tails = [self._main, *self._agents.values()]
        timed = [timed_lines(tail, number) for number, tail in enumerate(tails) if tail.has_grown()]
        merged = (line for _, _, line in heapq.merge(*timed, key=lambda each: each[:2]))
        for line in merged:
            yield line
            yield from metas  # the first line is the transcript's own
            metas = []

    def _reopen(self) -> None:
        opened = os.fstat(self._main.fd)
        try:
            named = os.stat(self._transcript)
        except OSError:
            named = opened  # renamed or removed: what is open is read to its end
        if not os.path.samestat(named, opened):
            fd = os.open(self._transcript, _READ)
            os.close(self._main.fd)
            self._main = Tail(fd)
        elif opened.st_size < self._main.offset:
            self._main.offset = 0

    def _find_agents(self) -> list[bytes]:
        try:
            changed_at = os.stat(self._folder, follow_symlinks=False).st_mtime_ns
        except OSError:
            return []
        if changed_at == self._seen_at:
            return []
        self._seen_at, metas = changed_at, []
        for name in _subagents_in(self._folder):
            if name not in self._agents and len(self._agents) < _MOST_AGENTS:
                fd = _open_own(self._folder, name)
                if fd is not None:
                    self._agents[name] = Tail(fd)
                    metas.append(_meta_line(self._folder, name.removesuffix(_END)))
        return metas


def _subagents_in(folder: Path) -> list[str]:
    try:
        if not stat.S_ISDIR(os.stat(folder, follow_symlinks=False).st_mode):
            return []
        return sorted(name for name in os.listdir(folder) if name.startswith(_START) and name.endswith(_END))
    except OSError:
        return []


def _open_own(folder: Path, name: str) -> int | None:
    try:
        folder_fd = os.open(folder, _READ | _NO_LINK | getattr(os, "O_DIRECTORY", 0))
    except OSError:
        return None
    try:
        fd = os.open(name, _READ | _NO_LINK, dir_fd=folder_fd)
    except OSError:
        return None
    finally:
        os.close(folder_fd)
    status = os.fstat(fd)
    if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
        return fd
    os.close(fd)
    return None


def _meta_line(folder: Path, agent: str) -> bytes:
    fd = _open_own(folder, agent + _META)
    described: object = None
    if fd is not None:
        with suppress(OSError), open(fd, "rb") as file:
            described = parsed(file.read(_MOST_META))
    call_id = described.get("toolUseId") if isinstance(described, dict) else None
    line = {"type": "subagent-meta", "sessionId": "", "agentId": agent.removeprefix(_START)}
    return as_line({**line, "toolUseId": call_id if isinstance(call_id, str) else None}) or b"\n"
