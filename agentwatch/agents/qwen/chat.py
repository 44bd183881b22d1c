"""Decodes the lines of a Qwen chat, in the order in which they were written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.agents.blocks import binary_block, returned_block
from agentwatch.agents.changes import argument_blocks, changed_lines
from agentwatch.agents.claude.calls import argument_facts, plan_entries, questions_in
from agentwatch.agents.fields import MOST_ID, Fields, digest_of, in_words, items, mapping, number, text
from agentwatch.agents.gemini.stream import exit_code_in
from agentwatch.agents.on_disk import SessionFacts, Tree, Turns, iso_ms
from agentwatch.agents.qwen.agent import CHAT_FORMAT, parts_of
from agentwatch.agents.qwen.stream import ASKING, tool_named
from agentwatch.agents.tool import NO_FACTS, Facts, OpenCalls, Phrase, Result, Tool, remember, said, tokens_in
from agentwatch.session.blocks import Block, ChangeBlock, ErrorBlock
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Permission,
    Plan,
    Prompt,
    Retry,
    Rewound,
    RunInfo,
    RunStarted,
    Tokens,
    ToolEnded,
    ToolKind,
    ToolStarted,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.text.amounts import plural

# The end of a call: the agent's own word, the reason of a failure, and the facts.

_REFUSED = frozenset(("execution_denied", "permission_denied_by_user", "policy_violation"))
_CANCELLED_WORDS = "[Operation Cancelled]"
_DECLINED_WORDS = ("User did not allow", "User denied", "User declined")
"""Words in the reason of a call that the user refused, which the agent calls cancelled."""
_REFUSED_WORDS = ("requires approval", *_DECLINED_WORDS, "denied by", "rejected by")
_READ_CHARACTERS = 1000


def ending(status: object, reason: str | None, error_type: str | None) -> Result:
    words = reason or error_type
    if status == "success":
        return Result(Outcome.SUCCEEDED)
    if any(each in (reason or "")[:_READ_CHARACTERS] for each in _DECLINED_WORDS):
        return Result(Outcome.REJECTED, words)
    if status == "cancelled" or (words or "").startswith(_CANCELLED_WORDS):
        return Result(Outcome.CANCELLED, words)
    if error_type in _REFUSED or any(each in (reason or "")[:_READ_CHARACTERS] for each in _REFUSED_WORDS):
        return Result(Outcome.REJECTED, words)
    if status == "error" or words is not None:
        return Result(Outcome.FAILED, words)
    if status is None:
        return Result(Outcome.RETURNED)
    return Result(Outcome.RETURNED, f"unknown status {in_words(status)}")


def shown_facts(shown: object, facts: Facts) -> Facts:
    """Only the displayed result of a call that changed a file has facts; others have their arguments'."""
    fields = mapping(shown)
    diff = text(fields, "fileDiff")
    if diff is None or fields.get("fileDiffTruncated") is True:
        return facts
    added, removed = changed_lines(diff)
    if fields.get("originalContent", diff) in (None, ""):
        return Facts(plural(added, "line"), is_new_file=True, lines_added=added, lines_removed=removed)
    return Facts(phrase=Phrase.EDITED, lines_added=added, lines_removed=removed)


# Tool calls: their starts are parts of an answer, their ends are lines of their own.

_NO_NAME = "unknown"


class _Open(NamedTuple):
    name: str
    tool: Tool
    facts: Facts = NO_FACTS
    duration_ms: int | None = None
    """The duration that the agent has measured, if it wrote it before the result."""


