"""The themes of the terminal's own sixteen colours keep apart what the other themes keep apart."""

from __future__ import annotations

import pytest

from agentwatch.screen.lines.line_view import LineView
from tests.builders.screen.app import Stage, bundled, opened


def row_of(stage: Stage, pane: LineView, words: str) -> int:
    """Return the visible row of a pane that contains the words."""
    height = pane.scrollable_content_region.height
    return next(y for y in range(height) if words in pane.render_line(y).text)


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_the_terminals_colours_are_kept_apart(theme: str) -> None:
    """Success, accent, failure and warning have four colours, none of them yellow on white."""
    async with opened(bundled("demo")) as stage:
        stage.app.theme = theme
        await stage.pilot.pause()
        style = stage.calls.line_style
        names = [style(name).color for name in ("succeeded", "accent", "failed", "rejected")]
        colours = {colour.name for colour in names if colour is not None}
        assert len(colours) == 4
        assert theme == "ansi-dark" or "yellow" not in " ".join(colours)


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_what_matters_less_is_dim(theme: str) -> None:
    """Muted text is dimmed by the terminal, in the panes and in the header."""
    async with opened(bundled("demo")) as stage:
        stage.app.theme = theme
        await stage.pilot.pause()
        await stage.pilot.resize_terminal(121, 40)
        await stage.until(lambda: "tidepool" in stage.header, "the header")
        assert stage.calls.line_style("muted").dim
        dim = [segment.text for segment in stage.segments() if segment.style and segment.style.dim]
        assert any("tidepool" in text for text in dim)


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_the_sign_of_the_chosen_row_stands_on_no_block(theme: str) -> None:
    """The chosen row is reversed in one colour, with its sign; only the mark before it has another."""
    async with opened(bundled("demo")) as stage:
        stage.app.theme = theme
        await stage.pilot.pause()
        pane = stage.calls
        mark, *rest = list(pane.render_line(row_of(stage, pane, "▐")))
        assert mark.text == "▐"
        assert mark.style is not None
        assert not mark.style.reverse
        assert {(piece.style.color, piece.style.reverse) for piece in rest if piece.style} == {
            (rest[0].style.color if rest[0].style else None, True)
        }
