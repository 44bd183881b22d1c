"""How the verdicts of tests, linters and builds changed since a moment."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from agentwatch.analysis.verdict_history import call_verdict
from agentwatch.analysis.verdicts import Verdict
from agentwatch.analysis.verdicts.programs import only_reads, parts_of
from agentwatch.events import ToolKind
from agentwatch.feed import Feed
from agentwatch.session import Call

MOST_READ = 300
"""The number of newest commands whose output is read: 0.1 ms each, for a line of 1 MiB 4 ms."""
MOST_BEFORE = 200
"""The number of calls before the moment among which the verdict of that moment is searched."""


class VerdictChange(NamedTuple):
    """The first and last verdict of one tool."""

    tool: str
    """The tool whose verdicts they are: `pytest`, `cargo`."""
    before: Verdict
    """Its last verdict before the moment; if none is known, the first one after it."""
    after: Verdict
    """Its last verdict."""
    runs: int
    """The number of its verdicts since the moment."""
    call: Call
    """The call with the last verdict."""


@dataclass(slots=True)
class _OfTool:
    """The verdicts of one tool, with the positions of their calls among the ended ones."""

    before: tuple[int, Verdict] | None = None
    first: tuple[int, Verdict] | None = None
    last: tuple[int, Verdict, Call] | None = None
    runs: int = 0


class VerdictChanges:
    """The verdicts on commands that ended since a moment, by tool. `read_one` reads them one at a time."""

    def __init__(self, feed: Feed, first: int) -> None:
        """Create a list without verdicts.

        Args:
            feed: Reads the outputs.
            first: The number of calls that had ended at the moment.
        """
        self._feed = feed
        self._first = first
        self._unread: deque[tuple[int, Call]] = deque(maxlen=MOST_READ)
        self._tools: dict[str, _OfTool] = {}

    def add(self, position: int, call: Call) -> None:
        """Add an ended call, if it may have a verdict.

        Args:
            position: The position of the call among the ended calls.
            call: The call.
        """
        if call.kind is not ToolKind.EXECUTE or call.ended is None:
            return
        if call.target and not only_reads(parts_of(call.target)):
            self._unread.append((position, call))

    def read_one(self) -> bool:
        """Read the output of the newest unread command; return whether there was one."""
        if not self._unread:
            return False
        position, call = self._unread.pop()
        found = call_verdict(self._feed, call)
        if found is not None and (found.is_red or found.is_green):
            self._keep(position, call, found)
        return True

    def changes(self) -> list[VerdictChange]:
        """Return the change of each tool with a verdict since the moment; the red ones first, then newest."""
        found = []
        for name, tool in self._tools.items():
            if tool.first is not None and tool.last is not None:
                before = tool.before or tool.first
                change = VerdictChange(name, before[1], tool.last[1], tool.runs, tool.last[2])
                found.append((not change.after.is_red, -tool.last[0], change))
        return [change for *_, change in sorted(found, key=lambda each: each[:2])]

    def _keep(self, position: int, call: Call, found: Verdict) -> None:
        tool = self._tools.setdefault(found.tool, _OfTool())
        if position < self._first:
            if tool.before is None or position > tool.before[0]:
                tool.before = position, found
            return
        tool.runs += 1
        if tool.first is None or position < tool.first[0]:
            tool.first = position, found
        if tool.last is None or position > tool.last[0]:
            tool.last = position, found, call
