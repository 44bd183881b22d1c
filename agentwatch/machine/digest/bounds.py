"""Limits for the texts of a digest, in characters: a list has thousands of digests."""

from __future__ import annotations

MOST_NAME = 100
MOST_LINE = 240
MOST_TEXT = 400
MOST_PATH = 1000
_LOOKED_AT = 1000


def line(words: str | None) -> str:
    """Return at most 240 characters of a text, without the blanks around it."""
    return (words or "")[:_LOOKED_AT].strip()[:MOST_LINE]
