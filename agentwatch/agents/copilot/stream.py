"""Decodes the lines of Copilot, on disk and in the stream."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentwatch.agents.copilot.calls import ASK_USER, Calls
from agentwatch.agents.delta_frames import SegmentText
from agentwatch.agents.fields import (
    MOST_ID,
    Fields,
    Salvaged,
    digest_of,
    in_words,
    items,
    mapping,
    number,
    text,
)
from agentwatch.agents.named_calls import ModelDecoder
from agentwatch.agents.on_disk import time_of
from agentwatch.agents.tool import remember, said, tokens_in
from agentwatch.session.counts import added, known_sum
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Permission,
    Prompt,
    Retry,
    Rewound,
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
from agentwatch.text.amounts import one_line

# Incidents, and the lines that report nothing.

_SESSION = (
    *("remote_steerable_changed", "schedule_created", "schedule_cancelled"),
    *("schedule_rearmed", "autopilot_objective_changed", "mode_changed", "mode_notice_delivered"),
    *("session_limits_changed", "limits_changed", "permissions_changed", "plan_changed", "todos_changed"),
    *("workspace_file_changed", "handoff", "usage_checkpoint", "context_cleared", "task_complete"),
    *("tools_updated", "background_tasks_changed", "skills_loaded", "custom_agents_updated"),
    *("mcp_servers_loaded", "mcp_server_status_changed", "extensions_loaded", "binary_asset"),
    *("custom_notification", "managed_settings_resolved", "managed_settings_enforced"),
    *("canvas_opened", "canvas_registry_changed", "canvas_closed", "canvas_unavailable"),
    *("canvas_recorded", "canvas_removed", "extensions_attachments_pushed", "fusion_route_started"),
    *("fusion_route_failed", "fusion_resolved", "fusion_completed", "external_agents_changed"),
)
_ASSISTANT = (
    *("turn_start", "turn_end", "intent", "message_start", "streaming_delta", "tool_call_delta", "idle"),
    *("server_tool_progress", "fusion_phase_started", "fusion_phase_completed", "fusion_phase_failed"),
)
_OTHERS = (
    *("tool.user_requested", "tool.execution_progress", "tool_search.activated", "skill.invoked"),
    *("subagent.configured", "subagent.completed", "subagent.selected", "subagent.deselected"),
    *("hook.start", "hook.end", "hook.progress", "system.message", "pending_messages.modified"),
    *("model.call_start", "model.call_finished", "model.call_final_result", "model.model_call_started"),
    "sampling.requested",
    *("sampling.completed", "mcp.oauth_required", "mcp.oauth_completed", "mcp.tools.list_changed"),
    *("mcp.resources.list_changed", "mcp.prompts.list_changed", "mcp.headers_refresh_required"),
    *("mcp.headers_refresh_completed", "mcp_app.tool_call_complete", "external_tool.requested"),
    *("external_tool.completed", "command.queued", "command.execute", "command.completed"),
    *("commands.changed", "capabilities.changed", "factory.run_updated", "factory.run_started"),
    *("factory.run_settled", "ui.ephemeral_query"),
)

SILENT = frozenset(
    (
        *(f"session.{name}" for name in _SESSION),
        *(f"assistant.{name}" for name in _ASSISTANT),
        *_OTHERS,
    )
)
"""The types of lines that report nothing that is shown, or that repeat other lines. The list is that of
`session-events.ts` in `@github/copilot-sdk`, and of captures."""


def session_incident(kind: str, data: Fields, at_ms: int | None) -> list[Event]:
    match kind:
        case "session.compaction_start":
            before = number(data, "preCompactionTokens")
            return [Compaction(False, text(data, "trigger"), before, at_ms=at_ms)]
        case "session.compaction_complete":
            before, after = number(data, "preCompactionTokens"), number(data, "postCompactionTokens")
            done = Compaction(True, text(data, "trigger"), before, after, at_ms)
            failure = text(data, "error") if data.get("success") is False else None
            return [done] if failure is None else [done, Notice(f"compaction failed: {failure}", at_ms)]
        case "session.truncation":
            removed = number(data, "tokensRemovedDuringTruncation") or number(data, "droppedTokens")
            count = "" if removed is None else f": {removed:,} tokens removed"
            return [Notice(f"context truncated{count}", at_ms)]
        case "session.info" | "session.warning":
            message = text(data, "message")
            return [] if message is None else [Notice(message, at_ms)]
    return silent_or_unknown(kind)


def other_incident(kind: str, data: Fields, at_ms: int | None) -> list[Event]:
    match kind:
        case "model.call_failure":
            status = number(data, "statusCode")
            failed = "the model's request failed" + ("" if status is None else f" with status {status}")
            return [Retry(text(data, "errorMessage") or failed, at_ms=at_ms)]
        case "hook.end" if data.get("success") is False:
            error = text(mapping(data.get("error")), "message") or "no reason given"
            return [Notice(f"hook {in_words(data.get('hookType'))} failed: {error}", at_ms)]
        case "system.notification":
            description = text(mapping(data.get("kind")), "description")
            words = description or one_line(text(data, "content") or "")
            return [Notice(f"notification: {words}", at_ms)] if words else []
    return silent_or_unknown(kind)


def silent_or_unknown(kind: str) -> list[Event]:
    return [] if kind in SILENT else [Unknown(f"type {in_words(kind)}")]


# Questions to the user, and their answers.

_MOST_OPEN = 64

_TARGETS = ("fullCommandText", "path", "fileName", "url", "fact", "extensionName", "hookMessage", "intention")
"""The fields that say what a call would act on, the most specific first."""
_PEOPLE = ("user", "human", "person", "interactive", "prompt", "client", "host", "sdk", "remote")
"""Words in `decisionSource` that mean that somebody was asked."""
_BY_ITSELF = (
    *("denied-by-rules", "denied-no-approval-rule", "denied-by-content-exclusion-policy"),
    "denied-by-permission-request-hook",
)
"""Answers that were given without a question."""
ASKING = frozenset(
    {
        *("user_input.requested", "elicitation.requested", "exit_plan_mode.requested"),
        *("auto_mode_switch.requested", "session_limits_exhausted.requested"),
    }
)
"""The types of other questions."""
ANSWERING = frozenset(f"{kind.partition('.')[0]}.completed" for kind in ASKING)


class Questions:
    def __init__(self) -> None:
        self._asked: dict[str, Permission] = {}
        """The open questions by their ids; at most 64."""

    def requested(self, data: Fields, tool: str | None, at_ms: int | None) -> Permission:
        request = mapping(data.get("permissionRequest"))
        target = next((found for key in _TARGETS if (found := text(request, key))), None)
        if server := text(request, "serverName"):
            target = f"{server} {text(request, 'toolName') or ''}".strip()
        subject = tool or text(request, "toolName") or text(request, "kind") or "permission"
        question = Permission(subject, None, at_ms=at_ms, call_id=call_of(data), target=target)
        return self._keep(data, question._replace(is_automatic=data.get("resolvedByHook") is True))

    def completed(self, data: Fields, at_ms: int | None) -> Permission:
        result = mapping(data.get("result"))
        kind = text(result, "kind") or text(data, "kind") or "answered"
        reason = text(result, "feedback") or text(result, "message") or text(result, "reason")
        source = (text(data, "decisionSource") or text(result, "decisionSource") or "").casefold()
        is_program = bool(source) and not any(person in source for person in _PEOPLE)
        is_automatic = kind.startswith(_BY_ITSELF) or is_program
        return self._answered(data, kind.replace("-", " "), reason, at_ms, is_automatic=is_automatic)

    def asked(self, kind: str, data: Fields, at_ms: int | None) -> Permission:
        """Read another question: for an input, a form, or the end of the plan mode."""
        target = text(data, "question") or text(data, "message") or text(data, "summary")
        subject, call_id = kind.partition(".")[0], text(data, "toolCallId")
        return self._keep(data, Permission(subject, None, at_ms=at_ms, call_id=call_id, target=target))

    def answered(self, data: Fields, at_ms: int | None) -> Permission:
        answer = text(data, "action") or text(data, "response") or text(data, "selectedAction")
        return self._answered(data, answer or "answered", None, at_ms)

    def _keep(self, data: Fields, question: Permission) -> Permission:
        question = question._replace(key=text(data, "requestId"))
        if question.key is not None and len(question.key) <= MOST_ID:
            remember(self._asked, question.key, question._replace(target=None), _MOST_OPEN)
        return question

    def _answered(
        self, data: Fields, answer: str, reason: str | None, at_ms: int | None, *, is_automatic: bool = False
    ) -> Permission:
        key = text(data, "requestId")
        question = self._asked.pop(key or "", Permission("permission", None))
        return Permission(
            question.subject,
            answer,
            reason,
            at_ms,
            key=key,
            call_id=text(data, "toolCallId") or question.call_id,
            is_automatic=is_automatic or question.is_automatic,
        )


def call_of(data: Fields) -> str | None:
    request, prompt = mapping(data.get("permissionRequest")), mapping(data.get("promptRequest"))
    return text(request, "toolCallId") or text(prompt, "toolCallId") or text(data, "toolCallId")


# Texts and thoughts: their deltas, and the whole message that repeats them.

_MOST_THINKING = 64
_MOST_IDS = 16


class Answers:
    """The texts of the main agent's messages. Those of subagents are only shown when they are whole."""

    def __init__(self) -> None:
        self._segment = SegmentText()
        self._message: str | None = None
        """The id of the message whose deltas these are; None without deltas."""

    def add(self, data: Fields, at_ms: int | None) -> list[Event]:
        delta = text(data, "deltaContent")
        if delta is None:
            return []
        message = text(data, "messageId") or ""
        events = [] if message == self._message else self.end()
        self._message = message
        self._segment.add(delta)
        return [*events, Text(Channel.ANSWER, delta, at_ms)]

    def message(self, data: Fields, at_ms: int | None) -> list[Event]:
        """Return what a whole message adds to its deltas. One that differs from them replaces them. A long
        message may come in several chunks. The deltas of such a message stay."""
        content = text(data, "content")
        is_streamed = self._message == (text(data, "messageId") or "")
        is_chunk = (number(data, "chunkCount") or 0) > 1
        segment = self._segment
        if content is None or not is_streamed:
            return [*self.end(), *said(Channel.ANSWER, content, at_ms)]
        if is_chunk or segment.is_repeated_by(content):
            return self.end()
        if segment.is_repeated_by(content[: segment.length]):
            return [Text(Channel.ANSWER, content[segment.length :], at_ms), *self.end()]
        retracted = [*self.end(), TextRetracted(segment.length)]
        return [*retracted, *said(Channel.ANSWER, content, at_ms)]

    def end(self) -> list[Event]:
        events: list[Event] = [] if self._message is None else [TextEnded(Channel.ANSWER)]
        self._message = None
        self._segment = SegmentText()
        return events


