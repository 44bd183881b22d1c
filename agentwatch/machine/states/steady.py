"""Holds back what may be wrong for a moment."""

from __future__ import annotations

from agentwatch.machine.standing import Ground, Standing, State
from agentwatch.wire.found import Key

_HOLD_MS = 1_000
"""Between the exit of a command and the line with its result, the call has no child and seems to ask."""
_MOST_HELD = 1_000


class Steady:
    """The sessions that have just begun to ask, as far as it can be inferred."""

    def __init__(self) -> None:
        self._since: dict[Key, int] = {}

    def shown(self, key: Key, known: Standing, before: Standing | None, now_ms: int) -> Standing:
        """Return the state to show: a question that is inferred only when it is a second old.

        Args:
            key: The session.
            known: Its state.
            before: The state that was shown before; None for a session that is new in the list.
            now_ms: The present time, in milliseconds since the epoch.
        """
        is_guess = known.state is State.ASKS and known.ground is Ground.INFERRED
        if not is_guess or before is None or before.state is not State.WORKING:
            self._since.pop(key, None)
            return known
        since_ms = self._since.setdefault(key, now_ms)
        if not 0 <= now_ms - since_ms < _HOLD_MS:
            del self._since[key]
            return known
        if len(self._since) > _MOST_HELD:
            del self._since[next(iter(self._since))]
        return before
