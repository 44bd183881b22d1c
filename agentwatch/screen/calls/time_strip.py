"""The time strip: a thin bar that shows when in its run each call ran.

Parallel calls and waiting times are visible in it. The bars use the agent's clock. A time that is known only
by agentwatch's clock is shifted by the offset between the two clocks, so that the two ends of a bar are never
measured by different clocks.
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
    """When the first call of a run began and the last one ended, and the offset between the two clocks."""

    first_ms: int
    last_ms: int
    is_agents: bool
    """Whether the times are by the agent's clock; until it reports one, they are by agentwatch's clock."""
    ahead_ms: int | None = None


class TimeStrip:
    """The time scale of each run, from its beginning to its end or to the current time."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._extents: dict[int, _Extent] = {}

    def add(self, call: Call) -> None:
        """Record the times of a new or changed call."""
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
        """Return where a run begins on the strip and how long it is; None if no time is known.

        While the run continues, the duration grows in steps of a half, so that the bars rarely move.

        Args:
            number: The number of the run, from 1.
            now_ms: The current time by agentwatch's clock, in ms since the epoch.

        Returns:
            The beginning in ms since the epoch, and the duration that the strip covers in ms.
        """
        extent = self._extents.get(number)
        if extent is None:
            return None
        run = self._session.runs[number - 1] if 0 < number <= len(self._session.runs) else Run()
        began_ms = self._to_agent_clock(number, run.began_seen_ms)
        first_ms = extent.first_ms if began_ms is None else min(began_ms, extent.first_ms)
        length_ms = extent.last_ms - first_ms
        if run.is_over:
            return first_ms, min(max(length_ms, run.duration_ms or 0, 1), _MOST_MS)
        if (until_ms := self._to_agent_clock(number, now_ms)) is not None:
            length_ms = max(length_ms, until_ms - first_ms)
        shown_ms = _LEAST_MS
        while shown_ms < min(length_ms, _MOST_MS):
            shown_ms += shown_ms // 2
        return first_ms, shown_ms

    def bar(self, calls: Sequence[Call], width: int, now_ms: int | None) -> SafeText:
        """Return the bar of one or more calls of the same run.

        A call whose end is unknown is drawn only where it began.

        Args:
            calls: The calls; at least one.
            width: The width of the strip, in columns.
            now_ms: The current time by agentwatch's clock, in ms since the epoch; running calls end there.
        """
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
        """Record a time by the agent's clock.

        Times known so far only by agentwatch's clock are shifted by the offset, or dropped if it is unknown.
        """
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

    def _to_agent_clock(self, number: int, seen_ms: int | None) -> int | None:
        """Convert a time by agentwatch's clock to the agent's clock; None while the offset is unknown."""
        extent = self._extents.get(number)
        if seen_ms is None or extent is None or not extent.is_agents:
            return seen_ms
        return None if extent.ahead_ms is None else seen_ms + extent.ahead_ms

    def _time_ms(self, number: int, at_ms: int | None, place: Place | None) -> int | None:
        if at_ms is not None or place is None:
            return at_ms
        return self._to_agent_clock(number, place.seen_ms)

    def _now_ms(self, call: Call, begin_ms: int | None, now_ms: int | None) -> int | None:
        """Return the current end of a running call: its beginning plus the time that has passed since."""
        if begin_ms is None or now_ms is None or call.started is None or call.started.seen_ms is None:
            return begin_ms
        return begin_ms + max(now_ms - call.started.seen_ms, 0)


def _block(eighths: bytearray) -> str:
    """Return the block character that best shows which eighths of a column are filled."""
    count = eighths.count(1)
    if not eighths[0] and (eighths[7] or eighths.find(1) >= 4):
        # For the right side, only the eighth, half and full blocks exist.
        return "█" if count > 5 else "▐" if count > 2 else "▕" if count else " "
    return EIGHTHS[count]
