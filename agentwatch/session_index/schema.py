"""The tables and views of the index. `docs/howto/session-index.md` describes them for those who query it."""

from __future__ import annotations

VERSION = 1
"""The version of the schema, as `user_version` of the database."""
SESSION_COLUMNS = (
    *("path", "agent", "session_id", "parent", "is_recording", "format", "title", "prompt", "model", "cwd"),
    *("repository", "branch", "outcome", "began_ms", "seen_ms", "turns", "calls", "failed", "input_tokens"),
    *("cached_tokens", "output_tokens", "cost_usd", "size", "changed_ns", "problem"),
)
CALL_COLUMNS = (
    *("number", "tool", "kind", "program", "target", "path", "outcome", "error", "exit_code", "started_ms"),
    *("ended_ms", "duration_ms", "lines_added", "lines_removed", "subagent"),
)
SCHEMA = """
CREATE TABLE made_by (program TEXT NOT NULL);
CREATE TABLE stored_session (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    session_id TEXT NOT NULL,
    parent TEXT,
    is_recording INTEGER NOT NULL,
    format TEXT,
    title TEXT,
    prompt TEXT,
    model TEXT,
    cwd TEXT,
    repository TEXT,
    branch TEXT,
    outcome TEXT,
    began_ms INTEGER,
    seen_ms INTEGER,
    turns INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    input_tokens INTEGER,
    cached_tokens INTEGER,
    output_tokens INTEGER,
    cost_usd REAL,
    size INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    problem TEXT,
    is_duplicate INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX session_by_id ON stored_session (agent, session_id);
CREATE TABLE stored_call (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tool TEXT NOT NULL,
    kind TEXT NOT NULL,
    program TEXT,
    target TEXT,
    path TEXT,
    outcome TEXT NOT NULL,
    error TEXT,
    exit_code INTEGER,
    started_ms INTEGER,
    ended_ms INTEGER,
    duration_ms INTEGER,
    lines_added INTEGER,
    lines_removed INTEGER,
    subagent TEXT,
    PRIMARY KEY (session, number)
) WITHOUT ROWID;
CREATE VIEW session AS SELECT * FROM stored_session WHERE NOT is_duplicate;
CREATE VIEW call AS
    SELECT stored_call.* FROM stored_call JOIN stored_session ON stored_session.id = stored_call.session
    WHERE NOT stored_session.is_duplicate;
CREATE VIEW failure AS
    SELECT
        stored_session.agent, stored_session.repository, stored_session.model, stored_session.session_id,
        stored_session.path AS session_path, stored_call.*
    FROM stored_call JOIN stored_session ON stored_session.id = stored_call.session
    WHERE stored_call.outcome = 'failed' AND NOT stored_session.is_duplicate;
"""
MARK_DUPLICATES = """
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
"""
"""Of a session that `agentwatch run` has recorded and that its agent has kept too, the one with more calls
counts. Several recordings are parts of one session that was resumed."""
