"""The help screen: every key with its current binding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import HorizontalGroup, VerticalGroup, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agentwatch.screen.keys import SESSION, Shortcut, Topic, bindings
from agentwatch.screen.terminal.keymap import bound_keys, key_label
from agentwatch.screen.widgets.input_bar import InputBar
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText


class Help(ModalScreen[None]):
    """Every key and what it does; the keys that move do so here too, and `/` searches."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("lines"),
        Binding("question_mark", "dismiss", "Back", show=False, id="help"),
        Binding("slash", "find", "Find", show=False, id="find"),
        Binding("escape", "back", "Back", show=False),
        Binding("q,enter", "dismiss", "Back", show=False),
    ]

    def __init__(self, rebound: Mapping[str, str], topics: tuple[Topic, ...] = SESSION) -> None:
        """Create the screen.

        Args:
            rebound: The user's own key bindings, by binding id; they replace the defaults.
            topics: The keys to show, by topic.
        """
        super().__init__()
        self._topics, self._keys = topics, bound_keys(rebound)
        self._view = VerticalScroll(id="help-keys")
        self._bar = InputBar("Find", "a key or a word", id="help-find")
        self._groups: list[tuple[VerticalGroup, list[tuple[HorizontalGroup, str]]]] = []
        """The widgets of each topic, and its rows with their text."""

    def compose(self) -> ComposeResult:
        """Lay out the keys and their descriptions in two columns, and the input of the search."""
        with VerticalGroup(id="help", classes="dialog"):
            with self._view:
                yield from self._compose_topics()
            yield self._bar

    def _compose_topics(self) -> ComposeResult:
        for topic in self._topics:
            with VerticalGroup() as group:
                yield Static(Content.styled(topic.title, "bold $text-accent"))
                rows = []
                for row in topic.rows():
                    keys = "  ".join(" ".join(map(key_label, self._keys_of(each))) for each in row)
                    does = "; ".join(each.text for each in row)
                    with HorizontalGroup() as line:
                        yield Static(Content.styled(keys, "bold"), classes="key")
                        yield Static(Content(does), classes="does")
                    rows.append((line, f"{topic.title} {keys} {does}".casefold()))
            self._groups.append((group, rows))

    def on_mount(self) -> None:
        """Focus the keys, and name those of the screen."""
        self.query_one("#help").border_subtitle = Content("/ find · esc back")
        self.set_focus(self._view, scroll_visible=False)

    def action_move(self, lines: int) -> None:
        """Scroll by a number of lines."""
        self._view.scroll_relative(y=lines, animate=False, immediate=True)

    def action_move_page(self, pages: float) -> None:
        """Scroll by a number of pages."""
        self.action_move(round(pages * max(self._view.size.height - 1, 2)))

    def action_top(self) -> None:
        """Scroll to the beginning."""
        self._view.scroll_home(animate=False, immediate=True)

    def action_bottom(self) -> None:
        """Scroll to the end."""
        self._view.scroll_end(animate=False, immediate=True)

    def action_find(self) -> None:
        """Open the input of the search; only the rows with all of its words are shown."""
        self._bar.show_text(self._bar.input.value, takes_keys=True)

    def action_back(self) -> None:
        """End the search; without one, close the screen."""
        if not self._bar.display:
            self.dismiss(None)
            return
        self._bar.display = False
        self._bar.input.value = ""
        self.set_focus(self._view, scroll_visible=False)

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        event.stop()
        words, found = event.value.casefold().split(), 0
        for group, rows in self._groups:
            for line, text in rows:
                line.display = all(word in text for word in words)
            shown = sum(bool(line.display) for line, _ in rows)
            group.display = shown > 0
            found += shown
        self._bar.show_note(SafeText(plural(found, "row")) if words else SafeText(""))
        self.action_top()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_focus(self._view, scroll_visible=False)

    def _keys_of(self, shortcut: Shortcut) -> list[str]:
        return self._keys[shortcut.id] if shortcut.id else shortcut.keys.split(",")
