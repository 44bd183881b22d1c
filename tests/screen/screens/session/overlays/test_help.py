"""The help shows every key as it is bound, at every size."""

import importlib
import pkgutil

import pytest
from textual.binding import Binding
from textual.dom import DOMNode

import agentwatch.screen
from agentwatch.agents.opening import saved_source
from agentwatch.base.config import Config
from agentwatch.feed.feed import Feed
from agentwatch.screen.keys import SESSION, Key, row_words, shortcuts
from agentwatch.screen.panes.calls.pane import CallTable, FilterBar
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.screens.session.help import Help, HelpView
from agentwatch.screen.terminal.signals import PendingSignals
from tests.builders.home.home_app import row
from tests.builders.machine.app import at_home
from tests.builders.moment.panes import watch_screen
from tests.builders.screen.app import Stage, bundled, eventually, opened
from tests.conftest import case


@pytest.mark.system
@pytest.mark.slow
async def test_the_help_is_whole_moves_and_is_searched() -> None:
    """No word of the help is cut; its keys move it, and `/` searches it."""
    async with opened(bundled("demo")) as stage:
        # What a key does is shown to the last word, wrapped over as many lines as it needs.
        await stage.press("?", "?")
        view = await _help(stage)
        for size in ((160, 50), (100, 40), (40, 12), (80, 24)):
            with case(size):
                await stage.pilot.resize_terminal(*size)
                room = view.scrollable_content_region.width
                drawn = [view.draw(y, room) for y in range(view.line_count())]
                assert max(strip.cell_length for strip in drawn) <= room
                shown = "".join("".join(segment.text for segment in list(strip)[2:]) for strip in drawn)
                documented = [row_words(row) for topic in SESSION for row in topic.rows() if row[0].keys]
                assert "".join(shown.split()) == "".join("".join(documented).split())
        # Each key that the help lists for moving scrolls the help.
        await stage.press("escape")
        await stage.press("?", "?")
        view = await _help(stage)
        for back, forward in (
            *(("k", "j"), ("up", "down"), ("pageup", "pagedown"), ("ctrl+b", "ctrl+f")),
            *(("ctrl+u", "ctrl+d"), ("g", "G"), ("home", "end")),
        ):
            with case(forward):
                await stage.press(forward)
                await stage.until(lambda: view.scroll_offset.y > 0, "the text below")
                await stage.press(back)
                await stage.until(lambda: view.scroll_offset.y == 0, "the beginning")
        # `/` shows only the rows with all words that are typed; `esc` shows all again, and then closes.
        await stage.press("escape")
        await stage.press("?", "slash", *"scroll left", "enter")
        await stage.until(lambda: _rows(stage) == ["h  l  w"], "one row")
        await stage.press("slash", *"zz")
        await stage.until(lambda: _rows(stage) == [], "no row")
        await stage.press("escape")
        await stage.until(lambda: len(_rows(stage)) > 30, "all rows")
        assert isinstance(stage.app.screen, Help)
        await stage.press("escape")
        await stage.until(lambda: not isinstance(stage.app.screen, Help), "the session")


@pytest.mark.slow
async def test_the_help_begins_with_the_keys_of_the_pane() -> None:
    """It has 15 keys of the focused pane on one page at 80 by 24; again it has all, and then it closes."""
    own = {"1": "open or unfold a line", "2": "slowest calls first (toggle)", "3": "detail: wrap long lines"}
    async with opened(bundled("demo"), (80, 24)) as stage:
        watch_screen(stage).workspace.add_stderr(["a warning"])
        for pane, does in (*own.items(), ("4", "stderr: show the whole line")):
            await stage.press(pane, "?")
            view = await _help(stage)
            assert len(view.rows) == 15
            assert does in [row.does for row in view.rows]
            assert view.max_scroll_y == 0
            await stage.press("?")
            await stage.until(lambda: len(_rows(stage)) > 30, "all keys")
            await stage.press("?")
            await stage.until(lambda: not isinstance(stage.app.screen, Help), "the session")
    async with at_home([row("one")]) as home:
        await home.press("?")
        assert len(home.app.screen.query_one(HelpView).rows) == 15
        await home.shows("answer its permission prompt")
        await home.press("?")
        await home.shows("Sessions")


