"""The first lines of a recording are held back until the agent that wrote them is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.session.events import Outcome
from agentwatch.session.transcript import Kind
from tests.builders.lines import event, final, init, line, result, started, user
from tests.builders.made_agent import ASKED, LATE, LATE_START, add_late_agent
from tests.conftest import Saver, case


@pytest.fixture(autouse=True)
def late_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second agent be known."""
    add_late_agent(monkeypatch)


def read(path: Path, *, follow: bool = False) -> Feed:
    """Return a feed that has applied what can be applied."""
    feed = Feed(open_saved(path, follow))
    feed.advance()
    return feed


def test_lines_are_held_while_the_stream_goes_on(recording: Saver) -> None:
    """A line of no known agent is applied in its place when the agent is known; fifty lines, 1 MiB, or the
    end release them as unknown. What is not JSON is shown at once.
    """
    path = recording(ASKED)
    feed = read(path, follow=True)
    assert (feed.session.lines.total, feed.held_lines, feed.backlog()) == (0, 1, 0)
    with path.open("ab") as file:
        file.write(LATE_START)
    feed.advance()
    assert (feed.session.lines.total, feed.session.lines.unknown, feed.held_lines) == (2, 0, 0)
    assert feed.session.transcript[0].kind is Kind.PROMPT
    for lines, unknown in [
        ([ASKED] * 49, 0),
        ([ASKED] * 50, 50),
        ([line({"type": "asked", "text": "x" * (1 << 20)})], 1),
    ]:
        with case((lines, unknown)):
            session = read(recording(*lines, LATE_START)).session
            assert session.lines.unknown == unknown
            assert session.lines.total == len(lines) + 1
    feed = read(recording(ASKED, b"noise\n", ASKED))
    assert (feed.session.lines.unknown, feed.session.lines.malformed, feed.held_lines) == (2, 1, 0)
    assert feed.is_over
    feed = read(recording(b"Checking for updates\n"), follow=True)
    assert (feed.session.lines.malformed, feed.held_lines) == (1, 0)
    session = read(recording(ASKED, b"a notice\n", LATE_START)).session
    assert session.lines.unknown == 0
    assert [entry.kind for entry in session.transcript] == [Kind.PROMPT, Kind.NOTICE, Kind.NOTICE]
    assert session.lines.total == 3
    assert session.traits == LATE.traits


def test_another_agent_may_start_a_run(recording: Saver) -> None:
    """The start line of a second agent changes the format; another line that the known agent does not write
    stays unknown.
    """
    session = read(recording(init(), user(), final("Done."), result("Done."), LATE_START, ASKED)).session
    assert [run.format for run in session.runs] == ["cursor", "late"]
    assert [run.outcome for run in session.runs] == [Outcome.SUCCEEDED, Outcome.UNFINISHED]
    assert session.lines.unknown == 0
    assert session.transcript[-1].text == "Do it."
    session = read(recording(init(), event("later"), started("read"), result())).session
    assert session.lines.unknown == 1
    assert session.run.format == "cursor"
