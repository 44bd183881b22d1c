"""The state that an agent, or a hook in it, reports itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.machine.digest.parts import Turn
from agentwatch.machine.process import Process, Said
from agentwatch.machine.standing import Ground, Standing, State
from agentwatch.machine.states import words
from agentwatch.machine.states.activity import READING, has_child_since, is_silent
from agentwatch.machine.states.turns import has_failed, working
from agentwatch.wire.program import Knowledge

if TYPE_CHECKING:
    from agentwatch.machine.digest.digest import Digest

_LATER_MS = 1_000
"""The time by which a line must be newer than a report to outdate it."""


def by_report(state: State, said: Said, digest: Digest | None, now_ms: int) -> Standing:
    """Return the state that the agent says, with what its lines show about it."""
    since_ms = said.since_ms
    if state is State.ASKS:
        if since_ms is None and digest is not None:
            since_ms = digest.asked_ms
        return Standing(State.ASKS, Ground.SAID, since_ms, _question(said, digest), since_ms)
    if digest is None:
        return Standing(state, Ground.SAID, since_ms)
    if state is State.WORKING:
        calls = tuple(digest.open_calls.values())
        is_long = digest.turn is Turn.OPEN and not calls and is_silent(digest, calls, None, now_ms)
        works = working(digest, calls, Ground.SAID)
        if digest.turn is not Turn.OPEN and not calls:
            works = works._replace(now=words.BUSY)
        works = works._replace(since_ms=works.since_ms if since_ms is None else since_ms)
        return works._replace(now=words.silence_words(digest, now_ms)) if is_long else works
    if state is State.YOUR_TURN and has_failed(digest):
        state = State.TURN_FAILED
    now = words.failure_words(digest) if state is State.TURN_FAILED else words.answer_words(digest)
    if digest.turn is Turn.OPEN:
        now = ""  # the last answer belongs to an earlier prompt
    return Standing(state, Ground.SAID, since_ms, now, since_ms if now else None)


def _question(said: Said, digest: Digest | None) -> str:
    """Return what a session asks that says so itself. Its line may come later than its report."""
    if digest is not None and digest.asked:
        return digest.asked
    if digest is not None and said.about == "permission":
        agents = {call.agent for call in digest.open_calls.values()}
        calls = [call for call in digest.open_calls.values() if call.call_id not in agents]
        calls = [call for call in calls if call.kind not in READING] or calls
        if calls:
            more = f" or {len(calls) - 1} more" if calls[1:] else ""
            return f"{words.asked_words(calls[0])}{more}"
    return said.about


def is_outdated(said: Said, digest: Digest | None, process: Process | None, known: Knowledge) -> bool:
    """Return whether the lines, or a child, are newer than what a hook has said.

    A hook says that a question begins, but not that it was answered; and nothing about an interruption.
    """
    if known.is_exact or said.since_ms is None or digest is None:
        return False
    after_ms = said.since_ms + _LATER_MS
    if digest.turn_ms is not None and digest.turn_ms > after_ms:
        return True  # a turn has ended since, or another has begun
    if said.state is not State.ASKS:
        return False
    if digest.open_calls:
        return bool(process and process.children and has_child_since(process, after_ms))
    return digest.seen_ms is not None and digest.seen_ms > after_ms
