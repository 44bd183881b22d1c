"""The find bar shows matches where they occur, while the query is typed, and esc returns to the start."""

import pytest
from textual.widgets import Input

from tests.builders.screen.app import eventually, opened, viewport
from tests.builders.screen.find_app import FindApp, shown
from tests.builders.screen.lines import answer, append, init, prompt, result, shell, thinking
from tests.conftest import Saver

pytestmark = pytest.mark.slow


def history(count: int) -> bytes:
    """Return a session of numbered texts and calls; call 7 printed a needle, and text 30 contains one."""
    made = [init(), prompt("go on")]
    for number in range(count):
        needle = " with a needle inside" if number == 30 else ""
        made.append(answer(f"Text {number}{needle}.\n\nMore of {number}.\n\n"))
        made.append(shell(number, stdout="a needle here" if number == 7 else "nothing"))
    return b"".join(made) + result("")


def marked(app: FindApp) -> list[str]:
    """Return the pieces of the transcript in the style of the current match."""
    pane = app.panes.transcript
    strips = [pane.render_line(y) for y in range(pane.scrollable_content_region.height)]
    return [piece.text for strip in strips for piece in strip if piece.style and piece.style.reverse]


@pytest.mark.system
async def test_a_long_query_is_shown_whole(recording: Saver) -> None:
    """In a wide terminal a query of 60 characters is shown to its last one, and so is the place."""
    words = "Text 30 with a needle inside. and some more words than fit"
    async with opened(recording(history(60)), (160, 45)) as stage:
        await stage.press("slash", *words)
        await stage.shows(words)
        await stage.shows("not found")


@pytest.mark.system
async def test_a_match_is_marked_whole(recording: Saver) -> None:
    """A match that wraps is marked on each of its lines, one in a folded thought opens it."""
    # A match that wraps, between words or within one, is marked on each of its lines.
    words = "padding of some length before the " + "x" * 20 + "/" + "y" * 70 + " end"
    async with shown(recording(init() + answer(words) + result("")), (120, 20)) as (app, pilot):
        await pilot.press("slash")
        app.bar.query_one(Input).value = "xx/" + "y" * 70
        await eventually(pilot, lambda: app.counter == "1 of 1 · text", "the match")
        assert len(marked(app)) > 1
        assert "".join(marked(app)) == "xx/" + "y" * 70
    # A match in a folded thought opens it; it folds again when the search moves on or ends.
    path = recording(init() + thinking("A needle.") + answer("text") + thinking("A needle too.") + result(""))
    async with shown(path) as (app, pilot):
        await pilot.press("slash", *"needle")
        await eventually(pilot, lambda: app.counter == "1 of 2 · thinking", "the first")
        assert marked(app) == ["needle"]
        assert [line for line in viewport(app.panes.transcript) if "needle" in line] == ["  A needle."]
        await pilot.press("down")
        assert [line for line in viewport(app.panes.transcript) if "needle" in line] == ["  A needle too."]
        await pilot.press("escape")
        assert not any("needle" in line for line in viewport(app.panes.transcript))


@pytest.mark.system
async def test_new_matches_are_counted(recording: Saver) -> None:
    """While the bar is open, matches in new lines are counted, and the view does not move."""
    path = recording(history(20))
    async with shown(path) as (app, pilot):
        app.panes.transcript.action_top()
        await pilot.press("slash", *"needle", "enter")
        await eventually(pilot, lambda: app.counter.startswith("1 of 1 "), "the match")
        seen = viewport(app.panes.transcript)
        append(path, answer("one more needle"))
        app.sync()
        assert app.counter.startswith("1 of 2 ")
        assert viewport(app.panes.transcript) == seen


async def test_a_pasted_query_is_safe(recording: Saver) -> None:
    """A pasted query is shown as safe text, and finds what is displayed as that safe text."""
    path = recording(init() + answer("a \x1b[31mred word") + result(""))
    async with shown(path) as (app, pilot):
        await pilot.press("slash")
        app.bar.query_one(Input).value = "\x1b[31m"
        await eventually(pilot, lambda: app.counter == "1 of 1 · text", "the match")
        assert app.bar.query_one(Input).value == "␛[31m"
        assert marked(app) == ["␛[31m"]


