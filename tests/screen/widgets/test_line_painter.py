"""The rows painted by `LinePainter` equal those that Textual composes, after any change."""

from __future__ import annotations

import random

import pytest
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from agentwatch.screen.widgets.line_view import LineView
from agentwatch.text.safe import SafeText
from tests.builders.screen.app import PaneApp
from tests.conftest import case

pytestmark = pytest.mark.slow

SIZE = (40, 12)


class Words(LineView):
    """A pane of lines in two styles; only the lines in `stable` are stable."""

    def __init__(self) -> None:
        super().__init__("Words", id="words")
        self.texts: list[str] = []
        self.stable: set[int] = set()

    def line_count(self) -> int:
        """Return the number of lines."""
        return len(self.texts)

    def draw(self, y: int, width: int) -> Strip:
        """Return a line."""
        return self.strip_of([(SafeText(f"{y} "), "muted"), (SafeText(self.texts[y]), "strong")])

    def is_stable(self, line: int) -> bool:
        """Return whether the line is stable."""
        return line in self.stable

    def grow(self, count: int) -> None:
        """Add `count` lines."""
        self.texts += [f"東京 line {len(self.texts) + n}" for n in range(count)]
        self.show_lines()


def by_character(strips: list[Strip]) -> list[tuple[str, str]]:
    """Return each character of the rows with a description of its style."""
    styles = []
    for strip in strips:
        for segment in strip:
            style = segment.style or Style()
            named = f"{style.color} {style.bgcolor} {style.bold} {style.italic} {style.underline}"
            styles += [(char, named) for char in segment.text]
    return styles


def is_as_composed(view: LineView) -> bool:
    """Return whether the pane paints what Textual composes from its lines and styles."""
    area = view.region.reset_offset
    painted = by_character(view.render_lines(area))
    view._styles_cache.clear()
    return painted == by_character(Widget.render_lines(view, area))


async def test_rows_are_those_that_textual_composes() -> None:
    """After growth, scrolling, focus, class, size and theme changes, each row equals Textual's."""
    view, chance = Words(), random.Random(5)
    app = PaneApp(view)
    async with app.run_test(size=SIZE) as pilot:
        for _ in range(25):
            match chance.randrange(6):
                case 0:
                    view.grow(chance.randrange(1, 9))
                case 1:
                    await pilot.press(chance.choice(["g", "G", "up", "down", "pageup"]))
                case 2:
                    view.screen.set_focus(None if view.has_focus else view)
                case 3:
                    view.screen.toggle_class("-narrow")
                case 4:
                    await pilot.resize_terminal(chance.choice([20, 40, 80]), chance.choice([5, 12, 30]))
                case _:
                    app.theme = chance.choice(["textual-dark", "textual-light", "nord"])
            await pilot.pause()
            assert is_as_composed(view)


async def test_stable_lines_are_cached_near_the_viewport() -> None:
    """A stable line is painted once, until it is forgotten or far away; marks leave with their selection."""
    view, drawn = Words(), list[int]()
    async with PaneApp(view).run_test(size=SIZE) as pilot:
        # A line that is not stable is drawn each time; a stable one stays until it is forgotten.
        view.grow(3)
        view.stable = {1}
        await pilot.pause()
        area = view.region.reset_offset
        view.render_lines(area)
        view.texts[0], view.texts[1] = "other", "other"
        assert [strip.text.count("other") for strip in view.render_lines(area)[1:3]] == [1, 0]
        view.painter.forget_from(1)
        assert [strip.text.count("other") for strip in view.render_lines(area)[1:3]] == [1, 1]
        # After a selection is cleared, its lines are painted as before.
        view.texts.clear()
        view.grow(5)
        view.stable = set(range(5))
        await pilot.pause()
        before = by_character(view.render_lines(view.region.reset_offset))
        view.text_select_all()
        await pilot.pause()
        assert by_character(view.render_lines(view.region.reset_offset)) != before
        view.screen.clear_selection()
        await pilot.pause()
        assert by_character(view.render_lines(view.region.reset_offset)) == before
        # Each part of a painted row, such as those beside the scrollbar, has the characters of the row there.
        view.stable = set()
        view.painter.forget_from(0)
        view.texts = ["plain", "words"]
        view.show_lines()
        await pilot.pause()
        row = view.render_lines(view.region.reset_offset)[1]
        whole = by_character([row])
        for start in range(row.cell_length + 1):
            for end in range(start, row.cell_length + 1):
                part = row.crop(start, end)
                assert by_character([part]) == whole[start:end]
                assert part.cell_length == end - start
        # After a long way through stable lines, those near the viewport are cached and the others are not.
        view.texts.clear()
        view.painter.forget_from(0)
        view.grow(600)
        view.stable = set(range(600))
        await pilot.pause()
        for first in range(0, 590, 10):
            view.painter.paint(first, 10)
        draw = view.draw
        view.draw = lambda y, width: drawn.append(y) or draw(y, width)  # type: ignore[method-assign,func-returns-value]
        view.painter.paint(580, 10)
        assert not drawn
        view.painter.paint(0, 10)
        assert drawn == [*range(10)]


@pytest.mark.system
async def test_the_scrollbar_matches_the_viewport() -> None:
    """For any number of lines and any move, the scrollbar's thumb is where a full redraw would draw it."""
    view = Words()
    async with PaneApp(view).run_test(size=SIZE) as pilot:
        view.focus()
        for count in (0, 5, 10, 11, 60, 2000):
            with case(count):
                view.texts.clear()
                for keys in ("G", "up pageup", "g", "down down", "G"):
                    view.grow(count)
                    await pilot.press(*keys.split())
                    await pilot.pause()
                    bar = view.vertical_scrollbar
                    area = bar.region.reset_offset
                    shown = by_character(bar.render_lines(area))
                    bar.refresh()
                    await pilot.pause()
                    assert by_character(bar.render_lines(area)) == shown
                    assert bar.window_virtual_size == view.virtual_size.height
