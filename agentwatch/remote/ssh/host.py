"""The commands that a watcher starts here by ssh: they send the list, or the bytes of a session."""

from __future__ import annotations

import errno
import os
import select
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from agentwatch.agents.session_entry import Key
from agentwatch.base.clock import now_ms
from agentwatch.base.faults import Fault
from agentwatch.base.files import write_all
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.hiding import is_hidden
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_ids import SessionIds
from agentwatch.recording.saved import SavedGrowth, open_saved
from agentwatch.recording.store import SessionFiles, sessions_folder
from agentwatch.recording.write_lock import read_process
from agentwatch.remote.chunk import CHUNK_BYTES, Chunk, Ended
from agentwatch.remote.publish.recorded import TimesAhead, digest_of
from agentwatch.remote.ssh.row_json import encode
from agentwatch.remote.ssh.shared_connection import LIFE, frame_of, word_frame

if TYPE_CHECKING:
    from agentwatch.recording.lines import LineReader


_WORDS_READ_BYTES = 1 << 12
_MOST_WORD = 100
_KNOWN = frozenset({"all"})


class Lifeline:
    def __init__(self, fd: int = 0) -> None:
        self.has_ended = False
        """Whether the watcher has left, or was killed, or the connection was lost."""
        self.words: set[str] = set()
        self._fd = fd
        self._held = b""
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def wait(self, seconds: float) -> None:
        """Wait for the time, or for the end, if it comes before."""
        until = time.monotonic() + seconds
        while not self.has_ended:
            left = until - time.monotonic()
            if not self._poll.poll(max(0.0, left) * 1000):
                return
            try:
                data = os.read(self._fd, _WORDS_READ_BYTES)
            except OSError:
                data = b""
            self.has_ended = not data
            *lines, self._held = (self._held + data).split(b"\n")
            self._held = self._held[:_MOST_WORD]
            self.words.update(_KNOWN & {line.decode("ascii", "replace") for line in lines})
            if left <= 0:
                return


_BUSY_SECONDS = 0.02
"""The pause between two readings of a session that grows, and for some time after it has grown."""
_BUSY_FOR_SECONDS = 5.0
_IDLE_SECONDS = 0.1
_LIFE_SECONDS = 10.0


def send_pieces(session: str, have: int, digest: str) -> None:
    """Send a session, by the beginning of its id, until it ends or the reader has closed the pipe. The
    watcher has `have` bytes with the SHA-256 `digest`, or `-` if that is unknown."""
    with suppress(BrokenPipeError):
        try:
            _send(session, have, digest)
        except Fault as fault:
            write_all(1, word_frame("problem", str(fault)))
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            write_all(1, word_frame("problem", f"cannot read {session}: {(error.strerror or '').lower()}"))


def _send(session: str, have: int, digest: str) -> None:
    path = SessionIds().path_of(session)
    if path is None:
        write_all(1, word_frame("absent"))
        return
    is_own = path.suffix == ".ndjson" and path.parent == sessions_folder()
    if path.suffix in (".jsonl", ".ndjson"):  # the lines as they are: as a store they may be in another order
        reader = open_saved(path, None if is_own else True)
        try:
            _Sender(reader, path, have, is_own=is_own).run(digest, Lifeline())
        finally:
            os.close(reader.fd)
        return
    from agentwatch.agents.opening import saved_source

    source = saved_source(path, None, follow_store=True)
    try:
        _Sender(source.reader, path, have, is_store=True).run(digest, Lifeline())
    finally:
        source.close()


