"""A match in the payload of a call is scrolled to and marked in its detail."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from agentwatch.agents.opening import saved_source
from agentwatch.feed.feed import Feed
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.screens.session.workspace import Workspace
from agentwatch.screen.terminal.signals import HeldSignals
from tests.builders.screen.app import Stage, eventually, lines_of, opened, viewport
from tests.builders.screen.lines import answer, ended, init, result, shell, started

pytestmark = pytest.mark.slow

Saver = Callable[[bytes], Path]
OUTPUT = "\n".join(f"line {n}{' has a needle' if n in (150, 320) else ''}" for n in range(400))


def current_matches(stage: Stage) -> list[str]:
    """Return the pieces of the detail in the style of the current match."""
    pane = stage.pane("detail")
    style_of = pane.line_style("selected").bgcolor
    strips = [pane.render_line(y) for y in range(pane.scrollable_content_region.height)]
    return [
        piece.text for strip in strips for piece in strip if piece.style and piece.style.bgcolor == style_of
    ]


def is_in_detail(stage: Stage, words: str) -> bool:
    """Return whether the words are visible in the detail."""
    return any(words in row for row in viewport(stage.pane("detail")))


def focus(stage: Stage) -> str | None:
    """Return the name of the focused widget."""
    return stage.app.focused.id if stage.app.focused else None


@pytest.mark.parametrize(
    "size", [(80, 24), *(pytest.param(size, marks=pytest.mark.system) for size in ((160, 50), (40, 12)))]
)
async def test_a_match_in_a_long_output_is_scrolled_to(recording: Saver, size: tuple[int, int]) -> None:
    """Each match in a long output is scrolled to and marked; esc removes the marks."""
    path = recording(init() + shell(1, 0, OUTPUT) + answer("Done.") + result("Done."))
    async with opened(path, size) as stage:
        await stage.press("slash", *"needle", "enter")
        for line in ("line 150 ", "line 320 ", "line 150 "):
            await stage.until(partial(is_in_detail, stage, line), line)
            await stage.until(lambda: current_matches(stage) == ["needle"], "the mark")
            assert focus(stage) == "detail"
            await stage.press("n")
        await stage.press("escape")
        assert current_matches(stage) == []


@pytest.mark.system
async def test_a_match_unfolds_the_branches_around_it(recording: Saver) -> None:
    """A match inside folded branches of a tree unfolds them."""
    value = {"outer": {"inner": {"deep": {"word": "a needle"}}}}
    call = started("c", "mcp", {}) + ended("c", "mcp", {}, {"success": value})
    async with opened(recording(init() + call + result())) as stage:
        await stage.press("2")
        assert not any("needle" in row for row in lines_of(stage.pane("detail")))
        await stage.press("slash", *"needle")
        await stage.until(lambda: current_matches(stage) == ["needle"], "the mark")


async def test_slash_focuses_the_query_at_once(recording: Saver) -> None:
    """After `/`, the query has the focus at once, so letters that follow do not act in a pane."""
    async with opened(recording(init() + shell(1, 0, OUTPUT) + result())) as stage:
        stage.app.screen.query_one(Workspace).action_find()
        assert focus(stage) not in ("transcript", "calls", "detail", "log")


class HeldFeed(Feed):
    """A feed that reads nothing until `may_read` is set."""

    may_read = False

    def advance(self, seconds: float | None = None) -> int:
        """Advance, if reading is allowed."""
        return super().advance(seconds) if self.may_read else 0


@pytest.mark.system
async def test_a_search_continues_in_the_whole_file(
    recording: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query typed while a large file is being read is searched in the whole file once it is read."""
    monkeypatch.setattr("agentwatch.screen.screens.session.screen._LARGE_BYTES", 1 << 10)
    calls = b"".join(shell(number, 0, "needle") for number in range(1000))
    source = saved_source(recording(init() + calls + result()))
    feed = HeldFeed(source.reader)
    app = AgentwatchApp(source, feed, HeldSignals())
    async with app.run_test(size=(120, 40)) as pilot:

        def found_text() -> str:
            return str(app.screen.query_one("#find .note", Static).content)

        await pilot.press("slash", *"needle")
        await eventually(pilot, lambda: "… found" in found_text(), "the matches at the ends")
        feed.may_read = True
        await eventually(pilot, lambda: found_text().partition(" · ")[0].endswith(" of 1,000"), "all of them")
        await pilot.press("s")
        await eventually(pilot, lambda: found_text() == "not found", "the longer text")
        assert app.screen.query_one("#find Input", Input).value == "needles"
