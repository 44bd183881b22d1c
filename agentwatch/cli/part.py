"""Checks the moments that a command line names, before the screen opens."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from agentwatch.analysis.moments import Problem
from agentwatch.faults import USAGE, Fault
from agentwatch.feed import Feed
from agentwatch.feed.history import History
from agentwatch.feed.part import part_of
from agentwatch.feed.playhead import Replay
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.sources.open import saved_source
from agentwatch.sources.stores.known import store_for
from agentwatch.wire import Agent

_MOST_BYTES = 8 << 20
"""Reading a larger recording would delay the screen by more than 70 ms. The screen reports its problem."""


def check_part(path: Path, replay: Replay, agent: Agent | None) -> None:
    """Check that a recording has the part that is to be shown.

    A large recording and a session in a store are not read for it.

    Args:
        path: The recording.
        replay: The part, and how it is replayed.
        agent: The agent that wrote the recording; None to detect it.

    Raises:
        Fault: The recording cannot be opened, or does not have the part.
    """
    if replay.begin is None and replay.until is None:
        return
    try:
        if os.path.getsize(path) > _MOST_BYTES or store_for(path) is not None:
            return
    except OSError:
        return  # opening it gives the reason
    source = saved_source(path)
    feed = Feed(source.reader, agent)
    history = History(feed, source.reader)
    feed.advance()
    bookmarks = Bookmarks(source.bookmarks_path, partial(ends_a_line, source.reader.line_at))
    part = part_of(history, replay, bookmarks.by_name())
    os.close(source.reader.fd)
    if isinstance(part, Problem):
        raise Fault(f"{path}: {part.words}", USAGE)
