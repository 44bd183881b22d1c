"""The keys that go to marked moments: bookmarks, failures, edits, test runs, or any moment by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from agentwatch.recording.alarms import alarms_of
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.screen.moment.moment import Moment
from agentwatch.screen.session_keys import SessionKeys
from agentwatch.session import Call
from agentwatch.sources.source import Source

if TYPE_CHECKING:
    from agentwatch.analysis.verdict_history import VerdictHistory
    from agentwatch.screen.overlays.goto.goal import Goal
    from agentwatch.screen.overlays.goto.marks import Marks

_SLICE_SECONDS = 0.002


class MarkKeys(Vertical):
    """The panes of a session, and the keys that go to marked moments."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "bookmark", "Bookmark", show=False, id="bookmark", tooltip="Set or remove a bookmark"),
        Binding("u", "mark(1)", "Next mark", show=False, id="next-mark"),
        Binding("U", "mark(-1)", "Previous mark", show=False, id="previous-mark"),
        Binding("colon", "goto", "Go to", show=False, id="go-to", tooltip="Go to a time, call or bookmark"),
        Binding("V", "verdicts", "Test runs", show=False, id="test-runs", tooltip="Test runs"),
    ]

    def __init__(
        self, keys: SessionKeys, moment: Moment, source: Source, on_moved: Callable[[], None]
    ) -> None:
        """Create the keys.

        Args:
            keys: The panes, and the keys that act on the session.
            moment: The moment.
            source: Where the recording comes from.
            on_moved: Is called after the moment was moved.
        """
        super().__init__(id="marks")
        self.keys = keys
        self._moment, self._on_moved = moment, on_moved
        self._shown: object = None
        self.bookmarks = Bookmarks(source.bookmarks_path, partial(ends_a_line, source.reader.line_at))
        if moment.opening is not None:
            moment.opening.bookmarks = self.bookmarks
        self._source = source
        self._alarms: list[tuple[int, str]] = [(each.offset, each.rule) for each in alarms_of(source.path)]

    @cached_property
    def verdicts(self) -> VerdictHistory:
        """The test runs of the session; created after the first frame, which does not show them."""
        from agentwatch.analysis.verdict_history.history import VerdictHistory

        return VerdictHistory(self._moment.feed)

    @cached_property
    def _marks(self) -> Marks:
        """The marked moments in words; created after the first frame, which does not show them."""
        from agentwatch.analysis.markers import Markers
        from agentwatch.screen.overlays.goto.marks import Marks

        session, timeline = self._moment.feed.session, self._moment.history.timeline
        return Marks(session, self.bookmarks, Markers(session, timeline.after), timeline)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Do not move the moment while only a preview of the recording is shown."""
        is_known = super().check_action(action, parameters)
        return is_known if self._moment.is_ready else None

    def compose(self) -> ComposeResult:
        """Lay out the panes."""
        yield self.keys

    @property
    def alarms(self) -> Sequence[tuple[int, str]]:
        """The moment of each hit of a rule, and the name of the rule; later ones are appended."""
        watch, known = self._source.written.watch, self._alarms
        if watch is not None:
            known += [(each.offset, each.rule) for each in watch.alarms[len(known) :]]
        return known

    def sync(self) -> None:
        """Read new calls for the marks, for 4 ms at most."""
        self.verdicts.update(_SLICE_SECONDS)
        self._marks.update(_SLICE_SECONDS)
        verdicts = self.verdicts.verdicts
        if verdicts is not self._shown:
            from agentwatch.analysis.markers import VerdictMark

            self._shown = verdicts
            self._marks.markers.show_verdicts(
                VerdictMark(each.moment, each.number, each.is_red, each.verdict.words) for each in verdicts
            )

    def go_to(self, call: Call | None) -> None:
        """Show the moment at which a call has ended, and select the call; None has no effect."""
        if call is not None:
            self._moment.go_to_call(call)
            self._on_moved()

    def action_bookmark(self) -> None:
        """Set a bookmark at the moment, or remove the one that is there."""
        self.notify(self._marks.toggle(self._moment.playhead.offset), markup=False)
        self._on_moved()

    def action_mark(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) bookmark, failure, edit, change of a verdict, or turn."""
        from agentwatch.screen.overlays.goto.marks import step_words

        mark = self._marks.step(self._moment.playhead.offset, direction)
        if mark is not None:
            self._moment.go_to(mark.offset)
            self._on_moved()
        self.notify(step_words(mark, direction), markup=False)

    def action_goto(self) -> None:
        """Ask for a moment, and go to it."""
        from agentwatch.screen.overlays.goto.screen import GotoScreen

        self.app.push_screen(GotoScreen(self._marks, self._moment.playhead.offset), self._go)

    def _go(self, goal: Goal) -> None:
        if goal is None:
            return
        from agentwatch.analysis.moments import End

        if goal is End.LIVE:
            self._moment.playhead.live()
        else:
            self._moment.go_to(0 if goal is End.START else goal)
        self._on_moved()

    def action_verdicts(self) -> None:
        """Show the test runs; if one is selected there, go to it."""
        from agentwatch.screen.overlays.verdicts import VerdictsScreen

        offset = self._moment.playhead.offset
        self.app.push_screen(VerdictsScreen(self._moment.feed.session, self.verdicts, offset), self.go_to)