@dataclass(slots=True)
class _Thoughts:
    is_known: bool = False
    """Whether the thoughts before the next message are known."""
    is_open: bool = False
    """Whether the last delta may still be continued."""
    ids: dict[str, None] = field(default_factory=dict)
    """The ids of the last known thoughts."""
    segment: SegmentText = field(default_factory=SegmentText)
    """The thoughts that only the last message contained."""


class Thoughts:
    """The thoughts of each agent. Up to three lines contain each: deltas, the message that follows
    (`reasoningText`), and `assistant.reasoning`, even after the message's calls; in older versions first."""

    def __init__(self) -> None:
        self._agents: dict[str, _Thoughts] = {}

    def add(self, data: Fields, parent_call: str | None, at_ms: int | None) -> list[Event]:
        """Return the events of a delta. Those of subagents are held back until they are whole."""
        delta = text(data, "deltaContent")
        if delta is None or parent_call is not None:
            return []
        thoughts = self._of(parent_call)
        thoughts.is_known = thoughts.is_open = True
        _remember(thoughts, data)
        return [Text(Channel.REASONING, delta, at_ms)]

    def thought(self, data: Fields, parent_call: str | None, at_ms: int | None) -> list[Event]:
        thoughts = self._of(parent_call)
        words = text(data, "content")
        is_known = (text(data, "reasoningId") or "") in thoughts.ids
        if words is None or is_known or thoughts.segment.is_repeated_by(words):
            return _ended(thoughts)
        thoughts.is_known = True
        _remember(thoughts, data)
        return [*_ended(thoughts), *said(Channel.REASONING, words, at_ms, parent_call)]

    def message(self, data: Fields, parent_call: str | None, at_ms: int | None) -> list[Event]:
        thoughts = self._of(parent_call)
        words = None if thoughts.is_known else text(data, "reasoningText")
        thoughts.segment.clear()
        thoughts.is_known = False
        if words is None:
            return _ended(thoughts)
        thoughts.segment.add(words)
        return said(Channel.REASONING, words, at_ms, parent_call)

    def _of(self, parent_call: str | None) -> _Thoughts:
        key = (parent_call or "")[:MOST_ID]
        thoughts = self._agents.get(key)
        if thoughts is None:
            thoughts = self._agents[key] = _Thoughts()
            if len(self._agents) > _MOST_THINKING:
                del self._agents[next(iter(self._agents))]
        return thoughts


