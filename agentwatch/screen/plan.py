"""The agent's to-do list, in view as long as there is one."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content
from textual.widgets import Static

from agentwatch.events import Outcome, Part
from agentwatch.feed import Feed
from agentwatch.safe_text import SafeText, columns, cut, safe_line
from agentwatch.session import Call

_PHRASE = "Updated to-do list"
"""What the text format calls the action, for every agent."""
_DONE, _DOING, _PENDING, _CANCELLED = "✓◐○✗"
_STYLES = {_DONE: "$text-muted", _DOING: "bold $text-accent", _CANCELLED: "$text-muted"}
_LEAST_WIDE = 100
_MOST_LINES = 3
_GAP = 3
_MORE = 15
"""Columns for `… N more`."""


class Todo(NamedTuple):
    """One item: how it stands, and what is to be done."""

    sign: str
    content: str


class TodoLine(Static):
    """How much is done and what is being done; where there is room, every item as long as one is open."""

    def __init__(self, feed: Feed) -> None:
        super().__init__(id="todo")
        self._feed = feed
        self._taken = 0
        self._todos: list[Todo] = []
        self._told: tuple[object, ...] = ()

    def sync(self) -> None:
        """Read the list that the newest calls gave back, if there are new ones; draw it if it has changed."""
        ended = self._feed.session.ended_calls
        news: list[tuple[list[Todo], bool]] = []
        for number in range(len(ended) - 1, self._taken - 1, -1):
            call = ended[number]
            if call.phrase == _PHRASE and call.outcome is Outcome.SUCCEEDED:
                news.append(self._told_by(call))
                if not news[-1][1]:
                    break
        self._taken = len(ended)
        for todos, is_merged in reversed(news):
            kept = self._todos if is_merged else []
            self._todos = list({todo.content: todo for todo in (*kept, *todos)}.values())
        self._tell()

    def on_resize(self) -> None:
        """Fit it into its new width."""
        self._tell()

    def _told_by(self, call: Call) -> tuple[list[Todo], bool]:
        """Return the items that a call tells, and whether they are but merged into the list before."""
        told = read_todos(self._feed.parts(call.ended)) if call.ended else None
        if told is not None:
            return told, False
        given = self._feed.parts(call.started) if call.started else []
        is_merged = any("merge: true" in part.text.split("\n") for part in given)
        return read_todos(given) or [], is_merged or not given

    def _tell(self) -> None:
        width = self.app.size.width
        told = (self._todos, width)
        if told == self._told:
            return
        self._told = told
        self.set_class(bool(self._todos), "-shown")
        draw = _whole if width >= _LEAST_WIDE and any(map(_is_open, self._todos)) else _line
        self.update(draw(self._todos, width - 2))


def read_todos(parts: list[Part]) -> list[Todo] | None:
    """Return the items of the to-do list among a call's parts; None when there is no list."""
    told = next((part.text for part in parts if part.kind == "to-do list"), None)
    if told is None:
        return None
    todos: list[Todo] = []
    for line in told.split("\n"):
        if line[:1] in (_DONE, _DOING, _PENDING, _CANCELLED) and line[1:2] == " ":
            todos.append(Todo(line[0], line[2:]))
        elif todos:  # an item of several lines
            todos[-1] = Todo(todos[-1].sign, f"{todos[-1].content} {line}")
    return todos


def _is_open(todo: Todo) -> bool:
    return todo.sign in (_DOING, _PENDING)


def _count(todos: list[Todo]) -> SafeText:
    done = sum(todo.sign == _DONE for todo in todos)
    return SafeText(f"{done} of {len(todos)} done")


def _line(todos: list[Todo], width: int) -> Content:
    """Return the count and the item that is being done, or is next."""
    by_sign = {todo.sign: todo for todo in reversed(todos)}
    now = by_sign.get(_DOING) or by_sign.get(_PENDING)
    count = cut(_count(todos), width)
    if now is None:
        return Content.styled(cut(SafeText(f"to-do list: {count}"), width), "$text-muted")
    room = width - columns(count) - _GAP
    item = cut(_item(now), room) if room > 3 else SafeText("")
    return Content.assemble((f"{count} · " if item else count, "$text-muted"), _styled(now, item))


def _whole(todos: list[Todo], width: int) -> Content:
    """Return the count and the items, in a few lines; where they do not fit, from the first open one on."""
    rows, left = _rows(_count(todos), todos, width)
    if left:
        opened = next((number for number, todo in enumerate(todos) if _is_open(todo)), 0)
        rows, _ = _rows(_count(todos), todos[opened:], width)
    return Content("\n").join(Content(" " * _GAP).join(row) for row in rows)


def _rows(count: SafeText, todos: list[Todo], width: int) -> tuple[list[list[Content]], int]:
    """Return the rows that the items fill, and how many of them did not fit in: the last row says so."""
    rows: list[list[Content]] = [[Content.styled(count, "$text-muted")]]
    room = width - columns(count)
    for number, todo in enumerate(todos):
        item, left = cut(_item(todo), width - 2 * _MORE), len(todos) - number
        is_last_row = len(rows) == _MOST_LINES
        if columns(item) + _GAP + (_MORE if is_last_row and left > 1 else 0) > room:
            if is_last_row:
                rows[-1].append(Content.styled(f"… {left} more", "$text-muted"))
                return rows, left
            rows.append([])
            room = width
        rows[-1].append(_styled(todo, item))
        room -= columns(item) + _GAP
    return rows, 0


def _item(todo: Todo) -> SafeText:
    return safe_line(f"{todo.sign} {todo.content}")


def _styled(todo: Todo, item: SafeText) -> Content:
    return Content.styled(item, _STYLES.get(todo.sign, ""))
