"""Decodes `codex exec --json`. The format is taken from captures of versions 0.46 to 0.169, and from
`codex-rs/exec/src/exec_events.rs`. No line has a time. Only the first line has the session's id. A message is
always whole, never a delta."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from agentwatch.agents.agent import AgentDecoder
from agentwatch.agents.changes import ChangeKind, Changes, FileChange, changed_lines, line_count, summed
from agentwatch.agents.fields import (
    Fields,
    Salvaged,
    digest_of,
    in_words,
    integer,
    items,
    mapping,
    number,
    text,
    whole_text,
)
from agentwatch.agents.tool import (
    MOST_ENTRIES,
    Phrase,
    Tool,
    entry_in,
    first_question,
    joined_words,
    other_tool,
    tokens_in,
)
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Permission,
    Plan,
    PlanEntry,
    PlanStatus,
    Retry,
    RunStarted,
    Text,
    TextEnded,
    Tokens,
    ToolEnded,
    ToolKind,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.session.tool_kind import MOST_COMMAND
from agentwatch.text.amounts import one_line
from agentwatch.text.paths import relative_to

# Error messages.

_RETRY = "Reconnecting..."


def message_in(fields: Fields) -> str | None:
    found = text(fields, "message")
    return None if found is None else plain(found)


def plain(message: str) -> str:
    """Return an error message as a person reads it: it may be the model's answer in JSON.

    Example:
        >>> plain('{"error": {"message": "no such model"}}')
        'no such model'
    """
    fields = mapping(message)
    inner = mapping(fields.get("error"))
    return text(inner, "message") or text(fields, "message") or text(fields, "detail") or message


def error_event(message: str, at_ms: int | None = None) -> Event:
    """Return the event of an error that does not end the turn: a retry, or a notice.

    Example:
        >>> error_event("Reconnecting... 1/5 (stream disconnected)")[:3]
        ('stream disconnected', 1, 5)
    """
    if not message.startswith(_RETRY):
        return Notice(message, at_ms, is_error=True)
    counts, _, reason = message.removeprefix(_RETRY).strip().partition(" ")
    attempt, _, most = counts.partition("/")
    reason = reason.removeprefix("(").removesuffix(")")
    return Retry(reason, integer(attempt), integer(most), at_ms=at_ms)


# A tool call as the events describe it, for the stream and the rollouts.

MCP_REFUSALS = ("user rejected MCP tool call", "user cancelled MCP tool call")
"""`codex exec` refuses in the name of the user what it would have to ask for."""


class Use(NamedTuple):
    tool: str
    kind: ToolKind
    phrase: str
    target: str | None = None
    paths: tuple[str, ...] = ()
    limit_ms: int | None = None
    changes: Changes | None = None


class End(NamedTuple):
    outcome: Outcome
    error: str | None = None
    note: str | None = None
    exit_code: int | None = None
    lines_added: int | None = None
    lines_removed: int | None = None
    is_new_file: bool = False
    at_ms: int | None = None
    started_ms: int | None = None
    duration_ms: int | None = None


def tool_use(name: str, tool: Tool, arguments: Fields) -> Use:
    return Use(name, tool.kind, tool.phrase, tool.target(arguments), tuple(tool.paths(arguments)))


def command_use(tool: str, script: str, limit_ms: int | None = None) -> Use:
    return Use(tool, ToolKind.EXECUTE, Phrase.RAN, script.strip()[:MOST_COMMAND], limit_ms=limit_ms)


def change_use(tool: str, changes: Changes) -> Use:
    return Use(tool, changes.kind, changes.phrase, paths=changes.paths, changes=changes)


def mcp_use(tool: str, server: str | None, name: str | None) -> Use:
    target = " ".join(word for word in (server, name) if word)
    return Use(tool, ToolKind.MCP, Phrase.CALLED_MCP, target or None)


def search_use(tool: str, query: str | None) -> Use:
    return Use(tool, ToolKind.SEARCH, Phrase.SEARCHED_WEB, query)


def agent_use(tool: str, prompt: str | None, threads: list[str]) -> Use:
    if prompt is not None:
        return Use(tool, ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, one_line(prompt))
    return Use(tool, ToolKind.DELEGATE, Phrase.USED, " ".join([tool, *threads]))


def search_query(action: object, query: str | None) -> str | None:
    """Return what a web search searched for: its query, the page that it opened, or a text in it."""
    fields = action if isinstance(action, dict) else {}
    queries = fields.get("queries")
    first = queries[0] if isinstance(queries, list) and queries else None
    found = (query, fields.get("query"), fields.get("url"), fields.get("pattern"), first)
    return next((each for each in found if isinstance(each, str) and each), None)


def change_end(changes: Changes | None, outcome: Outcome, error: str | None = None) -> End:
    """Return the end of a call that changed files. Only one that succeeded has changed lines."""
    if changes is None or outcome is not Outcome.SUCCEEDED:
        return End(outcome, error)
    added, removed = changes.added, changes.removed
    return End(outcome, lines_added=added, lines_removed=removed, is_new_file=changes.is_new)


def command_end(status: str | None, exit_code: int | None) -> End | None:
    """Return None if it still runs. A declined command did not run: -1 is Codex's own exit code."""
    match status:
        case "in_progress" | "inProgress":
            return None
        case "declined":
            return End(Outcome.REJECTED)
        case _ if exit_code:
            return End(Outcome.FAILED, f"exit {exit_code}", exit_code=exit_code)
        case "failed":
            return End(Outcome.FAILED, exit_code=exit_code)
        case "completed":
            return End(Outcome.SUCCEEDED, exit_code=exit_code)
        case None if exit_code == 0:
            return End(Outcome.SUCCEEDED, exit_code=exit_code)
    return End(Outcome.RETURNED, unknown_status(status), exit_code=exit_code)


