"""The reader rule: which bytes of which piece get into a copy.

A piece is taken if it begins at or before the end of the copy and reaches beyond it, from that end on. All
others are passed over, so that pieces that come twice, or in another order, do no harm.
"""

from __future__ import annotations

from enum import Enum

import orjson

from agentwatch.engine.chunk import Chunk, Ended, Pair
from agentwatch.engine.limits import LARGEST_NUMBER, MESSAGE_BYTES
from agentwatch.remote.copies.copy import LocalCopy


class Step(Enum):
    """What a piece has done to a copy."""

    TAKEN = "taken"
    PASSED = "passed"
    """The copy has all of its bytes, or it can be of no use."""
    AHEAD = "ahead"
    """Bytes before it are missing."""
    TOO_LARGE = "too large"
    """The copy would be larger than a session may be."""
    COMPLETE = "complete"
    DIFFERENT = "different"
    """The recording has ended, and the copy has other bytes."""


class Rule:
    """Puts the pieces of one session into a copy that this process fills."""

    def __init__(self, copy: LocalCopy, most_bytes: int) -> None:
        """Create the rule.

        Args:
            copy: The copy.
            most_bytes: The size that it may have.
        """
        self.missing = 0
        """How many bytes are missing before the last piece that was ahead."""
        self._copy = copy
        self._most_bytes = most_bytes
        self._line_start = 0
        """Where a line begins after one whose beginning is not kept; 0 if no such place is known."""

    def take(self, chunk: Chunk) -> Step:
        """Put the bytes of a chunk that the copy does not have into it, with their arrival times.

        Raises:
            OSError: They cannot be written; a part of them may be.
        """
        if not (
            0 < len(chunk.payload) <= MESSAGE_BYTES and 0 <= chunk.offset < LARGEST_NUMBER - MESSAGE_BYTES
        ):
            return Step.PASSED
        if self._copy.origin.base is None:
            start = self._first(chunk)
            if start is None:
                return Step.PASSED
            self._copy.begin_at(chunk.offset + start)
        have, base = self._copy.have, self._copy.origin.base or 0
        if chunk.offset > have:
            self.missing = chunk.offset - have
            return Step.AHEAD
        if chunk.end <= have:
            return Step.PASSED
        if chunk.end - base > self._most_bytes:
            return Step.TOO_LARGE
        data = memoryview(chunk.payload)[have - chunk.offset :]
        self._copy.append(data, _seen(chunk, have, base), _within(chunk.gaps, have, chunk.end, base))
        return Step.TAKEN

    def end(self, ended: Ended) -> Step:
        """Compare the copy with the recording that has ended.

        Raises:
            OSError: The copy cannot be read or synced, or its end cannot be noted.
        """
        copy, have = self._copy, self._copy.have
        if ended.size > have:
            self.missing = ended.size - have
            return Step.AHEAD
        if copy.origin.base is None:
            copy.begin_at(0)
        digest, is_whole = copy.digest().hexdigest(), not copy.origin.base
        known = copy.origin._replace(sha256=digest, exit_code=ended.exit_code)
        if ended.size < have or (is_whole and digest != ended.sha256):
            copy.note(known._replace(differs=True))
            return Step.DIFFERENT
        copy.sync()  # after a power loss, a complete copy must have its bytes
        copy.note(known._replace(is_complete=True))
        return Step.COMPLETE

    def _first(self, chunk: Chunk) -> int | None:
        """Return where in a first chunk the copy begins; None if it has no line that is known to be whole.

        The beginning of the recording may not be kept any more, and then the chunk may begin within a line.
        """
        if chunk.offset in (0, self._line_start):
            return 0
        line, newline, rest = chunk.payload.partition(b"\n")
        if newline and _is_object(line):
            return 0
        if rest:
            return len(line) + 1
        self._line_start = chunk.end if newline else 0
        return None


def _is_object(line: bytes) -> bool:
    """Return whether a line is one JSON object; the rest of a line never is."""
    try:
        return isinstance(orjson.loads(line), dict)
    except ValueError:
        return False


def _seen(chunk: Chunk, have: int, base: int) -> list[Pair]:
    """Return the arrival times of the bytes from `have` on, by their offsets in the copy."""
    seen = _within(chunk.seen, have, chunk.end, base)
    if have == base and not (seen and seen[0][0] == 0):
        before = [epoch_ms for offset, epoch_ms in chunk.seen if offset < have]
        return [(0, before[-1]), *seen] if before else seen
    return seen


def _within(pairs: tuple[Pair, ...], have: int, end: int, base: int) -> list[Pair]:
    return [(offset - base, number) for offset, number in pairs if have <= offset < end]
