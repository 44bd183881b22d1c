"""The line below the header: what the agent is doing, and the state of the view or the integrity."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from agentwatch.analysis.integrity import Integrity
from agentwatch.screen.lines.themes import muted
from agentwatch.text.safe import SafeText, columns, cut


class StatusLine(Static):
    """The current status; at the right, faults and what is still being read, or the integrity."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self._drawn: tuple[object, ...] = ()

    def show_status(
        self, words: SafeText, view: SafeText, integrity: Integrity, *, is_asking: bool = False
    ) -> None:
        """Show the status; redraw only if something changed.

        Args:
            words: The status of the session.
            view: The state of the view; if it is empty, the integrity is shown in its place.
            integrity: The result of the integrity checks, shortened to the space available.
            is_asking: Whether the agent waits for an answer of the user; the status is then highlighted.
        """
        dim = muted(self.app.current_theme)
        drawn = (words, view, integrity, is_asking, self.size.width, dim)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        is_integrity = not view
        view = view or self._fitting(integrity, self.size.width - columns(words) - 4)
        view = cut(view, max(self.size.width - 2, 1))
        room = self.size.width - columns(view) - 3
        shown = words
        while columns(shown) > room and shown:
            shown = SafeText(shown[: room - 1] if len(shown) >= room else shown[:-2])
        gap = " " * max(room - columns(shown) + 1, 0)
        style = dim if is_integrity and integrity.passes else "$text-accent"
        own = "bold $text-warning" if is_asking else ""
        self.update(Content.assemble((f" {shown}{gap}", own), (view, style), " "), layout=False)

    def _fitting(self, integrity: Integrity, room: int) -> SafeText:
        lines = (integrity.line(), integrity.problems() or SafeText("checks pass"), SafeText("i: integrity"))
        return next((line for line in lines if columns(line) <= room), SafeText(""))
