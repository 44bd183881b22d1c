"""The tool calls of a stream: the blocks that start them, and the results that end them."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

from agentwatch.events import Event, Outcome, ToolEnded, ToolKind, ToolStarted
from agentwatch.text.paths import relative_to
from agentwatch.wire.claude.dialect import no_details
from agentwatch.wire.claude.plans import Plans
from agentwatch.wire.claude.results import Result, is_bare_refusal, read_result, result_texts
from agentwatch.wire.claude.tools import argument_facts
from agentwatch.wire.fields import NO_FIELDS, Fields, items, mapping, number, text
from agentwatch.wire.tool import NO_FACTS, Facts, Phrase, Tool, other_tool

_MOST_OPEN = 1024
_MOST_DENIED = 1024
_MOST_ID = 1000
"""In characters. The ids in captures have at most 40."""
_NO_NAME = "unknown"
_NO_TOOL = other_tool(_NO_NAME)._replace(target=lambda _arguments: None)
ASKING = ("AskUserQuestion", "ExitPlanMode")
"""Tools whose calls wait until the user has answered, and do not run before."""
_INTERRUPTED = ("interrupted", "cancelled")
"""The reasons not to run a call that no person and no rule gave."""
_BY_USER = "user-rejected"
"""The reason of a call that the user refused, and of a call that was running when the user interrupted it."""
_REJECTED = "User rejected tool use"
"""The structured result of such calls, whatever their text is."""
_MOST_UNCLEAR = 64
_OVERWRITTEN = ("has been updated", "overwrote")
_PLAN_ARGUMENTS = ("todos", "taskId", "status", "subject", "content")


class _Open(NamedTuple):
    name: str
    tool: Tool
    agent: str | None
    facts: Facts
    """The facts in the arguments: the changed lines of an edit."""
    plan: Fields
    """The arguments of a tool that updates the to-do list; empty for others."""


class Calls:
    """The open calls of a stream; at most 1,024."""

    def __init__(
        self,
        tool_named: Callable[[str], Tool],
        details_in: Callable[[Tool, str], Fields] = no_details,
    ) -> None:
        """Create an empty list of calls.

        Args:
            tool_named: Returns the description of a tool by its name.
            details_in: Returns the structured result in the text of a result.
        """
        self._details_in = details_in
        self.cwd = ""
        """The working directory without a trailing separator; empty if unknown."""
        self.tool_named = tool_named
        self._open: dict[str, _Open] = {}
        self._denied: dict[str, None] = {}
        self._unclear: list[ToolEnded] = []
        """The ends of calls that were either refused or interrupted: a later line says which; at most 64."""
        self._plans = Plans()

    def begin_run(self) -> None:
        """Forget all calls: another run may use their ids again."""
        self._open.clear()
        self._denied.clear()
        self._plans = Plans()

    def is_open(self, call_id: str | None) -> bool:
        """Return whether a call has started and not ended."""
        return call_id in self._open

    def deny(self, call_id: str | None) -> None:
        """Note that a call was refused: its result reports an error."""
        if call_id is not None and len(call_id) <= _MOST_ID:
            self._denied[call_id] = None
            if len(self._denied) > _MOST_DENIED:
                del self._denied[next(iter(self._denied))]

    def described(self, name: str, arguments: Fields) -> tuple[str | None, list[str]]:
        """Return the target of a call as it is shown, and the files that it acts on."""
        return self._described(self.tool_named(name), arguments)

    def start(
        self, block: Fields, *, agent: str | None = None, group: str | None = None, at_ms: int | None = None
    ) -> ToolStarted:
        """Read a `tool_use` block.

        Args:
            block: The block.
            agent: The call of the subagent that makes the call; None for the main agent.
            group: The id of the message.
            at_ms: The time of the line, in milliseconds since the epoch.
        """
        call_id, name = text(block, "id") or "", text(block, "name") or _NO_NAME
        arguments, tool = mapping(block.get("input")), self.tool_named(name)
        self._keep(
            call_id, _Open(name, tool, agent, argument_facts(tool, arguments), _plan_in(tool, arguments))
        )
        target, paths = self._described(tool, arguments)
        return ToolStarted(
            call_id=call_id,
            session_id=None,
            tool=name,
            kind=tool.kind,
            phrase=tool.phrase,
            target=target,
            path=paths[0] if paths else None,
            group=group,
            limit_ms=number(arguments, "timeout"),
            at_ms=at_ms,
            agent=agent,
            more_paths=tuple(paths[1:]),
        )

    def end(
        self,
        block: Fields,
        structured: object,
        *,
        agent: str | None = None,
        at_ms: int | None = None,
        is_whole: bool = True,
        denial: str | None = None,
    ) -> list[Event]:
        """Read a `tool_result` block.

        Args:
            block: The block.
            structured: The value of `tool_use_result`, on disk of `toolUseResult`; None without it.
            agent: The call of the subagent that made the call; None for the main agent.
            at_ms: The time of the line, in milliseconds since the epoch.
            is_whole: Whether all of the line was read. The part that was not may contain the error.
            denial: Why the call did not run, or did not end, if the line says it: `user-rejected`,
                `permission-rule`, `automode-blocked`, `interrupted`, `cancelled`.

        Returns:
            The end of the call; nothing if only a later line says whether it was refused or interrupted.
        """
        call_id = text(block, "tool_use_id") or ""
        known = self._open.pop(call_id, None)
        name, tool, agent, argued, plan = known or (_NO_NAME, _NO_TOOL, agent, NO_FACTS, NO_FIELDS)
        is_denied = call_id in self._denied
        self._denied.pop(call_id, None)
        words = next(result_texts(block), "")
        details = mapping(structured) or self._details_in(tool, words)
        did_not_run = is_denied or denial is not None or structured == _REJECTED
        result = read_result(tool, block, details or structured, is_denied=did_not_run)
        if denial in _INTERRUPTED:
            result = result._replace(outcome=Outcome.CANCELLED)
        if result.outcome is Outcome.SUCCEEDED and not details:
            result = result._replace(facts=_facts_without_details(argued, words))
        if result.outcome is Outcome.SUCCEEDED and not is_whole:
            result = Result(Outcome.RETURNED, "its line is too large to be read")
        ended = ToolEnded(
            call_id=call_id,
            session_id=None,
            tool=name,
            kind=tool.kind,
            outcome=result.outcome,
            phrase=result.facts.phrase or tool.phrase,
            has_arguments=True,
            error=result.error,
            note=result.facts.note,
            exit_code=result.exit_code,
            is_new_file=result.facts.is_new_file,
            lines_added=result.facts.lines_added,
            lines_removed=result.facts.lines_removed,
            at_ms=at_ms,
            agent=agent,
            duration_ms=_measured_ms(tool, details),
        )
        is_clear = is_denied or denial not in (None, _BY_USER) or name in ASKING
        if result.outcome is Outcome.REJECTED and not is_clear and is_bare_refusal(result.error):
            self._unclear.append(ended)
            return [self._unclear.pop(0)] if len(self._unclear) > _MOST_UNCLEAR else []
        if result.outcome is not Outcome.SUCCEEDED or tool.kind is not ToolKind.PLAN or agent is not None:
            return [ended]
        planned = self._plans.after(name, plan, details, words)
        return [ended] if planned is None else [ended, planned]

    def released(self, *, is_interrupted: bool = False, denied: Container[str] = ()) -> list[Event]:
        """Return the ends of the calls that were refused or interrupted.

        Args:
            is_interrupted: Whether the user has interrupted the agent while it ran the calls.
            denied: The ids of calls that were refused all the same.
        """
        unclear, self._unclear = [each._replace(has_result=False) for each in self._unclear], []
        return [
            ended._replace(outcome=Outcome.CANCELLED, error="interrupted by the user")
            if is_interrupted and ended.call_id not in denied
            else ended
            for ended in unclear
        ]

    def turn_ended(self, denials: object, *, is_interrupted: bool) -> list[Event]:
        """Read the `permission_denials` of a result, and return the ends of the calls that they decide.

        A call that was running when the user interrupted the turn is not among them.
        """
        found = [text(denial, "tool_use_id") for denial in map(mapping, items(denials))]
        ids = {call_id for call_id in found if call_id is not None}
        events = self.released(is_interrupted=is_interrupted, denied=ids)
        return events + [event for call_id in ids if call_id in self._open for event in self.refuse(call_id)]

    def refuse(self, call_id: str, reason: str | None = None) -> list[Event]:
        """End an open call as refused: the agent says so, and its result cannot follow."""
        block = {"tool_use_id": call_id, "is_error": True, "content": reason or ""}
        self.deny(call_id)
        return self.end(block, None) if call_id in self._open else []

    def _keep(self, call_id: str, opened: _Open) -> None:
        if len(call_id) <= _MOST_ID and len(opened.name) <= _MOST_ID:
            self._open[call_id] = opened
            if len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]

    def _described(self, tool: Tool, arguments: Fields) -> tuple[str | None, list[str]]:
        paths = tool.paths(arguments)
        if paths:
            return ", ".join(relative_to(path, self.cwd) or path for path in paths), paths
        return tool.target(arguments), []


def _facts_without_details(argued: Facts, words: str) -> Facts:
    """Return the facts of a call whose result is only a text."""
    if argued.is_new_file and any(marker in words[:500] for marker in _OVERWRITTEN):
        return Facts(phrase=Phrase.EDITED)
    return argued


def _plan_in(tool: Tool, arguments: Fields) -> Fields:
    if tool.kind is not ToolKind.PLAN:
        return NO_FIELDS
    return {key: arguments[key] for key in _PLAN_ARGUMENTS if key in arguments}


def _measured_ms(tool: Tool, details: Fields) -> int | None:
    """Return the duration that a subagent's result reports, in milliseconds."""
    return number(details, "totalDurationMs") if tool.kind is ToolKind.DELEGATE else None
