"""The changes of a session's state that a command of the user's is given."""

from __future__ import annotations

from agentwatch.rules.alarms.events import Changes, state_of
from agentwatch.session.call import Place
from agentwatch.session.events import Event, Limits, Outcome, Permission, Prompt, RunStarted, TurnEnded
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session

NOW_MS = 1_790_000_000_000
BEGIN: list[Event] = [RunStarted("made", "s1", None, "/w"), Prompt("Do it")]


def apply(session: Session, *events: Event) -> None:
    """Apply events to a session."""
    apply_line(session, list(events), Place(0, 0, None), 0)


def test_a_question_and_its_answer() -> None:
    """A question that a person must answer is told once; one that is answered at the next look is not."""
    session = Session()
    changes = Changes(session)
    apply(session, *BEGIN, Permission("Bash", None, key="1", target="rm -rf x"))
    assert [*changes.new(NOW_MS)] == [("needs-you", "Bash rm -rf x")]
    assert (state_of(session, NOW_MS), [*changes.new(NOW_MS)]) == ("asks", [])
    apply(
        session, Permission("Bash", "allowed", key="1"), Permission("Read", None, key="2", is_automatic=True)
    )
    assert (state_of(session, NOW_MS), [*changes.new(NOW_MS)]) == ("working", [])
    apply(session, Permission("Bash", None, key="3"), Permission("Bash", "allowed", key="3"))
    assert [*changes.new(NOW_MS)] == []


def test_an_end_has_the_outcome_of_the_turn_that_ended() -> None:
    """Also when the next turn has begun before the look."""
    session = Session()
    changes = Changes(session)
    apply(session, *BEGIN)
    assert (state_of(session, NOW_MS), [*changes.new(NOW_MS)]) == ("working", [])
    apply(session, TurnEnded(Outcome.FAILED), *BEGIN)
    assert [name for name, _ in changes.new(NOW_MS)] == ["ended", "failed"]
    assert state_of(session, NOW_MS) == "working"
    apply(session, TurnEnded(Outcome.SUCCEEDED))
    assert [[name for name, _ in changes.new(NOW_MS)] for _ in range(2)] == [["ended"], []]
    assert state_of(session, NOW_MS) == "succeeded"


def test_a_refusal_by_a_limit() -> None:
    """It is told once, with the time at which the limit ends, also if the stream ends with it."""
    session = Session()
    changes = Changes(session)
    refused = Limits((), is_refused=True, until_ms=NOW_MS + 3_600_000)
    apply(session, *BEGIN, refused)
    [(name, words)] = changes.new(NOW_MS)
    assert (name, state_of(session, NOW_MS)) == ("limit", "limited")
    assert words.startswith("waits for the limit until ")
    apply(session, refused)
    assert [*changes.new(NOW_MS)] == []
    apply(session, Limits((), is_refused=False), Limits((), is_refused=True))
    assert [*changes.new(NOW_MS)] == []
    apply(session, Limits((), is_refused=False))
    assert (state_of(session, NOW_MS), [*changes.new(NOW_MS)]) == ("working", [])
    apply(session, Limits((), is_refused=True))
    assert [*changes.new(NOW_MS)] == [("limit", "waits for the limit")]
    close_session(session)
    assert state_of(session, NOW_MS) == "unfinished"


def test_what_was_before_the_first_look_is_not_told() -> None:
    """Changes begin with the present state."""
    session = Session()
    apply(session, *BEGIN, Permission("Bash", None, key="1"))
    assert [*Changes(session).new(NOW_MS)] == []
