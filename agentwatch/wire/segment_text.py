"""Compares a text with the pieces that it may repeat, without keeping all of them."""

from __future__ import annotations

_BLOCK = 1 << 16
"""The number of characters that are kept as a digest. Segments of real sessions have a few thousand."""


class SegmentText:
    """The text of a segment, which grows piece by piece and may then be repeated as a whole.

    A text of another length is rejected at once. Comparing therefore costs no more than reading the text,
    however often it is done. A checkpoint contains a segment, so that its state is bytes: an object of
    `hashlib` cannot be written.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        """The pieces after the last whole block."""
        self.length = 0
        self._rest = 0
        """The number of characters of the pieces."""
        self._digest = b""
        """The digest of the whole blocks, each with the digest of those before it."""

    def add(self, text: str) -> None:
        """Append a piece."""
        self.length += len(text)
        self._rest += len(text)
        self._pieces.append(text)
        if self._rest < _BLOCK:
            return
        whole = "".join(self._pieces)
        self._rest %= _BLOCK
        end = len(whole) - self._rest
        self._digest = _digest(self._digest, whole, end)
        self._pieces = [whole[end:]]

    def clear(self) -> None:
        """Begin a new segment."""
        self._pieces.clear()
        self.length, self._rest, self._digest = 0, 0, b""

    def is_repeated_by(self, text: str, ending: str = "") -> bool:
        """Return whether a text equals all pieces and an ending."""
        if len(text) != self.length + len(ending) or not text.endswith(ending):
            return False
        end = self.length - self._rest
        is_same_rest = "".join(self._pieces) == text[end : self.length]
        return is_same_rest and _digest(b"", text, end) == self._digest


def _digest(before: bytes, text: str, end: int) -> bytes:
    """Return the digest of the blocks of a text up to `end`, which follow those with the digest `before`."""
    if not end:
        return before
    from hashlib import blake2b  # takes 2 ms to import

    for start in range(0, end, _BLOCK):
        before = blake2b(before + text[start : start + _BLOCK].encode("utf-8", "surrogatepass")).digest()
    return before
