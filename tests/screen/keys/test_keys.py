"""Keys do what the help says, in the whole app."""

from functools import partial

import pytest
from textual import events

from agentwatch.screen.screens.session.app import Leave
from agentwatch.screen.screens.session.box import SessionBox
from agentwatch.screen.screens.session.help import CommandList, Help, Palette
from agentwatch.screen.widgets.line_view import LineView
from tests.builders.moment.panes import watch_screen
from tests.builders.screen.app import PANES, bundled, lines_of, opened, viewport
from tests.builders.screen.lines import (
    CWD,
    answer,
    append,
    ended,
    init,
    prompt,
    result,
    session,
    shell,
    started,
)
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow


@pytest.mark.system
async def test_panes_follow_the_end_until_moved(recording: Saver) -> None:
    """All panes follow a growing session. A pane that was moved up by keys or the wheel stays where it is."""
    path = recording(session())
    async with opened(path, (120, 50), follow=True) as stage:
        # All panes follow a growing session. A pane that was moved up stays and counts the new lines below.
        watch_screen(stage).workspace.add_stderr([f"warning {number}" for number in range(9)])
        transcript, calls, stderr = (stage.pane(name) for name in ("transcript", "calls", "stderr"))
        await stage.append(shell(40))
        assert "warning 8" in viewport(stderr)[-1]
        for pane in (transcript, calls):
            assert "echo 40" in viewport(pane)[-1]
        await stage.press("1", "up")
        seen = viewport(transcript)
        await stage.append(shell(41) + answer("New."))
        assert viewport(transcript) == seen
        assert "new below" in str(transcript.border_subtitle)
        assert "echo 41" in viewport(calls)[-1]
        await stage.press("G")
        assert viewport(transcript)[-1] == "New."
        await stage.append(shell(42))
        assert "echo 42" in viewport(transcript)[-1]
        # The wheel scrolls the pane under the mouse, whichever pane is focused.
        await stage.press("1")
        before = viewport(stderr)
        await stage.pilot._post_mouse_events([events.MouseScrollUp], stderr, offset=(5, 3))
        await stage.until(lambda: viewport(stderr) != before, "a move")
        seen = viewport(stderr)
        await stage.append(shell(43))
        assert viewport(stderr) == seen
        assert stage.focus == "transcript"


def is_at(pane: LineView, end: int) -> bool:
    """Return whether a pane shows its first line at its top, or for -1 its last line at its bottom."""
    return viewport(pane)[end] == lines_of(pane)[end]


@pytest.mark.system
async def test_keys_move_and_open_in_each_pane(recording: Saver) -> None:
    """In each pane keys move to the ends; enter or a click leads from a call to its detail."""
    text = "\n".join(f"row {n}" for n in range(200))
    async with opened(recording(session() + shell(99, 0, text))) as stage:
        # In every pane `g` goes to the start, `G` to the end, and the page keys move between them.
        for number, name in enumerate(PANES, 1):
            pane = stage.pane(name)
            await stage.press(str(number), "g")
            await stage.until(partial(is_at, pane, 0), "the beginning")
            first = viewport(pane)
            await stage.press("pagedown", "pagedown")
            assert viewport(pane) != first
            await stage.press("pageup", "pageup")
            assert viewport(pane) == first
            await stage.press("G")
            await stage.until(partial(is_at, pane, -1), "the end")
        # Enter on a call focuses its detail; esc goes back to the calls.
        await stage.press("2", "G", "k")
        await stage.press("2", "k", "k")
        await stage.until(lambda: "echo 37" in lines_of(stage.pane("detail"))[0], "the detail")
        await stage.press("enter")
        assert stage.focus == "detail"
        assert stage.chosen == "echo 37"
        await stage.press("escape")
        assert stage.focus == "calls"
        # A click selects a call, and a double click focuses its detail.
        calls = stage.pane("calls")
        await stage.pilot.click(calls, offset=(8, 3))
        assert stage.chosen == viewport(calls)[1].split("shell")[1].split("1.5")[0].strip()
        await stage.pilot.double_click(calls, offset=(8, 5))
        await stage.until(lambda: stage.focus == "detail", "the detail")
        # The detail shows the call under the cursor of the calls.
        await stage.press("2", "g")
        for number in range(4):
            await stage.shows(f"$ echo {number}", "detail")
            assert f"out {number}" in lines_of(stage.pane("detail"))
            await stage.press("j")
        # A key typed right after the key of a pane acts in that pane.
        await stage.press("2", "G")
        await stage.pilot.pause()
        for key in ("1", "g"):
            stage.app.post_message(events.Key(key, key))
        transcript = stage.pane("transcript")
        await stage.until(lambda: viewport(transcript)[0] == "› Mend it.", "the beginning")
        assert viewport(stage.pane("calls"))[-1] == lines_of(stage.pane("calls"))[-1]


