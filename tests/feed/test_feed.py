"""A line whose arrival nobody recorded has the time that the program which wrote it gave it."""

from __future__ import annotations

import pytest

from agentwatch.agents import registry
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from tests.builders.claude_lines import written
from tests.builders.late_agent import ASKED, LATE, LATE_START
from tests.builders.lines import init
from tests.builders.on_disk import transcript
from tests.conftest import Saver


def test_the_line_by_which_the_agent_is_known_has_its_time(recording: Saver) -> None:
    """It is the first line of most transcripts."""
    feed = Feed(open_saved(recording(written(transcript.user("Go."), transcript.said("Done.")))))
    assert [line.place.seen_ms for line in feed.decoded()] == [transcript.AT_MS] * 2


def test_a_line_over_16_mib_has_its_time(recording: Saver) -> None:
    """The time is in its head."""
    large = {**transcript.said(""), "large": "x" * (17 << 20)}
    feed = Feed(open_saved(recording(written(transcript.user("Go."), large))))
    assert [line.place.seen_ms for line in feed.decoded()] == [transcript.AT_MS] * 2


def test_the_start_line_of_another_agent_has_its_time(
    recording: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ends of the earlier agent's texts come after the time."""
    known = (*registry.known_agents(), LATE._replace(time_of=lambda _fields: 7))
    monkeypatch.setattr(registry, "known_agents", lambda: known)
    feed = Feed(open_saved(recording(init(), LATE_START, ASKED)))
    assert [line.place.seen_ms for line in feed.decoded()] == [None, 7, 7]
