"""The goto box goes to the moment that is typed or selected, and names and lists the marked moments."""

from functools import partial
from pathlib import Path

import pytest
from textual import events

from agentwatch.analysis.moments import End
from agentwatch.screen.screens.session.goto import GotoScreen, MarkList
from tests.builders.screen.app import Stage, eventually, opened
from tests.builders.screen.goto_box import LINES, ROWS, Box, box, end_of, type_in
from tests.builders.screen.lines import BEGAN_MS, init, result, shell
from tests.builders.screen.marked import marks_of, write_times
from tests.conftest import Saver, case
from tests.screen.keys.test_type_ahead import burst

pytestmark = pytest.mark.slow

HINT = "a time, +95s, -10s, #12, 50%, start, end, a name"


async def test_the_box_lists_marked_moments_and_goes_to_them(path: Path) -> None:
    """Bookmarks stand first, then what marks itself; keys and clicks select one, and enter goes there."""
    async with box(path) as (app, pilot):
        # Bookmarks stand first, then what marks itself; the last line says what can be typed.
        assert [row.strip() for row in app.rows] == ROWS
        assert (app.chosen, app.note) == (None, HINT)
        # Down begins at the first row, up returns; a selected row counts before the text.
        await app.again(pilot)
        await pilot.press("down", "down", "down", "up")
        assert app.chosen == app.rows[1]
        await pilot.press("enter")
        assert app.given == [end_of(2)]
        await app.again(pilot)
        await type_in(pilot, "09:00:05")
        await pilot.press("ctrl+u")
        await type_in(pilot, "09")
        await pilot.press("pagedown", "enter")
        assert app.given == [end_of(3)]
        # A click selects a row, a second one goes there, and the keys still go to the input.
        await app.again(pilot)
        await pilot.click(MarkList, offset=(20, 1))
        assert app.chosen == app.rows[1]
        await type_in(pilot, "e")
        assert app.typed == "> e"
        await pilot.click(MarkList, offset=(20, 1), times=2)
        assert app.given == [end_of(2)]
        # While a time, a number or a word is being typed, no mistake is shown.
        await app.again(pilot)
        for text in ("12:", "#", "+", "7", "st", "li", "+9"):
            with case(text):
                await type_in(pilot, text)
                assert app.typed == f"> {text}"
                assert not app.note.startswith("!")
                await pilot.press("ctrl+u")
        # The last line says what is wrong, enter stays, and a corrected text goes.
        for text, note in (
            ("#9", "! no call #9: the session has 4 calls"),
            ("25:00", "! 25:00 is not a time of day"),
            ("08:00", "! 08:00:00 is not in the recording: 09:00:00 to 09:00:08"),
            ("150%", "! 150% is more than 100%"),
            ("nowhere", "! no marked moment matches nowhere"),
        ):
            with case(text):
                await type_in(pilot, text)
                assert app.note.startswith(note)
                await pilot.press("enter")
                assert app.given == []
                await pilot.press("ctrl+u")
                await type_in(pilot, "#1")
                assert app.note == "enter goes to 09:00:02 · ctrl+r names it"
                await pilot.press("ctrl+u")
        await type_in(pilot, "#1")
        await pilot.press("enter")
        assert app.given == [end_of(1)]
        # Esc and enter without a text leave the moment as it is.
        for key in ("escape", "enter"):
            await app.again(pilot)
            await pilot.press(key)
            assert app.given == [None]
        # The box fits into any terminal, and works there.
        for size in ((120, 40), (80, 24), (40, 12), (20, 8), (8, 4), (3, 2)):
            with case(size):
                await pilot.resize_terminal(*size)
                await app.again(pilot)
                shown = [strip.text for strip in app.screen._compositor.render_strips()]
                assert len(shown) == size[1]
                assert all(len(row) <= size[0] for row in shown)
                await type_in(pilot, "#2")
                await pilot.press("enter")
                assert app.given == [end_of(2)]


