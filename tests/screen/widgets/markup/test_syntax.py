"""Code in files and diffs has the colours of its language, readable on every background."""

import re
import threading
from typing import Any

import pytest
from pygments.lexers import (  # type: ignore[import-untyped]
    find_lexer_class_for_filename,
    get_all_lexers,
)
from pygments.token import STANDARD_TYPES  # type: ignore[import-untyped]
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from textual.theme import BUILTIN_THEMES

from agentwatch.analysis.diff_lines import parsed
from agentwatch.screen.panes.detail.diff import Diff
from agentwatch.screen.widgets import syntax
from agentwatch.screen.widgets.line_view import LineView
from agentwatch.screen.widgets.syntax import CodeStyle, SyntaxColours, code_theme, legible
from agentwatch.text.safe import SafeText
from tests.builders.screen.app import PaneApp
from tests.conftest import case

MOST = 20_000
PYTHON = CodeStyle("a.py", "github-dark", Style(bgcolor="#121212"))
GROUNDS = {"added": "#103010", "removed": "#301010"}
STYLES = {name: Style(color="white", bgcolor=ground) for name, ground in GROUNDS.items()}


class Pane(LineView):
    """A pane without lines."""

    def line_count(self) -> int:
        return 0


class RecordedLines(list[SafeText]):
    """A list of lines that records the indices that were read."""

    read: set[int] = set()

    def __getitem__(self, at: Any) -> Any:
        """Return the lines, and record their indices."""
        self.read |= set(range(*at.indices(len(self)))) if isinstance(at, slice) else {at}
        return super().__getitem__(at)


def style_of(name: str) -> Style:
    """Return a style whose background identifies the name."""
    return STYLES.get(name, Style(color="white"))


def drawn(text: str, width: int = 60) -> list[list[Segment]]:
    """Return the rows of a Python diff as lists of segments."""
    diff = Diff(parsed(text, MOST)[0], PYTHON)
    return [list(diff.row(row, style_of)) for row in range(diff.lay_out(width))]


def colour(row: list[Segment], word: str) -> Color | None:
    return next(s.style.color for s in row if s.style and s.text.strip() == word)


def ground(row: list[Segment], word: str) -> str | None:
    """Return the name of the background colour of a word in a row."""
    [style] = [s.style for s in row if s.text.strip() == word and s.style]
    return style.bgcolor.name if style.bgcolor else None


def test_a_diff_has_the_colours_of_its_language() -> None:
    """Each side of a hunk is one text in its language; a changed line differs in its background only."""
    # Words of a changed line have the same colours as in an unchanged line; only the background differs.
    for width in (60, 120):
        with case(width):
            rows = drawn("@@ -1,2 +1,2 @@\n return kept\n-return old\n+return new\n", width)
            [kept] = [row for row in rows if any("kept" in s.text for s in row)]
            [old] = [row for row in rows if any("old" in s.text for s in row)]
            [new] = [row for row in rows if any("new" in s.text for s in row)]
            assert colour(kept, "return") != colour(kept, "kept")
            keywords = [colour(row, "return") for row in (kept, old, new)]
            assert len(set(keywords)) == 1
            assert ground(old, "old") == GROUNDS["removed"]
            assert ground(new, "new") == GROUNDS["added"]
    # A string over several lines is one string to its end, on each side of the diff separately.
    rows = drawn('@@ -1,3 +1,3 @@\n x = 1\n-y = """\n-return\n+y = 2\n+return x\n')
    string = colour(rows[2], '"""')
    assert colour(rows[3], "return") == string
    assert colour(rows[5], "return") != string
    # A string left open in one hunk does not continue in the next, as the lines between are unknown.
    rows = drawn('@@ -1 +1 @@\n-x = """\n+y = """\n@@ -90 +90 @@\n-return x\n+return y\n')
    assert colour(rows[4], "return") == colour(drawn("@@ -1 +1 @@\n-return x\n")[1], "return")


