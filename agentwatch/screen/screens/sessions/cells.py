"""Draws a session as one row of columns, or as two rows in a narrow pane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import LIVE, Group
from agentwatch.screen.screens.sessions import words
from agentwatch.text import UNKNOWN
from agentwatch.text.safe import SafeText, columns, cut, fitted

if TYPE_CHECKING:
    from agentwatch.screen.widgets.line_view import Spans


# The columns of the list, and which of them give way in a narrow pane.

STATE = 9
"""The width of the state: `– unknown`."""
SINCE = 7
"""The width of the clock: `1:02:13`."""
LEAST_FOR_ONE_ROW = 68
"""In fewer columns, each session takes two rows."""
_LEAST_FOR_WIDE_GAPS = 96
_AGENT = 10
_PROJECT = (10, 30)
"""The least and the greatest width of the project."""
_PROJECT_STEP = 4
"""The project grows by several columns at a time, so that it seldom grows."""
_LEAST_TITLE = 16
_LEAST_NOW = 14
_COMFORT = (18, 26, 26)
"""The widths of project, title and activity below which a column that can give way does."""

_MORE = 8
"""The columns that the texts have beyond these widths beside the age and the tests.

Beside changed lines they have twice as many.
"""


class Widths(NamedTuple):
    """The widths that the columns need for what they contain; 0 for a column without content.

    A column with content has room for its heading, and for a number of two digits, so that it seldom grows.
    """

    agent: int = 6
    project: int = 0
    succeeded: int = 0
    failed: int = 0
    context: int = 0
    changed: int = 0
    age: int = 0
    tests: int = 0
    cost: int = 0

    def grown(self, rows: Iterable[Row], now_ms: int, *, has_cost: bool = False) -> Widths:
        """Return widths that have room for more rows as well; none is smaller than before. The cost is
        estimated only if `has_cost`."""
        agent, project, succeeded, failed, context, changed, age, tests, cost = self
        for row in rows:
            agent = max(agent, columns(words.foreign(row.agent)))
            place = words.repository(row) + words.branch(row) + words.worktree(row)
            project = max(project, columns(SafeText(place)))
            if row.calls is not None:
                succeeded = max(succeeded, len(words.succeeded(row)), len("99 ✓"))
                failed = max(failed, len(words.failed(row)), len("9 ✗"))
            if row.context_used is not None:
                context = max(context, len(words.context(row)), len("99 %"))
            if shown := words.changed_lines(row):
                changed = max(changed, len(shown), len("+99 −99"))
            if shown := words.tests(row):
                tests = max(tests, len(shown), len("tests"))
            if shown := words.age(row, now_ms):
                age = max(age, len(shown), len("59 min"))
            if has_cost and (shown := words.cost(row)) != UNKNOWN:
                cost = max(cost, len(shown), len("$9.99"))
        project += -project % _PROJECT_STEP
        return Widths(min(agent, _AGENT), project, succeeded, failed, context, changed, age, tests, cost)


NAMES = ("for", "agent", "project", "now", "calls", "ctx", "age", "cost", "tests", "lines")
"""The columns that the user can choose, by their headings. State and title are always shown.

