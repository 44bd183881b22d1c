"""Reads the changes that Claude's tools report as `structuredPatch`, a list of hunks.

A hunk is `{"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 2, "lines": [" a", "-b", "+c"]}`. The
form is that of the npm package `diff`, in captures of Claude Code 1.0 to 2.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.wire.fields import Fields, items, mapping, number


class ChangedLines(NamedTuple):
    """The number of lines that a change added and removed; None if unknown."""

    added: int | None = None
    removed: int | None = None


def changed_lines(patch: object) -> ChangedLines:
    """Return the number of lines that a patch adds and removes; None if it has no hunks."""
    if not (hunks := items(patch)):
        return ChangedLines()
    lines = [line for hunk in hunks for line in _lines(mapping(hunk))]
    return ChangedLines(
        sum(line.startswith("+") for line in lines),
        sum(line.startswith("-") for line in lines),
    )


def unified_diff(patch: object) -> str | None:
    """Return a patch as a unified diff without file names; None if it has no lines."""
    pieces: list[str] = []
    for hunk in map(mapping, items(patch)):
        if lines := _lines(hunk):
            pieces += (_heading(hunk, lines), *lines)
    return "\n".join(pieces) if pieces else None


def _heading(hunk: Fields, lines: list[str]) -> str:
    old = sum(not line.startswith(("+", "\\")) for line in lines)
    new = sum(not line.startswith(("-", "\\")) for line in lines)
    return f"@@ -{_start(hunk, 'oldStart')},{old} +{_start(hunk, 'newStart')},{new} @@"


def _start(hunk: Fields, key: str) -> int:
    return max(number(hunk, key) or 0, 0)


def _lines(hunk: Fields) -> list[str]:
    return list(_valid(items(hunk.get("lines"))))


def _valid(lines: list[object]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str):
            yield line
