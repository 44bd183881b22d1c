"""Decodes the journals of Kimi Code: `agents/main/wire.jsonl` of a session, and one for each subagent. Each
fact is written more than once: the lines of the type `agent.…` repeat what others have said before."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.fields import SUBAGENT, Fields, in_words, items, mapping, number, text
from agentwatch.agents.kimi.agent import WIRE_FORMAT, time_of
from agentwatch.agents.kimi.stream import exit_code, plan_entries, retry, tool_named
from agentwatch.agents.named_calls import NamedCalls, call_blocks, result_blocks
from agentwatch.agents.subagents import MOST_SUBAGENTS, SubagentDecoder
from agentwatch.agents.tool import Result, Tool, remember, tokens_in
from agentwatch.session.blocks import Block
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Outcome,
    Permission,
    Prompt,
    Rewound,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    ToolKind,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)

_ENDS = {"completed": Outcome.SUCCEEDED, "cancelled": Outcome.CANCELLED, "failed": Outcome.FAILED}
_CHANNELS = {"text": Channel.ANSWER, "think": Channel.REASONING}
_SILENT_STEPS = frozenset(("step.begin", "step.end", "tool.call.delta"))
_SILENT = (
    *("agent.", "llm.", "token_counting.", "file_history.", "prompt.", "runtime.", "plugin.", "tools."),
    *("subagent.", "task.", "cron.", "goal.", "plan.", "plan_mode.", "swarm_mode.", "tower_mode.", "mcp."),
    *("staleGuard.", "interruptionReminder.", "permission.", "micro_compaction.", "config.", "context."),
    *("turn.cancel", "turn.step.interrupted", "full_compaction.cancel", "notify.", "profile.", "forked"),
)
"""The beginnings of the types that report nothing that is shown."""


class KimiWireDecoder:
    """Decodes the lines of a journal into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._calls = NamedCalls(tool_named)
        self._callers: dict[str, str] = {}
        """The call that has started each subagent."""
        self._subagents = SubagentDecoder(lambda _: KimiWireDecoder())
        self._asked: dict[str, str] = {}
        """The subject of each open question, by its id."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        name = text(fields, SUBAGENT)
        if name is not None:
            return self._subagents.decode({**fields, SUBAGENT: self._callers.get(name, name)})
        at_ms = time_of(fields)
        match fields.get("type"):
            case "metadata":
                self._calls.begin_run(None)
                return [RunStarted(WIRE_FORMAT)]
            case "profile.bind":
                cwd = text(mapping(fields.get("environmentDisclosure")), "cwd")
                self._calls.begin_run(cwd)
                return [RunInfo(cwd=cwd, model=text(fields, "modelAlias"))]
            case "permission.set_mode":
                return [RunInfo(permission_mode=text(fields, "mode"))]
            case "turn.prompt" | "turn.steer":
                return _prompt(fields)
            case "context.append_loop_event":
                return list(self._step(mapping(fields.get("event")), at_ms))
            case "subagent.spawned":
                child, call = text(fields, "subagentId"), text(fields, "parentToolCallId")
                if child is not None and call is not None:
                    remember(self._callers, child, call, MOST_SUBAGENTS)
                return []
            case "interaction.request" | "interaction.resolved":
                return [self._question(fields, at_ms)]
            case "usage.record":
                return [_usage(fields, at_ms)]
            case "turn.step.retrying":
                return [retry(fields, "errorMessage", "failedAttempt", "maxAttempts", "delayMs", at_ms)]
            case "turn.ended":
                return [_ended(fields)]
            case "full_compaction.begin" | "full_compaction.complete" as kind:
                before, after = number(fields, "tokensBefore"), number(fields, "tokensAfter")
                is_over = kind.endswith("complete")
                return [Compaction(is_over, text(fields, "trigger"), before, after, at_ms)]
            case "context.undo":
                return [Rewound(max(number(fields, "count") or 0, 0))]
            case str(kind) if kind.startswith(_SILENT):
                return []
            case kind:
                return [Unknown(f"type {in_words(kind)}")]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the file: those of the subagents."""
        return self._subagents.end()

    def _step(self, event: Fields, at_ms: int | None) -> Iterator[Event]:
        match event.get("type"):
            case "content.part":
                part = mapping(event.get("part"))
                kind = text(part, "type") or ""
                channel, words = _CHANNELS.get(kind), text(part, kind)
                if channel is not None and words:
                    yield from (Text(channel, words, at_ms), TextEnded(channel, at_ms))
            case "tool.call":
                name, arguments = text(event, "name") or "tool", mapping(event.get("args"))
                entries = plan_entries(name, arguments)
                call_id, group = text(event, "toolCallId") or "", text(event, "stepUuid")
                yield self._calls.started(call_id, name, arguments, entries, group=group, at_ms=at_ms)
            case "tool.result":
                call_id, result = text(event, "toolCallId") or "", mapping(event.get("result"))
                ended = _result(self._calls.kind(call_id), result)
                duration_ms = number(result, "durationMs")
                yield from self._calls.ended(call_id, "", ended, at_ms=at_ms, duration_ms=duration_ms)
            case str(kind) if kind in _SILENT_STEPS:
                return
            case kind:
                yield Unknown(f"event {in_words(kind)}")

    def _question(self, fields: Fields, at_ms: int | None) -> Permission:
        """Read a question for permission, or its answer."""
        key, request = text(fields, "id"), mapping(fields.get("request"))
        if fields.get("type") == "interaction.request":
            subject = text(request, "toolName") or text(fields, "kind") or "question"
            remember(self._asked, key or "", subject, MOST_SUBAGENTS)
            target = text(mapping(request.get("display")), "command") or text(request, "action")
            call_id = text(fields, "toolCallId")
            return Permission(subject, None, at_ms=at_ms, key=key, call_id=call_id, target=target)
        response = mapping(fields.get("response"))
        answer = text(response, "decision") or text(fields, "response") or "answered"
        return Permission(self._asked.pop(key or "", "question"), answer, at_ms=at_ms, key=key)


