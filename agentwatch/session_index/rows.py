"""Reads a session that was found on disk into the rows of the index."""

from __future__ import annotations

import os
from contextlib import closing
from typing import NamedTuple

from agentwatch.analysis.verdict_history import State, final_verdicts
from agentwatch.events import Outcome
from agentwatch.faults import Fault, reading
from agentwatch.feed import Feed
from agentwatch.machine.repository import Repositories
from agentwatch.recording import open_saved
from agentwatch.session import Session, calls_by_outcome, forget_texts
from agentwatch.session.usage_counts import known_sum
from agentwatch.session_index.activity import Activity
from agentwatch.session_index.call_rows import call_row, edit_rows, verdicts_of
from agentwatch.session_index.values import Row, row_of
from agentwatch.sources.file import FileSource
from agentwatch.sources.stores.source import StoreSource
from agentwatch.wire.found import Found, Reach
from agentwatch.wire.opening import saved_source

OWN = "agentwatch"
"""The agent of recordings of our own, in the list of what was found."""
_MOST_PROMPT = 500
_STEP_SECONDS = 0.2


class Rows(NamedTuple):
    """The rows of a session, in the order of the columns of the schema."""

    session: Row
    calls: list[Row]
    edits: list[Row]


def rows_of(found: Found, repositories: Repositories) -> Rows:
    """Read a session to its end, as it is now. One that cannot be read has only the row with the reason."""
    try:
        with reading(found.path), closing(_opened(found)) as source:
            feed, activity = _read(source)
            verdicts = verdicts_of(feed)
            tests = final_verdicts(feed, lambda call: verdicts.get(call.number)).state
    except (OSError, Fault) as problem:
        session = Session()
        return Rows(_session_row(found, session, Activity(session), None, repositories, str(problem)), [], [])
    session = feed.session
    calls: list[Row] = []
    edits: list[Row] = []
    for call in session.calls:
        calls.append(call_row(call, verdicts.get(call.number)))
        cwd = session.runs[call.run - 1].cwd or found.metadata.cwd
        edits += edit_rows(call, cwd, repositories.root(cwd) if cwd else None)
    return Rows(_session_row(found, session, activity, tests, repositories, None), calls, edits)


def path_of(found: Found) -> str:
    """Return the path of a session as text. Bytes of a name that are not UTF-8 become `\\udcNN`."""
    return os.fspath(found.path).encode("utf-8", "backslashreplace").decode()


def _opened(found: Found) -> FileSource | StoreSource:
    """Open one file. A subagent in another file is a session of its own, and is not joined to its parent."""
    if found.reach is Reach.STORE:
        return saved_source(found.path)
    return FileSource(open_saved(found.path))


def _read(source: FileSource | StoreSource) -> tuple[Feed, Activity]:
    """Return a feed that has read a session without its texts, and the times of its lines."""
    feed = Feed(source.reader)
    feed.takes_agent_times = True
    feed.observer = activity = Activity(feed.session)
    while not feed.is_over:
        feed.advance(_STEP_SECONDS)
        forget_texts(feed.session)
    return feed, activity


def _session_row(
    found: Found,
    session: Session,
    activity: Activity,
    tests: State | None,
    repositories: Repositories,
    problem: str | None,
) -> Row:
    run, metadata = session.run, found.metadata
    is_recording = found.agent == OWN
    cwd = run.cwd or metadata.cwd
    tokens = [each.tokens for each in session.runs]
    prompt = next((prompt for each in session.runs if (prompt := each.prompt) is not None), metadata.prompt)
    seen_ms = found.changed_ns // 10**6 if session.last_seen_ms is None else session.last_seen_ms
    outcomes = calls_by_outcome(session)
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
        "tests": tests,
        "began_ms": metadata.began_ms if activity.began_ms is None else activity.began_ms,
        "seen_ms": seen_ms,
        "active_ms": activity.active_ms(),
        "turns": sum(each.turns for each in session.runs),
        "calls": len(session.calls),
        "failed": outcomes.get(Outcome.FAILED, 0),
        "rejected": outcomes.get(Outcome.REJECTED, 0),
        "input_tokens": known_sum(each.input for each in tokens),
        "cached_tokens": known_sum(each.cached for each in tokens),
        "output_tokens": known_sum(each.output for each in tokens),
        "cost_usd": known_sum(each.cost_usd for each in tokens),
        "size": found.size,
        "changed_ns": found.changed_ns,
        "problem": problem,
    }
    return row_of(values.values())
