"""Draws a session as one row of columns, or as two rows in a narrow pane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import LIVE, Group
from agentwatch.screen.screens.sessions import words
from agentwatch.text import UNKNOWN
from agentwatch.text.safe import SafeText, columns, cut, fitted

if TYPE_CHECKING:
    from agentwatch.screen.widgets.line_view import Spans

STATE = 9
"""The width of the state: `– unknown`."""
LEAST_FOR_ONE_ROW = 68
"""The least width in which a session takes one row instead of two."""


# How the parts of a row are drawn.

_LEAST_BRANCH = 7
"""A branch is cut to this width, its sign included, and not shown in less."""
_LEAST_NAME = 14
"""A repository is cut to this width before its branch is not shown."""
_LEAST_BESIDE_CLOCK = 14
"""A clock is not shown if less of a longer activity would be left."""
_LEAST_BESIDE_TIME_LEFT = 4
"""The least columns of a question beside the time that is left to answer it, which matters more."""
_LEAST_PLACE = 12
"""The least width of the project behind the activity."""


def _state(row: Row, now_ms: int, *, is_dated: bool) -> Spans:
    state = words.state_words(row, now_ms, is_dated=is_dated)
    return [(fitted(SafeText(str(state)), STATE), state.style)]


def _title(row: Row, width: int, _now_ms: int, style: str, depth: int = 0) -> Spans:
    """Return the title in exactly `width` columns, with the number of subagents at its right."""
    title = SafeText("  " * depth + words.title(row))
    beside = SafeText(f" {words.title_suffix(row)}".rstrip())
    if columns(beside) > width // 2:
        beside = SafeText("")
    style = "strong" if row.is_marked else style
    return [(fitted(title, width - columns(beside)), style), (beside, "muted")]


def _text_style(row: Row) -> str:
    return "plain" if row.status.state in LIVE and row.lost_ms is None else "muted"


def _project(row: Row, width: int, _now_ms: int, style: str, _depth: int) -> Spans:
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


def _activity(row: Row, width: int, now_ms: int, style: str, _depth: int = 0) -> Spans:
    clock = words.activity_clock(row, now_ms)
    text = words.activity(row, now_ms)
    behind = f" · {clock}" if clock and text else clock
    if (left := words.time_left(row, now_ms)) and width - len(behind) < columns(text):
        behind = f" · {left} left"
    least = _LEAST_BESIDE_TIME_LEFT if left else min(columns(text), _LEAST_BESIDE_CLOCK)
    if width - columns(SafeText(behind)) < least:
        behind = ""
    room = width - columns(SafeText(behind))
    if columns(text) > room:
        text = (not row.alarm and words.until_words(row)) or text
        is_quote = words.is_quote(row) and not words.last_act(row, now_ms)
        text = _end(text, room) if is_quote else cut(text, room)
    rest = " " * (room - columns(text))
    style = "asks" if row.group is Group.NEEDS_YOU else style
    return [(text, style), (SafeText(f"{behind}{rest}"), "muted")]


def _end(text: SafeText, width: int) -> SafeText:
    """Return a quotation cut at its beginning, because a question is at its end."""
    kept = text[-width:]
    while kept and columns(SafeText(kept)) + 2 > width:
        kept = kept[1:]
    return SafeText(f"“…{kept}")


def _place(row: Row) -> str:
    return f"{words.repository(row)}{words.branch(row)}{words.worktree(row)}"


def _failed(row: Row) -> str:
    """Return the failed calls; without any, a space keeps the room of the next one."""
    return words.failed(row) or ("" if row.calls is None else " ")


# The columns of the list, and which of them give way in a narrow pane.


class Column(NamedTuple):
    """A column of the list, behind the state. Two entries with one name are two parts of one column."""

    name: str
    """The column's heading, and its name in the settings."""
    words: Callable[..., str]
    """Returns the column's text for a row, and for a time if it `has_clock`."""
    least: int = 0
    """The least width once a column has content: room for two digits, so that the column seldom grows."""
    grows: int | None = None
    """The column's greatest width; None without a limit, 0 if the width does not depend on the content."""
    gives_way: int | None = None
    """The columns that the texts must have beyond their comfortable widths for this column to be shown. The
    columns before it must be shown too."""
    style: str | Callable[[Row], str] = "muted"
    draw: Callable[..., Spans] | None = None
    """Draws a text that shares what the other columns leave: from the row, its width, the time, the style of
    the row and the depth of its title."""
    has_clock: bool = False
    is_text: bool = False
    is_usual: bool = True
    is_late: bool = False
    """Whether its content may change while the row stays: it draws a clock, or prices become known."""


