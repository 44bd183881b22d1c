"""Reads the rows of a session from the folder `storage`, in which older versions of opencode keep them.

A session is `session/PROJECT/SESSION.json`, a message `message/SESSION/MESSAGE.json`, and a part
`part/MESSAGE/PART.json`, or `part/PART.json` in the oldest form. A file is written again when it changes.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from agentwatch.recording import open_regular
from agentwatch.recording.store import is_foreign_id, within
from agentwatch.wire.opencode.rows import (
    MessageRow,
    Object,
    PartRow,
    Rows,
    SessionRow,
    as_object,
    as_text,
    as_time,
)

_MOST_SESSIONS = 10_000
_MOST_BYTES = 64 << 20
"""A larger file is not read: it is no part of a session."""
_INFO = ("id", "parentID", "directory", "title", "version", "agent", "model")


class Storage:
    """Reads one session, and its subagents' sessions, from a folder of JSON files."""

    def __init__(self, folder: Path, session_id: str | None) -> None:
        """Read a session.

        Args:
            folder: The folder `storage`.
            session_id: The session; None for the main session that was changed last.
        """
        self._folder = folder
        self._session_id = session_id
        self._seen: dict[str, tuple[int, int]] = {}
        """The size and the modification time of each file that was read, by its path."""
        self._session_files: dict[str, Object] = {}
        """The sessions, by the path of their file."""
        self._messages: dict[str, str] = {}
        """The sessions of the messages that may still get more parts, by the id of the message."""

    def has_changed(self) -> bool:
        """Return True: the files are compared one by one while they are read."""
        return True

    def read(self) -> Rows:
        """Return all sessions, and the messages and parts that were changed since the last reading.

        Raises:
            OSError: The folder cannot be read, or does not contain the session.
        """
        sessions = self._sessions()
        messages: list[MessageRow] = []
        for session in sessions:
            messages += (
                MessageRow(row_id, session.id, _created(data), data)
                for path, data in self._changed("message", session.id)
                if is_foreign_id(row_id := _id_of(data, path))
            )
        self._messages |= {row.id: row.session_id for row in messages}
        parts = [
            PartRow(_id_of(data, path), message_id, session_id, None, data)
            for message_id, session_id in self._messages.items()
            for path, data in self._changed("part", message_id)
        ]
        parts += (
            PartRow(_id_of(data, path), message_id, self._messages[message_id], None, data)
            for path, data in self._changed("part")
            if (message_id := as_text(data.get("messageID")) or "") in self._messages
        )
        for row in messages:
            if as_time(as_object(row.data.get("time")).get("completed")) is not None:
                del self._messages[row.id]
        return Rows(sessions, messages, parts)

    def _sessions(self) -> list[SessionRow]:
        """Return the session that is shown, and its subagents' sessions, each after its parent."""
        for entry in _entries(within(self._folder, "session")):
            if entry.is_dir(follow_symlinks=False):
                self._session_files |= {
                    str(path): data for path, data in self._changed("session", entry.name)
                }
        known = [
            data for data in self._session_files.values() if is_foreign_id(as_text(data.get("id")) or "")
        ]
        rows = {row.id: row for row in map(_session, known)}
        if self._session_id is None:
            mains = [data for data in known if as_text(data.get("parentID")) is None]
            self._session_id = as_text(max(mains, key=_updated).get("id")) if mains else None
        root = None if self._session_id is None else rows.get(self._session_id)
        if root is None:
            name = "session" if self._session_id is None else f"session {self._session_id}"
            raise OSError(errno.ENOENT, f"it has no {name}", str(self._folder))
        children: dict[str, list[SessionRow]] = {}
        for row in rows.values():
            if row.parent_id is not None:
                children.setdefault(row.parent_id, []).append(row)
        found, ids = [root], {root.id}
        for row in found:  # it grows while it is read
            new = [child for child in children.get(row.id, []) if child.id not in ids]
            ids |= {child.id for child in new}
            found += new[: _MOST_SESSIONS - len(found)]
        return found

    def _changed(self, *names: str) -> Iterator[tuple[Path, Object]]:
        """Yield the JSON files of a folder that are new or were changed, and their contents.

        A file that is being written is no JSON object. It is read again when it has changed.

        Args:
            names: The names of the folder and those above it, below the folder `storage`.
        """
        for entry in sorted(_entries(within(self._folder, *names)), key=lambda entry: entry.name):
            try:
                if not entry.name.endswith(".json") or not entry.is_file(follow_symlinks=False):
                    continue
                status = entry.stat(follow_symlinks=False)
                stamp = status.st_size, status.st_mtime_ns
                if self._seen.get(entry.path) == stamp or status.st_size > _MOST_BYTES:
                    continue
                data = as_object(content(Path(entry.path)))
            except FileNotFoundError:
                continue
            if data:
                self._seen[entry.path] = stamp
                yield Path(entry.path), data


def _entries(folder: Path | None) -> list[os.DirEntry[str]]:
    """Return the entries of a folder that is not a link; none if it does not exist."""
    if folder is None or folder.is_symlink():
        return []
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def content(path: Path, *, follow_links: bool = False) -> bytes:
    """Return the beginning of a regular file.

    Args:
        path: The file.
        follow_links: Whether the path may be a link: the user has named it.

    Raises:
        OSError: It cannot be read, or is not a regular file.
    """
    with open(open_regular(path, follow_links=follow_links), "rb") as file:
        return file.read(_MOST_BYTES)


def _id_of(data: Object, path: Path) -> str:
    return as_text(data.get("id")) or path.stem


def _created(data: Object) -> int | None:
    return as_time(as_object(data.get("time")).get("created"))


def _session(data: Object) -> SessionRow:
    return SessionRow(
        id=as_text(data.get("id")) or "",
        parent_id=as_text(data.get("parentID")),
        created=_created(data),
        info={key: data[key] for key in _INFO if key in data},
        reverted_to=as_text(as_object(data.get("revert")).get("messageID")),
    )


def _updated(session: Object) -> int:
    """Return when a session was changed last."""
    return as_time(as_object(session.get("time")).get("updated")) or _created(session) or 0
