"""Which sessions are printed: those that match the options, and are not hidden as old or folded."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agentwatch.machine.listing.families import root
from agentwatch.machine.listing.hiding import is_hidden
from agentwatch.machine.row import Row
from agentwatch.machine.standing import Group
from agentwatch.text.amounts import plural
from agentwatch.wire.found import Key

_FOLDED = frozenset({Group.YOUR_TURN, Group.ENDED})
"""The groups in which the list folds the sessions that other programs have started for one prompt."""


class Wanted(NamedTuple):
    """The options that choose sessions. An empty one chooses all."""

    agents: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    repo: str = ""
    since_ms: int | None = None
    shows_all: bool = False

    def matches(self, row: Row) -> bool:
        """Return whether a session matches the options, hidden or not."""
        if self.agents and row.agent not in self.agents and not (row.is_own and "agentwatch" in self.agents):
            return False
        if self.states and row.standing.state.value not in self.states:
            return False
        if self.repo and row.repo.casefold() != self.repo.casefold():
            return False
        return self.since_ms is None or _seen_ms(row) >= self.since_ms


class Chosen(NamedTuple):
    """The sessions that are printed, and the numbers of those that match and are hidden."""

    rows: list[Row]
    """Newest first."""
    older: int = 0
    one_liners: int = 0
    subagents: int = 0

    def hidden(self) -> str:
        """Return what is hidden, in words; empty if nothing is."""
        counts = ((self.older, "older session"), (self.one_liners, "one-liner"), (self.subagents, "subagent"))
        words = [plural(count, noun).replace(str(count), f"{count:,}", 1) for count, noun in counts if count]
        return f"{', '.join(words)} hidden: --all" if words else ""


def chosen(rows: Mapping[Key, Row], wanted: Wanted, now_ms: int) -> Chosen:
    """Return the sessions that are printed.

    Subagents are left out like in the list, unless they ask the user. Sessions of other programs for one
    prompt are left out once they have ended. `--since` takes the place of the limit of a week.

    Args:
        rows: All sessions of the machine.
        wanted: The options.
        now_ms: The present time, in milliseconds since the epoch.
    """
    kept: list[Row] = []
    older = one_liners = subagents = 0
    for row in rows.values():
        if not wanted.matches(row):
            continue
        if wanted.shows_all:
            kept.append(row)
        elif root(row, rows) is not row:
            subagents += 1
        elif row.is_archived or (wanted.since_ms is None and is_hidden(row, now_ms)):
            older += 1
        elif row.is_one_liner and row.group in _FOLDED:
            one_liners += 1
        else:
            kept.append(row)
    return Chosen(newest_first(kept), older, one_liners, subagents)


def newest_first(rows: Iterable[Row]) -> list[Row]:
    """Return rows by the time of their last line, the newest first; those without a time last."""
    return sorted(rows, key=lambda row: (_seen_ms(row), row.key), reverse=True)


def _seen_ms(row: Row) -> int:
    return next((ms for ms in (row.seen_ms, row.standing.since_ms, row.began_ms) if ms is not None), 0)