TEXTS = (
    ("09:00:04", end_of(2), "enter goes to 09:00:04 · ctrl+r names it"),
    ("live", End.LIVE, "enter goes to the end · ctrl+r names it"),
    ("-2s", end_of(1), "enter goes to 09:00:02 · ctrl+r names it"),
    ("rewri", end_of(1), "enter go · ctrl+r rename · ctrl+x delete"),
    ("#2", end_of(2), "enter goes to 09:00:04 · ctrl+r names it"),
    ("#4", end_of(4), "enter goes to 09:00:08 · ctrl+r names it"),
    ("start", 0, "enter goes to 09:00:00 · ctrl+r names it"),
    ("50%", end_of(2), "enter goes to 09:00:04 · ctrl+r names it"),
    ("+2s", end_of(3), "enter goes to 09:00:06 · ctrl+r names it"),
    ("before the rewrite", end_of(1), "enter go · ctrl+r rename · ctrl+x delete"),
    ("echo", end_of(2), "enter goes to 09:00:04 · ctrl+r names it"),
    ("wheel edit", end_of(3), "enter goes to 09:00:06 · ctrl+r names it"),
    ("09:00:06", end_of(3), "enter goes to 09:00:06 · ctrl+r names it"),
    ("09:00:0", end_of(1), "enter go · ctrl+r rename · ctrl+x delete"),
)


@pytest.mark.system
async def test_enter_goes_where_the_last_line_says(path: Path) -> None:
    """It may be a moment, also relative to the present one, a name, or a part of what is listed."""
    async with box(path, end_of(2)) as (app, pilot):
        for text, goal, note in TEXTS:
            with case(text):
                await app.again(pilot, end_of(2))
                await type_in(pilot, text)
                assert app.note == note
                await pilot.press("enter")
                assert app.given == [goal]


@pytest.mark.system
async def test_a_burst_of_keys_goes_at_once(recording: Saver) -> None:
    """`:#12` and enter in one burst go to the end of call 12; nothing of it acts as a key of a pane."""
    path = recording(*LINES, result())
    write_times(path)
    async with opened(path) as stage:
        await burst(stage, "colon", "x", "escape", "colon", "#", "2", "enter")
        await stage.until(lambda: "as of 09:00:04" in stage.header, "the end of call 2")
        for keys, words in (
            (tuple("live"), "succeeded"),
            (("#", "1"), "as of 09:00:02"),
            (tuple("echo"), "as of 09:00:04"),
        ):
            await burst(stage, "colon", *keys, "enter")
            await stage.until(partial(_is_in_header, stage, words), words)
            assert len(stage.app.screen_stack) == 1


def _is_in_header(stage: Stage, words: str) -> bool:
    return words in stage.header


@pytest.mark.system
async def test_keys_that_come_before_the_input_are_typed(path: Path) -> None:
    """Letters that reach the box before its input has the focus are not lost, and keep their order."""
    app = Box(marks_of(path), 0)
    async with app.run_test() as pilot:
        app.pop_screen()
        app.box = GotoScreen(app.marks, 0)
        app.push_screen(app.box, app.given.append)
        for key in ("#", "2"):
            app.box.post_message(events.Key(key, key))
        await eventually(pilot, lambda: app.typed == "> #2", "the text")
        await pilot.press("enter")
        assert app.given == [end_of(2)]


@pytest.mark.system
async def test_a_time_before_the_start_selects_the_first_mark_after_it(recording: Saver) -> None:
    """The minute in which a session began is typed: its marks are listed, and enter goes to the first."""
    path = recording(*LINES)
    write_times(path, BEGAN_MS + 6000)
    async with box(path) as (app, pilot):
        await type_in(pilot, "09:00")
        assert (app.chosen, app.note) == (app.rows[0], "enter go · ctrl+r rename · ctrl+x delete")
        await pilot.press("enter")
        assert app.given == [end_of(1)]


