"""Parses many short lines at once, for agents whose deltas are mostly ids.

A delta of Claude Code is 270 bytes around one word, with an id of its own. Decoding such lines one by one
costs twice as much as parsing them as one JSON array.
"""

from __future__ import annotations

import os
from typing import Any

import orjson

from agentwatch.events import Event
from agentwatch.wire.agent import BatchDecoder
from agentwatch.wire.fields import Fields

_MOST_LINES = 1024
_MOST_BYTES = 4096
"""The length of the longest line of a batch."""
_LINE_END = (b"}\n", b"}\r\n")


class LineBatches:
    """Finds and parses batches of lines."""

    def __init__(self, decoder: BatchDecoder) -> None:
        self._decoder = decoder
        mark = int.from_bytes(os.urandom(8)) >> 2  # the module secrets takes 4 ms to import
        self._mark = mark
        """A number between two lines. No line can contain it, so each line is valid JSON by itself."""
        self._between = b",%d," % mark
        self._most_lines = _MOST_LINES
        """The number of lines that are parsed at once: fewer if one of them is invalid or of another type,
        then twice as many again. Without it, a stream of such lines would be parsed again from each of them.
        """

    def events_at(self, lines: list[bytes], start: int) -> tuple[list[Event], int] | None:
        """Return the events of the batch that starts at `lines[start]`, and the number of its lines.

        Returns:
            None if the line must be decoded by itself.
        """
        may_batch, count = self._decoder.may_batch, 0
        for line in lines[start : start + self._most_lines]:
            if len(line) > _MOST_BYTES or not may_batch(line) or not line.endswith(_LINE_END):
                break
            count += 1
        while count > 1:
            found = self._parsed(lines[start : start + count])
            if found is not None:
                events, used = self._decoder.batch(found)
                is_all = used == count
                self._most_lines = min(max(self._most_lines * is_all, 2 * used, 2), _MOST_LINES)
                return (events, used) if used else None
            count //= 2  # one of the lines is invalid; those before it may be valid
            self._most_lines = max(count, 2)
        return None

    def _parsed(self, lines: list[bytes]) -> list[Fields] | None:
        """Return the objects of lines; None if one of the lines is not an object."""
        try:
            values: list[Any] = orjson.loads(b"[" + self._between.join(lines) + b"]")
        except orjson.JSONDecodeError:
            return None
        found = values[::2]
        is_valid = (
            len(values) == 2 * len(lines) - 1
            and {*map(type, found)} == {dict}
            and values[1::2] == [self._mark] * (len(lines) - 1)
        )
        return found if is_valid else None
