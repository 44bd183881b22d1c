"""Renders the assistant's Markdown as strips, block by block.

A complete block is rendered once and cached by the caller; only the block that is still growing is rendered
again. Textual's Markdown widget parses the whole source at each addition, which takes 80 to 135 ms at 100,000
tokens, compared to 4 ms here.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import cached_property, partial
from itertools import accumulate

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme
from textual.strip import Strip

from agentwatch.screen.terminal.compositor import LightStrip
from agentwatch.screen.widgets.folding import CONTINUED
from agentwatch.screen.widgets.syntax import has_loaded, legible
from agentwatch.text.safe import SafeText, columns, safe_line, wrapped

_FENCE = re.compile(r"^(`{3,}+|~{3,}+)\s*+([\w+#.-]*+)[^`]*+$")
"""A repetition that gave characters back would take quadratic time on a long line that ends in a backtick."""
_MARKUP = re.compile(
    r"[*_`#\[\]<>|~&\\]|^[ \t]*+(?:[-+=]|\d++[.)])|^(?: {4}|\t)|  $|\n[^\S\n]*+\n", re.MULTILINE
)
"""Matches text that may contain markup. Text that does not begin or end with blank lines, and has no match,
is a single plain paragraph.
"""
_CODE = re.compile(r"(?<!`)`([^`\s]++(?: [^`\s]++)*+)`(?!`)")
"""Code in a line. If each backtick of a text is part of a match, CommonMark finds the same code."""
_ITEM = "- "
_BULLET = " • "
_MOST_CODE_CHARACTERS = 1 << 14
_LEAST_WITH_SIGN = 8
_MOST_CHARACTERS = 1 << 12
_LONG_CHARACTERS = 1 << 10
_STYLES = {
    "heading": "h1 h2 h3 h4 h5 h6 table.header",
    "code": "code",
    "link": "link link_url",
    "quote": "block_quote",
    "accent": "item.bullet item.number",
    "rule": "hr table.border",
}
"""The parts of a document by our style."""


class MarkdownRenderer:
    """Renders Markdown. A fence is plain until its language is loaded; then `redraw` is called in a thread.
    Without `redraw`, the language is loaded at once."""

    def __init__(
        self,
        line_style: Callable[[str], Style],
        code_theme: str,
        redraw: Callable[[], object] | None = None,
    ) -> None:
        self._line_style = line_style
        self._code_theme = code_theme
        self._redraw = redraw

    @cached_property
    def _console(self) -> Console:
        names = ((name, style) for style, names in _STYLES.items() for name in names.split())
        styles = {f"markdown.{name}": self._line_style(style) for name, style in names}
        return Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system="truecolor",
            theme=Theme(styles),
            legacy_windows=False,
        )

    @cached_property
    def _block(self) -> Style:
        return self._line_style("code-block")

    def text(self, source: SafeText, width: int, style: Style | None = None) -> list[Strip]:
        lines = (piece for line in source.split("\n") for piece in wrapped(SafeText(line), max(width, 1)))
        return [LightStrip([Segment(line, style)], columns(line)) for line in lines]

    def markdown(self, source: SafeText, width: int) -> list[Strip]:
        """Return a rendered block of Markdown; its links cannot be clicked."""
        text = source.strip("\n")
        items = text.removeprefix(_ITEM).split(f"\n{_ITEM}") if text.startswith(_ITEM) else []
        if all(map(_is_plain, items or [text])) and all(item[:1].strip() for item in items):
            mark = _BULLET if items else ""  # most paragraphs, and lists of them; ten times faster
            return [strip for words in items or [text] for strip in self._plain(words, width, mark)]
        from agentwatch.screen.widgets.markdown_document import markdown_document

        strips = self._strips(markdown_document(source), width)
        while strips and not strips[-1].text.strip():
            strips.pop()
        while strips and not strips[0].text.strip():
            del strips[0]
        return strips

    def _plain(self, source: str, width: int, mark: str) -> list[Strip]:
        """Return a paragraph without markup but code; the first line begins with a mark."""
        parts = _CODE.split(" ".join(source.split()))
        words, ends = SafeText("".join(parts)), [*accumulate(map(len, parts))]
        at = part = 0
        strips: list[Strip] = []
        for line in wrapped(words, max(width - len(mark), 1)):
            at = words.index(line, at)
            end = at + len(line)
            segments = [Segment(mark, self._line_style("accent"))] if mark else []
            while at < end:
                while ends[part] <= at:
                    part += 1
                stop = min(ends[part], end)
                segments.append(Segment(words[at:stop], self._line_style("code") if part % 2 else None))
                at = stop
            strips.append(LightStrip(segments, len(mark) + columns(line)))
            mark = " " * len(mark)
        return strips

    def code(self, source: SafeText, width: int) -> list[Strip]:
        """Return a fenced block; highlighting takes 40 ms per page, so it waits until the fence is closed."""
        opening, _, body = source.partition("\n")
        found = _FENCE.match(opening)
        body, _, last = body.rstrip("\n").rpartition("\n") if "\n" in body else ("", "", body)
        is_closed = found is not None and last.startswith(found[1]) and not last.strip(found[1][0])
        language = found[2] if found and is_closed else ""
        body = body if is_closed else f"{body}\n{last}".removeprefix("\n")
        if len(body) > _MOST_CODE_CHARACTERS:
            return self.text(SafeText(body), width, self._block)
        if language and not has_loaded(language, partial(_load_lexer, language), self._redraw):
            text = Text(body, style=self._block)
        else:
            from rich.syntax import Syntax  # imports pygments, which takes 7 ms

            syntax = Syntax(
                body,
                language or "text",
                theme=self._code_theme,
                background_color=self._block.bgcolor.name if self._block.bgcolor else "default",
            )
            text = syntax.highlight(body)
        text.rstrip()
        shown = text.blank_copy()
        room = max(width - 2, 1)
        for line in text.split("\n", allow_blank=True):
            is_long = columns(SafeText(line.plain)) > room > _LEAST_WITH_SIGN
            pieces = line.wrap(self._console, room - len(CONTINUED) * is_long, tab_size=4, no_wrap=False)
            for nth, piece in enumerate(pieces):
                shown.append("\n" if shown.plain else "").append(CONTINUED if nth and is_long else "", "dim")
                shown.append_text(piece)
        return [
            Strip([Segment(text, style and legible(style, self._block)) for text, style, _ in strip])
            for strip in self._strips(Padding(shown, (0, 1), style=text.style), width)
        ]

    def _strips(self, renderable: RenderableType, width: int) -> list[Strip]:
        options = self._console.options.update(width=max(width, 1), highlight=False)
        lines = self._console.render_lines(renderable, options, pad=False)
        return [Strip([_safe(segment) for segment in line if not segment.control]) for line in lines]


def _load_lexer(language: str) -> None:
    from rich.syntax import Syntax

    _ = Syntax("", language).lexer


def _is_plain(source: str) -> bool:
    return _MARKUP.search(_CODE.sub("x", source)) is None


def split_blocks(source: str) -> list[tuple[int, int, bool]]:
    """Yield (start, end, is a fence) for blocks that can be rendered one by one; the last may change as the
    source grows. A fence at the margin is a block of its own. Any other block ends at a blank line that is
    followed by a line at the margin; an indented line continues a list. A line opens a fence only if it is
    complete, because more characters may turn it into a line of text with inline code. A growing block is
    rendered at each tick, which takes 2 ms for 1,024 characters. Therefore a block that is longer also ends
    at a newline at which no markup is cut in two. A line without a newline is cut at a blank when the block
    exceeds 4,096 characters. The source is not yet safe text: the blocks are."""
    blocks: list[tuple[int, int, bool]] = []
    start = position = 0
    fence = ""
    after_blank = False
    for line in source.split("\n"):
        end = position + len(line) + 1
        if fence:
            if line.startswith(fence) and not line.strip(f"{fence[0]}\r ").strip():
                blocks.append((start, end, True))
                start, fence = end, ""
        elif end <= len(source) and (found := _FENCE.match(line)):
            if source[start:position].strip():
                blocks.append((start, position, False))
            start, fence = position, found[1]
        elif (
            line
            and not line[0].isspace()
            and (
                (after_blank and source[start:position].strip())
                or (position - start > _LONG_CHARACTERS and _may_end(source[start:position], line))
            )
        ):
            blocks.append((start, position, False))
            start = position
        while not fence and end - start > _MOST_CHARACTERS:
            last = source.rfind(" ", start + _MOST_CHARACTERS // 2, start + _MOST_CHARACTERS) + 1
            cut = position if position > start else last or start + _MOST_CHARACTERS
            blocks.append((start, cut, False))
            start = position = cut
        after_blank = not fence and not line.strip()
        position = end
    if source[start:].strip():
        blocks.append((start, len(source), bool(fence)))
    return blocks


def split_lines(source: str) -> list[tuple[int, int, bool]]:
    """Yield (start, end, False) for blocks of at most 4,096 characters that end at line ends, a longer line
    at a blank; a newline between two blocks is in neither."""
    blocks: list[tuple[int, int, bool]] = []
    start = 0
    while len(source) - start > _MOST_CHARACTERS:
        most = start + _MOST_CHARACTERS
        line_end = source.rfind("\n", start + 1, most + 1)
        end = line_end if line_end > 0 else source.rfind(" ", start, most) + 1 or most
        blocks.append((start, end, False))
        start = end + (line_end > 0)
    return [*blocks, (start, len(source), False)] if start < len(source) else blocks


def _may_end(block: str, following: str) -> bool:
    """Return whether a long block may end before a line: no markup or table continues in that line."""
    is_underline = not following.strip("=-")
    is_table = "|" in following
    is_balanced = all(block.count(mark) % 2 == 0 for mark in "`*_")
    return is_balanced and not is_underline and not is_table


def _safe(segment: Segment) -> Segment:
    """Make a segment safe once more, because an entity such as `&#x202e;` becomes a character only now."""
    text = segment.text
    return segment if text.isascii() else Segment(safe_line(text), segment.style)
