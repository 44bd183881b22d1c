"""When in its run each call ran, as a thin bar; parallel calls and waiting can be seen in it.

The bars are by the agent's clock. Where only ours knows a time, it is moved by the difference between
the two clocks, so that one call never stands on two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentwatch.events import Outcome
from agentwatch.safe_text import SafeText
from agentwatch.screen.lines.format import EIGHTHS
from agentwatch.session import Call, Place, Run, Session

_LEAST_MS = 10_000
_MOST_MS = 10**13


@dataclass(slots=True)
class _Extent:
    """From when to when the calls of a run ran, and how far the agent's clock is ahead of ours."""

    first_ms: int
    last_ms: int
    is_agents: bool
    """They are by the agent's clock; until it has told a time they are by ours."""
    ahead_ms: int | None = None


class TimeStrip:
    """The time of each run, from its beginning to its end or to now."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._extents: dict[int, _Extent] = {}

    def add(self, call: Call) -> None:
        """Take the times of a call that is new or has changed."""
        for at_ms, place in ((call.started_ms, call.started), (call.ended_ms, call.ended)):
            if at_ms is not None:
                self._compare_clocks(call.run, at_ms, place)
            time_ms = self._time_ms(call.run, at_ms, place)
            extent = self._extents.get(call.run)
            if time_ms is not None and extent is not None:
                extent.first_ms = min(extent.first_ms, time_ms)
                extent.last_ms = max(extent.last_ms, time_ms)
            elif time_ms is not None:
                self._extents[call.run] = _Extent(time_ms, time_ms, is_agents=False)

    def scale(self, number: int, now_ms: int | None) -> tuple[int, int] | None:
        """Return when a run begins on the strip, and how many ms that shows; None where no time is known.

        While the run goes on the length grows by half at a time: the bars stand still in between.
        """
        extent = self._extents.get(number)
        if extent is None:
            return None
        run = self._session.runs[number - 1] if 0 < number <= len(self._session.runs) else Run()
        began_ms = self._ours(number, run.began_seen_ms)
        first_ms = extent.first_ms if began_ms is None else min(began_ms, extent.first_ms)
        length_ms = extent.last_ms - first_ms
        if run.is_over:
            return first_ms, min(max(length_ms, run.duration_ms or 0, 1), _MOST_MS)
        if (until_ms := self._ours(number, now_ms)) is not None:
            length_ms = max(length_ms, until_ms - first_ms)
        shown_ms = _LEAST_MS
        while shown_ms < min(length_ms, _MOST_MS):
            shown_ms += shown_ms // 2
        return first_ms, shown_ms

    def bar(self, calls: Sequence[Call], width: int, now_ms: int | None) -> SafeText:
        """Return when calls of one run ran, in so many columns; of one without an end, when it began."""
        scale = self.scale(calls[0].run, now_ms)
        if scale is None:
            return SafeText(" " * width)
        first_ms, length_ms = scale
        eighths = bytearray(width * 8)
        for call in calls:
            begin_ms = self._time_ms(call.run, call.started_ms, call.started)
            end_ms = self._time_ms(call.run, call.ended_ms, call.ended)
            if call.outcome is Outcome.RUNNING:
                end_ms = self._now_ms(call, begin_ms, now_ms)
            begin_ms = end_ms if begin_ms is None or (call.ended and call.started is None) else begin_ms
            if begin_ms is not None:
                end_ms = begin_ms if end_ms is None else end_ms
                begin = min(max((begin_ms - first_ms) * width * 8 // length_ms, 0), width * 8 - 1)
                end = min(max((end_ms - first_ms) * width * 8 // length_ms, begin + 1), width * 8)
                eighths[begin:end] = b"\1" * (end - begin)
        return SafeText("".join(_block(eighths[at : at + 8]) for at in range(0, width * 8, 8)))

    def _compare_clocks(self, number: int, at_ms: int, place: Place | None) -> None:
        """Take note of a time by the agent's clock; what was known by ours is moved, or else given up."""
        seen_ms = None if place is None else place.seen_ms
        extent = self._extents.setdefault(number, _Extent(at_ms, at_ms, is_agents=True))
        if extent.ahead_ms is None and seen_ms is not None:
            extent.ahead_ms = at_ms - seen_ms
            if not extent.is_agents:
                extent.first_ms += extent.ahead_ms
                extent.last_ms += extent.ahead_ms
        elif not extent.is_agents:
            extent.first_ms = extent.last_ms = at_ms
        extent.is_agents = True

    def _ours(self, number: int, seen_ms: int | None) -> int | None:
        """Return a time by our clock as the agent's would have given it; None where that is not known."""
        extent = self._extents.get(number)
        if seen_ms is None or extent is None or not extent.is_agents:
            return seen_ms
        return None if extent.ahead_ms is None else seen_ms + extent.ahead_ms

    def _time_ms(self, number: int, at_ms: int | None, place: Place | None) -> int | None:
        if at_ms is not None or place is None:
            return at_ms
        return self._ours(number, place.seen_ms)

    def _now_ms(self, call: Call, begin_ms: int | None, now_ms: int | None) -> int | None:
        """Return how far a running call has come: its beginning and what our clock has counted since."""
        if begin_ms is None or now_ms is None or call.started is None or call.started.seen_ms is None:
            return begin_ms
        return begin_ms + max(now_ms - call.started.seen_ms, 0)


def _block(eighths: bytearray) -> str:
    """Return the block that shows best which eighths of a column are taken."""
    count = eighths.count(1)
    if not eighths[0] and (eighths[7] or eighths.find(1) >= 4):
        # From the right there are but an eighth, a half and the whole.
        return "█" if count > 5 else "▐" if count > 2 else "▕" if count else " "
    return EIGHTHS[count]
