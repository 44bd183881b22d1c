"""The files screen: every file that the session touched, and the calls about the selected file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from agentwatch.analysis.files import (
    FileAction,
    TouchedFile,
    TouchedFiles,
    file_action_of,
    is_back_to_start,
    latest_ms,
)
from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.verdicts import FileLine
from agentwatch.feed.feed import Feed
from agentwatch.screen.screens.session.breakdown import keep_updated, take_slice
from agentwatch.screen.widgets.line_view import HeadedView, RowView, Spans
from agentwatch.session.actions import change_size, outcome_note
from agentwatch.session.call import Call
from agentwatch.text import UNKNOWN
from agentwatch.text.amounts import line_counts, plural
from agentwatch.text.safe import SafeText, columns, cut, cut_middle, fitted, safe_line
from agentwatch.text.signs import MINUS, SIGNS
from agentwatch.text.times import time_of_day

_CHANGES = (FileAction.EDITED, FileAction.CREATED, FileAction.DELETED)
_MOST_NAMED = 60
_LEAST_PATH = 14
_LEAST_WITH_ACTIONS = 84
_LEAST_WITH_TIME = 60
_LEAST_WITH_ALL = 50
"""Minimum width at which a row with marks also shows its changed lines; below it, the marks come first."""
_LEAST_WITH_LINES = 28
_LEAST_WITH_CLOCK = 44
_FILE_ACTIONS = 30
_LINES = 12
_CLOCK = 9


class Sought(NamedTuple):
    """What the files screen opens on: the first of some files that a call has touched."""

    files: Sequence[FileLine]
    """The files; the paths are foreign text."""
    call: Call
    """The selected call: it touched the file, or its output names it."""


class FilesView(RowView, HeadedView):
    """One row per file: the actions on it, its changed lines, the time of its last call, its warnings."""

    fits_content = True

    def __init__(self, feed: Feed, touched: TouchedFiles) -> None:
        super().__init__("Files", id="files")
        self._feed = feed
        self._touched = touched
        self._files: list[TouchedFile] = []
        self._shown: tuple[object, ...] = ()
        self._returned: dict[TouchedFile, tuple[int, bool | None]] = {}
        """For each file, the number of its calls at the last check, and whether it was back to its original
        content.
        """
        self.is_by_name = False

    @property
    def chosen(self) -> TouchedFile | None:
        """The selected file; None while no file was touched."""
        return self._files[self.cursor] if self._files else None

    def line_count(self) -> int:
        """Return the number of rows: one per file, or a single placeholder row."""
        return max(len(self._files), 1)

    def sync(self) -> bool:
        """Process newly ended calls for one time slice; return whether more are left."""
        is_behind = take_slice(self._touched.update)
        shown = (self._touched.calls_read, self.is_by_name)
        if shown == self._shown:
            return is_behind
        chosen = self.chosen
        is_at_newest = self.cursor == 0 and self._shown[1:] == (False,) and not self.is_by_name
        self._shown = shown
        self._files = self._touched.by_name() if self.is_by_name else self._touched.newest_first()
        order = "by name" if self.is_by_name else "newest first"
        reading = " · still reading" if is_behind else ""
        self.border_title = Content(f"{plural(len(self._files), 'file')} · {order}{reading}")
        self.show_lines()
        if chosen is not None and not is_at_newest:
            self.choose(self._files.index(chosen))
        return is_behind

    def find(self, sought: Sought) -> FileLine | None:
        """Select the first of some files that a call has touched, and return it; None without one."""
        for each in sought.files:
            file = self._touched.named(each.path, sought.call.run)
            if file is not None:
                self.choose(self._files.index(file))
                return each
        return None

    def check_one(self) -> bool:
        """Check whether one visible file is back to its original content; return whether one was checked.

        The check reads the contents back from the recording, so each call of this method checks only one
        file.
        """
        top = self.scroll_offset.y
        for file in self._files[top : top + self.size.height]:
            changes = file.file_actions.total() - file.file_actions[FileAction.READ]
            if changes and self._returned.get(file, (0, None))[0] != len(file.calls):
                self._returned[file] = (len(file.calls), is_back_to_start(file, self._feed))
                self.refresh()
                return True
        return False

    def heading(self, width: int) -> Spans:
        """Return the heading of the columns."""
        cells = _cells(SafeText("actions"), "lines", "last call", width)
        path = fitted(SafeText("file"), width - columns(cells))
        return [(SafeText(path + cells), "muted")]

    def row(self, y: int, width: int) -> Spans:
        """Return a file's path, warnings, actions, changed lines and time, in at most `width` columns."""
        if not self._files:
            return [(SafeText("no files yet; changes by shell commands are not listed"), "muted")]
        file = self._files[y]
        marks = self.marks(file)
        cells = _cells(
            _file_actions(file), _lines(file), time_of_day(file.last_ms), width, is_marked=bool(marks)
        )
        rest = width - columns(cells) - 1
        warning = cut(SafeText(f" ! {marks}"), max(rest - _LEAST_PATH, 0)) if marks else SafeText("")
        path = cut_middle(safe_line(file.shown), max(rest - columns(warning), 1))
        gap = " " * (rest - columns(path) - columns(warning) + 1)
        return [
            (path, "plain"),
            (warning, "unfinished"),
            (SafeText(f"{gap}{cells}"), "muted"),
        ]

    def marks(self, file: TouchedFile) -> SafeText:
        """Return a file's warnings as text; empty for most files."""
        marks = [f"{file.unread} without reading"] if file.unread else []
        marks += ["outside cwd"] if file.is_outside else []
        at, is_back = self._returned.get(file, (0, None))
        marks += ["reverted"] if is_back and at == len(file.calls) else []
        return SafeText(" · ".join(marks))


