"""A pane of lines follows its end, stops following when moved, and lets its text be selected."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.pilot import Pilot
from textual.strip import Strip

from agentwatch.screen.widgets.line_view import LineView
from agentwatch.text.safe import SafeText
from tests.builders.screen.app import PaneApp, eventually, viewport
from tests.conftest import case

pytestmark = pytest.mark.slow

HEIGHT = 10
INNER = HEIGHT - 2


class Lines(LineView):
    """A pane of the given lines."""

    def __init__(self, *texts: str) -> None:
        super().__init__("Lines", id="lines")
        self.texts = [*texts]

    def line_count(self) -> int:
        """Return the number of lines."""
        return len(self.texts)

    def draw(self, y: int, width: int) -> Strip:
        return self.strip_of([(SafeText(self.texts[y]), "plain")])

    def grow(self, count: int) -> None:
        """Add `count` numbered lines."""
        self.texts += [f"line {len(self.texts) + n}" for n in range(count)]
        self.show_lines()

    def become(self, *texts: str) -> None:
        """Have other lines, and follow their end."""
        self.texts, self.following = [*texts], True
        self.show_lines()

    @property
    def is_at_end(self) -> bool:
        """Whether the last line is in the last row."""
        return viewport(self)[-1] == self.texts[-1]

    @property
    def subtitle(self) -> str:
        """The text in the lower border."""
        return str(self.border_subtitle or "")


@asynccontextmanager
async def shown(view: Lines, width: int = 40) -> AsyncIterator[Pilot[None]]:
    """Show the focused pane, alone in a terminal."""
    app = PaneApp(view)
    async with app.run_test(size=(width, HEIGHT)) as pilot:
        view.focus()
        view.show_lines()
        await pilot.pause()
        yield pilot


async def test_a_pane_follows_its_end_until_it_is_moved() -> None:
    """A pane keeps its end in view as it grows; moved up, it stays and counts new lines until it is back."""
    view = Lines()
    async with shown(view) as pilot:
        # A pane keeps its last line in view while it grows.
        for _ in range(5):
            view.grow(9)
            await pilot.pause()
            assert view.is_at_end
        assert view.following
        # Moving up stops following: new lines leave the viewport where it is.
        view.become()
        await pilot.pause()
        view.grow(30)
        for key in ("up", "k", "pageup", "ctrl+b", "g", "home"):
            with case(key):
                await pilot.press("G", key)
                before = viewport(view)
                view.grow(3)
                await pilot.pause()
                assert viewport(view) == before
                assert not view.following
        # An arrow key moves by a line, a page key by one row less than the viewport, `g` to the start.
        view.become()
        await pilot.pause()
        view.grow(30)
        for keys, first in (
            ("up", 21),
            ("k", 21),
            ("pageup", 15),
            ("g", 0),
            ("g down", 1),
            ("g j", 1),
            ("g pagedown", 7),
        ):
            with case(f"{keys}, {first}"):
                await pilot.press("G", *keys.split())
                assert viewport(view)[0] == f"line {first}"
        # Scrolling up with the wheel stops following; scrolling back to the end resumes it.
        view.become()
        await pilot.pause()
        view.grow(30)
        await pilot._post_mouse_events([events.MouseScrollUp], view, offset=(5, 5))
        await eventually(pilot, lambda: not view.is_at_end, "a move up")
        before = viewport(view)
        view.grow(1)
        assert viewport(view) == before
        while view.scroll_offset.y < view.max_scroll_y:
            await pilot._post_mouse_events([events.MouseScrollDown], view, offset=(5, 5))
            await pilot.pause()
        view.grow(5)
        await pilot.pause()
        assert view.is_at_end
        # The lower border counts the lines added since following stopped, and no others.
        view.become()
        await pilot.pause()
        view.grow(30)
        await pilot.press("up")
        assert view.subtitle == ""
        view.grow(3)
        assert view.subtitle == "3 new below ▾"
        await pilot.press("up")
        view.grow(2)
        assert view.subtitle == "5 new below ▾"
        await pilot.press("G")
        assert view.subtitle == ""
        # `G` and End go to the last line and resume following.
        view.become()
        await pilot.pause()
        view.grow(30)
        for key in ("G", "end"):
            await pilot.press("g")
            view.grow(10)
            await pilot.press(key)
            assert view.is_at_end
            view.grow(10)
            await pilot.pause()
            assert view.is_at_end
        # Moving down to the last line resumes following.
        view.become()
        await pilot.pause()
        view.grow(30)
        await pilot.press("up", "up", "down")
        view.grow(1)
        assert not view.is_at_end
        await pilot.press("down", "down")
        view.grow(4)
        await pilot.pause()
        assert view.is_at_end
        # A resize does not resume following.
        view.become()
        await pilot.pause()
        view.grow(40)
        await pilot.press("g", "down")
        await pilot.resize_terminal(40, 20)
        await pilot.pause()
        assert viewport(view)[0] == "line 1"
        view.grow(5)
        assert viewport(view)[0] == "line 1"
        # While following, the last line stays in view when the height changes.
        view.become()
        await pilot.pause()
        view.grow(40)
        for height in (5, 25, 12, 60, 8):
            await pilot.resize_terminal(40, height)
            await pilot.pause()
            shown_lines = [text for text in viewport(view) if text]
            assert shown_lines[-1] == "line 39"
            view.grow(0)
            assert view.following


async def test_text_is_selected_by_its_columns() -> None:
    """A selection is the text between its columns, also of wide characters; rows fill the pane."""
    view = Lines("東京 11:42 調査", "plain ascii", "게 🦀 crab")
    async with shown(view) as pilot:
        # Column 2 of the pane is column 0 of the text, after the border and the padding.
        # A mouse selection across wide characters is the text between its columns.
        await pilot.mouse_down(view, offset=(2 + 2, 1))
        await pilot.hover(view, offset=(2 + 5, 3))
        await pilot.mouse_up(view, offset=(2 + 5, 3))
        assert pilot.app.screen.get_selected_text() == "京 11:42 調査\nplain ascii\n게 🦀"
        # The marked columns are those of the selected characters, including wide ones.
        pilot.app.screen.clear_selection()
        view.become("東京 11:42")
        await pilot.pause()
        await pilot.mouse_down(view, offset=(2 + 2, 1))
        await pilot.hover(view, offset=(2 + 6, 1))
        await pilot.pause()
        marked = [s.text for s in view.render_line(0) if s.style and s.style.reverse]
        await pilot.mouse_up(view, offset=(2 + 6, 1))
        assert "".join(marked) == "京 11" == pilot.app.screen.get_selected_text()
        # Selecting all gives every line, visible or not, without the padding.
        view.become()
        await pilot.pause()
        view.grow(50)
        view.text_select_all()
        await pilot.pause()
        assert pilot.app.screen.get_selected_text() == "\n".join(view.texts)
        # Fewer lines than rows are drawn from the first row.
        pilot.app.screen.clear_selection()
        view.become("only")
        await pilot.pause()
        assert viewport(view) == ["only", *[""] * (INNER - 1)]
        # Each row is as wide as the pane, whatever the length of its text.
        view.become("", "short", "東" * 60, "x" * 100)
        await pilot.pause()
        width = view.scrollable_content_region.width
        assert {view.render_line(y).cell_length for y in range(INNER)} == {width}
