"""The screen of the test runs: their verdicts, and the files that changed before the selected one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from agentwatch.analysis.files import TouchedFile
from agentwatch.analysis.verdict_history import CallVerdict, VerdictHistory, changed_files, ribbon_pieces
from agentwatch.screen.screens.session.breakdown import keep_updated, take_slice
from agentwatch.screen.widgets.line_view import HeadedView, RowView, Spans
from agentwatch.session.actions import ended_ms, target
from agentwatch.session.call import Call
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


class VerdictsView(RowView, HeadedView):
    """One row per test run, the newest first, under the ribbon of all."""

    fits_content = True

    def __init__(self, session: Session, history: VerdictHistory) -> None:
        super().__init__("Test runs", id="verdicts")
        self._session = session
        self._history = history
        self._verdicts: Sequence[CallVerdict] = ()
        self._is_behind: bool | None = None
        self._wanted: tuple[int, int] | None = None
        """The moment whose test run is selected, and its row; None once all is read, or the user moved."""
        self.empty_words = SafeText(" no test run yet")

    @property
    def chosen(self) -> CallVerdict | None:
        """The selected test run; None without test runs."""
        return self._verdicts[self._at(self.cursor)] if self._verdicts else None

    @property
    def before(self) -> CallVerdict | None:
        """The test run before the selected one; None for the first."""
        at = self._at(self.cursor)
        return self._verdicts[at - 1] if at > 0 else None

    def line_count(self) -> int:
        """Return the number of test runs."""
        return len(self._verdicts)

    def sync(self) -> bool:
        """Read calls for one time slice, and show the verdicts; return whether more are left."""
        is_behind = take_slice(lambda: self._history.update(_SLICE_SECONDS))
        verdicts = self._history.verdicts
        if verdicts is not self._verdicts or is_behind != self._is_behind:
            chosen = self.chosen
            self._verdicts, self._is_behind = verdicts, is_behind
            red = sum(each.is_red for each in verdicts)
            reading = " · still reading" if is_behind else ""
            self.border_title = Content(f"{plural(len(verdicts), 'test run')} · {red} red{reading}")
            self.show_lines()
            wanted, self._wanted = self._wanted, None
            if wanted is not None and self.cursor == wanted[1]:
                self.choose_moment(wanted[0])
            elif chosen is not None and self.cursor > 0:
                self.choose(next((row for row in self._rows if self._verdicts[self._at(row)] == chosen), 0))
        return is_behind

    def choose_moment(self, moment: int) -> None:
        """Select the last test run that had ended at a moment, or else the first of all.

        While test runs are still read, it is selected again, unless the user has selected another one.
        """
        rows = self._rows
        self.choose(next((row for row in rows if self._verdicts[self._at(row)].moment <= moment), len(rows)))
        self._wanted = (moment, self.cursor) if self._is_behind else None

    def heading(self, width: int) -> Spans:
        """Return the ribbon; the selected test run is highlighted in it."""
        spans: Spans = []
        chosen = self._at(self.cursor)
        for piece in ribbon_pieces(self._verdicts, width, chosen if self._verdicts else None):
            name = "muted"
            if piece.at is not None:
                name = "failed" if self._verdicts[piece.at].is_red else "succeeded"
                name = "chosen" if piece.at == chosen else name
            spans += [(piece.words, name), (SafeText(" "), "plain")]
        return spans

    def row(self, y: int, width: int) -> Spans:
        """Return a verdict with its source, the number and command of its call, and when it ended."""
        each = self._verdicts[self._at(y)]
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

    @property
    def _rows(self) -> range:
        return range(len(self._verdicts))

    def _at(self, row: int) -> int:
        """Return the index of the verdict in a row."""
        return len(self._verdicts) - 1 - row


class ChangedFilesView(RowView):
    """The files that changed between two test runs, the file that was changed last first."""

    fits_content = True

    def __init__(self, session: Session) -> None:
        super().__init__("Changed files", id="changed-files")
        self._session = session
        self._files: list[TouchedFile] = []
        self._shown: tuple[CallVerdict | None, CallVerdict | None] = (None, None)
        self.empty_words = SafeText(" none; changes by shell commands are not listed")

    @property
    def chosen(self) -> Call | None:
        """The last call that changed the selected file; None while there is no file."""
        return self._files[self.cursor].last_change if self._files else None

    def line_count(self) -> int:
        """Return the number of files."""
        return len(self._files)

    def show_between(self, before: CallVerdict | None, after: CallVerdict | None) -> None:
        """Show the files that changed after one test run and before the next. `before` is None for the
        beginning of the session, `after` None to show no files."""
        if (before, after) == self._shown:
            return
        self._shown = before, after
        start, end = before.ended_index + 1 if before else 0, after.ended_index if after else 0
        self._files, is_complete = changed_files(self._session, start, end)
        since = f"since #{before.number}" if before else "before"
        more = "" if is_complete else " · only the newest calls"
        words = f"{plural(len(self._files), 'file')} changed {since}{more}"
        self.border_title = Content(words if after else "Changed files")
        self.cursor = 0
        self.settle_at(0)
        self.show_lines()

    def row(self, y: int, width: int) -> Spans:
        """Return a file's path, what was done to it, and its changed lines."""
        file = self._files[y]
        lines = line_counts(file.lines_added, file.lines_removed, MINUS)
        cells = f"{lines:>{_LINES}}" if width >= _LEAST_WITH_LINES else ""
        if width >= _LEAST_WITH_TIME:
            done = " · ".join(
                f"{each} ×{count}" if count > 1 else str(each) for each, count in file.file_actions.items()
            )
            cells = f"{done:>{_WORDS - _LINES}}{cells}"
        path = fitted(safe_line(file.shown), max(width - len(cells), 1), is_path=True)
        return [(path, "plain"), (SafeText(cells), "muted")]


