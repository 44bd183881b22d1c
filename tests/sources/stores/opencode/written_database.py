"""A small `opencode.db`, written in the mode of a write-ahead log as opencode does, and how it is read."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

from agentwatch.agents.opening import store_for
from agentwatch.sources.stores.lines import Store

SESSION = "ses_main"
BEGAN = 1_790_000_000_000
_SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text NOT NULL,
  title text, version text, agent text, model text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer,
  data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
  time_updated integer, data text NOT NULL);
CREATE TABLE credential (id text PRIMARY KEY, value text NOT NULL);
INSERT INTO credential VALUES ('1', 'top secret');
"""


class OpencodeDatabase:
    """A database that a test fills. Its connection stays open, as that of a running opencode."""

    def __init__(self, path: Path, *, is_wal: bool = True) -> None:
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        if is_wal:
            self.connection.execute("PRAGMA journal_mode = wal")
        self.connection.executescript(_SCHEMA)
        self.now = BEGAN

    def __del__(self) -> None:
        """Close the connection, in any thread; Python 3.13 warns of one that is left open."""
        self.connection.close()

    def session(self, session_id: str = SESSION, parent: str | None = None, **columns: Any) -> None:
        self.now += 1000
        model = json.dumps({"id": "some-model", "providerID": "someone"})
        values: dict[str, Any] = {
            "directory": "/home/ada/app",
            "title": "A title",
            "version": "1.18.33",
            "model": model,
        }
        values |= {"id": session_id, "parent_id": parent, "time_created": self.now, "time_updated": self.now}
        self._insert("session", values | columns)

    def message(self, message_id: str, role: str, session_id: str = SESSION, **data: Any) -> None:
        """Add a message, or replace it."""
        self.now += 10
        times = {"time": {"created": self.now}}
        self._write("message", message_id, {"session_id": session_id}, {"role": role} | times | data)

    def part(self, part_id: str, message_id: str, kind: str, session_id: str = SESSION, **data: Any) -> None:
        """Add a part, or replace it."""
        self.now += 10
        of = {"session_id": session_id, "message_id": message_id}
        self._write("part", part_id, of, {"type": kind} | data)

    def call(
        self, part_id: str, message_id: str, status: str, session_id: str = SESSION, **state: Any
    ) -> None:
        """Add a call of `bash`, or replace its state."""
        whole = {"status": status, "input": {"command": "make"}, "time": {"start": self.now}} | state
        call_id = f"call_{part_id}"
        self.part(part_id, message_id, "tool", session_id, tool="bash", callID=call_id, state=whole)

    def prompt(self, text: str, session_id: str = SESSION, message_id: str = "msg_1") -> None:
        """Add a message of the user with one text."""
        self.message(message_id, "user", session_id)
        self.part(f"prt_{message_id}", message_id, "text", session_id, text=text)

    def begin_writing(self) -> None:
        """Begin a transaction, whose first page may be in the file; only without a write-ahead log."""
        self.connection.execute("PRAGMA synchronous = off")  # the journal counts at once
        self.connection.execute("BEGIN EXCLUSIVE")
        self.session("ses_written")

    def close(self) -> None:
        """Close the database, which removes its log."""
        self.connection.close()

    def _write(self, table: str, row_id: str, of: dict[str, str], data: dict[str, Any]) -> None:
        row = {"id": row_id, **of, "time_created": self.now, "time_updated": self.now}
        self._insert(table, row | {"data": json.dumps(data)})

    def _insert(self, table: str, values: dict[str, Any]) -> None:
        names, marks = ", ".join(values), ", ".join("?" for _ in values)
        self.connection.execute(
            f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", tuple(values.values())
        )


def opened(path: Path) -> Store:
    store = store_for(path)
    assert store is not None
    return store


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines that a store has now."""
    return [json.loads(line) for line in opened(path).new_lines()]


def printed(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program on a path."""
    command = [sys.executable, "-m", "agentwatch", *arguments, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
