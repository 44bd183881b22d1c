"""Calls, questions and the to-do list in a digest are those of the full session."""

from __future__ import annotations

from agentwatch.session.events import Outcome, Permission, Plan, PlanEntry, PlanStatus, TurnEnded
from tests.catalog.digest.made_events import after, ended, started


def test_calls_are_counted_once() -> None:
    """A line may repeat the start or the end of a call."""
    digest = after(
        *(started("a"), started("a"), ended("a", Outcome.FAILED), ended("a", Outcome.FAILED), started("a")),
        *(ended("b", Outcome.REJECTED), ended("b"), started("b"), ended("c", lines_added=3, lines_removed=1)),
    )
    assert (digest.calls, digest.failed, digest.rejected, digest.open_calls) == (3, 1, 1, {})
    assert (digest.lines_added, digest.lines_removed) == (3, 1)


def test_an_open_call_is_described_by_later_arguments() -> None:
    """Only a line that says so describes it again."""
    digest = after(started(target=None, agent="p", limit_ms=5, at_ms=3), started(target="other"))
    assert digest.open_calls["c"].target == ""
    digest.apply([started(target="pytest", is_update=True)])
    call = digest.open_calls["c"]
    assert (call.target, call.agent, call.limit_ms, call.started_ms) == ("pytest", "p", 5, 3)
    digest.apply([started(target=None, is_update=True)])
    assert digest.open_calls["c"].target == "pytest"


def test_at_most_32_calls_are_open() -> None:
    """The oldest are left out; they were counted, and their ends are no further calls."""
    digest = after(*(started(f"c{number}") for number in range(40)))
    assert list(digest.open_calls) == [f"c{number}" for number in range(8, 40)]
    digest.apply([ended("c0")])
    assert digest.calls == 40


def test_a_question_is_open_until_it_is_answered() -> None:
    """The oldest one is shown, with the time at which it was asked."""
    digest = after(Permission("shell", None, key="1", target="npm ci"), Permission("Edit", None, key="2"))
    assert (digest.asked, digest.asked_ms) == ("shell npm ci", 1000)
    digest.apply([Permission("shell", "approved", key="1")])
    assert digest.asked == "Edit"
    digest.apply([Permission("Edit", "denied", key="2")])
    assert (digest.asked, digest.asked_ms) == ("", None)


def test_a_question_ends_with_its_call_and_with_the_turn() -> None:
    """Not every answer is logged."""
    asked = Permission("Bash", None, key="1", call_id="c", at_ms=7)
    assert after(started(), asked).asked_ms == 7
    assert after(started(), asked, ended()).asked == ""
    assert after(started(), asked, ended("other")).asked == "Bash"
    assert after(asked, TurnEnded(Outcome.CANCELLED)).asked == ""


def test_an_automatic_question_is_none() -> None:
    """Nobody has to answer it."""
    assert after(Permission("Bash", None, is_automatic=True)).asked == ""


def test_a_call_that_is_a_question_itself_is_marked() -> None:
    """A call that the agent may not run without permission is no question."""
    itself = Permission("AskUserQuestion", None, key="c", call_id="c")
    assert after(started(), itself).open_calls["c"].asks
    assert not after(started(), Permission("Bash", None, key="1", call_id="c")).open_calls["c"].asks
    assert not after(started(), Permission("Bash", None)).open_calls["c"].asks


def test_at_most_eight_questions_are_kept() -> None:
    """The oldest are dropped."""
    assert after(*(Permission(f"q{n}", None) for n in range(10))).asked == "q2"


def test_the_to_do_list_is_counted() -> None:
    """Entries that were given up count as completed, as on the screen of a session."""
    pending, doing, done, gone = (
        PlanEntry(name, PlanStatus(status))
        for name, status in (("a", "pending"), ("b", "in_progress"), ("c", "completed"), ("d", "cancelled"))
    )
    digest = after(Plan((pending, doing, done, gone)))
    assert (digest.todo, digest.doing) == ((2, 4), "b")
    digest.apply([Plan((PlanEntry("b", PlanStatus.COMPLETED),), is_update=True)])
    assert (digest.todo, digest.doing) == ((3, 4), "")
    digest.apply([Plan((doing,))])
    assert (digest.todo, digest.doing) == ((0, 1), "b")
    digest.apply([Plan(())])
    assert (digest.todo, digest.doing) == (None, "")


def test_a_long_to_do_list_is_counted_up_to_256() -> None:
    """Updates of other entries push out the oldest."""
    entries = [PlanEntry(f"{number}", PlanStatus.PENDING) for number in range(1000)]
    assert after(Plan(tuple(entries))).todo == (0, 256)
    digest = after(*(Plan((entry,), is_update=True) for entry in entries))
    assert digest.todo == (0, 256)
