"""The dialogs that delete and rename one of our own recordings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agentwatch.catalog.row import Row
from agentwatch.recording.saved_sessions import MOST_NAME
from agentwatch.screen.screens.session.dialogs import KeyDialog
from agentwatch.screen.screens.sessions.words import why
from agentwatch.screen.widgets.input_bar import LineInput
from agentwatch.screen.widgets.line_view import PopupLines
from agentwatch.text.amounts import byte_size
from agentwatch.text.safe import SafeText, cut, safe_line
from agentwatch.text.times import time_of_day

if TYPE_CHECKING:
    from agentwatch.catalog.evidence import Proof

_TITLE_COLUMNS = 50
_MOST_NAMED = 8


class DeleteDialog(KeyDialog[bool]):
    """Asks whether to delete recordings with all of their files. `size` is in bytes on disk. `kept` is the
    number of sessions that were marked too, and are not ours to delete."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Delete"),
        Binding("n", "dismiss", "Cancel"),
    ]

    def __init__(self, rows: Sequence[Row], size: int, kept: int = 0) -> None:
        if len(rows) == 1:
            files = f"{rows[0].path.name} and the files beside it: {byte_size(size)}"
            lines = [f"Delete {title_words(rows[0])}?", f"  {safe_line(files)}"]
        else:
            lines = [f"Delete {len(rows):,} recordings: {byte_size(size)}?"]
            lines += [f"  {title_words(row)}" for row in rows[:_MOST_NAMED]]
            lines += [f"  and {len(rows) - _MOST_NAMED:,} more"] if len(rows) > _MOST_NAMED else []
        lines += [f"  {kept:,} of other programs stay{'s' * (kept == 1)}"] if kept else []
        super().__init__(lines, [("y", "Delete (cannot be undone)")])


class RenameDialog(ModalScreen[str | None]):
    """Asks for the name of a recording."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel")]

    def __init__(self, row: Row) -> None:
        super().__init__()
        self._row = row

    def compose(self) -> ComposeResult:
        """Show an input with the present title."""
        with Vertical(classes="dialog", id="rename"):
            yield Static(Content(SafeText(f"Name of {title_words(self._row)}")))
            yield LineInput(safe_line(self._row.title[:MOST_NAME]), max_length=MOST_NAME, compact=True)
            yield Static(Content("enter: rename · empty: no name · esc: cancel"))

    @on(Input.Submitted)
    def _rename(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)


class WhyDialog(ModalScreen[None]):
    """The evidence for the state of a session, at the time at which it is opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,w,q", "dismiss", "Back")]

    def __init__(self, row: Row, proofs: Sequence[Proof], at_ms: int) -> None:
        super().__init__()
        self._title = f"Why, at {time_of_day(at_ms)}"
        self._lines = partial(why, row, proofs, at_ms)

    def compose(self) -> ComposeResult:
        """Show the lines."""
        yield PopupLines(self._title, self._lines, id="findings")


def title_words(row: Row) -> SafeText:
    """Return the title of a session in quotes, or its id."""
    title = cut(safe_line(row.title), _TITLE_COLUMNS)
    return SafeText(f"“{title}”") if title else safe_line(row.id)
