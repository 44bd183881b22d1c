"""Makes the events of Copilot's tool calls, and keeps what the lines of open calls depend on."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from agentwatch.events import Event, Permission, Plan, ToolEnded, ToolProgress, ToolStarted
from agentwatch.text.paths import relative_to
from agentwatch.wire.copilot.results import read_result
from agentwatch.wire.copilot.tools import ASK_USER, plan_entries, read_arguments, tool_of
from agentwatch.wire.fields import Fields, text
from agentwatch.wire.tool import Tool, first_line

_Value = TypeVar("_Value")
_MOST_OPEN = 256
_MOST_NAME = 1000
"""In characters. The ids in captures have at most 64."""
_COMPARED = 256
"""In characters. Two outputs that begin alike are one output that grows."""
_MOST_KEPT = 10_000
"""In characters, of the arguments of a call that is announced and has not started."""


class _Known(NamedTuple):
    """What is known of a call before its end."""

    name: str
    tool: Tool
    target: str | None
    paths: tuple[str, ...]


class Calls:
    """The calls of one recording."""

    def __init__(self) -> None:
        self.cwd = ""
        """The working directory without a trailing separator; empty if unknown."""
        self._known: dict[str, _Known] = {}
        """The calls that have not ended, by their id; at most 256, as the next two."""
        self._answers: dict[str, str] = {}
        """The answers to the questions whether a call may run."""
        self._outputs: dict[str, tuple[int, str]] = {}
        """The length and the beginning of the last output of a call."""

    def name_of(self, call_id: str | None) -> str | None:
        """Return the name of the tool of a call that has not ended; None if unknown."""
        known = self._known.get(call_id or "")
        return None if known is None else known.name

    def requested(self, request: Fields) -> None:
        """Keep a call that a message announces. Older versions write no line when it starts."""
        call_id, arguments = text(request, "toolCallId"), read_arguments(request.get("arguments"))
        size = sum(len(value) for value in arguments.values() if isinstance(value, str))
        if call_id is not None and call_id not in self._known and size <= _MOST_KEPT:
            self._keep(call_id, self._read(text(request, "name") or "tool", arguments, request))

    def started(
        self, data: Fields, *, agent: str | None, group: str | None, at_ms: int | None
    ) -> list[Event]:
        """Return the events of a call's start. One that asks the user something is a question."""
        call_id, arguments = text(data, "toolCallId") or "", read_arguments(data.get("arguments"))
        known = self._read(text(data, "toolName") or "tool", arguments, data)
        self._keep(call_id, known)
        started = ToolStarted(
            call_id=call_id,
            session_id=None,
            tool=known.name,
            kind=known.tool.kind,
            phrase=known.tool.phrase,
            target=known.target,
            path=known.paths[0] if known.paths else None,
            group=group,
            at_ms=at_ms,
            agent=agent,
            more_paths=known.paths[1:],
        )
        if known.name != ASK_USER:
            return [started]
        question = first_line(text(arguments, "question") or text(arguments, "message"))
        return [
            started,
            Permission(ASK_USER, None, at_ms=at_ms, key=call_id, call_id=call_id, target=question),
        ]

    def progress(self, data: Fields) -> ToolProgress:
        """Read the output of a call so far.

        Its lines contain all of the output, or what is new. In captures, the same output came twice in a row.
        """
        call_id, output = text(data, "toolCallId") or "", text(data, "partialOutput") or ""
        length, start = self._outputs.get(call_id, (0, ""))
        is_whole = length > 0 and len(output) >= length and output.startswith(start)
        if len(call_id) <= _MOST_NAME:
            self._outputs[call_id] = len(output), output[:_COMPARED]
            _bound(self._outputs)
        return ToolProgress(call_id, None, output or None, is_whole=is_whole)

    def answered(self, call_id: str | None, kind: str | None) -> None:
        """Keep the answer to the question whether a call may run."""
        if call_id is not None and kind is not None and max(len(call_id), len(kind)) <= _MOST_NAME:
            self._answers[call_id] = kind
            _bound(self._answers)

    def ended(self, data: Fields, *, agent: str | None, at_ms: int | None, is_whole: bool) -> ToolEnded:
        """Return a call's end. Of a line that is too large, not all was read."""
        call_id = text(data, "toolCallId") or ""
        known = self._known.pop(call_id, None)
        self._outputs.pop(call_id, None)
        name = known.name if known is not None else text(data, "toolName") or "tool"
        tool = known.tool if known is not None else self._read(name, {}, data).tool
        result = read_result(tool, data, self._answers.pop(call_id, None), is_whole=is_whole)
        return ToolEnded(
            call_id=call_id,
            session_id=None,
            tool=name,
            kind=tool.kind,
            outcome=result.outcome,
            phrase=result.facts.phrase or tool.phrase,
            target=known.target if known is not None else None,
            path=known.paths[0] if known is not None and known.paths else None,
            error=result.error,
            note=result.facts.note,
            exit_code=result.exit_code,
            is_new_file=result.facts.is_new_file,
            lines_added=result.facts.lines_added,
            lines_removed=result.facts.lines_removed,
            at_ms=at_ms,
            agent=agent,
        )

    def plan(self, data: Fields) -> list[Event]:
        """Return the to-do list of a call that has started."""
        arguments = read_arguments(data.get("arguments"))
        entries = plan_entries(arguments) if text(data, "toolName") == "update_todo" else ()
        return [Plan(entries)] if entries else []

    def _read(self, name: str, arguments: Fields, data: Fields) -> _Known:
        server = text(data, "mcpServerName")
        tool = tool_of(name, arguments, server, text(data, "mcpToolName"))
        paths = tuple(tool.paths(arguments))
        shown = ", ".join(relative_to(path, self.cwd) or path for path in paths)
        return _Known(name, tool, shown or tool.target(arguments), paths)

    def _keep(self, call_id: str, known: _Known) -> None:
        if max(len(call_id), len(known.name)) <= _MOST_NAME:
            self._known[call_id] = known
            _bound(self._known)


def _bound(calls: dict[str, _Value]) -> None:
    if len(calls) > _MOST_OPEN:
        del calls[next(iter(calls))]
