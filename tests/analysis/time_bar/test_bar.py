"""The cells of the time bar: every mark in its place, and every place a moment."""

from __future__ import annotations

import random

import pytest

from agentwatch.analysis.time_bar import Axis, Bar, Cell, Kind
from agentwatch.events import Outcome
from tests.analysis.time_bar.recorded import BEGAN_MS, Recorded

WIDTHS = (1, 2, 7, 22, 60, 120, 333)


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


def generated(seed: int) -> tuple[Recorded, list[int]]:
    """Return a session with calls one after another and at once, silences, and the moments of failures."""
    chance = random.Random(seed)
    made, failures, running = Recorded(has_times=seed % 5 > 0), [], list[str]()
    for number in range(chance.randrange(150)):
        wait_ms = chance.choice([0, 1, 300, 5000, 5000, 400_000])
        what = chance.random()
        if what < 0.4:
            running.append(f"c-{number}")
            made.start(wait_ms, running[-1])
        elif what < 0.8 and running:
            call_id = running.pop(chance.randrange(len(running)))
            outcome = chance.choice([Outcome.SUCCEEDED, Outcome.FAILED, Outcome.REJECTED])
            moment = made.end(wait_ms, call_id, outcome)
            failures += [moment] if outcome is Outcome.FAILED else []
        else:
            made.line(wait_ms)
    if seed % 2:
        made.close()
    return made, failures


