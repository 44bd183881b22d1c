"""Draws the pictures of the list of all sessions.

Each picture is a Textual export of the program itself, over a made machine: sessions in all states at one
time, of which the selected one is the bundled demo, in the middle of its run.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from textual.pilot import Pilot

from agentwatch.machine.row import Row
from agentwatch.safe_text import safe_line
from agentwatch.screen.machine.app import HomeApp
from agentwatch.screen.machine.watching import Rows
from agentwatch.screen.terminal.signals import HeldSignals
from drawing.machine_rows import made_rows, rows_of_machines
from drawing.picture import LIGHT, Program, Shown, mended

_DEMO_SECONDS = 46.0


class Picture(NamedTuple):
    """A picture: the size of the terminal in columns and rows, the keys before it, and the theme."""

    size: tuple[int, int]
    keys: Sequence[str] = ()
    theme: str = "textual-dark"
    notes: tuple[str, ...] | None = None
    """What the list says about other machines, which it shows then; None for this machine alone."""


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
    """A machine with sessions that do not change."""

    def __init__(self, rows: Sequence[Row], notes: Sequence[str] = ()) -> None:
        """Create the machine with its sessions, and what is known besides them."""
        self.notes = tuple(map(safe_line, notes))
        self.rows: Rows = {row.key: row for row in rows}
        self.is_found = True
        self.wants_all = False

    def step(self, now_ms: int) -> bool:
        """Find nothing new."""
        del now_ms
        return False


async def drawn(picture: Picture) -> str:
    """Return the screen after the keys of a picture, as SVG."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(patch.dict(os.environ, AGENTWATCH_HOME=folder))
        program = Program("demo", Shown.LIVE, Path(folder))
        program.pass_to(_DEMO_SECONDS)
        for module in ("app", "screen", "preview_pane", "watching"):
            stack.enter_context(patch(f"agentwatch.screen.machine.{module}.now_ms", program.now_ms))
        made = made_rows if picture.notes is None else rows_of_machines
        machine = MadeMachine(made(program.now_ms(), program.path), picture.notes or ())
        app = HomeApp(HeldSignals(), machine)
        async with app.run_test(size=picture.size) as pilot:
            app.theme = picture.theme
            await _press(pilot, picture.keys)
            app.clear_notifications()
            await pilot.pause(1.0)
            return mended(app.export_screenshot())


async def _press(pilot: Pilot[None], keys: Sequence[str]) -> None:
    await pilot.pause(1.0)
    for key in keys:
        await pilot.press(key)
        await pilot.pause(0.05)
