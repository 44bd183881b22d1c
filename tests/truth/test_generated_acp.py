"""Generated sessions of the Agent Client Protocol with a known truth: the summary equals that truth.

`AGENTWATCH_EXAMPLES=10000` tries that many.
"""

from __future__ import annotations

import json
import os

from agentwatch.output.summary import summary
from agentwatch.session.transcript import Kind
from tests.builders.lines import session
from tests.builders.stories.acp import acp_story
from tests.conftest import case

EXAMPLES = int(os.environ.get("AGENTWATCH_EXAMPLES", "80"))


def test_the_summary_is_the_truth() -> None:
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
            assert read.asked.count == story.permissions
