"""Opens a saved recording, or a session that an agent keeps itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.own_files import is_still_written
from agentwatch.agents.registry import programs
from agentwatch.base.faults import USAGE, Fault, cannot_open, reading
from agentwatch.recording.head_tail import first_bytes, is_one_document
from agentwatch.recording.lines import StreamGrowth, is_stream
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import SessionFiles, nameless_file
from agentwatch.sources.file import FileSource
from agentwatch.sources.stores.lines import Store, WithSubagents

if TYPE_CHECKING:
    from agentwatch.sources.stores.intake import StoreSource


# Stores: sessions that are not plain files of lines.

_HEAD_BYTES = 1 << 12
MOST_FILE_BYTES = 16 << 20
"""A larger file is not opened for a list or a preview: a document would be parsed whole."""
MOST_STORE_BYTES = 4 << 20
"""The bytes that a list or a preview reads from a store, whose tail cannot be read alone."""
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


def store_for(path: Path, *, is_alone: bool = False) -> Store | None:
    """Return the store at a path; None for a plain file of lines. `is_alone` leaves out the subagents
    that are sessions of their own. Raise `OSError` if the store cannot be read."""
    head = head_of(path)
    if path.suffix == ".ndjson" and head.startswith(b"{"):  # a recording, for which no program is imported
        return None
    openers = [*(opener for program in programs() for opener in program.stores), _compressed]
    with reading(path):
        store = next((store for opener in openers if (store := opener(path, head)) is not None), None)
    if is_alone and isinstance(store, WithSubagents):
        store.leave_out_subagents()
    return None if store is None else _Guarded(store, path)


class _Guarded:
    """A store whose errors name its path, whatever a damaged file makes it raise."""

    def __init__(self, store: Store, path: Path) -> None:
        self._store = store
        self._path = path
        self.poll_seconds: float | None = getattr(store, "poll_seconds", None)
        self.close = store.close

    def new_lines(self) -> list[bytes]:
        with reading(self._path):
            return self._store.new_lines()


def _compressed(path: Path, head: bytes) -> Store | None:
    if not head.startswith(_ZSTANDARD):
        return None
    from agentwatch.sources.stores.zstd import compressed_at

    return compressed_at(path, head)


def head_of(path: Path) -> bytes:
    """Return the first bytes of a regular file; none of anything else. A FIFO must not be opened here: its
    writer would find it closed again."""
    return first_bytes(path, _HEAD_BYTES, follow_links=True) if os.path.isfile(path) else b""


def saved_source(
    path: Path,
    follow: bool | None = False,
    log_fd: int | None = None,
    *,
    follow_store: bool = False,
    is_alone: bool = False,
) -> FileSource | StoreSource:
    """Open a saved recording or a session in a store. A pipe is read to its end. `follow` is None to keep
    reading until the writer ends, if one is known. `follow_store` keeps reading when a store changes, or
    a file that its agent still writes, unless `follow` is False. Raise `Fault` if the recording cannot be
    opened."""
    try:
        store = store_for(path, is_alone=is_alone)
        is_lines = path.suffix == ".jsonl"
        if follow is None and follow_store and (store is None or is_lines) and is_still_written(path):
            follow = True
        if store is not None:
            is_followed = follow is True if is_lines else follow_store and follow is not False
            return _store_source(store, path, log_fd, follow=is_followed, waits=not follow_store)
        if is_stream(path):
            return stream_source(StreamGrowth.of_pipe(path), path, log_fd)
        reader = open_saved(path, follow)
    except OSError as error:
        raise cannot_open(path, error) from error
    _check_lines(reader.fd, path)
    return FileSource(reader, SessionFiles(path), log_fd)


def stream_source(
    growth: StreamGrowth, name: str | Path, log_fd: int | None = None
) -> FileSource | StoreSource:
    path, fd = Path(name), growth.fd
    try:
        growth.take_all()
        store = _compressed(Path(f"/dev/fd/{fd}"), os.pread(fd, _HEAD_BYTES, 0))
        if store is not None:
            source = _store_source(_Guarded(store, path), None, log_fd, follow=False, waits=True)
            os.close(fd)
            return source
    except BaseException as error:  # what gives the lines may raise anything
        growth.stop_following()
        os.close(fd)
        if isinstance(error, OSError):
            raise cannot_open(path, error) from error
        raise
    _check_lines(fd, path)
    return FileSource(growth.reader(), log_fd=log_fd)


def stdin_growth(*, is_live: bool = False) -> StreamGrowth:
    """Return the growth of stdin, of which nothing is taken yet; stdin must not be a terminal."""
    try:
        if os.isatty(0):
            raise Fault("nothing to read: name a FILE, or redirect a recording to stdin", USAGE)
        return StreamGrowth.of_pipe(os.dup(0), is_live=is_live)
    except OSError as error:
        raise cannot_open(Path("-"), error) from error


def _check_lines(fd: int, path: Path) -> None:
    if is_one_document(fd):
        os.close(fd)
        raise Fault(f"{path} is one JSON document, not one JSON object per line", USAGE)


def _store_source(
    store: Store, path: Path | None, log_fd: int | None, *, follow: bool, waits: bool
) -> StoreSource:
    from agentwatch.sources.stores.intake import StoreIntake, StoreSource

    recording_fd = nameless_file()
    intake = StoreIntake(store, recording_fd, follow=follow, waits=waits)
    return StoreSource(recording_fd, intake, log_fd, path)
