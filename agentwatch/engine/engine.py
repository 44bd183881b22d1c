"""The calls of an engine. NATS JetStream is the only one; its client stays inside `agentwatch.engine.nats`.

All calls block. One thread uses each object. An engine is only a copy on the way. After a fault, a publisher
asks for the newest piece and continues behind it. A watcher continues at the size of its local copy.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol

from agentwatch.engine.chunk import Piece
from agentwatch.engine.names import SessionName


class Trouble(Enum):
    """What can be done about the error of an engine."""

    AWAY = "away"
    """It does not answer, or is not ready: try again later."""
    REFUSED = "refused"
    """It refuses this session or this credential: trying again soon is of no use."""
    FULL = "full"
    """A limit of the session, of the stream or of the account is reached."""


class EngineError(Exception):
    """An engine did not do what it was asked; the message is one line for the user, and safe to print."""

    def __init__(self, message: str, trouble: Trouble = Trouble.AWAY) -> None:
        super().__init__(message)
        self.trouble = trouble


def unnamed(address: str, words: str) -> str:
    """Return the words of an error without the address at their beginning.

    Args:
        address: `nats://HOST` or `ssh://HOST`, also with a session behind it.
        words: The words, which may begin with the address of the engine or the host.
    """
    return words.removeprefix(_place(address)).removeprefix(":").lstrip()


def named(address: str, words: str) -> str:
    """Return the words of an error with the address in front, unless they name it further behind.

    Args:
        address: `nats://HOST` or `ssh://HOST`, also with a session behind it.
        words: The words, which may name the address of the engine or the host.
    """
    rest = unnamed(address, words)
    return rest if _place(address) in rest else f"{address}: {rest}"


def _place(address: str) -> str:
    return "/".join(address.split("/")[:3])


class TailPiece(NamedTuple):
    """The newest piece of a session that an engine has."""

    end: int
    """How many bytes of the recording the engine has: the offset after the piece."""
    sequence: int
    """The sequence of its message in the stream; 0 without a message."""
    has_ended: bool = False
    """Whether the piece is the end of the recording."""


class Sink(Protocol):
    """An engine to which the recordings of one publisher are copied."""

    def tail(self, session: SessionName) -> TailPiece | None:
        """Return the newest piece of a session; None if the engine is known to have none.

        Raises:
            EngineError: The engine is not ready to answer, which must never be taken for None.
        """

    def append(self, session: SessionName, piece: Piece, after: int) -> int:
        """Store a piece, and return its sequence once it is acknowledged.

        Args:
            session: The session.
            piece: The piece.
            after: The sequence of the session's newest piece; 0 for none. Another one is an error.

        Raises:
            EngineError: It was not stored, or nobody knows. Ask for the tail before the next one.
        """

    def put_card(self, session: SessionName, card: bytes) -> None:
        """Replace the card of a session.

        Raises:
            EngineError: It was not stored.
        """

    def wait(self, seconds: float) -> None:
        """Wait, and keep the connection alive.

        Raises:
            EngineError: The connection was lost.
        """

    @property
    def round_trip(self) -> float:
        """The time of the last answer, in seconds."""

    @property
    def warning(self) -> str:
        """A line about the version of the server; empty if there is nothing to say."""

    def close(self) -> None:
        """Close the connection. It never raises, and never waits for longer than a second."""


class StoredPiece(NamedTuple):
    """A piece as a watcher receives it."""

    piece: Piece
    is_newest: bool
    """Whether the engine had no newer piece of the session when it sent this one."""


class Pieces(Protocol):
    """Reads the pieces of one session, in the order in which the engine has stored them."""

    def next(self, seconds: float) -> StoredPiece | None:
        """Return the next piece; None if none arrives within the time.

        A message that carries no piece is passed over.

        Raises:
            EngineError: The session cannot be read. Later calls continue after the last piece, if it can
                be read again.
        """

    @property
    def has_none(self) -> bool:
        """Whether the engine has answered that it has no piece of the session."""

    def restart(self) -> None:
        """Read again from the first piece: an engine that was set back gives other sequences."""

    def close(self) -> None:
        """Stop to read. It never raises."""


class StreamPieces(Pieces, Protocol):
    """Reads the pieces of one session from a stream that numbers its messages."""

    @property
    def sequence(self) -> int:
        """The sequence of the piece returned last; 0 for none."""


class StoredCard(NamedTuple):
    """A card as a watcher receives it."""

    session: SessionName
    data: bytes
    """The content, which is foreign; empty if the card was removed."""
    age: float
    """The time since it was written, in seconds; by the clocks of engine and watcher."""


class Cards(Protocol):
    """Reads the newest card of each session, and then each card as it is written."""

    def next(self, seconds: float) -> list[StoredCard]:
        """Return the cards that have arrived; empty if none arrives within the time.

        Raises:
            EngineError: The cards cannot be read. Later calls continue, if they can be read again.
        """

    @property
    def is_complete(self) -> bool:
        """Whether the newest card of every session was returned once."""

    def close(self) -> None:
        """Stop to read. It never raises."""


class Archive(Protocol):
    """An engine from which sessions are watched."""

    @property
    def warning(self) -> str:
        """A line about the version of the engine; empty if there is nothing to say."""

    def pieces(self, session: SessionName, sequence: int = 0) -> StreamPieces:
        """Return a reader of a session.

        Args:
            session: The session.
            sequence: The sequence of the first piece that is wanted; 0 for the first that the engine has.
        """

    def cards(self, whose: str = "*") -> Cards:
        """Return a reader of cards.

        Args:
            whose: The token of a publisher; `*` for all of them; or the name of one session.
        """

    def close(self) -> None:
        """Close the connection and all readers. It never raises, and never waits for longer than a second."""
