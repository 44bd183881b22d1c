"""The tool calls of a transcript: parts of an answer, without a line that ends them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from agentwatch.events import Event, Outcome, Plan, ToolEnded, ToolKind, ToolStarted
from agentwatch.wire.claude.results import reason_of
from agentwatch.wire.cursor.plans import plan_entries
from agentwatch.wire.cursor_transcript.recognition import parts_of_type
from agentwatch.wire.cursor_transcript.tools import tool_named
from agentwatch.wire.fields import Fields, mapping, text
from agentwatch.wire.tool import Tool

_MOST_OPEN = 1024
_MOST_NAME = 1000
"""In characters. Longer names and ids are cut."""
_NO_NAME = "unknown"
_NO_RESULT = "the file has no result"


class _Open(NamedTuple):
    call_id: str
    name: str
    tool: Tool


def place_id(part: Fields, position: int) -> str:
    """Return what identifies a call without an id in its line: its position there, and its arguments.

    The next message ends the call, and may have a call at the same position.

    Args:
        part: The `tool_use` part.
        position: Its position among the calls of the line, from 0.
    """
    texts = (value for value in mapping(part.get("input")).values() if isinstance(value, str))
    words = "\0".join((text(part, "name") or _NO_NAME, *texts))
    return f"{position}-{crc32(words.encode('utf-8', 'replace')):08x}"


class Calls:
    """The calls that have not ended, the oldest first; at most 1,024."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._steps = 0
        """The number of messages with calls."""

    def started(self, fields: Fields) -> Iterator[Event]:
        """Yield the starts of the calls in a message, and the to-do list that they write."""
        parts = parts_of_type(fields, "tool_use")
        self._steps += bool(parts)
        for position, part in enumerate(parts):
            name = (text(part, "name") or _NO_NAME)[:_MOST_NAME]
            tool, arguments = tool_named(name), mapping(part.get("input"))
            call_id = (text(part, "id") or f"#{self._steps}.{place_id(part, position)}")[:_MOST_NAME]
            paths = tool.paths(arguments)
            self._open.append(_Open(call_id, name, tool))
            yield ToolStarted(
                call_id=call_id,
                session_id=None,
                tool=name,
                kind=tool.kind,
                phrase=tool.phrase,
                target=", ".join(paths) if paths else tool.target(arguments),
                path=paths[0] if paths else None,
                group=str(self._steps),
                more_paths=tuple(paths[1:]),
            )
            if tool.kind is ToolKind.PLAN and "todos" in arguments:
                yield Plan(plan_entries(arguments["todos"]), is_update=arguments.get("merge") is True)
        del self._open[:-_MOST_OPEN]

    def results(self, fields: Fields) -> Iterator[ToolEnded]:
        """Yield the ends of the calls whose results are in a message, which most transcripts do not have.

        A result without the id of an open call belongs to the oldest one.
        """
        for part in parts_of_type(fields, "tool_result"):
            if not self._open:
                return
            ids = [call.call_id for call in self._open]
            call_id = text(part, "tool_use_id")
            call = self._open.pop(ids.index(call_id) if call_id in ids else 0)
            has_failed = part.get("is_error") is True
            reason = reason_of(part) or None if has_failed else None
            yield _ended(call, Outcome.FAILED if has_failed else Outcome.RETURNED, reason)

    def went_on(self) -> list[ToolEnded]:
        """Return the ends of all open calls: the agent went on, so they have ended in some way."""
        ended = [_ended(call, Outcome.RETURNED, _NO_RESULT)._replace(has_result=False) for call in self._open]
        self.clear()
        return ended

    def clear(self) -> None:
        """Forget the open calls: their turn was broken off, and nothing says whether they had ended."""
        self._open.clear()


def _ended(call: _Open, outcome: Outcome, error: str | None) -> ToolEnded:
    return ToolEnded(
        call_id=call.call_id,
        session_id=None,
        tool=call.name,
        kind=call.tool.kind,
        outcome=outcome,
        phrase=call.tool.phrase,
        error=error,
    )
