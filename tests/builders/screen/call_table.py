"""The calls table alone, for a recording."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.pilot import Pilot

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.calls.filter_bar import FilterBar
from agentwatch.screen.panes.calls.pane import CallTable
from agentwatch.screen.widgets.line_view import PaneWanted
from tests.builders.screen.app import PaneApp, eventually, lines_of
from tests.builders.screen.lines import CWD, ended, started

NARROW = (58, 12)
"""A size with too few columns for the time strip."""


_NUMBER = re.compile(r"^(.) *[0-9]+ (?=[^0-9 ])")


class TableApp(PaneApp):
    """The table alone, with the keys that the workspace binds to its actions."""

    BINDINGS = [("f", "filter"), ("s", "slowest")]

    def __init__(self, table: CallTable) -> None:
        super().__init__(table)
        self._table = table
        self._bar = FilterBar(table)
        self.action_filter = self._bar.open
        self.action_slowest = table.action_slowest

    def compose(self) -> ComposeResult:
        """Yield the table and the filter bar."""
        yield from super().compose()
        yield self._bar

    @on(PaneWanted)
    def _filter_closed(self) -> None:
        self._table.focus()


@asynccontextmanager
async def shown(
    path: Path, size: tuple[int, int] = (70, 12), *, follow: bool = False
) -> AsyncIterator[tuple[Feed, CallTable, Pilot[None]]]:
    """Run the table of a recording in a test terminal, focused."""
    reader = open_saved(path, follow)
    feed = Feed(reader)
    table = CallTable(feed)
    app = TableApp(table)
    async with app.run_test(size=size) as pilot:
        table.focus()
        feed.advance()
        table.sync(None)
        await pilot.pause()
        yield feed, table, pilot
    os.close(reader.fd)


def rows_of(table: CallTable) -> list[str]:
    """Return every row of the table without the number of its call."""
    return [_NUMBER.sub(r"\1", row) for row in lines_of(table)]


def read(number: int, name: str) -> bytes:
    """Return a successful read of a file."""
    args: dict[str, object] = {"path": f"{CWD}/{name}"}
    call_id = f"read-{number}"
    return started(call_id, "read", args) + ended(call_id, "read", args, {"success": {"totalLines": 4}})


def reads(*names: str) -> bytes:
    """Return successful reads of files."""
    return b"".join(read(number, name) for number, name in enumerate(names))


async def filtered(table: CallTable, pilot: Pilot[None], *keys: str) -> list[str]:
    """Press keys, wait until the rows are up to date, and return them."""
    await pilot.press(*keys)
    await eventually(pilot, lambda: not table.listed.is_waiting, "the rows that were asked for")
    return rows_of(table)
