"""The first lines of a recording are held back until the agent that wrote them is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.session.events import Outcome
from agentwatch.session.transcript import Kind
from tests.builders.late_agent import ASKED, LATE, LATE_START, add_late_agent
from tests.builders.lines import event, final, init, line, result, started, user
from tests.conftest import Saver


@pytest.fixture(autouse=True)
def late_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second agent be known."""
    add_late_agent(monkeypatch)


def read(path: Path, *, follow: bool = False) -> Feed:
    """Return a feed that has applied what can be applied."""
    feed = Feed(open_saved(path, follow))
    feed.advance()
    return feed


def test_earlier_lines_get_their_meaning_when_the_agent_is_known(recording: Saver) -> None:
    """A prompt before the first line that only one agent writes is a prompt, and not unknown."""
    session = read(recording(ASKED, b"a notice\n", LATE_START)).session
    assert session.lines.unknown == 0
    assert [entry.kind for entry in session.transcript] == [Kind.PROMPT, Kind.NOTICE, Kind.NOTICE]
    assert session.lines.total == 3
    assert session.traits == LATE.traits


def test_lines_are_held_while_the_stream_goes_on(recording: Saver) -> None:
    """A line of no known agent is held, does not count as backlog, and is applied in its place later."""
    path = recording(ASKED)
    feed = read(path, follow=True)
    assert (feed.session.lines.total, feed.held_lines, feed.backlog()) == (0, 1, 0)
    with path.open("ab") as file:
        file.write(LATE_START)
    feed.advance()
    assert (feed.session.lines.total, feed.session.lines.unknown, feed.held_lines) == (2, 0, 0)
    assert feed.session.transcript[0].kind is Kind.PROMPT


@pytest.mark.parametrize(
    ("lines", "unknown"),
    [([ASKED] * 49, 0), ([ASKED] * 50, 50), ([line({"type": "asked", "text": "x" * (1 << 20)})], 1)],
    ids=["49 lines", "50 lines", "1 MiB"],
)
def test_lines_are_held_up_to_a_limit(recording: Saver, lines: list[bytes], unknown: int) -> None:
    """Fifty lines, or 1 MiB, are released as unknown, and stay so when the agent is known later."""
    session = read(recording(*lines, LATE_START)).session
    assert session.lines.unknown == unknown
    assert session.lines.total == len(lines) + 1


def test_a_stream_of_no_known_agent_is_released_at_its_end(recording: Saver) -> None:
    """At the end of a stream of no known agent its lines are counted as unknown."""
    feed = read(recording(ASKED, b"noise\n", ASKED))
    assert (feed.session.lines.unknown, feed.session.lines.malformed, feed.held_lines) == (2, 1, 0)
    assert feed.is_over


def test_malformed_lines_alone_are_not_held(recording: Saver) -> None:
    """What is not JSON is shown at once, as long as no line before it is held."""
    feed = read(recording(b"Checking for updates\n"), follow=True)
    assert (feed.session.lines.malformed, feed.held_lines) == (1, 0)


def test_another_agent_may_start_a_run(recording: Saver) -> None:
    """A recording may hold runs of two agents: the start line of the second changes the format."""
    session = read(recording(init(), user(), final("Done."), result("Done."), LATE_START, ASKED)).session
    assert [run.format for run in session.runs] == ["cursor", "late"]
    assert [run.outcome for run in session.runs] == [Outcome.SUCCEEDED, Outcome.UNFINISHED]
    assert session.lines.unknown == 0
    assert session.transcript[-1].text == "Do it."


def test_only_a_start_line_changes_the_agent(recording: Saver) -> None:
    """A line that the known agent does not write stays unknown unless it starts another agent's run."""
    session = read(recording(init(), event("later"), started("read"), result())).session
    assert session.lines.unknown == 1
    assert session.run.format == "cursor"
