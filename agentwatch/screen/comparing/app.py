"""The app of the comparison of two runs: it shows the comparison, and opens the session of a run."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual import on

from agentwatch.analysis.moments import Asked, CallEnd
from agentwatch.comparing import Comparison
from agentwatch.config import Config
from agentwatch.faults import Fault
from agentwatch.screen.comparing.screen import ComparisonScreen
from agentwatch.screen.machine.opening import OpenSession, open_session
from agentwatch.screen.overlays.help import COMPARISON_KEYS, KEYS, Help
from agentwatch.screen.screen import WatchScreen
from agentwatch.screen.session_app import SessionApp
from agentwatch.screen.session_keys import SessionKeys
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.text.safe import safe_line

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
        self.push_screen(Help(self.config.keys, COMPARISON_KEYS if self._open is None else KEYS))

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

    @on(SessionKeys.NothingToClose)
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
