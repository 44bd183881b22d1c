"""The known stores, and the choice of the store that a path belongs to."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.faults import reading

if TYPE_CHECKING:
    from agentwatch.sources.stores.store import Store

_HEAD_BYTES = 1 << 12
MOST_FILE_BYTES = 16 << 20
"""A larger file is not opened for a list or a preview: a document would be parsed whole."""
MOST_STORE_BYTES = 4 << 20
"""What a list or a preview reads of a store, which has no tail that could be read alone."""
_SQLITE = b"SQLite format 3\0"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
"""The first bytes of a Zstandard frame."""

Opener = Callable[[Path, bytes], "Store | None"]
"""Returns the store at a path, given the first 4 KiB of the file there; None if the path is of another kind.

The head is empty for a folder, and for a path where no regular file is. It raises an OSError if the path
belongs to the store but cannot be read.
"""


def store_for(path: Path) -> Store | None:
    """Return the store that keeps the session at a path; None for a plain file of lines.

    Raises:
        OSError: The path belongs to a store that cannot be read.
    """
    head = _head(path)
    with reading(path):
        store = next((store for opener in _STORES if (store := opener(path, head)) is not None), None)
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


def _opencode_database(path: Path, head: bytes) -> Store | None:
    """Open `opencode.db`, or one session in it: `opencode.db/ses_…`."""
    head = head or _head(path.parent)
    if not head.startswith(_SQLITE):
        return None
    from agentwatch.sources.stores.opencode.store import database_at

    return database_at(path)


def _opencode_storage(path: Path, head: bytes) -> Store | None:
    """Open opencode's older folder `storage`, or one session in it.

    The session is named as `storage/session/PROJECT/ses_….json`, or as `storage/ses_…`.
    """
    session: Path | str | None = None
    if head:
        if path.suffix != ".json" or path.parent.parent.name != "session":
            return None
        folder, session = path.parent.parent.parent, path
    elif path.is_dir():
        folder = path
    else:
        folder, session = path.parent, path.name
    if not (folder / "session").is_dir() or not (folder / "message").is_dir():
        return None
    from agentwatch.sources.stores.opencode.store import storage_at

    return storage_at(folder, session)


def _gemini_json(path: Path, head: bytes) -> Store | None:
    """Open a chat of the Gemini CLI that is one JSON document."""
    if path.suffix != ".json":
        return None
    from agentwatch.sources.stores.gemini_json import open_gemini_json

    return open_gemini_json(path, head)


def _compressed(path: Path, head: bytes) -> Store | None:
    """Open a recording that is compressed, such as an older rollout of Codex."""
    if not head.startswith(_ZSTANDARD):
        return None
    from agentwatch.sources.stores.zstd import compressed_at

    return compressed_at(path, head)


def _claude_subagents(path: Path, head: bytes) -> Store | None:
    """Open a session of Claude Code that has subagents, or may get them."""
    if path.suffix != ".jsonl" or not head.startswith(b"{"):
        return None
    from agentwatch.sources.stores.claude_subagents import open_claude_subagents

    return open_claude_subagents(path)


_STORES: tuple[Opener, ...] = (
    _opencode_database,
    _opencode_storage,
    _gemini_json,
    _compressed,
    _claude_subagents,
)
"""One entry for each store, in the order in which they are asked. Each imports its module when it is used."""


def _head(path: Path) -> bytes:
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
