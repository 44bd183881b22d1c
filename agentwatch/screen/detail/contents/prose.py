"""Sections of prose: Markdown and the steps of a subagent, rendered as the transcript renders them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.segment import Segment
from textual.strip import Strip

from agentwatch.actions import action
from agentwatch.analysis.block_text import block_text
from agentwatch.blocks import MarkdownBlock, ReferencesBlock, Remark, StepsBlock, SubagentCall
from agentwatch.events import Outcome
from agentwatch.screen.detail.sections import Section, Stretch, StyleOf
from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.markup.markdown import MarkdownRenderer, split_blocks
from agentwatch.session import Call
from agentwatch.text.safe import SafeText, cut, safe_text
from agentwatch.text.signs import SIGNS

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
            yield from render(safe_text(rendered[start:end]), width)
        if rest:
            yield from self.plain(rest, "plain", width)

    def plain(self, source: str, style: str, width: int, indent: int = 0) -> Iterator[Strip]:
        """Yield plain text, wrapped."""
        blanks, named = " " * indent, self._pane.line_style(style)
        for strip in self._markdown.text(safe_text(source.strip("\n")), width - indent, named):
            yield Strip([Segment(blanks, named), *strip]) if indent else strip

    def call(self, step: SubagentCall, width: int) -> Strip:
        """Return the line of a subagent's call, like that of a call in the transcript."""
        call = Call(0, 0, "", "", step.phrase, step.target, note=step.note, outcome=step.outcome)
        call.error = step.note if step.outcome is Outcome.FAILED else None
        style = "muted" if step.outcome is Outcome.SUCCEEDED else str(step.outcome)
        sign = (SafeText(f"  {SIGNS[step.outcome]} "), str(step.outcome))
        return self._pane.strip_of([sign, (cut(action(call), width - 4), style)])


class Rendered(Section):
    """Lines that are rendered again for each width."""

    def __init__(
        self, source: str, prose: Prose, render: Callable[[int], Iterator[Strip]], most: int
    ) -> None:
        """Create the section.

        Args:
            source: The text to copy.
            prose: Renders the texts.
            render: Yields the lines at a width.
            most: The maximum number of lines.
        """
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
        return safe_text(self._source)


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
