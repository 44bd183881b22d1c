"""Find shows what is found where it stands, while it is typed, and leads back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import Input, Static

from agentwatch.feed import Feed
from agentwatch.recording import open_saved
from agentwatch.resources import resource
from agentwatch.screen.calls import CallTable
from agentwatch.screen.find import FindBar
from agentwatch.screen.panes import Panes
from tests.screen.conftest import (
    answer,
    eventually,
    init,
    prompt,
    result,
    shell,
    thinking,
    viewport,
)

Saver = Callable[[bytes], Path]


class FindApp(App[None]):
    """The panes side by side over the line of find, with the keys that a screen gives it."""

    CSS_PATH = resource("styles") / "agentwatch.tcss"
    CSS = """
    Screen { layout: horizontal; }
    #calls, #detail { width: 9fr; height: 1fr; }
    #log { width: 12; height: 1fr; }
    #find { dock: bottom; height: 1; }
    #slash { width: 2; }
    #find Input { width: 1fr; max-width: 40; }
    #found { width: 2fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """
    BINDINGS = [
        Binding("slash", "find"),
        Binding("n", "find_next(1)"),
        Binding("N", "find_next(-1)"),
        Binding("escape", "close"),
    ]

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.feed = Feed(open_saved(path, True))
        self.feed.advance()
        self.panes = Panes(self.feed)
        self.bar = FindBar(self.feed, self.panes)
        self.pane = "transcript"
        self.shown: list[FindBar.Shown] = []

    def compose(self) -> ComposeResult:
        """Show the panes and the line."""
        panes = self.panes
        yield from (panes.transcript, panes.calls, panes.detail, panes.log)
        yield self.bar

    def on_mount(self) -> None:
        """Show what is there."""
        self.action_pane("transcript")
        self.call_after_refresh(self.sync)

    def sync(self) -> None:
        """Take what is new, as a tick does."""
        self.feed.advance()
        self.panes.sync(None)
        self.bar.sync()

    def action_pane(self, name: str) -> None:
        """Go to a pane."""
        self.pane = name
        self.panes.named(name).focus()

    def action_find(self) -> None:
        """Open the line."""
        self.bar.open(self.pane)

    def action_find_next(self, step: int) -> None:
        """Go to another match."""
        if not self.bar.step(step, self.pane):
            self.notify("nothing")

    def action_close(self) -> None:
        """Take the line away."""
        self.bar.close()

    @on(CallTable.Chosen)
    def _call_chosen(self, event: CallTable.Chosen) -> None:
        self.panes.detail.show_call(event.call)

    @on(FindBar.Shown)
    def _find_shown(self, event: FindBar.Shown) -> None:
        self.pane = event.pane
        self.shown.append(event)

    @on(FindBar.Closed)
    def _find_closed(self, event: FindBar.Closed) -> None:
        self.action_pane(event.pane)

    @property
    def told(self) -> str:
        """What the line tells."""
        return str(self.bar.query_one("#found", Static).content)


@asynccontextmanager
async def shown(path: Path, size: tuple[int, int] = (160, 20)) -> AsyncIterator[tuple[FindApp, Pilot[None]]]:
    """Show a recording, read to its end."""
    app = FindApp(path)
    async with app.run_test(size=size) as pilot:
        await eventually(pilot, app.panes.transcript.line_count, "the transcript")
        while app.panes.transcript.is_measuring:
            app.panes.transcript.measure_some()
        yield app, pilot


def history(count: int) -> bytes:
    """Return a long session of numbered texts and calls; call 7 printed a needle, text 30 holds another."""
    made = [init(), prompt("go on")]
    for number in range(count):
        needle = " with a needle inside" if number == 30 else ""
        made.append(answer(f"Text {number}{needle}.\n\nMore of {number}.\n\n"))
        made.append(shell(number, stdout="a needle here" if number == 7 else "nothing"))
    return b"".join(made) + result("")


