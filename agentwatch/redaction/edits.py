"""The changes of a recording: which of its bytes are replaced by what."""

from __future__ import annotations

from array import array
from typing import NamedTuple

_BUCKET_BITS = 20
"""Changes are kept by MiB of the recording, each in 16 bytes."""
_INDEX_BITS = 32
_REST = ""
"""Takes the place of the rest of a value whose beginning has its mask."""


class Edit(NamedTuple):
    """Bytes of a recording that are replaced."""

    start: int
    """The offset of the first byte."""
    end: int
    """The offset after the last byte."""
    mask: str
    kind: str
    """The kind of the value; empty for the rest of one whose mask is elsewhere."""


class Edits:
    """The changes of a recording, added in any order."""

    def __init__(self) -> None:
        self._buckets: dict[int, array[int]] = {}
        self._masks: list[tuple[str, str]] = [(_REST, "")]
        self._indices: dict[tuple[str, str], int] = {(_REST, ""): 0}

    def add(self, start: int, end: int, mask: str = _REST, kind: str = "") -> None:
        """Add a change.

        Args:
            start: The offset of the first byte.
            end: The offset after the last byte.
            mask: What takes their place.
            kind: The kind of the value.
        """
        index = self._indices.setdefault((mask, kind), len(self._masks))
        if index == len(self._masks):
            self._masks.append((mask, kind))
        bucket = self._buckets.setdefault(start >> _BUCKET_BITS, array("Q"))
        bucket.append(start)
        bucket.append(end - start << _INDEX_BITS | index)

    def between(self, start: int, end: int) -> list[Edit]:
        """Return the changes that begin in a part of the recording, in order and without overlaps.

        Of changes that overlap, the longest one gives the mask.
        """
        changes: list[tuple[int, int, int]] = []
        for number in range(start >> _BUCKET_BITS, (end - 1 >> _BUCKET_BITS) + 1):
            bucket = self._buckets.get(number, ())
            for at, packed in zip(bucket[::2], bucket[1::2], strict=True):
                if start <= at < end:
                    changes.append((at, packed >> _INDEX_BITS, packed & (1 << _INDEX_BITS) - 1))
        changes.sort(key=lambda change: (change[0], -change[1], change[2]))
        return self._merged(changes)

    def _merged(self, changes: list[tuple[int, int, int]]) -> list[Edit]:
        merged: list[Edit] = []
        longest = 0
        for start, length, index in changes:
            end = start + length
            if not merged or start >= merged[-1].end:
                merged.append(Edit(start, end, *self._masks[index]))
                longest = length
                continue
            last = merged[-1]
            mask, kind = self._masks[index] if length > longest else (last.mask, last.kind)
            longest = max(longest, length)
            merged[-1] = Edit(last.start, max(last.end, end), mask, kind)
        return merged
