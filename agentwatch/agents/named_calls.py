"""What the decoders of agents share whose lines have whole texts, and calls with the names of their tools."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from agentwatch.agents.agent import AgentDecoder
from agentwatch.agents.blocks import returned_block
from agentwatch.agents.changes import replaced_lines
from agentwatch.agents.fields import SUBAGENT, Fields
from agentwatch.agents.subagents import SubagentDecoder
from agentwatch.agents.tool import NO_FACTS, Facts, OpenCalls, Result, Tool
from agentwatch.session.blocks import Block, ErrorBlock
from agentwatch.session.events import (
    Event,
    Outcome,
    Plan,
    PlanEntry,
    RunInfo,
    ToolKind,
    ToolStarted,
)

NO_STATUS = "came back without a status"
"""Why the outcome of a call is unknown."""


class _Open(NamedTuple):
    name: str
    tool: Tool
    facts: Facts = NO_FACTS
    plan: Plan | None = None


class NamedCalls:
    """Describes calls by the table of an agent's tools. An edit that succeeds has changed the lines in its
    arguments if `counts_lines`, and a to-do list is that of its arguments."""

    def __init__(self, tool_named: Callable[[str], Tool], *, counts_lines: bool = True) -> None:
        self._tool_named, self._counts_lines = tool_named, counts_lines
        self._open = OpenCalls[_Open]()
        self._cwd = ""

    def begin_run(self, cwd: str | None) -> None:
        """Begin a run, whose calls may use the ids of the last one again."""
        self._open.clear()
        self._cwd = (cwd or "").rstrip("/\\")

    def started(
        self,
        call_id: str,
        name: str,
        arguments: Fields,
        entries: tuple[PlanEntry, ...] = (),
        *,
        group: str | None = None,
        at_ms: int | None = None,
    ) -> ToolStarted:
        """Return the start of a call. `group` is the model step that requested it."""
        tool = self._tool_named(name)
        is_counted = self._counts_lines and tool.kind is ToolKind.EDIT
        facts = replaced_lines(arguments) if is_counted else NO_FACTS
        self._open.keep(call_id, _Open(name, tool, facts, Plan(entries) if entries else None), name)
        return tool.started(call_id, name, arguments, cwd=self._cwd, group=group, at_ms=at_ms)

    def kind(self, call_id: str, name: str = "tool") -> ToolKind:
        """Return the kind of a call; `name` is that of a call without a start."""
        return self._used(call_id, name).tool.kind

    def is_open(self, call_id: str) -> bool:
        return call_id in self._open

    def ended(
        self,
        call_id: str,
        name: str,
        result: Result,
        *,
        at_ms: int | None = None,
        duration_ms: int | None = None,
    ) -> list[Event]:
        """Return the end of a call, and its to-do list. `name` is that of a call without a start."""
        use = self._used(call_id, name)
        self._open.pop(call_id, None)
        has_worked = result.outcome is Outcome.SUCCEEDED
        if has_worked and result.facts is NO_FACTS:
            result = result._replace(facts=use.facts)
        ended = use.tool.ended(call_id, use.name, result, at_ms=at_ms, duration_ms=duration_ms)
        return [ended, use.plan] if has_worked and use.plan is not None else [ended]

    def _used(self, call_id: str, name: str) -> _Open:
        return self._open.get(call_id) or _Open(name, self._tool_named(name))


class ModelDecoder(AgentDecoder):
    _model: str | None = None

    def used(self, model: str | None) -> list[Event]:
        """Report the model of an answer, if it is another one than before."""
        if model is None or model == self._model:
            return []
        self._model = model
        return [RunInfo(model=model)]


class LineDecoder(ModelDecoder):
    """Decodes each line alone. Those of subagents have a decoder of their own for each."""

    tool: Callable[[str], Tool]
    """Returns the tool with a name."""
    counts_lines = True
    """Whether an edit that succeeds has changed the lines in its arguments."""

    def __init__(self) -> None:
        self._calls = NamedCalls(self.tool, counts_lines=self.counts_lines)
        self._subagents = SubagentDecoder(self._of_subagent)  # a checkpoint cannot contain a lambda

    def decode(self, fields: Fields) -> list[Event]:
        return self._subagents.decode(fields) if SUBAGENT in fields else list(self.events(fields))

    def end(self) -> list[Event]:
        return self._subagents.end()

    def _of_subagent(self, _name: str) -> AgentDecoder:
        return type(self)()

    @abstractmethod
    def events(self, fields: Fields) -> Iterable[Event]:
        """Return the events of a line of the agent itself."""


def result_blocks(tool: Tool, output: str, error: str | None) -> Iterator[Block]:
    """Yield why a call failed, then what it returned, unless that is the same."""
    if error:
        yield ErrorBlock(error)
    if output and output != error:
        yield returned_block(tool.kind, output, tool.phrase)
