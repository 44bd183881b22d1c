"""The moments at which something changes on the screen: the ends of the lines that report something new.

Many lines of some formats report nothing new: the start of a block, a repeated text, a counter.
"""

from __future__ import annotations

from agentwatch.feed.feed import Feed
from agentwatch.recording import Until, line_end_after
from agentwatch.session import Session

_MOST_LINES = 10_000
"""The number of lines that are searched for the next event; decoding them takes 60 ms."""


def next_event(feed: Feed, until: Until, fd: int, end: int) -> int:
    """Advance a feed line by line until something changes, and return its offset.

    Args:
        feed: A feed that stands at an earlier moment.
        until: Where the feed stops.
        fd: The recording.
        end: The live moment, at which the search ends.
    """
    before = _state(feed.session)
    for _ in range(_MOST_LINES):
        if until.end >= end:
            break
        until.end = min(line_end_after(fd, until.end, end), end)
        feed.advance()
        if _state(feed.session) != before:
            break
    return until.end


def event_ends(feed: Feed, until: Until, fd: int, end: int) -> list[int]:
    """Advance a feed line by line, and return the moments at which something changed.

    Args:
        feed: A feed that stands at an earlier moment.
        until: Where the feed stops.
        fd: The recording.
        end: Where the search ends.
    """
    ends, before = [], _state(feed.session)
    while until.end < end:
        until.end = min(line_end_after(fd, until.end, end), end)
        feed.advance()
        state = _state(feed.session)
        if state != before:
            before = state
            ends.append(until.end)
    return ends


def _state(session: Session) -> tuple[object, ...]:
    """Return what the panes and the lines above them show, in values that are cheap to compare."""
    last, run = session.transcript.last_text, session.run
    outputs = tuple(call.output for call in session.open_calls.values() if call.output is not None)
    return (
        len(session.transcript),
        0 if last is None else len(last.content),
        len(session.calls),
        len(session.ended_calls),
        session.outcome,
        session.plan,
        session.retry,
        session.compacting,
        session.asked.count,
        len(session.asked),
        run.turns,
        run.ended,
        run.tokens,
        run.model,
        run.session_id,
        outputs,
        tuple(call.described for call in session.open_calls.values()),
    )
