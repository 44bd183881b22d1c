"""Divides the time of a session into shares that add up to the whole, and updates them incrementally.

Each share has a layer: the union of its own intervals and those of all shares before it. The time of a share
is the total of its layer minus that of the layer before it. Adding an interval that is late or overlaps
others costs one bisection.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from agentwatch.session.call import Call
from agentwatch.session.counts import complete_sum
from agentwatch.session.session import Session
from agentwatch.session.transcript import Entry, Kind


class IntervalSet:
    """A set of moments, stored as sorted, disjoint intervals."""

    def __init__(self) -> None:
        self.total = 0
        """The sum of the lengths of the intervals."""
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Add the interval from `start` to `end`."""
        if not self._ends or start > self._ends[-1]:  # nearly always; three times as fast
            self._starts.append(start)
            self._ends.append(end)
            self.total += end - start
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        for index in range(first, last):
            start, end = min(start, self._starts[index]), max(end, self._ends[index])
            self.total -= self._ends[index] - self._starts[index]
        self._starts[first:last], self._ends[first:last] = [start], [end]
        self.total += end - start

    def intervals(self) -> Iterator[tuple[int, int]]:
        """Return the intervals in order, as pairs of start and end."""
        return zip(self._starts, self._ends, strict=True)

    def missing(self, start: int, end: int) -> int:
        """Return the time between `start` and a later `end` that is not in the set."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        held = sum(self._ends[first:last]) - sum(self._starts[first:last])
        if first < last:
            held -= max(start - self._starts[first], 0) + max(self._ends[last - 1] - end, 0)
        return end - start - held


_MOST_SLOWEST = 5


class Share(StrEnum):
    """What a part of the time was spent on. If several apply at a moment, the first in this list counts."""

    TOOLS = "tools"
    WRITING = "writing"
    THINKING = "thinking"
    BETWEEN_RUNS = "between runs"
    """The time from the end of a run or turn to the next line. It is not part of the whole."""
    UNATTRIBUTED = "unattributed"
    """Activity of unknown duration."""
    NOTICED = "waiting (notice)"
    """Waiting, while the agent reported a lost connection, a retry or a permission."""
    WAITING = "waiting for the model"
    """The remaining time, without time in which something of unknown duration may have happened."""


_LAYERS = tuple(Share)[:-1]
"""The shares that have a layer. The last share is what the outermost layer leaves of the whole."""


class ToolTime(NamedTuple):
    """The number of calls of one tool and the sum of their durations. Parallel calls count separately."""

    tool: str
    calls: int
    ms: int


class Account(NamedTuple):
    """The time breakdown of a session so far."""

    is_agent_time: bool
    """Whether the times are by the agent's clock. Otherwise they are by the arrival times of the lines."""
    whole_ms: int
    """The duration of the session, without the time between runs."""
    parts: dict[Share, int]
    """Milliseconds per share, without the time between runs. They add up to `whole_ms`."""
    between_runs_ms: int
    tools: list[ToolTime]
    """Longest first."""
    slowest: list[Call]
    """Longest first, by the clock that `is_agent_time` names."""
    running: int
    """The number of open calls. Their time is not attributed yet."""


