"""The duration of a turn may arrive after its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.session.events import Outcome, Prompt, RunStarted, TurnEnded
from tests.builders.made_agent import MadeSession
from tests.builders.screen.app import lines_of, opened
from tests.builders.subagents import says

pytestmark = pytest.mark.slow


async def test_a_late_duration_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line with the outcome of a turn shows its duration once a later line states it."""
    turn = [Prompt("Do it."), *says("Done."), TurnEnded(Outcome.SUCCEEDED)]
    timed = TurnEnded(Outcome.SUCCEEDED, duration_ms=1300)
    made = MadeSession([RunStarted("made-format", "s"), *turn, timed])
    made.use(monkeypatch)
    path = made.save(tmp_path / "x.ndjson")
    *lines, late = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines))
    async with opened(path, follow=True) as stage:
        transcript = stage.pane("transcript")
        assert lines_of(transcript)[-1] == "✓ succeeded"
        await stage.append(late)
        assert lines_of(transcript)[-1] == "✓ succeeded in 1.3 s"
