"""The app that shows a session, and the way out of it."""

from __future__ import annotations

from enum import Enum

from agentwatch.config import Config
from agentwatch.feed import Feed, preview_feed
from agentwatch.safe_text import SafeText, safe_line
from agentwatch.screen.overlays.help import Help
from agentwatch.screen.overlays.leave import LeaveChoice, LeaveDialog
from agentwatch.screen.screen import WatchScreen
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.sources.source import Source

_LARGE_BYTES = 8 << 20


class Leave(Enum):
    """How the screen was left."""

    OVER = "over"
    """No agent of ours runs any more."""
    RUNNING = "running"
    """Our agent still runs, by the user's choice."""


class AgentwatchApp(TerminalApp[Leave]):
    """Shows one session until the user leaves."""

    def __init__(
        self,
        source: Source,
        feed: Feed,
        held: HeldSignals,
        config: Config | None = None,
        *,
        no_color: bool = False,
    ) -> None:
        super().__init__(held, config, no_color=no_color)
        self._source = source
        self._feed = feed

    def get_default_screen(self) -> WatchScreen:
        """Begin with the session; of a large saved one with its two ends, while the middle is read."""
        reader = self._source.reader
        is_large = self._feed.pace is None and self._feed.backlog() > _LARGE_BYTES
        if not is_large or self._source.wakeup is not None:
            return self._screen(self._feed)
        return self._screen(preview_feed(reader), self._feed)

    def _screen(self, feed: Feed, loading: Feed | None = None) -> WatchScreen:
        return WatchScreen(self._source, feed, loading, config=self.config, write=self.write_to_terminal)

    def on_app_blur(self) -> None:
        """Remember what the user has seen."""
        if isinstance(screen := self.screen_stack[0], WatchScreen):
            screen.app_blurred()

    def on_app_focus(self) -> None:
        """Tell what happened meanwhile."""
        if isinstance(screen := self.screen_stack[0], WatchScreen):
            screen.app_focused()

    def action_suspend_process(self) -> None:
        """Give the shell its title back too."""
        if isinstance(screen := self.screen_stack[0], WatchScreen):
            screen.notices.rest()
        super().action_suspend_process()

    def action_help(self) -> None:
        """Tell every key as it is bound."""
        self.push_screen(Help(self.config.keys))

    def action_leave(self) -> None:
        """Leave; when our agent or what it started still runs, ask what is to become of it."""
        survivors = self._source.survivors()
        if self._source.runs_agent:
            self.push_screen(LeaveDialog(SafeText("The agent is still running.")), self._leave_agent)
        elif survivors:
            told = SafeText("The agent left processes running:")
            named = [safe_line(f"{survivor.pid} {survivor.name}") for survivor in survivors]
            self.push_screen(LeaveDialog(told, named), self._leave_survivors)
        else:
            self.exit(Leave.OVER)

    def action_help_quit(self) -> None:
        """Take ctrl+c, where no text is selected, for a wish to leave."""
        self.action_leave()

    async def action_quit(self) -> None:
        """Take ctrl+q and the palette's Quit the same way."""
        self.action_leave()

    def _leave_agent(self, choice: LeaveChoice | None) -> None:
        if choice is LeaveChoice.KEEP:
            self.exit(Leave.RUNNING)
        elif choice is LeaveChoice.STOP:
            self._stop("stopping the agent …")

    def _leave_survivors(self, choice: LeaveChoice | None) -> None:
        if choice is LeaveChoice.KEEP:
            self.exit(Leave.OVER)
        elif choice is LeaveChoice.STOP:
            self._stop("stopping the agent's processes …")

    def _stop(self, told: str) -> None:
        self.notify(told, markup=False, timeout=10)
        self.run_worker(self._stop_agent, thread=True)

    def _stop_agent(self) -> None:
        self._source.stop()
        self.call_from_thread(self.exit, Leave.OVER)
