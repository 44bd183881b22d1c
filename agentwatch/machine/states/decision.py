"""Decides the state of a session, and says how it is known.

What the agent says itself counts first, then whether its process runs, then its last lines. A session is
never taken to have ended because it is old, nor to run because its file has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.machine.digest.parts import Turn
from agentwatch.machine.process import Life, Process, Said
from agentwatch.machine.standing import LIVE, Ground, Standing, State
from agentwatch.machine.states import words
from agentwatch.machine.states.activity import is_left_over, is_silent, visible_calls, waiting_call
from agentwatch.machine.states.knowledge import knowledge_of
from agentwatch.machine.states.reports import by_report, is_outdated
from agentwatch.machine.states.turns import has_failed, working
from agentwatch.wire.found import Found
from agentwatch.wire.program import Knowledge

if TYPE_CHECKING:
    from agentwatch.machine.digest.digest import Digest


def standing(
    found: Found, digest: Digest | None, said: Said | None, process: Process | None, life: Life, now_ms: int
) -> Standing:
    """Return the state of a session at one time, and how it is known.

    Args:
        found: The session.
        digest: What its lines show; None if they were not read.
        said: What the agent, or a hook in it, says about the session.
        process: The process of the session, if it is known.
        life: Whether the process runs.
        now_ms: The present time, in milliseconds since the epoch.
    """
    known = knowledge_of(found.agent)
    if found.parent is not None and digest is not None and digest.turn is Turn.ENDED:
        return _ended(digest, Ground.SAID)  # a subagent has one turn
    if life is Life.UNKNOWN:
        return Standing(State.UNKNOWN, Ground.UNKNOWN, now=words.tail_words(digest))
    if life is Life.DEAD:
        return _dead(found, digest, said, known)
    if said is not None and said.state is not None and not is_outdated(said, digest, process, known):
        return by_report(said.state, said, digest, now_ms)
    if digest is None or _has_no_prompt(digest):
        if digest is None and said is None:
            return Standing(State.UNKNOWN, Ground.UNKNOWN, now=words.RUNNING)
        ground = Ground.INFERRED if said is None else Ground.SAID
        return Standing(State.YOUR_TURN, ground, None if said is None else said.began_ms)
    return _live(found, digest, said, process, known, now_ms)


def _dead(found: Found, digest: Digest | None, said: Said | None, known: Knowledge) -> Standing:
    if said is not None and said.state is not None and said.state not in LIVE:
        now = words.failure_words(digest) if digest is not None and said.state is State.FAILED else ""
        return Standing(said.state, Ground.SAID, said.since_ms, now)
    if digest is None:
        return Standing(State.UNKNOWN, Ground.UNKNOWN, found.metadata.changed_ms)
    if digest.turn is Turn.ENDED:
        return _ended(digest, Ground.INFERRED if known.ends_in_silence else Ground.SAID)
    if not known.has_ends:
        return Standing(State.UNKNOWN, Ground.UNKNOWN, digest.seen_ms, words.answer_words(digest))
    call = next(iter(visible_calls(digest, known)), None)
    now = "no answer" if call is None else words.asked_words(call)
    if _has_no_prompt(digest):
        now = "no prompt"
    return Standing(State.UNFINISHED, Ground.INFERRED, digest.seen_ms, now)


def _ended(digest: Digest, ground: Ground) -> Standing:
    """Return the end of a session whose last turn has ended."""
    since_ms = digest.seen_ms if digest.turn_ms is None else digest.turn_ms
    if has_failed(digest):
        return Standing(State.FAILED, ground, since_ms, words.failure_words(digest))
    return Standing(State.SUCCEEDED, ground, since_ms)


def _live(
    found: Found, digest: Digest, said: Said | None, process: Process | None, known: Knowledge, now_ms: int
) -> Standing:
    """Return the state of a session that runs, by its process and its lines."""
    if digest.asked and not is_left_over(process, digest.asked_ms):
        return Standing(State.ASKS, Ground.SAID, digest.asked_ms, digest.asked, digest.asked_ms)
    calls = visible_calls(digest, known, process)
    question = next((call for call in calls if call.asks), None)
    if question is not None:
        now, since_ms = words.asked_words(question), question.started_ms
        return Standing(State.ASKS, Ground.SAID, since_ms, now, since_ms)
    if digest.turn is Turn.ENDED:
        return _turn_ended(digest, process, known)
    if not known.has_ends:
        return Standing(State.UNKNOWN, Ground.UNKNOWN, now=words.RUNNING)
    if is_left_over(process, digest.seen_ms):
        if found.parent is not None:
            return Standing(State.UNFINISHED, Ground.INFERRED, digest.seen_ms)
        return Standing(State.YOUR_TURN, Ground.INFERRED, process.began_ms if process else None)
    is_one_liner = digest.is_one_liner or (said is not None and said.is_one_liner)
    if not is_one_liner and not (known.is_exact and found.parent is not None):
        waiting = waiting_call(calls, digest.permission_mode, process, known, now_ms)
        if waiting is not None:
            now, since_ms = words.inferred_words(waiting), waiting.started_ms
            return Standing(State.ASKS, Ground.INFERRED, since_ms, now, since_ms)
    if is_silent(digest, calls, process, now_ms):
        now = words.silence_words(digest, now_ms)
        return Standing(State.QUIET, Ground.INFERRED, digest.seen_ms, now, digest.seen_ms)
    is_said = known.is_exact and said is not None
    works = working(digest, calls, Ground.SAID if is_said else Ground.INFERRED)
    if works.since_ms is None and said is not None:
        works = works._replace(since_ms=said.began_ms)  # a stream has no time for its prompt
    return works if known.has_calls else works._replace(now=words.MODEL_OR_TOOL)


def _turn_ended(digest: Digest, process: Process | None, known: Knowledge) -> Standing:
    """Return whose turn it is after the end of a turn."""
    is_shared = process is not None and process.is_shared
    if is_shared and process is not None and process.viewers == 0:
        return _ended(digest, Ground.INFERRED)  # the daemon keeps it open, and no terminal shows it
    ground = Ground.INFERRED if is_shared or known.ends_in_silence else Ground.SAID
    since_ms = digest.seen_ms if digest.turn_ms is None else digest.turn_ms
    if has_failed(digest):
        return Standing(State.TURN_FAILED, ground, since_ms, words.failure_words(digest), since_ms)
    return Standing(State.YOUR_TURN, ground, since_ms, words.answer_words(digest), since_ms)


def _has_no_prompt(digest: Digest) -> bool:
    """Return whether nothing was asked of the agent yet."""
    return digest.turn is Turn.NONE and digest.is_whole and not digest.calls
