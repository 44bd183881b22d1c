"""Reads a session of Mistral Vibe: the entries of its last checkpoint, then the journals since. Only lines
that change what a user sees are returned: the others repeat them, with the prompts of the vendor."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentwatch.agents.description_files import json_object
from agentwatch.agents.fields import items, mapping, text
from agentwatch.agents.vibe.agent import RECORD
from agentwatch.recording.store import open_own, within
from agentwatch.sources.stores.lines import Tail, as_line, parsed

_MOST_BYTES = 256 << 20
_MOST_CHUNKS = 10_000
_SHOWN = (b'"type":"projection_delta"', b'"type":"callback_registered"', b'"type":"callback_resolved"')
"""The records that change an entry, the state or a question."""


class Journal:
    """A session. Creating it reads nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._number = -1
        """The number of the journal that is read; -1 before the first."""
        self._generation: str | None = None
        """The checkpoint that was read last."""
        self._tail: Tail | None = None

    def new_lines(self) -> list[bytes]:
        """Return the lines that no earlier call has returned. After a checkpoint whose journal was not seen,
        its entries are returned again. Raise `OSError` if the session cannot be read."""
        lines = list[bytes]()
        names = (each.stem for each in (self._path / "journal").glob("*.jsonl"))
        numbers = sorted(int(name) for name in names if name.isdecimal())
        if self._number not in numbers:
            generation = text(json_object(str(self._path / "CURRENT")), "generation")
            if self._number < 0 or generation != self._generation:
                self.close()
                self._generation = generation
                self._number, lines = self._checkpoint(generation)
        for number in numbers:
            if number >= self._number:
                lines += self._lines_of(number)
        return lines

    def close(self) -> None:
        if self._tail is not None:
            os.close(self._tail.fd)
            self._tail = None

    def _lines_of(self, number: int) -> list[bytes]:
        if number != self._number or self._tail is None:
            self.close()
            with suppress(FileNotFoundError):
                self._tail = Tail(open_own(self._path / "journal" / f"{number:016}.jsonl"))
            self._number = number
        if self._tail is None or not self._tail.has_grown():
            return []
        return [line for line in self._tail.lines() if any(each in line for each in _SHOWN)]

    def _checkpoint(self, name: str | None) -> tuple[int, list[bytes]]:
        """Return the number of the journal after the last checkpoint, and the lines that stand for that."""
        lines = [_line("set_facts", facts=json_object(str(self._path / "meta.json")))]
        folder = within(self._path / "generations", name) if name else None
        if folder is None:
            return 0, lines
        manifest = json_object(str(folder / "manifest.json"))
        for chunk in items(mapping(manifest.get("projection_state")).get("chunks"))[:_MOST_CHUNKS]:
            lines += [_line("append_entry", entry=each) for each in self._entries(chunk)]
        state = json_object(str(folder / "projection-state.json"), _MOST_BYTES).get("snapshot")
        first = mapping(manifest.get("recovery_journal_segment")).get("first_sequence")
        return max(first, 0) if type(first) is int else 0, [*lines, _line("set_envelope", state=state)]

    def _entries(self, chunk: object) -> list[Any]:
        path = within(self._path / "chunks", f"{chunk}.json") if isinstance(chunk, str) else None
        if path is None:
            return []
        with suppress(FileNotFoundError):
            fd = open_own(path)
            try:
                return items(parsed(os.pread(fd, _MOST_BYTES, 0)))
            finally:
                os.close(fd)
        return []


def _line(op: str, **change: object) -> bytes:
    """Return a change as a line of a journal; an empty one if it is nested too deeply."""
    record = {RECORD: 1, "type": "projection_delta", "payload": {"delta": [{"op": op, **change}]}}
    return as_line(record) or b"{}\n"
