"""Continues a session from the screen: a dialog for the prompt, and the process that runs the agent."""

from __future__ import annotations

import asyncio
import os
import shlex
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agentwatch.base.faults import Fault
from agentwatch.catalog.acting import Subject, checked, takes_queue
from agentwatch.catalog.continuing import Continued, Plan, in_folder, modes_of, planned, session_to_continue
from agentwatch.screen.screens.session.acting import say
from agentwatch.screen.screens.session.export import run_agentwatch
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.screen.widgets.input_box import LineInput
from agentwatch.text.safe import SafeText, safe_line

_MOST_PROMPT = 8000
_TYPING = "enter show the command · esc cancel"
_BACK = "esc change the prompt"


class ContinueDialog(ModalScreen[Plan | None]):
    """Asks for the prompt, then shows the command; enter runs only a command that is shown. Wider permissions
    than the session had need `y` too. A queued prompt goes to the process that has the session open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("enter", "run", "Run"),
        Binding("y", "confirm", "Run"),
        Binding("m", "narrow", "Fewer permissions"),
    ]

    def __init__(self, session: Continued, name: SafeText, *, is_queued: bool) -> None:
        super().__init__()
        self._session, self._title, self._is_queued = session, name, is_queued
        self._plan: Plan | None = None
        """The plan of the run; None while the prompt is typed."""
        self._modes = [""] if is_queued else [mode.name for mode in modes_of(session)] or [""]
        """The permissions in which it may run, the widest first; what is shown is the first one."""
        self._asks_again = False
        self._input = LineInput(placeholder="the prompt", max_length=_MOST_PROMPT, compact=True)
        self._where, self._words, self._problem = Static(), Static(classes="words"), Static()
        self._permissions = Static()
        self._box = VerticalScroll(classes="dialog", id="continue")

    def compose(self) -> ComposeResult:
        session = self._session
        holder = session.holder
        self._where.update(
            Content(safe_line(f"in {session.folder}" if holder is None else f"queued for {holder.words}"))
        )
        with self._box:
            yield Static(Content(f"Continue {self._title}"))
            yield self._where
            yield self._input
            yield self._words
            yield self._permissions
            yield self._problem

    def on_mount(self) -> None:
        self._set(None)

    @on(Input.Submitted)
    def _show(self, event: Input.Submitted) -> None:
        event.stop()
        self._plan_for(event.value)

    def _plan_for(self, text: str) -> None:
        """Show the command with a prompt, in the first of the modes and in its folder as that is now."""
        try:
            plan = planned(self._session, text, is_queued=self._is_queued, permissions=self._modes[0])
            plan = plan if self._is_queued else in_folder(plan, self._session)
        except Fault as fault:
            self._problem.update(Content(safe_line(str(fault))))
            self._problem.display = True
            return
        if plan.folder:
            self._where.update(Content(safe_line(f"in {plan.folder}")))
        self._words.update(Content(safe_line(shlex.join(plan.command))))
        self._permissions.update(Content(plan.permissions))
        self._set(plan)

    def _set(self, plan: Plan | None) -> None:
        self._plan, self._asks_again = plan, False
        self._input.display, self._words.display = plan is None, plan is not None
        self._permissions.display = plan is not None and not self._is_queued
        self._problem.display = False
        self._show_keys()
        self.set_focus(self._input if plan is None else self._box)

    def _show_keys(self) -> None:
        run = "y run it with these permissions" if self._asks_again else "enter run"
        narrow = "m fewer permissions · " if len(self._modes) > 1 else ""
        self._box.border_subtitle = Content(_TYPING if self._plan is None else f"{run} · {narrow}{_BACK}")

    def action_run(self) -> None:
        if self._plan is not None and self._plan.is_sure:
            self.dismiss(self._plan)
        elif self._plan is not None:
            self._asks_again = True
            self._show_keys()

    def action_confirm(self) -> None:
        if self._plan is not None and self._asks_again:
            self.dismiss(self._plan)

    def action_narrow(self) -> None:
        """Show the command with the next narrower permissions, and after the narrowest with the session's."""
        if self._plan is not None and len(self._modes) > 1:
            self._modes = [*self._modes[1:], self._modes[0]]
            self._plan_for(self._plan.text)

    def action_back(self) -> None:
        if self._plan is None:
            self.dismiss(None)
        else:
            self._set(None)


async def continue_session(app: TerminalApp[Any], subject: Subject, by: str) -> None:
    """Ask for a prompt, and continue a session in a process that outlives the screen. If continuing is
    forbidden, the reason is shown before the prompt is asked for."""
    path = subject.path
    if path is None:
        say(app, "this session has no recording to continue")
        return
    try:
        session = await asyncio.to_thread(session_to_continue, path, os.environ, Path.home())
        is_queued = takes_queue(session)
        checked(planned(session, "-", is_queued=is_queued), session, app.config.act, is_queued=is_queued)
    except Fault as fault:
        say(app, str(fault))
        return
    dialog = ContinueDialog(session, subject.name, is_queued=is_queued)
    if (plan := await app.push_screen_wait(dialog)) is None:
        return
    words = ["continue", "--print", "--by", by, "--mark", plan.mark]
    words += ["--queue"] if is_queued else ["--permissions", plan.confirmation]
    words += ["--", os.path.abspath(path), plan.text]  # noqa: ASYNC240 - it asks no disk

    def run() -> None:
        said, code = run_agentwatch(words, takes_stdout=is_queued)
        if code or is_queued:
            app.call_later(say, app, said or f"continue ended with exit code {code}")

    if not is_queued:
        subject.started(session.id)
        app.notify("started: the run has a row of its own in the list", markup=False)
    Thread(target=run, daemon=True).start()
