"""The app that shows a session, and its quit dialogs."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from agentwatch.config import Config
from agentwatch.feed import Feed
from agentwatch.feed.playhead import Replay
from agentwatch.outputs.shown.alarm_words import rule_words
from agentwatch.screen.first_shown import first_shown
from agentwatch.screen.screen import WatchScreen
from agentwatch.screen.session_app import SessionApp
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.sources.source import Source
from agentwatch.text.safe import SafeText, safe_line

if TYPE_CHECKING:
    from agentwatch.analysis.moments import Asked
    from agentwatch.screen.overlays.leave import LeaveChoice


class Leave(Enum):
    """How the screen was left."""

    OVER = "over"
    """No agent that agentwatch started is running any more."""
    RUNNING = "running"
    """The agent that agentwatch started is still running, by the user's choice."""


class AgentwatchApp(SessionApp[Leave]):
    """Shows one session until the user quits."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "C",
            "continue",
            "Continue",
            show=False,
            id="continue-agent",
            tooltip="Continue an agent that a rule has paused",
        ),
    ]

    def __init__(
        self,
        source: Source,
        feed: Feed,
        held: HeldSignals,
        config: Config | None = None,
        replay: Replay | None = None,
        asked: Asked | None = None,
        *,
        no_color: bool = False,
    ) -> None:
        """Create the app.

        Args:
            source: Where the recording comes from; it stops the agent on request.
            feed: Reads the recording into the session that is shown.
            held: The signals that arrived before the app runs; they are handled first.
            config: The user's configuration; None uses the defaults.
            replay: How to replay the recording; None to show it.
            asked: What the command line asks of the moment; None if it asks nothing.
            no_color: Whether to draw without colours.
        """
        super().__init__(held, config, no_color=no_color)
        self._source = source
        self._feed = feed
        self._replay, self._asked = replay, asked

    def get_default_screen(self) -> WatchScreen:
        """Return the session's screen."""
        is_replayed = self._replay is not None
        return WatchScreen(
            self._source,
            first_shown(self._source, self._feed, is_replayed=is_replayed),
            self._replay,
            self._asked,
            config=self.config,
            write=self.write_to_terminal,
        )

    def on_watch_screen_file_replaced(self) -> None:
        """End: whoever opened the file opens it again."""
        self.exit()

    def action_leave(self) -> None:
        """Quit; if the agent or a process that it started is still running, ask whether to stop it."""
        from agentwatch.screen.overlays.leave import LeaveDialog

        survivors = self._source.survivors()
        rule = "" if self._source.pausing is None else self._source.pausing.rule
        if rule:
            headline = SafeText(f"The agent is paused by {rule_words(rule)}. If you leave it, it continues.")
            self.push_screen(LeaveDialog(headline), self._leave_agent)
        elif self._source.runs_agent:
            self.push_screen(LeaveDialog(SafeText("The agent is still running.")), self._leave_agent)
        elif survivors:
            question = SafeText("The agent left processes running:")
            named = [safe_line(f"{survivor.pid} {survivor.name}") for survivor in survivors]
            self.push_screen(LeaveDialog(question, named), self._leave_survivors)
        else:
            self.exit(Leave.OVER)

    def action_continue(self) -> None:
        """Continue the agent, if a rule has paused it."""
        pausing = self._source.pausing
        is_resumed = pausing is not None and pausing.resume()
        self.notify("the agent continues" if is_resumed else "no rule has paused the agent", markup=False)

    def _leave_agent(self, choice: LeaveChoice | None) -> None:
        from agentwatch.screen.overlays.leave import LeaveChoice

        if choice is LeaveChoice.KEEP:
            self.exit(Leave.RUNNING)
        elif choice is LeaveChoice.STOP:
            self._stop("stopping the agent …")

    def _leave_survivors(self, choice: LeaveChoice | None) -> None:
        from agentwatch.screen.overlays.leave import LeaveChoice

        if choice is LeaveChoice.KEEP:
            self.exit(Leave.OVER)
        elif choice is LeaveChoice.STOP:
            self._stop("stopping the agent's processes …")

    def _stop(self, message: str) -> None:
        self.notify(message, markup=False, timeout=10)
        self.run_worker(self._stop_agent, thread=True)

    def _stop_agent(self) -> None:
        self._source.stop()
        self.call_from_thread(self.exit, Leave.OVER)
