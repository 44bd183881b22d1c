"""What every app does that shows sessions: focus, suspending, help, the palette, and the keys that quit."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand
from textual.binding import ActiveBinding
from textual.dom import DOMNode
from textual.screen import Screen

from agentwatch.screen.keymap import key_label
from agentwatch.screen.screen import WatchScreen
from agentwatch.screen.terminal.base_app import Result, TerminalApp

if TYPE_CHECKING:
    from agentwatch.screen.machine.opening import OpenSession

_COLLECT_SECONDS = 0.3
"""The time after which the memory of a closed session is collected: the screen below it is drawn by then."""


class SessionApp(TerminalApp[Result]):
    """An app that shows sessions, each in a screen of its own."""

    _being_closed = 0
    """The number of sessions that are being closed."""

    @property
    def session_screen(self) -> WatchScreen | None:
        """The screen of the session that is open, below its dialogs; None if none is open."""
        return next((screen for screen in self.screen_stack if isinstance(screen, WatchScreen)), None)

    async def close_session(self, session: OpenSession) -> None:
        """Remove the screen of a session, and close the session."""
        while self.session_screen is not None:
            await self.pop_screen()
        self._being_closed += 1
        await asyncio.to_thread(session.close)
        self._being_closed -= 1
        self.set_timer(_COLLECT_SECONDS, gc.collect)

    def on_app_blur(self) -> None:
        """Record what the user has seen of the session, because the terminal lost the focus."""
        if (screen := self.session_screen) is not None:
            screen.app_blurred()

    def on_app_focus(self) -> None:
        """Show what happened in the session while the terminal did not have the focus."""
        if (screen := self.session_screen) is not None:
            screen.app_focused()

    def action_suspend_process(self) -> None:
        """Suspend the job; restore the terminal's title first."""
        if (screen := self.session_screen) is not None:
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
        from agentwatch.screen.overlays.help import Help

        self.push_screen(Help(self.config.keys))

    def action_leave(self) -> None:
        """Quit."""
        raise NotImplementedError

    def action_help_quit(self) -> None:
        """Treat ctrl+c as `leave` when no text is selected."""
        self.action_leave()

    async def action_quit(self) -> None:
        """Treat ctrl+q and the palette's Quit as `leave`."""
        self.action_leave()