def status_end(status: str | None, error: str | None = None) -> End | None:
    match status:
        case "in_progress" | "inProgress":
            return None
        case "completed":
            return End(Outcome.SUCCEEDED)
        case "failed":
            return failed_end(error)
        case "declined":
            return End(Outcome.REJECTED, error)
    return End(Outcome.RETURNED, unknown_status(status))


def failed_end(error: str | None) -> End:
    """Return the end of a call that failed. A call of an MCP tool that was refused has this end too."""
    is_refusal = error is not None and error.startswith(MCP_REFUSALS)
    return End(Outcome.REJECTED if is_refusal else Outcome.FAILED, error)


def unknown_status(status: str | None) -> str:
    return "came back without a status" if status is None else f"unknown status {status[:100]}"


def started(call_id: str, use: Use, cwd: str = "", at_ms: int | None = None) -> ToolStarted:
    return ToolStarted(
        call_id=call_id,
        session_id=None,
        tool=use.tool,
        kind=use.kind,
        phrase=use.phrase,
        target=_target(use, cwd),
        path=use.paths[0] if use.paths else None,
        limit_ms=use.limit_ms,
        at_ms=at_ms,
        more_paths=use.paths[1:],
    )


def ended(call_id: str, use: Use, end: End, cwd: str = "") -> ToolEnded:
    return ToolEnded(
        call_id=call_id,
        session_id=None,
        tool=use.tool,
        kind=use.kind,
        outcome=end.outcome,
        phrase=use.phrase,
        target=_target(use, cwd),
        path=use.paths[0] if use.paths else None,
        error=end.error,
        note=end.note,
        exit_code=end.exit_code,
        is_new_file=end.is_new_file,
        lines_added=end.lines_added,
        lines_removed=end.lines_removed,
        at_ms=end.at_ms,
        more_paths=use.paths[1:],
        started_ms=end.started_ms,
        duration_ms=end.duration_ms,
    )


def _target(use: Use, cwd: str) -> str | None:
    if not use.paths:
        return use.target
    return ", ".join(relative_to(path, cwd) or path for path in use.paths)


# Changes of files, in each form that versions have used.

_MOST_FILES = 10_000
_KINDS = {kind.value: kind for kind in ChangeKind}
_MOVED = "\n\nMoved to: "
"""What Codex appends to the diff of a file that was moved."""


def listed_changes(value: object) -> list[FileChange]:
    """`[{"path": …, "kind": …, "diff": …}]`; the diff of a new or deleted file is its content."""
    found = []
    for each in map(mapping, islice(items(value), _MOST_FILES)):
        path, kind = text(each, "path"), each.get("kind")
        if path is not None:
            name = text(mapping(kind), "type") if isinstance(kind, dict) else kind
            found.append(_change(path, name, each.get("diff"), text(mapping(kind), "move_path")))
    return found


