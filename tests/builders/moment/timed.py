"""Recordings with arrival times, moments of them, and a clock that tests set by hand."""

from __future__ import annotations

from pathlib import Path

from agentwatch.analysis.moments import MomentSpec, Problem, parse
from tests.builders.screen.lines import BEGAN_MS


class ManualClock:
    """A clock that tests set by hand, in seconds."""

    seconds = 100.0

    def __call__(self) -> float:
        """Return the time."""
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
    """Return the moment that words describe."""
    moment = parse(words)
    assert not isinstance(moment, Problem)
    return moment
