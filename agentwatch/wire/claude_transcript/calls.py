"""The tool calls of a transcript, and the questions to the user that some of them are."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.events import Event, Outcome, Permission, ToolEnded
from agentwatch.wire.claude.calls import ASKING
from agentwatch.wire.claude.calls import Calls as ClaudeCalls
from agentwatch.wire.claude.tools import questions_in, tool_named
from agentwatch.wire.fields import Fields, mapping, text
from agentwatch.wire.on_disk.iso_time import iso_ms

_MOST_OPEN = 1024
_MOST_ID = 1000
"""In characters."""
_ANSWERS = {Outcome.SUCCEEDED: "answered", Outcome.REJECTED: "rejected", Outcome.CANCELLED: "cancelled"}


class Calls:
    """The calls that have not ended."""

    def __init__(self) -> None:
        self._calls = ClaudeCalls(tool_named)
        self._open: dict[str, str | None] = {}
        """The subagents of the open calls, by the calls' ids; None for the main agent."""

    def is_open(self, call_id: str) -> bool:
        """Return whether the call with this id is open."""
        return self._calls.is_open(call_id)

    def has_open(self) -> bool:
        """Return whether a call of the main agent is open."""
        return None in self._open.values()

    def started(
        self, block: Fields, call_id: str, fields: Fields, folder: str, agent: str | None
    ) -> Iterator[Event]:
        """Yield the events of a `tool_use` block.

        Args:
            block: The block.
            call_id: The id of the call.
            fields: The line of the block.
            folder: The folder to which paths are shown relative.
            agent: The id of the call whose subagent makes the call; None for the main agent.
        """
        self._calls.cwd = folder
        if len(call_id) <= _MOST_ID:
            self._open[call_id] = agent
            if len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]
        at_ms, group = iso_ms(fields.get("timestamp")), text(mapping(fields.get("message")), "id")
        yield self._calls.start({**block, "id": call_id}, agent=agent, group=group, at_ms=at_ms)
        name = text(block, "name")
        if name in ASKING and agent is None:
            question = questions_in(mapping(block.get("input")))
            yield Permission(name, None, at_ms=at_ms, key=call_id, call_id=call_id, target=question)

    def ended(
        self, block: Fields, call_id: str, fields: Fields, structured: object, agent: str | None
    ) -> Iterator[Event]:
        """Yield the events of a `tool_result` block.

        Args:
            block: The block.
            call_id: The id of the call.
            fields: The line of the block.
            structured: The structured result, if the line has one for this block.
            agent: The id of the call whose subagent made the call; None for the main agent.

        A call that was running when the user interrupted it has the text and the `toolDenialKind` of a call
        that the user refused. The next text of the user names the interrupted message, and versions from
        2.1.330 say that a call was refused before it ran.
        """
        self._open.pop(call_id, None)
        denial, at_ms = text(fields, "toolDenialKind"), iso_ms(fields.get("timestamp"))
        if fields.get("toolDenialBeforeRun") is True:
            self._calls.deny(call_id)
        found, named = self._calls, {**block, "tool_use_id": call_id}
        for event in found.end(named, structured, agent=agent, at_ms=at_ms, denial=denial):
            if isinstance(event, ToolEnded) and event.tool in ASKING and event.agent is None:
                answer, answers = _ANSWERS.get(event.outcome, "answered"), _answers(structured) or None
                yield Permission(event.tool, answer, answers, at_ms=at_ms, key=call_id, call_id=call_id)
            yield event

    def released(self, *, is_interrupted: bool = False) -> list[Event]:
        """Return the ends of the calls of which only a later line says whether they were interrupted."""
        return self._calls.released(is_interrupted=is_interrupted)


def _answers(structured: object) -> str:
    answers = mapping(mapping(structured).get("answers")).values()
    return ", ".join(each for each in answers if isinstance(each, str))
