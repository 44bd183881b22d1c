"""The app that shows a session, and its quit dialogs."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import SystemCommand
from textual.binding import ActiveBinding, BindingType
from textual.dom import DOMNode
from textual.screen import Screen

from agentwatch.base.clock import now_ms
from agentwatch.base.config import Config
from agentwatch.feed.feed import Feed
from agentwatch.feed.playhead import Replay
from agentwatch.screen.keys import PALETTE_ONLY, bindings, key_label
from agentwatch.screen.screens.session.screen import WatchScreen, first_shown
from agentwatch.screen.terminal.base_app import Result, TerminalApp
from agentwatch.screen.terminal.signals import PendingSignals
from agentwatch.screen.terminal.themes import theme_names
from agentwatch.sources.source import Source
from agentwatch.text.safe import SafeText, safe_line

if TYPE_CHECKING:
    from agentwatch.analysis.moments import Asked
    from agentwatch.screen.screens.sessions.app import OpenSession
    from agentwatch.sources.file import FileSource
    from agentwatch.sources.stores.intake import StoreSource


_COLLECT_SECONDS = 0.3
"""The time after which the memory of a closed session is collected: the screen below it is drawn by then."""
_PROBLEM_SECONDS = 10.0
_PAUSE_SECONDS = 0.5
_LOOK_SECONDS = 60.0
"""Starting an agent takes up to a minute."""


class SessionApp(TerminalApp[Result]):
    """Shows sessions, each in a screen of its own."""

    _being_closed = 0

    @property
    def session_screen(self) -> WatchScreen | None:
        return next((screen for screen in self.screen_stack if isinstance(screen, WatchScreen)), None)

    async def close_session(self, session: OpenSession) -> None:
        while self.session_screen is not None:
            await self.pop_screen()
        self._being_closed += 1
        await asyncio.to_thread(session.close)
        self._being_closed -= 1
        self.set_timer(_COLLECT_SECONDS, gc.collect)

    def on_app_blur(self) -> None:
        if (screen := self.session_screen) is not None:
            screen.app_blurred()

    def on_app_focus(self) -> None:
        if (screen := self.session_screen) is not None:
            screen.app_focused()

    def action_suspend_process(self) -> None:
        if (screen := self.session_screen) is not None:
            screen.notices.rest()
        super().action_suspend_process()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Yield the commands of the palette, each with its keys: first those that the line of keys names."""
        keys: dict[tuple[str, DOMNode], list[str]] = {}
        actions: dict[tuple[str, DOMNode], ActiveBinding] = {}
        for key, active in screen.active_bindings.items():
            if active.binding.id is not None and active.enabled:
                actions.setdefault((active.binding.action, active.node), active)
                pressed = keys.setdefault((active.binding.action, active.node), [])
                if not key.startswith(PALETTE_ONLY):
                    pressed.append(key_label(key))
        for (action, node), active in sorted(
            actions.items(), key=lambda each: not each[1].binding.description
        ):
            yield SystemCommand(
                active.binding.tooltip,
                " ".join(keys[action, node]),
                partial(self.run_action, action, default_namespace=node),
            )
        yield SystemCommand("Change the theme", self.theme, self.action_change_theme)

    def action_command_palette(self) -> None:
        self._choose_from("Commands", [*self.get_system_commands(self.screen)])

    def action_change_theme(self) -> None:
        themes = [
            SystemCommand(name, "in use" if name == self.theme else "", partial(self.choose_theme, name))
            for name in theme_names()
        ]
        self._choose_from("Theme", themes)

    def _choose_from(self, title: str, commands: Sequence[SystemCommand]) -> None:
        from agentwatch.screen.screens.session.help import Palette

        def run(chosen: SystemCommand | None) -> None:
            if chosen is not None:
                self.call_later(chosen.callback)

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(title, commands), run)

    def action_help(self) -> None:
        from agentwatch.screen.screens.session.help import Help

        screen = self.session_screen
        self.push_screen(Help(self.config.keys, "transcript" if screen is None else screen.workspace.pane))

    def action_act(self, what: str) -> None:
        """Act on the open session. The act is `prompt`, `interrupt` or `answer`."""
        raise NotImplementedError

    def action_leave(self) -> None:
        raise NotImplementedError

    def action_help_quit(self) -> None:
        self.action_leave()

    async def action_quit(self) -> None:
        self.action_leave()


class Leave(Enum):
    OVER = "over"
    """No agent that agentwatch started is running any more."""
    RUNNING = "running"
    """The agent that agentwatch started is still running, by the user's choice."""


