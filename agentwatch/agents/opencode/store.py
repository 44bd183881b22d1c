"""Stored sessions of opencode, in its database or its older folder of files, as lines."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentwatch.agents.description_files import time_in
from agentwatch.agents.fields import Fields, text
from agentwatch.agents.opencode.program import LATER_SESSIONS, not_known
from agentwatch.base.clock import wall_ns
from agentwatch.recording.store import is_foreign_id, open_regular, within
from agentwatch.sources.stores.lines import Store, as_line, parsed
from agentwatch.sources.stores.sqlite_file import log_of, queried, stored_columns

if TYPE_CHECKING:
    import sqlite3


# The rows of a session, independent of where they are stored.

Object = dict[str, Any]


class SessionRow(NamedTuple):
    id: str
    parent_id: str | None
    created: int | None
    info: Object
    reverted_to: str | None = None
    """The message to which the user went back: this one and all later ones are no longer part of it."""


class MessageRow(NamedTuple):
    id: str
    session_id: str
    created: int | None
    data: Object


class PartRow(NamedTuple):
    id: str
    message_id: str
    session_id: str
    created: int | None
    data: Object


class Rows(NamedTuple):
    """Rows that are new, or may have changed. A session comes before its subagents' sessions."""

    sessions: list[SessionRow]
    messages: list[MessageRow]
    parts: list[PartRow]


def as_object(value: object) -> Object:
    if isinstance(value, (str, bytes)):
        value = parsed(value)
    return value if isinstance(value, dict) else {}


# `opencode.db`, an SQLite database with all sessions.
# The database is opened for each reading, and closed again: an open connection would keep opencode from
# removing its write-ahead log. The size and the modification time of the files show whether anything
# changed.

_COLUMNS = {
    "session": ("id", "parent_id", "directory", "version", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "session_id", "message_id", "time_created", "time_updated", "data"),
}
"""The tables that are read, with the columns that each must have. Others hold the user's credentials."""
_OPTIONAL = ("title", "agent", "model", "revert")
"""Columns of `session` that older versions lack."""
_MOST_SESSIONS = 10_000
_FRESH_NS = 100_000_000
"""A younger file is read again: another write within the 10 ms of a file system's clock is not noticed."""


