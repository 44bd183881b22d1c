"""A call's outcome, duration and limit in words, for the border of the detail and below its content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.actions import change_size, target
from agentwatch.analysis.silence import call_clock, limit_ms
from agentwatch.events import Outcome, ToolKind
from agentwatch.screen.detail.sections import Section
from agentwatch.session import Call
from agentwatch.text import UNKNOWN
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, cut, cut_middle, safe_line
from agentwatch.text.signs import SIGNS
from agentwatch.text.times import time_of_day

if TYPE_CHECKING:
    from agentwatch.analysis.verdicts import Verdict

_TOOL_COLUMNS = 24
_LEAST_TARGET_COLUMNS = 8


class CallHeading(Section):
    """The row that names a call where the pane has no border, and its outcome if that is out of view."""

    def __init__(self, call: Call, *, is_held: bool) -> None:
        """Create the row; `is_held` as for `title`."""
        super().__init__([SafeText("")], "heading")
        self._call = call
        self._is_held = is_held
        self._width = 1
        self.has_outcome = False
        """Whether the row names the outcome too."""

    def lay_out(self, width: int, *, wraps: bool = True) -> int:
        """Fit the row to a width in columns; return 1."""
        self._width = width
        facts = SafeText(f" · {brief_facts(self._call)}" if self.has_outcome else "")
        named = title(self._call, width - columns(facts), is_held=self._is_held)
        self.lines = [cut(SafeText(f"{named}{facts}"), width)]
        return super().lay_out(width, wraps=wraps)

    def show_outcome(self, shown: bool) -> None:
        """Name the outcome too, or leave it out."""
        if shown != self.has_outcome:
            self.has_outcome = shown
            self.lay_out(self._width)


def title(call: Call, width: int, *, is_held: bool) -> SafeText:
    """Return the number, the tool and the target of a call: `#17 edit tidepool/nearest.py`.

    The command of a shell call is left out, because the content begins with it.

    Args:
        call: The call.
        width: The available columns.
        is_held: Whether the detail stays at this failed call while newer calls arrive.
    """
    if is_held:
        return SafeText(f"failed call #{call.number} · esc follows")
    words = SafeText(f"#{call.number} {cut(safe_line(call.tool), _TOOL_COLUMNS)}")
    room = width - columns(words) - 1
    about = SafeText(target(call).removeprefix(f"{safe_line(call.tool)} "))
    if call.kind is ToolKind.EXECUTE or not about or room < _LEAST_TARGET_COLUMNS:
        return words
    return SafeText(f"{words} {cut_middle(about, room) if call.path else cut(about, room)}")


def outcome_words(call: Call) -> SafeText:
    """Return the sign and the outcome of a call: `✗ exit 1`, `✓ +8 -3`, `⊘ rejected`."""
    words: str = call.outcome
    if call.exit_code is not None:
        words = f"exit {call.exit_code}"
        if call.note and call.outcome is not Outcome.FAILED:
            words += f" · {safe_line(call.note)}"
    elif call.note and call.outcome is not Outcome.FAILED:
        words = safe_line(call.note)
    elif call.outcome is Outcome.SUCCEEDED:
        words = change_size(call) or words
    return SafeText(f"{SIGNS[call.outcome]} {words}")


def brief_facts(call: Call) -> SafeText:
    """Return the outcome, the duration and the limit of a call: `✗ exit 1 · 8.6 s of 2:00`."""
    words, took, limit = outcome_words(call), call_clock(call, None), limit_ms(call)
    if took == UNKNOWN:
        return words if limit is None else SafeText(f"{words} · limit {duration_words(limit)}")
    return SafeText(f"{words} · {took}" + ("" if limit is None else f" of {duration_words(limit)}"))


def facts(call: Call) -> SafeText:
    """Return what is known about a call: `✗ exit 1 · 8.6 s · limit 2:00 · started 14:03:07`."""
    words: list[str] = [outcome_words(call)]
    took, limit = call_clock(call, None), limit_ms(call)
    if took != UNKNOWN:
        words.append(took)
    if limit is not None:
        words.append(f"limit {duration_words(limit)}")
    if call.started_ms is not None:
        words.append(f"started {time_of_day(call.started_ms)}")
    return SafeText(" · ".join(words))


def verdict_words(found: Verdict) -> SafeText:
    """Return a verdict with its source: `pytest: red (pattern) · 1 failed, 4 passed`."""
    colour = "nothing ran" if found.colour == "none" else found.colour
    return safe_line(f"{found.tool}: {colour} ({found.source}) · {found.words}")
