"""The ribbon of test runs: `✗12 ✗9 ✗1 ✓`, the newest at the right."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from agentwatch.analysis.verdict_history.calls import CallVerdict
from agentwatch.text.safe import SafeText, columns

_MORE = SafeText("…")


class RibbonPiece(NamedTuple):
    """A word of the ribbon."""

    words: SafeText
    at: int | None
    """The index of the verdict; None for the `…` in place of others."""


def ribbon(verdicts: Sequence[CallVerdict], width: int) -> SafeText:
    """Return the newest verdicts that fit into `width` columns; `…` replaces the older ones.

    A red verdict has the number of tests that failed, if it is known. `✓?` means that a file changed since.
    """
    return SafeText(" ".join(piece.words for piece in ribbon_pieces(verdicts, width)))


def ribbon_pieces(
    verdicts: Sequence[CallVerdict], width: int, chosen: int | None = None
) -> list[RibbonPiece]:
    """Return the words of the ribbon, which are drawn with a blank between two.

    Args:
        verdicts: The verdicts, the newest last.
        width: The width of the ribbon, in columns.
        chosen: The index of a verdict that must be among them; None for the newest. If they do not all fit,
            half of the ribbon is for the newer ones.
    """
    pieces = _pieces_before(verdicts, len(verdicts), width)
    if chosen is None or any(piece.at is not None and piece.at <= chosen for piece in pieces):
        return pieces
    end, room = chosen, width // 2
    while end < len(verdicts) and (room := room - len(_words(verdicts[end])) - 1) >= 0:
        end += 1
    return _pieces_before(verdicts, max(end, chosen + 1), width)


def beside(verdicts: Sequence[CallVerdict], moment: int, step: int) -> CallVerdict | None:
    """Return the first verdict after a moment (`step` 1), or the last before it (-1); None without one."""
    moments = [each.moment for each in verdicts]
    index = bisect_right(moments, moment) if step > 0 else bisect_left(moments, moment) - 1
    return verdicts[index] if 0 <= index < len(verdicts) else None


def _pieces_before(verdicts: Sequence[CallVerdict], end: int, width: int) -> list[RibbonPiece]:
    """Return the last words before the index `end` that fit, with `…` for those that are left out."""
    after = [RibbonPiece(_MORE, None)] if end < len(verdicts) else []
    room = width - 2 * len(after)
    pieces: list[RibbonPiece] = []
    for index in range(end - 1, -1, -1):
        words = _words(verdicts[index])
        taken = columns(words) + (1 if pieces else 0)
        if taken + (2 if index else 0) > room:
            pieces.append(RibbonPiece(_MORE, None))
            break
        room -= taken
        pieces.append(RibbonPiece(words, index))
    return [*reversed(pieces), *after] if any(piece.at is not None for piece in pieces) else []


def _words(each: CallVerdict) -> SafeText:
    if not each.is_red:
        return SafeText("✓?" if each.is_stale else "✓")
    return SafeText(f"✗{each.failed}" if each.failed else "✗")
