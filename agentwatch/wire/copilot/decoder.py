"""Decodes the lines of Copilot, on disk and in the stream."""

from __future__ import annotations

from agentwatch.events import (
    Channel,
    Event,
    Notice,
    Prompt,
    Rewound,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TurnStarted,
    Unknown,
)
from agentwatch.wire.copilot.calls import Calls
from agentwatch.wire.copilot.incidents import other_incident, session_incident, silent_or_unknown
from agentwatch.wire.copilot.questions import ANSWERING, ASKING, Questions, call_of
from agentwatch.wire.copilot.text import Answers, Thoughts
from agentwatch.wire.copilot.tools import ASK_USER
from agentwatch.wire.copilot.turns import Turns
from agentwatch.wire.copilot.usage import Counts, context
from agentwatch.wire.fields import Fields, in_words, items, mapping, text
from agentwatch.wire.on_disk.iso_time import time_of
from agentwatch.wire.oversize import Salvaged
from agentwatch.wire.tool import first_line

FORMAT = "copilot"
_MOST_AGENTS = 1000
_MOST_PROMPTS = 10_000
_MOST_ID = 1000
"""In characters. The ids in captures have 36."""


class Decoder:
    """Decodes lines into events, and keeps the state that later lines depend on."""

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
        self._model: str | None = None
        self._error = ""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
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

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream: none."""
        return []

    def _agent(self, fields: Fields, data: Fields) -> str | None:
        """Return the call whose subagent wrote a line; None for the main agent."""
        agent = text(fields, "agentId")
        parent = text(data, "parentToolCallId")
        return parent or (None if agent is None else self._agents.get(agent, agent))

    def _assistant(self, kind: str, data: Fields, agent: str | None, at_ms: int | None) -> list[Event]:
        match kind:
            case "assistant.message":
                return self._message(data, agent, at_ms)
            case "assistant.message_delta":
                return [] if agent is not None else self._answers.add(data, at_ms)
            case "assistant.reasoning":
                return self._thoughts.whole(data, agent, at_ms)
            case "assistant.reasoning_delta":
                return self._thoughts.add(data, agent, at_ms)
            case "assistant.usage":
                return self._counts.request(data, is_main=agent is None)
            case "assistant.turn_start" if agent is None:
                return [*self._turns.step(), *self._info(text(data, "model"))]
            case "assistant.turn_end" if agent is None:
                return [*self._answers.end(), *self._turns.step_ended()]
        return silent_or_unknown(kind)

    def _message(self, data: Fields, agent: str | None, at_ms: int | None) -> list[Event]:
        for request in map(mapping, items(data.get("toolRequests"))):
            self._calls.requested(request)
        self._counts.message(data)
        thoughts = self._thoughts.message(data, agent, at_ms)
        if agent is None:
            self._turns.message(data)
            return [*self._info(text(data, "model")), *thoughts, *self._answers.whole(data, at_ms)]
        words = text(data, "content")
        said = [] if words is None else [Text(Channel.ANSWER, words, at_ms, agent=agent)]
        return [*thoughts, *said, *([TextEnded(Channel.ANSWER, at_ms, agent)] if said else [])]

    def _tool(self, kind: str, fields: Fields, data: Fields, at_ms: int | None) -> list[Event]:
        agent = self._agent(fields, data)
        match kind:
            case "tool.execution_start":
                step = text(data, "turnId")
                group = None if step is None else f"{len(self._prompts)}/{agent or ''}/{step}"
                started = self._calls.started(data, agent=agent, group=group, at_ms=at_ms)
                return [*started, *self._calls.plan(data)]
            case "tool.execution_partial_result":
                return [self._calls.progress(data)]
            case "tool.execution_complete":
                is_whole = not isinstance(fields, Salvaged)
                return [self._calls.ended(data, agent=agent, at_ms=at_ms, is_whole=is_whole)]
        return silent_or_unknown(kind)

    def _prompt(self, fields: Fields, data: Fields, agent: str | None) -> list[Event]:
        """Read a message to an agent. One that the program sends to the main agent is no prompt."""
        words = text(data, "content") or ""
        if agent is not None:
            return [Prompt(words, agent)]
        source = text(data, "source")
        is_own = source is not None and source != "user" and not source.startswith("command")
        was_open = self._turns.is_open
        self._turns.begin()
        if is_own or data.get("isAutopilotContinuation") is True:
            notice = Notice(f"{in_words(source or 'autopilot')}: {first_line(words) or ''}")
            return [notice] if was_open else [TurnStarted(), notice]
        line = text(fields, "id")
        self._error = ""
        if line is not None and len(line) <= _MOST_ID:
            self._prompts[line] = None
            if len(self._prompts) > _MOST_PROMPTS:
                del self._prompts[next(iter(self._prompts))]
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
            if agent is not None and call_id is not None and max(len(agent), len(call_id)) <= _MOST_ID:
                self._agents[agent] = call_id
                if len(self._agents) > _MOST_AGENTS:
                    del self._agents[next(iter(self._agents))]
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
                return self._info(text(data, "newModel")) if is_main else []
            case "session.tools_updated" | "session.auto_mode_resolved":
                return self._info(text(data, "model") or text(data, "chosenModel")) if is_main else []
            case "session.title_changed":
                title = text(data, "title")
                return [] if title is None or not is_main else [RunInfo(title=title)]
            case "session.usage_record":
                return self._counts.request(mapping(data.get("usage")), is_main=is_main)
            case "session.usage_info":
                return context(data) if is_main else []
            case "session.idle":
                return [*self._answers.end(), *self._turns.idle(data)] if is_main else []
            case "session.error":
                return self._failed(data, at_ms, is_main=is_main)
            case "session.shutdown":
                is_fatal = data.get("shutdownType") == "error"
                words = text(data, "errorReason") or self._error or "the agent ended because of an error"
                ended = self._turns.failed(words) if is_fatal else self._turns.step_ended()
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
        """Read a line that continues the session, or that moves it to another folder."""
        context = mapping(data.get("context"))
        cwd = text(data, "cwd") or text(context, "cwd")
        branch = text(data, "branch") or text(context, "branch")
        self._calls.cwd = self._calls.cwd if cwd is None else cwd.rstrip("/\\")
        info = [] if cwd is None and branch is None else [RunInfo(cwd=cwd, branch=branch)]
        return [*info, *self._info(text(data, "selectedModel"))]

    def _info(self, model: str | None) -> list[Event]:
        if model is None or model == self._model:
            return []
        self._model = model
        return [RunInfo(model=model)]

    def _failed(self, data: Fields, at_ms: int | None, *, is_main: bool) -> list[Event]:
        words = text(data, "message") or text(data, "errorType") or "an error without a message"
        if not is_main:
            return [Notice(words, at_ms)]
        self._error = words[:_MOST_ID]
        return [*self._answers.end(), Notice(words, at_ms, is_error=True), *self._turns.failed(words)]

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
            case "abort":
                is_main = "agentId" not in fields
                return [*self._answers.end(), *self._turns.aborted(data)] if is_main else []
            case "result":
                ended = self._turns.result(fields, self._error)
                return [*self._answers.end(), *self._counts.result(), *ended]
        return other_incident(kind, data, at_ms)