def mapped_changes(value: object) -> list[FileChange]:
    """Return the changes in an object, as rollouts have them: `{"a.py": {"type": "add", "content": …}}`.
    Before version 0.60 the name of the kind was the key of the rest: `{"a.py": {"add": {"content": …}}}`."""
    found = []
    for path, given in islice(mapping(value).items(), _MOST_FILES):
        body = mapping(given)
        name: object = text(body, "type")
        if name is None:
            name = next((kind for kind in _KINDS if kind in body), None)
            body = mapping(body.get(name)) if isinstance(name, str) else body
        diff = body.get("unified_diff", body.get("content"))
        found.append(_change(path, name, diff, text(body, "move_path")))
    return found


def _change(path: str, name: object, diff: object, moved_to: str | None) -> FileChange:
    kind = _KINDS.get(name, ChangeKind.UPDATE) if isinstance(name, str) else ChangeKind.UPDATE
    if not isinstance(diff, str):
        return FileChange(path, kind, moved_to=moved_to)
    is_content = not diff.startswith(("@@", "--- ", "diff --git "))
    if kind is ChangeKind.ADD and is_content:
        return FileChange(path, kind, None, line_count(diff), 0, moved_to, after=diff)
    if kind is ChangeKind.DELETE and is_content:
        return FileChange(path, kind, None, 0, line_count(diff), moved_to, before=diff, after="")
    diff, _, moved = diff.partition(_MOVED)
    added, removed = changed_lines(diff)
    moved_to = moved_to or moved or None
    if diff.startswith("@@"):
        diff = f"--- {path}\n+++ {moved_to or path}\n{diff}"
    return FileChange(path, kind, diff, added, removed, moved_to)


def results_of_mcp(result: Fields) -> str:
    found = (text(mapping(piece), "text") for piece in items(result.get("content")))
    return "\n".join(each for each in found if each is not None)


# The script in a command that is passed to a shell.

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})
_FLAGS = frozenset({"-c", "-lc", "-ic", "-lic"})
_PIECE = re.compile(
    r"""'(?P<raw>[^']*+)'|"(?P<quoted>(?:[^"\\]++|\\.)*+)"|\\(?P<escaped>.)|(?P<bare>[^\s'"\\]++)""",
    re.DOTALL,
)
"""Matches one piece of a shell word. Each kind of piece is matched in linear time."""
_ESCAPE = re.compile(r'\\([$`"\\\n])')
"""The escapes that a shell resolves between double quotes."""


def script_of(command: str) -> str:
    """Return the script in the call of the user's shell in which Codex wraps and quotes each command.

    Example:
        >>> script_of("/bin/bash -lc 'git status --short'")
        'git status --short'
    """
    shell, _, rest = command.partition(" ")
    flag, _, word = rest.partition(" ")
    if not _is_shell(shell) or flag not in _FLAGS or not word:
        return command
    script = _unquoted(word)
    return command if script is None else script


def script_in(arguments: Sequence[object]) -> str:
    """Return the script in the arguments of a program, or all arguments as one line if it is not a shell.

    Example:
        >>> script_in(["bash", "-lc", "ls -la"]), script_in(["grep", "a b"])
        ('ls -la', "grep 'a b'")
    """
    words = [word for word in arguments if isinstance(word, str)]
    if len(words) == 3 and _is_shell(words[0]) and words[1] in _FLAGS:
        return words[2]
    return joined_words(words)


def _is_shell(program: str) -> bool:
    return program.rpartition("/")[2] in _SHELLS


def _unquoted(word: str) -> str | None:
    pieces, end = [], 0
    while end < len(word):
        piece = _PIECE.match(word, end)
        if piece is None:
            return None
        end = piece.end()
        quoted = piece["quoted"]
        pieces.append(
            _ESCAPE.sub(r"\1", quoted)
            if quoted is not None
            else piece["raw"] or piece["escaped"] or piece["bare"] or ""
        )
    return "".join(pieces)


# The items that are tool calls.

