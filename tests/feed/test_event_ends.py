"""One event back or on leads to the next line that reports something new."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.feed import checkpoints
from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.recording.saved import open_saved
from tests.conftest import RECORDINGS


def opened(path: Path) -> History:
    """Return the history of a recording that is wholly read."""
    reader = open_saved(path)
    history = History(Feed(reader), reader)
    history.feed.advance()
    return history


def forwards(history: History) -> list[int]:
    """Return the moments to which single events lead from the start."""
    moments = [0]
    while moments[-1] < history.feed.offset:
        moments.append(history.event_after(moments[-1]))
    return moments


@pytest.mark.parametrize("least", [1024, 1 << 19])
def test_steps_back_lead_through_the_same_moments(monkeypatch: pytest.MonkeyPatch, least: int) -> None:
    """From the end of a recording, single events back lead through the moments of those forward."""
    monkeypatch.setattr(checkpoints, "_LEAST_BYTES", least)
    monkeypatch.setattr(checkpoints, "_STATE_SHARE", 0)
    monkeypatch.setattr("agentwatch.recording.lines._READ_BYTES", 2048)
    history = opened(RECORDINGS / "parallel.ndjson")
    moments = forwards(history)
    back = [moments[-1]]
    while back[-1]:
        back.append(history.event_before(back[-1]))
    assert back[::-1] == moments
    assert len(moments) > 10


def test_lines_that_report_nothing_new_are_passed(tmp_path: Path) -> None:
    """Lines that change nothing on the screen are no events."""
    lines = (RECORDINGS / "demo.ndjson").read_bytes().splitlines(keepends=True)
    path = tmp_path / "session.ndjson"
    path.write_bytes(lines[0] + lines[1] + b"\n\n\n" + lines[2])
    moments = forwards(opened(path))
    assert moments == [0, len(lines[0]), len(lines[0] + lines[1]), path.stat().st_size]
