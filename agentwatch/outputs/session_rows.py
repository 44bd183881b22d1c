"""The rows of a list of sessions as JSON, one object for each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import orjson

from agentwatch.machine.row import Row
from agentwatch.machine.standing import UNKNOWN, State

_MOST_NUMBER = 1 << 63
_NO_PATH = Path()
"""The path of a session that has no file yet."""


def row_json(row: Row, host: str) -> bytes:
    """Return a session as one line of JSON, without a line end.

    Its keys are the same for every session: what is unknown is null. Texts are as the agent wrote them, with
    `?` for half a surrogate pair. A session whose machine is silent is `unknown` since it was heard.

    Args:
        row: The session.
        host: The name of this machine.
    """
    standing = row.standing
    if row.lost_ms is not None:
        standing = UNKNOWN._replace(since_ms=row.lost_ms, now=standing.now)
    values = {
        "id": row.address or row.id,
        "agent": row.agent,
        "state": standing.state.value,
        "ground": standing.ground.value,
        "since_ms": standing.since_ms,
        "now": standing.now,
        "title": row.title,
        "cwd": row.cwd,
        "repo": row.repo,
        "branch": row.branch,
        "model": row.model,
        "calls": row.calls,
        "failed": row.failed,
        "context_used": row.context_used,
        "context_size": row.context_size,
        "path": "" if row.path == _NO_PATH else os.fspath(row.path),
        "pid": row.pid,
        "host": row.host or host,
        "began_ms": row.began_ms,
        "seen_ms": row.seen_ms,
    }
    return orjson.dumps({key: _value(value) for key, value in values.items()} | {"tests": _tests(row)})


def _tests(row: Row) -> dict[str, str | int] | None:
    """Return the newest verdict of tests; None if it is unknown."""
    tests = row.tests
    return tests and {"state": tests.state, "passed": tests.passed, "failed": tests.failed}


def state_names() -> list[str]:
    """Return the names of all states, as they are printed."""
    return [state.value for state in State]


def _value(value: Any) -> str | int | None:
    """Return a value that JSON can hold; None for an empty text, and for a number that it cannot hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() or None
    return value if type(value) is int and -_MOST_NUMBER <= value < _MOST_NUMBER else None