class FileCallsView(RowView):
    """The calls about one file, in the order in which they ended."""

    fits_content = True

    def __init__(self) -> None:
        super().__init__("Calls", id="file-calls")
        self._file: TouchedFile | None = None
        self._shown: tuple[object, ...] = ()
        self._line: int | None = None
        self._failed: Call | None = None
        """The call whose failing line is about the file; None if the file was opened for another reason."""

    @property
    def chosen(self) -> Call | None:
        """The selected call; None while no file is selected."""
        calls = self._file.calls if self._file else []
        return calls[self.cursor] if calls else None

    def line_count(self) -> int:
        """Return the number of calls."""
        return len(self._file.calls) if self._file else 0

    def show_file(self, file: TouchedFile | None, marks: SafeText) -> None:
        """Show a file's calls; start at the first call if the file is another one than before. `file` is None
        to show no calls."""
        if file is not self._file:
            self._file, self._line, self._failed = file, None, None
            self.cursor = 0
            self.settle_at(0)
        shown = (file, marks, self.line_count(), self._line)
        if shown != self._shown:
            self._shown = shown
            name = safe_line(file.shown) if file else ""
            at = f":{self._line}" if self._line else ""
            last, failed = self._last_change(), self._failed
            changed = f" · last changed by #{last.number}" if last else " · not changed" if failed else ""
            changed += f" before #{failed.number}" if failed else ""
            self.border_title = Content(f"{name}{at}{changed}{f' · {marks}' if marks else ''}")
            self.show_lines()

    def open_on(self, call: Call, line: int | None) -> None:
        """Select a call about the file; for a call that failed in the file, its last change before. `line`
        counts from 1; None if it is unknown."""
        calls = self._file.calls if self._file else []
        if call in calls:
            self.choose(calls.index(call))
            return
        self._failed, self._line = call, line
        if (last := self._last_change()) is not None:
            self.choose(calls.index(last))

    def _last_change(self) -> Call | None:
        """Return the call that changed the file last, before the call that failed if there is one."""
        calls, failed = self._file.calls if self._file else [], self._failed
        changes = (each for each in reversed(calls) if file_action_of(each) in _CHANGES)
        return next((each for each in changes if failed is None or each.number < failed.number), None)

    def row(self, y: int, width: int) -> Spans:
        """Return a call's time, sign, action, changed lines or failure reason, and duration."""
        call = self._file.calls[y] if self._file else None
        if call is None:
            return []
        note = change_size(call, MINUS) or outcome_note(call) or UNKNOWN
        duration = f"{call_clock(call, None):>{_CLOCK}}" if width >= _LEAST_WITH_CLOCK else ""
        number = f"#{call.number} "
        room = max(width - _CLOCK - 2 - len(duration) - len(number), 1)
        state = str(call.outcome)
        style = "muted" if file_action_of(call) is FileAction.READ else "plain"
        return [
            (SafeText(f"{time_of_day(latest_ms(call))} "), "muted"),
            (SafeText(f"{SIGNS[call.outcome]} "), state),
            (SafeText(number), "muted"),
            (fitted(SafeText(f"{safe_line(call.phrase)} · {note}"), room), style),
            (SafeText(duration), "muted"),
        ]


