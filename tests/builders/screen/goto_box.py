"""The goto box on a recording of four calls, alone in an app."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, Static

from agentwatch.analysis.moments import End
from agentwatch.base.files import stylesheets
from agentwatch.screen.screens.session.goto import GotoScreen, MarkList, Marks
from tests.builders.screen.app import eventually, lines_of
from tests.builders.screen.lines import CWD, ended, init, shell, started
from tests.builders.screen.marked import marks_of

EDIT = {"path": f"{CWD}/src/wheel.py"}
LINES = (
    init(),
    shell(1),
    shell(2, 1),
    started("call-3", "edit", dict(EDIT)) + ended("call-3", "edit", dict(EDIT), {"success": {}}),
    shell(4),
)
ROWS = [
    '09:00:02  ◈ bookmark "before the rewrite"',
    "09:00:04  ✗ #2 echo 2",
    "09:00:06    #3 edit src/wheel.py",
]
"""What the box lists, with one bookmark."""


def end_of(number: int) -> int:
    """Return the moment at which a call had ended."""
    return len(b"".join(LINES[: number + 1]))


class Box(App[None]):
    """An app that opens the goto box."""

    CSS_PATH = stylesheets()

    def __init__(self, marks: Marks, moment: int) -> None:
        super().__init__()
        self.marks = marks
        self.box = GotoScreen(marks, moment)
        self.given: list[int | End | None] = []
        """The results with which the box was dismissed."""

    def on_mount(self) -> None:
        """Open the box."""
        self.push_screen(self.box, self.given.append)

    async def again(self, pilot: Pilot[None], moment: int = 0) -> None:
        """Open another box in the place of the one before."""
        if self.screen is self.box:
            await self.pop_screen()
        self.box = GotoScreen(self.marks, moment)
        self.given.clear()
        self.push_screen(self.box, self.given.append)
        await eventually(pilot, lambda: self.screen is self.box and self.rows, "the list")

    @property
    def rows(self) -> list[str]:
        return lines_of(self.box.query_one(MarkList))

    @property
    def chosen(self) -> str | None:
        """The selected row; None while none is selected."""
        view = self.box.query_one(MarkList)
        return self.rows[view.cursor] if view.chosen is not None else None

    @property
    def note(self) -> str:
        """The last line of the box."""
        return str(self.box.query_one(".note", Static).content)

    @property
    def typed(self) -> str:
        """The text in the input, after its label."""
        return f"{self.box.query_one('.label', Static).content} {self.box.query_one(Input).value}"


@asynccontextmanager
async def box(
    path: Path, moment: int = 0, size: tuple[int, int] = (120, 40), name: str = "before the rewrite"
) -> AsyncIterator[tuple[Box, Pilot[None]]]:
    """Open the box on a recording with one bookmark, after its first call."""
    marks = marks_of(path)
    marks.name(end_of(1), name)
    app = Box(marks, moment)
    async with app.run_test(size=size, notifications=True) as pilot:
        await eventually(pilot, lambda: app.screen is app.box and app.rows, "the list")
        yield app, pilot


async def type_in(pilot: Pilot[None], text: str) -> None:
    names = {"#": "number_sign", ":": "colon", "+": "plus", "-": "minus", "%": "percent_sign", " ": "space"}
    await pilot.press(*(names.get(each, each) for each in text))
    await pilot.pause()
