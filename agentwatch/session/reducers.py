"""Updates a session: by the events of a line, by the end of its stream, and by what is not kept any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from agentwatch.session.call import (
    FEW_SETTLED,
    Call,
    CallKey,
    Pieces,
    Place,
    bounded,
    bounded_id,
    call_key,
)
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    FormatDetected,
    Limits,
    LineTime,
    Malformed,
    Notice,
    Outcome,
    Oversize,
    Permission,
    Plan,
    Prompt,
    Repair,
    Retry,
    Rewound,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TextRetracted,
    ToolEnded,
    ToolKind,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
)
from agentwatch.session.limits import with_report
from agentwatch.session.rules import asks_user, begins_turn, planned, question_words, repeats_end, retry_words
from agentwatch.session.runs import Run
from agentwatch.session.session import Session, repeated_calls
from agentwatch.session.tool_kind import MOST_COMMAND
from agentwatch.session.transcript import FEW_ENDED, Answer, Kind
from agentwatch.text.amounts import plural

# Applies the events of runs and turns to a session.


def format_detected(session: Session, event: FormatDetected, _place: Place) -> None:
    session.format, session.traits = event.format, event.traits
    session.agent_name = event.agent or event.format


def run_started(session: Session, event: RunStarted, place: Place) -> None:
    close_run(session)
    session.lines.last_text = session.last_error = ""
    if session.limits.is_refused:
        _continues(session)
    session.runs.append(Run.of(event, Answer(session.transcript, session.transcript.spill)))
    session.run.began_seen_ms = place.seen_ms
    if len(session.runs) > 1:
        session.transcript.note(f"run {len(session.runs)}")


def run_info(session: Session, event: RunInfo, place: Place) -> None:
    current_run(session, place).describe(event)
    session.agent_name = bounded(event.agent_name) or session.agent_name
    if event.repeats_history is not None:
        copied = session.copied_calls = repeated_calls(session)
        if session.repeats_history:
            session.copied_outcomes, session.run.copied_turns = +session.ended_by_outcome, session.run.turns
        session.repeats_history = event.repeats_history and copied == len(session.calls)


def turn_started(session: Session, event: TurnStarted, place: Place) -> None:
    _begin_turn(session, place, is_prompted=event.is_prompted)
    session.last_error = ""


def prompt(session: Session, event: Prompt, place: Place) -> None:
    """Add a prompt. It begins a turn, unless the present turn still has no prompt."""
    run = current_run(session, place)
    if event.parent_call is not None:
        session.transcript.add(Kind.PROMPT, event.text, parent=parent_of(session, event.parent_call))
        return
    if begins_turn(event, awaits_prompt=run.awaits_prompt):
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
    run = current_run(session, place)
    if session.uses is None:
        run.usage_counts.add(event)
        return
    session.uses.model = run.model
    session.uses.count(run.usage_counts, event, place.seen_ms)


def turn_ended(session: Session, event: TurnEnded, place: Place) -> None:
    """End the current run, unless another turn follows. A second end of a turn may only add its duration."""
    is_bare = not session.runs
    run = current_run(session, place)
    last = run.turn_result
    if last is not None and repeats_end(event, last.outcome):
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


def _begin_turn(session: Session, place: Place, *, is_prompted: bool = True) -> None:
    run = current_run(session, place)
    session.continued_turns += run.is_over
    if session.limits.is_refused:
        _continues(session)
    run.begin_turn(len(session.transcript), place.seen_ms, is_prompted=is_prompted)


def _continues(session: Session) -> None:
    session.limits = session.limits._replace(is_refused=False)


def settle(session: Session, call: Call) -> None:
    session.ended_calls.append(call)
    session.calls.settle(call)


def parent_of(session: Session, parent_call: str) -> int:
    """Return the number of the call whose subagent is meant; 0 if the recording does not contain it. A format
    with subagents gives its calls no session_id: a subagent may have a session of its own."""
    call = session.calls.find(len(session.runs), None, bounded_id(parent_call))
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
    session.questions.clear()
    session.retry = session.compacting = None


# Applies the events of tool calls, of permissions and of the to-do list to a session.

_EXECUTE = ToolKind.EXECUTE  # Python 3.11 takes 50 ns to find a member in its enumeration
_MOST_OUTPUT = 4096
_MOST_PATHS = 100


def tool_started(session: Session, event: ToolStarted, place: Place) -> None:
    if event.kind is _EXECUTE:
        session.has_commands = True
    if not session.runs:
        current_run(session, place)
    session.retry = None
    if session.limits.is_refused:
        _continues(session)
    key = call_key(len(session.runs), event)
    call = session.calls.find(*key)
    is_new = call is None
    if call is None:
        call = _add_call(session, key, event)
        session.open_calls[key] = session.unended[key] = call
    if call.started is None:
        if call.ended is not None:
            session.calls.changes_late(call, place.offset)
        call.started, call.started_ms, call.limit_ms = place, event.at_ms, event.limit_ms
        _describe(call, event)
        if not is_new:
            session.calls.changed(call)
    elif event.is_update and call.ended is None:
        call.described, call.kind = place, event.kind
        call.tool, call.phrase = bounded(event.tool) or "", bounded(event.phrase) or ""
        call.limit_ms = call.limit_ms if event.limit_ms is None else event.limit_ms
        _describe(call, event)
        session.calls.changed(call)


def tool_progress(session: Session, event: ToolProgress, _place: Place) -> None:
    call = session.open_calls.get(call_key(len(session.runs), event))
    if call is not None and event.output is not None:
        before = "" if event.is_whole else call.output or ""
        call.output = (before + event.output[-_MOST_OUTPUT:])[-_MOST_OUTPUT:]


def tool_ended(session: Session, event: ToolEnded, place: Place) -> None:
    """End a call. One whose start is not in the recording is added."""
    if event.kind is _EXECUTE:
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
    session.questions.call_ended(key[2])
    if call.ended is not None:
        if event.corrects is call.outcome:
            _correct(session, call, event, place)
        return
    _end(call, event, place)
    settle(session, call)
    session.ended_by_outcome[call.outcome] += 1


def plan(session: Session, event: Plan, _place: Place) -> None:
    session.plan = planned(session.plan, event)


def permission(session: Session, event: Permission, place: Place) -> None:
    if not event.is_automatic:
        current_run(session, place).name()
    session.questions.update(event, place, len(session.runs), len(session.ended_calls))
    if event.answer is not None:
        reason = f": {event.reason}" if event.reason else ""
        session.transcript.note(f"{event.subject} {event.answer}{reason}")
    elif asks_user(event):
        session.transcript.note(f"asks: {question_words(event)}")


def _correct(session: Session, call: Call, event: ToolEnded, place: Place) -> None:
    session.calls.changes_late(call, place.offset, is_correction=True)
    session.ended_by_outcome[call.outcome] -= 1
    session.ended_by_outcome[event.outcome] += 1
    call.outcome, call.note = event.outcome, None
    call.error = None if event.error is None else bounded(event.error)
    session.calls.changed(call)


def _end(call: Call, event: ToolEnded, place: Place) -> None:
    """Apply the line that ends a call. Details that only the first line contains are kept."""
    call.ended, call.ended_ms, call.output = place, event.at_ms, None
    call.started_ms = call.started_ms if event.started_ms is None else event.started_ms
    call.measured_ms = event.duration_ms
    call.outcome, call.exit_code = event.outcome, event.exit_code
    if event.phrase != call.phrase:
        call.phrase = bounded(event.phrase) or ""
    call.error = None if event.error is None else bounded(event.error)
    call.note = None if event.note is None else bounded(event.note)
    call.is_new_file, call.has_result = event.is_new_file, event.has_result
    call.lines_added, call.lines_removed = event.lines_added, event.lines_removed
    if event.has_arguments or call.started is None:
        _describe(call, event)


def _describe(call: Call, event: ToolStarted | ToolEnded) -> None:
    target, path, group = event.target, event.path, event.group
    if target is not None and target != call.target:
        is_command = event.kind is _EXECUTE or call.kind is _EXECUTE
        call.target = bounded(target, MOST_COMMAND) if is_command else bounded(target)
    if path is not None and path != call.path:
        call.path = bounded(path)
    if group is not None and group != call.group:
        call.group = bounded_id(group)
    if event.more_paths:
        call.more_paths = tuple(bounded(path) or "" for path in event.more_paths[:_MOST_PATHS])


def _add_call(session: Session, key: CallKey, event: ToolStarted | ToolEnded) -> Call:
    number, (run, session_id, call_id) = len(session.calls) + 1, key
    parent_call, parent = event.parent_call, None
    if parent_call is not None:
        parent_call, parent = bounded_id(parent_call), parent_of(session, parent_call)
    call = Call(number, run, call_id, bounded(event.tool) or "", bounded(event.phrase) or "")
    call.kind, call.parent_call, call.parent = event.kind, parent_call, parent
    session.calls.add(call, session_id)
    session.transcript.add_call(number, parent)
    if session.runs[-1].named_as is None:
        session.runs[-1].name()
    return call


# Applies notices, retries, compactions, and lines that could not be understood to a session.


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
    session.compacting = None if event.is_over else (event, place)
    if event.is_over:
        counts = (event.tokens_before, event.tokens_after)
        sizes = " → ".join(f"{count:,}" for count in counts if count is not None)
        session.transcript.note(f"context compacted: {sizes} tokens" if sizes else "context compacted")


def limits(session: Session, event: Limits, place: Place) -> None:
    session.limits = with_report(session.limits, event, place.seen_ms)


def unknown(session: Session, event: Unknown, _place: Place) -> None:
    session.notices.unknown(f"unknown: {event.what}")


def oversize(session: Session, event: Oversize, _place: Place) -> None:
    session.lines.oversize += 1
    session.transcript.note(f"line of {event.size:,} bytes: only its start and end were read")


def malformed(session: Session, event: Malformed, _place: Place) -> None:
    session.notices.malformed(f"not an event ({event.reason}): {event.text}")


# Applies the events of the model's texts to a session.

_ANSWER = Channel.ANSWER


def text(session: Session, event: Text, place: Place) -> None:
    """Append a text to the transcript, and to the answer of the run if the main agent wrote it."""
    run = current_run(session, place)
    session.retry = None
    if session.only_counts:
        return
    parent = None if event.parent_call is None else parent_of(session, event.parent_call)
    entry = session.transcript.add_text(event.channel, event.text, event.at_ms, parent)
    if entry is None:
        return
    if event.until_ms is not None:
        entry.ended_ms = event.until_ms
    if event.channel is _ANSWER and event.parent_call is None:
        run.answer.add(entry)


def text_ended(session: Session, event: TextEnded, _place: Place) -> None:
    parent = None if event.parent_call is None else parent_of(session, event.parent_call)
    session.transcript.end_text(event.channel, event.at_ms, parent)


def text_retracted(session: Session, event: TextRetracted, place: Place) -> None:
    session.transcript.end_text(Channel.ANSWER, None)
    current_run(session, place).answer.retract(event.characters)
    session.transcript.note("the agent replaced the text above")


_APPLIERS: dict[type[Event], Applier] = {
    Text: text,
    TextEnded: text_ended,
    TextRetracted: text_retracted,
    ToolStarted: tool_started,
    ToolProgress: tool_progress,
    ToolEnded: tool_ended,
    Plan: plan,
    Permission: permission,
    FormatDetected: format_detected,
    LineTime: lambda *_: None,  # the feed replaces the arrival time
    RunStarted: run_started,
    RunInfo: run_info,
    TurnStarted: turn_started,
    Prompt: prompt,
    Rewound: rewound,
    Usage: usage,
    TurnEnded: turn_ended,
    Notice: notice,
    Retry: retry,
    Compaction: compaction,
    Limits: limits,
    Unknown: unknown,
    Oversize: oversize,
    Repair: lambda *_: None,  # `apply_line` counts repaired lines itself
    Malformed: malformed,
}
"""The function for each type of event. A match statement would try up to 22 types in turn."""
_COUNTED = frozenset((Malformed, Unknown, Repair))


def apply_line(
    session: Session,
    events: Sequence[Event],
    place: Place,
    physical_lines: int = 1,
    pieces: Pieces | None = None,
) -> None:
    """Apply the events of one line to a session. `events` is empty for a line that is understood and reports
    nothing new. `physical_lines` of the recording were joined to this one. `pieces` are the times of the
    lines, if several short ones were decoded at once."""
    session.transcript.line_offset = place.offset
    odd: Malformed | Unknown | None = None
    is_repaired = False
    for event in events:
        kind = type(event)
        _APPLIERS[kind](session, event, place)
        if kind in _COUNTED:
            if isinstance(event, Repair):
                is_repaired = True
            else:
                assert isinstance(event, Malformed | Unknown)
                odd = event
    if place.seen_ms is not None:
        if session.first_seen_ms is None:
            session.first_seen_ms = place.seen_ms if pieces is None else pieces.first_ms
        session.last_seen_ms = place.seen_ms
        if session.only_counts:
            pass
        elif pieces is None:
            session.rhythm.update(session.phase, place.seen_ms)
        else:
            session.rhythm.update_by_pieces(session.phase, pieces, place.seen_ms)
    if odd is None:
        session.lines.events += physical_lines
        if is_repaired:
            session.lines.repaired += 1
    else:
        session.lines.count_odd(odd, place, physical_lines)


def close_session(session: Session) -> None:
    close_run(session)
    session.is_closed = True


def keep_few(session: Session) -> None:
    """Keep fewer calls and texts in memory than a summary needs: 8 MB less, and 5 µs more per call."""
    session.calls.most_settled, session.transcript.most_ended = FEW_SETTLED, FEW_ENDED


def forget_texts(session: Session) -> None:
    """Drop all text except the last entry. Outputs that print only calls do not need it."""
    session.transcript.forget()
    for run in session.runs[session.forgotten_runs :]:
        run.answer.clear()
    session.forgotten_runs = max(len(session.runs) - 1, 0)


if TYPE_CHECKING:
    Applier = Callable[[Session, Any, Place], None]
