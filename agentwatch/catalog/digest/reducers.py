"""Functions that apply one event to a digest, by the type of the event. A session treats them alike.

Only `agentwatch.catalog.digest.digest` imports from here.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

from agentwatch.agents.registry import known_name
from agentwatch.catalog.digest.parts import (
    MOST_ACTIVITY,
    MOST_LINE,
    MOST_NAME,
    MOST_PATH,
    MOST_TEXT,
    OpenCall,
    Question,
    Turn,
    line,
)
from agentwatch.session.call import bounded
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    FormatDetected,
    Limits,
    Notice,
    Outcome,
    Permission,
    Plan,
    PlanStatus,
    Prompt,
    Retry,
    Rewound,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TextRetracted,
    ToolEnded,
    ToolKind,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Usage,
)
from agentwatch.session.limits import with_report
from agentwatch.session.rules import (
    DONE_ENTRIES,
    add_question,
    answered_at_ms,
    asks_user,
    begins_turn,
    end_call,
    question_key,
    repeats_end,
    replaces_title,
    retry_words,
)
from agentwatch.text.amounts import one_line

if TYPE_CHECKING:
    from agentwatch.catalog.digest.digest import Digest


if TYPE_CHECKING:
    from agentwatch.catalog.digest.digest import Digest

    Applier = Callable[[Digest, Any, int | None], None]


# Applies the events of runs and turns to a digest.


def format_detected(digest: Digest, event: FormatDetected, _at_ms: int | None) -> None:
    """Set the format and the agent."""
    digest.format = event.format[:MOST_NAME]
    digest.agent = (event.agent or event.format)[:MOST_NAME]


def run_started(digest: Digest, event: RunStarted, _at_ms: int | None) -> None:
    """Begin another run, and end everything of the last one."""
    end_run(digest)
    digest.course.has_ended.clear()
    digest.usage.begin_run()
    if digest.uses is not None:
        digest.uses.model = None
    digest.course.run_turns = 0
    digest.course.last_error = ""
    digest.course.awaits_prompt = digest.course.is_text_open = False
    digest.turn, digest.turn_ms, digest.outcome, digest.reason = Turn.NONE, None, None, ""
    digest.took_ms = None
    continues(digest)
    describe(digest, event)


def run_info(digest: Digest, event: RunInfo, _at_ms: int | None) -> None:
    """Add facts about the run. A title of the agent does not replace that of the user."""
    describe(digest, event)
    digest.agent = known_name(event.agent_name)[:MOST_NAME] if event.agent_name else digest.agent
    digest.branch = digest.branch if event.branch is None else event.branch[:MOST_LINE]
    digest.last_prompt = line(event.last_prompt) or digest.last_prompt
    digest.is_one_liner = digest.is_one_liner or event.is_one_liner
    if event.repeats_history is not None:
        digest.course.repeats_history = event.repeats_history and not digest.calls
    title = line(event.title)
    if title and replaces_title(event, is_users_title=digest.is_users_title):
        digest.title, digest.is_users_title = title, event.is_users_title


def turn_started(digest: Digest, event: TurnStarted, at_ms: int | None) -> None:
    """Begin a turn, which continues a run that had ended."""
    begin_turn(digest, at_ms, is_prompted=event.is_prompted)
    digest.course.awaits_prompt = event.is_prompted
    digest.course.last_error = ""


def prompt(digest: Digest, event: Prompt, at_ms: int | None) -> None:
    """Keep a prompt. It begins a turn, unless the present turn still has no prompt."""
    if event.parent_call is not None:
        return
    if begins_turn(event, awaits_prompt=digest.course.awaits_prompt):
        begin_turn(digest, at_ms)
    digest.course.awaits_prompt = False
    digest.last_prompt = line(event.text)
    digest.first_prompt = digest.first_prompt or digest.last_prompt


def rewound(digest: Digest, event: Rewound, _at_ms: int | None) -> None:
    """Leave out the last turns of the run. Their calls were made, and stay."""
    turns = max(min(event.turns, digest.course.run_turns), 0)
    digest.course.run_turns -= turns
    digest.turns = max(digest.turns - turns, 0)


def usage(digest: Digest, event: Usage, at_ms: int | None) -> None:
    """Count tokens, and keep the size of the context. The tokens of a request come with its answer."""
    digest.is_answered = True
    if digest.uses is None:
        digest.usage.add(event)
    else:
        digest.uses.count(digest.usage, event, at_ms)
    tokens = event.tokens
    digest.context_used = digest.context_used if tokens.context_used is None else tokens.context_used
    digest.context_size = digest.context_size if tokens.context_size is None else tokens.context_size


def turn_ended(digest: Digest, event: TurnEnded, at_ms: int | None) -> None:
    """End the turn. A second end may only add its duration."""
    if repeats_end(event, digest.outcome if digest.turn is Turn.ENDED else None):
        digest.took_ms = event.duration_ms
        return
    end_run(digest)
    digest.ended_turns += digest.turn is not Turn.ENDED
    digest.took_ms = event.duration_ms
    digest.session_id = (digest.session_id or event.session_id or "")[:MOST_NAME]
    digest.turn, digest.turn_ms, digest.outcome = Turn.ENDED, at_ms, event.outcome
    digest.course.awaits_prompt = digest.course.is_text_open = False
    if event.outcome is Outcome.SUCCEEDED:
        digest.reason = ""
        digest.last_text = digest.last_text or (event.result or "")[-MOST_TEXT:].strip()
    else:
        digest.reason = line(event.result) or digest.course.last_error


def end_run(digest: Digest) -> None:
    """End the calls, questions and retries that cannot outlast a turn."""
    for call_id in digest.open_calls:
        digest.course.settle(call_id, has_ended=False)
    digest.open_calls.clear()
    digest.course.questions.clear()
    digest.asked, digest.asked_ms, digest.asked_until_ms = "", None, None
    digest.retry, digest.is_compacting = "", False


def goes_on(digest: Digest, at_ms: int | None) -> None:
    """Note that the agent is at work, although no line has said that a turn began."""
    if digest.turn is Turn.NONE:
        digest.turn, digest.turn_ms = Turn.OPEN, at_ms if digest.is_whole else None
        digest.begun_ms = digest.turn_ms


def begin_turn(digest: Digest, at_ms: int | None, *, is_prompted: bool = True) -> None:
    """Open a turn, or the last one again. It closes no call."""
    digest.turn, digest.turn_ms, digest.begun_ms = Turn.OPEN, at_ms, at_ms
    digest.took_ms, digest.is_answered = None, False
    digest.course.run_turns += is_prompted
    digest.turns += is_prompted and not digest.course.repeats_history
    digest.usage.begin_turn()
    digest.course.is_text_open = False
    digest.course.pauses.drop()
    continues(digest)


def continues(digest: Digest) -> None:
    """Note that no limit refuses requests any more, because the agent is at work."""
    if digest.limits.is_refused:
        digest.limits = digest.limits._replace(is_refused=False)


def describe(digest: Digest, event: RunStarted | RunInfo) -> None:
    """Apply the facts that both kinds of lines have."""
    digest.session_id = (event.session_id or digest.session_id)[:MOST_NAME]
    digest.model = (event.model or digest.model)[:MOST_NAME]
    if digest.uses is not None:
        digest.uses.model = bounded(event.model) or digest.uses.model
    digest.cwd = (event.cwd or digest.cwd)[:MOST_PATH]
    digest.permission_mode = (event.permission_mode or digest.permission_mode)[:MOST_NAME]


RUN_APPLIERS: dict[type[Event], Applier] = {
    FormatDetected: format_detected,
    RunStarted: run_started,
    RunInfo: run_info,
    TurnStarted: turn_started,
    Prompt: prompt,
    Rewound: rewound,
    Usage: usage,
    TurnEnded: turn_ended,
}


# Applies the events of tool calls, of questions and of the to-do list to a digest.

_MOST_OPEN = 32
_MOST_QUESTIONS = 8
_MOST_ENTRIES = 256


def tool_started(digest: Digest, event: ToolStarted, at_ms: int | None) -> None:
    """Add a call, or describe one that is open."""
    goes_on(digest, at_ms)
    continues(digest)
    digest.retry = ""
    digest.course.is_text_open = digest.course.is_text_open and event.parent_call is not None
    call_id = event.call_id[:MOST_LINE]
    known = digest.open_calls.get(call_id)
    if known is not None:
        if event.is_update:
            known = known._replace(tool=event.tool[:MOST_NAME], kind=event.kind)
            digest.open_calls[call_id] = _acting_on(known, event.target)
        return
    if hash(call_id) in digest.course.has_ended:
        return
    digest.calls += not digest.course.repeats_history
    started = OpenCall(
        call_id,
        event.tool[:MOST_NAME],
        event.kind,
        "",
        at_ms if event.at_ms is None else event.at_ms,
        event.parent_call and event.parent_call[:MOST_LINE],
        event.limit_ms,
    )
    digest.open_calls[call_id] = _acting_on(started, event.target)
    if len(digest.open_calls) > _MOST_OPEN:
        oldest = next(iter(digest.open_calls))
        del digest.open_calls[oldest]
        digest.course.settle(oldest, has_ended=False)


def _acting_on(call: OpenCall, target: str | None) -> OpenCall:
    """Return a call that acts on a target; None for what is known."""
    if not target:
        return call
    if call.kind is not ToolKind.EXECUTE:
        return call._replace(target=line(target))
    shown = one_line(target, MOST_ACTIVITY - 1 - len(call.tool))
    return call._replace(target=shown, command="" if shown == target else target[:MOST_LINE])


def tool_ended(digest: Digest, event: ToolEnded, at_ms: int | None) -> None:
    """End a call. One whose start is not among the lines is added."""
    goes_on(digest, at_ms)
    digest.is_answered = False
    call_id = event.call_id[:MOST_LINE]
    is_open = digest.open_calls.pop(call_id, None) is not None
    _call_ended(digest, call_id)
    has_ended = None if is_open else digest.course.has_ended.get(hash(call_id))
    if has_ended:
        if event.corrects is not None:
            _count(digest, event.corrects, -1)
            _count(digest, event.outcome, 1)
        return
    digest.course.settle(call_id, has_ended=True)
    if digest.course.repeats_history:
        return
    digest.calls += not is_open and has_ended is None
    _count(digest, event.outcome, 1)
    digest.lines_added += event.lines_added or 0
    digest.lines_removed += event.lines_removed or 0


def _count(digest: Digest, outcome: Outcome, calls: int) -> None:
    digest.failed += calls * (outcome is Outcome.FAILED)
    digest.rejected += calls * (outcome is Outcome.REJECTED)
    digest.cancelled += calls * (outcome is Outcome.CANCELLED)


def permission(digest: Digest, event: Permission, at_ms: int | None) -> None:
    """Keep a question until it is answered. Automatic ones are ignored."""
    key = question_key(event)[:MOST_LINE]
    call_id = event.call_id and event.call_id[:MOST_LINE]
    questions = digest.course.questions
    if event.answer is not None:
        questions.pop(key, None)
    elif asks_user(event):
        subject = event.subject[:MOST_NAME]
        words = f"{subject} {one_line(event.target or '', MOST_ACTIVITY - 1 - len(subject))}".strip()
        asked_ms = at_ms if event.at_ms is None else event.at_ms
        asked = Question(words, call_id, asked_ms, answered_at_ms(event, asked_ms))
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
    oldest = oldest or Question("", None, None)
    digest.asked, digest.asked_ms, digest.asked_until_ms = oldest.words, oldest.at_ms, oldest.until_ms


CALL_APPLIERS: dict[type[Event], Applier] = {
    ToolStarted: tool_started,
    ToolEnded: tool_ended,
    Permission: permission,
    Plan: plan,
}


# Applies texts, retries, compactions and errors to a digest.


def text(digest: Digest, event: Text, at_ms: int | None) -> None:
    """Keep the end of the main agent's answer."""
    digest.retry = ""
    if event.parent_call is not None:
        return
    goes_on(digest, at_ms)
    if event.channel is not Channel.ANSWER:
        digest.course.is_text_open = False
    else:
        before = digest.last_text if digest.course.is_text_open else ""
        digest.last_text = (before + event.text[-MOST_TEXT:])[-MOST_TEXT:]
        digest.course.is_text_open = True


