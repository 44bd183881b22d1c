"""The app that lists the saved sessions and opens one."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from agentwatch.feed.catalog import saved_sessions
from agentwatch.recording import sessions_folder
from agentwatch.safe_text import safe_line
from agentwatch.screen.terminal.base_app import TerminalApp


class Chooser(TerminalApp[Path]):
    """Lists the saved sessions; exits with the path of the selected recording."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "quit", "Quit"),
        Binding("j", "app.cursor(1)", "Down", show=False),
        Binding("k", "app.cursor(-1)", "Up", show=False),
    ]

    def compose(self) -> ComposeResult:
        """List the sessions; without any, explain how to record one."""
        self._sessions = saved_sessions()
        if self._sessions:
            yield Static(Content(" Saved sessions, newest first (enter opens one)"), id="header")
            yield OptionList(*(Option(Content(session.line())) for session in self._sessions))
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

    @on(OptionList.OptionSelected)
    def _open(self, event: OptionList.OptionSelected) -> None:
        self.exit(self._sessions[event.option_index].path)

    def action_cursor(self, step: int) -> None:
        """Move the cursor down (`step` > 0) or up."""
        sessions = self.query_one(OptionList)
        if step > 0:
            sessions.action_cursor_down()
        else:
            sessions.action_cursor_up()
