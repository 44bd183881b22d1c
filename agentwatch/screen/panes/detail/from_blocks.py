"""Turns the blocks of a call into the sections that draw them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agentwatch.analysis.block_text import block_text, bounded, heading, printed
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

# The output of a command, in its own colours where they are harmless: the only escape sequence that is
# honoured is `ESC [ numbers m`, with the 16, 256 and true colours, bold, dim, italic, underline and reverse.
# A sequence with anything else in it stays visible as a control picture, as in safe text.

_SEQUENCE = re.compile(r"\x1b\[([0-9;]{0,40})m")
_COLOURED_END = re.compile(r"\r((?:\x1b\[[0-9;]{0,40}m){1,100})\n")
"""CR LF with changes of colours in between, which ends a line on a terminal too."""
_ON = {
    1: Style(bold=True),
    2: Style(dim=True),
    3: Style(italic=True),
    4: Style(underline=True),
    7: Style(reverse=True),
}
_OFF = {
    22: Style(bold=False, dim=False),
    23: Style(italic=False),
    24: Style(underline=False),
    27: Style(reverse=False),
}
_NEAR = 48
"""The difference from the background, in red, green or blue, from which text is readable."""
_PLAIN = Style()
_GREY = Color.from_ansi(8)


class ShellOutput(Output):
    """Lines in their own colours, or the pane's for unreadable ones. `raw` are they with their sequences."""

    def __init__(self, lines: Sequence[SafeText], raw: Sequence[str], style_name: str, ground: Style) -> None:
        super().__init__(lines, style_name)
        self._raw = raw
        self._ground = ground
        self._begins = [_PLAIN]
        """The style at the beginning of each line, for the lines drawn so far."""

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        while len(self._begins) <= number:
            self._begins.append(_style_after(self._begins[-1], self._raw[len(self._begins) - 1]))
        runs: list[Run] = []
        ground, grey = self._ground + style_of(self.style_name), style_of("muted").color
        text, at, style = "", 0, self._begins[number]
        raw = self._raw[number]
        for found in [*_harmless(raw), None]:
            piece = exact_text(raw[at : found.start() if found else len(raw)])
            if piece and style != _PLAIN:
                if style.color == _GREY and grey is not None and not grey.is_default:
                    style += Style(color=grey)
                runs.append((len(text), len(text) + len(piece), _readable(style, ground)))
            text += piece
            if found:
                at, style = found.end(), _applied(style, found[1]) or _PLAIN
        # safe text of the pieces may differ from that of the whole: stacked combining marks, a cut-off end
        return runs if self.lines[number].startswith(text) else []


def shell_section(text: str, style_name: str, ground: Style, most: int) -> tuple[Section, int]:
    """Return the first lines of a command's output as a section, and the number of lines left out."""
    text = printed(_COLOURED_END.sub(_line_end, text))
    if "\x1b[" not in text:
        lines, left_out = bounded(text, most)
        return Output(lines, style_name), left_out
    lines, left_out = bounded(_SEQUENCE.sub(_picture, text), most)
    raw = text.rstrip("\n").split("\n")[: len(lines)]
    raw += [""] * (len(lines) - len(raw))
    return ShellOutput(lines, raw, style_name, ground), left_out


def _line_end(found: re.Match[str]) -> str:
    is_honoured = all(_picture(each) == "" for each in _SEQUENCE.finditer(found[1]))
    return f"{found[1]}\n" if is_honoured else found[0]


def _picture(found: re.Match[str]) -> str:
    """Return an empty string for a sequence that is honoured, and any other sequence unchanged."""
    return found[0] if _applied(_PLAIN, found[1]) is None else ""


def _harmless(raw: str) -> list[re.Match[str]]:
    return [found for found in _SEQUENCE.finditer(raw) if _applied(_PLAIN, found[1]) is not None]


def _style_after(style: Style, raw: str) -> Style:
    for found in _harmless(raw) if "\x1b[" in raw else ():
        style = _applied(style, found[1]) or _PLAIN
    return style


@lru_cache(1024)
def _applied(style: Style, numbers: str) -> Style | None:
    """Return a style as changed by a sequence; None if any number in it is not on the whitelist."""
    codes = [int(number or 0) for number in numbers.split(";")]
    at = 0
    while at < len(codes):
        code = codes[at]
        at += 1
        if code == 0:
            style = _PLAIN
        elif code in _ON or code in _OFF:
            style += _ON.get(code) or _OFF[code]
        elif code in {38, 48}:
            colour, used = _extended(codes[at:])
            if colour is None:
                return None
            style += Style(color=colour) if code == 38 else Style(bgcolor=colour)
            at += used
        elif code in {39, 49}:
            style = _without(style, is_text=code == 39)
        elif (colour := _one_of_16(code)) is not None:
            style += Style(bgcolor=colour) if code in range(40, 48) or code >= 100 else Style(color=colour)
        else:
            return None
    return style


