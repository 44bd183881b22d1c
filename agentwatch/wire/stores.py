"""Sessions that are not plain files of lines, and the choice of the store that a path belongs to."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from agentwatch.faults import reading
from agentwatch.sources.stores.store import Store
from agentwatch.wire.agents import programs

_HEAD_BYTES = 1 << 12
MOST_FILE_BYTES = 16 << 20
"""A larger file is not opened for a list or a preview: a document would be parsed whole."""
MOST_STORE_BYTES = 4 << 20
"""What a list or a preview reads of a store, which has no tail that could be read alone."""
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
"""The first bytes of a Zstandard frame."""


def store_for(path: Path) -> Store | None:
    """Return the store that keeps the session at a path; None for a plain file of lines.

    Raises:
        OSError: The path belongs to a store that cannot be read.
    """
    head = head_of(path)
    if path.suffix == ".ndjson" and head.startswith(b"{"):  # a recording, for which no program is imported
        return None
    openers = [*(opener for program in programs() for opener in program.stores), _compressed]
    with reading(path):
        store = next((store for opener in openers if (store := opener(path, head)) is not None), None)
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
    """Open a recording that is compressed, such as an older rollout of Codex."""
    if not head.startswith(_ZSTANDARD):
        return None
    from agentwatch.sources.stores.zstd import compressed_at

    return compressed_at(path, head)


def head_of(path: Path) -> bytes:
    """Return the first bytes of a regular file; none of anything else.

    A FIFO must not be opened here: its writer would find it closed again.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b""
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return b""
    try:
        return os.pread(fd, _HEAD_BYTES, 0)
    except OSError:
        return b""
    finally:
        os.close(fd)
