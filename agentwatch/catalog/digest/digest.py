"""What is known about a session in a list: a digest of about 2 KB, which its newest lines update.

A list shows it, and the state of the session is judged by it. A session treats the events alike.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import Any, NamedTuple

from agentwatch.agents.registry import known_name
from agentwatch.session.call import bounded
from agentwatch.session.counts import UsageCounts, Uses, usually_under
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    FormatDetected,
    Limits,
    LineTime,
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
    Tokens,
    ToolEnded,
    ToolKind,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Usage,
    agent_ms,
)
from agentwatch.session.limits import NO_LIMITS, KnownLimits, with_report
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
    span_ms,
)
from agentwatch.text.amounts import one_line


class Turn(Enum):
    """Whether the agent works on a prompt, judged by the lines of the session alone."""

    NONE = "none"
    OPEN = "open"
    ENDED = "ended"


class LastTests(NamedTuple):
    """The newest verdict of tests among the lines that were read."""

    is_red: bool
    """Whether a test failed; otherwise all passed."""
    passed: int
    failed: int
    """How many tests failed or had an error. Both numbers are 0 if the tool does not count."""
    is_stale: bool = False

    @property
    def state(self) -> str:
        """`red`, `green`, `changed since`: the words of the summary."""
        return "red" if self.is_red else "changed since" if self.is_stale else "green"


class OpenCall(NamedTuple):
    call_id: str
    tool: str
    kind: ToolKind
    target: str
    """A command or a path, in one line."""
    started_ms: int | None
    parent_call: str | None = None
    """It is None for the main agent."""
    limit_ms: int | None = None
    asks: bool = False
    """Whether the call itself is a question to the user: it runs until the user answers."""
    command: str = ""
    """The command of which `target` is one line, at most 240 characters; empty if `target` is all of it."""


# Limits for the texts of a digest, in characters: a list has thousands of digests.

MOST_NAME = 100
MOST_LINE = 240
MOST_TEXT = 400
MOST_PATH = 1000
MOST_ACTIVITY = 200
"""A tool and what its call acts on. A row shows no more."""
_LOOKED_AT = 1000


def line(words: str | None) -> str:
    """Return at most 240 characters of a text, without the blanks around it."""
    return (words or "")[:_LOOKED_AT].strip()[:MOST_LINE]


# What the digest of a session needs to remember so that later lines can update it.

_MOST_PAUSES = 32
_LEAST_PAUSES = 10


class Question(NamedTuple):
    words: str
    call_id: str | None
    at_ms: int | None
    until_ms: int | None = None
    """When the agent answers it by itself."""


class Pauses:
    """The longest silence of the model in each stay, in ms: from a prompt or a call's end to the next."""

    __slots__ = ("_longest_ms", "_newest", "usual_ms")

    def __init__(self) -> None:
        self._newest = array("q")
        self._longest_ms = 0
        self.usual_ms: int | None = None
        """90 % of the newest silences are not longer; None before there are ten."""

    def add(self, silence_ms: int) -> None:
        self._longest_ms = max(self._longest_ms, silence_ms)

    def drop(self) -> None:
        """Drop the present stay: nobody knows whether the model was at work."""
        self._longest_ms = 0

    def end(self) -> None:
        if not self._longest_ms:
            return
        self._newest.append(min(self._longest_ms, 1 << 62))
        del self._newest[:-_MOST_PAUSES]
        self._longest_ms = 0
        if len(self._newest) >= _LEAST_PAUSES:
            self.usual_ms = usually_under(self._newest)


