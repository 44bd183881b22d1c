"""Bars laid out from recordings."""

from __future__ import annotations

from collections.abc import Sequence

from agentwatch.analysis.time_bar import Axis, Bar, Cell
from tests.analysis.time_bar.recorded import Recorded


def bar_of(made: Recorded, width: int) -> Bar:
    """Return the bar of a recording, laid out after all calls were read."""
    bar = Bar(made.session, Axis(made))
    while bar.calls.update(1):
        pass
    bar.lay_out(width)
    return bar


def text(cells: list[Cell]) -> str:
    """Return the signs of cells."""
    return "".join(cell.sign for cell in cells)


def drawn(
    bar: Bar,
    moment: int,
    bookmarks: Sequence[tuple[int, str]] = (),
    verdicts: Sequence[tuple[int, bool]] = (),
) -> list[Cell]:
    """Return the cells of a bar at a moment."""
    return bar.cells(bar.cell_of(moment), bookmarks, verdicts)
