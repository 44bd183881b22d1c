"""A tool call: its start and its end, joined by call_id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from agentwatch.events import Outcome, ToolEnded, ToolKind, ToolStarted


class Place(NamedTuple):
    """The offset and length of a line in the recording, in bytes, and when it arrived, in milliseconds."""

    offset: int
    length: int
    seen_ms: int | None


@dataclass(slots=True, weakref_slot=True)
class Call:
    """The facts about one tool call; None means unknown."""

    number: int
    """Counted from 1, in the order in which calls first appear in the recording."""
    run: int
    call_id: str
    """May contain a newline: use it as a key, never as the id of a widget, and never print it raw."""
    tool: str
    phrase: str
    target: str | None = None
    path: str | None = None
    group: str | None = None
    limit_ms: int | None = None
    error: str | None = None
    note: str | None = None
    exit_code: int | None = None
    is_new_file: bool = False
    lines_added: int | None = None
    lines_removed: int | None = None
    started_ms: int | None = None
    """Agent time."""
    ended_ms: int | None = None
    """Agent time."""
    kind: ToolKind = ToolKind.OTHER
    outcome: Outcome = Outcome.RUNNING
    started: Place | None = field(default=None, repr=False)
    """The line that started the call; None if the recording does not contain it."""
    ended: Place | None = field(default=None, repr=False)
    """The line that ended the call; None if there is none so far."""

    @property
    def duration_ms(self) -> int | None:
        """Duration by the agent's clock; None unless the agent gave both times and they are in order."""
        return _between(self.started_ms, self.ended_ms)

    @property
    def seen_duration_ms(self) -> int | None:
        """Duration by our clock; None if the start or the end is missing, or both arrived in one read."""
        if self.started is None or self.ended is None:
            return None
        return _between(self.started.seen_ms, self.ended.seen_ms) or None

    def start(self, event: ToolStarted, place: Place) -> None:
        """Apply the line that starts the call."""
        self.started, self.started_ms = place, event.at_ms
        self.limit_ms = event.limit_ms
        self._describe(event)

    def end(self, event: ToolEnded, place: Place) -> None:
        """Apply the line that ends the call; details that only the first line contains are kept."""
        self.ended, self.ended_ms = place, event.at_ms
        self.outcome, self.phrase = event.outcome, event.phrase
        self.error, self.note, self.exit_code = event.error, event.note, event.exit_code
        self.is_new_file = event.is_new_file
        self.lines_added, self.lines_removed = event.lines_added, event.lines_removed
        if event.has_arguments or self.started is None:
            self._describe(event)

    def _describe(self, event: ToolStarted | ToolEnded) -> None:
        self.target = self.target if event.target is None else event.target
        self.path = self.path if event.path is None else event.path
        self.group = self.group if event.group is None else event.group


def _between(start_ms: int | None, end_ms: int | None) -> int | None:
    if start_ms is None or end_ms is None or end_ms < start_ms:
        return None
    return end_ms - start_ms
