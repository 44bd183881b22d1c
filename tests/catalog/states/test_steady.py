"""A state that may be wrong for a moment is not shown at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.found import Found
from agentwatch.agents.reported import Life, State
from agentwatch.catalog.standing import UNKNOWN, Ground, Process, Standing
from agentwatch.catalog.states import Steady
from agentwatch.catalog.tracked import Tracked
from tests.builders.on_disk import qwen_chat as qwen
from tests.catalog.states.cases import NOW_MS
from tests.conftest import case

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


def test_another_look_is_needed_only_where_it_may_show_no_question(tmp_path: Path) -> None:
    """The CPU time of an agent does not show that its command runs, but that it works on another call."""
    agents: dict[str, dict[str, Any]] = {
        "the first look": {"is_idle": None, "is_calm": None},
        "it does little": {"is_idle": None, "is_calm": True},
        "it does much": {"is_idle": None, "is_calm": False},
        "it does nothing": {"is_idle": True, "is_calm": True},
        "it is known to be busy": {"is_idle": False},
    }
    expected = {
        "run_shell_command": [True, False, True, False, False],
        "edit": [True, True, True, False, False],
    }
    for name, doubts in expected.items():
        file = tmp_path / f"{name}.jsonl"
        lines = [qwen.user("Go", uuid="u"), qwen.call("c", name) | {"uuid": "a", "parentUuid": "u"}]
        file.write_text("".join(json.dumps(each) + "\n" for each in lines))
        found = Found("qwen", "s", file, file.stat().st_size, 0)
        for (why, facts), is_doubtful in zip(agents.items(), doubts, strict=True):
            with case((name, why)):
                session = Tracked(found)
                session.read()
                process = Process(1, 1, "qwen", qwen.AT_MS - 1_000)._replace(**facts)
                session.join(Life.LIVE, process)
                session.standing = session.judged(qwen.AT_MS + 30_000)
                assert session.is_doubtful(qwen.AT_MS + 30_000) is is_doubtful
