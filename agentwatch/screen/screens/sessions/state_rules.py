"""Runs the commands of `[[sessions.on]]` when a session of the list changes its state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from agentwatch.agents.found import Key
from agentwatch.agents.reported import State
from agentwatch.base.clock import now_ms
from agentwatch.base.config import SessionRule
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import LIVE, UNKNOWN, Ground, Standing
from agentwatch.output.commands import Commands
from agentwatch.rules.alarms.events import ENDED, FAILED, LIMIT, NEEDS_YOU, Event

_AFTER_TURN = frozenset({State.YOUR_TURN, State.SHELL, State.TURN_FAILED})
_SEEN = frozenset({State.UNFINISHED, State.LIMITED})
"""States that are never guesses: the process has ended, and a limit has refused a request."""
_FAILED = frozenset({State.TURN_FAILED, State.FAILED})
_NO_END = frozenset({(State.STARTING, State.YOUR_TURN), (State.ASKS, State.YOUR_TURN)})
"""A session that has no prompt yet; and one that asks, whose agent seems to be idle for 300 ms."""


class StateRules:
    """The states of the sessions of a list, and the commands that are run when they change.

    Only a change that happens while the list is open counts: from a state in which the list had the session,
    to one that its agent reports.
    """

    def __init__(
        self,
        rules: Sequence[SessionRule],
        commands: Commands,
        began_ms: int,
        is_silenced: Callable[[Key], bool],
    ) -> None:
        """Know no session yet."""
        self._rules, self._commands, self._began_ms = rules, commands, began_ms
        self._is_silenced = is_silenced
        self._before: dict[Key, Standing] = {}

    def update(self, changed: Iterable[Row], vanished: Iterable[Key], asking: Iterable[Row]) -> None:
        """Run the commands for what has changed. `asking` are those that have begun to need the user."""
        for row in asking:
            self._tell(NEEDS_YOU, row)
        for row in changed:
            if row.parent is None and row.lost_ms is None:
                before = self._before.get(row.key, UNKNOWN)
                self._before[row.key] = row.standing
                if before.state in LIVE and self._is_certain(row):
                    self._tell_change(before, row)
        for key in vanished:
            self._before.pop(key, None)

    def _is_certain(self, row: Row) -> bool:
        """Return whether a state is reported, or the process has ended, and it began after the list."""
        state, ground, since_ms, *_ = row.standing
        is_since = bool(row.host) or since_ms is None or since_ms >= self._began_ms
        return is_since and (ground is Ground.SAID or state in _SEEN)

    def _tell_change(self, standing: Standing, row: Row) -> None:
        before, state = standing.state, row.standing.state
        if state is State.LIMITED and before is not State.LIMITED:
            self._tell(LIMIT, row)
        is_end = state in _AFTER_TURN or state not in LIVE | {State.UNKNOWN}
        is_known = (
            before in _AFTER_TURN or (before, state) in _NO_END or _is_limit_over(standing, row.standing)
        )
        if is_end and not is_known:
            self._tell(ENDED, row)
            if state in _FAILED:
                self._tell(FAILED, row)

    def _tell(self, name: str, row: Row) -> None:
        for rule in self._rules:
            if rule.event == name and not self._is_silenced(row.key):
                self._commands.tell(rule.command, event_of(row, name, rule.name, row.standing.now))


def _is_limit_over(before: Standing, now: Standing) -> bool:
    """Return whether a limit is over, and the turn that it has refused is shown as failed: nothing is new."""
    if before.state is not State.LIMITED or now.state is not State.TURN_FAILED or before.until_ms is None:
        return False
    return now.since_ms is None or now.since_ms < before.until_ms


def event_of(row: Row, event: str, rule: str, words: str) -> Event:
    """Return an event of a session of the list."""
    session, state = row.address or row.id, row.standing.state.value
    return Event(event, rule, now_ms(), state, row.agent, session, row.title, words=words)
