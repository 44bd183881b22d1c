"""Cursor's `--output-format stream-json`, as real captures from February to September 2026 show it.

The documentation page tells less than half of it. What it leaves out: thinking does come; in partial
mode every segment of text comes twice; a tool call's key may have siblings; a call may be completed
without having been started; ids may hold a newline; numbers may be strings.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Part,
    Permission,
    Prompt,
    RunStarted,
    TextEnded,
    ToolEnded,
    ToolStarted,
    Unknown,
)
from agentwatch.wire.cursor.known_fields import drift
from agentwatch.wire.cursor.results import RETOLD, Result, argument_parts, read_result, result_parts
from agentwatch.wire.cursor.runs import run_ended
from agentwatch.wire.cursor.text import Answer, Thoughts, message_text, time_of
from agentwatch.wire.cursor.tools import NAMED_IN_THE_WILD, TOOLS, Tool, other_tool
from agentwatch.wire.delta_frames import Burst
from agentwatch.wire.fields import Fields, mapping, number, text
from agentwatch.wire.oversize import Salvaged

__all__ = ["FORMAT", "RETOLD", "Decoder", "drift", "parts", "recognises"]

FORMAT = "cursor"

_OWN_TYPES = frozenset({"tool_call", "thinking", "interaction_query", "connection", "retry"})
_SHARED_TYPES = frozenset({"user", "assistant", "result"})
_TOOL_KEY = "ToolCall"
_BY_KEY = {f"{name}{_TOOL_KEY}": (name, tool) for name, tool in TOOLS.items()}
_TELLING_LATE = ("shell", "mcp")
"""Tools whose success may yet be a failure, by an exit code or a mark behind the output."""
_INIT_FIELDS = frozenset({"cwd", "model", "permissionMode"})
_CLAUDE_MARKS = frozenset({"uuid", "parent_tool_use_id", "num_turns", "sessionId", "toolName"})


def recognises(fields: Fields) -> bool:
    """Return whether a line can only be Cursor's, by the keys at its top.

    Of all inits Cursor's alone lists no tools; `apiKeySource` tells it from Claude's all the same: the
    sets of their values do not meet.
    """
    kind = fields.get("type")
    if not isinstance(kind, str):
        return False
    if not _CLAUDE_MARKS.isdisjoint(fields):
        return False
    if kind == "system" and fields.get("subtype") == "init":
        known_source = fields.get("apiKeySource") in ("login", "env", "flag")
        return known_source or ("tools" not in fields and not _INIT_FIELDS.isdisjoint(fields))
    if kind in _SHARED_TYPES:
        message = mapping(fields.get("message"))
        return "session_id" in fields and "id" not in message and "usage" not in message
    return kind in _OWN_TYPES


class Decoder:
    """Turns Cursor's lines into events; remembers what the meaning of the next line depends on."""

    def __init__(self) -> None:
        self._cwd = ""
        """Without a separator at its end; empty where the agent did not tell it."""
        self._answer = Answer()
        self._thoughts = Thoughts()

    def decode(self, fields: Fields) -> list[Event]:
        """Return what one line says."""
        if fields.get("type") == "thinking":
            return self._said(fields)
        return self._thoughts.end_block() + self._said(fields)

    def streams(self, fields: Fields) -> bool:
        """Return whether a line is a delta: the only other text comes in whole segments, by their model."""
        return fields.get("type") == "thinking" or "model_call_id" not in fields

    def burst(self, burst: Burst) -> list[Event] | None:
        """Return what deltas say together; None when they are to be read one by one."""
        if burst.channel is Channel.REASONING:
            return self._thoughts.take_burst(burst)
        said = self._answer.take_burst(burst)
        return None if said is None else self._thoughts.end_block() + said

    def _said(self, fields: Fields) -> list[Event]:
        match fields.get("type"), fields.get("subtype"):
            case "tool_call", "started":
                return [*self._answer.end_segment(), *self._tool_started(fields)]
            case "tool_call", "completed":
                return [*self._answer.end_segment(), *self._tool_ended(fields)]
            case "assistant", _:
                return self._answer.take(fields)
            case "thinking", "delta":
                return self._thoughts.take(fields)
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
                asked = Permission(_query_subject(fields), None, at_ms=time_of(fields))
                return [*self._answer.end_segment(), asked]
            case "interaction_query", "response":
                return [*self._answer.end_segment(), _permission(fields)]
            case "connection" | "retry" as kind, str(step):
                attempt = number(fields, "attempt")
                nth = "" if attempt is None else f", attempt {attempt}"
                return [Notice(f"{kind} {step}{nth}", time_of(fields))]
            case "system", "task_notification":
                told = (text(fields, "title"), text(fields, "status"))
                words = " · ".join(word for word in told if word)
                return [Notice(f"background task {words}", time_of(fields))]
            case "system", "background_shell_timeout":
                return [Notice("a background shell timed out", time_of(fields))]
            case kind, None:
                return [Unknown(f"type {kind}")]
        return [Unknown(f"type {fields.get('type')}/{fields.get('subtype')}")]

    def end(self) -> list[Event]:
        """Return what the end of the stream says: half an emoji may have been waiting for the other."""
        return [*self._thoughts.end_block(), *self._answer.end_segment()]

    def _run_started(self, fields: Fields) -> RunStarted:
        cwd = text(fields, "cwd")
        self._cwd = (cwd or "").rstrip("/\\")
        return RunStarted(
            FORMAT,
            text(fields, "session_id"),
            text(fields, "model"),
            cwd,
            text(fields, "permissionMode"),
            text(fields, "apiKeySource"),
        )

    def _tool_started(self, fields: Fields) -> list[Event]:
        name, tool, body = _tool(fields)
        arguments = _arguments(body)
        target, path = self._target(tool, arguments)
        started = ToolStarted(
            text(fields, "call_id") or _id_beside_the_tool(fields),
            text(fields, "session_id"),
            name,
            tool.phrase,
            target,
            path,
            text(fields, "model_call_id"),
            number(arguments, "timeout"),
            time_of(fields),
        )
        return [started] if name in TOOLS else [started, *_unknown_tool(name)]

    def _tool_ended(self, fields: Fields) -> list[Event]:
        name, tool, body = _tool(fields)
        result = read_result(tool, body.get("result"))
        if isinstance(fields, Salvaged) and name in _TELLING_LATE and result.outcome is Outcome.SUCCEEDED:
            result = Result(Outcome.UNFINISHED, error="its result is too large to be read")
        arguments = _arguments(body)
        target, path = self._target(tool, arguments or result.body)
        ended = ToolEnded(
            text(fields, "call_id") or _id_beside_the_tool(fields),
            text(fields, "session_id"),
            name,
            result.outcome,
            result.facts.phrase or tool.phrase,
            bool(arguments),
            target,
            path,
            text(fields, "model_call_id"),
            result.error,
            result.facts.note,
            result.exit_code,
            result.facts.lines_added,
            result.facts.lines_removed,
            time_of(fields),
        )
        if name in TOOLS and result.unknown_variant is None:
            return [ended]
        return [ended, *_unknown_tool(name), *_unknown_variant(name, result)]

    def _target(self, tool: Tool, arguments: Fields) -> tuple[str | None, str | None]:
        """Return what a call is about, as it is shown, and the file that it is about."""
        paths = tool.paths(arguments)
        if len(paths) == 1:
            return self._shown(paths[0]), paths[0]
        if paths:
            return ", ".join(map(self._shown, paths)), paths[0]
        return tool.target(arguments), None

    def _shown(self, path: str) -> str:
        """Return a path inside the cwd relative to it, by the rules of the agent's system."""
        cwd = self._cwd
        if not cwd:
            return path
        begins, rest = path[: len(cwd)], path[len(cwd) :]
        separators = "/"
        if cwd[1:2] == ":" or cwd.startswith("\\\\"):
            cwd, begins = (name.replace("\\", "/").lower() for name in (cwd, begins))
            separators = "/\\"
        if begins != cwd or (rest and rest[0] not in separators):
            return path
        return rest.lstrip(separators) or "."


