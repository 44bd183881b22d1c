"""Where one pane has room, the titles of all stand above it, and that of the one shown is marked."""

from __future__ import annotations

from rich.style import Style

from tests.builders.screen.app import Stage, bundled, opened


def style_of(stage: Stage, title: str) -> Style | None:
    """Return how a title is drawn."""
    return next(segment.style for segment in stage.segments() if segment.text.strip() == title)


async def test_the_title_of_the_pane_in_sight_is_marked() -> None:
    """Whichever pane is gone to, its title and no other is bold."""
    titles = ("1 Transcript", "2 Calls", "3 Detail", "4 Actions")
    async with opened(bundled("demo"), (80, 24)) as stage:
        for key, shown in (("2", "2 Calls"), ("3", "3 Detail"), ("4", "4 Actions"), ("1", "1 Transcript")):
            await stage.press(key)
            await stage.settled()
            bold = [title for title in titles if (style := style_of(stage, title)) and style.bold]
            assert bold == [shown]
