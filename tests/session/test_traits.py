"""What a format can express decides what is missing from a session, and what is not."""

from __future__ import annotations

from agentwatch.analysis.integrity import integrity
from agentwatch.analysis.status import status
from agentwatch.session.call import Place
from agentwatch.session.events import (
    Event,
    FormatDetected,
    Outcome,
    RunStarted,
    ToolEnded,
    ToolKind,
    ToolStarted,
    Traits,
)
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session

START = RunStarted("other", session_id="s", model="one")
ENDED = ToolEnded("c", "s", "Bash", ToolKind.EXECUTE, Outcome.SUCCEEDED, "Ran")


def session_of(traits: Traits, *events: Event, is_over: bool = True) -> Session:
    """Return a session of a format with these traits."""
    session = Session()
    for event in (FormatDetected("other", traits), *events):
        apply_line(session, [event], Place(0, 1, None))
    if is_over:
        close_session(session)
    return session


def test_a_call_without_a_start_is_paired_if_calls_are_not_announced() -> None:
    """A format whose calls have one line only has nothing unpaired; in others the start is missing."""
    assert integrity(session_of(Traits(announces_calls=False), START, ENDED)).paired == 1
    assert integrity(session_of(Traits(), START, ENDED)).paired == 0


def test_a_format_without_a_result_line_waits_for_none() -> None:
    """While a run goes on, no result is missing from a format that has none."""
    assert "no result yet" in integrity(session_of(Traits(), START, is_over=False)).line()
    found = integrity(session_of(Traits(has_result=False), START, is_over=False))
    assert "no result line in this format" in found.line()


def test_the_end_of_a_format_without_a_result_line_is_no_lack() -> None:
    """The status says that a result is missing only if the format has one."""
    assert status(session_of(Traits(), START), None) == "ended without a result"
    assert status(session_of(Traits(has_result=False), START), None) == "ended"


def test_calls_without_start_lines_are_counted_and_not_paired() -> None:
    """A format whose calls have no start line says how many there are, or how many of them ended."""
    traits = Traits(announces_calls=False, has_result=False)
    found = integrity(session_of(traits, START, ENDED))
    assert found.line() == "no result line in this format · 1 call · 0 malformed · 0 unknown"
    assert found.passes
    begun = ToolStarted("d", "s", "Bash", ToolKind.EXECUTE, "Ran", None)
    found = integrity(session_of(traits, START, ENDED, begun))
    assert "1 of 2 calls ended" in found.line()
    assert found.problems() == "1 call not ended"
