"""Decodes Claude Code's `--output-format stream-json`, and the same grammar of other agents. The format is
taken from captures of Claude Code 2.0 to 2.1, Qwen Code 0.15 and Amp, and from the vendor's published types.
The documentation omits these facts: an init line starts each turn; lines of hooks come before it; a message
comes as one line per block; a full block repeats its deltas; a turn that failed may say `success`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from agentwatch.agents.agent import Agent
from agentwatch.agents.claude.calls import (
    CLAUDE_CODE,
    INTERRUPTED,
    Calls,
    Dialect,
    Requests,
    kept_for_an_hour,
    limits_in,
    model_in,
)
from agentwatch.agents.delta_frames import SegmentText
from agentwatch.agents.fields import (
    MOST_ID,
    NO_FIELDS,
    Fields,
    Salvaged,
    cost,
    in_words,
    items,
    mapping,
    number,
    scalars,
    text,
)
from agentwatch.agents.tool import remember, said
from agentwatch.session.counts import added
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    FormatDetected,
    Notice,
    Outcome,
    Permission,
    Prompt,
    Retry,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TextRetracted,
    Tokens,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)

# Incidents: hooks, background tasks, rate limits, retries and compactions.

_SILENT_SUBTYPES = frozenset(
    (
        *("thinking_tokens", "hook_started", "hook_progress", "task_progress", "session_state_changed"),
        *("background_tasks_changed", "commands_changed", "files_persisted", "elicitation_complete"),
        *("plugin_install", "mirror_error", "memory_recall", "bridge_state", "post_turn_summary"),
        *("turn_duration", "microcompact_boundary", "local_command", "stop_hook_summary"),
        *("away_summary", "files_changed", "requesting", "worker_shutting_down"),
    )
)
"""Subtypes that report nothing that a user needs to know."""
_ENDS = frozenset(("completed", "failed", "stopped", "killed", "cancelled"))
_BAD_ENDS = frozenset(("failed", "killed"))
_MOST_TASKS = 256
_MOST_WORDS = 300
_MOST_DELAY = 1e12


class _Task(NamedTuple):
    words: str
    call_id: str | None


class Incidents:
    """Reads `system` lines other than init, and keeps the background tasks that are open; at most 256."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._tasks: dict[str, _Task] = {}

    def system(self, fields: Fields) -> list[Event]:
        subtype = text(fields, "subtype")
        if subtype in _SILENT_SUBTYPES:
            return []
        match subtype:
            case "hook_response":
                return _hook(fields)
            case "task_started":
                return self._task_started(fields)
            case "task_updated":
                return self._task_ended(fields, mapping(fields.get("patch")))
            case "task_notification":
                return self._task_ended(fields, fields)
            case "status":
                return _status(fields)
            case "compact_boundary":
                return _compacted(mapping(fields.get("compact_metadata")))
            case "api_retry":
                return [_retry(fields)]
            case "informational" | "notification" | "local_command_output" | "model_refusal_fallback":
                return _notice(fields)
        return [Unknown(f"type system/{in_words(subtype)}")]

    def _task_started(self, fields: Fields) -> list[Event]:
        task = _Task(_short(fields, "description"), text(fields, "tool_use_id"))
        remember(self._tasks, _key(fields), task, _MOST_TASKS)
        return []

    def _task_ended(self, fields: Fields, state: Fields) -> list[Event]:
        """Return a notice if a task ends after its call: the call's own end says nothing about it."""
        status = text(state, "status")
        if status not in _ENDS or (task := self._tasks.pop(_key(fields), None)) is None:
            return []
        if self._calls.is_open(task.call_id):
            return []
        words = f"background task {status}: {task.words or _short(fields, 'summary')}"
        return [Notice(words, is_error=status in _BAD_ENDS)]


def _key(fields: Fields) -> str:
    return (text(fields, "task_id") or "")[:_MOST_WORDS]


