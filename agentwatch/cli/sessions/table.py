"""Prints the sessions of a list as a table: the columns of the screen, with an id to open each by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from agentwatch.cli.address import ENGINE
from agentwatch.machine.row import Row
from agentwatch.screen.home.cells import wide_row
from agentwatch.screen.home.columns import LEAST_FOR_ONE_ROW, Widths, columns_for
from agentwatch.text.safe import SafeText, columns, cut, fitted, safe_line

WIDTH = 100
"""The width of a table that is not printed on a terminal."""
_LEAST_ID = 8
_MOST_ID = 25
"""The length of the stems that agentwatch gives. A longer beginning of an id is not shown."""


def table(rows: Sequence[Row], every: Iterable[Row], width: int, now_ms: int) -> Iterator[SafeText]:
    """Yield a line for each session, cut to a width.

    On a terminal of fewer than about 80 columns the lines are wider than it, because a line in two parts
    would be of no use to `grep`.

    Args:
        rows: The sessions to print.
        every: All sessions: the beginnings of the ids differ from those of every other one.
        width: The width, in columns.
        now_ms: The present time, in milliseconds since the epoch.
    """
    lengths = _unambiguous({_named(row)[1] for row in every})
    ids = [safe_line(f"{place}{name[: lengths.get(name, _LEAST_ID)]}") for place, name in map(_named, rows)]
    places = max((columns(safe_line(place)) for place, _ in map(_named, rows)), default=0)
    id_width = min(max(map(columns, ids), default=0), places + _MOST_ID)
    needed = Widths().grown(rows, now_ms)
    shown = columns_for(max(width - id_width - 2, LEAST_FOR_ONE_ROW), needed)
    for row, beginning in zip(rows, ids, strict=True):
        text = "".join(piece for piece, _ in wide_row(row, shown, now_ms, 0))
        yield SafeText(f"{fitted(cut(beginning, id_width), id_width)}  {text}".rstrip())


def _named(row: Row) -> tuple[str, str]:
    """Return the address of another machine, with its last `/`, and the id of the session there.

    The token of a publisher is left out: the beginning of the id names a session on an engine.
    """
    if not row.address:
        return "", row.id
    place, slash, name = row.address.rpartition("/")
    return place + slash, name.rpartition(".")[2] if place.startswith(ENGINE) else name


def _unambiguous(ids: set[str]) -> dict[str, int]:
    """Return for each id the length of its shortest beginning that no other id has, at least 8."""
    lengths = dict.fromkeys(ids, _LEAST_ID)
    for first, second in pairwise(sorted(ids)):
        common = _common(first, second) + 1
        lengths[first] = max(lengths[first], common)
        lengths[second] = max(lengths[second], common)
    return lengths


def _common(first: str, second: str) -> int:
    """Return the length of the beginning that two ids have in common, up to the longest that is shown."""
    pairs = zip(first[:_MOST_ID], second[:_MOST_ID], strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))
