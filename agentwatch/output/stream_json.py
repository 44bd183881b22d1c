"""The stream-json format: every byte of the recording, unchanged, as it arrives, or as it is replayed."""

from __future__ import annotations

import os
import threading
import time
from functools import partial
from pathlib import Path

from agentwatch.agents import Agent
from agentwatch.analysis.moments import Asked, Problem, part_of
from agentwatch.feed.feed import POLL_SECONDS, Feed
from agentwatch.feed.history import History
from agentwatch.feed.playhead import Playhead, Replay
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.recording.lines import Growth, LineReader

_COPY_BYTES = 1 << 18


class ByteCopy:
    """Copies a growing recording to a descriptor."""

    def __init__(self, recording_fd: int, growth: Growth, sink_fd: int, start: int = 0) -> None:
        self._recording_fd = recording_fd
        self._growth = growth
        self._sink_fd = sink_fd
        self._copied = start

    def copy(self) -> int:
        """Copy the new bytes; return their number. `BrokenPipeError`: the sink has no reader any more."""
        until = self._growth.size()
        before = self._copied
        while self._copied < until:
            wanted = min(until - self._copied, _COPY_BYTES)
            data = os.pread(self._recording_fd, wanted, self._copied)
            if not data:
                break
            self._copied += os.write(self._sink_fd, data)
        return self._copied - before


class Tee:
    """Copies a recording to the next program in a thread: a slow program blocks neither agent nor screen."""

    def __init__(self, recording_fd: int, growth: Growth, sink_fd: int) -> None:
        self.fault: OSError | None = None
        """The fault that ended copying early; None if the next program merely stopped reading."""
        self._growth = growth
        self._copy = ByteCopy(recording_fd, growth, sink_fd)
        self._sink_fd = sink_fd
        self._thread = threading.Thread(target=self._run, name="tee", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        try:
            has_ended = False
            while self._copy.copy() or not has_ended:
                has_ended = self._growth.has_ended()
                time.sleep(0 if has_ended else POLL_SECONDS)
        except BrokenPipeError:
            pass  # the next program has read enough, as `head` does
        except OSError as error:
            self.fault = error
        finally:
            os.close(self._sink_fd)


class _PlayedGrowth:
    def __init__(self, playhead: Playhead, whole: Growth) -> None:
        self._playhead = playhead
        self._whole = whole

    def size(self) -> int:
        """The live moment is behind a line end, which a last line may lack."""
        self._playhead.tick()
        return min(self._playhead.offset, self._whole.size())

    def has_ended(self) -> bool:
        self._playhead.tick()
        return self._playhead.is_at_end


class PlayedFeed(Feed):
    """The feed of a recording that a playhead plays; if it ends early, the session is unfinished."""

    def __init__(self, reader: LineReader, playhead: Playhead, agent: Agent | None = None) -> None:
        super().__init__(reader, agent)
        self.takes_agent_times = True
        self._playhead = playhead

    def _end(self) -> None:
        if self._playhead.is_live:
            super()._end()
        else:
            self.is_over = True


def replayed(
    reader: LineReader, bookmarks_path: Path | None, replay: Replay, asked: Asked, agent: Agent | None = None
) -> Feed | Problem:
    """Return a feed whose recording grows as it is replayed, without times all at once; or a `Problem` if the
    recording does not have the part that is asked for. `agent` is None to detect the agent."""
    whole = Feed(reader, agent)
    history = History(whole, reader)
    whole.advance()
    bookmarks = Bookmarks(bookmarks_path, partial(ends_a_line, reader.line_at))
    part = part_of(asked, whole.session, history.timeline, bookmarks.by_name())
    if isinstance(part, Problem):
        return part
    playhead = Playhead(history.timeline, replay, is_over=lambda: True)
    playhead.start, playhead.until = part
    playhead.play(part.start)
    playhead.is_paused = True
    feed = PlayedFeed(
        LineReader(reader.fd, _PlayedGrowth(playhead, reader.growth), reader.times), playhead, agent
    )
    feed.advance()
    if history.timeline.has_times:
        playhead.turn()
    else:
        playhead.seek(history.timeline.size if part.until is None else part.until)
    return feed
