"""Draws the pictures of the list of all sessions.

Each picture is a Textual export of the program itself, over a made machine: sessions in all states at one
time, each of which opens as the bundled demo, in the middle of its run.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from textual.pilot import Pilot

from agentwatch.agents.session_entry import Key
from agentwatch.catalog.row import Row, Rows
from agentwatch.screen.screens.sessions.app import HomeApp
from agentwatch.screen.terminal.signals import PendingSignals
from agentwatch.text.safe import SafeText, safe_line
from drawing.machine_rows import made_rows, rows_of_film, rows_of_machines
from drawing.picture import LIGHT, SESSION_CLOCKS, Program, Shown, mended

_LIST_CLOCKS = tuple(f"screens.sessions.{name}" for name in ("app", "screen", "preview", "watching"))
_DEMO_SECONDS, _FILM_SECONDS = 46.0, 8.0
"""The time of the demo in the pictures, and at the start of the film, in seconds."""


class Picture(NamedTuple):
    """A picture: the size of the terminal in columns and rows, the keys before it, and the theme."""

    size: tuple[int, int]
    keys: Sequence[str] = ()
    theme: str = "textual-dark"
    notes: tuple[str, ...] | None = None
    """What the list says about other machines, which it shows then; None for this machine alone."""
    is_film: bool = False
    """Whether its sessions change, and the demo grows, while its time passes."""


_TO_DEMO = ("j", "j", "j")
PICTURES = {
    "sessions-120x40": Picture((120, 40)),
    "sessions-160x30": Picture((160, 30)),
    "sessions-preview": Picture((160, 40), (*_TO_DEMO, "space")),
    "sessions-repository": Picture((120, 30), ("s", "s")),
    "sessions-filter": Picture((120, 16), ("f", *"agent:claude", "space", *"repo:api")),
    "sessions-80x24": Picture((80, 24), theme=LIGHT),
    "sessions-40x20": Picture((40, 20)),
    "sessions-machines": Picture((120, 30), notes=("lab: no answer since 12:41: connection refused",)),
}


class MadeMachine:
    """A machine with made sessions, whose rows change at given times."""

    def __init__(
        self, rows: Sequence[Row], later: Sequence[tuple[int, Row]] = (), *, notes: Sequence[str] = ()
    ) -> None:
        """Create the machine.

        Args:
            rows: Its sessions.
            later: Rows that replace those of their sessions, each with its time in ms since the epoch.
            notes: What is known besides them.
        """
        self.notes = tuple(map(safe_line, notes))
        self.rows: Rows = {row.key: row for row in rows}
        self.is_found = True
        self.problem = SafeText("")
        self.wants_all = self.is_still = False
        self.in_view: AbstractSet[Key] | None = None
        self._later = list(later)

    def facts(self, key: Key) -> None:
        """Return nothing: its rows are made."""

    def close(self) -> None:
        """Do nothing."""

    def step(self, now_ms: int) -> bool:
        """Replace the rows whose time has come."""
        while self._later and self._later[0][0] <= now_ms:
            row = self._later.pop(0)[1]
            self.rows = {**self.rows, row.key: row}
        return False


class Screen(NamedTuple):
    """The list, and the session that it opens, at the time of a clock that is set."""

    app: HomeApp
    program: Program
    pilot: Pilot[None]
    starts_at: float
    """The time of the demo at the start, in seconds."""

    async def step(self, seconds: float, keys: Iterable[str], pause: float = 1.0) -> None:
        """Remove the notices that are shown, let a time come, and press keys.

        Args:
            seconds: The time since the start.
            keys: The keys.
            pause: The real time in which the screen shows everything that is due.
        """
        self.app.clear_notifications()
        self.program.pass_to(self.starts_at + seconds)
        await self.pilot.pause(pause)
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause(0.05)
        await self.pilot.pause(pause)

    def svg(self) -> str:
        """Return what is shown, as Textual exports it."""
        return self.app.export_screenshot()


@asynccontextmanager
async def opened(picture: Picture) -> AsyncIterator[Screen]:
    """Yield the screen of the list."""
    starts_at = _FILM_SECONDS if picture.is_film else _DEMO_SECONDS
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(patch.dict(os.environ, AGENTWATCH_HOME=folder))
        program = Program("demo", Shown.LIVE, Path(folder))
        program.pass_to(starts_at)
        for module in (*_LIST_CLOCKS, *SESSION_CLOCKS):
            stack.enter_context(patch(f"agentwatch.screen.{module}.now_ms", program.now_ms))
        app = HomeApp(PendingSignals(), _machine(picture, program))
        async with app.run_test(size=picture.size, notifications=True) as pilot:
            app.theme = picture.theme
            yield Screen(app, program, pilot, starts_at)


def _machine(picture: Picture, program: Program) -> MadeMachine:
    now_ms, demo = program.now_ms(), program.path
    if picture.is_film:
        return MadeMachine(*rows_of_film(now_ms, demo))
    if picture.notes is None:
        return MadeMachine(made_rows(now_ms, demo))
    return MadeMachine(rows_of_machines(now_ms, demo), notes=picture.notes)


async def drawn(picture: Picture) -> str:
    """Return the screen after the keys of a picture, as SVG."""
    async with opened(picture) as screen:
        await screen.step(0, picture.keys)
        await screen.step(0, ())
        return mended(screen.svg())
