"""The times of spans, in nanoseconds since the epoch."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from agentwatch.exports.exported import Exported
from agentwatch.session import Call, Place

_NS = 1_000_000
_MOST_MS = (1 << 63) // _NS - 1
"""In the year 2262. OTLP has 64 bits for a time in nanoseconds."""
_MOST_TRIED = 1000
_STEP_NS = 1000


class Period(NamedTuple):
    """When something started and ended, in nanoseconds since the epoch."""

    start: int
    end: int

    def around(self, other: Period) -> Period:
        """Return the period from the first start to the last end."""
        return Period(min(self.start, other.start), max(self.end, other.end))


class Clock:
    """The times of a session by one clock: the agent's if it has one, otherwise that of the arrivals.

    Arrival times are shifted to the agent's clock by the difference at the first call that has both. Without
    any time, the recording ends when its file was last written, and its calls follow each other by 1 µs.
    """

    def __init__(self, exported: Exported) -> None:
        self._session = exported.session
        self._timeline = exported.timeline
        self._shift_ms = _shift(exported)
        self.has_times = exported.timeline.has_times
        """Whether the recording has any time."""
        written_ms = _valid(exported.modified_ms) or 1
        durations = (run.duration_of_turns_ms or 0 for run in self._session.runs)
        self._written = Period(_before(written_ms, sum(durations)) * _NS, written_ms * _NS)

    def run(self, number: int) -> Period:
        """Return when a run started and ended, as far as its own lines show it."""
        run = self._session.runs[number - 1]
        start_ms = self._shifted(run.began_seen_ms)
        end_ms = self._at(run.ended) if run.ended is not None else self._last_ms(number)
        if end_ms is None:
            return self._written
        if start_ms is None:
            start_ms = _before(end_ms, run.duration_of_turns_ms)
        return Period(start_ms * _NS, max(start_ms, end_ms) * _NS)

    def call(self, call: Call) -> Period:
        """Return when a call started and ended. One that never ended, ends with the last event of its run."""
        start_ms, end_ms = _valid(call.started_ms), _valid(call.ended_ms)
        start_ms = self._at(call.started) if start_ms is None else start_ms
        end_ms = self._at(call.ended) if end_ms is None else end_ms
        duration_ms = call.duration_ms
        if duration_ms is not None and 0 <= duration_ms < _MOST_MS:
            if start_ms is not None:
                end_ms = _valid(start_ms + duration_ms)
            elif end_ms is not None:
                start_ms = _valid(end_ms - duration_ms)
        if end_ms is None:
            end_ms = self._last_ms(call.run)
        start_ms = end_ms if start_ms is None else start_ms
        if start_ms is None or end_ms is None:
            start_ns = min(self._written.start + call.number * _STEP_NS, self._written.end)
            return Period(start_ns, start_ns)
        return Period(start_ms * _NS, max(start_ms, end_ms) * _NS)

    def text(self, started_ms: int | None, ended_ms: int | None) -> Period | None:
        """Return when a text was written; None unless the agent gave two different times for it."""
        start_ms, end_ms = _valid(started_ms), _valid(ended_ms)
        if start_ms is None or end_ms is None or end_ms <= start_ms:
            return None
        return Period(start_ms * _NS, end_ms * _NS)

    def _last_ms(self, number: int) -> int | None:
        """Return the time of the last event of a run: the start of the next one, or the last time of all."""
        if number < len(self._session.runs):
            began_ms = self._shifted(self._session.runs[number].began_seen_ms)
            if began_ms is not None:
                return began_ms
        return self._shifted(self._session.last_seen_ms)

    def _at(self, place: Place | None) -> int | None:
        """Return the time of a line; if it has none, that of the last line before it that has one."""
        if place is None:
            return None
        return self._shifted(self._timeline.ms_at(place.offset) if place.seen_ms is None else place.seen_ms)

    def _shifted(self, seen_ms: int | None) -> int | None:
        return None if seen_ms is None else _valid(seen_ms + self._shift_ms)


def began_ms(exported: Exported) -> list[int | None]:
    """Return for each run when it began, by the first time that the recording has of it; None if it has none.

    The times are not shifted: a part of a session has the same ids as the whole.
    """
    began = [run.began_seen_ms for run in exported.session.runs]
    if None in began:
        for call in exported.session.calls:
            if began[call.run - 1] is None and call.started_ms is not None:
                began[call.run - 1] = call.started_ms
    return began


def _shift(exported: Exported) -> int:
    """Return by how much the agent's clock is ahead of that of the arrivals, in milliseconds."""
    for call in islice(exported.session.calls, _MOST_TRIED):
        started_ms = _valid(call.started_ms)
        if started_ms is not None and call.started is not None and call.started.seen_ms is not None:
            return started_ms - call.started.seen_ms
    return 0


def _before(end_ms: int, duration_ms: int | None) -> int:
    """Return when something started, by its duration as the agent measured it; its end if it is unknown."""
    return end_ms - duration_ms if duration_ms is not None and 0 < duration_ms < end_ms else end_ms


def _valid(at_ms: int | None) -> int | None:
    """Return a time that OTLP can express; None for any other, since the agent's times are foreign."""
    return at_ms if at_ms is not None and 0 < at_ms < _MOST_MS else None
