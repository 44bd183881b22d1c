"""A match in the detail of a call is scrolled to and marked, in any block and on its own side."""

from functools import partial

import pytest
from rich.style import Style
from textual.widgets import Input, Static

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.diff_lines import parsed
from agentwatch.analysis.search import Query
from agentwatch.feed.feed import Feed
from agentwatch.screen.panes.detail.diff import Diff
from agentwatch.screen.panes.detail.section_list import FoundLines
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.screens.session.panes import NAMES
from agentwatch.screen.screens.session.workspace import Workspace
from agentwatch.screen.terminal.signals import PendingSignals
from agentwatch.screen.widgets.syntax import CodeStyle
from tests.builders.screen.app import Stage, eventually, lines_of, opened, viewport
from tests.builders.screen.lines import answer, ended, init, result, shell, started
from tests.conftest import Saver, case

OUTPUT = "\n".join(f"line {n}{' has a needle' if n in (150, 320) else ''}" for n in range(400))


def rows_with_matches(stage: Stage) -> list[tuple[str, str]]:
    """Return each row of the detail with a piece in the style of the current match, and that piece."""
    pane = stage.pane("detail")
    strips = [pane.render_line(y) for y in range(pane.scrollable_content_region.height)]
    return [
        (strip.text, piece.text) for strip in strips for piece in strip if piece.style and piece.style.reverse
    ]


def current_matches(stage: Stage) -> list[str]:
    """Return the pieces of the detail in the style of the current match."""
    return [piece for _, piece in rows_with_matches(stage)]


def is_in_detail(stage: Stage, words: str) -> bool:
    """Return whether the words are visible in the detail."""
    return any(words in row for row in viewport(stage.pane("detail")))


@pytest.mark.slow
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
            assert stage.focus == "detail"
            await stage.press("n")
        await stage.press("escape")
        assert current_matches(stage) == []


@pytest.mark.system
async def test_matches_in_branches_and_on_both_sides_are_shown(recording: Saver) -> None:
    """A match unfolds the branches around it; side by side it is marked on its own side."""
    # A match inside folded branches of a tree unfolds them.
    value = {"outer": {"inner": {"deep": {"word": "a needle"}}}}
    call = started("c", "mcp", {}) + ended("c", "mcp", {}, {"success": value})
    async with opened(recording(init() + call + result())) as stage:
        await stage.press("2")
        assert not any("needle" in row for row in lines_of(stage.pane("detail")))
        await stage.press("slash", *"needle")
        await stage.until(lambda: current_matches(stage) == ["needle"], "the mark")
    # Side by side, matches in the old and in the new text are scrolled to and marked on their side.
    old = "".join(f"-line {n} {'with a needle ' if n == 150 else ''}{LONG}\n" for n in range(200))
    new = "".join(f"+row {n}{' has a needle' if n == 60 else ''}\n" for n in range(200))
    args: dict[str, object] = {"path": "/a"}
    change = {"success": {"diffString": f"@@ -1,200 +1,200 @@\n{old}{new}"}}
    data = init() + ended("a", "edit", args, change) + result("Done.")
    async with opened(recording(data), (240, 40)) as stage:
        await stage.press("3", "slash", *"needle", "enter")
        for words, half in (("line 150 with a ", 0), ("row 60 has a ", 1)):

            def is_marked(words: str, half: int) -> bool:
                return any(
                    mark == "needle" and f"{words}needle" in (row.split("│") * 2)[half]
                    for row, mark in rows_with_matches(stage)
                )

            await stage.until(partial(is_marked, words, half), f"{words}: {viewport(stage.pane('detail'))}")
            await stage.press("n")


@pytest.mark.slow
async def test_slash_focuses_the_query_at_once(recording: Saver) -> None:
    """After `/`, the query has the focus at once, so letters that follow do not act in a pane."""
    async with opened(recording(init() + shell(1, 0, OUTPUT) + result())) as stage:
        stage.app.screen.query_one(Workspace).action_find()
        assert stage.focus not in NAMES


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
    app = AgentwatchApp(source, feed, PendingSignals())
    async with app.run_test(size=(120, 40)) as pilot:

        def found_text() -> str:
            return "".join(str(each.content) for each in app.screen.query("#find .note").results(Static))

        await pilot.press("slash", *"needle")
        await eventually(pilot, lambda: "… found" in found_text(), "the matches at the ends")
        feed.may_read = True
        await eventually(pilot, lambda: found_text().partition(" · ")[0].endswith(" of 1,000"), "all of them")
        await pilot.press("s")
        await eventually(pilot, lambda: found_text() == "not found", "the longer text")
        assert app.screen.query_one("#find Input", Input).value == "needles"


LONG = "東京 far and wide " * 12
BOTH = f"""\
@@ -9,6 +9,6 @@ {"head " * 21}needle
 kept needle
-{LONG}
-old needle
-{LONG}needle
+new
+{LONG}needle
+plain needle
\\ No needle at end of file
 last
"""


def style_of(_name: str) -> Style:
    """Return no style."""
    return Style()


def diff_of(text: str) -> Diff:
    """Return a diff without syntax colours."""
    return Diff(parsed(text, 1_000)[0], CodeStyle("no language", "github-dark", Style()))


def marks(diff: Diff, found: FoundLines, row: int) -> list[str]:
    """Return the marked pieces of a row."""
    text = diff.row(row, style_of).text
    return [text[start:end] for start, end, _ in found.in_row(diff, row, style_of)]


def test_the_row_reported_for_a_match_contains_it() -> None:
    """Each match is marked, and the row that is reported for it contains it, or is the one before."""
    # The row reported for a match contains that match, marked as the current one.
    for width in (60, 99, 100, 101, 130):
        with case(width):
            diff, found = diff_of(BOTH), FoundLines(Query("needle"))
            diff.lay_out(width)
            for nth in range(6):
                place = found.choose(diff, nth)
                assert place is not None
                current = [
                    start
                    for start, _, is_current in found.in_row(diff, diff.row_of(*place[:2]), style_of)
                    if is_current
                ]
                assert current, f"match {nth} at {width} columns"
    # Every occurrence of the word in every row is marked, and nothing else.
    for width in (60, 99, 100, 101, 130):
        with case(width):
            diff, found = diff_of(BOTH), FoundLines(Query("needle"))
            rows = range(diff.lay_out(width))
            assert [marks(diff, found, row) for row in rows] == [
                ["needle"] * diff.row(row, style_of).text.count("needle") for row in rows
            ]
    # Side by side, a remark on a line end is not shown; a match in it scrolls to the line before it.
    diff, found = diff_of("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"), FoundLines(Query("newline"))
    assert diff.lay_out(100) == 2
    place = found.choose(diff, 0)
    assert place is not None
    assert diff.row_of(*place[:2]) == 1
    # A hunk header wraps at the full width of both sides, whether that is odd or even.
    for width in (100, 101, 102, 103):
        for length in (99, 100, 101, 102, 103):
            head = "@@ -1 +1 @@".ljust(length, "x")
            diff = diff_of(f"{head}\n-a\n+b\n")
            shown = [diff.row(row, style_of).text for row in range(diff.lay_out(width))]
            assert "".join(shown[:-1]) == head