class VerdictsScreen(ModalScreen[Call | None]):
    """The test runs; dismissed with the call that the user opened, or with None. The last test run before
    `moment`, which is shown, is selected."""

    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("q", "dismiss", "Back", show=False),
        Binding("enter", "open", "Open"),
        Binding("tab,shift+tab", "other", "Changed files", show=False),
    ]

    def __init__(self, session: Session, history: VerdictHistory, moment: int) -> None:
        super().__init__(id="verdicts-screen")
        self._session = session
        self._moment = moment
        self._verdicts = VerdictsView(session, history)
        self._files = ChangedFilesView(session)

    def compose(self) -> ComposeResult:
        """Lay out the test runs above the files that changed before the selected one."""
        yield self._verdicts
        yield self._files

    def on_mount(self) -> None:
        """Select the test run of the moment, and start the updates."""
        self._verdicts.border_subtitle = Content("enter go to the call · tab changed files")
        self._files.border_subtitle = Content("enter go to the last change")
        self._show(self._verdicts)
        self._verdicts.sync()
        self._verdicts.choose_moment(self._moment)
        self.watch(self._verdicts, "cursor", self._show_files, init=False)
        keep_updated(self, self.sync)

    def sync(self) -> bool:
        """Update both lists for one time slice; return whether more work is left."""
        is_more = self._verdicts.sync()
        self._show_files()
        return is_more

    def _show_files(self) -> None:
        self._files.show_between(self._verdicts.before, self._verdicts.chosen)

    def _show(self, view: RowView) -> None:
        """Focus a list; on a short terminal the stylesheet shows only that list."""
        self.set_class(view is self._files, "-files")
        self.set_focus(view, scroll_visible=False)

    def action_open(self) -> None:
        """Close the screen with the call of the selected test run, or with the last change of a file."""
        if self.focused is self._files:
            if self._files.chosen is not None:
                self.dismiss(self._files.chosen)
        elif (chosen := self._verdicts.chosen) is not None:
            self.dismiss(self._session.calls[chosen.number - 1])

    def action_other(self) -> None:
        """Focus the other list."""
        self._show(self._verdicts if self.focused is self._files else self._files)

    def action_back(self) -> None:
        """Return from the files to the test runs; from those, close the screen."""
        if self.focused is self._files:
            self._show(self._verdicts)
        else:
            self.dismiss(None)
