"""Judges the live sessions of the list by the rules of the settings, in small pieces."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from agentwatch.agents import Agent
from agentwatch.agents.found import Key
from agentwatch.agents.registry import agent_on_disk
from agentwatch.base.clock import now_ms
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import LIVE
from agentwatch.catalog.watched import Rows
from agentwatch.rules.alarms.events import HIT
from agentwatch.rules.alarms.joined import JoinedSession
from agentwatch.rules.alarms.tripwire import Tripwire
from agentwatch.rules.alarms.watch import Hit
from agentwatch.screen.screens.sessions.alarm_signs import RuleHit
from agentwatch.screen.screens.sessions.state_rules import event_of

if TYPE_CHECKING:
    from agentwatch.output.commands import Commands

MOST_SESSIONS = 20
_STEP_SECONDS = 0.02
"""The time that one step may take, twice a second: 4 % of a core."""
_LINES = (".jsonl", ".ndjson")


class SessionAlarms:
    """The files of at most 20 live sessions, each judged from the moment at which the list first had it.

    Only files of lines on this machine are read. All methods are called in one thread.
    """

    def __init__(
        self,
        tripwires: Sequence[Tripwire],
        report: Callable[[list[RuleHit]], object],
        commands: Commands | None = None,
    ) -> None:
        """Watch no session yet. `report` is called with new hits, in the thread of `step`; `commands` is None
        if no rule has one."""
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
        """Close all files."""
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
            self._joined[row.key] = JoinedSession(row.path, _agent(row), self._tripwires, run)
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
    """Return the live sessions of this machine in files of lines, at most 20, the most recent ones first."""
    live = [
        row
        for row in rows.values()
        if row.standing.state in LIVE
        and not (row.address or row.host)
        and row.can_open
        and row.path.suffix in _LINES
    ]
    return sorted(live, key=lambda row: row.seen_ms or 0, reverse=True)[:MOST_SESSIONS]


def _agent(row: Row) -> Agent | None:
    """Return the agent that writes a file; None to detect it, as in a recording of agentwatch."""
    return None if row.is_own else agent_on_disk(row.agent)
