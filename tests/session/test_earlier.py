"""The calls at an earlier line are those of then, although most are shared with the newest session."""

from __future__ import annotations

import pytest

from agentwatch.session import call_store
from agentwatch.session.call import Call
from agentwatch.session.call_store import Calls
from agentwatch.session.earlier import EarlierCalls
from agentwatch.session.events import Outcome


def called(number: int, outcome: Outcome = Outcome.SUCCEEDED) -> Call:
    """Return a call with an outcome."""
    return Call(number, 1, f"c-{number}", "shell", "Ran terminal command", outcome=outcome)


def newest_calls(count: int) -> Calls:
    """Return this number of calls that have succeeded."""
    calls = Calls()
    for number in range(1, count + 1):
        calls.add(called(number))
        calls.settle(calls[number - 1])
    return calls


def test_a_call_that_ends_as_in_the_newest_session_is_shared() -> None:
    """A call differs from the newest session only if it ended otherwise there, or began later; a line about
    an open call changes the view alone.
    """
    earlier = EarlierCalls(newest_calls(3))
    for number in (1, 2):
        earlier.add(called(number, Outcome.RUNNING))
    assert [*earlier.differing] == [1, 2]
    earlier.settle(called(1))
    earlier.settle(called(2, Outcome.UNFINISHED))
    assert [*earlier.differing] == [2]
    assert [call.outcome for call in earlier] == [Outcome.SUCCEEDED, Outcome.UNFINISHED]
    assert [*newest_calls(3).differing] == []
    earlier = EarlierCalls(newest_calls(3))
    earlier.restore(2, [called(2, Outcome.RUNNING)], 0)
    found = [earlier.find(1, None, f"c-{number}") for number in (1, 2, 3)]
    assert [call and call.outcome for call in found] == [Outcome.SUCCEEDED, Outcome.RUNNING, None]
    newest = newest_calls(1)
    earlier = EarlierCalls(newest)
    earlier.add(called(1, Outcome.RUNNING))
    again = called(1, Outcome.RUNNING)
    again.target = "pytest"
    earlier.changed(again)
    assert (earlier[0].target, newest[0].target) == ("pytest", None)


def test_the_effect_of_late_starts_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call is as it was before a late start after the checkpoint; only so many of them are kept."""
    monkeypatch.setattr(call_store, "_MOST_LATE", 2)
    newest = newest_calls(3)
    for number, offset in ((1, 100), (2, 200), (3, 300)):
        newest.changes_late(newest[number - 1], offset)
        newest[number - 1].target = "late"
    earlier = EarlierCalls(newest)
    earlier.restore(3, [], 150)
    assert [call.target for call in earlier] == ["late", None, "late"]
