"""The line of tabs: the views, and the number of differences in each."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from agentwatch.comparing import Comparison
from agentwatch.screen.comparing.differences_view import DifferencesView
from agentwatch.screen.lines.themes import muted
from agentwatch.text.safe import SafeText, columns, cut


class ViewTabs(Static):
    """A tab for each view; at the right, the limits of the comparison."""

    def __init__(self, comparison: Comparison, views: tuple[DifferencesView, ...]) -> None:
        super().__init__(id="compared-tabs")
        self._views = views
        self._notes = SafeText(" · ".join(_notes(comparison)))
        self._drawn: tuple[object, ...] = ()

    def highlight(self, chosen: DifferencesView) -> None:
        """Highlight the tab of the view that is shown."""
        width, dim = self.size.width, muted(self.app.current_theme)
        titles = {view: f" {view.border_title} {view.amount()} " for view in self._views}
        if columns(SafeText("".join(titles.values()))) > width:
            titles = {view: f" {view.border_title} " for view in self._views}
        drawn = (chosen, width, dim, *titles.values())
        if drawn == self._drawn:
            return
        self._drawn = drawn
        room = width - columns(SafeText("".join(titles.values()))) - 1
        notes = cut(self._notes, room) if room > len("approximate") else SafeText("")
        styled = [
            (title, "$text-accent bold reverse" if view is chosen else dim) for view, title in titles.items()
        ]
        gap = " " * max(room - columns(notes), 0)
        self.update(Content.assemble(*styled, gap, (notes, "$text-warning")), layout=False)


def _notes(comparison: Comparison) -> list[str]:
    """Return the parts that are not compared, or not compared accurately."""
    notes = [] if comparison.is_exact else ["aligned approximately"]
    for letter, count in zip("AB", comparison.left_out, strict=True):
        if count:
            notes.append(f"the last {count:,} calls of {letter} are not aligned")
    return notes