def _short(fields: Fields, key: str) -> str:
    return (text(fields, key) or "")[:_MOST_WORDS]


def _hook(fields: Fields) -> list[Event]:
    exit_code, outcome = number(fields, "exit_code"), text(fields, "outcome")
    if not exit_code and outcome in (None, "success"):
        return []
    output = _short(fields, "stderr").strip() or _short(fields, "output").strip()
    how = f"exit {exit_code}" if exit_code else outcome
    return [Notice(f"hook {_short(fields, 'hook_name')} failed: {how}{': ' if output else ''}{output}")]


def _status(fields: Fields) -> list[Event]:
    """Read a change of the agent's own status. The end of a compaction has a line of its own."""
    if fields.get("status") == "compacting":
        return [Compaction(is_over=False)]
    result = text(fields, "compact_result")
    if result in (None, "success"):
        return []
    reason = text(fields, "compact_error") or result
    return [Notice(f"compaction failed: {reason}")]


def _compacted(metadata: Fields) -> list[Event]:
    after = number(metadata, "post_tokens")
    ended = Compaction(True, text(metadata, "trigger"), number(metadata, "pre_tokens"), after)
    return [ended] if after is None else [ended, Usage(Tokens(context_used=after), UsageScope.REQUEST)]


def _retry(fields: Fields) -> Retry:
    delay = fields.get("retry_delay_ms")
    error, status = fields.get("error"), number(fields, "error_status")
    words = text(mapping(error), "message") or (error if isinstance(error, str) else "")
    shown = " ".join(filter(None, (words, "" if status is None else f"({status})")))
    return Retry(
        shown,
        number(fields, "attempt"),
        number(fields, "max_retries"),
        round(delay) if isinstance(delay, int | float) and 0 <= delay < _MOST_DELAY else None,
    )


def _notice(fields: Fields) -> list[Event]:
    words = text(fields, "content") or text(fields, "message") or text(fields, "text")
    return [Notice(words)] if words else []


def rate_limit(fields: Fields) -> list[Event]:
    info = mapping(fields.get("rate_limit_info")) or NO_FIELDS
    status, limits = text(info, "status"), limits_in(info)
    if status == "allowed":
        return [*limits]
    kind = (text(info, "rateLimitType") or "").replace("_", " ")
    used = info.get("utilization")
    is_number = isinstance(used, float | int) and not isinstance(used, bool) and 0 <= used <= 1
    share = f"{used:.0%} used" if is_number else ""
    words = ("rate limit", kind, (status or "").replace("_", " "), share)
    return [*limits, Notice(" ".join(filter(None, words)), is_error=status == "rejected")]


def authentication(fields: Fields) -> list[Event]:
    error = text(fields, "error")
    return [Notice(f"authentication failed: {error}", is_error=True)] if error else []


# Questions for permission in a stream with the control protocol, and their answers.

_MAX_OPEN = 64
_MOST_TARGET = 10_000
_ANSWERS = {"allow": "allowed", "deny": "denied"}


class _Asked(NamedTuple):
    subject: str
    call_id: str | None


class Permissions:
    """The open questions, by the id of their request; at most 64."""

    def __init__(self) -> None:
        self._asked: dict[str, _Asked] = {}

    def ask(self, fields: Fields, calls: Calls) -> list[Permission]:
        request, key = mapping(fields.get("request")), text(fields, "request_id")
        if request.get("subtype") != "can_use_tool" or key is None or len(key) > MOST_ID:
            return []
        subject = (text(request, "tool_name") or "tool")[:MOST_ID]
        target, _ = calls.described(subject, mapping(request.get("input")))
        call_id = text(request, "tool_use_id")
        remember(self._asked, key, _Asked(subject, call_id and call_id[:MOST_ID]), _MAX_OPEN)
        reason = text(request, "decision_reason")
        shown = target and target[:_MOST_TARGET]
        return [Permission(subject, None, reason, key=key, call_id=call_id, target=shown)]

    def answer(self, fields: Fields, calls: Calls) -> list[Permission]:
        response = mapping(fields.get("response"))
        key = text(response, "request_id") or text(fields, "request_id") or ""
        asked = self._asked.pop(key, None)
        if asked is None:
            return []
        if fields.get("type") == "control_cancel_request":
            return [Permission(asked.subject, "withdrawn", key=key, call_id=asked.call_id)]
        body = mapping(response.get("response"))
        behavior = text(body, "behavior")
        if behavior == "deny":
            calls.deny(asked.call_id)
        answer = _ANSWERS.get(behavior or "", "answered")
        return [Permission(asked.subject, answer, text(body, "message"), key=key, call_id=asked.call_id)]

    def clear(self) -> None:
        self._asked.clear()


