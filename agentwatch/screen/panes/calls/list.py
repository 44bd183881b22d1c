"""The calls that are listed: those that match the filter, by time or by duration.

The rows for a new filter or order are built in time slices, while the old rows stay visible.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.feed.feed import Feed
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.session.actions import shown_tool
from agentwatch.session.call import Call, CallOrder, Place
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import CallChanges, Session
from agentwatch.text.safe import SafeText, columns, safe_line
from agentwatch.text.signs import EIGHTHS

if TYPE_CHECKING:
    from agentwatch.analysis.episodes import RankedFailure
    from agentwatch.rules.calls.filter import Matches
    from agentwatch.rules.language.errors import RuleError


# The rows of the calls pane as columns of numbers.


class Row(NamedTuple):
    """One call, or a fold of several; the numbers are indices into the session's calls."""

    first: int
    last: int
    is_same: bool = True
    """Whether all calls of the fold are the same call, repeated."""
    is_open: bool = False
    """Whether the fold is open: one row for each of its calls follows."""
    fold: int = -1
    """The index of the fold's first call, in a row inside an open fold; otherwise -1."""

    @property
    def is_fold(self) -> bool:
        return self.last > self.first


class RowList:
    """A list of rows as columns of numbers: 13 bytes per row, where an object takes 150."""

    def __init__(self) -> None:
        self.firsts = array("I")
        self._lasts = array("I")
        self._folds = array("i")
        self._flags = array("B")
        """Bit 0: `is_same`, bit 1: `is_open`."""

    def __len__(self) -> int:
        return len(self.firsts)

    def __getitem__(self, y: int) -> Row:
        flags = self._flags[y]
        return Row(self.firsts[y], self._lasts[y], bool(flags & 1), bool(flags & 2), self._folds[y])

    def append(self, row: Row) -> None:
        self.firsts.append(row.first)
        self._lasts.append(row.last)
        self._folds.append(row.fold)
        self._flags.append(row.is_same | row.is_open << 1)

    def prefix(self, length: int) -> RowList:
        prefix = RowList()
        prefix.firsts, prefix._lasts = self.firsts[:length], self._lasts[:length]
        prefix._folds, prefix._flags = self._folds[:length], self._flags[:length]
        return prefix

    def calls(self) -> int:
        """Return the number of calls in the rows; those in an open fold count once."""
        return sum(self._lasts) - sum(self.firsts) + self._folds.count(-1)

    def replace(self, top: int, end: int, rows: list[Row]) -> None:
        self.firsts[top:end] = array("I", [row.first for row in rows])
        self._lasts[top:end] = array("I", [row.last for row in rows])
        self._folds[top:end] = array("i", [row.fold for row in rows])
        self._flags[top:end] = array("B", [row.is_same | row.is_open << 1 for row in rows])


# The rows of the calls pane in order of time, with repeated calls and runs of reads folded.
# A row is a range of call indices, so a fold of thousands of calls costs as much as a single call. Changed
# calls are located by bisection; calls that do not change cost nothing, even 100,000 of them.

_LEAST_READS = 3
CALLS_PER_CLOCK_CHECK = 256
"""The number of calls between two readings of the clock. With a filter the clock is read for each call: a
rule may read a call's output, which takes up to 1 ms."""


