"""Films the screen of a session: writes what changes on it, when it changes, as an asciicast."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from io import StringIO
from tempfile import TemporaryFile
from typing import IO

from rich.console import Console

from agentwatch.actions import action
from agentwatch.exports.asciicast.cast import Cast, Code, exit_code, header
from agentwatch.exports.asciicast.text import Clock
from agentwatch.exports.exported import Exported
from agentwatch.exports.exporter import Choices
from agentwatch.faults import Signalled
from agentwatch.feed import Feed
from agentwatch.feed.pace import UNTIMED_MS
from agentwatch.recording import LineReader
from agentwatch.redaction.recording import Complete
from agentwatch.screen.film.app import FilmedApp, FilmedScreen, SetClock
from agentwatch.screen.terminal.compositor import drawn_rows, lay_out
from agentwatch.session import Call
from agentwatch.text.safe import safe_line

_FRAME_SECONDS = 0.1
"""The least time between two frames."""
_MOST_FRAMES = 1800
"""A longer film has fewer frames per second, so that an hour, which has one every 2 s, is made in a minute.

A frame takes 8 ms of CPU time for a small session, and 35 ms for one of 60 MB.
"""
_CLOCK_SECONDS = 1.0
"""The most time between two frames: the clocks on the screen show seconds."""
_PIECE_BYTES = 1 << 16
_MOST_TICKS = 10_000
_STILL_ROUNDS = 3
_STILL_SECONDS = 0.05
_BEGIN = "\x1b[?25l\x1b[2J"
_END = "\x1b[0m\x1b[?25h"


def filmed(exported: Exported, choices: Choices) -> Iterator[bytes]:
    """Yield an asciicast of the screen that replays a session.

    Raises:
        Signalled: A signal has ended the film.
    """
    with TemporaryFile() as file:
        asyncio.run(_Film(exported, choices, file).make())
        file.seek(0)
        while piece := file.read(_PIECE_BYTES):
            yield piece


class _Film:
    def __init__(self, exported: Exported, choices: Choices, file: IO[bytes]) -> None:
        self._exported, self._choices, self._file = exported, choices, file
        reader = exported.feed.reader
        assert isinstance(reader, LineReader)
        again = LineReader(reader.fd, Complete(exported.timeline.size), reader.times)
        self._feed = Feed(again, exported.feed.agent)
        self._clock = SetClock()
        self._app = FilmedApp(again, self._feed, self._clock, choices.max_idle)
        self._console = Console(file=StringIO(), color_system="truecolor", force_terminal=True)
        self._cast = Cast(0)
        self._shown: list[str] = []
        """The rows as they were written last."""

    async def make(self) -> None:
        """Write the whole film."""
        exported, choices = self._exported, self._choices
        started_ms = exported.timeline.ms_at(exported.start)
        command = f"agentwatch replay {safe_line(exported.name)}"
        self._file.writelines(header(exported, choices, started_ms, command))
        async with self._app.run_test(size=(choices.columns, choices.rows)):
            screen = self._app.screen
            assert isinstance(screen, FilmedScreen)
            await self._open(screen)
            await self._play(screen)
        if self._app.ended_by is not None:
            raise Signalled(self._app.ended_by)
        self._write(Code.OUTPUT, _END)
        if (code := exit_code(exported.session)) is not None:
            self._write(Code.EXIT, code)

    async def _open(self, screen: FilmedScreen) -> None:
        """Read the recording, and wait until the screen shows everything that it shows of it."""
        self._feed.advance()
        if self._exported.filter_words:
            screen.workspace.filter_calls(self._exported.filter_words)
        playhead = screen.playhead
        start, end = self._exported.start, self._exported.feed.offset
        playhead.start, playhead.until = start, None if end >= screen.timeline.size else end
        playhead.play(start)
        still, rows = 0, list[str]()
        while still < _STILL_ROUNDS:
            await asyncio.sleep(_STILL_SECONDS)
            before, rows = rows, await self._drawn(screen)
            still = still + 1 if rows == before else 0

    async def _play(self, screen: FilmedScreen) -> None:
        playhead, choices = screen.playhead, self._choices
        least = max(_FRAME_SECONDS, self._seconds() / _MOST_FRAMES)
        self._write(Code.OUTPUT, _BEGIN)
        while True:
            before = playhead.offset
            rows = await self._drawn(screen)
            for call in _failures(screen, before, playhead.offset):
                self._write(Code.MARKER, f"#{call.number} {action(call)}")
            if changed := self._changed(rows):
                self._write(Code.OUTPUT, changed)
            if choices.progress is not None:
                choices.progress(playhead.offset, self._exported.feed.offset)
            if not playhead.is_playing or self._app.ended_by is not None:
                return
            wait = _seconds_to_next(screen, choices.max_idle)
            self._clock.seconds += min(max(wait, least), max(_CLOCK_SECONDS, least))

    async def _drawn(self, screen: FilmedScreen) -> list[str]:
        """Show the present moment, and return the rows of the screen."""
        for _ in range(_MOST_TICKS):
            if screen.tick():
                break
        for _ in range(2):  # what is laid out sends messages to the widgets that have moved
            await self._app.handled()
            lay_out(screen)
        return drawn_rows(screen, self._console)

    def _seconds(self) -> float:
        """Return about how long the film is."""
        timeline, max_idle = self._exported.timeline, self._choices.max_idle
        clock = Clock(self._exported)
        begin_ms, end_ms = clock.ms_at(self._exported.start), clock.ms_at(self._exported.feed.offset)
        if max_idle is None or not timeline.has_times:
            return (end_ms - begin_ms) / 1000
        seconds, at_ms = 0.0, begin_ms
        while at_ms < end_ms:
            later_ms = timeline.around(at_ms + _FRAME_SECONDS * 1000)[1]
            after_ms = end_ms if later_ms is None else later_ms
            seconds += min((after_ms - at_ms) / 1000, max(max_idle, _FRAME_SECONDS))
            at_ms = after_ms
        return seconds

    def _changed(self, rows: list[str]) -> str:
        """Return what to write so that a terminal shows these rows; empty if it shows them."""
        before = self._shown or [""] * len(rows)
        self._shown = rows
        changed = (y for y, (now, last) in enumerate(zip(rows, before, strict=False), 1) if now != last)
        return "".join(f"\x1b[{y};1H{rows[y - 1]}" for y in changed)

    def _write(self, code: Code, data: str) -> None:
        self._file.write(self._cast.event(self._clock.seconds * 1000, code, data))


def _failures(screen: FilmedScreen, start: int, end: int) -> Iterator[Call]:
    """Yield the calls that failed after a moment, up to another."""
    while (call := screen.failure_between(start, end)) is not None and call.ended is not None:
        yield call
        start = call.ended.offset + call.ended.length + 1


def _seconds_to_next(screen: FilmedScreen, max_idle: float | None) -> float:
    """Return the time until the next line is shown."""
    at_ms = screen.playhead.now_ms
    if at_ms is None:
        return UNTIMED_MS / 1000
    later_ms = screen.timeline.around(at_ms)[1]
    if later_ms is None:
        return _FRAME_SECONDS
    seconds = (later_ms - at_ms) / 1000
    return seconds if max_idle is None else min(seconds, max_idle)
