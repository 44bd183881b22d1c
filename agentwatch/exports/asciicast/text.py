"""Writes the text format as a recording of a terminal: one line for each call when it ended."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agentwatch.actions import action
from agentwatch.events import Outcome
from agentwatch.exports.asciicast.cast import Cast, Code, exit_code, header
from agentwatch.exports.exported import Exported
from agentwatch.exports.exporter import Choices
from agentwatch.feed.pace import UNTIMED_MS
from agentwatch.recording import LineReader
from agentwatch.session import Call
from agentwatch.text.safe import safe_line

_PIECE = 1 << 20
_FAILED = (Outcome.FAILED, Outcome.REJECTED)


def write(exported: Exported, choices: Choices) -> Iterator[bytes]:
    """Yield the lines of the file."""
    clock = Clock(exported)
    end = exported.feed.offset
    begin_ms = clock.ms_at(exported.start)
    started_ms = exported.timeline.ms_at(exported.start)
    yield from header(exported, choices, started_ms, f"agentwatch --print {safe_line(exported.name)}")
    cast = Cast(begin_ms, choices.max_idle)
    for call in _ended(exported):
        place = call.ended
        moment = end if place is None else place.offset + place.length + 1
        at_ms = clock.ms_at(moment)
        if call.outcome in _FAILED:
            yield cast.event(at_ms, Code.MARKER, f"#{call.number} {action(call)}")
        yield cast.event(at_ms, Code.OUTPUT, f"{action(call)}\r\n")
        if choices.progress is not None:
            choices.progress(moment, end)
    if (code := exit_code(exported.session)) is not None:
        yield cast.event(clock.ms_at(end), Code.EXIT, code)


class Clock:
    """The time of each moment of a recording: its recorded time, or 20 lines a second."""

    def __init__(self, exported: Exported) -> None:
        """Create the clock of the recording that is exported."""
        reader = exported.feed.reader
        assert isinstance(reader, LineReader)
        self._fd = reader.fd
        self._timeline = exported.timeline
        self._counted, self._lines = 0, 0
        """The moment up to which lines were counted, and their number."""

    def ms_at(self, moment: int) -> int:
        """Return the time of a moment in milliseconds. The moments must not go back."""
        at_ms = self._timeline.ms_at(moment)
        if at_ms is not None:
            return at_ms
        while self._counted < moment:
            piece = os.pread(self._fd, min(moment - self._counted, _PIECE), self._counted)
            if not piece:
                break
            self._lines += piece.count(b"\n")
            self._counted += len(piece)
        return self._lines * UNTIMED_MS


def _ended(exported: Exported) -> Iterator[Call]:
    """Yield the exported calls in the order in which they ended, those that never ended last."""
    calls = exported.session.calls
    is_exported = bytearray(len(calls) + 1)
    for call in exported.calls():
        is_exported[call.number] = True
    for call in exported.session.ended_calls:
        if is_exported[call.number]:
            yield call
