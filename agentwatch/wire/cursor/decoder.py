"""Decodes Cursor's `--output-format stream-json`.

The format is taken from real captures of October 2025 to October 2026. The documentation page omits these
facts: thinking events occur; in partial mode every segment of text occurs twice; the key of a tool call may
have siblings; a call may complete without a start; ids may contain a newline; numbers may be strings.
"""

from __future__ import annotations

from agentwatch.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Prompt,
    RunStarted,
    TextEnded,
    ToolEnded,
    ToolKind,
    ToolStarted,
    Unknown,
)
from agentwatch.text.paths import relative_to
from agentwatch.wire.cursor.plans import Plans
from agentwatch.wire.cursor.queries import Queries, response
from agentwatch.wire.cursor.results import Result, read_result
from agentwatch.wire.cursor.runs import run_ended
from agentwatch.wire.cursor.text import Answer, Thoughts, message_text, time_of
from agentwatch.wire.cursor.tool_calls import ToolUse, read_arguments, read_tool
from agentwatch.wire.cursor.tools import TOOLS
from agentwatch.wire.delta_frames import Burst
from agentwatch.wire.fields import Fields, in_words, mapping, number, text
from agentwatch.wire.oversize import Salvaged
from agentwatch.wire.tool import Tool

FORMAT = "cursor"

_new = tuple.__new__
"""Makes an event from all of its fields, in a quarter of the time that keywords take."""
_MOST_SHOWN_PATHS = 512
_MOST_SHOWN_CHARACTERS = 1024
_FAILS_AFTER_OUTPUT = ("shell", "mcp")
"""Tools whose `success` may be a failure. The exit code or the error flag comes after the output in the line,
so it may be missing from a line that was only partly read."""


