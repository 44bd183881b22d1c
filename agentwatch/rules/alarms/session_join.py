"""A session of the list that is judged by rules from the present end of its file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from agentwatch.agents import Agent, Decoder
from agentwatch.base.clock import now_ms
from agentwatch.feed.checkpoints import Checkpoint
from agentwatch.feed.feed import Feed
from agentwatch.recording.appender import line_start
from agentwatch.recording.head_tail import HEAD_BYTES, bytes_before, first_lines
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import open_own
from agentwatch.rules.alarms.tripwire import Action, Tripwire
from agentwatch.rules.alarms.watch import Announcement, Cooldown, Hit, Watch
from agentwatch.session.call import Place
from agentwatch.session.events import FormatDetected, Prompt, RunInfo, RunStarted, Text, ToolStarted
from agentwatch.session.reducers import apply_line, forget_texts
from agentwatch.session.session import Session

_ABOUT_RUN = (FormatDetected, RunStarted, RunInfo)
_BEGINS_WORK = (Prompt, Text, ToolStarted)


class FileChanged(OSError):
    """The file was truncated, replaced or rewritten."""


class JoinedSession:
    """The growth of one session's file, judged by rules. What was written before is not judged."""

    def __init__(
        self,
        path: Path,
        agent: Agent | None,
        tripwires: Sequence[Tripwire],
        run: Callable[[Hit], object] = lambda _hit: None,
    ) -> None:
        """Join at the end of the last whole line. `agent` is None to detect the agent; `run` runs the command
        of a rule. Raise `OSError` for a file that cannot be read, or is not a regular one of this user."""
        self.path = path
        opened = open_saved(path, follow=True, open_file=open_own)
        self._fd, self._growth = opened.fd, opened.growth
        try:
            size = self._growth.size()
            end = self._whole_lines(size)
            self._reader = LineReader(self._fd, self._growth, opened.times, end)
            joined = None if end == 0 else self._joined(end, agent)
            self._feed = Feed(self._reader, None if joined else agent, joined)
            self._before = bytes_before(self._fd, self._reader.offset)
        except OSError:
            self.close()
            raise
        self._watch = Watch(self._feed, tripwires)
        self._cooldown = Cooldown()
        self._run = run

    def close(self) -> None:
        os.close(self._fd)

    def judge(self, at_ms: int, seconds: float) -> list[Announcement]:
        """Judge the new lines for about `seconds`; return the hits to announce. Raise `FileChanged`, after
        which the session must be joined again, or `OSError`."""
        self._growth.size()  # notices that the file is shorter
        if self._growth.has_ended() or bytes_before(self._fd, self._reader.offset) != self._before:
            raise FileChanged
        self._feed.advance(seconds)
        if self._growth.has_ended() or self._feed.is_over:
            raise FileChanged
        self._before = bytes_before(self._fd, self._reader.offset)
        hits = filter(self._is_new, self._watch.update(at_ms))
        announced = [self._announced(hit, at_ms) for hit in hits]
        forget_texts(self._feed.session)
        return [*filter(None, announced), *self._cooldown.due(at_ms)]

    def _announced(self, hit: Hit, at_ms: int) -> Announcement | None:
        """Run the command of a hit, and return what is announced of it; None if that has to wait."""
        if hit.tripwire.action is Action.RUN:
            self._run(hit)
        return self._cooldown.add(self._watch.alarm(hit, at_ms, hit.tripwire.action))

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
        for line in filter(bytes.strip, first_lines(self._fd, min(HEAD_BYTES, end))):
            decoded = decoder.decode_all(line)
            for each in decoded:
                kept = [event for event in each if isinstance(event, _ABOUT_RUN)]
                apply_line(session, kept, Place(0, len(line), None), 0)
            if any(isinstance(event, _BEGINS_WORK) for event in decoded[-1]):
                break
        if session.runs:
            session.runs[0].began_seen_ms = now_ms()  # `elapsed` counts from here
        return Checkpoint(end, session, decoder)

    def _is_new(self, hit: Hit) -> bool:
        """Return whether a hit is not by a call that began before the session was joined."""
        if hit.call is None:
            return True
        session = self._feed.session
        return session.calls[hit.call - 1].started is not None or not session.traits.announces_calls
