"""Keeps the digest of a session up to date: reads its head and its tail, then what is appended."""

from __future__ import annotations

import os
from typing import NamedTuple

import orjson

from agentwatch.events import Event, LineTime, Outcome, TurnEnded
from agentwatch.faults import reading
from agentwatch.machine.digest.course import Course
from agentwatch.machine.digest.decoding import apply_lines, digest_of, format_of
from agentwatch.machine.digest.digest import Digest
from agentwatch.machine.digest.stored import StoredLines
from agentwatch.machine.digest.windows import read_briefly, read_ends, read_whole
from agentwatch.recording import bytes_before, lines_between, now_ms, open_own
from agentwatch.wire import Decoder
from agentwatch.wire.found import OWN, Found, Reach

_WHOLE_BYTES = 1 << 20
"""A file of this size is read whole. It takes 5 to 20 ms."""
_MOST_APPENDED = 1 << 22
"""If more was appended since the last reading, the file is read like a new one."""
_SILENT_MS = 5_000
"""After this time without a new line, a turn whose end nothing but silence shows has ended."""
_FINAL_MS = 600_000
"""After this time without a new line, nothing more is expected."""


class _Version(NamedTuple):
    """What shows whether a file has changed."""

    device: int
    inode: int
    size: int
    changed_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> _Version:
        """Return the version of a file with this status."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    @property
    def changed_ms(self) -> int:
        """The time of the last change, in milliseconds since the epoch."""
        return self.changed_ns // 10**6


class Tail:
    """Reads one session for a list. No file makes it raise, and none stays open."""

    def __init__(self, found: Found, *, is_brief: bool = False) -> None:
        """Create the reader of a session; nothing is read yet.

        Args:
            found: The session.
            is_brief: Read only the beginning and the end of its file, not as much as is needed to know what
                goes on.
        """
        self.is_brief = is_brief
        self.found = found
        """The session. It may be replaced by what a later search has found of it."""
        self.digest: Digest | None = None
        """None for a session of which only the metadata are known."""
        agent = format_of(found)
        if found.reach is not Reach.LISTED:
            self.digest = digest_of(found, agent)
        self._is_decoded = self.digest is not None and (agent is not None or found.agent == OWN)
        self._stored = StoredLines() if found.reach is Reach.STORE else None
        self._decoder: Decoder | None = None
        """None before the first reading, and if the next one must begin again."""
        self._seen: _Version | None = None
        """The version of the file that was read last; None before the first reading."""
        self._offset = 0
        """The offset of the first line that was not read."""
        self._before = b""
        """The bytes before that offset."""
        self._problem: OSError | None = None
        self._held: list[Event] | None = None
        """What follows if nothing more is written, and was not applied yet; None if it was not asked for."""

    @property
    def problem(self) -> OSError | None:
        """Why the session could not be read when that was tried last."""
        return self._problem if self._stored is None else self._stored.problem

    def update(self) -> bool:
        """Read what is new, and return whether the digest may have changed."""
        if not self._is_decoded:
            return False
        if self._stored is not None:
            return self._read_store(self._stored)
        try:
            version = _Version.of(os.stat(self.found.path, follow_symlinks=False))
            if version == self._seen:
                return self._is_silent(version.changed_ms)
            self._problem = None
            fd = open_own(self.found.path)
            try:
                with reading(self.found.path):
                    return self._read(fd)
            finally:
                os.close(fd)
        except OSError as error:
            self._problem = error
            return False

    def settle(self) -> bool:
        """Apply what follows if nothing more is written, and return whether that is anything.

        Call it when the process of the session has ended.
        """
        if self.digest is None or self._decoder is None:
            return False
        if self._held is None:
            self._held = self._decoder.end()
        held, self._held = self._held, []
        if not held:
            return False
        seen_ms = self.digest.seen_ms
        self.digest.apply(held if seen_ms is None else [LineTime(seen_ms), *held])
        self._decoder = None
        return True

    def release(self) -> None:
        """Free what only the next lines need. If the file grows, its tail is read again."""
        self._decoder, self._before, self._held = None, b"", []
        if self.digest is not None:
            self.digest.course = Course()

    def _read_store(self, stored: StoredLines) -> bool:
        read = stored.read(self.found)
        if read is not None:
            self.digest, self._decoder = read
            self._held = None
        return self._is_silent(self.found.changed_ns // 10**6) or read is not None

    def _read(self, fd: int) -> bool:
        version, before = _Version.of(os.fstat(fd)), self._seen
        size, changed_ms = version.size, version.changed_ms
        if (
            before is None
            or self.digest is None
            or before[:2] != version[:2]
            or self._decoder is None
            or self._held
            or not 0 <= size - self._offset <= _MOST_APPENDED
            or not self._continues(fd)
        ):
            self._begin(fd, size, changed_ms)
        else:
            self._append(fd, size, self.digest, self._decoder, changed_ms)
        self._held, self._seen = None, version
        self._is_silent(changed_ms)
        return True

    def _continues(self, fd: int) -> bool:
        """Return whether the bytes before the next line are those that were read."""
        return not self._before or bytes_before(fd, self._offset) == self._before

    def _begin(self, fd: int, size: int, changed_ms: int) -> None:
        start = digest_of(self.found, format_of(self.found))
        found = read_briefly(fd, size, start) if self.is_brief else None
        found = found or (read_whole if size <= _WHOLE_BYTES else read_ends)(fd, size, start)
        self.digest, self._decoder, self._offset = found
        self._append(fd, size, found.digest, found.decoder)
        if found.digest.seen_ms is None and size:
            found.digest.seen_ms = changed_ms

    def _append(self, fd: int, size: int, digest: Digest, decoder: Decoder, at_ms: int | None = None) -> None:
        """Apply the lines after the last reading. The last one may not have been written whole yet."""
        lines, rest = lines_between(fd, self._offset, size)
        if _is_object(rest):
            lines, rest = [*lines, rest], b""
        began_ms = digest.began_ms
        apply_lines(digest, decoder, lines, at_ms)
        if self._offset and not digest.course.has_line_times:
            digest.began_ms = began_ms  # the file had lines before, which have no time
        self._offset += sum(map(len, lines))
        self._before = bytes_before(fd, self._offset)

    def _is_silent(self, changed_ms: int) -> bool:
        """Apply what follows from the time without a new line, and return whether that is anything."""
        if self.digest is None or self._decoder is None or self._held == []:
            return False
        silent_ms = now_ms() - changed_ms
        if silent_ms < _SILENT_MS:
            return False
        if self._held is None:
            self._held = self._decoder.end()
        ends_well = all(
            isinstance(event, TurnEnded) and event.outcome is Outcome.SUCCEEDED for event in self._held
        )
        return self.settle() if ends_well or silent_ms >= _FINAL_MS else False


def _is_object(rest: bytes) -> bool:
    """Return whether the bytes after the last line end are a whole line, whose line end is missing."""
    if not rest.rstrip().endswith(b"}"):
        return False
    try:
        return isinstance(orjson.loads(rest), dict)
    except ValueError:
        return False
