"""The list of sessions: it takes rows as they change, and keeps the lines in a stable order. A session
changes its place only when its group changes; hidden and folded ones have no line of their own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import State
from agentwatch.catalog.hiding import hidden_from_ms, is_hidden, newest_older, root
from agentwatch.catalog.row import Row
from agentwatch.catalog.row_counts import ended_ms, has_ended
from agentwatch.catalog.row_filter import Matches, row_filter
from agentwatch.catalog.session_status import LIVE, Group
from agentwatch.catalog.status import midnight
from agentwatch.text.amounts import plural

FoldId = tuple[str, ...]
"""The id of what can be folded: a session with subagents, the one-liners of a folder, a repository."""


@dataclass(frozen=True, slots=True)
class Heading:
    group: Group
    count: int
    """The sessions below it that are not hidden, folded ones too, without subagents. Below a day, those that
    count as ended in all views."""
    day_ms: int | None = None
    """The midnight of the day of sessions that have ended; None for other groups."""
    is_folds: bool = False
    """Whether the folds of ended sessions follow. They do not belong to a day."""
    others: int = 0
    """How many sessions more are below a day: unknown, archived, or run for one prompt by a program."""
    older: int = 0
    """How many old sessions are hidden, above the newest of them in an otherwise empty list."""


class RowLine(NamedTuple):
    row: Row
    depth: int = 0
    """1 below a line that can be folded. A repository is a heading."""
    is_open: bool = False

    @property
    def fold(self) -> FoldId:
        """The subagents of the session."""
        return ("subagents", *self.row.key)


class FoldLine(NamedTuple):
    """Several sessions, which are shown below it if it is open."""

    words: str
    """`3 one-liners in api`: foreign text."""
    keys: tuple[Key, ...]
    is_open: bool
    fold: FoldId
    depth: int = 0


Line = Heading | RowLine | FoldLine


_MOST_VANISHED = 1_000
"""The number of vanished sessions whose place is kept: a file is away for a moment while it is replaced."""
_MOST_FOLDS = 10_000


class Place(NamedTuple):
    """A higher time is nearer to the top; the key makes the order complete."""

    group: Group
    at_ms: int
    first_ms: int
    """The time by which it is placed where groups do not count."""
    is_guessed: bool = False
    """Whether its lines were not read, so that the time is that of its file."""


class Order:
    def __init__(self) -> None:
        self._places: dict[Key, Place] = {}
        self._vanished: dict[Key, None] = {}
        self._folds: dict[FoldId, int] = {}

    def place(self, rows: Iterable[Row], now_ms: int) -> None:
        """Give new sessions, and those whose group has changed, their places. One that is new, or had ended
        (its process may be found late), is placed by its last line; any other that changes its group goes to
        the top of the new one. One that has ended moves only to the day of its end. The time of a file is
        that of its last copy, so a session whose lines were not read keeps its place only until they are."""
        for row in rows:
            self._vanished.pop(row.key, None)
            old = self._places.get(row.key)
            is_guessed = row.status.state is State.UNKNOWN
            is_over = row.group is Group.ENDED
            if old is None or (old.is_guessed and not is_guessed and old.group is row.group):
                seen_ms = ended_ms(row) if is_over else row.last_ms
                self._places[row.key] = Place(row.group, seen_ms, seen_ms, is_guessed)
            elif is_over:
                at_ms = old.at_ms if old.group is Group.ENDED else now_ms
                at_ms = at_ms if midnight(at_ms) == _day_ms(row) else ended_ms(row)
                self._places[row.key] = Place(row.group, at_ms, old.first_ms, old.is_guessed and is_guessed)
            elif old.group is not row.group:
                known_ms = max(row.seen_ms or 0, row.status.since_ms or 0)
                at_ms = known_ms if old.group is Group.ENDED and known_ms else now_ms
                self._places[row.key] = Place(row.group, at_ms, old.first_ms)

    def forget(self, keys: Iterable[Key]) -> None:
        """Remove vanished sessions; the last thousand get their old places if they come back."""
        for key in keys:
            self._vanished[key] = None
        while len(self._vanished) > _MOST_VANISHED:
            oldest = next(iter(self._vanished))
            del self._vanished[oldest], self._places[oldest]

    def before(self, rows: Iterable[Row]) -> list[int]:
        """The negative of the time by which each session is placed in its group."""
        places = self._places
        return [-places[row.key].at_ms for row in rows]

    def in_group(self, row: Row) -> tuple[int, int, Key]:
        """The sort key within the group; the highest one is at the top."""
        place = self._places[row.key]
        return place.at_ms, place.first_ms, row.key

    def at_first(self, row: Row) -> tuple[int, Key]:
        """The sort key where groups do not count; it never changes."""
        return self._places[row.key].first_ms, row.key

    def of_fold(self, fold: FoldId, rows: Iterable[Row]) -> tuple[int, FoldId]:
        """The sort key of a fold, which is given when it is first seen and never changes."""
        if fold not in self._folds:
            self._folds[fold] = max(self._places[row.key].first_ms for row in rows)
            if len(self._folds) > _MOST_FOLDS:
                del self._folds[next(iter(self._folds))]
        return self._folds[fold], fold


def _day_ms(row: Row) -> int:
    return midnight(ended_ms(row))


class Sort(StrEnum):
    STATE = "state"
    """What needs the user first."""
    AGE = "age"
    """The order by the time at which a session began, the newest first."""
    REPOSITORY = "repository"


class Request(NamedTuple):
    filter: str = ""
    sort: Sort = Sort.STATE
    shows_hidden: bool = False
    search: str = ""
    """Words that all must occur in the title or in a prompt; hidden sessions are searched too."""


def row_search(text: str) -> Matches | None:
    """Return a function that returns whether a row has all words of a search; None without words."""
    words = text.lower().split()

    def matches(row: Row) -> bool:
        searched = f"{row.title}\n{row.prompts}".lower()
        return all(word in searched for word in words)

    return matches if words else None


_FOLDED_GROUPS = frozenset({Group.YOUR_TURN, Group.ENDED})
"""The groups in which the one-liners of a folder are folded. One that works or fails has its own row."""
_RANKS = {group: rank for rank, group in enumerate(Group)}
NO_REPO = "no folder"


class Arrangement:
    """One pass over the sessions that are shown. `toggled` says whether a fold is open; repositories with
    sessions that run are added. Without `folds`, as in a search, no session is folded."""

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
            folds = self._one_liners(group, rows) if self._folds and group in _FOLDED_GROUPS else {}
            folded = {row.key for inside in folds.values() for row in inside}
            own = [row for row in rows if row.key not in folded] if folded else rows
            if group is Group.ENDED:
                yield from self._by_day(own)
                if folded:
                    yield Heading(group, len(folded), is_folds=True)
            else:
                yield Heading(group, len(rows))
                yield from self._with_subagents(own, 0)
            for fold in self._in_order(folds):
                inside = folds[fold]
                place = inside[0].repo or inside[0].cwd or NO_REPO
                words = f"{plural(len(inside), 'one-liner')} in {place}"
                yield from self._fold(fold, words, inside, 0, self._toggled.get(fold, False))

    def _by_day(self, rows: Sequence[Row]) -> Iterator[Line]:
        """Yield sessions that have ended below the days by which they are placed."""
        before = self._order.before(rows)
        begin = 0
        while begin < len(rows):
            day_ms = midnight(-before[begin])
            end = max(bisect_right(before, -day_ms), begin + 1)
            count = sum(map(has_ended, rows[begin:end]))
            yield Heading(Group.ENDED, count, day_ms, others=end - begin - count)
            yield from self._with_subagents(rows[begin:end], 0)
            begin = end

    def _one_liners(self, group: Group, rows: Sequence[Row]) -> Mapping[FoldId, Sequence[Row]]:
        """One that is alone in its folder has a row."""
        folds: dict[FoldId, list[Row]] = {}
        for row in rows:
            if row.is_one_liner:
                folds.setdefault(("one-liners", group.value, row.cwd), []).append(row)
        return {fold: inside for fold, inside in folds.items() if len(inside) > 1}

    def _by_repository(self) -> Iterator[Line]:
        self._tops.sort(key=lambda row: (-_RANKS[row.group], self._order.in_group(row)), reverse=True)
        repos: dict[FoldId, list[Row]] = {}
        for row in self._tops:
            repos.setdefault(("repository", row.place, row.repo), []).append(row)
        folds = self._in_order(repos)
        folds.sort(key=lambda fold: (_RANKS[repos[fold][0].group], not fold[2]))  # it is stable
        for fold in folds:
            rows = repos[fold]
            is_open = self._shows(fold, rows)
            name = fold[2] or NO_REPO
            named = f"{fold[1]}:{name}" if fold[1] else name
            yield FoldLine(_counted(named, rows), self._keys(rows), is_open, fold)
            if is_open:
                yield from self._worktrees(fold, rows)

    def _worktrees(self, repo: FoldId, rows: Sequence[Row]) -> Iterator[Line]:
        """Two or more of another worktree are folded below those of the main one."""
        worktrees: dict[FoldId, list[Row]] = {}
        for row in rows:
            if row.worktree:
                worktrees.setdefault(("worktree", *repo[1:], row.worktree), []).append(row)
        worktrees = {fold: inside for fold, inside in worktrees.items() if len(inside) > 1}
        folded = {row.key for inside in worktrees.values() for row in inside}
        yield from self._with_subagents([row for row in rows if row.key not in folded], 0)
        for fold in self._in_order(worktrees):
            inside = worktrees[fold]
            yield from self._fold(fold, _counted(fold[-1], inside), inside, 1, self._shows(fold, inside))

    def _fold(
        self, fold: FoldId, words: str, rows: Sequence[Row], depth: int, is_open: bool
    ) -> Iterator[Line]:
        yield FoldLine(words, self._keys(rows), is_open, fold, depth)
        if is_open:
            yield from self._with_subagents(rows, max(depth, 1))

    def _in_order(self, folds: Mapping[FoldId, Sequence[Row]]) -> list[FoldId]:
        return sorted(folds, key=lambda fold: self._order.of_fold(fold, folds[fold]), reverse=True)

    def _shows(self, fold: FoldId, rows: Sequence[Row]) -> bool:
        """Return what the user has chosen, or else whether one of its sessions runs or has run."""
        if fold not in self._toggled and any(row.status.state in LIVE for row in rows):
            self._toggled[fold] = True
        return self._toggled.get(fold, False)

    def _keys(self, rows: Sequence[Row]) -> tuple[Key, ...]:
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
    """`api · 1 needs you · 3 ended`."""
    counts = dict.fromkeys(Group, 0)
    for row in rows:
        counts[row.group] += 1
    return " · ".join([name, *(f"{count:,} {group}" for group, count in counts.items() if count)])


class Listing:
    """A row moves only when its group changes. An update in which no row that is shown moves, appears or
    vanishes costs no more than the rows that have changed."""

    def __init__(self) -> None:
        self._rows: dict[Key, Row] = {}
        self._near: dict[Key, Row] = {}
        """All but hidden sessions without subagents: of 100,000 sessions most are hidden, and stay so."""
        self._order = Order()
        self._toggled: dict[FoldId, bool] = {}
        self._request = Request()
        self._filter = row_filter("")
        self._search = row_search("")
        self._lines: list[Line] = []
        self._at: dict[Key, int] = {}
        self._hidden = self._filtered = 0
        self._offers_older = self._shows_older = False
        self._parents: set[Key] = set()
        """The sessions that are named as parents, listed or not."""
        self._now_ms = 0
        self._expires_ms: int | None = None

    @property
    def lines(self) -> Sequence[Line]:
        """Return the lines from the top. An update may replace lines in it, or replace it."""
        return self._lines

    @property
    def sort(self) -> Sort:
        return self._request.sort

    @property
    def rows(self) -> Mapping[Key, Row]:
        """All sessions, shown or not."""
        return self._rows

    @property
    def hidden_count(self) -> int:
        """Old and archived sessions that are not shown, without subagents: as many as `shows_hidden` adds."""
        return self._hidden

    @property
    def filtered_count(self) -> int:
        """Sessions and subagents that do not match the filter or the search."""
        return self._filtered

    def update(self, rows: Iterable[Row], now_ms: int) -> bool:
        """Take all sessions of the machine; the others have vanished. Return as `change`."""
        known, changed, kept = self._rows, [], 0
        rows = tuple(rows)
        for row in rows:
            old = known.get(row.key)
            kept += old is not None
            if old is not row and old != row:
                changed.append(row)
        if kept == len(known):
            return self.change(changed, (), now_ms)
        present = {row.key for row in rows}
        return self.change(changed, [key for key in known if key not in present], now_ms)

    def change(self, rows: Iterable[Row], vanished: Iterable[Key], now_ms: int) -> bool:
        """Return whether the lines were made again; otherwise only their rows may have changed."""
        self._now_ms = now_ms
        rows = list(rows)
        self._order.place(rows, now_ms)
        is_rebuilt = False
        for row in rows:
            old = self._rows.get(row.key)
            self._rows[row.key] = row
            if row.parent is not None:
                self._parents.add(row.parent)
                if row.parent in self._rows:
                    self._near[row.parent] = self._rows[row.parent]
            if old is None and self._is_apart(row):
                self._hidden += 1
                continue
            is_moved = old is None or self._bearings(old) != self._bearings(row)
            if is_moved or row.key in self._near:
                self._near[row.key] = row
            if is_moved:
                is_rebuilt = True
            elif not is_rebuilt and (at := self._at.get(row.key)) is not None:
                line = self._lines[at]
                assert isinstance(line, RowLine)
                self._lines[at] = line._replace(row=row)
        gone = [key for key in vanished if self._rows.pop(key, None) is not None]
        if gone:
            self._order.forget(gone)
            for key in gone:
                self._near.pop(key, None)
        is_late = self._expires_ms is not None and now_ms > self._expires_ms
        is_rebuilt = is_rebuilt or bool(gone) or is_late
        if is_rebuilt:
            self._build()
        return is_rebuilt

    def request(self, wanted: Request) -> None:
        self._request = wanted
        self._filter, self._search = row_filter(wanted.filter), row_search(wanted.search)
        self._build()

    def offer_older(self, *, is_offered: bool) -> None:
        """Show the newest of the older sessions while no other one is: once all were searched for."""
        if is_offered is not self._offers_older:
            self._offers_older = is_offered
            if self._shows_older or not self._lines:
                self._build()

    def toggle(self, line: RowLine | FoldLine) -> None:
        self._toggled[line.fold] = not line.is_open
        self._build()

    def _build(self) -> None:
        shown, self._filtered = {}, 0
        self._expires_ms = None
        shows_hidden = self._request.shows_hidden or self._search is not None
        looks_near = not shows_hidden and self._filter is None
        rows = self._near if looks_near else self._rows
        self._hidden = len(self._rows) - len(rows)
        for key, row in [*rows.items()]:
            if not self._matches(row):
                self._filtered += 1
                continue
            if not shows_hidden:
                top = root(row, self._rows)
                from_ms = hidden_from_ms(top)
                if from_ms is not None and self._now_ms > from_ms:
                    self._hidden += top is row
                    if looks_near and row.parent is None and key not in self._parents:
                        del self._near[key]
                    continue
                if from_ms is not None and (self._expires_ms is None or from_ms < self._expires_ms):
                    self._expires_ms = from_ms
            shown[key] = row
        older = []
        if self._offers_older and not shown and not shows_hidden:
            tops = (row for row in self._rows.values() if root(row, self._rows) is row)
            older = newest_older(filter(self._matches, tops), self._now_ms)
            shown = {row.key: row for row in older}
        self._shows_older = bool(older)
        arrangement = Arrangement(shown, self._order, self._toggled, folds=self._search is None)
        self._lines = arrangement.lines(self._request.sort)
        if older:
            self._lines.insert(0, Heading(Group.ENDED, len(older), older=self._hidden))
            self._hidden -= len(older)
        self._at = {line.row.key: at for at, line in enumerate(self._lines) if isinstance(line, RowLine)}

    def _is_apart(self, row: Row) -> bool:
        """Whether a new session is hidden and changes no line: of 100,000 sessions most are old."""
        if self._offers_older and (self._shows_older or not self._lines):
            return False
        is_alone = row.parent is None and row.key not in self._parents
        shows_hidden = self._request.shows_hidden or self._search is not None
        return is_alone and not shows_hidden and is_hidden(row, self._now_ms) and self._matches(row)

    def _matches(self, row: Row) -> bool:
        return (self._filter is None or self._filter(row)) and (self._search is None or self._search(row))

    def _bearings(self, row: Row) -> tuple[object, ...]:
        """What the place of a session depends on: while it is equal, the lines stay as they are."""
        began_ms = row.began_ms if self._request.sort is Sort.AGE else None
        return (
            row.group,
            row.status.state is State.UNKNOWN,
            row.parent,
            row.is_one_liner,
            (row.cwd, row.repo, row.worktree, row.place),
            is_hidden(row, self._now_ms),
            began_ms,
            _day_ms(row) if row.group is Group.ENDED else None,
            row.is_archived,
            self._matches(row),
        )
