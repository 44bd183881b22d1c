"""Compares a text with the pieces that it may repeat, without keeping all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b

_MOST_CHARACTERS = 1 << 16
"""A longer segment is kept as its length and a digest. Segments of real sessions have a few thousand."""


class SegmentText:
    """The text of a segment, which grows piece by piece and may then be repeated as a whole.

    A text of another length is rejected at once. Comparing therefore costs no more than reading the text,
    however often it is done.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._digest: blake2b | None = None
        """The digest of the text as UTF-8; None while the text is short."""

    def add(self, text: str) -> None:
        """Append a piece."""
        self._length += len(text)
        self._pieces.append(text)
        if self._length <= _MOST_CHARACTERS:
            return
        if self._digest is None:
            from hashlib import blake2b  # takes 2 ms to import

            self._digest = blake2b()
        self._digest.update(_encoded("".join(self._pieces)))
        self._pieces.clear()

    def clear(self) -> None:
        """Begin a new segment."""
        self._pieces.clear()
        self._length, self._digest = 0, None

    def is_repeated_by(self, text: str, ending: str = "") -> bool:
        """Return whether a text equals all pieces and an ending."""
        if len(text) != self._length + len(ending) or not text.endswith(ending):
            return False
        text = text.removesuffix(ending)
        if self._digest is None:
            return "".join(self._pieces) == text
        from hashlib import blake2b

        return blake2b(_encoded(text)).digest() == self._digest.digest()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
