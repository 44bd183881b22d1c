"""The detail pane alone, for one call of a recording."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from agentwatch.feed.feed import Feed
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.detail.pane import DetailView
from tests.builders.screen.app import PaneApp, eventually

Shown = tuple[Feed, DetailView]


@asynccontextmanager
async def details() -> AsyncIterator[tuple[Callable[..., Awaitable[Shown]], Pilot[None]]]:
    """Run an app, and return a function that shows a call of a recording, focused, in place of the last."""
    app = PaneApp()
    readers: list[LineReader] = []

    async def show(
        path: Path, call: int = 0, size: tuple[int, int] = (70, 30), *, follow: bool = False
    ) -> Shown:
        readers.append(reader := open_saved(path, follow))
        feed = Feed(reader)
        detail = DetailView(feed)
        await app.screen.remove_children()
        await pilot.pause()  # else a layout that is due does not report the next one as shown
        if app.size != size:
            await pilot.resize_terminal(*size)
        await app.screen.mount(detail)
        detail.focus()
        feed.advance()
        await eventually(pilot, lambda: detail.region.width == size[0], "the detail")
        detail.show_call(feed.session.calls[call])
        await pilot.pause()
        return feed, detail

    async with app.run_test() as pilot:
        yield show, pilot
    for reader in readers:
        os.close(reader.fd)


def styles_of(detail: DetailView, beginning: str) -> set[str]:
    """Return the names of the styles of the lines with this beginning."""
    known = {str(detail.line_style(name)): name for name in ("plain", "added", "removed", "hunk", "failed")}
    found = set()
    for y in range(detail.line_count()):
        strip = detail.draw(y, 60)
        if strip.text.startswith(beginning):
            found |= {known.get(str(segment.style), "other") for segment in strip}
    return found
