"""Puts our entries into the text of a file with hooks, and removes them. All other text keeps its form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from agentwatch.agents.program import HookedAgent
from agentwatch.catalog.hooks.program import Program, is_own

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\n\r]*")
_INDENT = re.compile(r"\n([ \t]+)")


class Part(NamedTuple):
    """An item of an array, or a member of an object with its key."""

    begin: int
    """The index of the item, or of the key."""
    value: int
    """The index of the item, or of the member's value."""
    end: int


def checked(text: str) -> Any:
    """Return the value of a document. Raise `ValueError` if it is not JSON, is nested too deeply, or an
    object in it has a key twice."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_not_json)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def parts_of(text: str, at: int) -> dict[str | int, Part]:
    """Return the members of an object by key, or the items of an array by index, in their order."""
    found: dict[str | int, Part] = {}
    is_object = text[at] == "{"
    at = _skip(text, at + 1)
    while text[at] not in "]}":
        begin = at
        key: str | int = len(found)
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        found[key] = Part(begin, at, end)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def added(text: str, path: Sequence[str | int], value: object) -> str:
    """Return a document with one more value, formatted like its neighbours. `path` has the keys and indexes
    of an array that gets an item, or of an object that gets a member; the last one is the key of the new
    member, or the number of items before the new item."""
    at = _skip(text, 0)
    for key in path[:-1]:
        at = parts_of(text, at)[key].value
    parts = list(parts_of(text, at).values())
    unit, newline = _unit(text), "\r\n" if "\r\n" in text else "\n"
    if not parts:
        margin = _margin(text, at) + unit
        written = _written(path[-1], value, unit, margin)
        inner = f"\n{margin}{written}\n{_margin(text, at)}" if unit else written
        return text[: at + 1] + inner.replace("\n", newline) + text[_skip(text, at + 1) :]
    last = parts[-1]
    gap = text[at + 1 : last.begin]
    if len(parts) > 1:
        gap = text[text.index(",", parts[-2].end) + 1 : last.begin]
    if "\n" in gap:
        written = _written(path[-1], value, unit, gap.rpartition("\n")[2])
    else:
        written, gap = _written(path[-1], value, "", ""), gap if len(parts) > 1 else " "
    return f"{text[: last.end]},{gap}{written.replace(chr(10), newline)}{text[last.end :]}"


def removed(text: str, path: Sequence[str | int]) -> str:
    """Return a document without one value, and without the comma and the blanks that belonged to it. `path`
    has the keys and indexes of the value."""
    at = _skip(text, 0)
    for key in path[:-1]:
        at = parts_of(text, at)[key].value
    parts = parts_of(text, at)
    part, others = parts[path[-1]], list(parts.values())
    index = others.index(part)
    if len(others) == 1:
        return text[: at + 1] + text[_skip(text, part.end) :]
    if index + 1 < len(others):
        return text[: part.begin] + text[others[index + 1].begin :]
    return text[: others[index - 1].end] + text[part.end :]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return at if match is None else match.end()


def _unit(text: str) -> str:
    """Return the indentation of the first line that has one: a step; nothing if all is in one line."""
    found = _INDENT.search(text)
    return found[1] if found else ""


def _margin(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _written(key: str | int, value: object, unit: str, margin: str) -> str:
    written = json.dumps(value, indent=unit or None, ensure_ascii=False)
    name = f"{json.dumps(key)}: " if isinstance(key, str) else ""
    return name + written.replace("\n", f"\n{margin}")


_HOOKS = "hooks"


class Shape(ValueError):
    """A file is not what an agent reads its hooks from; the message says why."""


def with_entries(text: str | None, agent: HookedAgent, program: Program) -> str:
    """Return the file with one entry of ours for each event, and everything else as it was. `text` is None if
    the file does not exist. Raise `Shape` if the file has another form."""
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
    """Return the file without our entries, and without the arrays that are empty then. Raise `Shape` if the
    file has another form."""
    return _without(text, agent, is_own)


def installed_events(text: str, agent: HookedAgent, program: Program) -> tuple[int, int]:
    """Return for how many events the right entry is there, and the number of other entries of ours. Raise
    `Shape` if the file has another form."""
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
