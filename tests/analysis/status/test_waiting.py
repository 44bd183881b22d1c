"""What a session waits for besides the model: the user's answer, a compaction, a retry."""

from __future__ import annotations

import pytest

from agentwatch.analysis.silence import is_quiet, is_stalled
from agentwatch.analysis.status import ending, status
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.session.call import Place
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Limits,
    Outcome,
    Permission,
    Prompt,
    Retry,
    RunStarted,
    Text,
    TurnEnded,
)
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session
from agentwatch.text.times import coming
from tests.builders.subagents import begins, ends
from tests.conftest import case

START: list[Event] = [RunStarted("x"), Prompt("Do it.")]
ASKED = Permission("Bash", None, key="q", call_id="c", target="rm -rf build")
BEGAN_MS = 1_000_000
REFUSED = Limits((), is_refused=True, until_ms=BEGAN_MS + 3_600_000)
UNTIL = coming(BEGAN_MS + 3_600_000, BEGAN_MS)


def at(events: list[Event], after_ms: int, width: int | None = None) -> str:
    """Return the status some time after the events, which arrived at once."""
    return status(made(events), BEGAN_MS + after_ms, NO_FACTS, width)


def made(events: list[Event]) -> Session:
    """Return the session with these events applied at one time."""
    read = Session()
    for event in events:
        apply_line(read, [event], Place(0, 1, BEGAN_MS))
    return read


def test_what_is_waited_for() -> None:
    """An open question comes first, then a compaction, then a retry without an open call."""
    cases: list[tuple[list[Event], str]] = [
        ([begins("c", "Bash", "rm -rf build"), ASKED], "asks: Bash rm -rf build · 0:14"),
        ([ASKED, ASKED._replace(key="r")], "asks: Bash rm -rf build (and 1 more) · 0:14"),
        ([ASKED._replace(limit_ms=26_000)], "asks: Bash rm -rf build · answers itself in 0:12 · 0:14"),
        ([ASKED._replace(limit_ms=14_000)], "asks: Bash rm -rf build · 0:14"),
        ([ASKED, ASKED._replace(answer="approved")], "waiting for the model · 0:14"),
        ([ASKED._replace(is_automatic=True)], "waiting for the model · 0:14"),
        ([begins("c", "Bash", "x"), ASKED, ends("c", "Bash")], "waiting for the model · 0:14"),
        ([Compaction(is_over=False)], "compacting the context · 0:14"),
        ([Compaction(is_over=False), Compaction(is_over=True)], "waiting for the model · 0:14"),
        ([Retry("overloaded", 4, 10, 22_000)], "retry 4 of 10: overloaded · next in 0:08"),
        ([Retry("overloaded", 4, 10, 10_000)], "retry 4 of 10: overloaded · 0:04"),
        ([Retry("", None, 10)], "retry · 0:14"),
        ([REFUSED], f"waits for the limit until {UNTIL}"),
        ([REFUSED._replace(until_ms=None)], "waits for the limit"),
        ([REFUSED, begins("c", "Bash", "make")], "running make · 0:14"),
        ([REFUSED, Text(Channel.ANSWER, "x")], "writing · quiet for 0:14"),
        ([REFUSED._replace(until_ms=BEGAN_MS + 14_000)], "waiting for the model · 0:14"),
        ([Retry("overloaded", 1), Text(Channel.ANSWER, "x")], "writing · quiet for 0:14"),
        ([begins("c", "Bash", "make"), Retry("busy", 1)], "running make · 0:14"),
    ]
    for events, words in cases:
        with case(events):
            assert at([*START, *events], 14_000) == words


def test_a_narrow_line_is_cut() -> None:
    """The words are cut to the width of the line."""
    assert at([*START, ASKED], 14_000, 20) == "asks: Bash rm -rf b…"


def test_without_times_there_are_no_durations() -> None:
    """Where the present time is unknown, only the words are shown."""
    assert status(made([*START, ASKED]), None) == "asks: Bash rm -rf build"
    assert status(made([*START, Retry("busy", 2, None, 5_000)]), None) == "retry 2: busy"


