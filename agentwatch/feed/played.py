"""A replay for outputs without a screen: the recording seems to grow as it is played."""

from __future__ import annotations

from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.feed.playhead import Playhead, Replay
from agentwatch.recording import LineReader
from agentwatch.wire import Agent


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


def replayed(reader: LineReader, replay: Replay, agent: Agent | None = None) -> Feed:
    """Return a feed whose recording grows as it is replayed.

    Args:
        reader: Reads the whole recording.
        replay: How to replay it.
        agent: The agent that wrote the recording; None to detect it.
    """
    whole = Feed(reader, agent)
    timeline = History(whole, reader).timeline
    whole.advance()
    playhead = Playhead(timeline, replay, is_over=lambda: True)
    feed = Feed(LineReader(reader.fd, PlayedGrowth(playhead), reader.times), agent)
    feed.takes_agent_times = True
    return feed
