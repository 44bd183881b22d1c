"""Reads a session as events: one after the other, without keeping them."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from agentwatch.agents.opening import saved_source
from agentwatch.base.faults import USAGE, Fault
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import SavedGrowth
from agentwatch.session.call import Place
from agentwatch.session.events import Event
from agentwatch.sources.file import FileSource
from agentwatch.sources.stores.intake import StoreSource

# Opens the session that a user of the library names: by the path of a file or store, or by an id.

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
        from agentwatch.catalog.session_ids import SessionIds  # 20 ms, which a file does not need

        found = SessionIds().path_of(path) or found
    source = saved_source(found, follow, follow_store=follow)
    growth = source.reader.growth
    if follow and isinstance(growth, SavedGrowth):
        growth.end_with_writer()
    return source


_POLL_SECONDS = 0.05
"""The time between two looks at a file without new lines: a dashboard is 25 ms late on average."""


class Placed(NamedTuple):
    """An event, and the line that it comes from.

    Example:
        >>> import agentwatch
        >>> with agentwatch.read("recordings/plain.ndjson") as events:
        ...     event, place = next(events)
        >>> type(event).__name__, place.offset
        ('FormatDetected', 0)
    """

    event: Event
    place: Place
    """The line. Of several lines that were decoded at once, such as the pieces of a text, all of them.

    Its `seen_ms` is the time of its arrival, or the agent's time if nobody recorded the arrival.
    """


class Events:
    """The events of a session, in the order of its lines. An iterator, which is also a context manager.

    The file is closed after the last event, by `close`, at the end of a `with` block, or when nothing refers
    to the iterator any more.

    Example:
        >>> import agentwatch
        >>> with agentwatch.read("recordings/failures.ndjson") as events:
        ...     first = next(placed.event for placed in events if isinstance(placed.event, agentwatch.Prompt))
        >>> first.text[:16]
        'Lint the project'
        >>> list(events)
        []
    """

    def __init__(self, source: Opened, timeout: float | None = None) -> None:
        """Take over an open source."""
        self._source: Opened | None = source
        self._events = _placed(source, timeout)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Placed:
        try:
            return next(self._events)
        except StopIteration:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(AttributeError):  # the file could not be opened
            self.close()

    def close(self) -> None:
        """Close the file. There are no more events."""
        self._events.close()
        source, self._source = self._source, None
        if source is not None:
            source.close()


def read(path: str | os.PathLike[str]) -> Events:
    """Read a saved session as events.

    Memory does not grow with the session: of a file, 256 KiB are read at a time. The pieces of a text that
    arrived as consecutive lines may be joined to one `Text`. What a line means for calls and runs is what
    `load` finds out.

    Args:
        path: A file of any agent, compressed or not, a store such as `opencode.db/ses_…`, or the id of a
            session on this machine.

    Returns:
        An iterator of `(event, place)`. A file that is still being written ends where it ends now.

    Raises:
        Fault: The session cannot be opened.

    Example:
        >>> import agentwatch
        >>> for event, place in agentwatch.read("recordings/failures.ndjson"):
        ...     if isinstance(event, agentwatch.ToolEnded) and event.exit_code:
        ...         print(place.offset, event.phrase, event.exit_code)
        1767 Ran terminal command 2
        4556 Ran terminal command 1
    """
    return Events(opened(path))


def follow(path: str | os.PathLike[str], *, timeout: float | None = None) -> Events:
    """Read a session as events, and wait at its end for more of them, like `tail -f` from the first line.

    The iterator ends when the file is truncated or replaced, and when the recording of `agentwatch run` or of
    a pipe ends. Nobody knows when another program has written its last line: leave the loop at the event
    that matters, such as `TurnEnded`, or give a timeout. Ctrl+C interrupts it as any other loop.

    Args:
        path: As for `read`.
        timeout: End after this number of seconds without a new line; None waits without a limit.

    Returns:
        An iterator of `(event, place)`.

    Raises:
        Fault: The session cannot be opened.

    Example:
        >>> import agentwatch
        >>> with agentwatch.follow("recordings/plain.ndjson") as events:
        ...     for event, place in events:
        ...         if isinstance(event, agentwatch.TurnEnded):
        ...             print(event.outcome)
        ...             break
        succeeded
    """
    return Events(opened(path, follow=True), timeout)


def _placed(source: Opened, timeout: float | None) -> Generator[Placed]:
    """Yield the events of a source.

    It must not refer to `Events`, so that this is closed without a garbage collection.

    Args:
        source: The source.
        timeout: After this number of seconds without a new line, the source is read as if it had ended.
    """
    feed = Feed(source.reader)
    feed.takes_agent_times = True
    changed_at = time.monotonic()
    while True:
        for line in feed.decoded():
            for event in line.events:
                yield Placed(event, line.place)
            changed_at = time.monotonic()
        if feed.is_decoded:
            break
        if timeout is not None and time.monotonic() - changed_at >= timeout:
            source.leave()
        time.sleep(_POLL_SECONDS)
    place = Place(feed.offset, 0, None)
    for event in feed.last_events():
        yield Placed(event, place)
