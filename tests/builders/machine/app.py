"""The whole app of all sessions, over a machine whose rows a test sets."""

import threading
from collections.abc import AsyncIterator, Iterable
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from agentwatch.agents.session_entry import Key
from agentwatch.base.config import Config
from agentwatch.catalog.listing import Request
from agentwatch.catalog.row import Row, Rows
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.screen.screens.sessions.app import HomeApp
from agentwatch.screen.screens.sessions.preview import PreviewPane
from agentwatch.screen.screens.sessions.screen import HomeScreen
from agentwatch.screen.terminal.signals import PendingSignals
from agentwatch.text.safe import SafeText
from tests.builders.home.home_app import NOW_MS, screen_rows
from tests.builders.screen.app import eventually
from tests.conftest import present


class MadeMachine:
    """A machine with made rows."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows: Rows = {row.key: row for row in rows}
        self.is_found = True
        self.wants_all = False
        self.in_view: AbstractSet[Key] | None = None
        self.is_still = False
        self.notes: tuple[SafeText, ...] = ()
        self.problem = SafeText("")
        self.steps = 0
        self.has_more = False
        """Whether sessions are still to be found or read."""
        self.fault: Exception | None = None
        """Is raised by the next step."""

    def put(self, *rows: Row) -> None:
        """Add or replace sessions."""
        self.rows = {**self.rows, **{row.key: row for row in rows}}

    def drop(self, key: Key) -> None:
        """Let a session vanish."""
        self.rows = {known: row for known, row in self.rows.items() if known != key}

    def facts(self, key: Key) -> None:
        """Return nothing: its rows are made."""

    def close(self) -> None:
        """Do nothing."""

    def step(self, now_ms: int) -> bool:
        assert now_ms > 0
        assert threading.current_thread() is not threading.main_thread()
        self.steps += 1
        if self.fault is not None:
            raise self.fault
        return self.has_more


class HomeStage:
    """The app in a test terminal, and the pilot that drives it."""

    def __init__(self, app: HomeApp, machine: MadeMachine, pilot: Pilot[Any]) -> None:
        self.app = app
        self.machine = machine
        self.pilot = pilot
        self.written: list[str] = []
        """The control sequences that were written to the terminal."""

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until the app has handled them."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, check: Any, what: str) -> None:
        """Wait until `check` returns something true; fail after 20 s, naming `what`."""
        await eventually(self.pilot, check, what)

    async def shows(self, words: str) -> None:
        await self.until(lambda: words in self.text, words)

    async def put(self, *rows: Row) -> None:
        """Add or replace sessions, and wait until the app has them."""
        self.machine.put(*rows)
        await self.until(lambda: self.app._rows is self.machine.rows, "the new rows")

    async def begin(self, *rows: Row) -> None:
        """Return to the list, let it have only these sessions and no message, and select the first one."""
        for _ in range(6):  # as many as can be open over each other
            bars = self.home._home.request != Request() or self.home.query_one(PreviewPane).display
            if self.app.screen is self.home and not bars:
                break
            await self.press("escape")
        assert self.app.screen is self.home
        self.machine.rows = {row.key: row for row in rows}
        self.app.clear_notifications()
        await self.until(lambda: self.app._rows is self.machine.rows, "the new rows")
        await self.press("g")
        self.written.clear()

    @property
    def home(self) -> HomeScreen:
        """The screen of the list."""
        assert self.app.home is not None
        return self.app.home

    async def choose(self, name: str) -> None:
        """Select the session with an id."""
        await self.press("g")
        while self.chosen is None or self.chosen.id != name:
            before = self.chosen
            await self.press("j")
            assert self.chosen != before, f"{name} is not in the list"

    async def open(self, name: str | None = None) -> WatchScreen:
        """Open a session, by default the selected one, and return its screen."""
        if name is not None:
            await self.choose(name)
        await self.press("enter")
        await self.until(lambda: isinstance(self.app.screen, WatchScreen), "the session")
        assert isinstance(self.app.screen, WatchScreen)
        return self.app.screen

    async def back(self) -> None:
        await self.press("escape")
        await self.until(lambda: self.app.screen is self.home, "the list")

    @property
    def lines(self) -> list[str]:
        return screen_rows(self.app)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def chosen(self) -> Row | None:
        return self.home.query_one("#sessions").chosen  # type: ignore[attr-defined, no-any-return]

    def written_since(self) -> str:
        """Return what was written to the terminal since the last call."""
        written = "".join(self.written)
        self.written.clear()
        return written


@asynccontextmanager
async def at_home(
    rows: Iterable[Row],
    size: tuple[int, int] = (140, 40),
    config: Config | None = None,
    *,
    has_more: bool = False,
) -> AsyncIterator[HomeStage]:
    """Run the app at the present of made rows; all rows are shown when this yields."""
    machine = MadeMachine(rows)
    machine.has_more = has_more
    stage: HomeStage | None = None

    def write(sequence: str) -> None:
        assert stage is not None
        stage.written.append(sequence)

    with present(NOW_MS):
        app = HomeApp(PendingSignals(), machine, config)
        app._signals._write = write
        async with app.run_test(size=size, notifications=True) as pilot:
            stage = HomeStage(app, machine, pilot)
            await stage.until(lambda: app._rows is machine.rows or not machine.rows, "the first rows")
            yield stage


def descriptors() -> set[str]:
    """Return what each open descriptor of this process refers to, without pipes and sockets."""
    found = set()
    for name in Path("/proc/self/fd").iterdir():
        try:
            target = str(name.readlink())
        except OSError:
            continue
        if target.startswith("/"):
            found.add(f"{name.name} {target}")
    return found
