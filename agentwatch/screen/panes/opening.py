"""The moments that the command line asks for: to open, replay, pause. Imported only if there is one."""

from __future__ import annotations

from collections.abc import Mapping

from agentwatch.analysis.moments import EMPTY, Asked, CallEnd, MomentSpec, Problem, addressed, is_known
from agentwatch.feed.history import History, end_of, next_failure
from agentwatch.feed.playhead import Playhead
from agentwatch.recording.bookmarks import Bookmarks
from agentwatch.session.actions import shown_action
from agentwatch.text.safe import SafeText, safe_line


class Opening:
    """Finds the moments that the command line names, as soon as the recording is read that far; until then a
    replay shows the start. If the user moves the moment first, the session stays there."""

    def __init__(self, history: History, playhead: Playhead, asked: Asked, *, is_replay: bool) -> None:
        self.bookmarks: Bookmarks | None = None
        self._history, self._playhead = history, playhead
        self.is_replay = is_replay
        self._begin, self._until, pauses_on = asked
        self._notice = SafeText("")
        if is_replay:
            playhead.is_paused = self._begin is not None
            playhead.stops = {None: playhead.stops, "failure": self._failure, "bookmark": self._bookmark}[
                pauses_on
            ]

    def advance(self, *, is_moved: bool) -> tuple[int, int | None] | None:
        """Return the moment to show, and the number of a call to select or None. None keeps the moment."""
        if is_moved:
            self._begin = None
        found = None
        if self._begin is not None and (begin := self._offset(self._begin)) is not None:
            found = self._opened(begin, self._begin)
            self._begin = None
        if self._until is not None and (until := self._offset(self._until)) is not None:
            self._until = None
            if not isinstance(until, Problem) and until <= self._playhead.start:
                until = EMPTY
            if isinstance(until, Problem):
                self._notice = until.words
            else:
                self._playhead.until = until
        return found

    def take_notice(self) -> SafeText:
        """Return why the replay has paused, or what the recording does not have; empty if nothing is new."""
        notice, self._notice = self._notice, SafeText("")
        return notice

    def _opened(self, begin: int | Problem, words: MomentSpec) -> tuple[int, int | None] | None:
        """Begin at a moment, from which a replay plays; at the live one if the recording does not have it."""
        if isinstance(begin, Problem):
            self._notice = begin.words
            self._playhead.live()
            return None
        if self.is_replay:
            self._playhead.start = begin
            self._playhead.play(begin)
            return begin, None
        return begin, words.number if isinstance(words, CallEnd) else None

    def _offset(self, moment: MomentSpec) -> int | Problem | None:
        """Return a moment, or why the recording does not have it; None while that is not known."""
        feed, timeline, names = self._history.feed, self._history.timeline, self._names()
        if feed.backlog() and not is_known(moment, feed.session, timeline, names):
            return None
        offset = addressed(moment, feed.session, timeline, names)
        return offset if isinstance(offset, Problem) else timeline.aligned(offset)

    def _names(self) -> Mapping[str, int]:
        if self.bookmarks is None:
            return {}
        self.bookmarks.refresh()  # those behind what was read before are shown now
        return self.bookmarks.by_name()

    def _failure(self, start: int, end: int) -> int | None:
        call = next_failure(self._history.feed.session, start, end)
        if call is None:
            return None
        self._notice = SafeText(f"paused: #{call.number} {shown_action(call)}")
        return end_of(call)

    def _bookmark(self, start: int, end: int) -> int | None:
        bookmark = None if self.bookmarks is None else self.bookmarks.next(start)
        if bookmark is None or bookmark.offset > end:
            return None
        named = safe_line(f": {bookmark.name}") if bookmark.name else ""
        self._notice = SafeText(f"paused at a bookmark{named}")
        return bookmark.offset