class Calls:
    def __init__(self) -> None:
        self._open = OpenCalls[_Open]()

    def started(self, call: Fields, fields: Fields, folder: str, parent_call: str | None) -> ToolStarted:
        name, call_id = text(call, "name") or _NO_NAME, text(call, "id") or ""
        tool, arguments = tool_named(name), mapping(call.get("args"))
        self._open.keep(call_id, _Open(name, tool, argument_facts(tool, arguments)), name)
        return tool.started(
            call_id,
            name,
            arguments,
            cwd=folder,
            group=text(fields, "uuid"),
            limit_ms=number(arguments, "timeout"),
            at_ms=iso_ms(fields.get("timestamp")),
            parent_call=parent_call,
        )

    def measured(self, event: Fields) -> None:
        call_id = text(event, "call_id") or ""
        if call_id in self._open:
            self._open[call_id] = self._open[call_id]._replace(duration_ms=number(event, "duration_ms"))

    def ended(self, response: Fields, fields: Fields, parent_call: str | None) -> ToolEnded:
        about, returned = mapping(fields.get("toolCallResult")), mapping(response.get("response"))
        ids = [found for each in (text(response, "id"), text(about, "callId")) if (found := each)]
        call_id = next((each for each in ids if each in self._open), ids[0] if ids else "")
        name = text(response, "name") or ""
        call = self._open.pop(call_id, None) or _Open(name, tool_named(name))
        shown = about.get("resultDisplay")
        reason = text(mapping(about.get("error")), "message") or text(returned, "error")
        result = ending(about.get("status"), reason, text(about, "errorType"))
        exit_code = number(mapping(shown), "exitCode")
        has_failed = result.outcome is Outcome.FAILED
        if exit_code is None and has_failed and call.tool.kind is ToolKind.EXECUTE:
            exit_code = exit_code_in(reason)
        result = result._replace(
            error=f"exit {exit_code}" if has_failed and exit_code else result.error,
            exit_code=exit_code,
            facts=shown_facts(shown, call.facts) if result.outcome is Outcome.SUCCEEDED else NO_FACTS,
        )
        at_ms = iso_ms(fields.get("timestamp"))
        return call.tool.ended(
            call_id, call.name, result, at_ms=at_ms, parent_call=parent_call, duration_ms=call.duration_ms
        )


# System lines: telemetry, commands, the ends of turns.

_QUIET = frozenset(
    (
        *("attribution_snapshot", "at_command", "parent_session", "session_source", "rewind"),
        *("file_history_snapshot", "user_text_elements", "session_artifact_event", "branch_checkpoint"),
        *("session_artifact_snapshot", "session_sources_snapshot", "session_execution_engine", "cron"),
        *("agent_bootstrap", "agent_launch_prompt", "agent_session_ready", "goal_state", "goal_runtime"),
        *("goal_turn_end", "realtime_message", "session_notes", "omni_recall", "background_task_completed"),
        *("managed_session_header_v1", "managed_session_event_v1", "managed_session_commit_v1"),
    )
)
"""Subtypes that say nothing about the course of the session."""
_STATES = {"completed": Outcome.SUCCEEDED, "cancelled": Outcome.CANCELLED, "error": Outcome.FAILED}
_TOO_MANY = 429
_SERVER_ERROR = 500


class TurnEnd(NamedTuple):
    outcome: Outcome
    error: str | None = None
    may_be_repeated: bool = False
    """The agent may send the request again."""


def turn_end(fields: Fields) -> TurnEnd | None:
    """A request that the service cannot answer now may be sent again. Other errors end the turn."""
    payload = mapping(fields.get("systemPayload"))
    if fields.get("subtype") == "turn_result":
        outcome = _STATES.get(text(payload, "state") or "")
        error = text(mapping(payload.get("error")), "message")
        return None if outcome is None else TurnEnd(outcome, error)
    event = telemetry(fields)
    if event.get("event.name") != "qwen-code.api_error":
        return None
    status = number(event, "status_code")
    may_be_repeated = status is not None and (status == _TOO_MANY or status >= _SERVER_ERROR)
    return TurnEnd(Outcome.FAILED, text(event, "error_message") or "API error", may_be_repeated)


def telemetry(fields: Fields) -> Fields:
    return mapping(mapping(fields.get("systemPayload")).get("uiEvent"))


