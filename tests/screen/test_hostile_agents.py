"""Hostile text in what other agents report is displayed and has no effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.output.log import ActionLog
from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.session.blocks import BinaryBlock
from agentwatch.session.events import (
    Compaction,
    Event,
    Outcome,
    Permission,
    Prompt,
    Retry,
    RunInfo,
    RunStarted,
    ToolEnded,
    ToolKind,
    ToolProgress,
)
from tests.builders.made_agent import MadeSession
from tests.builders.payloads import PAYLOADS
from tests.builders.screen.app import opened
from tests.builders.screen.hostile import acting, check_drawn, check_panes
from tests.builders.subagents import begins, ends, says
from tests.conftest import case

pytestmark = pytest.mark.slow

_TRIED = list(PAYLOADS)[::12]
"""Every 12th payload is tried: each takes 2 s. `test_hostile.py` tries others in the same renderers."""


def events_with(text: str) -> list[Event]:
    """Return a session that contains `text` in every place that only other agents fill."""
    asked = Permission(text, None, text, key=text, call_id="x", target=text)
    several = ToolEnded("e", None, text, ToolKind.EDIT, Outcome.CANCELLED, text, True, text, text, agent="t")
    return [
        RunStarted("made-format", text, text, text),
        RunInfo(agent_version=text, agent_name=text),
        Prompt(text),
        begins("t", "Task", text),
        Prompt(text, agent="t"),
        *says(text, "t"),
        *says(text, "gone"),
        several._replace(more_paths=(text, f"{text}.py")),
        begins("b", "Bash", text, "t"),
        ends("b", "Bash", "t"),
        Compaction(False, text),
        Compaction(True, text),
        Retry(text, 1, 2, 3),
        asked._replace(key="other"),
        asked._replace(key="other", answer=text),
        begins("x", "Bash", text),
        ToolProgress("x", None, text),
        asked,
    ]


@pytest.mark.system
@pytest.mark.parametrize(
    "names",
    [_TRIED[:1], *(pytest.param(_TRIED[1 + n :: 2], marks=pytest.mark.system) for n in range(2))],
    ids=["one", "others", "more"],
)
async def test_hostile_text_of_an_agent_is_shown(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its version, subagents, questions, retries, outputs and files cannot control the terminal."""
    for name in names:
        with case(name):
            await check_shown(PAYLOADS[name], tmp_path, monkeypatch)


async def check_shown(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that nothing on the screen and in the log of a session with this text can act."""
    made = MadeSession(events_with(text), {"b": [BinaryBlock(text, 5)]})
    made.use(monkeypatch)
    async with opened(made.save(tmp_path / "x.ndjson"), (140, 40), follow=True) as stage:
        check_drawn(stage)
        for keys in (["f", *"agent:"], ["enter", "2", "g", "J"], ["J", "J", "i"]):
            await stage.press(*keys)
            check_drawn(stage)
        await stage.press("escape", "1")
        transcript = stage.pane("transcript")
        assert isinstance(transcript, Transcript)
        check_panes(transcript, stage.pane("detail"), stage.pane("calls"), stage.pane("log"))
        for call in stage.feed.session.calls[1:3]:
            transcript.reveal_call(call)
            check_panes(transcript)
        for line in ActionLog(stage.feed.session).new_lines(is_over=False):
            assert not acting(line)
