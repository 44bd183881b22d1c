"""A session of the list that is judged by rules from the present end of its file."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agentwatch.capture.appender import line_start
from agentwatch.events import FormatDetected, Prompt, RunInfo, RunStarted, Text, ToolStarted
from agentwatch.feed import Agent, Feed
from agentwatch.feed.checkpoints import Checkpoint
from agentwatch.machine.row import Row
from agentwatch.recording import LineReader, SavedGrowth, SessionFiles, first_lines, now_ms
from agentwatch.recording.alarms import Alarm
from agentwatch.recording.times import SavedTimes
from agentwatch.session import Place, Session, apply_line, forget_texts
from agentwatch.tripwires import Hit, Tripwire, Tripwires
from agentwatch.tripwires.cooldown import Announcement, Cooldown
from agentwatch.wire import Decoder
from agentwatch.wire.agents import agent_on_disk
from agentwatch.wire.own_file import open_own

_HEAD_BYTES = 1 << 16
_BEFORE_BYTES = 64
"""The bytes before the next line that show whether the file was rewritten."""
_ABOUT_RUN = (FormatDetected, RunStarted, RunInfo)
_BEGINS_WORK = (Prompt, Text, ToolStarted)


class FileChanged(OSError):
    """The file was truncated, replaced or rewritten."""


class JoinedSession:
    """The growth of one session's file, judged by rules. What was written before is not judged."""

    def __init__(self, row: Row, tripwires: Sequence[Tripwire]) -> None:
        """Join a session at the end of the last whole line of its file.

        Args:
            row: The session.
            tripwires: The rules.

        Raises:
            OSError: The file cannot be read, or is not a regular file of this user.
        """
        self.path = row.path
        self._fd = open_own(row.path)
        try:
            times = SavedTimes(SessionFiles(row.path).times)
            self._growth = SavedGrowth(row.path, self._fd, times, follow=True)
            size = self._growth.size()
            end = self._whole_lines(size)
            self._reader = LineReader(self._fd, self._growth, times, end)
            agent = None if row.is_own else agent_on_disk(row.agent)
            joined = None if end == 0 else self._joined(end, agent)
            self._feed = Feed(self._reader, None if joined else agent, joined)
            self._before = self._bytes_before()
        except OSError:
            self.close()
            raise
        self._tripwires = Tripwires(self._feed, tripwires)
        self._cooldown = Cooldown()

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def judge(self, at_ms: int, seconds: float) -> list[Announcement]:
        """Read what was appended, and return the hits of rules to announce.

        Args:
            at_ms: The present time, in milliseconds since the epoch.
            seconds: Stop to read after about this time.

        Raises:
            FileChanged: The file was truncated, replaced or rewritten; join the session again.
            OSError: The file cannot be read.
        """
        self._growth.size()  # notices that the file is shorter
        if self._growth.has_ended() or self._bytes_before() != self._before:
            raise FileChanged
        self._feed.advance(seconds)
        if self._growth.has_ended() or self._feed.is_over:
            raise FileChanged
        self._before = self._bytes_before()
        hits = filter(self._is_new, self._tripwires.update(at_ms))
        announced = [self._cooldown.add(self._alarm(hit, at_ms)) for hit in hits]
        forget_texts(self._feed.session)
        return [*filter(None, announced), *self._cooldown.due(at_ms)]

    def has_more(self) -> bool:
        """Return whether more can be read at once."""
        return self._feed.backlog() > 0

    def _whole_lines(self, size: int) -> int:
        """Return the end of the last whole line, whose line end may be missing."""
        is_whole = size > 0 and os.pread(self._fd, 1, size - 1) in (b"\n", b"}")
        return size if is_whole else line_start(self._fd, size)

    def _joined(self, end: int, agent: Agent | None) -> Checkpoint:
        """Return the state at an offset: the format and the working directory, as the head shows them."""
        session, decoder = Session(), Decoder(agent)
        if agent is not None:
            apply_line(session, [FormatDetected(agent.name, agent.traits, agent.agent)], Place(0, 0, None), 0)
        for line in filter(bytes.strip, first_lines(self._fd, min(_HEAD_BYTES, end))):
            events = decoder.decode(line)
            for each in (*decoder.take_redecoded(), events):
                kept = [event for event in each if isinstance(event, _ABOUT_RUN)]
                apply_line(session, kept, Place(0, len(line), None), 0)
            if any(isinstance(event, _BEGINS_WORK) for event in events):
                break
        if session.runs:
            session.runs[0].began_seen_ms = now_ms()  # `elapsed` counts from here
        return Checkpoint(end, session, decoder)

    def _bytes_before(self) -> bytes:
        start = max(self._reader.offset - _BEFORE_BYTES, 0)
        return os.pread(self._fd, self._reader.offset - start, start)

    def _is_new(self, hit: Hit) -> bool:
        """Return whether a hit is not by a call that began before the session was joined."""
        if hit.call is None:
            return True
        session = self._feed.session
        return session.calls[hit.call - 1].started is not None or not session.traits.announces_calls

    def _alarm(self, hit: Hit, at_ms: int) -> Alarm:
        session, wire = self._feed.session, hit.tripwire
        return Alarm(
            hit.offset,
            at_ms,
            hit.call,
            len(session.ended_calls),
            len(session.asked.said),
            len(session.runs),
            wire.action.value,
            wire.name,
            hit.words,
        )
