"""The rows of a list of sessions as JSON, one object for each."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from agentwatch.base.json_fields import Field, values_of
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import UNKNOWN, SessionStatus

_MOST_NUMBER = 1 << 63
_NO_PATH = Path()
"""The path of a session that has no file yet."""
_TYPES = {**SessionStatus.__annotations__, **Row.__annotations__}
_NAMES = (
    *("id", "agent", "state", "ground", "since_ms", "now", "title", "cwd", "repo", "branch", "model"),
    *("calls", "failed", "rejected", "cancelled", "turns", "input_tokens", "cached_tokens", "output_tokens"),
    *("context_used", "context_size", "path", "pid", "host", "began_ms", "seen_ms", "duration_ms"),
    "exit_code",
)
_FIELDS = [
    Field(name, int, _MOST_NUMBER, least=-_MOST_NUMBER) if "int" in str(_TYPES[name]) else Field(name, str)
    for name in _NAMES
]


def row_json(row: Row, host: str) -> bytes:
    """Return a row as one line of JSON with the same keys for every session; unknown values are null. Texts
    are the agent's, with `?` for half a surrogate pair. A session on a silent machine is `unknown`."""
    status = row.status
    if row.lost_ms is not None:
        status = UNKNOWN._replace(since_ms=row.lost_ms, now=status.now)
    values = values_of(
        _FIELDS,
        row,
        **status._asdict(),
        id=row.address or row.id,
        path="" if row.path == _NO_PATH else os.fspath(row.path),
        host=row.host or host,
    )
    tests = row.tests
    limits = [
        {
            "window": each.name,
            "used_percent": None if each.used_percent is None else int(each.used_percent),
            "resets_ms": each.resets_ms,
            "said_ms": each.said_ms,
        }
        for each in row.limits
    ]
    values["cost_usd"] = row.cost_usd
    values["cost_estimated_usd"] = _estimate(row)
    values["limits"] = limits or None
    values["tests"] = tests and {"state": tests.state, "passed": tests.passed, "failed": tests.failed}
    return orjson.dumps({"version": 1, **values})


def _estimate(row: Row) -> float | None:
    if not row.uses:
        return None
    from agentwatch.catalog.kept_prices import cost_of

    return cost_of(row)
