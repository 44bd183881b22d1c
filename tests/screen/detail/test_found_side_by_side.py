"""What is found in a diff is scrolled to and marked where it stands, side by side too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from rich.style import Style

from agentwatch.analysis.query import Query
from agentwatch.screen.detail.diff import Diff
from agentwatch.screen.detail.diff_lines import parsed
from agentwatch.screen.detail.matches import FoundLines
from agentwatch.screen.detail.syntax import CodeStyle
from tests.builders.screen.app import Stage, opened, viewport
from tests.builders.screen.lines import ended, init, result

Saver = Callable[[bytes], Path]
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
    """Return a diff without colours."""
    return Diff(parsed(text, 1_000)[0], CodeStyle("no language", "github-dark", Style()))


def marks(diff: Diff, found: FoundLines, row: int) -> list[str]:
    """Return what is marked in a row."""
    text = diff.row(row, style_of).text
    return [text[start:end] for start, end, _ in found.in_row(diff, row, style_of)]


@pytest.mark.parametrize("width", [60, 99, 100, 101, 130])
def test_each_match_is_marked_where_it_stands(width: int) -> None:
    """All that is marked is the word, and it is marked wherever a row shows it."""
    diff, found = diff_of(BOTH), FoundLines(Query("needle"))
    rows = range(diff.lay_out(width))
    assert [marks(diff, found, row) for row in rows] == [
        ["needle"] * diff.row(row, style_of).text.count("needle") for row in rows
    ]


@pytest.mark.parametrize("width", [60, 99, 100, 101, 130])
def test_the_row_of_a_match_shows_it(width: int) -> None:
    """Each match that is chosen stands out in the row that is told for it."""
    diff, found = diff_of(BOTH), FoundLines(Query("needle"))
    diff.lay_out(width)
    for nth in range(6):
        place = found.choose(diff, nth)
        assert place is not None
        current = [
            start for start, _, is_current in found.in_row(diff, diff.row_of(*place), style_of) if is_current
        ]
        assert current, f"match {nth} at {width} columns"


def test_a_remark_that_is_not_shown_is_scrolled_to_where_it_belongs() -> None:
    """Side by side the row of a remark on a line end is that of the line before it."""
    diff, found = diff_of("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"), FoundLines(Query("newline"))
    assert diff.lay_out(100) == 2
    place = found.choose(diff, 0)
    assert place is not None
    assert diff.row_of(*place) == 1


def test_a_head_as_wide_as_both_sides_is_shown() -> None:
    """A head of a hunk is folded to both sides and the rule between them, at an odd and an even width."""
    for width in (100, 101, 102, 103):
        for length in (99, 100, 101, 102, 103):
            head = "@@ -1 +1 @@".ljust(length, "x")
            diff = diff_of(f"{head}\n-a\n+b\n")
            shown = [diff.row(row, style_of).text for row in range(diff.lay_out(width))]
            assert "".join(shown[:-1]) == head


def standing_out(stage: Stage) -> list[tuple[str, str]]:
    """Return each row of the detail with a piece that looks like the current match, and that piece."""
    pane = stage.pane("detail")
    ground = pane.line_style("selected").bgcolor
    strips = [pane.render_line(y) for y in range(pane.scrollable_content_region.height)]
    return [
        (strip.text, piece.text)
        for strip in strips
        for piece in strip
        if piece.style and piece.style.bgcolor == ground
    ]


async def test_a_match_of_either_side_is_brought_into_view(recording: Saver) -> None:
    """In a wide terminal a match in the old and one in the new side are scrolled to, and marked there."""
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
                    for row, mark in standing_out(stage)
                )

            await stage.until(partial(is_marked, words, half), f"{words}: {viewport(stage.pane('detail'))}")
            await stage.press("n")
