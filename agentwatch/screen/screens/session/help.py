"""The help, every key with its current binding; and the palette, which finds a command and runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from agentwatch.recording.remembered import Choices
from agentwatch.screen.keys import SESSION, Key, Topic, bound_keys, key_label, row_words
from agentwatch.screen.widgets.input_bar import InputBar
from agentwatch.screen.widgets.input_box import InputBox, LineInput
from agentwatch.screen.widgets.line_view import PopupLines, RowView, Spans
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, columns, cut, fitted, wrapped

_MOST_KEY = 22
_EVERYWHERE = (
    *("next-failure previous-failure", "find", "filter-calls", "step-back step", "go-to", "session-box"),
    *("maximise", "next-pane", "leave"),
)
_FIRST = {
    "transcript": ("down up", "top bottom", "previous-line next-line", "open-line", "thinking", "times"),
    "calls": ("down up", "top bottom", "open", "show-in-transcript", "slowest-calls", "open-file"),
    "detail": ("down up", "next-call previous-call", "wrap", "failing-line", "raw", "back"),
    "stderr": ("down up", "top bottom", "whole-line", "wrap-stderr", "hide-stderr", "copy"),
    "home": (
        *("down up", "open-session", "preview", "find-session", "filter-sessions", "sort-sessions"),
        *("show-hidden", "next-urgent previous-urgent", "why", "answer", "continue-session"),
        *("interrupt-session", "go-to-terminal", "mark-session", "leave"),
    ),
}
"""The 15 keys, or pairs of keys, that the help shows first for each pane. Keys of all panes are left out."""
_INDENT = SafeText("  ")


class HelpRow(NamedTuple):
    topic: str
    keys: SafeText
    does: SafeText


class HelpView(PopupLines):
    """The rows of the help by topic, in two columns. A text that does not fit continues on the next row."""

    def __init__(self, rows: Sequence[HelpRow]) -> None:
        super().__init__("Keys", self._laid_out, id="help")
        self.rows = rows

    def show(self, rows: Sequence[HelpRow]) -> None:
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
    """The keys of a pane and what they do; the help key then shows every key. `/` searches all keys.
    `rebound` has the user's own keys, by binding id."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "more", "All", show=False, id="help"),
        Binding("slash", "find", "Find", show=False, id="find"),
        Binding("escape", "back", "Back", show=False),
        Binding("q,enter", "dismiss", "Back", show=False),
    ]

    def __init__(self, rebound: Mapping[str, str], pane: str, topics: tuple[Topic, ...] = SESSION) -> None:
        super().__init__()
        self._keys = bound_keys(rebound)
        self._rows = [
            self._row(topic.title, row) for topic in topics for row in topic.rows() if self._keys_of(row[0])
        ]
        named = {each.id: each for topic in reversed(topics) for each in reversed(topic.shortcuts)}
        first = _FIRST[pane] if pane == "home" else (*_FIRST[pane], *_EVERYWHERE)
        self._has_more = True
        self._view = HelpView([self._row("", [named[name] for name in names.split()]) for names in first])
        self._view.border_title = Content(f"Keys · {'list' if pane == 'home' else pane}")
        self._view.border_subtitle = Content(f"{key_label(self._keys['help'][0])} all · / find · esc back")
        self._bar = InputBar("Find", "a key or a word", id="help-find")

    def compose(self) -> ComposeResult:
        with Vertical(id="help-box"):
            yield self._view
            yield self._bar

    def on_mount(self) -> None:
        self.set_focus(self._view, scroll_visible=False)

    def action_more(self) -> None:
        """Show all keys; if they are shown, close the help."""
        if self._has_more:
            self._show(self._rows)
        else:
            self.dismiss(None)

    def _show(self, rows: Sequence[HelpRow]) -> None:
        self._has_more = False
        self._view.border_title = Content("Keys")
        self._view.border_subtitle = Content("/ find · esc back")
        self._view.show(rows)

    def action_find(self) -> None:
        self._bar.show_text(self._bar.input.value, takes_keys=True)

    def action_back(self) -> None:
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
        self._show(found)
        self._bar.show_note(SafeText(plural(len(found), "row")) if words else SafeText(""))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_focus(self._view, scroll_visible=False)

    def _row(self, topic: str, row: Sequence[Key]) -> HelpRow:
        """Return a row of the help; `topic` is empty for the keys of one pane."""
        keys = "  ".join(" ".join(map(key_label, self._keys_of(each))) for each in row)
        return HelpRow(topic, SafeText(keys), SafeText(row_words(row)))

    def _keys_of(self, shortcut: Key) -> list[str]:
        return self._keys[shortcut.id] if shortcut.id else shortcut.keys.split(",")


# The command palette: a box that finds a command by its words, and runs it.

_COUNTS = Choices("palette.json", 300, int)
"""The commands whose runs are counted; the one that was not run for the longest time is forgotten first."""
_MOST_COUNTED = 1_000_000
_GAP = 2
_MOST_ROWS = 14
_OTHER_ROWS = 3


class CommandList(RowView, can_focus=False):
    """One row per command; the keys go to the input above it."""

    def __init__(self, commands: Sequence[SystemCommand]) -> None:
        super().__init__("", id="commands")
        self.commands = commands

    @property
    def chosen(self) -> SystemCommand | None:
        return self.commands[self.cursor] if 0 <= self.cursor < len(self.commands) else None

    def show(self, commands: Sequence[SystemCommand]) -> None:
        self.commands = commands
        self.cursor = 0
        self.settle_at(0)
        self.show_lines()

    def line_count(self) -> int:
        return len(self.commands)

    def row(self, y: int, width: int) -> Spans:
        command = self.commands[y]
        keys = SafeText(command.help)
        room = max(width - columns(keys) - _GAP, 1)
        title = SafeText(command.title)
        if columns(title) > room:
            title = SafeText(title.partition(" (")[0].partition(";")[0])
        return [(fitted(cut(title, room), room + _GAP), "plain"), (keys, "muted")]


class Palette(InputBox[SystemCommand | None]):
    """The palette, dismissed with the command to run. Those run most come first, then the line of keys."""

    def __init__(self, title: str, commands: Sequence[SystemCommand]) -> None:
        counts = _COUNTS.read()
        self._commands = sorted(commands, key=lambda each: -counts.get(each.title, 0))
        self._list = CommandList(self._commands)
        super().__init__("palette", title, LineInput(compact=True, select_on_focus=False), self._list)

    def on_mount(self) -> None:
        self._box.styles.height = min(max(len(self._commands), 1), _MOST_ROWS) + _OTHER_ROWS

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        words = event.value.casefold().split()
        found = [each for each in self._commands if all(word in each.title.casefold() for word in words)]
        found.sort(key=lambda each: not each.title.casefold().startswith(tuple(words[:1])))
        self._list.show(found)
        self._box.border_subtitle = Content(f"{len(found):,} found" if words else "")

    @on(Input.Submitted)
    def action_open(self) -> None:
        chosen = self._list.chosen
        if chosen is not None:
            _COUNTS.keep(partial(_count, chosen.title), self.notify)
            self.dismiss(chosen)


def _count(title: str, counts: dict[str, int]) -> None:
    counts[title] = min(counts.pop(title, 0), _MOST_COUNTED) + 1
