"""The rows of the sessions of this machine, with the state of each session."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from agentwatch.machine.repository import Repositories, Repository
from agentwatch.machine.row import Row
from agentwatch.machine.standing import State
from agentwatch.machine.states.steady import Steady
from agentwatch.machine.tracked import Tracked, row_of
from agentwatch.machine.twins import Twins
from agentwatch.wire.found import Key

_NO_REPOSITORY = Repository()


class RowTable:
    """The rows of sessions, of which each is replaced when something in it has changed."""

    def __init__(self, sessions: Mapping[Key, Tracked], subagents: Mapping[Key, AbstractSet[Key]]) -> None:
        """Create the table of sessions.

        Args:
            sessions: The sessions; the caller adds and removes them.
            subagents: The keys of each session's subagents.
        """
        self.rows: Mapping[Key, Row] = {}
        """It is replaced by a new mapping when a row has changed."""
        self.twins = Twins()
        self._sessions = sessions
        self._subagents = subagents
        self._repositories = Repositories()
        self._shown: dict[Key, Repository] = {}
        """The repositories that the rows of sessions that run show."""
        self._steady = Steady()

    def running(self, live: AbstractSet[Key], *, is_silence_due: bool) -> set[Key]:
        """Return the sessions and subagents whose state may change because time passes.

        Args:
            live: The sessions that run.
            is_silence_due: Whether those are among them whose agent reports the state. Of these, only the
                minutes change in which nothing has happened.
        """
        running = {key for key in live if is_silence_due or not self._sessions[key].is_reported}
        for key in live & self._subagents.keys():
            running.update(each for each in self._subagents[key] if self._sessions[each].is_running)
        return running

    def moved(self, live: AbstractSet[Key]) -> set[Key]:
        """Return the sessions in whose folder another branch is checked out than their rows show.

        Args:
            live: The sessions that run.
        """
        cwds = {key: self._sessions[key].cwd for key in live}
        now = {cwd: self._repositories.of(cwd) for cwd in set(cwds.values()) if cwd}
        return {key for key, cwd in cwds.items() if cwd and self._shown.get(key) != now[cwd]}

    def judge(self, due: AbstractSet[Key], timed: AbstractSet[Key], now_ms: int) -> set[Key]:
        """Judge sessions, and update their rows.

        Args:
            due: The sessions of which something is new.
            timed: The sessions whose state alone may have changed.
            now_ms: The present time, in milliseconds since the epoch.

        Returns:
            The sessions to judge next: those whose subagents have another state now.
        """
        changed: dict[Key, Row | None] = {}
        parents: set[Key] = set()
        repositories = {"": _NO_REPOSITORY}  # `HEAD` is read once for all sessions of a folder
        for key in sorted(due | timed, key=self._subagents.__contains__):  # parents count their subagents
            session = self._sessions.get(key)
            if session is None or self.twins.has_recording(key, self._sessions):
                changed[key] = None
                self._shown.pop(key, None)
                continue
            before = session.standing
            session.standing = self._steady.shown(key, session.judged(now_ms), before, now_ms)
            if session.standing == before and key not in due:
                continue
            if (cwd := session.cwd) not in repositories:
                repositories[cwd] = self._repositories.of(cwd)
            changed[key] = row_of(session, repositories[cwd], self._count_subagents(key))
            if session.is_live:
                self._shown[key] = repositories[cwd]
            else:
                self._shown.pop(key, None)
            if session.found.parent is not None and session.standing != before:
                parents.add((session.found.agent, session.found.parent))
        self._replace(changed)
        return parents

    def _replace(self, changed: Mapping[Key, Row | None]) -> None:
        """Replace rows, and remove those that are None."""
        different = {key: row for key, row in changed.items() if self.rows.get(key) != row}
        if not different:
            return
        rows = dict(self.rows)
        for key, row in different.items():
            if row is None:
                rows.pop(key, None)
            else:
                rows[key] = row
        self.rows = rows

    def _count_subagents(self, key: Key) -> tuple[int, int]:
        """Return the number of subagents of a session, and of those that work."""
        keys = self._subagents.get(key)
        if not keys:
            return 0, 0
        states = [self._sessions[each].standing.state for each in keys]
        return len(states), states.count(State.WORKING)
