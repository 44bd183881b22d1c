"""The tool calls of a log. They are kept, as an update contains only the fields that have changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from agentwatch.agents.acp.messages import count_of, short, texts_in
from agentwatch.agents.changes import equal_ends, line_count, lines_of
from agentwatch.agents.fields import NO_FIELDS, Fields, digest_of, items, mapping, number, text
from agentwatch.agents.tool import OpenCalls, Phrase, joined_words, listed_entries, other_tool, remember
from agentwatch.session.counts import complete_sum
from agentwatch.session.events import Event, Outcome, Plan, ToolEnded, ToolKind, ToolProgress, ToolStarted
from agentwatch.session.tool_kind import MOST_COMMAND
from agentwatch.text.amounts import plural
from agentwatch.text.paths import relative_to

# The number of lines that differ between two texts.

_MOST_DIFFERENCES = 200
"""More differing lines are not counted: the comparison takes time proportional to their square."""
_MOST_COMPARED = 200_000
"""The number of pairs of lines that are compared at most: 20 ms."""


def changed_lines(old: str, new: str) -> tuple[int, int] | None:
    """Return the numbers of added and removed lines; None if they differ too much to be compared. The length
    of the shortest edit script is found as Myers describes it (An O(ND) Difference Algorithm, 1986), after
    the equal lines at both ends are left out.

    Example:
        >>> changed_lines("a\\nb\\nc\\n", "a\\nB\\nc\\nd\\n")
        (2, 1)
    """
    before, after = lines_of(old), lines_of(new)
    start, end = equal_ends(before, after)
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    if not before or not after:
        return len(after), len(before)
    steps = _edit_steps(before, after)
    growth = len(after) - len(before)
    return None if steps is None else ((steps + growth) // 2, (steps - growth) // 2)


def _edit_steps(before: list[str], after: list[str]) -> int | None:
    goal = len(before) - len(after)
    furthest = {1: 0}
    compared = 0
    for steps in range(min(_MOST_DIFFERENCES, len(before) + len(after)) + 1):
        for diagonal in range(-steps, steps + 1, 2):
            down, right = furthest.get(diagonal + 1, -1), furthest.get(diagonal - 1, -1) + 1
            first = at = max(down, right)
            while at < len(before) and at - diagonal < len(after) and before[at] == after[at - diagonal]:
                at += 1
            furthest[diagonal] = at
            compared += at - first + 1
        if furthest.get(goal, -1) >= len(before):
            return steps
        if compared > _MOST_COMPARED:
            break
    return None


# The result of a call: exit code, error, and what changed in a file.

_MOST_ERROR = 10_000
_EXIT_CODES = ("exitCode", "exit_code", "exit")
_NO_COMMANDS = (ToolKind.MCP, ToolKind.FETCH, ToolKind.PLAN, ToolKind.DELEGATE, ToolKind.THINK)
_SAID = "Exit code "
"""How Claude Code begins the output of a command that failed. The exit code beside it is always 1."""


class Change(NamedTuple):
    added: int | None = None
    removed: int | None = None
    is_new: bool = False


def object_in(value: object) -> Fields:
    """Return a JSON object; {} for a text that contains one, because a program may have printed it."""
    return value if isinstance(value, dict) else NO_FIELDS


def exit_code_in(fields: Fields, kind: ToolKind) -> int | None:
    """In opencode it is `rawOutput.metadata.exit`, in Cursor `rawOutput.exitCode`, in Codex
    `rawOutput.exit_code`, and in Claude Code `_meta.terminal_exit.exit_code`."""
    if kind in _NO_COMMANDS:
        return None
    output = object_in(fields.get("rawOutput"))
    meta = mapping(fields.get("_meta"))
    for place in (output, object_in(output.get("metadata")), object_in(meta.get("terminal_exit"))):
        found = (number(place, key) for key in _EXIT_CODES)
        code = next((each for each in found if each is not None), None)
        if code is not None:
            return code
    return None


def said_exit_code(output: str) -> int | None:
    digits = output.removeprefix(_SAID).partition("\n")[0].strip() if output.startswith(_SAID) else ""
    return int(digits) if digits.isdecimal() and len(digits) < 6 else None


def terminal_output(fields: Fields) -> str | None:
    meta = mapping(fields.get("_meta"))
    for key in ("terminal_output_delta", "terminal_output"):
        data = object_in(meta.get(key)).get("data")
        if isinstance(data, str) and data:
            return data
    return None


def error_in(fields: Fields) -> str | None:
    output = fields.get("rawOutput")
    body = object_in(output)
    error = body.get("error")
    found = error if isinstance(error, str) else text(object_in(error), "message")
    found = found or text(body, "message") or next(texts_in(fields.get("content")), None)
    found = found or (output if isinstance(output, str) else None)
    return _unfenced(found)[:_MOST_ERROR] if found else None


def is_refused_by_rule(fields: Fields) -> bool:
    """Return whether a rule of Claude Code refused the call."""
    response = object_in(object_in(mapping(fields.get("_meta")).get("claudeCode")).get("toolResponse"))
    return isinstance(response.get("decisionReasonType"), str)


def change_in(fields: Fields) -> Change | None:
    """In opencode the counts are also in `rawOutput.metadata`, with whether the file existed before."""
    metadata = object_in(object_in(fields.get("rawOutput")).get("metadata"))
    counts = object_in(metadata.get("filediff"))
    counted = count_of(counts, "additions"), count_of(counts, "deletions")
    blocks = (mapping(block) for block in items(fields.get("content")))
    changes = [_change(block) for block in blocks if block.get("type") == "diff"]
    is_new = metadata.get("exists") is False or any(change.is_new for change in changes)
    if counted != (None, None):
        return Change(*counted, is_new=is_new)
    if not changes:
        return Change(is_new=True) if is_new else None
    added = complete_sum([change.added for change in changes])
    if added is None:
        return Change(is_new=is_new)
    removed = complete_sum([change.removed for change in changes])
    return Change(added, removed, is_new and metadata.get("exists") is not True)


def _change(block: Fields) -> Change:
    old, new = text(block, "oldText") or "", text(block, "newText") or ""
    kind = mapping(block.get("_meta")).get("kind")
    is_new = kind == "add" if isinstance(kind, str) else not old and bool(new)
    counts = changed_lines(old, new)
    return Change(None, None, is_new) if counts is None else Change(*counts, is_new)


def _unfenced(words: str) -> str:
    inner = words.strip()
    if not (inner.startswith("```") and inner.endswith("```") and len(inner) > 6):
        return words
    return inner[3:-3].partition("\n")[2].strip() or words


# The terminals that an agent asks its client for: their commands and exit codes.

_MOST_TERMINALS = 256
_MOST_SHOWN = 4096


class Terminals:
    """The last 256 terminals, by their ids."""

    def __init__(self) -> None:
        self._commands: dict[str, str] = {}
        self._exit_codes: dict[str, int] = {}

    def created(self, terminal: str | None, command: str | None) -> None:
        if short(terminal) and terminal is not None and command is not None:
            remember(self._commands, terminal, command, _MOST_TERMINALS)

    def exited(self, terminal: str | None, status: Fields) -> None:
        code = number(status, "exitCode")
        if short(terminal) and terminal is not None and code is not None:
            remember(self._exit_codes, terminal, code, _MOST_TERMINALS)

    def command(self, terminals: tuple[str, ...]) -> str | None:
        return next((self._commands[each] for each in terminals if each in self._commands), None)

    def exit_code(self, terminals: tuple[str, ...]) -> int | None:
        codes = [self._exit_codes[each] for each in terminals if each in self._exit_codes]
        return codes[-1] if codes else None

    def update(self, update: Fields) -> None:
        terminal = text(update, "terminalId")
        self.created(terminal, command_line(update))
        self.exited(terminal, mapping(update.get("exitStatus")))


def command_line(params: Fields) -> str | None:
    command = text(params, "command")
    if command is None:
        return None
    return " ".join(filter(None, (command, joined_words(items(params.get("args"))))))[:MOST_COMMAND]


# The description of a call: the name of the tool, what it does, and what it acts on.
# The protocol has kinds of tools, and a title for people. The name of a tool is an unstable field. It is
# also taken from where captures of agents have it.

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
    has_todos: bool = False
    is_task: bool = False
    content_lines: int | None = None


NO_ARGUMENTS = Arguments()


@dataclass(slots=True)
class Described:
    name: str | None = None
    kind: str | None = None
    title: str | None = None
    arguments: Arguments = NO_ARGUMENTS
    locations: tuple[str, ...] = ()
    changed_paths: tuple[str, ...] = ()
    is_mcp: bool = False
    terminals: tuple[str, ...] = ()

    def update(self, fields: Fields, *, is_first: bool) -> bool:
        meta = mapping(fields.get("_meta"))
        raw = mapping(fields.get("rawInput"))
        has_input = not {*raw} <= {"cwd"}
        title, self.kind = text(fields, "title"), text(fields, "kind") or self.kind
        title = title and title[:MOST_COMMAND]
        given = (
            text(fields, "name")
            or text(mapping(meta.get("claudeCode")), "toolName")
            or text(meta, "toolName")
        )
        self.name = given[:_MOST_SHOWN] if given else self.name
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
        kind = self._kind()
        name = self.name or self.kind or ToolKind.OTHER.value
        phrase = _PHRASES.get(kind, Phrase.USED)
        arguments = self.arguments
        title = None if self.title == self.name else self.title
        match kind:
            case ToolKind.EXECUTE:
                target = arguments.command or command or _command_in(title)
                return Description(name, kind, phrase, target and target.strip())
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
    tool: str
    kind: ToolKind
    phrase: str
    target: str | None
    path: str | None = None
    more_paths: tuple[str, ...] = ()


def _arguments(raw: Fields) -> Arguments:
    command = raw.get("command", raw.get("cmd"))
    if isinstance(command, list):
        command = joined_words(command)
    content = raw.get("content")
    return Arguments(
        command=command[:MOST_COMMAND] if isinstance(command, str) and command else None,
        url=_cut(raw.get("url")),
        query=_cut(raw.get("query")),
        pattern=_cut(raw.get("pattern")),
        paths=tuple(path[:_MOST_SHOWN] for key in _PATHS if (path := text(raw, key)))[:1],
        description=_cut(raw.get("description")),
        main=(_NAMELESS.target(raw) or "").strip()[:_MOST_SHOWN],
        has_todos=isinstance(raw.get("todos"), list),
        is_task=isinstance(raw.get("prompt"), str) and isinstance(raw.get("subagent_type"), str),
        content_lines=line_count(content) if isinstance(content, str) else None,
    )


def _cut(value: object) -> str | None:
    return value[:_MOST_SHOWN] if isinstance(value, str) and value else None


def _paths(blocks: Iterable[Fields]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for block in islice(blocks, _MOST_PATHS):
        if path := text(block, "path"):
            found[path[:_MOST_SHOWN]] = None
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


_ABORTED = "User aborted the command"
_REMARK_CHARACTERS = 600
"""The part of an output, from its end, in which opencode's remark about the command is searched."""
_MOST_ENDED = 4096
_MOST_OUTPUT = 1 << 16
_ENDS = {
    "completed": Outcome.SUCCEEDED,
    "failed": Outcome.FAILED,
    "cancelled": Outcome.CANCELLED,
    "canceled": Outcome.CANCELLED,
    "rejected": Outcome.REJECTED,
}
"""The states that end a call. The schema has the first two; unstable versions of agents write the others."""


