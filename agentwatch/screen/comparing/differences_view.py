"""A list in which some lines are differences, and the steps from one difference to the next."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from agentwatch.screen.lines.line_view import rows_in_view
from agentwatch.screen.lines.row_view import RowView
from agentwatch.text.safe import SafeText

_MARGIN = 3
"""The lines that stay visible before and after a difference."""


class Step(NamedTuple):
    """The difference that a step has selected."""

    number: int
    """Counted from 1; 0 if there is no difference."""
    of: int
    """The number of differences."""
    is_around: bool
    """Whether the step wrapped around the end or the start of the list."""


class DifferencesView(RowView):
    """A list with a cursor; a subclass names the lines that are differences."""

    def differing(self) -> Sequence[int]:
        """Return the lines that are differences, ascending."""
        raise NotImplementedError

    def words(self) -> SafeText:
        """Return the details of the selected line, in words."""
        raise NotImplementedError

    def amount(self) -> str:
        """Return the number of differences, for the tab."""
        count = len(self.differing())
        return f"{count:,} ≠" if count else "="

    def step_with_notice(self, direction: int) -> None:
        """Select the next (1) or previous (-1) difference; a notice reports a wrap to the other end."""
        step = self.step(direction)
        if not step.of:
            self.notify("no difference", markup=False)
        elif step.is_around:
            words = "after the last difference: the first" if direction > 0 else "before the first: the last"
            self.notify(f"{words}, {step.number:,} of {step.of:,}", markup=False)

    def step(self, direction: int) -> Step:
        """Select the next (1) or previous (-1) difference; after the last comes the first."""
        lines = self.differing()
        if not lines:
            return Step(0, 0, is_around=False)
        at = bisect_right(lines, self.cursor) if direction > 0 else bisect_left(lines, self.cursor) - 1
        is_around = not 0 <= at < len(lines)
        at %= len(lines)
        self.choose(lines[at])
        self.show_around()
        return Step(at + 1, len(lines), is_around)

    def position(self) -> SafeText:
        """Return the position of the selected difference: `difference 3 of 17`; empty on other lines."""
        lines = self.differing()
        at = bisect_left(lines, self.cursor)
        if at < len(lines) and lines[at] == self.cursor:
            return SafeText(f"difference {at + 1:,} of {len(lines):,}")
        return SafeText("")

    def show_around(self) -> None:
        """Scroll so that some lines around the selected one are visible too."""
        view = rows_in_view(self)
        margin = min(_MARGIN, len(view) // 3)
        if self.cursor < view.start + margin or self.cursor >= view.stop - margin:
            self.settle_at(max(min(self.cursor - len(view) // 3, self.line_count() - len(view)), 0))
