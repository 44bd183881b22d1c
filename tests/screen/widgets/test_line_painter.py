"""The rows painted by `LinePainter` equal those that Textual composes, after any change."""

import random

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip
from textual.widget import Widget

from agentwatch.screen.widgets.line_view import LineView
from agentwatch.text.safe import SafeText
from tests.builders.screen.app import PaneApp, Stage, bundled, opened
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
        return self.strip_of([(SafeText(f"{y} "), "muted"), (SafeText(self.texts[y]), "strong")])

    def is_stable(self, line: int) -> bool:
        return line in self.stable

    def grow(self, count: int) -> None:
        """Add `count` lines."""
        self.texts += [f"東京 line {len(self.texts) + n}" for n in range(count)]
        self.show_lines()


class Noting(LineFilter):
    """Notes the texts that it filters; a shouted one has a part more."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        self.texts += [each.text.strip() for each in segments]
        return [part for each in segments for part in [each] * (1 + each.text.startswith("!"))]


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


class Table(Words):
    """The same with columns."""

    has_columns = True


async def test_a_part_of_a_line_is_composed_once() -> None:
    """Of a row with columns in which one part differs, only that is filtered, until the styles change."""
    view: Words = Table()
    noting = Noting()
    app = PaneApp(view)
    async with app.run_test(size=SIZE) as pilot:
        app._filters.append(noting)
        view.grow(1)
        await pilot.pause()
        area = view.region.reset_offset
        for text, theme, expected in (
            ("9 s", "", {"9 s"}),
            ("10 s", "", {"10 s"}),
            ("9 s", "", set[str]()),
            ("10 s", "nord", {"0", "10 s"}),
            ("!", "", {"0", "!"}),  # the filter divides it
        ):
            with case((text, theme)):
                noting.texts.clear()
                view.texts[0] = text
                app.theme = theme or app.theme
                await pilot.pause()
                assert text in view.render_lines(area)[1].text
                assert {"0", "9 s", "10 s", "!"} & set(noting.texts) == expected
    # Not all parts of many lines are kept, and none of lines without columns.
    for other, least, most in ((Table, 1, 2_049), (Words, 0, 0)):
        view = other()
        async with PaneApp(view).run_test(size=SIZE) as pilot:
            view.grow(3_000)
            await pilot.pause()
            for first in range(0, 3_000, 10):
                view.painter.paint(first, 10)
            spans = ([(SafeText(f"{number}"), "muted")] for number in range(3_000))
            assert [view.strip_of(each).text for each in spans][-1] == "2999"
            for kept in view.painter._pieces, view.line_style.segments:
                assert least <= len(kept) <= most
