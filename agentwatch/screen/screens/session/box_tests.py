"""The tab of the test runs: their verdicts, and the files that changed before the selected one."""

from __future__ import annotations

from agentwatch.analysis.files import TouchedFile
from agentwatch.analysis.verdict_history import CallVerdict, VerdictHistory, changed_files, ribbon_pieces
from agentwatch.screen.screens.session.box import BoxList, Opened
from agentwatch.screen.screens.session.box_files import file_actions
from agentwatch.screen.screens.session.view_state import BoxState, Place
from agentwatch.screen.widgets.line_view import HeadedView, Spans
from agentwatch.session.actions import ended_ms, target
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.text.amounts import line_counts, plural
from agentwatch.text.safe import SafeText, cut, fitted, safe_line
from agentwatch.text.signs import MINUS, SIGNS
from agentwatch.text.times import time_of_day

_SLICE_SECONDS = 0.002
_NUMBER = 7
_WORDS = 30
_SOURCE = 10
_TIME = 10
_LINES = 12
_LEAST_WITH_COMMAND = 50
_LEAST_WITH_TIME = 70
_LEAST_WITH_LINES = 40


class VerdictList(BoxList[CallVerdict], HeadedView):
    """One row per test run, the newest first, under the ribbon of all.

    The last test run that had ended at `moment` is selected, or else the first of all. `moment` is in bytes;
    None for the live moment.
    """

    hint = "enter go to the call · tab files"

    def __init__(
        self, session: Session, history: VerdictHistory, state: BoxState, moment: int | None
    ) -> None:
        super().__init__("verdicts", state)
        self._session = session
        self._history = history
        self.second: ChangedFiles = ChangedFiles(session, state)
        self.empty_words = SafeText(" no test run yet")
        if moment != state.moment:
            state.moment = moment
            self._wanted = None if moment is None else Place(_Moment(moment))

    def key(self, item: CallVerdict) -> object:
        """Return the number of the call."""
        return item.number

    def row_of(self, key: object) -> int | None:
        """Return the row of a call, or of a moment."""
        if not isinstance(key, _Moment):
            return super().row_of(key)
        last = len(self.items) - 1
        return next((row for row, each in enumerate(self.items) if each.moment <= key), max(last, 0))

    def take(self) -> bool:
        """Read calls for 2 ms; return whether more are left."""
        return self._history.update(_SLICE_SECONDS)

    def update_items(self, *, is_more: bool) -> None:
        """Show the verdicts, and the files that changed before the selected one."""
        verdicts = self._history.verdicts
        reading = " · still reading" if is_more else ""
        title = f"{plural(len(verdicts), 'test run')} · {sum(each.is_red for each in verdicts)} red{reading}"
        self.show([*reversed(verdicts)], title, is_more=is_more, follows_first=True)
        self._show_files()

    def watch_cursor(self, old: int, new: int) -> None:
        """Show the files that changed before another test run."""
        super().watch_cursor(old, new)
        self._show_files()

    def _show_files(self) -> None:
        before = self.items[self.cursor + 1 : self.cursor + 2]
        self.second.show_between(before[0] if before else None, self.chosen)

    def opened(self) -> Opened | None:
        """Return the call of the selected test run."""
        chosen = self.chosen
        return None if chosen is None else Opened(self._session.calls[chosen.number - 1], at_end=True)

    def heading(self, width: int) -> Spans:
        """Return the ribbon; the selected test run is highlighted in it."""
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
        """Return a verdict with its source, the number and command of its call, and when it ended."""
        each = self.items[y]
        call = self._session.calls[each.number - 1]
        style = "failed" if each.is_red else "succeeded"
        sign = SIGNS[Outcome.FAILED if each.is_red else Outcome.SUCCEEDED]
        is_wide = width >= _LEAST_WITH_TIME
        said = each.verdict.words_and_source if is_wide else each.verdict.words
        said += ", changed since" if each.is_stale else ""
        words, room = safe_line(f"{sign} {said}"), _WORDS + (_SOURCE if is_wide else 0)
        number = f"{f'#{each.number}':<{_NUMBER}}"
        if width < _LEAST_WITH_COMMAND:
            return [(SafeText(number), "muted"), (cut(words, max(width - _NUMBER, 1)), style)]
        time = f"{time_of_day(ended_ms(call)):>{_TIME}}" if is_wide else ""
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
        """Return the name of the file."""
        return item.shown

    def opened(self) -> Opened | None:
        """Return the last call that changed the selected file."""
        call = None if self.chosen is None else self.chosen.last_change
        return None if call is None else Opened(call, at_end=True)

    def show_between(self, before: CallVerdict | None, after: CallVerdict | None) -> None:
        """Show the files that changed after one test run and before the next. `before` is None for the
        beginning of the session, `after` None to show no files."""
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
        """Return a file's path, what was done to it, and its changed lines."""
        file = self.items[y]
        lines = line_counts(file.lines_added, file.lines_removed, MINUS)
        cells = f"{lines:>{_LINES}}" if width >= _LEAST_WITH_LINES else ""
        if width >= _LEAST_WITH_TIME:
            cells = f"{file_actions(file):>{_WORDS - _LINES}}{cells}"
        path = fitted(safe_line(file.shown), max(width - len(cells), 1), is_path=True)
        return [(path, "plain"), (SafeText(cells), "muted")]
