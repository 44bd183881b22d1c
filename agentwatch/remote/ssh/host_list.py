"""The list of a host's sessions, in the two ways in which a host can send it.

| the host has | what it sends |
|---|---|
| agentwatch | `host-rows`: each row when it changes, and a sign of life every 10 s |
| `tail` alone | every 5 s, when asked, agent, time, size and path of the newest files |
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agentwatch.agents.registry import program_named
from agentwatch.agents.session_entry import OWN, Key, SessionEntry
from agentwatch.base.clock import now_ms
from agentwatch.base.clock import now_ms as clock_ms
from agentwatch.base.json_fields import object_of
from agentwatch.catalog.digest.reading import apply_lines, decoder_for, digest_of, format_of
from agentwatch.catalog.row import Elsewhere, Row, Rows
from agentwatch.catalog.session_status import LIVE, UNKNOWN
from agentwatch.recording.lines import split_lines
from agentwatch.remote.chunk import CARDS
from agentwatch.remote.engine import RemoteError
from agentwatch.remote.ssh.row_json import TEXTS, decode, key
from agentwatch.remote.ssh.shared_connection import (
    END,
    HEAD_BYTES,
    LIST,
    ChannelLines,
    Connection,
    SshAddress,
    begun,
    command,
    connection_to,
    is_session,
    parse_ssh,
    way_of,
)
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, safe_line

_AT_ONCE = 20
"""The number of files that are requested after a list: a host finds a file in 10 to 20 ms."""
_MOST_KEPT = 1000
_HEAD_SECONDS = 10.0
_ANSWER = re.compile(rb"head ([0-9]{1,6})")


class Head(NamedTuple):
    size: int
    """The size of the file in the list for which it was read: of a file that was removed nothing arrives."""
    title: str = ""
    cwd: str = ""
    model: str = ""
    branch: str = ""
    began_ms: int | None = None


class Heads:
    """The beginnings that were read, of the files of one host."""

    def __init__(self) -> None:
        self._known: dict[Key, Head] = {}

    def filled(self, rows: Iterable[Row]) -> dict[Key, Row]:
        """Return rows with what is known of their beginnings."""
        return {row.key: self._filled(row) for row in rows}

    def read(self, lines: ChannelLines, rows: Iterable[Row]) -> bool:
        """Request some unknown beginnings, of the newest of `rows` first; return whether one was read.
        `lines` is the output of the script, which waits for a word."""
        wanted = [row for row in rows if self._is_wanted(row)][:_AT_ONCE]
        for row in wanted:
            agent = OWN if row.is_own else row.agent
            lines.channel.write(f"head {agent} {row.id}\n".encode())
            data = _answer(lines)
            if len(self._known) >= _MOST_KEPT:
                del self._known[next(iter(self._known))]
            self._known[row.key] = _head_of(agent, row, data)
        return bool(wanted)

    def _is_wanted(self, row: Row) -> bool:
        known = self._known.get(row.key)
        return known is None or (known.size < HEAD_BYTES and not known.title and known.size != row.size)

    def _filled(self, row: Row) -> Row:
        head = self._known.get(row.key)
        if head is None:
            return row
        return row._replace(
            title=head.title or row.title,
            prompts=head.title,
            cwd=head.cwd,
            repo=head.cwd.rstrip("/").rpartition("/")[2][: TEXTS["repo"]],
            model=head.model,
            branch=head.branch,
            began_ms=head.began_ms,
        )


def _answer(lines: ChannelLines) -> bytes:
    until = time.monotonic() + _HEAD_SECONDS
    while (line := lines.next(max(0.0, until - time.monotonic()))) is None:
        if time.monotonic() >= until:
            raise RemoteError("the host does not answer")
    match = _ANSWER.fullmatch(line)
    if match is None or int(match[1]) > HEAD_BYTES:
        raise RemoteError("unexpected reply from the host: expected the start of a file")
    return lines.take(int(match[1]), _HEAD_SECONDS)


def _head_of(agent: str, row: Row, data: bytes) -> Head:
    found = SessionEntry(agent, row.id, Path(), len(data), 0)
    digest = digest_of(found, format_of(found))
    apply_lines(digest, decoder_for(digest), split_lines(data)[0] if data else [])
    title = digest.title or digest.first_prompt
    return Head(
        row.size,
        title[: TEXTS["title"]],
        digest.cwd[: TEXTS["cwd"]],
        digest.model[: TEXTS["model"]],
        (digest.branch or "")[: TEXTS["branch"]],
        digest.began_ms,
    )


_MOST_DIGITS = 15


def row_of_file(line: bytes, host: SshAddress) -> Row | None:
    """Return the row of a line of the list: agent, time in seconds, size and path; None for another line."""
    words = line.decode("ascii", "replace").split(" ")
    if len(words) != 4:
        return None
    agent, changed, size, path = words
    program = program_named(agent)
    is_own = agent == OWN
    if not is_own and (program is None or not any(each.over_ssh for each in program.sessions)):
        return None
    stem = path.rpartition("/")[2].rpartition(".")[0]
    session_id = stem if program is None else program.id_in(stem)
    if not is_session(session_id) or not _is_number(changed) or not _is_number(size):
        return None
    return Row(
        key=key(host, agent, session_id),
        agent="" if is_own else agent,
        id=session_id,
        path=Path(),
        address=f"{host}/{session_id}",
        host=host.host,
        status=UNKNOWN,
        title=session_id,
        is_read=False,
        seen_ms=int(changed) * 1000,
        size=int(size),
        is_own=is_own,
    )


def _is_number(text: str) -> bool:
    return 0 < len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit()


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
        """Start the command on the host; raise `RemoteError` if ssh cannot connect, or nothing answers."""
        self.rows: Mapping[Key, Row] = {}
        """Replaced by a new mapping when a row has changed."""
        self.is_complete = False
        """Whether the host has sent all sessions once."""
        self._address = address
        self._channel = host.open(command("rows"))
        self._lines = ChannelLines(self._channel)
        self._known: dict[Key, Row] = {}
        self._has_all = False
        self._hidden = 0
        """The number of old sessions that the host does not send."""
        self._ahead_ms = 0
        self._asked_at: float | None = None
        self._ask_at = 0.0
        self._heads = Heads()
        self._reads_heads = False
        try:
            self._way = begun(self._lines, BEGIN_SECONDS)
        except RemoteError:
            self._channel.close()
            raise

    @property
    def note(self) -> SafeText:
        """The facts that cannot be read in this way, or the number of sessions that the host does not
        send."""
        if self._way == "tail":
            return safe_line(_ONLY_FILES)
        return safe_line(f"{plural(self._hidden, 'older session')} hidden" if self._hidden else "")

    def read(self, seconds: float, *, wants_all: bool) -> bool:
        """Read what the host sends within some seconds; return whether it has sent anything. `wants_all` says
        whether old sessions are wanted too. Raise `RemoteError` at the end of the connection."""
        if self._way == "program":
            return self._read_program(seconds, wants_all=wants_all)
        return self._read_asked(seconds)

    def close(self) -> None:
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
            has_changed = self._take(object_of(line) or {}) or has_changed
            if time.monotonic() >= until:
                break
        if has_changed:
            self.rows = dict(self._known)
        return has_news

    def _take(self, given: dict[str, Any]) -> bool:
        if type(at_ms := given.get("now_ms")) is int:
            ahead_ms = at_ms - now_ms()
            self._ahead_ms = ahead_ms if abs(ahead_ms) > _AHEAD_MS else 0
        self.is_complete = self.is_complete or given.get("complete") is True
        if type(hidden := given.get("hidden")) is int and hidden >= 0:
            self._hidden = hidden
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
            raise RemoteError("the host does not answer")
        return False

    def _show(self) -> None:
        rows = self._heads.filled(self._known.values())
        if rows != self.rows:
            self.rows = rows


_SILENT_SECONDS = 30.0
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0
_READ_SECONDS = 0.5
_END_SECONDS = 2.0


class SshHost(Elsewhere):
    """The sessions of one host. It satisfies `catalog.row.Watched`. A thread connects, reads and connects
    again; `step` only takes what the thread has. When the host is silent for 30 s or the connection is lost,
    its sessions that ran count as lost since then."""

    def __init__(self, address: str) -> None:
        """Take the address, and start the thread. Raise `Fault` if the words are not such an address."""
        super().__init__()
        self.address = parse_ssh(address)[0]
        self.note = SafeText("")
        """The facts that are missing because the host has no agentwatch, or an older one."""
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
        """Notes about this host, one per line: its problem, and missing facts."""
        host = safe_line(self.address.host)
        return tuple(SafeText(f"{host}: {each}") for each in (self.problem, self.note) if each)

    def step(self, now_ms: int) -> bool:
        """Take the rows that the thread has; more work is never due."""
        del now_ms  # silence is measured with the monotonic clock
        is_lost = self._is_lost or time.monotonic() - self._heard_at >= _SILENT_SECONDS
        now = (self._sent, self._heard_ms if is_lost else None)
        if now[0] is not self._shown[0] or now[1] != self._shown[1]:
            self._shown = now
            self.rows = now[0] if now[1] is None else _lost(now[0], now[1])
        if is_lost and not self._is_lost:
            self.problem = SafeText("silent for 30 s")
        return False

    def close(self) -> None:
        self._is_closed.set()
        self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._is_closed.is_set():
            try:
                self._watch()
            except RemoteError as error:
                self.problem = safe_line(str(error))
            if not self._is_lost:
                self._is_lost, pause = True, _FIRST_PAUSE
            self.is_found = True
            self._is_closed.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _watch(self) -> None:
        lists = Lists(connection_to(self.address), self.address)
        self._heard_at = time.monotonic()
        try:
            while not self._is_closed.is_set():
                has_news = lists.read(_READ_SECONDS, wants_all=self.wants_all)
                if has_news:
                    self._note(lists)
                elif time.monotonic() - self._heard_at >= 2 * _SILENT_SECONDS:
                    raise RemoteError("silent for a minute")
        finally:
            lists.close()

    def _note(self, lists: Lists) -> None:
        self._heard_at, self._heard_ms = time.monotonic(), clock_ms()
        if lists.is_complete:
            self._is_lost, self.note = False, lists.note  # before the rows: `step` runs in another thread
            self._sent = lists.rows
            self.problem = SafeText("")
            self.is_found = True


def _lost(rows: Rows, since_ms: int) -> Rows:
    return {
        key: row._replace(lost_ms=since_ms) if row.status.state in LIVE else row for key, row in rows.items()
    }
