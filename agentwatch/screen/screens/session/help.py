"""The help screen: every key with its current binding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Input

from agentwatch.screen.keys import SESSION, Shortcut, Topic
from agentwatch.screen.terminal.keymap import bound_keys, key_label
from agentwatch.screen.widgets.input_bar import InputBar
from agentwatch.screen.widgets.line_view import LineView, Spans
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, fitted, wrapped

_MOST_KEY = 22
_INDENT = SafeText("  ")


class HelpRow(NamedTuple):
    """The keys of one row of the help, and what they do."""

    topic: str
    keys: SafeText
    does: SafeText


class HelpView(LineView):
    """The rows of the help by topic, in two columns; a text that does not fit continues below."""

    fits_content = True

    def __init__(self, rows: Sequence[HelpRow]) -> None:
        """Create the view; `rows` are in the order of their topics."""
        super().__init__("Keys", id="help")
        self.border_subtitle = Content("/ find · esc back")
        self.rows = rows
        self._lines: list[Spans] = []

    def on_mount(self) -> None:
        """Start at the top."""
        self.following = False

    def show(self, rows: Sequence[HelpRow]) -> None:
        """Show other rows, from the top."""
        self.rows = rows
        self._lay_out()
        self.show_lines()
        self.settle_at(0)

    def on_resize(self) -> None:
        """Fit the rows to the new width."""
        self._lay_out()
        super().on_resize()

    def line_count(self) -> int:
        """Return the number of lines."""
        return len(self._lines)

    def draw(self, y: int, width: int) -> Strip:
        """Return one line."""
        del width
        return self.strip_of(self._lines[y])

    def show_below(self) -> None:
        """Do nothing: the help does not grow."""

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        room = max(min(width * 3 // 10, _MOST_KEY), 1)
        self._lines, topic = [], ""
        for row in self.rows if width else ():
            if row.topic != topic:
                topic = row.topic
                self._lines.append([(SafeText(topic), "accent")])
            keys, does = wrapped(row.keys, room), wrapped(row.does, max(width - len(_INDENT) - room - 1, 1))
            for key, words in zip_longest(keys, does, fillvalue=SafeText("")):
                self._lines.append([(_INDENT, ""), (fitted(key, room + 1), "strong"), (words, "plain")])


class Help(ModalScreen[None]):
    """Every key and what it does; `/` searches."""

    BINDINGS: ClassVar[list[BindingType]] = [
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
        self._keys = bound_keys(rebound)
        self._rows = [self._row(topic, row) for topic in topics for row in topic.rows()]
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

    def _row(self, topic: Topic, row: Sequence[Shortcut]) -> HelpRow:
        keys = "  ".join(" ".join(map(key_label, self._keys_of(each))) for each in row)
        return HelpRow(topic.title, SafeText(keys), SafeText("; ".join(each.text for each in row)))

    def _keys_of(self, shortcut: Shortcut) -> list[str]:
        return self._keys[shortcut.id] if shortcut.id else shortcut.keys.split(",")
