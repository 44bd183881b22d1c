"""Generated sessions with a known truth: the summary equals that truth.

`AGENTWATCH_EXAMPLES=10000` tries that many stories in each mode.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentwatch.feed.feed import Feed
from agentwatch.output.summary import summary
from agentwatch.recording.saved import open_saved
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.lines import PROPERTY, non_blank, raw, session
from tests.builders.stories.any_story import STORIES
from tests.builders.stories.lines import rendered
from tests.builders.stories.story import Json, Story
from tests.builders.stories.truth import thoughts_of, truth

GENERATED = settings(
    max_examples=int(os.environ.get("AGENTWATCH_EXAMPLES", "80")),
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
"""How many stories are generated."""


def summary_and_truth(story: Story, read: Session, data: bytes, repaired: int) -> tuple[Json, Json]:
    """Return a session's summary and the truth of its story, including the line counts."""
    expected = truth(story)
    lines = expected["lines"]
    lines["total"] = non_blank(data)
    lines["events"] = lines["total"] - lines["malformed"] - lines["unknown"]
    lines |= {"repaired": repaired, "oversize": 0}
    if repaired:
        expected["integrity"]["line"] += f" · {repaired} repaired"
    found: Json = json.loads(b"".join(summary(read)))
    return found, expected


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize("is_partial", [False, True], ids=["whole segments", "partial output"])
@GENERATED
@given(STORIES)
def test_the_summary_is_the_truth(is_partial: bool, story: Story) -> None:
    """Text, calls, outcomes, orphans, counts and integrity of any session are what happened in it."""
    data, repaired = rendered(story, is_partial)
    read = session(data)
    found, expected = summary_and_truth(story, read, data, repaired)
    assert found == expected
    thoughts = [entry.text for entry in read.transcript if entry.kind is Kind.REASONING]
    assert "".join(thoughts) == thoughts_of(story)
    answers = [entry.text for entry in read.transcript if entry.kind is Kind.ANSWER]
    assert "".join(answers) == read.text


@pytest.mark.system
@settings(GENERATED, max_examples=60)
@given(STORIES, st.booleans())
def test_a_file_has_the_truth_of_its_lines(
    tmp_path_factory: pytest.TempPathFactory, story: Story, is_partial: bool
) -> None:
    """A recording opened as a file gives the same truth as its lines in memory."""
    data, repaired = rendered(story, is_partial)
    path: Path = tmp_path_factory.getbasetemp() / "story.ndjson"
    path.write_bytes(data)
    reader = open_saved(path)
    feed = Feed(reader)
    try:
        feed.advance()
        found, expected = summary_and_truth(story, feed.session, data, repaired)
        assert found == expected
        assert (feed.is_over, feed.backlog()) == (True, 0)
    finally:
        os.close(reader.fd)


@pytest.mark.system
@settings(GENERATED, max_examples=60)
@given(STORIES)
def test_both_modes_have_the_same_facts(story: Story) -> None:
    """With and without partial output, a session has the same text, calls and outcome."""
    whole, partial = (
        json.loads(b"".join(summary(session(rendered(story, mode)[0])))) for mode in (False, True)
    )
    for facts in (whole, partial):
        del facts["lines"], facts["integrity"]
    assert whole == partial


def facts_of(read: Session) -> object:
    """Return a session's summary without its line counts."""
    facts = json.loads(b"".join(summary(read)))
    del facts["lines"], facts["integrity"]["line"], facts["integrity"]["holds"]
    return facts


@pytest.mark.system
@settings(PROPERTY, max_examples=120)
@given(STORIES, st.booleans(), st.randoms(use_true_random=False), st.sampled_from([1.0, 0.3]))
def test_any_session_with_raw_line_ends_is_the_same_session(
    story: Story, is_partial: bool, chance: random.Random, share: float
) -> None:
    """A session with some line ends in strings left raw has the same text, calls and outcomes."""
    story = Story(story.runs, b"\n", story.ends_in_line_end, story.is_ascii)
    data, _ = rendered(story, is_partial)
    kept = [line for line in data.split(b"\n") if is_object(line) or not line.startswith(b"{")]
    data = b"\n".join(kept)
    cut = b"\n".join(raw(line) if is_object(line) and chance.random() < share else line for line in kept)
    read = session(cut)
    assert facts_of(read) == facts_of(session(data))
    assert read.lines.total == non_blank(cut)


def is_object(line: bytes) -> bool:
    """Return whether a line is a complete object."""
    return line.startswith(b"{") and line.endswith(b"}")