class RowsByTime:
    def __init__(self, calls: Sequence[Call], matches: Matches | None = None) -> None:
        self.shown = 0
        self._calls = calls
        self._matches = matches
        self._taken = 0
        self._rows = RowList()

    def prefix(self, calls: Sequence[Call], matches: Matches | None) -> RowsByTime:
        """Return the rows of an earlier moment; `update` must follow for the calls that differed then."""
        prefix, count = RowsByTime(calls, matches), min(len(calls), self._taken)
        end = bisect_left(self._rows.firsts, count)
        top = end and self._unit(end - 1)[0]
        prefix._taken, prefix._rows = count, self._rows.prefix(top)
        if top < end:
            row = self._rows[top]
            piece = row if row.last < count else self._piece(row, row.first, count - 1)
            prefix._rows.replace(top, top, _rows_of(*piece[:4]))
        prefix.shown = prefix._rows.calls()
        return prefix

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, y: int) -> Row:
        return self._rows[y]

    def fill(self, seconds: float | None = None, end: int | None = None) -> bool:
        """Add rows up to the call with the index `end` for about `seconds`; return whether all are added."""
        until = inf if seconds is None else perf_counter() + seconds
        for index in range(self._taken, len(self._calls) if end is None else end):
            self._taken += 1
            if self._matches is None or self._matches(self._calls[index]):
                self._append(index)
            if (self._matches or index % CALLS_PER_CLOCK_CHECK == 0) and perf_counter() >= until:
                break
        return self._taken == len(self._calls)

    def update(self, changed: Iterable[int]) -> None:
        """Update the rows of changed calls; calls that have not been added yet are ignored."""
        for index in changed:
            if index < self._taken:
                self._place(index, self._matches is None or self._matches(self._calls[index]))

    def row_of(self, index: int, *, is_whole: bool = False) -> int | None:
        """Return the row of a call, or with `is_whole` that of its fold; None if the filter hides it."""
        at = bisect_right(self._rows.firsts, index) - 1
        if at < 0 or self._rows[at].last < index:
            return None
        return self._unit(at)[0] if is_whole else at

    def toggle(self, y: int) -> bool:
        """Open or close a fold; return whether the row is one."""
        row = self._rows[y]
        if row.is_fold:
            top, end, _ = self._unit(y)
            self._rows.replace(top, end, _rows_of(row.first, row.last, row.is_same, not row.is_open))
        return row.is_fold

    def group_mark(self, y: int) -> str:
        """Return the piece of the bracket around the calls of one model step: `┌`, `│`, `└` or a blank."""
        above, below = self._are_one_step(y - 1), self._are_one_step(y)
        return "│" if above and below else "└" if above else "┌" if below else " "

    def _are_one_step(self, y: int) -> bool:
        if not 0 <= y < len(self._rows) - 1:
            return False
        one, other = self._calls[self._rows[y].last], self._calls[self._rows[y + 1].first]
        return one is not other and one.group is not None and (one.run, one.group) == (other.run, other.group)

    def _append(self, index: int) -> None:
        last = self._rows[-1].last if len(self._rows) else -2
        kind = None if last != index - 1 else _kind(self._calls[index])
        if kind is not None and kind == _kind(self._calls[last]):
            self._place(index, True)
        else:
            self._rows.append(Row(index, index))
            self.shown += 1

    def _unit(self, y: int) -> tuple[int, int, Row]:
        """Return the first row of the fold that contains row `y`, the row after its last, and the fold."""
        row = self._rows[y]
        if row.fold >= 0:
            y = bisect_left(self._rows.firsts, row.fold)
            row = self._rows[y]
        return y, y + 1 + (row.last - row.first + 1 if row.is_open else 0), row

    def _place(self, index: int, is_shown: bool) -> None:
        """Cut a call out of its row and insert it where it belongs now."""
        top = end = bisect_right(self._rows.firsts, index)
        pieces: list[Row] = []
        if top and (unit := self._unit(top - 1))[2].last >= index:
            top, end, row = unit
            pieces += [self._piece(row, row.first, index - 1)] if row.first < index else []
            pieces += [Row(index, index, is_open=row.is_open)] if is_shown else []
            pieces += [self._piece(row, index + 1, row.last)] if row.last > index else []
            self.shown -= not is_shown
        elif is_shown:
            pieces.append(Row(index, index))
            self.shown += 1
        while pieces and top and self._may_join((unit := self._unit(top - 1))[2], pieces[0]):
            top = unit[0]
            pieces.insert(0, unit[2])
        while pieces and end < len(self._rows) and self._may_join(pieces[-1], self._rows[end]):
            _, after, row = self._unit(end)
            pieces.append(row)
            end = after
        made: list[Row] = []
        for row in self._joined(pieces):
            made += _rows_of(*row[:4])
        self._rows.replace(top, end, made)

    def _piece(self, row: Row, first: int, last: int) -> Row:
        """Return the row for calls `first` to `last`, which remain after a call was cut out of `row`."""
        kept = {_sameness(call) for call in self._calls[first : last + 1]}
        return Row(first, last, len(kept) == 1, row.is_open)

    def _may_join(self, one: Row, other: Row) -> bool:
        kind = _kind(self._calls[one.last])
        is_next = other.first == one.last + 1
        return is_next and kind is not None and kind == _kind(self._calls[other.first])

    def _joined(self, pieces: list[Row]) -> list[Row]:
        joined: list[Row] = []
        for row in pieces:
            if joined and self._may_join(joined[-1], row):
                before = joined[-1]
                seam = _sameness(self._calls[before.last]) == _sameness(self._calls[row.first])
                is_same = before.is_same and row.is_same and seam
                joined[-1] = Row(before.first, row.last, is_same, before.is_open or row.is_open)
            else:
                joined.append(row)
        return joined


