"""The tables and views of the index, which `docs/howto/statistics.md` describes for those who query it, and
values as SQLite can hold them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentwatch.agents.session_entry import SessionEntry

_MOST_NUMBER = 1 << 63
_BYTE = re.compile(r"\\u(dc[89a-f][0-9a-f])")
Row = tuple[Any, ...]


def row_of(values: Iterable[Any]) -> Row:
    return tuple(
        [
            value
            if value is None
            or (type(value) is str and value.isascii())  # as most are
            or (type(value) is int and -_MOST_NUMBER <= value < _MOST_NUMBER)
            else value_of(value)
            for value in values
        ]
    )


def value_of(value: Any) -> Any:
    """Return a value that SQLite can hold: half a surrogate pair becomes `?`, a huge number None."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return None if isinstance(value, int) and not -_MOST_NUMBER <= value < _MOST_NUMBER else value


def changed_ns_of(found: SessionEntry) -> int:
    """Return when a session was changed: SQLite holds the nanoseconds until the year 2262."""
    return min(max(found.changed_ns, -_MOST_NUMBER), _MOST_NUMBER - 1)


def path_of(found: SessionEntry) -> str:
    r"""Bytes of a name that are not UTF-8 become `\udcNN`."""
    path = os.fspath(found.path)
    return path if path.isascii() else path.encode("utf-8", "backslashreplace").decode()


def real_path(stored: str) -> Path:
    """Return the path of a session that `path_of` has made a text of."""
    return Path(_BYTE.sub(lambda found: chr(int(found[1], 16)), stored))


VERSION = 7
"""The version of the schema, as `user_version` of the database."""
TABLES: dict[str, dict[str, str]] = {
    "stored_session": {
        "path": "TEXT NOT NULL UNIQUE",
        "agent": "TEXT NOT NULL",
        "session_id": "TEXT NOT NULL",
        "parent": "TEXT",
        "is_recording": "INTEGER NOT NULL",
        "format": "TEXT",
        "title": "TEXT",
        "prompt": "TEXT",
        "model": "TEXT",
        "cwd": "TEXT",
        "repository": "TEXT",
        "branch": "TEXT",
        "outcome": "TEXT",
        "tests": "TEXT",
        "began_ms": "INTEGER",
        "seen_ms": "INTEGER",
        "active_ms": "INTEGER",
        "turns": "INTEGER NOT NULL",
        "calls": "INTEGER NOT NULL",
        "failed": "INTEGER NOT NULL",
        "rejected": "INTEGER NOT NULL",
        "cancelled": "INTEGER NOT NULL",
        "input_tokens": "INTEGER",
        "cached_tokens": "INTEGER",
        "output_tokens": "INTEGER",
        "cost_usd": "REAL",
        "size": "INTEGER NOT NULL",
        "changed_ns": "INTEGER NOT NULL",
        "problem": "TEXT",
    },
    "stored_call": {
        "number": "INTEGER NOT NULL",
        "tool": "TEXT NOT NULL",
        "kind": "TEXT NOT NULL",
        "program": "TEXT",
        "command": "TEXT",
        "target": "TEXT",
        "path": "TEXT",
        "outcome": "TEXT NOT NULL",
        "error": "TEXT",
        "exit_code": "INTEGER",
        "started_ms": "INTEGER",
        "ended_ms": "INTEGER",
        "duration_ms": "INTEGER",
        "lines_added": "INTEGER",
        "lines_removed": "INTEGER",
        "subagent": "TEXT",
        "verdict": "TEXT",
        "verdict_tool": "TEXT",
        "verdict_source": "TEXT",
        "verdict_passed": "INTEGER",
        "verdict_failed": "INTEGER",
        "call_id": "TEXT",
    },
    "stored_edit": {
        "number": "INTEGER NOT NULL",
        "file": "TEXT NOT NULL",
        "lines_added": "INTEGER",
        "lines_removed": "INTEGER",
    },
    "stored_path": {
        "number": "INTEGER NOT NULL",
        "path": "TEXT NOT NULL",
        "name": "TEXT NOT NULL",
    },
    "stored_request": {
        "request": "TEXT NOT NULL",
        "input_tokens": "INTEGER",
        "cached_tokens": "INTEGER",
        "output_tokens": "INTEGER",
        "cost_usd": "REAL",
        "written_tokens": "INTEGER",
        "written_1h_tokens": "INTEGER",
        "model": "TEXT",
        "at_ms": "INTEGER",
        "size": "INTEGER NOT NULL",
    },
    "stored_turn": {
        "number": "INTEGER NOT NULL",
        "began_ms": "INTEGER",
        "active_ms": "INTEGER",
    },
}
"""The columns that are read from a session, with their types, by the table; in the order of `Rows`."""
_COUNTS = ("input_tokens", "cached_tokens", "output_tokens", "cost_usd")
_COPIED = ("active_ms", "turns", "calls", "failed", "rejected", "cancelled", *_COUNTS)
"""What a session repeats of another one is subtracted from these columns."""
_SHOWN = ", ".join(
    f"{name} - copied_{name} AS {name}" if name in _COPIED else name for name in TABLES["stored_session"]
)


