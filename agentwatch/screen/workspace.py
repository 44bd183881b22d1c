"""The panes of a session side by side, or one of them where there is room for one; and their keys."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.reactive import var

from agentwatch.feed import Feed
from agentwatch.screen.calls.new_failures import NewFailures
from agentwatch.screen.calls.pane import CallTable
from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.overlays.find_bar import FindBar
from agentwatch.screen.panes import NAMES, Panes
from agentwatch.screen.plan import TodoLine
from agentwatch.screen.tabs import PaneTabs
from agentwatch.screen.terminal.editor import open_in_editor
from agentwatch.screen.transcript.pane import Transcript
from agentwatch.session import Call


class Workspace(Vertical):
    """Transcript, calls, detail and actions, the to-do list above them and the line of `/` below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "next_pane(1)", "Pane", show=False, id="next-pane", tooltip="The next pane"),
        Binding("shift+tab", "next_pane(-1)", "Pane before", show=False, id="previous-pane"),
        Binding("1", "pane('transcript')", "Transcript", show=False, id="transcript"),
        Binding("2", "pane('calls')", "Calls", show=False, id="calls"),
        Binding("3", "pane('detail')", "Detail", show=False, id="detail"),
        Binding("4", "pane('log')", "Actions", show=False, id="actions"),
        Binding(
            "m", "maximize_pane", "Maximise", show=False, id="maximise", tooltip="One pane alone, and back"
        ),
        Binding("escape", "back", "Back", show=False, id="back"),
        Binding("slash", "find", "Find", key_display="/", id="find", tooltip="Search everywhere"),
        Binding("n", "find_step(1)", "Next found", show=False, id="next-found"),
        Binding("N", "find_step(-1)", "Found before", show=False, id="previous-found"),
        Binding("f", "filter_calls", "Filter", id="filter-calls", tooltip="Only the calls that match words"),
        Binding("s", "slowest_calls", "Slowest", show=False, id="slowest-calls"),
        Binding("backspace", "show_in_transcript", "In transcript", show=False, id="show-in-transcript"),
        Binding("e", "failure(1)", "Failure", id="next-failure", tooltip="The next call that failed"),
        Binding("E", "failure(-1)", "Failure before", show=False, id="previous-failure"),
        Binding("t", "reasoning", "Thinking", show=False, id="thinking"),
        Binding("r", "raw", "Raw", show=False, id="raw"),
        Binding(
            "o", "open_file", "Open file", show=False, id="open-file", tooltip="The call's file in $EDITOR"
        ),
        Binding("y", "copy", "Copy", show=False, id="copy", tooltip="Copy what is chosen"),
    ]

    is_maximized = var(False, toggle_class="-maximized")
    pane = var("transcript")
    """The pane that has the focus, and the only one shown where there is room for one."""

    def __init__(self, feed: Feed, *, shows_thinking: bool = False, is_preview: bool = False) -> None:
        """Show what `feed` has read, with the thoughts that are done or with these folded."""
        super().__init__(id="workspace", classes="-pane-transcript")
        self._glimpse: Workspace | None = None
        self._shows_thinking = shows_thinking
        self._feed = feed
        self.panes = Panes(feed)
        self._todo = TodoLine(feed)
        self.find_bar = FindBar(feed, self.panes, is_preview=is_preview)
        self._tabs = PaneTabs(self.panes)
        self._failures = NewFailures(feed)
        self._failure: Call | None = None
        """The call that failed last while the newest calls were followed: its detail stays open."""

    def compose(self) -> ComposeResult:
        """Lay out the panes; the sheet says which are shown at which size."""
        yield self._tabs
        yield self._todo
        with Horizontal(id="body"):
            yield self.panes.transcript
            with Vertical(id="side"):
                yield self.panes.calls
                yield self.panes.detail
        yield self.panes.log
        yield self.find_bar

    def on_mount(self) -> None:
        """Give the keys to the pane where the user is."""
        self.watch_pane(self.pane)
        if self._shows_thinking:
            self.panes.transcript.toggle_reasoning()
        self.action_pane(self.pane)

    def take_over(self, preview: Workspace) -> None:
        """Begin where the user is in a glimpse of the session, whose place this takes."""
        self.set_reactive(Workspace.pane, preview.pane)
        self.set_reactive(Workspace.is_maximized, preview.is_maximized)
        self._shows_thinking = preview.panes.transcript.thoughts.are_shown
        self._glimpse = preview

    def restore_from_preview(self) -> None:
        """Show what the glimpse showed, each line where it stood there."""
        if self._glimpse is not None:
            self.panes.restore_from_preview(self._glimpse.panes)
            self.find_bar.resume(self._glimpse.find_bar, self.pane)
            self._glimpse = None

    def sync(self, now_ms: int | None) -> None:
        """Let everything take what is new; of what fails while it is watched, the detail opens."""
        failure = self._failures.newest()
        self.panes.sync(now_ms)
        self._todo.sync()
        self.find_bar.sync()
        if failure is not None and self.panes.calls.following:
            self._failure = failure
            self.panes.detail.show_call(failure)
        self._tabs.tell(self.pane)

    def watch_pane(self, pane: str) -> None:
        """Tell the sheet which pane is shown where there is room for one."""
        self.update_classes({f"-pane-{name}": name == pane for name in NAMES})
        self._tabs.tell(self.pane)

    def show_call(self, call: Call) -> None:
        """Go to the calls, and choose one."""
        self.panes.calls.choose_call(call)
        self.action_pane("calls")

    @on(events.DescendantFocus)
    def _pane_focused(self) -> None:
        focused = self.screen.focused  # the event may be an earlier one, told late
        if isinstance(focused, LineView) and focused.id in NAMES:
            self.pane = focused.id

    @on(CallTable.Chosen)
    def _show_chosen(self, event: CallTable.Chosen) -> None:
        if self._failure is None or not self.panes.calls.following:
            self._failure = None
            self.panes.detail.show_call(event.call)

    @on(Transcript.CallChosen)
    def _go_to_call(self, event: Transcript.CallChosen) -> None:
        self.panes.calls.choose_call(event.call)
        if event.goes_there:
            self.action_pane("calls")

    @on(FindBar.Shown)
    def _show_found(self, event: FindBar.Shown) -> None:
        if isinstance(self.screen.focused, LineView):
            self.action_pane(event.pane)
        else:
            self.pane = event.pane

    @on(FindBar.Closed)
    def _leave_find(self, event: FindBar.Closed) -> None:
        self.action_pane(event.pane)

    def action_pane(self, name: str) -> None:
        """Go to a pane."""
        self.pane = name
        self.screen.set_focus(
            self.panes.named(name), scroll_visible=False
        )  # at once: the next key is meant for it

    def action_next_pane(self, step: int) -> None:
        """Go to the next pane, or the one before."""
        self.action_pane(NAMES[(NAMES.index(self.pane) + step) % len(NAMES)])

    def action_maximize_pane(self) -> None:
        """Show one pane alone, or all again."""
        self.is_maximized = not self.is_maximized

    def action_back(self) -> None:
        """Leave what was opened last: what was found, the single pane, the detail."""
        if self.find_bar.close():
            return
        if self.is_maximized:
            self.is_maximized = False
        elif self.pane == "detail":
            self.action_pane("calls")

    def action_find(self) -> None:
        """Look for a text everywhere."""
        self.find_bar.open(self.pane)

    def action_find_step(self, direction: int) -> None:
        """Go to the next place where it was found, or the one before."""
        if not self.find_bar.step(direction, self.pane):
            self.notify("nothing was looked for yet: /", markup=False)

    def action_filter_calls(self) -> None:
        """Go to the calls, and type the words that filter them."""
        self.action_pane("calls")
        self.panes.calls.action_filter()

    def action_slowest_calls(self) -> None:
        """Go to the calls, and show the slowest first, or all by time again."""
        self.action_pane("calls")
        self.panes.calls.action_slowest()

    def action_show_in_transcript(self) -> None:
        """Go to the transcript, to the line of the chosen call; from the detail, of the call shown there."""
        call = self.panes.detail.call if self.pane == "detail" else self.panes.calls.chosen
        if call is not None:
            self.action_pane("transcript")
            self.panes.transcript.reveal_call(call)

    def action_failure(self, step: int) -> None:
        """Choose the next call that failed, or the one before."""
        if not self.panes.calls.choose_failure(step):
            shown = " among those shown" if "hidden by" in self.panes.calls.title else ""
            words = "no other call failed" if step > 0 else "no call failed before"
            self.notify(f"{words}{shown}", markup=False)

    def action_reasoning(self) -> None:
        """Show the model's thinking, or fold it."""
        self.panes.transcript.toggle_reasoning()

    def action_raw(self) -> None:
        """Show the chosen call as the recording has it, or as it is told."""
        self.panes.detail.toggle_raw()

    def action_open_file(self) -> None:
        """Open the chosen call's file in the user's editor."""
        open_in_editor(self.app, self.panes.calls.chosen, self._feed.session)

    def action_copy(self) -> None:
        """Copy what is chosen in the pane, as safe text."""
        text = self.panes.chosen_text(self.pane)
        if text:
            self.app.copy_to_clipboard(text)
            self.notify(f"copied {len(text)} characters", markup=False)
