"""Several runs a side: medians and ranges of known figures, and how many runs did what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agentwatch.output.compare.comparison import (
    MOST_HABITS,
    Habit,
    Several,
    Share,
    Spread,
    compare_several,
    spread,
)
from tests.builders.comparing.runs import Run, edit, read, run_tests, shell

GREEN = Run()
RED = GREEN.changed(5, run_tests(failed=1))


def several(folder: Path, a: list[Run], b: list[Run]) -> Several:
    """Record the runs of both sides, and compare them."""
    sides = [
        [run.side(folder, f"{name}{nth}") for nth, run in enumerate(runs)]
        for name, runs in (("a", a), ("b", b))
    ]
    return compare_several(*sides)


def test_shares_count_the_runs_of_which_something_is_known(tmp_path: Path) -> None:
    """A run without tests is neither green nor red."""
    untested = replace(GREEN, calls=(read("src/mill.py"),))
    found = several(tmp_path, [GREEN, RED, GREEN, untested], [RED])
    assert found.shares == [Share("succeeded", 4, 4, 1, 1), Share("tests green", 2, 3, 0, 1)]


def test_a_call_of_more_runs_of_one_side_is_a_habit(tmp_path: Path) -> None:
    """It counts once a run, with its levelled target; calls of equal shares of the runs are left out."""
    lint = GREEN.with_call(6, shell("make lint")).with_call(7, shell("make lint"))
    found = several(tmp_path, [GREEN, GREEN], [lint, GREEN.with_call(0, read("NOTES.md")), lint])
    assert found.habits == [Habit("execute", "make lint", 0, 2), Habit("read", "NOTES.md", 0, 1)]


def test_at_most_twenty_habits_are_kept(tmp_path: Path) -> None:
    """Two runs with nothing in common have many."""
    one, other = (
        replace(GREEN, calls=tuple(edit(f"{name}{'x' * number}.py") for number in range(15))) for name in "ab"
    )
    assert len(several(tmp_path, [one], [other, other]).habits) == MOST_HABITS


def test_fewer_than_ten_runs_are_few(tmp_path: Path) -> None:
    """The smaller side decides."""
    side = GREEN.side(tmp_path, "a")
    assert compare_several([side] * 10, [side] * 9).is_few
    assert not compare_several([side] * 10, [side] * 10).is_few


def test_an_unknown_figure_has_no_median() -> None:
    """Runs without the figure do not count as 0."""
    assert spread([None, 4, None, 8]) == Spread(2, 6, 4, 8)
    assert spread([None, None]) == Spread(0, None, None, None)
