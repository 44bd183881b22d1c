"""The screens that lie over the panes: every key, and what is to become of a running agent."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

KEYS = (
    (
        "Panes",
        (
            ("1 2 3 4, tab", "transcript, calls, detail, actions; the next one"),
            ("m", "one pane alone, and back"),
            ("enter, esc", "open the detail of the chosen call; back"),
        ),
    ),
    (
        "Moving",
        (
            ("↑ ↓ j k", "a line, or a call"),
            ("page up, page down", "a page"),
            ("g, G", "to the beginning; to the end, and follow it"),
            ("e, E", "the next call that failed; the one before"),
        ),
    ),
    (
        "View",
        (
            ("space", "freeze the view, recording goes on; in a replay: pause"),
            ("t", "the model's thinking on and off"),
            ("r", "the detail as the lines of the recording"),
            ("i", "what stands behind the integrity line"),
            ("y", "copy what is chosen"),
            ("ctrl+p", "commands: theme, screenshot, …"),
        ),
    ),
    ("Replay", (("+ − .", "faster, slower, one event on"),)),
    (
        "Leaving",
        (
            ("q, ctrl+c", "leave; a pipe is recorded on, for an agent of our own you are asked"),
            ("ctrl+z", "suspend"),
        ),
    ),
)


class Help(ModalScreen[None]):
    """Every key and what it does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter", "dismiss", "Back", show=False)
    ]

    def compose(self) -> ComposeResult:
        """Lay the keys out in two columns."""
        with VerticalScroll(classes="dialog"):
            for title, keys in KEYS:
                yield Static(Content.styled(title, "bold $text-accent"))
                for key, does in keys:
                    yield Static(Content.assemble((f"  {key:<20}", "bold"), does))
                yield Static("")


class LeaveChoice(Enum):
    """What becomes of an agent that still runs when the screen is left."""

    STOP = "stop"
    KEEP = "keep"


class LeaveDialog(ModalScreen[LeaveChoice | None]):
    """Asks whether our own agent is to be stopped or left running."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "choose('stop')", "Stop it"),
        Binding("l", "choose('keep')", "Leave it running"),
        Binding("escape,q", "dismiss", "Stay"),
    ]

    def compose(self) -> ComposeResult:
        """Ask."""
        with Vertical(classes="dialog"):
            yield Static(Content("The agent is still running."))
            yield Static("")
            for key, does in (
                ("s", "stop it (ended at once; killed after 10 s)"),
                ("l", "leave it running; it goes on recording"),
                ("esc", "stay here"),
            ):
                yield Static(Content.assemble((f"  {key:<6}", "bold $text-accent"), does))

    def action_choose(self, choice: str) -> None:
        """Answer."""
        self.dismiss(LeaveChoice(choice))
