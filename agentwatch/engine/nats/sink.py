"""The calls of a publisher."""

from __future__ import annotations

import time

from agentwatch.engine.chunk import Chunk, Ended, Piece, headers_of, piece_of
from agentwatch.engine.engine import EngineError, TailPiece, Trouble
from agentwatch.engine.names import CARD_STREAM, STREAM, SessionName
from agentwatch.engine.nats.client.message import DESCRIPTION, STATUS, Message
from agentwatch.engine.nats.connection import Connection, answer_in
from agentwatch.engine.nats.errors import NO_TAIL, SILENT, plain
from agentwatch.engine.nats.permissions import inbox_of
from agentwatch.engine.opening import Login

_NO_MESSAGE = "404"
_MOST_DIGITS = 20


class NatsSink:
    """A publisher's connection to JetStream."""

    def __init__(self, login: Login, publisher: str) -> None:
        """Connect.

        Args:
            login: The engine.
            publisher: The publisher's token.

        Raises:
            EngineError: The engine cannot be reached, or refuses the login.
        """
        self.round_trip = 0.0
        self._connection = Connection(login, inbox_of(publisher))

    @property
    def warning(self) -> str:
        """A line about the version of the server; empty if there is nothing to say."""
        return self._connection.warning

    def tail(self, session: SessionName) -> TailPiece | None:
        """Return the newest piece of a session; None if the engine is known to have none."""
        try:
            message = self._request(f"$JS.API.DIRECT.GET.{STREAM}.{session.subject}", b"", None)
        except EngineError as error:
            raise EngineError(NO_TAIL) if str(error) == SILENT else error from None
        headers = message.headers
        status, sequence = headers.get(STATUS), headers.get("Nats-Sequence", "")
        if status == _NO_MESSAGE and not message.data:
            return None
        if not (sequence.isascii() and sequence.isdigit() and len(sequence) <= _MOST_DIGITS):
            raise EngineError(
                f"the engine is not ready: {plain(status)} {plain(headers.get(DESCRIPTION))}".rstrip()
            )
        piece = piece_of(headers, message.data)
        if piece is None:
            raise EngineError("the engine has something else under the name of the session", Trouble.REFUSED)
        if isinstance(piece, Ended):
            return TailPiece(piece.size, int(sequence), has_ended=True)
        return TailPiece(piece.end, int(sequence))

    def append(self, session: SessionName, piece: Piece, after: int) -> int:
        """Store a piece, and return its sequence once it is acknowledged."""
        headers = headers_of(piece) | {
            "Nats-Expected-Stream": STREAM,
            "Nats-Expected-Last-Subject-Sequence": str(after),
        }
        data = piece.payload if isinstance(piece, Chunk) else b""
        sequence = answer_in(self._request(session.subject, data, headers)).get("seq")
        if not isinstance(sequence, int):
            raise EngineError("the engine's answer cannot be read")
        return sequence

    def put_card(self, session: SessionName, card: bytes) -> None:
        """Replace the card of a session."""
        answer_in(self._request(session.card_subject, card, {"Nats-Expected-Stream": CARD_STREAM}))

    def wait(self, seconds: float) -> None:
        """Wait, and keep the connection alive."""
        if self._connection.lost.wait(seconds):
            raise self._connection.problem

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _request(self, subject: str, data: bytes, headers: dict[str, str] | None) -> Message:
        began = time.monotonic()
        message = self._connection.request(subject, data, headers)
        self.round_trip = time.monotonic() - began
        return message
