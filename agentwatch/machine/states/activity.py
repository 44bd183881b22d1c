"""What the process of a session and its open calls show: a command that runs, or one that waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentwatch.events import ToolKind
from agentwatch.machine.process import Process
from agentwatch.machine.states.knowledge import may_ask
from agentwatch.wire.program import CHANGES, Knowledge

if TYPE_CHECKING:
    from agentwatch.machine.digest.digest import Digest
    from agentwatch.machine.digest.parts import OpenCall

_BEFORE_MS = 1_000
"""A child that is this much older than a call may still be its command: the call gets its time when its line
is written, and starts of processes are known to 10 ms."""
_WAITING_MS = {ToolKind.EXECUTE: 2_000, ToolKind.FETCH: 60_000, **dict.fromkeys(CHANGES, 10_000)}
"""The duration from which a call that may ask, and of which nothing else is seen, is taken to ask. A command
without a child process does not run. A change of a file takes milliseconds, a download up to a minute."""
READING = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.THINK, ToolKind.PLAN})
"""Kinds of calls that no agent asks for, as a rule."""
_QUICK = READING | CHANGES
"""Kinds of calls that end at once. One that is still open waits for the other calls of its step: some agents
write all results together."""
_AFTER_MS = 2_000
"""What is older than a process by this time, the process has not written."""
_LEAST_QUIET_MS = 60_000
_TIMES_THE_USUAL = 3
_PATIENCE_MS = 600_000
"""The tolerated silence while the conversation is compacted or a retry is due, as in an open session."""


def has_child_since(process: Process | None, then_ms: int | None) -> bool | None:
    """Return whether a child process has begun since a time; None if it is unknown."""
    if process is None:
        return None
    if not process.children:
        return False
    if process.child_began_ms is None or then_ms is None:
        return None
    return process.child_began_ms >= then_ms - _BEFORE_MS


def is_left_over(process: Process | None, then_ms: int | None) -> bool:
    """Return whether something belongs to an earlier process: the session was resumed since."""
    if process is None or process.began_ms is None or then_ms is None:
        return False
    return process.began_ms > then_ms + _AFTER_MS


def visible_calls(digest: Digest, known: Knowledge, process: Process | None = None) -> tuple[OpenCall, ...]:
    """Return the open calls, the oldest first; none of an agent that does not write them in time.

    Args:
        digest: The digest of the session.
        known: What is known about the agent.
        process: The process of the session. Calls of an earlier one are left out: it was killed.
    """
    if not known.has_calls:
        return ()
    return tuple(call for call in digest.open_calls.values() if not is_left_over(process, call.started_ms))


def waiting_call(
    calls: Sequence[OpenCall], mode: str, process: Process | None, known: Knowledge, now_ms: int
) -> OpenCall | None:
    """Return the oldest open call that seems to wait for permission.

    Args:
        calls: The open calls.
        mode: The permission mode of the session.
        process: The process of the session, if it is known.
        known: What is known about the agent.
        now_ms: The present time, in milliseconds since the epoch.

    Returns:
        The call; None if a call seems to run, which may be a reason for the silence of the others.
    """
    if process is None:
        return None
    with_calls = {call.agent for call in calls}
    waiting = None
    for call in calls:
        if call.call_id in with_calls:
            continue  # a subagent, whose own calls are open
        if not may_ask(known, mode, call.kind):
            if call.kind not in _QUICK:
                return None
            continue
        if call.started_ms is None or now_ms - call.started_ms < _WAITING_MS[call.kind]:
            return None
        if _may_run(process, call):
            return None
        waiting = waiting or call
    return waiting


def _may_run(process: Process, call: OpenCall) -> bool:
    """Return whether a call may run: it has a process, or the agent itself is busy."""
    is_busy = process.is_idle is False and not process.is_shared  # a daemon may work for another session
    return is_busy or has_child_since(process, call.started_ms) is not False


def is_silent(digest: Digest, calls: Sequence[OpenCall], process: Process | None, now_ms: int) -> bool:
    """Return whether nothing has happened for longer than is usual, and no call and no child explains it.

    Args:
        digest: The digest of the session.
        calls: The open calls.
        process: The process of the session, if it is known.
        now_ms: The present time, in milliseconds since the epoch.
    """
    if digest.seen_ms is None or now_ms - digest.seen_ms <= _tolerated_ms(digest):
        return False
    if not calls:
        return not has_child_since(process, digest.seen_ms)
    return all(
        call.kind is ToolKind.EXECUTE and has_child_since(process, call.started_ms) is False for call in calls
    )


def _tolerated_ms(digest: Digest) -> int:
    if digest.is_compacting or digest.retry:
        return _PATIENCE_MS
    return max(_LEAST_QUIET_MS, _TIMES_THE_USUAL * (digest.usual_pause_ms or 0))
