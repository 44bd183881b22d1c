"""The acts of `P`, `I` and `A`, in the list and in a session: check, ask, do, and report the result."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from agentwatch.base.faults import Fault
from agentwatch.catalog.acting import Subject, check_act
from agentwatch.screen.screens.session.dialogs import InterruptDialog
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.text.amounts import one_line
from agentwatch.text.safe import SafeText, cut, safe_line

_SAID_SECONDS = 10.0
_TITLE_COLUMNS = 32
_ID_CHARACTERS = 8


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
    try:
        check_act("continue" if what == "prompt" else what, subject, app.config.act)
    except Fault as fault:
        say(app, str(fault))
        return
    if what == "interrupt":
        dialog = InterruptDialog(subject.name, subject.agent, is_interrupted=subject.is_interrupted)
        app.push_screen(dialog, partial(_do, app, subject))
    elif what == "prompt":
        from agentwatch.screen.screens.session.continuing import continue_session

        app.run_worker(continue_session(app, subject, by))
    elif subject.answer is not None:
        subject.answer()


async def _do(app: TerminalApp[Any], subject: Subject, what: str | None) -> None:
    if what is not None:
        problem = await asyncio.to_thread(subject.do, what)
        say(app, f"cannot {what} it: {problem}" if problem else f"{what} sent", is_problem=bool(problem))