def _columns(table: str, *more: str) -> str:
    columns = (f"{name} {kind}" for name, kind in TABLES[table].items())
    return ",\n    ".join((*columns, *more))


_COPIED_COLUMNS = [
    f"copied_{name} {'REAL' if name == 'cost_usd' else 'INTEGER'} NOT NULL DEFAULT 0" for name in _COPIED
]
SCHEMA = f"""
CREATE TABLE made_by (program TEXT NOT NULL);
CREATE TABLE stored_session (
    id INTEGER PRIMARY KEY,
    {_columns("stored_session", "is_duplicate INTEGER NOT NULL DEFAULT 0", *_COPIED_COLUMNS)}
);
CREATE INDEX session_by_id ON stored_session (agent, session_id);
CREATE INDEX session_by_parent ON stored_session (agent, parent) WHERE parent IS NOT NULL;
CREATE TABLE stored_call (
    session INTEGER NOT NULL,
    {_columns("stored_call", "is_copy INTEGER NOT NULL DEFAULT 0", "PRIMARY KEY (session, number)")}
) WITHOUT ROWID;
CREATE TABLE stored_edit (
    session INTEGER NOT NULL,
    {_columns("stored_edit", "PRIMARY KEY (session, number, file)")}
) WITHOUT ROWID;
CREATE TABLE stored_path (
    session INTEGER NOT NULL,
    {_columns("stored_path", "PRIMARY KEY (session, number, path)")}
) WITHOUT ROWID;
CREATE TABLE stored_request (
    session INTEGER NOT NULL,
    {_columns("stored_request", "is_copy INTEGER NOT NULL DEFAULT 0", "PRIMARY KEY (session, request)")}
) WITHOUT ROWID;
CREATE TABLE stored_turn (
    session INTEGER NOT NULL,
    {_columns("stored_turn", "PRIMARY KEY (session, number)")}
) WITHOUT ROWID;
CREATE VIEW session AS SELECT id, {_SHOWN} FROM stored_session WHERE NOT is_duplicate;
CREATE VIEW call AS
    SELECT stored_call.* FROM stored_call JOIN stored_session ON stored_session.id = stored_call.session
    WHERE NOT stored_session.is_duplicate AND NOT stored_call.is_copy;
CREATE VIEW request AS
    SELECT stored_request.* FROM stored_request
    JOIN stored_session ON stored_session.id = stored_request.session
    WHERE NOT stored_session.is_duplicate AND NOT stored_request.is_copy;
CREATE VIEW edit AS
    SELECT stored_session.repository, stored_edit.*
    FROM stored_edit JOIN stored_session ON stored_session.id = stored_edit.session
    JOIN stored_call USING (session, number)
    WHERE NOT stored_session.is_duplicate AND NOT stored_call.is_copy;
CREATE VIEW path AS
    SELECT stored_path.* FROM stored_path
    JOIN stored_session ON stored_session.id = stored_path.session
    JOIN stored_call USING (session, number)
    WHERE NOT stored_session.is_duplicate AND NOT stored_call.is_copy;
CREATE VIEW failure AS
    SELECT
        stored_session.agent, stored_session.repository, stored_session.model, stored_session.session_id,
        stored_session.path AS session_path, stored_call.*
    FROM stored_call JOIN stored_session ON stored_session.id = stored_call.session
    WHERE stored_call.outcome = 'failed' AND NOT stored_session.is_duplicate AND NOT stored_call.is_copy;
"""  # noqa: S608 - constants
INDEXES = (
    "CREATE INDEX IF NOT EXISTS path_by_name ON stored_path (name)",
    "CREATE INDEX IF NOT EXISTS session_of_request ON stored_request (request)",
)
"""They are created after the rows. Adding 46,000 rows to existing ones takes three times as long."""
MARK_DUPLICATES = (
    """
WITH recorded AS (
    SELECT agent, session_id, sum(calls) AS calls FROM stored_session WHERE is_recording GROUP BY 1, 2
), kept AS (
    SELECT agent, session_id, max(calls) AS calls FROM stored_session WHERE NOT is_recording GROUP BY 1, 2
), twice AS (
    SELECT agent, session_id, recorded.calls >= kept.calls AS is_recorded_whole
    FROM recorded JOIN kept USING (agent, session_id)
)
UPDATE stored_session SET is_duplicate = coalesce(
    (
        SELECT is_recording <> is_recorded_whole FROM twice
        WHERE twice.agent = stored_session.agent AND twice.session_id = stored_session.session_id
    ),
    0
)
""",
    """
WITH RECURSIVE recorded AS (
    SELECT agent, session_id FROM stored_session AS kept
    WHERE is_duplicate AND NOT is_recording AND EXISTS (
        SELECT 1 FROM stored_session AS own JOIN stored_call ON stored_call.session = own.id
        WHERE own.agent = kept.agent AND own.session_id = kept.session_id AND own.is_recording
        AND stored_call.subagent IS NOT NULL
    )
), inside (id, agent, session_id) AS (
    SELECT child.id, child.agent, child.session_id FROM stored_session AS child
    JOIN recorded ON child.agent = recorded.agent AND child.parent = recorded.session_id
    UNION
    SELECT child.id, child.agent, child.session_id FROM stored_session AS child
    JOIN inside ON child.agent = inside.agent AND child.parent = inside.session_id
)
UPDATE stored_session SET is_duplicate = 1 WHERE id IN (SELECT id FROM inside)
""",
)
"""If both `agentwatch run` and the agent have kept a session, the file with more calls counts. Several
recordings are parts of one session that was resumed. If the recording counts and has the calls of subagents,
the files that the agent has kept of these subagents are duplicates too."""
MARK_COPIES = (
    "DROP TABLE IF EXISTS temp.copied_request",
    "DROP TABLE IF EXISTS temp.copied_call",
    "DROP TABLE IF EXISTS temp.copied_turn",
    """
CREATE TEMP TABLE copied_request AS
SELECT session, request, input_tokens, cached_tokens, output_tokens, cost_usd FROM (
    SELECT stored_request.*, row_number() OVER (
        PARTITION BY agent, request ORDER BY stored_session.changed_ns, stored_session.path
    ) AS place
    FROM stored_request JOIN stored_session ON stored_session.id = stored_request.session
    WHERE NOT is_duplicate AND request IN (
        SELECT request FROM stored_request WHERE request >= ' ' GROUP BY 1 HAVING count(*) > 1
    )
) WHERE place > 1
""",
    "CREATE INDEX temp.copied_request_of ON copied_request (session)",
    """
CREATE TEMP TABLE copied_call AS
SELECT session, number FROM (
    SELECT stored_call.session, number, row_number() OVER (
        PARTITION BY agent, call_id, started_ms ORDER BY stored_session.changed_ns, stored_session.path
    ) AS place
    FROM stored_call JOIN stored_session ON stored_session.id = stored_call.session
    WHERE NOT is_duplicate AND started_ms IS NOT NULL AND stored_session.id IN (
        SELECT session FROM stored_request WHERE request IN (SELECT request FROM temp.copied_request)
    )
) WHERE place > 1
""",
    """
CREATE TEMP TABLE copied_turn AS
SELECT session, total(min(turns, earlier_turns)) AS turns, total(min(active_ms, earlier_ms)) AS active_ms
FROM (
    SELECT session, turns, active_ms,
        coalesce(max(turns) OVER earlier, 0) AS earlier_turns,
        coalesce(max(active_ms) OVER earlier, 0) AS earlier_ms
    FROM (
        SELECT session, stored_turn.began_ms, agent, changed_ns, path,
            count(*) AS turns, total(stored_turn.active_ms) AS active_ms
        FROM stored_turn JOIN stored_session ON stored_session.id = session
        WHERE NOT is_duplicate AND stored_turn.began_ms IS NOT NULL GROUP BY 1, 2
    )
    WHERE session IN (
        SELECT session FROM stored_request WHERE request IN (SELECT request FROM temp.copied_request)
    )
    WINDOW earlier AS (
        PARTITION BY agent, began_ms ORDER BY changed_ns, path
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
GROUP BY session
""",
    "UPDATE stored_call SET is_copy = 0 WHERE is_copy",
    "UPDATE stored_request SET is_copy = 0 WHERE is_copy",
    """
UPDATE stored_request SET is_copy = 1
WHERE (session, request) IN (SELECT session, request FROM temp.copied_request)
""",
    """
UPDATE stored_call SET is_copy = 1
WHERE (session, number) IN (SELECT session, number FROM temp.copied_call)
""",
    """
UPDATE stored_session SET
    copied_input_tokens = (SELECT total(input_tokens) FROM temp.copied_request WHERE session = id),
    copied_cached_tokens = (SELECT total(cached_tokens) FROM temp.copied_request WHERE session = id),
    copied_output_tokens = (SELECT total(output_tokens) FROM temp.copied_request WHERE session = id),
    copied_cost_usd = (SELECT total(cost_usd) FROM temp.copied_request WHERE session = id),
    copied_turns = (SELECT total(turns) FROM temp.copied_turn WHERE session = id),
    copied_active_ms = (SELECT total(active_ms) FROM temp.copied_turn WHERE session = id)
""",
    """
UPDATE stored_session SET
    copied_calls = (SELECT count(*) FROM stored_call WHERE session = id AND is_copy),
    copied_failed = (SELECT count(*) FROM stored_call WHERE session = id AND is_copy AND outcome = 'failed'),
    copied_rejected = (
        SELECT count(*) FROM stored_call WHERE session = id AND is_copy AND outcome = 'rejected'
    ),
    copied_cancelled = (
        SELECT count(*) FROM stored_call WHERE session = id AND is_copy AND outcome = 'cancelled'
    )
WHERE copied_calls OR id IN (SELECT session FROM temp.copied_call)
""",
)
"""A fork may repeat the messages of another session, with their ids and times. Each of these requests, calls
and turns counts in the file that changed first: a fork is written after what it repeats. A later file with
more of a turn has the rest of its time."""
