"""The other views of a comparison, the lines around them, and the keys that work everywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentwatch.output.compare.comparison import text_difference
from agentwatch.screen.screens.compare.views import _lines as lines_of
from agentwatch.screen.screens.session.help import Help
from agentwatch.screen.screens.session.screen import WatchScreen
from tests.builders.comparing.runs import Run, edit, read, run_tests
from tests.builders.comparing.screen import opened

pytestmark = pytest.mark.slow

A = Run()
B = replace(
    A.changed(3, edit("src/mill.py", 9)).with_call(4, edit("src/race.py")).changed(6, run_tests(failed=1)),
    text="Mended: the wheel turns slowly.",
    usage={"inputTokens": 1400, "outputTokens": 200},
)


async def test_the_totals_are_above_the_calls(tmp_path: Path) -> None:
    """Both runs have a line with their figures; a third one has the differences, `-` for unknown ones."""
    async with opened(tmp_path, A, B) as stage:
        figures = [row.split() for row in stage.rows[1:5]]
        names = figures[0]
        a, b = (dict(zip(names[1:], row[3:], strict=True)) for row in figures[1:3])
        assert (a["calls"], a["files"], a["tests"]) == ("6", "1", "green")
        assert (b["calls"], b["files"], b["tests"]) == ("7", "2", "red")
        assert (a["in"], b["in"], a["cost"]) == ("1,500", "1,400", "-")
        assert stage.rows[4].startswith(" B − A")
        assert " +1 " in stage.rows[4]
        assert " −100 " in stage.rows[4]


async def test_both_runs_are_named(tmp_path: Path) -> None:
    """The names are side by side, with agent, model and outcome; on a narrow terminal below each other."""
    async with opened(tmp_path, A, B) as stage:
        assert stage.rows[0].count("✓ succeeded") == 2
        assert stage.rows[0].index("a.ndjson · cursor") < stage.rows[0].index("b.ndjson · cursor")
        await stage.resize(50, 20)
        assert stage.rows[0].startswith(" A  a.ndjson")
        assert stage.rows[1].startswith(" B  b.ndjson")


@pytest.mark.system
async def test_a_short_terminal_has_no_totals(tmp_path: Path) -> None:
    """The calls get their rows."""
    async with opened(tmp_path, A, B, (120, 12)) as stage:
        assert "duration" not in stage.text
        await stage.resize(120, 30)
        assert "duration" in stage.text


@pytest.mark.system
async def test_tab_shows_the_files_and_the_verdicts(tmp_path: Path) -> None:
    """Each file and each command has a cell for each run; `n` goes to those that differ."""
    async with opened(tmp_path, A, B) as stage:
        await stage.press("tab")
        await stage.shows("2 changed files")
        await stage.shows("1 command with a verdict")
        assert stage.chosen.split() == ["~", "src/mill.py", "+4", "−2", "+9", "−2"]
        await stage.press("n")
        assert stage.chosen.split() == ["B", "src/race.py", "-", "+4", "−2"]
        await stage.press("n")
        assert stage.chosen.split() == ["~", "pytest", "-q", "20", "passed", "1", "failed,", "19", "passed"]
        await stage.press("g", "k")
        assert "src/mill.py" in stage.chosen


async def test_the_final_texts_are_compared_word_by_word(tmp_path: Path) -> None:
    """A line that differs is shown as it is in A and in B; the letters are signs besides the colours."""
    async with opened(tmp_path, A, B) as stage:
        await stage.press("shift+tab")
        await stage.shows("A Mended: the wheel turns again.")
        await stage.shows("B Mended: the wheel turns slowly.")
        await stage.press("escape")
        await stage.shows("the runs part here")


@pytest.mark.system
async def test_n_goes_through_a_long_text(tmp_path: Path) -> None:
    """It goes to the next row with words of only one text."""
    lines = [f"Line {number} of the answer." for number in range(100)]
    other = [*lines[:40], "Another line.", *lines[41:90], "One more.", *lines[91:]]
    a, b = replace(A, text="\n\n".join(lines)), replace(A, text="\n\n".join(other))
    async with opened(tmp_path, a, b) as stage:
        await stage.press("tab", "tab", "n")
        assert "A Line 40" in stage.chosen
        await stage.press("n")
        assert "A Line 90" in stage.chosen
        await stage.resize(70, 20)
        assert "A Line 90" in stage.chosen


@pytest.mark.system
async def test_y_copies_the_addresses_of_the_calls(tmp_path: Path) -> None:
    """Both of a pair, one a line; one of a call that only one run has."""
    async with opened(tmp_path, A, B) as stage:
        await stage.press("y")
        assert stage.app.clipboard == f"{tmp_path}/a.ndjson#4\n{tmp_path}/b.ndjson#4"
        await stage.shows("copied the address of 2 calls")
        await stage.press("n", "y")
        assert stage.app.clipboard == f"{tmp_path}/b.ndjson#5"
        await stage.press("tab", "y")
        await stage.shows("no call is selected")


@pytest.mark.system
async def test_a_and_b_open_the_sessions_at_the_call(tmp_path: Path) -> None:
    """The session opens in the same terminal at the end of the call; esc returns to the comparison."""
    async with opened(tmp_path, A, B) as stage:
        before = stage.chosen
        for key, number in (("a", 4), ("b", 4)):
            await stage.press(key)
            await stage.until(lambda: isinstance(stage.app.screen, WatchScreen), "the session")
            await stage.shows("esc Comparison")
            await stage.until(lambda: f"{number} calls" in stage.text, "the calls up to then")  # noqa: B023
            await stage.press("escape")
            await stage.until(lambda: not isinstance(stage.app.screen, WatchScreen), "the comparison")
            assert stage.chosen == before
        await stage.until(lambda: stage.app._being_closed == 0, "the end of the sessions")


@pytest.mark.system
async def test_a_session_without_the_call_opens_at_the_call_before(tmp_path: Path) -> None:
    """A call that only B made is between two calls of A; the earlier one of them is shown."""
    async with opened(tmp_path, A, B) as stage:
        await stage.press("n")
        assert "only B" in stage.chosen
        assert (stage.calls.number_of(0), stage.calls.number_of(1)) == (4, 5)
        await stage.press("a")
        await stage.until(lambda: isinstance(stage.app.screen, WatchScreen), "the session")
        await stage.until(lambda: "4 calls" in stage.text, "the calls up to then")


@pytest.mark.system
async def test_a_session_that_is_gone_is_reported(tmp_path: Path) -> None:
    """The comparison stays."""
    async with opened(tmp_path, A, B) as stage:
        (tmp_path / "a.ndjson").unlink()
        await stage.press("a")
        await stage.shows("cannot open")
        assert "the runs part here" in stage.text


@pytest.mark.system
async def test_the_help_is_about_the_comparison(tmp_path: Path) -> None:
    """`?` lists its keys; `q` in it closes the help, and then quits."""
    async with opened(tmp_path, A, B) as stage:
        await stage.press("?")
        assert isinstance(stage.app.screen, Help)
        await stage.shows("next difference; previous difference")
        await stage.press("q")
        assert stage.app.is_running
        await stage.press("q")
        await stage.until(lambda: not stage.app.is_running, "the end")


@pytest.mark.system
async def test_the_keys_are_in_the_last_row(tmp_path: Path) -> None:
    """Help and quit are always there."""
    for width in (60, 80, 120):
        async with opened(tmp_path, A, B, (width, 24)) as stage:
            assert stage.rows[-1].startswith(" n N Difference  enter Detail")
            assert stage.rows[-1].endswith("? Help  q Quit")


@pytest.mark.system
async def test_the_limits_of_a_comparison_are_shown(tmp_path: Path) -> None:
    """What the line of tabs says at its right is empty for an accurate comparison."""
    async with opened(tmp_path, A, A.with_call(0, read("x.py"))) as stage:
        assert stage.rows[5].endswith("Final texts =")


def test_the_lines_of_two_texts() -> None:
    """Equal lines come once; those that differ first as in A, then as in B, with the words of only one."""
    a = "one\ntwo red birds\nthree\n\nfour"
    b = "one\ntwo blue birds\nthree\nnew\n\nfour"
    found = [(line.side, line.text, line.marks, line.begins) for line in lines_of(text_difference(a, b))]
    assert found == [
        ("", "one", [], False),
        ("A", "two red birds", [(4, 7)], True),
        ("B", "two blue birds", [(4, 8)], False),
        ("", "three", [], False),
        ("B", "new", [(0, 3)], True),
        ("B", "", [], False),
        ("", "four", [], False),
    ]
