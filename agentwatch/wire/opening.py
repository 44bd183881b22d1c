"""Opens a saved recording, or a session that an agent keeps itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.faults import USAGE, Fault, cannot_open
from agentwatch.recording import SessionFiles, is_one_document, nameless_file, open_saved
from agentwatch.sources.file import FileSource
from agentwatch.wire.own_files import is_still_written
from agentwatch.wire.stores import store_for

if TYPE_CHECKING:
    from agentwatch.sources.stores.source import StoreSource
    from agentwatch.sources.stores.store import Store


def saved_source(
    path: Path, follow: bool | None = False, log_fd: int | None = None, *, follow_store: bool = False
) -> FileSource | StoreSource:
    """Open a saved recording, and what is known about the process of its agent; or a session in a store.

    Args:
        path: The recording, or the path of a store.
        follow: Keep reading when the file grows; None: until its writer ends, if one is known.
        log_fd: The descriptor of the action log; None for no log.
        follow_store: Keep reading when a store changes, or a file that its agent still writes, unless
            `follow` is False; nobody knows when its writer ends.

    Raises:
        Fault: The recording cannot be opened, or is one JSON document; or the store cannot be read.
    """
    try:
        store = store_for(path)
        is_lines = path.suffix == ".jsonl"
        if follow is None and follow_store and (store is None or is_lines) and is_still_written(path):
            follow = True
        if store is not None:
            is_followed = follow is True if is_lines else follow_store and follow is not False
            return _store_source(store, path, log_fd, follow=is_followed, waits=not follow_store)
        reader = open_saved(path, follow)
    except OSError as error:
        raise cannot_open(path, error) from error
    if is_one_document(reader.fd):
        os.close(reader.fd)
        raise Fault(f"{path} is one JSON document, not one JSON object per line", USAGE)
    return FileSource(reader, SessionFiles(path), log_fd)


def _store_source(store: Store, path: Path, log_fd: int | None, *, follow: bool, waits: bool) -> StoreSource:
    """Fill a recording without a name with the lines of a store.

    Raises:
        OSError: The store cannot be read, or the recording cannot be written.
    """
    from agentwatch.sources.stores.intake import StoreIntake
    from agentwatch.sources.stores.source import StoreSource

    recording_fd = nameless_file()
    intake = StoreIntake(store, recording_fd, follow=follow, waits=waits)
    return StoreSource(recording_fd, intake, log_fd, path)
