"""Opens the sessions of opencode: those of a database, and those of its older folder `storage`."""

from __future__ import annotations

from pathlib import Path

from agentwatch.agents.opening import head_of
from agentwatch.sources.stores.store import Store

_SQLITE = b"SQLite format 3\0"


def open_database(path: Path, head: bytes) -> Store | None:
    """Open `opencode.db`, or one session in it: `opencode.db/ses_…`."""
    head = head or head_of(path.parent)
    if not head.startswith(_SQLITE):
        return None
    from agentwatch.agents.opencode.store import database_at

    return database_at(path)


def open_storage(path: Path, head: bytes) -> Store | None:
    """Open opencode's older folder `storage`, or one session in it.

    The session is named as `storage/session/PROJECT/ses_….json`, or as `storage/ses_…`.
    """
    session: Path | str | None = None
    if head:
        if path.suffix != ".json" or path.parent.parent.name != "session":
            return None
        folder, session = path.parent.parent.parent, path
    elif path.is_dir():
        folder = path
    else:
        folder, session = path.parent, path.name
    if not (folder / "session").is_dir() or not (folder / "message").is_dir():
        return None
    from agentwatch.agents.opencode.store import storage_at

    return storage_at(folder, session)
