"""Applies the events of tool calls, of permissions and of the to-do list to a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.events import Event, Permission, Plan, ToolEnded, ToolKind, ToolProgress, ToolStarted
from agentwatch.session.bounds import bounded, bounded_id
from agentwatch.session.call import Call, CallKey, Place, call_key
from agentwatch.session.rules import asks_user, planned, question_words
from agentwatch.session.updates.runs import current_run, parent_of, settle

if TYPE_CHECKING:
    from agentwatch.session.session import Session
    from agentwatch.session.updates import Applier


def tool_started(session: Session, event: ToolStarted, place: Place) -> None:
    """Add a call, or describe one that is open."""
    if event.kind is ToolKind.EXECUTE:
        session.has_commands = True
    if not session.runs:
        current_run(session, place)
    session.retry = None
    key = call_key(len(session.runs), event)
    call = session.calls.find(*key)
    is_new = call is None
    if call is None:
        call = _add_call(session, key, event)
        session.open_calls[key] = session.unended[key] = call
    if call.started is None:
        if call.ended is not None:
            session.calls.starts_late(call, place.offset)
        call.start(event, place)
        if not is_new:
            session.calls.changed(call)
    elif event.is_update and call.ended is None:
        call.update(event, place)
        session.calls.changed(call)


def tool_progress(session: Session, event: ToolProgress, _place: Place) -> None:
    """Keep the end of the output of an open call."""
    call = session.open_calls.get(call_key(len(session.runs), event))
    if call is not None and event.output is not None:
        call.add_output(event.output, is_whole=event.is_whole)


def tool_ended(session: Session, event: ToolEnded, place: Place) -> None:
    """End a call. One whose start is not in the recording is added."""
    if event.kind is ToolKind.EXECUTE:
        session.has_commands = True
    if not session.runs:
        current_run(session, place)
    key = call_key(len(session.runs), event)
    call = session.unended.get(key) or session.calls.find(*key)
    if call is None:
        call = _add_call(session, key, event)
        session.completed_without_started += session.traits.announces_calls
    session.open_calls.pop(key, None)
    session.unended.pop(key, None)
    session.asked.call_ended(key[2])
    if call.ended is not None:
        return
    call.end(event, place)
    settle(session, call)
    session.ended_by_outcome[call.outcome] += 1


def plan(session: Session, event: Plan, _place: Place) -> None:
    """Update the to-do list."""
    session.plan = planned(session.plan, event)


def permission(session: Session, event: Permission, place: Place) -> None:
    """Keep a question until it is answered, and note its answer."""
    if not event.is_automatic:
        current_run(session, place).name()
    session.asked.update(event, place, len(session.runs), len(session.ended_calls))
    if event.answer is not None:
        reason = f": {event.reason}" if event.reason else ""
        session.transcript.note(f"{event.subject} {event.answer}{reason}")
    elif asks_user(event):
        session.transcript.note(f"asks: {question_words(event)}")


def _add_call(session: Session, key: CallKey, event: ToolStarted | ToolEnded) -> Call:
    number, (run, session_id, call_id) = len(session.calls) + 1, key
    agent, parent = event.agent, None
    if agent is not None:
        agent, parent = bounded_id(agent), parent_of(session, agent)
    call = Call(
        number=number,
        run=run,
        call_id=call_id,
        tool=bounded(event.tool) or "",
        kind=event.kind,
        phrase=bounded(event.phrase) or "",
        agent=agent,
        parent=parent,
    )
    session.calls.add(call, session_id)
    session.transcript.add_call(number, parent)
    if session.runs[-1].named_as is None:
        session.runs[-1].name()
    return call


APPLIERS: dict[type[Event], Applier] = {
    ToolStarted: tool_started,
    ToolProgress: tool_progress,
    ToolEnded: tool_ended,
    Plan: plan,
    Permission: permission,
}