def _prompt(fields: Fields) -> list[Event]:
    words = "\n".join(found for part in items(fields.get("input")) if (found := text(mapping(part), "text")))
    origin = mapping(fields.get("origin"))
    if origin.get("kind") in ("user", None) or origin.get("name") == "subagent":
        return [Prompt(words)] if words else []
    return [TurnStarted(is_prompted=False)] if fields.get("type") == "turn.prompt" else []


def _result(kind: ToolKind, result: Fields) -> Result:
    output = output_text(result)
    code = exit_code(output) if kind is ToolKind.EXECUTE else None
    if result.get("isError") is not True:
        return Result(Outcome.SUCCEEDED, None, 0 if kind is ToolKind.EXECUTE else None)
    last = output.rstrip().rpartition("\n")[2]
    if last in ("Session closed", "Interrupted by user"):
        return Result(Outcome.CANCELLED, last)
    return Result(Outcome.FAILED, output[:4096] if code is None else f"exit {code}", code)


def output_text(result: Fields) -> str:
    """Return what a call returned, which may be a list of parts."""
    output = result.get("output")
    if isinstance(output, str):
        return output
    return "\n".join(found for part in items(output) if (found := text(mapping(part), "text")))


def _usage(fields: Fields, at_ms: int | None) -> Usage:
    counts = ("inputOther", "inputCacheRead", "output", "inputCacheCreation")
    tokens = tokens_in(mapping(fields.get("usage")), *counts, excludes_cache=True)
    tokens = tokens._replace(context_used=tokens.input)
    return Usage(tokens, UsageScope.REQUEST, at_ms, model=text(fields, "model"))


def _ended(fields: Fields) -> TurnEnded:
    outcome = _ENDS.get(text(fields, "reason") or "", Outcome.FAILED)
    reason = text(mapping(fields.get("error")), "message") or text(fields, "reason")
    duration_ms = number(fields, "durationMs")
    return TurnEnded(outcome, reason if outcome is Outcome.FAILED else None, duration_ms=duration_ms)


def record_blocks(fields: Fields, _call_id: str) -> Iterator[Block]:
    """Yield the blocks of a line that starts or ends a call."""
    event = mapping(fields.get("event"))
    name, arguments = text(event, "name") or "", mapping(event.get("args"))
    if event.get("type") == "tool.call":
        yield from call_blocks(tool_named(name), arguments, plan_entries(name, arguments))
    elif event.get("type") == "tool.result":
        result = mapping(event.get("result"))
        output, tool = output_text(result), tool_named("Bash")
        kind = tool.kind if exit_code(output) is not None else ToolKind.OTHER
        error = _result(kind, result).error
        yield from result_blocks(tool if kind is ToolKind.EXECUTE else Tool(kind, ""), output, error)
