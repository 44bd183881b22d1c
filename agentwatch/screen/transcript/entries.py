"""Renders the entries of the transcript as lines: prompts, thinking, text, notices, results and calls."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip

from agentwatch.actions import action
from agentwatch.events import Outcome
from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.markup.markdown import MarkdownRenderer, split_blocks, split_lines
from agentwatch.session import Call, Entry, Kind, TurnResult
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, cut, safe_text
from agentwatch.text.signs import SIGNS

GROWING = (Kind.ANSWER, Kind.REASONING)
"""The kinds of entries whose text may still grow, in Markdown. There is a blank line between their pieces."""
SIGN_COLUMNS = 4
"""The columns before the number of a call: its sign, and the blanks around it."""


class EntryRenderer:
    """Renders blocks of entries in the styles of a pane."""

    def __init__(self, pane: LineView, code_theme: str) -> None:
        """Use the styles of `pane`, and a pygments theme for code."""
        self._pane = pane
        self._markdown = MarkdownRenderer(pane.line_style, code_theme)

    def render(self, entry: Entry, start: int, end: int, width: int, *, is_code: bool) -> list[Strip]:
        """Return the lines of a block.

        Args:
            entry: The entry.
            start: The character of the entry's text at which the block begins.
            end: The character after the block.
            width: The width to wrap to, in columns.
            is_code: Whether the block is a fenced code block.
        """
        source = safe_text(shown_part(entry, start, end))
        match entry.kind:
            case Kind.ANSWER if is_code:
                return self._markdown.code(source, width)
            case Kind.ANSWER:
                return self._markdown.markdown(source, width)
            case Kind.PROMPT:
                return self._indented("  " if start else "› ", source, "prompt", width)
            case Kind.REASONING:
                thought = self._indented("  ", SafeText(source.strip("\n")), "reasoning", width)
                return thought if start else [thinking_line(self._pane, entry, is_folded=False), *thought]
            case Kind.RESULT if entry.result is not None and start == end:
                return self._outcome(entry.result)
            case Kind.RESULT:
                return self._indented("  ", source, "plain", width)
            case _:
                return self._indented("  " if start else "· ", source, "muted", width)

    def render_pieces(self, entry: Entry, start: int, end: int, width: int) -> list[Strip]:
        """Return the lines of several pieces, equal to those of a block for each with the gaps between."""
        strips: list[Strip] = []
        is_spaced = entry.kind in GROWING
        for first, last, is_code in pieces_of(entry.kind, shown_part(entry, start, end)):
            if strips and is_spaced:
                strips.append(Strip.blank(width))
            strips += self.render(entry, start + first, start + last, width, is_code=is_code)
        return strips

    def _outcome(self, result: TurnResult) -> list[Strip]:
        duration = "" if result.duration_ms is None else f" in {duration_words(result.duration_ms)}"
        words = SafeText(f"{SIGNS[result.outcome]} {result.outcome}{duration}")
        strips = [self._pane.strip_of([(words, str(result.outcome))])]
        if result.outcome is Outcome.SUCCEEDED and not result.is_bare and is_result_shown(result):
            title = SafeText("  the result differs from the text above:")
            strips.append(self._pane.strip_of([(title, "unfinished")]))
        return strips

    def _indented(self, lead: str, source: SafeText, name: str, width: int) -> list[Strip]:
        style = self._pane.line_style(name)
        strips = self._markdown.text(source, width - len(lead), style)
        leads = [lead] + [" " * len(lead)] * (len(strips) - 1)
        return [Strip([Segment(first, style), *strip]) for first, strip in zip(leads, strips, strict=True)]


def pieces_of(kind: Kind, text: str) -> list[tuple[int, int, bool]]:
    """Return the start and end of the pieces of a text, and whether each is a fenced code block."""
    return split_blocks(text) if kind in GROWING else split_lines(text)


def is_result_shown(result: TurnResult) -> bool:
    """Return whether the text of a result is shown, because it differs from the text above."""
    return bool(result.length) and not result.is_streamed


def shown_length(entry: Entry) -> int:
    """Return the number of characters that an entry shows."""
    result = entry.result
    if result is None:
        return len(entry.content)
    return result.length if is_result_shown(result) else 0


def shown_part(entry: Entry, start: int, end: int) -> str:
    """Return the shown characters of an entry from `start` to `end`."""
    return entry.content.part(start, end) if entry.result is None else entry.result.part(start, end)


def call_line(pane: LineView, call: Call, number: SafeText, width: int) -> Strip:
    """Return the line of a call in its current state, with `number` between its sign and its action."""
    style = "muted" if call.outcome is Outcome.SUCCEEDED else str(call.outcome)
    sign = (SafeText(f"  {SIGNS[call.outcome]} "), str(call.outcome))
    words = cut(action(call), width - SIGN_COLUMNS - len(number))
    return pane.strip_of([sign, (number, "muted"), (words, style)])


def thinking_line(pane: LineView, entry: Entry, *, is_folded: bool) -> Strip:
    """Return the title of a thought; a sign shows whether the thought is folded."""
    sign = "" if entry.is_open else " ▸" if is_folded else " ▾"
    return pane.strip_of([(SafeText(f"{thought_for(entry)}{sign}"), "reasoning")])


def thought_for(entry: Entry) -> SafeText:
    """Return the words of a thought's title; for a finished thought, with its duration if it is known."""
    took_ms = 0 if entry.started_ms is None or entry.ended_ms is None else entry.ended_ms - entry.started_ms
    duration = f" {duration_words(took_ms)}" if took_ms > 0 and not entry.is_open else ""
    return SafeText(f"thinking{duration}")


def rule_line(pane: LineView, words: SafeText, width: int) -> Strip:
    """Return a thin rule across the pane, with words near its left end."""
    lead = SafeText("── ")
    rest = SafeText(" " + "─" * max(width - len(lead) - len(words) - 1, 2))
    return pane.strip_of([(lead, "rule"), (words, "accent"), (rest, "rule")])
