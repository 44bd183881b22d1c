"""Why a session cannot be continued, interrupted or answered: one check and one wording for each way to act.

What no setting can cure is said first, then the switch, with the file and the line to add.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from pathlib import Path
from typing import NamedTuple

from agentwatch.base.faults import USAGE, Fault
from agentwatch.base.files import config_file
from agentwatch.catalog.continuing import REFUSED, Continued, Plan, in_folder, planned
from agentwatch.text.safe import SafeText, safe_line


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


def refused(why: str) -> Fault:
    """`why` may be foreign text."""
    return Fault(f"refused: {safe_line(why)}", REFUSED)


def check_switch(act: str, allowed: Container[str]) -> None:
    """Raise `Fault` unless the user has switched the act on, one of `ACTS`."""
    if act not in allowed:
        words = f"switched off: add `{act} = true` under [act] in {config_file(os.environ)}"
        raise Fault(safe_line(words), USAGE)


def checked(plan: Plan, session: Continued, allowed: Container[str], *, is_queued: bool = False) -> Plan:
    """The plan in its folder, if the session can be continued now; `Fault` otherwise."""
    check_open(session, is_queued=is_queued)
    plan = plan if is_queued else in_folder(plan, session)
    check_switch("queue" if is_queued else "continue", allowed)
    return plan


def check_open(session: Continued, *, is_queued: bool = False) -> None:
    """Raise `Fault` if another process holds the session, or none does that reads its queue."""
    holder = session.holder
    if not session.is_kept:
        raise refused(f"{session.agent} does not have this session on this machine")
    if is_queued:
        process = None if holder is None else holder.process
        if session.has_one_prompt or (process is not None and process.has_one_prompt):
            raise refused("this session was started for one prompt, and never reads its queue")
        if holder is None or not holder.is_sure:
            raise refused("no process has this session open: continue it without --queue")
    elif holder is not None and holder.is_run and holder.process is not None:
        raise refused(f"it runs here (pid {holder.process.pid}): I interrupts")
    elif holder is not None:
        holds = "holds" if holder.is_sure else "may hold"
        queue = ": --queue hands it the prompt" if takes_queue(session) else ""
        raise refused(f"{holder.words} {holds} this session{queue}")


def takes_queue(session: Continued) -> bool:
    """Whether the process that holds a session takes a prompt from the vendor's queue."""
    if session.holder is None:
        return False
    try:
        planned(session, "prompt", is_queued=True)
        check_open(session, is_queued=True)
    except Fault:
        return False
    return True


def check_act(act: str, subject: Subject, allowed: Container[str]) -> None:
    """Raise `Fault` if `interrupt`, `answer` or `continue` is not possible. `checked` checks the rest of
    `continue`, for which the session must be found."""
    if subject.host:
        raise refused(f"it is on {subject.host}: {act} it there")
    if act == "interrupt":
        if not subject.is_live:
            raise refused("it has ended")
        if not subject.is_run:
            raise refused("agentwatch run has not started it")
        check_switch(act, allowed)
    elif act == "answer":
        if not subject.asks and subject.answer is None:
            raise refused("it asks nothing")
        if subject.can_be_answered:
            check_switch(act, allowed)
        if subject.answer is None:
            raise refused(f"its agent takes no answer from here. {subject.way}")
