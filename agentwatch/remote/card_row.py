"""The row of a card. What a publisher writes is a claim about its own session, and is bounded here.

A claimed time is taken only as far as it can be: not later than the time at which the card was written, by
our clock, and not before there were agents.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from agentwatch.agents.reported import State
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import LIVE, UNKNOWN, Ground, Standing
from agentwatch.remote.card import FROM_ROW, Card
from agentwatch.remote.engine import SessionName, publisher_of

_EARLIEST_MS = 1_577_836_800_000
"""2020-01-01: a claimed time before it is not taken."""
_OUTCOMES = {
    "running": State.WORKING,
    "succeeded": State.SUCCEEDED,
    "failed": State.FAILED,
    "cancelled": State.FAILED,
    "unfinished": State.UNFINISHED,
}
"""The states of cards without one that is known, which those of a later version may be."""
_NO_PATH = Path()


def row_of(card: Card, session: SessionName, address: str, heard_ms: int, before: Standing = UNKNOWN) -> Row:
    """Return the row of a card.

    Args:
        card: The card.
        session: The session, as the subject of the card names it.
        address: The address of the engine.
        heard_ms: When the card was written, by our clock, in milliseconds since the epoch.
        before: The state by the card before.
    """
    standing = _standing(card, heard_ms)
    if standing.since_ms == heard_ms and before.state is standing.state:  # claimed to begin in the future
        standing = standing._replace(since_ms=before.since_ms)
    values: dict[str, Any] = {name: getattr(card, name) for name in FROM_ROW}
    values["title"] = card.title or card.prompt
    values["repo"] = card.repo or PurePosixPath(card.cwd).name
    return Row(
        **values,
        key=(address, str(session)),
        id=f"{address}/{session}",
        path=_NO_PATH,
        address=f"{address}/{session}",
        host=card.host or session.publisher,
        publisher=session.publisher if _is_other(card.host, session.publisher) else "",
        standing=standing,
        prompts=card.prompt,
        last_text=card.last if standing.state in (State.YOUR_TURN, State.SHELL) else "",
        open_calls=card.running or 0,
        began_ms=_claimed(card.started_ms, heard_ms),
        seen_ms=_claimed(card.seen_ms, heard_ms),
        size=card.bytes,
    )


def lost(row: Row, heard_ms: int) -> Row:
    """Return the row of a session that ran, and whose machine is silent.

    Args:
        row: The row of its last card.
        heard_ms: When that card was written, by our clock, in milliseconds since the epoch.
    """
    return replace(row, lost_ms=heard_ms, standing=UNKNOWN._replace(since_ms=heard_ms, now=row.standing.now))


@lru_cache(1024)  # 10 % of the time for the cards of 20,000 sessions
def _is_other(host: str, publisher: str) -> bool:
    """Return whether a publisher has another name than its machine, which it may claim to be any other."""
    return bool(host) and ("@" in host or publisher_of(host) != publisher)


def _standing(card: Card, heard_ms: int) -> Standing:
    try:
        state = State(card.state)
    except ValueError:
        state, ground = _OUTCOMES.get(card.outcome, State.UNKNOWN), Ground.INFERRED
    else:
        ground = Ground(card.ground) if card.ground in [*Ground] else Ground.INFERRED
    if state is State.UNKNOWN:
        ground = Ground.UNKNOWN
    now = " · ".join(words for words in (card.last, card.problem) if words)
    since_ms = _claimed(card.since_ms, heard_ms)
    is_calling = state in LIVE and bool(card.running)
    return Standing(state, ground, since_ms, now, is_calling=is_calling)


def _claimed(at_ms: int | None, heard_ms: int) -> int | None:
    """Return a time that a publisher claims; None for one that cannot be."""
    return None if at_ms is None or at_ms < _EARLIEST_MS else min(at_ms, heard_ms)
