"""The rows of the calls at an earlier moment are those of a list that has only the calls before it."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from agentwatch.recording import open_saved
from agentwatch.screen.calls.list import CallList
from agentwatch.session import Session
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


@pytest.mark.parametrize("words", ["", "e"], ids=["all", "filtered"])
@pytest.mark.parametrize("by_duration", [False, True], ids=["by time", "by duration"])
@pytest.mark.parametrize("is_dense", [False, True], ids=["from the start", "from a checkpoint"])
def test_rows_are_as_they_were(
    words: str, by_duration: bool, is_dense: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows, hidden calls, failures and subagents at any moment are those of the calls of then."""
    if is_dense:
        dense(monkeypatch)
    for number, data in enumerate(generated(max(SESSIONS, 24))):
        reader = open_saved(written(tmp_path / f"{number}.ndjson", data))
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
        os.close(reader.fd)
