"""A tool of an agent: how its calls are read and described. All agents use it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from agentwatch.agents.fields import Fields, items, mapping, number, text
from agentwatch.session.events import PlanEntry, PlanStatus, ToolKind
from agentwatch.text.amounts import plural


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


class Tool(NamedTuple):
    """A tool: how its calls are read and described."""

    kind: ToolKind
    phrase: str
    """The action in the text format: `Read file`."""
    target: Callable[[Fields], str | None] = lambda _arguments: None
    """Returns the target of a call, from its arguments. It is only called if `paths` returns none."""
    paths: Callable[[Fields], list[str]] = lambda _arguments: []
    """Returns the files that a call acts on, from its arguments."""
    facts: Callable[[Fields], Facts] = lambda _success: NO_FACTS
    """Returns the facts in a successful result."""


def named(*keys: str) -> Callable[[Fields], str | None]:
    """Return a function that returns the first of these arguments that is a text."""
    if len(keys) == 1:
        (only,) = keys

        def present(arguments: Fields) -> str | None:
            value = arguments.get(only)
            return value if value and isinstance(value, str) else None

        return present

    def first_present(arguments: Fields) -> str | None:
        return next((found for key in keys if (found := text(arguments, key))), None)

    return first_present


def path_in(*keys: str) -> Callable[[Fields], list[str]]:
    """Return a function that returns the path in the first of these arguments that is a text."""
    first_present = named(*keys)

    def paths(arguments: Fields) -> list[str]:
        path = arguments.get(keys[0])
        if not (path and type(path) is str):
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


def other_tool(name: str) -> Tool:
    """Return a description of a tool that is not known.

    The target of its calls is the tool's name and the most informative argument: `createPlan Migration`.
    """

    def target(arguments: Fields) -> str:
        strings = (
            value for key, value in arguments.items() if isinstance(value, str) and value and key not in IDS
        )
        argument = _main_argument(arguments) or next(strings, None)
        return f"{name} {argument}" if argument else name

    return Tool(ToolKind.OTHER, Phrase.USED, target)


# Reads to-do lists. All agents write a list of objects, with other names for the text of an entry.

MOST_ENTRIES = 10_000
"""The length of the longest list. The plan of a session is kept in memory."""
_MOST_CHARACTERS = 4096
"""The length of the longest entry."""
_STATUSES = {status.value: status for status in PlanStatus}


def listed_entries(value: object, *keys: str) -> tuple[PlanEntry, ...]:
    """Return the entries of a list, at most 10,000; empty for any other value.

    Args:
        value: The list.
        keys: The fields of an entry that may contain its text. The first that does counts.
    """
    return tuple(entry_in(mapping(each), *keys) for each in islice(items(value), MOST_ENTRIES))


def entry_in(fields: Fields, *keys: str) -> PlanEntry:
    """Return the entry that an object describes."""
    words = next((found for key in keys if (found := text(fields, key))), "")
    return plan_entry(words, text(fields, "status"))


def plan_entry(words: str, status: str | None, otherwise: PlanStatus = PlanStatus.PENDING) -> PlanEntry:
    """Return an entry, its text cut to 4,096 characters.

    Args:
        words: The text.
        status: The status: `pending`, `in_progress`, `completed` or `cancelled`.
        otherwise: The status of an entry whose own is unknown.
    """
    return PlanEntry(words[:_MOST_CHARACTERS], _STATUSES.get(status or "", otherwise))
