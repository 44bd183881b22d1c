"""The entries of the transcript as lines: prompt, thinking, text, notices, results, and calls."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip

from agentwatch.actions import action
from agentwatch.events import Outcome
from agentwatch.safe_text import SafeText, cut, safe_text
from agentwatch.screen.line_view import LineView
from agentwatch.screen.markdown import MarkdownRenderer
from agentwatch.screen.words import SIGNS, clock
from agentwatch.session import Call, Entry, Kind, Run


class EntryRenderer:
    """Renders entries, or blocks of them, in the looks of a pane."""

    def __init__(self, pane: LineView, *, dark: bool) -> None:
        """Take the looks from `pane`; colour code for a dark or a light ground."""
        self._pane = pane
        self._markdown = MarkdownRenderer(pane.look, dark=dark)

    def render(self, entry: Entry, start: int, end: int, width: int, *, is_code: bool) -> list[Strip]:
        """Return the lines of an entry's text from `start` to `end`."""
        source = safe_text(entry.said.part(start, end))
        match entry.kind:
            case Kind.ANSWER if is_code:
                return self._markdown.code(source, width)
            case Kind.ANSWER:
                return self._markdown.markdown(source, width)
            case Kind.PROMPT:
                return self._indented("› ", source, "prompt", width)
            case Kind.REASONING:
                thought = self._indented("  ", SafeText(source.strip("\n")), "reasoning", width)
                title = self._pane.strip_of([(_reasoning_title(entry), "reasoning")])
                return thought if start else [title, *thought]
            case Kind.RESULT if entry.run is not None:
                return self._result(entry.run, width)
            case _:
                return self._indented("· ", source, "muted", width)

    def _result(self, run: Run, width: int) -> list[Strip]:
        known = "" if run.duration_ms is None else f" in {clock(run.duration_ms)}"
        told = SafeText(f"{SIGNS[run.outcome]} {run.outcome}{known}")
        strips = [self._pane.strip_of([(told, str(run.outcome))])]
        if run.result and not run.text_matches_result:
            if run.outcome is not Outcome.FAILED and not run.is_bare:
                title = SafeText("  its result differs from the text above:")
                strips.append(self._pane.strip_of([(title, "unfinished")]))
            strips += self._indented("  ", safe_text(run.result), "plain", width)
        return strips

    def _indented(self, lead: str, source: SafeText, look: str, width: int) -> list[Strip]:
        style = self._pane.look(look)
        strips = self._markdown.text(source, width - len(lead), style)
        leads = [lead] + [" " * len(lead)] * (len(strips) - 1)
        return [Strip([Segment(first, style), *strip]) for first, strip in zip(leads, strips, strict=True)]


def call_line(pane: LineView, call: Call, width: int) -> Strip:
    """Return the line of a call, as it stands now."""
    look = "muted" if call.outcome is Outcome.SUCCEEDED else str(call.outcome)
    sign = (SafeText(f"  {SIGNS[call.outcome]} "), str(call.outcome))
    return pane.strip_of([sign, (cut(action(call), width - 4), look)])


def _reasoning_title(entry: Entry) -> SafeText:
    took_ms = 0 if entry.started_ms is None or entry.ended_ms is None else entry.ended_ms - entry.started_ms
    return SafeText(f"thinking {clock(took_ms)}" if took_ms > 0 and not entry.is_open else "thinking")
