"""Compares two texts that a tool's arguments give: the text to be replaced, and the one that replaces it."""

from __future__ import annotations

from typing import NamedTuple

_CONTEXT = 3
"""The number of equal lines that are shown before and after the changed ones."""


class Replacement(NamedTuple):
    """The lines that differ between two texts."""

    diff: str
    """A unified diff without file names; empty if the texts are equal."""
    added: int
    removed: int


def replacement(old: str, new: str) -> Replacement:
    """Compare two texts line by line, in time linear to their length.

    All lines between the first and the last difference count as removed and added. A finer comparison takes
    quadratic time.

    Example:
        >>> replacement("a\\nb\\nc", "a\\nB\\nc").diff
        '@@ -1,3 +1,3 @@\\n a\\n-b\\n+B\\n c'
    """
    before, after = _lines(old), _lines(new)
    if before == after:
        return Replacement("", 0, 0)
    least = min(len(before), len(after))
    first = next((i for i in range(least) if before[i] != after[i]), least)
    most = least - first
    last = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    removed, added = before[first : len(before) - last], after[first : len(after) - last]
    start = max(first - _CONTEXT, 0)
    ending = before[len(before) - last :][:_CONTEXT]
    shown = [
        *(f" {line}" for line in before[start:first]),
        *(f"-{line}" for line in removed),
        *(f"+{line}" for line in added),
        *(f" {line}" for line in ending),
    ]
    around = first - start + len(ending)
    sizes = (len(removed) + around, len(added) + around)
    heading = f"@@ -{start + bool(sizes[0])},{sizes[0]} +{start + bool(sizes[1])},{sizes[1]} @@"
    return Replacement("\n".join((heading, *shown)), len(added), len(removed))


def _lines(text: str) -> list[str]:
    """Return the lines of a text; only a line feed ends a line, as in every diff."""
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines
