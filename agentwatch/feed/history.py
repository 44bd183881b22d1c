"""The earlier moments of a feed. A moment is a number of bytes of the recording, after a line end; the
session there is what a feed shows that has read only these bytes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from agentwatch.agents import Decoder
from agentwatch.feed.checkpoints import Checkpoint, Checkpoints, empty_session
from agentwatch.feed.feed import Feed, RecordedTimes
from agentwatch.recording.head_tail import line_end_after
from agentwatch.recording.lines import LineReader, Until
from agentwatch.session.call import Call, Place
from agentwatch.session.rules import BAD_OUTCOMES
from agentwatch.session.session import Session

_MOST_LINES = 10_000
"""Lines that are searched for the next event; decoding them takes 60 ms."""


def next_event(feed: Feed, until: Until, fd: int, end: int) -> int:
    """Advance a feed at an earlier moment line by line until something changes, at most to `end`, the live
    moment; return its offset."""
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
    """Advance a feed at an earlier moment line by line; return the moments at which something changed."""
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
    """What the panes and the lines above them show, in values that are cheap to compare."""
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
        session.limits,
        session.questions.count,
        len(session.questions),
        run.turns,
        run.ended,
        run.tokens,
        run.model,
        run.session_id,
        outputs,
        tuple(call.described for call in session.open_calls.values()),
    )


class History:
    def __init__(self, feed: Feed, reader: LineReader, *, goes_back: bool = True) -> None:
        """Observe a feed that has not read anything yet. Whoever shows its session advances it. `goes_back`:
        earlier moments will be asked for. Without checkpoints they are read from the start, and many calls
        are read in four fifths of the time."""
        self.feed = feed
        self.timeline = RecordedTimes(reader.fd)
        self.applied = self.timeline.note
        self._reader = reader
        feed.observer, feed.takes_agent_times = self, True
        self._checkpoints = Checkpoints()
        self._goes_back = goes_back
        self._earlier: Feed | None = None
        self._until = Until(0)
        self._event_ends: list[int] = []
        """The ends of events that the last search backwards has found."""

    def at(self, offset: int) -> Feed:
        """The live feed at the live moment. It takes up to 10 ms: at most 512 KiB are decoded, unless a line
        is longer. A feed that was returned before must not be used any more: it may be the same one, which
        has moved."""
        if offset >= self.feed.offset:
            return self.feed
        earlier, start = self._earlier, self._checkpoints.offset_before(offset)
        if earlier is None or not start <= self._until.end <= offset:
            earlier = self._earlier = self._restored(offset)
        self._until.end = offset
        earlier.advance()
        return earlier

    def event_after(self, offset: int) -> int:
        """The next moment at which something changes; the live one if nothing does."""
        end = self.feed.offset
        if offset >= end:
            return end
        feed = self.at(offset)
        return next_event(feed, self._until, self._reader.fd, end)

    def event_before(self, offset: int) -> int:
        """The end of the event before the one that a moment shows; 0 at the first event. It takes up to 30
        ms: the lines since the checkpoint before it are decoded one by one. Further steps back use what was
        found."""
        known = bisect_left(self._event_ends, offset)
        if 0 < known < len(self._event_ends) and self._event_ends[known] == offset:
            return self._event_ends[known - 1]
        ends: list[int] = []
        start = offset
        while start > 0 and len(ends) < 2:
            end, start = start, self._checkpoints.offset_before(start - 1)
            feed = self._restored(start)
            feed.advance()
            ends = [*event_ends(feed, self._until, self._reader.fd, end), *ends]
        self._earlier, self._event_ends = None, ends
        return ends[-2] if len(ends) > 1 else 0

    def paused(self, offset: int, session: Session, decoder: Decoder) -> None:
        """Take a checkpoint, if the last one is far enough back."""
        if self._goes_back:
            self._checkpoints.take(offset, session, decoder)

    def _restored(self, offset: int) -> Feed:
        newest, agent = self.feed.session, self.feed.agent
        checkpoint = self._checkpoints.before(offset, newest)
        if checkpoint is None:
            checkpoint = Checkpoint(0, empty_session(newest), Decoder(agent))
        self._until = Until(checkpoint.offset)
        reader = LineReader(self._reader.fd, self._until, self._reader.times, checkpoint.offset)
        feed = Feed(reader, agent, checkpoint)
        feed.takes_agent_times = True
        return feed


# The moments at which calls ended.

_NEVER = 1 << 62
_MOST_UNENDED = 1000
"""The search is exact for up to this number of calls in a row that never ended."""


def end_of(call: Call) -> int:
    """A call that never ended has the end of the recording."""
    return _NEVER if call.ended is None else after(call.ended)


def after(place: Place) -> int:
    return place.offset + place.length + 1


def neighbour_call(session: Session, offset: int, step: int) -> Call | None:
    """The call that ended next after (1) or last before (-1) a moment; None without one."""
    ended = session.ended_calls
    at = _first_after(ended, offset) if step > 0 else _first_after(ended, offset - 1) - 1
    while 0 <= at < len(ended) and ended[at].ended is None:
        at += step
    return ended[at] if 0 <= at < len(ended) else None


def _first_after(ended: Sequence[Call], offset: int) -> int:
    """The index of the first call that ended after a moment. Calls that never ended count as ended with the
    call before them, where their run was closed."""

    def end_at(index: int) -> int:
        for at in range(index, max(index - _MOST_UNENDED, -1), -1):
            if ended[at].ended is not None:
                return end_of(ended[at])
        return 0

    return bisect_right(range(len(ended)), offset, key=end_at)


def next_failure(session: Session, start: int, end: int) -> Call | None:
    """The first call that failed after `start`, up to `end`; None without one."""
    ended = session.ended_calls
    for index in range(_first_after(ended, start), len(ended)):
        call = ended[index]
        if call.ended is not None and end_of(call) > end:
            break
        if call.ended is not None and call.outcome in BAD_OUTCOMES:
            return call
    return None
