"""Opens the session that a user of the library names: by the path of a file or store, or by an id."""

from __future__ import annotations

import os
from pathlib import Path

from agentwatch.faults import USAGE, Fault
from agentwatch.recording import SavedGrowth
from agentwatch.sources.file import FileSource
from agentwatch.sources.stores.source import StoreSource
from agentwatch.wire.opening import saved_source

Opened = FileSource | StoreSource
_ELSEWHERE = ("nats://", "ssh://")
"""What the address of a session of another machine begins with. A `Path` would lose a slash of it."""


def opened(path: str | os.PathLike[str], *, follow: bool = False) -> Opened:
    """Open a session.

    Args:
        path: A file or a store; or, as a string, the id of a session on this machine, or a beginning of it
            that no other id has, with at least 6 characters.
        follow: Keep reading when it grows, until the program that writes it ends, if agentwatch knows it.

    Raises:
        Fault: It cannot be opened.
    """
    if isinstance(path, str) and path.startswith(_ELSEWHERE) and not os.path.exists(path):
        raise Fault(f"{path}: a session of another machine; only those of this machine can be read", USAGE)
    found = Path(path)
    if isinstance(path, str) and not os.path.exists(path):
        from agentwatch.machine.places.session_ids import SessionIds  # 20 ms, which a file does not need

        found = SessionIds().path_of(path) or found
    source = saved_source(found, follow, follow_store=follow)
    growth = source.reader.growth
    if follow and isinstance(growth, SavedGrowth):
        growth.end_with_writer()
    return source
