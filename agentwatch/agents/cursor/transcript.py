"""Decodes the lines of a transcript of Cursor, in the order in which they were written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from agentwatch.agents.agent import AgentDecoder
from agentwatch.agents.claude.calls import mcp_tool, reason_of
from agentwatch.agents.cursor.agent import TRANSCRIPT_FORMAT, parts_of, parts_of_type
from agentwatch.agents.cursor.stream import plan_entries
from agentwatch.agents.cursor.tools import TOOLS as CURSOR_TOOLS
from agentwatch.agents.fields import MOST_ID, SUBAGENT, Fields, in_words, mapping, number, text
from agentwatch.agents.on_disk import Turns
from agentwatch.agents.subagents import SubagentDecoder
from agentwatch.agents.tool import MOST_OPEN, Phrase, Result, Tool, named, other_tool, path_in, said
from agentwatch.session.events import (
    Channel,
    Event,
    Outcome,
    Plan,
    Prompt,
    RunStarted,
    ToolEnded,
    ToolKind,
    Unknown,
)

if TYPE_CHECKING:
    from agentwatch.session.blocks import Block

# The tools, by the names that the model uses. The stream has other names.


def _mcp_target(arguments: Fields) -> str | None:
    names = (text(arguments, "server"), text(arguments, "toolName"))
    return " ".join(name for name in names if name) or None


_PATH = path_in("path", "file_path", "target_file")
_READ = Tool(ToolKind.READ, Phrase.READ, paths=_PATH)
_EDIT = Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATH)
_SHELL = CURSOR_TOOLS["shell"]
_SUBAGENT = Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt"))

TOOLS = {
    "Shell": _SHELL,
    "Bash": _SHELL,
    "run_terminal_cmd": _SHELL,
    "Read": _READ,
    "ReadFile": _READ,
    "read_file": _READ,
    "Edit": _EDIT,
    "StrReplace": _EDIT,
    "Write": _EDIT,
    "edit_file": _EDIT,
    "search_replace": _EDIT,
    "EditNotebook": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("target_notebook")),
    "Delete": Tool(ToolKind.DELETE, Phrase.DELETED, paths=_PATH),
    "Grep": CURSOR_TOOLS["grep"],
    "Glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("glob_pattern", "globPattern", "pattern")),
    "LS": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("target_directory", "path")),
    "SemanticSearch": CURSOR_TOOLS["semSearch"],
    "ReadLints": CURSOR_TOOLS["readLints"],
    "TodoWrite": CURSOR_TOOLS["updateTodos"],
    "WebSearch": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("search_term", "searchTerm", "query")),
    "WebFetch": CURSOR_TOOLS["webFetch"],
    "CallMcpTool": Tool(ToolKind.MCP, Phrase.CALLED_MCP, _mcp_target),
    "Task": _SUBAGENT,
    "Agent": _SUBAGENT,
}


def tool_named(name: str) -> Tool:
    """A file that is written may have existed before: no result says it, so that it counts as edited."""
    return TOOLS.get(name) or CURSOR_TOOLS.get(name) or mcp_tool(name) or other_tool(name)


# Tool calls: parts of an answer, without a line that ends them.

_NO_NAME = "unknown"
_NO_RESULT = "the file has no result"


class _Open(NamedTuple):
    call_id: str
    name: str
    tool: Tool


def place_id(part: Fields, position: int) -> str:
    """Return the position of a call in its line, from 0, and its arguments: the next message ends the
    call, and may have a call at the same position."""
    texts = (value for value in mapping(part.get("input")).values() if isinstance(value, str))
    words = "\0".join((text(part, "name") or _NO_NAME, *texts))
    return f"{position}-{crc32(words.encode('utf-8', 'replace')):08x}"


class Calls:
    """The calls that have not ended, the oldest first; at most 1,024."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._open: list[_Open] = []
        self._steps = 0

    def started(self, fields: Fields) -> Iterator[Event]:
        parts = parts_of_type(fields, "tool_use")
        self._steps += bool(parts)
        step = f"{self._owner}#{self._steps}"
        for position, part in enumerate(parts):
            name = (text(part, "name") or _NO_NAME)[:MOST_ID]
            tool, arguments = tool_named(name), mapping(part.get("input"))
            call_id = (text(part, "id") or f"{step}.{place_id(part, position)}")[:MOST_ID]
            self._open.append(_Open(call_id, name, tool))
            yield tool.started(call_id, name, arguments, group=step)
            if tool.kind is ToolKind.PLAN and "todos" in arguments:
                yield Plan(plan_entries(arguments["todos"]), is_update=arguments.get("merge") is True)
        del self._open[:-MOST_OPEN]

    def results(self, fields: Fields) -> Iterator[ToolEnded]:
        """Most transcripts have none. A result without the id of an open call belongs to the oldest one."""
        for part in parts_of_type(fields, "tool_result"):
            if not self._open:
                return
            ids = [call.call_id for call in self._open]
            call_id = text(part, "tool_use_id")
            call = self._open.pop(ids.index(call_id) if call_id in ids else 0)
            has_failed = part.get("is_error") is True
            reason = reason_of(part) or None if has_failed else None
            yield _ended(call, Outcome.FAILED if has_failed else Outcome.RETURNED, reason)

    def end_all(self) -> list[ToolEnded]:
        """Return the ends of all open calls: the agent continued, so they have ended in some way."""
        ended = [_ended(call, Outcome.RETURNED, _NO_RESULT)._replace(has_result=False) for call in self._open]
        self.clear()
        return ended

    def clear(self) -> None:
        """Forget the open calls: their turn was broken off, and nothing says whether they had ended."""
        self._open.clear()


