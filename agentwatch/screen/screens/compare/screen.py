"""The screen of the comparison of two runs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from agentwatch.analysis.moments import Asked, CallEnd
from agentwatch.base.config import Config
from agentwatch.base.faults import Fault
from agentwatch.output.compare.comparison import Comparison
from agentwatch.screen.keys import COMPARISON, SESSION, bindings
from agentwatch.screen.panes.key_hints import KeyHints
from agentwatch.screen.screens.compare.calls_view import CallsView
from agentwatch.screen.screens.compare.pair import PairScreen
from agentwatch.screen.screens.compare.totals import TotalsHeader
from agentwatch.screen.screens.compare.views import DifferencesView, FilesView, TextView
from agentwatch.screen.screens.session.app import SessionApp
from agentwatch.screen.screens.session.help import Help
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.screen.screens.session.workspace import Workspace
from agentwatch.screen.screens.sessions.app import OpenSession, open_session
from agentwatch.screen.terminal.frames import prepare
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.screen.terminal.themes import muted
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, columns, cut, safe_line

# The line of tabs: the views, and the number of differences in each.


class ViewTabs(Static):
    """A tab for each view; at the right, the limits of the comparison."""

    def __init__(self, comparison: Comparison, views: tuple[DifferencesView, ...]) -> None:
        super().__init__(id="compared-tabs")
        self._views = views
        self._notes = SafeText(" · ".join(_notes(comparison)))
        self._drawn: tuple[object, ...] = ()

    def highlight(self, chosen: DifferencesView) -> None:
        """Highlight the tab of the view that is shown."""
        width, dim = self.size.width, muted(self.app.current_theme)
        titles = {view: f" {view.border_title} {view.amount()} " for view in self._views}
        if columns(SafeText("".join(titles.values()))) > width:
            titles = {view: f" {view.border_title} " for view in self._views}
        drawn = (chosen, width, dim, *titles.values())
        if drawn == self._drawn:
            return
        self._drawn = drawn
        room = width - columns(SafeText("".join(titles.values()))) - 1
        notes = cut(self._notes, room) if room > len("approximate") else SafeText("")
        styled = [
            (title, "$text-accent bold reverse" if view is chosen else dim) for view, title in titles.items()
        ]
        gap = " " * max(room - columns(notes), 0)
        self.update(Content.assemble(*styled, gap, (notes, "$text-warning")), layout=False)


def _notes(comparison: Comparison) -> list[str]:
    """Return the parts that are not compared, or not compared accurately."""
    notes = [] if comparison.is_exact else ["aligned approximately"]
    for letter, count in zip("AB", comparison.left_out, strict=True):
        if count:
            notes.append(f"the last {count:,} calls of {letter} are not aligned")
    return notes


class ComparisonScreen(Screen[None]):
    """Shows the calls of two runs side by side, their files, or their final texts."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("screen"),
        *bindings("differences"),
        *bindings("comparison"),
    ]

    class SessionWanted(Message):
        """Posted when the session of a run should be opened."""

        def __init__(self, side: int, number: int | None) -> None:
            """Create the message.

            Args:
                side: 0 for the first run, 1 for the second.
                number: The number of the call at which it opens; None for its end.
            """
            super().__init__()
            self.side, self.number = side, number

    def __init__(
        self, comparison: Comparison, addresses: tuple[str, str], rebound: Mapping[str, str]
    ) -> None:
        """Create the screen.

        Args:
            comparison: The comparison.
            addresses: The addresses of the two sessions, which are copied with the number of a call.
            rebound: The user's own key bindings, by binding id.
        """
        super().__init__()
        prepare(self)
        self._comparison, self._addresses = comparison, addresses
        self._calls = CallsView(comparison)
        self._texts = TextView(comparison.text)
        self._views: tuple[DifferencesView, ...] = (self._calls, FilesView(comparison), self._texts)
        self._view: DifferencesView = self._calls
        self._totals = TotalsHeader(comparison)
        self._tabs = ViewTabs(comparison, self._views)
        self._words = Static(id="difference")
        self._hints = KeyHints(rebound, lambda: "comparison")

    def compose(self) -> ComposeResult:
        """Lay out the totals, the views, the details of the selected line, and the keys."""
        yield self._totals
        yield self._tabs
        yield from self._views
        yield self._words
        yield self._hints

    def on_mount(self) -> None:
        """Show the calls."""
        for view in self._views:
            self.watch(view, "cursor", self._show_words, init=False)
        self.watch(self.app, "theme", self._show_words, init=False)
        self._show(self._calls)

    def on_resize(self) -> None:
        """Fit the lines around the views to the new width."""
        self._totals.draw()
        self._texts.lay_out(self.size.width)
        self._show_words()
        self.call_after_refresh(self._show_words)

    def action_step(self, direction: int) -> None:
        """Select the next (1) or previous (-1) difference of the view."""
        self._view.step_with_notice(direction)

    def action_view(self, step: int) -> None:
        """Show the next (1) or the previous (-1) view."""
        self._show(self._views[(self._views.index(self._view) + step) % len(self._views)])

    def action_back(self) -> None:
        """Return to the calls."""
        self._show(self._calls)

    def action_equal(self) -> None:
        """Show all equal calls, or fold them."""
        self._show(self._calls)
        self._calls.toggle_equal()
        self._show_words()

    def action_open(self) -> None:
        """Show both calls of the selected line in full, or unfold equal calls."""
        if self._view is not self._calls:
            return
        if self._calls.unfold():
            self._show_words()
        elif self._calls.chosen is not None:
            self.app.push_screen(PairScreen(self._comparison, self._calls))

    def action_copy(self) -> None:
        """Copy the addresses of the selected calls, one per line."""
        row = self._calls.chosen if self._view is self._calls else None
        numbers = (None, None) if row is None else (row.a, row.b)
        found = [
            safe_line(f"{address}#{number}")
            for address, number in zip(self._addresses, numbers, strict=True)
            if number is not None
        ]
        if found:
            self.app.copy_to_clipboard("\n".join(found))
            self.notify(f"copied the address of {plural(len(found), 'call')}", markup=False)
        else:
            self.notify("no call is selected", markup=False)

    def action_session(self, side: int) -> None:
        """Open the session of a run at the selected call, or at the last call before the selected line."""
        number = self._calls.number_of(side) if self._view is self._calls else None
        self.post_message(self.SessionWanted(side, number))

    def _show(self, shown: DifferencesView) -> None:
        self._view = shown
        for view in self._views:
            view.display = view is shown
        self.set_focus(shown, scroll_visible=False)
        self._show_words()

    def _show_words(self) -> None:
        """Show the details of the selected line."""
        self._tabs.highlight(self._view)
        position, words = self._view.position(), self._view.words()
        line = SafeText(" · ".join(filter(None, (position, words))))
        self._words.update(Content(f" {cut(line, max(self.size.width - 2, 1))}"), layout=False)