def _rows_of(first: int, last: int, is_same: bool, is_open: bool) -> list[Row]:
    if last == first or (not is_same and last - first + 1 < _LEAST_READS):
        return [Row(index, index) for index in range(first, last + 1)]
    inner = [Row(index, index, fold=first) for index in range(first, last + 1)] if is_open else []
    return [Row(first, last, is_same, is_open), *inner]


def _kind(call: Call) -> tuple[object, ...] | None:
    """Return a key that is equal for calls that fold together; None for a call with no known start or end."""
    if call.started is None or call.ended is None:
        return None
    if call.kind is ToolKind.READ and call.target and call.outcome is Outcome.SUCCEEDED:
        return (call.run, call.parent, ToolKind.READ)
    return (call.run, call.parent, *_sameness(call))


def _sameness(call: Call) -> tuple[object, ...]:
    return call.tool, call.target, call.path, call.outcome, call.exit_code, call.error


# The rows of the calls pane, ordered by duration.


class RowsByDuration:
    """One row per call: running calls, then the others from the slowest on, those without a duration last."""

    def __init__(self, calls: Sequence[Call], matches: Matches | None = None) -> None:
        self._calls = calls
        self._matches = matches
        self._keys: list[float] = []
        self._order: list[int] = []
        self._is_sorted = False
        self._changed: set[int] = set()
        """Calls that changed before the first sort was complete."""

    def prefix(self, calls: Sequence[Call], matches: Matches | None) -> RowsByDuration:
        prefix, count = RowsByDuration(calls, matches), min(len(calls), len(self._keys))
        prefix._keys, prefix._is_sorted = self._keys[:count], self._is_sorted
        prefix._order = [index for index in self._order if index < count]
        prefix._changed = {index for index in self._changed if index < count}
        return prefix

    @property
    def shown(self) -> int:
        return len(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, y: int) -> Row:
        return Row(self._order[y], self._order[y])

    def fill(self, seconds: float | None = None, end: int | None = None) -> bool:
        until = inf if seconds is None else perf_counter() + seconds
        for index in range(len(self._keys), len(self._calls) if end is None else end):
            self._keys.append(_slowness(self._calls[index]))
            if self._matches is None or self._matches(self._calls[index]):
                if self._is_sorted:
                    insort(self._order, index, key=self._key)
                else:
                    self._order.append(index)
            if (self._matches or index % CALLS_PER_CLOCK_CHECK == 0) and perf_counter() >= until:
                break
        is_full = len(self._keys) == len(self._calls)
        if is_full and not self._is_sorted:
            self._order.sort(key=self._keys.__getitem__)
            self._is_sorted = True
            self.update(self._changed)
        return is_full

    def update(self, changed: Iterable[int]) -> None:
        if not self._is_sorted:
            self._changed.update(changed)
            return
        for index in changed:
            if index < len(self._keys):
                if (y := self.row_of(index)) is not None:
                    del self._order[y]
                self._keys[index] = _slowness(self._calls[index])
                if self._matches is None or self._matches(self._calls[index]):
                    insort(self._order, index, key=self._key)

    def row_of(self, index: int, *, is_whole: bool = False) -> int | None:
        del is_whole
        at = bisect_left(self._order, self._key(index), key=self._key) if index < len(self._keys) else -1
        return at if 0 <= at < len(self._order) and self._order[at] == index else None

    def toggle(self, y: int) -> bool:
        del y
        return False

    def group_mark(self, y: int) -> str:
        del y
        return " "

    def _key(self, index: int) -> tuple[float, int]:
        return self._keys[index], index