@dataclass(slots=True)
class Course:
    has_ended: dict[int, bool] = field(default_factory=dict)
    """Whether a call has ended that is not open any more, by the hash of its id. A resume may write all of
    the session again, so none is dropped: 88 bytes each."""
    questions: dict[str, Question] = field(default_factory=dict)
    """The open questions by key, the oldest first."""
    plan: dict[int, PlanStatus] = field(default_factory=dict)
    """The to-do list by the hashes of its texts."""
    last_error: str = ""
    """The last error in this turn: it may be why the turn ends."""
    awaits_prompt: bool = False
    is_text_open: bool = False
    repeats_history: bool = False
    """Whether the present lines are a copy of another session's history."""
    run_turns: int = 0
    """The turns of the run, with those of a copied history."""
    has_line_times: bool = False
    """Whether lines have times of their own. A line without one does not count as activity then."""
    nth_retry: int = 0
    """The number of the newest retry, counted from 1; 0 if it is not known."""
    ends_in_title: bool = False
    """Whether the last line has no time, and only describes the session."""
    tests_key: int | None = None
    """The hash of the command that ran the newest tests."""
    pauses: Pauses = field(default_factory=Pauses)

    def settle(self, call_id: str, *, has_ended: bool) -> None:
        """Remember a call that is not open any more."""
        self.has_ended[hash(call_id)] = has_ended


_COVERED = 0.9


@dataclass(slots=True)
class Digest:
    format: str = ""
    agent: str = ""
    session_id: str = ""
    is_whole: bool = False
    """Whether every line of the session was applied; otherwise the counts cover only the last lines."""
    title: str = ""
    is_users_title: bool = False
    first_prompt: str = ""
    last_prompt: str = ""
    last_text: str = ""
    """The end of the last answer."""
    model: str = ""
    cwd: str = ""
    branch: str | None = None
    """The Git branch; empty if none is checked out, None if it is unknown."""
    permission_mode: str = ""
    began_ms: int | None = None
    seen_ms: int | None = None
    """The time of the last line, by its own timestamp or else by its arrival."""
    turn: Turn = Turn.NONE
    turn_ms: int | None = None
    """When the turn began, or ended."""
    begun_ms: int | None = None
    """When the newest turn began, also after its end."""
    is_answered: bool = False
    """Whether the model has answered since the prompt or the last result."""
    ended_turns: int = 0
    took_ms: int | None = None
    """The duration of the last turn by its result; None while another one is open."""
    outcome: Outcome | None = None
    reason: str = ""
    calls: int = 0
    failed: int = 0
    rejected: int = 0
    """How many calls a person or a rule refused."""
    cancelled: int = 0
    turns: int = 0
    open_calls: dict[str, OpenCall] = field(default_factory=dict)
    """The open calls by call_id, the oldest first; at most 32."""
    question: str = ""
    """What the agent has asked and nobody has answered: `shell npm ci`."""
    question_ms: int | None = None
    question_until_ms: int | None = None
    """When the agent answers by itself; None if it does not."""
    retry: str = ""
    """What the agent waits for: `retry 4 of 10: overloaded`."""
    is_compacting: bool = False
    limits: KnownLimits = NO_LIMITS
    context_used: int | None = None
    context_size: int | None = None
    lines_added: int = 0
    lines_removed: int = 0
    todo: tuple[int, int] | None = None
    """Completed, and all."""
    tests: LastTests | None = None
    doing: str = ""
    usual_pause_ms: int | None = None
    """90 % of the model's longest silences in the newest turns are not longer; None before there are ten."""
    is_one_liner: bool = False
    """Whether another program has started the session for one prompt, by its own lines."""
    usage: UsageCounts = field(default_factory=UsageCounts, repr=False)
    uses: Uses | None = field(default=None, repr=False)
    """What its cost is estimated by; None without a price list."""
    course: Course = field(default_factory=Course, repr=False, compare=False)
    """What later events depend on."""

    def apply(self, events: Sequence[Event], at_ms: int | None = None) -> None:
        """Apply the events of a line; `at_ms`, its arrival, counts if the lines have no own times."""
        if events and type(events[0]) is LineTime:
            at_ms = events[0].at_ms
            self.course.has_line_times, self.course.ends_in_title = True, False
        elif self.course.has_line_times:
            at_ms, self.course.ends_in_title = None, len(events) == 1 and type(events[0]) is RunInfo
        elif at_ms is None:
            at_ms = agent_ms(events)
        was_with_model = self._is_with_model
        if at_ms is not None:
            if was_with_model and self.seen_ms is not None:
                self.course.pauses.add(at_ms - self.seen_ms)
            self.began_ms = at_ms if self.began_ms is None else self.began_ms
            self.seen_ms = at_ms
        for event in events:
            applier = _APPLIERS.get(type(event))
            if applier is not None:
                applier(self, event, at_ms)
        if was_with_model and not self._is_with_model:
            self.course.pauses.end()
            self.usual_pause_ms = self.course.pauses.usual_ms

    def duration_ms(
        self, arrived: tuple[int | None, int | None] = (None, None), below_ms: int = 0
    ) -> int | None:
        """Return how long the session took, as `Session.duration_ms`. If lines were left out, a result that
        covers nine tenths of the time between the first and the last line is taken as that of the only turn.
        `below_ms` is the time of the last line of its subagents."""
        last_ms = None if self.seen_ms is None else max(self.seen_ms, below_ms)
        span = span_ms(*arrived) or span_ms(self.began_ms, last_ms)
        if self.took_ms is None or self.ended_turns > 1:
            return span
        is_only = self.is_whole or self.took_ms >= _COVERED * (span or 0)
        return self.took_ms if is_only else span

    def skip(self) -> None:
        """Note that lines are left out here. What was open before may have ended, and the counts begin."""
        _end_run(self)
        self.is_whole = False
        self.course = Course(has_line_times=self.course.has_line_times)
        self.turn, self.turn_ms, self.outcome, self.reason = Turn.NONE, None, None, ""
        self.took_ms = None
        self.begun_ms, self.is_answered = None, False
        self.calls = self.failed = self.rejected = self.cancelled = self.turns = 0
        self.lines_added = self.lines_removed = 0
        self.usage = UsageCounts()
        self.uses = None if self.uses is None else Uses(by_request=False)
        self.last_prompt = self.last_text = self.doing = ""
        self.todo = self.context_used = self.tests = None

    @property
    def tokens(self) -> Tokens:
        return self.usage.total

    @property
    def _is_with_model(self) -> bool:
        """Return whether the model answers, or has not begun to."""
        return self.turn is Turn.OPEN and not self.open_calls and not self.question


