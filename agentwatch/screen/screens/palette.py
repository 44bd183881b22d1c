"""The command palette: a box that finds a command by its words, and runs it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual import on
from textual.app import ComposeResult, SystemCommand
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from agentwatch.recording.remembered import Choices
from agentwatch.screen.widgets.input_bar import InputBox, LineInput
from agentwatch.screen.widgets.line_view import RowView, Spans
from agentwatch.text.safe import SafeText, columns, cut, fitted

_COUNTS = Choices("palette.json", 300, int)
"""The commands whose runs are counted; the one that was not run for the longest time is forgotten first."""
_MOST_COUNTED = 1_000_000
_GAP = 2
_MOST_ROWS = 14
_OTHER_ROWS = 3
"""The border and the input."""


class CommandList(RowView, can_focus=False):
    """One row per command, with its keys at the right. The keys go to the input above it."""

    def __init__(self, commands: Sequence[SystemCommand]) -> None:
        super().__init__("", id="commands")
        self.commands = commands

    @property
    def chosen(self) -> SystemCommand | None:
        """The selected command; None without any."""
        return self.commands[self.cursor] if 0 <= self.cursor < len(self.commands) else None

    def show(self, commands: Sequence[SystemCommand]) -> None:
        """List other commands, with the first one selected."""
        self.commands = commands
        self.cursor = 0
        self.settle_at(0)
        self.show_lines()

    def line_count(self) -> int:
        """Return the number of commands."""
        return len(self.commands)

    def row(self, y: int, width: int) -> Spans:
        """Return the words of a command, and its keys."""
        command = self.commands[y]
        keys = SafeText(command.help)
        room = max(width - columns(keys) - _GAP, 1)
        title = SafeText(command.title)
        if columns(title) > room:
            title = SafeText(title.partition(" (")[0].partition(";")[0])
        return [(fitted(cut(title, room), room + _GAP), "plain"), (keys, "muted")]


class Palette(InputBox[SystemCommand | None]):
    """Dismissed with the command to run; None if the user has left the box. What was run most comes first,
    and then what the line of keys shows. The runs are counted in a file. The most important command is the
    first."""

    def __init__(self, title: str, commands: Sequence[SystemCommand]) -> None:
        counts = _COUNTS.read()
        self._commands = sorted(commands, key=lambda each: -counts.get(each.title, 0))
        self._list = CommandList(self._commands)
        super().__init__(LineInput(compact=True, select_on_focus=False), self._list)
        self._box = Vertical(id="palette")
        self._box.border_title = Content(title)

    def compose(self) -> ComposeResult:
        """Lay out the input and the list."""
        with self._box:
            with Horizontal(classes="typed"):
                yield Static(">", classes="label")
                yield self._input
            yield self._list

    def on_mount(self) -> None:
        """Make the box as high as its commands, within limits."""
        self._box.styles.height = min(max(len(self._commands), 1), _MOST_ROWS) + _OTHER_ROWS

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        words = event.value.casefold().split()
        found = [each for each in self._commands if all(word in each.title.casefold() for word in words)]
        found.sort(key=lambda each: not each.title.casefold().startswith(tuple(words[:1])))
        self._list.show(found)
        self._box.border_subtitle = Content(f"{len(found)} found" if words else "")

    @on(Input.Submitted)
    def action_open(self) -> None:
        """Count the selected command, and close the box with it."""
        chosen = self._list.chosen
        if chosen is not None:
            _COUNTS.keep(partial(_count, chosen.title), self.notify)
            self.dismiss(chosen)


def _count(title: str, counts: dict[str, int]) -> None:
    counts[title] = min(counts.pop(title, 0), _MOST_COUNTED) + 1