class Database:
    def __init__(self, path: Path, session_id: str | None) -> None:
        self.most_sessions = _MOST_SESSIONS
        """How many sessions are read, of which the first is the one that is shown."""
        self._path = path
        self._session_id = session_id
        self._seen: tuple[object, ...] = ()
        self._is_fresh = False
        self._updated: dict[str, int] = {}

    def has_changed(self) -> bool:
        return self._is_fresh or self._signature() != self._seen

    def read(self) -> Rows:
        """Return all sessions, and the messages and parts that were changed since the last reading. Raise
        `OSError` if the database cannot be read: it is locked, damaged, or not opencode's."""
        signature, now_ns = self._signature(), wall_ns()
        rows, updated = queried(self._path, {*_COLUMNS, LATER_SESSIONS}, self._rows)
        self._updated |= updated
        self._seen = signature
        self._is_fresh = any(abs(now_ns - each[2]) < _FRESH_NS for each in signature)
        return rows

    def _signature(self) -> tuple[tuple[int, int, int], ...]:
        found = []
        for name in (self._path, log_of(self._path)):
            try:
                status = os.stat(name)
            except FileNotFoundError:
                continue
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
        return tuple(found)

    def _rows(self, connection: sqlite3.Connection) -> tuple[Rows, dict[str, int]]:
        connection.execute("BEGIN")
        sessions = self._sessions(connection)
        messages: list[MessageRow] = []
        parts: list[PartRow] = []
        updated: dict[str, int] = {}
        for session in sessions:
            messages += (
                MessageRow(row[0], session.id, time_in(row[2]), as_object(row[3]))
                for row in _changed(connection, _MESSAGES, session.id, self._updated, updated)
            )
            parts += (
                PartRow(row[0], row[4], session.id, time_in(row[2]), as_object(row[3]))
                for row in _changed(connection, _PARTS, session.id, self._updated, updated)
            )
        return Rows(sessions, messages, parts), updated

    def _sessions(self, connection: sqlite3.Connection) -> list[SessionRow]:
        columns = {table: stored_columns(connection, table) for table in _COLUMNS}
        if any(not columns[table].issuperset(needed) for table, needed in _COLUMNS.items()):
            raise OSError(errno.EINVAL, "it has no sessions that this version can read", str(self._path))
        chosen = [*_COLUMNS["session"], *(name for name in _OPTIONAL if name in columns["session"])]
        select = f"SELECT {', '.join(chosen)} FROM session "  # noqa: S608 - the names are constants
        if self._session_id is None:
            where = "WHERE parent_id IS NULL ORDER BY time_updated DESC, id LIMIT 1"
            found = connection.execute(select + where).fetchall()
        else:
            found = connection.execute(select + "WHERE id = ?", (self._session_id,)).fetchall()
        if not found:
            self._refuse_later(connection)
            name = "session" if self._session_id is None else f"session {self._session_id}"
            raise OSError(errno.ENOENT, f"it has no {name}", str(self._path))
        sessions: list[SessionRow] = []
        known: set[str] = set()
        while found and len(sessions) < self.most_sessions:
            row = dict(zip(chosen, found.pop(0), strict=True))
            session = _session(row)
            if session.id in known:
                continue
            known.add(session.id)
            sessions.append(session)
            found += connection.execute(select + "WHERE parent_id = ? ORDER BY time_created", (session.id,))
        self._session_id = sessions[0].id
        return sessions

    def _refuse_later(self, connection: sqlite3.Connection) -> None:
        if stored_columns(connection, LATER_SESSIONS).issuperset(("id", "version")):
            select = f"SELECT version FROM {LATER_SESSIONS} WHERE ? IN (id, '')"  # noqa: S608 - a constant
            for (version,) in connection.execute(f"{select} LIMIT 1", (self._session_id or "",)):
                raise OSError(errno.ENOTSUP, not_known(version), str(self._path))


_MESSAGES = (
    "SELECT id, time_updated FROM message WHERE session_id = ?",
    "SELECT id, time_updated, time_created, data, session_id FROM message WHERE id = ?",
)
_PARTS = (
    "SELECT id, time_updated FROM part WHERE session_id = ?",
    "SELECT id, time_updated, time_created, data, message_id FROM part WHERE id = ?",
)


def _changed(
    connection: sqlite3.Connection,
    queries: tuple[str, str],
    session_id: str,
    known: dict[str, int],
    updated: dict[str, int],
) -> Iterator[tuple[Any, ...]]:
    times, row_by_id = queries
    for row_id, changed in connection.execute(times, (session_id,)).fetchall():
        if isinstance(row_id, str) and (row_id not in known or known[row_id] != changed):
            for row in connection.execute(row_by_id, (row_id,)):
                if isinstance(row[4], str):
                    updated[row_id] = changed
                    yield row


def _session(row: dict[str, Any]) -> SessionRow:
    info = {
        "id": row["id"],
        "parentID": text(row, "parent_id"),
        **{key: text(row, key) for key in ("directory", "title", "version", "agent")},
        "model": as_object(row.get("model")) or None,
    }
    return SessionRow(
        id=text(row, "id") or "",
        parent_id=text(row, "parent_id"),
        created=time_in(row["time_created"]),
        info=info,
        reverted_to=text(as_object(row.get("revert")), "messageID"),
    )


# The folder `storage` of older versions.
# A session is `session/PROJECT/SESSION.json`, a message `message/SESSION/MESSAGE.json`, and a part
# `part/MESSAGE/PART.json`, or `part/PART.json` in the oldest form. A file is written again when it changes.

_MOST_BYTES = 64 << 20
"""A larger file is not read: it does not belong to a session."""
_INFO = ("id", "parentID", "directory", "title", "version", "agent", "model")


