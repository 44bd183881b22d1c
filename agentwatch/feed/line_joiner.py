"""Decodes the lines of a recording, and joins lines that a raw line end inside a string has split."""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from agentwatch.recording.lines import Line
from agentwatch.session.call import Pieces, Place
from agentwatch.session.events import Event, Malformed

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
    pieces: Pieces | None = None
    """The times of the lines, if several short ones were decoded at once."""


class _HeldLine(NamedTuple):
    """A line that is held back, and its own events: none for a blank line."""

    line: Line
    events: list[Event]


class LineJoiner:
    """Decodes lines, and joins a line that raw line ends have split.

    A line that begins like an object and ends inside a string is held, at most 4,096 lines and 16 MiB. The
    next line that begins inside a string and ends outside one must complete the object. Joining is tried only
    there, so its cost is linear: trying it at each line that ends in `}` would parse the lines before it each
    time.
    """

    def __init__(self, decoder: LineDecoder) -> None:
        self._decoder = decoder
        self._held: list[_HeldLine] = []
        self._held_bytes = 0

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
            self._hold(line, events)
            if not _ends_string(line.data):
                has_room = len(self._held) < _MOST_PIECES and self._held_bytes <= _MOST_BYTES
                return () if has_room else self.rest()
            joined = self._joined()
            if joined is not None:
                return (joined,)
            self._held.pop()
        decoded = self.rest()
        if is_broken and _OBJECT.match(line.data) and _ends_string(line.data):
            self._hold(line, events)
        elif not is_blank:
            decoded.append(DecodedLine(events, _place(line), 1))
        return decoded

    def rest(self) -> list[DecodedLine]:
        """Return the held lines as malformed lines; call this when no later line can complete them."""
        held, self._held, self._held_bytes = self._held, [], 0
        return [DecodedLine(events, _place(line), 1) for line, events in held if events]

    def _hold(self, line: Line, events: list[Event]) -> None:
        self._held.append(_HeldLine(line, events))
        self._held_bytes += len(line.data) + 1

    def _joined(self) -> DecodedLine | None:
        """Return the held lines as one line and release them; None if together they are not an object."""
        first, last = self._held[0].line, self._held[-1].line
        if not last.data.rstrip().endswith(b"}"):
            return None
        events = self._decoder.decode_joined([held.line.data for held in self._held])
        if events is None:
            return None
        count = sum(bool(held.events) for held in self._held)
        self._held, self._held_bytes = [], 0
        place = Place(first.offset, last.offset + len(last.data) - first.offset, last.seen_ms)
        return DecodedLine(events, place, count)


def _ends_string(data: bytes) -> bool:
    """Return whether a line has an odd number of quotes: it begins or ends inside a string, and not both."""
    if b"\\" in data:
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    return data.count(b'"') % 2 == 1


def is_whole(events: Sequence[Event]) -> bool:
    """Return whether the line with these events is a JSON object."""
    return not events or type(events[0]) is not Malformed


def _place(line: Line) -> Place:
    return Place(line.offset, line.length, line.seen_ms)