def system_events(fields: Fields) -> list[Event]:
    payload, at_ms = mapping(fields.get("systemPayload")), iso_ms(fields.get("timestamp"))
    subtype = fields.get("subtype")
    match subtype:
        case "ui_telemetry":
            return []
        case "chat_compression":
            info = mapping(payload.get("info"))
            before, after = number(info, "originalTokenCount"), number(info, "newTokenCount")
            return [Compaction(is_over=True, tokens_before=before, tokens_after=after, at_ms=at_ms)]
        case "slash_command":
            command = text(payload, "rawCommand") if payload.get("phase") == "invocation" else None
            return [] if command is None else [Notice(command, at_ms)]
        case "notification":
            words = text(payload, "displayText")
            return [] if words is None else [Notice(words, at_ms)]
        case "session_model":
            return [RunInfo(model=text(payload, "modelId"))]
        case "session_approval_mode":
            return [RunInfo(permission_mode=text(payload, "mode"))]
        case "custom_title":
            is_users = payload.get("titleSource") != "auto"
            return [RunInfo(title=text(payload, "customTitle"), is_users_title=is_users)]
        case "agent_retry":
            return [Retry("", number(payload, "attempt"), at_ms=at_ms)]
        case str() if subtype in _QUIET:
            return []
    return [Unknown(f"type system/{in_words(subtype)}")]


_MOST_PARTS = 1024
"""The number of the newest lines of an answer, and of its texts, that later lines are compared with."""
_RESPONSE = "qwen-code.api_response"
"""Precedes each complete answer since 0.24. One that the user has interrupted has none, and no usage."""
_ADDED = "<qwen:"
"""The beginning of a part that hooks add to the user's message."""


class _Answer:
    """The newest answer. A second line with its id adds to it; a line of a resumed session repeats it."""

    def __init__(self) -> None:
        self._uuid: object = None
        self._times: dict[int | None, None] = {}
        self._texts: dict[int, None] = {}
        self._earlier: frozenset[int] = frozenset()
        """The digests of the lines before the present one."""
        self.has_usage = False

    def continues(self, uuid: object, fields: Fields) -> bool:
        """Return whether a line adds to the answer: it was written at another time than its other lines."""
        is_answer = uuid == self._uuid and fields.get("type") == "assistant"
        return is_answer and iso_ms(fields.get("timestamp")) not in self._times

    def add(self, fields: Fields) -> None:
        if self._uuid is None or fields.get("uuid") != self._uuid:
            self._uuid, self.has_usage = fields.get("uuid"), False
            self._times, self._texts = {}, {}
        remember(self._times, iso_ms(fields.get("timestamp")), None, _MOST_PARTS)
        self._earlier = frozenset(self._texts)

    def is_new(self, words: str) -> bool:
        """Return whether no earlier line of the answer has this text, and keep it."""
        digest = digest_of(words)
        remember(self._texts, digest, None, _MOST_PARTS)
        return digest not in self._earlier


class _Step:
    """The calls of the newest answer. If the user cancels all of them, the agent asks the model no more."""

    def __init__(self) -> None:
        self._open: OpenCalls[bool] = OpenCalls()
        self._is_cancelled = True

    def called(self, call_id: str) -> None:
        self._is_cancelled = self._is_cancelled or not self._open
        self._open.keep(call_id, True)

    def is_cancelled_by(self, end: ToolEnded) -> bool:
        if not self._open.pop(end.call_id, False):
            return False
        is_cancelled = end.outcome is Outcome.CANCELLED or (end.error or "").startswith(_CANCELLED_WORDS)
        self._is_cancelled = self._is_cancelled and is_cancelled
        return self._is_cancelled and not self._open


