"""A tool of an agent: how its calls are described, the events of a call, and to-do lists; whole texts."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple, TypeVar

from agentwatch.agents.fields import MOST_ID, Fields, items, mapping, number, text
from agentwatch.session.events import (
    Channel,
    Event,
    Outcome,
    PlanEntry,
    PlanStatus,
    Text,
    TextEnded,
    Tokens,
    ToolEnded,
    ToolKind,
    ToolStarted,
)
from agentwatch.session.tool_kind import MOST_COMMAND
from agentwatch.text.amounts import plural
from agentwatch.text.paths import relative_to

_new = tuple.__new__
"""Makes a named tuple from all of its fields, in a fifth of the time that naming them takes."""


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
NEW_FILE = Facts(phrase=Phrase.CREATED, is_new_file=True)


class Result(NamedTuple):
    outcome: Outcome
    error: str | None = None
    exit_code: int | None = None
    facts: Facts = NO_FACTS
    unknown_status: str | None = None
    """The agent's own word for the outcome, if its meaning is unknown."""


class Tool(NamedTuple):
    kind: ToolKind
    phrase: str
    """The action in the text format: `Read file`."""
    target: Callable[[Fields], str | None] = lambda _arguments: None
    """Returns the target of a call, from its arguments. It is only called if `paths` returns none."""
    paths: Callable[[Fields], list[str]] = lambda _arguments: []
    """Returns the files that a call acts on, from its arguments."""
    facts: Callable[[Fields], Facts] = lambda _success: NO_FACTS
    """Returns the facts in a successful result."""

    def described(self, arguments: Fields, cwd: str = "") -> tuple[str | None, list[str]]:
        """Return the target of a call as it is shown, and the files that the call acts on. `cwd` has no
        trailing separator; it is empty if unknown."""
        paths = self.paths(arguments)
        if not paths:
            return self.target(arguments), paths
        return ", ".join([relative_to(path, cwd) or path for path in paths]), paths

    def started(
        self,
        call_id: str,
        name: str,
        arguments: Fields,
        *,
        cwd: str = "",
        group: str | None = None,
        limit_ms: int | None = None,
        at_ms: int | None = None,
        parent_call: str | None = None,
    ) -> ToolStarted:
        """Return the start of a call. `cwd` has no trailing separator; it is empty if unknown. `group` is the
        model step that requested the call. `parent_call` is None for the main agent."""
        target, paths = self.described(arguments, cwd)
        path, others = (paths[0], tuple(paths[1:])) if paths else (None, ())
        named = call_id, None, name, self.kind, self.phrase, target, path, group
        return _new(ToolStarted, (*named, limit_ms, at_ms, parent_call, others, False))

    def ended(
        self,
        call_id: str,
        name: str,
        result: Result,
        *,
        has_arguments: bool = False,
        at_ms: int | None = None,
        parent_call: str | None = None,
        duration_ms: int | None = None,
    ) -> ToolEnded:
        """Return the end of a call, whose target is that of its start. `has_arguments` says whether the
        target and the path of the start come from the arguments. `parent_call` is None for the main agent."""
        outcome, error, exit_code, (note, phrase, is_new, added, removed), _ = result
        named = call_id, None, name, self.kind, outcome, phrase or self.phrase, has_arguments
        found = None, None, None, error, note, exit_code, is_new, added, removed
        return _new(ToolEnded, (*named, *found, at_ms, parent_call, (), None, duration_ms, True, None))


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


def joined_words(words: Iterable[object]) -> str:
    from shlex import quote  # few formats write a list

    return " ".join([quote(word) for word in words if isinstance(word, str)])


def command_in(*keys: str) -> Callable[[Fields], str | None]:
    """Return a function that returns the command in the first of these arguments, stripped."""
    first_present = named(*keys)

    def command(arguments: Fields) -> str | None:
        found = first_present(arguments)
        return found and found.strip()[:MOST_COMMAND]

    return command


def first_question(arguments: Fields) -> str | None:
    asked = (text(mapping(each), "question") for each in items(arguments.get("questions")))
    return next(filter(None, asked), None)


