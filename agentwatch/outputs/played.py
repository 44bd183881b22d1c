"""A replay for outputs without a screen: the recording seems to grow as it is played."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Protocol

from agentwatch.analysis.moments import Asked, Problem, part_of
from agentwatch.feed import Agent, Feed
from agentwatch.feed.history import History
from agentwatch.feed.playhead import Playhead, Replay
from agentwatch.recording import LineReader
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line


class Recording(Protocol):
    """A recording and its bookmarks."""

    @property
    def reader(self) -> LineReader:
        """Reads the recording."""

    @property
    def bookmarks_path(self) -> Path | None:
        """Where its bookmarks are kept; None if it has no name."""


class PlayedGrowth:
    """The growth of a recording that a playhead plays."""

    def __init__(self, playhead: Playhead) -> None:
        self._playhead = playhead

    def size(self) -> int:
        """Return the moment of the playhead."""
        self._playhead.tick()
        return self._playhead.offset

    def has_ended(self) -> bool:
        """Return whether the playhead has reached the end."""
        self._playhead.tick()
        return self._playhead.is_at_end


class PlayedFeed(Feed):
    """The feed of a recording that a playhead plays. If it ends before the recording, the session goes on."""

    def __init__(self, reader: LineReader, playhead: Playhead, agent: Agent | None = None) -> None:
        """Create a feed.

        Args:
            reader: Reads the recording, as far as it is played.
            playhead: The playhead.
            agent: The agent that wrote the recording; None to detect it.
        """
        super().__init__(reader, agent)
        self.takes_agent_times = True
        self._playhead = playhead

    def _end(self) -> None:
        if self._playhead.is_live:
            super()._end()
        else:
            self.is_over = True


def replayed(
    recording: Recording, replay: Replay, asked: Asked, agent: Agent | None = None
) -> Feed | Problem:
    """Return a feed whose recording grows as it is replayed. What lies before the replay is applied.

    Without recorded times, all of it is there at once. If the recording does not have the part that is asked
    for, the reason is returned.

    Args:
        recording: The whole recording.
        replay: How to replay it.
        asked: Which part of it is replayed.
        agent: The agent that wrote the recording; None to detect it.
    """
    reader = recording.reader
    whole = Feed(reader, agent)
    history = History(whole, reader)
    whole.advance()
    bookmarks = Bookmarks(recording.bookmarks_path, partial(ends_a_line, reader.line_at))
    part = part_of(asked, whole.session, history.timeline, bookmarks.by_name())
    if isinstance(part, Problem):
        return part
    playhead = Playhead(history.timeline, replay, is_over=lambda: True)
    playhead.start, playhead.until = part
    playhead.play(part.start)
    playhead.is_paused = True
    feed = PlayedFeed(LineReader(reader.fd, PlayedGrowth(playhead), reader.times), playhead, agent)
    feed.advance()
    if history.timeline.has_times:
        playhead.turn()
    else:
        playhead.seek(history.timeline.size if part.until is None else part.until)
    return feed
