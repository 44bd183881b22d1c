"""Turns the blocks of a call into the sections that draw them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agentwatch.analysis.block_text import block_text, bounded, heading
from agentwatch.analysis.diff_lines import DiffLine, compared, parsed
from agentwatch.blocks import (
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
    StepsBlock,
)
from agentwatch.screen.detail.code_lines import CodeLines
from agentwatch.screen.detail.contents.prose import (
    Prose,
    markdown_section,
    references_section,
    steps_section,
)
from agentwatch.screen.detail.diff import Diff
from agentwatch.screen.detail.json_tree import JsonTree, from_text, is_tree
from agentwatch.screen.detail.sections import Heading, Matches, Output, Section, Signed
from agentwatch.screen.detail.shell_output import shell_section
from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.markup.syntax import CodeStyle
from agentwatch.session import Call, Place
from agentwatch.text.safe import SafeText

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
        """Yield the blocks of the line at a place.

        Args:
            blocks: The blocks, each with whether it gets a title.
            place: The line, which a note names if a block is not shown whole.
        """
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
        return CodeStyle(name, self._code_theme, self._pane.rich_style)

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
