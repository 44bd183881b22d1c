"""The earlier moments of a feed: its session as it was after any line.

A moment is a number of bytes of the recording, and lies after a line end. The session at a moment is what a
feed shows that has read only these bytes.
"""

from __future__ import annotations

from bisect import bisect_left

from agentwatch.feed.checkpoints import Checkpoint, Checkpoints
from agentwatch.feed.event_ends import event_ends, next_event
from agentwatch.feed.feed import Feed
from agentwatch.feed.timeline import RecordedTimes
from agentwatch.recording import LineReader, Until
from agentwatch.session import Session
from agentwatch.session.earlier import empty_session
from agentwatch.wire import Decoder


class History:
    """A feed that reads the whole recording, and feeds that stand at its earlier moments."""

    def __init__(self, feed: Feed, reader: LineReader, *, goes_back: bool = True) -> None:
        """Observe a feed that has not read anything yet.

        Args:
            feed: The feed. Whoever shows its session advances it.
            reader: The reader of the feed.
            goes_back: Whether earlier moments will be asked for. Without checkpoints they are read from the
                start, and a recording of many calls is read in four fifths of the time.
        """
        self.feed = feed
        """The feed at the live moment."""
        self.timeline = RecordedTimes(reader.fd)
        self.applied = self.timeline.note
        """Notes the time of a line that the feed has applied, or of several short ones."""
        self._reader = reader
        feed.observer, feed.takes_agent_times = self, True
        self._checkpoints = Checkpoints()
        self._goes_back = goes_back
        self._earlier: Feed | None = None
        """The feed of the last moment that was asked for."""
        self._until = Until(0)
        """Where that feed stops."""
        self._event_ends: list[int] = []
        """The ends of successive events, found by the last search backwards."""

    def at(self, offset: int) -> Feed:
        """Return the feed at a moment: the live one if the moment is the live one.

        It takes up to 10 ms: at most 512 KiB are decoded, unless a line is longer. A feed that was returned
        before must not be used any more: it may be the same one, which has moved.
        """
        if offset >= self.feed.offset:
            return self.feed
        earlier, start = self._earlier, self._checkpoints.offset_before(offset)
        if earlier is None or not start <= self._until.end <= offset:
            earlier = self._earlier = self._restored(offset)
        self._until.end = offset
        earlier.advance()
        return earlier

    def event_after(self, offset: int) -> int:
        """Return the next moment after `offset` at which something changes; the live one if nothing does."""
        end = self.feed.offset
        if offset >= end:
            return end
        feed = self.at(offset)
        return next_event(feed, self._until, self._reader.fd, end)

    def event_before(self, offset: int) -> int:
        """Return the end of the event before the one that a moment shows; 0 at the first event.

        It takes up to 30 ms: the lines since the checkpoint before it are decoded one by one. Further steps
        back use what was found.
        """
        known = bisect_left(self._event_ends, offset)
        if 0 < known < len(self._event_ends) and self._event_ends[known] == offset:
            return self._event_ends[known - 1]
        ends: list[int] = []
        start = offset
        while start > 0 and len(ends) < 2:
            end, start = start, self._checkpoints.offset_before(start - 1)
            feed = self._restored(start)
            feed.advance()
            ends = [*event_ends(feed, self._until, self._reader.fd, end), *ends]
        self._earlier, self._event_ends = None, ends
        return ends[-2] if len(ends) > 1 else 0

    def paused(self, offset: int, session: Session, decoder: Decoder) -> None:
        """Take a checkpoint, if the last one is far enough back."""
        if self._goes_back:
            self._checkpoints.take(offset, session, decoder)

    def _restored(self, offset: int) -> Feed:
        """Return a feed that stands at the last checkpoint before a moment."""
        newest, agent = self.feed.session, self.feed.agent
        checkpoint = self._checkpoints.before(offset, newest)
        if checkpoint is None:
            checkpoint = Checkpoint(0, empty_session(newest), Decoder(agent))
        self._until = Until(checkpoint.offset)
        reader = LineReader(self._reader.fd, self._until, self._reader.times, checkpoint.offset)
        feed = Feed(reader, agent, checkpoint)
        feed.takes_agent_times = True
        return feed
