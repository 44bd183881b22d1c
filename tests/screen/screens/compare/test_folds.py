"""Long stretches of equal calls are folded, and no call is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentwatch.output.compare.comparison import Comparison, Part
from agentwatch.screen.screens.compare.calls_view import Line, lines_of
from tests.builders.comparing.runs import Run, compared, read, run_tests
from tests.conftest import case

LONG = Run(calls=tuple(read(f"src/part{letter}.py") for letter in "abcdefghij"))
CHANGED = replace(LONG, calls=(*LONG.calls[:5], run_tests(), *LONG.calls[5:]))


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    """Return a comparison of ten calls with the same ten, and one more after the fifth."""
    return compared(tmp_path, LONG, CHANGED)


def test_equal_calls_are_folded_but_for_those_beside_a_difference(comparison: Comparison) -> None:
    """One equal call before and after a difference is shown; the line before it says that the runs part."""
    assert lines_of(comparison) == [
        Line(0, 4),
        Line(4),
        Line(5, is_parting=True),
        Line(5, part=Part.ONLY_B),
        Line(6),
        Line(7, 4),
    ]


def test_an_unfolded_stretch_shows_all_its_calls(comparison: Comparison) -> None:
    """The other stretches stay folded."""
    assert lines_of(comparison, {7})[-5:] == [Line(6), Line(7), Line(8), Line(9), Line(10)]
    assert lines_of(comparison, {7})[0] == Line(0, 4)


def test_every_row_is_shown_or_counted_once(comparison: Comparison) -> None:
    """Folded or not, in one column or two, the lines contain all rows in order."""
    for folds in (True, False):
        for is_unified in (True, False):
            with case(f"{folds}, {is_unified}"):
                found = [
                    row
                    for line in lines_of(comparison, folds=folds, is_unified=is_unified)
                    if not line.is_parting
                    for row in range(line.row, line.row + max(line.folded, 1))
                ]
                assert [*dict.fromkeys(found)] == [*range(len(comparison.rows))]
                assert found == sorted(found)


def test_two_equal_calls_are_not_folded(tmp_path: Path) -> None:
    """A line in their place would save nothing."""
    short = replace(LONG, calls=LONG.calls[:3])
    assert lines_of(compared(tmp_path, short, short.with_call(3, run_tests())))[0] == Line(0)


def test_runs_without_a_difference_are_one_line(tmp_path: Path) -> None:
    """The line counts all calls."""
    assert lines_of(compared(tmp_path, LONG, LONG)) == [Line(0, 10)]


def test_two_calls_that_differ_take_two_lines_in_one_column(tmp_path: Path) -> None:
    """The first is that of A."""
    comparison = compared(tmp_path, LONG, LONG.changed(4, read("src/other.py")))
    lines = lines_of(comparison, is_unified=True)
    assert [line for line in lines if line.part is not Part.BOTH] == [
        Line(4, part=Part.ONLY_A),
        Line(4, part=Part.ONLY_B),
    ]