def denials_in(fields: Fields) -> dict[str | None, str | None]:
    """Return why calls did not run, or did not end, by their ids. Versions from 2.1.216 say it."""
    metas = map(mapping, items(fields.get("tool_result_meta")))
    return {text(meta, "id"): text(meta, "non_execution_kind") for meta in metas}


def denied(fields: Fields) -> Permission:
    """Read a `permission_denied` line, or one of the `permission_denials` of a result."""
    reason = text(fields, "message") or text(fields, "decision_reason")
    subject = text(fields, "tool_name") or "tool"
    return Permission(subject, "denied", reason, call_id=text(fields, "tool_use_id"), is_automatic=True)


# The text and the reasoning of the main agent: deltas, and the full blocks that repeat them.
# With `--include-partial-messages` each block comes as deltas, and then as a full block. Claude Code writes
# the full block before the `content_block_stop` of its deltas, Qwen Code after it and with another message
# id. The deltas of a subagent are not decoded: several subagents may write at once, and the full block
# follows.

_KEYS = (("text", Channel.ANSWER), ("thinking", Channel.REASONING))
_MOST_TIME = 40
"""The most characters of a time. One in ISO form has 24."""
_FIRST_YEAR = 1970
_MOST_LINES = 256
"""The number of messages of a turn that can be retracted; a refusal retracts the last ones."""


class MainText:
    """Distinguishes new text from text that repeats deltas."""

    def __init__(self) -> None:
        self._segments = {channel: SegmentText() for channel in Channel}
        self._lengths = dict.fromkeys(Channel, 0)
        """The characters of the deltas that no full block has repeated yet."""
        self._written: dict[str, int] = {}
        """The length of the answer in each line of the turn, by the line's uuid; at most 256."""

    def add(self, channel: Channel, new: str) -> list[Event]:
        self._segments[channel].add(new)
        self._lengths[channel] += len(new)
        return [Text(channel, new)]

    def block(self, channel: Channel, full: str, at_ms: int | None, uuid: str | None) -> list[Event]:
        """Return the events of a full block: its text if no deltas came, otherwise the end of their text. An
        answer that differs from its deltas replaces them. Reasoning does not: its full block may be empty."""
        if channel is Channel.ANSWER:
            self._write(uuid, len(full))
        length = self._lengths[channel]
        if not length:
            return [Text(channel, full, at_ms), TextEnded(channel, at_ms)] if full else []
        is_same = channel is Channel.REASONING or self._segments[channel].is_repeated_by(full)
        self._forget(channel)
        if is_same:
            return [TextEnded(channel, at_ms)]
        lead = TextRetracted(length)
        return [lead, Text(channel, full, at_ms), TextEnded(channel, at_ms)] if full else [lead]

    def message_started(self) -> list[Event]:
        """Begin a message. The answer of one that was broken off is retracted: the agent repeats it."""
        length = self._lengths[Channel.ANSWER]
        for channel in Channel:
            self._forget(channel)
        return [TextRetracted(length)] if length else []

    def retract(self, uuids: object) -> list[Event]:
        """Return the retraction of the lines with these uuids, and of those after them."""
        named = {uuid for uuid in items(uuids) if isinstance(uuid, str)}
        lines = list(self._written)
        first = next((index for index, uuid in enumerate(lines) if uuid in named), len(lines))
        length = sum(self._written.pop(uuid) for uuid in lines[first:])
        return [TextRetracted(length)] if length else []

    def turn_ended(self) -> None:
        self._written.clear()
        for channel in Channel:
            self._forget(channel)

    def _write(self, uuid: str | None, length: int) -> None:
        key = uuid or f"line {len(self._written)}"
        self._written[key[:100]] = self._written.get(key[:100], 0) + length
        if len(self._written) > _MOST_LINES:
            del self._written[next(iter(self._written))]

    def _forget(self, channel: Channel) -> None:
        self._segments[channel].clear()
        self._lengths[channel] = 0


