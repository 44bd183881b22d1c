"""The files that the session has touched, and the calls about the chosen one."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from agentwatch.actions import change_size, outcome_note
from agentwatch.analysis.files import (
    FileAction,
    TouchedFile,
    TouchedFiles,
    file_action_of,
    is_back_to_start,
    latest_ms,
)
from agentwatch.feed import Feed
from agentwatch.safe_text import SafeText, columns, cut, safe_line
from agentwatch.screen.lines.format import SIGNS, UNKNOWN, call_clock, cut_middle, fitted, time_of_day
from agentwatch.screen.lines.line_view import Spans
from agentwatch.screen.lines.row_view import RowView
from agentwatch.screen.overlays.updating import keep_updated, take_slice
from agentwatch.session import Call

_LEAST_PATH = 14
_LEAST_WITH_DEEDS = 84
_LEAST_WITH_TIME = 60
_LEAST_WITH_ALL = 50
"""Columns for lines and marks beside the path; where there are fewer the marks go before the lines."""
_LEAST_WITH_LINES = 28
_LEAST_WITH_CLOCK = 44
_FILE_ACTIONS = 30
_LINES = 12
_CLOCK = 9


class FilesView(RowView):
    """A row for each file: what was done to it, its changed lines, when, and what is odd about it."""

    def __init__(self, feed: Feed, touched: TouchedFiles) -> None:
        super().__init__("Files", id="files")
        self._feed = feed
        self._touched = touched
        self._files: list[TouchedFile] = []
        self._shown: tuple[object, ...] = ()
        self._returned: dict[TouchedFile, tuple[int, bool | None]] = {}
        """Whether a file is back to its start, at so many calls about it."""
        self.is_by_name = False

    @property
    def chosen(self) -> TouchedFile | None:
        """The chosen file."""
        return self._files[self.cursor] if self._files else None

    def line_count(self) -> int:
        """Return how many files there are; without any, the line that says so."""
        return max(len(self._files), 1)

    def sync(self) -> bool:
        """Take the calls that have ended; return whether there are more."""
        is_behind = take_slice(self._touched.take)
        shown = (self._touched.taken, self.is_by_name)
        if shown == self._shown:
            return is_behind
        chosen = self.chosen
        is_at_newest = self.cursor == 0 and self._shown[1:] == (False,) and not self.is_by_name
        self._shown = shown
        self._files = self._touched.by_name() if self.is_by_name else self._touched.newest_first()
        order = "by name" if self.is_by_name else "newest first"
        reading = " · still reading" if is_behind else ""
        self.border_title = Content(f"Files · {len(self._files)} touched · {order}{reading}")
        self.show_lines()
        if chosen is not None and not is_at_newest:
            self.choose(self._files.index(chosen))
        return is_behind

    def look_into_one(self) -> bool:
        """Read back whether one file in view is as it began; return whether there was one to be read."""
        top = self.scroll_offset.y
        for file in self._files[top : top + self.size.height]:
            changes = file.file_actions.total() - file.file_actions[FileAction.READ]
            if changes and self._returned.get(file, (0, None))[0] != len(file.calls):
                self._returned[file] = (len(file.calls), is_back_to_start(file, self._feed))
                self.refresh()
                return True
        return False

    def row(self, y: int, width: int) -> Spans:
        """Return a file's name, deeds, lines and time, as far as there is room, and its marks."""
        if not self._files:
            return [(SafeText("no file touched yet; what shell commands do is not told"), "muted")]
        file = self._files[y]
        marks = self.marks(file)
        file_actions = (
            fitted(_file_actions(file), _FILE_ACTIONS - 1) + " " if width >= _LEAST_WITH_DEEDS else ""
        )
        clock = f"{time_of_day(file.last_ms):>{_CLOCK + 1}}" if width >= _LEAST_WITH_TIME else ""
        has_lines = width >= (_LEAST_WITH_ALL if marks else _LEAST_WITH_LINES)
        lines = f"{_lines(file):>{_LINES}}" if has_lines else ""
        rest = width - columns(SafeText(f"{file_actions}{lines}{clock}")) - 1
        told = cut(SafeText(f" ! {marks}"), max(rest - _LEAST_PATH, 0)) if marks else SafeText("")
        path = cut_middle(safe_line(file.shown), max(rest - columns(told), 1))
        gap = " " * (rest - columns(path) - columns(told) + 1)
        return [
            (path, "plain"),
            (told, "unfinished"),
            (SafeText(f"{gap}{file_actions}{lines}{clock}"), "muted"),
        ]

    def marks(self, file: TouchedFile) -> SafeText:
        """Return what is odd about a file, in words; often nothing."""
        marks = [f"{file.unread} unread"] if file.unread else []
        marks += ["outside cwd"] if file.is_outside else []
        at, is_back = self._returned.get(file, (0, None))
        marks += ["back to start"] if is_back and at == len(file.calls) else []
        return SafeText(" · ".join(marks))


