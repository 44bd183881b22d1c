"""The help screen: every key with its current binding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from agentwatch.screen.keys import SESSION, Key, Topic, bound_keys, key_label
from agentwatch.screen.widgets.input_bar import InputBar
from agentwatch.screen.widgets.line_view import PopupLines, Spans
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, fitted, wrapped

_MOST_KEY = 22
_INDENT = SafeText("  ")


class HelpRow(NamedTuple):
    """The keys of one row of the help, and what they do."""

    topic: str
    keys: SafeText
    does: SafeText


class HelpView(PopupLines):
    """The rows of the help by topic, in two columns; a text that does not fit continues below. `rows` are in
    the order of their topics."""

    def __init__(self, rows: Sequence[HelpRow]) -> None:
        super().__init__("Keys", self._laid_out, id="help")
        self.border_subtitle = Content("/ find · esc back")
        self.rows = rows

    def show(self, rows: Sequence[HelpRow]) -> None:
        """Show other rows, from the top."""
        self.rows = rows
        self.show_from_top()

    def _laid_out(self, width: int) -> Iterator[Spans]:
        room = max(min(width * 3 // 10, _MOST_KEY), 1)
        topic = ""
        for row in self.rows:
            if row.topic != topic:
                topic = row.topic
                yield [(SafeText(topic), "accent")]
            keys, does = wrapped(row.keys, room), wrapped(row.does, max(width - len(_INDENT) - room - 1, 1))
            for key, words in zip_longest(keys, does, fillvalue=SafeText("")):
                yield [(_INDENT, ""), (fitted(key, room + 1), "strong"), (words, "plain")]


class Help(ModalScreen[None]):
    """Every key and what it does; `/` searches. `rebound` has the user's own key bindings, by binding id,
    which replace the defaults."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "dismiss", "Back", show=False, id="help"),
        Binding("slash", "find", "Find", show=False, id="find"),
        Binding("escape", "back", "Back", show=False),
        Binding("q,enter", "dismiss", "Back", show=False),
    ]

    def __init__(self, rebound: Mapping[str, str], topics: tuple[Topic, ...] = SESSION) -> None:
        super().__init__()
        self._keys = bound_keys(rebound)
        self._rows = [
            self._row(topic, row) for topic in topics for row in topic.rows() if self._keys_of(row[0])
        ]
        self._view = HelpView(self._rows)
        self._bar = InputBar("Find", "a key or a word", id="help-find")

    def compose(self) -> ComposeResult:
        """Lay out the keys, and the input of the search below them."""
        with Vertical(id="help-box"):
            yield self._view
            yield self._bar

    def on_mount(self) -> None:
        """Focus the keys."""
        self.set_focus(self._view, scroll_visible=False)

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
        words = event.value.casefold().split()
        found = [row for row in self._rows if all(word in " ".join(row).casefold() for word in words)]
        self._view.show(found)
        self._bar.show_note(SafeText(plural(len(found), "row")) if words else SafeText(""))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_focus(self._view, scroll_visible=False)

    def _row(self, topic: Topic, row: Sequence[Key]) -> HelpRow:
        keys = "  ".join(" ".join(map(key_label, self._keys_of(each))) for each in row)
        return HelpRow(topic.title, SafeText(keys), SafeText("; ".join(each.text for each in row)))

    def _keys_of(self, shortcut: Key) -> list[str]:
        return self._keys[shortcut.id] if shortcut.id else shortcut.keys.split(",")