IDS = frozenset({"toolCallId", "conversationId", "requestId"})
"""Arguments that say nothing about the call."""

_main_argument = named(
    *("path", "file_path", "command", "url", "query", "pattern", "searchTerm", "description", "title"),
    *("prompt", "name", "server", "taskId", "text"),
)


def other_tool(name: str) -> Tool:
    """Return a description of a tool that is not known. The target of its calls is the tool's name and the
    most informative argument: `createPlan Migration`."""

    def target(arguments: Fields) -> str:
        strings = (
            value for key, value in arguments.items() if isinstance(value, str) and value and key not in IDS
        )
        argument = _main_argument(arguments) or next(strings, None)
        return f"{name} {argument}" if argument else name

    return Tool(ToolKind.OTHER, Phrase.USED, target)


# Whole texts.


def said(
    channel: Channel, words: str | None, at_ms: int | None = None, parent_call: str | None = None
) -> list[Event]:
    """Return the events of a whole text; none without words."""
    if not words:
        return []
    return [Text(channel, words, at_ms, None, parent_call), TextEnded(channel, at_ms, parent_call)]


# Token counts.


def tokens_in(
    usage: Fields, given: str, cached: str, output: str, written: str = "", *, excludes_cache: bool = False
) -> Tokens:
    """Return the counts in the fields with these names. `excludes_cache` says that the input is without what
    the cache was read and written."""
    counts = [number(usage, key) for key in (given, cached, written)]
    total = counts[0]
    if excludes_cache and total is not None:
        total = sum(count or 0 for count in counts)
    return Tokens(input=total, cached=counts[1], output=number(usage, output), written=counts[2])


# To-do lists. All agents write a list of objects, with other names for the text of an entry.

MOST_ENTRIES = 10_000
"""The length of the longest list. The plan of a session is kept in memory."""
_MOST_CHARACTERS = 4096
"""The length of the longest entry."""
_STATUSES = {status.value: status for status in PlanStatus}


def listed_entries(value: object, *keys: str) -> tuple[PlanEntry, ...]:
    """Return the entries of a list, at most 10,000; empty for any other value. The first of `keys` that an
    entry has contains its text."""
    return tuple(entry_in(mapping(each), *keys) for each in islice(items(value), MOST_ENTRIES))


def entry_in(fields: Fields, *keys: str) -> PlanEntry:
    words = next((found for key in keys if (found := text(fields, key))), "")
    return plan_entry(words, text(fields, "status"))


def plan_entry(words: str, status: str | None, otherwise: PlanStatus = PlanStatus.PENDING) -> PlanEntry:
    """Return an entry, its text cut to 4,096 characters. `status` is `pending`, `in_progress`, `completed` or
    `cancelled`. `otherwise` is the status of an entry whose own is unknown."""
    return PlanEntry(words[:_MOST_CHARACTERS], _STATUSES.get(status or "", otherwise))


# What decoders keep until a later line: the calls that have not ended, and other tables with a limit.

MOST_OPEN = 1024
"""The number of open calls. The captures have at most 4 at once. A call whose result never comes remains
open, so without a limit a long session would fill the memory."""

_Call = TypeVar("_Call")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def remember(kept: dict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    """Add a value to a table, and drop the oldest one of more than `most`."""
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]


class OpenCalls(dict[str, _Call]):
    """What is known about each open call, by its call_id, the oldest first. It is a dictionary, so that only
    the start of a call costs a Python function: its end is a `pop`."""

    __slots__ = ()  # otherwise `OpenCalls[str | None]()` keeps that type, which a checkpoint cannot contain

    def keep(self, call_id: str, call: _Call, name: str = "") -> None:
        """Add a call, and drop the oldest one of more than 1,024. A call whose id has more than 1,000
        characters is not added."""
        if len(call_id) <= MOST_ID and len(name) <= MOST_ID:
            self[call_id] = call
            if len(self) > MOST_OPEN:
                del self[next(iter(self))]