class _Sender:
    def __init__(
        self, reader: LineReader, path: Path, have: int, *, is_own: bool = False, is_store: bool = False
    ) -> None:
        self._fd = reader.fd
        self._growth = reader.growth
        self._files = SessionFiles(path)
        self._have = have
        self._is_own = is_own
        self._is_store = is_store
        self._arrived = have if is_store else max(have, self._growth.size())
        """If there is no file of times, bytes from this offset on get the time at which they are sent."""
        self._has_times = is_own and self._files.times.is_file()
        self._times = TimesAhead(self._files.times if self._has_times else Path(os.devnull))
        self._times.start_at(have)

    def run(self, digest: str, lifeline: Lifeline) -> None:
        if not self._begins(digest):
            write_all(1, word_frame("replaced"))
            return
        if self._have >= self._growth.size():
            write_all(1, frame_of(Chunk(self._have, b""), is_newest=True))
        sent_at = busy_at = time.monotonic()
        while not lifeline.has_ended:
            has_ended = self._growth.has_ended()
            size = self._growth.size()
            if size < self._have or self._was_replaced():
                write_all(1, word_frame("replaced"))
                return
            now = time.monotonic()
            if self._have < size:
                self._send(size)
                sent_at = busy_at = now
                lifeline.wait(0)
                continue
            if has_ended and self._is_own:
                self._end(size)
                return
            if now - sent_at >= _LIFE_SECONDS:
                write_all(1, LIFE)
                sent_at = now
            lifeline.wait(_BUSY_SECONDS if now - busy_at < _BUSY_FOR_SECONDS else _IDLE_SECONDS)

    def _begins(self, digest: str) -> bool:
        """Return whether the watcher's first bytes are still those of the session, as far as known: a store's
        lines may change."""
        if self._have > self._growth.size():
            return False
        if digest == "-":
            return not self._is_store or not self._have
        return digest_of(self._fd, self._have) == digest

    def _was_replaced(self) -> bool:
        return isinstance(self._growth, SavedGrowth) and self._growth.ended_by is not None

    def _send(self, size: int) -> None:
        end, seen, gaps = self._times.within(min(size, self._have + CHUNK_BYTES))
        if not self._has_times and self._have >= self._arrived and not self._is_store:
            seen = ((self._have, now_ms()),)
        data = os.pread(self._fd, end - self._have, self._have)
        if not data:
            raise OSError(errno.EIO, "the file was cut")
        chunk = Chunk(self._have, data, seen, gaps)
        write_all(1, frame_of(chunk, is_newest=chunk.end >= size))
        self._have = chunk.end
        self._times.start_at(chunk.end)

    def _end(self, size: int) -> None:
        process = read_process(self._files.process)
        code = None if process is None else process.exit_code
        write_all(1, frame_of(Ended(size, code, digest_of(self._fd, size))))


_PROTOCOL = 1
_TICK_SECONDS = 0.5
_YIELD_SECONDS = 0.001


def send_rows(version: str) -> None:
    """Send the rows until the standard input ends, or nobody reads them.

    All rows are sent once, and then each that changes, as lines of JSON:

    | line | meaning |
    |---|---|
    | `{"protocol": 1, "agentwatch": "0.3.0", "now_ms": …}` | the greeting; the clock of this machine |
    | `{"row": {…}}` | a session that is new or has changed |
    | `{"gone": [AGENT, ID]}` | a session that is not listed any more |
    | `{"hidden": 12}` | the number of old sessions that are not sent |
    | `{"complete": true}` | all sessions were sent once |
    | `{"now_ms": …}` | a sign of life, every 10 s |

    The word `all` on the standard input asks for old sessions too. Readers ignore keys that they do not know.
    """
    machine = Machine(os.environ, Path.home())
    lifeline = Lifeline()
    with suppress(BrokenPipeError):
        _RowsSender(version).run(machine, lifeline)


class _RowsSender:
    def __init__(self, version: str) -> None:
        self._rows: Mapping[Key, Row] = {}
        self._shown: dict[Key, Row] = {}
        self._sent: dict[Key, bytes] = {}
        self._hidden = 0
        self._is_complete = False
        self._life_at = 0.0
        self._write([orjson.dumps({"protocol": _PROTOCOL, "agentwatch": version, "now_ms": now_ms()})])

    def run(self, machine: Machine, lifeline: Lifeline) -> None:
        sent_at = 0.0
        while not lifeline.has_ended:
            machine.wants_all = machine.wants_all or "all" in lifeline.words
            has_more = machine.step(now_ms())
            now = time.monotonic()
            is_all = machine.is_found and not has_more and not self._is_complete
            if is_all or now - sent_at >= _TICK_SECONDS:
                sent_at = now
                self._send(machine.rows, shows_all=machine.wants_all)
            if is_all:
                self._is_complete = True
                self._write([b'{"complete":true}'])
            if now - self._life_at >= _LIFE_SECONDS:
                self._write([orjson.dumps({"now_ms": now_ms()})])
            lifeline.wait(_YIELD_SECONDS if has_more else _TICK_SECONDS)

    def _send(self, rows: Mapping[Key, Row], *, shows_all: bool) -> None:
        if rows is self._rows and not shows_all:
            return
        at_ms = now_ms()
        self._rows, before = rows, self._shown
        self._shown = {key: row for key, row in rows.items() if shows_all or not is_hidden(row, at_ms)}
        lines = []
        for key, row in self._shown.items():
            if before.get(key) is row:
                continue
            line = encode(row)
            if self._sent.get(key) != line:
                self._sent[key] = line
                lines.append(b'{"row":' + line + b"}")
        for key in self._sent.keys() - self._shown.keys():
            del self._sent[key]
            lines.append(orjson.dumps({"gone": [each.encode("utf-8", "replace").decode() for each in key]}))
        hidden = sum(row.parent is None for key, row in rows.items() if key not in self._shown)
        if hidden != self._hidden:
            self._hidden = hidden
            lines.append(orjson.dumps({"hidden": hidden}))
        self._write(lines)

    def _write(self, lines: list[bytes]) -> None:
        if lines:
            self._life_at = time.monotonic()
            write_all(1, b"".join(line + b"\n" for line in lines))
