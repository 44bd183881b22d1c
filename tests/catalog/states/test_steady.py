"""A state that may be wrong for a moment is not shown at once."""

from __future__ import annotations

import pytest

from agentwatch.agents.reported import State
from agentwatch.catalog.standing import UNKNOWN, Ground, Standing
from agentwatch.catalog.states import Steady
from tests.catalog.states.cases import NOW_MS

KEY = ("codex", "s1")
RUNS = Standing(State.WORKING, Ground.INFERRED, now="make")
GUESS = Standing(State.ASKS, Ground.INFERRED, now="make (no child process)")


def test_an_inferred_question_must_last_for_a_second() -> None:
    """A command that has just ended seems to ask until its result is written."""
    steady = Steady()
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS) is RUNS
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS + 999) is RUNS
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS + 1_000) is GUESS
    assert steady.shown(KEY, GUESS, GUESS, NOW_MS + 1_001) is GUESS


def test_a_moment_without_the_question_begins_the_second_again() -> None:
    """Two commands that end one after the other are no question."""
    steady = Steady()
    for at_ms in range(0, 5_000, 500):
        assert steady.shown(KEY, GUESS, RUNS, NOW_MS + at_ms) is RUNS
        assert steady.shown(KEY, RUNS, RUNS, NOW_MS + at_ms + 250) is RUNS
    assert steady._since == {}


def test_a_clock_that_goes_back_holds_nothing_back() -> None:
    """A question is shown at the latest when the clock has jumped."""
    steady = Steady()
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS) is RUNS
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS - 1) is GUESS


@pytest.mark.parametrize(
    "known", [GUESS._replace(ground=Ground.SAID), RUNS, GUESS._replace(state=State.QUIET)]
)
def test_other_states_are_shown_at_once(known: Standing) -> None:
    """What an agent says itself, and any other state, is not held back."""
    assert Steady().shown(KEY, known, RUNS, NOW_MS) is known


def test_a_new_session_is_shown_as_it_is() -> None:
    """Nothing was seen to run that could have just ended."""
    assert Steady().shown(KEY, GUESS, None, NOW_MS) is GUESS
    assert Steady().shown(KEY, GUESS, UNKNOWN, NOW_MS) is GUESS


def test_the_number_of_held_sessions_is_bounded() -> None:
    """Sessions that vanish while they are held back do not pile up."""
    steady = Steady()
    for number in range(1_002):
        steady.shown(("codex", f"{number}"), GUESS, RUNS, NOW_MS)
    assert len(steady._since) == 1_000
    assert steady.shown(("codex", "1001"), GUESS, RUNS, NOW_MS + 1_000) is GUESS


def test_a_held_question_is_due_when_it_is_a_second_old() -> None:
    """It is judged then, not with the next look at all clocks; a session that was removed never is."""
    steady = Steady()
    steady.shown(KEY, GUESS, RUNS, NOW_MS)
    assert [steady.due(NOW_MS + later_ms) for later_ms in (0, 999, 1000)] == [set(), set(), {KEY}]
    steady.forget(KEY)
    assert steady.due(NOW_MS + 1000) == set()
