"""The calls at an earlier moment: their rows, and the calls that ended before and after it."""

import os
from itertools import product
from pathlib import Path
from random import Random

import pytest

from agentwatch.feed.history import end_of, neighbour_call, next_failure
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.calls.list import CallList
from agentwatch.session.session import Session
from tests.builders.lines import completed, init, session, started
from tests.builders.moment.any_recording import (
    SESSIONS,
    chosen,
    dense,
    fed_until,
    generated,
    with_history,
    written,
)
from tests.builders.stories.story import facts_of
from tests.conftest import case


def listed(session: Session, words: str, *, by_duration: bool) -> CallList:
    """Return the list of a session's calls with a filter and an order."""
    calls = CallList(session, facts_of(session))
    calls.sync()
    calls.request(words, by_duration=by_duration)
    calls.build(None)
    return calls


def shown(calls: CallList) -> tuple[object, ...]:
    """Return what a list shows."""
    rows = [calls.rows[y] for y in range(len(calls.rows))]
    subagents = [call.number for call in calls.delegating()]
    return (
        rows,
        calls.count - calls.rows.shown,
        calls.failures(),
        subagents,
        calls.filter,
        calls.is_by_duration,
    )


VIEWS = tuple(product(("", "e"), (False, True)))
"""The words of a filter, and whether the slowest calls come first."""


@pytest.mark.system
def test_rows_are_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, hidden calls, failures and subagents at any moment are those of the calls of then."""
    sessions = [*generated(max(SESSIONS, 24))]
    for is_dense in (False, True):
        if is_dense:
            dense(monkeypatch)
        for number, data in enumerate(sessions[is_dense::2] if SESSIONS < 150 else sessions):
            with case(f"{is_dense=}, session {number}"):
                assert check_rows(tmp_path / f"{number}.ndjson", data, number) > 1 or len(data) < 1000


def check_rows(path: Path, data: bytes, number: int) -> int:
    """Check moments of a session, in each view, and return how many."""
    reader = open_saved(written(path, data))
    feed, history = with_history(reader)
    feed.advance()
    newest = {
        view: listed(feed.session, words, by_duration=by_duration)
        for view, (words, by_duration) in enumerate(VIEWS)
    }
    before, calls, checked = feed, newest, 0
    for moment in chosen(data, Random(number), 20):
        if moment >= feed.offset:
            continue
        stands, fed = history.at(moment), fed_until(reader, moment).session
        if stands is not before:
            before, calls = stands, {view: each.at(stands.session) for view, each in newest.items()}
        for view, (words, by_duration) in enumerate(VIEWS):
            calls[view].sync()
            expected = listed(fed, words, by_duration=by_duration)
            assert shown(calls[view]) == shown(expected), f"{VIEWS[view]} at {moment}"
        checked += 1
    os.close(reader.fd)
    return checked


def test_calls_that_never_ended_do_not_hide_those_of_the_next_run() -> None:
    """From each moment, the calls that ended next and last are found, over a run that was cut off."""
    first = [line for name in "abc" for line in (started("read", name), completed("read", name))]
    cut_off = [started("read", f"open-{number}") for number in range(5)]
    second = [line for name in "def" for line in (started("read", name), completed("read", name))]
    read = session(init(), *first, *cut_off, init(), *second)
    ends = [(end_of(call), call.call_id) for call in read.ended_calls if call.ended is not None]
    assert [name for _, name in ends] == list("abcdef")
    assert len(read.ended_calls) == 11
    for offset in range(ends[-1][0] + 2):
        after = next((name for end, name in ends if end > offset), None)
        before = next((name for end, name in reversed(ends) if end < offset), None)
        found = [neighbour_call(read, offset, step) for step in (1, -1)]
        assert [call and call.call_id for call in found] == [after, before]
    assert next_failure(read, 0, ends[-1][0]) is None
