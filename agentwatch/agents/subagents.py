"""A session whose subagents have files of their own: all lines are merged by their times."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import orjson

from agentwatch.agents.agent import AgentDecoder
from agentwatch.agents.fields import MOST_ID, SUBAGENT, Fields, text
from agentwatch.recording.store import open_own
from agentwatch.session.events import (
    Event,
    Permission,
    Prompt,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    Unknown,
    Usage,
)
from agentwatch.sources.stores.lines import Tail, next_batch, timed_lines

MOST_SUBAGENTS = 1000
Folders = Callable[[Path], list[Path]]
"""Returns the folders with the files of a session's subagents, also those that do not exist yet."""


def open_session(path: Path, folders: Folders) -> JoinedFiles | None:
    """Return None for a session without subagents. Raise `OSError` if its file cannot be opened."""

    def files(path: Path) -> dict[str, Path]:
        found = (each for folder in folders(path) for each in sorted(folder.glob("*.jsonl")))
        return {each.stem: each for each in found if each != path}

    return JoinedFiles(path, folders, files) if files(path) else None


class JoinedFiles:
    """Reads the file of a session and those of its subagents, whose lines get the member `SUBAGENT`."""

    poll_seconds = 0.02

    def __init__(
        self,
        path: Path,
        folders: Folders,
        files: Callable[[Path], Mapping[str, Path]],
        open_main: Callable[[Path], int] = open_own,
    ) -> None:
        self._path, self._folders, self._files = path, folders, files
        self._changed_ns = -1
        self._tails = [(Tail(open_main(path)), b"")]
        self._opened: set[Path] = set()
        self._merged: Iterator[bytes] = iter(())

    def new_lines(self) -> list[bytes]:
        lines, self._merged = next_batch(self._merged, self._read_on)
        return lines

    def close(self) -> None:
        for tail, _ in self._tails:
            os.close(tail.fd)
        self._tails.clear()

    def _read_on(self) -> Iterator[bytes]:
        if (now := _newest_change(self._folders(self._path))) != self._changed_ns:
            self._changed_ns = now
            self._open_new()
        timed = [
            timed_lines(tail, number) for number, (tail, _) in enumerate(self._tails) if tail.has_grown()
        ]
        for _, number, line in heapq.merge(*timed, key=lambda each: each[:2]):
            begin = self._tails[number][1]
            yield begin + line[1:] if begin and line.startswith(b"{") else line

    def _open_new(self) -> None:
        for name, path in self._files(self._path).items():
            if path not in self._opened and len(self._opened) < MOST_SUBAGENTS:
                with suppress(OSError):  # it is tried again once the folder changes
                    self._tails.append(self._opened_at(name, path))
                    self._opened.add(path)

    def _opened_at(self, name: str, path: Path) -> tuple[Tail, bytes]:
        """Return the file of a subagent, and what its lines begin with instead of the brace."""
        return Tail(open_own(path)), orjson.dumps({SUBAGENT: name})[:-1] + b","


def _newest_change(folders: list[Path]) -> int:
    newest = 0
    for folder in folders:
        with suppress(OSError):
            newest = max(newest, os.stat(folder).st_mtime_ns)
    return newest


class SubagentDecoder:
    """Decodes the lines of a session's subagents, each with a decoder of its own."""

    def __init__(self, decoder: Callable[[str], AgentDecoder]) -> None:
        self._new = decoder
        self._decoders: dict[str, AgentDecoder] = {}
        self._models: dict[str, str | None] = {}

    def decode(self, fields: Fields) -> list[Event]:
        name = (text(fields, SUBAGENT) or "")[:MOST_ID]
        if name not in self._decoders:
            if len(self._decoders) >= MOST_SUBAGENTS:
                return []
            self._decoders[name] = self._new(name)
        return self._events(name, self._decoders[name].decode(own_fields(fields)))

    def end(self) -> list[Event]:
        return [event for name, each in self._decoders.items() for event in self._events(name, each.end())]

    def _events(self, name: str, events: list[Event]) -> list[Event]:
        found: list[Event] = []
        for event in events:
            if isinstance(event, RunStarted | RunInfo):
                self._models[name] = event.model or self._models.get(name)
            elif isinstance(event, Usage):
                tokens = event.tokens._replace(context_used=None, context_size=None)
                found.append(event._replace(tokens=tokens, model=event.model or self._models.get(name)))
            else:
                found += of_subagent(event, name)
        return found


def own_fields(fields: Fields) -> Fields:
    return {key: value for key, value in fields.items() if key != SUBAGENT}


def of_subagent(event: Event, parent_call: str) -> list[Event]:
    """Leave out what is about the subagent's own run. `parent_call` has started it, or is its id."""
    if isinstance(event, Prompt | Text | TextEnded | ToolStarted | ToolEnded):
        return [event._replace(parent_call=event.parent_call or parent_call)]
    return [event] if isinstance(event, ToolProgress | Permission | Unknown) else []
