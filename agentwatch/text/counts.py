"""Counts in words and in few columns."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """Return a count with its noun in the singular or plural: `1 line`, `2 lines`, `3 matches`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith('ch') else 's'}"
