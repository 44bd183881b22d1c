"""The app whose screen is filmed: it is drawn when it is asked to be, at the time of a clock that is set."""

from __future__ import annotations

import asyncio

from agentwatch.config import Config
from agentwatch.feed import Feed
from agentwatch.feed.playhead import Playhead, Replay
from agentwatch.feed.timeline import RecordedTimes
from agentwatch.recording import LineReader
from agentwatch.screen.app import AgentwatchApp, Leave
from agentwatch.screen.first_shown import FirstShown
from agentwatch.screen.moment.calls import next_failure
from agentwatch.screen.screen import WatchScreen
from agentwatch.screen.terminal.frames import FrameScheduler
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.session import Call, keep_few
from agentwatch.sources.file import FileSource

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
