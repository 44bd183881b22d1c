"""Where only one pane fits, the titles of all panes are shown above it."""

from __future__ import annotations

import pytest
from rich.style import Style

from tests.builders.screen.app import Stage, bundled, opened

pytestmark = pytest.mark.slow


def style_of(stage: Stage, title: str) -> Style | None:
    """Return the style of a title."""
    return next(segment.style for segment in stage.segments() if segment.text.strip() == title)


@pytest.mark.system
async def test_the_tabs_name_the_visible_pane_and_the_filter() -> None:
    """The title of the visible pane is bold; while a filter hides calls, their tab says so."""
    async with opened(bundled("demo"), (80, 24)) as stage:
        # While a filter hides calls, their tab says so at once; other titles give way where there is no room.
        for width in (80, 40):
            await stage.pilot.resize_terminal(width, 24)
            await stage.press("f", *"shell", "enter")
            await stage.shows('2 Calls · 11 hidden by "shell"')
            assert ("1 Transcript" in stage.text()) is (width == 80)
            await stage.press("escape")
            await stage.until(lambda: "hidden by" not in stage.text(), "all calls")
            await stage.shows("1 Transcript 2 Calls 3 Detail")
        # The title of the visible pane is bold, and no other title is.
        titles = ("1 Transcript", "2 Calls", "3 Detail", "4 Actions")
        await stage.pilot.resize_terminal(80, 24)
        await stage.press("x")
        for key, shown in (("2", "2 Calls"), ("3", "3 Detail"), ("4", "4 Actions"), ("1", "1 Transcript")):
            await stage.press(key)
            await stage.settled()
            bold = [title for title in titles if (style := style_of(stage, title)) and style.bold]
            assert bold == [shown]
