"""A session that begins to need the user rings once, and is marked until the user has looked at it."""

from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import State
from agentwatch.base.clock import now_ms
from agentwatch.base.config import Config
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import Ground
from agentwatch.screen.screens.sessions.rings import Rings, is_silenced
from tests.builders.home.home_app import NOW_MS, row
from tests.builders.machine.app import at_home
from tests.conftest import RECORDINGS, case

BEGAN_MS = NOW_MS - 60_000
LATER_MS = NOW_MS + 1_000


def asking(name: str = "one", since_ms: int | None = LATER_MS, **fields: Any) -> Row:
    """Return a session that asks the user."""
    return row(name, State.ASKS, since_ms=since_ms, **fields)


def keyed(*rows: Row) -> dict[Key, Row]:
    return {each.key: each for each in rows}


def new_rings(*, by_default: bool = True) -> Rings:
    """Return the rings of a list that was started at `BEGAN_MS`, with a session that works."""
    rings = Rings(by_default=by_default, began_ms=BEGAN_MS)
    rings.update([row("one")])
    return rings


def test_a_session_that_begins_to_ask_rings_once() -> None:
    """It rings with the first rows in which it asks; the next question rings again, a blink does not."""
    # It rings with the first rows in which it asks, and not with the next ones.
    rings = new_rings()
    assert rings.update([asking()]) == [asking()]
    assert rings.update([asking()]) == []
    assert list(rings.marked) == [asking().key]
    # After it went on, the next question rings.
    rings = new_rings()
    rings.update([asking()])
    rings.update([row("one")])
    assert rings.update([asking(since_ms=LATER_MS + 5_000)])
    # An agent that goes on for less than half a second was not answered: it does not ring again.
    for gap_ms, count in ((0, 0), (300, 0), (499, 0), (500, 1), (2_000, 1)):
        with case(f"{gap_ms}, {count}"):
            rings = new_rings()
            rings.update([asking()])
            rings.update([row("one", State.WORKING, since_ms=LATER_MS + 5_000)])
            assert len(rings.update([asking(since_ms=LATER_MS + 5_000 + gap_ms)])) == count
            assert list(rings.marked) == [asking().key]
    # A registry that could not be read for a moment is not a new question.
    rings = new_rings()
    rings.update([asking()])
    rings.update((), [asking().key])
    assert rings.update([asking()]) == []
    # A session that was seen in another state has begun to ask now.
    assert new_rings().update([asking(since_ms=None)])


def test_what_asked_before_the_start_does_not_ring() -> None:
    """Only what begins to ask after the start rings, and nothing but a reported question does."""
    # A session that already needed the user when the list was started neither rings nor is marked.
    for since_ms in (BEGAN_MS - 1, None):
        with case(since_ms):
            rings = Rings(by_default=True, began_ms=BEGAN_MS)
            assert rings.update([asking(since_ms=since_ms)]) == []
            assert not rings.marked
    # Finding the sessions takes time: one that is found last is judged by when it began to ask.
    rings = new_rings()
    assert rings.update([row("one"), asking("two", since_ms=BEGAN_MS - 1)]) == []
    assert rings.update([row("one"), asking("three", since_ms=LATER_MS)])
    # What is inferred never rings, nor does a turn that has ended or failed; a parent rings itself.
    for other in (
        row("one", State.ASKS, Ground.INFERRED, since_ms=LATER_MS),
        row("one", State.TURN_FAILED, since_ms=LATER_MS),
        row("one", State.YOUR_TURN, since_ms=LATER_MS),
        asking(parent=("claude", "parent")),
    ):
        with case(other):
            rings = new_rings()
            assert rings.update([other]) == []
            assert not rings.marked


def test_looking_removes_the_mark() -> None:
    """A session stays marked until the user looks at it or has it open; unmarked rows are not copied."""
    # The mark stays while the session goes on, until the user has looked at it.
    rings = new_rings()
    rings.update([asking()])
    rings.update([row("one")])
    assert rings.applied(keyed(row("one")))[asking().key].is_marked
    assert rings.look_at(asking().key)
    assert not rings.look_at(asking().key)
    assert not rings.applied(keyed(row("one")))[asking().key].is_marked
    # The user looks at the session that is open.
    rings = new_rings()
    assert rings.update([asking()], open_key=asking().key)
    assert not rings.marked
    # The mapping is not copied if nothing differs.
    rows = keyed(row("one"))
    assert new_rings().applied(rows) is rows


