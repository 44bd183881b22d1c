"""Decodes the lines of a transcript of Claude Code, in the order in which they were written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentwatch.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Prompt,
    Rewound,
    RunStarted,
    Text,
    TextEnded,
    ToolKind,
    TurnStarted,
    Unknown,
)
from agentwatch.wire.claude.tools import tool_named
from agentwatch.wire.claude_transcript import beside
from agentwatch.wire.claude_transcript.answers import Answers
from agentwatch.wire.claude_transcript.calls import Calls
from agentwatch.wire.claude_transcript.recognition import BESIDE, FORMAT, SILENT
from agentwatch.wire.claude_transcript.requests import Requests, cost
from agentwatch.wire.claude_transcript.subagents import Subagents
from agentwatch.wire.claude_transcript.user_texts import NO_TEXT, Origin, user_text
from agentwatch.wire.fields import Fields, in_words, items, mapping, number, text
from agentwatch.wire.on_disk.facts import Facts
from agentwatch.wire.on_disk.iso_time import iso_ms
from agentwatch.wire.on_disk.tree import Tree
from agentwatch.wire.on_disk.turns import Turns

_TOOL_USES = ("tool_use", "server_tool_use", "mcp_tool_use")

_CHANNELS = {"text": Channel.ANSWER, "thinking": Channel.REASONING}
_MOST_COMPARED = 200
_SYNTHETIC = "<synthetic>"
"""The model of an answer that Claude Code wrote itself."""


class Decoder:
    """Decodes the lines of one transcript into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._facts = Facts()
        self._tree = Tree()
        self._turns = Turns()
        self._answers = Answers()
        self._calls = Calls()
        self._requests = Requests()
        self._subagents = Subagents()
        self._queued = ""
        """The beginning of the last notice about a queued prompt or an attachment."""
        self._is_first = True
        self._own_agent: str | bool | None = False
        """The `agentId` of a subagent whose own file this is, which may be None; False for a session."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        kind = fields.get("type")
        if isinstance(kind, str) and kind in SILENT and not self._is_first:
            return []
        is_side = fields.get("isSidechain") is True
        model = _model(fields) if kind == "assistant" else None
        info = None if is_side and self._own_agent is True else self._facts.new(fields, model)
        begun: list[Event] = []
        if self._is_first:
            self._is_first = False
            begun.append(RunStarted(FORMAT))
        if info is not None:
            begun.append(info)
        if isinstance(kind, str) and kind in BESIDE:
            begun += self._beside(kind, fields)
        elif not self._tree.has(fields.get("uuid")):
            begun += self._message(kind, fields, self._agent(fields, is_side=is_side))
        return begun

    def end(self) -> list[Event]:
        """Return the ends of the calls that a later line would have decided."""
        return self._calls.released()

    def _beside(self, kind: str, fields: Fields) -> Iterable[Event]:
        match kind:
            case "attachment":
                if not self._tree.has(fields.get("uuid")):
                    self._tree.add(fields.get("uuid"), fields.get("parentUuid"))
                    return self._once(beside.attachment(fields))
            case "queue-operation":
                return self._once(beside.queue(fields))
            case "summary" if not self._tree.has(fields.get("leafUuid")):
                return ()  # older versions begin a file with the summaries of other sessions
            case "custom-title" | "ai-title" | "summary" | "last-prompt":
                return beside.names(kind, fields)
            case "cost-state":
                usage = cost(fields)
                return () if usage is None else (usage,)
            case "subagent-meta":
                self._subagents.link(text(fields, "agentId"), text(fields, "toolUseId"))
        return ()

    def _once(self, events: list[Event]) -> list[Event]:
        """Return the events of what was queued, unless the line before has reported the same."""
        words = events[0].message[:_MOST_COMPARED] if events and isinstance(events[0], Notice) else ""
        if words and words == self._queued:
            return []
        self._queued = words or self._queued
        return events

    def _message(self, kind: object, fields: Fields, agent: str | None) -> Iterable[Event]:
        match kind:
            case "assistant":
                return [*self._calls.released(), *self._assistant(fields, agent)]
            case "user":
                return self._user(fields, agent)
        if agent is None:
            self._tree.add(fields.get("uuid"), fields.get("parentUuid"))
        match kind:
            case "progress":
                return self._progress(fields)
            case "system":
                return self._system(fields) if agent is None else beside.system(fields)
        return (Unknown(f"type {in_words(kind)}"),)

    def _agent(self, fields: Fields, *, is_side: bool) -> str | None:
        """Return the id of the call whose subagent wrote a line; None for the main agent."""
        if self._own_agent is False and "isSidechain" in fields:
            self._own_agent = text(fields, "agentId") if is_side else True
        if not is_side or (self._own_agent is not True and self._own_agent == text(fields, "agentId")):
            return None
        prompt = user_text(fields).text if fields.get("parentUuid") is None else None
        return self._subagents.of_line(fields, prompt)

    def _user(self, fields: Fields, agent: str | None) -> Iterator[Event]:
        content = mapping(fields.get("message")).get("content")
        results = [block for block in map(mapping, items(content)) if block.get("type") == "tool_result"]
        line, parent = fields.get("uuid"), fields.get("parentUuid")
        if results:
            yield from self._results(results, fields, agent)
        said = NO_TEXT if results and len(results) == len(items(content)) else user_text(fields)
        if said.origin is not Origin.NOTHING:
            is_interrupted = (
                said.origin is Origin.INTERRUPTION and text(fields, "interruptedMessageId") is not None
            )
            yield from self._calls.released(is_interrupted=is_interrupted)
        is_prompt = said.origin is Origin.PROMPT and not results
        if agent is not None:
            if is_prompt and fields.get("isMeta") is not True:
                yield Prompt(said.text, agent)
            return
        if is_prompt and fields.get("isMeta") is not True and fields.get("isCompactSummary") is not True:
            rewound = self._tree.add_prompt(line, parent, begins_turn=not self._turns.awaits_prompt)
            if rewound:
                yield Rewound(rewound)
            self._turns.prompted(text(fields, "promptId"))
            self._answers.begin_turn()
            yield Prompt(said.text)
            return
        is_of_last_turn = bool(results) or self._turns.is_present(text(fields, "promptId"))
        self._tree.add(line, parent, is_of_last_turn=is_of_last_turn)
        if said.origin is Origin.INTERRUPTION:
            yield from self._turns.interrupted(
                text(fields, "interruptedMessageId"), iso_ms(fields.get("timestamp"))
            )
        elif said.origin is Origin.NOTICE:
            yield Notice(said.text, iso_ms(fields.get("timestamp")))

    def _results(self, results: list[Fields], fields: Fields, agent: str | None) -> Iterator[Event]:
        structured = fields.get("toolUseResult") if len(results) == 1 else None
        for block in results:
            call_id = text(block, "tool_use_id") or text(fields, "sourceToolAssistantUUID")
            call_id = call_id or text(fields, "parentUuid") or ""
            agent_id = text(mapping(structured), "agentId")
            if agent is None:
                agent_id = agent_id or text(fields, "agentId")
            self._subagents.link(agent_id, call_id)
            yield from self._calls.ended(block, call_id, fields, structured, agent)

    def _assistant(self, fields: Fields, agent: str | None) -> Iterator[Event]:
        message, at_ms = mapping(fields.get("message")), iso_ms(fields.get("timestamp"))
        message_id = text(message, "id")
        if agent is None:
            is_resumed = self._turns.resumes(message_id)
            self._tree.add_answer(fields.get("uuid"), fields.get("parentUuid"), begins_turn=is_resumed)
            if is_resumed:
                yield TurnStarted()
        if fields.get("isApiErrorMessage") is True:
            yield from self._api_error(fields, agent, at_ms)
            return
        if agent is None and (retracted := self._answers.retracted(fields)) is not None:
            yield retracted
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
        has_text, characters = False, 0
        for index, block in enumerate(map(mapping, blocks)):
            kind = block.get("type")
            channel = _CHANNELS.get(kind) if isinstance(kind, str) else None
            if channel is None:
                yield from self._block(kind, block, index, fields, agent)
                continue
            found = text(block, str(kind))
            has_text = has_text or kind == "text"
            if found is not None:
                characters += len(found) if kind == "text" else 0
                yield Text(channel, found, at_ms, agent=agent)
                yield TextEnded(channel, at_ms, agent)
        if agent is not None:
            return
        usage = self._requests.usage(message, at_ms)
        if usage is not None:
            yield usage
        self._turns.wrote(message_id)
        self._answers.wrote(fields.get("uuid"), characters)
        is_last = message.get("stop_reason") == "end_turn" and not self._calls.has_open()
        if is_last and has_text:
            yield from self._turns.end(Outcome.SUCCEEDED)

    def _block(
        self, kind: object, block: Fields, index: int, fields: Fields, agent: str | None
    ) -> Iterator[Event]:
        if kind in _TOOL_USES:
            line = text(fields, "uuid") or ""
            call_id = text(block, "id") or (f"{line}#{index}" if self._calls.is_open(line) else line)
            if tool_named(text(block, "name") or "").kind is ToolKind.DELEGATE:
                self._subagents.call_started(call_id, mapping(block.get("input")))
            yield from self._calls.started(block, call_id, fields, self._facts.folder, agent)
        elif isinstance(kind, str) and kind.endswith("_tool_result"):
            yield from self._calls.ended(block, text(block, "tool_use_id") or "", fields, None, agent)
        elif kind == "fallback":
            model = text(mapping(block.get("to")), "model")
            to = f"the model {model}" if model else "another model"
            yield Notice(f"continues with {to}", iso_ms(fields.get("timestamp")))
        elif kind != "redacted_thinking":
            yield Unknown(f"content {in_words(kind)}")

    def _api_error(self, fields: Fields, agent: str | None, at_ms: int | None) -> Iterator[Event]:
        words = user_text(fields).text or text(fields, "error") or "API error"
        if agent is not None:
            yield Notice(words, at_ms, is_error=True)
            return
        yield from self._turns.end(Outcome.FAILED, words)

    def _progress(self, fields: Fields) -> Iterator[Event]:
        data = mapping(fields.get("data"))
        if data.get("type") != "agent_progress":
            yield from beside.progress(fields)
            return
        wrapped, call_id = mapping(data.get("message")), text(fields, "parentToolUseID") or ""
        if wrapped.get("type") == "assistant":
            yield from self._assistant(wrapped, call_id)
        elif wrapped.get("type") == "user":
            yield from self._user(wrapped, call_id)

    def _system(self, fields: Fields) -> Iterator[Event]:
        subtype = fields.get("subtype")
        if subtype == "turn_duration":
            yield from self._turns.end(Outcome.SUCCEEDED, duration_ms=number(fields, "durationMs"))
            return
        if (retracted := self._answers.retracted(fields)) is not None:
            yield retracted
        yield from beside.system(fields)
        has_blocked = items(fields.get("hookErrors")) or fields.get("preventedContinuation") is True
        if subtype == "stop_hook_summary" and not has_blocked and not self._calls.has_open():
            yield from self._turns.answered()


def _model(fields: Fields) -> str | None:
    """Return the model of an answer; None if Claude Code wrote the answer itself."""
    model = text(mapping(fields.get("message")), "model")
    return None if model == _SYNTHETIC else model
