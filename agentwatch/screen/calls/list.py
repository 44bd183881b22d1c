"""The calls that are listed: those that match the filter, by time or by duration.

The rows for a new filter or order are built one time slice at a time, while the old rows stay visible. The
new rows replace the old ones once they are complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from agentwatch.analysis.call_facts import CallFacts
from agentwatch.events import Outcome
from agentwatch.feed.call_changes import CallChanges
from agentwatch.outputs.shown.tool_names import ToolNames
from agentwatch.screen.calls.cells.time_strip import TimeStrip
from agentwatch.screen.calls.row_list import Row
from agentwatch.screen.calls.rows_by_duration import RowsByDuration
from agentwatch.screen.calls.rows_by_time import Rows, RowsByTime
from agentwatch.session import Call, CallOrder, Session
from agentwatch.text.safe import SafeText, safe_line

if TYPE_CHECKING:
    from agentwatch.rules import RuleError

_MOST_CHANGES = 1024
"""The number of changes processed in one step, which takes 5 ms."""


_FAILED = (Outcome.FAILED, Outcome.REJECTED)


class CallList:
    """The rows that are shown, and the rows being built to replace them."""

    def __init__(self, session: Session, facts: CallFacts) -> None:
        """Create the list of the calls of a session.

        Args:
            session: The session, perhaps at an earlier moment.
            facts: The facts about its calls that filters use.
        """
        self._session = session
        self.facts = facts
        """What filters use of the calls."""
        self._changes = CallChanges(session)
        self._rows: Rows = RowsByTime(session.calls)
        self._next: Rows | None = None
        self._requested = ("", False)
        self.filter = ""
        """The filter of the rows that are shown."""
        self.is_by_duration = False
        """Whether the rows that are shown are ordered by duration."""
        self.strip = TimeStrip()
        self.tools = ToolNames()
        self.revision = 0
        """Grows with each change of a call."""
        self._parents: dict[int, int] = {}
        """The numbers of the calls that started subagents, and the first call of each subagent."""
        self._failed: dict[int, None] = {}
        """The indices of the failed and rejected calls."""

    def shows(self, session: Session) -> bool:
        """Return whether the list is that of a session."""
        return self._session is session

    def at(self, session: Session) -> CallList:
        """Return the list at an earlier moment of the same session, with the same filter and order."""
        from agentwatch.analysis.call_filter import usable_filter

        calls, count = session.calls, min(len(session.calls), self._changes.count)
        earlier = CallList(session, self.facts)
        earlier._requested, earlier.filter = (self.filter, self.is_by_duration), self.filter
        earlier.is_by_duration = self.is_by_duration
        earlier._rows = self._rows.prefix(calls, usable_filter(self.filter, self.facts).matches)
        earlier._changes.skip(count)
        earlier.strip, earlier.tools = self.strip.prefix(len(calls)), self.tools.prefix(len(calls))
        earlier._parents = {parent: first for parent, first in self._parents.items() if first <= len(calls)}
        changed = [number - 1 for number in calls.differing if number <= count]
        earlier._failed = {index: None for index in self._failed if index < count}
        for index in changed:  # all other calls are in the same state: unpacking 5,000 of them takes 25 ms
            if calls[index].outcome not in _FAILED:
                earlier._failed.pop(index, None)
        earlier._rows.update(changed)
        earlier.revision = self.revision + 1
        earlier.sync()
        return earlier

    @property
    def rows(self) -> Rows:
        """The rows that are shown."""
        return self._rows

    @property
    def requested(self) -> tuple[str, bool]:
        """The filter that was requested last, and whether an order by duration was."""
        return self._requested

    @property
    def requested_filter(self) -> str:
        """The filter that was requested last; its rows may not be shown yet."""
        return self._requested[0]

    @property
    def count(self) -> int:
        """The number of calls of the session, shown or not."""
        return len(self._session.calls)

    def sync(self) -> bool:
        """Process all new and changed calls; return whether there were any."""
        has_changed = False
        while self._take_some():
            has_changed = True
        if has_changed:
            self._rows.fill()
        return has_changed

    def take(self, seconds: float) -> bool:
        """Process new and changed calls for about `seconds`; return whether all are processed."""
        until = perf_counter() + seconds
        while self._take_some():
            # The calls that were just unpacked get their rows before others are unpacked.
            self._rows.fill(max(until - perf_counter(), 0), self._changes.count)
            if perf_counter() >= until:
                return False
        return self._rows.fill(max(until - perf_counter(), 0))

    def _take_some(self) -> bool:
        changed = self._changes.take(_MOST_CHANGES)
        for index in changed:
            call = self._session.calls[index]
            self.strip.add(call)
            self.tools.add(call.tool, call.number)
            if call.parent:
                self._parents[call.parent] = min(call.number, self._parents.get(call.parent, call.number))
            if call.outcome in _FAILED:
                self._failed[index] = None
        self.revision += len(changed)
        self._rows.update(changed)
        if self._next is not None:
            self._next.update(changed)
        return bool(changed)

    def title(self, name: str) -> SafeText:
        """Return `name` with the order, if it is not by time, and the number of hidden calls."""
        order = " · slowest first" if self.is_by_duration else ""
        hidden = f' · {self.count - self._rows.shown:,} hidden by "{self.filter}"' if self.filter else ""
        return safe_line(name + order + hidden)

    def request(self, words: str | None = None, *, by_duration: bool | None = None) -> RuleError | None:
        """Request another filter or order; `build` builds the rows.

        Args:
            words: The words of the new filter, used up to the first mistake; None keeps the filter requested
                last.
            by_duration: Whether to order by duration; None keeps the order requested last.

        Returns:
            What is wrong with the words.
        """
        from agentwatch.analysis.call_filter import usable_filter

        before = self._requested
        found = usable_filter(before[0] if words is None else words.strip(), self.facts)
        by_duration = before[1] if by_duration is None else by_duration
        self._requested = (found.words, by_duration)
        if self._requested != before:
            calls, matches = self._session.calls, found.matches
            self._next = RowsByDuration(calls, matches) if by_duration else RowsByTime(calls, matches)
        return found.problem

    def build(self, seconds: float | None) -> bool:
        """Build the requested rows for about `seconds` (None: all); return whether they are now shown."""
        if self._next is None or not self._next.fill(seconds):
            return False
        self._rows, self._next = self._next, None
        self.filter, self.is_by_duration = self._requested
        return True

    @property
    def is_waiting(self) -> bool:
        """Whether requested rows are still being built."""
        return self._next is not None

    def calls_of(self, row: Row) -> Sequence[Call]:
        """Return the calls that a row contains."""
        return CallOrder(self._session.calls, range(row.first, row.last + 1))

    def call(self, number: int) -> Call | None:
        """Return the call with a number; None if it has not begun at this moment."""
        return self._session.calls[number - 1] if 0 < number <= len(self._session.calls) else None

    def call_at(self, y: int) -> Call:
        """Return the call of a row; in a row of several calls, the newest one."""
        return self._session.calls[self._rows[y].last]

    def delegating(self) -> Sequence[Call]:
        """Return the calls whose subagents made calls, in order."""
        return CallOrder(self._session.calls, (number - 1 for number in sorted(self._parents)))

    def failures(self) -> list[int]:
        """Return the rows of the failed and rejected calls, from the top; a fold of them is one row."""
        rows = (self._rows.row_of(index) for index in self._failed)
        return sorted({row for row in rows if row is not None and not self._rows[row].is_open})