def delta_text(delta: object) -> tuple[Channel, str] | None:
    if type(delta) is not dict:
        return None
    for key, channel in _KEYS:
        found = delta.get(key)
        if type(found) is str and found:
            return channel, found
    return None


def texts_of(lines: list[Fields]) -> tuple[list[tuple[Channel, str]], int]:
    """Return the texts of the main agent in consecutive deltas, those of a channel joined. Also return the
    number of lines up to the first that is neither a delta nor a count of thinking tokens."""
    pieces: list[tuple[Channel, list[str]]] = []
    for count, fields in enumerate(lines):
        kind = fields.get("type")
        if kind == "stream_event":
            event = fields.get("event")
            if type(event) is not dict or event.get("type") != "content_block_delta":
                return _joined(pieces), count
            found = delta_text(event.get("delta"))
            if found is not None and fields.get("parent_tool_use_id") is None:
                channel, words = found
                if not pieces or pieces[-1][0] is not channel:
                    pieces.append((channel, []))
                pieces[-1][1].append(words)
        elif kind != "system" or fields.get("subtype") != "thinking_tokens":
            return _joined(pieces), count
    return _joined(pieces), len(lines)


def _joined(pieces: list[tuple[Channel, list[str]]]) -> list[tuple[Channel, str]]:
    return [(channel, "".join(found)) for channel, found in pieces]


def blocks_of(message: Fields) -> Iterator[Fields]:
    content = message.get("content")
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    else:
        yield from map(mapping, items(content))


def ends_with(block: Fields, ending: str) -> bool:
    """Return whether the type of a block ends with a word: `server_tool_use` is a `tool_use` too."""
    kind = block.get("type")
    return isinstance(kind, str) and kind.endswith(ending)


def line_ms(fields: Fields) -> int | None:
    written = text(fields, "timestamp")
    if written is None or len(written) > _MOST_TIME:
        return None
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    if moment.tzinfo is None or moment.year < _FIRST_YEAR:
        return None
    return round(moment.timestamp() * 1000)


# The lines that start and end a turn, and the token counts in them.

_CACHED, _CACHE_WRITTEN = "cache_read_input_tokens", "cache_creation_input_tokens"
_ABORTED = "aborted"
_NOT_PROMPTS = (
    *("<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<command-name>"),
    *("<task-notification>", "<system-reminder>", "<bash-input>", "<bash-stdout>", "<bash-stderr>"),
)
"""Beginnings of a user's text that the agent wrote itself."""
_REASONS = {
    "error_max_turns": "reached the maximum number of turns",
    "error_max_budget_usd": "reached the maximum budget",
    "error_max_structured_output_retries": "reached the maximum number of retries for structured output",
    "error_during_execution": "error during execution",
}
_DIAGNOSTIC = "[ede_diagnostic]"
"""The beginning of an error that describes the agent's own state."""
_MOST_REASONS = 20


def run_facts(
    fields: Fields,
) -> tuple[str | None, str | None, str | None, str | None, str | None, str | None]:
    return (
        text(fields, "session_id"),
        text(fields, "model"),
        text(fields, "cwd"),
        text(fields, "permissionMode") or text(fields, "permission_mode"),
        text(fields, "apiKeySource"),
        text(fields, "claude_code_version") or text(fields, "qwen_code_version"),
    )


