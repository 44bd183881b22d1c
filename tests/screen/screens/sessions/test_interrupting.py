"""`I` in the list interrupts an agent that a run of agentwatch has started, after a question."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agentwatch.agents.reported import State
from agentwatch.base.config import Config
from agentwatch.catalog.row import Row
from agentwatch.recording.acts import Act
from agentwatch.screen.screens.session.interrupt import InterruptDialog
from agentwatch.sources.control import Control
from tests.builders.home.home_app import row
from tests.builders.machine.app import at_home
from tests.conftest import RECORDINGS

pytestmark = pytest.mark.slow

STEM = "20261101-120000-aaaaaa"
ON = Config(act=frozenset({"interrupt"}))


def own_row(home: Path) -> Row:
    """Return the row of a recording of our own, whose agent runs."""
    return row(STEM, path=home / f"sessions/{STEM}.ndjson", is_own=True)


def noting(recording: Path, asked: list[str]) -> Control:
    """Return the socket of a run process that notes each request."""

    def answer(request: str) -> str:
        asked.append(request)
        return ""

    recording.parent.mkdir(parents=True, exist_ok=True)
    recording.touch()
    return Control(recording, answer)


async def test_nothing_happens_while_the_switch_is_off(home: Path) -> None:
    """Without the switch the key only says how to switch it on."""
    own, asked = own_row(home), list[str]()
    made = noting(own.path, asked)
    async with at_home([own]) as stage:
        await stage.press("I")
        await stage.shows("interrupting is switched off: set interrupt = true in [act]")
        assert not isinstance(stage.app.screen, InterruptDialog)
        await stage.press("y")
    assert asked == []
    made.close()


@pytest.mark.system
async def test_an_agent_is_interrupted_and_then_stopped(home: Path) -> None:
    """The question says what the agent does; `s` stops it only once an interrupt was sent."""
    asked = list[str]()
    own = replace(own_row(home), acts=[Act(0, "continue", STEM, "list", "claude --resume", "sent")])
    made = noting(own.path, asked)
    async with at_home([own], config=ON) as stage:
        await stage.press("I")
        await stage.shows("Claude ends the turn, cancels its running calls, writes a result and exits.")
        await stage.press("s", "enter")
        assert isinstance(stage.app.screen, InterruptDialog)
        assert "Stop it" not in stage.text
        await stage.press("y")
        await stage.shows("interrupt sent")
        acts = [Act(1, "interrupt", own.id, "list", "SIGINT", "sent")]
        await stage.put(replace(own, agent="tern", acts=acts))
        await stage.press("I")
        await stage.shows("Most agents end the turn and exit; of this one it is not known.")
        await stage.shows("Stop it: SIGTERM to all of its processes, SIGKILL after 10 s")
        await stage.press("s")
        await stage.shows("stop sent")
        await stage.press("I", "escape")
    assert asked == ["interrupt", "stop"]
    made.close()


@pytest.mark.system
async def test_an_agent_is_interrupted_from_its_open_session(home: Path) -> None:
    """The key works in the session that the list has opened as in the list."""
    own, asked = own_row(home), list[str]()
    own.path.parent.mkdir(parents=True)
    shutil.copy(RECORDINGS / "unfinished.ndjson", own.path)
    made = noting(own.path, asked)
    async with at_home([own], config=ON) as stage:
        await stage.open()
        await stage.press("I")
        await stage.shows("Claude ends the turn, cancels its running calls")
        await stage.press("y")
        await stage.shows("interrupt sent")
    assert asked == ["interrupt"]
    made.close()


@pytest.mark.system
async def test_what_cannot_be_interrupted_says_why(home: Path) -> None:
    """Sessions of other machines, of other programs, and ended ones are refused; hostile answers are safe."""
    path = own_row(home).path
    path.parent.mkdir(parents=True)
    path.touch()
    rows = [
        row("remote", host="b\x1b[2Jx", is_own=True),
        row("other"),
        row("ended", State.SUCCEEDED, is_own=True),
        row("left", path=path.with_name("left.ndjson"), is_own=True),
        row("own", path=path, is_own=True),
    ]
    made = Control(path, lambda _: "\x1b]0;x\x07")
    async with at_home(rows, config=ON) as stage:
        for name, words in (
            ("remote", "it runs on b␛[2Jx; only agents here can be interrupted"),
            ("other", "only a running agent that"),
            ("ended", "only a running agent that"),
        ):
            await stage.choose(name)
            await stage.press("I")
            await stage.shows(words)
            assert not isinstance(stage.app.screen, InterruptDialog), name
        for name, words in (
            ("left", "cannot interrupt it: its run process has ended, or was started"),
            ("own", "cannot interrupt it: ␛]0;x␇"),
        ):
            await stage.choose(name)
            await stage.press("I", "y")
            await stage.shows(words)
    made.close()