ENDS_ALONE = frozenset({"file_change", "web_search"})
"""The types of items that may be completed without having been started: older versions start none of them."""
CALLS = ENDS_ALONE | {"command_execution", "mcp_tool_call", "collab_tool_call"}
_BESIDE = frozenset({"id", "type", "status"})


class Item(NamedTuple):
    use: Use
    end: End | None
    """It is None if the call is still running."""


def read_item(kind: str, item: Fields) -> Item:
    """Read an item that is a tool call. Only a completed item has ended, whatever its status says."""
    status = text(item, "status")
    match kind:
        case "command_execution":
            use = command_use(kind, script_of(text(item, "command") or ""))
            return Item(use, command_end(status, number(item, "exit_code")))
        case "file_change":
            return change_item(kind, summed(listed_changes(item.get("changes"))), status)
        case "mcp_tool_call":
            tool = text(item, "tool")
            return Item(mcp_use(tool or kind, text(item, "server"), tool), mcp_end(item, status))
        case "collab_tool_call":
            threads = [each for each in items(item.get("receiver_thread_ids")) if isinstance(each, str)]
            use = agent_use(text(item, "tool") or kind, text(item, "prompt"), threads)
            return Item(use, status_end(status, _agent_error(item)))
        case "web_search":
            return search_item(kind, item)
    arguments = {key: value for key, value in item.items() if key not in _BESIDE}
    return Item(tool_use(kind, other_tool(kind), arguments), status_end(status))


def change_item(tool: str, changes: Changes, status: str | None, error: str | None = None) -> Item:
    end = status_end(status, error)
    if end is not None and end.outcome is Outcome.SUCCEEDED:
        end = change_end(changes, Outcome.SUCCEEDED)
    return Item(change_use(tool, changes), end)


def search_item(tool: str, fields: Fields) -> Item:
    """Return a search of the web. Without a status, it has succeeded."""
    use = search_use(tool, search_query(fields.get("action"), text(fields, "query")))
    status = text(fields, "status")
    return Item(use, End(Outcome.SUCCEEDED) if status is None else status_end(status))


def mcp_end(item: Fields, status: str | None) -> End | None:
    """Return the end of an MCP call: an error is beside the result, or in a result that says so."""
    result = mapping(item.get("result"))
    error = message_in(mapping(item.get("error"))) or text(item, "error")
    is_error = result.get("is_error") is True or result.get("isError") is True
    if error is None and (is_error or status == "failed"):
        error = results_of_mcp(result) or None
    if is_error and status != "in_progress":
        return End(Outcome.FAILED, error or "the tool says so")
    return status_end(status, error)


def _agent_error(item: Fields) -> str | None:
    """Return the message of the first subagent that has one, as the reason of a call that failed."""
    states = map(mapping, mapping(item.get("agents_states")).values())
    return next((message for state in states if (message := message_in(state))), None)


# To-do lists.


def plan_entries(value: object) -> tuple[PlanEntry, ...]:
    return tuple(_entry(mapping(each)) for each in islice(items(value), MOST_ENTRIES))


def plan_of(value: object) -> Plan:
    return Plan(plan_entries(value))


def _entry(fields: Fields) -> PlanEntry:
    entry = entry_in(fields, "text", "step")
    return entry._replace(status=PlanStatus.COMPLETED) if fields.get("completed") is True else entry


# Texts that are repeated after a lost connection.

_MOST_TEXTS = 64


class Repeats:
    """The texts of the present answer, by digest. If the connection is lost inside it, Codex asks again:
    a text that is repeated after a retry, in the same order, is the same part of it, with a new id."""

    def __init__(self) -> None:
        self._texts: deque[int] = deque(maxlen=_MOST_TEXTS)
        self._expected: deque[int] = deque()

    def is_repeated(self, kind: str, text: str) -> bool:
        digest = digest_of(f"{kind}\n{text}")
        if digest in self._expected:
            while self._expected.popleft() != digest:
                pass
            return True
        self._texts.append(digest)
        return False

    def retry(self) -> None:
        self._expected = deque(self._texts)

    def clear(self) -> None:
        self._texts.clear()
        self._expected.clear()


# Token counts, whose `input_tokens` contains the cached ones.