def turn_ended(
    fields: Fields, dialect: Dialect, model: str | None, of_subagents: Tokens, *, is_interrupted: bool
) -> list[Event]:
    """Read a result line. Its `usage` covers the turn, without the requests of subagents. Its cost, and the
    counts by model, cover all turns of the process. Only the context of `model`, the main agent's, counts."""
    outcome = _outcome(fields, dialect, is_interrupted=is_interrupted)
    events: list[Event] = [
        TurnEnded(
            outcome=outcome,
            result=_result(fields, outcome),
            session_id=text(fields, "session_id"),
            duration_ms=number(fields, "duration_ms"),
            duration_api_ms=number(fields, "duration_api_ms"),
            usage=scalars(fields.get("usage")),
        )
    ]
    if usage := mapping(fields.get("usage")):
        turn = added((tokens_in(usage, dialect, with_output=True), of_subagents))
        events.append(Usage(turn, UsageScope.TURN))
    process = Tokens(cost_usd=cost(fields.get("total_cost_usd")), context_size=_context_size(fields, model))
    return [*events, Usage(process, UsageScope.RUN)] if any(part is not None for part in process) else events


def tokens_in(usage: Fields, dialect: Dialect, *, with_output: bool) -> Tokens:
    """Return the tokens of a `usage` object. Without `with_output`, the output is a value of its middle."""
    given, cached = number(usage, "input_tokens"), number(usage, _CACHED)
    written = number(usage, _CACHE_WRITTEN)
    more = 0 if dialect.input_includes_cache else (cached or 0) + (written or 0)
    return Tokens(
        input=None if given is None else given + more,
        cached=cached,
        output=number(usage, "output_tokens") if with_output else None,
        written=written,
        written_1h=kept_for_an_hour(usage),
    )


def is_aborted(fields: Fields) -> bool:
    """Return whether a result line says that the user interrupted the turn."""
    return (text(fields, "terminal_reason") or "").startswith(_ABORTED)


def _outcome(fields: Fields, dialect: Dialect, *, is_interrupted: bool) -> Outcome:
    subtype = text(fields, "subtype") or ""
    if is_aborted(fields) or (is_interrupted and subtype != "success"):
        return Outcome.CANCELLED
    is_error = fields.get("is_error")
    failed = is_error if isinstance(is_error, bool) else subtype != "success"
    says_so = dialect.error_start is not None and (text(fields, "result") or "").startswith(
        dialect.error_start
    )
    return Outcome.FAILED if failed or says_so or subtype.startswith("error") else Outcome.SUCCEEDED


def _result(fields: Fields, outcome: Outcome) -> str | None:
    result = fields.get("result")
    if outcome is Outcome.SUCCEEDED:
        return result if isinstance(result, str) else None
    if isinstance(result, str) and result:
        return result
    if error := text(fields, "error") or text(mapping(fields.get("error")), "message"):
        return error  # Qwen Code writes an object
    errors = items(fields.get("errors"))[:_MOST_REASONS]
    reasons = [error for error in errors if isinstance(error, str) and not error.startswith(_DIAGNOSTIC)]
    if not reasons and outcome is Outcome.CANCELLED:
        return "interrupted"
    subtype = text(fields, "subtype")
    known = None if subtype is None else _REASONS.get(subtype) or in_words(subtype).replace("_", " ")
    return "\n".join(reasons) or known


def _context_size(fields: Fields, model: str | None) -> int | None:
    """Return the size of the main model's context; of the only model, if the main one is unknown."""
    by_model = mapping(fields.get("modelUsage"))
    names = [name for name in by_model if model is not None and name in (model, model.partition("[")[0])]
    if not names and len(by_model) == 1:
        names = list(by_model)
    return number(mapping(by_model[names[0]]), "contextWindow") if names else None


