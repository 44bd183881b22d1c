"""The help tells every key, at every size."""

from __future__ import annotations

import pytest
from textual.widgets import Static

from agentwatch.screen.dialogs import KEYS
from tests.screen.conftest import bundled, opened


@pytest.mark.parametrize("size", [(160, 50), (100, 40), (80, 24), (40, 12)])
async def test_no_word_of_the_help_is_cut(size: tuple[int, int]) -> None:
    """What a key does is told to its last word, on as many lines as it takes."""
    async with opened(bundled("demo"), size) as stage:
        await stage.press("?")
        await stage.until(lambda: stage.app.screen.query(".does"), "the help")
        room = stage.app.screen.query_one("#help").content_region
        for static, told in zip(
            stage.app.screen.query(".does").results(Static),
            [does for _, keys in KEYS for _, does in keys],
            strict=True,
        ):
            assert static.region.right <= room.right
            shown = " ".join(strip.text.strip() for strip in static.render_lines(static.size.region))
            assert "".join(shown.split()) == "".join(told.split())
