"""The state of a session, updated one line at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from agentwatch.events import (
    Channel,
    Event,
    FormatDetected,
    Malformed,
    Notice,
    Outcome,
    Oversize,
    Permission,
    Plan,
    PlanEntry,
    Prompt,
    Repair,
    RunEnded,
    RunStarted,
    Text,
    TextEnded,
    ToolEnded,
    ToolStarted,
    Traits,
    Unknown,
)
from agentwatch.session.bounds import bounded
from agentwatch.session.call import Call, CallKey, Place, call_key
from agentwatch.session.call_store import CallOrder, Calls
from agentwatch.session.entry import Kind
from agentwatch.session.line_counts import LineCounts
from agentwatch.session.plan import planned
from agentwatch.session.rhythm import Phase, Rhythm
from agentwatch.session.runs import Answer, Run
from agentwatch.session.transcript import Transcript

_PHASES = {Kind.REASONING: Phase.THINKING, Kind.ANSWER: Phase.WRITING}


def _format_detected(session: Session, event: FormatDetected, _place: Place) -> None:
    session.format, session.traits = event.format, event.traits


def _plan(session: Session, event: Plan, _place: Place) -> None:
    session.plan = planned(session.plan, event)


def _permission(session: Session, event: Permission, _place: Place) -> None:
    if event.answer is not None:
        reason = f": {event.reason}" if event.reason else ""
        session.transcript.note(f"{event.subject} {event.answer}{reason}")


def _notice(session: Session, event: Notice, _place: Place) -> None:
    session.transcript.note(event.message)


def _unknown(session: Session, event: Unknown, _place: Place) -> None:
    session.transcript.note_once(f"unknown: {event.what}")


def _oversize(session: Session, event: Oversize, _place: Place) -> None:
    session.lines.oversize += 1
    session.transcript.note(f"line of {event.size} bytes: only its start and end were read")


def _malformed(session: Session, event: Malformed, _place: Place) -> None:
    session.transcript.note_malformed(f"not an event ({event.reason}): {event.text}")


class Session:
    """The runs, calls and transcript of a recording, as of the last line that was applied."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.calls = Calls()
        """In the order in which they first appeared."""
        self.ended_calls = CallOrder(self.calls)
        """In the order in which they ended. Calls that never ended are added when their run is closed."""
        self.open_calls: dict[CallKey, Call] = {}
        self.transcript = Transcript(self.calls)
        self.rhythm = Rhythm()
        self.format: str | None = None
        """The name of the agent's format; None until the agent is known."""
        self.traits = Traits()
        """What the agent's format can express. Until the agent is known, everything."""
        self.plan: tuple[PlanEntry, ...] = ()
        """The agent's to-do list."""
        self.lines = LineCounts()
        self.completed_without_started = 0
        """The number of calls whose end is in the recording, but not their start."""
        self.never_completed = 0
        """The number of calls that had not ended when the next run started or the stream ended."""
        self.ended_by_outcome: Counter[Outcome] = Counter()
        self.is_closed = False
        """Whether the stream has ended."""
        self.last_seen_ms: int | None = None
        """When the newest line arrived, in milliseconds since the epoch; None if unknown."""
        self._forgotten_runs = 0  # their text was dropped and cannot grow again
        self._unended: dict[CallKey, Call] = {}
        """The calls without an end line. A result line closes open calls, but their end may still follow."""

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
        if self.outcome is not Outcome.RUNNING:
            return Phase.NOTHING
        if self.open_calls:
            return Phase.CALLING
        entry = self.transcript.last
        return _PHASES.get(entry.kind, Phase.WAITING) if entry and entry.is_open else Phase.WAITING

    @property
    def text(self) -> str:
        """The assistant's text of all runs."""
        return "".join(run.text for run in self.runs)

    def apply(self, events: Sequence[Event], place: Place, physical_lines: int = 1) -> None:
        """Apply the events of one line.

        Args:
            events: The events; empty for a line that is understood and reports nothing new.
            place: Where the line is in the recording.
            physical_lines: The number of lines of the recording that were joined to this one.
        """
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
            self.rhythm.update(self.phase, place.seen_ms)
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
        self._close_run()
        self.is_closed = True

    def _close_run(self) -> None:
        """End the last run: no more of its lines can arrive, so its calls without an end never completed."""
        self._end_run(Outcome.UNFINISHED)
        self.never_completed += len(self._unended)
        for call in self._unended.values():
            self._settle(call)
        self._unended.clear()

    def _run_started(self, event: RunStarted, place: Place) -> None:
        is_same = self.traits.repeats_start and event.session_id == self.run.session_id
        if self.runs and is_same and not self.run.is_over:
            self.run.describe(event)
            return
        self._close_run()
        self.lines.last_text = ""
        self.calls.begin_run()
        self.runs.append(Run.of(event, Answer(self.transcript)))
        self.run.began_seen_ms = place.seen_ms
        if len(self.runs) > 1:
            self.transcript.note(f"run {len(self.runs)}")

    def _prompt(self, event: Prompt, place: Place) -> None:
        run = self._current_run(place)
        run.turns += 1
        run.add_prompt(self.transcript.add(Kind.PROMPT, event.text).content)

    def _text(self, event: Text, place: Place) -> None:
        run = self._current_run(place)
        entry = self.transcript.add_text(event.channel, event.text, event.at_ms)
        if entry is None:
            return
        if event.until_ms is not None:
            entry.ended_ms = event.until_ms
        if event.channel is Channel.ANSWER:
            run.answer.add(entry)

    def _text_ended(self, event: TextEnded, _place: Place) -> None:
        self.transcript.end_text(event.channel, event.at_ms)

    def _tool_started(self, event: ToolStarted, place: Place) -> None:
        self._current_run(place)
        key = call_key(len(self.runs), event)
        call = self.calls.find(*key[1:])
        if call is None:
            call = self._add_call(key, event)
            self.open_calls[key] = self._unended[key] = call
        if call.started is None:
            call.start(event, place)
            self.calls.changed(call)

    def _tool_ended(self, event: ToolEnded, place: Place) -> None:
        self._current_run(place)
        key = call_key(len(self.runs), event)
        call = self._unended.get(key) or self.calls.find(*key[1:])
        if call is None:
            call = self._add_call(key, event)
            self.completed_without_started += 1
        self.open_calls.pop(key, None)
        self._unended.pop(key, None)
        if call.ended is not None:
            return
        call.end(event, place)
        self._settle(call)
        self.ended_by_outcome[call.outcome] += 1

    def _run_ended(self, event: RunEnded, place: Place) -> None:
        is_bare = not self.runs
        run = self._current_run(place)
        run.is_bare = run.is_bare or is_bare
        self._end_run(event.outcome)
        run.end(event, place, self.transcript.spill)
        self.transcript.add(Kind.RESULT, about=run)

    def _current_run(self, place: Place) -> Run:
        """Return the run that a line belongs to. If the recording has no start line, begin a run."""
        if not self.runs:
            self.runs.append(Run(began_seen_ms=place.seen_ms, answer=Answer(self.transcript)))
        return self.runs[-1]

    def _end_run(self, outcome: Outcome) -> None:
        """Set the outcome of the last run, unless it has one, and mark its open calls as unfinished."""
        if self.runs and not self.run.is_over:
            self.run.outcome = outcome
        for call in self.open_calls.values():
            call.outcome = Outcome.UNFINISHED
        self.open_calls.clear()

    def _settle(self, call: Call) -> None:
        self.ended_calls.append(call)
        self.calls.settle(call)

    def _add_call(self, key: CallKey, event: ToolStarted | ToolEnded) -> Call:
        number, (run, session_id, call_id) = len(self.calls) + 1, key
        call = Call(
            number=number,
            run=run,
            call_id=call_id,
            tool=bounded(event.tool) or "",
            kind=event.kind,
            phrase=bounded(event.phrase) or "",
            target=bounded(event.target),
            path=bounded(event.path),
        )
        self.calls.add(call, session_id)
        self.transcript.add_call(number)
        return call

    _APPLIERS: ClassVar[dict[type[Event], Callable[[Session, Any, Place], None]]] = {
        Text: _text,
        ToolStarted: _tool_started,
        ToolEnded: _tool_ended,
        TextEnded: _text_ended,
        RunStarted: _run_started,
        Prompt: _prompt,
        RunEnded: _run_ended,
        FormatDetected: _format_detected,
        Plan: _plan,
        Permission: _permission,
        Notice: _notice,
        Unknown: _unknown,
        Oversize: _oversize,
        Repair: lambda *_: None,  # `apply` counts repaired lines itself
        Malformed: _malformed,
    }
    """The function for each type of event. A match statement would try up to 12 types in turn."""
