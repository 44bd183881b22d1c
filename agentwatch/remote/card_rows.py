"""The rows of the cards of an engine, as many as a list can hold.

A claimed time is capped at the time at which the card was written, by our clock, and ignored before 2020.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import State
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import LIVE, UNKNOWN, Ground, SessionStatus
from agentwatch.remote.card import FROM_ROW, Card, decode
from agentwatch.remote.chunk import CARDS, LOST_TOUCH_SECONDS
from agentwatch.remote.engine import SessionName, publisher_of
from agentwatch.text.paths import last_name

_EARLIEST_MS = 1_577_836_800_000
"""2020-01-01: a claimed time before it is not taken."""
_OUTCOMES = {
    "running": State.WORKING,
    "succeeded": State.SUCCEEDED,
    "failed": State.FAILED,
    "cancelled": State.CANCELLED,
    "unfinished": State.UNFINISHED,
}
"""The states of cards without one that is known, which those of a later version may be."""
_NO_PATH = Path()


def row_of(
    card: Card, session: SessionName, address: str, heard_ms: int, before: SessionStatus = UNKNOWN
) -> Row:
    """Return the row of a card that was written at `heard_ms`, by our clock."""
    status = _status(card, heard_ms)
    if status.since_ms == heard_ms and before.state is status.state:  # claimed to begin in the future
        status = status._replace(since_ms=before.since_ms)
    values: dict[str, Any] = {name: getattr(card, name) for name in FROM_ROW}
    values["limits"] = tuple(each._replace(said_ms=_claimed(each.said_ms, heard_ms)) for each in card.limits)
    values["title"] = card.title or card.prompt
    values["repo"] = card.repo or last_name(card.cwd)
    return Row(
        **values,
        key=(address, str(session)),
        id=f"{address}/{session}",
        path=_NO_PATH,
        address=f"{address}/{session}",
        host=card.host or session.publisher,
        publisher=session.publisher if _is_other(card.host, session.publisher) else "",
        status=status,
        prompts=card.prompt,
        last_text=card.last if status.state in (State.YOUR_TURN, State.SHELL) else "",
        open_calls=card.running or 0,
        began_ms=_claimed(card.started_ms, heard_ms),
        seen_ms=_claimed(card.seen_ms, heard_ms),
        exit_code=card.exit,
        size=card.bytes,
    )


@lru_cache(1024)  # 10 % of the time for the cards of 20,000 sessions
def _is_other(host: str, publisher: str) -> bool:
    """Return whether a publisher has another name than its machine, which it may claim to be any other."""
    return bool(host) and ("@" in host or publisher_of(host) != publisher)


def _status(card: Card, heard_ms: int) -> SessionStatus:
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
    return SessionStatus(state, ground, since_ms, now, is_calling=is_calling, until_ms=card.until_ms)


def _claimed(at_ms: int | None, heard_ms: int) -> int | None:
    """Return a time that a publisher claims; None for one that cannot be."""
    return None if at_ms is None or at_ms < _EARLIEST_MS else min(at_ms, heard_ms)


_LOST_MS = LOST_TOUCH_SECONDS * 1000
_MOST_COUNTED = 200_000
"""The number of sessions beyond the limit that are counted; 70 bytes each."""


class CardRows:
    """The row of each session of an engine. One thread uses it. Beyond the limit, each publisher keeps a fair
    share: the sessions whose cards were written last. The card of a session that runs is written every 30 s.
    `most` is the number of rows that are kept."""

    def __init__(self, address: str, most: int = CARDS) -> None:
        self._address = address
        self._most = most
        self._rows: dict[Key, Row] = {}
        self._heard: dict[Key, int] = {}
        """The time, by our clock, at which the newest card of each session was written."""
        self._cards: dict[Key, int] = {}
        """The hash of the newest card of each session: a sign of life is often the same card again."""
        self._live: set[Key] = set()
        """The sessions that run, and whose machines report."""
        self._listed = Counter[str]()
        self._left_out: defaultdict[str, set[int]] = defaultdict(set)
        """The hashes of the names of the sessions beyond the limit, by their publishers."""
        self.is_changed = False
        """Whether rows have changed since they were returned."""

    @property
    def left_out(self) -> int:
        """The number of sessions known beyond the limit, up to 200,000."""
        return sum(map(len, self._left_out.values()))

    def crowds(self) -> list[tuple[str, int]]:
        numbers = [
            (publisher, self._listed[publisher] + len(names))
            for publisher, names in self._left_out.items()
            if names
        ]
        return sorted(numbers, key=lambda each: (-each[1], each[0]))

    def leave_out(self, sessions: Iterable[SessionName]) -> None:
        room = _MOST_COUNTED - self.left_out
        for session in sessions:
            names = self._left_out[session.publisher]
            before = len(names)
            if room > 0:
                names.add(hash(str(session)))
                room -= len(names) - before

    def take(self, session: SessionName, data: bytes, heard_ms: int) -> None:
        """Take a card; one that cannot be read counts as never written. `data` is empty if the card was
        removed. `heard_ms` is when the card was written, by our clock."""
        key = (self._address, str(session))
        if not data:
            self._forget(session)
            self._left_out[session.publisher].discard(hash(str(session)))
            return
        card_hash, known = hash(data), self._rows.get(key)
        if known is not None and known.lost_ms is None and self._cards[key] == card_hash:
            self._heard[key] = heard_ms
            return
        card = decode(data)
        if card is None:
            return
        before = UNKNOWN if known is None else known.status
        row = row_of(card, session, self._address, heard_ms, before)
        if known is None:
            self._listed[session.publisher] += 1
            self._left_out[session.publisher].discard(hash(key[1]))
        self._rows[key], self._heard[key], self._cards[key] = row, heard_ms, card_hash
        (self._live.add if row.status.state in LIVE else self._live.discard)(key)
        self.is_changed = self.is_changed or row != known
        if len(self._rows) > self._most + self._most // 10:
            self._leave_out()

    def lose(self, now_ms: int) -> None:
        """Mark the sessions that ran, and for which nothing was received for 90 s."""
        for key in [key for key in self._live if now_ms - self._heard[key] >= _LOST_MS]:
            row, heard_ms = self._rows[key], self._heard[key]
            status = UNKNOWN._replace(since_ms=heard_ms, now=row.status.now)
            self._rows[key] = row._replace(lost_ms=heard_ms, status=status)
            self._live.discard(key)
            self.is_changed = True

    def rows(self) -> dict[Key, Row]:
        """Return the row of each session, at most as many as the limit."""
        self.is_changed = False
        if len(self._rows) > self._most:
            self._leave_out()
        return dict(self._rows)

    def _leave_out(self) -> None:
        names = map(_name_of, sorted(self._rows, key=self._heard.__getitem__))
        oldest = beyond_shares(names, +self._listed, self._most)
        for session in oldest:
            self._forget(session)
        self.leave_out(oldest)

    def _forget(self, session: SessionName) -> None:
        key = (self._address, str(session))
        if self._rows.pop(key, None) is not None:
            del self._heard[key], self._cards[key]
            self._listed[session.publisher] -= 1
            self._live.discard(key)
            self.is_changed = True


def beyond_shares(sessions: Iterable[SessionName], counts: Mapping[str, int], most: int) -> list[SessionName]:
    """Return the sessions that exceed a limit, the first of `sessions` first. A publisher with few sessions
    keeps all of them; publishers with many keep the same number each."""
    room = share = most
    for number, count in enumerate(sorted(counts.values())):
        share = room // (len(counts) - number)
        if count > share:
            break
        room -= count
    excess = {publisher: count - share for publisher, count in counts.items() if count > share}
    left, found = sum(excess.values()), []
    for session in sessions:
        if not left:
            break
        if excess.get(session.publisher, 0) > 0:
            excess[session.publisher] -= 1
            left -= 1
            found.append(session)
    return found


def _name_of(key: Key) -> SessionName:
    return SessionName(*key[1].split("."))