def _remember(thoughts: _Thoughts, data: Fields) -> None:
    thought = text(data, "reasoningId")
    if thought is not None and len(thought) <= MOST_ID:
        remember(thoughts.ids, thought, None, _MOST_IDS)


def _ended(thoughts: _Thoughts) -> list[Event]:
    events: list[Event] = [TextEnded(Channel.REASONING)] if thoughts.is_open else []
    thoughts.is_open = False
    return events


# The end of a turn of the main agent.
# `assistant.turn_start` and `assistant.turn_end` are one step of the model. On disk, a turn has ended well
# when such a step ends whose message requested no call. The stream has passing events, which are not on
# disk, and a result line, which ends its turn.


class Turns:
    def __init__(self) -> None:
        self.is_open = False
        self._has_answered = False
        """Whether the last message of this step requested no call."""
        self._has_begun = False
        self._is_stream = False
        self._failed = False

    def begin(self) -> None:
        """Begin a turn, or the next step of one. A step after an error continues its turn."""
        self.is_open = self._has_begun = True
        self._has_answered = self._failed = False

    def step(self) -> list[Event]:
        """Begin a step; return the start of a turn, if no line before contains its prompt."""
        events: list[Event] = [] if self._has_begun else [TurnStarted()]
        self.begin()
        return events

    def see(self, fields: Fields) -> None:
        self._is_stream = self._is_stream or fields.get("ephemeral") is True

    def message(self, data: Fields) -> None:
        self.is_open = True
        self._has_answered = not items(data.get("toolRequests"))

    def step_ended(self) -> list[Event]:
        """Return the end of the turn, if its last step has ended."""
        is_over, self._has_answered = self._has_answered and not self._is_stream, False
        return self.end(Outcome.SUCCEEDED) if is_over else []

    def end(self, outcome: Outcome, reason: str | None = None) -> list[Event]:
        return self._end(TurnEnded(outcome, reason)) if self.is_open else []

    def result(self, fields: Fields, last_error: str) -> list[Event]:
        session_id, code = text(fields, "sessionId"), number(fields, "exitCode")
        usage = mapping(fields.get("usage"))
        if code:
            message = last_error or f"exit code {code}"
            ended = TurnEnded(Outcome.FAILED, message)
        elif code is None or not self.is_open:
            return [RunInfo(session_id=session_id)]
        else:
            ended = TurnEnded(Outcome.SUCCEEDED)
        if not self.is_open and self._failed:
            return [RunInfo(session_id=session_id)]
        ended = ended._replace(
            session_id=session_id,
            duration_ms=number(usage, "sessionDurationMs"),
            duration_api_ms=number(usage, "totalApiDurationMs"),
        )
        return [RunInfo(session_id=session_id), *self._end(ended)]

    def _end(self, ended: TurnEnded) -> list[Event]:
        self.is_open = self._has_answered = False
        self._failed = ended.outcome is not Outcome.SUCCEEDED
        return [ended]


