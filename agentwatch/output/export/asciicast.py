"""asciicast: the text format as a recording of a terminal, one line for each call when it ended.

The format: https://docs.asciinema.org/manual/asciicast/v3
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import StrEnum
from shlex import quote

import orjson

from agentwatch.feed.playhead import UNTIMED_MS
from agentwatch.output.export.exported import Exported
from agentwatch.output.export.exporters import Choices, Exporter
from agentwatch.recording.lines import LineReader
from agentwatch.session.actions import action
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.session.rules import BAD_OUTCOMES
from agentwatch.session.session import Session
from agentwatch.text.safe import SafeText, cut, safe_line, title_line

_VERSION = 3
_TITLE_COLUMNS = 100
_MOST_PROMPT = 1000
_YEAR_10000_SECONDS = 253_402_300_800


class Code(StrEnum):
    OUTPUT = "o"
    MARKER = "m"
    EXIT = "x"


class Cast:
    """The events, as lines of JSON. Silences longer than `max_idle` seconds are shortened to it."""

    def __init__(self, begin_ms: float, max_idle: float | None = None) -> None:
        self._last_ms = begin_ms
        self._max_ms = None if max_idle is None else max_idle * 1000

    def event(self, at_ms: float, code: Code, data: str) -> bytes:
        """Return an event. One that is earlier than the event before follows it at once. `data` is what is
        written, the name of a marker, or the exit code."""
        passed_ms = max(round(at_ms - self._last_ms), 0)
        self._last_ms += passed_ms
        if self._max_ms is not None:
            passed_ms = min(passed_ms, round(self._max_ms))
        return orjson.dumps([passed_ms / 1000, code, data]) + b"\n"


def _header(exported: Exported, choices: Choices) -> Iterator[bytes]:
    begin_ms = exported.timeline.ms_at(exported.start)
    seconds = None if begin_ms is None else begin_ms // 1000
    is_known = seconds is not None and 0 <= seconds < _YEAR_10000_SECONDS
    fields = {
        "version": _VERSION,
        "term": {"cols": choices.columns, "rows": choices.rows, "type": "xterm-256color"},
        **({"timestamp": seconds} if is_known else {}),
        "title": _title(exported.session, exported.name),
        "command": f"agentwatch --print {quote(safe_line(exported.name))}",
    }
    yield orjson.dumps(fields) + b"\n"
    masked = exported.masked
    words = "not redacted" if masked is None else f"redacted: {masked}"
    yield f"# {words}\n".encode()


def _exit_code(session: Session) -> str | None:
    """Return the exit code of a command that shows a session; None if the session has not ended."""
    outcome = session.outcome
    if outcome is None or outcome is Outcome.RUNNING or not session.is_closed:
        return None
    is_good = outcome is Outcome.SUCCEEDED
    is_good = is_good or (outcome is Outcome.UNFINISHED and not session.traits.has_result)
    return "0" if is_good else "1"


def _title(session: Session, name: str) -> SafeText:
    run = session.run
    return cut(title_line((run.title or run.prompt or name)[:_MOST_PROMPT]), _TITLE_COLUMNS)


_PIECE = 1 << 20


def write(exported: Exported, choices: Choices) -> Iterator[bytes]:
    clock = _Clock(exported)
    end = exported.feed.offset
    begin_ms = clock.ms_at(exported.start)
    yield from _header(exported, choices)
    cast = Cast(begin_ms, choices.max_idle)
    for call in _ended(exported):
        place = call.ended
        moment = end if place is None else place.offset + place.length + 1
        at_ms = clock.ms_at(moment)
        if call.outcome in BAD_OUTCOMES:
            yield cast.event(at_ms, Code.MARKER, f"#{call.number} {action(call)}")
        yield cast.event(at_ms, Code.OUTPUT, f"{action(call)}\r\n")
        if choices.progress is not None:
            choices.progress(moment, end)
    if (code := _exit_code(exported.session)) is not None:
        yield cast.event(clock.ms_at(end), Code.EXIT, code)


class _Clock:
    """The time of each moment of a recording: its recorded time, or 20 lines a second."""

    def __init__(self, exported: Exported) -> None:
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


EXPORTER = Exporter(name="asciicast", suffix=".cast", write=write)
