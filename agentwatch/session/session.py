"""What is true now: the session, brought forward one line at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
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
from agentwatch.session.call import Call, Place
from agentwatch.session.call_store import CallOrder, Calls
from agentwatch.session.line_counts import LineCounts
from agentwatch.session.rhythm import Phase, Rhythm
from agentwatch.session.runs import Run
from agentwatch.session.transcript import Kind, Transcript

CallKey = tuple[int, str | None, str]
"""The number of the run, the session_id and the call_id: ids come again in another session."""


_MAX_PLAN_ENTRIES = 10_000
_PHASES = {Kind.REASONING: Phase.THINKING, Kind.ANSWER: Phase.WRITING}


def _text_ended(session: Session, event: TextEnded, _place: Place) -> None:
    session.transcript.end_text(event.channel, event.at_ms)


def _format_detected(session: Session, event: FormatDetected, _place: Place) -> None:
    session.traits = event.traits


def _plan(session: Session, event: Plan, _place: Place) -> None:
    kept = session.plan if event.is_update else ()
    by_text = {entry.text: entry for entry in (*kept, *event.entries)}
    session.plan = tuple(islice(by_text.values(), _MAX_PLAN_ENTRIES))


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


def _repair(_session: Session, _event: Repair, _place: Place) -> None:
    """Do nothing: `apply` counts repaired lines, not their events."""


def _malformed(session: Session, event: Malformed, _place: Place) -> None:
    session.transcript.note(f"not an event ({event.reason}): {event.text}")


class Session:
    """A recording's runs, calls and transcript, as far as its lines were applied."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.calls = Calls()
        """In the order in which they first appeared."""
        self.ended_calls = CallOrder(self.calls)
        """In the order in which they ended; at the end of the stream those that never did follow."""
        self.open_calls: dict[CallKey, Call] = {}
        self.transcript = Transcript(self.calls)
        self.rhythm = Rhythm()
        self.traits = Traits()
        """What the agent's format can express; until the agent is known, everything."""
        self.plan: tuple[PlanEntry, ...] = ()
        """The agent's to-do list."""
        self.lines = LineCounts()
        self.completed_without_started = 0
        self.never_completed = 0
        self.failed_calls = 0
        self.is_closed = False
        """Whether the stream has ended."""
        self.last_seen_ms: int | None = None
        """When the newest line reached us."""
        self._unended: dict[CallKey, Call] = {}

    @property
    def run(self) -> Run:
        """The last run; one of which nothing is known before the first."""
        return self.runs[-1] if self.runs else Run()

    @property
    def outcome(self) -> Outcome:
        """The last run's outcome; of a stream that ended before it held a run, unfinished."""
        if not self.runs and self.is_closed:
            return Outcome.UNFINISHED
        return self.run.outcome

    @property
    def phase(self) -> Phase:
        """What it does now, as far as its lines tell."""
        if self.outcome is not Outcome.RUNNING:
            return Phase.NOTHING
        if self.open_calls:
            return Phase.CALLING
        entry = self.transcript.last
        return (
            _PHASES.get(entry.kind, Phase.WAITING) if entry is not None and entry.is_open else Phase.WAITING
        )

    @property
    def text(self) -> str:
        """The assistant's text of all runs."""
        return "".join(run.text for run in self.runs)

    def apply(self, events: Sequence[Event], place: Place, physical_lines: int = 1) -> None:
        """Take what one line says.

        Args:
            events: The line's events; none is a line that is understood and says nothing new.
            place: Where the line stands in the recording.
            physical_lines: How many lines of the recording it was put together from.
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
            self.rhythm.take(self.phase, place.seen_ms)
        if odd is None:
            self.lines.events += physical_lines
            self.lines.repaired += is_repaired
        else:
            self.lines.count_odd(odd, place, physical_lines)

    def forget_texts(self) -> None:
        """Let go of all that was said, but what still grows: who tells calls alone needs none of it."""
        self.transcript.forget()
        for run in self.runs:
            run.answer.clear()

    def close(self) -> None:
        """Take the end of the stream."""
        self._close_run()
        self.is_closed = True

    def _close_run(self) -> None:
        """Take the end of a run's lines: what is still open will not end any more."""
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
        self.calls.begin_run()
        self.runs.append(Run.of(event))
        self.run.began_seen_ms = place.seen_ms
        if len(self.runs) > 1:
            self.transcript.note(f"run {len(self.runs)}")

    def _prompt(self, event: Prompt, place: Place) -> None:
        run = self._current_run(place)
        if run.prompt is None:
            run.prompt = event.text
        self.transcript.add(Kind.PROMPT, event.text)

    def _text(self, event: Text, place: Place) -> None:
        run = self._current_run(place)
        entry = self.transcript.add_text(event.channel, event.text, event.at_ms)
        if entry is None:
            return
        if event.until_ms is not None:
            entry.ended_ms = event.until_ms
        if event.channel is Channel.ANSWER:
            run.add_answer(entry.said)

    def _tool_started(self, event: ToolStarted, place: Place) -> None:
        self._current_run(place)
        key = (len(self.runs), event.session_id, event.call_id)
        call = self.calls.find(event.session_id, event.call_id)
        if call is None:
            call = self._add_call(key, event)
            self.open_calls[key] = self._unended[key] = call
        if call.started is None:
            call.start(event, place)
            self.calls.changed(call)

    def _tool_ended(self, event: ToolEnded, place: Place) -> None:
        self._current_run(place)
        key = (len(self.runs), event.session_id, event.call_id)
        call = self.calls.find(event.session_id, event.call_id)
        if call is None:
            call = self._add_call(key, event)
            self.completed_without_started += 1
        self.open_calls.pop(key, None)
        self._unended.pop(key, None)
        if call.ended is not None:
            return
        call.end(event, place)
        self._settle(call)
        self.failed_calls += call.outcome is Outcome.FAILED

    def _run_ended(self, event: RunEnded, place: Place) -> None:
        is_bare = not self.runs
        run = self._current_run(place)
        run.is_bare = run.is_bare or is_bare
        self._end_run(event.outcome)
        run.end(event, place, self.transcript.spill)
        self.transcript.add(Kind.RESULT, about=run)

    def _current_run(self, place: Place) -> Run:
        """Return the run that a line belongs to; a recording whose head is missing has one too."""
        if not self.runs:
            self.runs.append(Run(began_seen_ms=place.seen_ms))
        return self.runs[-1]

    def _end_run(self, outcome: Outcome) -> None:
        """Give the last run its outcome; none of its calls can still be running."""
        if self.runs and not self.run.is_over:
            self.run.outcome = outcome
        for call in self.open_calls.values():
            call.outcome = Outcome.UNFINISHED
        self.open_calls.clear()

    def _settle(self, call: Call) -> None:
        self.ended_calls.append(call)
        self.calls.settle(call)

    def _add_call(self, key: CallKey, event: ToolStarted | ToolEnded) -> Call:
        number, run = len(self.calls) + 1, key[0]
        call = Call(
            number=number,
            run=run,
            call_id=event.call_id,
            tool=event.tool,
            kind=event.kind,
            phrase=event.phrase,
            target=event.target,
            path=event.path,
        )
        self.calls.add(call, event.session_id)
        self.transcript.add(Kind.CALL, about=number)
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
        Repair: _repair,
        Malformed: _malformed,
    }
    """What applies each type of event; a match statement would try up to 12 types in turn."""
