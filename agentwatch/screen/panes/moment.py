"""The moment that the screen shows, and the feed at that moment."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from agentwatch.analysis.search import Match, Query, Search, Side, text_of
from agentwatch.base.clock import now_ms
from agentwatch.feed.feed import Feed, RecordedTimes
from agentwatch.feed.history import History, after, end_of
from agentwatch.feed.playhead import Playhead, Replay
from agentwatch.recording.lines import LineReader
from agentwatch.session.actions import action, target
from agentwatch.session.call import Call
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from agentwatch.text.safe import SafeText, safe_line, safe_text
from agentwatch.text.times import time_of_day

if TYPE_CHECKING:
    from agentwatch.analysis.moments import Asked
    from agentwatch.screen.panes.opening import Opening

_READ_BYTES = 1 << 16
"""A replay has ended if fewer bytes are unread: it is at the end of the recording, not of what was read."""


class Change(Enum):
    """How the moment has changed since the last tick."""

    NONE = "none"
    FORWARD = "forward"
    OTHER = "other"
    """Another session is shown: the moment has gone back, far forward, or to or from the live end."""


class Moment:
    """Moves the playhead of a session, and knows the feed whose session the screen shows. `feed` has not read
    anything yet. Without `replay`, the live moment is shown."""

    def __init__(
        self, feed: Feed, reader: LineReader, replay: Replay | None = None, asked: Asked | None = None
    ) -> None:
        self.feed = feed
        self.history = History(feed, reader)
        self.playhead = Playhead(
            self.history.timeline,
            replay,
            is_over=lambda: feed.is_over,
            is_read=lambda: feed.backlog() < _READ_BYTES,
        )
        self.opening: Opening | None = None
        """The moments that the command line names; None if it names none, and nothing is replayed."""
        if asked is not None or replay is not None:
            from agentwatch.analysis.moments import NOTHING_ASKED
            from agentwatch.screen.panes.opening import Opening

            is_replay = replay is not None
            self.opening = Opening(self.history, self.playhead, asked or NOTHING_ASKED, is_replay=is_replay)
        self.shown = feed if replay is None else self.history.at(0)
        self.is_sought = False
        """Whether the user has moved the moment since the last tick."""
        self.chosen: int | None = None
        """The number of the call that is to be selected at the moment to which the user has moved."""
        self._offset = 0
        self._is_reached = False

    @property
    def is_live(self) -> bool:
        return self.playhead.is_live

    @property
    def is_due(self) -> bool:
        return self.shown is not self.feed if self.is_live else self.playhead.offset != self._offset

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
        """Return the feed of the moment to which the playhead was moved; the next tick reports this too."""
        self.tick()
        self._is_reached = True
        return self.shown

    def go_to(self, offset: int) -> None:
        self.playhead.seek(self.history.timeline.aligned(offset))
        self.is_sought = True

    def go_to_call(self, call: Call) -> None:
        """Go to the moment at which a call has ended, and select the call there."""
        self.go_to(end_of(call))
        self.chosen = call.number

    def go_to_selected(self, number: int) -> None:
        """Go to the moment at which a call had ended, or had started if it has not ended; select it."""
        self.go_to(_seen_at(self.feed.session.calls[number - 1]))
        self.chosen = number

    def take_chosen(self) -> int | None:
        """Return the number of the call that is to be selected, and forget it."""
        chosen, self.chosen = self.chosen, None
        return chosen

    def now_ms(self) -> int | None:
        """Return the time that is shown; in a complete recording, that of the last line."""
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
        from agentwatch.analysis.unread import behind_words

        playhead = self.playhead
        name = moment_name(playhead.now_ms, playhead.offset, self.history.timeline.size)
        sign = "‖" if playhead.is_paused else "◀" if playhead.is_reversed else "▶"
        return behind_words(self.shown.session, self.feed.session, SafeText(f"{sign} as of {name}"), width)


def live_ms(feed: Feed) -> int | None:
    """Return the time at the live moment: in a complete recording, that of the last line."""
    return feed.session.last_seen_ms if feed.reader.growth.has_ended() else now_ms()


def moment_name(at_ms: int | None, offset: int, size: int) -> SafeText:
    """Return the name of a moment: its time of day, or its share of the bytes read so far, `62 %`."""
    return SafeText(f"{100 * offset // max(size, 1)} %" if at_ms is None else time_of_day(at_ms))


def _seen_at(call: Call) -> int:
    """Return the moment at which a call had ended, or had started if it has not ended."""
    return end_of(call) if call.ended or call.started is None else after(call.started)


# Moves the moment on to what a search has found after it.
# A search covers the whole session. A match that lies after the moment is shown at the first moment at
# which it is complete.

_GROWING = (Kind.ANSWER, Kind.REASONING)
"""Entries whose text comes with several lines."""


class Reach:
    """Shows the moment of a match, and returns to the moment at which the search began."""

    def __init__(
        self, moment: Moment, show: Callable[[Feed, int | None], None], on_moved: Callable[[], None]
    ) -> None:
        self._moment = moment
        self._show = show
        self._on_moved = on_moved
        self._origin: tuple[int, bool] | None = None
        """The moment at which the search began, and whether it was paused; None until a match moved it."""
        self._goal: int | None = None
        """The moment to which the current match has moved."""
        self._is_goal_live = False

    def begin(self) -> None:
        self._origin = self._goal = None
        self._catch_up()

    def words(self) -> SafeText:
        """Return the move, such as `moved on to 14:03:07`; empty if the match has not moved the moment."""
        moment, goal = self._moment, self._goal
        if goal is None or moment.playhead.offset < goal or moment.is_live != self._is_goal_live:
            return SafeText("")
        timeline = moment.history.timeline
        name: str = moment_name(timeline.ms_at(goal), goal, timeline.size)
        name = name if not moment.is_live else "the end" if moment.feed.session.is_closed else "live"
        return SafeText(f"moved on to {name}")

    def show(self, search: Search, match: Match, *, returns: bool) -> None:
        """If a match lies after the moment, show the first moment at which it is complete. With `returns`, a
        match of an earlier query moved the moment: return if the new match was already visible there."""
        moment, origin = self._moment, self._origin if returns else None
        self._goal = None
        self._catch_up()
        moment.is_sought, moment.chosen = False, None  # the match is shown, not the end
        timeline, offset = moment.history.timeline, moment.playhead.offset
        if origin is None and (moment.is_live or _is_shown(moment.shown.session, search, match)):
            return
        least = offset if origin is None else origin[0]
        goal = max(least, moment_of(moment.feed.session, timeline, search, match))
        if goal != offset:
            self._go_on(goal)
        if goal > least:
            self._goal, self._is_goal_live = goal, moment.is_live

    def show_call(self, call: Call | None) -> None:
        """Show the moment at which a call has ended, if it has not ended at the moment that is shown."""
        if call is None:
            return
        moment = self._moment
        calls, newest = moment.shown.session.calls, moment.feed.session.calls[call.number - 1]
        is_there = call.number <= len(calls) and (newest.ended is None or calls[call.number - 1].ended)
        if not moment.is_live and not is_there:
            self._origin = None
            self._go_on(_seen_at(newest))

    def back(self) -> None:
        origin, self._origin = self._origin, None
        if origin is not None:
            offset, is_paused = origin
            self._go(offset)
            self._moment.playhead.is_paused = is_paused

    def _go_on(self, offset: int) -> None:
        playhead = self._moment.playhead
        if self._origin is None:
            self._origin = playhead.offset, playhead.is_paused
        playhead.is_paused = playhead.is_paused or playhead.is_reversed
        self._go(offset)

    def _go(self, offset: int) -> None:
        self._moment.playhead.seek(offset)
        self._catch_up()

    def _catch_up(self) -> None:
        """Show the moment in the panes at once, if it was moved since the last tick."""
        moment = self._moment
        if moment.is_due:
            self._show(moment.reached(), moment.now_ms())
            self._on_moved()


def moment_of(session: Session, timeline: RecordedTimes, search: Search, match: Match) -> int:
    """Return the first moment at which a match of the newest session is complete. A text of several lines is
    complete when the next entry begins; one that may still grow, at the live moment."""
    offsets, entry = session.transcript.offsets, session.transcript[match.entry]
    begin, call = timeline.after(offsets[match.entry]), entry.call
    if call is None:
        if entry.kind not in _GROWING:
            return begin
        following = bisect_right(offsets, offsets[match.entry], match.entry + 1)
        return offsets[following] if following < len(offsets) else timeline.size
    if match.side is Side.ARGUMENTS and (place := call.arguments_place) is not None:
        return max(begin, min(after(place), end_of(call)))
    if match.side is Side.TEXT and search.query.pattern.search(_lasting(call)):
        return begin
    return min(max(begin, end_of(call)), timeline.size)


def _is_shown(session: Session, search: Search, match: Match) -> bool:
    query: Query = search.query
    if match.entry >= len(session.transcript):
        return False
    entry = session.transcript[match.entry]
    call = entry.call
    if call is None:
        shown = safe_text(text_of(entry, match.start, match.start + query.reach))
        return query.pattern_in(entry.kind).match(shown) is not None
    if match.side is Side.TEXT:
        return query.pattern.search("\n".join((_lasting(call), action(call)))) is not None
    return (call.arguments_place if match.side is Side.ARGUMENTS else call.ended) is not None


def _lasting(call: Call) -> str:
    return "\n".join((safe_line(call.tool), target(call), safe_line(call.call_id)))
