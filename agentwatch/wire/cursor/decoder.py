"""Decodes Cursor's `--output-format stream-json`.

The format is taken from real captures of February to September 2026. The documentation page omits these
facts: thinking events occur; in partial mode every segment of text occurs twice; the key of a tool call may
have siblings; a call may complete without a start; ids may contain a newline; numbers may be strings.
"""

from __future__ import annotations

from agentwatch.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Permission,
    Prompt,
    RunStarted,
    TextEnded,
    ToolEnded,
    ToolKind,
    ToolStarted,
    Unknown,
)
from agentwatch.paths import relative_to
from agentwatch.wire.cursor.plans import Plans
from agentwatch.wire.cursor.results import Result, read_result
from agentwatch.wire.cursor.runs import run_ended
from agentwatch.wire.cursor.text import Answer, Thoughts, message_text, time_of
from agentwatch.wire.cursor.tools import NAMED_IN_THE_WILD, TOOLS, Tool, other_tool
from agentwatch.wire.delta_frames import Burst
from agentwatch.wire.fields import Fields, in_words, mapping, number, text
from agentwatch.wire.oversize import Salvaged

FORMAT = "cursor"

_TOOL_KEY = "ToolCall"
_BY_KEY = {f"{name}{_TOOL_KEY}": (name, tool) for name, tool in TOOLS.items()}
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

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        if fields.get("type") == "thinking":
            return self._events(fields)
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
                return [*self._answer.end_segment(), run_ended(fields)]
            case "interaction_query", "request":
                question = Permission(_query_subject(fields), answer=None, at_ms=time_of(fields))
                return [*self._answer.end_segment(), question]
            case "interaction_query", "response":
                return [*self._answer.end_segment(), _permission(fields)]
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
        return RunStarted(
            format=FORMAT,
            session_id=text(fields, "session_id"),
            model=text(fields, "model"),
            cwd=cwd,
            permission_mode=text(fields, "permissionMode"),
            api_key_source=text(fields, "apiKeySource"),
        )

    def _tool_started(self, fields: Fields) -> list[Event]:
        name, tool, body = read_tool(fields)
        arguments = read_arguments(body)
        target, path = self._target(tool, arguments)
        started = ToolStarted(
            call_id=_call_id(fields),
            session_id=text(fields, "session_id"),
            tool=name,
            kind=tool.kind,
            phrase=tool.phrase,
            target=target,
            path=path,
            group=text(fields, "model_call_id"),
            limit_ms=number(arguments, "timeout"),
            at_ms=time_of(fields),
        )
        if tool.kind is ToolKind.PLAN:
            self._plans.start(started.call_id, arguments)
        return [started] if name in TOOLS else [started, *_unknown_tool(name)]

    def _tool_ended(self, fields: Fields) -> list[Event]:
        name, tool, body = read_tool(fields)
        result = read_result(tool, body.get("result"))
        is_cut = isinstance(fields, Salvaged) and name in _FAILS_AFTER_OUTPUT
        if is_cut and result.outcome is Outcome.SUCCEEDED:
            result = Result(Outcome.UNFINISHED, error="its result is too large to be read")
        arguments = read_arguments(body)
        target, path = self._target(tool, arguments or result.body)
        ended = ToolEnded(
            call_id=_call_id(fields),
            session_id=text(fields, "session_id"),
            tool=name,
            kind=tool.kind,
            outcome=result.outcome,
            phrase=result.facts.phrase or tool.phrase,
            has_arguments=bool(arguments),
            target=target,
            path=path,
            group=text(fields, "model_call_id"),
            error=result.error,
            note=result.facts.note,
            exit_code=result.exit_code,
            is_new_file=result.facts.is_new_file,
            lines_added=result.facts.lines_added,
            lines_removed=result.facts.lines_removed,
            at_ms=time_of(fields),
        )
        events: list[Event] = [ended]
        if tool.kind is ToolKind.PLAN:
            plan = self._plans.end(ended.call_id, arguments, result.body)
            events += [plan] if plan is not None and result.outcome is Outcome.SUCCEEDED else []
        if name in TOOLS and result.unknown_variant is None:
            return events
        return [*events, *_unknown_tool(name), *_unknown_variant(name, result)]

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
        return relative_to(path, self._cwd) or path


def _call_id(fields: Fields) -> str:
    return text(fields, "call_id") or text(mapping(fields.get("tool_call")), "toolCallId") or ""


def read_tool(fields: Fields) -> tuple[str, Tool, Fields]:
    """Return the name of a call's tool, its description, and the object under the tool's key.

    In `{"tool_call": {"readToolCall": {...}, "toolCallId": "1"}}` the name is `read`. A tool without a key of
    its own is named in the object under `function`. Siblings of the key are ignored.
    """
    call = mapping(fields.get("tool_call"))
    for key, value in call.items():
        if key in _BY_KEY:
            name, tool = _BY_KEY[key]
            return name, tool, value if type(value) is dict else mapping(value)
        if key.endswith(_TOOL_KEY) and len(key) > len(_TOOL_KEY):
            name = key.removesuffix(_TOOL_KEY)
            return name, other_tool(name), mapping(value)
    body = mapping(call.get("function"))
    name = text(body, "name") or "unknown"
    return name, TOOLS.get(name) or other_tool(name), body


def read_arguments(body: Fields) -> Fields:
    """Return the arguments of a call: the object under `args`, or else under `arguments`.

    Args:
        body: The object under the tool's key.
    """
    given = body.get("args")
    if type(given) is dict and given:
        return given
    return mapping(given) or mapping(body.get("arguments"))


def _unknown_tool(name: str) -> list[Unknown]:
    return [] if name in TOOLS or name in NAMED_IN_THE_WILD else [Unknown(f"tool {in_words(name)}")]


def _unknown_variant(name: str, result: Result) -> list[Unknown]:
    if result.unknown_variant is None:
        return []
    return [Unknown(f"result {in_words(result.unknown_variant)} of tool {in_words(name)}")]


def _query_subject(fields: Fields) -> str:
    """Return the subject of a query: `webFetchRequestQuery` is about `webFetch`."""
    name = text(fields, "query_type") or "interaction"
    for ending in ("RequestQuery", "InteractionQuery", "Query"):
        name = name.removesuffix(ending)
    return name


def _permission(fields: Fields) -> Permission:
    """Read a response to a query. `approved` or `rejected`, with its reason, may be inside `result`."""
    answer: str | None = None
    reason = None
    for key, value in mapping(fields.get("response")).items():
        body = mapping(value)
        body = mapping(body.get("result")) or body
        if key != "id" and body:
            answer = next(iter(body))
            reason = text(mapping(body[answer]), "reason")
    subject = _query_subject(fields)
    return Permission(subject, answer or "answered", reason, time_of(fields))
