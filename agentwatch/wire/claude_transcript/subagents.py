"""Finds the call whose subagent wrote a line.

Versions from 2.1 name the agent in each line (`agentId`). Which call started it is in the result of that
call, or in the file `agent-*.meta.json` beside the subagent's own file. Earlier versions write the
subagent's lines into the same file (`isSidechain`), or wrap them in progress lines with the id of the call.
"""

from __future__ import annotations

from collections import OrderedDict

from agentwatch.wire.fields import Fields, text

_MOST_CALLS = 256
_MOST_LINES = 4096
_MOST_ID = 1000
"""In characters. Longer ids are not remembered."""
_MOST_PROMPT = 200
"""In characters: the beginning of a prompt, by which the call of a subagent is found."""


class Subagents:
    """The calls that started subagents, and the agents and lines that are known to belong to them."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, str] = OrderedDict()
        """The prompts of the calls whose agent is not known yet."""
        self._started: OrderedDict[str, str] = OrderedDict()
        """All calls, with no value."""
        self._calls: OrderedDict[str, str] = OrderedDict()
        """The calls by the ids of their agents."""
        self._lines: OrderedDict[str, str] = OrderedDict()
        """The calls by the ids of lines without an agent's id."""

    def call_started(self, call_id: str, arguments: Fields) -> None:
        """Note a call that starts a subagent."""
        _keep(self._started, call_id, "", _MOST_CALLS)
        _keep(self._waiting, call_id, _beginning(text(arguments, "prompt")), _MOST_CALLS)

    def link(self, agent_id: str | None, call_id: str | None) -> None:
        """Note the call that started an agent."""
        if agent_id is not None and call_id is not None:
            self._waiting.pop(call_id, None)
            _keep(self._calls, agent_id, call_id, _MOST_CALLS)

    def of_line(self, fields: Fields, prompt: str | None) -> str:
        """Return the id of the call whose subagent wrote a line; without a known call, the agent's own id.

        Args:
            fields: A line of a subagent.
            prompt: Its text, if it is the first of the subagent.
        """
        agent_id = text(fields, "agentId")
        if agent_id is not None:
            if agent_id not in self._calls:
                self.link(agent_id, self._call_of(prompt))
            return self._calls.get(agent_id, agent_id)
        line, parent = text(fields, "uuid") or "", text(fields, "parentUuid")
        found = None if parent is None else self._lines.get(parent)
        if found is None:
            found = self._call_of(prompt) or line
            self._waiting.pop(found, None)
        _keep(self._lines, line, found, _MOST_LINES)
        return found

    def _call_of(self, prompt: str | None) -> str | None:
        """Return the call with this prompt; without one, the only call whose agent is not known, or the only
        call at all."""
        beginning = _beginning(prompt)
        if beginning:
            for call_id, expected in self._waiting.items():
                if expected == beginning:
                    return call_id
        for calls in (self._waiting, self._started):
            if len(calls) == 1:
                return next(iter(calls))
        return None


def _beginning(prompt: str | None) -> str:
    return (prompt or "")[:_MOST_PROMPT].strip()


def _keep(kept: OrderedDict[str, str], key: str, value: str, most: int) -> None:
    if len(key) <= _MOST_ID and len(value) <= _MOST_ID:
        kept[key] = value
    if len(kept) > most:
        kept.popitem(last=False)
