"""The app whose screen is filmed: it is drawn when it is asked to be, at the time of a clock that is set."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from io import StringIO
from shlex import quote
from tempfile import TemporaryFile
from typing import IO

from rich.console import Console

from agentwatch.base.config import Config
from agentwatch.base.faults import Signalled
from agentwatch.feed.feed import Feed
from agentwatch.feed.playhead import UNTIMED_MS, Playhead, Replay
from agentwatch.feed.timeline import RecordedTimes
from agentwatch.output.export.asciicast import Cast, Clock, Code, exit_code, header
from agentwatch.output.export.exported import Exported
from agentwatch.output.export.exporters import Choices
from agentwatch.output.redact.recording import Complete
from agentwatch.recording.lines import LineReader
from agentwatch.screen.panes.moment import next_failure
from agentwatch.screen.screens.session.app import AgentwatchApp, Leave
from agentwatch.screen.screens.session.screen import FirstShown, WatchScreen
from agentwatch.screen.terminal.compositor import drawn_rows, lay_out
from agentwatch.screen.terminal.frames import FrameScheduler
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.session.actions import action
from agentwatch.session.call import Call
from agentwatch.session.reducers import keep_few
from agentwatch.sources.file import FileSource
from agentwatch.text.safe import safe_line

_MOST_SECONDS = 60.0
"""In which the widgets must have handled their messages; one that has failed never does."""


class SetClock:
    """A clock that shows the time that it was set to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self.seconds


class _NoScheduler(FrameScheduler):
    """Never ticks by itself."""

    def within(self, seconds: float) -> None:
        """Do nothing: the film ticks."""


class FilmedScreen(WatchScreen):
    """The screen of a session, which ticks only when `tick` is called."""

    def hold(self) -> None:
        """Take the schedule away, before the screen is shown."""
        self.frame_scheduler = _NoScheduler(self._tick, self.call_next)

    @property
    def playhead(self) -> Playhead:
        """The playhead."""
        return self._moment.playhead

    @property
    def timeline(self) -> RecordedTimes:
        """The times of the recording."""
        return self._moment.history.timeline

    @property
    def is_read(self) -> bool:
        """Whether all of the recording is read."""
        return self._feed.is_over

    def tick(self) -> bool:
        """Show the present moment; return whether everything is shown, or another tick is due at once."""
        return self._tick() != 0

    def failure_between(self, start: int, end: int) -> Call | None:
        """Return the first call that failed after a moment, up to another; None without one."""
        return next_failure(self._feed.session, start, end)


class FilmedApp(AgentwatchApp):
    """The app of one session, as it is replayed."""

    def __init__(self, reader: LineReader, feed: Feed, clock: SetClock, max_idle: float | None) -> None:
        """Create the app.

        Args:
            reader: Reads the recording from its start.
            feed: The feed of that reader, which has not read anything yet.
            clock: The clock of the replay.
            max_idle: Longer silences are shortened to this number of seconds; None is no limit.
        """
        self._replay_of_film = Replay(max_idle=max_idle, clock=clock)
        source = FileSource(reader)
        super().__init__(source, feed, HeldSignals(), Config(), self._replay_of_film)
        self._handled = asyncio.Event()
        self._unhandled = 0

    def get_default_screen(self) -> FilmedScreen:
        """Return the session's screen, without its schedule."""
        keep_few(self._feed.session)
        screen = FilmedScreen(
            self._source,
            FirstShown(self._feed),
            self._replay_of_film,
            config=self.config,
            write=lambda _sequence: None,
        )
        screen.hold()
        return screen

    def exit(self, result: Leave | None = None, return_code: int = 0, message: object = None) -> None:
        """Exit; widgets handle no more messages."""
        super().exit(result, return_code, message)
        self._handled.set()

    async def handled(self) -> None:
        """Wait until the widgets have handled the messages that they have, or the app ends.

        Raises:
            TimeoutError: A widget has failed. Textual raises its exception when the app ends.
        """
        self._handled.clear()
        self._unhandled = 0
        for widget in self.screen.walk_children(with_self=True):
            self._unhandled += widget.call_later(self._count)
        if self._unhandled and not self.is_leaving:
            async with asyncio.timeout(_MOST_SECONDS):
                await self._handled.wait()

    def _count(self) -> None:
        self._unhandled -= 1
        if not self._unhandled:
            self._handled.set()


# Films the screen of a session: writes what changes on it, when it changes, as an asciicast.

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
        command = f"agentwatch replay {quote(safe_line(exported.name))}"
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