def _slowness(call: Call) -> float:
    if call.outcome is Outcome.RUNNING:
        return -inf
    took_ms = call.duration_ms if call.duration_ms is not None else call.seen_duration_ms
    return inf if took_ms is None else -took_ms


Rows = RowsByTime | RowsByDuration

_MOST_RANKED = 1_000
"""The newest failures among which the open ones are counted: 2 ms."""
_MOST_CHANGES = 1024
"""The number of changes processed in one step, which takes 5 ms."""
_MOST_TOOLS = 500


class CallList:
    """The rows that are shown, and the rows being built to replace them."""

    def __init__(self, session: Session, facts: CallFacts) -> None:
        self._session = session
        self.facts = facts
        self._changes = CallChanges(session)
        self._rows: Rows = RowsByTime(session.calls)
        self._next: Rows | None = None
        self._requested = ("", False)
        self.filter = ""
        self.is_by_duration = False
        self.strip = TimeStrip()
        self.tools: dict[str, int] = {}
        """The tools, each with the number of its first call; at most 500."""
        self.tool_width = 0
        self.revision = 0
        """Grows with each change of a call."""
        self._parents: dict[int, int] = {}
        """The numbers of the calls that started subagents, and the first call of each subagent."""
        self._failed: dict[int, None] = {}

    def shows(self, session: Session) -> bool:
        return self._session is session

    def at(self, session: Session) -> CallList:
        from agentwatch.rules.calls.filter import usable_filter

        calls, count = session.calls, min(len(session.calls), self._changes.count)
        earlier = CallList(session, self.facts)
        earlier._requested, earlier.filter = (self.filter, self.is_by_duration), self.filter
        earlier.is_by_duration = self.is_by_duration
        earlier._rows = self._rows.prefix(calls, usable_filter(self.filter, self.facts).matches)
        earlier._changes.skip(count)
        earlier.strip = self.strip.prefix(len(calls))
        earlier.tools = {tool: first for tool, first in self.tools.items() if first <= len(calls)}
        earlier.tool_width = max((columns(shown_tool(tool)) for tool in earlier.tools), default=0)
        earlier._parents = {parent: first for parent, first in self._parents.items() if first <= len(calls)}
        changed = [number - 1 for number in calls.differing if number <= count]
        earlier._failed = {index: None for index in self._failed if index < count}
        for index in changed:  # all other calls are in the same state: unpacking 5,000 of them takes 25 ms
            if calls[index].outcome is not Outcome.FAILED:
                earlier._failed.pop(index, None)
        earlier._rows.update(changed)
        earlier.revision = self.revision + 1
        earlier.sync()
        return earlier

    @property
    def rows(self) -> Rows:
        return self._rows

    @property
    def requested(self) -> tuple[str, bool]:
        return self._requested

    @property
    def requested_filter(self) -> str:
        return self._requested[0]

    @property
    def count(self) -> int:
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
            self._add_tool(call)
            if call.parent:
                self._parents[call.parent] = min(call.number, self._parents.get(call.parent, call.number))
            if call.outcome is Outcome.FAILED:
                self._failed[index] = None
            elif index in self._failed:
                del self._failed[index]
        self.revision += len(changed)
        self._rows.update(changed)
        if self._next is not None:
            self._next.update(changed)
        return bool(changed)

    def _add_tool(self, call: Call) -> None:
        first = self.tools.get(call.tool)
        if len(self.tools) < _MOST_TOOLS if first is None else call.number < first:
            self.tools[call.tool] = call.number
            self.tool_width = max(self.tool_width, columns(shown_tool(call.tool)))

    def title(self, name: str) -> SafeText:
        order = " · slowest first" if self.is_by_duration else ""
        hidden = f' · {self.count - self._rows.shown:,} hidden by "{self.filter}"' if self.filter else ""
        return safe_line(name + order + hidden)

    def request(self, words: str | None = None, *, by_duration: bool | None = None) -> RuleError | None:
        """Request another filter or order, whose rows `build` makes; return what is wrong with the words."""
        from agentwatch.rules.calls.filter import usable_filter

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
        return self._next is not None

    def calls_of(self, row: Row) -> Sequence[Call]:
        return CallOrder(self._session.calls, range(row.first, row.last + 1))

    def call(self, number: int) -> Call | None:
        """Return the call with a number; None if it has not begun at this moment."""
        return self._session.calls[number - 1] if 0 < number <= len(self._session.calls) else None

    def call_at(self, y: int) -> Call:
        """Return the call of a row; in a row of several calls, the newest one."""
        return self._session.calls[self._rows[y].last]

    def delegating(self) -> Sequence[Call]:
        return CallOrder(self._session.calls, (number - 1 for number in sorted(self._parents)))

    def failures(self) -> list[int]:
        return [index + 1 for index in sorted(self._failed) if self._rows.row_of(index) is not None]

    def ranked_failures(self, seconds: float) -> list[RankedFailure]:
        """Return the shown calls that failed, or whose tests failed; those that matter most are first."""
        from agentwatch.analysis.episodes import ranked_failures

        episodes, until = self.facts.episodes, perf_counter() + seconds
        while episodes.update() and perf_counter() < until:
            pass
        failed, calls = dict.fromkeys(self.failures()), self._session.calls
        for number in episodes.red:
            if self._rows.row_of(number - 1) is not None and calls[number - 1].ended is not None:
                failed[number] = None
        return ranked_failures(self._session, failed, episodes)

    def open_failures(self) -> list[Call]:
        """Return the failed calls, shown or not, that were not tried again as far as `episodes` has read."""
        from agentwatch.analysis.episodes import Rank, ranked_failures

        failed = [index + 1 for index in sorted(self._failed)[-_MOST_RANKED:]]
        ranked = ranked_failures(self._session, failed, self.facts.episodes)
        return [self._session.calls[each.number - 1] for each in ranked if each.rank is Rank.OPEN]