def _ended(call: _Open, outcome: Outcome, error: str | None) -> ToolEnded:
    return call.tool.ended(call.call_id, call.name, Result(outcome, error))


# The user's words, and the texts of the agent, without what Cursor adds to them.

_QUERY, _QUERY_END = "<user_query>", "</user_query>"
_TIME, _TIME_END = "<timestamp>", "</timestamp>"
_REDACTED = "[REDACTED]"
"""The mark below a text where the model's reasoning was left out."""


def user_words(text: str) -> str:
    """Return what the user has typed.

    Example:
        >>> user_words("<timestamp>Monday</timestamp>\\n<user_query>\\nList them.\\n</user_query>")
        'List them.'
    """
    before, query, after = text.partition(_QUERY)
    if query:
        words, end, rest = after.rpartition(_QUERY_END)
        return (words if end else rest).strip()
    if before.lstrip().startswith(_TIME):
        _time, end, rest = before.partition(_TIME_END)
        return (rest if end else before).strip()
    return before.strip()


def agent_words(text: str) -> str:
    """Return a text of the agent without the mark of left out reasoning.

    Example:
        >>> agent_words("Done.\\n\\n[REDACTED]")
        'Done.'
    """
    bare = text.rstrip()
    return bare.removesuffix(_REDACTED).rstrip() if bare.endswith(_REDACTED) else text


_CHANNELS = {
    "text": Channel.ANSWER,
    "thinking": Channel.REASONING,
    "reasoning": Channel.REASONING,
}
_QUIET = frozenset(("tool_use", "tool_result", "image", "redacted_thinking"))
_OUTCOMES = {
    "success": Outcome.SUCCEEDED,
    "completed": Outcome.SUCCEEDED,
    "error": Outcome.FAILED,
    "aborted": Outcome.CANCELLED,
    "cancelled": Outcome.CANCELLED,
}


