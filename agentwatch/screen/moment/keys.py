"""The keys that move the moment."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from agentwatch.analysis.since.mark import mark
from agentwatch.screen.frame.time_bar import TimeBar, playhead_words
from agentwatch.screen.moment.marks import MarkKeys
from agentwatch.screen.moment.moment import Moment
from agentwatch.screen.overlays.notices import Notices
from agentwatch.session import Call
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:
    from agentwatch.analysis.since.play import Play

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
            from agentwatch.analysis.since.words import since_words

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
        from agentwatch.screen.overlays.digest.screen import DigestScreen

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