class QwenChatDecoder:
    def __init__(self) -> None:
        self._facts = SessionFacts()
        self._tree = Tree()
        self._turns = Turns()
        self._calls = Calls()
        self._failure: str | None = None
        """Why a request failed that the agent may repeat."""
        self._answer = _Answer()
        self._step = _Step()
        self._counted: set[int] = set()
        self._has_response = False
        self._is_first = True
        self._own_agent: str | bool | None = False
        """The `agentId` of a subagent whose own file this is, which may be None; False for a session."""

    def decode(self, fields: Fields) -> list[Event]:
        begun: list[Event] = []
        if self._is_first:
            self._is_first = False
            begun.append(RunStarted(CHAT_FORMAT))
            self._own_agent = text(fields, "agentId") if fields.get("isSidechain") is True else True
        info = self._facts.new(fields, text(fields, "model"))
        if info is not None:
            begun.append(info)
        uuid = fields.get("uuid")
        if self._tree.has(uuid) and not self._answer.continues(uuid, fields):
            return begun
        return begun + list(self._events(fields))

    def end(self) -> list[Event]:
        return list(self._failed())

    def _events(self, fields: Fields) -> Iterator[Event]:
        parent_call = self._agent(fields)
        match fields.get("type"):
            case "user":
                yield from self._user(fields, parent_call)
            case "assistant":
                yield from self._assistant(fields, parent_call)
            case "tool_result":
                self._tree.add(fields.get("uuid"), fields.get("parentUuid"), is_of_last_turn=True)
                yield from self._responses(fields, parent_call)
            case "system":
                self._tree.add(fields.get("uuid"), fields.get("parentUuid"))
                yield from self._system(fields, parent_call)
            case kind:
                yield Unknown(f"type {in_words(kind)}")

    def _agent(self, fields: Fields) -> str | None:
        if fields.get("isSidechain") is not True:
            return None
        agent_id = text(fields, "agentId")
        is_own = self._own_agent is not True and self._own_agent == agent_id
        return None if is_own else agent_id or "subagent"

    def _user(self, fields: Fields, parent_call: str | None) -> Iterator[Event]:
        responses = list(self._responses(fields, parent_call))
        payload, subtype = mapping(fields.get("systemPayload")), fields.get("subtype")
        words = text(payload, "displayText") or _users_text(fields)
        line, parent = fields.get("uuid"), fields.get("parentUuid")
        if responses or words is None or subtype in ("notification", "mid_turn_user_message"):
            self._tree.add(line, parent, is_of_last_turn=bool(responses))
            yield from responses
            if words is not None and not responses:
                self._turns.noticed(is_task=subtype == "notification")
                message = words if subtype == "notification" else f"queued: {words}"
                yield Notice(message, iso_ms(fields.get("timestamp")))
        elif parent_call is not None:
            yield Prompt(words, parent_call)
        else:
            yield from self._failed()
            rewound = self._tree.add_prompt(line, parent, begins_turn=not self._turns.awaits_prompt)
            if rewound:
                yield Rewound(rewound)
            self._turns.prompted(None)
            yield Prompt(words)

    def _assistant(self, fields: Fields, parent_call: str | None) -> Iterator[Event]:
        self._failure, at_ms = None, iso_ms(fields.get("timestamp"))
        if parent_call is None:
            begun = self._turns.resumed(None)
            is_turn = begun is not None and begun.is_prompted
            self._tree.add_answer(fields.get("uuid"), fields.get("parentUuid"), begins_turn=is_turn)
            if begun is not None:
                yield begun
            self._answer.add(fields)
        calls, has_text = False, False
        for part in parts_of(fields):
            words = text(part, "text")
            if words is not None and (parent_call is not None or self._answer.is_new(words)):
                channel = Channel.REASONING if part.get("thought") is True else Channel.ANSWER
                has_text = has_text or channel is Channel.ANSWER
                yield from said(channel, words, at_ms, parent_call)
            if "functionCall" in part:
                calls = True
                yield from self._call(mapping(part["functionCall"]), fields, parent_call)
        if parent_call is not None:
            yield from self._usage(fields, at_ms, is_main=False)
            return
        if not self._answer.has_usage:
            yield from self._usage(fields, at_ms)
        self._turns.wrote(None)
        is_cut = not self._answer.has_usage and "provenance" in fields and not self._has_response
        self._has_response = False
        if has_text and not calls:
            yield from self._turns.end(Outcome.CANCELLED if is_cut else Outcome.SUCCEEDED)

    def _usage(self, fields: Fields, at_ms: int | None, *, is_main: bool = True) -> Iterator[Usage]:
        """Yield the tokens of an answer, once; the context of a subagent is not the session's."""
        usage = _usage(fields, at_ms)
        if usage is None:
            return
        self._answer.has_usage = self._answer.has_usage or is_main
        if usage.request is not None:
            request = digest_of(usage.request)
            if request in self._counted:
                return
            self._counted.add(request)
        tokens = usage.tokens if is_main else usage.tokens._replace(context_used=None, context_size=None)
        yield usage._replace(tokens=tokens)

    def _call(self, call: Fields, fields: Fields, parent_call: str | None) -> Iterator[Event]:
        started = self._calls.started(call, fields, self._facts.folder, parent_call)
        if parent_call is None:
            self._step.called(started.call_id)
        yield started
        if started.tool in ASKING and parent_call is None:
            words, call_id = questions_in(mapping(call.get("args"))), started.call_id
            at_ms = started.at_ms
            yield Permission(started.tool, None, at_ms=at_ms, key=call_id, call_id=call_id, target=words)
        if text(call, "name") == "todo_write":
            yield Plan(plan_entries(mapping(call.get("args")).get("todos")))

    def _responses(self, fields: Fields, parent_call: str | None) -> Iterator[Event]:
        for part in parts_of(fields):
            if "functionResponse" in part:
                ended = self._calls.ended(mapping(part["functionResponse"]), fields, parent_call)
                yield ended
                if parent_call is None and self._step.is_cancelled_by(ended):
                    yield from self._turns.end(Outcome.CANCELLED)

    def _system(self, fields: Fields, parent_call: str | None) -> Iterator[Event]:
        ended, event = turn_end(fields), telemetry(fields)
        if event.get("event.name") == "qwen-code.tool_call":
            self._calls.measured(event)
        self._has_response = self._has_response or event.get("event.name") == _RESPONSE
        if ended is None:
            yield from system_events(fields)
        elif parent_call is not None:
            if ended.error is not None:
                yield Notice(ended.error, iso_ms(fields.get("timestamp")), is_error=True)
        elif ended.may_be_repeated:
            self._failure = ended.error
            yield Retry(ended.error or "", at_ms=iso_ms(fields.get("timestamp")))
        else:
            self._failure = None
            yield from self._turns.end(ended.outcome, ended.error)

    def _failed(self) -> Iterator[Event]:
        failure, self._failure = self._failure, None
        if failure is not None:
            yield from self._turns.end(Outcome.FAILED, failure)


