"""Generated sessions with a known truth: the summary equals that truth.

`AGENTWATCH_EXAMPLES=10000` tries that many stories in each mode.
"""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentwatch.feed.feed import Feed
from agentwatch.output.summary import summary
from agentwatch.recording.saved import open_saved
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.captures import OURS
from tests.builders.claude_stories import story
from tests.builders.codex.rollout import rollout
from tests.builders.codex.story import (
    CWD,
    Plan,
    calls_of,
    outcome_of,
    text_of,
)
from tests.builders.codex.story import STORIES as CODEX_STORIES
from tests.builders.codex.story import (
    Story as CodexStory,
)
from tests.builders.codex.story import (
    thoughts_of as codex_thoughts,
)
from tests.builders.codex.stream import stream
from tests.builders.lines import PROPERTY, non_blank, raw, session
from tests.builders.stories.acp import acp_story
from tests.builders.stories.lines import rendered
from tests.builders.stories.story import STORIES, Json, Story
from tests.builders.stories.truth import thoughts_of, truth
from tests.conftest import Saver, case

GENERATED = settings(PROPERTY, suppress_health_check=list(HealthCheck))
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
    if expected["duration_ms"] is None:  # it depends on the times of single lines
        del found["duration_ms"], expected["duration_ms"]
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
        del facts["lines"], facts["integrity"], facts["duration_ms"]  # only partial texts have times
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


EXAMPLES = int(os.environ.get("AGENTWATCH_EXAMPLES", "80"))


def test_the_summary_of_acp_is_the_truth() -> None:
    """Text, calls, outcomes, turns and line counts of any session are what happened in it."""
    for seed in range(EXAMPLES):
        with case(seed):
            story = acp_story(seed)
            read = session(*story.lines)
            found = json.loads(b"".join(summary(read)))
            assert found["format"] == "acp"
            assert found["text"] == story.text
            assert (
                "".join(each.text for each in read.transcript if each.kind is Kind.REASONING)
                == story.thoughts
            )
            keys = ("call_id", "tool", "kind", "outcome", "exit_code")
            assert [{key: call[key] for key in keys} for call in found["calls"]] == [
                {key: call[key] for key in keys} for call in story.calls
            ]
            assert (found["turns"], found["runs"], found["outcome"]) == (story.turns, 1, story.outcome)
            assert found["lines"]["events"] == len(story.lines)
            assert found["orphans"] == {
                "completed_without_started": 0,
                "never_completed": sum(call["outcome"] == "unfinished" for call in story.calls),
            }
            assert read.questions.count == story.permissions


def facts(read: Session) -> Json:
    """Return the members of a session's summary that a story determines."""
    found: Json = json.loads(b"".join(summary(read)))
    lines, tokens = found["lines"], found["tokens"]
    keys = ("call_id", "agent", "tool", "kind", "target", "outcome", "exit_code")
    return {
        **{key: found[key] for key in ("format", "session_id", "outcome", "text", "runs", "turns")},
        "tokens": {key: tokens[key] for key in ("input", "cached", "output")},
        "cost_usd": tokens["cost_usd"],
        "calls": [{key: call[key] for key in keys} for call in found["calls"]],
        "unknown": lines["unknown"],
        "malformed": lines["malformed"],
    }


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize("is_partial", [False, True], ids=["whole blocks", "partial messages"])
def test_the_summary_of_claude_is_the_truth(is_partial: bool) -> None:
    """Text, calls, outcomes, turns, runs and tokens of any session are what happened in it."""
    for seed in range(EXAMPLES):
        made = story(seed, is_partial=is_partial)
        assert facts(session(made.data())) == made.truth(), f"seed {seed}"


@pytest.mark.system
def test_a_file_of_claude_has_the_truth_of_its_lines(recording: Saver, opened_session: Any) -> None:
    """A recording opened as a file, whose deltas are parsed in batches, gives the same truth."""
    for seed in range(EXAMPLES):
        made = story(seed, is_partial=True)
        path: Path = recording(made.data())
        assert facts(opened_session(path)) == made.truth(), f"seed {seed}"


def codex_facts(read: Session) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(b"".join(summary(read)))
    return found


def check(read: Session, story: CodexStory, *, is_rollout: bool) -> None:
    found = codex_facts(read)
    calls = [(call["kind"], call["target"], call["outcome"], call["exit_code"]) for call in found["calls"]]
    assert calls == calls_of(story, with_plans=is_rollout, folder="" if is_rollout else f"{CWD}/")
    assert found["text"] == text_of(story)
    thoughts = [entry.text for entry in read.transcript if entry.kind is Kind.REASONING]
    assert "".join(thoughts) == codex_thoughts(story)
    assert (found["outcome"], found["runs"], found["turns"]) == (outcome_of(story), 1, len(story.turns))
    assert found["lines"]["unknown"] == found["lines"]["malformed"] == 0
    assert found["orphans"] == {"completed_without_started": 0, "never_completed": 0}
    plans = [step.entries for step in story.steps if isinstance(step, Plan)]
    shown = {entry.text: entry.status == "completed" for entry in read.plan}
    assert shown == dict(plans[-1] if plans else ())


@pytest.mark.system
@GENERATED
@given(CODEX_STORIES)
def test_a_stream_has_the_truth_of_its_story(story: CodexStory) -> None:
    """Text, thoughts, calls, outcomes, turns and plan of any stream are what happened in it."""
    check(session(stream(story)), story, is_rollout=False)


@pytest.mark.system
@pytest.mark.parametrize("is_paginated", [False, True], ids=["old history", "paginated history"])
@GENERATED
@given(CODEX_STORIES)
def test_a_rollout_has_the_truth_of_its_story(is_paginated: bool, story: CodexStory) -> None:
    """Each text is shown once and each call has its outcome, in both histories."""
    read = session(rollout(story, is_paginated=is_paginated))
    check(read, story, is_rollout=True)
    prompts = [entry.text for entry in read.transcript if entry.kind is Kind.PROMPT]
    assert prompts == [turn.prompt for turn in story.turns]


EXPECTED = {
    "min_cursor": ("claude-code", "succeeded", 1, "", [("Bash", "succeeded", None)]),
    "min_denied": ("claude-code", "succeeded", 1, "", [("PowerShell", "rejected", None)]),
    "min_exit": ("codex-rollout", "unfinished", 0, "", [("shell", "succeeded", 0)]),
    "min_exit1": ("codex-rollout", "unfinished", 0, "", [("shell", "failed", 1)]),
    "min_noparent": ("claude-transcript", "unfinished", 2, "First answer.Second answer.", []),
    "min_qwen": ("qwen-chat", "unfinished", 1, "The answer.", [("read_file", "unfinished", None)]),
    "min_qwen2": ("qwen-chat", "unfinished", 1, "The answer.", [("read_file", "unfinished", None)]),
}
"""By the name of the capture: format, outcome, turns, text; of each call the tool, outcome and exit code."""


def test_each_trait_is_read(opened_session: Callable[[Path], Session]) -> None:
    """A Claude init without tools, a denial that only the result names, a merged answer, and the others."""
    found = {path.stem: path for path in OURS.find("minimal/*")}
    assert found.keys() == EXPECTED.keys()
    for name, path in found.items():
        with case(name):
            read = opened_session(path)
            calls = [(call.tool, str(call.outcome), call.exit_code) for call in read.calls]
            seen = (read.format, str(read.outcome), read.run.turns, read.text, calls)
            assert seen == EXPECTED[name]
