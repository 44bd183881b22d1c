"""The find bar over the panes, without the rest of the workspace."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import Static

from agentwatch.base.files import stylesheets
from agentwatch.screen.panes.calls.pane import CallTable
from agentwatch.screen.screens.session.find_bar import FindBar
from agentwatch.screen.screens.session.panes import Panes
from agentwatch.screen.widgets.line_view import PaneWanted
from tests.builders.lines import feed_of
from tests.builders.screen.app import eventually, measure_all


class FindApp(App[None]):
    """The panes side by side above the find bar, with the workspace's key bindings for it."""

    CSS_PATH = stylesheets()
    CSS = """
    Screen { layout: horizontal; }
    #calls, #detail { width: 9fr; height: 1fr; }
    #log { width: 12; height: 1fr; }
    #find { dock: bottom; height: 1; }
    #find .label { width: auto; }
    #find Input { width: 1fr; max-width: 40; }
    #find .note { width: 2fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """
    BINDINGS = [
        Binding("slash", "find"),
        Binding("n", "find_next(1)"),
        Binding("N", "find_next(-1)"),
        Binding("escape", "close"),
    ]

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.feed = feed_of(path, follow=True)
        self.panes = Panes(self.feed)
        self.bar = FindBar(self.feed, self.panes)
        self.pane = "transcript"
        self.shown: list[FindBar.Shown] = []

    def compose(self) -> ComposeResult:
        panes = self.panes
        yield from (panes.transcript, panes.calls, panes.detail)
        yield self.bar

    def on_mount(self) -> None:
        self.action_pane("transcript")
        self.call_after_refresh(self.sync)

    def sync(self) -> None:
        """Apply new lines, as a tick does."""
        self.feed.advance()
        self.panes.sync(None)
        self.bar.sync()

    def action_pane(self, name: str) -> None:
        self.pane = name
        self.panes.named(name).focus()

    def action_find(self) -> None:
        """Open the find bar."""
        self.bar.open(self.pane)

    def action_find_next(self, step: int) -> None:
        """Go to another match."""
        if not self.bar.step(step, self.pane):
            self.notify("nothing")

    def action_close(self) -> None:
        self.bar.close()

    @on(CallTable.Chosen)
    def _call_chosen(self) -> None:
        if self.panes.calls.chosen is not None:
            self.panes.detail.show_call(self.panes.calls.chosen)

    @on(FindBar.Shown)
    def _find_shown(self, event: FindBar.Shown) -> None:
        self.pane = event.pane
        self.shown.append(event)

    @on(PaneWanted)
    def _find_closed(self, event: PaneWanted) -> None:
        self.action_pane(event.pane)

    @property
    def counter(self) -> str:
        return str(self.bar.query_one("#find .note", Static).content)


@asynccontextmanager
async def shown(path: Path, size: tuple[int, int] = (160, 20)) -> AsyncIterator[tuple[FindApp, Pilot[None]]]:
    """Run the app on a recording, read to its end."""
    app = FindApp(path)
    async with app.run_test(size=size) as pilot:
        await eventually(pilot, app.panes.transcript.line_count, "the transcript")
        measure_all(app.panes.transcript)
        yield app, pilot