def _users_text(fields: Fields) -> str | None:
    said = [
        words for part in parts_of(fields) if (words := text(part, "text")) and not words.startswith(_ADDED)
    ]
    return "\n".join(said) or None


def _usage(fields: Fields, at_ms: int | None) -> Usage | None:
    counts = mapping(fields.get("usageMetadata"))
    tokens = tokens_in(counts, "promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount")
    size = number(fields, "contextWindowSize")
    tokens = tokens._replace(context_used=tokens.input, context_size=size)
    line = (text(fields, "uuid") or "")[:MOST_ID] or None
    return None if tokens == Tokens() else Usage(tokens, UsageScope.REQUEST, at_ms, line)


# The arguments and the result of a call, divided into blocks.


def blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    for part in parts_of(fields):
        call, response = mapping(part.get("functionCall")), mapping(part.get("functionResponse"))
        if "functionCall" in part and (text(call, "id") or "") == call_id:
            tool, arguments = tool_named(text(call, "name") or ""), mapping(call.get("args"))
            entries = plan_entries(arguments.get("todos")) if tool.kind is ToolKind.PLAN else ()
            yield from argument_blocks(tool.kind, arguments, entries)
        if "functionResponse" in part and (text(response, "id") or call_id) == call_id:
            yield from _result_blocks(response, mapping(fields.get("toolCallResult")))


def _result_blocks(response: Fields, about: Fields) -> Iterator[Block]:
    tool, shown = tool_named(text(response, "name") or ""), about.get("resultDisplay")
    returned, details = mapping(response.get("response")), mapping(shown)
    reason = text(mapping(about.get("error")), "message") or text(returned, "error")
    printed = text(details, "output")
    if reason and printed is None:
        yield ErrorBlock(reason)
    diff = text(details, "fileDiff")
    output = printed or text(returned, "output")
    if diff is not None:
        yield ChangeBlock(diff)
    elif output is not None:
        yield returned_block(tool.kind, output, tool.phrase)
    for part in map(mapping, items(response.get("parts"))):
        data = mapping(part.get("inlineData"))
        encoded = text(data, "data")
        if encoded is not None:
            yield binary_block(text(data, "mimeType"), encoded)