# The time strip: a thin bar that shows when each call ran, relative to the calls in view.
# Parallel calls and waiting times are visible in it. The bars use the agent's clock. A time that is known
# only by agentwatch's clock is shifted by the offset between the two clocks, so that the two ends of a bar
# are never measured by different clocks.

_LEAST_MS = 10_000
_MOST_MS = 10**13

Scales = dict[int, tuple[int, int]]
"""For each number of a run: when its strip begins (ms since the epoch, by the agent's clock or, if that is
unknown, by agentwatch's clock), and the duration of the strip in ms."""


class TimeStrip:
    def __init__(self) -> None:
        self._ahead_ms: dict[int, int | None] = {}
        """By the run, if the agent gives times: its clock minus agentwatch's clock; None while unknown."""
        self._firsts: dict[int, tuple[int, int]] = {}
        """For each number of a run: the number of its first call with a time of the agent, and of the first
        call that shows the difference of the clocks."""

    def prefix(self, calls: int) -> TimeStrip:
        prefix = TimeStrip()
        for run, (timed, compared) in self._firsts.items():
            if timed <= calls:
                prefix._ahead_ms[run] = self._ahead_ms[run] if compared <= calls else None
                prefix._firsts[run] = timed, compared
        return prefix

    def add(self, call: Call) -> None:
        for at_ms, place in ((call.started_ms, call.started), (call.ended_ms, call.ended)):
            if at_ms is not None and self._ahead_ms.get(call.run) is None:
                seen_ms = None if place is None else place.seen_ms
                self._ahead_ms[call.run] = None if seen_ms is None else at_ms - seen_ms
                timed, _ = self._firsts.get(call.run, (call.number, 0))
                self._firsts[call.run] = timed, call.number

    def scales(self, calls: Iterable[Call], now_ms: int | None) -> Scales:
        """Return the scale of each run, from the beginning of its first call to the end of its last one.
        While a call is running, the duration grows in steps of a half, so that the bars rarely move."""
        extents: Scales = {}
        growing = set()
        for call in calls:
            begin_ms, end_ms = self._times(call, now_ms)
            if begin_ms is None or end_ms is None:
                continue
            first_ms, last_ms = extents.get(call.run, (begin_ms, end_ms))
            extents[call.run] = min(first_ms, begin_ms), max(last_ms, end_ms)
            if call.outcome is Outcome.RUNNING:
                growing.add(call.run)
        for run, (first_ms, last_ms) in extents.items():
            length_ms = min(max(last_ms - first_ms, 1), _MOST_MS)
            extents[run] = first_ms, _grown(length_ms) if run in growing else length_ms
        return extents

    def bar(self, calls: Sequence[Call], width: int, scales: Scales, now_ms: int | None) -> SafeText:
        """Return the bar of calls of one run. A call whose end is unknown is drawn only where it began."""
        scale = scales.get(calls[0].run)
        if scale is None:
            return SafeText(" " * width)
        first_ms, length_ms = scale
        eighths = bytearray(width * 8)
        for call in calls:
            begin_ms, end_ms = self._times(call, now_ms)
            if begin_ms is not None and end_ms is not None:
                begin = min(max((begin_ms - first_ms) * width * 8 // length_ms, 0), width * 8 - 1)
                end = min(max((end_ms - first_ms) * width * 8 // length_ms, begin + 1), width * 8)
                eighths[begin:end] = b"\1" * (end - begin)
        first, last = eighths.find(1) // 8, eighths.rfind(1) // 8
        if first < 0:
            return SafeText(" " * width)
        blocks = "".join(_block(eighths[at * 8 : at * 8 + 8]) for at in range(first, last + 1))
        return SafeText(f"{' ' * first}{blocks}{' ' * (width - last - 1)}")

    def _times(self, call: Call, now_ms: int | None) -> tuple[int | None, int | None]:
        """Return when a call began and ended; both are equal if only one is known, None if none is."""
        begin_ms = self._time_ms(call.run, call.started_ms, call.started)
        end_ms = self._time_ms(call.run, call.ended_ms, call.ended)
        if call.outcome is Outcome.RUNNING:
            end_ms = _now_ms(call, begin_ms, now_ms)
        if begin_ms is None or (call.ended and call.started is None):
            begin_ms = end_ms
        return begin_ms, begin_ms if end_ms is None else end_ms

    def _time_ms(self, number: int, at_ms: int | None, place: Place | None) -> int | None:
        """Return a time by the agent's clock, or by agentwatch's clock if the run has none of its times."""
        if at_ms is not None or place is None or place.seen_ms is None:
            return at_ms
        if number not in self._ahead_ms:
            return place.seen_ms
        ahead_ms = self._ahead_ms[number]
        return None if ahead_ms is None else place.seen_ms + ahead_ms


def _now_ms(call: Call, begin_ms: int | None, now_ms: int | None) -> int | None:
    """Return the current end of a running call: its beginning plus the time that has passed since."""
    if begin_ms is None or now_ms is None or call.started is None or call.started.seen_ms is None:
        return begin_ms
    return begin_ms + max(now_ms - call.started.seen_ms, 0)


def _grown(length_ms: int) -> int:
    shown_ms = _LEAST_MS
    while shown_ms < length_ms:
        shown_ms += shown_ms // 2
    return shown_ms


def _block(eighths: bytearray) -> str:
    """Return the block character that best shows which eighths of a column are filled."""
    count = eighths.count(1)
    if not eighths[0] and (eighths[7] or eighths.find(1) >= 4):
        # For the right side, only the eighth, half and full blocks exist.
        return "█" if count > 5 else "▐" if count > 2 else "▕" if count else " "
    return EIGHTHS[count]


# Detects calls that fail while the session is watched.


class NewFailures:
    def __init__(self, feed: Feed, moment: int) -> None:
        self._session = feed.session
        self._history = moment
        self._ended = 0

    def go_on(self, feed: Feed) -> None:
        self._session, self._history = feed.session, min(self._history, feed.offset)

    def newest(self) -> Call | None:
        ended = self._session.ended_calls
        first, self._ended = self._ended, len(ended)
        for index in range(len(ended) - 1, first - 1, -1):
            call = ended[index]
            if call.ended is not None and call.ended.offset < self._history:
                break
            if call.outcome is Outcome.FAILED:
                return call
        return None