def tokens_of(usage: Fields) -> Tokens:
    """Return a token count. Reasoning is a part of `output_tokens`."""
    keys = ("input_tokens", "cached_input_tokens", "output_tokens", "cache_write_input_tokens")
    return tokens_in(usage, *keys)


FORMAT = "codex"


class CodexDecoder(AgentDecoder):
    def __init__(self) -> None:
        self._repeats = Repeats()

    def decode(self, fields: Fields) -> list[Event]:
        match fields.get("type"):
            case "thread.started":
                self._repeats.clear()
                return [RunStarted(FORMAT, text(fields, "thread_id"))]
            case "turn.started":
                self._repeats.clear()
                return [TurnStarted()]
            case "turn.completed":
                return self._turn_completed(mapping(fields.get("usage")))
            case "turn.failed":
                self._repeats.clear()
                error = fields.get("error")
                reason = message_in(mapping(error)) or (error if isinstance(error, str) else None)
                return [TurnEnded(Outcome.FAILED, reason)]
            case "error":
                return self._error(message_in(fields))
            case "item.started" | "item.updated" | "item.completed" as kind:
                return self._item(kind, mapping(fields.get("item")), isinstance(fields, Salvaged))
            case "item.plan.delta":
                return []  # the item of the plan repeats the whole text
            case "request_user_input":
                return [_question(fields)]
        return [Unknown(f"type {in_words(fields.get('type'))}")]

    def _turn_completed(self, usage: Fields) -> list[Event]:
        """Return the end of a turn. Its token count is that of the whole thread, also of earlier runs. A
        capture of version 0.157 shows this: three runs of one thread counted 10,656, 21,328 and 32,017."""
        self._repeats.clear()
        ended = TurnEnded(Outcome.SUCCEEDED, usage=usage or None)
        return [Usage(tokens_of(usage), UsageScope.RUN), ended] if usage else [ended]

    def _error(self, message: str | None) -> list[Event]:
        """Return a retry or a notice. An error ends a turn only if `turn.failed` follows."""
        if message is None:
            return [Unknown("error without a message")]
        if message.startswith(_RETRY):
            self._repeats.retry()
        return [error_event(message)]

    def _item(self, line: str, item: Fields, is_partial: bool) -> list[Event]:
        kind = item.get("type")
        match kind:
            case "agent_message" | "reasoning" | "plan":
                return self._text(kind, item) if line == "item.completed" else []
            case "todo_list":
                return [plan_of(item.get("items"))]
            case "error":
                message = message_in(item)
                return [Unknown("error without a message") if message is None else Notice(message)]
            case str() if kind in CALLS or "status" in item:
                self._repeats.clear()
                events = _call(line, kind, item, is_partial)
                return events if kind in CALLS else [*events, Unknown(f"item {in_words(kind)}")]
        return [Unknown(f"item {in_words(kind)}")]

    def _text(self, kind: str, item: Fields) -> list[Event]:
        found = item.get("text")
        if not isinstance(found, str):
            return [Unknown(f"{in_words(kind)} without text")]
        found = whole_text(found)
        if self._repeats.is_repeated(kind, found):
            return []
        channel = Channel.REASONING if kind == "reasoning" else Channel.ANSWER
        return [Text(channel, found), TextEnded(channel)]


def _call(line: str, kind: str, item: Fields, is_partial: bool) -> list[Event]:
    call_id = text(item, "id")
    if call_id is None:
        return [Unknown(f"{in_words(kind)} without an id")]
    read = read_item(kind, item)
    begun = started(call_id, read.use)
    if line == "item.started":
        return [begun]
    if line == "item.updated":
        return [begun._replace(is_update=True)]
    if read.end is None:  # the turn ended before the call
        return []
    end = read.end
    if is_partial and end.outcome is Outcome.SUCCEEDED and kind not in ENDS_ALONE:
        end = end._replace(outcome=Outcome.RETURNED, error="its line is too large to be read")
    over = ended(call_id, read.use, end)._replace(has_arguments=True)
    return [begun, over] if kind in ENDS_ALONE else [over]


def _question(fields: Fields) -> Permission:
    """Return what the model asks the user. `codex exec` cannot get an answer."""
    call_id = text(fields, "call_id")
    question = first_question(fields)
    return Permission("request_user_input", None, key=call_id, call_id=call_id, target=question)
