"""Why a session cannot be continued, interrupted or answered: one check and one wording for each way to act.

What no setting can cure is said first, then the switch, with the file and the line to add.
"""

from __future__ import annotations

import os
from collections.abc import Container

from agentwatch.base.faults import USAGE, Fault
from agentwatch.base.files import config_file
from agentwatch.catalog.continuing import REFUSED, Continued, Plan, in_folder, planned
from agentwatch.text.safe import safe_line


def refused(why: str) -> Fault:
    """`why` may be foreign text."""
    return Fault(f"refused: {safe_line(why)}", REFUSED)


def check_switch(act: str, allowed: Container[str]) -> None:
    """Raise `Fault` unless the user has switched the act on, one of `ACTS`."""
    if act not in allowed:
        words = f"switched off: add `{act} = true` under [act] in {config_file(os.environ)}"
        raise Fault(safe_line(words), USAGE)


def check_here(host: str, act: str) -> None:
    """Raise `Fault` for a session of another machine, whose name is foreign text."""
    if host:
        raise refused(f"it is on {host}: {act} it there")


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


def check_interrupt(allowed: Container[str], *, host: str = "", is_live: bool, is_run: bool) -> None:
    """Raise `Fault` unless the agent can be interrupted. `host` is another machine, a foreign text; `is_run`
    says whether `agentwatch run` has started the agent."""
    check_here(host, "interrupt")
    if not is_live:
        raise refused("it has ended")
    if not is_run:
        raise refused("agentwatch run has not started it")
    check_switch("interrupt", allowed)


def check_answer(
    allowed: Container[str], *, host: str = "", asks: bool, is_offered: bool, can_be: bool, way: str
) -> None:
    """Raise `Fault` unless the question of a session can be answered here. `is_offered` says whether its hook
    has asked, `can_be` whether its agent has such a hook, `way` where else it is answered: a foreign text."""
    check_here(host, "answer")
    if not asks and not is_offered:
        raise refused("it asks nothing")
    if can_be:
        check_switch("answer", allowed)
    if not is_offered:
        raise refused(f"its agent takes no answer from here. {way}")