class FilesScreen(ModalScreen[Call | None]):
    """Every file that the session touched; dismissed with the call that the user opened, or with None.
    `sought` is None for the file that was touched last."""

    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("q,F", "dismiss", "Back", show=False),
        Binding("enter", "open", "Open"),
        Binding("tab,shift+tab", "other", "Other list", show=False),
        Binding("s", "sort", "Sort"),
    ]

    def __init__(self, feed: Feed, touched: TouchedFiles, sought: Sought | None = None) -> None:
        super().__init__(id="files-screen")
        self._sought = sought
        self._files = FilesView(feed, touched)
        self._calls = FileCallsView()

    def compose(self) -> ComposeResult:
        """Lay out the files above the calls about the selected file."""
        yield self._files
        yield self._calls

    def on_mount(self) -> None:
        """Focus the file list and start the updates."""
        self._files.border_subtitle = Content("s sort · enter show calls")
        self._calls.border_subtitle = Content("enter open call")
        self._show(self._files)
        self.watch(self._files, "cursor", self._show_calls, init=False)
        keep_updated(self, self.sync)

    def sync(self) -> bool:
        """Update both lists for one time slice; return whether more work is left."""
        is_behind = self._files.sync()
        is_more = is_behind or self._files.check_one()
        self._show_calls()
        if self._sought is not None and not is_behind:
            self._find(self._sought)
            self._sought = None
        return is_more

    def _find(self, sought: Sought) -> None:
        """Select what the screen opens on; for a failing line, go to the last change of its file."""
        found, is_own = self._files.find(sought), sought.files[0].path == sought.call.path
        if found is not None:
            self._show_calls()
            self._calls.open_on(sought.call, found.line)
            self._show_calls()
            if not is_own:
                self._show(self._calls)
        elif not is_own:
            name = cut(safe_line(sought.files[0].path), _MOST_NAMED)
            self.notify(f"no call has touched {name}", markup=False)

    def _show_calls(self) -> None:
        file = self._files.chosen
        self._calls.show_file(file, self._files.marks(file) if file else SafeText(""))

    def _show(self, view: RowView) -> None:
        """Focus a list; on a short terminal the stylesheet shows only that list."""
        self.set_class(view is self._calls, "-calls")
        self.set_focus(view, scroll_visible=False)

    def action_open(self) -> None:
        """Focus the selected file's calls; in the list of calls, close the screen with the selected call."""
        if self.focused is self._calls:
            self.dismiss(self._calls.chosen)
        elif self._files.chosen is not None:
            self._show(self._calls)

    def action_other(self) -> None:
        """Focus the other list."""
        self._show(self._files if self.focused is self._calls else self._calls)

    def action_back(self) -> None:
        """Return from the calls to the files; from the files, close the screen."""
        if self.focused is self._calls:
            self._show(self._files)
        else:
            self.dismiss(None)

    def action_sort(self) -> None:
        """Toggle the order: by name, or last touched first."""
        self._files.is_by_name = not self._files.is_by_name
        self.sync()


def _cells(actions: SafeText, lines: str, time: str, width: int, *, is_marked: bool = False) -> SafeText:
    """Return the columns after the path, as many as fit a row of `width` columns."""
    shown = fitted(actions, _FILE_ACTIONS - 1) + " " if width >= _LEAST_WITH_ACTIONS else ""
    shown += f"{lines:>{_LINES}}" if width >= (_LEAST_WITH_ALL if is_marked else _LEAST_WITH_LINES) else ""
    return SafeText(shown + (f"{time:>{_CLOCK + 1}}" if width >= _LEAST_WITH_TIME else ""))


def _file_actions(file: TouchedFile) -> SafeText:
    words = (
        f"{file_action} ×{count}" if count > 1 else str(file_action)
        for file_action in FileAction
        if (count := file.file_actions[file_action])
    )
    return SafeText(" · ".join(words))


def _lines(file: TouchedFile) -> str:
    return line_counts(file.lines_added, file.lines_removed, MINUS)
