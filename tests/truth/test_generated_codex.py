"""Generated sessions of Codex with a known truth: the summary equals that truth.

`AGENTWATCH_EXAMPLES=10000` tries that many stories in each form.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from agentwatch.output.summary import summary
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.codex.any_story import STORIES
from tests.builders.codex.rollout import rollout
from tests.builders.codex.story import (
    CWD,
    Plan,
    Story,
    calls_of,
    outcome_of,
    text_of,
    thoughts_of,
)
from tests.builders.codex.stream import stream
from tests.builders.lines import session
from tests.truth.test_generated import GENERATED


def facts(read: Session) -> dict[str, Any]:
    """Return the summary of a session."""
    found: dict[str, Any] = json.loads(b"".join(summary(read)))
    return found


def check(read: Session, story: Story, *, is_rollout: bool) -> None:
    """Check that a session has the facts of its story."""
    found = facts(read)
    calls = [(call["kind"], call["target"], call["outcome"], call["exit_code"]) for call in found["calls"]]
    assert calls == calls_of(story, with_plans=is_rollout, folder="" if is_rollout else f"{CWD}/")
    assert found["text"] == text_of(story)
    thoughts = [entry.text for entry in read.transcript if entry.kind is Kind.REASONING]
    assert "".join(thoughts) == thoughts_of(story)
    assert (found["outcome"], found["runs"], found["turns"]) == (outcome_of(story), 1, len(story.turns))
    assert found["lines"]["unknown"] == found["lines"]["malformed"] == 0
    assert found["orphans"] == {"completed_without_started": 0, "never_completed": 0}
    plans = [step.entries for step in story.steps if isinstance(step, Plan)]
    shown = {entry.text: entry.status == "completed" for entry in read.plan}
    assert shown == dict(plans[-1] if plans else ())


@pytest.mark.system
@GENERATED
@given(STORIES)
def test_a_stream_has_the_truth_of_its_story(story: Story) -> None:
    """Text, thoughts, calls, outcomes, turns and plan of any stream are what happened in it."""
    check(session(stream(story)), story, is_rollout=False)


@pytest.mark.system
@pytest.mark.parametrize("is_paginated", [False, True], ids=["old history", "paginated history"])
@GENERATED
@given(STORIES)
def test_a_rollout_has_the_truth_of_its_story(is_paginated: bool, story: Story) -> None:
    """Each text is shown once and each call has its outcome, in both histories."""
    read = session(rollout(story, is_paginated=is_paginated))
    check(read, story, is_rollout=True)
    prompts = [entry.text for entry in read.transcript if entry.kind is Kind.PROMPT]
    assert prompts == [turn.prompt for turn in story.turns]