@pytest.mark.system
async def test_matches_are_shown_while_the_query_is_typed(recording: Saver) -> None:
    """Typing goes to the first match, and names its place; keys go to other matches, and esc goes back."""
    async with shown(recording(history(60))) as (app, pilot):
        # Before any search, `n` finds no match and does not open the bar.
        assert not app.bar.step(1, "transcript")
        assert not app.bar.display
        # Typing goes to the first match from the current position, marks it, and shows its number and place.
        app.panes.transcript.action_top()
        await pilot.press("slash", *"needle")
        await eventually(pilot, lambda: app.counter.startswith("1 of 2 ·"), "both matches")
        assert app.counter == "1 of 2 · #8 shell echo 7, result"
        assert app.panes.calls.chosen is app.feed.session.calls[7]
        assert any("echo 7" in line for line in viewport(app.panes.transcript))
        assert any("a needle here" in line for line in viewport(app.panes.detail))
        await pilot.press("down")
        assert app.counter == "2 of 2 · text"
        assert marked(app) == ["needle"]
        assert any("Text 30 with a needle" in line for line in viewport(app.panes.transcript))
        await pilot.press("down")
        assert app.counter == "1 of 2 · #8 shell echo 7, result · wrapped to the start"
        # Each match that is shown names its pane, so that the screen can focus it.
        await pilot.press("escape", "escape")
        app.panes.transcript.action_top()
        await pilot.press("slash", *"needle", "down")
        assert [event.pane for event in app.shown[-2:]] == ["detail", "transcript"]
        # Enter moves the focus to the match. `n` and `N` go to other matches, and esc removes the marks.
        await pilot.press("escape", "escape")
        app.panes.transcript.action_top()
        await pilot.press("slash", *"needle", "enter")
        await pilot.pause()
        assert app.focused is not None
        assert app.focused.id == "detail"
        await pilot.press("n")
        assert app.counter.startswith("2 of 2")
        await pilot.press("N")
        assert app.counter == "1 of 2 · #8 shell echo 7, result"
        await pilot.press("N")
        assert app.counter == "2 of 2 · text · wrapped to the end"
        seen = viewport(app.panes.transcript)
        await pilot.press("escape")
        assert viewport(app.panes.transcript)[: len(seen)] == seen
        assert not marked(app)
        await pilot.press("n")
        await eventually(pilot, lambda: app.counter.startswith(("1 of 2", "2 of 2")), "the same search again")
        # Each change of the query searches from where the search began; an empty query goes back there.
        await pilot.press("escape", "escape")
        app.panes.transcript.action_top()
        before = viewport(app.panes.transcript)
        await pilot.press("slash", *"text 4")
        await eventually(pilot, lambda: app.counter.startswith("1 of 11"), "11 matches")
        await pilot.press("2")
        await eventually(pilot, lambda: app.counter == "1 of 1 · text", "one match")
        await pilot.press("backspace", "backspace")
        await eventually(pilot, lambda: app.counter.startswith("1 of 60"), "all matches")
        await pilot.press(*["backspace"] * 5)
        assert app.counter == ""
        assert viewport(app.panes.transcript) == before[:-1]
        await pilot.press(*"nowhere")
        await eventually(pilot, lambda: app.counter == "not found", "the end of the search")
        # Esc restores the pane, the visible lines and the selected call, and removes the marks.
        await pilot.press("escape")
        app.action_pane("calls")
        app.panes.calls.choose(3)
        app.panes.transcript.scroll_to(y=40, animate=False, immediate=True)
        await pilot.pause()
        shown_before = [viewport(pane) for pane in (app.panes.transcript, app.panes.calls, app.panes.detail)]
        await pilot.press("slash", *"inside")
        await eventually(pilot, lambda: app.counter.startswith("1 of 1"), "the match")
        assert viewport(app.panes.transcript) != shown_before[0]
        await pilot.press("escape")
        await pilot.pause()
        assert [
            viewport(pane) for pane in (app.panes.transcript, app.panes.calls, app.panes.detail)
        ] == shown_before
        assert app.pane == "calls"
        assert app.focused.id == "calls"
        assert not marked(app)
        assert not app.bar.display
        # If the end was followed when the search began, esc follows it again.
        app.panes.transcript.action_bottom()
        app.panes.calls.action_bottom()
        await pilot.press("slash", *"text 3", "escape")
        await pilot.pause()
        assert app.panes.transcript.following
        assert app.panes.calls.following
        assert viewport(app.panes.transcript)[-1].startswith("✓ succeeded")
