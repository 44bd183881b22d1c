"""Two runs of one generated session with known changes: exactly these are found."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentwatch.analysis.verdict_history import State
from agentwatch.output.compare.alignment import Match
from agentwatch.output.compare.comparison import (
    MOST_CHARACTERS,
    MOST_HABITS,
    Aspect,
    Comparison,
    Habit,
    Lines,
    Part,
    Row,
    Several,
    Share,
    Spread,
    compare,
    compare_several,
    spread,
    text_difference,
)
from agentwatch.session.events import Outcome
from tests.builders.compared_runs import Did, Run, compared, edit, read, run_tests, shell, side_at
from tests.builders.lines import DONE, completed, init, started
from tests.builders.stories.lines import rendered
from tests.builders.stories.story import STORIES, Story
from tests.conftest import case

A = Run()


def found(comparison: Comparison) -> list[Row]:
    """Return the rows that are not equal."""
    return [comparison.rows[index] for index in comparison.differences()]


def test_a_run_equals_itself(tmp_path: Path) -> None:
    """Two recordings of the same run have no differences at all."""
    comparison = compared(tmp_path, A, A)
    assert found(comparison) == []
    assert comparison.first_divergence is None
    assert comparison.a.totals == comparison.b.totals
    assert comparison.text.is_equal
    # Paths relative to the working directory and levelled temporary paths are equal.
    other = replace(A, cwd="/Users/bob/mill-2").changed(4, shell("git diff --stat > /tmp/tmpzz91"))
    comparison = compared(tmp_path, A, other)
    assert found(comparison) == []
    assert [row.path for row in comparison.files] == ["src/mill.py"]
    # A call is only in one run, in both with another target, or at another place.
    # The other calls stay side by side.
    comparison = compared(tmp_path, A, A.without(1))
    assert found(comparison) == [Row(Match.ONLY_A, 2, None)]
    assert comparison.first_divergence == 1
    assert (comparison.a.totals.calls, comparison.b.totals.calls) == (6, 5)
    # An added call is between the calls that surround it in its run.
    comparison = compared(tmp_path, A, A.with_call(3, read("README.md")))
    assert found(comparison) == [Row(Match.ONLY_B, None, 4)]
    assert comparison.rows[3] == Row(Match.ONLY_B, None, 4)
    # Both are shown in one row.
    comparison = compared(tmp_path, A, A.changed(1, read("src/race.py")))
    assert found(comparison) == [Row(Match.REPLACED, 2, 2)]
    # It is in one row, where the first of the two runs has it.
    other = replace(A, calls=(*A.calls[1:5], A.calls[0], A.calls[5]))
    comparison = compared(tmp_path, A, other)
    assert found(comparison) == [Row(Match.MOVED, 1, 5)]
    assert comparison.rows[0].match is Match.MOVED
    # The row says in what the calls differ, and it is where the runs part.
    comparison = compared(tmp_path, A, A.changed(5, run_tests(failed=3)))
    wanted = (Aspect.EXIT_CODE, Aspect.VERDICT)
    (row,) = found(comparison)
    assert (row.match, row.a, row.b) == (Match.EQUAL, 6, 6)
    assert set(wanted) <= set(row.aspects) <= {*wanted, Aspect.OUTCOME}
    assert comparison.first_divergence == 5
    assert (comparison.a.totals.tests, comparison.b.totals.tests) == (State.GREEN, State.RED)
    # A rejected call differs from one that succeeded.
    rejected = replace(A.calls[0], answer={"rejected": {"reason": "no"}})
    (row,) = found(compared(tmp_path, A, A.changed(0, rejected)))
    assert row.aspects == (Aspect.OUTCOME,)
    # Less than that is noise. A slower call is a difference, but the runs do not part there.
    for took_ms, aspects in ((1900, ()), (1999, ()), (2100, (Aspect.DURATION,)), (40, ())):
        with case(took_ms):
            one = A.changed(0, replace(A.calls[0], took_ms=1000))
            comparison = compared(tmp_path, one, A.changed(0, replace(A.calls[0], took_ms=took_ms)))
            assert [row.aspects for row in found(comparison)] == ([aspects] if aspects else [])
            assert comparison.first_divergence is None


def test_what_is_unknown_is_no_difference(tmp_path: Path) -> None:
    """An earlier red run of the same command does not count. What a recording does not say differs from
    nothing. 19 s against 10 s are nine seconds more, and not twice as long. A hostile recording cannot make
    the sums too large for JSON, or negative. An unknown duration is not 0.
    """
    comparison = compared(tmp_path, A, A.changed(5, run_tests(failed=3)))
    (row,) = comparison.commands
    assert row.a is not None
    assert row.b is not None
    assert (row.command, row.a.state, row.b.state) == ("pytest -q", State.GREEN, State.RED)
    unknown = replace(A.calls[0], answer={})
    comparison = compared(tmp_path, A, A.changed(0, unknown))
    assert comparison.b.session.calls[0].outcome is Outcome.RETURNED
    assert found(comparison) == []
    one, other = (A.changed(0, replace(A.calls[0], took_ms=ms)) for ms in (10_000, 19_000))
    assert found(compared(tmp_path, one, other)) == []
    hostile = {"inputTokens": 10**15, "outputTokens": -3, "cacheReadTokens": 7, "cacheWriteTokens": 0}
    totals = compared(tmp_path, A, replace(A, usage=hostile)).b.totals
    assert (totals.input, totals.cached, totals.output) == (None, 7, None)
    path = tmp_path / "untimed.ndjson"
    path.write_bytes(init() + started("read", path="a") + completed("read", result=DONE, path="a"))
    assert side_at(path).totals.duration_ms is None
    # 5 ms against 900 ms is 180 times as long, and less than a second. They are in the row of the edit, in
    # the files and in the totals. A run whose agent gives no tokens and no cost has none, not 0. The words of
    # only one text are beside those of the other.
    fast, slow = (A.changed(0, replace(A.calls[0], took_ms=ms)) for ms in (5, 900))
    assert found(compared(tmp_path, fast, slow)) == []
    comparison = compared(tmp_path, A, A.changed(3, edit("src/mill.py", added=9)))
    assert [row.aspects for row in found(comparison)] == [(Aspect.LINES,)]
    (file,) = comparison.files
    assert (file.path, file.a, file.b) == ("src/mill.py", Lines(4, 2), Lines(9, 2))
    assert (comparison.a.totals.lines_added, comparison.b.totals.lines_added) == (4, 9)
    comparison = compared(tmp_path, A, replace(A, usage=None))
    assert comparison.a.totals.output == 200
    assert comparison.b.totals.output is None
    assert comparison.a.totals.cost_usd is None
    assert found(comparison) == []
    comparison = compared(tmp_path, A, replace(A, text="Mended: the race turns again."))
    pieces = [(piece.part, piece.text) for piece in comparison.text.pieces if piece.part is not Part.BOTH]
    assert pieces == [(Part.ONLY_A, "wheel "), (Part.ONLY_B, "race ")]


@pytest.mark.system
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=STORIES)
def test_any_session_equals_itself(tmp_path: Path, story: Story) -> None:
    """Comparing a session with itself yields no differences, whatever it contains."""
    path = tmp_path / "any.ndjson"
    path.write_bytes(rendered(story, is_partial=False)[0])
    comparison = compare(side_at(path), side_at(path))
    assert all(row.is_equal and row.a == row.b for row in comparison.rows)
    assert comparison.text.is_equal
    assert comparison.first_divergence is None


@given(st.lists(st.tuples(st.sampled_from("rse"), st.integers(0, 3)), max_size=12), st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_call_is_in_one_row(tmp_path: Path, made: list[tuple[str, int]], data: st.DataObject) -> None:
    """Whatever was removed, added and moved: no call is lost, and none is shown twice."""
    makers: dict[str, Callable[[str], Did]] = {"r": read, "s": shell, "e": edit}
    calls: list[Did] = [makers[kind](f"{'abcd'[number]}.py") for kind, number in made]
    other = data.draw(st.permutations(calls))[: data.draw(st.integers(0, len(calls)))]
    comparison = compared(tmp_path, replace(A, calls=tuple(calls)), replace(A, calls=tuple(other)))
    assert sorted(row.a for row in comparison.rows if row.a is not None) == [*range(1, len(calls) + 1)]
    assert sorted(row.b for row in comparison.rows if row.b is not None) == [*range(1, len(other) + 1)]


GREEN = Run()
RED = GREEN.changed(5, run_tests(failed=1))


def several(folder: Path, a: list[Run], b: list[Run]) -> Several:
    """Record the runs of both sides, and compare them."""
    sides = [
        [run.side(folder, f"{name}{nth}") for nth, run in enumerate(runs)]
        for name, runs in (("a", a), ("b", b))
    ]
    return compare_several(*sides)


def test_several_runs_have_shares_habits_and_medians(tmp_path: Path) -> None:
    """A run without tests is neither green nor red. It counts once a run, with its levelled target; calls of
    equal shares of the runs are left out. Two runs with nothing in common have many. The smaller side
    decides. Runs without the figure do not count as 0.
    """
    untested = replace(GREEN, calls=(read("src/mill.py"),))
    found = several(tmp_path, [GREEN, RED, GREEN, untested], [RED])
    assert found.shares == [Share("succeeded", 4, 4, 1, 1), Share("tests green", 2, 3, 0, 1)]
    lint = GREEN.with_call(6, shell("make lint")).with_call(7, shell("make lint"))
    found = several(tmp_path, [GREEN, GREEN], [lint, GREEN.with_call(0, read("NOTES.md")), lint])
    assert found.habits == [Habit("execute", "make lint", 0, 2), Habit("read", "NOTES.md", 0, 1)]
    one, other = (
        replace(GREEN, calls=tuple(edit(f"{name}{'x' * number}.py") for number in range(15))) for name in "ab"
    )
    assert len(several(tmp_path, [one], [other, other]).habits) == MOST_HABITS
    side = GREEN.side(tmp_path, "a")
    assert compare_several([side] * 10, [side] * 9).is_few
    assert not compare_several([side] * 10, [side] * 10).is_few
    assert spread([None, 4, None, 8]) == Spread(2, 6, 4, 8)
    assert spread([None, None]) == Spread(0, None, None, None)


TEXTS = st.text(st.sampled_from("ab .\n,é"), max_size=40)


def side(a: str, b: str, part: Part) -> str:
    """Return the words of one side of the difference of two texts, without blanks."""
    pieces = text_difference(a, b).pieces
    return "".join("".join(piece.text.split()) for piece in pieces if piece.part in (Part.BOTH, part))


@given(TEXTS, TEXTS)
def test_each_text_can_be_read_from_the_pieces(a: str, b: str) -> None:
    """The pieces of a side, in order, have the words of that side, in order."""
    assert side(a, b, Part.ONLY_A) == "".join(a.split())
    assert side(a, b, Part.ONLY_B) == "".join(b.split())


@given(TEXTS)
def test_a_text_equals_itself(text: str) -> None:
    """No words differ, also if the lines are wrapped in another way."""
    assert text_difference(text, text).is_equal
    assert text_difference(text, text.replace(" ", "\n")).is_equal


def test_texts_without_a_common_word_are_two_pieces() -> None:
    """First the words of the one, then those of the other."""
    pieces = text_difference("one two", "three").pieces
    assert [(piece.part, piece.text) for piece in pieces] == [
        (Part.ONLY_A, "one two"),
        (Part.ONLY_B, "three"),
    ]
    # Repeated words take bounded time, and the difference says that it is cut.
    found = text_difference("a b " * 100_000, "b a " * 100_000)
    assert found.is_cut
    assert sum(len(piece.text) for piece in found.pieces) <= 2 * MOST_CHARACTERS
