"""A session of Claude Code whose subagents have files of their own. Beside the transcript `ID.jsonl` is the
folder `ID/subagents`. It has a file `agent-*.jsonl` for each subagent, and `agent-*.meta.json` with the id of
the call that started it. The lines of all these files are merged by their times."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from agentwatch.agents.own_files import is_still_written
from agentwatch.agents.subagents import JoinedFiles
from agentwatch.recording.store import open_folder, open_own, open_regular, within
from agentwatch.sources.stores.lines import Tail, as_line, parsed

_PROJECTS, _FOLDER = "projects", "subagents"
_START, _END, _META = "agent-", ".jsonl", ".meta.json"
_MOST_META = 1 << 16
_MOST_NEW_SESSION = 16 << 20
"""A session that is being written may get subagents later. If its transcript is larger than this, it is
read directly until it has them: a store is read completely before the screen opens."""
_open_named = partial(open_regular, follow_links=True)  # the user has named the transcript


def open_claude_subagents(path: Path) -> ClaudeSubagents | None:
    """Return None if it gets no subagents. Raise `OSError` if the transcript cannot be opened."""
    folder = within(path.parent, path.stem, _FOLDER)
    if folder is None or not (_subagents_in(folder) or _may_get_subagents(path)):
        return None
    return ClaudeSubagents(path, folder)


def _may_get_subagents(path: Path) -> bool:
    is_transcript = path.absolute().parent.parent.name == _PROJECTS
    return is_transcript and path.stat().st_size <= _MOST_NEW_SESSION and is_still_written(path)


class ClaudeSubagents(JoinedFiles):
    def __init__(self, transcript: Path, folder: Path) -> None:
        super().__init__(transcript, lambda _path: [folder], lambda _path: _subagents_in(folder), _open_named)
        self._metas: list[bytes] = []
        """A line about each subagent that was just found."""

    def _read_on(self) -> Iterator[bytes]:
        self._reopen()
        for line in super()._read_on():
            yield line
            metas, self._metas = self._metas, []
            yield from metas  # the first line is the transcript's own

    def _reopen(self) -> None:
        main = self._tails[0][0]
        opened = os.fstat(main.fd)
        try:
            named = os.stat(self._path)
        except OSError:
            named = opened  # renamed or removed: what is open is read to its end
        if not os.path.samestat(named, opened):
            self._tails[0] = (Tail(_open_named(self._path)), b"")
            os.close(main.fd)
        elif opened.st_size < main.offset:
            main.offset = 0

    def _opened_at(self, name: str, path: Path) -> tuple[Tail, bytes]:
        tail = Tail(_open_own(path))
        self._metas.append(_meta_line(path.with_name(name + _META), name))
        return tail, b""


def _subagents_in(folder: Path) -> dict[str, Path]:
    try:
        if not stat.S_ISDIR(os.stat(folder, follow_symlinks=False).st_mode):
            return {}
        names = sorted(os.listdir(folder))
    except OSError:
        return {}
    found = (name for name in names if name.startswith(_START) and name.endswith(_END))
    return {name.removesuffix(_END): folder / name for name in found}


def _open_own(path: Path) -> int:
    """Raise `OSError` also if its folder is a link now."""
    folder_fd = open_folder(path.parent)
    try:
        return open_own(Path(path.name), folder_fd=folder_fd)
    finally:
        os.close(folder_fd)


def _meta_line(path: Path, agent: str) -> bytes:
    described: object = None
    with suppress(OSError), open(_open_own(path), "rb") as file:
        described = parsed(file.read(_MOST_META))
    call_id = described.get("toolUseId") if isinstance(described, dict) else None
    line = {"type": "subagent-meta", "sessionId": "", "agentId": agent.removeprefix(_START)}
    return as_line({**line, "toolUseId": call_id if isinstance(call_id, str) else None}) or b"\n"
