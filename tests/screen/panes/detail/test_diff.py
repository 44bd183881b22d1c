"""An edit is shown as a diff with line numbers, unified or side by side."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from agentwatch.analysis.diff_lines import DiffLine, compared, parsed
from agentwatch.screen.panes.detail.diff import Diff
from agentwatch.screen.widgets.syntax import CodeStyle
from agentwatch.text.safe import SafeText
from tests.builders.lines import PROPERTY
from tests.conftest import case

EDIT = """\
--- a/x.py
+++ b/x.py
@@ -9,4 +9,5 @@ def f():
 kept
--- not a name
-old
+new
+++ not a name either
+more
 last
\\ No newline at end of file
"""
MOST = 20_000
PLAIN = CodeStyle("no language", "github-dark", Style())


def style_of(name: str) -> Style:
    """Return a style that contains its own name."""
    return Style(meta={"style": name})


def rows(diff: Diff, width: int) -> list[str]:
    """Return the rows of a diff at a width, without trailing blanks."""
    return [diff.row(row, style_of).text.rstrip() for row in range(diff.lay_out(width))]


def numbered(lines: list[DiffLine]) -> list[tuple[str, int | None, int | None]]:
    """Return the sign, the old number and the new number of each line."""
    return [(line.sign, line.old, line.new) for line in lines]


def test_lines_have_their_numbers() -> None:
    """Lines have their old and new numbers, files their names; what fits no rule stays as it is."""
    # Each line has its old and new number; a line in a hunk that resembles a file header stays a line.
    lines, left_out = parsed(EDIT, MOST)
    assert left_out == 0
    assert numbered(lines) == [
        ("@", None, None),
        (" ", 9, 9),
        ("-", 10, None),
        ("-", 11, None),
        ("+", None, 10),
        ("+", None, 11),
        ("+", None, 12),
        (" ", 12, 13),
        ("\\", None, None),
    ]
    assert lines[2].text == "-- not a name"
    # In a diff of several files, the file names are shown above their hunks.
    one = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    lines, _ = parsed(one + one.replace("/x", "/y"), MOST)
    assert [line.text for line in lines if line.sign == "f"] == ["--- a/x", "+++ b/x", "--- a/y", "+++ b/y"]
    assert numbered(lines)[-2:] == [("-", 1, None), ("+", None, 1)]
    # Lines with signs but no hunk header form a diff whose line numbers are unknown.
    lines, _ = parsed(" a\n-b\n+c\n", MOST)
    assert numbered(lines) == [
        (" ", None, None),
        ("-", None, None),
        ("+", None, None),
    ]
    assert rows(Diff(parsed("-b\n+c", MOST)[0], PLAIN), 60) == ["- b", "+ c"]
    # A line that fits no rule of the format is shown unchanged.
    lines, _ = parsed("Binary files differ\n@@ odd @@\n@@ -1 +1 @@\n-a\n+b\nrest", MOST)
    texts = [line.text for line in lines]
    assert texts == [
        "Binary files differ",
        "@@ odd @@",
        "@@ -1 +1 @@",
        "a",
        "b",
        "rest",
    ]


def test_what_is_left_out_is_counted() -> None:
    """Lines and characters over the limit are counted, and large contents are not compared."""
    # Lines of a diff beyond the limit are counted, not kept.
    lines, left_out = parsed("@@ -0,0 +1,50 @@\n" + "+x\n" * 50, 20)
    assert (len(lines), left_out) == (20, 31)
    lines, left_out = compared("", "x\n" * 50, 20)
    assert (len(lines), left_out) == (20, 31)
    # A line of 3 MB is cut, and shows how many characters are missing.
    [_, line] = parsed("@@ -0,0 +1 @@\n+" + "x" * 3_000_000, MOST)[0]
    assert line.text.endswith("… 2,980,001 more characters in this line")
    # Contents that differ over more than 2,000 lines are not compared, but shown as removed and added.
    old = ["head", *(f"{n % 7} {n}" for n in range(5, 4_005)), "tail"]
    new = ["head", *(f"{n % 5} {n}" for n in range(5, 4_005)), "tail"]
    lines, _ = compared("\n".join(old), "\n".join(new), MOST)
    signs = "".join(line.sign for line in lines)
    assert signs == "@ " + "-" * 4_000 + "+" * 4_000 + " "


def test_unified_rows() -> None:
    """A unified row has its numbers, sign and text, and a background over the whole width."""
    # A unified row is old number, new number, sign and text; a long line wraps onto further rows.
    diff = Diff(parsed("@@ -9,2 +9,2 @@\n kept\n-old\n+new and then some more of it\n", MOST)[0], PLAIN)
    assert rows(diff, 60) == [
        "@@ -9,2 +9,2 @@",
        " 9  9   kept",
        "10    - old",
        "   10 + new and then some more of it",
    ]
    assert rows(diff, 20)[2:] == ["10 - old", "10 + new and then", "   ↳ some more of it"]
    assert rows(diff, 5)[-1].strip()
    # The background of a changed line spans the full width, however short the text.
    diff = Diff(parsed("@@ -1 +1 @@\n-a\n+東京\n", MOST)[0], PLAIN)
    diff.lay_out(60)
    for row, name in ((1, "removed"), (2, "added")):
        strip = diff.row(row, style_of)
        assert strip.cell_length == 60
        assert {segment.style.meta["style"] for segment in strip if segment.style} == {name}
    # A diff without removed lines is shown unified at any width.
    assert rows(Diff(parsed("@@ -1,0 +1,2 @@\n+a\n+b\n", MOST)[0], PLAIN), 120)[1:] == ["  1 + a", "  2 + b"]


def test_side_by_side() -> None:
    """From 100 columns, removed lines are beside the added ones; long lines wrap on their side."""
    # From 100 columns, removed lines are shown beside the added lines that replace them.
    diff = Diff(parsed("@@ -9,3 +9,4 @@\n kept\n-old\n+new\n+more\n last\n\\ No newline\n", MOST)[0], PLAIN)
    assert diff.lay_out(99) == 7
    assert [[half.strip() for half in row.split("│")] for row in rows(diff, 101)] == [
        ["@@ -9,3 +9,4 @@"],
        ["9   kept", "9   kept"],
        ["10 - old", "10 + new"],
        ["", "11 + more"],
        ["11   last", "12   last"],
        ["\\ No newline"],
    ]
    # Side by side, a diff with additions before removals keeps that order.
    diff = Diff(parsed("@@ -1,2 +1,2 @@\n+new\n-old\n same\n", MOST)[0], PLAIN)
    assert [row.split() for row in rows(diff, 101)[1:]] == [
        ["│1", "+", "new"],
        ["1", "-", "old", "│"],
        ["2", "same", "│2", "same"],
    ]
    # Side by side, a long line wraps without losing text, and all rows have the same width.
    old, new = "ab " * 60, "東京" * 40
    diff = Diff(parsed(f"@@ -1 +1 @@\n-{old}\n+{new}\n", MOST)[0], PLAIN)
    for width in (100, 101, 120):
        count = diff.lay_out(width)
        strips = [diff.row(row, style_of) for row in range(1, count)]
        assert {strip.cell_length for strip in strips} == {(width - 1) // 2 * 2 + 1}
        halves = [strip.text.split("│") for strip in strips]
        assert "".join(left[4:] for left, _ in halves).split() == old.split()
        assert "".join(right[4:] for _, right in halves).replace(" ", "") == new


def test_a_diff_is_computed_from_the_contents() -> None:
    """Without a recorded diff, the contents before and after are compared, with three lines of context."""
    old = "".join(f"{n}\n" for n in range(1, 31))
    new = old.replace("\n5\n", "\nfive\n").replace("\n25\n", "\n25\nmore\n")
    lines, _ = compared(old, new, MOST)
    assert [line.text for line in lines if line.sign == "@"] == [
        "@@ line 2, now 2 @@",
        "@@ line 23, now 23 @@",
    ]
    changed = [(line.sign, line.old, line.new, line.text) for line in lines if line.sign in "+-"]
    assert changed == [("-", 5, None, "5"), ("+", None, 5, "five"), ("+", None, 26, "more")]
    assert len(lines) == 2 + 3 + 2 + 3 + 3 + 1 + 3
    assert compared(old, old, MOST) == ([], 0)


LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=30)


@PROPERTY
@given(LINES, LINES)
def test_a_computed_diff_gives_both_contents(old: list[str], new: list[str]) -> None:
    """Removed and unchanged lines of a computed diff give the old text, added and unchanged the new one."""
    lines, _ = compared("".join(f"{n}\n" for n in old), "".join(f"{n}\n" for n in new), MOST)
    for line in lines:
        if line.old is not None:
            assert old[line.old - 1] == line.text
        if line.new is not None:
            assert new[line.new - 1] == line.text
    shown_old = {line.old for line in lines}
    shown_new = {line.new for line in lines}
    kept_old = [line for n, line in enumerate(old, 1) if n not in shown_old]
    kept_new = [line for n, line in enumerate(new, 1) if n not in shown_new]
    assert kept_old == kept_new
    numbers = [line.old for line in lines if line.old is not None]
    assert numbers == sorted(set(numbers))


@PROPERTY
@given(LINES, LINES)
def test_a_diff_of_difflib_is_numbered_correctly(old: list[str], new: list[str]) -> None:
    """Every line of a diff made by `difflib` has the number that it has in its file."""
    text = "\n".join(difflib.unified_diff(old, new, "a/x", "b/x", lineterm=""))
    lines = parsed(text, MOST)[0] if text else []
    assert bool(lines) == (old != new)
    for line in lines:
        if line.old is not None:
            assert old[line.old - 1] == line.text
        if line.new is not None:
            assert new[line.new - 1] == line.text


@pytest.mark.system
def test_any_line_at_any_width() -> None:
    """Any line can be drawn at any width, and from 40 columns without losing text."""
    for width in (1, 3, 8, 40, 100, 160):
        with case(width):
            texts = ["", "plain", "東京の潮位" * 30, "\u0300\u0301 marks", "a " * 70]
            diff = Diff([DiffLine(sign, 1, 1, SafeText(text)) for text in texts for sign in " +-@\\f"], PLAIN)
            shown = "".join(rows(diff, width)).replace(" ", "")
            assert "東京の潮位" in shown or width >= 100 or width < 40
            assert len(rows(diff, width)) == diff.lay_out(width)