@pytest.mark.parametrize(
    ("event", "explained_ms"),
    [(ASKED, 10**9), (Compaction(is_over=False), 500_000), (Retry("busy", 1, 9, 300_000), 350_000)],
)
def test_what_explains_a_silence(event: Event, explained_ms: int) -> None:
    """The agent is not quiet while the user is to answer, while it compacts, and before its next attempt."""
    read = made([*START, event])
    assert not is_quiet(read, BEGAN_MS + explained_ms)
    assert not is_stalled(read, BEGAN_MS + explained_ms)
    if not isinstance(event, Permission):
        assert is_quiet(read, BEGAN_MS + 700_000)


@pytest.mark.parametrize(
    ("result", "words", "reason"),
    [
        (None, "cancelled", "the run was cancelled"),
        (
            "interrupted by the user",
            "cancelled: interrupted by the user",
            "the run was cancelled: interrupted by the user",
        ),
    ],
)
def test_a_cancelled_run_says_so(result: str | None, words: str, reason: str) -> None:
    """A cancelled run did not fail, and is not unfinished either."""
    read = made([*START, TurnEnded(Outcome.CANCELLED, result)])
    assert status(read, None) == words
    assert ending(read, NO_FACTS) == reason


def test_a_later_turn_does_not_show_the_end_of_an_earlier_one() -> None:
    """While another turn is under way, the run is not over; its reason is not the earlier result."""
    read = made([*START, TurnEnded(Outcome.SUCCEEDED, "Done.", duration_ms=9), Prompt("More.")])
    assert status(read, None) == "waiting for the model"
    close_session(read)
    assert status(read, None) == "ended without a result"


def test_a_question_that_the_agent_reports_elsewhere_is_shown() -> None:
    """The transcripts of some agents do not contain their questions; such a session does not hang."""
    facts = AgentFacts(asks="permission", asks_since_ms=BEGAN_MS + 5_000)
    session, now_ms = made(START), BEGAN_MS + 400_000
    assert status(session, now_ms, facts) == "asks: permission · 6:35"
    assert not is_stalled(session, now_ms, facts)
    assert is_stalled(session, now_ms)


def test_a_question_of_the_stream_is_shown_with_its_words() -> None:
    """It says more than the report of a question elsewhere."""
    facts = AgentFacts(asks="permission")
    assert status(made([*START, ASKED]), BEGAN_MS, facts).startswith("asks: Bash rm -rf build")


def test_an_idle_agent_with_an_open_dialog_asks() -> None:
    """The turn has ended, and the agent still waits for the user."""
    ended = made([*START, TurnEnded(Outcome.SUCCEEDED)])
    assert status(ended, None, AgentFacts(asks="dialog")) == "asks: dialog"


def test_a_turn_that_a_limit_has_refused_waits_for_it() -> None:
    """The reason follows in the agent's words. After the reset or the end of the session, it has failed."""
    refused: list[Event] = [*START, REFUSED, TurnEnded(Outcome.FAILED, "You've hit your limit")]
    assert at(refused, 14_000) == f"waits for the limit until {UNTIL} · You've hit your limit"
    assert at(refused, 3_600_000).startswith("failed: You've hit your limit")
    session = made(refused)
    assert status(session, None).startswith("failed: ")
    close_session(session)
    assert status(session, BEGAN_MS).startswith("failed: ")
    ended = made([*START, REFUSED, TurnEnded(Outcome.SUCCEEDED, "done")])
    assert status(ended, BEGAN_MS).startswith("succeeded")


def test_a_session_that_waits_for_a_limit_is_not_quiet() -> None:
    """Its silence has a cause, and nothing can be done about it before the reset."""
    late_ms = BEGAN_MS + 3_000_000
    assert not is_quiet(made([*START, REFUSED]), late_ms)
    assert not is_stalled(made([*START, REFUSED]), late_ms)
    assert is_quiet(made([*START, REFUSED]), late_ms + 3_000_000)