The cost is not shown unless it is chosen: its estimate takes 0.26 s if the prices are not kept.
"""
_USUAL = frozenset({*NAMES} - {"cost"})


class Columns(NamedTuple):
    """The widths of the columns in a pane; 0 for a column that is not shown.

    The columns give way in this order, the first one first: changed lines, tests, cost, age, context,
    calls.
    At 80 columns, state, clock, agent, project, title and activity are left. In a pane of fewer than 68
    columns, each session takes two rows: state and title; below them the clock and the activity, and behind
    it the project if there is room.
    """

    gap: int
    since: int
    agent: int
    project: int
    title: int
    now: int
    succeeded: int
    failed: int
    context: int
    changed: int
    age: int
    tests: int
    cost: int


def columns_for(width: int, needed: Widths, chosen: Sequence[str] = ()) -> Columns:
    """Return the columns of a pane in which each session takes one row. `chosen` are the columns of the user,
    which give way only where they have no room at all; empty for those that fit well."""
    gap = 2 if width >= _LEAST_FOR_WIDE_GAPS else 1
    wanted = chosen or _USUAL
    since = SINCE if "for" in wanted else 0
    agent = needed.agent if "agent" in wanted else 0
    has_project, has_now = "project" in wanted, "now" in wanted
    room = (
        width
        - STATE
        - gap
        - sum(size + gap for size in (since, agent) if size)
        - gap * (has_project + has_now)
    )
    if chosen:
        least = _PROJECT[0] * has_project + _LEAST_TITLE + _LEAST_NOW * has_now
    else:
        least = min(max(needed.project, _PROJECT[0]), _COMFORT[0]) + _COMFORT[1] + _COMFORT[2]
    kept = []
    for name, size, more in (
        ("calls", needed.succeeded + (needed.failed and needed.failed + 1), 0),
        ("ctx", needed.context, 0),
        ("age", needed.age, _MORE),
        ("cost", needed.cost, _MORE),
        ("tests", needed.tests, _MORE),
        ("lines", needed.changed, 2 * _MORE),
    ):
        if size and name in wanted:
            if room - size - gap < least + (0 if chosen else more):
                break
            room -= size + gap
            kept.append(name)
    project = max(min(needed.project, _PROJECT[1], room * 3 // 10), min(_PROJECT[0], room // 4)) * has_project
    rest = room - project
    now = max(min(rest * 45 // 100, rest - _LEAST_TITLE), _LEAST_NOW) * has_now
    return Columns(
        gap=gap,
        since=since,
        agent=agent,
        project=project,
        title=max(rest - now, 1),
        now=now,
        succeeded=needed.succeeded if "calls" in kept else 0,
        failed=needed.failed if "calls" in kept else 0,
        context=needed.context if "ctx" in kept else 0,
        changed=needed.changed if "lines" in kept else 0,
        age=needed.age if "age" in kept else 0,
        tests=needed.tests if "tests" in kept else 0,
        cost=needed.cost if "cost" in kept else 0,
    )


def whole_columns(rows: Iterable[Row], needed: Widths, now_ms: int) -> Columns:
    """Return columns in which every text is whole, for a program that reads the table."""
    titles = activities = 1
    for row in rows:
        beside = words.beside_title(row)
        titles = max(titles, columns(words.title(row)) + (len(beside) + 1 if beside else 0))
        clock = words.activity_clock(row, now_ms)
        activities = max(activities, columns(words.activity(row, now_ms)) + (len(clock) + 3 if clock else 0))
    return Columns(2, SINCE, *needed[:2], titles, activities, *needed[2:])


_LEAST_BRANCH = 7
"""A branch is cut to this width, its sign included, and not shown in less."""
_LEAST_NAME = 14
"""A repository is cut to this width before its branch is not shown."""
_LEAST_BESIDE_CLOCK = 14
"""A clock is not shown if less of a longer activity would be left."""
_LEAST_BESIDE_TIME_LEFT = 4
"""Of a question that answers itself, the time that is left matters most."""
_LEAST_PLACE = 12
"""The least width of the project behind the activity."""


def wide_row(row: Row, shown: Columns, now_ms: int, depth: int, *, is_dated: bool = False) -> Spans:
    """Return a session as one row. `depth` is how far the title is indented. `is_dated` says whether a
    heading has the day of its end."""
    gap = " " * shown.gap
    style = _text_style(row)
    spans = _state(row, now_ms, is_dated=is_dated)
    if shown.since:
        spans.append((SafeText(f"{gap}{words.since_words(row, now_ms):>{shown.since}}"), "muted"))
    if shown.agent:
        spans.append((SafeText(f"{gap}{fitted(words.foreign(row.agent or '–'), shown.agent)}"), "muted"))
    if shown.project:
        spans += [(SafeText(gap), ""), *_project(row, shown.project, style)]
    spans += [(SafeText(gap), ""), *_title(row, shown.title, depth)]
    if shown.now:
        spans += [(SafeText(gap), ""), *_activity(row, shown.now, now_ms, style)]
    if shown.succeeded:
        spans.append((SafeText(f"{gap}{words.succeeded(row):>{shown.succeeded}}"), "muted"))
        if shown.failed:
            spans.append((SafeText(f" {words.failed(row):>{shown.failed}}"), "failed"))
    for text, width, name in (
        (words.context(row), shown.context, "muted"),
        (words.age(row, now_ms), shown.age, "muted"),
        (words.cost(row) if shown.cost else "", shown.cost, "muted"),
        (words.tests(row), shown.tests, words.tests_style(row)),
        (words.changed_lines(row), shown.changed, "muted"),
    ):
        if width:
            spans.append((SafeText(f"{gap}{text:>{width}}"), name))
    return spans


def heading(shown: Columns) -> Spans:
    """Return the names of the columns."""
    named = [("agent", shown.agent), ("project", shown.project), ("title", shown.title), ("now", shown.now)]
    cells: list[str] = [fitted(SafeText("state"), STATE)]
    cells += [f"{'for':>{shown.since}}"] if shown.since else []
    cells += [fitted(SafeText(name), width) for name, width in named if width]
    calls = shown.succeeded + (shown.failed and shown.failed + 1)
    named = [("calls", calls), ("ctx", shown.context), ("age", shown.age)]
    named += [("cost", shown.cost), ("tests", shown.tests), ("lines", shown.changed)]
    cells += [f"{name:>{width}}" for name, width in named if width]
    return [(SafeText((" " * shown.gap).join(cells)), "muted")]


def upper_row(row: Row, width: int, now_ms: int, *, is_dated: bool = False) -> Spans:
    """Return the first of two rows of a session: its state and its title."""
    room = max(width - STATE - 1, 1)
    return [
        *_state(row, now_ms, is_dated=is_dated),
        (SafeText(" "), ""),
        *_title(row, room),
    ]


def lower_row(row: Row, width: int, now_ms: int) -> Spans:
    """Return the second of two rows of a session: its clock, its activity, and its project if it fits."""
    room = max(width - STATE - 1, 1)
    place = cut(_place(row), max(room // 2, 1))
    whole = words.activity(row, now_ms)
    clock = words.activity_clock(row, now_ms)
    needed = columns(whole) + (len(clock) + 3 if clock else 0)
    is_placed = needed + 2 + _LEAST_PLACE <= room
    place = cut(place, room - needed - 2) if is_placed else SafeText("")
    left = room - (columns(place) + 2 if place else 0)
    return [
        (SafeText(f"{words.since_words(row, now_ms):>{STATE}} "), "muted"),
        *_activity(row, left, now_ms, "muted" if _text_style(row) == "plain" else _text_style(row)),
        (SafeText(f"  {place}" if place else ""), "muted"),
    ]


def _state(row: Row, now_ms: int, *, is_dated: bool) -> Spans:
    state = words.state_words(row, now_ms, is_dated=is_dated)
    return [(fitted(SafeText(str(state)), STATE), state.style)]


def _title(row: Row, width: int, depth: int = 0) -> Spans:
    """Return the title in exactly `width` columns, with the number of subagents at its right."""
    title = SafeText("  " * depth + words.title(row))
    beside = SafeText(f" {words.beside_title(row)}".rstrip())
    if columns(beside) > width // 2:
        beside = SafeText("")
    style = "strong" if row.is_marked else _text_style(row)
    return [(fitted(title, width - columns(beside)), style), (beside, "muted")]


def _text_style(row: Row) -> str:
    return "plain" if row.standing.state in LIVE and row.lost_ms is None else "muted"


def _place(row: Row) -> SafeText:
    return SafeText(f"{words.foreign(row.agent)} {words.repository(row)}{words.branch(row)}".strip())


def _project(row: Row, width: int, style: str) -> Spans:
    """Return repository, branch and worktree in exactly `width` columns; the worktree gives way first."""
    name, branch, tree = words.repository(row), words.branch(row), words.worktree(row)
    most = min(max(width - _LEAST_BRANCH, _LEAST_NAME), width) if branch else width
    if columns(name) > most:
        name = cut(words.repository(row, is_short=True), most)
    room = width - columns(name)
    branch = cut(branch, room) if room >= min(_LEAST_BRANCH, columns(branch)) else SafeText("")
    room -= columns(branch)
    tree = tree if columns(tree) <= room else SafeText("")
    room -= columns(tree)
    return [(name, style), (branch, "muted"), (SafeText(f"{tree}{' ' * room}"), "muted")]


def _activity(row: Row, width: int, now_ms: int, style: str) -> Spans:
    """Return what a session does and for how long, in exactly `width` columns."""
    clock = words.activity_clock(row, now_ms)
    text = words.activity(row, now_ms)
    behind = f" · {clock}" if clock and text else clock
    if (left := words.time_left(row, now_ms)) and width - len(behind) < columns(text):
        behind = f" · {left} left"
    least = _LEAST_BESIDE_TIME_LEFT if left else min(columns(text), _LEAST_BESIDE_CLOCK)
    if width - columns(SafeText(behind)) < least:
        behind = ""
    room = width - columns(SafeText(behind))
    if columns(text) > room and not row.alarm:
        text = words.until_words(row) or text
    is_quote = words.is_quote(row) and not words.last_act(row, now_ms)
    text = _end(text, room) if is_quote else cut(text, room)
    rest = " " * (room - columns(text))
    style = "asks" if row.group is Group.NEEDS_YOU else style
    return [(text, style), (SafeText(f"{behind}{rest}"), "muted")]


def _end(text: SafeText, width: int) -> SafeText:
    """Return a quotation cut at its beginning, because a question is at its end."""
    if columns(text) <= width:
        return text
    kept = text[-width:]
    while kept and columns(SafeText(kept)) + 2 > width:
        kept = kept[1:]
    return SafeText(f"“…{kept}")
