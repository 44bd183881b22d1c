"""Decodes the lines of a Qwen chat, in the order in which they were written."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Permission,
    Plan,
    Prompt,
    Retry,
    Rewound,
    RunStarted,
    Text,
    TextEnded,
    Tokens,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.wire.claude.plans import plan_entries
from agentwatch.wire.claude.tools import questions_in
from agentwatch.wire.fields import Fields, in_words, mapping, number, text
from agentwatch.wire.on_disk.facts import Facts
from agentwatch.wire.on_disk.iso_time import iso_ms
from agentwatch.wire.on_disk.tree import Tree
from agentwatch.wire.on_disk.turns import Turns
from agentwatch.wire.qwen.tools import ASKING
from agentwatch.wire.qwen_chat.calls import Calls
from agentwatch.wire.qwen_chat.recognition import FORMAT, parts_of
from agentwatch.wire.qwen_chat.system_lines import system_events, telemetry, turn_end

_ADDED = "<qwen:"
"""The beginning of a part that hooks add to the user's message."""


class Decoder:
    """Decodes the lines of one chat into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._facts = Facts()
        self._tree = Tree()
        self._turns = Turns()
        self._calls = Calls()
        self._failure: str | None = None
        """Why a request failed that the agent may repeat."""
        self._is_first = True
        self._own_agent: str | bool | None = False
        """The `agentId` of a subagent whose own file this is, which may be None; False for a session."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        begun: list[Event] = []
        if self._is_first:
            self._is_first = False
            begun.append(RunStarted(FORMAT))
            self._own_agent = text(fields, "agentId") if fields.get("isSidechain") is True else True
        info = self._facts.new(fields, text(fields, "model"))
        if info is not None:
            begun.append(info)
        if self._tree.has(fields.get("uuid")):
            return begun
        return begun + list(self._events(fields))

    def end(self) -> list[Event]:
        """Return the end of the turn, if its last request failed and was not repeated."""
        return list(self._failed())

    def _events(self, fields: Fields) -> Iterator[Event]:
        agent = self._agent(fields)
        match fields.get("type"):
            case "user":
                yield from self._user(fields, agent)
            case "assistant":
                yield from self._assistant(fields, agent)
            case "tool_result":
                self._tree.add(fields.get("uuid"), fields.get("parentUuid"), is_of_last_turn=True)
                yield from self._responses(fields, agent)
            case "system":
                self._tree.add(fields.get("uuid"), fields.get("parentUuid"))
                yield from self._system(fields, agent)
            case kind:
                yield Unknown(f"type {in_words(kind)}")

    def _agent(self, fields: Fields) -> str | None:
        """Return the id of the subagent that wrote a line; None for the main agent."""
        if fields.get("isSidechain") is not True:
            return None
        agent_id = text(fields, "agentId")
        is_own = self._own_agent is not True and self._own_agent == agent_id
        return None if is_own else agent_id or "subagent"

    def _user(self, fields: Fields, agent: str | None) -> Iterator[Event]:
        responses = list(self._responses(fields, agent))
        payload, subtype = mapping(fields.get("systemPayload")), fields.get("subtype")
        words = text(payload, "displayText") or _said(fields)
        line, parent = fields.get("uuid"), fields.get("parentUuid")
        if responses or words is None or subtype in ("notification", "mid_turn_user_message"):
            self._tree.add(line, parent, is_of_last_turn=bool(responses))
            yield from responses
            if words is not None and not responses:
                message = words if subtype == "notification" else f"queued: {words}"
                yield Notice(message, iso_ms(fields.get("timestamp")))
        elif agent is not None:
            yield Prompt(words, agent)
        else:
            yield from self._failed()
            rewound = self._tree.add_prompt(line, parent, begins_turn=not self._turns.awaits_prompt)
            if rewound:
                yield Rewound(rewound)
            self._turns.prompted(None)
            yield Prompt(words)

    def _assistant(self, fields: Fields, agent: str | None) -> Iterator[Event]:
        self._failure, at_ms = None, iso_ms(fields.get("timestamp"))
        if agent is None:
            is_resumed = self._turns.resumes(None)
            self._tree.add_answer(fields.get("uuid"), fields.get("parentUuid"), begins_turn=is_resumed)
            if is_resumed:
                yield TurnStarted()
        calls, has_text = False, False
        for part in parts_of(fields):
            words = text(part, "text")
            if words is not None:
                channel = Channel.REASONING if part.get("thought") is True else Channel.ANSWER
                has_text = has_text or channel is Channel.ANSWER
                yield Text(channel, words, at_ms, agent=agent)
                yield TextEnded(channel, at_ms, agent)
            if "functionCall" in part:
                calls = True
                yield from self._call(mapping(part["functionCall"]), fields, agent)
        if agent is not None:
            return
        usage = _usage(fields, at_ms)
        if usage is not None:
            yield usage
        self._turns.wrote(None)
        if has_text and not calls:
            yield from self._turns.end(Outcome.SUCCEEDED)

    def _call(self, call: Fields, fields: Fields, agent: str | None) -> Iterator[Event]:
        started = self._calls.started(call, fields, self._facts.folder, agent)
        yield started
        if started.tool in ASKING and agent is None:
            words, call_id = questions_in(mapping(call.get("args"))), started.call_id
            at_ms = started.at_ms
            yield Permission(started.tool, None, at_ms=at_ms, key=call_id, call_id=call_id, target=words)
        if text(call, "name") == "todo_write":
            yield Plan(plan_entries(mapping(call.get("args")).get("todos")))

    def _responses(self, fields: Fields, agent: str | None) -> Iterator[Event]:
        for part in parts_of(fields):
            if "functionResponse" in part:
                yield self._calls.ended(mapping(part["functionResponse"]), fields, agent)

    def _system(self, fields: Fields, agent: str | None) -> Iterator[Event]:
        ended, event = turn_end(fields), telemetry(fields)
        if event.get("event.name") == "qwen-code.tool_call":
            self._calls.measured(event)
        if ended is None:
            yield from system_events(fields)
        elif agent is not None:
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


def _said(fields: Fields) -> str | None:
    """Return the user's words in a message, without what hooks have added."""
    said = [
        words for part in parts_of(fields) if (words := text(part, "text")) and not words.startswith(_ADDED)
    ]
    return "\n".join(said) or None


def _usage(fields: Fields, at_ms: int | None) -> Usage | None:
    counts = mapping(fields.get("usageMetadata"))
    sent = number(counts, "promptTokenCount")
    tokens = Tokens(
        sent,
        number(counts, "cachedContentTokenCount"),
        number(counts, "candidatesTokenCount"),
        context_used=sent,
        context_size=number(fields, "contextWindowSize"),
    )
    return None if tokens == Tokens() else Usage(tokens, UsageScope.REQUEST, at_ms)
