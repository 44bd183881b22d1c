"""The keys that act on the session: find, filter, failures, thinking, and actions on the selected call."""

from __future__ import annotations

import os
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from agentwatch.feed.feed import Feed
from agentwatch.screen.keys import bindings
from agentwatch.screen.screens.session.remembered import remember
from agentwatch.screen.screens.session.workspace import Workspace
from agentwatch.screen.terminal.editor import line_of, open_in_editor
from agentwatch.session.call import Call
from agentwatch.sources.source import Source
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, safe_line


class SessionKeys(Vertical):
    """A workspace, and the keys that work in every pane of it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("session")

    class NothingToClose(Message):
        """Posted when the user goes back, and there is nothing to close or undo in the session."""

    def __init__(self, workspace: Workspace, feed: Feed, source: Source) -> None:
        """Create the keys for `workspace`, which shows the session of `feed`.

        Args:
            workspace: The panes.
            feed: The feed of the session.
            source: Where the session comes from: its path, or its address on another machine.
        """
        super().__init__()
        self._source = source
        self._workspace = workspace
        self._panes = workspace.panes
        self._feed = feed

    def show(self, feed: Feed) -> None:
        """Act on another moment of the same session."""
        self._feed = feed
        self._panes.show(feed)
        self._workspace.plan.show(feed.session)
        self._workspace.selection.go_on(feed)

    def show_now(self, feed: Feed, now_ms: int | None) -> None:
        """Show another moment, and update every pane; `now_ms` is the session's time at that moment."""
        self.show(feed)
        self._workspace.sync(now_ms)

    def take_newest(self) -> None:
        """Prepare the panes for the newest moment, and search it, while an earlier one is shown."""
        self._panes.take_newest()
        self._workspace.find_bar.sync()

    def compose(self) -> ComposeResult:
        """Lay out the workspace alone."""
        yield self._workspace

    def action_back(self) -> None:
        """Close or undo one thing: find bar, hold on a failure, maximized pane, detail, filter."""
        workspace = self._workspace
        if workspace.find_bar.close() or workspace.selection.release():
            return
        if workspace.is_maximized:
            workspace.is_maximized = False
        elif workspace.pane == "detail":
            workspace.action_pane("calls")
        elif not workspace.filter_bar.clear():
            self.post_message(self.NothingToClose())

    def action_find(self) -> None:
        """Open the find bar, which searches the whole session."""
        self._workspace.filter_bar.close()
        self._workspace.find_bar.open(self._workspace.pane)

    def action_find_step(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) match."""
        if not self._workspace.find_bar.step(direction, self._workspace.pane):
            self.notify("no search yet (press /)", markup=False)

    def action_filter_calls(self) -> None:
        """Go to the calls pane and open the filter bar."""
        self._workspace.filter_calls()

    def action_slowest_calls(self) -> None:
        """Go to the calls pane and toggle between the slowest calls first and the order by time."""
        self._workspace.action_pane("calls")
        self._panes.calls.action_slowest()

    def action_show_in_transcript(self) -> None:
        """Go to the selected call's line in the transcript; from the detail pane, to that of its call."""
        if (call := self._call_in_view()) is not None:
            self._workspace.action_pane("transcript")
            self._panes.transcript.reveal_call(call)
            self._panes.calls.choose_call(call)

    def _call_in_view(self) -> Call | None:
        """Return the selected call; in the detail pane, the call that it shows."""
        panes, is_in_detail = self._panes, self._workspace.pane == "detail"
        return panes.detail.call if is_in_detail else panes.calls.chosen

    def action_failure(self, step: int) -> None:
        """Select the next (1) or previous (-1) failed call; after the last comes the first."""
        calls = self._panes.calls
        self._workspace.selection.release()
        number, count = calls.choose_failure(step)
        shown = " among the calls shown" if calls.listed.requested_filter else ""
        self.notify(f"failure {number} of {count}{shown}" if count else f"no failure{shown}", markup=False)

    def action_integrity(self) -> None:
        """Show the details of the integrity check."""
        from agentwatch.screen.screens.session.integrity import IntegrityScreen

        self.app.push_screen(IntegrityScreen(self._feed))

    def action_reasoning(self) -> None:
        """Show the model's thinking in full, or fold it."""
        self._panes.transcript.toggle_reasoning()

    def action_times(self) -> None:
        """Show or hide the times of day in the transcript, and remember it."""
        times = self._panes.transcript.times
        times.show(not times.is_shown)
        remember("times", shown=times.is_shown)

    def action_raw(self) -> None:
        """Toggle the detail pane between the raw lines of the recording and their decoded content."""
        self._panes.detail.toggle_raw()

    def action_open_file(self) -> None:
        """Open the selected call's file in the user's editor, at the line that the call is about."""
        if self._source.elsewhere is not None:
            self.notify("the files of this session are on another machine", markup=False)
            return
        call = self._call_in_view()
        places = (call.result_place, call.arguments_place) if call is not None and call.path else ()
        line = line_of(
            block
            for place in places
            if call is not None and place is not None
            for block in self._feed.blocks(place, call.call_id)
        )
        open_in_editor(self.app, call, self._feed.session, line)

    def action_export(self) -> None:
        """Ask for a format, and write the session in it, without secrets."""
        from agentwatch.screen.screens.session.export import offer_export

        offer_export(self.app, self._source.path)

    def action_copy(self) -> None:
        """Copy the text that the focused pane offers, as safe text; of a call, its address and action."""
        what, text = self._panes.copied(self._workspace.pane)
        address = _address(self._source)
        if address and self._panes.has_numbers and _is_call(what):
            text = SafeText(f"{safe_line(address)}{what} {text}")
            what = SafeText(f"{what} with its address")
        if text:
            self.app.copy_to_clipboard(text)
            self.notify(f"copied {what}, {plural(text.count(chr(10)) + 1, 'line')}", markup=False)
        else:
            self.notify("nothing to copy here", markup=False)


def _address(source: Source) -> str:
    """Return the address by which commands can open a session; empty if it has none."""
    if source.elsewhere is not None:
        return source.elsewhere.address
    return "" if source.path is None else os.path.abspath(source.path)


def _is_call(what: SafeText) -> bool:
    """Return whether a pane offers the action of a call: it names no part of the call, `#12's output`."""
    return what.startswith("#") and what[1:].isdecimal()
