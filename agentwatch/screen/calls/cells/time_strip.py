"""The time strip: a thin bar that shows when each call ran, relative to the calls in view.

Parallel calls and waiting times are visible in it. The bars use the agent's clock. A time that is known only
by agentwatch's clock is shifted by the offset between the two clocks, so that the two ends of a bar are never
measured by different clocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentwatch.events import Outcome
from agentwatch.session import Call, Place
from agentwatch.text.safe import SafeText
from agentwatch.text.signs import EIGHTHS

_LEAST_MS = 10_000
_MOST_MS = 10**13

Scales = dict[int, tuple[int, int]]
"""By the number of a run: the time at which its strip begins, in ms since the epoch by the agent's clock or,
if that is unknown, by agentwatch's clock; and the duration that the strip covers, in ms.
"""


class TimeStrip:
    """Draws when calls ran, relative to the other calls in view."""

    def __init__(self) -> None:
        self._ahead_ms: dict[int, int | None] = {}
        """By the number of a run in which the agent gave times: its clock minus agentwatch's clock; None
        while that is unknown.
        """
        self._firsts: dict[int, tuple[int, int]] = {}
        """By the number of a run: the number of its first call with a time of the agent, and of the first
        call that shows the difference of the clocks.
        """

    def prefix(self, calls: int) -> TimeStrip:
        """Return the strip of the first calls."""
        prefix = TimeStrip()
        for run, (timed, compared) in self._firsts.items():
            if timed <= calls:
                prefix._ahead_ms[run] = self._ahead_ms[run] if compared <= calls else None
                prefix._firsts[run] = timed, compared
        return prefix

    def add(self, call: Call) -> None:
        """Compare the two clocks by the times of a new or changed call."""
        for at_ms, place in ((call.started_ms, call.started), (call.ended_ms, call.ended)):
            if at_ms is not None and self._ahead_ms.get(call.run) is None:
                seen_ms = None if place is None else place.seen_ms
                self._ahead_ms[call.run] = None if seen_ms is None else at_ms - seen_ms
                timed, _ = self._firsts.get(call.run, (call.number, 0))
                self._firsts[call.run] = timed, call.number

    def scales(self, calls: Iterable[Call], now_ms: int | None) -> Scales:
        """Return the scale of each run, from the beginning of its first call to the end of its last one.

        While one of the calls is running, the duration grows in steps of a half, so that the bars rarely
        move.

        Args:
            calls: The calls in view.
            now_ms: The current time by agentwatch's clock, in ms since the epoch; running calls end there.
        """
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
        """Return the bar of one or more calls of the same run.

        A call whose end is unknown is drawn only where it began.

        Args:
            calls: The calls; at least one.
            width: The width of the strip, in columns.
            scales: The scales of the runs in view.
            now_ms: The current time by agentwatch's clock, in ms since the epoch; running calls end there.
        """
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
        """Return a time by the agent's clock if the agent gave it or the clocks can be compared.

        In a run without any time by the agent, it is a time by agentwatch's clock.
        """
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
