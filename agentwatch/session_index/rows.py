"""Reads a session that was found on disk into the rows of the index."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing
from typing import Any, NamedTuple

from agentwatch.analysis.verdicts.programs import main_program
from agentwatch.events import Outcome, ToolKind
from agentwatch.faults import Fault
from agentwatch.feed import Feed
from agentwatch.machine.found import Found, Reach
from agentwatch.machine.repository import Repositories
from agentwatch.recording import open_saved
from agentwatch.session import Call, Pieces, Place, Session, calls_by_outcome
from agentwatch.sources.file import FileSource
from agentwatch.sources.open import saved_source
from agentwatch.sources.stores.source import StoreSource

OWN = "agentwatch"
"""The agent of recordings of our own, in the list of what was found."""
_MOST_PROMPT = 500
_STEP_SECONDS = 0.2
_MOST_NUMBER = 1 << 63
Row = tuple[Any, ...]


class _Begin:
    """The time of the first line that has one, of a session that is being read."""

    ms: int | None = None

    def applied(self, place: Place, _pieces: Pieces | None) -> None:
        """Take the time of a line."""
        if self.ms is None:
            self.ms = place.seen_ms

    def paused(self, _offset: int, _session: Session, _decoder: object) -> None:
        """Do nothing."""


class Rows(NamedTuple):
    """The rows of a session, in the order of the columns of the schema."""

    session: Row
    calls: list[Row]


def rows_of(found: Found, repositories: Repositories) -> Rows:
    """Read a session to its end, as it is now. One that cannot be read has only the row with the reason."""
    try:
        with closing(_opened(found)) as source:
            session, began_ms = _read(source)
        calls = [_call_row(call) for call in session.calls]
    except (OSError, Fault) as problem:
        return Rows(_session_row(found, Session(), None, repositories, str(problem)), [])
    return Rows(_session_row(found, session, began_ms, repositories, None), calls)


def path_of(found: Found) -> str:
    """Return the path of a session as text. Bytes of a name that are not UTF-8 become `\\udcNN`."""
    return os.fspath(found.path).encode("utf-8", "backslashreplace").decode()


def _opened(found: Found) -> FileSource | StoreSource:
    """Open one file. A subagent in another file is a session of its own, and is not joined to its parent."""
    if found.reach is Reach.STORE:
        return saved_source(found.path)
    return FileSource(open_saved(found.path))


def _read(source: FileSource | StoreSource) -> tuple[Session, int | None]:
    """Return a session without its texts, and the time of its first line."""
    feed = Feed(source.reader)
    feed.takes_agent_times = True
    feed.observer = began = _Begin()
    while not feed.is_over:
        feed.advance(_STEP_SECONDS)
        feed.session.forget_texts()
    return feed.session, began.ms


def _session_row(
    found: Found, session: Session, began_ms: int | None, repositories: Repositories, problem: str | None
) -> Row:
    run, metadata = session.run, found.metadata
    is_recording = found.agent == OWN
    cwd = run.cwd or metadata.cwd
    tokens = [each.tokens for each in session.runs]
    prompt = next((prompt for each in session.runs if (prompt := each.prompt) is not None), metadata.prompt)
    seen_ms = found.changed_ns // 10**6 if session.last_seen_ms is None else session.last_seen_ms
    values = {
        "path": path_of(found),
        "agent": (session.agent_name if is_recording else None) or found.agent,
        "session_id": (run.session_id if is_recording else None) or found.id,
        "parent": found.parent,
        "is_recording": int(is_recording),
        "format": session.format,
        "title": metadata.title or run.title,
        "prompt": prompt[:_MOST_PROMPT],
        "model": run.model or metadata.model,
        "cwd": cwd,
        "repository": repositories.of(cwd).name if cwd else None,
        "branch": run.branch or metadata.branch,
        "outcome": session.outcome,
        "began_ms": metadata.began_ms if began_ms is None else began_ms,
        "seen_ms": seen_ms,
        "turns": sum(each.turns for each in session.runs),
        "calls": len(session.calls),
        "failed": calls_by_outcome(session).get(Outcome.FAILED, 0),
        "input_tokens": _sum(each.input for each in tokens),
        "cached_tokens": _sum(each.cached for each in tokens),
        "output_tokens": _sum(each.output for each in tokens),
        "cost_usd": _sum(each.cost_usd for each in tokens),
        "size": found.size,
        "changed_ns": found.changed_ns,
        "problem": problem,
    }
    return tuple(map(_value, values.values()))


def _call_row(call: Call) -> Row:
    program = main_program(call.target or "") if call.kind is ToolKind.EXECUTE else None
    values = (
        *(call.number, call.tool, call.kind.value, program, call.target, call.path, call.outcome.value),
        *(call.error, call.exit_code, call.started_ms, call.ended_ms, call.duration_ms),
        *(call.lines_added, call.lines_removed, call.agent),
    )
    return tuple(map(_value, values))


def _sum(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _value(value: Any) -> Any:
    """Return a value that SQLite can hold: half a surrogate pair becomes `?`, a huge number None."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return None if isinstance(value, int) and not -_MOST_NUMBER <= value < _MOST_NUMBER else value
