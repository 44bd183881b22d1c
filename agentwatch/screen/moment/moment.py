"""The moment that the screen shows, and the feed that stands there."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from enum import Enum

from agentwatch.analysis.since.words import behind_words
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.feed.history import History
from agentwatch.feed.index.kept import NOTHING_KEPT, Kept
from agentwatch.feed.playhead import Playhead, Replay
from agentwatch.recording import LineReader, now_ms
from agentwatch.safe_text import SafeText
from agentwatch.screen.frame.moment_name import moment_name
from agentwatch.session import Call, Place

_FAILED = (Outcome.FAILED, Outcome.REJECTED)
_NEVER = 1 << 62


class Change(Enum):
    """How the moment has changed since the last tick."""

    NONE = "none"
    FORWARD = "forward"
    """The session that is shown has grown."""
    OTHER = "other"
    """Another session is shown: the moment has gone back, far forward, or to or from the live end."""


class Moment:
    """Moves the playhead of a session, and knows the feed whose session the screen shows."""

    def __init__(
        self, feed: Feed, reader: LineReader, replay: Replay | None = None, kept: Kept = NOTHING_KEPT
    ) -> None:
        """Create the moment of a session: the live one, or the start of a replay.

        Args:
            feed: Reads the whole recording at full speed; it has not read anything yet.
            reader: The reader of the feed.
            replay: How to replay the recording; None to show the live moment.
            kept: What is kept of the recording.
        """
        self.feed = feed
        """The feed at the live moment."""
        self.history = History(feed, reader, kept)
        self.playhead = Playhead(self.history.timeline, replay, is_over=lambda: feed.is_over)
        self.shown = feed if replay is None else self.history.at(0)
        """The feed whose session is shown."""
        self.is_ready = True
        """Whether the moment can be moved; not while only a preview of the recording is shown."""
        self.is_sought = False
        """Whether the user has moved the moment since the last tick."""
        self.chosen: int | None = None
        """The number of the call that is to be selected at the moment to which the user has moved."""
        self._offset = 0

    @property
    def is_live(self) -> bool:
        """Whether the live moment is shown."""
        return self.playhead.is_live

    def tick(self) -> Change:
        """Move the playhead by the time that has passed, and return how the moment has changed."""
        self.playhead.tick()
        before, offset = self.shown, self.playhead.offset
        self.shown = self.feed if self.is_live else self.history.at(offset)
        has_moved, self._offset = offset != self._offset, offset
        if self.shown is not before:
            return Change.OTHER
        return Change.FORWARD if has_moved and not self.is_live else Change.NONE

    def close(self) -> None:
        """Stop keeping what was read."""
        if self.history.index is not None:
            self.history.index.drop()

    def go_to(self, offset: int) -> None:
        """Go to the last line end at or before an offset."""
        self.playhead.seek(self.history.timeline.aligned(offset))
        self.is_sought = True

    def go_to_call(self, call: Call) -> None:
        """Go to the moment at which a call has ended, and select the call there."""
        self.go_to(end_of(call))
        self.chosen = call.number

    def take_chosen(self) -> int | None:
        """Return the number of the call that is to be selected, and forget it."""
        chosen, self.chosen = self.chosen, None
        return chosen

    def now_ms(self) -> int | None:
        """Return the time that is shown, in milliseconds since the epoch; None if no time is known.

        In a complete recording, it is the time of the last line.
        """
        return live_ms(self.feed) if self.is_live else self.playhead.now_ms

    def step(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) moment at which something changes, and pause there."""
        history, offset = self.history, self.playhead.offset
        self.go_to(history.event_after(offset) if direction > 0 else history.event_before(offset))
        self.playhead.is_paused = not self.playhead.is_live

    def as_of(self, width: int) -> SafeText:
        """Return how far the moment is behind the live one, in `width` columns; empty at the live moment."""
        if self.is_live:
            return SafeText("")
        name = moment_name(self.playhead.now_ms, self.playhead.offset, self.history.timeline.size)
        return behind_words(self.shown.session, self.feed.session, name, width)

    def beside_call(self, step: int) -> int | None:
        """Return the moment at which the next (1) or previous (-1) call ended; None without one."""
        ended, offset = self.feed.session.ended_calls, self.playhead.offset
        if step > 0:
            index = bisect_right(ended, offset, key=end_of)
        else:
            index = bisect_left(ended, offset, key=end_of) - 1
        call = ended[index] if 0 <= index < len(ended) else None
        return None if call is None or call.ended is None else end_of(call)

    def next_failure(self, start: int, end: int) -> int | None:
        """Return the first moment after `start`, up to `end`, at which a call failed; None without one."""
        ended = self.feed.session.ended_calls
        for index in range(bisect_right(ended, start, key=end_of), len(ended)):
            call = ended[index]
            if end_of(call) > end:
                break
            if call.outcome in _FAILED:
                return end_of(call)
        return None


def live_ms(feed: Feed) -> int | None:
    """Return the time at the live moment: in a complete recording, that of the last line."""
    return feed.session.last_seen_ms if feed.reader.growth.has_ended() else now_ms()


def end_of(call: Call) -> int:
    """Return the moment at which a call has ended; for a call that never ended, the end of the recording."""
    place: Place | None = call.ended
    return _NEVER if place is None else place.offset + place.length + 1
