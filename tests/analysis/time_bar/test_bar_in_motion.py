"""The time bar while the session grows and while it is played."""

from __future__ import annotations

import random

from agentwatch.analysis.time_bar import Axis, Bar, Cell, Kind
from agentwatch.session.events import Outcome
from tests.analysis.time_bar.bars import bar_of, drawn, text
from tests.analysis.time_bar.recorded import BEGAN_MS, Recorded
from tests.conftest import case


def test_a_bar_that_grew_equals_a_new_one() -> None:
    """A bar laid out again after every few lines has the same cells as one laid out once."""
    for seed in range(20):
        with case(seed):
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
            assert drawn(bar, made.size // 200 * 100) == drawn(bar_of(made, 57), made.size // 200 * 100)


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


def test_the_handle_moves_through_a_silence() -> None:
    """While a silence is played, the handle moves with the time, up to the cell of the next line."""
    made = Recorded()
    moment = made.line(10_000)
    made.line(80_000)
    made.line(10_000)
    made.close()
    bar = bar_of(made, 20)
    places = [bar.cell_of(moment, BEGAN_MS + ms) for ms in range(0, 100_001, 1000)]
    assert places == sorted(places)
    assert (places[0], places[10], places[50], places[100]) == (bar.cell_of(moment), 2, 10, 18)
    assert bar.percent_of(moment, BEGAN_MS + 50_000) == 50
    assert bar.cell_of(made.size, BEGAN_MS) == 19


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
    cells = drawn(bar_of(made, 60), made.size)
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
