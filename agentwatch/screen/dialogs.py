"""The screens that lie over the panes: every key, and what is to become of a running agent."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import HorizontalGroup, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agentwatch.safe_text import SafeText

_MOST_SURVIVORS = 8

KEYS = (
    (
        "Panes",
        (
            ("1 2 3 4, tab", "transcript, calls, detail, actions; the next one"),
            ("m", "one pane alone, and back"),
            ("enter, esc", "open the detail of the chosen call, or a row of several; back"),
            ("[ ] enter", "in the transcript: the next or the last call or thought; open it"),
        ),
    ),
    (
        "Moving",
        (
            ("↑ ↓ j k", "a line, or a call"),
            ("page up, page down", "a page"),
            ("g, G", "to the beginning; to the end, and follow it"),
            ("e, E", "the next call that failed; the one before"),
            ("/ n N", "find a text everywhere; the next place; the one before"),
            ("f", "only the calls that match words: a tool, failed, running, part of the target"),
            ("s", "the slowest calls first, and back"),
        ),
    ),
    (
        "View",
        (
            ("space", "freeze the view, recording goes on; in a replay: pause"),
            ("t", "all of the model's thinking, or folded"),
            ("r", "the detail as the recording has it, a member in each line"),
            ("enter, space", "in the detail: fold the branch chosen with j k, or open it"),
            ("F", "every file touched, and the calls about it"),
            ("T", "where the time went, the tools, the tokens"),
            ("i", "what stands behind the integrity line"),
            ("y", "copy what is chosen"),
            ("o", "open the call's file in $VISUAL or $EDITOR"),
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
        with VerticalScroll(id="help", classes="dialog"):
            for title, keys in KEYS:
                yield Static(Content.styled(title, "bold $text-accent"))
                for key, does in keys:
                    with HorizontalGroup():
                        yield Static(Content.styled(key, "bold"), classes="key")
                        yield Static(Content(does), classes="does")


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
