"""The panes of a session, side by side; a narrow screen shows one of them at a time."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import var

from agentwatch.feed.feed import Feed
from agentwatch.recording.remembered import remember, remembered
from agentwatch.screen.keys import bindings
from agentwatch.screen.panes.calls.pane import CallTable, FilterBar
from agentwatch.screen.panes.detail.pane import DetailView
from agentwatch.screen.panes.header import PlanView
from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.screen.screens.session.find_bar import FindBar
from agentwatch.screen.screens.session.panes import NAMES, Panes, PaneTabs, Selection
from agentwatch.screen.widgets.line_view import LineView, PaneWanted
from agentwatch.session.call import Call
from agentwatch.text.safe import SafeText

_NO_STDERR = "the agent has written nothing to stderr"


class Workspace(Vertical):
    """The panes, the to-do list above and the bars below. Calls and matches of a preview have no numbers."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("workspace")

    class NothingToClose(Message):
        """Posted when the user goes back, and there is nothing to close or undo in the session."""

    is_maximized = var(False, toggle_class="-maximized")
    pane = var("transcript")
    """The pane that has the focus; on a narrow screen, the only visible one."""

    def __init__(self, feed: Feed, *, shows_thinking: bool = False, is_preview: bool = False) -> None:
        super().__init__(id="workspace", classes="-pane-transcript")
        self._preview: Workspace | None = None
        self._wants_stderr = True
        """Whether the pane of the agent's stderr is shown once it has a line."""
        self._shows_thinking = shows_thinking
        self._detail_from = "calls"
        """The pane to which going back from the detail leads."""
        self.panes = Panes(feed, is_preview=is_preview)
        if is_preview:
            for name in NAMES:
                self.panes.named(name).empty_words = SafeText(" nothing yet: the file is still being read")
        self.plan = PlanView(feed.session)
        self.find_bar = FindBar(feed, self.panes, is_preview=is_preview)
        self.filter_bar = FilterBar(self.panes.calls)
        self._tabs = PaneTabs(self.panes)
        self.selection = Selection(feed, self.panes)

    def compose(self) -> ComposeResult:
        yield self._tabs
        yield self.plan
        with Horizontal(id="body"):
            yield self.panes.transcript
            with Vertical(id="side"):
                yield self.panes.calls
                yield self.panes.detail
        if self.has_class("-stderr"):
            yield self.panes.stderr
        yield self.find_bar
        yield self.filter_bar

    def on_mount(self) -> None:
        self.watch_pane(self.pane)
        if self._preview is None:
            self._show_stderr(remembered("stderr", bool) is not False)
            self.panes.transcript.times.show(remembered("times", bool) is True)
        if self._shows_thinking:
            self.panes.transcript.toggle_reasoning()
        self.watch(self.panes.transcript, "has_thought", self.panes.light_calls)
        self.action_pane(self.pane)

    def take_over(self, preview: Workspace) -> None:
        """Take over focus, maximized pane and thinking state from the preview that it replaces."""
        self.set_reactive(Workspace.pane, preview.pane)
        self.set_reactive(Workspace.is_maximized, preview.is_maximized)
        self._shows_thinking = preview.panes.transcript.viewport.layout.shows_thinking
        self._preview = preview
        self.panes.stderr.take_over(preview.panes.stderr)
        self._show_stderr(preview._wants_stderr)
        self.panes.transcript.times.show(preview.panes.transcript.times.is_shown)

    def restore_from_preview(self) -> None:
        if self._preview is not None:
            self.panes.restore_from_preview(self._preview.panes)
            self.filter_bar.resume(self._preview.filter_bar)
            self.find_bar.resume(self._preview.find_bar, self.pane)
            self._preview = None

    def show(self, feed: Feed) -> None:
        self.panes.show(feed)
        self.plan.show(feed.session)
        self.selection.go_on(feed)

    def show_now(self, feed: Feed, now_ms: int | None) -> None:
        self.show(feed)
        self.sync(now_ms)

    def take_newest(self) -> None:
        self.panes.take_newest()
        self.find_bar.sync()

    def sync(self, now_ms: int | None, *, is_streaming: bool = False) -> float:
        """Update every pane, while lines arrive (`is_streaming`) those of calls ten times a second; return
        the seconds until these are due, 0 if they are up to date."""
        wait = self.panes.sync(now_ms, is_streaming=is_streaming)
        self.plan.sync()
        self.find_bar.sync()
        if not wait:
            self.selection.sync()
            self._tabs.highlight(self.pane)
        return wait

    def watch_pane(self, pane: str) -> None:
        """Set the class by which the stylesheet shows the pane on a narrow screen, and update the tabs."""
        if pane != "transcript":
            self.panes.transcript.leave_thought()
        self.update_classes({f"-pane-{name}": name == pane for name in NAMES})
        self._tabs.highlight(self.pane)

    def show_call(self, call: Call | None) -> None:
        if call is not None:
            self.panes.calls.choose_call(call)
            self.action_pane("calls")

    @on(events.DescendantFocus)
    def _pane_focused(self) -> None:
        focused = self.screen.focused  # the event may arrive after the focus has moved on
        if isinstance(focused, LineView) and focused.id in NAMES:
            self.pane = focused.id

    @on(CallTable.Chosen)
    def _show_chosen(self) -> None:
        chosen = self.panes.calls.chosen
        if chosen is not None:
            self.selection.follow(chosen)

    @on(CallTable.Picked)
    def _bring_chosen(self, event: CallTable.Picked) -> None:
        if event.call is self.panes.calls.chosen:  # otherwise another call was selected since
            self.panes.bring_chosen()

    @on(DetailView.Stepped)
    def _step_to_call(self, event: DetailView.Stepped) -> None:
        self.selection.step(event.step)

    @on(Transcript.CallChosen)
    def _choose_call(self, event: Transcript.CallChosen) -> None:
        is_alone = self.is_maximized or self.screen.has_class("-narrow")
        if event.goes_there and is_alone:
            self.selection.release()
        self.panes.calls.choose_call(event.call)
        if event.goes_there:
            self.action_pane("detail" if is_alone else "calls")
            self._detail_from = "transcript" if is_alone else "calls"

    @on(FindBar.Shown)
    def _show_found(self, event: FindBar.Shown) -> None:
        if isinstance(self.screen.focused, LineView):
            self.action_pane(event.pane)
        else:
            self.pane = event.pane

    @on(PaneWanted)
    def _go_to_pane(self, event: PaneWanted) -> None:
        self.action_pane(event.pane)

    @on(PaneTabs.Clicked)
    def _go_to_tab(self, event: PaneTabs.Clicked) -> None:
        self.action_pane(event.name)

    def action_filter_calls(self, words: str | None = None) -> None:
        self.find_bar.close()
        self.action_pane("calls")
        if words is None:
            self.filter_bar.open()
        else:
            self.panes.calls.filter_by(words)

    def action_pane(self, name: str) -> None:
        """Focus a pane; stderr is shown for it until it is hidden again."""
        if name not in self.panes.names:
            self._show_stderr(True)
        if name not in self.panes.names:
            self.notify(_NO_STDERR, markup=False)
            return
        self.pane, self._detail_from = name, "calls"
        self.screen.set_focus(
            self.panes.named(name), scroll_visible=False
        )  # immediately, because the next key is meant for this pane

    def action_next_pane(self, step: int) -> None:
        names = self.panes.names
        self.action_pane(names[(names.index(self.pane) + step) % len(names)])

    def action_toggle_stderr(self) -> None:
        shown = "stderr" not in self.panes.names
        remember("stderr", None if shown else False, self.notify)
        self._show_stderr(shown)
        self._tabs.highlight(self.pane)
        if not shown and self.pane == "stderr":
            self.action_pane("transcript")
        elif shown and "stderr" not in self.panes.names:
            self.notify(_NO_STDERR, markup=False)

    def add_stderr(self, lines: list[str]) -> None:
        self.panes.stderr.add(lines)
        self._show_stderr(self._wants_stderr)
        self._tabs.highlight(self.pane)

    def _show_stderr(self, wanted: bool) -> None:
        self._wants_stderr = wanted
        shown = wanted and self.panes.stderr.line_count() > 0
        if shown and self.is_attached and not self.panes.stderr.is_attached:
            self.mount(self.panes.stderr, before=self.find_bar)
        self.panes.names = NAMES if shown else NAMES[:-1]
        self.set_class(shown, "-stderr")

    def action_back(self) -> None:
        """Close or undo one thing: find bar, hold on a failure, maximized pane, detail, filter."""
        if self.find_bar.close() or self.selection.release():
            return
        if self.is_maximized:
            self.is_maximized = False
        elif self.pane == "detail":
            self.action_pane(self._detail_from)
        elif not self.filter_bar.clear():
            self.post_message(self.NothingToClose())

    def action_find(self) -> None:
        self.filter_bar.close()
        self.find_bar.open(self.pane)

    def action_find_step(self, direction: int) -> None:
        if not self.find_bar.step(direction, self.pane):
            self.notify("no search yet (press /)", markup=False)

    def action_slowest_calls(self) -> None:
        self.action_pane("calls")
        self.panes.calls.action_slowest()

    def action_in_transcript(self) -> None:
        """Go to the selected call's line in the transcript; from the detail pane, to that of its call."""
        if (call := self.call_in_view()) is None:
            self.notify("no call is selected", markup=False)
        else:
            self.action_pane("transcript")
            self.panes.transcript.reveal_call(call)
            self.panes.calls.choose_call(call)

    def call_in_view(self) -> Call | None:
        panes, is_in_detail = self.panes, self.pane == "detail"
        return panes.detail.call if is_in_detail else panes.calls.chosen

    def action_failure(self, step: int) -> None:
        self.selection.release()
        self.notify(self.panes.calls.choose_failure(step), markup=False)

    def action_reasoning(self) -> None:
        self.panes.transcript.toggle_reasoning()

    def action_times(self) -> None:
        times = self.panes.transcript.times
        times.show(not times.is_shown)
        remember("times", times.is_shown, self.notify)

    def action_raw(self) -> None:
        self.panes.detail.toggle_raw()
