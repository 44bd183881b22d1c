"""Events with arrival times, and the time breakdown of their sessions."""

from __future__ import annotations

from agentwatch.analysis.time import Account, TimeBreakdown
from agentwatch.session.call import Place
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Prompt,
    RunStarted,
    Text,
    TextEnded,
    ToolEnded,
    ToolKind,
    ToolStarted,
    TurnEnded,
)
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session

TimedEvent = tuple[Event, int | None]
"""An event, and the arrival time of its line."""


def begins(number: int, at_ms: int | None, seen_ms: int | None = None, tool: str = "shell") -> TimedEvent:
    """Return the start of a call."""
    return ToolStarted(f"c-{number}", "s", tool, ToolKind.EXECUTE, "Ran", None, at_ms=at_ms), seen_ms


def ends(number: int, at_ms: int | None, seen_ms: int | None = None, tool: str = "shell") -> TimedEvent:
    """Return the end of a call."""
    kind, outcome = ToolKind.EXECUTE, Outcome.SUCCEEDED
    return ToolEnded(f"c-{number}", "s", tool, kind, outcome, "Ran", at_ms=at_ms), seen_ms


def says(at_ms: int | None, channel: Channel = Channel.ANSWER) -> TimedEvent:
    """Return a piece of text."""
    return Text(channel, "x", at_ms), None


def thinks(at_ms: int | None) -> TimedEvent:
    """Return a piece of reasoning."""
    return says(at_ms, Channel.REASONING)


def falls_silent(at_ms: int | None) -> TimedEvent:
    """Return the end of a block of reasoning."""
    return TextEnded(Channel.REASONING, at_ms), None


NOTICE: TimedEvent = Notice("connection reconnecting"), None
INIT: TimedEvent = RunStarted("cursor"), None
PROMPT: TimedEvent = Prompt("Do it."), None


def over(duration_ms: int | None = None, seen_ms: int | None = None) -> TimedEvent:
    """Return the result of a run."""
    return TurnEnded(Outcome.SUCCEEDED, "x", duration_ms=duration_ms), seen_ms


def session_of(*events: TimedEvent) -> Session:
    """Return the session with these events applied."""
    read = Session()
    apply_events(read, events)
    return read


def apply_events(read: Session, events: tuple[TimedEvent, ...] | list[TimedEvent]) -> None:
    """Apply events to a session."""
    for event, seen_ms in events:
        apply_line(read, [event], Place(0, 1, seen_ms))


def account(*events: TimedEvent) -> Account:
    """Return the time breakdown of these events."""
    breakdown = TimeBreakdown(session_of(*events))
    breakdown.update()
    return breakdown.account()