class Timeline:
    """The intervals of a session by one clock, in milliseconds."""

    def __init__(self, duration_ms: Callable[[Call], int | None]) -> None:
        self._unions = [IntervalSet() for _ in _LAYERS]
        self._duration_ms = duration_ms
        self.first_ms: int | None = None
        self.last_ms: int | None = None
        self._tools: dict[str, ToolTime] = {}
        self._slowest: list[tuple[int, int, Call]] = []

    @property
    def span_ms(self) -> int:
        """The time from the first to the last known moment; 0 if none is known."""
        return 0 if self.first_ms is None or self.last_ms is None else self.last_ms - self.first_ms

    def extend_to(self, at_ms: int | None) -> None:
        if at_ms is None:
            return
        if self.first_ms is None or at_ms < self.first_ms:
            self.first_ms = at_ms
        if self.last_ms is None or at_ms > self.last_ms:
            self.last_ms = at_ms

    def add(self, share: Share, start_ms: int, end_ms: int) -> None:
        """Attribute an interval to a share. Time that is also in an earlier share counts for the earlier."""
        self.extend_to(start_ms)
        self.extend_to(end_ms)
        if end_ms > start_ms:
            for union in self._unions[_LAYERS.index(share) :]:
                union.add(start_ms, end_ms)

    def add_call(self, call: Call, start_ms: int | None) -> None:
        """Attribute the time of a call that has ended, if its start and duration are known by this clock."""
        duration_ms = self._duration_ms(call)
        if start_ms is None or duration_ms is None:
            return
        self.add(Share.TOOLS, start_ms, start_ms + duration_ms)
        _, calls, ms = self._tools.get(call.tool, (call.tool, 0, 0))
        self._tools[call.tool] = ToolTime(call.tool, calls + 1, ms + duration_ms)
        push = heapq.heappush if len(self._slowest) < _MOST_SLOWEST else heapq.heappushpop
        push(self._slowest, (duration_ms, -call.number, call))

    def missing(self, start_ms: int, end_ms: int) -> int:
        """Return the part of an interval that is not attributed to any share."""
        return self._unions[-1].missing(start_ms, end_ms)

    def parts(self) -> dict[Share, int]:
        """Return the milliseconds of each share. They add up to the span."""
        inner, parts = 0, {}
        for share, union in zip(_LAYERS, self._unions, strict=True):
            parts[share], inner = union.total - inner, union.total
        parts[Share.WAITING] = self.span_ms - inner
        return parts

    def tools(self) -> list[ToolTime]:
        return sorted(self._tools.values(), key=lambda tool: (-tool.ms, tool.tool))

    def slowest(self) -> list[Call]:
        return [call for _, _, call in sorted(self._slowest, reverse=True)]


