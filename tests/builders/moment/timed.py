"""Lines with arrival times, and the times of a recording that was never written."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path

from agentwatch.analysis.moments import MomentSpec, Problem, parse
from tests.builders.screen.lines import BEGAN_MS


class ManualClock:
    """A clock that tests set by hand, in seconds."""

    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def timed(path: Path, *seconds: float) -> Path:
    """Write the `.times` file of a recording: the second at which each of its lines came."""
    offset, times = 0, []
    for data, second in zip(path.read_bytes().splitlines(keepends=True), seconds, strict=True):
        times.append(f"{offset} {BEGAN_MS + int(second * 1000)}\n")
        offset += len(data)
    path.with_suffix(".times").write_text("".join(times))
    return path


def timed_evenly(path: Path, seconds: float = 2) -> Path:
    """Write the `.times` file of a recording whose lines came at equal intervals."""
    return timed(path, *(seconds * number for number in range(path.read_bytes().count(b"\n"))))


def parsed(words: str) -> MomentSpec:
    moment = parse(words)
    assert not isinstance(moment, Problem)
    return moment


class RecordedTimes:
    """The recorded times of lines, which never go back."""

    def __init__(self, lines: Sequence[tuple[int, int]], size: int) -> None:
        """Create the times of lines, each given as its offset and its ms since the epoch."""
        self._offsets = [offset for offset, _ in lines]
        self._ms = [ms for _, ms in lines]
        self.has_times = bool(lines)
        self.first_ms = self._ms[0] if lines else None
        self.last_ms = self._ms[-1] if lines else None
        self.size = size

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line that begins before an offset."""
        at = bisect_left(self._offsets, offset)
        return self._ms[at - 1] if at else None

    def offset_at(self, at_ms: float) -> int:
        """Return the offset after the last line at or before a time."""
        return [*self._offsets, self.size][bisect_right(self._ms, at_ms)]