_SILENT_TYPES = frozenset(
    ("tool_progress", "tool_use_summary", "prompt_suggestion", "keep_alive", "conversation_reset")
)
_MOST_MODEL = 200


class ClaudeDecoder:
    """`detect` returns the agent that wrote a line, if the variant is only known to be one of the family."""

    def __init__(self, dialect: Dialect, detect: Callable[[Fields], Agent | None] | None = None) -> None:
        self.dialect = dialect
        self._detect = detect
        self._calls = Calls(dialect.tool_named, dialect.details_in)
        self._text = MainText()
        self._incidents = Incidents(self._calls)
        self._permissions = Permissions()
        self._session_id: str | None = None
        self._has_run = False
        self._has_turn = False
        self._has_content = False
        self._is_compacting = False
        """Whether the conversation is being shortened: another init may come before it is."""
        self._is_interrupted = False
        self._is_notified = False
        """Whether a background task has ended since the last turn: the agent works again by itself."""
        self._model: str | None = None
        self._output = 0
        """The tokens that the main agent's newest message has written so far."""
        self._message: object = None
        """The id of the main agent's newest message, and the counts of its input."""
        self._requests = Requests()
        self._of_subagents = Tokens()
        """Their tokens in this turn. The count in a result line leaves them out."""

    def decode(self, fields: Fields) -> list[Event]:
        return self._events(fields) if self._detect is None else self._detecting(self._detect, fields)

    def _detecting(self, detect: Callable[[Fields], Agent | None], fields: Fields) -> list[Event]:
        """Return the events of a line of the family. The first line of a known agent decides its variant."""
        agent = detect(fields)
        decoder = None if agent is None else agent.decoder()
        if agent is None or not isinstance(decoder, ClaudeDecoder) or decoder.dialect is self.dialect:
            return self._events(fields)
        self._detect, self.dialect = None, decoder.dialect
        self._calls.tool_named = decoder.dialect.tool_named
        return [FormatDetected(agent.name, agent.traits, agent.agent), *self._events(fields)]

    def _events(self, fields: Fields) -> list[Event]:
        match fields.get("type"):
            case "stream_event":
                return self._stream_event(fields)
            case "assistant":
                return self._assistant(fields)
            case "user":
                return self._user(fields)
            case "system":
                return self._system(fields)
            case "result":
                return self._result(fields)
            case "rate_limit_event":
                return rate_limit(fields)
            case "control_request":
                return [*self._permissions.ask(fields, self._calls)]
            case "control_response" | "control_cancel_request":
                return [*self._permissions.answer(fields, self._calls)]
            case "auth_status":
                return authentication(fields)
            case str(kind) if kind in _SILENT_TYPES:
                return []
        return [Unknown(f"type {in_words(fields.get('type'))}")]

    def may_batch(self, line: bytes) -> bool:
        """Return whether a line may be a delta or a count of thinking tokens, and cannot start a turn."""
        is_short = b'"content_block_delta"' in line or b'"thinking_tokens"' in line
        return is_short and self._has_turn and self._detect is None

    def batch(self, lines: list[Fields]) -> tuple[list[Event], int]:
        texts, count = texts_of(lines)
        return [event for found in texts for event in self._text.add(*found)], count

    def end(self) -> list[Event]:
        return self._calls.released(is_interrupted=self._is_interrupted)

    def _system(self, fields: Fields) -> list[Event]:
        match fields.get("subtype"):
            case "thinking_tokens":
                return []
            case "init":
                return self._init(fields)
            case "permission_denied":
                self._calls.deny(text(fields, "tool_use_id"))
                return [denied(fields)]
            case "model_refusal_fallback":
                retracted = self._text.retract(fields.get("retracted_message_uuids"))
                return [*retracted, *self._incidents.system(fields)]
            case "task_notification":
                self._is_notified = not self._has_turn
            case "status" | "compact_boundary" as subtype:
                if subtype == "compact_boundary" or fields.get("status") == "compacting":
                    self._is_compacting = subtype == "status"
        return self._incidents.system(fields)

    def _init(self, fields: Fields) -> list[Event]:
        """The line starts a turn, or a run if the process is another one: a process that was killed leaves a
        turn without a result. While the conversation is being shortened, the turn may have another init."""
        session_id = text(fields, "session_id")
        is_same = self._has_run and session_id is not None and session_id == self._session_id
        continues = is_same and self._has_turn and self._is_compacting
        is_new_run = not is_same or (self._has_turn and not continues)
        self._session_id, self._is_compacting = session_id, False
        self._model = (text(fields, "model") or "")[:_MOST_MODEL] or self._model
        self._calls.cwd = (text(fields, "cwd") or "").rstrip("/\\")
        if continues:
            return [RunInfo(*run_facts(fields))]
        ended, is_prompted = self._calls.released(is_interrupted=self._is_interrupted), not self._is_notified
        self._begin_turn()
        if not is_new_run:
            return [*ended, RunInfo(*run_facts(fields)), TurnStarted(is_prompted)]
        self._has_run = True
        self._calls.begin_run()
        return [*ended, RunStarted(self.dialect.format, *run_facts(fields)), TurnStarted()]

    def _begin_turn(self) -> None:
        self._has_turn, self._has_content = True, False
        self._is_interrupted = self._is_notified = False
        self._message, self._of_subagents = None, Tokens()
        self._text.turn_ended()

    def _content(self, fields: Fields) -> list[Event]:
        """Return what the main agent's next line implies: a turn whose init is missing."""
        self._is_compacting = False
        if self._has_turn:
            self._has_content = True
            return self._calls.released()
        events: list[Event] = [TurnStarted()]
        if not self._has_run:
            self._has_run, self._session_id = True, text(fields, "session_id")
            events = [RunInfo(self._session_id, model_in(fields)), *events]
        self._begin_turn()
        self._has_content = True
        return events

    def _stream_event(self, fields: Fields) -> list[Event]:
        if fields.get("parent_tool_use_id") is not None:
            return []
        event = mapping(fields.get("event"))
        match event.get("type"):
            case "content_block_delta":
                found = delta_text(event.get("delta"))
                lead = [] if self._has_turn else self._content(fields)
                return lead if found is None else [*lead, *self._text.add(*found)]
            case "message_start":
                self._output = 0
                return [*self._content(fields), *self._text.message_started()]
            case "message_delta":
                so_far = number(mapping(event.get("usage")), "output_tokens") or 0
                more = max(so_far - self._output, 0)
                self._output += more
                return [Usage(Tokens(output=more), UsageScope.REQUEST)] if more else []
        return []

    def _assistant(self, fields: Fields) -> list[Event]:
        message, parent_call = mapping(fields.get("message")), text(fields, "parent_tool_use_id")
        at_ms, uuid = line_ms(fields), text(fields, "uuid")
        events: list[Event] = []
        if parent_call is None:
            events += self._content(fields)
            events += self._text.retract(fields.get("supersedes")) if "supersedes" in fields else ()
            events += self._request(message)
        elif self.dialect.counts_subagents_apart:
            events += self._request_of_subagent(message, at_ms, parent_call)
        group = text(message, "id")
        for block in blocks_of(message):
            match block.get("type"):
                case "text":
                    events += self._written(Channel.ANSWER, text(block, "text"), parent_call, at_ms, uuid)
                case "thinking":
                    events += self._written(
                        Channel.REASONING, text(block, "thinking"), parent_call, at_ms, uuid
                    )
                case _ if ends_with(block, "tool_use"):
                    events.append(self._calls.start(block, parent_call=parent_call, group=group, at_ms=at_ms))
                case _ if ends_with(block, "tool_result"):
                    events += self._calls.end(block, None, parent_call=parent_call, at_ms=at_ms)
        return events

    def _written(
        self,
        channel: Channel,
        words: str | None,
        parent_call: str | None,
        at_ms: int | None,
        uuid: str | None,
    ) -> list[Event]:
        if parent_call is None:
            return self._text.block(channel, words or "", at_ms, uuid)
        return said(channel, words, at_ms, parent_call)

    def _request(self, message: Fields) -> list[Event]:
        """Return the tokens of a request to the model, once for all lines of its message. A gateway may leave
        the ids of messages out, or give all the same: the counts of the input decide too."""
        usage = mapping(message.get("usage"))
        tokens = tokens_in(usage, self.dialect, with_output=self.dialect.has_whole_usage)
        message_id = (text(message, "id") or "")[:_MOST_MODEL]
        found = message_id, tokens.input, tokens.cached
        has_lines = message_id or not self.dialect.has_whole_usage  # otherwise each message is one line
        if not tokens.input or (has_lines and found == self._message):
            return []
        self._message = found
        self._model = self._model or (text(message, "model") or "")[:_MOST_MODEL]
        context = tokens._replace(context_used=tokens.input)
        return [Usage(context, UsageScope.REQUEST, model=text(message, "model"))]

    def _request_of_subagent(self, message: Fields, at_ms: int | None, parent_call: str) -> list[Event]:
        """Return what a line of a subagent adds to the input of the turn; its output counts at the end."""
        usage = self._requests.usage(message, at_ms, parent_call=parent_call)
        if usage is None:
            return []
        self._of_subagents = added((self._of_subagents, usage.tokens))
        return [usage._replace(tokens=usage.tokens._replace(output=None))]

    def _user(self, fields: Fields) -> list[Event]:
        message, parent_call = mapping(fields.get("message")), text(fields, "parent_tool_use_id")
        at_ms, blocks = line_ms(fields), list(blocks_of(message))
        results = [block for block in blocks if ends_with(block, "tool_result")]
        structured = fields.get("tool_use_result") if len(results) == 1 else None
        is_whole, denials, events = not isinstance(fields, Salvaged), denials_in(fields), list[Event]()
        for block in results:
            denial = denials.get(text(block, "tool_use_id"))
            events += self._calls.end(
                block, structured, parent_call=parent_call, at_ms=at_ms, is_whole=is_whole, denial=denial
            )
        texts = (text(block, "text") for block in blocks if not ends_with(block, "tool_result"))
        words = "\n".join(filter(None, texts))
        return [*events, *self._prompt(fields, words, parent_call)] if words else events

    def _prompt(self, fields: Fields, words: str, parent_call: str | None) -> list[Event]:
        if parent_call is not None:
            self._requests.prompted(parent_call)
            return [Prompt(words, parent_call)]
        if words.startswith(INTERRUPTED):
            self._is_interrupted = True
            return [Notice("interrupted by the user")]
        is_echo = fields.get("isReplay") is True or self.dialect.echoes_prompts or not self._has_content
        is_own = fields.get("isSynthetic") is True or words.startswith(_NOT_PROMPTS)
        if is_own or not is_echo:
            return []
        events = [] if self._has_turn else self._content(fields)
        self._has_content = False
        return [*events, Prompt(words)]

    def _result(self, fields: Fields) -> list[Event]:
        events: list[Event] = []
        if self._has_run and not self._has_turn:
            self._begin_turn()
            events.append(TurnStarted())
        is_interrupted = self._is_interrupted or is_aborted(fields)
        events += self._calls.turn_ended(fields.get("permission_denials"), is_interrupted=is_interrupted)
        ended = turn_ended(
            fields, self.dialect, self._model, self._of_subagents, is_interrupted=is_interrupted
        )
        self._has_run, self._has_turn, self._is_compacting = True, False, False
        self._session_id = self._session_id or text(fields, "session_id")
        self._permissions.clear()
        self._text.turn_ended()
        return [*events, *ended]


def decoder() -> ClaudeDecoder:
    return ClaudeDecoder(CLAUDE_CODE)
