"""Reads the diffs of Pi's edits, whose lines have numbers: `-12 old`, `+12 new`, ` 13 same`, `    ...`."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from agentwatch.wire.fields import Fields, text

_MOST_DIGITS = 9


class _Line(NamedTuple):
    sign: str
    number: int
    text: str


def changed_lines(details: Fields) -> tuple[int | None, int | None]:
    """Return the numbers of added and removed lines of an edit; None without a diff."""
    diff = text(details, "diff")
    if diff is None:
        return None, None
    signs = [line[:1] for line in diff.split("\n")]
    return signs.count("+"), signs.count("-")


def unified(details: Fields) -> str | None:
    """Return the diff of an edit as a unified diff; None without one.

    Newer versions also write a unified diff, as `patch`. A diff in another form is returned unchanged.
    """
    diff = text(details, "diff")
    if patch := text(details, "patch"):
        return patch
    if diff is None:
        return None
    lines = [_line(line) for line in diff.split("\n")]
    if all(line is None for line in lines):
        return diff
    shift = 0
    hunks: list[str] = []
    for is_hunk, group in groupby(lines, key=lambda line: line is not None):
        hunk = [line for line in group if line is not None]
        if is_hunk:
            hunks += _hunk(hunk, shift)
            shift += sum({"+": 1, "-": -1}.get(line.sign, 0) for line in hunk)
    return "\n".join(hunks)


def _line(line: str) -> _Line | None:
    """Return a numbered line; None for the mark of left out lines."""
    number, _, rest = line[1:].lstrip(" ").partition(" ")
    if line[:1] not in ("+", "-", " ") or not number.isdecimal() or len(number) > _MOST_DIGITS:
        return None
    return _Line(line[0], int(number), rest)


def _hunk(lines: list[_Line], shift: int) -> list[str]:
    """Return lines as a hunk. Unchanged and removed lines have old numbers, added ones new numbers.

    Args:
        lines: The lines, at least one.
        shift: How many more lines the new file has than the old one before the hunk.
    """
    old = lines[0].number - (shift if lines[0].sign == "+" else 0)
    olds, news = (sum(line.sign != sign for line in lines) for sign in "+-")
    head = f"@@ -{max(old, 0)},{olds} +{max(old + shift, 0)},{news} @@"
    return [head, *(line.sign + line.text for line in lines)]
