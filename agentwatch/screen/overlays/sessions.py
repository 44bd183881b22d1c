"""The app that lists the saved sessions and opens one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from agentwatch.config import Config
from agentwatch.feed.catalog import SavedSession
from agentwatch.recording import sessions_folder
from agentwatch.safe_text import safe_line
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.screen.terminal.signals import HeldSignals

_FILL_SECONDS = 0.02


class Chooser(TerminalApp[Path]):
    """Lists the saved sessions; exits with the path of the selected recording.

    The newest sessions are listed at once. The others are added a few at a time, so that keys work meanwhile:
    reading 10,000 sessions takes more than a second.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "quit", "Quit"),
        Binding("j", "app.cursor(1)", "Down", show=False),
        Binding("k", "app.cursor(-1)", "Up", show=False),
    ]

    def __init__(
        self,
        held: HeldSignals,
        sessions: Iterator[SavedSession],
        config: Config | None = None,
        *,
        no_color: bool = False,
    ) -> None:
        """Create the app.

        Args:
            held: The signals that arrived before the app runs; they are handled first.
            sessions: The saved sessions, newest first; each is read when it is due.
            config: The user's configuration; None uses the defaults.
            no_color: Whether to draw without colours.
        """
        super().__init__(held, config, no_color=no_color)
        self._unread = sessions
        self._paths: list[Path] = []

    def compose(self) -> ComposeResult:
        """List the newest sessions; without any, explain how to record one."""
        if newest := self._next_options():
            yield Static(Content(" Saved sessions, newest first (enter opens one)"), id="header")
            yield OptionList(*newest)
            self._filling = self.set_interval(_FILL_SECONDS, self._fill)
        else:
            folder = safe_line(str(sessions_folder()))
            yield Static(
                Content(
                    f"No saved sessions yet in {folder}.\n\n"
                    "  agentwatch demo                                    replays a bundled session\n"
                    "  cursor-agent -p … --output-format stream-json | agentwatch\n"
                    "  agentwatch run -- cursor-agent -p … --output-format stream-json"
                ),
                classes="empty",
            )
        yield Footer(show_command_palette=False, compact=True)

    def _fill(self) -> None:
        """Add the next sessions to the list."""
        if options := self._next_options():
            self.query_one(OptionList).add_options(options)
        else:
            self._filling.stop()

    def _next_options(self) -> list[Option]:
        """Read sessions for 20 ms, at least one, and return their rows; no rows after the last session."""
        options: list[Option] = []
        until = time.perf_counter() + _FILL_SECONDS
        for session in self._unread:
            self._paths.append(session.path)
            options.append(Option(Content(session.line())))
            if time.perf_counter() >= until:
                break
        return options

    @on(OptionList.OptionSelected)
    def _open(self, event: OptionList.OptionSelected) -> None:
        self.exit(self._paths[event.option_index])

    def action_cursor(self, step: int) -> None:
        """Move the cursor down (`step` > 0) or up."""
        sessions = self.query_one(OptionList)
        if step > 0:
            sessions.action_cursor_down()
        else:
            sessions.action_cursor_up()
