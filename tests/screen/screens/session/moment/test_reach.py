"""A search at an earlier moment finds what comes later, and moves the moment on to it."""

from functools import partial

import pytest
from textual.widgets import Static

from agentwatch.screen.screens.session.screen import WatchScreen
from tests.builders.moment.panes import watch_screen
from tests.builders.screen.app import Stage, lines_of, opened
from tests.builders.screen.lines import answer, append, ended, init, prompt, shell, started, thinking
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

_LINES = [
    init(),
    prompt("go on"),
    answer("The first beast, "),
    answer("and a beast, a walrus, in the second."),
    shell(1, stdout="one"),
    started("late", "shell", {"command": "find badger"}),
    answer("In between."),
    ended("late", "shell", {"command": "find badger"}, {"success": {"stdout": "an otter", "exitCode": 0}}),
    shell(2, 3),
    thinking("A thought of a lynx."),
    answer("The last text has a beast: a heron."),
]


MATCHES = {"otter": 9, "heron": None, "walrus": 4, "badger": 7, "exit 3": 11, "lynx": 13}
"""Queries, and the line with which their match is complete; None for the last line."""


def after_line(number: int) -> int:
    """Return the moment after this line of the recording, counted from 1."""
    return sum(map(len, b"".join(_LINES).splitlines(keepends=True)[:number]))


def note(stage: Stage) -> str:
    """Return the note of the find bar."""
    return str(stage.app.screen.query_one("#find .note", Static).render())


async def go_to(stage: Stage, offset: int) -> None:
    """Show a moment."""
    watch_screen(stage).go_to(offset)
    await stage.settled()


def moment(stage: Stage) -> int | None:
    """Return the moment that is shown; None if it is the live one."""
    screen = stage.app.screen_stack[0]
    assert isinstance(screen, WatchScreen)
    playhead = screen._moment.playhead
    return None if playhead.is_live else playhead.offset


def shows_panes(stage: Stage, rows: list[str]) -> bool:
    return stage.rows()[2:-1] == rows


@pytest.mark.system
async def test_the_moment_moves_on_to_a_later_match(recording: Saver) -> None:
    """A match is shown at the first moment at which it is complete, and esc returns to the earlier one."""
    async with opened(recording(*_LINES)) as stage:
        await go_to(stage, after_line(3))
        before = stage.rows()[2:-1]
        for query, line in MATCHES.items():
            with case(f"{query}, {line}"):
                await stage.press("slash", *query)
                await stage.until(lambda: "moved on to " in note(stage), "the match")
                assert moment(stage) == (None if line is None else after_line(line))
                await stage.press("escape")
                assert moment(stage) == after_line(3)
                await stage.until(partial(shows_panes, stage, before), "the panes of before")
        # A match in the half-written text that is shown leaves the moment as it is.
        await go_to(stage, after_line(3))
        await stage.press("slash", *"first")
        await stage.until(lambda: "1 of 1" in note(stage), "the match")
        assert moment(stage) == after_line(3)
        assert "moved on" not in note(stage)
        # If another query has its match earlier, the moment at which the search began is shown again.
        await stage.press("escape")
        await go_to(stage, after_line(7))
        await stage.press("2", "slash", *"o")
        await stage.press(*"tter")
        await stage.until(lambda: moment(stage) == after_line(9), "the result")
        await stage.press(*["backspace"] * 5, *"first")
        await stage.until(lambda: "1 of 1" in note(stage), "the first text")
        assert moment(stage) == after_line(7)
        # `n` goes to the next match and moves the moment on; `N` goes back and leaves the moment.
        await stage.press("escape")
        await go_to(stage, after_line(3))
        await stage.press("1", "g", "slash", *"beast", "enter")
        await stage.until(lambda: "1 of 3" in note(stage), "the matches")
        assert moment(stage) == after_line(3)
        seen = []
        for key in ("n", "n", "N", "N"):
            await stage.press(key)
            seen.append(moment(stage))
        assert seen == [after_line(4), None, None, None]
        assert "1 of 3" in note(stage)
        await stage.press("n", "escape")
        assert moment(stage) is None
        # `moved on to` is no longer in the find bar after `L`.
        await go_to(stage, after_line(3))
        await stage.press("slash", *"otter", "enter")
        await stage.until(lambda: "moved on to " in note(stage), "the match")
        await stage.press("L")
        await stage.until(lambda: "moved on" not in note(stage), "the note without the moment")
        assert "1 of 1" in note(stage)
        # A call that has not begun or not ended at the moment is shown at the moment at which it has ended.
        await stage.press("escape")
        screen = stage.app.screen
        assert isinstance(screen, WatchScreen)
        calls = stage.feed.session.calls
        for begin in (3, 7):
            await go_to(stage, after_line(begin))
            screen.go_to_call(calls[1])
            assert moment(stage) == after_line(9)
            assert stage.chosen == "find badger"
            await stage.until(lambda: "an otter" in "".join(lines_of(stage.pane("detail"))), "its result")
        await go_to(stage, after_line(11))
        screen.go_to_call(calls[1])
        assert moment(stage) == after_line(11)


async def test_new_matches_are_counted_at_an_earlier_moment(recording: Saver) -> None:
    """While an earlier moment is shown, matches in new lines are counted, and the moment stays."""
    path = recording(*_LINES)
    async with opened(path, follow=True) as stage:
        await go_to(stage, after_line(3))
        await stage.press("slash", *"first", "enter")
        await stage.until(lambda: "1 of 1" in note(stage), "the match")
        append(path, answer(" The first of the new ones."))
        await stage.until(lambda: "1 of 2" in note(stage), "the new match")
        assert moment(stage) == after_line(3)