class TimeBreakdown:
    """Divides the time of a session into shares, by the agent's clock and by the arrival times."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._agent = Timeline(lambda call: call.duration_ms)
        self._seen = Timeline(lambda call: call.seen_duration_ms)
        """The timeline by arrival, which ends once the agent gives a time: only its clock counts then."""
        self._entries = self._calls = self._runs = 0
        self._pauses = 0
        """The number of pauses between turns of the last run that were read so far."""
        self._latest_ms: int | None = None
        """The latest time at which an entry began or a text ended, in the transcript so far."""
        self._gap: Share | None = None
        """The share to which the time up to the next timed entry will be attributed."""
        self._growing: Entry | None = None
        """The last text, if it was still open when it was read. It is read again at the next update."""
        self._unended: list[Call] = []
        """The calls of this run whose duration was unknown at the last check."""
        self._lost: list[tuple[list[Call], int]] = []
        """The same for earlier runs: a list of calls and the last moment of each run."""

    def update(self, most: int = 200) -> bool:
        """Read new entries and ended calls of the session, at most `most` of each."""
        entries, calls = self._session.transcript, self._session.ended_calls
        if self._growing is not None:
            self._add_text(self._growing)
        last_entry = min(self._entries + most, len(entries))
        for entry in entries[self._entries : last_entry]:
            self._add_entry(entry)
        self._entries = last_entry
        last_call = min(self._calls + most, len(calls))
        for call in calls[self._calls : last_call]:
            self._add_call(call)
        self._calls = last_call
        self._add_runs()
        return last_entry < len(entries) or last_call < len(calls)

    def account(self) -> Account:
        """Return the time breakdown of the entries and calls that were read so far."""
        is_agent_time = self._agent.first_ms is not None
        timeline = self._agent if is_agent_time else self._seen
        parts = timeline.parts()
        unknown_ms = self._unknown_ms() if is_agent_time else parts[Share.WAITING]
        parts[Share.WAITING] -= unknown_ms
        parts[Share.UNATTRIBUTED] += unknown_ms
        between_ms = parts.pop(Share.BETWEEN_RUNS)
        whole_ms = timeline.span_ms - between_ms
        reported_ms = (
            complete_sum([run.duration_of_turns_ms for run in self._session.runs]) if is_agent_time else None
        )
        if reported_ms is not None and reported_ms > whole_ms:
            # the agent's duration also covers what has no timestamp: its start-up, a last text without deltas
            parts[Share.UNATTRIBUTED] += reported_ms - whole_ms
            whole_ms = reported_ms
        running = len(self._session.open_calls)
        slowest = timeline.slowest()
        return Account(is_agent_time, whole_ms, parts, between_ms, timeline.tools(), slowest, running)

    def _add_entry(self, entry: Entry) -> None:
        self._growing = entry if entry.is_open else None
        call, start_ms = entry.call, entry.started_ms
        if call is not None:
            start_ms = call.started_ms
            if self._agent.first_ms is None and call.started is not None:
                self._seen.extend_to(call.started.seen_ms)
        if start_ms is None:
            self._add_untimed(entry)
            return
        if self._gap is not None and self._latest_ms is not None:
            self._agent.add(self._gap, self._latest_ms, start_ms)
            if self._gap is Share.BETWEEN_RUNS and self._unended:
                self._lost.append((self._unended, self._latest_ms))
                self._unended = []
        self._gap = None
        if call is None:
            self._add_text(entry)
        else:
            self._unended.append(call)
            self._extend_to(start_ms)

    def _add_untimed(self, entry: Entry) -> None:
        if entry.kind is Kind.PROMPT and entry.parent is not None:
            return  # the main agent gave it to a subagent, which takes no time
        if entry.kind in (Kind.PROMPT, Kind.RESULT):
            self._gap = Share.BETWEEN_RUNS
        elif entry.kind is not Kind.NOTICE and self._gap is not Share.BETWEEN_RUNS:
            self._gap = Share.UNATTRIBUTED
        elif self._gap is None:
            self._gap = Share.NOTICED

    def _add_text(self, entry: Entry) -> None:
        """Attribute the time from the beginning of a text to its present end."""
        if entry.started_ms is not None and entry.ended_ms is not None:
            share = Share.THINKING if entry.kind is Kind.REASONING else Share.WRITING
            self._agent.add(share, entry.started_ms, entry.ended_ms)
            self._extend_to(max(entry.started_ms, entry.ended_ms))

    def _extend_to(self, at_ms: int) -> None:
        self._agent.extend_to(at_ms)
        self._latest_ms = at_ms if self._latest_ms is None else max(self._latest_ms, at_ms)

    def _add_call(self, call: Call) -> None:
        self._agent.extend_to(call.started_ms)
        self._agent.extend_to(call.ended_ms)
        self._agent.add_call(call, call.started_ms)
        if self._agent.first_ms is None and call.started is not None:
            self._seen.add_call(call, call.started.seen_ms)

    def _add_runs(self) -> None:
        runs = self._session.runs
        for index in range(max(self._runs - 1, 0), len(runs)):
            pauses = runs[index].pauses
            first = self._pauses if index == self._runs - 1 else 0
            for start_ms, end_ms in pauses[first:]:
                self._seen.add(Share.BETWEEN_RUNS, start_ms, end_ms)
            self._pauses = len(pauses)
        for index in range(self._runs, len(runs)):
            self._seen.extend_to(runs[index].began_seen_ms)
            before = runs[index - 1].ended if index else None
            began_ms = runs[index].began_seen_ms
            if before is not None and before.seen_ms is not None and began_ms is not None:
                self._seen.add(Share.BETWEEN_RUNS, before.seen_ms, began_ms)
        self._runs = len(runs)
        if self._seen.first_ms is not None:
            self._seen.extend_to(self._session.last_seen_ms)

    def _unknown_ms(self) -> int:
        """Return the time covered by nothing but activity of unknown duration."""
        self._unended = _without_time(self._unended)
        self._lost = [(left, end_ms) for calls, end_ms in self._lost if (left := _without_time(calls))]
        lost, last_ms = IntervalSet(), self._agent.last_ms
        if self._gap is not None and self._latest_ms is not None and last_ms is not None:
            lost.add(self._latest_ms, last_ms)  # the next timed entry decides its share
        for calls, end_ms in (*self._lost, (self._unended, last_ms)):
            start_ms = min((call.started_ms for call in calls if call.started_ms is not None), default=None)
            if start_ms is not None and end_ms is not None and start_ms < end_ms:
                lost.add(start_ms, end_ms)
        return sum(self._agent.missing(start_ms, end_ms) for start_ms, end_ms in lost.intervals())


def _without_time(calls: list[Call]) -> list[Call]:
    return [call for call in calls if call.duration_ms is None]
