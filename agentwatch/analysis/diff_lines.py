"""The lines of an edit: parsed from a unified diff, or computed from the content before and after."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from agentwatch.analysis.block_text import bounded, cut_line
from agentwatch.text.safe import SafeText, exact_text

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_CONTEXT = 3
_MOST_COMPARED = 2_000
"""Lines per side that are compared individually; a larger change is shown as one replacement."""


class DiffLine(NamedTuple):
    sign: str
    """` `, `+` or `-`; `@` is the header of a hunk, `f` a file name, `\\` a remark."""
    old: int | None
    new: int | None
    text: SafeText


def parsed(diff: str, most: int) -> tuple[list[DiffLine], int]:
    """Parse a unified diff into numbered lines; return also the number of lines that were not read. If the
    diff names only one file, its name is left out. Lines before the first hunk header have no number."""
    lines: list[DiffLine] = []
    old: int | None = None
    new: int | None = None
    old_left = new_left = 0
    files = 0
    kept, left_out = bounded(diff, most)
    for line in kept:
        text = SafeText(line[1:])
        match line[:1]:
            case " " | "" if (old_left > 0 and new_left > 0) or old is None:
                lines.append(DiffLine(" ", old, new, text))
                old, new = old and old + 1, new and new + 1
                old_left, new_left = old_left - 1, new_left - 1
            case "-" if old_left > 0 or (old is None and not line.startswith("--- ")):
                lines.append(DiffLine("-", old, None, text))
                old, old_left = old and old + 1, old_left - 1
            case "+" if new_left > 0 or (old is None and not line.startswith("+++ ")):
                lines.append(DiffLine("+", None, new, text))
                new, new_left = new and new + 1, new_left - 1
            case "@" if found := _HUNK.match(line):
                old, new = int(found[1]), int(found[3])
                old_left, new_left = int(found[2] or 1), int(found[4] or 1)
                lines.append(DiffLine("@", None, None, line))
            case "\\":
                lines.append(DiffLine("\\", None, None, line))
            case _:
                files += line.startswith("+++ ")
                lines.append(DiffLine("f", None, None, line))
    if files <= 1:
        lines = [line for line in lines if line.sign != "f" or not line.text.startswith(("--- ", "+++ "))]
    return lines, left_out


def compared(before: str, after: str, most: int) -> tuple[list[DiffLine], int]:
    """Compute a line diff between two texts, with three lines of context around each change. Also return the
    number of lines that were left out."""
    old, new = (exact_text(text).split("\n") for text in (before, after))
    old, new = (lines[:-1] if lines[-1] == "" else lines for lines in (old, new))
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    old_end, new_end = len(old) - end, len(new) - end
    if max(old_end, new_end) - start > _MOST_COMPARED:
        codes = [("replace", start, old_end, start, new_end)]
    else:
        matcher = SequenceMatcher(None, old[start:old_end], new[start:new_end])
        codes = [
            (tag, start + old_from, start + old_to, start + new_from, start + new_to)
            for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes()
        ]
    lines = list(_hunks(old, new, [code for code in codes if code[0] != "equal"]))
    return lines[:most], max(len(lines) - most, 0)


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = zip(old, new, strict=False)
    return next((nth for nth, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new)))


def _hunks(
    old: Sequence[str], new: Sequence[str], changes: Sequence[tuple[str, int, int, int, int]]
) -> Iterator[DiffLine]:
    at = 0  # the number of old lines already covered
    for nth, (_, old_from, old_to, new_from, new_to) in enumerate(changes):
        offset = new_from - old_from
        first = max(old_from - _CONTEXT, at)
        if first > at or nth == 0:
            head = f"@@ line {first + 1}, now {first + offset + 1} @@"
            yield DiffLine("@", None, None, SafeText(head))
        for number in range(first, old_from):
            yield DiffLine(" ", number + 1, number + offset + 1, cut_line(old[number]))
        for number in range(old_from, old_to):
            yield DiffLine("-", number + 1, None, cut_line(old[number]))
        for number in range(new_from, new_to):
            yield DiffLine("+", None, number + 1, cut_line(new[number]))
        following = changes[nth + 1][1] if nth + 1 < len(changes) else len(old)
        at = min(old_to + _CONTEXT, following)
        for number in range(old_to, at):
            yield DiffLine(" ", number + 1, number + new_to - old_to + 1, cut_line(old[number]))


def side_by_side(lines: Sequence[DiffLine]) -> Iterator[tuple[int | None, int | None]]:
    """Yield the indices of the old and the new line in each row: a removed line and the added line that
    replaces it, or None in place of a line that is missing. A header or context line is in both places."""
    removed: list[int] = []
    added: list[int] = []

    def pairs() -> Iterator[tuple[int | None, int | None]]:
        for nth in range(max(len(removed), len(added))):
            yield (
                removed[nth] if nth < len(removed) else None,
                added[nth] if nth < len(added) else None,
            )
        removed.clear()
        added.clear()

    for number, line in enumerate(lines):
        if line.sign == "-":
            if added:
                yield from pairs()
            removed.append(number)
        elif line.sign == "+":
            added.append(number)
        elif line.sign != "\\" or not (removed or added):
            yield from pairs()
            yield number, number
        else:
            continue  # "\ No newline at end of file" within a change is shown only in a unified diff
    yield from pairs()
