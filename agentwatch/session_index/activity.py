"""When a session began, and for how long it was active, without the time between its turns."""

from __future__ import annotations

from agentwatch.session import Pieces, Place, Session

_MOST_SILENT_MS = 3_600_000
"""What a longer silence within a turn counts: the user was asked something, or the machine slept."""


class Activity:
    """The times of the lines of a session that is being read: the observer of its feed."""

    def __init__(self, session: Session) -> None:
        self.began_ms: int | None = None
        """The time of the first line that has one."""
        self._session = session
        self._last_ms = 0
        self._turn = (0, 0)
        self._active_ms = 0

    def applied(self, place: Place, pieces: Pieces | None) -> None:
        """Take the time of a line. The time before the first line of another turn is no activity."""
        last_ms = place.seen_ms
        if last_ms is None:
            return
        first_ms = last_ms if pieces is None else pieces.first_ms
        runs = self._session.runs
        turn = (len(runs), runs[-1].turns) if runs else (0, 0)
        if self.began_ms is None:
            self.began_ms = self._last_ms = first_ms
        is_next_turn = self._turn[1] > 0 and turn != self._turn
        self._add(first_ms, counts=not is_next_turn)
        self._add(last_ms)
        self._turn = turn

    def _add(self, at_ms: int, *, counts: bool = True) -> None:
        """Add the time since the last line. Lines may be out of order."""
        silent_ms = max(at_ms - self._last_ms, 0)
        self._last_ms += silent_ms
        self._active_ms += min(silent_ms, _MOST_SILENT_MS) if counts else 0

    def paused(self, _offset: int, _session: Session, _decoder: object) -> None:
        """Do nothing."""

    def active_ms(self) -> int | None:
        """Return how long the turns took together, in milliseconds; None if it is unknown.

        The durations that the agent reports count if each turn has one, otherwise the times of the lines.
        """
        durations = [run.duration_of_turns_ms for run in self._session.runs]
        reported = [duration for duration in durations if duration is not None]
        if reported and len(reported) == len(durations):
            return sum(reported)
        return self._active_ms or None
