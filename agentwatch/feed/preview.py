"""The preview of a large recording: its first and last lines, shown while the middle is still being read."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import takewhile

from agentwatch.agents import Agent, Decoder, LineRole
from agentwatch.feed.feed import Feed
from agentwatch.recording.appender import line_start
from agentwatch.recording.ends import HEAD_BYTES, ends_of_line, first_lines
from agentwatch.recording.lines import MOST_LINE_BYTES, LineReader, Lines

_TAIL_BYTES = 1 << 18


class HeadTailReader:
    """Reads the first and the last lines of a recording, and skips the lines between them.

    The head consists of the lines that begin the run. The tail is 256 KiB and starts with a tool call if it
    contains one. Otherwise it could start in the middle of a text segment, and the flush that repeats the
    whole segment would be taken for new text.
    """

    def __init__(
        self, reader: LineReader, starts_run: Callable[[bytes], bool], is_call: Callable[[bytes], bool]
    ) -> None:
        """Read the recording of `reader`, whose own position stays unchanged."""
        self._starts_run = starts_run
        self._is_call = is_call
        self.fd = reader.fd
        self.growth = reader.growth
        self._size = reader.growth.size()
        self._times = reader.times
        self._pending = [self._head(), *self._tail()]

    def read(self) -> Lines:
        """Return the next lines, or no lines after the last."""
        return self._pending.pop(0) if self._pending else Lines(self._size, [], self._times)

    def is_at_end(self) -> bool:
        """Return whether all lines of the head and the tail were returned, and the recording has ended."""
        return not self._pending and self.growth.has_ended()

    def line_at(self, offset: int, length: int) -> bytes:
        """Return the bytes of a line that was returned before."""
        return os.pread(self.fd, length, offset)

    def _head(self) -> Lines:
        first, *others = first_lines(self.fd) or [b""]
        return Lines(0, [first, *takewhile(self._starts_run, others)], self._times)

    def _tail(self) -> list[Lines]:
        """Return the last lines, an oversize line by itself.

        The very last line may be a large result. It does not count towards the 256 KiB.
        """
        end = self._size - (self.line_at(self._size - 1, 1) == b"\n")
        found: list[Lines] = []
        budget = _TAIL_BYTES
        while end > HEAD_BYTES and budget > 0:
            start = line_start(self.fd, end)
            if end - start > MOST_LINE_BYTES:
                head, tail = ends_of_line(self.fd, start, end - start)
                found.insert(0, Lines(start, [head], self._times, tail, end - start))
            else:
                budget -= end - start if found else 0
                found.insert(0, Lines(start, [self.line_at(start, end - start)], self._times))
            end = start - 1
        first_call = (at for at, lines in enumerate(found) if self._is_call(lines.data[0]))
        return found[next(first_call, 0) :]


def preview_reader(reader: LineReader, agent: Agent | None = None) -> HeadTailReader:
    """Return a reader of the first and last lines of a recording, chosen by the format of its agent."""
    decoder = Decoder(agent)
    return HeadTailReader(
        reader,
        starts_run=lambda line: decoder.role(line) is LineRole.START,
        is_call=lambda line: decoder.role(line) is LineRole.CALL,
    )


def preview_feed(reader: LineReader, agent: Agent | None = None) -> Feed:
    """Return a feed whose session holds the first and last lines of a recording. The results of its runs are
    dropped: most of the text that they repeat was not read. `agent` is None to detect it."""
    feed = Feed(preview_reader(reader, agent), agent=agent)
    feed.takes_agent_times = True  # as the feed of the whole recording, whose places must be the same
    feed.advance()
    for run in feed.session.runs:
        if run.turn_result is not None:
            run.turn_result.forget_text()
    return feed
