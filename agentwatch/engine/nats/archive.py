"""The calls of a watcher."""

from __future__ import annotations

import time
from collections import deque

from agentwatch.engine.chunk import piece_of
from agentwatch.engine.engine import StoredCard, StoredPiece
from agentwatch.engine.names import CARD_STREAM, STREAM, SessionName, cards_of, session_of_card
from agentwatch.engine.nats.connection import Connection
from agentwatch.engine.nats.consumer import Consumer, Delivered
from agentwatch.engine.nats.link import Link
from agentwatch.engine.nats.permissions import inbox_of
from agentwatch.engine.opening import Login

_PIECES = 64
"""Pieces asked for at once: 4 MiB of a recording. Twice this may wait in memory; of the largest, 38 MB."""
_CARDS = 2000
_OPERATION = "KV-Operation"
_LIVE_CARDS = 16
"""The least difference of the clocks among this number of live cards counts."""


class NatsArchive:
    """A watcher's connection to JetStream, which is made again after a break."""

    def __init__(self, login: Login) -> None:
        """Connect.

        Args:
            login: The engine.

        Raises:
            EngineError: The engine cannot be reached, or refuses the login.
        """
        inbox = inbox_of(login.address.user or login.credentials.user)
        self._link = Link(lambda: Connection(login, inbox))
        connection = self._link.connection
        self.warning = connection.warning if connection is not None else ""
        """A line about the version of the server; empty if there is nothing to say."""

    def pieces(self, session: SessionName, sequence: int = 0) -> NatsPieces:
        """Return a reader of a session, from a sequence on; 0 for the first piece that the engine has."""
        consumer = Consumer(self._link, STREAM, session.subject, _PIECES)
        consumer.last = max(sequence - 1, 0)
        return NatsPieces(consumer)

    def cards(self, whose: str = "*") -> NatsCards:
        """Return a reader of the cards of a publisher, of all publishers, or of one session."""
        return NatsCards(Consumer(self._link, CARD_STREAM, cards_of(whose), _CARDS, newest_only=True))

    def close(self) -> None:
        """Close the connection and all readers."""
        self._link.close()


class NatsPieces:
    """Reads the pieces of one session."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._waiting: deque[Delivered] = deque()
        self.sequence = 0
        """The sequence of the message returned last; 0 for none."""

    def next(self, seconds: float) -> StoredPiece | None:
        """Return the next piece; None if none arrives within the time."""
        deadline = time.monotonic() + seconds
        while True:
            if not self._waiting:
                self._waiting.extend(self._consumer.next(max(0.0, deadline - time.monotonic())))
            if not self._waiting:
                return None
            message, place = self._waiting.popleft()
            self.sequence = place.sequence
            piece = piece_of(message.headers, message.data)
            if piece is not None:
                return StoredPiece(piece, place.pending == 0)

    @property
    def has_none(self) -> bool:
        """Whether the engine has answered that it has no piece of the session."""
        return self._consumer.backlog == 0 and self._consumer.last == 0

    def restart(self) -> None:
        """Read again from the first piece."""
        self._waiting.clear()
        self._consumer.restart()

    def close(self) -> None:
        """Stop to read."""
        self._waiting.clear()
        self._consumer.close()


class NatsCards:
    """Reads the newest card of each session, then each card as it is written."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._live: deque[float] = deque(maxlen=_LIVE_CARDS)
        self.is_complete = False
        """Whether the newest card of every session was returned once."""

    def next(self, seconds: float) -> list[StoredCard]:
        """Return the cards that have arrived; empty if none arrives within the time."""
        is_live = self.is_complete
        found = self._consumer.next(seconds)
        self.is_complete |= self._consumer.backlog == 0
        if self._consumer.was_set_back:
            self._consumer.restart()
        now = time.time()
        if is_live:
            self._live.extend(now - place.stored_ns / 1e9 for _, place in found if place.pending == 0)
        skew = min(self._live) if self._live else self._consumer.skew
        cards = []
        for message, place in found:
            session = session_of_card(message.subject.decode("utf-8", "replace"))
            if session is not None:
                data = b"" if message.block and _OPERATION in message.headers else message.data
                cards.append(StoredCard(session, data, max(0.0, now - skew - place.stored_ns / 1e9)))
        return cards

    def close(self) -> None:
        """Stop to read."""
        self._consumer.close()
