"""Decides the state of a session, and says how it is known.

What the agent says itself counts first, then whether its process runs, then its last lines. A session is
never taken to have ended because it is old, nor to run because its file has changed.
"""

from __future__ import annotations

from agentwatch.events import Outcome
from agentwatch.machine.digest.digest import Digest
from agentwatch.machine.digest.parts import OpenCall, Turn
from agentwatch.machine.found import Found
from agentwatch.machine.process import Life, Process, Said
from agentwatch.machine.standing import LIVE, Ground, Standing, State
from agentwatch.machine.states import words
from agentwatch.machine.states.activity import has_child_since, is_silent, visible_calls, waiting_call
from agentwatch.machine.states.knowledge import Knowledge, knowledge_of

_AFTER_MS = 2_000
"""A process that began this long after the last line did not write it."""
_LATER_MS = 1_000
"""The time by which a line must be newer than a report to outdate it."""


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
    if said is not None and said.state is not None and not _is_outdated(said, digest, process, known):
        return _said(said.state, said, digest, now_ms)
    if digest is None or _has_no_prompt(digest):
        if digest is None and said is None:
            return Standing(State.UNKNOWN, Ground.UNKNOWN, now=words.RUNNING)
        ground = Ground.INFERRED if said is None else Ground.SAID
        return Standing(State.YOUR_TURN, ground, None if said is None else said.began_ms)
    return _live(found, digest, said, process, known, now_ms)


def _said(state: State, said: Said, digest: Digest | None, now_ms: int) -> Standing:
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
        working = _working(digest, calls, Ground.SAID)._replace(since_ms=since_ms)
        return working._replace(now=words.silence_words(digest, now_ms)) if is_long else working
    if state is State.YOUR_TURN and _has_failed(digest):
        state = State.TURN_FAILED
    now = words.failure_words(digest) if state is State.TURN_FAILED else words.answer_words(digest)
    return Standing(state, Ground.SAID, since_ms, now, since_ms if now else None)


def _question(said: Said, digest: Digest | None) -> str:
    """Return what a session asks that says so itself. Its line may come later than its report."""
    if digest is not None and digest.asked:
        return digest.asked
    if digest is not None and said.about == "permission":
        agents = {call.agent for call in digest.open_calls.values()}
        calls = [call for call in digest.open_calls.values() if call.call_id not in agents]
        if calls:
            more = f" or {len(calls) - 1} more" if calls[1:] else ""
            return f"{words.asked_words(calls[0])}{more}"
    return said.about


def _is_outdated(said: Said, digest: Digest | None, process: Process | None, known: Knowledge) -> bool:
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
    if _has_failed(digest):
        return Standing(State.FAILED, ground, since_ms, words.failure_words(digest))
    return Standing(State.SUCCEEDED, ground, since_ms)


def _live(
    found: Found, digest: Digest, said: Said | None, process: Process | None, known: Knowledge, now_ms: int
) -> Standing:
    """Return the state of a session that runs, by its process and its lines."""
    question = next((call for call in digest.open_calls.values() if call.asks), None)
    if digest.asked or question is not None:
        asked = digest.asked or (words.asked_words(question) if question else "")
        return Standing(State.ASKS, Ground.SAID, digest.asked_ms, asked, digest.asked_ms)
    if digest.turn is Turn.ENDED:
        return _turn_ended(digest, process, known)
    if not known.has_ends:
        return Standing(State.UNKNOWN, Ground.UNKNOWN, now=words.RUNNING)
    if _is_left_over(digest, process):
        if found.parent is not None:
            return Standing(State.UNFINISHED, Ground.INFERRED, digest.seen_ms)
        return Standing(State.YOUR_TURN, Ground.INFERRED, process.began_ms if process else None)
    calls = visible_calls(digest, known)
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
    return _working(digest, calls, Ground.SAID if is_said else Ground.INFERRED)


def _turn_ended(digest: Digest, process: Process | None, known: Knowledge) -> Standing:
    """Return whose turn it is after the end of a turn."""
    is_shared = process is not None and process.is_shared  # it keeps sessions open that nobody looks at
    ground = Ground.INFERRED if is_shared or known.ends_in_silence else Ground.SAID
    since_ms = digest.seen_ms if digest.turn_ms is None else digest.turn_ms
    if _has_failed(digest):
        return Standing(State.TURN_FAILED, ground, since_ms, words.failure_words(digest), since_ms)
    return Standing(State.YOUR_TURN, ground, since_ms, words.answer_words(digest), since_ms)


def _working(digest: Digest, calls: tuple[OpenCall, ...], ground: Ground) -> Standing:
    since_ms = digest.turn_ms
    if calls:
        now, now_since_ms = words.call_words(calls[0]), calls[0].started_ms
        return Standing(State.WORKING, ground, since_ms, now, now_since_ms, is_calling=True)
    return Standing(State.WORKING, ground, since_ms, words.model_words(digest), digest.seen_ms)


def _has_failed(digest: Digest) -> bool:
    """Return whether the last turn has ended in an error, or was interrupted."""
    return digest.turn is Turn.ENDED and digest.outcome not in (None, Outcome.SUCCEEDED)


def _has_no_prompt(digest: Digest) -> bool:
    """Return whether nothing was asked of the agent yet."""
    return digest.turn is Turn.NONE and digest.is_whole and not digest.calls


def _is_left_over(digest: Digest, process: Process | None) -> bool:
    """Return whether an earlier process has begun the turn that is open: the session was resumed."""
    if process is None or process.began_ms is None or digest.seen_ms is None:
        return False
    return process.began_ms > digest.seen_ms + _AFTER_MS
