"""Text can be read in every theme that is shipped: its contrast with its ground is 4.5 or more (WCAG 2.2)."""

from collections.abc import Iterator
from typing import Any

import pytest
from textual.app import App
from textual.color import Color
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.theme import BUILTIN_THEMES

from agentwatch.screen.terminal.themes import readable
from tests.builders.home.machine_rows import ROWS
from tests.builders.machine.app import at_home
from tests.builders.screen.app import bundled, opened
from tests.conftest import case
from tests.screen.widgets.markup.test_syntax import contrast

THEMES = [theme for theme in BUILTIN_THEMES.values() if not theme.ansi]
LEAST = 4.49


def unreadable(app: App[Any]) -> Iterator[tuple[str, float]]:
    """Yield each text of the screen with too little contrast; a screen below another one is dimmed."""
    above = [each.region for each in app.screen.children if isinstance(app.screen, ModalScreen)]
    for y, strip in enumerate(app.screen._compositor.render_strips()):
        x = 0
        for text, style, _ in strip:
            is_dimmed = above and not any(region.contains(x, y) for region in above)
            x += len(text)
            if is_dimmed or style is None or not any(map(str.isalnum, text)):
                continue
            assert style.color is not None
            assert style.bgcolor is not None
            found = contrast(style.color, style.bgcolor)
            if found < LEAST:
                yield text, found


async def check_themes(app: App[Any], pilot: Pilot[Any]) -> None:
    """Check what the screen shows now in every theme."""
    for theme in THEMES:
        app.theme = theme.name
        await pilot.pause()
        assert not [*unreadable(app)], theme.name


def test_texts_have_contrast_in_every_theme() -> None:
    """Muted and coloured texts can be read on the background, in a header and in the selected row; a theme
    keeps its grounds."""
    assert len(THEMES) > 15
    for theme in THEMES:
        before = theme.to_color_system().generate()
        after = readable(before)
        assert all(after[name] == before[name] for name in ("accent", "background", "primary", "surface"))
        base, surface = Color.parse(after["background"]), Color.parse(after["surface"])
        chosen = Color.parse(after["block-cursor-blurred-background"])
        header = base.blend(Color.parse(before["foreground"]), 0.08, 1)
        for ground in (base, surface, header, base + chosen, surface + chosen):
            for name in ("muted", "primary", "accent", "success", "warning", "error"):
                with case((theme.name, name, ground)):
                    text = Color.parse(after[f"text-{name}"])
                    assert contrast(text.rich_color, ground.rich_color) >= LEAST


@pytest.mark.system
async def test_every_text_of_a_session_can_be_read() -> None:
    """Header, status line, panes, rows, bars and boxes, at the live moment and at an earlier one."""
    async with opened(bundled("demo")) as stage:
        for keys in (
            "2kk",
            ":#6",
            ["enter"],
            "L/gap",
            ["escape", *"ftool:e"],
            ["escape", "i"],
            ["escape", "?"],
        ):
            with case(keys):
                await stage.press(*keys)
                await stage.settled()
                await check_themes(stage.app, stage.pilot)


@pytest.mark.system
async def test_every_text_of_the_list_can_be_read() -> None:
    """The list with sessions in all states, its bars and its preview."""
    async with at_home(ROWS) as stage:
        for keys in (["j", "j"], ["space"], ["slash", "a"], ["escape", "f", "x"]):
            with case(keys):
                await stage.press(*keys)
                await check_themes(stage.app, stage.pilot)
