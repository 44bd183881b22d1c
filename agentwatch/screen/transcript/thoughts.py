"""Folds the model's thoughts into titles, and opens them."""

from __future__ import annotations

from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.transcript.block_viewport import BlockViewport

_BETWEEN_SLICES = 0.02
"""Seconds between two slices of measuring, so that keys are handled in between."""


class Thoughts:
    """Folds and opens the thoughts of a transcript, all at once or one by one."""

    def __init__(self, pane: LineView, viewport: BlockViewport) -> None:
        self._pane = pane
        self._viewport = viewport
        self._layout = viewport.layout
        self._opened_by_find: int | None = None

    @property
    def are_shown(self) -> bool:
        """Whether finished thoughts are shown in full."""
        return self._layout.shows_thinking

    def toggle_all(self) -> None:
        """Show all of the model's thinking, or fold finished thoughts."""
        self._layout.shows_thinking = not self._layout.shows_thinking
        self._layout.exceptions.clear()
        before = self._layout.line_count()
        self._layout.fold_all()
        self._viewport.count_as_old(0, self._layout.line_count() - before)
        self._viewport.forget_from(0)
        self._viewport.measure_view()

    def toggle(self, number: int) -> None:
        """Open a folded thought, or fold an open one; `number` is its entry."""
        blocks, layout = self._viewport.blocks, self._layout
        span, before = blocks.of_entry(number), layout.line_count()
        layout.exceptions ^= {number}
        blocks.fold(number)
        self._viewport.forget_from(span.start)
        self._viewport.count_as_old(layout.top(span.start), layout.line_count() - before)
        self._viewport.measure_view()
        self._pane.show_lines()
        self._measure_rest()

    def toggle_by_user(self, number: int) -> None:
        """Open or fold a thought for the user; unlike `open_for_find`, it stays so when a search ends."""
        self._opened_by_find = None
        self.toggle(number)

    def open_for_find(self, number: int) -> None:
        """Open an entry that contains a match, if it is a folded thought, until `fold_again` is called."""
        if self._opened_by_find == number:
            return
        self.fold_again()
        blocks = self._viewport.blocks
        if self._layout.is_folded(blocks.all[blocks.of_entry(number).start].entry):
            self._opened_by_find = number
            self.toggle(number)

    def _measure_rest(self) -> None:
        """Measure what has moved, a slice at a time; the screen does not tick once a session is over."""
        self._viewport.measure_some()
        if self._viewport.is_measuring:
            self._pane.set_timer(_BETWEEN_SLICES, self._measure_rest)

    def fold_again(self) -> None:
        """Fold the thought that `open_for_find` opened."""
        number, self._opened_by_find = self._opened_by_find, None
        if number is not None:
            self.toggle(number)