_MORE = 8
COLUMNS = (
    Column("for", words.since_words, len("1:02:13"), grows=0, has_clock=True),
    Column("agent", lambda row: words.foreign(row.agent or UNKNOWN), 6, grows=10, is_text=True),
    Column("project", _place, grows=30, is_text=True, draw=_project),
    Column("title", words.title, grows=0, is_text=True, draw=_title),
    Column("now", words.activity, grows=0, is_text=True, draw=_activity, is_late=True),
    Column("calls", words.succeeded, len("99 ✓"), gives_way=0),
    Column("calls", _failed, len("9 ✗"), gives_way=0, style="failed"),
    Column("ctx", words.context, len("99 %"), gives_way=0),
    Column("age", words.age, len("59 min"), gives_way=_MORE, has_clock=True),
    # Without kept prices, the estimate of the cost takes 0.26 s.
    Column("cost", words.cost, len("$9.99"), gives_way=_MORE, is_usual=False, is_late=True),
    Column("tests", words.tests, len("tests"), gives_way=_MORE, style=words.tests_style),
    Column("lines", words.changed_lines, len("+99 −99"), gives_way=2 * _MORE),
)
NAMES = tuple(dict.fromkeys(column.name for column in COLUMNS if column.name != "title"))
"""The columns that the user can choose. State and title are always shown."""
_USUAL = frozenset(column.name for column in COLUMNS if column.is_usual)

_LEAST_FOR_WIDE_GAPS = 96
_PROJECT_STEP = 4
"""The project grows by several columns at a time, so that it seldom grows."""
_LEAST_PROJECT = 10
_LEAST_TITLE = 16
_LEAST_NOW = 14
_COMFORT = (18, 26, 26)
"""The widths of project, title and activity below which a column that can give way does."""

Widths = tuple[int, ...]
NO_ROWS: Widths = tuple(column.least if column.gives_way is None else 0 for column in COLUMNS)


class Columns(NamedTuple):
    """The columns that are shown, from the left, and their widths."""

    gap: int
    cells: Sequence[tuple[Column, int]]

    @property
    def widths(self) -> dict[str, int]:
        return _by_name(self.cells)


def _by_name(cells: Iterable[tuple[Column, int]]) -> dict[str, int]:
    """Return the width of each column, in which a space parts its two parts."""
    widths: dict[str, int] = {}
    for column, width in cells:
        if width:
            widths[column.name] = widths.get(column.name, -1) + 1 + width
    return widths


def _text(column: Column, row: Row, now_ms: int) -> str:
    return column.words(row, now_ms) if column.has_clock else column.words(row)


def grown(needed: Widths, rows: Sequence[Row], now_ms: int, chosen: Sequence[str] = ()) -> Widths:
    """Return widths that have room for more rows as well; none is smaller than before."""
    wanted = chosen or _USUAL
    widths = []
    for column, before in zip(COLUMNS, needed, strict=True):
        width = before
        if column.grows != 0 and column.name in wanted:
            for row in rows:
                text = _text(column, row, now_ms)
                if text and text != UNKNOWN:
                    size = columns(SafeText(text)) if column.is_text else len(text)
                    width = max(width, size, column.least)
        widths.append(width + -width % _PROJECT_STEP if column.name == "project" else width)
    return tuple(widths)