# Token counts. `cost` counts premium requests, not dollars.

_MOST_MODELS = 1000


class Counts:
    def __init__(self) -> None:
        self._requests: set[int] = set()
        """The hashes of their ids. One may be reported by two lines, of which one is not on disk."""
        self._are_known = False
        """Whether a request was counted alone."""
        self._output_tokens = 0
        """The tokens of the messages, which are all that the stream of most versions has."""
        self._messages = 0
        self._before = Tokens()
        """The tokens of the processes whose totals the newest one does not contain."""
        self._total, self._requests_in_total = Tokens(), 0
        """The newest total, and the number of requests that it counts."""

    def request(self, usage: Fields, *, is_main: bool) -> list[Event]:
        """Return the count of one request to the model, unless it is known. `inputTokens` includes what the
        cache was read. The context is that of the main agent."""
        request = text(usage, "apiCallId") or text(usage, "providerCallId")
        if request is not None and len(request) <= MOST_ID:
            digest = digest_of(request)
            if digest in self._requests:
                return []
            self._requests.add(digest)
        tokens = _tokens(usage)
        if not (tokens.input or tokens.output):
            return []
        self._are_known = True
        if is_main:
            used = (tokens.input or 0) + (tokens.output or 0)
            tokens = tokens._replace(context_used=used, context_size=number(usage, "maxPromptTokens"))
        return [Usage(tokens, UsageScope.REQUEST)]

    def message(self, data: Fields) -> None:
        self._output_tokens += max(0, number(data, "outputTokens") or 0)
        self._messages += 1

    def result(self) -> list[Event]:
        """Return the output tokens of a stream at its end, if its requests were not counted."""
        if self._are_known or not self._output_tokens:
            return []
        return [Usage(Tokens(output=self._output_tokens), UsageScope.RUN)]

    def total(self, data: Fields) -> list[Event]:
        """Versions of May 2026 count each process alone; later ones add the counts up."""
        if self._are_known:
            return []
        models = [mapping(each) for each in mapping(data.get("modelMetrics")).values()][:_MOST_MODELS]
        counts = [_tokens(mapping(model.get("usage"))) for model in models]
        requests = sum(max(0, number(mapping(model.get("requests")), "count") or 0) for model in models)
        details = mapping(data.get("tokenDetails"))
        by_kind = {key: number(mapping(value), "tokenCount") for key, value in details.items()}
        total = Tokens(
            input=known_sum([each.input for each in counts]) or by_kind.get("input"),
            cached=known_sum([each.cached for each in counts]) or by_kind.get("cache_read"),
            output=known_sum([each.output for each in counts]) or by_kind.get("output"),
            context_used=number(data, "currentTokens"),
        )
        if not any(total):
            return []
        if self._begins_anew(total, requests):
            self._before = added((self._before, self._total))
        self._total, self._requests_in_total, self._messages = total, requests, 0
        return [Usage(added((self._before, total)), UsageScope.RUN)]

    def _begins_anew(self, total: Tokens, requests: int) -> bool:
        """Return whether a total leaves out the one before it. It does if it is smaller. Otherwise the number
        of its requests decides: that of all messages, or that of the messages since then."""
        pairs = zip(total[:3], self._total[:3], strict=True)
        is_smaller = any((now or 0) < (before or 0) for now, before in pairs)
        return is_smaller or (requests > 0 and 2 * (requests - self._messages) < self._requests_in_total)