# Applies the events of runs and turns to a digest.


def _format_detected(digest: Digest, event: FormatDetected, _at_ms: int | None) -> None:
    digest.format = event.format[:MOST_NAME]
    digest.agent = (event.agent or event.format)[:MOST_NAME]


def _run_started(digest: Digest, event: RunStarted, _at_ms: int | None) -> None:
    _end_run(digest)
    digest.course.has_ended.clear()
    digest.usage.begin_run()
    if digest.uses is not None:
        digest.uses.model = None
    digest.course.run_turns = 0
    digest.course.last_error = ""
    digest.course.awaits_prompt = digest.course.is_text_open = False
    digest.turn, digest.turn_ms, digest.outcome, digest.reason = Turn.NONE, None, None, ""
    digest.took_ms = None
    _continues(digest)
    _describe(digest, event)


def _run_info(digest: Digest, event: RunInfo, _at_ms: int | None) -> None:
    """A title of the agent does not replace that of the user."""
    _describe(digest, event)
    digest.agent = known_name(event.agent_name)[:MOST_NAME] if event.agent_name else digest.agent
    digest.branch = digest.branch if event.branch is None else event.branch[:MOST_LINE]
    digest.last_prompt = line(event.last_prompt) or digest.last_prompt
    digest.is_one_liner = digest.is_one_liner or event.is_one_liner
    if event.repeats_history is not None:
        digest.course.repeats_history = event.repeats_history and not digest.calls
    title = line(event.title)
    if title and replaces_title(event, is_users_title=digest.is_users_title):
        digest.title, digest.is_users_title = title, event.is_users_title


