"""The acts of `P`, `I` and `A`, in the list and in a session: check, ask, do, and report the result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from agentwatch.base.faults import Fault
from agentwatch.catalog.acting import check_answer, check_here, check_interrupt
from agentwatch.screen.screens.session.dialogs import InterruptDialog
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.text.amounts import one_line
from agentwatch.text.safe import SafeText, cut, safe_line

_SAID_SECONDS = 10.0
_TITLE_COLUMNS = 32
_ID_CHARACTERS = 8


class Subject(NamedTuple):
    """The session that a key acts on."""

    name: SafeText
    """The session's title, its short id and its tmux pane."""
    agent: str
    path: Path | None
    """The session's file; None without one."""
    do: Callable[[str], str]
    """Sends `interrupt` or `stop`; returns the reason of a failure, a foreign text. It may take seconds."""
    host: str = ""
    """The name of another machine, a foreign text; empty for this one."""
    is_live: bool = True
    is_run: bool = False
    """Whether `agentwatch run` started the agent."""
    is_interrupted: bool = False
    asks: bool = False
    can_be_answered: bool = False
    """Whether the agent has a hook that asks here."""
    answer: Callable[[], object] | None = None
    """Opens the session's question; None if no hook has asked."""
    way: str = "answer it in the agent's terminal"
    """The other way to answer the question."""
    started: Callable[[str], object] = lambda _: None
    """Called with the session's id when it is continued."""


def session_name(title: str, agent: str, session_id: str, pane: str = "") -> SafeText:
    """Return the name for messages: `“Fix the tests.” · claude 5b0c6a1e · tmux main:@0.%0`."""
    shown = cut(safe_line(one_line(title)), _TITLE_COLUMNS)
    named = safe_line(f"{agent} {session_id[:_ID_CHARACTERS]}".strip())
    parts = (f"“{shown}”" if shown else "", named, f"tmux {pane}" if pane else "")
    return SafeText(" · ".join(filter(None, parts)))


def say(app: TerminalApp[Any], words: str, *, is_problem: bool = True) -> None:
    severity = "warning" if is_problem else "information"
    app.notify(safe_line(words), severity=severity, markup=False, timeout=_SAID_SECONDS)  # type: ignore[arg-type]


def act(app: TerminalApp[Any], what: str, subject: Subject, by: str) -> None:
    """Act on a session. `what` is `prompt`, `interrupt` or `answer`; `by` is `list` or `session`."""
    allowed, live = app.config.act, subject.is_live
    try:
        if what == "interrupt":
            check_interrupt(allowed, host=subject.host, is_live=live, is_run=subject.is_run)
            dialog = InterruptDialog(subject.name, subject.agent, is_interrupted=subject.is_interrupted)
            app.push_screen(dialog, partial(_do, app, subject))
        elif what == "answer":
            check_answer(
                allowed,
                host=subject.host,
                asks=subject.asks,
                is_offered=subject.answer is not None,
                can_be=subject.can_be_answered,
                way=subject.way,
            )
            if subject.answer is not None:
                subject.answer()
        else:
            from agentwatch.screen.screens.session.continuing import continue_session

            check_here(subject.host, "continue")
            app.run_worker(continue_session(app, subject, by))
    except Fault as fault:
        say(app, str(fault))


async def _do(app: TerminalApp[Any], subject: Subject, what: str | None) -> None:
    if what is not None:
        problem = await asyncio.to_thread(subject.do, what)
        say(app, f"cannot {what} it: {problem}" if problem else f"{what} sent", is_problem=bool(problem))
