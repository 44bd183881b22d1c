"""A feed brings a session up to date with its recording, at the reader's own pace.

Watching live, opening a saved file and replaying are this one path; a replay has a `Pace` besides.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Protocol

from agentwatch.events import Event, Part
from agentwatch.feed.line_joiner import LineJoiner, is_whole
from agentwatch.recording import MOST_LINE_BYTES, Growth, Line, Lines
from agentwatch.session import Place, Session
from agentwatch.wire import Decoder

POLL_SECONDS = 0.01
"""How long a reader sleeps when there is nothing new; the bytes then wait 5 ms on average."""

_Decoded = tuple[list[Event], Place, int]
"""A `DecodedLine` as a plain tuple: making the named ones takes 1 % of the summary's CPU."""


class Pace(Protocol):
    """Decides when the lines of a replay are due."""

    def is_due(self, seen_ms: int | None, events: list[Event]) -> bool:
        """Return whether it is time for the line; asked again, for the same line, until it is."""

    def seen_ms(self) -> int | None:
        """Return the recorded time of the line that was last due."""


class Reader(Protocol):
    """Hands out the lines of a recording."""

    @property
    def growth(self) -> Growth:
        """How far the recording has come."""

    def read(self) -> Lines:
        """Return the next whole lines; none when there are none yet."""

    def is_at_end(self) -> bool:
        """Return whether every line was returned and none will come."""

    def line_at(self, offset: int, length: int) -> bytes:
        """Return the bytes of a line that was returned before."""


class Feed:
    """A session, and the recording that it follows."""

    def __init__(self, reader: Reader, pace: Pace | None = None) -> None:
        self.session = Session()
        self.reader = reader
        self.pace = pace
        self.is_over = False
        """Whether every line was applied and none will come."""
        self.offset = 0
        """How many bytes of the recording are applied."""
        self._decoder = Decoder()
        self._joiner = LineJoiner(self._decoder)
        self._decoded: Iterator[_Decoded] = iter(())
        self._next: _Decoded | None = None

    def advance(self, seconds: float | None = None) -> int:
        """Apply the lines that are there and due, for about `seconds` at most; return how many.

        At the end of a recording that will not grow the session is closed, once.
        """
        until = None if seconds is None else time.perf_counter() + seconds
        applied = 0
        while (decoded := self._next or next(self._decoded, None) or self._read_on()) is not None:
            events, place, count = self._next = decoded
            if self.pace is not None:
                if not self.pace.is_due(place.seen_ms, events):
                    break
                place = place._replace(seen_ms=self.pace.seen_ms())
            self._next = None
            self.session.apply(events, place, count)
            self.offset = place.offset + place.length + 1
            applied += count
            if until is not None and time.perf_counter() >= until:
                break
        return applied

    def backlog(self) -> int:
        """Return how many bytes of the recording are not yet applied."""
        return 0 if self.is_over else max(self.reader.growth.size() - self.offset, 0)

    def parts(self, place: Place) -> list[Part]:
        """Return what the line at a place carries, read back from the recording."""
        if place.length > MOST_LINE_BYTES:
            where = f"{place.length} bytes, from byte {place.offset} of the recording on"
            return [Part("too large to be shown", where)]
        return self._decoder.parts(self.line_at(place))

    def is_retold(self, data: bytes) -> bool:
        """Return whether the parts of a line with this piece have words that its bytes do not hold."""
        return self._decoder.is_retold(data)

    def line_at(self, place: Place) -> bytes:
        """Return the line at a place, read back from the recording."""
        return self.reader.line_at(place.offset, place.length)

    def _read_on(self) -> _Decoded | None:
        """Return what the next lines say first; None when there are none yet, or no more."""
        found: _Decoded | None = None
        while found is None and not self.is_over:
            lines = self.reader.read()
            is_last = not lines and self.reader.is_at_end()
            if not lines and not is_last:
                break
            self._decoded = iter(self._joiner.rest()) if is_last else self._decode(lines)
            found = next(self._decoded, None)
            if is_last and found is None:
                self._end()
        return found

    def _decode(self, lines: Lines) -> Iterator[_Decoded]:
        """Yield what lines say: a burst of deltas at once, unless a replay gives each its own time."""
        joiner, decoder, data = self._joiner, self._decoder, lines.data
        if lines.oversize or self.pace is not None:
            for line in lines:
                yield from joiner.take(line)
            return
        offset, index, is_holding = lines.offset, 0, joiner.is_holding
        while index < len(data):
            burst = None if is_holding else decoder.burst(data, index)
            raw, events, count = data[index], None, 1
            if burst is not None:
                events, count = burst
                length = sum(map(len, data[index : index + count])) - 1
            else:
                length = len(raw) - raw.endswith(b"\n")
                if not (is_holding or raw.isspace()):
                    events = decoder.decode(raw)
            seen_ms = lines.seen_ms(offset + length)
            if events is not None and is_whole(events):
                yield events, Place(offset, length, seen_ms), count
            else:
                yield from joiner.take(Line(offset, raw[:length], seen_ms), events)
                is_holding = joiner.is_holding
            index += count
            offset += length + 1

    def _end(self) -> None:
        self.session.apply(self._decoder.end(), Place(self.offset, 0, None), 0)
        self.session.close()
        self.is_over = True
