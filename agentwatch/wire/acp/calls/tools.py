"""Describes tool calls: the name of the tool, what it does, and what it acts on.

The protocol has kinds of tools, and a title for people. The name of a tool is an unstable field. It is also
taken from where captures of agents have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from agentwatch.events import ToolKind
from agentwatch.text.paths import relative_to
from agentwatch.wire.changes.file_change import line_count
from agentwatch.wire.fields import Fields, items, mapping, text
from agentwatch.wire.tool import Phrase, first_line, other_tool

_MOST_CHARACTERS = 4096
_MOST_PATHS = 100
_KINDS = {
    kind: ToolKind(kind) for kind in ("read", "edit", "delete", "move", "search", "execute", "fetch", "think")
}
_PHRASES = {
    ToolKind.READ: Phrase.READ,
    ToolKind.EDIT: Phrase.EDITED,
    ToolKind.DELETE: Phrase.DELETED,
    ToolKind.SEARCH: Phrase.SEARCHED,
    ToolKind.EXECUTE: Phrase.RAN,
    ToolKind.FETCH: Phrase.FETCHED,
    ToolKind.PLAN: Phrase.TODOS,
    ToolKind.DELEGATE: Phrase.RAN_SUBAGENT,
    ToolKind.MCP: Phrase.CALLED_MCP,
}
_NAMELESS = other_tool("")
"""Returns the most informative argument of any tool."""
_FINDS = frozenset({"glob", "find", "file_search", "find_files"})
_LISTS = frozenset({"ls", "list", "list_dir", "list_directory", "list_files"})
_PATHS = ("path", "file_path", "filePath", "filepath", "absolute_path", "notebook_path", "abs_path", "file")
_MCP = "mcp__"
_GEMINI_FOLDER = " [current working directory "
"""What older versions of gemini-cli append to the command in a title."""


class Arguments(NamedTuple):
    """What is kept of `rawInput`; a text that it does not contain is None."""

    command: str | None = None
    url: str | None = None
    query: str | None = None
    pattern: str | None = None
    paths: tuple[str, ...] = ()
    description: str | None = None
    main: str = ""
    """The most informative argument."""
    has_todos: bool = False
    is_task: bool = False
    """It starts a subagent."""
    content_lines: int | None = None
    """The number of lines of the content that the call writes."""


NO_ARGUMENTS = Arguments()


@dataclass(slots=True)
class Described:
    """The fields of a call so far. An update replaces those that it contains."""

    name: str | None = None
    kind: str | None = None
    title: str | None = None
    arguments: Arguments = NO_ARGUMENTS
    locations: tuple[str, ...] = ()
    changed_paths: tuple[str, ...] = ()
    """The files in the diffs of the content."""
    is_mcp: bool = False
    terminals: tuple[str, ...] = field(default=())

    def update(self, fields: Fields, *, is_first: bool) -> bool:
        """Replace the fields that a line contains. Return whether the line contains arguments or a change."""
        meta = mapping(fields.get("_meta"))
        raw = mapping(fields.get("rawInput"))
        has_input = not {*raw} <= {"cwd"}
        title, self.kind = text(fields, "title"), text(fields, "kind") or self.kind
        title = title and title[:_MOST_CHARACTERS]
        given = (
            text(fields, "name")
            or text(mapping(meta.get("claudeCode")), "toolName")
            or text(meta, "toolName")
        )
        self.name = given[:_MOST_CHARACTERS] if given else self.name
        self.is_mcp = self.is_mcp or meta.get("is_mcp_tool_call") is True
        if is_first and self.name is None and _is_word(title):
            # opencode announces a call with the tool's name as its title; kimi gives no kind
            is_announced = fields.get("status") == "pending" and "rawInput" in fields and not has_input
            self.name = title if is_announced or self.kind is None else None
        self.title = title or self.title
        if has_input:
            self.arguments = _arguments(raw)
        if isinstance(fields.get("locations"), list):
            self.locations = _paths(map(mapping, fields["locations"])) or self.locations
        content = [mapping(block) for block in items(fields.get("content"))]
        changed = _paths(block for block in content if block.get("type") == "diff")
        self.changed_paths = changed or self.changed_paths
        terminals = (text(block, "terminalId") for block in content)
        self.terminals = tuple(islice((each for each in terminals if each), _MOST_PATHS)) or self.terminals
        return has_input or bool(changed)

    def described(self, cwd: str, command: str | None = None) -> Description:
        """Return the description of the call.

        Args:
            cwd: The working directory of the session, without a separator at its end.
            command: The command of the call's terminal.
        """
        kind = self._kind()
        name = self.name or self.kind or ToolKind.OTHER.value
        phrase = _PHRASES.get(kind, Phrase.USED)
        arguments = self.arguments
        title = None if self.title == self.name else self.title
        match kind:
            case ToolKind.EXECUTE:
                target = arguments.command or command or _command_in(title)
                return Description(name, kind, phrase, first_line(target))
            case ToolKind.READ | ToolKind.EDIT | ToolKind.DELETE | ToolKind.MOVE:
                return self._on_files(name, kind, phrase, cwd, title)
            case ToolKind.SEARCH:
                return self._search(name, kind, title, cwd)
            case ToolKind.FETCH:
                phrase = Phrase.SEARCHED_WEB if arguments.query and not arguments.url else Phrase.FETCHED
                return Description(name, kind, phrase, arguments.url or arguments.query or title)
            case ToolKind.PLAN:
                return Description(name, kind, phrase, "")
            case ToolKind.DELEGATE:
                return Description(name, kind, phrase, arguments.description or title)
            case ToolKind.MCP:
                return Description(name, kind, phrase, " ".join(name.removeprefix(_MCP).split("__", 1)))
        return Description(name, kind, phrase, " ".join(filter(None, (name, arguments.main or title))))

    def _kind(self) -> ToolKind:
        if self.is_mcp or (self.name or "").startswith(_MCP):
            return ToolKind.MCP
        if self.arguments.has_todos:
            return ToolKind.PLAN
        if self.arguments.is_task:
            return ToolKind.DELEGATE
        return _KINDS.get(self.kind or "", ToolKind.OTHER)

    def _on_files(self, name: str, kind: ToolKind, phrase: str, cwd: str, title: str | None) -> Description:
        paths = self.changed_paths or self.locations or self.arguments.paths
        shown = ", ".join(relative_to(path, cwd) or path for path in paths) or title
        if phrase == Phrase.USED:
            shown = " ".join(filter(None, (name, shown)))
        return Description(name, kind, phrase, shown, paths[0] if paths else None, paths[1:])

    def _search(self, name: str, kind: ToolKind, title: str | None, cwd: str) -> Description:
        arguments, lower = self.arguments, name.lower()
        if lower in _LISTS:
            folder = next(iter(arguments.paths or self.locations), None)
            shown = title if folder is None else relative_to(folder, cwd) or folder
            return Description(name, kind, Phrase.LISTED, shown, folder)
        phrase = Phrase.FOUND if lower in _FINDS else Phrase.SEARCHED
        return Description(name, kind, phrase, arguments.pattern or arguments.query or title)


class Description(NamedTuple):
    """A call in words."""

    tool: str
    kind: ToolKind
    phrase: str
    target: str | None
    path: str | None = None
    more_paths: tuple[str, ...] = ()


def _arguments(raw: Fields) -> Arguments:
    command = raw.get("command", raw.get("cmd"))
    if isinstance(command, list):
        command = " ".join(word for word in islice(command, _MOST_PATHS) if isinstance(word, str))
    content = raw.get("content")
    return Arguments(
        command=_cut(command),
        url=_cut(raw.get("url")),
        query=_cut(raw.get("query")),
        pattern=_cut(raw.get("pattern")),
        paths=tuple(path[:_MOST_CHARACTERS] for key in _PATHS if (path := text(raw, key)))[:1],
        description=_cut(raw.get("description")),
        main=(_NAMELESS.target(raw) or "").strip()[:_MOST_CHARACTERS],
        has_todos=isinstance(raw.get("todos"), list),
        is_task=isinstance(raw.get("prompt"), str) and isinstance(raw.get("subagent_type"), str),
        content_lines=line_count(content) if isinstance(content, str) else None,
    )


def _cut(value: object) -> str | None:
    return value[:_MOST_CHARACTERS] if isinstance(value, str) and value else None


def _paths(blocks: Iterable[Fields]) -> tuple[str, ...]:
    """Return the different paths in objects, at most 100."""
    found: dict[str, None] = {}
    for block in islice(blocks, _MOST_PATHS):
        if path := text(block, "path"):
            found[path[:_MOST_CHARACTERS]] = None
    return tuple(found)


def _is_word(title: str | None) -> bool:
    return title is not None and title.isascii() and title.replace("_", "").replace("-", "").isalnum()


def _command_in(title: str | None) -> str | None:
    """Return the command in a title, which may be in backticks."""
    if title is None:
        return None
    command = title.partition(_GEMINI_FOLDER)[0].strip()
    is_quoted = len(command) > 2 and command[0] == command[-1] == "`"
    return command[1:-1] if is_quoted else command
