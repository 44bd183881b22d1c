"""The store of one opencode session, and the choice of the session that a path names."""

from __future__ import annotations

import errno
import time
from importlib.util import find_spec
from pathlib import Path

from agentwatch.sources.stores.store import Store
from agentwatch.wire.opencode.database import Database
from agentwatch.wire.opencode.files import Storage, content
from agentwatch.wire.opencode.lines import SessionLines
from agentwatch.wire.opencode.rows import Reader, as_object, as_text

_POLL_SECONDS = 1.0


class SessionStore:
    """The lines of one session, asked for at most once a second."""

    def __init__(self, reader: Reader) -> None:
        """Create the store of the session that `reader` reads."""
        self._reader = reader
        self._lines = SessionLines()
        self._due = 0.0
        self._error: OSError | None = None
        """Why the last reading failed."""

    def new_lines(self) -> list[bytes]:
        """Return the lines that no earlier call has returned, each with its line end.

        Raises:
            OSError: The store cannot be read now.
        """
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + _POLL_SECONDS
            try:
                found = self._lines.of(self._reader.read()) if self._reader.has_changed() else []
            except OSError as error:
                self._error = error
                raise
            self._error = None
            return found
        if self._error is not None:  # it still holds
            raise self._error
        return []

    def close(self) -> None:
        """Do nothing: no file stays open."""


def database_at(path: Path) -> Store:
    """Return the store of a path `opencode.db`, or `opencode.db/ses_…` for one of its sessions.

    Without a session, the main session that was changed last is meant.

    Raises:
        OSError: This Python was built without SQLite.
    """
    if find_spec("_sqlite3") is None:
        raise OSError(errno.ENOTSUP, "this Python cannot read SQLite databases", str(path))
    is_file = path.is_file()
    return SessionStore(Database(path if is_file else path.parent, None if is_file else path.name))


def storage_at(folder: Path, session: Path | str | None) -> Store:
    """Return the store of a session in the folder `storage`.

    Args:
        folder: The folder.
        session: The id of the session, or its file; None for the main session that was changed last.

    Raises:
        OSError: The file cannot be read.
    """
    if isinstance(session, Path):
        session = as_text(as_object(content(session, follow_links=True)).get("id")) or session.stem
    return SessionStore(Storage(folder, session))
