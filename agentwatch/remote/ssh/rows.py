"""Watches the sessions of a host: a thread keeps their rows, as the host sends them."""

from __future__ import annotations

import threading
import time
from collections.abc import Set as AbstractSet
from dataclasses import replace

from agentwatch.engine.engine import EngineError
from agentwatch.machine.standing import LIVE
from agentwatch.machine.watched import Rows
from agentwatch.recording import now_ms as clock_ms
from agentwatch.remote.ssh.address import parse_ssh
from agentwatch.remote.ssh.connection import connection
from agentwatch.remote.ssh.lists import Lists
from agentwatch.text.safe import SafeText, safe_line
from agentwatch.wire.found import Key

_SILENT_SECONDS = 30.0
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0
_READ_SECONDS = 0.5
_END_SECONDS = 2.0


class SshHost:
    """The sessions of one host. It satisfies `machine.watched.Watched`.

    A thread connects, reads and connects again; `step` only takes what the thread has. When the host is
    silent for 30 s or the connection is lost, its sessions that ran count as lost since then.
    """

    def __init__(self, address: str) -> None:
        """Take the address, and start the thread.

        Args:
            address: `ssh://[USER@]HOST[:PORT]`.

        Raises:
            Fault: The words are no such address.
        """
        self.address = parse_ssh(address)[0]
        self.rows: Rows = {}
        """The row of each session. It is replaced by a new mapping when a row has changed."""
        self.is_found = False
        """Whether all sessions were sent once, or the host could not be reached."""
        self.wants_all = False
        """Whether old sessions are wanted too."""
        self.in_view: AbstractSet[Key] | None = None
        """It has no effect: the machine decides what it reads."""
        self.problem = SafeText("")
        """Why the rows are old, or why there are none; empty if all is well."""
        self.note = SafeText("")
        """What is not known of this host's sessions, because it has no agentwatch, or an older one."""
        self._sent: Rows = {}
        self._shown: tuple[Rows, int | None] = ({}, None)
        self._heard_at = time.monotonic()
        self._heard_ms = clock_ms()
        self._is_lost = True
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"ssh {self.address.host}", daemon=True)
        self._thread.start()

    @property
    def notes(self) -> tuple[SafeText, ...]:
        """What the list says about this host: a problem, and what is not known; one line each."""
        host = safe_line(self.address.host)
        return tuple(SafeText(f"{host}: {each}") for each in (self.problem, self.note) if each)

    def step(self, now_ms: int) -> bool:
        """Take the rows that the thread has; more work is never due.

        Args:
            now_ms: The time, in milliseconds since the epoch.
        """
        del now_ms  # silence is measured by a clock that no one sets
        is_lost = self._is_lost or time.monotonic() - self._heard_at >= _SILENT_SECONDS
        now = (self._sent, self._heard_ms if is_lost else None)
        if now[0] is not self._shown[0] or now[1] != self._shown[1]:
            self._shown = now
            self.rows = now[0] if now[1] is None else _lost(now[0], now[1])
        if is_lost and not self._is_lost:
            self.problem = SafeText("silent for 30 s")
        return False

    def close(self) -> None:
        """End the thread, and the command on the host. The shared connection is closed with the process."""
        self._is_closed.set()
        self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._is_closed.is_set():
            try:
                self._watch()
            except EngineError as error:
                self.problem = safe_line(str(error))
            if not self._is_lost:
                self._is_lost, pause = True, _FIRST_PAUSE
            self.is_found = True
            self._is_closed.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _watch(self) -> None:
        """Read the list of the host until the connection is lost."""
        lists = Lists(connection(self.address), self.address)
        try:
            while not self._is_closed.is_set():
                has_news = lists.read(_READ_SECONDS, wants_all=self.wants_all)
                if has_news:
                    self._note(lists)
                elif time.monotonic() - self._heard_at >= 2 * _SILENT_SECONDS:
                    raise EngineError("silent for a minute")
        finally:
            lists.close()

    def _note(self, lists: Lists) -> None:
        self._heard_at, self._heard_ms = time.monotonic(), clock_ms()
        if lists.is_complete:
            self._sent = lists.rows
            self.note = lists.note
            self.problem = SafeText("")
            self._is_lost, self.is_found = False, True


def _lost(rows: Rows, since_ms: int) -> Rows:
    return {
        key: replace(row, lost_ms=since_ms) if row.standing.state in LIVE else row
        for key, row in rows.items()
    }
