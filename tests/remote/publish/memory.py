"""An engine in memory that misbehaves as it is asked to, and a reader by the rule of watchers."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from agentwatch.remote.chunk import Chunk, Ended, Piece, headers_of, piece_of
from agentwatch.remote.engine import RemoteError, SessionName, TailPiece, Trouble


class Bad(Enum):
    """What the engine does with a call instead of what it should."""

    AWAY = "it does not answer, and does nothing"
    LOST_ACK = "it does what it is asked, and the answer is lost"
    REFUSES = "it refuses"
    SET_BACK = "it loses its newest piece, as after a power loss, and the connection with it"
    NOT_READY = "it says that it is not ready"


class Engine:
    """Keeps the pieces of one session."""

    def __init__(self, faults: list[Bad | None] | None = None) -> None:
        self.pieces: list[tuple[int, Piece]] = []
        """The sequences and the pieces."""
        self.cards: list[bytes] = []
        self.opened = 0
        self.is_away = False
        self.refuses_cards = False
        self.refusal: RemoteError | None = None
        """Why every piece is refused; None if none is."""
        self.on_stored: Callable[[], None] = lambda: None
        self._faults = faults or []
        self._sequence = 0

    def open(self) -> Sink:
        self.opened += 1
        if self.is_away or self._bad() is not None:
            raise RemoteError("the engine does not answer")
        return Sink(self)

    def come_back(self) -> None:
        """Answer again."""
        self.is_away = False

    def lose_next(self) -> None:
        """Do not answer the next call."""
        self._faults.append(Bad.AWAY)

    def store(self, piece: Piece, after: int) -> int:
        """Store a piece as JetStream does: only behind the one that the publisher knows."""
        bad = self._bad()
        if bad is Bad.SET_BACK:
            del self.pieces[-1:]
            raise RemoteError("the connection was lost")
        if self.refusal is not None or bad is Bad.REFUSES:
            raise self.refusal or RemoteError("the engine refuses", Trouble.REFUSED)
        if bad in (Bad.AWAY, Bad.NOT_READY):
            raise RemoteError("the engine does not answer")
        if after != self.newest_sequence:
            raise RemoteError("the engine has another newest piece of the session")
        data = piece.payload if isinstance(piece, Chunk) else b""
        stored = piece_of(headers_of(piece), data)
        assert stored == piece, "a piece does not survive its headers"
        self._sequence += 1
        self.pieces.append((self._sequence, piece))
        self.on_stored()
        if bad is Bad.LOST_ACK:
            raise RemoteError("the engine does not answer")
        return self._sequence

    def tail(self) -> TailPiece | None:
        """Return the newest piece."""
        if self._bad() is not None:
            raise RemoteError("the engine is not ready")
        if not self.pieces:
            return None
        sequence, piece = self.pieces[-1]
        if isinstance(piece, Ended):
            return TailPiece(piece.size, sequence, has_ended=True)
        return TailPiece(piece.end, sequence)

    @property
    def newest_sequence(self) -> int:
        """The sequence of the newest piece; 0 without one."""
        return self.pieces[-1][0] if self.pieces else 0

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks, in the order in which they were stored."""
        return [piece for _, piece in self.pieces if isinstance(piece, Chunk)]

    @property
    def end(self) -> Ended | None:
        """The end of the recording, if it is the newest piece."""
        newest = self.pieces[-1][1] if self.pieces else None
        return newest if isinstance(newest, Ended) else None

    def read(self) -> bytes:
        """Return what a new watcher has after all pieces, by the reader rule."""
        return applied(self.chunks)

    def _bad(self) -> Bad | None:
        return self._faults.pop() if self._faults else None


class Sink:
    """A connection to the engine in memory."""

    round_trip = 0.001
    warning = ""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.on_wait: Callable[[float], None] = lambda _: None

    def tail(self, session: SessionName) -> TailPiece | None:
        """Return the newest piece."""
        return self._engine.tail()

    def append(self, session: SessionName, piece: Piece, after: int) -> int:
        """Store a piece."""
        return self._engine.store(piece, after)

    def put_card(self, session: SessionName, card: bytes) -> None:
        if self._engine.refuses_cards:
            raise RemoteError("the engine refuses cards", Trouble.REFUSED)
        self._engine.cards.append(card)

    def wait(self, seconds: float) -> None:
        """Let the time pass."""
        self.on_wait(seconds)

    def close(self) -> None:
        """Do nothing."""


def applied(chunks: list[Chunk]) -> bytes:
    """Return the local copy that the reader rule makes of chunks."""
    have = b""
    for chunk in chunks:
        if chunk.offset <= len(have) < chunk.end:
            have += chunk.payload[len(have) - chunk.offset :]
    return have
