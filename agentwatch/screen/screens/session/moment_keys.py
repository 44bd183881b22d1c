"""The keys that move the moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from agentwatch.analysis.seen import mark
from agentwatch.recording.alarms import alarms_of
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.screen.panes.moment import Moment
from agentwatch.screen.panes.time_bar import TimeBar, playhead_words
from agentwatch.screen.screens.session.keys import SessionKeys
from agentwatch.screen.screens.session.notices import Notices
from agentwatch.session.call import Call
from agentwatch.sources.source import Source
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:
    from agentwatch.analysis.since import Play
    from agentwatch.analysis.verdict_history import VerdictHistory
    from agentwatch.screen.screens.session.goto import Goal, Marks


# The keys that go to marked moments: bookmarks, failures, edits, test runs, or any moment by its name.

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
        from agentwatch.analysis.verdict_history import VerdictHistory

        return VerdictHistory(self._moment.feed)

    @cached_property
    def _marks(self) -> Marks:
        """The marked moments in words; created after the first frame, which does not show them."""
        from agentwatch.analysis.markers import Markers
        from agentwatch.screen.screens.session.goto import Marks

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
        from agentwatch.screen.screens.session.goto import step_words

        mark = self._marks.step(self._moment.playhead.offset, direction)
        if mark is not None:
            self._moment.go_to(mark.offset)
            self._on_moved()
        self.notify(step_words(mark, direction), markup=False)

    def action_goto(self) -> None:
        """Ask for a moment, and go to it."""
        from agentwatch.screen.screens.session.goto import GotoScreen

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
        from agentwatch.screen.screens.session.verdicts import VerdictsScreen

        offset = self._moment.playhead.offset
        self.app.push_screen(VerdictsScreen(self._moment.feed.session, self.verdicts, offset), self.go_to)


_SAME_SECONDS = 2.0


class MomentKeys(Vertical):
    """The panes of a session, and the keys that move the moment that they show."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pause", "Pause", id="pause", tooltip="Pause the moment, or play it from there"),
        Binding("comma", "step(-1)", "Back", show=False, id="step-back", tooltip="One event back"),
        Binding("full_stop", "step(1)", "Forward", show=False, id="step", tooltip="One event forward"),
        Binding(
            "less_than_sign", "call(-1)", "End of the previous call", show=False, id="moment-previous-call"
        ),
        Binding("greater_than_sign", "call(1)", "End of the next call", show=False, id="moment-next-call"),
        Binding("left", "move(-5)", "5 s back", show=False, id="seconds-back"),
        Binding("right", "move(5)", "5 s forward", show=False, id="seconds-forward"),
        Binding("shift+left", "move(-60)", "1 min back", show=False, id="minute-back"),
        Binding("shift+right", "move(60)", "1 min forward", show=False, id="minute-forward"),
        Binding("plus,equals_sign", "pace('faster')", "Faster", show=False, id="faster"),
        Binding("minus", "pace('slower')", "Slower", show=False, id="slower"),
        Binding("R", "pace('reverse')", "Reverse", show=False, id="reverse", tooltip="Play backwards"),
        Binding("L", "live", "Live", show=False, id="live", tooltip="Return to the live moment"),
        Binding("B", "bar", "Time bar", show=False, id="time-bar", tooltip="Show or hide the time bar"),
        Binding(
            "D", "digest", "Digest", show=False, id="digest", tooltip="What happened while you were away"
        ),
    ]

    def __init__(
        self,
        marks: MarkKeys,
        moment: Moment,
        notices: Notices,
        on_moved: Callable[[], None],
    ) -> None:
        """Create the keys.

        Args:
            marks: The panes, and the keys that go to marked moments.
            moment: The moment.
            notices: Knows when the user was away.
            on_moved: Is called after the moment was moved.
        """
        super().__init__(id="moment")
        self._marks = marks
        self._bar = TimeBar()
        self._moment = moment
        self._playhead = moment.playhead
        self._notices = notices
        self._on_moved = on_moved
        self._shows_bar = moment.opening is not None and moment.opening.is_replay
        """Whether to show the time bar at the live moment too."""
        self._said = "", 0.0
        """The last short message, and until when it is not repeated."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Do not move the moment while only a preview of the recording is shown."""
        is_known = super().check_action(action, parameters)
        return is_known if self._moment.is_ready else None

    def compose(self) -> ComposeResult:
        """Lay out the panes, and the time bar below them."""
        yield self._marks
        yield self._bar

    def on_mount(self) -> None:
        """Show the bar at the live moment only if that is wanted."""
        self._bar.display = self._shows_bar

    def sync(self) -> None:
        """Update the time bar and the marks; called once per tick."""
        moment, playhead, marks = self._moment, self._playhead, self._marks
        marks.sync()
        if moment.opening is not None and (notice := moment.opening.take_notice()):
            self.notify(notice, markup=False)
        # A bar that is hidden while it has the mouse never returns it.
        self._bar.display = self._shows_bar or not moment.is_live or self._bar.is_dragged
        if self._bar.display:
            words = playhead_words(
                playhead.speed, is_reversed=playhead.is_reversed, is_paused=playhead.is_paused
            )
            self._bar.show(
                moment.feed.session,
                moment.history.timeline,
                playhead.offset,
                SafeText("") if moment.is_live else words,
                [(each.offset, each.name) for each in marks.bookmarks],
                marks.verdicts.verdicts,
                playhead.now_ms,
                alarms=marks.alarms,
            )

    def go_to(self, offset: int) -> None:
        """Show another moment: a number of bytes of the recording."""
        self._moment.go_to(offset)
        self._on_moved()

    @on(TimeBar.Sought)
    def _seek(self, event: TimeBar.Sought) -> None:
        self.go_to(event.offset)

    def on_mouse_up(self) -> None:
        """Hide the bar after a drag to the live moment."""
        self._on_moved()

    @on(TimeBar.VerdictChosen)
    def _show_verdict(self, event: TimeBar.VerdictChosen) -> None:
        self._marks.go_to(self._moment.feed.session.calls[event.number - 1])

    def action_pause(self) -> None:
        """Pause the moment, or play it from there."""
        self._playhead.turn()
        self._moved()

    def action_step(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) event, and pause there."""
        self._moment.step(direction)
        self._moved()

    def action_call(self, step: int) -> None:
        """Go to the moment at which the next (1) or previous (-1) call ended."""
        call = self._moment.beside_call(step)
        if call is not None:
            self._marks.go_to(call)
        else:
            self._say("no later call" if step > 0 else "no earlier call")

    def action_move(self, seconds: int) -> None:
        """Go back or on by some seconds of recorded time."""
        self._playhead.seek_by(seconds * 1000)
        self._moved()

    def action_pace(self, change: str) -> None:
        """Play `faster`, `slower` or in the other direction (`reverse`)."""
        playhead = self._playhead
        {"faster": playhead.faster, "slower": playhead.slower, "reverse": playhead.reverse}[change]()
        if not playhead.is_playing:
            self._say(f"speed ×{playhead.speed:g}, once it plays")
        self._moved()

    def action_live(self) -> None:
        """Return to the live moment, and say what has happened since the one that was shown."""
        moment = self._moment
        if not moment.is_live:
            from agentwatch.analysis.since import since_words

            since = mark(moment.shown.session, self._playhead.offset, moment.now_ms())
            self.notify(since_words(moment.feed.session, since), markup=False)
        self._playhead.live()
        self._moved()

    def action_bar(self) -> None:
        """Show or hide the time bar at the live moment."""
        self._shows_bar = not self._shows_bar
        self._on_moved()

    def action_digest(self) -> None:
        """Show what happened during the last long absence."""
        if self._notices.missed is None:
            self.notify("nothing happened in an absence of 5 minutes or more", markup=False)
            return
        from agentwatch.screen.screens.session.digest import DigestScreen

        timeline = self._moment.history.timeline
        self.app.push_screen(DigestScreen(self._moment.feed, self._notices.missed, timeline), self._act)

    def _act(self, chosen: Call | Play | None) -> None:
        if chosen is None or isinstance(chosen, Call):
            self._marks.go_to(chosen)
        else:
            self._playhead.play_at(chosen.from_offset, chosen.speed, chosen.max_idle)
            self._moved()

    def _say(self, words: str) -> None:
        """Show a short message, unless a held key has shown it just now."""
        now = monotonic()
        if words != self._said[0] or now > self._said[1]:
            self.notify(words, markup=False)
            self._said = words, now + _SAME_SECONDS

    def _moved(self) -> None:
        self._moment.is_sought = True
        self._on_moved()