class Storage:
    def __init__(self, folder: Path, session_id: str | None) -> None:
        self.most_sessions = _MOST_SESSIONS
        self._folder = folder
        self._session_id = session_id
        self._seen: dict[str, tuple[int, int]] = {}
        """The size and the modification time of each file that was read, by its path."""
        self._session_files: dict[str, Object] = {}
        self._messages: dict[str, str] = {}
        """The sessions of the messages that may still get more parts, by the id of the message."""

    def has_changed(self) -> bool:
        """Return True: the files are compared one by one while they are read."""
        return True

    def read(self) -> Rows:
        """Return all sessions, and the messages and parts that were changed since the last reading. Raise
        `OSError` if the folder cannot be read, or does not contain the session."""
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
            if (message_id := text(data, "messageID") or "") in self._messages
        )
        for row in messages:
            if time_in(as_object(row.data.get("time")).get("completed")) is not None:
                del self._messages[row.id]
        return Rows(sessions, messages, parts)

    def _sessions(self) -> list[SessionRow]:
        for entry in _entries(within(self._folder, "session")):
            if entry.is_dir(follow_symlinks=False):
                self._session_files |= {
                    str(path): data for path, data in self._changed("session", entry.name)
                }
        known = [data for data in self._session_files.values() if is_foreign_id(text(data, "id") or "")]
        rows = {row.id: row for row in map(_session_in, known)}
        if self._session_id is None:
            mains = [data for data in known if text(data, "parentID") is None]
            self._session_id = text(max(mains, key=_updated), "id") if mains else None
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
            found += new[: self.most_sessions - len(found)]
        return found

    def _changed(self, *names: str) -> Iterator[tuple[Path, Object]]:
        """A file that is being written is no JSON object; it is read again when it has changed."""
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
    if folder is None or folder.is_symlink():
        return []
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def content(path: Path, *, follow_links: bool = False) -> bytes:
    """`follow_links`: the user has named the path. Raise `OSError` if it is not a readable regular file."""
    with open(open_regular(path, follow_links=follow_links), "rb") as file:
        return file.read(_MOST_BYTES)


def _id_of(data: Object, path: Path) -> str:
    return text(data, "id") or path.stem


def _created(data: Fields) -> int | None:
    return time_in(as_object(data.get("time")).get("created"))


def _session_in(data: Object) -> SessionRow:
    return SessionRow(
        id=text(data, "id") or "",
        parent_id=text(data, "parentID"),
        created=_created(data),
        info={key: data[key] for key in _INFO if key in data},
        reverted_to=text(as_object(data.get("revert")), "messageID"),
    )


def _updated(session: Fields) -> int:
    return time_in(as_object(session.get("time")).get("updated")) or _created(session) or 0


# Lines of the rows, in the order in which things happened.
# A row has only its last state. A call that has ended therefore becomes two lines: one for its start, as
# the row was then, and one for its end. A reader who followed the session from its beginning got the same.

_OPEN = ("pending", "running")
_BEGUN_KEYS = (
    *("id", "sessionID", "role", "parentID", "agent", "mode", "model", "modelID", "providerID", "path"),
    *("summary", "variant"),
)
"""The members of a message that it has from its beginning."""
_Moment = tuple[int, Object]
"""A line, and the time at which it was true for the first time, in milliseconds since the epoch."""


@dataclass(slots=True)
class _Message:
    role: str | None = None
    is_summary: bool = False
    begun: int = 0
    completed: int | None = None
    until: int | None = None
    """When the next message of its session began; None for the last message."""
    latest: int = 0
    is_announced: bool = False
    is_ended: bool = False


