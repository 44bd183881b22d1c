"""The rules of the settings about the sessions of the list, imported only if there is one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from agentwatch.agents.registry import agent_on_disk
from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import State
from agentwatch.base.clock import now_ms
from agentwatch.base.config import OnSetting, SessionRule
from agentwatch.catalog.row import Row, Rows
from agentwatch.catalog.session_status import LIVE, UNKNOWN, Ground, SessionStatus
from agentwatch.rules.alarms.events import ENDED, FAILED, HIT, LIMIT, NEEDS_YOU, Event
from agentwatch.rules.alarms.session_join import JoinedSession
from agentwatch.rules.alarms.tripwire import Tripwire, tripwire
from agentwatch.rules.alarms.watch import Hit
from agentwatch.screen.screens.sessions.rings import RuleHit

if TYPE_CHECKING:
    from agentwatch.output.commands import Commands


# Judges the lines of live sessions.

MOST_SESSIONS = 20
_STEP_SECONDS = 0.02
"""The time that one step may take, twice a second: 4 % of a core."""
_LINES = (".jsonl", ".ndjson")


class SessionAlarms:
    """Judges the files, on this machine, of at most 20 live sessions, each from when the list got it."""

    def __init__(
        self,
        tripwires: Sequence[Tripwire],
        report: Callable[[list[RuleHit]], object],
        commands: Commands | None = None,
    ) -> None:
        """Watch no session yet; `report` is called with new hits, in the thread of `step`."""
        self._commands = commands
        self._rows: Rows = {}
        self._tripwires = tripwires
        self._report = report
        self._joined: dict[Key, JoinedSession] = {}
        """The sessions that are judged; the one whose turn is next comes first."""

    def step(self, rows: Rows) -> bool:
        """Judge what was appended, for about 20 ms, and return whether more can be read at once."""
        self._rows = rows
        wanted = {row.key: row for row in _most_active(rows)}
        hits: list[RuleHit] = []
        for key in self._joined.keys() - wanted.keys():
            self._judge(key, hits, _STEP_SECONDS)  # its last lines
            self._leave(key)
        for key, row in wanted.items():
            if (joined := self._joined.get(key)) is not None and joined.path != row.path:
                self._leave(key)
            if key not in self._joined:
                self._join(row)
        until, has_more = time.perf_counter() + _STEP_SECONDS, False
        for key in list(self._joined):
            left = until - time.perf_counter()
            if left <= 0:
                has_more = True
                break
            has_more |= self._judge(key, hits, left)
        if hits:
            self._report(hits)
        return has_more

    def close(self) -> None:
        for key in list(self._joined):
            self._leave(key)

    def _judge(self, key: Key, hits: list[RuleHit], seconds: float) -> bool:
        """Add the new hits of a session, and return whether more of it can be read; its next turn is last."""
        joined = self._joined.pop(key)
        self._joined[key] = joined
        try:
            found = joined.judge(now_ms(), seconds)
        except OSError:  # also if the file has changed: the next step joins it again
            self._leave(key)
            return False
        hits += (RuleHit(key, each) for each in found)
        return joined.has_more()

    def _join(self, row: Row) -> None:
        try:
            run = partial(self._run, row)
            agent = None if row.is_own else agent_on_disk(row.agent)  # in a recording it is detected
            self._joined[row.key] = JoinedSession(row.path, agent, self._tripwires, run)
        except OSError:
            return  # tried again at the next step

    def _run(self, joined: Row, hit: Hit) -> None:
        if self._commands is not None:
            row, rule = self._rows.get(joined.key, joined), hit.tripwire
            self._commands.tell(
                rule.command,
                event_of(row, HIT, rule.name, hit.words)._replace(call=hit.call, command=hit.command),
            )

    def _leave(self, key: Key) -> None:
        if (joined := self._joined.pop(key, None)) is not None:
            joined.close()


def _most_active(rows: Rows) -> list[Row]:
    live = [
        row
        for row in rows.values()
        if row.status.state in LIVE
        and not (row.address or row.host)
        and row.can_open
        and row.path.suffix in _LINES
    ]
    return sorted(live, key=lambda row: row.seen_ms or 0, reverse=True)[:MOST_SESSIONS]


def session_alarms(
    rules: Sequence[OnSetting], report: Callable[[list[RuleHit]], object], commands: Commands | None = None
) -> SessionAlarms:
    return SessionAlarms([tripwire(*each, allows_patterns=True) for each in rules], report, commands)


# Runs the commands of `[[sessions.on]]` when a session changes its state.

_AFTER_TURN = frozenset({State.YOUR_TURN, State.SHELL, State.TURN_FAILED})
_SEEN = frozenset({State.UNFINISHED, State.LIMITED})
"""States that are never guesses: the process has ended, and a limit has refused a request."""
_FAILED = frozenset({State.TURN_FAILED, State.FAILED})
_NO_END = frozenset({(State.STARTING, State.YOUR_TURN), (State.ASKS, State.YOUR_TURN)})
"""A session that has no prompt yet; and one that asks, whose agent seems to be idle for 300 ms."""


class StateRules:
    """Runs commands when a session's state changes to one that its agent reports, while the list is open."""

    def __init__(
        self,
        rules: Sequence[SessionRule],
        commands: Commands,
        began_ms: int,
        is_silenced: Callable[[Key], bool],
    ) -> None:
        self._rules, self._commands, self._began_ms = rules, commands, began_ms
        self._is_silenced = is_silenced
        self._before: dict[Key, SessionStatus] = {}

    def update(self, changed: Iterable[Row], vanished: Iterable[Key], asking: Iterable[Row]) -> None:
        """Run the commands for changes of state. `asking` are the sessions that began to need the user."""
        for row in asking:
            self._tell(NEEDS_YOU, row)
        for row in changed:
            if row.parent is None and row.lost_ms is None:
                before = self._before.get(row.key, UNKNOWN)
                self._before[row.key] = row.status
                if before.state in LIVE and self._is_certain(row):
                    self._tell_change(before, row)
        for key in vanished:
            self._before.pop(key, None)

    def _is_certain(self, row: Row) -> bool:
        """Return whether a state is reported, or the process has ended, and it began after the list."""
        state, ground, since_ms, *_ = row.status
        is_since = bool(row.host) or since_ms is None or since_ms >= self._began_ms
        return is_since and (ground is Ground.SAID or state in _SEEN)

    def _tell_change(self, status: SessionStatus, row: Row) -> None:
        before, state = status.state, row.status.state
        if state is State.LIMITED and before is not State.LIMITED:
            self._tell(LIMIT, row)
        is_end = state in _AFTER_TURN or state not in LIVE | {State.UNKNOWN}
        is_known = before in _AFTER_TURN or (before, state) in _NO_END or _is_limit_over(status, row.status)
        if is_end and not is_known:
            self._tell(ENDED, row)
            if state in _FAILED:
                self._tell(FAILED, row)

    def _tell(self, name: str, row: Row) -> None:
        for rule in self._rules:
            if rule.event == name and not self._is_silenced(row.key):
                self._commands.tell(rule.command, event_of(row, name, rule.name, row.status.now))


def _is_limit_over(before: SessionStatus, now: SessionStatus) -> bool:
    """Return whether a limit is over, and the turn that it has refused is shown as failed: nothing is new."""
    if before.state is not State.LIMITED or now.state is not State.TURN_FAILED or before.until_ms is None:
        return False
    return now.since_ms is None or now.since_ms < before.until_ms


def event_of(row: Row, event: str, rule: str, words: str) -> Event:
    session, state = row.address or row.id, row.status.state.value
    return Event(event, rule, now_ms(), state, row.agent, session, row.title, words=words)
