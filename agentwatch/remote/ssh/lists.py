"""The list of a host's sessions, in the two ways in which a host can send it.

| the host has | what it sends |
|---|---|
| agentwatch | `host-rows`: each row when it changes, and a sign of life every 10 s |
| `tail` alone | every 5 s, when asked, agent, time, size and path of the newest files |
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import orjson

from agentwatch.engine.engine import EngineError
from agentwatch.engine.limits import CARDS
from agentwatch.machine.row import Row
from agentwatch.recording import now_ms
from agentwatch.remote.ssh.address import SshAddress
from agentwatch.remote.ssh.connection import Connection
from agentwatch.remote.ssh.file_rows import row_of_file
from agentwatch.remote.ssh.heads import Heads
from agentwatch.remote.ssh.lines import ChannelLines, begun, way_of
from agentwatch.remote.ssh.row_json import decode, key
from agentwatch.remote.ssh.script import END, LIST, command
from agentwatch.text.safe import SafeText, safe_line
from agentwatch.wire.found import Key

BEGIN_SECONDS = 20.0
"""The most time from the command to its first line; a host under load starts Python in some seconds."""
_ASK_SECONDS = 5.0
_ANSWER_SECONDS = 30.0
_DRAIN_SECONDS = 0.1
"""The longest time for which lines are taken before the rows are shown."""
_AHEAD_MS = 10_000
"""A clock that differs by less is taken as ours: the line was on its way for a while."""
_ONLY_FILES = "agentwatch is not installed there: only files of lines are listed, without their states"


class Lists:
    """Reads the list of one host over one channel."""

    def __init__(self, host: Connection, address: SshAddress) -> None:
        """Start the command on the host.

        Args:
            host: The connection.
            address: The host.

        Raises:
            EngineError: ssh cannot connect, or the host does not answer.
        """
        self.rows: Mapping[Key, Row] = {}
        """Replaced by a new mapping when a row has changed."""
        self.is_complete = False
        """Whether the host has sent all sessions once."""
        self._address = address
        self._channel = host.open(command("rows"))
        self._lines = ChannelLines(self._channel)
        self._known: dict[Key, Row] = {}
        self._has_all = False
        self._ahead_ms = 0
        self._asked_at: float | None = None
        self._ask_at = 0.0
        self._heads = Heads()
        self._reads_heads = False
        try:
            self._way = begun(self._lines, BEGIN_SECONDS)
        except EngineError:
            self._channel.close()
            raise

    @property
    def note(self) -> SafeText:
        """What is not known in this way."""
        return safe_line(_ONLY_FILES if self._way == "tail" else "")

    def read(self, seconds: float, *, wants_all: bool) -> bool:
        """Take what the host sends, and return whether it has sent anything.

        Args:
            seconds: The longest time to wait for it.
            wants_all: Whether old sessions are wanted too.

        Raises:
            EngineError: The connection is lost, or the command has ended.
        """
        if self._way == "program":
            return self._read_program(seconds, wants_all=wants_all)
        return self._read_asked(seconds)

    def close(self) -> None:
        """End the command on the host."""
        self._channel.close()

    def _read_program(self, seconds: float, *, wants_all: bool) -> bool:
        if wants_all and not self._has_all:
            self._channel.write(b"all\n")
            self._has_all = True
        until = time.monotonic() + _DRAIN_SECONDS
        has_news = has_changed = False
        while (line := self._lines.next(0 if has_news else seconds)) is not None:
            has_news = True
            if (way := way_of(line)) is not None:
                self._way = way
                return True
            has_changed = self._take(_object(line)) or has_changed
            if time.monotonic() >= until:
                break
        if has_changed:
            self.rows = dict(self._known)
        return has_news

    def _take(self, given: dict[str, Any]) -> bool:
        """Apply a line; return whether the rows have changed by it."""
        if type(at_ms := given.get("now_ms")) is int:
            ahead_ms = at_ms - now_ms()
            self._ahead_ms = ahead_ms if abs(ahead_ms) > _AHEAD_MS else 0
        self.is_complete = self.is_complete or given.get("complete") is True
        gone = given.get("gone")
        if isinstance(gone, list) and len(gone) == 2 and all(isinstance(each, str) for each in gone):
            return self._known.pop(key(self._address, gone[0], gone[1]), None) is not None
        row = given.get("row")
        if not isinstance(row, dict):
            return False
        return self._put(self._known, decode(row, self._address, self._ahead_ms))

    def _put(self, rows: dict[Key, Row], row: Row | None) -> bool:
        if row is None or (row.key not in rows and len(rows) >= CARDS):
            return False
        rows[row.key] = row
        return True

    def _read_asked(self, seconds: float) -> bool:
        now = time.monotonic()
        if self._asked_at is None:
            if self._reads_heads:
                self._reads_heads = self._heads.read(self._lines, self._known.values())
                self.is_complete = True
                self._show()
                return True
            if now < self._ask_at:
                time.sleep(min(seconds, self._ask_at - now))
                return False
            self._channel.write(LIST)
            self._asked_at, self._known = now, {}
        while (line := self._lines.next(seconds)) is not None:
            if line == END.encode():
                self._asked_at, self._ask_at = None, time.monotonic() + _ASK_SECONDS
                self._show()
                self._reads_heads = True
                return True
            self._put(self._known, row_of_file(line, self._address))
        if now - self._asked_at > _ANSWER_SECONDS:
            raise EngineError("the host does not answer")
        return False

    def _show(self) -> None:
        rows = self._heads.filled(self._known.values())
        if rows != self.rows:
            self.rows = rows


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