def test_only_lines_near_the_viewport_are_read() -> None:
    """Of 20,000 lines only those near the viewport are read for highlighting, and each only once."""
    lines = RecordedLines(SafeText("x = 'a'") for _ in range(MOST))
    colours = SyntaxColours(lines, PYTHON)
    for number in range(9_000, 9_040):
        assert colours.runs(number)
    assert 40 <= len(lines.read) <= 200
    lines.read.clear()
    assert colours.runs(9_010)
    assert not lines.read


def contrast(one: Color, other: Color) -> float:
    """Return the contrast ratio of two colours as defined by WCAG 2.2."""
    lights = []
    for colour in (one, other):
        parts = [part / 255 for part in colour.get_truecolor()]
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        lights.append(0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.system
async def test_code_can_be_read_in_every_theme() -> None:
    """In every theme, code has a contrast of at least 4.5 on plain, added, removed and code backgrounds."""
    pane = Pane("", id="detail")
    app = PaneApp(pane)
    async with app.run_test() as pilot:
        for theme in [theme for theme in BUILTIN_THEMES.values() if not theme.ansi]:
            app.theme = theme.name
            await pilot.pause()
            colours = Syntax.get_theme(code_theme(theme))
            for name in ("plain", "added", "removed", "code-block"):
                under = pane.rich_style + pane.line_style(name)
                for kind in STANDARD_TYPES:
                    text = legible(colours.get_style_for_token(kind), under).color
                    assert under.bgcolor
                    assert text is None or contrast(text, under.bgcolor) > 4.49, (theme.name, name, kind)


@pytest.mark.slow
async def test_in_16_colours_changed_lines_have_signs_only() -> None:
    """In a theme of the terminal's own colours, a diff has no background and uses no other colours."""
    pane = Pane("", id="detail")
    app = PaneApp(pane)
    async with app.run_test() as pilot:
        for name in ("ansi-dark", "ansi-light"):
            app.theme = name
            await pilot.pause()
            code = CodeStyle("a.py", code_theme(app.current_theme), pane.rich_style)
            diff = Diff(parsed("@@ -1 +1 @@\n-return old\n+return 'new'\n", MOST)[0], code)
            rows = [diff.row(row, pane.line_style) for row in range(diff.lay_out(60))]
            assert [row.text.split()[1] for row in rows[1:]] == ["-", "+"]
            styles = [segment.style for row in rows for segment in row if segment.style]
            assert all(style.bgcolor is None for style in styles)
            colours = {style.color for style in styles if style.color}
            assert all(colour.is_system_defined or colour.is_default for colour in colours)
            assert len(colours) >= 4


@pytest.mark.system
def test_a_language_is_found_by_the_name_of_a_file() -> None:
    """For a name that matches a pattern of Pygments, the lexer is the one that Pygments chooses."""
    patterns = {pattern for *_, found, _ in get_all_lexers(plugins=False) for pattern in found}
    names = {re.sub(r"\[(.)[^]]*\]", r"\1", pattern).replace("*", "part.x") for pattern in patterns}
    for name in [*names, "a.tar.py", ".bashrc", "README", "", ".", "a.", "b.PY", "notes.xyzzy"]:
        with case(name):
            assert syntax._lexer_class(name) is find_lexer_class_for_filename(name)


def test_a_language_is_loaded_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a pane can be redrawn later, code is plain until its language is loaded in a thread."""
    may_load, redrawn = threading.Event(), threading.Event()
    lexer_for = syntax._lexer_for
    monkeypatch.setattr(syntax, "_lexer_for", lambda name: may_load.wait() and lexer_for(name))
    syntax._language.cache_clear()
    lines = [SafeText("return 1")]
    late = SyntaxColours(lines, PYTHON._replace(redraw=redrawn.set))
    assert not late.is_known
    assert late.runs(0) == []
    may_load.set()
    assert redrawn.wait(20)
    assert late.runs(0) == SyntaxColours(lines, PYTHON).runs(0) != []
