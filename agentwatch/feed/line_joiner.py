"""The lines of a recording, decoded; physical lines that only together are one are joined again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from agentwatch.events import Event, Malformed
from agentwatch.recording import Line
from agentwatch.session import Place

_MOST_PIECES = 4096
_MOST_BYTES = 16 << 20
_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
_EVENT = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"type"\s*:\s*"')
"""What begins so begins an event, and does not go on with a string."""


class LineDecoder(Protocol):
    """What lines are decoded with."""

    def decode(self, data: bytes) -> list[Event]:
        """Return what a line says that is not blank; `Malformed` first when it is no object."""

    def decode_joined(self, pieces: list[bytes]) -> list[Event] | None:
        """Return what physical lines say together; None when together they are no object either."""

    def decode_oversize(self, head: bytes, tail: bytes, size: int, /) -> list[Event]:
        """Return what the two ends of a line of `size` bytes say."""


class DecodedLine(NamedTuple):
    """What one line, or several that are one, says."""

    events: list[Event]
    place: Place
    physical_lines: int


class LineJoiner:
    """Decodes lines, and holds one back that a raw line end has cut until it is whole.

    A line that begins like an object and is none is held while what follows is no object of its own
    either, for at most 4,096 lines and 16 MiB. Joining is tried when a line ends in `}`.
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
        """Return what can be said now, in order; nothing for a blank line or while one is held.

        Args:
            line: The line.
            events: What it says by itself, where that is known.
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
        told = self.rest()
        if is_broken and _OBJECT.match(line.data):
            self._held, self._held_bytes, self._tried_bytes = [line], len(line.data), 0
        elif not is_blank:
            told.append(DecodedLine(events, _place(line), 1))
        return told

    def rest(self) -> list[DecodedLine]:
        """Return what is held as the broken lines that they are: nothing more will make them whole."""
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
    """Return whether a line that says this is an object."""
    return not events or type(events[0]) is not Malformed


def _place(line: Line) -> Place:
    return Place(line.offset, line.length, line.seen_ms)
