"""Sends the bytes of one session of this machine from an offset on, as frames, until its end."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.engine.chunk import Chunk, Ended
from agentwatch.engine.limits import CHUNK_BYTES
from agentwatch.faults import Fault
from agentwatch.machine.places.session_ids import SessionIds
from agentwatch.recording import SavedGrowth, SessionFiles, now_ms, open_saved, read_process, sessions_folder
from agentwatch.remote.ssh.frames import LIFE, frame_of, word_frame
from agentwatch.remote.ssh.host.lifeline import Lifeline
from agentwatch.remote.ssh.host.writing import write_all
from agentwatch.remote.ssh.host.written_times import NewTimes

if TYPE_CHECKING:
    from agentwatch.recording import LineReader

_BUSY_SECONDS = 0.02
"""The pause between two readings of a session that grows, and for some time after it has grown."""
_BUSY_FOR_SECONDS = 5.0
_IDLE_SECONDS = 0.1
_LIFE_SECONDS = 10.0
_READ_BYTES = 1 << 20


def send_pieces(session: str, have: int, digest: str) -> None:
    """Send a session until it ends, the standard input ends, or nobody reads it.

    Args:
        session: Its id, or the beginning of it.
        have: The number of bytes that the watcher has.
        digest: Their SHA-256 in hexadecimal digits; `-` if he does not know it.
    """
    with suppress(BrokenPipeError):
        try:
            _send(session, have, digest)
        except Fault as fault:
            write_all(word_frame("problem", str(fault)))
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            write_all(word_frame("problem", f"cannot read {session}: {(error.strerror or '').lower()}"))


def _send(session: str, have: int, digest: str) -> None:
    path = SessionIds().path_of(session)
    if path is None:
        write_all(word_frame("absent"))
        return
    is_own = path.suffix == ".ndjson" and path.parent == sessions_folder()
    if path.suffix in (".jsonl", ".ndjson"):  # the lines as they are: as a store they may be in another order
        reader = open_saved(path, None if is_own else True)
        try:
            _Sender(reader, path, have, is_own=is_own).run(digest, Lifeline())
        finally:
            os.close(reader.fd)
        return
    from agentwatch.wire.opening import saved_source

    source = saved_source(path, None, follow_store=True)
    try:
        _Sender(source.reader, path, have, is_store=True).run(digest, Lifeline())
    finally:
        source.close()


class _Sender:
    """Sends one session."""

    def __init__(
        self, reader: LineReader, path: Path, have: int, *, is_own: bool = False, is_store: bool = False
    ) -> None:
        self._fd = reader.fd
        self._growth = reader.growth
        self._files = SessionFiles(path)
        self._have = have
        self._is_own = is_own
        self._is_store = is_store
        self._digest = hashlib.sha256()
        self._arrived = have if is_store else max(have, self._growth.size())
        """Without a file of times, bytes from here on arrive while they are sent."""
        self._times = NewTimes(self._files.times if is_own else Path(os.devnull), have)

    def run(self, digest: str, lifeline: Lifeline) -> None:
        """Send all bytes, then new ones as they come."""
        if not self._begins(digest):
            write_all(word_frame("replaced"))
            return
        if self._have >= self._growth.size():
            write_all(frame_of(Chunk(self._have, b""), is_newest=True))
        sent_at = busy_at = time.monotonic()
        while not lifeline.has_ended:
            has_ended = self._growth.has_ended()
            size = self._growth.size()
            if size < self._have or self._was_replaced():
                write_all(word_frame("replaced"))
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
                write_all(LIFE)
                sent_at = now
            lifeline.wait(_BUSY_SECONDS if now - busy_at < _BUSY_FOR_SECONDS else _IDLE_SECONDS)

    def _begins(self, digest: str) -> bool:
        """Return whether the bytes that the watcher has are the first ones of the session, as far as known.

        The lines of a store may differ from those that were read before.
        """
        if self._have > self._growth.size():
            return False
        if digest == "-":
            return not self._is_store or not self._have
        at = 0
        while at < self._have:
            data = os.pread(self._fd, min(_READ_BYTES, self._have - at), at)
            if not data:
                return False
            self._digest.update(data)
            at += len(data)
        return self._digest.hexdigest() == digest

    def _was_replaced(self) -> bool:
        return isinstance(self._growth, SavedGrowth) and self._growth.ended_by is not None

    def _send(self, size: int) -> None:
        """Send the next chunk."""
        end = min(size, self._have + CHUNK_BYTES)
        seen, gaps, end = self._times.take(end)
        if not self._times.is_there and self._have >= self._arrived and not self._is_store:
            seen = ((self._have, now_ms()),)
        data = os.pread(self._fd, end - self._have, self._have)
        if not data:
            raise OSError(errno.EIO, "the file was cut")
        chunk = Chunk(self._have, data, seen, gaps)
        write_all(frame_of(chunk, is_newest=chunk.end >= size))
        self._have = chunk.end

    def _end(self, size: int) -> None:
        """Send the end: the exit code, and the digest of the whole recording."""
        digest = hashlib.sha256()
        at = 0
        while at < size and (data := os.pread(self._fd, min(_READ_BYTES, size - at), at)):
            digest.update(data)
            at += len(data)
        process = read_process(self._files.process)
        write_all(frame_of(Ended(size, None if process is None else process.exit_code, digest.hexdigest())))
