"""Opens recordings with their index, as the screen does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agentwatch.feed import Feed
from agentwatch.feed.history import History
from agentwatch.feed.index.index import Index
from agentwatch.feed.index.kept import open_kept
from agentwatch.recording import SessionFiles, open_saved


@dataclass(frozen=True, slots=True)
class Opened:
    """A recording that was read to its end."""

    feed: Feed
    history: History
    is_restored: bool
    """Whether it was read from its index."""
    index: Index | None


@contextmanager
def opened(path: Path, *, follow: bool = False) -> Iterator[Opened]:
    """Open a recording with its index, and read the rest of it."""
    reader = open_saved(path, follow)
    feed = Feed(reader)
    kept = open_kept(feed, reader)
    history = History(feed, reader, kept)
    feed.advance()
    yield Opened(feed, history, kept.restored is not None, kept.index)
    os.close(reader.fd)


def write_index(path: Path) -> Path:
    """Open a recording, and return its index once it is written."""
    with opened(path) as first:
        assert first.index is not None
        first.index.keep((), first.feed.session)
        first.index.finish()
    return index_of(path)


def index_of(recording: Path) -> Path:
    """Return the path of a recording's index."""
    return SessionFiles(recording).index_file


def is_restored(path: Path) -> bool:
    """Return whether a recording is read from its index; whether it is or not, all of it is there."""
    with opened(path) as again:
        assert not again.feed.backlog()
        return again.is_restored
