"""The verdicts of the test runs of a session, the newest of them read first."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from time import perf_counter

from agentwatch.analysis.verdict_history.calls import CallVerdict, call_verdict
from agentwatch.analysis.verdict_history.changes import may_have_changed
from agentwatch.feed import Feed

_MOST_KEPT = 500
"""Verdicts that are kept: 0.3 MB. Older ones are forgotten."""


class VerdictHistory:
    """The verdicts of the test runs of a session, in the order in which the runs ended.

    New calls are read before old ones, and old ones from the newest to the oldest, so that the verdicts that
    matter most are known first. Each call is read once.
    """

    def __init__(self, feed: Feed) -> None:
        """Create an empty history of the session that `feed` reads; it must be at the live end."""
        self._feed = feed
        self._kept: deque[CallVerdict] = deque()
        self._verdicts: Sequence[CallVerdict] = ()
        self._first = self._end = len(feed.session.ended_calls)
        """The ended calls that were read."""
        self._is_changed = False
        """Whether a file changed after the newest verdict, or in a call that was read while none is known."""

    @property
    def verdicts(self) -> Sequence[CallVerdict]:
        """The verdicts that are known, the newest last; a new object whenever they have changed."""
        return self._verdicts

    def update(self, seconds: float) -> bool:
        """Read calls for about this time; return whether more are left."""
        until = perf_counter() + seconds
        has_news = False
        while (index := self._next()) is not None:
            has_news |= self._read(index)
            if perf_counter() >= until:
                break
        if has_news:
            self._verdicts = tuple(self._kept)
        return self._next() is not None

    def _next(self) -> int | None:
        """Return the index of the ended call to read next; None if every call was read."""
        if self._end < len(self._feed.session.ended_calls):
            return self._end
        return self._first - 1 if self._first and len(self._kept) < _MOST_KEPT else None

    def _read(self, index: int) -> bool:
        """Read a call; return whether it is a test run with a verdict, or makes the newest verdict stale."""
        is_newest = index == self._end
        if is_newest:
            self._end += 1
        else:
            self._first = index
        call = self._feed.session.ended_calls[index]
        if (is_newest or not self._kept) and may_have_changed(call):
            return self._note_change()
        found = call_verdict(self._feed, call)
        if (
            found is None
            or call.ended is None
            or not (found.is_of_tests and (found.is_red or found.is_green))
        ):
            return False
        read = CallVerdict(call.ended.offset + call.ended.length + 1, call.number, index, found)
        if is_newest:
            self._mark_newest(is_stale=False)
            self._kept.append(read)
            self._is_changed = False
        else:
            is_stale = self._is_changed and not self._kept and not read.is_red
            self._kept.appendleft(read._replace(is_stale=is_stale))
        if len(self._kept) > _MOST_KEPT:
            self._kept.popleft()
        return True

    def _note_change(self) -> bool:
        """Note that a file changed; return whether that makes the newest verdict stale."""
        self._is_changed = True
        return bool(self._kept) and not self._kept[-1].is_red and self._mark_newest(is_stale=True)

    def _mark_newest(self, *, is_stale: bool) -> bool:
        """Mark the newest verdict, if there is one; return whether that changes it."""
        if not self._kept or self._kept[-1].is_stale == is_stale:
            return False
        self._kept.append(self._kept.pop()._replace(is_stale=is_stale))
        return True
