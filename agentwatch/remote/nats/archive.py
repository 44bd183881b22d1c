"""The calls of a watcher: reads the messages of a stream by an ephemeral pull consumer.

A watcher may create consumers and ask for their next messages, and nothing else: `$JS.API.CONSUMER.CREATE`
and `$JS.API.CONSUMER.MSG.NEXT` (ADR-13 and ADR-15 of NATS). The consumer is made again after each break. The
server keeps nothing for a watcher that stops reading: messages that were not requested stay in the stream.
"""

from __future__ import annotations

import os
import time
from collections import deque
from contextlib import suppress
from datetime import datetime
from queue import Empty
from typing import Any, NamedTuple

import orjson

from agentwatch.base.clock import wall_ns
from agentwatch.remote.chunk import piece_of
from agentwatch.remote.engine import (
    CARD_STREAM,
    STREAM,
    Login,
    RemoteError,
    SessionName,
    StoredCard,
    StoredPiece,
    cards_of,
    session_of_card,
)
from agentwatch.remote.nats import errors
from agentwatch.remote.nats.administration import inbox_of
from agentwatch.remote.nats.client import STATUS, Delivery, Message, delivery_in
from agentwatch.remote.nats.connection import Connection, Inbox
from agentwatch.remote.nats.link import Link

_SECOND = 10**9
_KEPT_SECONDS = 30
"""The server removes a consumer this long after the last pull has ended."""
_PULL_SECONDS = 20
_SIGN_SECONDS = 5
"""The interval at which the server sends a sign of life while a pull waits for messages."""
_SILENT_SECONDS = 12
_PULLS = 2
"""Pulls in flight. With one, nothing travels while the next one is on its way."""
_SIGN_OF_LIFE = "100"
_GONE = {"409", "503"}
"""A consumer was deleted, or nobody answers for it. Other codes end one pull: 404, 408 and so on."""
_STILL_THERE = ("Exceeded", "Batch Completed")
"""Descriptions with 409 that end one pull."""


class Delivered(NamedTuple):
    message: Message
    place: Delivery


class Pull(NamedTuple):
    number: int
    left: int
    ends: float


class Consumer:
    """The messages of a stream on a subject, in order. After a break it continues behind the last one."""

    def __init__(
        self, link: Link, stream: str, subject: str, batch: int, *, newest_only: bool = False
    ) -> None:
        """Prepare a consumer; the first `next` creates it. Up to twice `batch` messages may wait in
        memory."""
        self.last = 0
        """The sequence of the last message returned; 0 for none."""
        self.backlog: int | None = None
        """The number of messages older than the consumer that are still to come; None before it exists."""
        self.skew = 0.0
        """Our clock minus the server's, in seconds, when the consumer was made."""
        self.was_set_back = False
        """Whether the stream was found to end before the last message returned."""
        self._link = link
        self._stream = stream
        self._subject = subject
        self._batch = batch
        self._newest_only = newest_only
        self._name = ""
        self._connection: Connection | None = None
        self._inbox: Inbox | None = None
        self._pulls: deque[Pull] = deque()
        self._number = 0
        self._heard = self._made = 0.0
        self._began = 0

    def next(self, seconds: float) -> list[Delivered]:
        """Return the messages that have arrived, at most a batch; empty if none arrives in time. A consumer
        that was just created returns at once if no message is stored."""
        deadline = time.monotonic() + seconds
        while True:
            if self._inbox is None:
                self._make(max(0.0, deadline - time.monotonic()))
                if self.backlog == 0:
                    return []
            assert self._inbox is not None
            self._pull()
            found = self._taken(deadline)
            if found or time.monotonic() >= deadline:
                return found

    def restart(self) -> None:
        self.close()
        self.last, self.backlog, self.was_set_back = 0, None, False

    def _make(self, seconds: float) -> None:
        connection = self._link.get(seconds)
        name = f"aw-{os.urandom(8).hex()}"
        began = wall_ns()
        try:
            inbox = connection.listen()
            answer = connection.ask(
                f"$JS.API.CONSUMER.CREATE.{self._stream}.{name}.{self._subject}",
                {"stream_name": self._stream, "config": self._config(name)},
            )
        except RemoteError as error:
            if str(error) == errors.SILENT:
                self._link.drop(connection)
            raise
        self._connection, self._inbox, self._name = connection, inbox, name
        self._pulls.clear()
        self._made = self._heard = time.monotonic()
        self._began = self.last
        pending = answer.get("num_pending")
        if self.last == 0 or self.backlog is None:
            self.backlog = pending if isinstance(pending, int) else 0
        self.was_set_back = _start_of(answer) < self.last
        if (created := _seconds_of(answer.get("created"))) is not None:
            self.skew = (began + wall_ns()) / 2e9 - created

    def _config(self, name: str) -> dict[str, Any]:
        start: dict[str, Any] = {"deliver_policy": "last_per_subject" if self._newest_only else "all"}
        if self.last:
            start = {"deliver_policy": "by_start_sequence", "opt_start_seq": self.last + 1}
        return {
            "name": name,
            "filter_subject": self._subject,
            "ack_policy": "none",
            "replay_policy": "instant",
            "mem_storage": True,
            "num_replicas": 1,
            "inactive_threshold": _KEPT_SECONDS * _SECOND,
            **start,
        }

    def _pull(self) -> None:
        assert self._inbox is not None
        assert self._connection is not None
        now = time.monotonic()
        while self._pulls and self._pulls[0].ends < now:
            self._pulls.popleft()
        while len(self._pulls) < _PULLS:
            self._number += 1
            self._pulls.append(Pull(self._number, self._batch, now + _PULL_SECONDS + 2))
            self._connection.send(
                f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._name}",
                orjson.dumps(
                    {
                        "batch": self._batch,
                        "expires": _PULL_SECONDS * _SECOND,
                        "idle_heartbeat": _SIGN_SECONDS * _SECOND,
                    }
                ),
                f"{self._inbox.subject[:-1]}{self._number}",
            )

    def _taken(self, deadline: float) -> list[Delivered]:
        """Wait for a message, and return it with those behind it."""
        assert self._inbox is not None
        messages = self._inbox.messages
        found: list[Delivered] = []
        silent = self._heard + _SILENT_SECONDS
        while len(found) < self._batch:
            try:
                wait = 0.0 if found else min(deadline, silent) - time.monotonic()
                message = messages.get(timeout=wait) if wait > 0 else messages.get_nowait()
            except Empty:
                if not found and time.monotonic() >= silent:
                    self.close()
                break
            if isinstance(message, RemoteError):
                self.close()
                if found:
                    break
                raise message
            self._heard = time.monotonic()
            if (place := delivery_in(message.reply)) is None:
                if self._has_ended(message):
                    break
                continue
            self._note(place)
            found.append(Delivered(message, place))
        return found

    def _note(self, place: Delivery) -> None:
        self.last = place.sequence
        if self.backlog:
            self.backlog = 0 if place.pending == 0 else self.backlog - 1
        if self._pulls:
            first = self._pulls.popleft()
            if first.left > 1:
                self._pulls.appendleft(first._replace(left=first.left - 1))

    def _has_ended(self, message: Message) -> bool:
        """Note that a pull has ended, and return whether the consumer no longer exists."""
        headers = message.headers
        status, description = headers.get(STATUS), headers.get("Description", "")
        if status == _SIGN_OF_LIFE:
            self.backlog = 0  # it waits for messages, so there are no more
            return False
        if status in _GONE and not any(words in description for words in _STILL_THERE):
            is_young = self.last == self._began and time.monotonic() < self._made + 1
            self.close()
            if is_young:
                raise RemoteError(f"the engine does not keep a reader: {errors.plain(description)}")
            return True
        number = message.subject.rpartition(b".")[2].decode("ascii", "replace")
        self._pulls = deque(each for each in self._pulls if str(each.number) != number)
        return False

    def close(self) -> None:
        """Stop to read. The server removes the consumer after 30 s; the next call of `next` makes another."""
        if self._inbox is not None and self._connection is not None:
            with suppress(RemoteError):
                self._connection.forget(self._inbox)
        self._inbox = self._connection = None


