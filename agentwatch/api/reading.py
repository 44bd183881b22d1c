"""Reads a session: as events, one after the other, without keeping them; to its end; or as its summary.

A session is named by the path of a file or store, or by an id; or it is an open file, or lines.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

import orjson

from agentwatch.agents.opening import saved_source, stdin_growth, stream_source
from agentwatch.api.summary_types import Summary
from agentwatch.base.faults import USAGE, Fault, cannot_open
from agentwatch.feed.feed import Feed
from agentwatch.recording.lines import StreamGrowth, is_stream, pieces_of
from agentwatch.recording.saved import SavedGrowth
from agentwatch.session.call import Place
from agentwatch.session.events import Event
from agentwatch.session.session import Session
from agentwatch.sources.file import FileSource
from agentwatch.sources.stores.intake import StoreSource

Opened = FileSource | StoreSource
Readable = str | os.PathLike[str] | BinaryIO | Iterable[bytes] | Iterable[str]
_ELSEWHERE = ("nats://", "ssh://")
"""The beginning of the address of a remote session. A `Path` would lose a slash of it."""


def name_of(path: Readable) -> str:
    """Return the words for a session in a fault."""
    return os.fspath(path) if isinstance(path, str | os.PathLike) else "the stream"


def opened(path: Readable, *, follow: bool = False) -> Opened:
    """Open a session.

    Args:
        path: A file or a store; as a string, `-`, the id of a session on this machine, or a beginning of it
            that no other id has, with at least 6 characters; or an open binary file, or lines.
        follow: Keep reading when it grows, until the program that writes it ends, if agentwatch knows it.

    Raises:
        Fault: It cannot be opened.
    """
    if (stream := _stream(path, follow=follow)) is not None:
        return FileSource(stream.reader()) if follow else stream_source(stream, name_of(path))
    assert isinstance(path, str | os.PathLike)
    if isinstance(path, str) and path.startswith(_ELSEWHERE) and not os.path.exists(path):
        raise Fault(f"{path}: a session of another machine; only those of this machine can be read", USAGE)
    found = Path(path)
    if isinstance(path, str) and not os.path.exists(path):
        from agentwatch.catalog.session_ids import SessionIds  # 20 ms, which a file does not need

        found = SessionIds().path_of(path) or found
    source = saved_source(found, follow, follow_store=follow)
    if follow and isinstance(source.reader.growth, SavedGrowth):
        source.reader.growth.end_with_writer()
    return source


def _stream(path: Readable, *, follow: bool) -> StreamGrowth | None:
    """Return the growth of what can be read only once, of which nothing is taken yet; None for a file. Raise
    `Fault` if it cannot be opened."""
    if isinstance(path, str) and path == "-":
        return stdin_growth(is_live=follow)
    try:
        if not isinstance(path, str | os.PathLike):
            return StreamGrowth(pieces_of(path), is_live=follow)
        if is_stream(Path(path)):
            return StreamGrowth.of_pipe(path, is_live=follow)
    except OSError as error:
        raise cannot_open(Path(name_of(path)), error) from error
    return None


_POLL_SECONDS = 0.05
"""The polling interval for a file without new lines: a dashboard is 25 ms late on average."""


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
    """The line, or all lines that were decoded at once, such as the pieces of a text.

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


