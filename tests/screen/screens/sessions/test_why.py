"""`w` shows in a popup why a row says what it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentwatch.agents.found import Found, Key
from agentwatch.agents.reported import Life, State
from agentwatch.catalog.digest.digest import Digest
from agentwatch.catalog.digest.parts import Turn
from agentwatch.catalog.evidence import Facts, evidence
from agentwatch.catalog.standing import Basis
from agentwatch.screen.screens.sessions.dialogs import WhyDialog
from agentwatch.screen.screens.sessions.words import why
from agentwatch.session.events import Outcome
from tests.builders.home.home_app import NOW_MS, row
from tests.builders.machine.app import at_home

pytestmark = pytest.mark.slow


class Known:
    """What is known about one session."""

    def __init__(self, path: str) -> None:
        digest = Digest(turn=Turn.ENDED, outcome=Outcome.SUCCEEDED, turn_ms=NOW_MS - 90_000)
        self._facts = Facts(Found("claude", "one", Path(path), 1, 1), digest, None, None, Life.DEAD)

    def facts(self, key: Key) -> Facts:
        """Return the facts about the session."""
        assert key == ("claude", "one")
        return self._facts


async def test_w_shows_the_evidence_of_the_selected_session(home: Path) -> None:
    """Long sentences are wrapped, a long source is cut in its middle; esc and `w` close the popup."""
    shown = row("one", State.SUCCEEDED, title="A \x1b[31mred title")
    shown = replace(shown, standing=shown.standing._replace(by=(Basis.TURN,)))
    long = f"/home/{'a-folder/' * 20}{'x' * 200}one.jsonl"
    async with at_home([shown]) as stage:
        stage.machine.facts = Known(long).facts  # type: ignore[assignment]
        for key in ("escape", "w"):
            await stage.press("w")
            await stage.shows("What decides")
            assert type(stage.app.screen) is WhyDialog
            assert "Why, at " in stage.text
            assert "✓ succeeded" in stage.text
            assert "1 min   The last turn has ended: succeeded." in stage.text
            assert "file …xxx" in stage.text
            assert "one.jsonl" in stage.text
            assert "\x1b[31m" not in stage.text
            await stage.press(key)
            await stage.until(lambda: type(stage.app.screen) is not WhyDialog, "the list")


def test_the_state_of_a_lost_session_is_that_it_is_lost() -> None:
    """It lasts since the other machine was silent, and no line is longer than the terminal is wide."""
    lost = replace(row("one", State.ASKS, address="ssh://build1/claude/one", host="build1"), lost_ms=NOW_MS)
    now_ms = NOW_MS + 90_000
    lines = [
        "".join(text for text, _ in line) for line in why(lost, evidence(lost, None, now_ms), now_ms, 40)
    ]
    assert lines[0].startswith("? lost for 1 min · ")
    assert any(line.startswith("1 min   Nothing arrives from build1.") for line in lines)
    assert max(map(len, lines)) <= 40
