"""Keeps the index of a large recording, and restores a feed from it."""

from __future__ import annotations

import os
import threading
from array import array
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from agentwatch.feed.checkpoints import Checkpoint, Checkpoints
from agentwatch.feed.feed import Feed
from agentwatch.feed.index.fit import facts, has_grown, is_same
from agentwatch.feed.index.kept_file import Dropped, IndexFile, open_index, write_index
from agentwatch.feed.index.pickles import UNREADABLE, NotKept, Packer, Unpacker
from agentwatch.feed.index.places import index_path, make_room, own_key, read_key, remove_left
from agentwatch.feed.timeline import RecordedTimes
from agentwatch.recording import LineReader, SavedGrowth
from agentwatch.session import Session
from agentwatch.session.storage.spill import Spill, SpillCopy
from agentwatch.wire import Decoder

LEAST_BYTES = 32 << 20
"""Smaller recordings are read in less than half a second."""


_DROP_SECONDS = 0.2


class Restored(NamedTuple):
    """What an index contains."""

    checkpoint: Checkpoint
    """The state at the end of the bytes that were read for the index."""
    timeline: RecordedTimes
    checkpoints: Checkpoints
    is_whole: bool
    """Whether the recording is as it was. Otherwise it has grown."""
    unpacker: Unpacker
    packed_layout: bytes

    def layout(self, session: Session) -> Any:
        """Return what the screen laid out; None if it cannot be read.

        Args:
            session: The session of the feed that continued at the checkpoint, at the end of the recording.
        """
        try:
            return self.unpacker.unpack(self.packed_layout, _known(session))
        except UNREADABLE:
            return None


class _State(NamedTuple):
    """The state of a feed at the end of its recording."""

    packer: Packer
    packed: bytes
    offset: int


class Index:
    """The index of one recording."""

    def __init__(self, path: Path, recording: Path, reader: LineReader, given: str | None) -> None:
        """Create the index of a recording; nothing is read or written yet.

        Args:
            path: The file of the index.
            recording: The path of the recording.
            reader: The reader of the recording.
            given: The format that the user named; None if it is detected.
        """
        self._path = path
        self._size = reader.growth.size()
        self._about = (recording, reader.fd, self._size, given)
        self._fd = reader.fd
        self._mtime_ns = os.fstat(reader.fd).st_mtime_ns
        growth = reader.growth
        self._is_wanted = not (isinstance(growth, SavedGrowth) and growth.is_followed)
        self._state: _State | None = None
        self._writer: threading.Thread | None = None
        self._is_dropped = threading.Event()

    def restored(self) -> Restored | None:
        """Return the content of the index; None if there is no index that fits the recording."""
        found, key = open_index(self._path), read_key()
        if found is None or key is None:
            return None
        try:
            if not found.read_header():
                return None
            kept = found.header.get("recording")
            if not isinstance(kept, dict):
                return None
            is_whole = is_same(kept, *self._about)
            if not (is_whole or has_grown(kept, *self._about)) or not found.is_authentic(key):
                return None
            restored = self._unpacked(found, is_whole=is_whole)
        except (OSError, *UNREADABLE):
            return None
        self._is_wanted = self._is_wanted and not is_whole
        return restored

    def paused(
        self,
        offset: int,
        session: Session,
        decoder: Decoder,
        timeline: RecordedTimes,
        checkpoints: Checkpoints,
    ) -> None:
        """Take the state of a feed, if it has read the whole recording. It takes 20 ms for 1 GB.

        Args:
            offset: The number of bytes that the session contains.
            session: The session, which is not closed yet.
            decoder: Its decoder.
            timeline: The times of its lines.
            checkpoints: Its checkpoints.
        """
        if offset < self._size or not self._is_wanted:
            return
        self._is_wanted = False
        if session.format is None:
            return
        packer = Packer()
        with suppress(NotKept):
            packed = packer.pack((session, decoder, timeline, checkpoints))
            self._state = _State(packer, packed, offset)

    def keep(self, layout: object, session: Session) -> None:
        """Write the index in a thread, if the state at the end of the recording was taken.

        Args:
            layout: What the screen has laid out.
            session: The session, which is closed.
        """
        state, self._state = self._state, None
        if state is None:
            return
        try:
            packed = state.packer.pack(layout, _known(session))
        except NotKept:
            return
        spills = state.packer.copies()
        self._writer = threading.Thread(
            target=self._write, args=(state, packed, spills), name="index", daemon=True
        )
        self._writer.start()

    def drop(self) -> None:
        """Stop writing the index; what was written so far is removed. A disk that hangs is not waited for."""
        self._is_dropped.set()
        if self._writer is not None:
            self._writer.join(_DROP_SECONDS)

    def finish(self) -> None:
        """Wait until the index is written."""
        if self._writer is not None:
            self._writer.join()

    def _write(self, state: _State, layout: bytes, spills: list[SpillCopy]) -> None:
        table = array("Q", (spill.length for spill in spills)).tobytes()
        lengths = [len(state.packed), len(layout), len(table)]
        size = sum(lengths) + sum(spill.length for spill in spills)
        with suppress(OSError, Dropped):
            if os.fstat(self._fd).st_mtime_ns != self._mtime_ns:
                return  # what was read may not be what is there now
            remove_left(self._path)
            if not make_room(self._path, size):
                return
            key = own_key()
            header = {"recording": facts(*self._about), "offset": state.offset, "parts": lengths}
            parts = _pieces((state.packed, layout, table), spills)
            write_index(self._path, header, parts, key, self._is_dropped.is_set)

    def _unpacked(self, found: IndexFile, *, is_whole: bool) -> Restored:
        """Return the content of an index that is authentic.

        Raises:
            OSError: It cannot be read.
            UNREADABLE: It contains something else.
        """
        at, parts = found.start, []
        for length in found.header["parts"]:
            parts.append(found.part(at, length))
            at += length
        state, layout, table = parts
        spills = []
        for length in array("Q", table):
            spills.append(Spill(found.file, at, length) if length else Spill())
            at += length
        if at != found.end:
            raise ValueError("the parts of the index have another length")
        unpacker = Unpacker(spills)
        session, decoder, timeline, checkpoints = unpacker.unpack(state)
        timeline.fd = self._fd
        offset, size = found.header["offset"], found.header["recording"]["size"]
        if type(offset) is not int or not 0 <= offset <= size + is_whole:
            raise ValueError("its last line had no end, and may have grown")
        checkpoint = Checkpoint(offset, session, decoder)
        return Restored(checkpoint, timeline, checkpoints, is_whole, unpacker, layout)


def index_of(feed: Feed, reader: LineReader) -> Index | None:
    """Return the index of the recording that a feed is about to read; None if it has none.

    Only saved recordings over 32 MB have an index.
    """
    growth = reader.growth
    if not isinstance(growth, SavedGrowth) or growth.size() <= LEAST_BYTES:
        return None
    path = index_path(growth.path)
    given = None if feed.agent is None else feed.agent.name
    return None if path is None else Index(path, growth.path, reader, given)


def _known(session: Session) -> tuple[object, ...]:
    return session, session.transcript, session.calls


def _pieces(parts: tuple[bytes, ...], spills: list[SpillCopy]) -> Iterator[bytes]:
    yield from parts
    for spill in spills:
        yield from spill.pieces()