def marked(app: FindApp) -> list[str]:
    """Return the pieces of the transcript that look like the current match."""
    pane = app.panes.transcript
    look = pane.look("selected").bgcolor
    strips = [pane.render_line(y) for y in range(pane.scrollable_content_region.height)]
    return [piece.text for strip in strips for piece in strip if piece.style and piece.style.bgcolor == look]


async def test_what_is_found_is_shown_while_it_is_typed(recording: Saver) -> None:
    """Typing goes to the first match from where the user is, marks it, and tells the count and the place."""
    async with shown(recording(history(60))) as (app, pilot):
        app.panes.transcript.action_top()
        await pilot.press("slash", *"needle")
        await eventually(pilot, lambda: app.told.startswith("1 of 2 ·"), "both matches")
        assert app.told == "1 of 2 · call 8 shell echo 7, result"
        assert app.panes.calls.chosen is app.feed.session.calls[7]
        assert any("echo 7" in line for line in viewport(app.panes.transcript))
        assert any("a needle here" in line for line in viewport(app.panes.detail))
        await pilot.press("down")
        assert app.told == "2 of 2 · text"
        assert marked(app) == ["needle"]
        assert any("Text 30 with a needle" in line for line in viewport(app.panes.transcript))
        await pilot.press("down")
        assert app.told == "1 of 2 · call 8 shell echo 7, result · from the beginning again"


async def test_the_screen_learns_where_it_is(recording: Saver) -> None:
    """Each match that is shown names its pane, its call and its line."""
    async with shown(recording(history(60))) as (app, pilot):
        app.panes.transcript.action_top()
        await pilot.press("slash", *"needle", "down")
        call, text = app.shown[-2:]
        assert (call.pane, text.pane) == ("detail", "transcript")
        assert call.search is not None
        assert call.match is not None
        assert call.search.line(call.match) == "a needle here"


async def test_escape_goes_back(recording: Saver) -> None:
    """`esc` brings back the pane, the lines in view and the chosen call, and takes the marks away."""
    async with shown(recording(history(60))) as (app, pilot):
        app.action_pane("calls")
        app.panes.calls.choose(3)
        app.panes.transcript.scroll_to(y=40, animate=False, immediate=True)
        await pilot.pause()
        before = [viewport(pane) for pane in (app.panes.transcript, app.panes.calls, app.panes.detail)]
        await pilot.press("slash", *"inside")
        await eventually(pilot, lambda: app.told.startswith("1 of 1"), "the match")
        assert viewport(app.panes.transcript) != before[0]
        await pilot.press("escape")
        await pilot.pause()
        assert [
            viewport(pane) for pane in (app.panes.transcript, app.panes.calls, app.panes.detail)
        ] == before
        assert app.pane == "calls"
        assert app.focused is app.panes.calls
        assert not marked(app)
        assert not app.bar.display


async def test_escape_follows_again(recording: Saver) -> None:
    """Who followed the end when the search began follows it again after `esc`."""
    path = recording(history(60))
    async with shown(path) as (app, pilot):
        await pilot.press("slash", *"text 3", "escape")
        await pilot.pause()
        assert app.panes.transcript.following
        assert app.panes.calls.following
        assert viewport(app.panes.transcript)[-1].startswith("✓ succeeded")


async def test_enter_keeps_the_place(recording: Saver) -> None:
    """Enter gives the keys back where the match is; `n` and `N` go on; `esc` takes the marks away."""
    async with shown(recording(history(60))) as (app, pilot):
        app.panes.transcript.action_top()
        await pilot.press("slash", *"needle", "enter")
        await pilot.pause()
        assert app.focused is app.panes.detail
        await pilot.press("n")
        assert app.told.startswith("2 of 2")
        await pilot.press("N")
        assert app.told == "1 of 2 · call 8 shell echo 7, result"
        await pilot.press("N")
        assert app.told == "2 of 2 · text · from the end again"
        seen = viewport(app.panes.transcript)
        await pilot.press("escape")
        assert viewport(app.panes.transcript)[: len(seen)] == seen
        assert not marked(app)
        await pilot.press("n")
        await eventually(pilot, lambda: app.told.startswith(("1 of 2", "2 of 2")), "the same search again")


