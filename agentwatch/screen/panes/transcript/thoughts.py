"""Folds the model's thoughts and the entries of subagents into one line each, and opens them."""

from __future__ import annotations

from agentwatch.screen.panes.transcript.layout import BlockLayout
from agentwatch.screen.panes.transcript.viewport import BlockViewport
from agentwatch.screen.widgets.line_view import LineView


class Thoughts:
    """Folds and opens the thoughts of a transcript, all at once or one by one."""

    def __init__(self, pane: LineView, viewport: BlockViewport) -> None:
        self._pane = pane
        self._viewport = viewport
        self._opened_by_find: int | None = None
        self._subagent_opened_by_find: int | None = None

    @property
    def _layout(self) -> BlockLayout:
        return self._viewport.layout

    @property
    def are_shown(self) -> bool:
        """Whether finished thoughts are shown in full."""
        return self._layout.shows_thinking

    def toggle_all(self) -> None:
        """Show all of the model's thinking, or fold finished thoughts."""
        layout = self._layout
        before, shown = layout.line_count(), not layout.shows_thinking
        layout.exceptions.clear()
        for blocks in self._viewport.every:
            blocks.layout.shows_thinking = shown
            blocks.layout.fold_all()
        self._viewport.count_as_old(0, layout.line_count() - before)
        self._viewport.forget_from(0)
        self._viewport.measure_view()

    def toggle(self, number: int) -> None:
        """Open a folded thought, or fold an open one; `number` is its entry."""
        blocks, layout = self._viewport.blocks, self._layout
        before = layout.line_count()
        layout.exceptions ^= {number}
        for each in self._viewport.every:
            each.fold(number)
        if number >= blocks.entry_count:
            return  # it began after the moment that is shown
        first = blocks.of_entry(number).start
        self._viewport.forget_from(first)
        self._viewport.count_as_old(layout.top(first), layout.line_count() - before)
        self._viewport.measure_view()
        self._pane.show_lines()

    def toggle_by_user(self, number: int) -> None:
        """Open or fold a thought for the user; unlike `open_for_find`, it stays so when a search ends."""
        self._opened_by_find = None
        self.toggle(number)

    def toggle_subagent_by_user(self, root: int) -> None:
        """Open or fold a subagent's entries for the user, who decides from now on."""
        if self._subagent_opened_by_find == root:
            self._subagent_opened_by_find = None
        self.toggle_subagent(root)

    def open_for_find(self, number: int) -> None:
        """Open an entry that contains a match, if it is folded, until `fold_again` is called."""
        blocks = self._viewport.blocks
        entry = blocks.all.transcript[number]
        root = blocks.subagents.root(entry)
        if self._opened_by_find == number and not blocks.subagents.is_hidden(entry):
            return
        self.fold_again(but_subagent=root)
        if root is not None and blocks.subagents.is_hidden(entry):
            self._subagent_opened_by_find = root
            self.toggle_subagent(root)
        if self._layout.is_folded(entry):
            self._opened_by_find = number
            self.toggle(number)

    def toggle_subagent(self, root: int) -> None:
        """Open the entries below a call of the main agent, or fold them; `root` is its number."""
        blocks, layout = self._viewport.blocks, self._layout
        before = layout.line_count()
        blocks.subagents.turn(root)
        for each in self._viewport.every:
            tally = each.subagents.tally(root)
            for index in () if tally is None else tally.blocks:
                each.layout.fold(index)
        tally = blocks.subagents.tally(root)
        if tally is None or tally.head is None:
            return  # it began after the moment that is shown
        self._viewport.forget_from(tally.head)
        self._viewport.count_as_old(layout.top(tally.head), layout.line_count() - before)
        self._viewport.measure_view()
        self._pane.show_lines()

    def show_entry(self, number: int) -> None:
        """Open the subagent's entries that an entry belongs to, if they are folded."""
        entry, subagents = self._viewport.blocks.all.transcript[number], self._viewport.blocks.subagents
        root = subagents.root(entry)
        if root is not None and subagents.is_hidden(entry):
            self.toggle_subagent(root)

    def fold_again(self, *, but_subagent: int | None = None) -> None:
        """Fold what `open_for_find` opened, except the entries of one subagent."""
        number, self._opened_by_find = self._opened_by_find, None
        if number is not None:
            self.toggle(number)
        root = self._subagent_opened_by_find
        if root is not None and root != but_subagent:
            self._subagent_opened_by_find = None
            self.toggle_subagent(root)