class CursorTranscriptDecoder(AgentDecoder):
    """Decodes one transcript. No line ends a call: a message after it shows that it has ended in some
    way; the calls of the last message may still run."""

    def __init__(self, subagent: str = "") -> None:
        self._turns = Turns()
        self._calls = Calls(subagent)
        self._subagents = SubagentDecoder(CursorTranscriptDecoder)
        self._is_first = True

    def decode(self, fields: Fields) -> list[Event]:
        if SUBAGENT in fields:
            return self._subagents.decode(fields)
        begun: list[Event] = []
        if self._is_first:
            self._is_first = False
            begun.append(RunStarted(TRANSCRIPT_FORMAT))
        return [*begun, *self._events(fields)]

    def _events(self, fields: Fields) -> Iterator[Event]:
        role, kind = fields.get("role"), fields.get("type")
        if role == "user":
            yield from self._user(fields)
        elif role == "assistant":
            yield from self._assistant(fields)
        elif kind == "turn_ended":
            yield from self._turn_ended(fields)
        else:
            yield Unknown(f"type {in_words(kind)}" if role is None else f"role {in_words(role)}")

    def _user(self, fields: Fields) -> Iterator[Event]:
        yield from self._calls.results(fields)
        yield from _unknown_parts(fields)
        said = [words for part in parts_of(fields) if (words := _text_in(part))]
        prompt = user_words("\n".join(said))
        if prompt:
            yield from self._calls.end_all()
            self._turns.prompted(None)
            yield Prompt(prompt)

    def _assistant(self, fields: Fields) -> Iterator[Event]:
        yield from self._calls.end_all()
        if (begun := self._turns.resumed(None)) is not None:
            yield begun
        for part in parts_of(fields):
            kind = part.get("type")
            channel = _CHANNELS.get(kind) if isinstance(kind, str) else None
            words = agent_words(_text_in(part) or "")
            yield from said(channel, words) if channel is not None else ()
        yield from _unknown_parts(fields)
        yield from self._calls.started(fields)

    def _turn_ended(self, fields: Fields) -> Iterator[Event]:
        status = fields.get("status")
        outcome = _OUTCOMES.get(status) if isinstance(status, str) else None
        if outcome is None:
            yield Unknown(f"status {in_words(status)}")
            return
        if outcome is Outcome.SUCCEEDED:
            yield from self._calls.end_all()
        self._calls.clear()
        yield from self._turns.end(outcome, text(fields, "error"))


def _text_in(part: Fields) -> str | None:
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in _CHANNELS:
        return None
    return text(part, "text") or text(part, "thinking")


def _unknown_parts(fields: Fields) -> Iterator[Unknown]:
    for part in parts_of(fields):
        kind = part.get("type")
        if not isinstance(kind, str) or (kind not in _CHANNELS and kind not in _QUIET):
            yield Unknown(f"content {in_words(kind)}")


# The arguments and the result of a call, as blocks.

_CONTENTS = ("contents", "content", "file_text")


def transcript_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """The message that ends a call is usually the next one, and says nothing about it."""
    from agentwatch.agents.claude.blocks import result_blocks  # 3 ms, which the decoder does not need

    place = call_id.rpartition(".")[2]
    for position, part in enumerate(parts_of_type(fields, "tool_use")):
        if call_id == text(part, "id") or place == place_id(part, position):
            yield from _transcript_arguments(text(part, "name") or "", mapping(part.get("input")))
    results = parts_of_type(fields, "tool_result")
    own = [part for part in results if text(part, "tool_use_id") == call_id]
    for part in own or _at(place, results):
        yield from result_blocks(part, None)


def _at(place: str, results: list[Fields]) -> list[Fields]:
    position = number({"position": place.partition("-")[0]}, "position") or 0
    return results if len(results) == 1 else results[position : position + 1]


def _transcript_arguments(name: str, arguments: Fields) -> Iterator[Block]:
    from agentwatch.agents.claude.blocks import argument_blocks
    from agentwatch.session.blocks import ChangeBlock

    rest = dict(arguments)
    if tool_named(name).kind is ToolKind.EDIT:
        for key in _CONTENTS:
            if isinstance(rest.get(key), str):
                yield ChangeBlock(None, after=rest.pop(key))
    yield from argument_blocks(rest)
