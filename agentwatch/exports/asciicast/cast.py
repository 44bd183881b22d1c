"""Writes a recording of a terminal: its header, and events with the time since the event before."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import orjson

from agentwatch.events import Outcome
from agentwatch.exports.exported import Exported
from agentwatch.exports.exporter import Choices
from agentwatch.session import Session
from agentwatch.text.safe import SafeText, cut, safe_line

_VERSION = 3
_TITLE_COLUMNS = 100
_MOST_PROMPT = 1000
_YEAR_10000_SECONDS = 253_402_300_800


class Code(StrEnum):
    """What happens at an event."""

    OUTPUT = "o"
    MARKER = "m"
    EXIT = "x"


class Cast:
    """The events of a recording of a terminal, as lines of JSON."""

    def __init__(self, begin_ms: float, max_idle: float | None = None) -> None:
        """Create a recording without events.

        Args:
            begin_ms: The time at which it begins, in milliseconds.
            max_idle: Longer silences are shortened to this number of seconds; None is no limit.
        """
        self._last_ms = begin_ms
        self._max_ms = None if max_idle is None else max_idle * 1000

    def event(self, at_ms: float, code: Code, data: str) -> bytes:
        """Return an event. One that is earlier than the event before follows it at once.

        Args:
            at_ms: When it happens, in milliseconds.
            code: What happens.
            data: What is written; the name of a marker; the exit code.
        """
        passed_ms = max(round(at_ms - self._last_ms), 0)
        self._last_ms += passed_ms
        if self._max_ms is not None:
            passed_ms = min(passed_ms, round(self._max_ms))
        return orjson.dumps([passed_ms / 1000, code, data]) + b"\n"


def header(exported: Exported, choices: Choices, begin_ms: int | None, command: str) -> Iterator[bytes]:
    """Yield the header, and the comment that says what was masked.

    Args:
        exported: The session.
        choices: The size of the terminal.
        begin_ms: When it begins, in milliseconds since the epoch; None if unknown.
        command: The command whose output is shown.
    """
    seconds = None if begin_ms is None else begin_ms // 1000
    is_known = seconds is not None and 0 <= seconds < _YEAR_10000_SECONDS
    fields = {
        "version": _VERSION,
        "term": {"cols": choices.columns, "rows": choices.rows, "type": "xterm-256color"},
        **({"timestamp": seconds} if is_known else {}),
        "title": _title(exported.session, exported.name),
        "command": command,
    }
    yield orjson.dumps(fields) + b"\n"
    masked = exported.masked
    words = "not redacted" if masked is None else f"redacted: {masked}"
    yield f"# {words}\n".encode()


def exit_code(session: Session) -> str | None:
    """Return the exit code of a command that shows a session; None if the session has not ended."""
    outcome = session.outcome
    if outcome is None or outcome is Outcome.RUNNING or not session.is_closed:
        return None
    is_good = outcome is Outcome.SUCCEEDED
    is_good = is_good or (outcome is Outcome.UNFINISHED and not session.traits.has_result)
    return "0" if is_good else "1"


def _title(session: Session, name: str) -> SafeText:
    """Return the title of a session, its first prompt, or the name of its recording."""
    run = session.run
    return cut(safe_line((run.title or run.prompt or name)[:_MOST_PROMPT].strip()), _TITLE_COLUMNS)
