"""The cells of the time bar: every mark in its place, and every place a moment."""

from __future__ import annotations

import random

import pytest

from agentwatch.analysis.time_bar import Kind
from agentwatch.session.events import Outcome
from tests.analysis.time_bar.bars import bar_of, drawn, text
from tests.analysis.time_bar.recorded import BEGAN_MS, Recorded
from tests.conftest import case

WIDTHS = (1, 2, 7, 22, 60, 120, 333)


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


def test_every_failure_is_visible() -> None:
    """At any width and moment, the cell of each failure has a failure's sign, whatever else is there."""
    seen = 0
    for seed in range(40):
        with case(seed):
            made, failures = generated(seed)
            seen += len(failures)
            for width in WIDTHS:
                bar = bar_of(made, width)
                bookmarks = [(moment, "here") for moment in range(100, made.size + 1, 300)]
                verdicts = [(moment, moment % 700 == 0) for moment in range(100, made.size + 1, 200)]
                for moment in (0, made.size // 200 * 100, made.size):
                    cells = drawn(bar, moment, bookmarks, verdicts)
                    assert len(cells) == width
                    assert all(cells[bar.cell_of(failure)].sign in "✗⊗" for failure in failures)
                    failed = {bar.cell_of(failure) for failure in failures}
                    plain = drawn(bar, moment)
                    assert {at for at, cell in enumerate(plain) if cell.kind is Kind.FAILURE} <= failed
    assert seen > 100


@pytest.mark.system
def test_the_handle_moves_with_the_moment() -> None:
    """A later moment is never further left; the first is in the first cell, and there is one handle."""
    for seed in range(40):
        with case(seed):
            made, _ = generated(seed)
            for width in WIDTHS:
                bar = bar_of(made, width)
                places = []
                for moment in range(0, made.size + 1, 100):
                    cells = drawn(bar, moment)
                    [place] = [at for at, cell in enumerate(cells) if cell.kind is Kind.HANDLE]
                    assert place == bar.cell_of(moment)
                    places.append(place)
                assert places == sorted(places)
                assert places[0] == 0
                assert not made.session.is_closed or places[-1] == width - 1


@pytest.mark.system
def test_a_click_on_a_cell_leads_there() -> None:
    """The moment of a cell with a line is in that cell; in a silence it is where the silence began."""
    for seed in range(40):
        with case(seed):
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
    assert text(drawn(bar, made.size)) == " ━━━│━✗ ────── 20.0 s ─────━│●"
    assert text(drawn(bar, shown)) == " ━━━│━✗●╌╌╌╌╌╌ 20.0 s ╌╌╌╌╌╌│╌"


def test_a_silent_call_is_no_silence() -> None:
    """While a call runs without any line, the stretch is drawn as a running call, with its length."""
    made = Recorded()
    made.call(1000, 240_000)
    made.close()
    cells = drawn(bar_of(made, 30), made.size)
    assert " 4:00 " in text(cells)
    assert "─" not in text(cells)
    assert text(cells).count("━") > 15


def test_a_short_recording_has_no_silence() -> None:
    """In a recording of a few milliseconds no gap is a silence."""
    made = Recorded()
    made.call(1, 4)
    made.close()
    assert Kind.SILENCE not in {cell.kind for cell in drawn(bar_of(made, 60), made.size)}


def test_many_calls_in_a_cell_are_dense() -> None:
    """A cell with many calls has a heavier tick than one with few."""
    made = Recorded()
    for _ in range(40):
        made.call(1, 1)
    made.line(1000)
    made.call(9000, 1)
    made.line(5000)
    made.close()
    signs = text(drawn(bar_of(made, 20), made.size))
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
        cells = drawn(bar, made.size, [(at, "") for at in bookmarks], verdicts)
        return [str(cells[bar.cell_of(at)].kind) for at in (failed, rejected, fine)]

    assert kinds([], []) == ["failure", "rejection", "call"]
    assert kinds([], [(failed, True), (rejected, False), (fine, False)]) == ["red", "rejection", "green"]
    assert kinds([failed, rejected, fine], [(fine, False)]) == ["failure", "bookmark", "bookmark"]
    marked = drawn(bar, made.size, [(failed, "")])[bar.cell_of(failed)]
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


def test_a_rule_that_was_hit_is_marked() -> None:
    """Its cell has a sign of its own, which a click leads to; only the moment that is shown hides it."""
    made = Recorded()
    made.start(1000, "a")
    hit = made.end(1000, "a", Outcome.FAILED)
    made.line(60_000)
    bar = bar_of(made, 40)
    alarms = [(hit, "rm outside")]
    cells = bar.cells(bar.cell_of(made.size), [(hit, "here")], [(hit, True)], alarms)
    assert (cells[bar.cell_of(hit)].sign, cells[bar.cell_of(hit)].kind) == ("▲", Kind.ALARM)
    assert bar.moment_of(bar.cell_of(hit), alarms=alarms) == hit
    assert bar.cells(bar.cell_of(hit), alarms=alarms)[bar.cell_of(hit)].kind is Kind.HANDLE
