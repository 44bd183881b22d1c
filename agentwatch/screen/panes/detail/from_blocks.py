"""Turns the blocks of a call into the sections that draw them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from rich.segment import Segment
from textual.strip import Strip

from agentwatch.analysis.block_text import block_text, bounded, heading
from agentwatch.analysis.diff_lines import DiffLine, compared, parsed
from agentwatch.screen.panes.detail.diff import Diff
from agentwatch.screen.panes.detail.json_tree import JsonTree, from_text, is_tree
from agentwatch.screen.panes.detail.sections import (
    Heading,
    Matches,
    Output,
    Section,
    Signed,
    Stretch,
    StyleOf,
    number_width,
)
from agentwatch.screen.panes.detail.shell_output import shell_section
from agentwatch.screen.widgets.folding import Run
from agentwatch.screen.widgets.line_view import LineView
from agentwatch.screen.widgets.markdown import MarkdownRenderer, split_blocks
from agentwatch.screen.widgets.syntax import CodeStyle, SyntaxColours
from agentwatch.session.actions import shown_action
from agentwatch.session.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    MarkdownBlock,
    MatchesBlock,
    OutputBlock,
    PlanBlock,
    ReferencesBlock,
    Remark,
    StepsBlock,
    SubagentCall,
)
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome
from agentwatch.text.safe import SafeText, cut, exact_text
from agentwatch.text.signs import SIGNS

# A section that shows the content of a file with syntax highlighting.


class CodeLines(Output):
    """Numbered, highlighted lines of a file. `first_line` is None to hide the line numbers."""

    def __init__(self, lines: Sequence[SafeText], code: CodeStyle, *, first_line: int | None = 1) -> None:
        super().__init__(lines)
        self._first = first_line
        self._colours = SyntaxColours(lines, code)
        if first_line is not None:
            self.gutter = number_width(first_line + len(lines) - 1) + 1

    def mark(self, number: int, style_of: StyleOf) -> Segment:
        """Return the number of a line."""
        return Segment(f"{(self._first or 0) + number:>{self.gutter - 1}} ", style_of("muted"))

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        """Return the syntax colours of a line."""
        del style_of
        return self._colours.runs(number)


# Sections of prose: Markdown and the steps of a subagent, rendered as the transcript renders them.

_MOST_MARKDOWN = 1 << 15
"""Characters of a block that are rendered as Markdown; the rest is shown as it is. Tables take 0.4 s."""
_MOST_CHARACTERS = 1 << 20
"""Characters of a block that are shown."""


class Prose:
    """Renders the texts of one block at a width, Markdown up to a number of characters."""

    def __init__(self, pane: LineView, code_theme: str) -> None:
        """Use the styles of a pane, and a pygments theme for code."""
        self._pane = pane
        self._markdown = MarkdownRenderer(pane.line_style, code_theme)
        self._left = _MOST_MARKDOWN

    def restart(self) -> None:
        """Begin with the first text again, because the width has changed."""
        self._left = _MOST_MARKDOWN

    def markdown(self, source: str, width: int) -> Iterator[Strip]:
        """Yield Markdown with a blank line between its blocks; beyond the limit, the source."""
        rendered, rest = source[: self._left], source[self._left :]
        self._left -= len(rendered)
        for nth, (start, end, is_code) in enumerate(split_blocks(rendered)):
            if nth:
                yield Strip([])
            render = self._markdown.code if is_code else self._markdown.markdown
            yield from render(exact_text(rendered[start:end]), width)
        if rest:
            yield from self.plain(rest, "plain", width)

    def plain(self, source: str, style: str, width: int, indent: int = 0) -> Iterator[Strip]:
        """Yield plain text, wrapped."""
        blanks, named = " " * indent, self._pane.line_style(style)
        for strip in self._markdown.text(exact_text(source.strip("\n")), width - indent, named):
            yield Strip([Segment(blanks, named), *strip]) if indent else strip

    def call(self, step: SubagentCall, width: int) -> Strip:
        """Return the line of a subagent's call, like that of a call in the transcript."""
        call = Call(0, 0, "", "", step.phrase, step.target, note=step.note, outcome=step.outcome)
        call.error = step.note if step.outcome is Outcome.FAILED else None
        style = "muted" if step.outcome is Outcome.SUCCEEDED else str(step.outcome)
        sign = (SafeText(f"  {SIGNS[step.outcome]} "), str(step.outcome))
        return self._pane.strip_of([sign, (cut(shown_action(call), width - 4), style)])


