"""A failure is open until the same call succeeds."""

from __future__ import annotations

from agentwatch.analysis import since
from agentwatch.analysis.since import OpenFailures
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind


def call(number: int, outcome: Outcome, target: str | None = "make", tool: str = "shell") -> Call:
    """Return an ended call."""
    made = Call(number, 1, f"c-{number}", tool, "Ran", target=target, kind=ToolKind.EXECUTE)
    made.outcome = outcome
    return made


def open_after(*calls: Call) -> list[tuple[int, int]]:
    """Return the number and the times of each failure that is open after these calls, newest first."""
    found = OpenFailures()
    for each in calls:
        found.add(each)
    return [(failure.call.number, failure.times) for failure in found.newest_first()]


def test_a_repetition_that_succeeds_closes_a_failure() -> None:
    """The same call that succeeds later closes it; another one does not."""
    failed = call(1, Outcome.FAILED)
    assert open_after(failed) == [(1, 1)]
    assert open_after(failed, call(2, Outcome.SUCCEEDED)) == []
    assert open_after(failed, call(2, Outcome.SUCCEEDED, "make test")) == [(1, 1)]
    assert open_after(failed, call(2, Outcome.SUCCEEDED, tool="bash")) == [(1, 1)]
    assert open_after(call(1, Outcome.SUCCEEDED), call(2, Outcome.FAILED)) == [(2, 1)]


def test_only_a_success_closes_a_failure() -> None:
    """A repetition without a known success leaves it open."""
    for outcome in (Outcome.REJECTED, Outcome.CANCELLED, Outcome.RETURNED, Outcome.UNFINISHED):
        assert open_after(call(1, Outcome.FAILED), call(2, outcome)) == [(1, 1)]
        assert open_after(call(2, outcome)) == []


def test_equal_failures_are_one() -> None:
    """A call that fails again is listed once, with how often it failed, at the place of the last time."""
    calls = [call(1, Outcome.FAILED), call(2, Outcome.FAILED, "ls"), call(3, Outcome.FAILED)]
    assert open_after(*calls) == [(3, 2), (2, 1)]
    assert open_after(*calls, call(4, Outcome.SUCCEEDED), call(5, Outcome.FAILED)) == [(5, 1), (2, 1)]


def test_a_call_without_a_target_is_known_by_its_path() -> None:
    """Calls without a target are the same if they have the same path."""
    first, second = call(1, Outcome.FAILED, None), call(2, Outcome.SUCCEEDED, None)
    assert open_after(first, second) == []
    second.path = "/a"
    assert open_after(first, second) == [(1, 1)]


def test_the_number_is_bounded() -> None:
    """Of very many open failures only the newest are kept."""
    calls = [call(number, Outcome.FAILED, f"make {number}") for number in range(1, 1003)]
    found = open_after(*calls)
    assert len(found) == since._MOST_OPEN == 1000
    assert (found[0][0], found[-1][0]) == (1002, 3)