class SessionLines:
    def __init__(self) -> None:
        self._session: bytes | None = None
        self._messages: dict[str, _Message] = {}
        self._ended: set[str] = set()
        self._open: dict[str, int] = {}
        """A hash of the last line of each part that may still change, by its id."""
        self._calls: dict[str, list[tuple[int, str]]] = {}
        """The start and the call_id of the calls that each subagent's session works for."""
        self._root: str | None = None
        self._reverted_to: str | None = None
        self._newest: dict[str, _Message] = {}

    def of(self, rows: Rows) -> list[bytes]:
        moments: list[_Moment] = []
        for message in sorted(rows.messages, key=lambda row: (_begun(row), row.id)):
            self._know(message)
            moments += self._announced(message)
        depth = {session.id: number for number, session in enumerate(rows.sessions)}
        self._root = rows.sessions[0].id

        def order(row: PartRow) -> tuple[int, int, str, str]:
            begun = self._messages[row.message_id].begun if row.message_id in self._messages else 0
            return depth[row.session_id], begun, row.message_id, row.id

        for part in sorted(rows.parts, key=order):
            moments += self._part(part)
        for message in rows.messages:
            moments += self._completed(message)
        moments.sort(key=lambda moment: moment[0])
        lines = self._session_lines(rows.sessions[0])
        for at, fields in moments:
            self._add_agent(fields, at)
            line = as_line({**fields, "timestamp": at} if at else fields)
            lines += [] if line is None else [line]
        return lines + self._reverted(rows.sessions[0])

    def _session_lines(self, session: SessionRow) -> list[bytes]:
        fields: Object = {"type": "session", "timestamp": session.created, "sessionID": session.id}
        line = as_line({**fields, "info": session.info})
        if line is None or line == self._session:
            return []
        self._session = line
        return [line]

    def _reverted(self, session: SessionRow) -> list[bytes]:
        """Return a line with the message to which the user went back; none if that is known."""
        if session.reverted_to == self._reverted_to:
            return []
        self._reverted_to = session.reverted_to
        if session.reverted_to is None:
            return []
        info = {**session.info, "revert": {"messageID": session.reverted_to}}
        line = as_line({"type": "session", "timestamp": None, "sessionID": session.id, "info": info})
        return [] if line is None else [line]

    def _know(self, row: MessageRow) -> None:
        message = self._messages.setdefault(row.id, _Message())
        time = as_object(row.data.get("time"))
        message.role = text(row.data, "role")
        message.is_summary = row.data.get("summary") is True
        message.begun = _begun(row)
        message.completed = time_in(time.get("completed"))
        message.latest = max(message.latest, message.begun)
        before = self._newest.get(row.session_id)
        if before is None or before.begun <= message.begun:
            self._newest[row.session_id] = message
            if before is not None and before is not message:
                before.until = message.begun

    def _announced(self, row: MessageRow) -> list[_Moment]:
        message = self._messages[row.id]
        if message.is_announced:
            return []
        message.is_announced = True
        info = {key: row.data[key] for key in _BEGUN_KEYS if key in row.data}
        if not isinstance(info.get("summary"), bool):
            info.pop("summary", None)  # the changes of all files since the user's message
        return [(message.begun, _message_line(row, {**info, "time": {"created": message.begun or None}}))]

    def _completed(self, row: MessageRow) -> list[_Moment]:
        message = self._messages[row.id]
        has_ended = message.completed is not None or row.data.get("error") is not None
        if message.is_ended or not has_ended or message.role != "assistant":
            return []
        message.is_ended = True
        time = max(message.completed or 0, message.latest)
        return [(time, _message_line(row, row.data))]

    def _part(self, row: PartRow) -> list[_Moment]:
        if row.id in self._ended:
            return []
        message = self._messages.setdefault(row.message_id, _Message())
        if row.data.get("type") == "tool":
            return self._call(row, message)
        time = as_object(row.data.get("time"))
        has_text = row.data.get("type") in ("text", "reasoning")
        if has_text and not text(row.data, "text"):
            return []
        is_final = not has_text or message.role != "assistant" or message.completed is not None
        began = self._began(row, message, time_in(time.get("start")))
        return self._due(row, message, began, is_final=is_final or time_in(time.get("end")) is not None)

    def _call(self, row: PartRow, message: _Message) -> list[_Moment]:
        state = as_object(row.data.get("state"))
        time = as_object(state.get("time"))
        began = self._began(row, message, time_in(time.get("start")))
        self._note_subagent(row, state, began)
        if state.get("status") in _OPEN:
            return self._due(row, message, began, is_final=False)
        moments: list[_Moment] = []
        if row.id not in self._open:
            running = {"status": "running", "input": state.get("input"), "time": {"start": time.get("start")}}
            moments.append((began, _part_line(row, message, {**row.data, "state": running})))
        ended = max(time_in(time.get("end")) or 0, began)
        return moments + self._due(row, message, ended, is_final=True)

    def _note_subagent(self, row: PartRow, state: Object, began: int) -> None:
        session_id = text(as_object(state.get("metadata")), "sessionId")
        call_id = text(row.data, "callID")
        if session_id is not None and call_id is not None:
            calls = self._calls.setdefault(session_id, [])
            if all(call_id != known for _, known in calls):
                calls.append((began, call_id))

    def _due(self, row: PartRow, message: _Message, time: int, *, is_final: bool) -> list[_Moment]:
        """Return the line of a part, unless its last line was the same."""
        fields = _part_line(row, message, row.data)
        message.latest = max(message.latest, time)
        if is_final:
            self._ended.add(row.id)
            self._open.pop(row.id, None)
            return [(time, fields)]
        digest = hash(as_line(fields))
        if self._open.get(row.id) == digest:
            return []
        self._open[row.id] = digest
        return [(time, fields)]

    def _began(self, row: PartRow, message: _Message, own: int | None) -> int:
        """Return when a part began. In an imported session, its row has the time of the import."""
        if own is not None:
            return own
        end = message.until if message.completed is None else message.completed
        if row.created is not None and message.begun <= row.created and (end is None or row.created <= end):
            return max(row.created, message.latest)
        return message.latest

    def _add_agent(self, fields: Object, time: int) -> None:
        session_id = fields["sessionID"]
        if session_id == self._root:
            return
        calls = self._calls.get(session_id, [])
        earlier = [call_id for began, call_id in calls if began <= time]
        fields["agent"] = earlier[-1] if earlier else calls[0][1] if calls else session_id


