"""What the lines of a session show about its present turn, or its last one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.events import Outcome
from agentwatch.machine.digest.parts import Turn
from agentwatch.machine.standing import Ground, Standing, State
from agentwatch.machine.states import words

if TYPE_CHECKING:
    from agentwatch.machine.digest.digest import Digest
    from agentwatch.machine.digest.parts import OpenCall


def working(digest: Digest, calls: tuple[OpenCall, ...], ground: Ground) -> Standing:
    """Return that a session works, on its oldest open call or with the model."""
    since_ms = digest.turn_ms
    if calls:
        now, now_since_ms = words.call_words(calls[0]), calls[0].started_ms
        return Standing(State.WORKING, ground, since_ms, now, now_since_ms, is_calling=True)
    return Standing(State.WORKING, ground, since_ms, words.model_words(digest), digest.seen_ms)


def has_failed(digest: Digest) -> bool:
    """Return whether the last turn has ended in an error, or was interrupted."""
    return digest.turn is Turn.ENDED and digest.outcome not in (None, Outcome.SUCCEEDED)
