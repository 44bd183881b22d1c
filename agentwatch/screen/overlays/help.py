"""The help screen: every key with its current binding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import HorizontalGroup, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agentwatch.screen.keymap import bound_keys, key_label

KEYS = (
    (
        "Panes",
        (
            (
                "{transcript} {calls} {detail} {actions}, {next-pane}, {previous-pane}",
                "transcript, calls, detail, actions; the next one, the one before",
            ),
            ("{maximise}", "one pane alone, and back"),
            ("{open}, {back}", "open the detail of the chosen call, or a row of several; back"),
            (
                "{previous-line} {next-line} {open-line}",
                "in the transcript: the last or the next call or thought; open it",
            ),
            ("{show-in-transcript}", "the line of the chosen call in the transcript"),
        ),
    ),
    (
        "Moving",
        (
            ("{down}, {up}", "a line, or a call"),
            ("{page-down}, {page-up}", "a page"),
            ("{top}, {bottom}", "to the beginning; to the end, and follow it"),
            ("{next-failure}, {previous-failure}", "the next call that failed; the one before"),
            (
                "{find} {next-found} {previous-found}",
                "find a text everywhere; the next place; the one before",
            ),
            (
                "{find-next} {find-previous} {find-back}",
                "while a text is typed: the next place; the one before; back to where you were",
            ),
            (
                "{filter-calls}, {drop-filter}",
                "only the calls that match words: a tool, failed, running, part of the target; all again",
            ),
            ("{slowest-calls}", "the slowest calls first, and back"),
        ),
    ),
    (
        "View",
        (
            ("{freeze}", "freeze the view, recording goes on; in a replay: pause"),
            ("{thinking}", "all of the model's thinking, or folded"),
            ("{raw}", "the detail as the recording has it, a member in each line"),
            ("{fold}", "in the detail: fold the chosen branch, or open it"),
            ("{files}", "every file touched, and the calls about it"),
            ("{spent}", "where the time went, the tools, the tokens"),
            ("{integrity}", "what stands behind the integrity line"),
            ("{copy}", "copy what is chosen"),
            ("{open-file}", "open the call's file in $VISUAL or $EDITOR"),
            ("ctrl+p", "commands: theme, screenshot, …"),
        ),
    ),
    ("Replay", (("{faster}, {slower}, {step}", "faster, slower, one event on"),)),
    (
        "Leaving",
        (
            ("{leave} ctrl+c", "leave; a pipe is recorded on, for an agent of our own you are asked"),
            ("{help}", "every key"),
            ("ctrl+z", "suspend"),
        ),
    ),
)
"""The help text of each key; `{freeze}` is replaced by the keys of the binding with that id."""


class Help(ModalScreen[None]):
    """Every key and what it does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "dismiss", "Back", show=False, id="help"),
        Binding("escape,q,enter", "dismiss", "Back", show=False),
    ]

    def __init__(self, rebound: Mapping[str, str]) -> None:
        """Create the screen.

        Args:
            rebound: The user's own key bindings, by binding id; they replace the defaults.
        """
        super().__init__()
        self._keys = {name: " ".join(map(key_label, keys)) for name, keys in bound_keys(rebound).items()}

    def compose(self) -> ComposeResult:
        """Lay out the keys and their descriptions in two columns."""
        with VerticalScroll(id="help", classes="dialog"):
            for title, rows in KEYS:
                yield Static(Content.styled(title, "bold $text-accent"))
                for keys, does in rows:
                    with HorizontalGroup():
                        yield Static(Content.styled(keys.format_map(self._keys), "bold"), classes="key")
                        yield Static(Content(does), classes="does")
