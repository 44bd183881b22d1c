"""Applies notices, retries, compactions, and lines that could not be understood to a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.events import Compaction, Event, Malformed, Notice, Oversize, Repair, Retry, Unknown
from agentwatch.session.bounds import bounded
from agentwatch.session.call import Place
from agentwatch.session.rules import retry_words

if TYPE_CHECKING:
    from agentwatch.session.session import Session
    from agentwatch.session.updates import Applier


def notice(session: Session, event: Notice, _place: Place) -> None:
    """Note an incident. Keep the last error: it may be why the run ends."""
    session.transcript.note(event.message)
    if event.is_error:
        session.last_error = bounded(event.message) or ""


def retry(session: Session, event: Retry, place: Place) -> None:
    """Note that the agent tries again. It does so until the next text, call or result."""
    session.retry = event._replace(message=bounded(event.message) or ""), place
    session.transcript.note(retry_words(event, event.message))


def compaction(session: Session, event: Compaction, place: Place) -> None:
    """Note that the conversation is being shortened, or was."""
    session.compacting = None if event.is_over else (event, place)
    if event.is_over:
        counts = (event.tokens_before, event.tokens_after)
        sizes = " → ".join(f"{count:,}" for count in counts if count is not None)
        session.transcript.note(f"context compacted: {sizes} tokens" if sizes else "context compacted")


def unknown(session: Session, event: Unknown, _place: Place) -> None:
    """Note what this version does not know, once."""
    session.notices.unknown(f"unknown: {event.what}")


def oversize(session: Session, event: Oversize, _place: Place) -> None:
    """Note a line that is too large."""
    session.lines.oversize += 1
    session.transcript.note(f"line of {event.size} bytes: only its start and end were read")


def malformed(session: Session, event: Malformed, _place: Place) -> None:
    """Note a line that is not an event."""
    session.notices.malformed(f"not an event ({event.reason}): {event.text}")


APPLIERS: dict[type[Event], Applier] = {
    Notice: notice,
    Retry: retry,
    Compaction: compaction,
    Unknown: unknown,
    Oversize: oversize,
    Repair: lambda *_: None,  # `apply_line` counts repaired lines itself
    Malformed: malformed,
}
