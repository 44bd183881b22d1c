"""A recording made of events at given times, with the session and the timeline that a feed would make."""

from __future__ import annotations

from bisect import bisect_right

from agentwatch.session.call import Place
from agentwatch.session.events import Event, Outcome, RunStarted, ToolEnded, ToolKind, ToolStarted
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session

BEGAN_MS = 1_793_610_000_000
LINE = 99
"""The length of a line; with its line end, 100 bytes."""


class Recorded:
    """A session that grows line by line, and its timeline. The n-th line ends at the moment 100 n."""

    def __init__(self, *, has_times: bool = True) -> None:
        self.session = Session()
        self.has_times = has_times
        self._times: list[int] = []
        self._now_ms = 0
        self._calls = 0
        self.line(0, RunStarted("cursor"))

    @property
    def size(self) -> int:
        """The number of bytes."""
        return (LINE + 1) * len(self._times)

    @property
    def first_ms(self) -> int | None:
        """The time of the first line."""
        return self._times[0] if self.has_times else None

    @property
    def last_ms(self) -> int | None:
        """The time of the last line."""
        return self._times[-1] if self.has_times else None

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line before a moment."""
        lines = offset // (LINE + 1)
        return self._times[lines - 1] if self.has_times and lines else None

    def offset_at(self, ms: float) -> int:
        """Return the moment after the last line at or before a time."""
        return (LINE + 1) * bisect_right(self._times, ms)

    def line(self, after_ms: int, *events: Event) -> int:
        """Add a line some time after the one before it; return the moment after it."""
        self._now_ms += after_ms
        seen_ms = BEGAN_MS + self._now_ms
        apply_line(self.session, events, Place(self.size, LINE, seen_ms if self.has_times else None))
        self._times.append(seen_ms)
        return self.size

    def start(self, after_ms: int, call_id: str, command: str = "pytest -q") -> int:
        """Add the line that starts a call."""
        kind = ToolKind.EXECUTE
        return self.line(after_ms, ToolStarted(call_id, "s", "shell", kind, "Ran", command))

    def end(self, after_ms: int, call_id: str, outcome: Outcome = Outcome.SUCCEEDED) -> int:
        """Add the line that ends a call."""
        return self.line(after_ms, ToolEnded(call_id, "s", "shell", ToolKind.EXECUTE, outcome, "Ran"))

    def call(self, after_ms: int, took_ms: int, outcome: Outcome = Outcome.SUCCEEDED) -> int:
        """Add the two lines of a call; return the moment at which it had ended."""
        self._calls += 1
        self.start(after_ms, f"call-{self._calls}")
        return self.end(took_ms, f"call-{self._calls}", outcome)

    def close(self) -> None:
        """End the stream."""
        close_session(self.session)
