"""Keys that no other test covers do what the help says, in the whole app."""

from __future__ import annotations

import pytest

from agentwatch.screen.screens.palette import CommandList, Palette
from agentwatch.screen.screens.session.integrity import IntegrityScreen
from tests.builders.screen.app import lines_of, opened, viewport
from tests.builders.screen.lines import CWD, ended, init, result, session, shell, started
from tests.conftest import Saver

pytestmark = pytest.mark.slow


def edit(path: str) -> bytes:
    """Return a call that edits a file."""
    args: dict[str, object] = {"path": path}
    return started("edit", "edit", args) + ended("edit", "edit", args, {"success": {"linesAdded": 1}})


@pytest.mark.system
async def test_i_shows_the_integrity_details(recording: Saver) -> None:
    """`i` lists failed integrity checks from any pane; `i`, esc and q return to that pane."""
    async with opened(recording(session(2) + b"half a li\n" + result("Step 0.Step 1."))) as stage:
        for back in ("i", "escape", "q"):
            await stage.press("2", "i")
            assert isinstance(stage.app.screen, IntegrityScreen)
            await stage.shows("9 bytes: not JSON")
            await stage.shows("text: the stream has 14 characters of text, the result 14")
            await stage.shows("paired: of 2 calls, 2 have a line for their start and one for their end")
            await stage.shows("malformed: 1 line not in JSON")
            await stage.press(back)
            assert len(stage.app.screen_stack) == 1
            assert stage.focus == "calls"


@pytest.mark.system
async def test_o_opens_the_file_of_the_chosen_call(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """`o` opens the file of the selected call from any pane, or shows why it cannot."""
    monkeypatch.setenv("VISUAL", "vi")
    async with opened(recording(init() + edit(f"{CWD}/gone.py") + shell(1) + result())) as stage:
        await stage.press("o")
        await stage.shows("The selected call (shell) has no file.")
        await stage.press("2", "k", "1", "o")
        await stage.shows(f"File not found: {CWD}/gone.py.")


@pytest.mark.system
async def test_ctrl_p_lists_commands(recording: Saver) -> None:
    """`ctrl+p` lists what the keys do, each with its keys, and the themes; esc closes it."""
    async with opened(recording(session(2) + result()), (120, 60)) as stage:
        # `ctrl+p` lists what the keys do, each with its keys, and the themes; esc closes it.
        await stage.press("ctrl+p", *"theme")
        assert isinstance(stage.app.screen, Palette)
        await stage.shows("Change the theme")
        await stage.press("escape", "2", "ctrl+p")
        commands = "\n".join(lines_of(stage.app.screen.query_one(CommandList)))
        for words in ("Files, on that of", "Filter calls", "Copy the selection"):
            assert words in commands
        for words in ("Screenshot", "Maximize the focused widget"):
            assert words not in commands
        await stage.press("escape", "ctrl+p", *"everywhere", "enter")
        await stage.until(lambda: stage.app.screen.query_one("#find").display, "the find bar")
        # Esc closes the palette.
        await stage.press("escape")
        await stage.press("ctrl+p")
        assert isinstance(stage.app.screen, Palette)
        await stage.press("escape")
        await stage.until(lambda: len(stage.app.screen_stack) == 1, "the panes")


@pytest.mark.system
async def test_pages_half_pages_and_matches(recording: Saver) -> None:
    """Page keys move by a page or half of one; down and up go to the matches of a query that is typed."""
    async with opened(recording(session(60) + result())) as stage:
        # The page keys move by one row less than the viewport, and back.
        pane = stage.pane("transcript")
        await stage.press("1")  # which folds what happened
        rows = len(viewport(pane))
        for down, up in (("pagedown", "pageup"), ("ctrl+f", "ctrl+b")):
            await stage.press("1", "g", down)
            assert viewport(pane)[0] == lines_of(pane)[rows - 1]
            await stage.press(down, up)
            assert viewport(pane)[0] == lines_of(pane)[rows - 1]
        # `ctrl+d` scrolls down by half a page, or moves the cursor so far; `ctrl+u` moves back.
        pane = stage.pane("transcript")
        await stage.press("1")  # which folds what happened
        rows = round((len(viewport(pane)) - 1) / 2)
        await stage.press("1", "g", "ctrl+d")
        assert viewport(pane)[0] == lines_of(pane)[rows]
        await stage.press("ctrl+u")
        assert viewport(pane)[0] == lines_of(pane)[0]
        rows = round((len(viewport(stage.calls)) - 1) / 2)
        await stage.press("2", "g", "ctrl+d")
        assert stage.chosen == f"echo {rows}"
        await stage.press("ctrl+u")
        assert stage.chosen == "echo 0"
        # Down and up go to the next and the previous match while the query is still being edited.
        await stage.press("1", "g", "slash", *"out 1")
        await stage.shows("1 of 11")
        await stage.press("down", "down")
        await stage.shows("3 of 11")
        await stage.press("up")
        await stage.shows("2 of 11")
        await stage.press("1")
        await stage.shows("1 of 1")
        assert stage.chosen == "echo 11"


@pytest.mark.system
async def test_the_palette_begins_with_what_was_run_most(recording: Saver) -> None:
    """A command that was run comes first the next time, and a theme that was chosen is kept."""
    path = recording(session(2) + result())
    async with opened(path) as stage:
        given = stage.app.theme
        await stage.press("ctrl+p", *"change theme", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, Palette), "the themes")
        await stage.press(*"nord", "enter")
        await stage.until(lambda: stage.app.theme == "nord", "the theme")
    async with opened(path) as stage:
        assert stage.app.theme == "nord"
        await stage.press("ctrl+p")
        first = lines_of(stage.app.screen.query_one(CommandList))[0]
        assert first.split() == ["Change", "the", "theme", "nord"]
        stage.app.choose_theme(given)
    async with opened(path) as stage:
        assert stage.app.theme == given