async def test_another_query_starts_over_where_the_user_was(recording: Saver) -> None:
    """Each change of the query looks from where the search began; an empty one shows that place."""
    async with shown(recording(history(60))) as (app, pilot):
        app.panes.transcript.action_top()
        before = viewport(app.panes.transcript)
        await pilot.press("slash", *"text 4")
        await eventually(pilot, lambda: app.told.startswith("1 of 11"), "11 matches")
        await pilot.press("2")
        await eventually(pilot, lambda: app.told == "1 of 1 · text", "one match")
        await pilot.press("backspace", "backspace")
        await eventually(pilot, lambda: app.told.startswith("1 of 60"), "all matches")
        await pilot.press(*["backspace"] * 5)
        assert app.told == ""
        assert viewport(app.panes.transcript) == before[:-1]
        await pilot.press(*"nowhere")
        await eventually(pilot, lambda: app.told == "not found", "the end of the search")


async def test_a_folded_thought_opens_for_what_is_found_in_it(recording: Saver) -> None:
    """A match in a folded thought opens it, and it is folded again when the search goes on or back."""
    path = recording(init() + thinking("A needle.") + answer("text") + thinking("A needle too.") + result(""))
    async with shown(path) as (app, pilot):
        await pilot.press("slash", *"needle")
        await eventually(pilot, lambda: app.told == "1 of 2 · thinking", "the first")
        assert marked(app) == ["needle"]
        assert [line for line in viewport(app.panes.transcript) if "needle" in line] == ["  A needle."]
        await pilot.press("down")
        assert [line for line in viewport(app.panes.transcript) if "needle" in line] == ["  A needle too."]
        await pilot.press("escape")
        assert not any("needle" in line for line in viewport(app.panes.transcript))


async def test_a_wrapped_match_is_marked_whole(recording: Saver) -> None:
    """A match that the pane wraps, between words or within one, is marked on each of its lines."""
    words = "padding of some length before the " + "x" * 20 + "/" + "y" * 70 + " end"
    async with shown(recording(init() + answer(words) + result("")), (120, 20)) as (app, pilot):
        await pilot.press("slash", *"xx/yyyy", *"y" * 66)
        await eventually(pilot, lambda: app.told == "1 of 1 · text", "the match")
        assert len(marked(app)) > 1
        assert "".join(marked(app)) == "xx/" + "y" * 70


async def test_what_comes_is_counted(recording: Saver) -> None:
    """While the line stands, what comes is searched too, and nothing moves."""
    path = recording(history(20))
    async with shown(path) as (app, pilot):
        app.panes.transcript.action_top()
        await pilot.press("slash", *"needle", "enter")
        await eventually(pilot, lambda: app.told.startswith("1 of 1 "), "the match")
        seen = viewport(app.panes.transcript)
        with path.open("ab") as file:
            file.write(answer("one more needle"))
        app.sync()
        assert app.told.startswith("1 of 2 ")
        assert viewport(app.panes.transcript) == seen


async def test_what_is_pasted_is_safe(recording: Saver) -> None:
    """A query that is pasted cannot drive the terminal, and finds what safe text shows."""
    path = recording(init() + answer("a \x1b[31mred word") + result(""))
    async with shown(path) as (app, pilot):
        await pilot.press("slash")
        app.bar.query_one(Input).value = "\x1b[31m"
        await eventually(pilot, lambda: app.told == "1 of 1 · text", "the match")
        assert app.bar.query_one(Input).value == "␛[31m"
        assert marked(app) == ["␛[31m"]


async def test_n_without_a_search_does_nothing(recording: Saver) -> None:
    """Before anything was looked for there is no next match."""
    async with shown(recording(history(3))) as (app, _):
        assert not app.bar.step(1, "transcript")
        assert not app.bar.display