@pytest.mark.system
async def test_enter_waits_for_the_search(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter that comes before anything was found goes to the first match once it is found."""
    monkeypatch.setattr("agentwatch.screen.screens.session.goto._SLICE_SECONDS", 0)
    path = recording(init(), *(shell(number, 1) for number in range(600)))
    write_times(path)
    marks = marks_of(path)
    while marks.update(1):
        pass
    app = Box(marks, 0)
    async with app.run_test() as pilot:
        await eventually(pilot, lambda: app.screen is app.box and app.rows, "the list")
        app.box._search("echo 598")
        app.box.action_open()
        assert (app.given, app.note) == ([], HINT)
        await eventually(pilot, lambda: app.given, "the goal")
        ended = marks.session.calls[597].ended
        assert ended is not None
        assert app.given == [ended.offset + ended.length + 1]


@pytest.mark.system
async def test_bookmarks_are_named_and_deleted(path: Path) -> None:
    """The bookmark of the moment is selected; ctrl+r names it or any moment, and ctrl+x deletes it."""
    async with box(path, end_of(1)) as (app, pilot):
        # Right after `b`, the box opens with the new bookmark selected: ctrl+r names it.
        assert app.chosen == app.rows[0]
        await pilot.press("ctrl+r")
        assert (app.typed, app.note) == ("name before the rewrite", "the name of the bookmark at 09:00:02")
        await pilot.press("ctrl+u")
        await type_in(pilot, "after all")
        await pilot.press("enter")
        assert (app.typed, app.rows[0].strip()) == ("> ", '09:00:02  ◈ bookmark "after all"')
        assert app.given == []
        await pilot.press("enter")
        assert app.given == [end_of(1)]
        # Esc ends naming without a change, and leaves the box only when pressed again.
        app.marks.name(end_of(1), "before the rewrite")
        await app.again(pilot, end_of(1))
        await pilot.press("ctrl+r", "z", "escape")
        assert (app.given, app.rows[0].strip()) == ([], ROWS[0])
        await pilot.press("escape")
        assert app.given == [None]
        # A marker that is selected, a moment that is typed, or else the present one, becomes a bookmark.
        await app.again(pilot, end_of(3))
        await pilot.press("ctrl+r", "o", "n", "e", "enter")
        await type_in(pilot, "#4")
        await pilot.press("ctrl+r", "t", "w", "o", "enter", "ctrl+u")
        await type_in(pilot, "echo 2")
        await pilot.press("ctrl+r", "x", "escape", "ctrl+r", "r", "enter")
        named = [(each.offset, each.name) for each in app.marks.bookmarks]
        assert named == [
            (end_of(1), "before the rewrite"),
            (end_of(2), "r"),
            (end_of(3), "one"),
            (end_of(4), "two"),
        ]
        assert app.typed == "> echo 2"


async def test_a_bookmark_is_deleted(path: Path) -> None:
    """Ctrl+x removes the selected bookmark, and no marker."""
    async with box(path) as (app, pilot):
        await pilot.press("down", "down", "ctrl+x")
        assert len(app.rows) == 3
        await pilot.press("up", "ctrl+x")
        await pilot.pause()
        assert [row.strip() for row in app.rows] == ROWS[1:]
        assert len(app.marks.bookmarks) == 0


@pytest.mark.system
async def test_another_viewers_bookmarks_appear(path: Path) -> None:
    """What another viewer sets or removes is listed, and the selected row stays selected."""
    async with box(path) as (app, pilot):
        await pilot.press("down", "down")
        assert app.chosen == app.rows[1]
        other = marks_of(path)
        other.toggle(0)
        await eventually(pilot, lambda: len(app.rows) == 4, "the other bookmark")
        assert (app.chosen or "").strip() == ROWS[1]
        other.toggle(end_of(1))
        await eventually(pilot, lambda: len(app.rows) == 3, "one bookmark less")
        assert (app.chosen or "").strip() == ROWS[1]


@pytest.mark.system
async def test_a_name_cannot_control_the_terminal(path: Path) -> None:
    """Control characters and markup in the name of a bookmark are text."""
    async with box(path, end_of(1), name="\x1b[2J[/] [red]\u202e") as (app, pilot):
        assert app.rows[0].strip() == '09:00:02  ◈ bookmark "␛[2J[/] [red]<U+202E>"'
        await pilot.press("ctrl+r")
        assert app.typed == "name ␛[2J[/] [red]<U+202E>"
        await pilot.press("escape", "ctrl+x")
        assert len(app.marks.bookmarks) == 0