def read(path: Readable) -> Events:
    """Read a saved session as events.

    Memory does not grow with the session: of a file, 256 KiB are read at a time. The pieces of a text that
    arrived as consecutive lines may be joined to one `Text`. What a line means for calls and runs is what
    `load` finds out.

    Args:
        path: A file of any agent, compressed or not, a store such as `opencode.db/ses_…`, a pipe, or the id
            of a session on this machine; `-` for stdin. Or an open binary file, or an iterable of lines,
            `bytes` or `str`. What can be read only once is copied to a file without a name, of 4 GiB at most.

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


def follow(path: Readable, *, timeout: float | None = None) -> Events:
    """Read a session as events, and wait at its end for more of them, like `tail -f` from the first line.

    A pipe, an open file or lines are read as they arrive, while the iterator waits for an event.

    The iterator ends when the file is truncated or replaced, and when the recording of `agentwatch run` or of
    a pipe ends. Nobody knows when another program has written its last line: leave the loop at the event
    that matters, such as `TurnEnded`, or give a timeout. Ctrl+C interrupts it as any other loop.

    Args:
        path: As for `read`.
        timeout: End after this number of seconds without a new line; None waits without a limit. It needs a
            path or `-`.

    Returns:
        An iterator of `(event, place)`.

    Raises:
        Fault: The session cannot be opened.
        ValueError: There is a timeout for an open file or lines, whose next piece is waited for.

    Example:
        >>> import agentwatch
        >>> with agentwatch.follow("recordings/plain.ndjson") as events:
        ...     for event, place in events:
        ...         if isinstance(event, agentwatch.TurnEnded):
        ...             print(event.outcome)
        ...             break
        succeeded
        >>> with open("recordings/plain.ndjson", "rb") as file:
        ...     [type(event).__name__ for event, _ in agentwatch.follow(file)][0]
        'FormatDetected'
    """
    if timeout is not None and not isinstance(path, str | os.PathLike):
        raise ValueError("a timeout needs a path or '-', not an open file or lines")
    return Events(opened(path, follow=True), timeout)


def _placed(source: Opened, timeout: float | None) -> Generator[Placed]:
    """Yield the events of a source. After `timeout` seconds without a new line, it is read as if it had
    ended. This must not refer to `Events`, so that those are closed without a garbage collection."""
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
        left = None if timeout is None else timeout - (time.monotonic() - changed_at)
        if isinstance(growth := source.reader.growth, StreamGrowth):
            try:
                growth.take(left)
            except OSError as error:
                raise cannot_open(Path("the stream"), error) from error
            continue
        if left is not None and left <= 0:
            source.leave()
        time.sleep(_POLL_SECONDS)
    place = Place(feed.offset, 0, None)
    for event in feed.last_events():
        yield Placed(event, place)


def load(path: Readable) -> Session:
    """Read a saved session to its end.

    The file is closed. The calls and texts of a large session are kept in a temporary file without a name,
    which is closed with the session: a session of 100 MB takes 30 MB of memory.

    Args:
        path: As for `read`.

    Returns:
        The session. An empty file is a session without a format.

    Raises:
        Fault: The session cannot be opened, or no known agent wrote it.

    Example:
        >>> import agentwatch
        >>> session = agentwatch.load("recordings/failures.ndjson")
        >>> session.agent_name, session.outcome, len(session.calls)
        ('cursor', <Outcome.SUCCEEDED: 'succeeded'>, 6)
        >>> [call.target for call in session.calls if call.kind is agentwatch.ToolKind.EDIT]
        ['src/blades.py']
    """
    with closing(opened(path)) as source:
        session = _whole(source, path).session
    for run in session.runs:
        if run.turn_result is not None:
            run.turn_result.settle()
    return session


def summary(path: Readable) -> Summary:
    """Return the summary of a saved session, with the keys of `agentwatch --print --output-format summary`.

    Args:
        path: As for `load`.

    Returns:
        The summary. That of an empty file has no `format`.

    Raises:
        Fault: The session cannot be opened, or no known agent wrote it.

    Example:
        >>> import agentwatch
        >>> found = agentwatch.summary("recordings/plain.ndjson")
        >>> found["outcome"], found["calls_by_outcome"], found["calls"][0]["action"]
        ('succeeded', {'succeeded': 2}, 'Read file lantern/settings.py (6 lines)')
        >>> tests = agentwatch.summary("recordings/demo.ndjson")["tests"]
        >>> tests["state"], [(each["command"], each["words"]) for each in tests["commands"]]
        ('green', [('pytest -q', '17 passed')])
    """
    from agentwatch.output.summary import whole_summary

    with closing(opened(path)) as source:
        members: Summary = orjson.loads(b"".join(whole_summary(_whole(source, path, is_priced=True))))
    return members


def _whole(source: Opened, path: Readable, *, is_priced: bool = False) -> Feed:
    """Return a feed that has read all of an open source. Raise `Fault` if no known agent wrote it."""
    feed = Feed(source.reader)
    feed.takes_agent_times = True
    if is_priced:
        from agentwatch.analysis.prices import count_uses

        count_uses(feed.session)
    feed.advance()
    if feed.session.outcome is None:
        from agentwatch.analysis.status import unknown_agent

        raise Fault(f"{name_of(path)}: {unknown_agent(feed.session)}", USAGE)
    return feed