@dataclass(slots=True)
class Owner:
    session: str | None
    parent_call: str | None
    scope: str | None
    """The session whose ids the call's id must not be confused with; None for the main one."""
    cwd: str


@dataclass(slots=True)
class _Call:
    call_id: str
    owner: Owner
    described: Described = field(default_factory=Described)
    shown: Description | None = None
    is_explained: bool = False
    refusal: Outcome | None = None
    """The outcome if the call fails: a person refused it or cancelled the turn."""
    after_cancel: bool = False
    exit_code: int | None = None
    has_said: bool = False
    change: Change | None = None


class Calls:
    """The open calls of a log, and the ids of the last 4,096 that have ended."""

    def __init__(self, terminals: Terminals) -> None:
        self._terminals = terminals
        self._open = OpenCalls[_Call]()
        self._ended: dict[str, None] = {}

    def clear(self) -> None:
        self._open.clear()
        self._ended.clear()

    def update(self, fields: Fields, owner: Owner, *, announces: bool) -> list[Event]:
        call_id = text(fields, "toolCallId") or ""
        key = _key(owner.session, call_id)
        if key in self._ended:
            return []
        status = fields.get("status")
        outcome = _ENDS.get(status) if isinstance(status, str) else None
        call = self._open.get(key)
        is_first = call is None
        if call is None:
            call = _Call(call_id, owner)
            self._open.keep(key, call)
        explains = call.described.update(fields, is_first=is_first)
        self._read(call, fields)
        if outcome is None:
            return [*self._described(call, explains=explains), *_progress(call, fields)]
        events = self._described(call, explains=True) if announces and call.shown is None else []
        return [*events, self._end(key, call, fields, outcome, has_arguments=explains)]

    def asked(self, session: str | None, call_id: str) -> tuple[str, str | None]:
        call = self._open.get(_key(session, call_id))
        if call is None or call.shown is None:
            return "", None
        return call.shown.tool, call.shown.target

    def refuse(self, session: str | None, call_id: str | None, outcome: Outcome) -> None:
        """Note that a person refused a call, or cancelled it. Its end says whether that stopped it."""
        call = self._open.get(_key(session, call_id or ""))
        if call is not None:
            call.refusal = outcome

    def cancel(self, session: str | None) -> None:
        for call in self._open.values():
            if call.owner.session == session:
                call.refusal = call.refusal or Outcome.CANCELLED
                call.after_cancel = True

    def end_refused(self, session: str | None) -> list[Event]:
        """Return the ends of the calls that a person refused and that have no line of their own for it."""
        refused = [
            (key, call)
            for key, call in self._open.items()
            if call.refusal is Outcome.REJECTED and call.owner.session == session
        ]
        return [
            self._end(key, call, {}, Outcome.REJECTED, has_arguments=False)._replace(has_result=False)
            for key, call in refused
        ]

    def _read(self, call: _Call, fields: Fields) -> None:
        kind = call.described.described("").kind
        said = said_exit_code(terminal_output(fields) or next(texts_in(fields.get("content")), ""))
        call.has_said = call.has_said or (said is not None and kind is ToolKind.EXECUTE)
        found = said if said is not None and call.has_said else exit_code_in(fields, kind)
        if found is not None and (said is not None or not call.has_said):
            call.exit_code = found
        call.change = change_in(fields) or call.change

    def _described(self, call: _Call, *, explains: bool) -> list[Event]:
        shown = call.described.described(call.owner.cwd, self._terminals.command(call.described.terminals))
        is_news = shown != call.shown and (explains or not call.is_explained)
        if call.shown is not None and not is_news and not (explains and not call.is_explained):
            return []
        started = ToolStarted(
            call_id=call.call_id,
            session_id=call.owner.scope,
            tool=shown.tool,
            kind=shown.kind,
            phrase=shown.phrase,
            target=shown.target,
            path=shown.path,
            parent_call=call.owner.parent_call,
            more_paths=shown.more_paths,
            is_update=call.shown is not None,
        )
        call.shown = shown
        call.is_explained = call.is_explained or explains
        return [started]

    def _end(
        self, key: str, call: _Call, fields: Fields, outcome: Outcome, *, has_arguments: bool
    ) -> ToolEnded:
        self._open.pop(key, None)
        remember(self._ended, key, None, _MOST_ENDED)
        described = call.described
        shown = described.described(call.owner.cwd, self._terminals.command(described.terminals))
        if call.shown is not None and call.is_explained and not has_arguments:
            shown = call.shown  # opencode ends a call with another title
        code = self._terminals.exit_code(described.terminals) if call.exit_code is None else call.exit_code
        outcome, error = _judged(call, fields, outcome, code)
        change = call.change if outcome is Outcome.SUCCEEDED and shown.kind is ToolKind.EDIT else None
        change = change or Change()
        added = described.arguments.content_lines if change.is_new and change.added is None else change.added
        return ToolEnded(
            call_id=call.call_id,
            session_id=call.owner.scope,
            tool=shown.tool,
            kind=shown.kind,
            outcome=outcome,
            phrase=Phrase.CREATED if change.is_new else shown.phrase,
            has_arguments=shown.target is not None,
            target=shown.target,
            path=shown.path,
            error=error,
            note=_note(call, change, added, outcome),
            exit_code=code,
            is_new_file=change.is_new,
            lines_added=added,
            lines_removed=change.removed,
            parent_call=call.owner.parent_call,
            more_paths=shown.more_paths,
        )


