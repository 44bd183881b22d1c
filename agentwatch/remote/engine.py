"""An engine (NATS JetStream): the names of publishers and sessions on it, and its calls, which all block.

One thread uses each object. After a fault, a publisher continues behind the newest piece, and a watcher at
the size of its local copy.
"""

from __future__ import annotations

import os
import re
from enum import Enum
from typing import NamedTuple, Protocol

from agentwatch.base.credentials import Credentials
from agentwatch.remote.address import EngineAddress
from agentwatch.remote.chunk import Piece

# A publisher's token is tied to its credential: the server lets it write below its own token only. A
# session's id is made from random bits by the publisher's agentwatch; it is never the agent's own id.

STREAM = "AW"
BUCKET = "AWCARD"
CARD_STREAM = f"KV_{BUCKET}"
_CHUNKS = "aw.v1.c"
_CARDS = f"$KV.{BUCKET}"
_PUBLISHER = re.compile(r"[a-z0-9-]{1,63}")
_SESSION = re.compile(r"[0-9a-f]{32}")
_MOST_CHARACTERS = 200


class SessionName(NamedTuple):
    publisher: str
    """Matches `[a-z0-9-]{1,63}`."""
    id: str
    """32 hexadecimal digits."""

    def __str__(self) -> str:
        return f"{self.publisher}.{self.id}"

    @property
    def subject(self) -> str:
        return f"{_CHUNKS}.{self}"

    @property
    def card_subject(self) -> str:
        return f"{_CARDS}.{self}"


def new_session(publisher: str) -> SessionName:
    return SessionName(publisher, os.urandom(16).hex())


def parse_session(text: str) -> SessionName | None:
    """Return the session that `PUBLISHER.ID` names; None if the text does not have this form."""
    publisher, _, session = text[:_MOST_CHARACTERS].partition(".")
    if not is_publisher(publisher) or _SESSION.fullmatch(session) is None:
        return None
    return SessionName(publisher, session)


def session_of_card(subject: str) -> SessionName | None:
    """Return the session of a card by the card's subject; None if it is not a subject of a card."""
    prefix = f"{_CARDS}."
    return parse_session(subject.removeprefix(prefix)) if subject.startswith(prefix) else None


def is_publisher(text: str) -> bool:
    return _PUBLISHER.fullmatch(text) is not None


def publisher_of(text: str) -> str:
    """Return a publisher's token for any text, such as the name of a host; `unnamed` if it is empty."""
    token = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text[:63].lower())
    return token.strip("-") or "unnamed"


def chunks_of(publisher: str = "*") -> str:
    """Return the subject that covers the bytes of all sessions of a publisher, or of all publishers."""
    return f"{_CHUNKS}.{publisher}.*"


def cards_of(whose: str = "*") -> str:
    """Return the subject of the cards of a publisher, of all publishers (`*`), or of one session."""
    return f"{_CARDS}.{whose}" if "." in whose else f"{_CARDS}.{whose}.*"


class Trouble(Enum):
    """The possible reactions to a `RemoteError`."""

    AWAY = "away"
    """The engine does not answer, or is not ready: try again later."""
    REFUSED = "refused"
    """The engine refuses this session or this credential: trying again soon is useless."""
    FULL = "full"
    """A limit of the session, of the stream or of the account is reached."""


class RemoteError(Exception):
    """An engine or a host has failed or refused; the message is one line for the user, and safe to print."""

    def __init__(self, message: str, trouble: Trouble = Trouble.AWAY) -> None:
        super().__init__(message)
        self.trouble = trouble


def unnamed(address: str, words: str) -> str:
    """Return the words of an error without the address at their beginning."""
    return words.removeprefix(_place(address)).removeprefix(":").lstrip()


def named(address: str, words: str) -> str:
    """Return the words of an error with the address in front, unless they name it further behind."""
    rest = unnamed(address, words)
    return rest if _place(address) in rest else f"{address}: {rest}"


def _place(address: str) -> str:
    return "/".join(address.split("/")[:3])


class TailPiece(NamedTuple):
    end: int
    """The number of bytes of the recording that the engine has: the offset after the piece."""
    sequence: int
    """The sequence of its message in the stream; 0 without a message."""
    has_ended: bool = False
    """Whether the piece is the end of the recording."""


class Sink(Protocol):
    """An engine to which the recordings of one publisher are copied."""

    def tail(self, session: SessionName) -> TailPiece | None:
        """Return the newest piece of a session; None if the engine is known to have none. Raise `RemoteError`
        if the engine is not ready to answer, which must never be taken for None."""

    def append(self, session: SessionName, piece: Piece, after: int) -> int:
        """Store a piece, and return its sequence once it is acknowledged. `after` is the sequence of the
        session's newest piece, 0 for none; another one is an error. Raise `RemoteError` if it was not stored,
        or nobody knows."""

    def put_card(self, session: SessionName, card: bytes) -> None:
        """Replace the card of a session. Raise `RemoteError` if it was not stored."""

    def wait(self, seconds: float) -> None:
        """Wait, and keep the connection alive. Raise `RemoteError` if the connection was lost."""

    @property
    def round_trip(self) -> float:
        """The time of the last answer, in seconds."""

    @property
    def warning(self) -> str:
        """A line about the version of the server; empty if there is nothing to say."""

    def close(self) -> None:
        """Close the connection. It never raises, and never waits for longer than a second."""


class StoredPiece(NamedTuple):
    piece: Piece
    is_newest: bool
    """Whether the engine had no newer piece of the session when it sent this one."""


class Pieces(Protocol):
    """Reads the pieces of one session, in the order in which the engine has stored them."""

    def next(self, seconds: float) -> StoredPiece | None:
        """Return the next piece; None if none arrives in time. Raise `RemoteError` if it cannot be read."""

    @property
    def sequence(self) -> int:
        """The sequence of the piece returned last, from which reading can continue; 0 if there is none."""

    @property
    def has_none(self) -> bool:
        """Whether the engine has answered that it has no piece of the session."""

    def restart(self) -> None:
        """Read again from the first piece: an engine that was set back gives other sequences."""

    def close(self) -> None:
        """Stop to read. It never raises."""


class StoredCard(NamedTuple):
    session: SessionName
    data: bytes
    """The content, which is foreign; empty if the card was removed."""
    age: float
    """The time since it was written, in seconds; by the clocks of engine and watcher."""


class Cards(Protocol):
    """Reads the newest card of each session, and then each card as it is written."""

    def next(self, seconds: float) -> list[StoredCard]:
        """Return the cards that have arrived, perhaps none; raise `RemoteError` if they cannot be read."""

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

    def pieces(self, session: SessionName, sequence: int = 0) -> Pieces:
        """Return a reader of a session from a sequence on; 0 for the first piece that the engine has."""

    def cards(self, whose: str = "*") -> Cards:
        """Return a reader of the cards of a publisher, of all publishers (`*`), or of one session."""

    def close(self) -> None:
        """Close the connection and all readers. It never raises, and never waits for longer than a second."""


class Login(NamedTuple):
    """An engine, and how to log in to it."""

    address: EngineAddress
    credentials: Credentials = Credentials()
    allows_plaintext: bool = False
    """Whether a connection to another host may go without TLS."""
