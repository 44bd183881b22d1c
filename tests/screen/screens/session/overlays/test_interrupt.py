"""`I` in the screen of `run` interrupts the agent after a question, and then stops it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.base.config import Config
from agentwatch.feed.feed import Feed
from agentwatch.recording.acts import read_acts
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.screens.session.interrupt import InterruptDialog
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.sources.open import KeepOptions, agent_source
from tests.builders.screen.app import bundled, eventually, opened

pytestmark = [pytest.mark.slow, pytest.mark.system]

SCRIPT = "trap '' INT; echo '{}'; while :; do sleep 0.01; done"


async def test_an_agent_is_interrupted_and_stopped(tmp_path: Path) -> None:
    """`I` `y` sends SIGINT, `I` `s` then SIGTERM; each is told by a toast and beside the recording."""
    path = tmp_path / "r.ndjson"
    source = agent_source(["sh", "-c", SCRIPT], KeepOptions(recording=path, write_log=False))
    app = AgentwatchApp(source, Feed(source.reader), HeldSignals(), Config(act=frozenset({"interrupt"})))

    def done() -> list[str]:
        return [f"{each.act} {each.door}" for each in read_acts(tmp_path / "r.acts")]

    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await eventually(pilot, lambda: source.agent.size() > 0, "the first line")
        for keys, act in (("Iy", "interrupt SIGINT"), ("Is", "stop SIGTERM")):
            await pilot.press(keys[0])
            assert isinstance(app.screen, InterruptDialog)
            await pilot.press(keys[1])
            assert not isinstance(app.screen, InterruptDialog)
            await eventually(pilot, lambda: act in done(), act)  # noqa: B023 - awaited here
        await eventually(pilot, source.agent.has_ended, "the end")
        await pilot.press("I")
        assert not isinstance(app.screen, InterruptDialog)
    source.finish()


async def test_without_the_switch_or_an_agent_nothing_is_asked() -> None:
    """The key says how to switch it on; a file has no agent to interrupt."""
    async with opened(bundled("plain")) as stage:
        for acts, words in (("", "interrupting is switched off"), ("interrupt", "no agent that")):
            stage.app.config = stage.app.config._replace(act=frozenset(acts.split()))
            await stage.press("I")
            assert not isinstance(stage.app.screen, InterruptDialog)
            await stage.shows(words)
        assert stage.app._source.act("stop", "session") == "agentwatch has not started this agent"
