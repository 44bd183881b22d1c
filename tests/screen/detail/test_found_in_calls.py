"""What is found in what a call carries is scrolled to and marked in its detail."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from agentwatch.cli.terminal import HeldSignals
from agentwatch.feed import Feed
from agentwatch.screen.app import AgentwatchApp
from agentwatch.screen.session_keys import SessionKeys
from agentwatch.sources.open import saved_source
from tests.screen.conftest import (
    Stage,
    answer,
    ended,
    eventually,
    init,
    lines_of,
    opened,
    result,
    shell,
    started,
    viewport,
)

Saver = Callable[[bytes], Path]
OUTPUT = "\n".join(f"line {n}{' has a needle' if n in (150, 320) else ''}" for n in range(400))


def standing_out(stage: Stage) -> list[str]:
    """Return the pieces of the detail that look like the current match."""
    pane = stage.pane("detail")
    style_of = pane.line_style("selected").bgcolor
    strips = [pane.render_line(y) for y in range(pane.scrollable_content_region.height)]
    return [
        piece.text for strip in strips for piece in strip if piece.style and piece.style.bgcolor == style_of
    ]


def shows_in_detail(stage: Stage, words: str) -> bool:
    """Return whether words are in view in the detail."""
    return any(words in row for row in viewport(stage.pane("detail")))


def focus(stage: Stage) -> str | None:
    """Return the pane that has the keys."""
    return stage.app.focused.id if stage.app.focused else None


@pytest.mark.parametrize("size", [(160, 50), (80, 24), (40, 12)])
async def test_a_match_in_a_long_output_is_brought_into_view(recording: Saver, size: tuple[int, int]) -> None:
    """Each match in an output is scrolled to and stands out; esc takes the marks away."""
    path = recording(init() + shell(1, 0, OUTPUT) + answer("Done.") + result("Done."))
    async with opened(path, size) as stage:
        await stage.press("slash", *"needle", "enter")
        for line in ("line 150 ", "line 320 ", "line 150 "):
            await stage.until(partial(shows_in_detail, stage, line), line)
            await stage.until(lambda: standing_out(stage) == ["needle"], "the mark")
            assert focus(stage) == "detail"
            await stage.press("n")
        await stage.press("escape")
        assert standing_out(stage) == []


async def test_a_folded_branch_opens_for_what_is_found_in_it(recording: Saver) -> None:
    """A match below folded branches of a tree opens these."""
    value = {"outer": {"inner": {"deep": {"word": "a needle"}}}}
    call = started("c", "mcp", {}) + ended("c", "mcp", {}, {"success": value})
    async with opened(recording(init() + call + result())) as stage:
        await stage.press("2")
        assert not any("needle" in row for row in lines_of(stage.pane("detail")))
        await stage.press("slash", *"needle")
        await stage.until(lambda: standing_out(stage) == ["needle"], "the mark")


async def test_keys_typed_at_once_after_the_slash_are_text(recording: Saver) -> None:
    """Letters that come together with `/` are looked for, and are no keys of a pane."""
    async with opened(recording(init() + shell(1, 0, OUTPUT) + result())) as stage:
        stage.app.screen.query_one(SessionKeys).action_find()
        assert focus(stage) not in ("transcript", "calls", "detail", "log")


class HeldFeed(Feed):
    """A feed that reads nothing until it may."""

    may_read = False

    def advance(self, seconds: float | None = None) -> int:
        """Read, if it may."""
        return super().advance(seconds) if self.may_read else 0


async def test_a_search_goes_on_when_all_is_read(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is being typed while a large file is read is looked for in all of it when all is read."""
    monkeypatch.setattr("agentwatch.screen.app._LARGE_BYTES", 1 << 10)
    calls = b"".join(shell(number, 0, "needle") for number in range(4000))
    source = saved_source(recording(init() + calls + result()))
    feed = HeldFeed(source.reader)
    app = AgentwatchApp(source, feed, HeldSignals())
    async with app.run_test(size=(120, 40)) as pilot:

        def told() -> str:
            return str(app.screen.query_one("#found", Static).content)

        await pilot.press("slash", *"needle")
        await eventually(pilot, lambda: "… found" in told(), "the matches at the ends")
        feed.may_read = True
        await eventually(pilot, lambda: told().partition(" · ")[0].endswith(" of 4,000"), "all of them")
        await pilot.press("s")
        await eventually(pilot, lambda: told() == "not found", "the longer text")
        assert app.screen.query_one("#find Input", Input).value == "needles"
