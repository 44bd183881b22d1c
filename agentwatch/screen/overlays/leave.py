"""The question that lies over the panes: what is to become of a running agent."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agentwatch.safe_text import SafeText

_MOST_SURVIVORS = 8


class LeaveChoice(Enum):
    """What becomes of what still runs when the screen is left."""

    STOP = "stop"
    KEEP = "keep"


class LeaveDialog(ModalScreen[LeaveChoice | None]):
    """Asks whether what still runs is to be stopped or left running."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "choose('stop')", "Stop it"),
        Binding("l", "choose('keep')", "Leave it running"),
        Binding("escape,q", "dismiss", "Stay"),
    ]

    def __init__(self, told: SafeText, survivors: Sequence[SafeText] = ()) -> None:
        """Tell what runs, and ask; of an agent that has ended, what it started and what still lives."""
        super().__init__()
        self._told = told
        self._survivors = survivors

    def compose(self) -> ComposeResult:
        """Ask."""
        it = "them" if self._survivors else "it"
        left = "leave them running" if self._survivors else "leave it running; it goes on recording"
        with Vertical(classes="dialog"):
            yield Static(Content(self._told))
            for survivor in self._survivors[:_MOST_SURVIVORS]:
                yield Static(Content(f"  {survivor}"))
            yield Static("")
            for key, does in (
                ("s", f"stop {it} (asked to end; killed after 10 s)"),
                ("l", left),
                ("esc", "stay here"),
            ):
                yield Static(Content.assemble((f"  {key:<6}", "bold $text-accent"), does))

    def action_choose(self, choice: str) -> None:
        """Answer."""
        self.dismiss(LeaveChoice(choice))
