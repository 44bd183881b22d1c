"""Applies the events of runs and turns to a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.events import (
    Event,
    FormatDetected,
    LineTime,
    Outcome,
    Prompt,
    Rewound,
    RunInfo,
    RunStarted,
    TurnEnded,
    TurnStarted,
    Usage,
)
from agentwatch.session.bounds import bounded, bounded_id
from agentwatch.session.call import Call, Place
from agentwatch.session.entry import Kind
from agentwatch.session.runs import Run
from agentwatch.session.turns.answer import Answer
from agentwatch.text.amounts import plural

if TYPE_CHECKING:
    from agentwatch.session.session import Session
    from agentwatch.session.updates import Applier


def format_detected(session: Session, event: FormatDetected, _place: Place) -> None:
    """Set the format and the agent."""
    session.format, session.traits = event.format, event.traits
    session.agent_name = event.agent or event.format


def run_started(session: Session, event: RunStarted, place: Place) -> None:
    """Close the last run, and begin another."""
    close_run(session)
    session.lines.last_text = session.last_error = ""
    session.runs.append(Run.of(event, Answer(session.transcript, session.transcript.spill)))
    session.run.began_seen_ms = place.seen_ms
    if len(session.runs) > 1:
        session.transcript.note(f"run {len(session.runs)}")


def run_info(session: Session, event: RunInfo, place: Place) -> None:
    """Add facts to the current run."""
    current_run(session, place).describe(event)
    session.agent_name = bounded(event.agent_name) or session.agent_name


def turn_started(session: Session, _event: TurnStarted, place: Place) -> None:
    """Begin a turn, which continues a run that had ended."""
    _begin_turn(session, place)
    session.last_error = ""


def prompt(session: Session, event: Prompt, place: Place) -> None:
    """Add a prompt. It begins a turn, unless the present turn still has no prompt."""
    run = current_run(session, place)
    if event.agent is not None:
        session.transcript.add(Kind.PROMPT, event.text, parent=parent_of(session, event.agent))
        return
    if not run.awaits_prompt:
        _begin_turn(session, place)
    run.add_prompt(session.transcript.add(Kind.PROMPT, event.text).content)


def rewound(session: Session, event: Rewound, place: Place) -> None:
    """Remove the last turns from the text of the run. Their calls were made, and stay."""
    run = current_run(session, place)
    turns = min(event.turns, run.turns)
    if turns > 0:
        run.rewind(turns)
        session.transcript.note(f"rewound by {plural(turns, 'turn')}")


def usage(session: Session, event: Usage, place: Place) -> None:
    """Add a token count to the current run."""
    current_run(session, place).usage_counts.add(event)


def turn_ended(session: Session, event: TurnEnded, place: Place) -> None:
    """End the current run, unless another turn follows. A second end of a turn may only add its duration."""
    is_bare = not session.runs
    run = current_run(session, place)
    last = run.turn_result
    if last is not None and event == TurnEnded(last.outcome, duration_ms=event.duration_ms):
        last.duration_ms = event.duration_ms
        return
    run.is_bare = run.is_bare or is_bare
    end_run(session, event.outcome)
    is_last_text = session.traits.result_is_last_text
    ended = run.end(event, place, session.transcript.spill, is_last_text=is_last_text)
    session.transcript.add(Kind.RESULT, about=ended)


def current_run(session: Session, place: Place) -> Run:
    """Return the run that a line belongs to. If the recording has no start line, begin a run."""
    if not session.runs:
        answer = Answer(session.transcript, session.transcript.spill)
        session.runs.append(Run(began_seen_ms=place.seen_ms, answer=answer))
    return session.runs[-1]


def _begin_turn(session: Session, place: Place) -> None:
    run = current_run(session, place)
    session.continued_turns += run.is_over
    run.begin_turn(len(session.transcript), place.seen_ms)


def settle(session: Session, call: Call) -> None:
    """Add a call to those that have ended, or that can no longer end."""
    session.ended_calls.append(call)
    session.calls.settle(call)


def parent_of(session: Session, agent: str) -> int:
    """Return the number of the call whose subagent is meant; 0 if the recording does not contain it.

    A format with subagents gives its calls no session_id: a subagent may have a session of its own.
    """
    call = session.calls.find(len(session.runs), None, bounded_id(agent))
    return 0 if call is None else call.number


def close_run(session: Session) -> None:
    """End the last run: no more of its lines can arrive, so its calls without an end never completed."""
    end_run(session, Outcome.UNFINISHED)
    session.never_completed += len(session.unended)
    for call in session.unended.values():
        settle(session, call)
    session.unended.clear()


def end_run(session: Session, outcome: Outcome) -> None:
    """Set the outcome of the last run, unless it has one, and mark its open calls as unfinished."""
    if session.runs and not session.run.is_over:
        session.run.outcome = outcome
    for call in session.open_calls.values():
        call.outcome = Outcome.UNFINISHED
    session.open_calls.clear()
    session.asked.clear()
    session.retry = session.compacting = None


APPLIERS: dict[type[Event], Applier] = {
    FormatDetected: format_detected,
    LineTime: lambda *_: None,  # the feed replaces the arrival time
    RunStarted: run_started,
    RunInfo: run_info,
    TurnStarted: turn_started,
    Prompt: prompt,
    Rewound: rewound,
    Usage: usage,
    TurnEnded: turn_ended,
}
