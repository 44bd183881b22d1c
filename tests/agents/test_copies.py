"""A session that repeats another one counts its own calls, turns and tokens only."""

from __future__ import annotations

from pathlib import Path

import agentwatch
from agentwatch.session.session import own_calls
from tests.builders.copied_stories import Step, opencode, pi, truth
from tests.conftest import case


def test_a_fork_leaves_out_what_it_repeats(tmp_path: Path) -> None:
    """Forks of opencode and Pi keep the times of what they copy, from before they began."""
    story = (Step(20), Step(40, fails=True)), (Step(80),)
    for write in (opencode, pi):
        home = tmp_path / write.__name__
        sessions = write(home, story, ((Step(160), Step(320)),))
        database = home / ".local/share/opencode/opencode.db"
        for each in sessions:
            path = next(home.rglob(f"*{each.id}.jsonl"), database / each.id)
            with case(path.name):
                found, expected = agentwatch.load(path), truth(each)
                numbers = {"calls": own_calls(found), "turns": found.turns, "input": found.tokens.input}
                assert numbers == {name: expected[name] for name in numbers}
