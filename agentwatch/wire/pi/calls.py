"""Makes the events of Pi's tool calls, in the stream as in session files."""

from __future__ import annotations

from agentwatch.events import ToolEnded, ToolStarted
from agentwatch.text.amounts import plural
from agentwatch.text.paths import relative_to
from agentwatch.wire.changes.file_change import line_count
from agentwatch.wire.fields import Fields, text
from agentwatch.wire.pi.results import read_result
from agentwatch.wire.pi.tools import tool_named
from agentwatch.wire.tool import Phrase

_MOST_OPEN = 256
_MOST_NAME = 1000
"""In characters. The ids in captures have at most 90."""


class Calls:
    """The calls of one recording: what their arguments say about a result that comes later."""

    def __init__(self) -> None:
        self.cwd = ""
        """The working directory without a trailing separator; empty if unknown."""
        self._notes: dict[str, str] = {}
        """The results of open calls in a few words, by call_id; at most 256."""

    def begin_run(self, cwd: str | None) -> None:
        """Begin a run, whose calls may use the ids of the last one again."""
        self.cwd = (cwd or "").rstrip("/\\")
        self._notes.clear()

    def started(
        self,
        call_id: str,
        name: str,
        arguments: Fields,
        *,
        group: str | None = None,
        at_ms: int | None = None,
    ) -> ToolStarted:
        """Return the start of a call."""
        tool = tool_named(name)
        paths = tool.paths(arguments)
        shown = ", ".join(relative_to(path, self.cwd) or path for path in paths)
        written = text(arguments, "content")
        if tool.phrase == Phrase.CREATED and written is not None and len(call_id) <= _MOST_NAME:
            self._notes[call_id] = plural(line_count(written), "line")
            if len(self._notes) > _MOST_OPEN:
                del self._notes[next(iter(self._notes))]
        return ToolStarted(
            call_id=call_id,
            session_id=None,
            tool=name,
            kind=tool.kind,
            phrase=tool.phrase,
            target=shown or tool.target(arguments),
            path=paths[0] if paths else None,
            group=group,
            at_ms=at_ms,
            more_paths=tuple(paths[1:]),
        )

    def ended(
        self, call_id: str, name: str, result: Fields, is_error: object, *, at_ms: int | None = None
    ) -> ToolEnded:
        """Return the end of a call, whose line does not repeat the arguments."""
        tool = tool_named(name)
        read = read_result(tool, result, is_error)
        note = self._notes.pop(call_id, None)
        return ToolEnded(
            call_id=call_id,
            session_id=None,
            tool=name,
            kind=tool.kind,
            outcome=read.outcome,
            phrase=tool.phrase,
            error=read.error,
            note=note if is_error is False and note else read.facts.note,
            exit_code=read.exit_code,
            lines_added=read.facts.lines_added,
            lines_removed=read.facts.lines_removed,
            at_ms=at_ms,
        )