class Rendered(Section):
    """Lines that are rendered again for each width."""

    def __init__(
        self, source: str, prose: Prose, render: Callable[[int], Iterator[Strip]], most: int
    ) -> None:
        super().__init__([])
        self._source = source
        self._prose = prose
        self._render = render
        self._most = most
        self._strips: list[Strip] = []
        self._rendered_width = 0

    def lay_out(self, width: int, *, wraps: bool = True) -> int:
        """Render the lines for a width, unless they are; return the number of rows."""
        del wraps
        if width != self._rendered_width:
            self._rendered_width = width
            self._prose.restart()
            self._strips = []
            for strip in self._render(width):
                if len(self._strips) == self._most:
                    self._strips.append(Strip([Segment("… the rest is in the line of the recording (r)")]))
                    break
                self._strips.append(strip)
            self.lines = [SafeText(strip.text.rstrip(" ")) for strip in self._strips]
        return len(self._strips)

    def stretches(self, row: int, style_of: StyleOf) -> Iterator[Stretch]:
        """Yield the line that a row shows."""
        del style_of
        yield Stretch(row, 0, len(self.lines[row]), 0)

    def row(self, row: int, style_of: StyleOf) -> Strip:
        """Return one row."""
        del style_of
        return self._strips[row]

    def text(self) -> str:
        """Return the source as text to copy."""
        return exact_text(self._source)


def markdown_section(block: MarkdownBlock, prose: Prose, most: int) -> Section:
    """Return a text in Markdown as a section."""
    return Rendered(
        block.text, prose, lambda width: prose.markdown(block.text[:_MOST_CHARACTERS], width), most
    )


def references_section(block: ReferencesBlock, prose: Prose, most: int) -> Section:
    """Return the pages that a search found as a section: the title, the URL, and the text in Markdown."""

    def render(width: int) -> Iterator[Strip]:
        for nth, page in enumerate(block.references):
            if nth:
                yield Strip([])
            for line, style in ((page.title, "strong"), (page.url, "link")):
                if line:
                    yield from prose.plain(line, style, width)
            yield from prose.markdown(page.text[:_MOST_CHARACTERS], width)

    return Rendered(block_text(block), prose, render, most)


def steps_section(block: StepsBlock, prose: Prose, most: int) -> Section:
    """Return the steps of a subagent as a section: messages in Markdown, thinking, a line for each call."""

    def render(width: int) -> Iterator[Strip]:
        before: Remark | SubagentCall | None = None
        for step in block.steps:
            if before is not None and not (
                isinstance(before, SubagentCall) and isinstance(step, SubagentCall)
            ):
                yield Strip([])
            before = step
            if isinstance(step, SubagentCall):
                yield prose.call(step, width)
            elif step.is_thought:
                yield from prose.plain("thinking", "reasoning", width)
                yield from prose.plain(step.text[:_MOST_CHARACTERS], "reasoning", width, indent=2)
            else:
                yield from prose.markdown(step.text[:_MOST_CHARACTERS], width)

    return Rendered(block_text(block), prose, render, most)


