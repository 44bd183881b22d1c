"""The database in which Goose keeps all sessions, `sessions/sessions.db`."""

from __future__ import annotations

from pathlib import Path

from agentwatch.agents.databases import Row, Rows, database_of
from agentwatch.agents.description_files import folder_in, text_in, time_in
from agentwatch.agents.on_disk import iso_ms
from agentwatch.agents.places import Kind
from agentwatch.agents.session_entry import Metadata, Reach, SessionEntry

_COLUMNS = ("id", "name", "description", "working_dir", "created_at", "updated_at")


def sessions() -> Kind:
    """Return the kind of the folder with the database."""
    rows = Rows("sessions", _COLUMNS, _session)
    return Kind("goose", lambda name: database_of(name, "sessions.db".__eq__), rows.read, is_polled=True)


def _session(path: Path, row: Row) -> SessionEntry:
    metadata = Metadata(
        title=text_in(row["name"]) or text_in(row["description"]),
        cwd=folder_in(row["working_dir"]),
        began_ms=_time(row["created_at"]),
        changed_ms=_time(row["updated_at"]),
    )
    return SessionEntry("goose", row["id"], path, 0, 0, 0, Reach.LISTED, None, metadata)


def _time(value: object) -> int | None:
    """Return a time of Goose: `2026-11-21 23:00:00` in UTC."""
    return iso_ms(value) if isinstance(value, str) else time_in(value)
