"""Puts our entries into the text of a file with hooks, and takes them out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from agentwatch.hooks.json_text import added, checked, removed
from agentwatch.hooks.program import Program, is_own
from agentwatch.wire.hooks import HookedAgent

_HOOKS = "hooks"


class Shape(ValueError):
    """A file is not what an agent reads its hooks from; the message says why."""


def with_entries(text: str | None, agent: HookedAgent, program: Program) -> str:
    """Return the file with one entry of ours for each event, and everything else as it was.

    Args:
        text: The file; None if it does not exist.
        agent: The agent.
        program: The program that the entries run.

    Raises:
        Shape: The file has another form.
    """
    commands = {event: program.command(agent.name, event) for event in agent.events}
    if text is None:
        events = {event: [agent.entry(command)] for event, command in commands.items()}
        versioned = {} if agent.is_nested else {"version": 1}
        return json.dumps({**versioned, _HOOKS: events}, indent=2) + "\n"
    document = _document(text, agent)
    if _HOOKS not in document:
        text = added(text, [_HOOKS], {})
    wanted = set(commands.values())
    text = _without(text, agent, lambda command: is_own(command) and command not in wanted)
    for event, command in commands.items():
        entries = _document(text, agent)[_HOOKS].get(event)
        if entries is None:
            text = added(text, [_HOOKS, event], [agent.entry(command)])
        elif command not in _commands(agent, entries):
            text = added(text, [_HOOKS, event, len(entries)], agent.entry(command))
    return text


def without_entries(text: str, agent: HookedAgent) -> str:
    """Return the file without our entries, and without the arrays that are empty then.

    Raises:
        Shape: The file has another form.
    """
    return _without(text, agent, is_own)


def installed_events(text: str, agent: HookedAgent, program: Program) -> tuple[int, int]:
    """Return for how many events the right entry is there, and the number of other entries of ours.

    Raises:
        Shape: The file has another form.
    """
    events = _document(text, agent).get(_HOOKS, {})
    right = other = 0
    for event, entries in events.items():
        command = program.command(agent.name, event) if event in agent.events else None
        own = [each for each in _commands(agent, entries) if is_own(each)]
        right += command in own
        other += len(own) - (command in own)
    return right, other


def _without(text: str, agent: HookedAgent, is_unwanted: Any) -> str:
    events = _document(text, agent).get(_HOOKS, {})
    for event, entries in events.items():
        left = len(entries)
        for index in reversed(range(left)):
            commands = agent.commands(entries[index])
            unwanted = [is_unwanted(command) for command in commands]
            path = [_HOOKS, event, index]
            if all(unwanted) and commands:
                left -= 1
                text = removed(text, path if left else path[:-1])
                continue
            for place in reversed(range(len(commands))):
                if unwanted[place]:
                    text = removed(text, [*path, _HOOKS, place])
    return text


def _commands(agent: HookedAgent, entries: Iterable[object]) -> list[object]:
    return [command for entry in entries for command in agent.commands(entry)]


def _document(text: str, agent: HookedAgent) -> dict[str, Any]:
    """Return the document in a file.

    Raises:
        Shape: It has another form.
    """
    try:
        document = checked(text)
    except ValueError as error:
        raise Shape(f"it is not valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise Shape("it is not an object")
    if not agent.is_nested and document.get("version", 1) != 1:
        raise Shape("its version is not 1")
    events = document.get(_HOOKS, {})
    if not isinstance(events, dict):
        raise Shape("its `hooks` are not an object")
    if not all(isinstance(entries, list) for entries in events.values()):
        raise Shape("the hooks of an event are not an array")
    return document