def parts(fields: Fields) -> Iterator[Part]:
    """Yield what a line of a tool call carries for the detail of the call: a result, or arguments."""
    _, _, body = _tool(fields)
    if "result" in body:
        yield from result_parts(body["result"])
    else:
        yield from argument_parts(_arguments(body))


def _id_beside_the_tool(fields: Fields) -> str:
    return text(mapping(fields.get("tool_call")), "toolCallId") or ""


def _tool(fields: Fields) -> tuple[str, Tool, Fields]:
    """Return a call's tool, how it is told, and what stands under its key, siblings passed over."""
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


def _arguments(body: Fields) -> Fields:
    given = body.get("args")
    if type(given) is dict and given:
        return given
    return mapping(given) or mapping(body.get("arguments"))


def _unknown_tool(name: str) -> list[Unknown]:
    return [] if name in TOOLS or name in NAMED_IN_THE_WILD else [Unknown(f"tool {name}")]


def _unknown_variant(name: str, result: Result) -> list[Unknown]:
    if result.unknown_variant is None:
        return []
    return [Unknown(f"result {result.unknown_variant} of tool {name}")]


def _query_subject(fields: Fields) -> str:
    """Return what was asked for: `webFetchRequestQuery` is `webFetch`."""
    name = text(fields, "query_type") or "interaction"
    for ending in ("RequestQuery", "InteractionQuery", "Query"):
        name = name.removesuffix(ending)
    return name


def _permission(fields: Fields) -> Permission:
    """Read a response: `approved`, `rejected` with its reason, or either under `result`."""
    answer: str | None = None
    reason = None
    for key, value in mapping(fields.get("response")).items():
        told = mapping(value)
        told = mapping(told.get("result")) or told
        if key != "id" and told:
            answer = next(iter(told))
            reason = text(mapping(told[answer]), "reason")
    subject = _query_subject(fields)
    return Permission(subject, answer or "answered", reason, time_of(fields))