MOST_LINES = 20_000
_LEAST_LINES = 200
"""The limit for a block after earlier blocks have used up `MOST_LINES`."""
_MOST_BLOCKS = 500
_MOST_RAW_BYTES = 1 << 18
_MOST_JSON_CHARACTERS = 1 << 20
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\],:]|[^\s"{}\[\],:]++', re.DOTALL)


class BlockSections:
    """Turns the blocks of one call into sections, and counts their lines."""

    def __init__(self, call: Call, code_theme: str, pane: LineView) -> None:
        """Use a pygments theme for code, and the styles of a pane."""
        self._call = call
        self._code_theme = code_theme
        self._pane = pane
        self._left = MOST_LINES

    def sections(self, blocks: Iterable[tuple[Block, bool]], place: Place) -> Iterator[Section]:
        """Yield the blocks of the line at a place. Each of the `blocks` has whether it gets a title. A note
        names `place` if a block is not shown whole."""
        for nth, (block, is_titled) in enumerate(blocks):
            if nth == _MOST_BLOCKS:
                yield Section(
                    [SafeText(f"… only the first {_MOST_BLOCKS} blocks are shown{_whereabouts(place)}")],
                    "muted",
                )
                return
            most = max(self._left, _LEAST_LINES)
            section, left_out = self._section(block, most)
            section.block = block
            if is_titled:
                yield Heading(heading(block))
            yield section
            self._left -= len(section.lines)
            if left_out:
                words = f"… {left_out:,} more {'line' if left_out == 1 else 'lines'}"
                yield Section([SafeText(words + _whereabouts(place))], "muted")

    def output(self, text: str) -> Section:
        """Return what a running command has printed so far."""
        return shell_section(text, "plain", self._pane.rich_style, MOST_LINES)[0]

    def raw(self, data: bytes, place: Place) -> Iterator[Section]:
        """Yield a line of the recording as formatted JSON, one line per member."""
        lines, left_out = bounded(pretty(data.decode("utf-8", "replace")), MOST_LINES)
        yield CodeLines(lines, self._code(".json"), first_line=None)
        if left_out:
            yield Section([SafeText(f"… {left_out:,} more lines{_whereabouts(place)}")], "muted")
        if place.length > len(data):
            words = f"… {place.length - len(data):,} more bytes, starting at byte {place.offset + len(data)}"
            yield Section([SafeText(f"{words} of the recording")], "muted")

    def _section(self, block: Block, most: int) -> tuple[Section, int]:
        """Return a block as a section, and the number of lines that are left out."""
        match block:
            case ChangeBlock(diff=str(diff)):
                return self._diff_section(*parsed(diff, most))
            case ChangeBlock():
                return self._diff_section(*compared(block.before or "", block.after or "", most))
            case OutputBlock():
                style = "failed" if block.stream == "stderr" else "plain"
                return shell_section(block.text, style, self._pane.rich_style, most)
            case FieldsBlock() if is_tree(block.fields):
                return JsonTree(block.fields), 0
            case StepsBlock():
                return steps_section(block, self._prose(), most), 0
            case MarkdownBlock():
                return markdown_section(block, self._prose(), most), 0
            case ReferencesBlock():
                return references_section(block, self._prose(), most), 0
            case ContentBlock() if not self._call.path:
                value = from_text(block.text, _MOST_JSON_CHARACTERS)
                if value is not None:
                    return JsonTree(value), 0
        lines, left_out = bounded(block_text(block), most)
        match block:
            case ContentBlock() if self._call.path:
                return CodeLines(lines, self._code(self._call.path), first_line=block.first_line), left_out
            case FilesBlock():
                return Output(lines), left_out
            case MatchesBlock():
                return Matches(lines), left_out
            case PlanBlock():
                return Signed(lines), left_out
        return Section(lines, "failed" if isinstance(block, ErrorBlock) else "plain"), left_out

    def _diff_section(self, lines: list[DiffLine], left_out: int) -> tuple[Section, int]:
        if not lines:
            return Section([SafeText("no difference")], "muted"), left_out
        return Diff(lines, self._code(self._call.path or "")), left_out

    def _code(self, name: str) -> CodeStyle:
        pane = self._pane
        redraw = None if pane.app.is_headless else partial(pane.call_later, pane.show_lines)
        return CodeStyle(name, self._code_theme, pane.rich_style, redraw)

    def _prose(self) -> Prose:
        return Prose(self._pane, self._code_theme)


def raw_piece(place: Place) -> Place:
    """Return the part of the line at a place that is read for the raw view."""
    return place._replace(length=min(place.length, _MOST_RAW_BYTES))


def pretty(text: str) -> str:
    """Return JSON with one member per line; the tokens are unchanged, also in JSON that is cut off."""
    pieces: list[str] = []
    depth = 0
    words = _TOKEN.findall(text)
    for nth, word in enumerate(words):
        if word in {"{", "["}:
            depth += 1
            is_empty = words[nth + 1 : nth + 2] in (["}"], ["]"])
            pieces.append(word if is_empty else f"{word}\n{_indent(depth)}")
        elif word in {"}", "]"}:
            depth -= 1
            is_empty = nth > 0 and words[nth - 1] in {"{", "["}
            pieces.append(word if is_empty else f"\n{_indent(depth)}{word}")
        elif word == ",":
            pieces.append(f",\n{_indent(depth)}")
        else:
            pieces.append(": " if word == ":" else word)
    return "".join(pieces)


def _indent(depth: int) -> str:
    return "  " * min(max(depth, 0), 40)


def _whereabouts(place: Place) -> str:
    return f"; see the line at byte {place.offset} of the recording"