def _one_of_16(code: int) -> Color | None:
    for first, bright in ((30, 0), (40, 0), (90, 8), (100, 8)):
        if first <= code < first + 8:
            return Color.from_ansi(code - first + bright)
    return None


def _extended(codes: Sequence[int]) -> tuple[Color | None, int]:
    """Return the colour that `5;N` or `2;R;G;B` names, and how many numbers it consists of."""
    if len(codes) >= 2 and codes[0] == 5 and codes[1] < 256:
        return Color.from_ansi(codes[1]), 2
    if len(codes) >= 4 and codes[0] == 2 and max(codes[1:4]) < 256:
        return Color.from_rgb(*codes[1:4]), 4
    return None, 0


def _without(style: Style, *, is_text: bool) -> Style:
    return Style(
        color=None if is_text else style.color,
        bgcolor=style.bgcolor if is_text else None,
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        reverse=style.reverse,
    )


def _readable(style: Style, ground: Style) -> Style:
    """Return a style without its colours if they would make the text unreadable."""
    text, under = style.color or ground.color, style.bgcolor or ground.bgcolor
    if text is None or under is None or text.is_default or under.is_default:
        return style
    pairs = zip(text.get_truecolor(), under.get_truecolor(foreground=False), strict=True)
    if max(abs(one - other) for one, other in pairs) < _NEAR:
        return _without(_without(style, is_text=True), is_text=False)
    return style


# A section that shows the content of a file with syntax highlighting.


class CodeLines(Output):
    """Numbered, highlighted lines of a file; without `first_line`, they have no numbers."""

    def __init__(self, lines: Sequence[SafeText], code: CodeStyle, *, first_line: int | None = 1) -> None:
        super().__init__(lines)
        self._first = first_line
        self._colours = SyntaxColours(lines, code)
        if first_line is not None:
            self.gutter = number_width(first_line + len(lines) - 1) + 1

    def mark(self, number: int, style_of: StyleOf) -> Segment:
        return Segment(f"{(self._first or 0) + number:>{self.gutter - 1}} ", style_of("muted"))

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        del style_of
        return self._colours.runs(number)


# Sections of prose: Markdown and the steps of a subagent, rendered as the transcript renders them.

_MOST_MARKDOWN = 1 << 15
"""The number of characters up to which a block is rendered as Markdown. Tables of this size take 0.4 s."""
_MOST_CHARACTERS = 1 << 20


class Prose:
    """Renders the texts of one block, Markdown up to a number of characters."""

    def __init__(self, pane: LineView, code_theme: str) -> None:
        self._pane = pane
        self._markdown = MarkdownRenderer(pane.line_style, code_theme)
        self._left = _MOST_MARKDOWN

    def restart(self) -> None:
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
        blanks, named = " " * indent, self._pane.line_style(style)
        for strip in self._markdown.text(exact_text(source.strip("\n")), width - indent, named):
            yield Strip([Segment(blanks, named), *strip]) if indent else strip

    def call(self, step: SubagentCall, width: int) -> Strip:
        call = Call(0, 0, "", "", step.phrase, step.target, note=step.note, outcome=step.outcome)
        call.error = step.note if step.outcome is Outcome.FAILED else None
        style = "muted" if step.outcome is Outcome.SUCCEEDED else str(step.outcome)
        sign = (SafeText(f"  {SIGNS[step.outcome]} "), str(step.outcome))
        return self._pane.strip_of([sign, (cut(shown_action(call), width - 4), style)])


class Rendered(Section):
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
        del style_of
        yield Stretch(row, 0, len(self.lines[row]), 0)

    def row(self, row: int, style_of: StyleOf) -> Strip:
        del style_of
        return self._strips[row]

    def text(self) -> str:
        return exact_text(self._source)


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
        self._call = call
        self._code_theme = code_theme
        self._pane = pane
        self._left = MOST_LINES

    def sections(self, blocks: Iterable[tuple[Block, bool]], place: Place) -> Iterator[Section]:
        """Yield the blocks of a line, each with or without a title; a note names `place` if one is cut."""
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
            case MarkdownBlock(text):
                prose = self._prose()
                rendered = partial(prose.markdown, text[:_MOST_CHARACTERS])
                return Rendered(text, prose, rendered, most), 0
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
