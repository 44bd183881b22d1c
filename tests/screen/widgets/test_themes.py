"""The themes of the terminal's own sixteen colours keep apart what the other themes keep apart."""

from __future__ import annotations

import pytest

from agentwatch.screen.widgets.line_view import LineView
from tests.builders.screen.app import Stage, bundled, opened
from tests.conftest import case

pytestmark = pytest.mark.slow


def row_of(stage: Stage, pane: LineView, words: str) -> int:
    """Return the visible row of a pane that contains the words."""
    height = pane.scrollable_content_region.height
    return next(y for y in range(height) if words in pane.render_line(y).text)


@pytest.mark.system
async def test_the_terminals_colours_keep_apart_what_other_themes_do() -> None:
    """Outcomes have colours of their own, what matters less is dim, and the chosen row is reversed."""
    async with opened(bundled("demo")) as stage:
        for width, theme in ((121, "ansi-dark"), (120, "ansi-light")):
            with case(theme):
                stage.app.theme = theme
                await stage.pilot.resize_terminal(width, 40)
                await stage.pilot.pause()
                await stage.until(lambda: "tidepool" in stage.header, "the header")
                check_colours(stage, theme)
                check_dim(stage)
                check_chosen_row(stage)


def check_colours(stage: Stage, theme: str) -> None:
    """Check that success, accent, failure and warning have four colours, none of them yellow on white."""
    style = stage.calls.line_style
    names = [style(name).color for name in ("succeeded", "accent", "failed", "rejected")]
    colours = {colour.name for colour in names if colour is not None}
    assert len(colours) == 4
    assert theme == "ansi-dark" or "yellow" not in " ".join(colours)


def check_dim(stage: Stage) -> None:
    """Check that muted text is dimmed by the terminal, in the panes and in the header."""
    assert stage.calls.line_style("muted").dim
    dim = [segment.text for segment in stage.segments() if segment.style and segment.style.dim]
    assert any("tidepool" in text for text in dim)


def check_chosen_row(stage: Stage) -> None:
    """Check that the chosen row is reversed in one colour, with its sign; only the mark has another."""
    pane = stage.calls
    mark, *rest = list(pane.render_line(row_of(stage, pane, "▐")))
    assert mark.text == "▐"
    assert mark.style is not None
    assert not mark.style.reverse
    assert {(piece.style.color, piece.style.reverse) for piece in rest if piece.style} == {
        (rest[0].style.color if rest[0].style else None, True)
    }
