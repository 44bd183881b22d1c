"""Opens the session of a row for a screen, and closes it again. Both may take long, and run in a thread."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.config import Machines
from agentwatch.faults import Fault, cannot_open
from agentwatch.feed import Feed
from agentwatch.machine.row import Row
from agentwatch.machine.standing import LIVE, State
from agentwatch.screen.first_shown import FirstShown, first_shown
from agentwatch.sources.file import FileSource
from agentwatch.sources.stores.source import StoreSource
from agentwatch.wire.opening import saved_source

if TYPE_CHECKING:
    from agentwatch.remote.copying import Copying

_FETCH_SECONDS = 1.0
"""How long the screen waits for what there is of a session elsewhere; it shows the rest as it comes."""


class OpenSession(NamedTuple):
    """A session that is open for a screen."""

    source: FileSource | StoreSource
    first: FirstShown
    copying: Copying | None = None
    """The local copy that is filled; None for a session of this machine."""

    def close(self) -> None:
        """Close everything. The screen must be gone."""
        self.source.close()
        if self.copying is not None:
            self.copying.close()


def open_row(row: Row, machines: Machines) -> OpenSession:
    """Open the session of a row.

    Args:
        row: The session.
        machines: The settings about other machines.

    Raises:
        Fault: The session cannot be opened.
    """
    if row.address:
        return _open_elsewhere(row.address, machines)
    return open_session(row.path, _follows(row))


def open_session(path: Path, follow: bool | None) -> OpenSession:
    """Open a session.

    Nothing is written but bookmarks, as by `agentwatch FILE`.

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


def _follows(row: Row) -> bool | None:
    """Return whether a session is to be followed; None if its files know better than the list."""
    if row.is_own or row.standing.state is State.UNKNOWN:
        return None
    return row.standing.state in LIVE


def _open_elsewhere(address: str, machines: Machines) -> OpenSession:
    """Open a session of another machine, whose local copy is filled while it is open.

    Raises:
        Fault: The session cannot be opened.
    """
    from agentwatch.remote.opening import open_copy, source_of

    copying = open_copy(address, machines, os.environ)
    try:
        copying.wait_until_read(_FETCH_SECONDS)
        source = source_of(copying)
        return OpenSession(source, first_shown(source, Feed(source.reader)), copying)
    except (Fault, OSError) as error:
        copying.close()
        if isinstance(error, Fault):
            raise
        raise cannot_open(copying.path, error) from None