def context(data: Fields) -> list[Event]:
    tokens = Tokens(context_used=number(data, "currentTokens"), context_size=number(data, "tokenLimit"))
    return [Usage(tokens, UsageScope.REQUEST)] if any(tokens) else []


def _tokens(usage: Fields) -> Tokens:
    return tokens_in(usage, "inputTokens", "cacheReadTokens", "outputTokens", "cacheWriteTokens")


FORMAT = "copilot"
_MOST_SUBAGENTS = 1000
_MOST_PROMPTS = 10_000
_MOST_ERROR = 1000


class CopilotDecoder(ModelDecoder):
    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """Begin a session. Its ids may be those of the last one."""
        self._calls = Calls()
        self._answers = Answers()
        self._thoughts = Thoughts()
        self._questions = Questions()
        self._turns = Turns()
        self._counts = Counts()
        self._agents: dict[str, str] = {}
        """The call of each subagent, by the subagent's id; at most 1,000."""
        self._prompts: dict[str, None] = {}
        """The ids of the lines of prompts; at most 10,000."""
        self._model = None
        self._error = ""

    def decode(self, fields: Fields) -> list[Event]:
        kind, data = fields.get("type"), mapping(fields.get("data"))
        self._turns.see(fields)
        if not isinstance(kind, str):
            return [Unknown(f"type {in_words(kind)}")]
        at_ms = time_of(fields)
        family = kind.partition(".")[0]
        match family:
            case "assistant":
                return self._assistant(kind, data, self._agent(fields, data), at_ms)
            case "tool":
                return self._tool(kind, fields, data, at_ms)
            case "user" if kind == "user.message":
                return self._prompt(fields, data, self._agent(fields, data))
            case "permission":
                return self._permission(kind, data, at_ms)
            case "subagent":
                return self._subagent(kind, fields, data, at_ms)
            case "session":
                return self._session(kind, fields, data, at_ms)
        return self._other(kind, fields, data, at_ms)

    def _agent(self, fields: Fields, data: Fields) -> str | None:
        agent = text(fields, "agentId")
        parent = text(data, "parentToolCallId")
        return parent or (None if agent is None else self._agents.get(agent, agent))

    def _assistant(self, kind: str, data: Fields, parent_call: str | None, at_ms: int | None) -> list[Event]:
        match kind:
            case "assistant.message":
                return self._message(data, parent_call, at_ms)
            case "assistant.message_delta":
                return [] if parent_call is not None else self._answers.add(data, at_ms)
            case "assistant.reasoning":
                return self._thoughts.thought(data, parent_call, at_ms)
            case "assistant.reasoning_delta":
                return self._thoughts.add(data, parent_call, at_ms)
            case "assistant.usage":
                return self._counts.request(data, is_main=parent_call is None)
            case "assistant.turn_start" if parent_call is None:
                return [*self._turns.step(), *self.used(text(data, "model"))]
            case "assistant.turn_end" if parent_call is None:
                return [*self._answers.end(), *self._turns.step_ended()]
        return silent_or_unknown(kind)

    def _message(self, data: Fields, parent_call: str | None, at_ms: int | None) -> list[Event]:
        for request in map(mapping, items(data.get("toolRequests"))):
            self._calls.requested(request)
        self._counts.message(data)
        thoughts = self._thoughts.message(data, parent_call, at_ms)
        if parent_call is None:
            self._turns.message(data)
            return [*self.used(text(data, "model")), *thoughts, *self._answers.message(data, at_ms)]
        return [*thoughts, *said(Channel.ANSWER, text(data, "content"), at_ms, parent_call)]

    def _tool(self, kind: str, fields: Fields, data: Fields, at_ms: int | None) -> list[Event]:
        parent_call = self._agent(fields, data)
        match kind:
            case "tool.execution_start":
                step = text(data, "turnId")
                group = None if step is None else f"{len(self._prompts)}/{parent_call or ''}/{step}"
                started = self._calls.started(data, parent_call=parent_call, group=group, at_ms=at_ms)
                return [*started, *self._calls.plan(data)]
            case "tool.execution_partial_result":
                return [self._calls.progress(data)]
            case "tool.shell_output":
                return [self._calls.shell_output(data)]
            case "tool.execution_complete":
                is_whole = not isinstance(fields, Salvaged)
                return [self._calls.ended(data, parent_call=parent_call, at_ms=at_ms, is_whole=is_whole)]
        return silent_or_unknown(kind)

    def _prompt(self, fields: Fields, data: Fields, parent_call: str | None) -> list[Event]:
        """Read a message to an agent. One that the program sends to the main agent is not a prompt."""
        words = text(data, "content") or ""
        if parent_call is not None:
            return [Prompt(words, parent_call)]
        source = text(data, "source")
        is_own = source is not None and source != "user" and not source.startswith("command")
        was_open = self._turns.is_open
        self._turns.begin()
        if is_own or data.get("isAutopilotContinuation") is True:
            notice = Notice(f"{in_words(source or 'autopilot')}: {one_line(words)}")
            return [notice] if was_open else [TurnStarted(), notice]
        line = text(fields, "id")
        self._error = ""
        if line is not None and len(line) <= MOST_ID:
            remember(self._prompts, line, None, _MOST_PROMPTS)
        return [*self._answers.end(), Prompt(words)]

    def _permission(self, kind: str, data: Fields, at_ms: int | None) -> list[Event]:
        if kind == "permission.requested":
            return [self._questions.requested(data, self._calls.name_of(call_of(data)), at_ms)]
        if kind == "permission.completed":
            answer = self._questions.completed(data, at_ms)
            result = mapping(data.get("result"))
            self._calls.answered(answer.call_id, text(result, "kind") or text(data, "kind"))
            return [answer]
        return [Unknown(f"type {in_words(kind)}")]

    def _subagent(self, kind: str, fields: Fields, data: Fields, at_ms: int | None) -> list[Event]:
        agent, call_id = text(fields, "agentId"), text(data, "toolCallId")
        if kind == "subagent.started":
            if agent is not None and call_id is not None and max(len(agent), len(call_id)) <= MOST_ID:
                remember(self._agents, agent, call_id, _MOST_SUBAGENTS)
            return []
        name = in_words(text(data, "agentDisplayName") or text(data, "agentName") or "subagent")
        if kind == "subagent.failed":
            return [Notice(f"{name} failed: {text(data, 'error') or 'no reason given'}", at_ms)]
        if kind == "subagent.completed" and data.get("cancelled") is True:
            return [Notice(f"{name} was cancelled", at_ms)]
        return silent_or_unknown(kind)

    def _session(self, kind: str, fields: Fields, data: Fields, at_ms: int | None) -> list[Event]:
        is_main = "agentId" not in fields
        match kind:
            case "session.start":
                return self._run_started(data) if is_main else []
            case "session.resume" | "session.context_changed":
                return self._resumed(data) if is_main else []
            case "session.model_change":
                return self.used(text(data, "newModel")) if is_main else []
            case "session.tools_updated" | "session.auto_mode_resolved":
                return self.used(text(data, "model") or text(data, "chosenModel")) if is_main else []
            case "session.title_changed":
                title = text(data, "title")
                return [] if title is None or not is_main else [RunInfo(title=title)]
            case "session.usage_record":
                return self._counts.request(mapping(data.get("usage")), is_main=is_main)
            case "session.usage_info":
                return context(data) if is_main else []
            case "session.idle":
                outcome = Outcome.CANCELLED if data.get("aborted") is True else Outcome.SUCCEEDED
                return [*self._answers.end(), *self._turns.end(outcome)] if is_main else []
            case "session.error":
                return self._failed(data, at_ms, is_main=is_main)
            case "session.shutdown":
                is_fatal = data.get("shutdownType") == "error"
                words = text(data, "errorReason") or self._error or "the agent ended because of an error"
                ended = self._turns.end(Outcome.FAILED, words) if is_fatal else self._turns.step_ended()
                return [*self._counts.total(data), *ended]
            case "session.snapshot_rewind":
                return self._rewound(data)
        return session_incident(kind, data, at_ms)

    def _run_started(self, data: Fields) -> list[Event]:
        context = mapping(data.get("context"))
        cwd, branch = text(context, "cwd"), text(context, "branch")
        self._begin()
        self._calls.cwd = (cwd or "").rstrip("/\\")
        self._model = text(data, "selectedModel")
        started = RunStarted(
            FORMAT,
            session_id=text(data, "sessionId"),
            model=self._model,
            cwd=cwd,
            agent_version=text(data, "copilotVersion"),
        )
        return [started] if branch is None else [started, RunInfo(branch=branch)]

    def _resumed(self, data: Fields) -> list[Event]:
        context = mapping(data.get("context"))
        cwd = text(data, "cwd") or text(context, "cwd")
        branch = text(data, "branch") or text(context, "branch")
        self._calls.cwd = self._calls.cwd if cwd is None else cwd.rstrip("/\\")
        info = [] if cwd is None and branch is None else [RunInfo(cwd=cwd, branch=branch)]
        return [*info, *self.used(text(data, "selectedModel"))]

    def _failed(self, data: Fields, at_ms: int | None, *, is_main: bool) -> list[Event]:
        words = text(data, "message") or text(data, "errorType") or "an error without a message"
        if not is_main:
            return [Notice(words, at_ms)]
        self._error = words[:_MOST_ERROR]
        return [
            *self._answers.end(),
            Notice(words, at_ms, is_error=True),
            *self._turns.end(Outcome.FAILED, words),
        ]

    def _rewound(self, data: Fields) -> list[Event]:
        """Read that the user went back to a prompt. It and what came after it are taken back."""
        target = text(data, "upToEventId")
        if target not in self._prompts:
            return []
        turns = 0
        while target in self._prompts:
            self._prompts.popitem()
            turns += 1
        return [*self._answers.end(), Rewound(turns)]

    def _other(self, kind: str, fields: Fields, data: Fields, at_ms: int | None) -> list[Event]:
        if kind in ASKING:
            is_shown = self._calls.name_of(text(data, "toolCallId")) == ASK_USER
            return [] if is_shown else [self._questions.asked(kind, data, at_ms)]
        if kind in ANSWERING:
            return [self._questions.answered(data, at_ms)]
        match kind:
            case "abort" if "agentId" in fields:
                return []
            case "abort":
                reason = (text(data, "reason") or "").replace("_", " ") or None
                return [*self._answers.end(), *self._turns.end(Outcome.CANCELLED, reason)]
            case "result":
                ended = self._turns.result(fields, self._error)
                return [*self._answers.end(), *self._counts.result(), *ended]
        return other_incident(kind, data, at_ms)