@pytest.mark.system
async def test_space_pauses_the_moment(recording: Saver) -> None:
    """A paused moment does not change and shows how far it is behind; `L` shows the new events."""
    path = recording(session(3))
    async with opened(path, follow=True) as stage:
        await stage.press("space")
        await stage.shows("‖")
        append(path, shell(77))
        await stage.shows("2 events, 1 call behind live")
        assert "echo 77" not in stage.text()
        await stage.press("L")
        await stage.until(lambda: "echo 77" in stage.text(), "the call")
        await stage.until(lambda: "behind" not in stage.header, "the live moment")


@pytest.mark.system
async def test_keys_copy_unfold_and_show_the_lines(recording: Saver) -> None:
    """`y` copies what is selected, `t` shows the thinking and `r` the raw lines; one message is shown."""
    async with opened(path := recording(session(2) + result("Step 0.Step 1."))) as stage:
        # Only the newest message is shown.
        await stage.press("n", "2", "y")
        await stage.shows("copied #2")
        await stage.until(lambda: "no search yet" not in stage.text(), "one message")
        # `y` copies the answer, the address and the action of a call, or the detail; a message names it.
        await stage.press("1", "y")
        assert stage.app.clipboard == "Step 0.\n\nStep 1."
        await stage.shows("copied the text of the last run, 3 lines")
        await stage.press("2", "y")
        assert stage.app.clipboard == f"{path}#2 Ran terminal command echo 1"
        await stage.shows("copied #2 with its address, 1 line")
        await stage.press("3", "y")
        assert stage.app.clipboard == "out 1"
        await stage.shows("copied #2's output, 1 line")
        watch_screen(stage).workspace.add_stderr(["one", "two"])
        await stage.press("4", "y")
        assert stage.app.clipboard == "one\ntwo"
        await stage.shows("copied stderr, 2 lines")
        # After `[` has selected a call in the transcript, `y` copies that call; following again, the text.
        await stage.press("2", "G", "1", "[", "y")
        assert stage.app.clipboard == f"{path}#1 Ran terminal command echo 0"
        await stage.shows("copied #1 with its address, 1 line")
        await stage.press("G", "y")
        assert stage.app.clipboard == "Step 0.\n\nStep 1."
        # A completed thought is one line with its duration; `t` shows its text, and `t` again hides it.
        assert "thinking 2.5 s ▸" in stage.text()
        assert "A thought." not in stage.text()
        await stage.press("t")
        await stage.until(lambda: "A thought." in stage.text(), "the thought")
        assert "Step 0." in stage.text()
        await stage.press("t")
        await stage.until(lambda: "A thought." not in stage.text(), "no thought")
        assert "thinking 2.5 s ▸" in stage.text()
        assert "Step 0." in stage.text()
        # `r` shows the selected call as recorded, from any pane; `r` again returns to the detail.
        await stage.press("2", "G")
        await stage.press("2", "r")
        await stage.until(lambda: "started · byte" in stage.text(), "the raw lines")
        assert '"call_id": "call-1"' in "".join(lines_of(stage.pane("detail")))
        await stage.press("r")
        await stage.until(lambda: "started · byte" not in stage.text(), "the detail")
        # `e` says that there is no failure, or that none is among the calls that the filter shows.
        await stage.press("e")
        await stage.shows("no failure")
        await stage.press("f", *"echo", "enter", "e")
        await stage.shows("no failure shown")


