"""The list of calls applies changes, and builds new rows in slices."""

from __future__ import annotations

from agentwatch.screen.panes.calls.list import CallList
from agentwatch.session.call_store import Calls
from agentwatch.session.events import Outcome
from agentwatch.session.reducers import close_session
from agentwatch.session.session import Session
from tests.builders.lines import completed, init, session, started
from tests.builders.screen.made_calls import end, made
from tests.builders.stories.call_facts import facts_of


def test_a_call_left_unfinished_by_its_run_counts_as_changed() -> None:
    """A running call that becomes unfinished with its run counts as changed, although no line ended it."""
    read = Session()
    listed = CallList(read, facts_of(read))
    whole = session(init(), started("shell", "c-1", command="a"), is_over=False)
    read.runs, read.calls, read.open_calls = whole.runs, whole.calls, whole.open_calls
    listed.request("running")
    assert listed.sync()
    assert listed.build(None)
    assert (len(listed.rows), listed.count - listed.rows.shown) == (1, 0)
    close_session(read)
    assert listed.sync()
    assert (len(listed.rows), listed.count - listed.rows.shown) == (0, 1)
    assert not listed.sync()


def test_new_rows_are_made_in_slices() -> None:
    """A filter over many calls is applied in slices; the old rows stay until the new ones are complete."""
    many = [line for n in range(30) for line in (started("shell", f"{n}"), completed("shell", f"{n}"))]
    read = session(init(), *many)
    calls = Calls()
    for number in range(20_000):
        calls.add(made("shell", f"{number % 7}", number=number + 1))
    read.calls = calls
    listed = CallList(read, facts_of(read))
    listed.sync()
    before = len(listed.rows)
    listed.request("3")
    slices = 0
    while listed.is_waiting:
        assert len(listed.rows) == before
        listed.build(0)
        slices += 1
    assert slices >= 20
    assert listed.title("2 Calls").startswith('2 Calls · 17,143 hidden by "3"')


def test_a_change_between_slices_is_in_the_new_rows() -> None:
    """A call that ends between two slices is in the new rows with its outcome."""
    for by_duration in (False, True):
        read = session(
            init(), *(started("shell", f"c-{n}", command=f"{n}") for n in range(600)), is_over=False
        )
        listed = CallList(read, facts_of(read))
        listed.sync()
        listed.request("failed" if not by_duration else "", by_duration=by_duration)
        assert not listed.build(0)
        first = end(read.calls[0], Outcome.FAILED)
        first.started_ms, first.ended_ms = 0, 5
        read.ended_calls.append(first)
        listed.sync()
        assert listed.build(None)
        assert listed.rows.row_of(0) == (599 if by_duration else 0)
        assert listed.call_at(len(listed.rows) - 1) is first
