"""Reads the calls of a message, which are written when all calls of their batch have ended."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Event, Outcome, ToolEnded, ToolKind, ToolStarted, Unknown
from agentwatch.text.paths import relative_to
from agentwatch.wire.fields import Fields, items, mapping, text
from agentwatch.wire.gemini.plans import plan_in
from agentwatch.wire.gemini.results import argument_facts, ending, shown_facts
from agentwatch.wire.gemini.tools import target_of, tool_named
from agentwatch.wire.on_disk.iso_time import iso_ms
from agentwatch.wire.tool import NO_FACTS, Tool

_OPEN = frozenset(("validating", "scheduled", "executing", "awaiting_approval"))
"""The states of a call that has not ended (`CoreToolCallStatus`)."""


class CallLine(NamedTuple):
    """One call of a message."""

    call_id: str
    name: str
    tool: Tool
    fields: Fields
    arguments: Fields

    @property
    def is_open(self) -> bool:
        """Whether the call has not ended."""
        status = self.fields.get("status")
        return isinstance(status, str) and status in _OPEN

    @property
    def shown(self) -> object:
        """What the agent showed of the result: a text, or an object such as the change of a file."""
        return displayed(self.fields.get("resultDisplay"))


def call_of(value: object) -> CallLine:
    """Return a call of a message."""
    fields = mapping(value)
    name = text(fields, "name") or "unknown"
    tool = tool_named(name, text(fields, "displayName"))
    return CallLine(text(fields, "id") or "", name, tool, fields, mapping(fields.get("args")))


def call_events(call: CallLine, cwd: str) -> list[Event]:
    """Return the events of a call: its end, or its start if it has not ended.

    Args:
        call: The call.
        cwd: The working directory without a trailing separator; empty if unknown.
    """
    target, paths = target_of(call.tool, call.arguments)
    path = paths[0] if paths else None
    target = ", ".join(relative_to(each, cwd) or each for each in paths) or target
    if call.is_open:
        return [
            ToolStarted(
                call.call_id,
                None,
                call.name,
                call.tool.kind,
                call.tool.phrase,
                target,
                path,
                more_paths=tuple(paths[1:]),
            )
        ]
    end = ending(call.fields.get("status"), reason_of(call.fields))
    is_success = end.outcome is Outcome.SUCCEEDED
    facts = NO_FACTS
    if is_success:
        facts = shown_facts(call.tool, call.shown, argument_facts(call.name, call.arguments))
    events: list[Event] = [
        ToolEnded(
            call_id=call.call_id,
            session_id=None,
            tool=call.name,
            kind=call.tool.kind,
            outcome=end.outcome,
            phrase=facts.phrase or call.tool.phrase,
            has_arguments=True,
            target=target,
            path=path,
            more_paths=tuple(paths[1:]),
            error=end.error,
            note=facts.note,
            is_new_file=facts.is_new_file,
            lines_added=facts.lines_added,
            lines_removed=facts.lines_removed,
            at_ms=iso_ms(call.fields.get("timestamp")),
        )
    ]
    plan = plan_in(call.arguments) if call.tool.kind is ToolKind.PLAN and is_success else None
    events += [] if plan is None else [plan]
    if end.unknown_status is not None:
        events.append(Unknown(f"status {end.unknown_status} of a call"))
    return events


def reason_of(call: Fields) -> str | None:
    """Return why a call did not succeed: the error in its response, or what the agent showed."""
    if call.get("status") == "success":
        return None
    for part in items(call.get("result")):
        error = mapping(mapping(mapping(part).get("functionResponse")).get("response")).get("error")
        found = error if isinstance(error, str) and error else text(mapping(error), "message")
        if found:
            return found
    shown = displayed(call.get("resultDisplay"))
    return shown or None if isinstance(shown, str) and "status" in call else None


def displayed(value: object) -> object:
    """Return what the agent showed. The lines of a terminal, which are lists of tokens, become a text."""
    if not isinstance(value, list):
        return value
    lines = ("".join(text(mapping(token), "text") or "" for token in items(line)) for line in value)
    return "\n".join(lines).rstrip()
