"""Searches a session: its texts, and the action lines, arguments and results of its calls."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator
from time import perf_counter

from agentwatch.actions import target
from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.matches import Match, Matcher, Side, length_of
from agentwatch.analysis.query import Query
from agentwatch.blocks import Block
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.session import Call, Kind
from agentwatch.text.safe import SafeText, cut, safe_line, safe_text

MOST_MATCHES = 10_000
"""The number of matches collected per batch. Without it, a very common word would fill the memory."""
_PLACE_COLUMNS = 60
_KINDS = {Kind.ANSWER: "text", Kind.REASONING: "thinking"}
_Work = Iterator[Match | None]


class Search:
    """Searches forwards and backwards from a position in the transcript, one time slice at a time.

    `found` has no gaps: it contains every match between its first and its last. See `Query` for the syntax.
    """

    def __init__(self, feed: Feed, text: str, entry: int = 0, offset: int = 0) -> None:
        """Prepare a search. `advance` does the work.

        Args:
            feed: The session to search.
            text: The query. It must not be blank.
            entry: The index of the transcript entry at which the search starts.
            offset: The offset of the first character in that entry.
        """
        self.query = Query(text)
        self.found: list[Match] = []
        """The matches, in transcript order."""
        self.is_complete = False
        """Whether everything was searched, or the search has paused because the batch is full."""
        self._feed = feed
        self._matcher = Matcher(feed, self.query)
        self._begin = Match(entry, Side.TEXT, offset)
        self._most = MOST_MATCHES
        self._ahead = (entry, offset)
        self._searched_length = 0
        self._left_behind = entry + 1
        """The number of entries that the backward search has yet to search.

        The entry at which the search started is one of them, because its beginning is searched backwards.
        """
        self._is_ahead_done = self._is_behind_done = False
        self._awaited: list[tuple[int, Call]] = []
        self._work_ahead: _Work = iter(())
        self._work_behind: _Work = iter(())
        self._found_behind: deque[Match] = deque(maxlen=MOST_MATCHES)
        """The last 10,000 matches in the entry that the backward search is reading."""
        self._has_dropped_matches = False

    @property
    def is_full(self) -> bool:
        """Whether there may be more matches than those found, because the batch is full."""
        return self._has_dropped_matches or len(self.found) >= self._most

    def advance(self, seconds: float | None = None) -> None:
        """Continue the search for about `seconds`; None continues until it is complete.

        A complete search continues with what the session has received since.
        """
        until = None if seconds is None else perf_counter() + seconds
        self.is_complete = False
        while len(self.found) < self._most:
            self._is_ahead_done = not self._go_ahead()
            self._is_behind_done = not self._go_back()
            if self._is_ahead_done and self._is_behind_done:
                break
            if until is not None and perf_counter() >= until:
                return
        self.is_complete = True

    def first(self) -> Match | None:
        """Return the first match after the start position, or else the last match before it.

        Returns:
            None while the match is unknown, or if there is none.
        """
        ahead = bisect_left(self.found, self._begin)
        if ahead < len(self.found):
            return self.found[ahead]
        return self.found[-1] if self.found and self._is_ahead_done else None

    def step(self, match: Match, direction: int) -> Match | None:
        """Return the match after (`direction` 1) or before (-1) a match, wrapping around at the ends.

        Returns:
            None while it is unknown. If the search has paused before that match, it resumes.
        """
        index = bisect_left(self.found, match) + direction
        if not 0 <= index < len(self.found):
            if self.is_complete and len(self.found) >= self._most:
                self._most = len(self.found) + MOST_MATCHES
                self.is_complete = False
            if not self.is_complete:
                return None
        return self.found[index % len(self.found)]

    def number(self, match: Match) -> int | None:
        """Return the number of a match, counted from 1; None until everything before it was searched."""
        is_known = self._is_behind_done and not self._has_dropped_matches
        return bisect_left(self.found, match) + 1 if is_known else None

    def call(self, match: Match) -> Call | None:
        """Return the call that contains a match; None if it is in a text."""
        return self._feed.session.transcript[match.entry].call

    def place(self, match: Match, width: int = _PLACE_COLUMNS) -> SafeText:
        """Return where a match is, in at most `width` columns: `#12 edit src/app.py, result`."""
        entry = self._feed.session.transcript[match.entry]
        if entry.call is None:
            return SafeText(_KINDS.get(entry.kind, str(entry.kind)))
        side = f", {match.side.name.lower()}" if match.side else ""
        named = safe_line(f"#{entry.call.number} {entry.call.tool} {target(entry.call)}".rstrip())
        least = len(f"#{entry.call.number}")
        return SafeText(cut(named, max(min(width, _PLACE_COLUMNS) - len(side), least + 1)) + side)

    def block(self, match: Match) -> tuple[Block | None, int]:
        """Return the block that contains a match, and the number of matches before it in that block.

        The match must be in a payload; otherwise the block is None.
        """
        call, nth = self.call(match), match.start
        place = call and (call.arguments_place if match.side is Side.ARGUMENTS else call.result_place)
        for block in self._feed.blocks(place, call.call_id) if call and place else ():
            count = sum(1 for _ in self.query.pattern.finditer(safe_text(block_text(block))))
            if nth < count:
                return block, nth
            nth -= count
        return None, 0

    def _go_ahead(self) -> bool:
        """Do one step of the forward search; return whether there was work to do."""
        found = next(self._work_ahead, self)
        if found is self:
            work = self._next_ahead()
            self._work_ahead = iter(()) if work is None else work
            return work is not None
        if isinstance(found, Match):
            insort(self.found, found)
        return True

    def _go_back(self) -> bool:
        """Do one step of the backward search; return whether there was work to do.

        Each entry is searched from its beginning. When its end is reached, its matches are added to `found`.
        """
        found = next(self._work_behind, self)
        if isinstance(found, Match):
            self._has_dropped_matches |= len(self._found_behind) == MOST_MATCHES
            self._found_behind.append(found)
        if found is not self:
            return True
        self.found[:0] = self._found_behind
        self._found_behind.clear()
        if not self._left_behind:
            return False
        self._left_behind -= 1
        self._work_behind = self._search_behind(self._left_behind)
        return True

    def _next_ahead(self) -> _Work | None:
        """Return the next step of the forward search: a result that has arrived since, else a later entry."""
        for waiting, (index, call) in enumerate(self._awaited):
            if call.outcome is not Outcome.RUNNING:
                del self._awaited[waiting]
                return self._matcher.in_payload(index, Side.RESULT, call, call.result_place)
        transcript = self._feed.session.transcript
        while self._ahead[0] < len(transcript):
            index, offset = self._ahead
            entry = transcript[index]
            if entry.call is not None:
                self._ahead = index + 1, 0
                return self._search_call(index, entry.call)
            if (length := length_of(entry)) > max(self._searched_length, offset):
                self._searched_length = length
                return self._search_ahead(index, offset, length)
            if entry.is_open:
                break
            self._ahead, self._searched_length = (index + 1, 0), 0
        return None

    def _search_ahead(self, index: int, start: int, end: int) -> _Work:
        """Search a text that may still grow.

        A match may begin before its present end and be completed later, so the next search starts `reach`
        characters before it.
        """
        resume = yield from self._matcher.in_text(index, start, end)
        self._ahead = index, max(resume, end - self.query.reach, start)

    def _search_behind(self, index: int) -> _Work:
        transcript = self._feed.session.transcript
        if index >= len(transcript):
            return iter(())
        entry, is_begin = transcript[index], index == self._begin.entry
        if entry.call is None:
            return self._matcher.in_text(index, 0, self._begin.start if is_begin else length_of(entry))
        return iter(()) if is_begin else self._search_call(index, entry.call)

    def _search_call(self, index: int, call: Call) -> _Work:
        yield from self._matcher.in_call(index, call)
        if call.outcome is Outcome.RUNNING:
            self._awaited.append((index, call))
        else:
            yield from self._matcher.in_payload(index, Side.RESULT, call, call.result_place)
