"""The detail pane alone, for one call of a recording."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.detail.pane import DetailView
from tests.builders.screen.app import PaneApp

Detail = tuple[Feed, DetailView, Pilot[None]]


@asynccontextmanager
async def shown(
    path: Path, call: int = 0, size: tuple[int, int] = (70, 30), *, follow: bool = False
) -> AsyncIterator[Detail]:
    """Run the detail pane of a recording's call in a test terminal, focused."""
    reader = open_saved(path, follow)
    feed = Feed(reader)
    detail = DetailView(feed)
    app = PaneApp(detail)
    async with app.run_test(size=size) as pilot:
        detail.focus()
        feed.advance()
        await pilot.pause()
        detail.show_call(feed.session.calls[call])
        await pilot.pause()
        yield feed, detail, pilot
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
