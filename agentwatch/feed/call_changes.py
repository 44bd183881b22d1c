"""Which calls of a session are new or have changed."""

from __future__ import annotations

from agentwatch.events import Outcome
from agentwatch.session import Session


class CallChanges:
    """Reports which calls are new or have changed, at a cost that does not depend on the session's size."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._calls = 0
        self._ended = 0
        self._open: set[int] = set()
        self._run: tuple[object, ...] = ()

    @property
    def count(self) -> int:
        """The number of calls that were reported."""
        return self._calls

    def skip(self, calls: int) -> None:
        """Take the first calls as reported, and everything that has ended."""
        self._calls, self._ended = calls, len(self._session.ended_calls)
        self._open = {call.number - 1 for call in self._session.open_calls.values()}
        self._run = (len(self._session.runs), self._session.run.ended, self._session.is_closed)

    def take(self, most: int) -> list[int]:
        """Return the indices of the calls that are new or changed since the last call of this method.

        Each index is returned once.

        Args:
            most: The limit for new calls, and separately for ended ones; the rest follows next time.
        """
        session = self._session
        run = (len(session.runs), session.run.ended, session.is_closed)
        ended = session.ended_calls.indices(self._ended, self._ended + most)
        changed = [*ended]
        if run != self._run:
            # When a run ends, its open calls become unfinished, although no event ends them.
            changed += [index for index in self._open if not self._is_open(index)]
        new = range(self._calls, min(len(session.calls), self._calls + most))
        self._run, self._ended, self._calls = run, self._ended + len(ended), new.stop
        self._open.difference_update(changed)
        self._open.update(filter(self._is_open, new))
        return [*dict.fromkeys((*changed, *new))]

    def _is_open(self, index: int) -> bool:
        return self._session.calls[index].outcome is Outcome.RUNNING
