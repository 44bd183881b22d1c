"""The tables and views of the index. `docs/howto/session-index.md` describes them for those who query it."""

from __future__ import annotations

VERSION = 2
"""The version of the schema, as `user_version` of the database."""
SESSION_COLUMNS = (
    *("path", "agent", "session_id", "parent", "is_recording", "format", "title", "prompt", "model", "cwd"),
    *("repository", "branch", "outcome", "tests", "began_ms", "seen_ms", "active_ms", "turns", "calls"),
    *("failed", "rejected", "input_tokens", "cached_tokens", "output_tokens", "cost_usd", "size"),
    *("changed_ns", "problem"),
)
CALL_COLUMNS = (
    *("number", "tool", "kind", "program", "command", "target", "path", "outcome", "error", "exit_code"),
    *("started_ms", "ended_ms", "duration_ms", "lines_added", "lines_removed", "subagent", "verdict"),
    *("verdict_tool", "verdict_source", "verdict_passed", "verdict_failed"),
)
EDIT_COLUMNS = ("number", "file", "lines_added", "lines_removed")
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
    tests TEXT,
    began_ms INTEGER,
    seen_ms INTEGER,
    active_ms INTEGER,
    turns INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
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
CREATE INDEX session_by_parent ON stored_session (agent, parent) WHERE parent IS NOT NULL;
CREATE TABLE stored_call (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tool TEXT NOT NULL,
    kind TEXT NOT NULL,
    program TEXT,
    command TEXT,
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
    verdict TEXT,
    verdict_tool TEXT,
    verdict_source TEXT,
    verdict_passed INTEGER,
    verdict_failed INTEGER,
    PRIMARY KEY (session, number)
) WITHOUT ROWID;
CREATE TABLE stored_edit (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    file TEXT NOT NULL,
    lines_added INTEGER,
    lines_removed INTEGER,
    PRIMARY KEY (session, number, file)
) WITHOUT ROWID;
CREATE VIEW session AS SELECT * FROM stored_session WHERE NOT is_duplicate;
CREATE VIEW call AS
    SELECT stored_call.* FROM stored_call JOIN stored_session ON stored_session.id = stored_call.session
    WHERE NOT stored_session.is_duplicate;
CREATE VIEW edit AS
    SELECT stored_session.repository, stored_edit.*
    FROM stored_edit JOIN stored_session ON stored_session.id = stored_edit.session
    WHERE NOT stored_session.is_duplicate;
CREATE VIEW failure AS
    SELECT
        stored_session.agent, stored_session.repository, stored_session.model, stored_session.session_id,
        stored_session.path AS session_path, stored_call.*
    FROM stored_call JOIN stored_session ON stored_session.id = stored_call.session
    WHERE stored_call.outcome = 'failed' AND NOT stored_session.is_duplicate;
"""
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
"""Of a session that `agentwatch run` has recorded and that its agent has kept too, the one with more calls
counts. Several recordings are parts of one session that was resumed. If the recording counts and has the
calls of subagents, the files that the agent has kept of these subagents are duplicates too."""
