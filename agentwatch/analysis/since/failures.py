"""The failures that are still open: failed calls that were not repeated successfully."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Outcome, ToolKind
from agentwatch.session import Call

_MOST_OPEN = 1000


class OpenFailure(NamedTuple):
    """A call that failed, and did not succeed when it was repeated."""

    call: Call
    """The last of the failed calls."""
    times: int
    """How often it failed."""


class OpenFailures:
    """The failed calls whose repetition has not succeeded; at most the newest 1,000.

    A call repeats another one if both have the same kind, tool and target. A repetition that was rejected,
    was cancelled or has no known outcome leaves the failure open.
    """

    def __init__(self) -> None:
        self._open: dict[tuple[ToolKind, str, str], OpenFailure] = {}

    def add(self, call: Call) -> None:
        """Add an ended call; calls are added in the order in which they ended."""
        if call.outcome is not Outcome.FAILED and call.outcome is not Outcome.SUCCEEDED:
            return
        key = (call.kind, call.tool, call.target or call.path or "")
        before = self._open.pop(key, None)
        if call.outcome is Outcome.FAILED:
            self._open[key] = OpenFailure(call, 1 if before is None else before.times + 1)
            if len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]

    def newest_first(self) -> list[OpenFailure]:
        """Return the open failures; the call that failed last is the first."""
        return list(reversed(self._open.values()))
