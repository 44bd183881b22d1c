"""How a line of a detail fits into a width: folded into several rows, or cut to the part that is in view."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style

from agentwatch.text.safe import SafeText, columns, fitting

CONTINUED = "↳ "
"""The sign before a row that continues a line of code or output."""
Run = tuple[int, int, Style]
"""The first and end characters of a run of text, and its style."""


class Window(NamedTuple):
    """The part of a line that a row shows when lines are not folded."""

    pad: int
    """1 if the left edge cuts a wide character in two; a blank then replaces its right half."""
    first: int
    end: int
    is_cut: bool
    """Whether the last column shows `…`."""


def fits(text: SafeText, width: int) -> bool:
    """Return whether a line certainly fits in one row; if False, it must be folded to find out."""
    length = len(text)
    return length <= width and (text.isascii() or 2 * length <= width)


def folds(text: SafeText, width: int) -> list[int]:
    """Return where the pieces of a folded line begin; one ends after a blank if its second half has one."""
    starts, start = [0], 0
    while (end := fitting(text, start, width)) < len(text):
        blank = text.rfind(" ", start, end) + 1
        start = blank if blank - start > width // 2 else end
        starts.append(start)
    return starts


def window(text: SafeText, left: int, width: int) -> Window:
    """Return the part of a line from column `left` on that fits into a width in columns."""
    pad = first = 0
    if left > 0:
        first = fitting(text, 0, left)
        skipped = left if text.isascii() else columns(SafeText(text[:first]))
        if skipped != left and first < len(text):
            first, pad = first + (skipped < left), 1
    if fits(SafeText(text[first:]), width - pad):
        return Window(pad, first, len(text), False)
    end = fitting(text, first, width - pad)
    if end == len(text):
        return Window(pad, first, end, False)
    return Window(pad, first, fitting(text, first, width - pad - 1) if width - pad > 1 else first, True)


def styled(text: SafeText, start: int, end: int, style: Style, runs: Sequence[Run]) -> list[Segment]:
    segments, at = [], start
    for first, last, own in runs:
        first, last = max(first, at), min(last, end)  # noqa: PLW2901 - cut to the part
        if first < last:
            if at < first:
                segments.append(Segment(text[at:first], style))
            segments.append(Segment(text[first:last], style + own))
            at = last
    if at < end:
        segments.append(Segment(text[at:end], style))
    return segments


def widest(lines: Sequence[SafeText]) -> int:
    most = 0
    for line in lines:
        if len(line) > most or (not line.isascii() and 2 * len(line) > most):
            most = max(most, columns(line))
    return most
