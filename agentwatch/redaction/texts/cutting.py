"""Cuts long texts into pieces."""

from __future__ import annotations

from collections.abc import Iterator

PIECE_BYTES = 1 << 12
"""The most bytes of a piece: what two windows of a block share is a number of whole pieces."""
_LONGEST_ESCAPE = 12
_LONGEST_CHARACTER = 4
_CONTINUES = 0x80
"""The high bits of the bytes of a character after its first."""


def pieces(data: bytes) -> Iterator[bytes]:
    """Yield a text in pieces. A text of two pieces stays whole."""
    at = 0
    while len(data) - at > 2 * PIECE_BYTES:
        end = at + safe_end(data[at : at + PIECE_BYTES])
        yield data[at:end]
        at = end
    yield data[at:]


def safe_end(data: bytes) -> int:
    """Return where a piece can end that is neither in an escape nor in a character."""
    end = len(data)
    backslash = data.rfind(b"\\", end - _LONGEST_ESCAPE)
    if backslash >= 0:
        end = len(data[: backslash + 1].rstrip(b"\\"))
    else:
        while end > len(data) - _LONGEST_CHARACTER and data[end - 1] & 0xC0 == _CONTINUES:
            end -= 1
        end -= data[end - 1] >= 0xC0
    return end or len(data)
