"""The terminal rings when a session begins to need the user, and its title counts them."""

from __future__ import annotations

import pytest

from agentwatch.agents.reported import State
from agentwatch.base.clock import now_ms
from agentwatch.base.config import Config
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import Ground
from tests.builders.home.home_app import row
from tests.builders.machine.app import at_home
from tests.conftest import RECORDINGS

pytestmark = pytest.mark.slow

BELL = "\x07"
TITLE = "\x1b]0;agentwatch · {}\x07"
PLAIN = RECORDINGS / "plain.ndjson"


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the terminal be one that shows no notification."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("TERM_PROGRAM", "TMUX"):
        monkeypatch.delenv(name, raising=False)


def asking(name: str = "one", ground: Ground = Ground.SAID) -> Row:
    """Return a session that asks the user since now."""
    return row(name, State.ASKS, ground, since_ms=now_ms(), now="Bash rm -rf build", path=PLAIN)


def bells(written: str) -> int:
    """Return how often the bell rang; a title ends with the same byte."""
    return written.count(BELL) - written.count("\x1b]0;")


@pytest.mark.system
async def test_it_rings_once_and_the_title_counts() -> None:
    """One bell for a session, and the count of the sessions that need the user."""
    async with at_home([row("one"), row("two")]) as stage:
        stage.written_since()
        await stage.put(asking(), row("two"))
        written = stage.written_since()
        assert bells(written) == 1
        assert TITLE.format("1 needs you") in written
        await stage.put(asking("two"))
        assert TITLE.format("2 need you") in stage.written_since()


@pytest.mark.system
async def test_what_is_inferred_does_not_ring() -> None:
    """It counts, and does not ring."""
    async with at_home([row("one")]) as stage:
        stage.written_since()
        await stage.put(asking(ground=Ground.INFERRED))
        written = stage.written_since()
        assert bells(written) == 0
        assert TITLE.format("1 needs you") in written


@pytest.mark.system
async def test_a_notification_names_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal that shows notifications, one says which session asks for what."""
    monkeypatch.setenv("TERM_PROGRAM", "iTerm.app")
    async with at_home([row("one"), row("two")]) as stage:
        stage.written_since()
        await stage.put(asking())
        assert "\x1b]9;agentwatch: api: asks: Bash rm -rf build\x07" in stage.written_since()
        await stage.put(row("one"))
        await stage.put(asking(), asking("two"))
        assert "\x1b]9;agentwatch: 2 sessions need you\x07" in stage.written_since()


@pytest.mark.system
async def test_a_silenced_session_does_not_ring() -> None:
    """`r` silences the selected session; `r` again lets it ring."""
    async with at_home([row("one")]) as stage:
        await stage.press("r")
        await stage.shows("no ring")
        stage.written_since()
        await stage.put(asking())
        assert bells(stage.written_since()) == 0
        await stage.put(row("one"))
        await stage.press("r")
        await stage.until(lambda: "no ring" not in stage.text, "a ring")
        await stage.put(asking())
        assert bells(stage.written_since()) == 1


@pytest.mark.system
@pytest.mark.parametrize("config", [Config(ring="none"), Config(bell=False), Config(leave_to=("claude",))])
async def test_the_configuration_silences_all(config: Config) -> None:
    """With `ring = "none"`, without a bell, or if it is left to the agent, nothing rings."""
    async with at_home([row("one")], config=config) as stage:
        stage.written_since()
        await stage.put(asking())
        assert bells(stage.written_since()) == 0


@pytest.mark.system
async def test_without_a_title_none_is_set() -> None:
    """The user may keep the terminal's own title."""
    async with at_home([row("one")], config=Config(title=False)) as stage:
        await stage.put(asking())
        assert "\x1b]0;" not in stage.written_since()


@pytest.mark.system
async def test_a_mark_vanishes_when_the_session_is_looked_at() -> None:
    """A session that is selected for a second is not marked any more; others stay marked."""
    async with at_home([row("one"), row("two"), row("three")]) as stage:
        await stage.put(asking("two"), asking("three"))
        marked = stage.app._rings.marked
        chosen = stage.chosen
        assert chosen is not None
        await stage.press("G")
        await stage.press("g")
        await stage.until(lambda: len(marked) == 1, "the mark of the selected session")
        assert stage.chosen is not None
        assert stage.chosen.key not in marked


@pytest.mark.system
async def test_without_the_focus_nothing_is_looked_at() -> None:
    """While another window has the focus, the mark stays."""
    async with at_home([row("one")]) as stage:
        stage.app.app_focus = False
        await stage.put(asking())
        for _ in range(3):
            stage.home._tick()
        await stage.pilot.pause()
        assert list(stage.app._rings.marked) == [asking().key]
        stage.app.app_focus = True
        await stage.until(lambda: not stage.app._rings.marked, "the look")


@pytest.mark.system
async def test_opening_a_session_looks_at_it() -> None:
    """A session that was opened is not marked, and is not marked while it is open."""
    async with at_home([row("one", path=PLAIN)]) as stage:
        await stage.put(asking())
        await stage.open()
        assert not stage.app._rings.marked
        await stage.put(row("one", path=PLAIN))
        stage.written_since()
        await stage.put(asking())
        assert bells(stage.written_since()) == 1
        assert not stage.app._rings.marked


@pytest.mark.system
async def test_others_ring_while_a_session_is_open() -> None:
    """The list goes on behind the session, whose screen does not change the title."""
    async with at_home([row("one", path=PLAIN), row("two")]) as stage:
        await stage.open("one")
        await stage.shows("✓ succeeded")
        stage.written_since()
        await stage.put(asking("two"))
        written = stage.written_since()
        assert bells(written) == 1
        assert TITLE.format("1 needs you") in written
        assert "agentwatch succeeded" not in written


async def test_the_title_is_given_back() -> None:
    """The terminal has its own title again after the end."""
    async with at_home([row("one")]) as stage:
        stage.written_since()
        await stage.press("q")
        await stage.until(lambda: not stage.app.is_running, "the end")
    assert "\x1b[23;0t" in stage.written_since()
