"""The quit dialog: asks whether to stop a running agent."""

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

from agentwatch.text.safe import SafeText

_MOST_SURVIVORS = 8


class LeaveChoice(Enum):
    """What to do with processes that still run when the user quits."""

    STOP = "stop"
    KEEP = "keep"


class LeaveDialog(ModalScreen[LeaveChoice | None]):
    """Asks whether to stop the agent, or its surviving child processes, or to leave them running. `survivors`
    has one line per process that the agent started and that outlived it; it is empty while the agent runs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "choose('stop')", "Stop"),
        Binding("l", "choose('keep')", "Leave running"),
        Binding("escape,q", "dismiss", "Cancel"),
    ]

    def __init__(self, headline: SafeText, survivors: Sequence[SafeText] = ()) -> None:
        super().__init__()
        self._headline = headline
        self._survivors = survivors

    def compose(self) -> ComposeResult:
        """Show the headline, the survivors and the possible answers."""
        stopped = "Stop them" if self._survivors else "Stop the agent"
        left = "Leave them running" if self._survivors else "Leave it running (recording continues)"
        with Vertical(classes="dialog"):
            yield Static(Content(self._headline))
            for survivor in self._survivors[:_MOST_SURVIVORS]:
                yield Static(Content(f"  {survivor}"))
            yield Static("")
            for key, does in (
                ("s", f"{stopped} (killed if still running after 10 s)"),
                ("l", left),
                ("esc", "Cancel"),
            ):
                yield Static(Content.assemble((f"  {key:<6}", "bold $text-accent"), does))

    def action_choose(self, choice: str) -> None:
        """Close the dialog with the answer."""
        self.dismiss(LeaveChoice(choice))