@pytest.mark.parametrize("seed", range(40))
def test_every_failure_is_visible(seed: int) -> None:
    """At any width and moment, the cell of each failure has a failure's sign, whatever else is there."""
    made, failures = generated(seed)
    for width in WIDTHS:
        bar = bar_of(made, width)
        bookmarks = [(moment, "here") for moment in range(100, made.size + 1, 300)]
        verdicts = [(moment, moment % 700 == 0) for moment in range(100, made.size + 1, 200)]
        for moment in (0, made.size // 200 * 100, made.size):
            cells = bar.cells(moment, bookmarks, verdicts)
            assert len(cells) == width
            assert all(cells[bar.cell_of(failure)].sign in "✗⊗" for failure in failures)
            failed = {bar.cell_of(failure) for failure in failures}
            plain = bar.cells(moment)
            assert {at for at, cell in enumerate(plain) if cell.kind is Kind.FAILURE} <= failed


@pytest.mark.parametrize("seed", range(40))
def test_the_handle_moves_with_the_moment(seed: int) -> None:
    """A later moment is never further left; the first is in the first cell, and there is one handle."""
    made, _ = generated(seed)
    for width in WIDTHS:
        bar = bar_of(made, width)
        places = []
        for moment in range(0, made.size + 1, 100):
            cells = bar.cells(moment)
            [place] = [at for at, cell in enumerate(cells) if cell.kind is Kind.HANDLE]
            assert place == bar.cell_of(moment)
            places.append(place)
        assert places == sorted(places)
        assert places[0] == 0
        assert not made.session.is_closed or places[-1] == width - 1


@pytest.mark.parametrize("seed", range(40))
def test_a_click_on_a_cell_leads_there(seed: int) -> None:
    """The moment of a cell with a line is in that cell; in a silence it is where the silence began."""
    made, _ = generated(seed)
    moments = range(0, made.size + 1, 100)
    for width in WIDTHS:
        bar = bar_of(made, width)
        filled = {bar.cell_of(moment) for moment in moments}
        before = 0
        for cell in range(width):
            moment = bar.moment_of(cell)
            assert before <= moment <= made.size
            assert bar.cell_of(moment) <= cell
            assert bar.moment_of(bar.cell_of(moment)) == moment or cell not in filled
            if cell in filled:
                assert bar.cell_of(moment) == cell
                assert moment in moments or not made.has_times
            before = moment
        assert bar.moment_of(-5) == bar.moment_of(0)
        assert bar.moment_of(width + 5) == bar.moment_of(width - 1)


@pytest.mark.parametrize("seed", range(20))
def test_a_bar_that_grew_equals_a_new_one(seed: int) -> None:
    """A bar laid out again after every few lines has the same cells as one laid out once."""
    chance = random.Random(seed)
    made = Recorded()
    bar = Bar(made.session, Axis(made))
    for number in range(120):
        outcome = chance.choice([Outcome.SUCCEEDED, Outcome.FAILED, Outcome.REJECTED])
        made.call(chance.choice([1, 900, 60_000]), chance.choice([0, 2000, 30_000]), outcome)
        if number % 3 == 0:
            bar.calls.update(chance.choice([0, 1]))
            bar.lay_out(57)
    while bar.calls.update(1):
        pass
    bar.lay_out(57)
    assert bar.cells(made.size // 200 * 100) == bar_of(made, 57).cells(made.size // 200 * 100)


def test_nothing_is_laid_out_again_without_news() -> None:
    """A second layout of the same width changes nothing and says so; a new line or width does."""
    made = Recorded()
    made.call(1000, 1000)
    bar = bar_of(made, 40)
    assert not bar.lay_out(40)
    made.call(1000, 1000)
    assert bar.lay_out(40)
    bar.calls.update(1)
    assert bar.lay_out(40)
    assert not bar.lay_out(40)
    assert bar.lay_out(41)


def test_calls_silences_and_what_is_not_shown_yet() -> None:
    """A call is a tick where it ended after a line while it ran; a long silence has its length."""
    made = Recorded()
    made.call(1000, 3000)
    made.call(1000, 1000, Outcome.FAILED)
    shown = made.line(1000)
    made.call(20_000, 1000)
    made.line(2000)
    made.close()
    bar = bar_of(made, 30)
    assert text(bar.cells(made.size)) == " ━━━│━✗ ─────── 20 s ──────━│●"
    assert text(bar.cells(shown)) == " ━━━│━✗●╌╌╌╌╌╌╌ 20 s ╌╌╌╌╌╌╌│╌"


def test_a_silent_call_is_no_silence() -> None:
    """While a call runs without any line, the stretch is drawn as a running call, with its length."""
    made = Recorded()
    made.call(1000, 240_000)
    made.close()
    cells = bar_of(made, 30).cells(made.size)
    assert " 4:00 " in text(cells)
    assert "─" not in text(cells)
    assert text(cells).count("━") > 15


def test_a_short_recording_has_no_silence() -> None:
    """In a recording of a few milliseconds no gap is a silence."""
    made = Recorded()
    made.call(1, 4)
    made.close()
    assert Kind.SILENCE not in {cell.kind for cell in bar_of(made, 60).cells(made.size)}


def test_many_calls_in_a_cell_are_dense() -> None:
    """A cell with many calls has a heavier tick than one with few."""
    made = Recorded()
    for _ in range(40):
        made.call(1, 1)
    made.line(1000)
    made.call(9000, 1)
    made.line(5000)
    made.close()
    signs = text(bar_of(made, 20).cells(made.size))
    assert signs[0] == "┃"
    assert signs.count("│") == 1


def test_what_shares_a_cell() -> None:
    """Red tests hide a failure, a failure hides a bookmark, a bookmark hides green tests and calls."""
    made = Recorded()
    failed = made.call(1000, 1000, Outcome.FAILED)
    rejected = made.call(1000, 1000, Outcome.REJECTED)
    fine = made.call(1000, 1000)
    made.line(10_000)
    made.close()
    bar = bar_of(made, 17)

    def kinds(bookmarks: list[int], verdicts: list[tuple[int, bool]]) -> list[str]:
        cells = bar.cells(made.size, [(at, "") for at in bookmarks], verdicts)
        return [str(cells[bar.cell_of(at)].kind) for at in (failed, rejected, fine)]

    assert kinds([], []) == ["failure", "rejection", "call"]
    assert kinds([], [(failed, True), (rejected, False), (fine, False)]) == ["red", "rejection", "green"]
    assert kinds([failed, rejected, fine], [(fine, False)]) == ["failure", "bookmark", "bookmark"]
    marked = bar.cells(made.size, [(failed, "")])[bar.cell_of(failed)]
    assert (marked.sign, marked.is_bookmarked) == ("✗", True)


def test_a_click_leads_to_the_first_mark_of_a_cell() -> None:
    """A cell with a failure, a bookmark or a test run leads to it, and not to the end of the cell."""
    made = Recorded()
    failed = made.call(10, 10, Outcome.FAILED)
    marked = made.line(10)
    end = made.line(10)
    made.line(100_000)
    made.close()
    bar = bar_of(made, 10)
    assert bar.moment_of(0) == failed
    assert bar.moment_of(0, [(100, "start")]) == 100
    assert bar.moment_of(0, [(marked, "later")], [(failed - 100, True)]) == failed - 100
    assert bar.moment_of(9) == made.size > end


def test_the_time_and_the_share_of_a_place() -> None:
    """A cell has the time at its end; a moment has its share of the recorded time, or of the bytes."""
    made = Recorded()
    half = made.line(50_000)
    made.line(50_000)
    made.close()
    bar = bar_of(made, 10)
    assert bar.ms_of(4) == BEGAN_MS + 49_999
    assert [bar.percent_of(at) for at in (0, half, made.size)] == [0, 50, 100]
    untimed = Recorded(has_times=False)
    for _ in range(9):
        untimed.line(1)
    bar = bar_of(untimed, 10)
    assert bar.ms_of(4) is None
    assert [bar.percent_of(at) for at in (0, 300, 999, 1000)] == [0, 30, 99, 100]


def test_a_live_bar_moves_in_steps() -> None:
    """While a session grows, the marks of its calls stay where they are, except for a few steps."""
    made = Recorded()
    first = made.call(60_000, 1000)
    bar, places = Bar(made.session, Axis(made)), []
    for _ in range(300):
        made.line(1000)
        bar.lay_out(80)
        places.append(bar.cell_of(first))
    assert len(set(places)) < 10
    assert places == sorted(places, reverse=True)


def test_nothing_is_drawn_after_the_newest_line() -> None:
    """In a live session the cells after the newest line are blank, even while a call is running."""
    made = Recorded()
    made.line(15_000)
    made.start(1000, "c")
    made.line(11_000)
    cells = bar_of(made, 60).cells(made.size)
    assert "━●" in text(cells)
    assert text(cells[cells.index(Cell("●", Kind.HANDLE)) + 1 :]).strip() == ""
    assert cells[-1].sign == " "


def test_times_that_come_late() -> None:
    """A recording whose first times come later is laid out again, on the scale of times."""
    made = Recorded(has_times=False)
    made.line(1000)
    bar = bar_of(made, 10)
    assert bar.cell_of(100) < 9
    made.has_times = True
    made.line(100_000)
    made.close()
    assert bar.lay_out(10)
    assert bar.cell_of(200) == 0
