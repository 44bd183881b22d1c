"""Generated sessions of Claude Code with a known truth: the summary has that truth.

`AGENTWATCH_EXAMPLES=10000` tries that many sessions in each mode.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentwatch.output.summary import summary
from agentwatch.session.session import Session
from tests.builders.claude_stories import Json, story
from tests.builders.lines import session
from tests.conftest import Saver

EXAMPLES = int(os.environ.get("AGENTWATCH_EXAMPLES", "80"))


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
def test_the_summary_is_the_truth(is_partial: bool) -> None:
    """Text, calls, outcomes, turns, runs and tokens of any session are what happened in it."""
    for seed in range(EXAMPLES):
        made = story(seed, is_partial=is_partial)
        assert facts(session(made.data())) == made.truth(), f"seed {seed}"


@pytest.mark.system
def test_a_file_has_the_truth_of_its_lines(recording: Saver, opened_session: Any) -> None:
    """A recording opened as a file, whose deltas are parsed in batches, gives the same truth."""
    for seed in range(EXAMPLES):
        made = story(seed, is_partial=True)
        path: Path = recording(made.data())
        assert facts(opened_session(path)) == made.truth(), f"seed {seed}"


def test_a_session_may_be_cut_at_any_line() -> None:
    """The beginning of a session has the beginning of its calls, and no more text than all of it."""
    made = story(3, is_partial=True)
    lines = made.data().splitlines(keepends=True)
    whole = facts(session(made.data()))
    ids = [call["call_id"] for call in whole["calls"]]
    for number in range(1, len(lines), 3):
        found = facts(session(b"".join(lines[:number])))
        assert [call["call_id"] for call in found["calls"]] == ids[: len(found["calls"])]
        assert found["unknown"] == 0
