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

pytestmark = pytest.mark.slow

_TRIED = list(PAYLOADS)[::12]
"""Every 12th payload is tried. `test_hostile.py` tries others in the same renderers."""


def events_with(text: str, number: int = 0) -> list[Event]:
    """Return events that contain `text` in every place that only other agents fill."""
    task, shell, edit, open_call = (f"{name}{number}" for name in "tbex")
    asked = Permission(text, None, text, key=text, call_id=open_call, target=text)
    several = ToolEnded(
        edit, None, text, ToolKind.EDIT, Outcome.CANCELLED, text, True, text, text, agent=task
    )
    return [
        RunInfo(agent_version=text, agent_name=text),
        Prompt(text),
        begins(task, "Task", text),
        Prompt(text, agent=task),
        *says(text, task),
        *says(text, "gone"),
        several._replace(more_paths=(text, f"{text}.py")),
        begins(shell, "Bash", text, task),
        ends(shell, "Bash", task),
        Compaction(False, text),
        Compaction(True, text),
        Retry(text, 1, 2, 3),
        asked._replace(key="other"),
        asked._replace(key="other", answer=text),
        begins(open_call, "Bash", text),
        ToolProgress(open_call, None, text),
        asked,
    ]


@pytest.mark.system
@pytest.mark.parametrize("names", [_TRIED[n::3] for n in range(3)])
async def test_hostile_text_of_an_agent_is_shown(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its version, subagents, questions, retries, outputs and files cannot control the terminal."""
    texts = [PAYLOADS[name] for name in names]
    events: list[Event] = [RunStarted("made-format", texts[0], texts[0], texts[0])]
    for number, text in enumerate(texts):
        events += events_with(text, number)
    made = MadeSession(events, {f"b{number}": [BinaryBlock(text, 5)] for number, text in enumerate(texts)})
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
        for call in stage.feed.session.calls:
            transcript.reveal_call(call)
            check_drawn(stage)
        for line in ActionLog(stage.feed.session).new_lines(is_over=False):
            assert not acting(line)