class AgentwatchApp(SessionApp[Leave]):
    """Shows one session until the user quits. `held` are the signals that arrived before the app runs.
    `problem`, which is shown first, is why the user's settings are not used; empty if they are."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("session app")

    def __init__(
        self,
        source: Source,
        feed: Feed,
        held: PendingSignals,
        config: Config | None = None,
        replay: Replay | None = None,
        asked: Asked | None = None,
        *,
        no_color: bool = False,
        problem: str = "",
    ) -> None:
        super().__init__(held, config, no_color=no_color)
        self._problem = problem
        self._source = source
        self._feed = feed
        self._replay, self._asked = replay, asked

    def get_default_screen(self) -> WatchScreen:
        is_replayed = self._replay is not None
        return WatchScreen(
            self._source,
            first_shown(self._source, self._feed, is_replayed=is_replayed),
            self._replay,
            self._asked,
            config=self.config,
            write=self.write_to_terminal,
        )

    def on_mount(self) -> None:
        if self._problem:
            self.notify(safe_line(self._problem), severity="error", timeout=_PROBLEM_SECONDS, markup=False)

    def on_watch_screen_file_replaced(self) -> None:
        self.exit()

    def action_leave(self) -> None:
        from agentwatch.screen.screens.session.dialogs import LeaveDialog

        survivors = self._source.survivors()
        leave_agent = partial(self._leave, Leave.RUNNING, "the agent")
        rule = "" if self._source.pausing is None else self._source.pausing.rule
        if rule:
            from agentwatch.recording.alarms import rule_words

            headline = SafeText(f"The agent is paused by {rule_words(rule)}. If you leave it, it continues.")
            self.push_screen(LeaveDialog(headline), leave_agent)
        elif self._source.runs_agent:
            self.push_screen(LeaveDialog(SafeText("The agent is still running.")), leave_agent)
        elif survivors:
            question = SafeText("The agent left processes running:")
            named = [safe_line(f"{survivor.pid} {survivor.name}") for survivor in survivors]
            leave = partial(self._leave, Leave.OVER, "the agent's processes")
            self.push_screen(LeaveDialog(question, named), leave)
        else:
            self.exit(Leave.OVER)

    def action_continue(self) -> None:
        pausing = self._source.pausing
        if pausing is None or not pausing.resume():
            self.notify("no rule has paused the agent", markup=False)

    def action_act(self, what: str) -> None:
        from agentwatch.analysis.status import open_question
        from agentwatch.catalog.acting import Subject
        from agentwatch.screen.screens.session.acting import act, session_name

        source, session = self._source, self._feed.session
        agent, elsewhere = session.agent_name or "", source.elsewhere
        subject = Subject(
            session_name(session.run.prompt or "", agent, session.run.session_id or ""),
            agent,
            source.path,
            lambda what: source.act(what, "session"),
            host="" if elsewhere is None else elsewhere.host or "another machine",
            is_live=source.runs_agent if source.agent_pid is not None else not self._feed.is_over,
            is_run=source.agent_pid is not None,
            is_interrupted=source.is_interrupted,
            asks=bool(open_question(session, source.agent_facts())),
            started=self._follow,
        )
        act(self, what, subject, "session")

    def _follow(self, session_id: str) -> None:
        """Go to the run that continues a file, unless that is replayed."""
        from agentwatch.sources.file import FileSource
        from agentwatch.sources.stores.intake import StoreSource

        source = self._source
        if self._replay is None and isinstance(source, FileSource | StoreSource):
            self.run_worker(self._go_to_run(source, session_id, now_ms()), exclusive=True)

    async def _go_to_run(self, source: FileSource | StoreSource, session_id: str, since_ms: int) -> None:
        """End the app once the run has a recording, which is opened then. A dialog is not taken away."""
        from agentwatch.recording.acts import run_of

        until = monotonic() + _LOOK_SECONDS
        while source.continued_in is None or self.screen is not self.session_screen:
            if monotonic() > until:
                return
            await asyncio.sleep(_PAUSE_SECONDS)
            source.continued_in = await asyncio.to_thread(run_of, session_id, since_ms)
        self.exit()

    def _leave(self, kept: Leave, what: str, choice: str | None) -> None:
        """Leave as the user has chosen: keep what runs, or stop `what`; None stays."""
        if choice == "keep":
            self.exit(kept)
        elif choice == "stop":
            self.notify(f"stopping {what} …", markup=False, timeout=10)
            self.run_worker(self._stop_agent, thread=True)

    def _stop_agent(self) -> None:
        self._source.stop()
        self.call_from_thread(self.exit, Leave.OVER)