class FileCallsView(RowView):
    """The calls about one file, in the order in which they ended."""

    def __init__(self) -> None:
        super().__init__("Calls", id="file-calls")
        self._file: TouchedFile | None = None
        self._shown: tuple[object, ...] = ()

    @property
    def chosen(self) -> Call | None:
        """The chosen call."""
        calls = self._file.calls if self._file else []
        return calls[self.cursor] if calls else None

    def line_count(self) -> int:
        """Return how many calls there are."""
        return len(self._file.calls) if self._file else 0

    def tell(self, file: TouchedFile | None, marks: SafeText) -> None:
        """Show a file's calls, from its first if it is another file than before."""
        if file is not self._file:
            self._file = file
            self.cursor = 0
            self.settle_at(0)
        shown = (file, marks, self.line_count())
        if shown != self._shown:
            self._shown = shown
            name = safe_line(file.shown) if file else ""
            self.border_title = Content(f"{name} · {marks}" if marks else name)
            self.show_lines()

    def row(self, y: int, width: int) -> Spans:
        """Return when the call was, its sign, what it did, and its lines or why it failed."""
        call = self._file.calls[y] if self._file else None
        if call is None:
            return []
        known = change_size(call) or outcome_note(call) or UNKNOWN
        took = f"{call_clock(call, None):>{_CLOCK}}" if width >= _LEAST_WITH_CLOCK else ""
        room = max(width - _CLOCK - 2 - len(took), 1)
        state = str(call.outcome)
        style = "muted" if file_action_of(call) is FileAction.READ else "plain"
        return [
            (SafeText(f"{time_of_day(latest_ms(call))} "), "muted"),
            (SafeText(f"{SIGNS[call.outcome]} "), state),
            (fitted(SafeText(f"{safe_line(call.phrase)} · {known}"), room), style),
            (SafeText(took), "muted"),
        ]


class FilesScreen(ModalScreen[Call | None]):
    """Every file that the session has touched; gives back the call that was chosen, if one was."""

    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("q,F", "dismiss", "Back", show=False),
        Binding("enter", "open", "Open"),
        Binding("tab,shift+tab", "other", "The other list", show=False),
        Binding("s", "sort", "By name, or newest first"),
    ]

    def __init__(self, feed: Feed, touched: TouchedFiles) -> None:
        super().__init__(id="files-screen")
        self._files = FilesView(feed, touched)
        self._calls = FileCallsView()

    def compose(self) -> ComposeResult:
        """Lay out the files above the calls about the chosen one."""
        yield self._files
        yield self._calls

    def on_mount(self) -> None:
        """Show what is there, and keep it true while it is open."""
        self._files.border_subtitle = Content("s sort · enter its calls")
        self._calls.border_subtitle = Content("enter shows the call")
        self._show(self._files)
        self.watch(self._files, "cursor", self._tell, init=False)
        keep_updated(self, self.sync)

    def sync(self) -> bool:
        """Show what the session has learnt, a slice of it at once; return whether there is more."""
        is_more = self._files.sync() or self._files.look_into_one()
        self._tell()
        return is_more

    def _tell(self) -> None:
        file = self._files.chosen
        self._calls.tell(file, self._files.marks(file) if file else SafeText(""))

    def _show(self, view: RowView) -> None:
        """Go to a list; where there is little height the sheet shows it alone."""
        self.set_class(view is self._calls, "-calls")
        self.set_focus(view, scroll_visible=False)

    def action_open(self) -> None:
        """Go to the chosen file's calls; from there, leave with the chosen call."""
        if self.focused is self._calls:
            self.dismiss(self._calls.chosen)
        elif self._files.chosen is not None:
            self._show(self._calls)

    def action_other(self) -> None:
        """Go to the other list."""
        self._show(self._files if self.focused is self._calls else self._calls)

    def action_back(self) -> None:
        """Go back to the files, or leave."""
        if self.focused is self._calls:
            self._show(self._files)
        else:
            self.dismiss(None)

    def action_sort(self) -> None:
        """Sort by name, or the file touched last first."""
        self._files.is_by_name = not self._files.is_by_name
        self.sync()


def _file_actions(file: TouchedFile) -> SafeText:
    words = (
        f"{file_action} ×{count}" if count > 1 else str(file_action)
        for file_action in FileAction
        if (count := file.file_actions[file_action])
    )
    return SafeText(" · ".join(words))


def _lines(file: TouchedFile) -> str:
    known = ((file.lines_added, "+"), (file.lines_removed, "−"))
    return " ".join(f"{sign}{count}" for count, sign in known if count is not None)
