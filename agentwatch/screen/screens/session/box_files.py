"""The tabs of the files and of the test runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType

from agentwatch.analysis.files import (
    FileAction,
    TouchedFile,
    TouchedFiles,
    file_action_of,
    is_back_to_start,
    latest_ms,
)
from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.verdict_history import CallVerdict, VerdictHistory, changed_files, ribbon_pieces
from agentwatch.analysis.verdicts import FileLine
from agentwatch.feed.feed import Feed
from agentwatch.feed.history import after
from agentwatch.screen.screens.session.box import BoxList, BoxState, Opened, Place
from agentwatch.screen.widgets.line_view import HeadedView, Spans
from agentwatch.session.actions import change_size, outcome_note, target
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
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
"""The least width in which a row with marks also shows its changed lines."""
_LEAST_WITH_LINES = 28
_LEAST_WITH_CLOCK = 44
_FILE_ACTIONS = 30
_LINES = 12
_CLOCK = 9


class Sought(NamedTuple):
    """The files of which the first one that a call has touched is selected when the list opens."""

    files: Sequence[FileLine]
    call: Call
    """The selected call: it touched the file, or its output names it."""


class FileList(BoxList[TouchedFile], HeadedView):
    """One row per file: the actions on it, its changed lines, the time of its last call, and its warnings.
    Without `sought`, the file that was touched last is selected."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("s", "sort", "Sort")]
    opens_second = True
    hint = "enter show calls · s sort"

    def __init__(self, feed: Feed, touched: TouchedFiles, state: BoxState, sought: Sought | None) -> None:
        super().__init__("files", state)
        self._feed = feed
        self._touched = touched
        self._sought = sought if sought != state.sought else None
        state.sought = sought
        self._shown: tuple[object, ...] = ()
        self._returned: dict[TouchedFile, tuple[int, bool | None]] = {}
        """The number of a file's calls at its last check, and whether its content was restored."""
        self.second: FileCalls = FileCalls(state)
        self.empty_words = SafeText(" no files yet; changes by shell commands are not listed")

    def key(self, item: TouchedFile) -> object:
        return item.shown

    def take(self) -> bool:
        return self._touched.update()

    def sync(self) -> bool:
        return super().sync() or self._check_one()

    def update_items(self, *, is_more: bool) -> None:
        by_name = self._state.is_by_name
        shown = (self._touched.calls_read, by_name, is_more)
        if shown != self._shown:
            is_newest_first = self._shown[1:2] == (False,) and not by_name
            self._shown = shown
            files = self._touched.by_name() if by_name else self._touched.newest_first()
            order = "by name" if by_name else "newest first"
            title = f"{plural(len(files), 'file')} · {order}{' · still reading' if is_more else ''}"
            self.show(files, title, is_more=is_more, follows_first=is_newest_first)
        self._show_calls(is_more=is_more)
        if self._sought is not None and not is_more:
            self._find(self._sought)
            self._sought = None

    def watch_cursor(self, old: int, new: int) -> None:
        super().watch_cursor(old, new)
        self._show_calls()

    def action_sort(self) -> None:
        self._state.is_by_name = not self._state.is_by_name
        self.sync()

    def _find(self, sought: Sought) -> None:
        """Select what the list opens on; for a failing line, go to the last change of its file."""
        is_own = sought.files[0].path == sought.call.path
        named = ((each, self._touched.named(each.path, sought.call.run)) for each in sought.files)
        line, file = next((each for each in named if each[1] is not None), (None, None))
        if line is not None and file is not None:
            self.choose(self.items.index(file))
            self._show_calls()
            self.second.open_on(sought.call, line.line)
            if not is_own and self.screen.focused is self:
                self.second.focus(scroll_visible=False)
        elif not is_own:
            name = cut(safe_line(sought.files[0].path), _MOST_NAMED)
            self.notify(f"no call has touched {name}", markup=False)

    def _show_calls(self, *, is_more: bool = False) -> None:
        file = self.chosen
        self.second.show_file(file, self.marks(file) if file else SafeText(""), is_more=is_more)

    def _check_one(self) -> bool:
        """Check whether one visible file is back to its original content, which is read from the recording;
        return whether one was checked."""
        top = self.scroll_offset.y
        for file in self.items[top : top + self.size.height]:
            changes = file.file_actions.total() - file.file_actions[FileAction.READ]
            if changes and self._returned.get(file, (0, None))[0] != len(file.calls):
                self._returned[file] = (len(file.calls), is_back_to_start(file, self._feed))
                self.refresh()
                return True
        return False

    def heading(self, width: int) -> Spans:
        cells = _cells(SafeText("actions"), "lines", "last call", width)
        path = fitted(SafeText("file"), width - columns(cells))
        return [(SafeText(path + cells), "muted")]

    def row(self, y: int, width: int) -> Spans:
        file = self.items[y]
        marks = self.marks(file)
        cells = _cells(
            file_actions(file), _lines(file), _time(self._state, file.calls[-1]), width, is_marked=bool(marks)
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
        marks = [f"{file.unread} without reading"] if file.unread else []
        marks += ["outside cwd"] if file.is_outside else []
        at, is_back = self._returned.get(file, (0, None))
        marks += ["reverted"] if is_back and at == len(file.calls) else []
        return SafeText(" · ".join(marks))


class FileCalls(BoxList[Call]):
    """The calls about one file, in the order in which they ended."""

    hint = "enter open call · tab next"

    def __init__(self, state: BoxState) -> None:
        super().__init__("file-calls", state)
        self._file: TouchedFile | None = None
        self._line: int | None = None
        self._failed: Call | None = None
        """The call whose failing line is about the file."""

    def key(self, item: Call) -> object:
        return item.number

    def opened(self) -> Opened | None:
        return None if self.chosen is None else Opened(self.chosen, at_end=False)

    def show_file(self, file: TouchedFile | None, marks: SafeText, *, is_more: bool = False) -> None:
        """Show a file's calls; start at the first call if the file is another one than before."""
        is_other = file is not self._file
        if is_other:
            self._file, self._line, self._failed = file, None, None
        name = safe_line(file.shown) if file else ""
        at = f":{self._line}" if self._line else ""
        last, failed = self._last_change(), self._failed
        changed = f" · last changed by #{last.number}" if last else " · not changed" if failed else ""
        changed += f" before #{failed.number}" if failed else ""
        title = f"{name}{at}{changed}{f' · {marks}' if marks else ''}"
        if is_other or title != self.title or (file and len(file.calls) != len(self.items)):
            self.show([*file.calls] if file else [], title, is_more=is_more, is_other=is_other)

    def open_on(self, call: Call, line: int | None) -> None:
        """Select a call about the file; for a call that failed because of it, its last change before."""
        if call in self.items:
            self.choose(self.items.index(call))
            return
        self._failed, self._line = call, line
        if (last := self._last_change()) is not None:
            self.choose(self.items.index(last))

    def _last_change(self) -> Call | None:
        calls, failed = self._file.calls if self._file else [], self._failed
        changes = (each for each in reversed(calls) if file_action_of(each) in _CHANGES)
        return next((each for each in changes if failed is None or each.number < failed.number), None)

    def row(self, y: int, width: int) -> Spans:
        call = self.items[y]
        note = change_size(call, MINUS) or outcome_note(call) or UNKNOWN
        duration = f"{call_clock(call, None):>{_CLOCK}}" if width >= _LEAST_WITH_CLOCK else ""
        number = f"#{call.number} "
        room = max(width - _CLOCK - 3 - len(duration) - len(number), 1)
        state = str(call.outcome)
        style = "muted" if file_action_of(call) is FileAction.READ else "plain"
        return [
            (SafeText(f"{_time(self._state, call):>{_CLOCK}} "), "muted"),
            (SafeText(f"{SIGNS[call.outcome]} "), state),
            (SafeText(number), "muted"),
            (fitted(SafeText(f"{safe_line(call.phrase)} · {note}"), room), style),
            (SafeText(duration), "muted"),
        ]


def _time(state: BoxState, call: Call) -> str:
    """Return when a call ended, or else started: `09:07:14`; `~09:07:14` if only the next moment has one."""
    known_ms, place = latest_ms(call), call.ended or call.started
    if known_ms is not None or place is None or (about_ms := state.ms_at(after(place))) is None:
        return time_of_day(known_ms)
    return f"~{time_of_day(about_ms)}"


def _cells(actions: SafeText, lines: str, time: str, width: int, *, is_marked: bool = False) -> SafeText:
    """Return the columns after the path, as many as fit a row of `width` columns."""
    shown = fitted(actions, _FILE_ACTIONS - 1) + " " if width >= _LEAST_WITH_ACTIONS else ""
    shown += f"{lines:>{_LINES}}" if width >= (_LEAST_WITH_ALL if is_marked else _LEAST_WITH_LINES) else ""
    return SafeText(shown + (f"{time:>{_CLOCK + 1}}" if width >= _LEAST_WITH_TIME else ""))


def file_actions(file: TouchedFile) -> SafeText:
    words = (
        f"{file_action} ×{count:,}" if count > 1 else str(file_action)
        for file_action in FileAction
        if (count := file.file_actions[file_action])
    )
    return SafeText(" · ".join(words))


def _lines(file: TouchedFile) -> str:
    return line_counts(file.lines_added, file.lines_removed, MINUS)


# The tab of the test runs: their verdicts, and the files that changed before the selected one.

_SLICE_SECONDS = 0.002
_NUMBER = 7
_WORDS = 30
_SOURCE = 10
_TIME = 10
_LEAST_WITH_COMMAND = 50
_LEAST_WIDE = 70
_LEAST_WITH_CHANGES = 40


class VerdictList(BoxList[CallVerdict], HeadedView):
    """One row per test run, the newest first, under the ribbon of all. The last run that had ended at
    `moment` is selected; None is the live moment."""

    hint = "enter go to the call · tab files"

    def __init__(
        self, session: Session, history: VerdictHistory, state: BoxState, moment: int | None
    ) -> None:
        super().__init__("verdicts", state)
        self._session = session
        self._history = history
        self.second: ChangedFiles = ChangedFiles(session, state)
        self.empty_words = SafeText(" no test run")
        if moment != state.moment:
            state.moment = moment
            self._wanted = None if moment is None else Place(_Moment(moment))

    def key(self, item: CallVerdict) -> object:
        return item.number

    def row_of(self, key: object) -> int | None:
        if not isinstance(key, _Moment):
            return super().row_of(key)
        last = len(self.items) - 1
        return next((row for row, each in enumerate(self.items) if each.moment <= key), max(last, 0))

    def take(self) -> bool:
        return self._history.update(_SLICE_SECONDS)

    def update_items(self, *, is_more: bool) -> None:
        verdicts = self._history.verdicts
        reading = " · still reading" if is_more else ""
        title = f"{plural(len(verdicts), 'test run')} · {sum(each.is_red for each in verdicts)} red{reading}"
        self.show([*reversed(verdicts)], title, is_more=is_more, follows_first=True)
        self._show_files()

    def watch_cursor(self, old: int, new: int) -> None:
        super().watch_cursor(old, new)
        self._show_files()

    def _show_files(self) -> None:
        before = self.items[self.cursor + 1 : self.cursor + 2]
        self.second.show_between(before[0] if before else None, self.chosen)

    def opened(self) -> Opened | None:
        chosen = self.chosen
        return None if chosen is None else Opened(self._session.calls[chosen.number - 1], at_end=True)

    def heading(self, width: int) -> Spans:
        spans: Spans = []
        verdicts = self.items[::-1]
        chosen = len(verdicts) - 1 - self.cursor
        for piece in ribbon_pieces(verdicts, width, chosen if verdicts else None):
            name = "muted"
            if piece.at is not None:
                name = "failed" if verdicts[piece.at].is_red else "succeeded"
                name = "chosen" if piece.at == chosen else name
            spans += [(piece.words, name), (SafeText(" "), "plain")]
        return spans

    def row(self, y: int, width: int) -> Spans:
        each = self.items[y]
        call = self._session.calls[each.number - 1]
        style = "failed" if each.is_red else "succeeded"
        sign = SIGNS[Outcome.FAILED if each.is_red else Outcome.SUCCEEDED]
        is_wide = width >= _LEAST_WIDE
        said = each.verdict.words_and_source if is_wide else each.verdict.words
        said += ", changed since" if each.is_stale else ""
        words, room = safe_line(f"{sign} {said}"), _WORDS + (_SOURCE if is_wide else 0)
        number = f"{f'#{each.number}':<{_NUMBER}}"
        if width < _LEAST_WITH_COMMAND:
            return [(SafeText(number), "muted"), (cut(words, max(width - _NUMBER, 1)), style)]
        time = f"{_time(self._state, call):>{_TIME}}" if is_wide else ""
        return [
            (SafeText(number), "muted"),
            (fitted(words, room), style),
            (fitted(target(call), width - _NUMBER - room - len(time)), "plain"),
            (SafeText(time), "muted"),
        ]


class _Moment(int):
    """The key of the last test run before a moment."""


class ChangedFiles(BoxList[TouchedFile]):
    """The files that changed between two test runs, the file that was changed last first."""

    hint = "enter go to the last change · tab next"

    def __init__(self, session: Session, state: BoxState) -> None:
        super().__init__("changed-files", state)
        self._session = session
        self._shown: tuple[CallVerdict | None, CallVerdict | None] | None = None
        self.empty_words = SafeText(" none; changes by shell commands are not listed")

    def key(self, item: TouchedFile) -> object:
        return item.shown

    def opened(self) -> Opened | None:
        call = None if self.chosen is None else self.chosen.last_change
        return None if call is None else Opened(call, at_end=True)

    def show_between(self, before: CallVerdict | None, after: CallVerdict | None) -> None:
        """Show the files changed between two test runs; None is the beginning of the session or its end."""
        if (before, after) == self._shown:
            return
        self._shown = before, after
        start, end = before.ended_index + 1 if before else 0, after.ended_index if after else 0
        files, is_complete = changed_files(self._session, start, end)
        since = f"since #{before.number}" if before else "before"
        more = "" if is_complete else " · only the newest calls"
        words = f"{plural(len(files), 'file')} changed {since}{more}"
        self.show(files, words if after else "Changed files", is_other=True)

    def row(self, y: int, width: int) -> Spans:
        file = self.items[y]
        cells = f"{_lines(file):>{_LINES}}" if width >= _LEAST_WITH_CHANGES else ""
        if width >= _LEAST_WIDE:
            cells = f"{file_actions(file):>{_WORDS - _LINES}}{cells}"
        path = fitted(safe_line(file.shown), max(width - len(cells), 1), is_path=True)
        return [(path, "plain"), (SafeText(cells), "muted")]
