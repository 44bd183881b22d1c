"""The rows of the calls at an earlier moment are those of a list that has only the calls before it."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from random import Random

import pytest

from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.calls.list import CallList
from agentwatch.session.session import Session
from tests.builders.moment.any_recording import (
    SESSIONS,
    chosen,
    dense,
    fed_until,
    generated,
    with_history,
    written,
)
from tests.builders.stories.call_facts import facts_of
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


@pytest.mark.system
@pytest.mark.parametrize(
    "count", [2, pytest.param(max(SESSIONS, 24), marks=pytest.mark.system)], ids=["few", "many"]
)
def test_rows_are_as_they_were(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, hidden calls, failures and subagents at any moment are those of the calls of then."""
    for is_dense, by_duration, words in product((False, True), (False, True), ("", "e")):
        with monkeypatch.context() as patch, case(f"{is_dense=}, {by_duration=}, {words=}"):
            if is_dense:
                dense(patch)
            assert check_rows(tmp_path, count, words, by_duration=by_duration) > count


def check_rows(folder: Path, count: int, words: str, *, by_duration: bool) -> int:
    """Check moments of generated sessions, and return how many."""
    checked = 0
    for number, data in enumerate(generated(count)):
        reader = open_saved(written(folder / f"{number}.ndjson", data))
        feed, history = with_history(reader)
        feed.advance()
        newest = listed(feed.session, words, by_duration=by_duration)
        before, calls = feed, newest
        for moment in chosen(data, Random(number), 20):
            if moment >= feed.offset:
                continue
            stands = history.at(moment)
            if stands is before:
                calls.sync()
            else:
                before, calls = stands, newest.at(stands.session)
            expected = listed(fed_until(reader, moment).session, words, by_duration=by_duration)
            assert shown(calls) == shown(expected), f"session {number} at {moment}"
            checked += 1
        os.close(reader.fd)
    return checked
