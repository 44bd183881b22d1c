"""Puts the sessions that are shown into lines: groups, one order, or repositories with their worktrees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agentwatch.machine.listing.families import root
from agentwatch.machine.listing.lines import FoldId, FoldLine, Heading, Line, RowLine
from agentwatch.machine.listing.order import Order
from agentwatch.machine.listing.request import Sort
from agentwatch.machine.row import Row
from agentwatch.machine.standing import LIVE, Group
from agentwatch.text.amounts import plural
from agentwatch.wire.found import Key

_FOLDED_GROUPS = frozenset({Group.YOUR_TURN, Group.ENDED})
"""The groups in which the one-liners of a folder are folded. One that works or fails has its own row."""
NO_REPO = "no folder"


class Arrangement:
    """One pass over the sessions that are shown.

    Args:
        rows: The sessions that are shown, by key.
        order: The places of all sessions.
        toggled: Whether a fold is open; repositories with sessions that run are added.
        folds: Whether sessions are folded at all. A search shows each hit.
    """

    def __init__(
        self, rows: Mapping[Key, Row], order: Order, toggled: dict[FoldId, bool], *, folds: bool = True
    ) -> None:
        self._order, self._toggled, self._folds = order, toggled, folds
        self._tops: list[Row] = []
        self._below: dict[Key, list[Row]] = {}
        for row in rows.values():
            top = root(row, rows) if folds else row
            if top is row:
                self._tops.append(row)
            else:
                self._below.setdefault(top.key, []).append(row)

    def lines(self, sort: Sort) -> list[Line]:
        """Return the lines in an order."""
        if sort is Sort.STATE:
            return list(self._by_state())
        if sort is Sort.REPOSITORY:
            return list(self._by_repository())
        tops = sorted(self._tops, key=self._began, reverse=True)
        return list(self._with_subagents(tops, 0))

    def _began(self, row: Row) -> tuple[int, Key]:
        first_ms, key = self._order.at_first(row)
        return (first_ms if row.began_ms is None else row.began_ms), key

    def _by_state(self) -> Iterator[Line]:
        groups: dict[Group, list[Row]] = {group: [] for group in Group}
        for row in self._tops:
            groups[row.group].append(row)
        for group, rows in groups.items():
            if not rows:
                continue
            rows.sort(key=self._order.in_group, reverse=True)
            yield Heading(group, len(rows))
            is_folded = self._folds and group in _FOLDED_GROUPS
            one_liners = [row for row in rows if row.is_one_liner] if is_folded else []
            own = [row for row in rows if not row.is_one_liner] if one_liners else rows
            yield from self._with_subagents(own, 0)
            yield from self._one_liners(group, one_liners)

    def _one_liners(self, group: Group, rows: Sequence[Row]) -> Iterator[Line]:
        folds: dict[FoldId, list[Row]] = {}
        for row in rows:
            folds.setdefault(("one-liners", group.value, row.cwd), []).append(row)
        for fold in self._in_order(folds):
            inside = folds[fold]
            words = f"{plural(len(inside), 'one-liner')} in {inside[0].repo or inside[0].cwd or NO_REPO}"
            yield from self._fold(fold, words, inside, 0, self._toggled.get(fold, False))

    def _by_repository(self) -> Iterator[Line]:
        self._tops.sort(key=self._order.at_first, reverse=True)
        repos: dict[FoldId, list[Row]] = {}
        for row in self._tops:
            repos.setdefault(("repository", row.place, row.repo), []).append(row)
        for fold in self._in_order(repos):
            rows = repos[fold]
            is_open = self._shows(fold, rows)
            name = fold[2] or NO_REPO
            named = f"{fold[1]}:{name}" if fold[1] else name
            yield FoldLine(_counted(named, rows), self._keys(rows), is_open, fold)
            if is_open:
                yield from self._worktrees(fold, rows)

    def _worktrees(self, repo: FoldId, rows: Sequence[Row]) -> Iterator[Line]:
        yield from self._with_subagents([row for row in rows if not row.worktree], 1)
        worktrees: dict[FoldId, list[Row]] = {}
        for row in rows:
            if row.worktree:
                worktrees.setdefault(("worktree", *repo[1:], row.worktree), []).append(row)
        for fold in self._in_order(worktrees):
            inside = worktrees[fold]
            yield from self._fold(fold, _counted(fold[-1], inside), inside, 1, self._shows(fold, inside))

    def _fold(
        self, fold: FoldId, words: str, rows: Sequence[Row], depth: int, is_open: bool
    ) -> Iterator[Line]:
        yield FoldLine(words, self._keys(rows), is_open, fold, depth)
        if is_open:
            yield from self._with_subagents(rows, depth + 1)

    def _in_order(self, folds: Mapping[FoldId, Sequence[Row]]) -> list[FoldId]:
        return sorted(folds, key=lambda fold: self._order.of_fold(fold, folds[fold]), reverse=True)

    def _shows(self, fold: FoldId, rows: Sequence[Row]) -> bool:
        """Return whether a repository or a worktree is open: as the user has left it, or else closed until
        one of its sessions runs. It stays open when the session has ended.
        """
        if fold not in self._toggled and any(row.standing.state in LIVE for row in rows):
            self._toggled[fold] = True
        return self._toggled.get(fold, False)

    def _keys(self, rows: Sequence[Row]) -> tuple[Key, ...]:
        """Return the keys of sessions and of their subagents."""
        return tuple(each.key for row in rows for each in (row, *self._below.get(row.key, ())))

    def _with_subagents(self, rows: Sequence[Row], depth: int) -> Iterator[Line]:
        for row in rows:
            below = self._below.get(row.key)
            is_open = below is not None and self._toggled.get(("subagents", *row.key), False)
            yield RowLine(row, depth, is_open)
            if is_open and below is not None:
                below.sort(key=self._order.at_first, reverse=True)
                yield from (RowLine(each, depth + 1) for each in below)


def _counted(name: str, rows: Sequence[Row]) -> str:
    """Return the name of a repository or worktree with its counts: `api · 1 needs you · 3 ended`."""
    counts = dict.fromkeys(Group, 0)
    for row in rows:
        counts[row.group] += 1
    return " · ".join([name, *(f"{count} {group}" for group, count in counts.items() if count)])