async def _help(stage: Stage) -> HelpView:
    """Wait for the help, and return its rows."""
    await stage.until(lambda: [each.line_count() for each in stage.app.screen.query(HelpView)], "the help")
    return stage.app.screen.query_one(HelpView)


def _rows(stage: Stage) -> list[str]:
    """Return the keys of the rows of the help that are shown."""
    return [row.keys for row in stage.app.screen.query_one(HelpView).rows]


def test_a_row_says_once_how_its_texts_begin() -> None:
    """A text that begins like the one before it is shown without that beginning; one word of it is left."""
    for texts, shown in (
        (("go to the calls", "go to the detail", "go to stderr"), "go to the calls; detail; stderr"),
        (("play faster", "pause", "play slower"), "play faster; pause; play slower"),
        (("quit", "quit", "quit now"), "quit; quit; now"),
        (("one",), "one"),
    ):
        with case(texts):
            assert row_words([Key("", "", "", "", text) for text in texts]) == shown


def test_the_rows_of_a_session_are_few_and_short() -> None:
    """A session has at most 36 rows of keys, and 80 columns have room for the text of each in one line."""
    rows = [row_words(row) for topic in SESSION for row in topic.rows() if row[0].keys]
    assert len(rows) <= 36
    assert max(map(len, rows)) <= 51


def test_every_binding_of_a_widget_is_in_the_table() -> None:
    """Each binding with an id is one of the table, so that the help shows it and the settings can name it."""
    for module in pkgutil.walk_packages(agentwatch.screen.__path__, "agentwatch.screen."):
        importlib.import_module(module.name)
    bound: set[str] = set()
    nodes: list[type] = [DOMNode]
    while nodes:
        node = nodes.pop()
        nodes += node.__subclasses__()
        if node.__module__.startswith("agentwatch."):
            bound |= {made.id for made in Binding.make_bindings(vars(node).get("BINDINGS", [])) if made.id}
    assert bound == {each.id for each in shortcuts() if each.id}


@pytest.mark.system
@pytest.mark.slow
async def test_configured_keys_are_shown_and_work() -> None:
    """Configured keys replace the defaults in the help, in it and in the calls."""
    # Configured keys replace the defaults in the help, and the configured help key closes it.
    source = saved_source(bundled("demo"))
    keys = {
        "help": "f1",
        "pause": "ctrl+g,.",
        "step": "f8",
        "filter-calls": "w",
        "slowest-calls": "f",
        "reverse": "f9",
    }
    app = AgentwatchApp(source, Feed(source.reader), PendingSignals(), Config(keys=keys))
    async with app.run_test(size=(160, 60)) as pilot:
        await pilot.press("f1")
        assert isinstance(app.screen, Help)
        assert "f1 all · / find · esc back" in str(app.screen.query_one(HelpView).border_subtitle)
        await pilot.press("f1")
        rows = {str(row.does): str(row.keys) for row in app.screen.query_one(HelpView).rows}
        assert rows["the keys of the pane; again: all keys"] == "f1"
        assert rows["pause, or play from there; play faster; slower"] == "ctrl+g .  + =  -"
        assert rows["one event back; forward"] == ",  f8"
        assert rows["play backwards (toggle)"] == "f9"  # by default only the palette has it
        assert "make the selected call the moment" not in rows
        assert rows["slowest calls first (toggle)"] == "f"
        assert next(key for does, key in rows.items() if does.startswith("filter calls")) == "w  esc  tab"
        await pilot.press("f1")
        assert not isinstance(app.screen, Help)
    # Once the filter and order keys are rebound, the default keys do nothing in the calls either.
    source = saved_source(bundled("demo"))
    keys = {"filter-calls": "w", "slowest-calls": "v"}
    app = AgentwatchApp(source, Feed(source.reader), PendingSignals(), Config(keys=keys))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("2", "s", "f")
        await pilot.pause()
        calls = app.screen.query_one(CallTable)
        assert calls.title == "2 Calls"
        assert not app.screen.query_one(FilterBar).display
        await pilot.press("v", "w")
        await eventually(pilot, lambda: "slowest first" in calls.title, "the slowest first")
        assert app.screen.query_one(FilterBar).display
