"""A recording with a time for each line, its timeline, and its marked moments."""

from pathlib import Path

from agentwatch.analysis.markers import Markers
from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import SessionFiles
from agentwatch.screen.screens.session.goto import Marks
from tests.builders.screen.lines import BEGAN_MS


def write_times(path: Path, first_ms: int = BEGAN_MS) -> None:
    """Let the lines of a recording arrive one second apart, the first at 09:00:00 or at another time."""
    offset, times = 0, []
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True)):
        times.append(f"{offset} {first_ms + 1000 * number}\n")
        offset += len(line)
    SessionFiles(path).times.write_text("".join(times))


def marks_of(path: Path, *, in_memory: bool = False) -> Marks:
    """Return the marks of a recording, with the bookmarks in their file or in memory."""
    reader = open_saved(path)
    feed = Feed(reader)
    times = History(feed, reader).timeline
    feed.advance()
    bookmarks = Bookmarks(
        None if in_memory else SessionFiles(path).bookmarks,
        lambda offset: ends_a_line(reader.line_at, offset),
    )
    return Marks(feed.session, bookmarks, Markers(feed.session, times.after), times)
