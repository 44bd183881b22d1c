"""The screen of a session: four panes under a header and a status line, kept true by one tick.

The tick applies what the recording brings for a few milliseconds, then each pane syncs once. Never a
message per event: Textual's ceiling for those is 490 to 711 a second.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import var
from textual.screen import Screen
from textual.widgets import Footer, Static

from agentwatch.feed import Feed
from agentwatch.intake import Survivor
from agentwatch.integrity import integrity
from agentwatch.listing import size
from agentwatch.pace import Replay
from agentwatch.safe_text import SafeText
from agentwatch.screen.calls import CallTable
from agentwatch.screen.header import HeaderLine, StatusLine
from agentwatch.screen.integrity import IntegrityScreen
from agentwatch.screen.line_view import LineView
from agentwatch.screen.panes import NAMES, Panes
from agentwatch.screen.pulse import BUSY_SHARE, CALM_SHARE, LOADING_SHARE, Pulse
from agentwatch.screen.view import BEHIND_BYTES, shown_ms, view_words
from agentwatch.sources import Source
from agentwatch.status import status

_REPLAY_SECONDS = 1 / 30
_FOLLOW_SECONDS = 0.05
_CALL_SECONDS = 0.2
_CLOCK_SECONDS = 1.0
_BUSY_LINES = 100
"""So many lines in a tick are 3,000 a second and more."""
_SURVIVORS_SECONDS = 1.0
_APPLY_SECONDS = 0.012
_CATCH_UP_SECONDS = 0.03
_LOAD_SECONDS = 0.03


class WatchScreen(Screen[None]):
    """A session, live or saved."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "app.leave", "Leave", id="leave", tooltip="Leave the screen"),
        Binding(
            "question_mark",
            "app.push_screen('help')",
            "Help",
            key_display="?",
            id="help",
            tooltip="Every key",
        ),
        Binding("tab", "next_pane(1)", "Pane", id="next-pane", tooltip="The next pane"),
        Binding("shift+tab", "next_pane(-1)", "Pane before", show=False, id="previous-pane"),
        Binding("1", "pane('transcript')", "Transcript", show=False, id="transcript"),
        Binding("2", "pane('calls')", "Calls", show=False, id="calls"),
        Binding("3", "pane('detail')", "Detail", show=False, id="detail"),
        Binding("4", "pane('log')", "Actions", show=False, id="actions"),
        Binding("m", "maximize_pane", "Maximise", id="maximise", tooltip="One pane alone, and back"),
        Binding("escape", "back", "Back", show=False, id="back"),
        Binding("space", "freeze", "Freeze", id="freeze", tooltip="Freeze the view; recording goes on"),
        Binding("e", "failure(1)", "Failure", id="next-failure", tooltip="The next call that failed"),
        Binding("E", "failure(-1)", "Failure before", show=False, id="previous-failure"),
        Binding("t", "reasoning", "Thinking", show=False, id="thinking"),
        Binding("r", "raw", "Raw", show=False, id="raw"),
        Binding("i", "integrity", "Integrity", show=False, id="integrity"),
        Binding("y", "copy", "Copy", id="copy", tooltip="Copy what is chosen"),
        Binding("plus,equals_sign", "pace('faster')", "Faster", show=False, id="faster"),
        Binding("minus", "pace('slower')", "Slower", show=False, id="slower"),
        Binding("full_stop", "pace('step')", "One event on", show=False, id="step"),
    ]

    is_frozen = var(False, toggle_class="-frozen")
    is_maximized = var(False, toggle_class="-maximized")
    pane = var("transcript")
    """The pane that has the focus, and the only one shown where there is room for one."""

    def __init__(self, source: Source, feed: Feed, loading: Feed | None = None) -> None:
        """Show what `feed` has read; where that is but a glimpse, until `loading` has read it all."""
        super().__init__()
        self._loading = loading
        self._source = source
        self._survivors: list[Survivor] = []
        self._take(feed)

    def _take(self, feed: Feed) -> None:
        """Make the widgets that show a feed."""
        self._feed = feed
        self._replay = feed.pace if isinstance(feed.pace, Replay) else None
        self._was_over = False
        self._integrity = integrity(feed.session)
        self._panes = Panes(feed)
        self._header = HeaderLine()
        self._status = StatusLine()
        self._tabs = Static(id="tabs")

    def compose(self) -> ComposeResult:
        """Lay out the lines and panes; the sheet says which are shown at which size."""
        yield self._header
        yield self._status
        yield self._tabs
        with Horizontal(id="body"):
            yield self._panes.transcript
            with Vertical(id="side"):
                yield self._panes.calls
                yield self._panes.detail
        yield self._panes.log
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Show what is there at once, then keep it true."""
        self.watch_pane(self.pane)
        self._panes.transcript.focus()
        self.pulse = Pulse(self._tick, self.call_next)
        if self._source.wakeup is not None:
            self.pulse.listen(self._source.wakeup)
        self.call_after_refresh(self.pulse.within, 0)
        if self._source.agent is not None:
            self.set_interval(_SURVIVORS_SECONDS, self._look_for_survivors)

    def on_unmount(self) -> None:
        """Take no more."""
        self.pulse.stop()

    def on_resize(self) -> None:
        """Fit the lines above the panes into their new width."""
        self.pulse.within(0)

    def _tick(self) -> float | None:
        """Take what is new and show it; return in how many seconds there will be more to show."""
        feed, applied = self._feed, 0
        is_behind = False
        if not self.is_frozen:
            is_behind = feed.backlog() > BEHIND_BYTES
            applied = feed.advance(_CATCH_UP_SECONDS if is_behind else _APPLY_SECONDS)
            if self._source.agent is not None and (said := self._source.agent.stderr.new_lines()):
                self._panes.log.add_stderr(said)
                applied += 1
        self.pulse.share = LOADING_SHARE if is_behind else BUSY_SHARE if applied > _BUSY_LINES else CALM_SHARE
        now = shown_ms(feed, is_frozen=self.is_frozen)
        if applied or feed.is_over != self._was_over:
            if feed.is_over and not self._was_over:
                self.run_worker(self._source.finish, thread=True)
                if self._source.ended_by is not None:
                    self.app.exit()
            self._was_over = feed.is_over
            self._panes.sync(now)
            self._integrity = integrity(feed.session)
        elif not self.is_frozen:
            self._panes.calls.tick(now)
        if not applied:
            self._panes.transcript.measure_some()
        below = self._panes.named(self.pane).below if self.has_class("-narrow") else 0
        self._header.tell(feed.session, now, is_glimpse=self._loading is not None)
        view = view_words(self._source, feed, self._survivors, is_frozen=self.is_frozen, below=below)
        if self._loading is not None:
            return self._load(self._loading)
        self._status.tell(status(feed.session, now), view, self._integrity)
        return self._seconds_to_the_next()

    def _load(self, loading: Feed) -> float | None:
        """Read on behind the glimpse, and show all when all is read."""
        self.pulse.share = LOADING_SHARE
        loading.advance(_LOAD_SECONDS)
        if not loading.backlog():
            self._loading = None
            self._take(loading)
            self.call_next(self._show_all)
            return None
        view = SafeText(f"reading · {size(loading.backlog())} to go")
        self._status.tell(SafeText("this is its end"), view, self._integrity)
        return 0

    async def _show_all(self) -> None:
        """Show what was loaded in the place of the glimpse, in the pane where the user is."""
        await self.recompose()
        self.action_pane(self.pane)
        self.pulse.within(0)

    def _seconds_to_the_next(self) -> float | None:
        feed = self._feed
        if self._replay is not None and not feed.is_over:
            return None if self._replay.is_paused else _REPLAY_SECONDS
        if self._panes.transcript.is_measuring or (feed.backlog() and not self.is_frozen):
            return 0
        waits = [
            _FOLLOW_SECONDS if self._source.wakeup is None and not feed.is_over else None,
            _CALL_SECONDS if feed.session.open_calls and not self.is_frozen else None,
            _CLOCK_SECONDS if feed.session.runs and not feed.is_over else None,
        ]
        return min((wait for wait in waits if wait is not None), default=None)

    def _look_for_survivors(self) -> None:
        if self._source.agent is not None:
            self._survivors = self._source.agent.survivors()

    def watch_pane(self, pane: str) -> None:
        """Tell the sheet which pane is shown where there is room for one."""
        for name in NAMES:
            self.set_class(name == pane, f"-pane-{name}")
        titles = ((f" {self._panes.named(name).border_title}", name) for name in NAMES)
        styled = (
            (title, "$text-accent bold" if name == pane else "$foreground-muted") for title, name in titles
        )
        self._tabs.update(Content.assemble(*styled), layout=False)

    @on(events.DescendantFocus)
    def _pane_focused(self) -> None:
        focused = self.focused  # the event may be an earlier one, told late
        if isinstance(focused, LineView) and focused.id:
            self.pane = focused.id

    @on(CallTable.Chosen)
    def _show_chosen(self, event: CallTable.Chosen) -> None:
        self._panes.detail.show_call(event.call)

    @on(events.TextSelected)
    def _copy_selection(self) -> None:
        if selected := self.get_selected_text():
            self.app.copy_to_clipboard(selected)

    def action_pane(self, name: str) -> None:
        """Go to a pane."""
        self.pane = name
        self.set_focus(self._panes.named(name), scroll_visible=False)  # at once: the next key is meant for it

    def action_next_pane(self, step: int) -> None:
        """Go to the next pane, or the one before."""
        self.action_pane(NAMES[(NAMES.index(self.pane) + step) % len(NAMES)])

    def action_maximize_pane(self) -> None:
        """Show one pane alone, or all again."""
        self.is_maximized = not self.is_maximized

    def action_back(self) -> None:
        """Leave what was opened last: the single pane, then the detail."""
        if self.is_maximized:
            self.is_maximized = False
        elif self.pane == "detail":
            self.action_pane("calls")

    def action_integrity(self) -> None:
        """Show what stands behind the integrity line."""
        self.app.push_screen(IntegrityScreen(self._feed))

    def action_freeze(self) -> None:
        """Hold the view still; a replay is paused."""
        if self._replay is not None:
            self._replay.pause()
        else:
            self.is_frozen = not self.is_frozen
        self.pulse.at_once()

    def action_failure(self, step: int) -> None:
        """Choose the next call that failed, or the one before."""
        if not self._panes.calls.choose_failure(step):
            self.notify("no other call failed" if step > 0 else "no call failed before", markup=False)

    def action_reasoning(self) -> None:
        """Show the model's thinking, or leave it out."""
        self._panes.transcript.toggle_reasoning()

    def action_raw(self) -> None:
        """Show the chosen call as the recording has it, or as it is told."""
        self._panes.detail.toggle_raw()

    def action_copy(self) -> None:
        """Copy what is chosen in the pane, as safe text."""
        text = self._panes.chosen_text(self.pane)
        if text:
            self.app.copy_to_clipboard(text)
            self.notify(f"copied {len(text)} characters", markup=False)

    def action_pace(self, change: str) -> None:
        """Play the replay `faster` or `slower`, or let it `step` one event on."""
        if self._replay is not None:
            {"faster": self._replay.faster, "slower": self._replay.slower, "step": self._replay.step}[
                change
            ]()
            self.pulse.at_once()
