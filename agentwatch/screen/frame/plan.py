"""The agent's to-do list, shown above the panes."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from agentwatch.events import PlanEntry, PlanStatus
from agentwatch.screen.lines.themes import muted
from agentwatch.session import Session
from agentwatch.session.rules import DONE_ENTRIES
from agentwatch.text.safe import SafeText, columns, cut, safe_line
from agentwatch.text.signs import PLAN_SIGNS

Entries = tuple[PlanEntry, ...]
_LEAST_WIDE = 100
_MOST_LINES = 3
_GAP = 3
_MORE = 15
"""Columns reserved for `… N more`."""


class PlanView(Static):
    """Shows the plan: the number of completed items and the current item.

    On a wide screen it shows all items in up to three lines while an item is open.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(id="todo")
        self._session = session
        self._drawn: tuple[Entries, int] = ((), 0)
        """The plan and the width in columns that were drawn last."""

    def show(self, session: Session) -> None:
        """Show another moment of the same session."""
        self._session = session
        self._draw()

    def sync(self) -> None:
        """Draw the plan if it has changed."""
        self._draw()

    def on_resize(self) -> None:
        """Redraw the plan for the new width."""
        self._draw()

    def _draw(self) -> None:
        plan, width = self._session.plan, self.app.size.width
        if (plan, width) == self._drawn:
            return
        self._drawn = plan, width
        self.set_class(bool(plan), "-shown")
        draw = _whole if width >= _LEAST_WIDE and any(map(_is_open, plan)) else _line
        self.update(draw(plan, width - 2, muted(self.app.current_theme)))


def _is_open(entry: PlanEntry) -> bool:
    return entry.status in (PlanStatus.IN_PROGRESS, PlanStatus.PENDING)


def _count(plan: Entries) -> SafeText:
    done = sum(entry.status is PlanStatus.COMPLETED for entry in plan)
    return SafeText(f"{done} of {len(plan)} done")


def _line(plan: Entries, width: int, dim: str) -> Content:
    """Return the count and the item in progress, or else the next pending one."""
    first = {entry.status: entry for entry in reversed(plan)}
    now = first.get(PlanStatus.IN_PROGRESS) or first.get(PlanStatus.PENDING)
    count = cut(_count(plan), width)
    if now is None:
        return Content.styled(cut(SafeText(f"to-do list: {count}"), width), dim)
    room = width - columns(count) - _GAP
    item = cut(_item(now), room) if room > 3 else SafeText("")
    return Content.assemble((f"{count} · " if item else count, dim), _styled(now, item, dim))


def _whole(plan: Entries, width: int, dim: str) -> Content:
    """Return the count and the items in a few lines; if not all fit, start at the first open item."""
    rows, left = _rows(_count(plan), plan, width, dim)
    if left:
        opened = next((number for number, entry in enumerate(plan) if _is_open(entry)), 0)
        rows, _ = _rows(_count(plan), plan[opened:], width, dim)
    return Content("\n").join(Content(" " * _GAP).join(row) for row in rows)


def _rows(count: SafeText, plan: Entries, width: int, dim: str) -> tuple[list[list[Content]], int]:
    """Return the rows of the items, and the number of items that do not fit; the last row shows it."""
    rows: list[list[Content]] = [[Content.styled(count, dim)]]
    room = width - columns(count)
    for number, entry in enumerate(plan):
        item, left = cut(_item(entry), width - 2 * _MORE), len(plan) - number
        is_last_row = len(rows) == _MOST_LINES
        if columns(item) + _GAP + (_MORE if is_last_row and left > 1 else 0) > room:
            if is_last_row:
                rows[-1].append(Content.styled(f"… {left} more", dim))
                return rows, left
            rows.append([])
            room = width
        rows[-1].append(_styled(entry, item, dim))
        room -= columns(item) + _GAP
    return rows, 0


def _item(entry: PlanEntry) -> SafeText:
    return safe_line(f"{PLAN_SIGNS[entry.status]} {entry.text}")


def _styled(entry: PlanEntry, item: SafeText, dim: str) -> Content:
    is_current = entry.status is PlanStatus.IN_PROGRESS
    rest = dim if entry.status in DONE_ENTRIES else ""
    return Content.styled(item, "bold $text-accent" if is_current else rest)
