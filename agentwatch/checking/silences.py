"""The longest silence of a session that no running call explains."""

from __future__ import annotations

from agentwatch.analysis.episodes.episode import span_words
from agentwatch.checking.judgement import MOST_HITS, Hit
from agentwatch.safe_text import SafeText
from agentwatch.session import Pieces, Place, Session


class Silences:
    """The silences between the lines of a session, by the times of their arrival or else by the agent's.

    While a call runs, the silence is that of the call. Before a prompt it is the user's, and so it is while
    the agent asks for a permission.
    """

    def __init__(self, session: Session, most_ms: float) -> None:
        """Create the record of a session that is being read; those longer than `most_ms` are hits."""
        self._session = session
        self._most_ms = most_ms
        self.longest_ms = 0
        self.timed_lines = 0
        """The number of lines with a time. Of fewer than two, no silence is known."""
        self.count = 0
        """The number of silences that are too long."""
        self.hits: list[Hit] = []
        self._began_ms: int | None = None
        self._quiet_since: int | None = None
        """The time of the last line; None while something explains a silence."""
        self._turns = (0, 0)
        self._ended = 0

    def applied(self, place: Place, pieces: Pieces | None) -> None:
        """Note a line that was applied."""
        session, seen_ms = self._session, place.seen_ms
        turns, ended = (len(session.runs), session.run.turns), len(session.ended_calls)
        if turns != self._turns or (ended != self._ended and not session.traits.announces_calls):
            self._quiet_since = None  # the user was silent; or a call ran that the format reports at its end
        self._turns, self._ended = turns, ended
        if seen_ms is not None:
            first_ms = seen_ms if pieces is None else pieces.first_ms
            self._began_ms = first_ms if self._began_ms is None else self._began_ms
            self.timed_lines += 1
            if self._quiet_since is not None:
                self._note(first_ms - self._quiet_since, first_ms)
                if pieces is not None:
                    self._note(pieces.longest_gap_ms, seen_ms)
            self._quiet_since = seen_ms
        has_prompts = not session.traits.has_result  # the files of agents; streams may leave the prompt out
        if session.open_calls or session.asked or (session.runs and session.run.is_over):
            self._quiet_since = None
        elif has_prompts and not session.run.turns:
            self._quiet_since = None  # the user has not asked for anything yet

    def _note(self, silence_ms: int, until_ms: int) -> None:
        self.longest_ms = max(self.longest_ms, silence_ms)
        if silence_ms > self._most_ms:
            self.count += 1
            if len(self.hits) < MOST_HITS:
                since_ms = until_ms - silence_ms - (self._began_ms or 0)
                at = f"@+{max(since_ms, 0) // 1000}s"
                self.hits.append(Hit(at, SafeText(f"silence of {span_words(silence_ms)}")))
