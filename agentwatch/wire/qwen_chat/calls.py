"""The tool calls of a Qwen chat: their starts are parts of an answer, their ends lines of their own."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from agentwatch.events import Outcome, ToolEnded, ToolKind, ToolStarted
from agentwatch.text.paths import relative_to
from agentwatch.wire.claude.tools import argument_facts
from agentwatch.wire.fields import Fields, mapping, number, text
from agentwatch.wire.on_disk.iso_time import iso_ms
from agentwatch.wire.qwen.tools import tool_named
from agentwatch.wire.qwen_chat.results import ending, exit_code_in, shown_facts
from agentwatch.wire.tool import NO_FACTS, Facts, Tool

_MOST_OPEN = 4096
_MOST_ID = 1000
"""In characters. A call with a longer id or name is not remembered."""
_NO_NAME = "unknown"


class _Open(NamedTuple):
    name: str
    tool: Tool
    facts: Facts = NO_FACTS
    """The facts in the arguments."""
    duration_ms: int | None = None
    """The duration that the agent has measured, if it wrote it before the result."""


class Calls:
    """The calls that have not ended."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, _Open] = OrderedDict()

    def started(self, call: Fields, fields: Fields, folder: str, agent: str | None) -> ToolStarted:
        """Return the start of a call, a `functionCall` part.

        Args:
            call: The object under `functionCall`.
            fields: The line of the part.
            folder: The folder to which paths are shown relative.
            agent: The subagent that makes the call; None for the main agent.
        """
        name, call_id = text(call, "name") or _NO_NAME, text(call, "id") or ""
        tool, arguments = tool_named(name), mapping(call.get("args"))
        paths = tool.paths(arguments)
        if len(call_id) <= _MOST_ID and len(name) <= _MOST_ID:
            self._open[call_id] = _Open(name, tool, argument_facts(tool, arguments))
            if len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)
        return ToolStarted(
            call_id=call_id,
            session_id=None,
            tool=name,
            kind=tool.kind,
            phrase=tool.phrase,
            target=(relative_to(paths[0], folder) or paths[0]) if paths else tool.target(arguments),
            path=paths[0] if paths else None,
            group=text(fields, "uuid"),
            limit_ms=number(arguments, "timeout"),
            at_ms=iso_ms(fields.get("timestamp")),
            agent=agent,
            more_paths=tuple(paths[1:]),
        )

    def measured(self, event: Fields) -> None:
        """Keep the duration of a call, from a telemetry event."""
        call_id = text(event, "call_id") or ""
        if call_id in self._open:
            self._open[call_id] = self._open[call_id]._replace(duration_ms=number(event, "duration_ms"))

    def ended(self, response: Fields, fields: Fields, agent: str | None) -> ToolEnded:
        """Return the end of a call, a `functionResponse` part.

        Args:
            response: The object under `functionResponse`.
            fields: The line of the part.
            agent: The subagent that made the call; None for the main agent.
        """
        about, returned = mapping(fields.get("toolCallResult")), mapping(response.get("response"))
        ids = [found for each in (text(response, "id"), text(about, "callId")) if (found := each)]
        call_id = next((each for each in ids if each in self._open), ids[0] if ids else "")
        name = text(response, "name") or _NO_NAME
        call = self._open.pop(call_id, None) or _Open(name, tool_named(name))
        shown = about.get("resultDisplay")
        reason = text(mapping(about.get("error")), "message") or text(returned, "error")
        result = ending(about.get("status"), reason, text(about, "errorType"))
        exit_code = number(mapping(shown), "exitCode")
        has_failed = result.outcome is Outcome.FAILED
        if exit_code is None and has_failed and call.tool.kind is ToolKind.EXECUTE:
            exit_code = exit_code_in(reason)
        facts = shown_facts(shown, call.facts) if result.outcome is Outcome.SUCCEEDED else NO_FACTS
        return ToolEnded(
            call_id=call_id,
            session_id=None,
            tool=call.name,
            kind=call.tool.kind,
            outcome=result.outcome,
            phrase=facts.phrase or call.tool.phrase,
            error=f"exit {exit_code}" if has_failed and exit_code else result.error,
            note=facts.note,
            exit_code=exit_code,
            is_new_file=facts.is_new_file,
            lines_added=facts.lines_added,
            lines_removed=facts.lines_removed,
            at_ms=iso_ms(fields.get("timestamp")),
            agent=agent,
            duration_ms=call.duration_ms,
        )