def _start_of(answer: dict[str, Any]) -> int:
    """Return the sequence after which a consumer delivers; the server sets it to the stream's end at most."""
    delivered = answer.get("delivered")
    sequence = delivered.get("stream_seq") if isinstance(delivered, dict) else None
    return sequence if isinstance(sequence, int) else 0


def _seconds_of(text: object) -> float | None:
    """Return a time of RFC 3339 with nanoseconds, in seconds since the epoch; None for any other text."""
    if not isinstance(text, str):
        return None
    try:
        return datetime.fromisoformat(text[:40]).timestamp()
    except (ValueError, OverflowError):
        return None


_PIECES = 64
"""Pieces asked for at once: 4 MiB of a recording. Twice this may wait in memory; of the largest, 38 MB."""
_CARDS = 2000
_OPERATION = "KV-Operation"
_LIVE_CARDS = 16
"""The least difference of the clocks among this number of live cards counts."""


class NatsArchive:
    def __init__(self, login: Login) -> None:
        inbox = inbox_of(login.address.user or login.credentials.user)
        self._link = Link(lambda: Connection(login, inbox))
        self.warning = "" if self._link.connection is None else self._link.connection.warning

    def pieces(self, session: SessionName, sequence: int = 0) -> NatsPieces:
        consumer = Consumer(self._link, STREAM, session.subject, _PIECES)
        consumer.last = max(sequence - 1, 0)
        return NatsPieces(consumer)

    def cards(self, whose: str = "*") -> NatsCards:
        return NatsCards(Consumer(self._link, CARD_STREAM, cards_of(whose), _CARDS, newest_only=True))

    def close(self) -> None:
        self._link.close()


class NatsPieces:
    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._waiting: deque[Delivered] = deque()
        self.sequence = 0

    def next(self, seconds: float) -> StoredPiece | None:
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
        return self._consumer.backlog == 0 and self._consumer.last == 0

    def restart(self) -> None:
        self._waiting.clear()
        self._consumer.restart()

    def close(self) -> None:
        self._waiting.clear()
        self._consumer.close()


class NatsCards:
    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._live: deque[float] = deque(maxlen=_LIVE_CARDS)
        self.is_complete = False

    def next(self, seconds: float) -> list[StoredCard]:
        is_live = self.is_complete
        found = self._consumer.next(seconds)
        self.is_complete |= self._consumer.backlog == 0
        if self._consumer.was_set_back:
            self._consumer.restart()
        now = wall_ns() / 1e9
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
        self._consumer.close()
