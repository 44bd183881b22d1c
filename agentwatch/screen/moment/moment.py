"""The moment that the screen shows, and the feed that stands there."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from agentwatch.feed import Feed
from agentwatch.feed.history import History
from agentwatch.feed.playhead import Playhead, Replay
from agentwatch.recording import LineReader, now_ms
from agentwatch.screen.frame.moment_name import moment_name
from agentwatch.screen.moment.calls import call_beside, end_of
from agentwatch.session import Call
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:
    from agentwatch.analysis.moments import Asked
    from agentwatch.screen.moment.opening import Opening

_READ_BYTES = 1 << 16
"""If fewer bytes than this are unread, a replay is at the end of the recording, not of what is read of it."""


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
        self,
        feed: Feed,
        reader: LineReader,
        replay: Replay | None = None,
        asked: Asked | None = None,
    ) -> None:
        """Create the moment of a session: the live one, or the start of a replay.

        Args:
            feed: Reads the whole recording at full speed; it has not read anything yet.
            reader: The reader of the feed.
            replay: How to replay the recording; None to show it.
            asked: What the command line asks of the moment; None if it asks nothing.
        """
        self.feed = feed
        """The feed at the live moment."""
        self.history = History(feed, reader)
        self.playhead = Playhead(
            self.history.timeline,
            replay,
            is_over=lambda: feed.is_over,
            is_read=lambda: feed.backlog() < _READ_BYTES,
        )
        self.opening: Opening | None = None
        """What the command line asked of the moment; None if it asked nothing, and nothing is replayed."""
        if asked is not None or replay is not None:
            from agentwatch.analysis.moments import NOTHING_ASKED
            from agentwatch.screen.moment.opening import Opening

            is_replay = replay is not None
            self.opening = Opening(self.history, self.playhead, asked or NOTHING_ASKED, is_replay=is_replay)
        self.shown = feed if replay is None else self.history.at(0)
        """The feed whose session is shown."""
        self.is_ready = True
        """Whether the moment can be moved; not while `shown` is only a preview of the recording."""
        self.is_sought = False
        """Whether the user has moved the moment since the last tick."""
        self.chosen: int | None = None
        """The number of the call that is to be selected at the moment to which the user has moved."""
        self._offset = 0
        self._is_reached = False

    @property
    def is_live(self) -> bool:
        """Whether the live moment is shown."""
        return self.playhead.is_live

    @property
    def is_due(self) -> bool:
        """Whether the moment was moved since the last tick."""
        is_shown = self.shown is self.feed if self.is_live else self.playhead.offset == self._offset
        return not is_shown

    def tick(self) -> Change:
        """Move the playhead by the time that has passed, and return how the moment has changed."""
        opening = self.opening
        if opening is not None and (opened := opening.advance(is_moved=self.is_sought)) is not None:
            offset, self.chosen = opened
            self.playhead.seek(offset)
            self.is_sought = True
        self.playhead.tick()
        before, offset = self.shown, self.playhead.offset
        self.shown = self.feed if self.is_live else self.history.at(offset)
        has_moved, self._offset = offset != self._offset, offset
        was_reached, self._is_reached = self._is_reached, False
        if self.shown is not before:
            return Change.OTHER
        has_grown = was_reached or (has_moved and not self.is_live)
        return Change.FORWARD if has_grown else Change.NONE

    def reached(self) -> Feed:
        """Return the feed of the moment to which the playhead was moved. The next tick reports it too."""
        self.tick()
        self._is_reached = True
        return self.shown

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
        from agentwatch.analysis.since.words import behind_words

        name = moment_name(self.playhead.now_ms, self.playhead.offset, self.history.timeline.size)
        return behind_words(self.shown.session, self.feed.session, name, width)

    def beside_call(self, step: int) -> Call | None:
        """Return the call that ended next after (1) or last before (-1) the moment; None without one."""
        return call_beside(self.feed.session, self.playhead.offset, step)


def live_ms(feed: Feed) -> int | None:
    """Return the time at the live moment: in a complete recording, that of the last line."""
    return feed.session.last_seen_ms if feed.reader.growth.has_ended() else now_ms()