def _turn_started(digest: Digest, event: TurnStarted, at_ms: int | None) -> None:
    """The turn continues a run that had ended."""
    _begin_turn(digest, at_ms, is_prompted=event.is_prompted)
    digest.course.awaits_prompt = event.is_prompted
    digest.course.last_error = ""


def _prompt(digest: Digest, event: Prompt, at_ms: int | None) -> None:
    """A prompt begins a turn, unless the present turn still has no prompt."""
    if event.parent_call is not None:
        return
    if begins_turn(event, awaits_prompt=digest.course.awaits_prompt):
        _begin_turn(digest, at_ms)
    digest.course.awaits_prompt = False
    digest.last_prompt = line(event.text)
    digest.first_prompt = digest.first_prompt or digest.last_prompt


def _rewound(digest: Digest, event: Rewound, _at_ms: int | None) -> None:
    """The calls of the last turns were made, and stay."""
    turns = max(min(event.turns, digest.course.run_turns), 0)
    digest.course.run_turns -= turns
    digest.turns = max(digest.turns - turns, 0)


def _usage(digest: Digest, event: Usage, at_ms: int | None) -> None:
    """The tokens of a request come with its answer."""
    digest.is_answered = True
    if digest.uses is None:
        digest.usage.add(event)
    else:
        digest.uses.count(digest.usage, event, at_ms)
    tokens = event.tokens
    digest.context_used = digest.context_used if tokens.context_used is None else tokens.context_used
    digest.context_size = digest.context_size if tokens.context_size is None else tokens.context_size


def _turn_ended(digest: Digest, event: TurnEnded, at_ms: int | None) -> None:
    """A second end may only add its duration."""
    if repeats_end(event, digest.outcome if digest.turn is Turn.ENDED else None):
        digest.took_ms = event.duration_ms
        return
    _end_run(digest)
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


def _end_run(digest: Digest) -> None:
    for call_id in digest.open_calls:
        digest.course.settle(call_id, has_ended=False)
    digest.open_calls.clear()
    digest.course.questions.clear()
    digest.question, digest.question_ms, digest.question_until_ms = "", None, None
    digest.retry, digest.is_compacting = "", False


def _goes_on(digest: Digest, at_ms: int | None) -> None:
    """Note that the agent is at work, although no line has said that a turn began."""
    if digest.turn is Turn.NONE:
        digest.turn, digest.turn_ms = Turn.OPEN, at_ms if digest.is_whole else None
        digest.begun_ms = digest.turn_ms


def _begin_turn(digest: Digest, at_ms: int | None, *, is_prompted: bool = True) -> None:
    """Open a turn, or the last one again; it closes no call. A failed turn that is retried began before."""
    if not is_prompted and digest.turn is Turn.ENDED and digest.outcome is Outcome.FAILED:
        at_ms = digest.begun_ms
        digest.ended_turns -= 1
    digest.turn, digest.turn_ms, digest.begun_ms = Turn.OPEN, at_ms, at_ms
    digest.took_ms, digest.is_answered = None, False
    digest.course.run_turns += is_prompted
    digest.turns += is_prompted and not digest.course.repeats_history
    digest.usage.begin_turn()
    digest.course.is_text_open = False
    digest.course.pauses.drop()
    _continues(digest)


def _continues(digest: Digest) -> None:
    """Note that no limit refuses requests any more, because the agent is at work."""
    if digest.limits.is_refused:
        digest.limits = digest.limits._replace(is_refused=False)


def _describe(digest: Digest, event: RunStarted | RunInfo) -> None:
    digest.session_id = (event.session_id or digest.session_id)[:MOST_NAME]
    digest.model = (event.model or digest.model)[:MOST_NAME]
    if digest.uses is not None:
        digest.uses.model = bounded(event.model) or digest.uses.model
    digest.cwd = (event.cwd or digest.cwd)[:MOST_PATH]
    digest.permission_mode = (event.permission_mode or digest.permission_mode)[:MOST_NAME]


