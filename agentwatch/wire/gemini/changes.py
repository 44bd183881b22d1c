"""Compares the text that a `replace` call looks for with the text that takes its place."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """The difference between two texts."""

    diff: str
    """A unified diff without names and line numbers, because the place in the file is not known."""
    added: int
    removed: int


def change(before: str, after: str) -> Change:
    """Return the difference: the lines between the first and the last ones that are equal.

    It takes time in proportion to the length of the texts. A shortest difference would not.

    Example:
        >>> change("a\\nb\\nc", "a\\nx\\nc").diff.splitlines()
        ['@@ -1,3 +1,3 @@', ' a', '-b', '+x', ' c']
    """
    old, new = before.split("\n"), after.split("\n")
    old, new = old[:-1] if not old[-1] else old, new[:-1] if not new[-1] else new
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    removed, added = old[first : len(old) - last], new[first : len(new) - last]
    lines = [
        f"@@ -{min(len(old), 1)},{len(old)} +{min(len(new), 1)},{len(new)} @@",
        *(f" {line}" for line in old[:first]),
        *(f"-{line}" for line in removed),
        *(f"+{line}" for line in added),
        *(f" {line}" for line in old[len(old) - last :]),
    ]
    return Change("\n".join(lines), len(added), len(removed))


def counted_lines(diff: str) -> tuple[int, int]:
    """Return the number of added and of removed lines of a unified diff of one file.

    Lines before the first hunk are not counted: they name the file.

    Example:
        >>> counted_lines("--- a\\n+++ a\\n@@ -1 +1,2 @@\\n-x\\n+y\\n+z\\n")
        (2, 1)
    """
    lines = diff.split("\n")
    start = next((number for number, line in enumerate(lines) if line.startswith("@@")), len(lines))
    hunks = lines[start:]
    return sum(line.startswith("+") for line in hunks), sum(line.startswith("-") for line in hunks)
