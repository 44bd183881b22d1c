"""Decodes the lines of `opencode run --format json`, and those made of stored sessions.

The stream is described by captures of 1.18.33 and by the source of the command. Each line has `type`,
`timestamp` and `sessionID`, and a `part` or an `error`. A call appears once, when it has ended. Lines are in
the order of completion: a call may come before the text that preceded it, but the texts are in order. The
order of the lines is therefore kept. Nothing ends the stream: the reason of the last step says how the turn
ended.

A stored line of type `part` has a part in any state, and the role of its message. A line that repeats the id
of a part replaces it: an open call ends, a text grows. The lines of a subagent's session have the call_id of
the call as `agent`.
"""

from __future__ import annotations

from agentwatch.events import (
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
    ToolEnded,
    ToolKind,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from agentwatch.text.paths import relative_to
from agentwatch.wire.fields import Fields, in_words, mapping, number, text
from agentwatch.wire.opencode.results import IS_OPEN, Result, read_result
from agentwatch.wire.opencode.steps import error_message, turn_outcome, usage
from agentwatch.wire.opencode.texts import Texts
from agentwatch.wire.opencode.tools import (
    QUESTION,
    first_question,
    metadata_of,
    plan_entries,
    tool_named,
)
from agentwatch.wire.tool import Tool

FORMAT = "opencode"
_WITHOUT_EVENTS = ("snapshot", "patch", "agent", "file")
"""Parts that repeat what other parts report, and the files that the user attached."""
_NO_TITLE = "New session - "
"""The beginning of the title of a session that has none yet; the time follows."""
_PART_OF = {
    "step_start": "step-start",
    "step_finish": "step-finish",
    "tool_use": "tool",
    "text": "text",
    "reasoning": "reasoning",
}
"""The type of the part in a line of the stream, if the part does not name it."""
_MOST_PROMPTS = 1000
"""The number of the last prompts to which the user may go back."""


class Decoder:
    """Decodes opencode's lines into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._session_id: str | None = None
        self._cwd = ""
        """The working directory without a trailing separator; empty if unknown."""
        self._texts = Texts()
        self._is_over = False
        """Whether the turn has ended."""
        self._calls_in_step = False
        """Whether the model has requested calls in this step: another step follows, whatever its reason."""
        self._prompts: list[str | None] = []
        """The ids of the last messages whose text was a prompt."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        agent = text(fields, "agent")
        events = [] if agent is not None else self._begin(fields)
        match fields.get("type"):
            case "session":
                info = mapping(fields.get("info"))
                return [*events, self._info(info), *self._rewound(mapping(info.get("revert")))]
            case "message":
                return [*events, *self._message(mapping(fields.get("info")), agent)]
            case "error":
                return [*events, self._failed(fields.get("error"))]
            case "step_start" | "step_finish" | "text" | "reasoning" | "tool_use" | "part":
                return [*events, *self._part(fields, mapping(fields.get("part")), agent)]
        return [*events, Unknown(f"type {in_words(fields.get('type'))}")]

    def end(self) -> list[Event]:
        """Return no events: each line is complete in itself."""
        return []

    def _begin(self, fields: Fields) -> list[Event]:
        """Begin a run if the session is another one than before."""
        session_id = text(fields, "sessionID")
        if session_id is None or session_id == self._session_id:
            return []
        events = self._texts.close()
        self._session_id, self._cwd, self._texts = session_id, "", Texts()
        self._is_over = self._calls_in_step = False
        self._prompts.clear()
        events.append(RunStarted(FORMAT, session_id))
        is_stored = fields.get("type") in ("session", "message", "part")
        return events if is_stored else [*events, TurnStarted()]

    def _info(self, info: Fields) -> RunInfo:
        cwd = text(info, "directory")
        self._cwd = (cwd or self._cwd).rstrip("/\\")
        model = text(mapping(info.get("model")), "id")
        title = text(info, "title")
        if title is not None and title.startswith(_NO_TITLE):
            title = None
        return RunInfo(model=model, cwd=cwd, agent_version=text(info, "version"), title=title)

    def _rewound(self, revert: Fields) -> list[Event]:
        """Return that the user went back to before a prompt; the conversation continues from there."""
        message_id = text(revert, "messageID")
        if message_id not in self._prompts or message_id is None:
            return []
        kept = self._prompts.index(message_id)
        turns = len(self._prompts) - kept
        del self._prompts[kept:]
        return [*self._texts.close(), Rewound(turns)]

    def _message(self, info: Fields, agent: str | None) -> list[Event]:
        """Return what a message says about the run, and how it ended."""
        if info.get("role") != "assistant":
            return []
        if agent is not None:
            message = error_message(info.get("error"))
            return [] if message is None else [Notice(f"subagent: {message}")]
        path = mapping(info.get("path"))
        cwd = text(path, "cwd") or text(info, "path")
        self._cwd = (self._cwd or cwd or "").rstrip("/\\")
        model = text(info, "modelID") or text(mapping(info.get("model")), "modelID")
        events: list[Event] = [RunInfo(model=model, cwd=self._cwd or None)]
        error = info.get("error")
        if error and isinstance(error, (dict, str)):
            return [*events, self._failed(error)]
        if info.get("summary") is True and number(mapping(info.get("time")), "completed") is not None:
            return [*events, Compaction(is_over=True)]
        return events

    def _failed(self, error: object) -> TurnEnded:
        self._is_over = True
        is_aborted = mapping(error).get("name") == "MessageAbortedError"
        outcome = Outcome.CANCELLED if is_aborted else Outcome.FAILED
        return TurnEnded(outcome, error_message(error) or "an error without a message", self._session_id)

    def _part(self, line: Fields, part: Fields, agent: str | None) -> list[Event]:
        message = mapping(line.get("message"))
        match part.get("type", _PART_OF.get(in_words(line.get("type")))):
            case "text" if message.get("role") == "user":
                return self._prompt(part, message, agent)
            case "text":
                is_summary = message.get("summary") is True
                return self._texts.add(part, Channel.REASONING if is_summary else Channel.ANSWER, agent)
            case "reasoning":
                return self._texts.add(part, Channel.REASONING, agent)
            case "tool":
                self._calls_in_step = self._calls_in_step or agent is None
                return [*self._texts.close(), *self._tool(line, part, agent)]
            case "step-start":
                return self._step_started(message, agent)
            case "step-finish":
                return self._step_finished(part, message, agent)
            case "compaction":
                trigger = "auto" if part.get("auto") is True else "manual"
                return [] if agent is not None else [Compaction(is_over=False, trigger=trigger)]
            case "retry":
                return [Retry(error_message(part.get("error")) or "", number(part, "attempt"))]
            case "subtask":
                return self._prompt({**part, "text": part.get("prompt")}, message, agent)
            case str(kind) if kind in _WITHOUT_EVENTS:
                return []
        return [Unknown(f"part {in_words(part.get('type'))}")]

    def _prompt(self, part: Fields, message: Fields, agent: str | None) -> list[Event]:
        """Return the user's text, without what opencode adds to a message, such as the content of a file."""
        words = text(part, "text")
        if words is None or part.get("synthetic") is True or part.get("ignored") is True:
            return []
        message_id = text(message, "id")
        if agent is not None:
            return [*self._texts.close(), Prompt(words, agent)]
        if message_id is not None and message_id in self._prompts[-1:]:
            return [Notice(words)]
        self._prompts = [*self._prompts[1 - _MOST_PROMPTS :], message_id]
        self._is_over = False
        return [*self._texts.close(), Prompt(words)]

    def _step_started(self, message: Fields, agent: str | None) -> list[Event]:
        events = self._texts.close()
        if agent is not None or message.get("summary") is True:
            return events
        self._calls_in_step = False
        if not self._is_over:
            return events
        self._is_over = False
        return [*events, TurnStarted()]

    def _step_finished(self, part: Fields, message: Fields, agent: str | None) -> list[Event]:
        events: list[Event] = self._texts.close()
        if agent is not None:
            return events
        events.append(usage(part))
        outcome = turn_outcome(part.get("reason"))
        if outcome is None or self._calls_in_step or message.get("summary") is True:
            return events
        self._is_over = True
        words = None if outcome is Outcome.SUCCEEDED else f"the model stopped: {in_words(part.get('reason'))}"
        return [*events, TurnEnded(outcome, words, self._session_id)]

    def _tool(self, line: Fields, part: Fields, agent: str | None) -> list[Event]:
        name, state = text(part, "tool") or "", mapping(part.get("state"))
        tool, call_id = tool_named(name), text(part, "callID") or text(part, "id") or ""
        arguments, time = mapping(state.get("input")), mapping(state.get("time"))
        target, paths = self._target(tool, arguments)
        if state.get("status") in IS_OPEN:
            started = ToolStarted(
                call_id=call_id,
                session_id=None,
                tool=name,
                kind=tool.kind,
                phrase=tool.phrase,
                target=target,
                path=paths[0] if paths else None,
                group=text(part, "messageID"),
                limit_ms=number(arguments, "timeout"),
                at_ms=number(time, "start"),
                agent=agent,
                more_paths=tuple(paths[1:]),
                is_update=True,
            )
            events: list[Event] = [started]
            if name == QUESTION and agent is None:
                words = first_question(arguments)
                events.append(Permission(name, None, None, started.at_ms, call_id, call_id, words))
            if output := text(metadata_of(state), "output"):
                events.append(ToolProgress(call_id, None, output, is_whole=True))
            return events
        result = read_result(name, tool, state, line)
        ended = ToolEnded(
            call_id=call_id,
            session_id=None,
            tool=name,
            kind=tool.kind,
            outcome=result.outcome,
            phrase=result.facts.phrase or tool.phrase,
            has_arguments=bool(arguments),
            target=target,
            path=paths[0] if paths else None,
            group=text(part, "messageID"),
            error=result.error,
            note=result.facts.note,
            exit_code=result.exit_code,
            is_new_file=result.facts.is_new_file,
            lines_added=result.facts.lines_added,
            lines_removed=result.facts.lines_removed,
            at_ms=number(time, "end"),
            agent=agent,
            more_paths=tuple(paths[1:]),
            started_ms=number(time, "start"),
        )
        return [ended, *self._plan(tool, state, result, agent), *_unknown(name, result)]

    @staticmethod
    def _plan(tool: Tool, state: Fields, result: Result, agent: str | None) -> list[Event]:
        """Return the main agent's to-do list after a call that has written it."""
        is_written = tool.kind is ToolKind.PLAN and result.outcome is Outcome.SUCCEEDED and agent is None
        return [Plan(plan_entries(state))] if is_written else []

    def _target(self, tool: Tool, arguments: Fields) -> tuple[str | None, list[str]]:
        """Return the target of a call as it is shown, and the files that the call acts on."""
        paths = tool.paths(arguments)
        if not paths:
            return tool.target(arguments), []
        return ", ".join(relative_to(path, self._cwd) or path for path in paths), paths


def _unknown(name: str, result: Result) -> list[Event]:
    if result.unknown_status is None:
        return []
    return [Unknown(f"state {result.unknown_status} of tool {in_words(name)}")]
