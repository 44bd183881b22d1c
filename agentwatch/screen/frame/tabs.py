"""The tab line: the titles of the panes, on screens that are too narrow for more than one pane.

If the titles do not fit, the panes that are not shown have only their numbers.
"""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from agentwatch.screen.lines.themes import muted
from agentwatch.screen.panes import NAMES, Panes
from agentwatch.text.safe import SafeText, columns


class PaneTabs(Static):
    """A tab for each pane; the tab of the visible pane is highlighted."""

    def __init__(self, panes: Panes) -> None:
        super().__init__(id="tabs")
        self._panes = panes
        self._shown = ""
        self._drawn: tuple[str, ...] = ()

    def on_mount(self) -> None:
        """Redraw the line whenever a filter or an order renames the calls."""
        self.watch(self._panes.calls, "title", lambda: self.highlight(self._shown), init=False)

    def on_resize(self) -> None:
        """Shorten or complete the titles."""
        self.highlight(self._shown)

    def highlight(self, shown: str) -> None:
        """Highlight the tab of the visible pane; redraw only if something changed."""
        self._shown = shown
        panes = {name: self._panes.named(name) for name in NAMES}
        titles = {name: f" {pane.tab_title or pane.border_title}" for name, pane in panes.items()}
        if columns(SafeText("".join(titles.values()))) > self.size.width:
            titles = {name: title if name == shown else title[:2] for name, title in titles.items()}
        dim = muted(self.app.current_theme)
        drawn = (shown, dim, *titles.values())
        if drawn == self._drawn:
            return
        self._drawn = drawn
        styled = ((title, "$text-accent bold" if name == shown else dim) for name, title in titles.items())
        self.update(Content.assemble(*styled), layout=False)