# The app of the comparison of two runs: it shows the comparison, and opens the session of a run.

_PROBLEM_SECONDS = 10.0


class ComparisonApp(SessionApp[None]):
    """Shows the comparison of two runs, and one of their sessions at a time in the screen of a session."""

    def __init__(
        self,
        held: HeldSignals,
        comparison: Comparison,
        paths: tuple[Path, Path],
        addresses: tuple[str, str],
        config: Config | None = None,
        *,
        no_color: bool = False,
    ) -> None:
        """Create the app.

        Args:
            held: The signals that arrived before the app runs; they are handled first.
            comparison: The comparison.
            paths: The recordings, or the paths of sessions in stores.
            addresses: The addresses by which commands can open the sessions.
            config: The user's configuration; None uses the defaults.
            no_color: Whether to draw without colours.
        """
        super().__init__(held, config, no_color=no_color)
        self._comparison, self._paths, self._addresses = comparison, paths, addresses
        self._is_opening = False
        self._open: OpenSession | None = None
        """The session that is open on the screen."""

    def get_default_screen(self) -> ComparisonScreen:
        """Return the comparison."""
        return ComparisonScreen(self._comparison, self._addresses, self.config.keys)

    def action_leave(self) -> None:
        """Quit; no agent was started here."""
        self.exit()

    def action_help(self) -> None:
        """Show the help for the comparison, or for the session that is open."""
        self.push_screen(Help(self.config.keys, COMPARISON if self._open is None else SESSION))

    @on(ComparisonScreen.SessionWanted)
    def _open_wanted(self, event: ComparisonScreen.SessionWanted) -> None:
        if not self._is_opening and self._open is None:
            self._is_opening = True
            asked = None if event.number is None else Asked(CallEnd(event.number))
            self.run_worker(self._show_session(self._paths[event.side], asked))

    async def _show_session(self, path: Path, asked: Asked | None) -> None:
        try:
            session = await asyncio.to_thread(open_session, path, None)
        except Fault as fault:
            self.notify(safe_line(str(fault)), severity="error", timeout=_PROBLEM_SECONDS, markup=False)
            return
        finally:
            self._is_opening = False
        self._open = session
        screen = WatchScreen(
            session.source,
            session.first,
            asked=asked,
            config=self.config._replace(title=False, bell=False, note=False),
            write=self.write_to_terminal,
            back_to="Comparison",
        )
        await self.push_screen(screen)

    @on(Workspace.NothingToClose)
    def _back(self) -> None:
        self.run_worker(self._close())

    @on(WatchScreen.FileReplaced)
    def _leave_replaced(self) -> None:
        self.notify("the file was truncated or replaced", markup=False)
        self.run_worker(self._close())

    async def _close(self) -> None:
        """Return to the comparison, and close the session that was open."""
        if self._open is not None:
            session, self._open = self._open, None
            await self.close_session(session)
