"""The earlier moments of a feed: its session as it was after any line.

A moment is a number of bytes of the recording, and lies after a line end. The session at a moment is what a
feed shows that has read only these bytes.
"""

from __future__ import annotations

from agentwatch.feed.checkpoints import Checkpoint, Checkpoints
from agentwatch.feed.feed import Feed
from agentwatch.feed.timeline import Timeline
from agentwatch.recording import LineReader, Until
from agentwatch.session import Pieces, Place, Session
from agentwatch.session.earlier import empty_session
from agentwatch.wire import Decoder


class History:
    """A feed that reads the whole recording, and feeds that stand at its earlier moments."""

    def __init__(self, feed: Feed, reader: LineReader) -> None:
        """Observe a feed that has not read anything yet.

        Args:
            feed: The feed. Whoever shows its session advances it.
            reader: The reader of the feed.
        """
        self.feed = feed
        """The feed at the live moment."""
        self.timeline = Timeline(reader.fd)
        self._reader = reader
        feed.observer, feed.takes_agent_times = self, True
        self._checkpoints = Checkpoints()
        self._earlier: Feed | None = None
        """The feed of the last moment that was asked for."""
        self._until = Until(0)
        """Where that feed stops."""

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

    def applied(self, place: Place, pieces: Pieces | None) -> None:
        """Note the time of a line that the feed has applied, or of several short ones."""
        self.timeline.note(place, pieces)

    def paused(self, offset: int, session: Session, decoder: Decoder) -> None:
        """Take a checkpoint, if the last one is far enough back."""
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
