"""Cuts long texts: their head and tail are kept, and the page says how much is left out between them."""

from __future__ import annotations

from typing import NamedTuple

MOST = 1 << 18
"""Characters of a text that are kept. Longer ones are logs; 256 kB are 2,500 lines of 100 characters."""
_TAIL = 1 << 16
"""The part of it at the end, where a command says how it went."""
_LEAST_SHARE = 1 << 11
_NEAR = 1 << 10
"""A cut is moved to a line end that is at most this far away."""


class Kept(NamedTuple):
    """What is kept of a text."""

    head: str
    left_out: int
    """The number of characters between head and tail."""
    tail: str


def kept(text: str, most: int = MOST) -> Kept:
    """Return the head and the tail of a text; a text of at most `most` characters is all head."""
    if len(text) <= most:
        return Kept(text, 0, "")
    tail_length = min(_TAIL, most // 2)
    end, start = most - tail_length, len(text) - tail_length
    line_end = text.rfind("\n", max(end - _NEAR, 1), end)
    end = line_end + 1 if line_end > 0 else end
    line_start = text.find("\n", start, start + _NEAR) + 1
    start = line_start or start
    return Kept(text[:end], start - end, text[start:])


def share(parts: int) -> int:
    """Return the characters that are kept of each of several texts, so that all of them are not too long."""
    return max(MOST // max(parts, 1), _LEAST_SHARE)
