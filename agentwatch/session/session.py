"""The state of a session, updated one line at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from agentwatch.events import (
    Compaction,
    Event,
    Malformed,
    Outcome,
    PlanEntry,
    Repair,
    Retry,
    Traits,
    Unknown,
)
from agentwatch.session.asked import Asked
from agentwatch.session.bounds import bounded_id
from agentwatch.session.call import Call, CallKey, Pieces, Place
from agentwatch.session.call_store import FEW_SETTLED, Calls, EndedCalls
from agentwatch.session.entry import Kind
from agentwatch.session.line_counts import LineCounts
from agentwatch.session.rhythm import Phase, Rhythm
from agentwatch.session.runs import Run
from agentwatch.session.transcript import FEW_ENDED, Transcript
from agentwatch.session.updates import calls, incidents, runs, texts
from agentwatch.session.updates.notices import Notices

if TYPE_CHECKING:
    from agentwatch.session.updates import Applier

_PHASES = {Kind.REASONING: Phase.THINKING, Kind.ANSWER: Phase.WRITING}


class Session:
    """The runs, calls and transcript of a recording, as of the last line that was applied.

    Example:
        >>> import agentwatch
        >>> session = agentwatch.load("recordings/plain.ndjson")
        >>> session.format, session.outcome, len(session.calls), session.lines.total
        ('cursor', <Outcome.SUCCEEDED: 'succeeded'>, 2, 14)
        >>> session.run.prompt
        'Raise the request timeout in settings.py to 45 seconds.'
    """

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.calls = Calls()
        """In the order in which they first appeared."""
        self.ended_calls = EndedCalls(self.calls)
        """In the order in which they ended. Calls that never ended are added when their run is closed."""
        self.open_calls: dict[CallKey, Call] = {}
        self.transcript = Transcript(self.calls)
        self.notices = Notices(self.transcript)
        self.rhythm = Rhythm()
        self.format: str | None = None
        """The name of the agent's format; None until the agent is known."""
        self.agent_name: str | None = None
        """The agent's short name: `claude`; None until it is known."""
        self.traits = Traits()
        """What the agent's format can express. Until the agent is known, everything."""
        self.plan: tuple[PlanEntry, ...] = ()
        """The agent's to-do list."""
        self.asked = Asked()
        """The permissions that the agent waits for."""
        self.retry: tuple[Retry, Place] | None = None
        """The retry that the agent waits for or makes; None after the next text, call or result."""
        self.compacting: tuple[Compaction, Place] | None = None
        """The compaction that is under way."""
        self.last_error = ""
        """The last error that the agent reported in this turn. It may be why the run ends."""
        self.lines = LineCounts()
        self.completed_without_started = 0
        """The number of calls whose end is in the recording, but not their start."""
        self.continued_turns = 0
        """The number of turns that ended and were followed by another one in the same run."""
        self.never_completed = 0
        """The number of calls that had not ended when the next run started or the stream ended."""
        self.ended_by_outcome: Counter[Outcome] = Counter()
        self.is_closed = False
        """Whether the stream has ended."""
        self.last_seen_ms: int | None = None
        """When the newest line arrived, in milliseconds since the epoch; None if unknown."""
        self._forgotten_runs = 0  # their text was dropped and cannot grow again
        self.unended: dict[CallKey, Call] = {}
        """The calls without an end line. A result line closes open calls, but their end may still follow."""

    def keep_few(self) -> None:
        """Keep fewer calls and texts in memory than a summary needs: 8 MB less, and 5 µs more per call."""
        self.calls.most_settled, self.transcript.most_ended = FEW_SETTLED, FEW_ENDED

    @property
    def run(self) -> Run:
        """The last run. Before the first, a run without any facts."""
        return self.runs[-1] if self.runs else Run()

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the last run; None if no known agent wrote the stream."""
        if not (self.runs or self.format) and (self.lines.unknown or (self.is_closed and self.lines.total)):
            return None
        return Outcome.UNFINISHED if self.is_closed and not self.runs else self.run.outcome

    @property
    def phase(self) -> Phase:
        """What the session is doing now, judged by its last lines."""
        outcome = self.runs[-1].outcome if self.runs else self.outcome  # asked after each line with a time
        if outcome is not Outcome.RUNNING:
            return Phase.NOTHING
        if self.open_calls:
            return Phase.CALLING
        kind = self.transcript.open_kind
        return Phase.WAITING if kind is None else _PHASES.get(kind, Phase.WAITING)

    @property
    def text(self) -> str:
        """The assistant's text of all runs."""
        return "".join(run.text for run in self.runs)

    def apply(
        self,
        events: Sequence[Event],
        place: Place,
        physical_lines: int = 1,
        pieces: Pieces | None = None,
    ) -> None:
        """Apply the events of one line.

        Args:
            events: The events; empty for a line that is understood and reports nothing new.
            place: Where the line is in the recording.
            physical_lines: The number of lines of the recording that were joined to this one.
            pieces: The times of the lines, if several short ones were decoded at once.
        """
        self.transcript.line_offset = place.offset
        odd: Malformed | Unknown | None = None
        is_repaired = False
        for event in events:
            self._APPLIERS[type(event)](self, event, place)
            if type(event) is Malformed or type(event) is Unknown:
                odd = event
            elif type(event) is Repair:
                is_repaired = True
        if place.seen_ms is not None:
            self.last_seen_ms = place.seen_ms
            if pieces is None:
                self.rhythm.update(self.phase, place.seen_ms)
            else:
                self.rhythm.update_by_pieces(self.phase, pieces, place.seen_ms)
        if odd is None:
            self.lines.events += physical_lines
            self.lines.repaired += is_repaired
        else:
            self.lines.count_odd(odd, place, physical_lines)

    def forget_texts(self) -> None:
        """Drop all text except the last entry. Outputs that print only calls do not need it."""
        self.transcript.forget()
        for run in self.runs[self._forgotten_runs :]:
            run.answer.clear()
        self._forgotten_runs = max(len(self.runs) - 1, 0)

    def close(self) -> None:
        """Apply the end of the stream."""
        runs.close_run(self)
        self.is_closed = True

    def settle(self, call: Call) -> None:
        """Add a call to those that have ended, or that can no longer end."""
        self.ended_calls.append(call)
        self.calls.settle(call)

    def parent_of(self, agent: str) -> int:
        """Return the number of the call whose subagent is meant; 0 if the recording does not contain it.

        A format with subagents gives its calls no session_id: a subagent may have a session of its own.
        """
        call = self.calls.find(len(self.runs), None, bounded_id(agent))
        return 0 if call is None else call.number

    _APPLIERS: ClassVar[dict[type[Event], Applier]] = {
        **texts.APPLIERS,
        **calls.APPLIERS,
        **runs.APPLIERS,
        **incidents.APPLIERS,
    }
    """The function for each type of event. A match statement would try up to 22 types in turn."""
