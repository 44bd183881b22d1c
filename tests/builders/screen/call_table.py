"""The calls table alone, for a recording."""

import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual import on
from textual.pilot import Pilot

from agentwatch.feed.feed import Feed
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.calls.pane import CallTable, FilterBar
from agentwatch.screen.widgets.line_view import PaneWanted
from tests.builders.screen.app import PaneApp, eventually, lines_of
from tests.builders.screen.lines import CWD, ended, started

NARROW = (58, 12)
"""A size with too few columns for the time strip."""


_NUMBER = re.compile(r"^(.) *[0-9]+ (?=[^0-9 ])")


class TablesApp(PaneApp):
    """An app for one table at a time, with the keys that the workspace binds to its actions."""

    BINDINGS = [("f", "filter"), ("s", "slowest")]

    def action_filter(self) -> None:
        """Open the filter bar of the table."""
        self.query_one(FilterBar).open()

    def action_slowest(self) -> None:
        """Sort the calls of the table by duration, or by time again."""
        self.query_one(CallTable).action_slowest()

    @on(PaneWanted)
    def _filter_closed(self) -> None:
        self.query_one(CallTable).focus()


Shown = tuple[Feed, CallTable]


@asynccontextmanager
async def tables() -> AsyncIterator[tuple[Callable[..., Awaitable[Shown]], Pilot[None]]]:
    """Run an app, and return a function that shows the table of a recording in place of the last."""
    app = TablesApp()
    readers: list[LineReader] = []

    async def show(path: Path, size: tuple[int, int] = (70, 12), *, follow: bool = False) -> Shown:
        readers.append(reader := open_saved(path, follow))
        feed = Feed(reader)
        table = CallTable(feed)
        bar = FilterBar(table)
        await app.screen.remove_children()
        await pilot.pause()  # else a layout that is due does not report the next one as shown
        if app.size != size:
            await pilot.resize_terminal(*size)
        await app.screen.mount(table, bar)
        table.focus()
        await eventually(pilot, lambda: table.region.width == size[0], "the table")
        feed.advance()
        table.sync(None)
        await pilot.pause()
        return feed, table

    async with app.run_test() as pilot:
        yield show, pilot
    for reader in readers:
        os.close(reader.fd)


@asynccontextmanager
async def shown(
    path: Path, size: tuple[int, int] = (70, 12), *, follow: bool = False
) -> AsyncIterator[tuple[Feed, CallTable, Pilot[None]]]:
    """Run the table of a recording in a test terminal, focused."""
    async with tables() as (show, pilot):
        feed, table = await show(path, size, follow=follow)
        yield feed, table, pilot


def rows_of(table: CallTable) -> list[str]:
    """Return every row of the table without the number of its call."""
    return [_NUMBER.sub(r"\1", row) for row in lines_of(table)]


def read(number: int, name: str) -> bytes:
    args: dict[str, object] = {"path": f"{CWD}/{name}"}
    call_id = f"read-{number}"
    return started(call_id, "read", args) + ended(call_id, "read", args, {"success": {"totalLines": 4}})


def reads(*names: str) -> bytes:
    return b"".join(read(number, name) for number, name in enumerate(names))


async def filtered(table: CallTable, pilot: Pilot[None], *keys: str) -> list[str]:
    """Press keys, wait until the rows are up to date, and return them."""
    await pilot.press(*keys)
    await eventually(pilot, lambda: not table.listed.is_waiting, "the rows that were asked for")
    return rows_of(table)
