"""Applies the events of tool calls, of questions and of the to-do list to a digest."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from agentwatch.events import Event, Permission, Plan, PlanStatus, ToolEnded, ToolStarted
from agentwatch.machine.digest.bounds import MOST_LINE, MOST_NAME, line
from agentwatch.machine.digest.course import Question
from agentwatch.machine.digest.parts import OpenCall
from agentwatch.machine.digest.updates.runs import goes_on
from agentwatch.session.rules import (
    BAD_OUTCOMES,
    DONE_ENTRIES,
    add_question,
    asks_user,
    end_call,
    question_key,
)

if TYPE_CHECKING:
    from agentwatch.machine.digest.digest import Digest
    from agentwatch.machine.digest.updates import Applier

_MOST_OPEN = 32
_MOST_QUESTIONS = 8
_MOST_ENTRIES = 256


def tool_started(digest: Digest, event: ToolStarted, at_ms: int | None) -> None:
    """Add a call, or describe one that is open."""
    goes_on(digest, at_ms)
    digest.retry = ""
    digest.course.is_text_open = digest.course.is_text_open and event.agent is not None
    call_id = event.call_id[:MOST_LINE]
    known = digest.open_calls.get(call_id)
    if known is not None:
        if event.is_update:
            digest.open_calls[call_id] = known._replace(
                tool=event.tool[:MOST_NAME], kind=event.kind, target=line(event.target) or known.target
            )
        return
    if hash(call_id) in digest.course.has_ended:
        return
    digest.calls += 1
    digest.open_calls[call_id] = OpenCall(
        call_id,
        event.tool[:MOST_NAME],
        event.kind,
        line(event.target),
        at_ms if event.at_ms is None else event.at_ms,
        event.agent and event.agent[:MOST_LINE],
        event.limit_ms,
    )
    if len(digest.open_calls) > _MOST_OPEN:
        oldest = next(iter(digest.open_calls))
        del digest.open_calls[oldest]
        digest.course.settle(oldest, has_ended=False)


def tool_ended(digest: Digest, event: ToolEnded, at_ms: int | None) -> None:
    """End a call. One whose start is not among the lines is added."""
    goes_on(digest, at_ms)
    call_id = event.call_id[:MOST_LINE]
    is_open = digest.open_calls.pop(call_id, None) is not None
    _call_ended(digest, call_id)
    has_ended = None if is_open else digest.course.has_ended.get(hash(call_id))
    if has_ended:
        return
    digest.calls += not is_open and has_ended is None
    digest.course.settle(call_id, has_ended=True)
    digest.failed += event.outcome in BAD_OUTCOMES
    digest.lines_added += event.lines_added or 0
    digest.lines_removed += event.lines_removed or 0


def permission(digest: Digest, event: Permission, at_ms: int | None) -> None:
    """Keep a question until it is answered. Automatic ones are ignored."""
    key = question_key(event)[:MOST_LINE]
    call_id = event.call_id and event.call_id[:MOST_LINE]
    questions = digest.course.questions
    if event.answer is not None:
        questions.pop(key, None)
    elif asks_user(event):
        words = f"{event.subject[:MOST_NAME]} {line(event.target)}".strip()
        asked = Question(words, call_id, at_ms if event.at_ms is None else event.at_ms)
        add_question(questions, key, asked, _MOST_QUESTIONS)
        call = digest.open_calls.get(call_id or "")
        if call is not None and event.key == event.call_id:
            digest.open_calls[call.call_id] = call._replace(asks=True)
    _show_question(digest)


def plan(digest: Digest, event: Plan, _at_ms: int | None) -> None:
    """Count the entries of the to-do list."""
    known = digest.course.plan
    if not event.is_update:
        known.clear()
        digest.doing = ""
    for entry in islice(event.entries, _MOST_ENTRIES):
        known[hash(entry.text)] = entry.status
        if entry.status is PlanStatus.IN_PROGRESS:
            digest.doing = digest.doing or line(entry.text)
        elif digest.doing and line(entry.text) == digest.doing:
            digest.doing = ""
    for key in list(islice(known, max(len(known) - _MOST_ENTRIES, 0))):
        del known[key]
    done = sum(status in DONE_ENTRIES for status in known.values())
    digest.todo = (done, len(known)) if known else None


def _call_ended(digest: Digest, call_id: str) -> None:
    """Remove the questions about a call that has ended, whether or not an answer was seen."""
    if digest.course.questions:
        digest.course.questions = end_call(digest.course.questions, call_id)
        _show_question(digest)


def _show_question(digest: Digest) -> None:
    oldest = next(iter(digest.course.questions.values()), None)
    digest.asked, digest.asked_ms = ("", None) if oldest is None else (oldest.words, oldest.at_ms)


APPLIERS: dict[type[Event], Applier] = {
    ToolStarted: tool_started,
    ToolEnded: tool_ended,
    Permission: permission,
    Plan: plan,
}