def test_choices_are_remembered(home: Path) -> None:
    """What was silenced or chosen stays so: 500 choices at most, and none from a damaged file."""
    # A session that was silenced stays silent after the next start.
    rings = new_rings()
    assert not rings.toggle(asking().key)
    assert rings.update([asking()]) == []
    assert list(rings.marked) == [asking().key]
    again = new_rings()
    assert not again.applied(keyed(row("one")))[asking().key].rings
    assert again.toggle(asking().key)
    assert new_rings().rings(asking().key)
    assert [path.name for path in home.iterdir()] == ["rings.json"]
    # Of two lists that are open, each adds its choices to those of the other, and follows them.
    one, two, key, other = new_rings(), new_rings(), asking().key, ("claude", "two")
    assert not one.toggle(key)
    assert not two.toggle(other)
    assert [each.is_silenced(at) for each in (one, two) for at in (key, other)] == [True, False, True, True]
    assert [one.refresh(), one.refresh(), one.is_silenced(other), is_silenced(key)] == [
        True,
        False,
        True,
        True,
    ]
    # A choice that cannot be written holds in its list, which writes it with the next one.
    (unfinished := home / ".rings.json.agentwatch").mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        one.toggle(other)
    assert [one.refresh(), one.is_silenced(other), is_silenced(other)] == [False, False, True]
    unfinished.rmdir()
    assert one.toggle(key)
    assert [is_silenced(at) for at in (key, other)] == [False, False]
    # Whatever the file contains, the list opens without a choice.
    for damage in (b"", b"[]", b"{", b'{"claude:one": "no"}', b"\xff", b"[" * 5000):
        with case(damage[:30]):
            (home / "rings.json").write_bytes(damage)
            assert new_rings().rings(asking().key)
    # With `ring = "none"`, a session rings that the user has chosen.
    rings = new_rings(by_default=False)
    rows = keyed(row("one"), row("two"))
    assert [each.rings for each in rings.applied(rows).values()] == [False, False]
    rings.toggle(("claude", "two"))
    assert [each.rings for each in rings.applied(rows).values()] == [False, True]
    assert rings.update([asking(), asking("two")]) == [asking("two")]
    # At most 500 choices are kept.
    rings = new_rings()
    for number in range(502):
        rings.toggle(("claude", str(number)))
    again = new_rings()
    assert [again.rings(("claude", name)) for name in ("0", "1", "2", "501")] == [True, True, False, False]


BELL = "\x07"
TITLE = "\x1b]0;agentwatch · {}\x07"
PLAIN = RECORDINGS / "plain.ndjson"


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the terminal be one that shows no notification."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("TERM_PROGRAM", "TMUX"):
        monkeypatch.delenv(name, raising=False)


def asks_now(name: str = "one", ground: Ground = Ground.SAID) -> Row:
    """Return a session that asks the user since now."""
    return row(name, State.ASKS, ground, since_ms=now_ms(), now="Bash rm -rf build", path=PLAIN)


def bells(written: str) -> int:
    """Return how often the bell rang; a title ends with the same byte."""
    return written.count(BELL) - written.count("\x1b]0;")


@pytest.mark.system
async def test_each_question_rings_once_unless_it_is_silenced() -> None:
    """One bell for a session that asks, none for what is inferred or silenced; the title counts both."""
    async with at_home([row("one"), row("two")]) as stage:
        # One bell for a session, and the count of the sessions that need the user.
        stage.written_since()
        await stage.put(asks_now(), row("two"))
        written = stage.written_since()
        assert bells(written) == 1
        assert TITLE.format("1 needs you") in written
        await stage.put(asks_now("two"))
        assert TITLE.format("2 need you") in stage.written_since()
        # What is inferred counts, and does not ring.
        await stage.begin(row("one"))
        stage.written_since()
        await stage.put(asks_now(ground=Ground.INFERRED))
        written = stage.written_since()
        assert bells(written) == 0
        assert TITLE.format("1 needs you") in written
        # `r` silences the selected session; `r` again lets it ring.
        await stage.begin(row("one"))
        await stage.press("r")
        await stage.shows("no ring")
        stage.written_since()
        await stage.put(asks_now())
        assert bells(stage.written_since()) == 0
        await stage.put(row("one"))
        await stage.press("r")
        await stage.until(lambda: "no ring" not in stage.text, "a ring")
        await stage.put(asks_now())
        assert bells(stage.written_since()) == 1


