"""A tool of an agent: how its calls are read and described. All agents use it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

from agentwatch.events import ToolKind
from agentwatch.plurals import plural
from agentwatch.wire.fields import Fields, number, text

_PACKAGE = "agentwatch.wire."


class Phrase:
    """The phrases of the text format. They are those of Cursor's documentation."""

    READ = "Read file"
    EDITED = "Edited file"
    CREATED = "Created new file"
    DELETED = "Deleted file"
    RAN = "Ran terminal command"
    SEARCHED = "Searched files"
    FOUND = "Found files"
    LISTED = "Listed directory"
    TODOS = "Updated to-do list"
    CALLED_MCP = "Called MCP tool"
    RAN_SUBAGENT = "Ran subagent"
    SEARCHED_WEB = "Searched the web"
    FETCHED = "Fetched web page"
    USED = "Used tool"


class Facts(NamedTuple):
    """The facts in a successful result, apart from its content."""

    note: str | None = None
    phrase: str | None = None
    """The phrase that replaces the tool's own, because an edit may have created its file."""
    is_new_file: bool = False
    lines_added: int | None = None
    lines_removed: int | None = None


NO_FACTS = Facts()


def _no_target(_arguments: Fields) -> str | None:
    return None


def _no_paths(_arguments: Fields) -> list[str]:
    return []


def _no_facts(_success: Fields) -> Facts:
    return NO_FACTS


class Tool(NamedTuple):
    """A tool: how its calls are read and described."""

    kind: ToolKind
    phrase: str
    """The action in the text format: `Read file`."""
    target: Callable[[Fields], str | None] = _no_target
    """Returns the target of a call, from its arguments. It is only called if `paths` returns none."""
    paths: Callable[[Fields], list[str]] = _no_paths
    """Returns the files that a call acts on, from its arguments."""
    facts: Callable[[Fields], Facts] = _no_facts
    """Returns the facts in a successful result."""


def named(*keys: str) -> Callable[[Fields], str | None]:
    """Return a function that returns the first of these arguments that is a text."""

    def first_present(arguments: Fields) -> str | None:
        return next((found for key in keys if (found := text(arguments, key))), None)

    return first_present


def path_in(*keys: str) -> Callable[[Fields], list[str]]:
    """Return a function that returns the path in the first of these arguments that is a text."""
    first_present = named(*keys)

    def paths(arguments: Fields) -> list[str]:
        path = first_present(arguments)
        return [] if path is None else [path]

    return paths


def counted(key: str, noun: str) -> Callable[[Fields], Facts]:
    """Return a function that returns the number in a field as a note: `3 files`."""

    def count(success: Fields) -> Facts:
        found = number(success, key)
        return NO_FACTS if found is None else Facts(note=plural(found, noun))

    return count


def first_line(command: str | None) -> str | None:
    """Return the first line of a command that is not blank."""
    return command and command.strip().partition("\n")[0]


def command_in(*keys: str) -> Callable[[Fields], str | None]:
    """Return a function that returns the first line of the command in the first of these arguments."""
    first_present = named(*keys)
    return lambda arguments: first_line(first_present(arguments))


IDS = frozenset({"toolCallId", "conversationId", "requestId"})
"""Arguments that say nothing about the call."""

_main_argument = named(
    *("path", "file_path", "command", "url", "query", "pattern", "searchTerm", "description", "title"),
    *("prompt", "name", "server", "taskId", "text"),
)


@dataclass(frozen=True, slots=True)
class Words:
    """A target that does not depend on the arguments. Unlike a function, it can be kept in a file."""

    words: str

    def __call__(self, _arguments: Fields) -> str:
        """Return the words."""
        return self.words


@dataclass(frozen=True, slots=True)
class Paths:
    """The files that a call acts on, if they do not depend on the arguments."""

    paths: tuple[str, ...]

    def __call__(self, _arguments: Fields) -> list[str]:
        """Return the files."""
        return [*self.paths]


@dataclass(frozen=True, slots=True)
class _OtherTarget:
    """The target of a tool that is not known: its name and the most informative argument."""

    name: str

    def __call__(self, arguments: Fields) -> str:
        """Return the target of a call."""
        strings = (
            value for key, value in arguments.items() if isinstance(value, str) and value and key not in IDS
        )
        argument = _main_argument(arguments) or next(strings, None)
        return f"{self.name} {argument}" if argument else self.name


def other_tool(name: str) -> Tool:
    """Return a description of a tool that is not known.

    The target of its calls is the tool's name and the most informative argument: `createPlan Migration`.
    """
    return Tool(ToolKind.OTHER, Phrase.USED, _OtherTarget(name))


ToolName = tuple[str, str, str | None] | tuple[ToolKind, str, Words | _OtherTarget | None, Paths | None]
"""A name from which `tool_of_name` finds a tool again: its place in a module, or its parts."""


def name_of_tool(tool: Tool) -> ToolName | None:
    """Return the name of a tool, which can be kept in a file; None if it has no name."""
    kind, phrase, target, paths, facts = tool
    if facts is _no_facts and isinstance(target, Words | _OtherTarget) and paths is _no_paths:
        return kind, phrase, target, None
    if facts is _no_facts and target is _no_target and isinstance(paths, Paths):
        return kind, phrase, None, paths
    for name, module in list(sys.modules.items()):
        if not name.startswith(_PACKAGE):
            continue
        for variable, value in vars(module).items():
            if value is tool:
                return name, variable, None
            if isinstance(value, dict):
                key = next((key for key, each in value.items() if each is tool), None)
                if isinstance(key, str):
                    return name, variable, key
    return None


def tool_of_name(name: ToolName) -> Tool:
    """Return the tool with a name that `name_of_tool` returned.

    Raises:
        LookupError: There is no such tool.
    """
    if len(name) == 4:
        kind, phrase, target, paths = name
        return Tool(kind, phrase, target or _no_target, paths or _no_paths)
    module, variable, key = name
    value = getattr(import_module(module), variable, None) if module.startswith(_PACKAGE) else None
    found = value.get(key) if isinstance(value, dict) else value
    if isinstance(found, Tool):
        return found
    raise LookupError(f"no tool {variable}")
