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

from agentwatch.screen.keys import SESSION, Shortcut, Topic
from agentwatch.screen.terminal.keymap import bound_keys, key_label


class Help(ModalScreen[None]):
    """Every key and what it does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "dismiss", "Back", show=False, id="help"),
        Binding("escape,q,enter", "dismiss", "Back", show=False),
    ]

    def __init__(self, rebound: Mapping[str, str], topics: tuple[Topic, ...] = SESSION) -> None:
        """Create the screen.

        Args:
            rebound: The user's own key bindings, by binding id; they replace the defaults.
            topics: The keys to show, by topic.
        """
        super().__init__()
        self._topics, self._keys = topics, bound_keys(rebound)

    def compose(self) -> ComposeResult:
        """Lay out the keys and their descriptions in two columns."""
        with VerticalScroll(id="help", classes="dialog"):
            for topic in self._topics:
                yield Static(Content.styled(topic.title, "bold $text-accent"))
                for row in topic.rows():
                    keys = (" ".join(map(key_label, self._keys_of(each))) for each in row)
                    with HorizontalGroup():
                        yield Static(Content.styled("  ".join(keys), "bold"), classes="key")
                        yield Static(Content("; ".join(each.text for each in row)), classes="does")

    def _keys_of(self, shortcut: Shortcut) -> list[str]:
        return self._keys[shortcut.id] if shortcut.id else shortcut.keys.split(",")
