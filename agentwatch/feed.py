"""A feed brings a session up to date with its recording, at the reader's own pace.

Watching live, opening a saved file and replaying are this one path; a replay has a `Pace` besides.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Protocol

from agentwatch.events import Event, Part
from agentwatch.recording import Line, LineReader
from agentwatch.session import Place, Session
from agentwatch.wire import Decoder

POLL_SECONDS = 0.01
"""How long a reader sleeps when there is nothing new; the bytes then wait 5 ms on average."""


class Pace(Protocol):
    """Decides when the lines of a replay are due."""

    def is_due(self, line: Line, events: list[Event]) -> bool:
        """Return whether it is time for the line; asked again, for the same line, until it is."""

    def seen_ms(self) -> int | None:
        """Return the recorded time of the line that was last due."""


class Feed:
    """A session, and the recording that it follows."""

    def __init__(self, reader: LineReader, pace: Pace | None = None) -> None:
        self.session = Session()
        self.reader = reader
        self.pace = pace
        self.is_over = False
        """Whether every line was applied and none will come."""
        self._decoder = Decoder()
        self._lines: deque[Line] = deque()
        self._held: tuple[Line, list[Event]] | None = None

    def advance(self, seconds: float | None = None) -> int:
        """Apply the lines that are there and due, for about `seconds` at most; return how many.

        At the end of a recording that will not grow the session is closed, once.
        """
        until = None if seconds is None else time.perf_counter() + seconds
        applied = 0
        while not self.is_over and (held := self._next()):
            line, events = held
            if self.pace is None:
                seen_ms = line.seen_ms
            elif self.pace.is_due(line, events):
                seen_ms = self.pace.seen_ms()
            else:
                break
            self._held = None
            self.session.apply(events, Place(line.offset, len(line.data), seen_ms))
            applied += 1
            if until is not None and time.perf_counter() >= until:
                break
        return applied

    @property
    def offset(self) -> int:
        """How many bytes of the recording are applied."""
        if self._held is not None:
            return self._held[0].offset
        return self._lines[0].offset if self._lines else self.reader.offset

    def backlog(self) -> int:
        """Return how many bytes of the recording are not yet applied."""
        return self.reader.growth.size() - self.offset

    def parts(self, place: Place) -> list[Part]:
        """Return what the line at a place carries, read back from the recording."""
        return self._decoder.parts(self.line_at(place))

    def line_at(self, place: Place) -> bytes:
        """Return the line at a place, read back from the recording."""
        return self.reader.line_at(place.offset, place.length)

    def _next(self) -> tuple[Line, list[Event]] | None:
        """Return the next line that is not blank, decoded; None when there is none yet."""
        while self._held is None:
            if not self._lines:
                self._lines.extend(self.reader.read())
            if not self._lines:
                if self.reader.is_at_end():
                    self.session.close()
                    self.is_over = True
                return None
            line = self._lines.popleft()
            events = self._decoder.decode(line.data)
            if events is not None:
                self._held = line, events
        return self._held