@pytest.mark.system
async def test_what_is_copied_is_safe_text(recording: Saver) -> None:
    """Text selected with the mouse, and what `y` copies, is in the clipboard without control characters."""
    # Copied text contains no character that could control the terminal it is pasted into.
    async with opened(bundled("hostile")) as stage:
        for key in "1234":
            await stage.press(key, "y")
            copied = stage.app.clipboard
            assert copied
            assert not [char for char in copied if char != "\n" and not char.isprintable()]
    # Text selected with the mouse is in the clipboard once the button is released.
    async with opened(recording(init() + prompt("Mend the wheel of 東京."))) as stage:
        pane = stage.pane("transcript")
        await stage.pilot.mouse_down(pane, offset=(4, 1))
        await stage.pilot.hover(pane, offset=(17, 1))
        await stage.pilot.mouse_up(pane, offset=(17, 1))
        await stage.until(lambda: stage.app.clipboard == "Mend the wheel", "the text")


@pytest.mark.system
async def test_e_goes_to_the_failures(recording: Saver) -> None:
    """`E` selects the previous failure, `e` the next; a message numbers it, and the key line counts them."""
    async with opened(recording(session(40, 5, 20)), (160, 45)) as stage:
        found = []
        for key in ("E", "E", "e"):
            await stage.press(key)
            found.append(stage.chosen)
        assert found == ["echo 20", "echo 5", "echo 20"]
        assert any("echo 20" in row for row in viewport(stage.pane("calls")))
        await stage.shows("failure 2 of 2")
        await stage.press("e")
        await stage.shows("failure 1 of 2 · not tried again")
        assert stage.chosen == "echo 5"
        await stage.shows("2 failed")
        await stage.shows("e Failure 2")


@pytest.mark.system
async def test_help_shows_every_key() -> None:
    """`?` `?` shows every key; `?`, esc, q and enter close it and return to the pane, nothing else."""
    async with opened(bundled("demo"), (120, 70)) as stage:
        await stage.press("2")
        for back in ("question_mark", "escape", "q", "enter"):
            await stage.press("question_mark", "question_mark")
            assert isinstance(stage.app.screen, Help)
            text = stage.text()
            for words in (
                *(
                    "1  2  3  4",
                    "m ",
                    "[  ]  enter",
                    "j ↓  k ↑",
                    "g home  G end",
                    "e  E",
                    "space",
                    "t ",
                    "r ",
                ),
                *("y ", "play faster; slower", "quit (asks"),
            ):
                assert words in text
            await stage.press(back)
            assert len(stage.app.screen_stack) == 1
            assert (stage.focus, stage.app.is_running, stage.app.return_value) == ("calls", True, None)
        # At 40 by 12 every line of the help can be reached.
        await stage.pilot.resize_terminal(40, 12)
        await stage.press("question_mark", "question_mark")
        assert "Panes" in stage.text()
        await stage.press("end")
        await stage.until(lambda: "all keys" in stage.text(), "the last line")


async def test_q_quits() -> None:
    """q, ctrl+c and ctrl+q quit at once when the session is over."""
    for key in ("q", "ctrl+c", "ctrl+q"):
        with case(key):
            async with opened(bundled("demo")) as stage:
                await stage.press(key)
                assert stage.app.return_value is Leave.OVER


def edit(path: str) -> bytes:
    args: dict[str, object] = {"path": path}
    return started("edit", "edit", args) + ended("edit", "edit", args, {"success": {"linesAdded": 1}})


@pytest.mark.system
async def test_i_shows_the_integrity_details(recording: Saver) -> None:
    """`i` `5` lists failed integrity checks from any pane; `i`, esc and q return to that pane."""
    async with opened(recording(session(2) + b"half a li\n" + result("Step 0.Step 1."))) as stage:
        for back in ("i", "escape", "q"):
            await stage.press("2", "i", "5")
            assert isinstance(stage.app.screen, SessionBox)
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
        await stage.press("ctrl+p", *"theme")
        assert isinstance(stage.app.screen, Palette)
        await stage.shows("Change the theme")
        await stage.press("escape", "2", "ctrl+p")
        commands = "\n".join(lines_of(stage.app.screen.query_one(CommandList)))
        for words in ("Session: files", "Filter calls", "Copy the selection"):
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