# Applies the events of tool calls, of questions and of the to-do list to a digest.

_MOST_OPEN = 32
_MOST_QUESTIONS = 8
_MOST_ENTRIES = 256


def _tool_started(digest: Digest, event: ToolStarted, at_ms: int | None) -> None:
    _goes_on(digest, at_ms)
    _continues(digest)
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
    if not target:
        return call
    if call.kind is not ToolKind.EXECUTE:
        return call._replace(target=line(target))
    shown = one_line(target, MOST_ACTIVITY - 1 - len(call.tool))
    return call._replace(target=shown, command="" if shown == target else target[:MOST_LINE])


def _tool_ended(digest: Digest, event: ToolEnded, at_ms: int | None) -> None:
    """A call whose start is not among the lines is added."""
    _goes_on(digest, at_ms)
    digest.is_answered = False
    call_id = event.call_id[:MOST_LINE]
    is_open = digest.open_calls.pop(call_id, None) is not None
    if digest.course.questions:  # those about the call need no answer any more
        digest.course.questions = end_call(digest.course.questions, call_id)
        _show_question(digest)
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


def _permission(digest: Digest, event: Permission, at_ms: int | None) -> None:
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


def _plan(digest: Digest, event: Plan, _at_ms: int | None) -> None:
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


def _show_question(digest: Digest) -> None:
    oldest = next(iter(digest.course.questions.values()), None)
    oldest = oldest or Question("", None, None)
    digest.question, digest.question_ms = oldest.words, oldest.at_ms
    digest.question_until_ms = oldest.until_ms


# Applies texts, retries, compactions and errors to a digest.


def _text(digest: Digest, event: Text, at_ms: int | None) -> None:
    digest.retry = ""
    if event.parent_call is not None:
        return
    _goes_on(digest, at_ms)
    if event.channel is not Channel.ANSWER:
        digest.course.is_text_open = False
    else:
        before = digest.last_text if digest.course.is_text_open else ""
        digest.last_text = (before + event.text[-MOST_TEXT:])[-MOST_TEXT:]
        digest.course.is_text_open = True


def _text_ended(digest: Digest, event: TextEnded, _at_ms: int | None) -> None:
    if event.parent_call is None and event.channel is Channel.ANSWER:
        digest.course.is_text_open = False


def _text_retracted(digest: Digest, event: TextRetracted, _at_ms: int | None) -> None:
    """What follows replaces it."""
    digest.course.is_text_open = False
    if event.characters > 0:
        digest.last_text = ""


def _notice(digest: Digest, event: Notice, _at_ms: int | None) -> None:
    if event.is_error:
        digest.course.last_error = line(event.message)


def _retry(digest: Digest, event: Retry, _at_ms: int | None) -> None:
    digest.retry = retry_words(event, line(event.message))
    digest.course.nth_retry = event.attempt or 0


def _compaction(digest: Digest, event: Compaction, _at_ms: int | None) -> None:
    digest.is_compacting = not event.is_over


def _limits(digest: Digest, event: Limits, at_ms: int | None) -> None:
    digest.limits = with_report(digest.limits, event, digest.seen_ms if at_ms is None else at_ms)


_APPLIERS: dict[type[Event], Callable[[Digest, Any, int | None], None]] = {
    FormatDetected: _format_detected,
    RunStarted: _run_started,
    RunInfo: _run_info,
    TurnStarted: _turn_started,
    Prompt: _prompt,
    Rewound: _rewound,
    Usage: _usage,
    TurnEnded: _turn_ended,
    ToolStarted: _tool_started,
    ToolEnded: _tool_ended,
    Permission: _permission,
    Plan: _plan,
    Text: _text,
    TextEnded: _text_ended,
    TextRetracted: _text_retracted,
    Notice: _notice,
    Retry: _retry,
    Compaction: _compaction,
    Limits: _limits,
}
"""The other types of events say nothing that a list shows. `Digest.apply` reads the times itself."""
