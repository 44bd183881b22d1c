"""The detail of a pair of calls: facts, arguments and results side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.screen.screens.compare.pair import MOST_LINES, PairScreen
from tests.builders.comparing.runs import Run, read, run_tests, shell
from tests.builders.comparing.screen import opened

pytestmark = pytest.mark.slow

A = Run()
B = A.changed(2, run_tests(failed=5)).with_call(4, read("README.md"))


def row(lines: list[str], name: str) -> str:
    """Return the line about a fact, with single blanks."""
    return " ".join(next(line for line in lines if line.startswith(name)).split())


@pytest.mark.system
async def test_enter_shows_both_calls(tmp_path: Path) -> None:
    """What differs has a sign between both sides."""
    async with opened(tmp_path, A, B) as stage:
        await stage.press("enter")
        assert isinstance(stage.app.screen, PairScreen)
        assert row(stage.pair, "call") == "call A #3 B #3"
        assert row(stage.pair, "target") == "target pytest -q pytest -q"
        assert row(stage.pair, "verdict") == "verdict 2 failed, 18 passed ~ 5 failed, 15 passed"
        headings = [line for line in stage.pair if line.startswith("── ")]
        assert headings == ["── result", "── arguments: the same in both"]
        await stage.press("escape")
        assert not isinstance(stage.app.screen, PairScreen)


@pytest.mark.system
async def test_n_shows_the_next_pair(tmp_path: Path) -> None:
    """The list below goes to it too; a call of one run is alone."""
    async with opened(tmp_path, A, B) as stage:
        await stage.press("enter", "n")
        assert row(stage.pair, "call") == "call B #5"
        assert row(stage.pair, "target") == "target README.md"
        await stage.press("q")
        assert "README.md" in stage.chosen


async def test_the_results_are_compared_line_by_line(tmp_path: Path) -> None:
    """Equal lines stay side by side."""
    a = A.changed(4, shell("make", stdout="one\ntwo\nthree\n"))
    b = A.changed(4, shell("make", 1, stdout="one\nthree\nfour\n"))
    async with opened(tmp_path, a, b) as stage:
        await stage.press("enter")
        at = stage.pair.index("── result")
        texts = [line.split() for line in stage.pair[at + 1 :]]
        assert texts[:4] == [["one", "one"], ["two", "-"], ["three", "three"], ["+", "four"]]


@pytest.mark.system
async def test_a_narrow_terminal_has_one_column(tmp_path: Path) -> None:
    """The lines of A and B are below each other, with their letters."""
    async with opened(tmp_path, A, B, (48, 30)) as stage:
        await stage.press("enter")
        at = stage.pair.index("verdict    A 2 failed, 18 passed")
        assert stage.pair[at + 1] == "verdict    B 5 failed, 15 passed"
        assert "target       pytest -q" in stage.pair


@pytest.mark.system
async def test_long_results_are_cut_to_their_ends(tmp_path: Path) -> None:
    """The heading says so, and the last line is there."""
    text = "\n".join(f"line {number}" for number in range(5000))
    a, b = A.changed(4, shell("make", stdout=text)), A.changed(4, shell("make", 1, stdout=f"{text} more"))
    async with opened(tmp_path, a, b) as stage:
        await stage.press("enter")
        assert "── result, the end" in stage.pair
        assert len(stage.pair) < 2 * MOST_LINES
        assert any(line.split() == ["line", "4999", "~", "line", "4999", "more"] for line in stage.pair)
