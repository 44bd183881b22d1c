"""Which calls are listed: those that the filter's words match, by time or by duration.

A new filter or order is made beside the rows that are shown, a slice at a time, and replaces them whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from agentwatch.events import Outcome
from agentwatch.safe_text import SafeText, safe_line
from agentwatch.screen.calls.rows_by_duration import RowsByDuration
from agentwatch.screen.calls.rows_by_time import Matches, Row, Rows, RowsByTime
from agentwatch.screen.calls.time_strip import TimeStrip
from agentwatch.session import Call, CallOrder, Session

_LEAST_OF_AN_OUTCOME = 3
_MOST_CHANGES = 1024
"""At once; taking them costs 5 ms."""


def call_filter(text: str) -> Matches | None:
    """Return whether a call matches words: each in its tool or target; outcomes by name, any of those given.

    Without words it is None. Of an outcome's name the beginning will do, so that it works while it is typed.
    """
    words = text.lower().split()
    outcomes = {word for word in words if word in list(Outcome)}
    texts = [word for word in words if word not in outcomes]

    def matches(call: Call) -> bool:
        if outcomes and call.outcome not in outcomes:
            return False
        told = f"{call.tool}\n{call.target or ''}".lower()
        for word in texts:
            if word not in told and not (len(word) >= _LEAST_OF_AN_OUTCOME and call.outcome.startswith(word)):
                return False
        return True

    return matches if words else None


class CallChanges:
    """Tells which calls are new or have changed; it costs as much as there are of those."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._calls = 0
        self._ended = 0
        self._open: set[int] = set()
        self._run: tuple[object, ...] = ()

    def take(self, most: int) -> list[int]:
        """Return the places of calls that came or changed since the last time, of each at most so many."""
        session = self._session
        run = (len(session.runs), session.run.ended, session.is_closed)
        ended = session.ended_calls.indices(self._ended, self._ended + most)
        changed = [*ended]
        if run != self._run:
            # Whatever was open at the end of a run is unfinished, though no line has ended it.
            changed += [index for index in self._open if not self._is_open(index)]
        new = range(self._calls, min(len(session.calls), self._calls + most))
        self._run, self._ended, self._calls = run, self._ended + len(ended), new.stop
        self._open.difference_update(changed)
        self._open.update(filter(self._is_open, new))
        return [*changed, *new]

    def _is_open(self, index: int) -> bool:
        return self._session.calls[index].outcome is Outcome.RUNNING


class CallList:
    """The rows that are shown, and those that will be shown instead."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._changes = CallChanges(session)
        self._rows: Rows = RowsByTime(session.calls)
        self._next: Rows | None = None
        self._asked = ("", False)
        self.filter = ""
        """The words of the rows that are shown."""
        self.is_by_duration = False
        """Whether the rows that are shown stand by duration."""
        self.strip = TimeStrip(session)

    @property
    def rows(self) -> Rows:
        """The rows that are shown."""
        return self._rows

    @property
    def hidden(self) -> int:
        """How many calls the filter leaves out."""
        return len(self._session.calls) - self._rows.shown

    def sync(self) -> bool:
        """Take what has become of the calls; return whether anything has."""
        has_changed = False
        while self._take_some():
            has_changed = True
        if has_changed:
            self._rows.fill()
        return has_changed

    def take(self, seconds: float) -> bool:
        """Take the calls for about so many seconds; return whether all are taken."""
        until = perf_counter() + seconds
        while self._take_some():
            if perf_counter() >= until:
                return False
        return self._rows.fill(max(until - perf_counter(), 0))

    def _take_some(self) -> bool:
        changed = self._changes.take(_MOST_CHANGES)
        for index in changed:
            self.strip.add(self._session.calls[index])
        self._rows.update(changed)
        if self._next is not None:
            self._next.update(changed)
        return bool(changed)

    def title(self, name: str) -> SafeText:
        """Return a name, the order where it is not that of time, and how many calls are hidden by what."""
        order = " · slowest first" if self.is_by_duration else ""
        hidden = f' · {self.hidden:,} hidden by "{self.filter}"' if self.filter else ""
        return safe_line(name + order + hidden)

    def ask(self, words: str | None = None, *, by_duration: bool | None = None) -> None:
        """Ask for other rows; `go_on` makes them."""
        before = self._asked
        words = before[0] if words is None else " ".join(words.split())
        by_duration = before[1] if by_duration is None else by_duration
        self._asked = (words, by_duration)
        if self._asked != before:
            calls, matches = self._session.calls, call_filter(words)
            self._next = RowsByDuration(calls, matches) if by_duration else RowsByTime(calls, matches)

    def go_on(self, seconds: float | None) -> bool:
        """Make the rows that were asked for, for about so many seconds; return whether they are shown now."""
        if self._next is None or not self._next.fill(seconds):
            return False
        self._rows, self._next = self._next, None
        self.filter, self.is_by_duration = self._asked
        return True

    @property
    def is_waiting(self) -> bool:
        """Whether other rows were asked for and are not shown yet."""
        return self._next is not None

    def calls_of(self, row: Row) -> Sequence[Call]:
        """Return the calls that a row stands for."""
        return CallOrder(self._session.calls, range(row.first, row.last + 1))

    def call_at(self, y: int) -> Call:
        """Return the call of a row; of several, the newest."""
        return self._session.calls[self._rows[y].last]

    def failure_from(self, y: int, step: int) -> int | None:
        """Return the row of the next (1) or previous (-1) call that failed or was rejected."""
        y += step
        while 0 <= y < len(self._rows):
            row = self._rows[y]
            outcome = self._session.calls[row.last].outcome
            if outcome in (Outcome.FAILED, Outcome.REJECTED) and not row.is_open:
                return y
            y += step
        return None