def _begun(row: MessageRow) -> int:
    """Return when a message began; its row has another time if the session was imported."""
    return time_in(as_object(row.data.get("time")).get("created")) or row.created or 0


def _message_line(row: MessageRow, info: Object) -> Object:
    return {
        "type": "message",
        "timestamp": None,
        "sessionID": row.session_id,
        "info": {**info, "id": row.id, "sessionID": row.session_id},
    }


def _part_line(row: PartRow, message: _Message, data: Object) -> Object:
    about: Object = {"id": row.message_id, "role": message.role}
    if message.is_summary:
        about["summary"] = True
    ids = {"id": row.id, "messageID": row.message_id, "sessionID": row.session_id}
    return {
        "type": "part",
        "timestamp": None,
        "sessionID": row.session_id,
        "message": about,
        "part": {**data, **ids},
    }


_POLL_SECONDS = 1.0


class SessionStore:
    def __init__(self, reader: Database | Storage) -> None:
        self._reader = reader
        self._lines = SessionLines()
        self._due = 0.0
        self._error: OSError | None = None

    def leave_out_subagents(self) -> None:
        self._reader.most_sessions = 1

    def new_lines(self) -> list[bytes]:
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
    """Open a session, or the main one that was changed last. Raise `OSError` without SQLite."""
    if find_spec("_sqlite3") is None:
        raise OSError(errno.ENOTSUP, "this Python cannot read SQLite databases", str(path))
    is_file = path.is_file()
    return SessionStore(Database(path if is_file else path.parent, None if is_file else path.name))


def storage_at(folder: Path, session: Path | str | None) -> Store:
    """Open a session, or the main one that was changed last. Raise `OSError` if it cannot be read."""
    if isinstance(session, Path):
        session = text(as_object(content(session, follow_links=True)), "id") or session.stem
    return SessionStore(Storage(folder, session))
