"""The app that shows a session, and its quit dialogs."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import partial
from typing import Any

from textual.app import SystemCommand
from textual.binding import ActiveBinding
from textual.dom import DOMNode
from textual.screen import Screen

from agentwatch.analysis.moments import NOTHING_ASKED, Asked
from agentwatch.config import Config
from agentwatch.feed import Feed
from agentwatch.feed.index.kept import NOTHING_KEPT, Kept, open_kept
from agentwatch.feed.playhead import Replay
from agentwatch.feed.preview import preview_feed
from agentwatch.safe_text import SafeText, safe_line
from agentwatch.screen.keymap import key_label
from agentwatch.screen.overlays.help import Help
from agentwatch.screen.overlays.leave import LeaveChoice, LeaveDialog
from agentwatch.screen.screen import WatchScreen
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.sources.source import Source

_LARGE_BYTES = 8 << 20
"""A saved recording that is larger than this is shown as a preview until it is read."""


class Leave(Enum):
    """How the screen was left."""

    OVER = "over"
    """No agent that agentwatch started is running any more."""
    RUNNING = "running"
    """The agent that agentwatch started is still running, by the user's choice."""


class AgentwatchApp(TerminalApp[Leave]):
    """Shows one session until the user quits."""

    def __init__(
        self,
        source: Source,
        feed: Feed,
        held: HeldSignals,
        config: Config | None = None,
        replay: Replay | None = None,
        asked: Asked = NOTHING_ASKED,
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
            asked: What the command line asks of the moment.
            no_color: Whether to draw without colours.
        """
        super().__init__(held, config, no_color=no_color)
        feed.session.keep_few()
        self._source = source
        self._feed = feed
        self._replay, self._asked = replay, asked

    def get_default_screen(self) -> WatchScreen:
        """Return the session's screen; a large saved recording starts with a preview of its head and tail.

        A recording with an index needs no preview: it is shown whole.
        """
        reader, feed = self._source.reader, self._feed
        is_logged = self._source.written.log is not None  # a log is written while every line is read
        kept = NOTHING_KEPT if is_logged else open_kept(feed, reader)
        is_large = feed.backlog() > _LARGE_BYTES or (kept.restored is not None and kept.layout is None)
        if not is_large or self._replay is not None or self._source.wakeup is not None:
            return self._screen(feed, None, kept)
        return self._screen(preview_feed(reader, feed.agent), feed, kept)

    def _screen(self, feed: Feed, loading: Feed | None, kept: Kept) -> WatchScreen:
        return WatchScreen(
            self._source,
            feed,
            loading,
            self._replay,
            kept,
            self._asked,
            config=self.config,
            write=self.write_to_terminal,
        )

    def on_app_blur(self) -> None:
        """Record what the user has seen, because the terminal lost the focus."""
        if isinstance(screen := self.screen_stack[0], WatchScreen):
            screen.app_blurred()

    def on_app_focus(self) -> None:
        """Show what happened while the terminal did not have the focus."""
        if isinstance(screen := self.screen_stack[0], WatchScreen):
            screen.app_focused()

    def action_suspend_process(self) -> None:
        """Suspend the job; restore the terminal's title first."""
        if isinstance(screen := self.screen_stack[0], WatchScreen):
            screen.notices.rest()
        super().action_suspend_process()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Yield the commands of the palette: what the keys do now, each with its keys, and the themes."""
        keys: dict[tuple[str, DOMNode], list[str]] = {}
        actions: dict[tuple[str, DOMNode], ActiveBinding] = {}
        for key, active in screen.active_bindings.items():
            if active.binding.id is not None and active.enabled:
                actions.setdefault((active.binding.action, active.node), active)
                keys.setdefault((active.binding.action, active.node), []).append(key_label(key))
        for (action, node), active in actions.items():
            words = active.binding.tooltip or active.binding.description
            yield SystemCommand(
                words, " ".join(keys[action, node]), partial(self.run_action, action, default_namespace=node)
            )
        yield SystemCommand("Change the theme", "until agentwatch ends", self.action_change_theme)

    def action_help(self) -> None:
        """Show the help, with every key as it is bound."""
        self.push_screen(Help(self.config.keys))

    def action_leave(self) -> None:
        """Quit; if the agent or a process that it started is still running, ask whether to stop it."""
        survivors = self._source.survivors()
        if self._source.runs_agent:
            self.push_screen(LeaveDialog(SafeText("The agent is still running.")), self._leave_agent)
        elif survivors:
            question = SafeText("The agent left processes running:")
            named = [safe_line(f"{survivor.pid} {survivor.name}") for survivor in survivors]
            self.push_screen(LeaveDialog(question, named), self._leave_survivors)
        else:
            self.exit(Leave.OVER)

    def action_help_quit(self) -> None:
        """Treat ctrl+c as `leave` when no text is selected."""
        self.action_leave()

    async def action_quit(self) -> None:
        """Treat ctrl+q and the palette's Quit as `leave`."""
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

    def _stop(self, message: str) -> None:
        self.notify(message, markup=False, timeout=10)
        self.run_worker(self._stop_agent, thread=True)

    def _stop_agent(self) -> None:
        self._source.stop()
        self.call_from_thread(self.exit, Leave.OVER)
