"""Opens the session of a row for a screen, and closes it again. Both may take long, and run in a thread."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from agentwatch.faults import cannot_open
from agentwatch.feed import Feed
from agentwatch.screen.first_shown import FirstShown, first_shown
from agentwatch.sources.file import FileSource
from agentwatch.sources.open import saved_source
from agentwatch.sources.stores.source import StoreSource


class OpenSession(NamedTuple):
    """A session that is open for a screen."""

    source: FileSource | StoreSource
    first: FirstShown

    def close(self) -> None:
        """Close everything. The screen must be gone, and the index that it wrote is not finished."""
        index = self.first.kept.index
        if index is not None:
            index.drop()
            index.finish()  # its thread reads the recording
        self.source.close()


def open_session(path: Path, follow: bool | None) -> OpenSession:
    """Open a session.

    Nothing is written but an index and bookmarks, as by `agentwatch FILE`.

    Args:
        path: The address of the session.
        follow: Whether to follow it; None: while it is written, as far as its files show.

    Raises:
        Fault: The session cannot be opened.
    """
    source = saved_source(path, follow, follow_store=True)
    try:
        return OpenSession(source, first_shown(source, Feed(source.reader)))
    except OSError as error:
        source.close()
        raise cannot_open(path, error) from None