class Decoder:
    """Decodes Cursor's lines into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._cwd = ""
        """The working directory without a trailing separator; empty if unknown."""
        self._answer = Answer()
        self._thoughts = Thoughts()
        self._plans = Plans()
        self._queries = Queries()
        self._shown_paths: dict[str, str] = {}

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        kind = fields.get("type")
        if kind == "thinking":
            return self._events(fields)
        if kind == "tool_call" and not (self._thoughts.half or self._answer.half):
            subtype = fields.get("subtype")
            if subtype in ("started", "completed"):
                self._answer.end_segment()
                return self._tool_started(fields) if subtype == "started" else self._tool_ended(fields)
        return self._thoughts.end_block() + self._events(fields)

    def streams(self, fields: Fields) -> bool:
        """Return whether a line of text is a delta. Only a whole segment has a model_call_id."""
        return fields.get("type") == "thinking" or "model_call_id" not in fields

    def burst(self, burst: Burst) -> list[Event] | None:
        """Return the events of consecutive deltas, or None if they must be decoded one by one."""
        if burst.channel is Channel.REASONING:
            return self._thoughts.add_burst(burst)
        events = self._answer.add_burst(burst)
        return None if events is None else self._thoughts.end_block() + events

    def _events(self, fields: Fields) -> list[Event]:
        match fields.get("type"), fields.get("subtype"):
            case "tool_call", "started":
                return [*self._answer.end_segment(), *self._tool_started(fields)]
            case "tool_call", "completed":
                return [*self._answer.end_segment(), *self._tool_ended(fields)]
            case "assistant", _:
                return self._answer.add_line(fields)
            case "thinking", "delta":
                return self._thoughts.add_line(fields)
            case "thinking", "completed":
                return [*self._thoughts.end_block(), TextEnded(Channel.REASONING, time_of(fields))]
            case "user", _:
                prompt = message_text(fields)
                return [Unknown("user message without text")] if prompt is None else [Prompt(prompt)]
            case "system", "init":
                return [*self._answer.end_segment(), self._run_started(fields)]
            case "result", _:
                return [*self._answer.end_segment(), *run_ended(fields)]
            case "interaction_query", "request":
                return [*self._answer.end_segment(), self._queries.request(fields)]
            case "interaction_query", "response":
                return [*self._answer.end_segment(), response(fields)]
            case "connection" | "retry" as kind, str(step):
                attempt = number(fields, "attempt")
                nth = "" if attempt is None else f", attempt {attempt}"
                return [Notice(f"{kind} {in_words(step)}{nth}", time_of(fields))]
            case "system", "task_notification":
                words = " · ".join(filter(None, (text(fields, "title"), text(fields, "status"))))
                return [Notice(f"background task {words}", time_of(fields))]
            case "system", "background_shell_timeout":
                return [Notice("background shell timed out", time_of(fields))]
            case kind, None:
                return [Unknown(f"type {in_words(kind)}")]
        return [Unknown(f"type {in_words(fields.get('type'))}/{in_words(fields.get('subtype'))}")]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream: half an emoji may still be pending."""
        return [*self._thoughts.end_block(), *self._answer.end_segment()]

    def _run_started(self, fields: Fields) -> RunStarted:
        cwd = text(fields, "cwd")
        self._cwd = (cwd or "").rstrip("/\\")
        self._shown_paths.clear()
        self._queries.clear()
        return RunStarted(
            format=FORMAT,
            session_id=text(fields, "session_id"),
            model=text(fields, "model"),
            cwd=cwd,
            permission_mode=text(fields, "permissionMode"),
            api_key_source=text(fields, "apiKeySource"),
        )

    def _tool_started(self, fields: Fields) -> list[Event]:
        use = read_tool(mapping(fields.get("tool_call")))
        name, tool, body, _ = use
        arguments, call_id = read_arguments(body), text(fields, "call_id") or _other_id(fields)
        target, path = self._described(use, call_id, arguments)
        started = _new(
            ToolStarted,
            (
                call_id,
                text(fields, "session_id"),
                name,
                tool.kind,
                tool.phrase,
                target,
                path,
                text(fields, "model_call_id"),
                number(arguments, "timeout"),
                number(fields, "timestamp_ms"),
                None,
                (),
                False,
            ),
        )
        if tool.kind is ToolKind.PLAN:
            self._plans.start(call_id, arguments)
        return [started] if name in TOOLS or use.is_known else [started, *_unknown(use)]

    def _tool_ended(self, fields: Fields) -> list[Event]:
        use = read_tool(mapping(fields.get("tool_call")))
        name, tool, body, _ = use
        result = _result(use, fields)
        outcome, result_body, error, exit_code, facts, unknown_variant = result
        arguments, call_id = read_arguments(body), text(fields, "call_id") or _other_id(fields)
        target, path = self._described(use, call_id, arguments)
        if self._queries.asked:
            self._queries.forget(call_id)
        is_described = not (target is None or (target == name and name not in TOOLS))
        if not is_described:
            target, path = self._target(tool, result_body)
        ended = _new(
            ToolEnded,
            (
                call_id,
                text(fields, "session_id"),
                name,
                tool.kind,
                outcome,
                facts.phrase or tool.phrase,
                is_described,
                target,
                path,
                text(fields, "model_call_id"),
                error,
                facts.note,
                exit_code,
                facts.is_new_file,
                facts.lines_added,
                facts.lines_removed,
                number(fields, "timestamp_ms"),
                None,
                (),
                None,
                None,
                True,
            ),
        )
        events: list[Event] = [ended]
        if tool.kind is ToolKind.PLAN:
            plan = self._plans.end(call_id, arguments, result_body)
            events += [plan] if plan is not None and outcome is Outcome.SUCCEEDED else []
        if unknown_variant is None and (name in TOOLS or use.is_known):
            return events
        return [*events, *_unknown(use, result)]

    def _described(self, use: ToolUse, call_id: str, arguments: Fields) -> tuple[str | None, str | None]:
        """Return the target and the file in the arguments of a call, or else the target in its query."""
        target, path = self._target(use.tool, arguments)
        if target is None or (target == use.name and use.name not in TOOLS):
            return self._queries.target(call_id, use.name) or target, path
        if self._queries.asked:
            self._queries.forget(call_id)
        return target, path

    def _target(self, tool: Tool, arguments: Fields) -> tuple[str | None, str | None]:
        """Return the target of a call as it is shown, and the first file that the call acts on."""
        paths = tool.paths(arguments)
        if len(paths) == 1:
            return self._shown(paths[0]), paths[0]
        if paths:
            return ", ".join(map(self._shown, paths)), paths[0]
        return tool.target(arguments), None

    def _shown(self, path: str) -> str:
        """Return a path relative to the cwd if it is inside the cwd, otherwise unchanged."""
        shown = self._shown_paths.get(path)
        if shown is None:
            shown = relative_to(path, self._cwd) or path
            if len(path) <= _MOST_SHOWN_CHARACTERS:
                if len(self._shown_paths) >= _MOST_SHOWN_PATHS:
                    self._shown_paths.clear()
                self._shown_paths[path] = shown
        return shown


def _other_id(fields: Fields) -> str:
    """Return the id of a call whose line has none at the top."""
    return text(mapping(fields.get("tool_call")), "toolCallId") or ""


def _result(use: ToolUse, fields: Fields) -> Result:
    """Return the result of a call. A line that was only partly read may lack what decides the outcome."""
    result = read_result(use.tool, use.body.get("result"), is_free=use.is_function)
    if not isinstance(fields, Salvaged):
        return result
    is_open = result.outcome is Outcome.SUCCEEDED and use.name in _FAILS_AFTER_OUTPUT
    if is_open or (result.outcome is Outcome.RETURNED and result.unknown_variant is None):
        return Result(Outcome.RETURNED, error="its line is too large to be read")
    return result


def _unknown(use: ToolUse, result: Result | None = None) -> list[Unknown]:
    """Return what this version does not know about a call's line: the tool, and the variant of its result."""
    found = [] if use.is_known else [Unknown(f"tool {in_words(use.name)}")]
    if result is not None and result.unknown_variant is not None:
        found.append(Unknown(f"result {in_words(result.unknown_variant)} of tool {in_words(use.name)}"))
    return found
