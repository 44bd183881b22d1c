"""The list of sessions alone, with made rows."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen

from agentwatch.agents.state_report import State
from agentwatch.base.files import stylesheets
from agentwatch.catalog.listing import Listing, Request
from agentwatch.catalog.row import Row
from agentwatch.catalog.row_counts import counts
from agentwatch.catalog.session_status import Ground, SessionStatus
from agentwatch.screen.screens.sessions.home import ContentsWanted, Home, ListFacts, Requested
from agentwatch.screen.screens.sessions.list import Chosen, DemoWanted, Opened, Wanted
from agentwatch.screen.terminal.frames import MainScreen

NOW_MS = 1_795_352_400_000
"""2026-11-22, 13:00 UTC."""
MINUTE_MS = 60_000


def row(name: str, state: State = State.WORKING, ground: Ground = Ground.SAID, **fields: Any) -> Row:
    """Return a session with the id `name`, whose state has lasted for a minute unless `since_ms` is given."""
    names = ("now", "since_ms", "now_since_ms", "is_calling", "until_ms")
    about = {key: fields.pop(key) for key in names if key in fields}
    status = SessionStatus(state, ground, **{"since_ms": NOW_MS - MINUTE_MS, **about})
    known = {
        "path": Path(f"/{name}.jsonl"),
        "agent": "claude",
        "title": f"Title of {name}",
        "repo": "api",
        "branch": "main",
        "began_ms": NOW_MS - 30 * MINUTE_MS,
        "seen_ms": NOW_MS - MINUTE_MS,
        "calls": 5,
        "failed": 0,
    }
    values = {**known, **fields}
    key = (str(values["agent"]), name)
    return Row(key=key, id=name, status=status, **values)


class HomeApp(App[None]):
    """Home alone, with the real style sheet; it keeps the messages that it gets."""

    CSS_PATH = stylesheets()
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]

    def __init__(self, rows: Iterable[Row], *, is_settled: bool = True) -> None:
        super().__init__()
        self._is_settled = is_settled
        self.listing = Listing()
        self.posted: list[Message] = []
        self.home = Home({})
        self.rows = {row.key: row for row in rows}

    def get_default_screen(self) -> Screen[None]:
        """Return a screen that draws only what has changed, as that of the program."""
        return MainScreen()

    def compose(self) -> ComposeResult:
        yield self.home

    def on_mount(self) -> None:
        self.put(is_settled=self._is_settled)

    def put(self, *rows: Row, now_ms: int = NOW_MS, is_settled: bool = True) -> None:
        """Add or replace sessions, and show all of them."""
        self.rows |= {row.key: row for row in rows}
        self.listing.update(self.rows.values(), now_ms)
        counted = counts(self.rows.values(), now_ms)
        self.home.limits.update(self.rows.values())
        self.home.show(self.listing, ListFacts(counted, is_settled=is_settled), now_ms)

    async def begin(self, pilot: Pilot[None], rows: Iterable[Row]) -> None:
        """Show other sessions as after the start: in the usual order, with the first one selected."""
        self.home.ask(Request())
        self.rows = {}
        self.put()
        self.put(*rows)
        await pilot.press("g")
        await pilot.pause()
        self.posted.clear()
        self.clear_notifications()
        await self.screen.query("ToastHolder").remove()  # there is room for one message

    def keep(self, message: Message) -> None:
        """Keep a message that the list posts; each widget that gets it reports it again."""
        kinds = (Wanted, Opened, DemoWanted, Chosen, Requested, ContentsWanted)
        if isinstance(message, kinds) and not any(message is each for each in self.posted):
            self.posted.append(message)


@asynccontextmanager
async def home_of(
    rows: Iterable[Row], size: tuple[int, int] = (140, 30), *, is_settled: bool = True
) -> AsyncIterator[tuple[HomeApp, Pilot[None]]]:
    """Run home with sessions in a test terminal."""
    app = HomeApp(rows, is_settled=is_settled)
    async with app.run_test(size=size, notifications=True, message_hook=app.keep) as pilot:
        await pilot.pause()
        yield app, pilot


def screen_rows(app: App[Any]) -> list[str]:
    """Return what the terminal shows, without trailing blanks."""
    strips = app.screen._compositor.render_strips(app.size)
    return [strip.text.rstrip() for strip in strips]


def working(count: int) -> list[Row]:
    """Return sessions that work, in the order of the list: `s0` first."""
    return [row(f"s{number:04}", seen_ms=NOW_MS - number * 1000) for number in range(count)]


def chosen_id(app: HomeApp) -> str:
    chosen = app.home.sessions.chosen
    assert chosen is not None
    return chosen.id
