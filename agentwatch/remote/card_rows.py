"""The rows of the cards of an engine, as many as a list can hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from agentwatch.agents.found import Key
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import LIVE, UNKNOWN
from agentwatch.remote.card import decode
from agentwatch.remote.card_row import lost, row_of
from agentwatch.remote.chunk import CARDS, LOST_TOUCH_SECONDS
from agentwatch.remote.engine import SessionName

_LOST_MS = LOST_TOUCH_SECONDS * 1000
_MOST_COUNTED = 200_000
"""The number of sessions beyond the limit that are counted; 70 bytes each."""


class CardRows:
    """The row of each session of an engine. One thread uses it.

    Of more sessions than the limit, each publisher keeps a fair share: those whose cards were written last.
    The card of a session that runs is written every 30 s.
    """

    def __init__(self, address: str, most: int = CARDS) -> None:
        """Create the rows of no cards.

        Args:
            address: The address of the engine.
            most: The number of rows that are kept.
        """
        self._address = address
        self._most = most
        self._rows: dict[Key, Row] = {}
        self._heard: dict[Key, int] = {}
        """When the newest card of each session was written, by our clock."""
        self._cards: dict[Key, int] = {}
        """The hash of the newest card of each session: a sign of life is often the same card again."""
        self._live: set[Key] = set()
        """The sessions that run, and whose machines are heard."""
        self._listed = Counter[str]()
        """The number of rows of each publisher."""
        self._left_out: defaultdict[str, set[int]] = defaultdict(set)
        """The hashes of the names of the sessions beyond the limit, by their publishers."""
        self.is_changed = False
        """Whether rows have changed since they were returned."""

    @property
    def left_out(self) -> int:
        """How many sessions are known beyond the limit, up to 200,000."""
        return sum(map(len, self._left_out.values()))

    def crowds(self) -> list[tuple[str, int]]:
        """Return the publishers that have more sessions than their share, the largest first, and how many."""
        numbers = [
            (publisher, self._listed[publisher] + len(names))
            for publisher, names in self._left_out.items()
            if names
        ]
        return sorted(numbers, key=lambda each: (-each[1], each[0]))

    def leave_out(self, sessions: Iterable[SessionName]) -> None:
        """Count sessions beyond the limit without their cards."""
        room = _MOST_COUNTED - self.left_out
        for session in sessions:
            names = self._left_out[session.publisher]
            before = len(names)
            if room > 0:
                names.add(hash(str(session)))
                room -= len(names) - before

    def take(self, session: SessionName, data: bytes, heard_ms: int) -> None:
        """Take a card; one that cannot be read counts as never written.

        Args:
            session: The session, as the subject of the card names it.
            data: The card; empty if it was removed.
            heard_ms: When it was written, by our clock, in milliseconds since the epoch.
        """
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
        before = UNKNOWN if known is None else known.standing
        row = row_of(card, session, self._address, heard_ms, before)
        if known is None:
            self._listed[session.publisher] += 1
            self._left_out[session.publisher].discard(hash(key[1]))
        self._rows[key], self._heard[key], self._cards[key] = row, heard_ms, card_hash
        (self._live.add if row.standing.state in LIVE else self._live.discard)(key)
        self.is_changed = self.is_changed or row != known
        if len(self._rows) > self._most + self._most // 10:
            self._leave_out()

    def lose(self, now_ms: int) -> None:
        """Mark the sessions that ran, and of which nothing was heard for 90 s.

        Args:
            now_ms: The present time, in milliseconds since the epoch.
        """
        for key in [key for key in self._live if now_ms - self._heard[key] >= _LOST_MS]:
            self._rows[key] = lost(self._rows[key], self._heard[key])
            self._live.discard(key)
            self.is_changed = True

    def rows(self) -> dict[Key, Row]:
        """Return the row of each session, at most as many as the limit."""
        self.is_changed = False
        if len(self._rows) > self._most:
            self._leave_out()
        return dict(self._rows)

    def _leave_out(self) -> None:
        """Leave out the sessions beyond the shares of which nothing was heard for the longest time."""
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
    """Return the sessions that a limit leaves out. No publisher takes the room of another one.

    A publisher with few sessions keeps all of them; those with many have the same number each.

    Args:
        sessions: The sessions, those first that are left out first.
        counts: The number of sessions of each publisher.
        most: The limit.
    """
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
