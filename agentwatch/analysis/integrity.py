"""Checks a session: the text equals the result, calls are paired, and no line is malformed."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.session.events import Outcome, Traits
from agentwatch.session.session import Session
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText


class Integrity(NamedTuple):
    text_matches_result: bool | None
    """It is None if the result or the streamed text is missing, or if the result is an error message."""
    difference_at: int | None
    """The index of the first character at which text and result differ; None if they do not."""
    calls: int
    paired: int
    """The number of calls whose start and end are both in the recording."""
    malformed: int
    unknown: int
    repaired: int
    oversize: int
    open_calls: int
    """The number of calls that may still end. They do not count as unpaired."""
    is_running: bool
    """Whether the run may still end with a result line."""
    traits: Traits
    """What the agent's format can express. What it cannot express is not checked."""
    is_error: bool = False
    """Whether the result is an error message, which is not a copy of the text."""
    is_empty: bool = False
    """Whether the recording has no line yet, so that nothing is proved."""
    is_known: bool = True
    """Whether a known agent wrote the lines. A kind of line that is new in its format loses nothing."""

    @property
    def passes(self) -> bool:
        """Whether nothing is lost or contradictory. Unknown lines of a known agent are only a notice."""
        return not self.problems()

    def without_text(self) -> Integrity:
        """Return the checks without that of the text."""
        return self._replace(text_matches_result=None, difference_at=None)

    def problems(self) -> SafeText:
        """Return the failed checks: `text ≠ result · 3 calls not paired · 1 malformed`; empty if none."""
        unpaired = self.calls - self.paired - self.open_calls
        without = "paired" if self.traits.announces_calls else "ended"
        parts = {
            "text ≠ result": self.text_matches_result is False,
            f"{unpaired} {'call' if unpaired == 1 else 'calls'} not {without}": unpaired,
            f"{self.malformed} malformed": self.malformed,
            f"{self.unknown} unknown": self.unknown and not self.is_known,
        }
        return SafeText(" · ".join(words for words, is_so in parts.items() if is_so))

    def words(self) -> SafeText:
        """Return `recording whole`, or `recording not whole: 1 malformed`."""
        problems = self.problems()
        return SafeText(f"recording not whole: {problems}" if problems else "recording whole")

    def line(self) -> SafeText:
        """Return all checks: `text = result · 212 of 212 calls paired · 0 malformed · 2 unknown`. What the
        format cannot prove is named: `no result line in this format · 12 calls`."""
        absent = "no result yet" if self.is_running else "no result to compare"
        absent = absent if self.traits.has_result else "no result line in this format"
        absent = "the result is an error" if self.is_error else absent
        by_match = {True: "text = result", False: "text ≠ result", None: absent}
        parts = [
            by_match[self.text_matches_result],
            self._calls(),
            f"{self.malformed} malformed",
            f"{self.unknown} unknown",
        ]
        if self.repaired:
            parts.append(f"{self.repaired:,} repaired")
        if self.oversize:
            parts.append(f"{self.oversize:,} oversize")
        return SafeText(" · ".join(parts))

    def _calls(self) -> str:
        """Return how many calls have a start and an end; in a format without starts, how many there are."""
        if self.traits.announces_calls:
            return f"{self.paired:,} of {plural(self.calls, 'call')} paired"
        unended = self.calls - self.paired - self.open_calls
        calls = plural(self.calls, "call")
        return f"{self.paired:,} of {calls} ended" if unended else calls


def integrity(session: Session) -> Integrity:
    run, lines, traits = session.run, session.lines, session.traits
    matches = run.text_matches_result
    unpaired = session.never_completed + (session.completed_without_started if traits.announces_calls else 0)
    return Integrity(
        text_matches_result=matches,
        difference_at=_first_difference(run.text, run.result) if matches is False else None,
        calls=len(session.calls),
        paired=len(session.ended_calls) - unpaired,
        malformed=lines.malformed,
        unknown=lines.unknown,
        repaired=lines.repaired,
        oversize=lines.oversize,
        open_calls=len(session.open_calls),
        is_running=bool(session.runs) and not run.is_over and traits.has_result,
        is_error=traits.has_result and run.outcome is Outcome.FAILED and run.result_length > 0,
        traits=traits,
        is_empty=not lines.total,
        is_known=session.format is not None,
    )


def _first_difference(text: str, result: str | None) -> int:
    result = result or ""
    pairs = enumerate(zip(text, result, strict=False))
    return next((at for at, (ours, theirs) in pairs if ours != theirs), min(len(text), len(result)))