def _judged(call: _Call, fields: Fields, outcome: Outcome, code: int | None) -> tuple[Outcome, str | None]:
    if outcome is Outcome.SUCCEEDED:
        if call.after_cancel and _is_aborted(fields):
            return Outcome.CANCELLED, "aborted"
        if code:
            return Outcome.FAILED, f"exit {code}"
        if object_in(fields.get("rawOutput")).get("isError") is True:
            return Outcome.FAILED, error_in(fields) or "the tool says so"
        return outcome, None
    if outcome is Outcome.FAILED:
        if is_refused_by_rule(fields):
            return Outcome.REJECTED, error_in(fields)
        if call.refusal is not None:
            return call.refusal, error_in(fields)
        return outcome, f"exit {code}" if code else error_in(fields)
    return outcome, error_in(fields)


def _is_aborted(fields: Fields) -> bool:
    """Return whether opencode has stopped a command, which it calls completed: without an exit code."""
    output = object_in(fields.get("rawOutput"))
    words = (text(output, "output") or "")[-_REMARK_CHARACTERS:]
    return object_in(output.get("metadata")).get("exit", 0) is None and _ABORTED in words


def _note(call: _Call, change: Change, added: int | None, outcome: Outcome) -> str | None:
    if outcome is not Outcome.SUCCEEDED:
        return None
    if call.after_cancel:
        return "after the cancel"
    return plural(added, "line") if change.is_new and added is not None else None


def _progress(call: _Call, fields: Fields) -> list[Event]:
    output, is_whole = terminal_output(fields), False
    if output is None and fields.get("status") == "in_progress":
        output, is_whole = "\n".join(texts_in(fields.get("content"))), True
    if not output:
        return []
    return [ToolProgress(call.call_id, call.owner.scope, output[-_MOST_OUTPUT:], is_whole)]


def plan_in(entries: object) -> Plan:
    return Plan(listed_entries(entries, "content"))


def _key(session: str | None, call_id: str) -> str:
    """Return a short key for a call: ids may be long, and 4,096 of them are kept."""
    owner = session or ""
    return f"{digest_of(f'{len(owner)} {owner}{call_id}')}"
