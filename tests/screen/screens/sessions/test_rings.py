"""A session that begins to need the user rings once, and is marked until the user has looked at it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentwatch.agents.found import Key
from agentwatch.agents.reported import State
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import Ground
from agentwatch.screen.screens.sessions.rings import Rings
from tests.builders.home.home_app import NOW_MS, row
from tests.conftest import case

BEGAN_MS = NOW_MS - 60_000
LATER_MS = NOW_MS + 1_000


def asking(name: str = "one", since_ms: int | None = LATER_MS, **fields: Any) -> Row:
    """Return a session that asks the user."""
    return row(name, State.ASKS, since_ms=since_ms, **fields)


def keyed(*rows: Row) -> dict[Key, Row]:
    """Return rows by key."""
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


def test_the_choice_is_remembered(home: Path) -> None:
    """A session that was silenced stays silent after the next start."""
    rings = new_rings()
    assert not rings.toggle(asking().key)
    assert rings.update([asking()]) == []
    assert list(rings.marked) == [asking().key]
    again = new_rings()
    assert not again.applied(keyed(row("one")))[asking().key].rings
    assert again.toggle(asking().key)
    assert new_rings().rings(asking().key)
    assert [path.name for path in home.iterdir()] == ["rings.json"]


def test_only_chosen_sessions_ring_if_none_do_by_default() -> None:
    """With `ring = "none"`, a session rings that the user has chosen."""
    rings = new_rings(by_default=False)
    rows = keyed(row("one"), row("two"))
    assert [each.rings for each in rings.applied(rows).values()] == [False, False]
    rings.toggle(("claude", "two"))
    assert [each.rings for each in rings.applied(rows).values()] == [False, True]
    assert rings.update([asking(), asking("two")]) == [asking("two")]


def test_the_oldest_choices_are_forgotten() -> None:
    """At most 500 choices are kept."""
    rings = new_rings()
    for number in range(502):
        rings.toggle(("claude", str(number)))
    again = new_rings()
    assert [again.rings(("claude", name)) for name in ("0", "1", "2", "501")] == [True, True, False, False]


def test_a_damaged_file_counts_as_no_choice(home: Path) -> None:
    """Whatever the file contains, the list opens."""
    home.mkdir()
    for damage in (b"", b"[]", b"{", b'{"claude:one": "no"}', b"\xff", b"[" * 5000):
        with case(damage[:30]):
            (home / "rings.json").write_bytes(damage)
            assert new_rings().rings(asking().key)