@pytest.mark.system
async def test_only_what_can_ring_is_silenced() -> None:
    """`r` says why a session cannot ring; on a folded line it is about all that can."""
    folded = [row(f"f{n}", State.YOUR_TURN, is_one_liner=True, cwd="/api") for n in range(2)]
    ended = row("end", State.SUCCEEDED)
    async with at_home([*folded, ended, row("unknown", State.UNKNOWN)]) as stage:
        for name, why in (("end", "it has ended"), ("unknown", "unknown whether it runs")):
            await stage.choose(name)
            await stage.press("r")
            await stage.shows(f"it cannot ring: {why}")
            assert stage.app._rings.rings(("claude", name))
        await stage.press("g", "r")
        await stage.shows("2 of 2 sessions are silent")
        assert not any(stage.app._rings.rings(each.key) for each in folded)
        await stage.press("r")
        await stage.shows("2 of 2 sessions ring when they need you")


@pytest.mark.system
async def test_a_notification_names_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal that shows notifications, one says which session asks for what."""
    monkeypatch.setenv("TERM_PROGRAM", "iTerm.app")
    async with at_home([row("one"), row("two")]) as stage:
        stage.written_since()
        await stage.put(asks_now())
        assert "\x1b]9;agentwatch: api: asks: Bash rm -rf build\x07" in stage.written_since()
        await stage.put(row("one"))
        await stage.put(asks_now(), asks_now("two"))
        assert "\x1b]9;agentwatch: 2 sessions need you\x07" in stage.written_since()


@pytest.mark.system
async def test_the_configuration_silences_all() -> None:
    """With `ring = "none"`, without a bell, or if it is left to the agent, nothing rings."""
    for config in (Config(ring="none"), Config(bell=False), Config(leave_to=("claude",), title=False)):
        with case(config):
            async with at_home([row("one")], config=config) as stage:
                stage.written_since()
                await stage.put(asks_now())
                written = stage.written_since()
                assert bells(written) == 0
                assert ("\x1b]0;" in written) is config.title


@pytest.mark.system
async def test_a_mark_vanishes_when_the_user_has_looked() -> None:
    """A session that was selected or opened, in a window with the focus, loses its mark; others ring."""
    async with at_home([row("one")]) as stage:
        # While another window has the focus, the mark stays.
        stage.app.app_focus = False
        await stage.put(asks_now())
        for _ in range(3):
            stage.home._tick()
        await stage.pilot.pause()
        assert list(stage.app._rings.marked) == [asks_now().key]
        stage.app.app_focus = True
        await stage.until(lambda: not stage.app._rings.marked, "the look")
        # A session that was opened is not marked, and is not marked while it is open.
        await stage.begin(row("one", path=PLAIN))
        await stage.put(asks_now())
        await stage.open()
        assert not stage.app._rings.marked
        await stage.put(row("one", path=PLAIN))
        stage.written_since()
        await stage.put(asks_now())
        assert bells(stage.written_since()) == 1
        assert not stage.app._rings.marked
        # While a session is open the others ring, and its screen does not change the title.
        await stage.begin(row("one", path=PLAIN), row("two"))
        await stage.open("one")
        await stage.shows("✓ succeeded")
        stage.written_since()
        await stage.put(asks_now("two"))
        written = stage.written_since()
        assert bells(written) == 1
        assert TITLE.format("1 needs you") in written
        assert "agentwatch succeeded" not in written
        # A session that is selected for a second is not marked any more; others stay marked.
        await stage.begin(row("one"), row("two"), row("three"))
        await stage.put(asks_now("two"), asks_now("three"))
        marked = stage.app._rings.marked
        chosen = stage.chosen
        assert chosen is not None
        await stage.press("G")
        await stage.press("g")
        await stage.until(lambda: len(marked) == 1, "the mark of the selected session")
        assert stage.chosen is not None
        assert stage.chosen.key not in marked


@pytest.mark.slow
async def test_the_title_is_given_back() -> None:
    """The terminal has its own title again after the end."""
    async with at_home([row("one")]) as stage:
        stage.written_since()
        await stage.press("q")
        await stage.until(lambda: not stage.app.is_running, "the end")
    assert "\x1b[23;0t" in stage.written_since()
