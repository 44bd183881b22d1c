"""Decodes the lines of a recording, and joins lines that a raw line end inside a string has split."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from agentwatch.events import Event, Malformed
from agentwatch.recording import Line
from agentwatch.session import Place

_MOST_PIECES = 4096
_MOST_BYTES = 16 << 20
_OBJECT = re.compile(rb"\A(?:\xef\xbb\xbf)?+\s*+\{")
_EVENT = re.compile(rb'\A(?:\xef\xbb\xbf)?+\s*+\{\s*+"type"\s*+:\s*+"')
"""A line that matches is the start of an event, so it cannot continue a string."""


class LineDecoder(Protocol):
    """Decodes lines."""

    def decode(self, data: bytes) -> list[Event]:
        """Return the events of a non-blank line; the first is `Malformed` if it is not a JSON object."""

    def decode_joined(self, pieces: list[bytes]) -> list[Event] | None:
        """Return the events of the joined lines; None if together they are not a JSON object either."""

    def decode_oversize(self, head: bytes, tail: bytes, size: int, /) -> list[Event]:
        """Return the events that the head and the tail of a line of `size` bytes contain."""


class DecodedLine(NamedTuple):
    """The events of one line, or of several physical lines that were joined."""

    events: list[Event]
    place: Place
    physical_lines: int


class LineJoiner:
    """Decodes lines, and joins a line that raw line ends have split.

    A line that begins like an object but is not valid is held while the following lines are not valid either,
    at most 4,096 lines and 16 MiB. Joining is tried whenever a line ends in `}`.
    """

    def __init__(self, decoder: LineDecoder) -> None:
        self._decoder = decoder
        self._held: list[Line] = []
        self._held_bytes = 0
        self._tried_bytes = 0

    @property
    def is_holding(self) -> bool:
        """Whether a line is held back."""
        return bool(self._held)

    def take(self, line: Line, events: list[Event] | None = None) -> Sequence[DecodedLine]:
        """Return the lines that can be decoded now, in order; none for a blank line or while one is held.

        Args:
            line: The next line.
            events: The line's own events, if the caller has already decoded it.
        """
        if line.oversize:
            events = self._decoder.decode_oversize(line.data, line.tail, line.oversize)
            return *self.rest(), DecodedLine(events, _place(line), 1)
        is_blank = not line.data or line.data.isspace()
        if events is None:
            events = [] if is_blank else self._decoder.decode(line.data)
        is_broken = is_blank or not is_whole(events)
        if not is_broken and not self._held:
            return (DecodedLine(events, _place(line), 1),)
        if self._held and is_broken and not _EVENT.match(line.data):
            return self._hold(line)
        decoded = self.rest()
        if is_broken and _OBJECT.match(line.data):
            self._held, self._held_bytes, self._tried_bytes = [line], len(line.data), 0
        elif not is_blank:
            decoded.append(DecodedLine(events, _place(line), 1))
        return decoded

    def rest(self) -> list[DecodedLine]:
        """Return the held lines as malformed lines; call this when no later line can complete them."""
        held, self._held = self._held, []
        return [
            DecodedLine(self._decoder.decode(line.data), _place(line), 1)
            for line in held
            if line.data.strip()
        ]

    def _hold(self, line: Line) -> Sequence[DecodedLine]:
        self._held.append(line)
        self._held_bytes += len(line.data) + 1
        if line.data.rstrip().endswith(b"}"):
            self._tried_bytes += self._held_bytes
            events = self._decoder.decode_joined([held.data for held in self._held])
            if events is not None:
                held, self._held = self._held, []
                count = sum(bool(piece.data.strip()) for piece in held)
                place = Place(held[0].offset, line.offset + len(line.data) - held[0].offset, line.seen_ms)
                return (DecodedLine(events, place, count),)
        if len(self._held) >= _MOST_PIECES or max(self._held_bytes, self._tried_bytes // 8) > _MOST_BYTES:
            return self.rest()
        return ()


def is_whole(events: Sequence[Event]) -> bool:
    """Return whether the line with these events is a JSON object."""
    return not events or type(events[0]) is not Malformed


def _place(line: Line) -> Place:
    return Place(line.offset, line.length, line.seen_ms)
