"""Sessions that lie twice on disk: as a recording of our own, and as the agent's own file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from agentwatch.machine.tracked import Tracked
from agentwatch.wire.found import OWN, Key

_LATER_MS = 60_000
"""The agent may write its own file for this time after the last line of its stream."""


class Twins:
    """The recordings of our own, by the session that they are of.

    A recording has the times of all lines and the end of the process, so its row stands for both, unless the
    session was continued without us.
    """

    def __init__(self) -> None:
        self._recordings: defaultdict[Key, set[Key]] = defaultdict(set)
        self._sessions: dict[Key, Key] = {}

    def note(self, key: Key, session: Tracked) -> Key | None:
        """Note whose session a recording is.

        Args:
            key: The key of any session.
            session: The session.

        Returns:
            The key of the same session in the agent's own file; None for a session that is no recording.
        """
        digest = session.digest
        if session.found.agent != OWN or digest is None or not digest.agent or not digest.session_id:
            return None
        of = digest.agent, digest.session_id
        if self._sessions.get(key) != of:
            self.forget(key)
            self._sessions[key] = of
            self._recordings[of].add(key)
        return of

    def forget(self, key: Key) -> None:
        """Note that a recording is gone."""
        if (of := self._sessions.pop(key, None)) is not None:
            self._recordings[of].discard(key)

    def has_recording(self, key: Key, sessions: Mapping[Key, Tracked]) -> bool:
        """Return whether the row of a recording stands for a session in an agent's own file."""
        own = self._recordings.get(key)
        if not own:
            return False
        seen_ms = sessions[key].seen_ms - _LATER_MS
        return any(sessions[each].is_live or sessions[each].seen_ms >= seen_ms for each in own)
