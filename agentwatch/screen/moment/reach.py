"""Moves the moment on to what a search has found after it.

A search covers the whole session. A match that lies after the moment is shown at the first moment at which it
is complete.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from agentwatch.actions import action, target
from agentwatch.analysis.matches import Match, Side, text_of
from agentwatch.analysis.query import Query
from agentwatch.analysis.search import Search
from agentwatch.feed import Feed
from agentwatch.feed.timeline import RecordedTimes
from agentwatch.screen.frame.moment_name import moment_name
from agentwatch.screen.moment.calls import end_of
from agentwatch.screen.moment.moment import Moment
from agentwatch.session import Call, Kind, Session
from agentwatch.text.safe import SafeText, safe_line, safe_text

_GROWING = (Kind.ANSWER, Kind.REASONING)
"""Entries whose text comes with several lines."""


class _Origin(NamedTuple):
    offset: int
    is_paused: bool


class Reach:
    """Shows the moment of a match, and returns to the moment at which the search began."""

    def __init__(
        self, moment: Moment, show: Callable[[Feed, int | None], None], on_moved: Callable[[], None]
    ) -> None:
        """Create it for the moment of a screen.

        Args:
            moment: The moment.
            show: Shows a feed in the panes at once, at a time in milliseconds since the epoch.
            on_moved: Is called after the moment was moved.
        """
        self._moment = moment
        self._show = show
        self._on_moved = on_moved
        self._origin: _Origin | None = None
        """The moment at which the search began; None until a match has moved the moment."""
        self._goal: int | None = None
        """The moment to which the current match has moved; None if it has not."""
        self._is_goal_live = False

    def begin(self) -> None:
        """Begin a search at the present moment."""
        self._origin = self._goal = None
        self._catch_up()

    def words(self) -> SafeText:
        """Return to which moment the current match has moved: `moved on to 14:03:07`.

        It is empty if the match has not moved it, or if the user has moved it since.
        """
        moment, goal = self._moment, self._goal
        if goal is None or moment.playhead.offset < goal or moment.is_live != self._is_goal_live:
            return SafeText("")
        timeline = moment.history.timeline
        name = moment_name(timeline.ms_at(goal), goal, timeline.size)
        return SafeText(f"moved on to {'live' if moment.is_live else name}")

    def show(self, search: Search, match: Match, *, returns: bool) -> None:
        """Show a match, if it lies after the moment, at the first moment at which it is complete.

        Args:
            search: The search of the newest session.
            match: The match.
            returns: Whether a match of an earlier query has moved the moment for nothing: the moment at which
                the search began is shown again if the match is there.
        """
        moment, origin = self._moment, self._origin if returns else None
        self._goal = None
        self._catch_up()
        moment.is_sought, moment.chosen = False, None  # the match is shown, not the end
        timeline, offset = moment.history.timeline, moment.playhead.offset
        if origin is None and (moment.is_live or _is_shown(moment.shown.session, search, match)):
            return
        least = offset if origin is None else origin.offset
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
            goal = end_of(newest)
            if newest.ended is None and newest.started is not None:
                goal = newest.started.offset + newest.started.length + 1
            self._go_on(goal)

    def back(self) -> None:
        """Return to the moment at which the search began, if a match has moved it."""
        origin, self._origin = self._origin, None
        if origin is not None:
            self._go(origin.offset)
            self._moment.playhead.is_paused = origin.is_paused

    def _go_on(self, offset: int) -> None:
        playhead = self._moment.playhead
        if self._origin is None:
            self._origin = _Origin(playhead.offset, playhead.is_paused)
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
    """Return the first moment at which a match of the newest session is complete.

    A text that comes in several lines is complete when the next entry begins.

    Args:
        session: The newest session.
        timeline: Its timeline.
        search: The search that has found the match.
        match: The match.

    Returns:
        A number of bytes; the live moment for a text that may still grow.
    """
    offsets, entry = session.transcript.offsets, session.transcript[match.entry]
    begin, call = timeline.after(offsets[match.entry]), entry.call
    if call is None:
        if entry.kind not in _GROWING:
            return begin
        following = bisect_right(offsets, offsets[match.entry], match.entry + 1)
        return offsets[following] if following < len(offsets) else timeline.size
    if match.side is Side.ARGUMENTS and (place := call.arguments_place) is not None:
        return max(begin, min(place.offset + place.length + 1, end_of(call)))
    if match.side is Side.TEXT and search.query.pattern.search(_lasting(call)):
        return begin
    return min(max(begin, end_of(call)), timeline.size)


def _is_shown(session: Session, search: Search, match: Match) -> bool:
    """Return whether a match of the newest session is complete in the session at an earlier moment."""
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
    """Return what a search finds of a call without its outcome."""
    return "\n".join((safe_line(call.tool), target(call), safe_line(call.call_id)))
