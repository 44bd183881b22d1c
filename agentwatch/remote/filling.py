"""Fills a local copy over one connection, which is that of an engine or of a host reached by ssh."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

from agentwatch.base.clock import now_ms
from agentwatch.remote.card import Card
from agentwatch.remote.chunk import LOST_TOUCH_SECONDS, SIGN_OF_LIFE_SECONDS, Chunk
from agentwatch.remote.copies import Copies, LocalCopy, Rule, Step
from agentwatch.remote.engine import Pieces, RemoteError, StoredPiece
from agentwatch.text.amounts import byte_size
from agentwatch.text.times import day_or_time


class ReplacedError(RemoteError):
    """The recording is another one than that of which there is a copy."""


class NotKeptError(RemoteError):
    """The engine does not keep the bytes that the copy needs next any more, and has later ones."""


class SeenCard(NamedTuple):
    card: Card
    age: float
    """The time since it was reported, in seconds."""


class Channel(Protocol):
    """A connection for one session. One thread uses it."""

    @property
    def pieces(self) -> Pieces:
        """The pieces of the session."""

    def card(self) -> SeenCard | None:
        """Return what is known about the session, or None; raise `RemoteError` without an answer."""

    def close(self) -> None:
        """Close the connection. It never raises."""


Connect = Callable[[LocalCopy], Channel]
"""Connects for the bytes that a copy lacks. Raises `Fault` if it never can, `RemoteError` if not now."""

WAIT_SECONDS = 0.2
"""The longest wait for a piece: closing waits for it."""
AGAIN_SECONDS = 10.0
"""How long to wait for missing bytes, or for room on the disk."""
_MOST_RETRIES = 2
"""The retries after which the missing bytes of an ended session are given up."""
LOST_SECONDS = 3600.0
"""A running session without a report for this time is not followed any more; its end stays unknown."""
_MIDDLE_SECONDS = 1.0
"""The piece that was taken last comes within this time, or the engine does not have it any more."""
_NOTE_MS = 1000
_ROOM_BYTES = 1 << 24
"""The number of bytes after which the free space of the disk is checked again."""
_RUNNING = frozenset({"", "running"})


class Status:
    """The state of the filling of a copy. One thread writes it, others read it."""

    def __init__(self) -> None:
        self.lost_at: float | None = None
        """Since when the engine or the host cannot be used, by `time.monotonic`; None while it can."""
        self.is_short = False
        """Whether the copy has only what can be had now."""
        self._problem = ""
        self._lost_since = ""
        self._lost_words = ""
        self.closing = threading.Event()
        """Set when the thread is to end."""
        self.has_read = threading.Event()
        """Set when the copy has all bytes, or all that are available now."""

    @property
    def problem(self) -> str:
        """The reason why the copy does not have all bytes, in one line; empty if it has all."""
        return self._lost_words or self._problem

    @problem.setter
    def problem(self, problem: str) -> None:
        self._problem, self.is_short = problem, False

    def lose(self, why: str) -> None:
        if self.lost_at is None:
            self.lost_at, self._lost_since = time.monotonic(), day_or_time(now_ms(), now_ms())
        self._lost_words = f"lost touch since {self._lost_since}: {why}"

    def find(self) -> None:
        self.lost_at, self._lost_words = None, ""

    def stop_short(self, problem: str) -> None:
        self.problem, self.is_short = problem, True
        self.has_read.set()


class Filling:
    """Takes the pieces of one connection into a copy that this process fills."""

    def __init__(self, copy: LocalCopy, copies: Copies, channel: Channel, status: Status) -> None:
        self._copy = copy
        self._copies = copies
        self._channel = channel
        self._status = status
        self._rule = Rule(copy, copies.limits.session)
        self._sequence = copy.origin.sequence
        self._room_to = 0
        """The size up to which there is room."""
        self._is_behind = True
        self._restarts = 0
        """The number of times that pieces were read from the first one since a piece was taken."""
        self._is_first = True
        """Whether no piece has arrived since then."""
        self._is_from_middle = copy.origin.sequence > 0
        """Whether it is unknown yet if the engine still has the piece that was taken last."""
        self._lost = 0
        """The number of bytes that a copy lost when it was cut, and that the engine does not have either."""
        self._heard_at = time.monotonic()
        self._asked_at: float | None = None
        """The time at which the card was read."""

    def run(self) -> bool:
        """Take pieces until the session ends or the copy is closed; return whether no other is needed. Raise
        `NotKeptError` if the next bytes of the copy are no longer kept, and there are later ones,
        `RemoteError` if the connection is lost, and `OSError` if the copy cannot be written."""
        self._expect(0)
        try:
            return self._run()
        finally:
            with suppress(OSError):
                self._copy.note(self._copy.origin._replace(sequence=self._sequence))

    def _run(self) -> bool:
        pieces, status = self._channel.pieces, self._status
        while not status.closing.is_set():
            stored = pieces.next(WAIT_SECONDS)
            status.find()
            if stored is not None:
                self._heard_at, self._is_from_middle = time.monotonic(), False
                if self._take(stored):
                    return True
                continue
            if self._is_from_middle:
                if time.monotonic() - self._heard_at >= _MIDDLE_SECONDS:
                    self._is_from_middle = False
                    pieces.restart()
            elif pieces.has_none:
                self._is_behind = False
            if not self._is_behind and self._is_over():
                return True
        return True

    def _take(self, stored: StoredPiece) -> bool:
        step, is_first, self._is_first = self._step(stored), self._is_first, False
        if step in (Step.COMPLETE, Step.DIFFERENT):
            self._read_host()
            self._status.problem = "" if step is Step.COMPLETE else "the copy differs from the recording"
            return True
        if step is Step.TOO_LARGE:
            self._status.stop_short(f"a copy ends at {byte_size(self._copies.limits.session)}")
            return True
        if step is Step.AHEAD:
            return self._read_again(stored, is_first=is_first)
        if step is Step.TAKEN:
            self._restarts = 0
            self._expect(0)
            self._status.problem = ""
            self._sequence = self._channel.pieces.sequence
        self._is_behind = not stored.is_newest
        return stored.is_newest and self._is_over()

    def _step(self, stored: StoredPiece) -> Step:
        piece = stored.piece
        if not isinstance(piece, Chunk):
            return self._rule.end(piece)
        self._wait_for_room(len(piece.payload))
        return Step.PASSED if self._status.closing.is_set() else self._rule.take(piece)

    def _read_again(self, ahead: StoredPiece, *, is_first: bool) -> bool:
        """Read from the first piece: an engine that was set back stores the bytes between again. If they are
        missing there too, wait before that. What lies before the first piece that is kept does not come
        again, and the copy cannot continue. Return whether no more bytes are expected."""
        missing = self._rule.missing
        if self._restarts and is_first:
            words = f"{missing:,} bytes are no longer kept"
            if isinstance(ahead.piece, Chunk):
                raise NotKeptError(words)
            self._expect(missing)
            self._status.stop_short(words)
            return True
        if self._restarts:
            if self._restarts > _MOST_RETRIES and (not isinstance(ahead.piece, Chunk) or not self._is_live()):
                self._expect(missing)
            self._copy.note(self._copy.origin._replace(seen_ms=now_ms()))
            self._status.stop_short(f"{missing:,} bytes missing")
            self._status.closing.wait(AGAIN_SECONDS)
        self._restarts += 1
        self._is_first = self._is_behind = True
        self._channel.pieces.restart()
        return False

    def _expect(self, missing: int) -> None:
        if self._copy.origin.missing != missing:
            self._copy.note(self._copy.origin._replace(missing=missing))

    def _is_live(self) -> bool:
        """Return whether the publisher may still store what is missing, by its card."""
        seen = self._channel.card()
        return seen is not None and _is_running(seen.card) and seen.age < LOST_SECONDS

    def _read_host(self) -> None:
        if not self._copy.origin.host:
            with suppress(RemoteError):
                self._take_host(self._channel.card())

    def _take_host(self, seen: SeenCard | None) -> None:
        if seen is not None and seen.card.host not in ("", self._copy.origin.host):
            self._copy.note(self._copy.origin._replace(host=seen.card.host))

    def _wait_for_room(self, more: int) -> None:
        size = self._copy.size
        while size + more > self._room_to and not self._status.closing.is_set():
            if self._copies.has_room(_ROOM_BYTES):
                self._room_to = size + _ROOM_BYTES
            else:
                self._status.stop_short("too little room on the disk for a copy")
                self._status.closing.wait(AGAIN_SECONDS)

    def _note_read(self) -> None:
        """Note that the copy has all bytes; once a second, for others that use it."""
        origin, now, lost = self._copy.origin, now_ms(), self._copy.lost
        if lost and lost != self._lost:
            self._lost = lost
            if not self._is_live():
                self._expect(lost)
            self._status.stop_short(f"{lost:,} bytes missing")
        if not self._status.has_read.is_set() or not 0 <= now - origin.seen_ms < _NOTE_MS:
            self._copy.note(origin._replace(seen_ms=now, sequence=self._sequence))
        self._status.has_read.set()

    def _is_card_due(self) -> bool:
        """Return whether the card is to be read: at first, and while no piece arrives."""
        last = max(self._heard_at, self._asked_at or 0)
        if self._asked_at is not None and time.monotonic() - last < SIGN_OF_LIFE_SECONDS:
            return False
        self._asked_at = time.monotonic()
        return True

    def _is_over(self) -> bool:
        """Note that the copy has all bytes; return whether no more bytes are expected."""
        try:
            return self._is_card_due() and self._is_over_by(self._channel.card())
        finally:
            self._note_read()

    def _is_over_by(self, seen: SeenCard | None) -> bool:
        """Take what a card says; return whether no more bytes are expected."""
        self._take_host(seen)
        if seen is None:
            return False
        card = seen.card
        has_ended, is_recent = not _is_running(card), seen.age < LOST_TOUCH_SECONDS
        if is_recent or has_ended:
            self._status.problem = card.problem or (
                "" if is_recent else "the publisher has not stored the end"
            )
            missing = card.bytes - self._copy.have
            if has_ended and missing > 0:
                self._status.stop_short(card.problem or f"{missing:,} bytes missing")
            return not is_recent
        self._status.problem = f"lost touch since {day_or_time(now_ms() - round(1000 * seen.age), now_ms())}"
        return seen.age >= LOST_SECONDS


def _is_running(card: Card) -> bool:
    return card.exit is None and card.outcome in _RUNNING
