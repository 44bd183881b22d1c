"""The longest silence of a session that no running call explains."""

from __future__ import annotations

from agentwatch.checking.judgement import MOST_HITS, Hit
from agentwatch.events import Outcome
from agentwatch.session import Pieces, Place, Run, Session
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText


class LongestSilence:
    """The longest silence between the lines of a session, by arrival times or else by the agent's times.

    Silence while a call runs is not counted. Neither is silence before a prompt, or while the agent waits for
    a permission.
    """

    def __init__(self, session: Session, most_ms: float) -> None:
        """Create it for a session that is being read; silences longer than `most_ms` are hits."""
        self._session = session
        self._most_ms = most_ms
        self.longest_ms = 0
        self.timed_lines = 0
        """The number of lines with a time. With fewer than two, no silence is known."""
        self.count = 0
        """The number of silences that are too long."""
        self.hits: list[Hit] = []
        self._noted_ms = 0.0
        """A silence that is not longer is neither the longest one nor too long."""
        self._began_ms: int | None = None
        self._quiet_since: int | None = None
        """The time of the last line; None while something explains a silence."""
        self._run: Run | None = None
        self._turns = 0
        self._ended = 0

    def applied(self, place: Place, pieces: Pieces | None) -> None:
        """Note a line that was applied."""
        session, seen_ms = self._session, place.seen_ms
        run = session.runs[-1] if session.runs else None
        turns = 0 if run is None else len(run.turn_starts)
        if turns != self._turns or run is not self._run:
            self._run, self._turns, self._quiet_since = run, turns, None  # the user was silent
        if not session.traits.announces_calls and len(session.ended_calls) != self._ended:
            self._ended, self._quiet_since = len(session.ended_calls), None  # a call ran: it is one line
        if seen_ms is not None:
            self.timed_lines += 1
            if self._began_ms is None:
                self._began_ms = seen_ms if pieces is None else pieces.first_ms
            if self._quiet_since is not None:
                first_ms = seen_ms if pieces is None else pieces.first_ms
                if first_ms - self._quiet_since > self._noted_ms:
                    self._note(first_ms - self._quiet_since, first_ms)
                if pieces is not None and pieces.longest_gap_ms > self._noted_ms:
                    self._note(pieces.longest_gap_ms, seen_ms)
            self._quiet_since = seen_ms
        is_over = run is not None and run.outcome is not Outcome.RUNNING
        is_before_prompt = not turns and not session.traits.has_result  # in an agent's own file
        if session.open_calls or session.asked.open_questions or is_over or is_before_prompt:
            self._quiet_since = None

    def _note(self, silence_ms: int, until_ms: int) -> None:
        self.longest_ms = max(self.longest_ms, silence_ms)
        self._noted_ms = min(self.longest_ms, self._most_ms)
        if silence_ms > self._most_ms:
            self.count += 1
            if len(self.hits) < MOST_HITS:
                since_ms = until_ms - silence_ms - (self._began_ms or 0)
                at = f"@+{max(since_ms, 0) // 1000}s"
                self.hits.append(Hit(at, SafeText(f"silence of {duration_words(silence_ms)}")))
