"""The files that changed between two test runs."""

from __future__ import annotations

import pytest

from agentwatch.analysis.verdict_history import changed_files
from tests.analysis.verdict_history.sessions import STORY, feed_of
from tests.conftest import Saver


def test_the_files_of_a_part(recording: Saver) -> None:
    """Each file is listed once with its calls in that part, the last change first; failed edits are not."""
    session = feed_of(recording(STORY)).session
    files, is_complete = changed_files(session, 2, 6)
    assert is_complete
    assert [(file.shown, [call.number for call in file.calls]) for file in files] == [
        *(("src/mill.py", [3, 5]), ("src/wheel.py", [4]))
    ]
    assert (files[0].lines_added, files[0].lines_removed) == (8, 4)
    assert files[0].last_change is session.calls[4]
    assert [file.shown for file in changed_files(session, 0, 1).files] == ["src/mill.py"]
    assert changed_files(session, 7, 7).files == []


def test_of_many_calls_the_newest_are_read(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """If there are too many calls between two test runs, only the newest are read, and that is reported."""
    monkeypatch.setattr("agentwatch.analysis.verdict_history._MOST_CALLS", 2)
    files, is_complete = changed_files(feed_of(recording(STORY)).session, 2, 6)
    assert not is_complete
    assert [call.number for file in files for call in file.calls] == [5]
