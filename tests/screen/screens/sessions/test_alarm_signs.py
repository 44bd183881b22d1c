"""A rule that is hit in a session of the list rings, shows a message and marks the row."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agentwatch.agents.reported import State
from agentwatch.base.clock import now_ms
from agentwatch.base.config import Config, OnSetting, SessionRule
from agentwatch.catalog.row import Row
from tests.builders.home.home_app import row
from tests.builders.lines import init, started
from tests.builders.machine.app import HomeStage, at_home, descriptors

pytestmark = pytest.mark.slow

REMOVE = "rm -rf /tmp/x"
MARK = "▲ removes"


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the terminal be one that shows notifications."""
    monkeypatch.setenv("TERM_PROGRAM", "iTerm.app")
    monkeypatch.delenv("TMUX", raising=False)


@pytest.fixture
def session(tmp_path: Path) -> Row:
    """Return a session that works."""
    path = tmp_path / "one.ndjson"
    path.write_bytes(init() + started("shell", "old", command=REMOVE))
    return row("one", State.WORKING, path=path, is_own=True, now="pytest -q")


def with_rule(action: str) -> Config:
    """Return a configuration with a rule."""
    return Config(on=(OnSetting("program:rm", action, "removes"),))


async def hit(stage: HomeStage, session: Row) -> str:
    """Let a session hit the rule once the list has its file open; return what the terminal got."""
    alarms = stage.app._watching._alarms
    assert alarms is not None
    await stage.until(lambda: session.key in alarms._joined, "the session that is judged")
    assert any(name.endswith(str(session.path)) for name in descriptors())
    stage.written_since()
    with session.path.open("ab") as file:
        file.write(started("shell", "new", command=REMOVE))
    await stage.shows(MARK)
    return "".join(each for each in stage.written if "\x1b]0;" not in each)


@pytest.mark.parametrize(
    ("action", "rings", "notes"),
    [
        ("bell", True, False),
        ("stop", True, True),
        pytest.param("note", False, True, marks=pytest.mark.system),
        pytest.param("log", False, False, marks=pytest.mark.system),
        pytest.param("pause", True, True, marks=pytest.mark.system),
    ],
)
async def test_each_action_in_the_list(session: Row, action: str, rings: bool, notes: bool) -> None:
    """The agent is not paused and not stopped; the user is alerted in both ways instead."""
    async with at_home([session], config=with_rule(action)) as stage:
        written = await hit(stage, session)
        assert written.startswith("\x07") == rings
        assert ('\x1b]9;agentwatch: rule "removes" in Title of one: Ran terminal' in written) == notes
        await stage.shows('rule "removes" in Title of one')
        shown = "".join(stage.text.split())
        assert ("hasnotstarted" in shown) == (action in ("pause", "stop"))


@pytest.mark.system
async def test_a_silenced_session_shows_the_hit_and_does_not_ring(session: Row) -> None:
    """`r` silences its alarms as well."""
    async with at_home([session], config=with_rule("bell")) as stage:
        await stage.press("r")
        assert await hit(stage, session) == ""


@pytest.mark.system
async def test_commands_of_rules_run(session: Row, tmp_path: Path) -> None:
    """A hit and the end of the turn each run their command; the hit is shown, and nothing rings."""
    out = ("sh", "-c", 'cat >> "$1"', "sh", str(tmp_path / "out"))
    rule = OnSetting("program:rm", "run", "removes", out)
    broken = SessionRule("ended", "broken", ("/nowhere/x",))
    config = Config(on=(rule,), on_sessions=(SessionRule("ended", "end", out), broken))
    async with at_home([session], config=config) as stage:
        await stage.put(session := replace(session, title="New title"))
        assert await hit(stage, session) == ""
        await stage.shows('rule "removes" in New title')
        standing = session.standing._replace(state=State.YOUR_TURN, since_ms=now_ms() + 1, now="Done.")
        await stage.put(replace(session, standing=standing))
        await stage.shows('the command of rule "broken" failed')
        assert stage.app._commands is not None
        stage.app._commands.finish()
    found = [json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert {each["title"] for each in found} == {"New title"}
    assert sorted((each["event"], each["rule"], each["state"], each["session"]) for each in found) == [
        ("ended", "end", "your turn", session.id),
        ("rule", "removes", "working", session.id),
    ]


@pytest.mark.system
async def test_the_mark_vanishes_when_the_session_is_opened(session: Row) -> None:
    """The user has looked at it then; the file that was judged is closed with the list."""
    async with at_home([session], config=with_rule("log")) as stage:
        await hit(stage, session)
        assert f"{MARK} · pytest -q" in stage.text
        await stage.open()
        await stage.back()
        await stage.until(lambda: MARK not in stage.text, "the row without its mark")
    assert not any(name.endswith(str(session.path)) for name in descriptors())


@pytest.mark.system
async def test_without_rules_no_file_is_opened(session: Row) -> None:
    """The list only watches."""
    async with at_home([session]) as stage:
        steps = stage.machine.steps
        await stage.until(lambda: stage.machine.steps > steps + 1, "two steps")
        assert not any(name.endswith(str(session.path)) for name in descriptors())