def columns_for(width: int, needed: Widths, chosen: Sequence[str] = ()) -> Columns:
    """Return the columns of a pane with a row per session. Those `chosen` are left out only without room."""
    gap = 2 if width >= _LEAST_FOR_WIDE_GAPS else 1
    wanted = {*(chosen or _USUAL), "title"}
    cells = [
        (column, min(size, column.grows) if column.grows else size)
        for column, size in zip(COLUMNS, needed, strict=True)
        if column.name in wanted
    ]
    project = next((size for column, size in cells if column.name == "project"), 0)
    has_project, has_now = "project" in wanted, "now" in wanted
    if chosen:
        least = _LEAST_PROJECT * has_project + _LEAST_TITLE + _LEAST_NOW * has_now
    else:
        least = min(max(project, _LEAST_PROJECT), _COMFORT[0]) + _COMFORT[1] + _COMFORT[2]
    room = width - STATE - gap * (1 + has_project + has_now)
    give_way = {column.name: column.gives_way for column, _ in cells}
    shown = set()
    for name, size in _by_name(each for each in cells if each[0].draw is None).items():
        more = give_way[name]
        if more is not None and room - size - gap < least + (0 if chosen else more):
            break
        room -= size + gap
        shown.add(name)
    project = max(min(project, room * 3 // 10), min(_LEAST_PROJECT, room // 4)) * has_project
    rest = room - project
    now = max(min(rest * 45 // 100, rest - _LEAST_TITLE), _LEAST_NOW) * has_now
    texts = {"project": project, "title": max(rest - now, 1), "now": now}
    cells = [(column, texts.get(column.name, size)) for column, size in cells]
    return Columns(gap, [each for each in cells if each[1] and (each[0].draw or each[0].name in shown)])


_MOST_WHOLE = 60
_TITLE = next(at for at, column in enumerate(COLUMNS) if column.name == "title")


def unpadded_columns(row: Row, needed: Widths, now_ms: int) -> Columns:
    """Return the columns of a row for a program. Those before the title are as wide as in all rows, the
    others as wide as in this row. Title and activity are cut."""
    own = (_text(each, row, now_ms).strip() if each.is_usual else "" for each in COLUMNS[_TITLE:])
    widths = [*needed[:_TITLE], *(0 if text == UNKNOWN else len(text) for text in own)]
    beside, clock = words.title_suffix(row), words.activity_clock(row, now_ms)
    title = columns(words.title(row)) + (len(beside) + 1 if beside else 0)
    activity = columns(words.activity(row, now_ms)) + (len(clock) + 3 if clock else 0)
    texts = {"title": min(title, _MOST_WHOLE), "now": min(activity, _MOST_WHOLE)}
    cells = [(each, texts.get(each.name, size)) for each, size in zip(COLUMNS, widths, strict=True)]
    return Columns(2, [(each, size) for each, size in cells if size])


def wide_row(row: Row, shown: Columns, now_ms: int, depth: int, *, is_dated: bool = False) -> Spans:
    """Return a session as one row. `is_dated` says that a heading has the day of its end."""
    return joined(row, row_cells(row, shown, now_ms, depth), now_ms, is_dated=is_dated)


def joined(row: Row, cells: Iterable[Spans], now_ms: int, *, is_dated: bool) -> Spans:
    return [*_state(row, now_ms, is_dated=is_dated), *chain.from_iterable(cells)]


def row_cells(
    row: Row, shown: Columns, now_ms: int, depth: int, known: Sequence[Spans] = ()
) -> Sequence[Spans]:
    """Return the columns of a row. Those of `known`, made at an earlier time, are kept where no clock is."""
    gap, before = SafeText(" " * shown.gap), "state"
    row_style = _text_style(row)
    cells = [*known]
    for at, (column, width) in enumerate(shown.cells):
        space = " " if column.name == before else gap
        before = column.name
        if known and not (column.has_clock or column.is_late):
            continue
        if column.draw is not None:
            cell = [(gap, ""), *column.draw(row, width, now_ms, row_style, depth)]
        else:
            text = _text(column, row, now_ms)
            text = fitted(SafeText(text), width) if column.is_text else f"{text:>{width}}"
            style = column.style if isinstance(column.style, str) else column.style(row)
            cell = [(SafeText(f"{space}{text}"), style)]
        cells[at : at + 1] = [cell]
    return cells


def heading(shown: Columns) -> Spans:
    texts = {column.name for column, _ in shown.cells if column.is_text}
    cells: list[str] = [fitted(SafeText("state"), STATE)]
    for name, width in shown.widths.items():
        cells.append(fitted(SafeText(name), width) if name in texts else f"{name:>{width}}")
    return [(SafeText((" " * shown.gap).join(cells)), "muted")]


def upper_row(row: Row, width: int, now_ms: int, *, is_dated: bool = False) -> Spans:
    """Return the first of two rows of a session: its state and its title."""
    room = max(width - STATE - 1, 1)
    return [
        *_state(row, now_ms, is_dated=is_dated),
        (SafeText(" "), ""),
        *_title(row, room, now_ms, _text_style(row)),
    ]


def lower_row(row: Row, width: int, now_ms: int) -> Spans:
    """Return the second of two rows of a session: its clock, its activity, and its project if it fits."""
    room = max(width - STATE - 1, 1)
    place = SafeText(f"{words.foreign(row.agent)} {words.repository(row)}{words.branch(row)}".strip())
    place = cut(place, max(room // 2, 1))
    whole = words.activity(row, now_ms)
    clock = words.activity_clock(row, now_ms)
    needed = columns(whole) + (len(clock) + 3 if clock else 0)
    is_placed = needed + 2 + _LEAST_PLACE <= room
    place = cut(place, room - needed - 2) if is_placed else SafeText("")
    left = room - (columns(place) + 2 if place else 0)
    return [
        (SafeText(f"{words.since_words(row, now_ms):>{STATE}} "), "muted"),
        *_activity(row, left, now_ms, "muted"),
        (SafeText(f"  {place}" if place else ""), "muted"),
    ]
