"""Reads the end of a session for its preview, without opening the session."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from agentwatch.events import Channel, Event, Prompt, Text, TextEnded
from agentwatch.feed import Feed
from agentwatch.feed.preview import preview_feed
from agentwatch.machine.row import Row
from agentwatch.machine.standing import LIVE
from agentwatch.recording import ArrivalTimes, LineReader, Until, nameless_file, open_saved
from agentwatch.session import Place, Session, apply_line, close_session
from agentwatch.sources.stores.store import Store
from agentwatch.wire.stores import MOST_FILE_BYTES, MOST_STORE_BYTES, store_for

_WHOLE_BYTES = 1 << 19
"""A smaller recording is read whole, in 20 ms. Of a larger one 320 KiB are read: head and tail."""
_LINES = (".jsonl", ".ndjson")
"""A file of lines is read by itself. Subagents may have files beside it, which its store would merge."""


def tail_session(path: Path, *, is_live: bool) -> Session:
    """Return a session that contains at least the last lines of a recording or of a store.

    Args:
        path: The address of the session.
        is_live: Whether its process runs. Otherwise no call of it is open any more.

    Raises:
        OSError: It cannot be read, or is a document that is too large.
    """
    if path.suffix not in _LINES and path.is_file() and path.stat().st_size > MOST_FILE_BYTES:
        raise OSError(errno.EFBIG, "it is too large for a preview", str(path))
    store = None if path.suffix in _LINES else store_for(path)
    if store is not None:
        return _of_store(store, is_live=is_live)
    reader = open_saved(path, is_live)
    try:
        return _read(reader)
    finally:
        os.close(reader.fd)


def row_session(row: Row) -> Session:
    """Return a session that contains at least the last lines of the one of a row.

    Of a session of another machine they are those of its local copy, which is not filled for it. Without a
    copy, the session contains what the machine has reported: a prompt, and the end of the last answer.

    Raises:
        OSError: It cannot be read, or is a document that is too large.
    """
    is_live = row.standing.state in LIVE and row.lost_ms is None
    if not row.address:
        return tail_session(row.path, is_live=is_live)
    from agentwatch.remote.opening import known_copy

    path = known_copy(row.address, os.environ)
    return _reported(row) if path is None else tail_session(path, is_live=is_live)


def _reported(row: Row) -> Session:
    """Return a session with what a list shows of it."""
    session, last = Session(), row.last_text or row.standing.now
    events: list[Event] = [Prompt(row.title)] if row.title else []
    if last:
        events += (Text(Channel.ANSWER, last), TextEnded(Channel.ANSWER))
    apply_line(session, events, Place(0, 0, row.seen_ms))
    return session


def _of_store(store: Store, *, is_live: bool) -> Session:
    fd = nameless_file()
    try:
        size = 0
        while size < MOST_STORE_BYTES and (lines := store.new_lines()):
            size += os.write(fd, b"".join(lines)[: MOST_STORE_BYTES - size])
        session = _read(LineReader(fd, Until(size), ArrivalTimes()))
    finally:
        store.close()
        os.close(fd)
    if not is_live:
        close_session(session)
    return session


def _read(reader: LineReader) -> Session:
    if reader.growth.size() > _WHOLE_BYTES:
        return preview_feed(reader).session
    feed = Feed(reader)
    feed.takes_agent_times = True
    feed.advance()
    return feed.session