def text_ended(digest: Digest, event: TextEnded, _at_ms: int | None) -> None:
    """Close the open text of the answer."""
    if event.parent_call is None and event.channel is Channel.ANSWER:
        digest.course.is_text_open = False


def text_retracted(digest: Digest, event: TextRetracted, _at_ms: int | None) -> None:
    """Remove the last text of the answer: what follows replaces it."""
    digest.course.is_text_open = False
    if event.characters > 0:
        digest.last_text = ""


def notice(digest: Digest, event: Notice, _at_ms: int | None) -> None:
    """Keep the last error: it may be why the turn ends."""
    if event.is_error:
        digest.course.last_error = line(event.message)


def retry(digest: Digest, event: Retry, _at_ms: int | None) -> None:
    """Note that the agent tries again. It does so until the next text, call or result."""
    digest.retry = retry_words(event, line(event.message))


def compaction(digest: Digest, event: Compaction, _at_ms: int | None) -> None:
    """Note that the conversation is being shortened, or was."""
    digest.is_compacting = not event.is_over


def limits(digest: Digest, event: Limits, at_ms: int | None) -> None:
    """Keep how full the windows of the usage limit are, and whether a request was refused."""
    digest.limits = with_report(digest.limits, event, digest.seen_ms if at_ms is None else at_ms)


TEXT_APPLIERS: dict[type[Event], Applier] = {
    Text: text,
    TextEnded: text_ended,
    TextRetracted: text_retracted,
    Notice: notice,
    Retry: retry,
    Compaction: compaction,
    Limits: limits,
}
