"""The calls of two runs side by side: differences, folded calls, and every width."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentwatch.screen.screens.compare.calls_view import CallsView
from agentwatch.screen.widgets.line_view import Spans
from tests.builders.comparing.runs import Run, edit, read, run_tests, shell
from tests.builders.comparing.screen import opened
from tests.conftest import case

pytestmark = pytest.mark.slow

A = Run(calls=tuple(read(f"src/part{letter}.py") for letter in "abcdefghij"))
THREE = A.with_call(3, read("src/new.py")).with_call(7, shell("make")).without(11)
"""A run with two calls more, and without the last one."""


async def test_it_opens_where_the_runs_part(tmp_path: Path) -> None:
    """The first divergence is selected, below the line that says so, beside a gap."""
    async with opened(tmp_path, A, THREE) as stage:
        assert stage.chosen.strip().startswith("+ only B")
        assert "src/new.py" in stage.chosen
        assert stage.shown[stage.calls.cursor - 1].startswith("── the runs part here ─")
        await stage.shows("difference 1 of 3 · only B has #4")


@pytest.mark.system
async def test_n_goes_to_the_next_difference(tmp_path: Path) -> None:
    """`n` and `N` select the next and the previous difference; a notice reports the wrap to the first."""
    async with opened(tmp_path, A, THREE) as stage:
        await stage.press("n")
        assert "make" in stage.chosen
        await stage.shows("difference 2 of 3")
        await stage.press("n")
        assert "- only A" in stage.chosen
        await stage.press("n")
        assert "src/new.py" in stage.chosen
        await stage.shows("after the last difference: the first, 1 of 3")
        await stage.press("N")
        await stage.shows("before the first: the last, 3 of 3")
        await stage.press("N")
        assert "make" in stage.chosen


async def test_enter_unfolds_equal_calls(tmp_path: Path) -> None:
    """The folded line shows its number of calls; when it is unfolded, the first of them is selected."""
    async with opened(tmp_path, A, A.with_call(9, shell("make"))) as stage:
        await stage.press("g")
        assert stage.chosen == "  · 8 equal calls"
        await stage.shows(" 8 equal calls\n")
        await stage.press("enter")
        assert stage.chosen.split()[:4] == ["1", "✓", "read", "src/parta.py"]
        assert not any("equal calls" in line for line in stage.shown)


async def test_the_equal_calls_are_shown_and_folded_again(tmp_path: Path) -> None:
    """`=` shows all calls and folds them again; the selected difference stays selected."""
    async with opened(tmp_path, A, THREE) as stage:
        before, folded = stage.chosen, stage.shown
        await stage.press("equals_sign")
        assert stage.chosen == before
        assert len(stage.shown) == 13
        await stage.press("equals_sign")
        assert (stage.chosen, stage.shown) == (before, folded)


@pytest.mark.system
async def test_a_call_that_is_folded_again_leaves_its_line_selected(tmp_path: Path) -> None:
    """The line counts the selected call among others."""
    async with opened(tmp_path, A, A.with_call(9, shell("make"))) as stage:
        await stage.press("equals_sign", "g", "j", "j", "equals_sign")
        assert stage.chosen == "  · 8 equal calls"


@pytest.mark.system
async def test_the_line_before_the_divergence_is_skipped(tmp_path: Path) -> None:
    """Up and down go past it; at the top it is above the first call."""
    async with opened(tmp_path, A, A.with_call(0, shell("make"))) as stage:
        assert stage.calls.cursor == 1
        await stage.press("k", "k")
        assert stage.calls.cursor == 1
        await stage.press("j", "k")
        assert "make" in stage.chosen
    async with opened(tmp_path, A, A.with_call(5, shell("make"))) as stage:
        await stage.press("k")
        assert "parte" in stage.chosen
        await stage.press("j")
        assert "make" in stage.chosen


@pytest.mark.system
async def test_each_kind_of_difference_has_a_sign_and_a_word(tmp_path: Path) -> None:
    """The sign and the word are between the calls; the line below has the details."""
    for before, after, sign, words in (
        (
            run_tests(),
            run_tests(failed=3),
            "~ outcome",
            "outcome: succeeded → failed: exit 1 · exit 0 → exit 1",
        ),
        (
            run_tests(failed=2),
            run_tests(failed=3),
            "~ verdict",
            "verdict: 2 failed, 18 passed → 3 failed, 17 passed",
        ),
        (edit("src/x.py"), edit("src/x.py", 9), "~ lines", "lines: +4 −2 → +9 −2"),
        (shell("make"), shell("make", took_ms=4000), "~ slower", "slower: 0.1 s → 4.0 s"),
        (shell("make", took_ms=4000), shell("make"), "~ faster", "faster: 4.0 s → 0.1 s"),
        (read("src/x.py"), read("src/y.py"), "! target", "another target: "),
    ):
        with case(f"{sign}, {words}"):
            a = A.changed(2, before)
            async with opened(tmp_path, a, a.changed(2, after)) as stage:
                (line,) = [line for line in stage.shown if sign in line]
                assert line == stage.chosen
                await stage.shows(f"difference 1 of 1 · {words}")


@pytest.mark.system
async def test_a_moved_call_names_both_places(tmp_path: Path) -> None:
    """Both numbers are in its row."""
    moved = replace(A, calls=(*A.calls[1:6], A.calls[0], *A.calls[6:]))
    async with opened(tmp_path, A, moved) as stage:
        assert "> moved" in stage.chosen
        await stage.shows("moved from #1 in A to #6 in B")


async def test_at_80_columns_the_calls_are_side_by_side(tmp_path: Path) -> None:
    """The targets are cut, and the kind of a difference is its sign alone."""
    async with opened(tmp_path, A, THREE, (80, 24)) as stage:
        row = next(row for row in stage.rows if "partc" in row)
        assert row.count("partc.py") == 2
        assert stage.chosen.strip().startswith("+ ")
        assert "only B" not in stage.chosen
        assert max(map(len, stage.rows)) <= 80


@pytest.mark.system
async def test_below_60_columns_there_is_one_column(tmp_path: Path) -> None:
    """Two calls that differ are below each other, each with its letter; the selected one stays selected."""
    async with opened(tmp_path, A, A.changed(5, read("src/other.py"))) as stage:
        assert "src/other.py" in stage.chosen
        await stage.resize(50, 20)
        assert stage.chosen.startswith("! A  6 ✓ read  src/partf.py")
        assert stage.shown[stage.calls.cursor + 1].startswith("! B  6 ✓ read  src/other.py")
        assert max(map(len, stage.rows)) <= 50
        await stage.press("n")
        assert stage.chosen.startswith("! A")
        await stage.resize(120, 40)
        assert "partf.py" in stage.chosen
        assert "other.py" in stage.chosen


@pytest.mark.system
async def test_no_row_is_wider_than_the_terminal(tmp_path: Path) -> None:
    """At each size, in each view, no line is too long, and the calls are in view."""
    for size in ((200, 50), (120, 40), (96, 20), (80, 24), (60, 20), (40, 12), (20, 6)):
        with case(size):
            async with opened(tmp_path, A, THREE, size) as stage:
                for _ in range(3):
                    assert max(map(len, stage.rows)) <= size[0]
                    await stage.press("tab")
                assert stage.calls.scrollable_content_region.height > 0


async def test_runs_without_a_difference_say_so(tmp_path: Path) -> None:
    """The tab shows `=`, and `n` a notice."""
    async with opened(tmp_path, A, A) as stage:
        await stage.shows(" Calls = ")
        assert stage.shown == ["  · 10 equal calls"]
        await stage.press("n")
        await stage.shows("no difference")


@pytest.mark.system
async def test_runs_without_calls_can_be_compared(tmp_path: Path) -> None:
    """All keys do nothing there."""
    empty = Run(calls=(), text="")
    async with opened(tmp_path, empty, empty) as stage:
        await stage.shows("neither run has a call")
        await stage.press("n", "N", "enter", "j", "k", "g", "G", "equals_sign", "y")
        await stage.press("tab")
        await stage.shows("neither run changed a file")
        await stage.press("n", "enter", "j", "tab")
        await stage.shows("neither run has a final text")
        await stage.press("n", "enter", "j")


@pytest.mark.system
async def test_only_visible_rows_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 3,000 calls, those in view are drawn."""
    drawn: list[int] = []
    row = CallsView.row

    def counted(view: CallsView, y: int, width: int) -> Spans:
        drawn.append(y)
        return row(view, y, width)

    monkeypatch.setattr(CallsView, "row", counted)
    many = Run(calls=tuple(read(f"src/part{number}.py") for number in range(3000)))
    async with opened(tmp_path, many, many.with_call(1500, shell("make"))) as stage:
        await stage.press("equals_sign", "G")
        await stage.shows("src/part2999.py")
        assert len({*drawn}) < 200


@pytest.mark.system
async def test_foreign_text_is_harmless(tmp_path: Path) -> None:
    """Control characters of targets, models and final texts are shown as signs."""
    evil = replace(A.changed(0, shell("echo \x1b[31mred\x07")), text="Done\x1b]0;owned\x07.")
    async with opened(tmp_path, A, evil) as stage:
        await stage.shows("echo ␛[31mred␇")
        await stage.press("n", "enter")
        await stage.shows("command: echo ␛[31mred␇")
        await stage.press("escape", "tab", "tab")
        await stage.shows("␛]0;owned␇")
        assert "\x1b" not in stage.text
